"""qdwh: the polar decomposition of matrices of all kinds."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.lax.linalg import qdwh

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("call", [lambda f: f, jax.jit])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(4, 4), (7, 3)])
def test_decomposition(call, dtype, shape):
    with jax.enable_x64(True):
        x = RANDOM.normal(size=shape).astype(dtype)
        x = x + 1j * RANDOM.normal(size=shape).astype(x.real.dtype) if dtype == "complex64" else x
        u, h, steps, converged = call(qdwh)(x)
        close = 100 * np.finfo(x.dtype).eps
        np.testing.assert_allclose(u @ h, x, atol=close * np.abs(x).max())
        np.testing.assert_allclose(u.conj().T @ u, np.eye(shape[1]), atol=close)
        np.testing.assert_allclose(h, np.asarray(h).conj().T, atol=0)
        assert np.linalg.eigvalsh(h).min() > -close and bool(converged) and 1 <= int(steps) <= 8
        assert u.dtype == h.dtype == dtype and steps.dtype == jnp.result_type(int) and steps.weak_type


def test_ill_conditioned_and_stopped():
    x = np.diag([1.0, 1e-3, 1e-6]).astype("float32")
    u, _, _, converged = qdwh(x)
    np.testing.assert_allclose(u, np.eye(3), atol=1e-4)
    assert bool(converged)
    _, _, steps, converged = qdwh(x, max_iterations=1)
    assert int(steps) == 1 and not bool(converged)


def test_dynamic_shape_and_hermitian():
    x = RANDOM.normal(size=(5, 4)).astype("float32")
    u, h, _, _ = qdwh(x, dynamic_shape=(4, 3))
    inner, inner_h, _, _ = qdwh(x[:4, :3])
    np.testing.assert_allclose(u[:4, :3], inner, atol=1e-5)
    np.testing.assert_allclose(h, np.pad(inner_h, (0, 1)), atol=1e-5)
    a = (x[:4] + x[:4].T).astype("float32")
    u, _, _, _ = qdwh(a, is_hermitian=True)
    np.testing.assert_array_equal(u, u.T)
    with pytest.raises(ValueError, match="m >= n"):
        qdwh(jnp.ones((2, 3)))
