"""Linearization: what is evaluated, what is recorded, residuals, split programs, refusals."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import names
from onax._core.evaluate import eval_jaxpr, jaxpr_as_fun
from onax._native.dispatch import Primitive
from onax._transforms.linearize import linearize_flat, linearize_jaxpr

X = jnp.arange(1.0, 4.0)


def test_primal_operations_run_at_once_and_tangents_are_recorded():
    seen = []

    def f(x, y):
        s = jnp.sin(x)
        seen.append(s[0].item())
        return [s * y, y + 1, 2.0]

    found = linearize_flat(f, [X, X], [True, False])
    assert seen == [float(jnp.sin(1.0))] and found.nonzeros_out == [True, False, False]
    np.testing.assert_array_equal(found.outs[1], X + 1)
    assert "sin" not in names(found.jaxpr) and "cos" not in names(found.jaxpr)
    (tangent,) = eval_jaxpr(found.jaxpr, found.residuals, X)
    np.testing.assert_allclose(tangent, jnp.cos(X) * X * X, rtol=1e-6)


@pytest.mark.parametrize(
    "nonzeros, flags", [((True, False), [True, True]), ((False, True), [True, False]), ((False, False), [False, False])]
)
def test_split_programs(nonzeros, flags):
    program = jax.make_jaxpr(lambda x, y: (x * jnp.sin(y), x + 1))(X, X)
    forward, linear, found, forwarded = linearize_jaxpr(program, nonzeros)
    assert found == flags and linearize_jaxpr(program, nonzeros)[0] is forward
    outs = jaxpr_as_fun(forward)(X, X)
    np.testing.assert_array_equal(outs[0], X * jnp.sin(X))
    computed = iter(outs[2:])
    residuals = [next(computed) if i is None else (X, X)[i] for i in forwarded]
    tangents = jaxpr_as_fun(linear)(*residuals, *[X for flag in nonzeros if flag])
    dx, dy = (X if flag else 0 * X for flag in nonzeros)
    wanted = [dx * jnp.sin(X) + X * jnp.cos(X) * dy, dx]
    for got, want in zip(tangents, (w for w, flag in zip(wanted, flags) if flag), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_residuals_that_are_arguments_are_not_returned():
    program = jax.make_jaxpr(lambda x, y: x * y)(X, X)
    forward, _, _, forwarded = linearize_jaxpr(program, (True, True))
    assert len(forward.outvars) == 1 and sorted(forwarded) == [0, 1]


def test_zeros_are_made_on_request():
    program = jax.make_jaxpr(lambda x, y: (x, y))(X, X)
    _, linear, flags, _ = linearize_jaxpr(program, (True, False), instantiate=True)
    assert flags == [True, True]
    np.testing.assert_array_equal(jaxpr_as_fun(linear)(X)[1], X * 0)


def bad_rule(primals, tangents):
    return tangents[0] * 1, tangents[0]  # a result that depends on tangents


def test_results_must_be_known():
    p = Primitive("test_bad_rule", kernel=lambda x: x, abstract_eval=lambda x: x)
    p.jvp = bad_rule
    with pytest.raises(ValueError, match="Linearization failed to produce known values for all output primals"):
        jax.linearize(p.bind, X)
    f = jax.custom_jvp(lambda x: x)
    f.defjvp(bad_rule)
    with pytest.raises(ValueError, match="failed to produce known values"):
        jax.grad(f)(1.0)


def test_an_operation_without_a_rule_is_named():
    p = Primitive("test_no_rule", kernel=lambda x: x, abstract_eval=lambda x: x)
    with pytest.raises(NotImplementedError, match="Differentiation rule for 'test_no_rule' not implemented"):
        jax.linearize(p.bind, X)
