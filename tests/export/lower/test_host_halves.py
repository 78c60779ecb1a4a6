"""Kernels between operations that ONNX Runtime computes in float32 for float16 are given float16, and give it."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.asarray(np.array([[1, 2, 3], [0.5, 0.25, 4]]), dtype="float16")
FUNCTIONS = {
    "gather": lambda x: (x + x)[jnp.array([1, 0])] * 2,
    "igammac": lambda x: lax.igammac(x + x, x) * 2,
    "erf_inv": lambda x: lax.erf_inv((x + x) / 9) * 2,
    "sort": lambda x: jnp.sort(x + x) * 2,
    "scatter": lambda x: (x + x).at[jnp.array([1, 1])].add(x) * 2,
    "top_k": lambda x: lax.top_k(x + x, 2)[0] * 2,
    "where around a kernel": lambda x: jnp.where(x < 0, 0, lax.igammac(jnp.floor(1 + jnp.maximum(x - 0, 0)), x)),
    "one number": lambda x: lax.igammac(x[0, 0] + x[0, 1], x[0, 0]) * 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_halves_stay_halves(name):
    function = FUNCTIONS[name]
    wanted, got = np.asarray(function(X)), np.asarray(jax.jit(function)(X))
    assert got.dtype == wanted.dtype == np.float16
    np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=4e-3)
