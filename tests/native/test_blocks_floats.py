"""Vector code for functions of float32 (`blocks_special.h`, `blocks_maths.h`), and extremes of rows of any length."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from native.test_blocks import CLOSE, F32, FOLDS, edges, run
from tolerance import assert_ulps, finfo

F64 = np.dtype(np.float64)


def numbers_of_float32(low, high):
    """Ordinary numbers, those near 0, any bits, and awkward ones."""
    rng = np.random.default_rng(5)
    parts = [rng.uniform(low, high, 100_000), rng.uniform(-1, 1, 50_000), rng.uniform(-1e-6, 1e-6, 99)]
    bits = rng.integers(0, 2**32, 100_000, np.uint32).view(np.float32)
    return np.concatenate([*(np.asarray(part, np.float32) for part in parts), bits, edges(np.float32)])


@pytest.mark.parametrize(
    "name, low, high, ulps",
    [("bessel_i0e", -40, 40, 1), ("bessel_i1e", -40, 40, 1), ("digamma", -20, 20, 1), ("erfc", -5, 9, 4)],
)
def test_special_functions_of_float32_are_right(name, low, high, ulps):
    x = numbers_of_float32(low, high)
    with np.errstate(all="ignore"):
        want = np.asarray(CLOSE[name].kernel[F64](x.astype(np.float64))).astype(np.float32)
    if name == "erfc":  # subnormal results may be flushed
        kept = ~((want > 0) & (want < finfo(F32).tiny))
        want, x = want[kept], x[kept]
    assert_ulps(run(name, F32, x), want, ulps)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("length", [1, 3, 15, 16, 17, 32, 47, 100, 255])
@pytest.mark.parametrize("name", ["largest", "smallest"])
def test_extremes_of_rows_of_any_length(name, length, dtype):
    x = np.random.default_rng(length).normal(size=(60, length)).astype(dtype)
    for i, value in enumerate((np.nan, np.inf, -np.inf, -0.0)):
        for k in range(10):
            x[10 * i + k, (7 * k) % length] = value
    x[50] = np.nan
    x[51], x[52] = np.inf, -np.inf
    want = np.broadcast_to(FOLDS[name].reduce(x, axis=1, keepdims=True), x.shape)
    reduce = jnp.max if name == "largest" else jnp.min
    with onax.enable_x64(True):
        got = onax.jit(lambda x: reduce(x, axis=1, keepdims=True) + jnp.zeros_like(x))(x)
    np.testing.assert_array_equal(np.asarray(got), want)
