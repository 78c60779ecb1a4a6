"""The step that a line search gives satisfies the strong Wolfe conditions."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.scipy._line_search import line_search

FUNCTIONS = {  # function, start, direction
    "quadratic": (lambda x: (x**2).sum(), [3.0, -4.0], [-1.0, 1.0]),
    "steep": (lambda x: jnp.exp(x).sum() - 100 * x.sum(), [0.0], [1.0]),
    "rosenbrock": (lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, [-1.2, 1.0], [0.3, 0.4]),
    "bumpy": (lambda x: (x**2 / 10 + jnp.sin(3 * x)).sum(), [2.5], [-1.0]),
}


def searched(function, x, direction, maxiter=30, previous_value=None):
    both = jax.value_and_grad(function)
    value, gradient = both(x)
    direction = jnp.where(gradient @ direction > 0, -direction, direction)
    return direction, gradient, value, line_search(both, x, direction, value, gradient, maxiter, previous_value)


@pytest.mark.parametrize("previous", [None, 1e-3, 50.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_wolfe_conditions(name, previous):
    """`previous`: by how much the value before was larger, which chooses the first step."""
    function, x, direction = FUNCTIONS[name]
    with jax.enable_x64(True):
        x, direction = jnp.array(x), jnp.array(direction)
        before = None if previous is None else function(x) + previous
        search = lambda x, direction: searched(function, x, direction, previous_value=before)
        direction, gradient, value, found = jax.jit(search)(x, direction)
        assert found.status == 0 and not found.failed and found.step > 0 and 0 < found.evaluations <= 30
        at = x + found.step * direction
        np.testing.assert_allclose(found.value, function(at), rtol=1e-12)
        np.testing.assert_allclose(found.gradient, jax.grad(function)(at), rtol=1e-9, atol=1e-9)
        start = gradient @ direction
        assert found.value <= value + 1e-4 * found.step * start
        assert abs(found.gradient @ direction) <= -0.9 * start


def test_what_falls_for_ever_is_not_found():
    with jax.enable_x64(True):
        *_, found = searched(lambda x: -x.sum(), jnp.ones(1), jnp.ones(1), maxiter=8)
        assert found.evaluations == 8 and found.status == 3 and found.failed
