"""Forward mode: tracers, symbolic zeros, derived programs, refusals; test_autodiff.py checks derivatives."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.evaluate import jaxpr_as_fun
from onax._core.zeros import Zero
from onax._native.dispatch import Primitive
from onax._transforms.jvp import jvp_flat, jvp_jaxpr

X = jnp.arange(1.0, 4.0)


def test_tangents_of_what_does_not_depend_vanish():
    outs, tangents = jvp_flat(lambda x, y: [x * y, y + 1, 2.0], [X, X], [X, Zero(X.aval)])
    np.testing.assert_array_equal(tangents[0], X * X)
    assert [type(t) is Zero for t in tangents] == [False, True, True]
    np.testing.assert_array_equal(outs[1], X + 1)


def test_operations_without_tangents_are_those_of_the_parent():
    """They are evaluated as if there were no derivative."""
    seen = []
    p = Primitive("test_no_jvp", kernel=lambda x: x, abstract_eval=lambda x: x)
    jax.jvp(lambda x: (seen.append(type(p.bind(X)).__name__), x)[1], (X,), (X,))
    assert seen == ["ArrayImpl"]
    with pytest.raises(NotImplementedError, match="Differentiation rule for 'test_no_jvp' not implemented"):
        jax.jvp(p.bind, (X,), (X,))


def test_tracers_know_the_values_of_primals():
    seen = []
    jax.jvp(lambda x: (seen.append((x.item(), bool(x > 1))), x)[1], (2.0,), (1.0,))
    assert seen == [(2.0, True)]
    with pytest.raises(jax.errors.ConcretizationTypeError, match="argument x"):
        jax.jit(lambda x: jax.jvp(int, (x,), (1.0,)))(2.0)


PROGRAM = jax.make_jaxpr(lambda x, y: (x * y, jnp.sin(x), y.astype(int)))(X, X)


@pytest.mark.parametrize("nonzeros, instantiate, flags", [
    ((True, True), False, [True, True, False]), ((False, True), False, [True, False, False]),
    ((False, False), False, [False, False, False]), ((False, True), [False, True, False], [True, True, False]),
])  # fmt: skip
def test_derived_programs(nonzeros, instantiate, flags):
    program, found = jvp_jaxpr(PROGRAM, nonzeros, instantiate)
    assert list(found) == flags and jvp_jaxpr(PROGRAM, nonzeros, instantiate)[0] is program
    given = [X * 10 for flag in nonzeros if flag]
    results, tangents = (lambda outs: (outs[:3], outs[3:]))(jaxpr_as_fun(program)(X, X, *given))
    np.testing.assert_array_equal(results[0], X * X)
    tx, ty = (X * 10 if flag else X * 0 for flag in nonzeros)
    wanted = [tx * X + X * ty, jnp.cos(X) * tx]
    for got, want in zip(tangents, (w for w, flag in zip(wanted, flags) if flag), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_tangents_without_content_are_zeros():
    """Integers that a rule of the user's returns, or that are differentiated, may be converted to floats."""
    nothing = np.zeros((), jax.dtypes.float0)
    assert jax.jvp(lambda n: n.astype(float) * 2, (jnp.int32(3),), (nothing,)) == (6.0, 0.0)
    value, tangent = jax.jvp(lambda x: jnp.frexp(x)[1] * x, (8.0,), (1.0,))
    assert (value, tangent) == (32.0, 4.0)
    assert jax.jvp(lambda x: jnp.ldexp(x, 2), (3.0,), (1.0,)) == (12.0, 4.0)


def test_perturbations_of_two_levels_are_distinct():
    inner = lambda x: jax.jvp(lambda y: x * y, (1.0,), (1.0,))[1]  # d/dy (x y) = x
    assert jax.jvp(inner, (2.0,), (1.0,)) == (2.0, 1.0)
