"""Equations of loops that are the same in every step run before the loop."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import check, names
from onax import lax
from onax._compile.passes.hoist_invariants import hoist_invariants
from onax._compile.pipeline import PASSES

X = np.linspace(0.1, 1, 6, dtype=np.float32)
M = np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)


def hoisted(jaxpr):
    for rewrite in (*PASSES, hoist_invariants):
        jaxpr = rewrite(jaxpr)
    return jaxpr


def close_to(got, want, what=""):
    np.testing.assert_allclose(got, want, rtol=1e-5, err_msg=what)


def rewritten(function, *args):
    """Names of the primitives outside of the loop, and of those in its body; the results are checked."""
    program = check(function, *args, compare=close_to, passes=hoisted)
    (loop,) = [eqn for eqn in program.eqns if eqn.primitive in (lax.scan_p, lax.while_p)]
    body = loop.params["jaxpr" if loop.primitive is lax.scan_p else "body_jaxpr"]
    return [name for name in names(program) if name not in ("scan", "while")], names(body)


def test_scan():
    outside, inside = rewritten(lambda x, m: lax.scan(lambda c, y: (jnp.sin(m).T @ c + y, c), x, m), X, M)
    assert outside == ["sin"] and inside == ["transpose", "dot_general", "add"]  # products read transposes in place


def test_transposes_that_no_product_reads():
    outside, inside = rewritten(lambda x, m: lax.fori_loop(0, 3, lambda i, c: c * m.T + x, m), X, M)
    assert outside[0] == "transpose" and "transpose" not in inside


def test_while():
    def program(x, m):
        return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.exp(m) @ c[1] + m[0]), (0, x))

    outside, inside = rewritten(program, X, M)
    assert "exp" in outside and "slice" in outside and sorted(inside) == ["add", "add", "dot_general"]


def test_condition_with_constants():
    def program(x, m, bound):
        return lax.while_loop(lambda c: jnp.sum(c) < bound, lambda c: c + jnp.tanh(m[0]) ** 2 + 0.1, x)

    assert rewritten(program, X, M, np.float32(9))[1] == ["add", "add"]


def test_bodies_that_are_used_twice():
    step = jax.jit(lambda x, m: lax.fori_loop(0, 3, lambda i, c: jnp.sin(m[0]) * c, x))
    program = check(lambda x, m: (step(x, m), step(x + 1, m * 2)), X, M, compare=close_to, passes=hoisted)
    assert names(program).count("sin") == 2


def test_nested_loops():
    def inner(c, m):
        return lax.fori_loop(0, 2, lambda j, d: d * jnp.cos(m[0]) + jnp.sum(c), c)

    outside, inside = rewritten(lambda x, m: lax.fori_loop(0, 3, lambda i, c: inner(c, m), x), X, M)
    assert "cos" in outside and "reduce_sum" in inside and "cos" not in inside


def test_what_grows_stays():
    """The sine is computed once; what repeats it over the rows runs in registers."""
    outside, inside = rewritten(
        lambda x, m: lax.fori_loop(0, 3, lambda i, c: c * jnp.broadcast_to(jnp.sin(x), (6, 6)), m), X, M
    )
    assert outside == ["sin"] and sorted(inside) == ["broadcast_in_dim", "mul"]


def test_what_grows_is_computed_in_both_places():
    def step(c, x):
        wide = jnp.broadcast_to(jnp.sin(x), (6, 6))
        return c * wide + jnp.sum(wide, 0)

    outside, inside = rewritten(lambda x, m: lax.fori_loop(0, 3, lambda i, c: step(c, x), m), X, M)
    assert outside[:3] == ["sin", "broadcast_in_dim", "reduce_sum"]
    assert "reduce_sum" not in inside and "broadcast_in_dim" in inside


def test_results_that_no_step_changes():
    outside, inside = rewritten(lambda x, m: lax.scan(lambda c, y: (c + y, jnp.sin(x)), x, m), X, M)
    assert outside == ["sin"] and inside == ["add"]


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_loops_without_steps(trips):
    def program(x, n):
        return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] // (n - n)), (0, x))

    check(program, np.arange(3), np.int32(trips), passes=hoisted)


def test_endless_loops_that_no_step_reaches():
    """A loop inside stays: without a step of the one around it, it does not run."""

    def program(x, n):
        endless = lambda: lax.while_loop(lambda v: v < n + 1, lambda v: v * 1.0, x)
        return lax.while_loop(lambda c: c < n, lambda c: c + endless(), x)

    check(program, np.float32(0), np.float32(-2), passes=hoisted)


def test_effects_stay():
    seen = []

    def step(c, x):
        jax.debug.callback(lambda v: seen.append(float(v)), x)
        return c + 1, None

    float(jax.jit(lambda x: lax.scan(lambda c, _: step(c, x), x, None, 3)[0])(1.0))
    jax.effects_barrier()
    assert seen == [1.0] * 3


def test_programs_without_loops_are_what_they_were():
    program = jax.make_jaxpr(lambda x: jnp.sin(x) + 1)(X)
    assert hoist_invariants(program) is program
