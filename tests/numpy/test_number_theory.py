"""gcd and lcm of every integer dtype, eager and under jit (expected results are JAX's)."""

import math

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_gcd_and_lcm(dtype):
    x, y = [0, 1, 12, 18, 7, 0], [5, 3, 18, 12, 7, 0]
    with jax.enable_x64(True):
        for function, meaning in ((jnp.gcd, math.gcd), (jnp.lcm, math.lcm)):
            for run in (function, jax.jit(function), jax.vmap(function)):
                result = run(jnp.array(x, dtype), jnp.array(y, dtype))
                assert result.dtype == dtype and not result.weak_type
                assert result.tolist() == list(map(meaning, x, y))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not d.startswith("u")])
def test_signs_do_not_matter(dtype):
    with jax.enable_x64(True):
        x, y = np.array([-12, 12, -12], dtype), np.array([18, -18, -18], dtype)
        assert jnp.gcd(x, y).tolist() == [6, 6, 6] and jnp.lcm(x, y).tolist() == [36, 36, 36]


def test_integers():
    x, y = np.array([0, -4, 7, 0, 5, 12], np.int32), np.array([0, 6, 0, 5, 7, 18], np.int32)
    np.testing.assert_array_equal(jnp.gcd(x, y), np.gcd(x, y))
    np.testing.assert_array_equal(jax.jit(jnp.lcm)(x, y), np.lcm(x, y))
