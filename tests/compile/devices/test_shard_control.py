"""Partitioned branches and loops: the shardings of carries and of what their steps stack."""

import numpy as np
import pytest

import onax as jax
from sharded_programs import P, body_of, check, collectives, jnp, lax

X = np.sin(np.arange(32, dtype=np.float32)).reshape(8, 4)
PROGRAMS = {  # function, spec of the argument X, specs of the results, collectives outside the loop
    "scan over steps": (
        lambda v: lax.scan(lambda c, a: (c + a, c * 2), v[0] * 0, v), P("x", "y"), None, None,
    ),
    "scan along an unsplit dimension": (
        lambda v: lax.scan(lambda c, a: (c + a, c * 2), jnp.zeros(8), v.T), P("x"), [P("x"), P(None, "x")], [],
    ),
    "a carry that a step transposes": (
        lambda v: lax.scan(lambda c, _: (c.T, None), v @ v.T, None, length=3)[0], P("x"), None, None,
    ),
    "while": (
        lambda v: lax.while_loop(lambda c: c.max() < 9, lambda c: c * 2 + 1, v), P("x", "y"), [P("x", "y")], [],
    ),
    "fori_loop": (lambda v: lax.fori_loop(0, 3, lambda i, c: c * i + v, v), P("x", "y"), [P("x", "y")], []),
    "cond": (
        lambda v: lax.cond(v.sum() > 3, lambda c: c + 1, lambda c: c * 2, v), P("x", "y"), [P("x", "y")],
        [("psum", ("x", "y"))],
    ),
    "branches that lie differently": (
        lambda v: lax.cond(v.sum() > 3, lambda c: c, lambda c: jnp.sort(c, 0), v), P("x"), [P("x")], None,
    ),
    "a loop with a sum inside": (
        lambda v: lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ (v.T @ v)), v), P("x"), [P("x")], [],
    ),
    "the gradient of a scan": (
        jax.grad(lambda v: lax.scan(lambda c, _: (jnp.sin(c) * v, None), v, None, length=3)[0].sum()),
        P("x", "y"), [P("x", "y")], None,
    ),
    "checkpoint": (
        jax.grad(lambda v: jax.checkpoint(lambda a: jnp.sin(jnp.sin(a)))(v).sum()), P("x", "y"), [P("x", "y")], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_control_flow(name):
    function, in_spec, out_specs, wanted = PROGRAMS[name]
    program, specs = check(function, X, in_specs=[in_spec], gathers=None)
    if out_specs is not None:
        assert specs == out_specs
    if wanted is not None:
        assert collectives(program) == wanted


def test_a_carry_keeps_the_sharding_that_a_step_gives_it():
    function = lambda v: lax.scan(lambda c, _: (c + v, None), jnp.zeros((8, 4)), None, length=3)[0]
    program, specs = check(function, X, in_specs=[P("x", "y")])
    (scan,) = (e for e in body_of(program).eqns if e.primitive.name == "scan")
    assert [v.aval.shape for v in scan.outvars] == [(2, 2)]
    assert specs == [P("x", "y")]
