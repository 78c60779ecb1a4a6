"""i0 and sinc: against NumPy, with slopes."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([0.0, -0.5, 1e-9, 2.0, 7.25, -30.0])
CALLS = [
    call("i0", X),
    call("i0", np.arange(4)),
    call("sinc", X),
    call("sinc", np.array([0, 1, 2])),
    call("sinc", X[:5] * 1j, rtol=1e-9),
]


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_slopes():
    for function in (jnp.i0, jnp.sinc):
        with jax.enable_x64(True):
            x = X[[1, 3, 4]]
            slope = jax.jit(jax.vmap(jax.grad(function)))(x)
            np.testing.assert_allclose(slope, (function(x + 1e-5) - function(x - 1e-5)) / 2e-5, rtol=1e-6)
    assert jax.grad(jnp.sinc)(0.0) == jax.grad(jnp.i0)(0.0) == 0
    assert float(jax.grad(jax.grad(jnp.sinc))(0.0)) == pytest.approx(-(np.pi**2) / 3)
    assert float(jax.grad(jax.grad(jnp.i0))(0.0)) == 0.5


REFUSED = [
    (lambda: jnp.i0(1j), ValueError, "complex|real"),
    (lambda: jnp.sinc([1.0]), TypeError, "requires ndarray"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
