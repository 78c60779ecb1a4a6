"""The primitive of a tape: it computes its program, and holds it for those who look inside."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.programs import KERNEL, programs
from onax._tape.tape_call import tape_p

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
PROGRAMS = {
    "elementwise": (lambda x: jnp.sin(x) * 2 + 1, (X,)),
    "several results": (lambda x, y: (x.sum(0), x + y, y), (X, X + 1)),
    "a constant": (lambda x: x + np.arange(3, dtype=np.float32), (X,)),
    "a loop": (lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c * 0.5 + i, x), (X,)),
    "integers": (lambda i: i * i - 3, (np.arange(5, dtype=np.int32),)),
    "no elements": (lambda x: x * 2, (X[:0],)),
}


def staged(name):
    function, args = PROGRAMS[name]
    return jax.make_jaxpr(function)(*args), args


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_computes_its_program(name):
    jaxpr, args = staged(name)
    want = jax.tree.leaves(PROGRAMS[name][0](*map(jnp.asarray, args)))
    for got, w in zip(tape_p.bind(*args, jaxpr=jaxpr), want, strict=True):
        assert got.dtype == w.dtype and got.shape == w.shape
        np.testing.assert_allclose(got, w, rtol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_its_types_are_those_of_its_program(name):
    jaxpr, args = staged(name)
    found = jax.make_jaxpr(lambda *xs: tape_p.bind(*xs, jaxpr=jaxpr))(*args)
    assert found.out_avals == jaxpr.out_avals


def test_its_program_is_held_as_a_kernel():
    jaxpr, args = staged("elementwise")
    (eqn,) = jax.make_jaxpr(lambda x: tape_p.bind(x, jaxpr=jaxpr))(*args).eqns
    (held,) = programs.get(tape_p)(eqn)
    assert held.kind == KERNEL and held.program is jaxpr
