"""The ONNX forms of reductions: NaN, wrapping, bits, no elements, 64-bit order."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import NEWEST, run_kernel, run_lowering
from onax._prims import reductions as prims
from tolerance import assert_same_bits, assert_ulps

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("float32", "float64", "float16", BF16)]
INTEGERS = [np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)]
ALL = [*FLOATS, *INTEGERS, np.dtype(bool)]
AXES = [(0,), (1,), (2,), (0, 2), (0, 1, 2), ()]


def _numbers(dtype, shape=(3, 4, 5)):
    rng = np.random.default_rng(3)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    x = rng.integers(-3, 4, shape).astype(dtype)
    if dtype in FLOATS and x.size:
        x.flat[:7] = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1, np.nan], dtype)
    return x


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_xor"])
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_exact_reductions(name, dtype):
    p = getattr(prims, f"{name}_p")
    if dtype in FLOATS and name not in ("reduce_max", "reduce_min"):
        pytest.skip("of integers and bools")
    for axes in AXES:
        for shape in ((3, 4, 5), (3, 0, 5)):
            x = _numbers(dtype, shape)
            assert_same_bits(run_lowering(p, [x], {"axes": axes})[0], run_kernel(p, [x], {"axes": axes})[0], f"{axes}")


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
def test_products(dtype):
    x = _numbers(dtype)
    x = np.where(np.isfinite(x.astype(np.float64)) & (x != 0), x, 1).astype(dtype)
    for axes in AXES:
        for opset in (18, NEWEST):
            got = run_lowering(prims.reduce_prod_p, [x], {"axes": axes}, opset)[0]
            assert_ulps(got, run_kernel(prims.reduce_prod_p, [x], {"axes": axes})[0], 64, f"{axes}")


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_places(name, dtype):
    p = getattr(prims, f"{name}_p")
    for axis in (0, 1, 2):
        for index_dtype in ("int32", "uint8"):
            params = {"axes": (axis,), "index_dtype": np.dtype(index_dtype)}
            x = _numbers(dtype)
            assert_same_bits(run_lowering(p, [x], params)[0], run_kernel(p, [x], params)[0], f"{axis}")


def test_first_nan_is_found_in_every_row():
    x = np.array([[1, np.nan, 3, np.nan], [np.nan, 1, 2, 3], [-np.inf, -np.inf, -np.inf, -np.inf]])
    for p in (prims.argmax_p, prims.argmin_p):
        (got,) = run_lowering(p, [x], {"axes": (1,), "index_dtype": np.dtype("int32")})
        assert_same_bits(got, np.array([1, 0, 0], np.int32))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "uint32"])
def test_order_beyond_32_bits(dtype):
    """The runtime's ReduceMax and ReduceMin (1.31.1) order int64 wrongly where low words differ in their top bit."""
    x = np.array([[1, 2**31, 2**32 - 1], [2**31 - 1, 2**31 + 1, 5]], object).astype(dtype)
    for p, f in ((prims.reduce_max_p, np.max), (prims.reduce_min_p, np.min)):
        assert_same_bits(run_lowering(p, [x], {"axes": (1,)})[0], f(x, 1))
