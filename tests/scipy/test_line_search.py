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


def searched(function, x, direction, first=1.0, maxiter=30):
    both = jax.value_and_grad(function)
    value, gradient = both(x)
    direction = jnp.where(gradient @ direction > 0, -direction, direction)
    return direction, gradient, value, line_search(both, x, direction, value, gradient, first, maxiter)


@pytest.mark.parametrize("first", [1.0, 1e-3, 50.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_wolfe_conditions(name, first):
    function, x, direction = FUNCTIONS[name]
    with jax.enable_x64(True):
        x, direction = jnp.array(x), jnp.array(direction)
        search = lambda x, direction: searched(function, x, direction, first)
        direction, gradient, value, (step, found, slope, status, evaluations) = jax.jit(search)(x, direction)
        assert status == 0 and step > 0 and 0 < evaluations <= 30
        np.testing.assert_allclose(found, function(x + step * direction), rtol=1e-12)
        np.testing.assert_allclose(slope, jax.grad(function)(x + step * direction), rtol=1e-9, atol=1e-9)
        start = gradient @ direction
        assert found <= value + 1e-4 * step * start and abs(slope @ direction) <= -0.9 * start


def test_what_falls_for_ever_is_not_found():
    with jax.enable_x64(True):
        *_, (_, _, _, status, evaluations) = searched(lambda x: -x.sum(), jnp.ones(1), jnp.ones(1), maxiter=8)
        assert evaluations == 8 and status == 3
