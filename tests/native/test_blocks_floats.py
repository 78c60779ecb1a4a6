"""Vector code for functions of float32 (`blocks_special.h`, `blocks_maths.h`), and extremes of rows of any length."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from native.test_blocks import CLOSE, F32, FOLDS, edges, run
from tolerance import assert_same_bits, assert_ulps, finfo

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


@pytest.mark.parametrize("dtype", [np.float32, np.float64, "bfloat16"], ids=str)
@pytest.mark.parametrize("name", ["exp", "logistic"])
def test_exponentials_have_the_same_bits_wherever_they_stand(name, dtype):
    """Those of 32 numbers that are all near 0 are computed in another form than others."""
    far = 760 if dtype is np.float64 else 110
    x = np.concatenate([np.linspace(-far, far, 4096), [np.inf, -np.inf, np.nan, 0.0, -0.0], np.linspace(-1, 1, 999)])
    x = x.astype(dtype)
    alone = np.concatenate([run(name, dtype, x[i : i + 31]) for i in range(0, x.size, 31)])
    assert_same_bits(run(name, dtype, x), alone)
    near = np.sort(x)[x.size // 4 : -x.size // 4]
    assert_same_bits(
        run(name, dtype, near), np.concatenate([run(name, dtype, near[i : i + 31]) for i in range(0, near.size, 31)])
    )
