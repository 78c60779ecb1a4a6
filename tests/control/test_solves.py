"""custom_linear_solve and custom_root: errors.  Values and derivatives are compared with JAX in tests/golden."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
ERRORS = {
    "linear solve without transpose": (
        lambda: jax.grad(lambda b: lax.custom_linear_solve(lambda x: 2 * x, b, lambda mv, y: y / 2).sum())(X),
        TypeError,
        "transpose_solve required for backwards mode automatic differentiation of custom_linear_solve",
    ),
    "linear solve to another tree": (
        lambda: lax.custom_linear_solve(lambda x: (x,), X, lambda mv, y: y),
        TypeError,
        "matvec() output pytree structure must match b, got PyTreeDef((*,)) and PyTreeDef(*).",
    ),
    "linear solve to another shape": (
        lambda: lax.custom_linear_solve(lambda x: x, X, lambda mv, y: y[:1]),
        ValueError,
        "solve() output shapes must match b, got [(1,)] and [(3,)]",
    ),
    "root of another tree": (
        lambda: lax.custom_root(lambda x: (x,), 1.0, lambda f, x: x, lambda g, y: y),
        TypeError,
        "f() output pytree structure must match initial_guess, got PyTreeDef((*,)) and PyTreeDef(*).",
    ),
    "tangents of another tree": (
        lambda: jax.grad(lambda a: lax.custom_root(lambda x: x - a, 1.0, lambda f, x: x, lambda g, y: (y, y)))(1.0),
        TypeError,
        "tangent_solve() output pytree structure must match x",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
