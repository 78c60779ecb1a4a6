"""Kernels of elementwise operations: divisions, shifts, bit counts, rounding, narrow types, their tables of dtypes."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from onax import lax
from onax._ground.config import enable_x64
from onax._native.dispatch import Primitive, SizedKernel
from onax._native.tape import BLOCK_OPERATIONS, BlockFunction
from onax._prims import elementwise, special
from onax._prims.elementwise_kernels import accept_keys, by_kind, integer_pow
from onax._prims.elementwise_pow import pow_p
from tolerance import assert_same_bits, assert_ulps

INF, NAN = np.inf, np.nan
BF16 = ml_dtypes.bfloat16


def integers(dtype):
    """(x, y) of one integer dtype whose quotients and remainders are peculiar."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.array([low, high, 5, 0, low, 7, 3], dtype), np.array([-1 if low else 1, 0, 0, 0, 0, 2, high], dtype)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32"])
def test_integer_division(dtype):
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    by_zero = -1 if low else high
    with enable_x64(True):
        x, y = integers(dtype)
        assert np.asarray(lax.div(x, y)).tolist() == [low, by_zero, by_zero, by_zero, by_zero, 3, 0]
        assert np.asarray(lax.rem(x, y)).tolist() == [0, high, 5, 0, low, 1, 3]


@pytest.mark.parametrize("dtype", ["float32", "float16", BF16])
def test_rounding(dtype):
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -0.2, -0.0, INF, NAN]).astype(dtype)
    away = np.array([-3, -2, -1, 1, 2, 3, -0.0, -0.0, INF, NAN]).astype(dtype)
    even = np.array([-2, -2, -0.0, 0, 2, 2, -0.0, -0.0, INF, NAN]).astype(dtype)
    assert_same_bits(lax.round(x), away)
    assert_same_bits(lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), even)
    assert np.signbit(np.asarray(lax.round(x)).astype(np.float32)[6:8]).all()


def test_half_below_one_half_rounds_down():
    assert float(lax.round(np.float32(0.49999997))) == 0.0


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_shifts_of_signed_integers(dtype):
    with enable_x64(True):
        bits, high = np.iinfo(dtype).bits, np.iinfo(dtype).max
        x, by = np.full(8, -5, dtype), np.array([0, 1, bits - 1, bits, bits + 1, 100, high, -1], dtype)
        left, logical, arithmetic = (
            np.asarray(f(x, by)).tolist() for f in (lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic)
        )
    assert left == [-5, -10, -(2 ** (bits - 1)), 0, 0, 0, 0, 0]
    assert logical == [-5, 2 ** (bits - 1) - 3, 1, 0, 0, 0, 0, 0]
    assert arithmetic == [-5, -3, -1, -1, -1, -1, -1, -1]


def test_shifts_of_unsigned_integers():
    x, by = np.full(5, 251, np.uint8), np.array([0, 1, 7, 8, 255], np.uint8)
    assert np.asarray(lax.shift_left(x, by)).tolist() == [251, 246, 128, 0, 0]
    assert np.asarray(lax.shift_right_logical(x, by)).tolist() == [251, 125, 1, 0, 0]
    assert np.asarray(lax.shift_right_arithmetic(x, by)).tolist() == [251, 253, 255, 255, 255]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_bit_counts(dtype):
    with enable_x64(True):
        info = np.iinfo(dtype)
        x = np.array([0, 1, info.max, info.min, 3], dtype)
        texts = [format(int(v) % 2**info.bits, f"0{info.bits}b") for v in x]
        assert np.asarray(lax.population_count(x)).tolist() == [t.count("1") for t in texts]
        assert np.asarray(lax.clz(x)).tolist() == [len(t) - len(t.lstrip("0")) for t in texts]


def test_narrow_integers_wrap():
    x = np.array([7, -8, 3], ml_dtypes.int4)
    assert np.asarray(lax.add(x, x)).astype(int).tolist() == [-2, 0, 6]
    assert np.asarray(lax.population_count(x)).astype(int).tolist() == [3, 1, 2]
    assert np.asarray(lax.shift_right_logical(x, np.array([1, 1, 5], ml_dtypes.int4))).astype(int).tolist() == [3, 4, 0]


def test_narrow_floats_round_once():
    x = np.array([0.1, 1.7, -3.3], BF16)
    want = (1 / (1 + np.exp(-x.astype(np.float32)))).astype(BF16)
    assert_same_bits(lax.logistic(x), want)


def test_tables_of_dtypes():
    kernel = by_kind(floating=np.sin, integer=np.negative)
    assert kernel[np.dtype(np.float32)] is np.sin and kernel[np.dtype(np.int32)] is np.negative
    assert (
        np.dtype(bool) not in kernel
        and np.dtype(np.complex64) not in kernel
        and kernel.kinds == ("floating", "integer")
    )
    assert np.dtype("V8") in accept_keys(by_kind(integer=np.equal), np.equal)


@pytest.mark.parametrize(
    "dtype, y", [*itertools.product(["float32", "complex64"], [0, 1, 2, 5, -1, -3]), ("int8", 0), ("int8", 5)]
)
def test_powers_by_squaring(dtype, y):
    x = np.array([1, 2, 3, -2], dtype)
    want = x.astype(complex) ** y if dtype != "int8" else np.array([int(v) ** y for v in x]).astype(np.int8)
    np.testing.assert_allclose(integer_pow(x, y=y), want, rtol=1e-6)


# ---- large arrays, which operations over blocks compute

SIZED = {
    (p.name, dtype): kernel
    for p in [*vars(elementwise).values(), *vars(special).values(), pow_p]
    if isinstance(p, Primitive) and type(p.kernel) is dict
    for dtype, kernel in p.kernel.items()
    if type(kernel) is SizedKernel
}
AWKWARD = [0.0, -0.0, 0.5, -1.5, 2.5, 1e-3, 88.0, -104.0, 710.0, np.inf, -np.inf, np.nan, 1.0, -1.0]
EXACT = ["add", "sub", "mul", "div", "rem", "max", "min", "neg", "abs", "sign", "floor", "ceil", "sqrt", "nextafter"]
# SciPy's are less exact, or nearer to a double's last places
ULPS = {"lgamma": 4096, "digamma": 64, "bessel_i0e": 8, "bessel_i1e": 8, "erf_inv": 16, "erfc": 64}


def awkward(dtype, n=6000):
    x = np.random.default_rng(n).normal(size=n) * 3
    x[: len(AWKWARD)] = AWKWARD
    with np.errstate(all="ignore"):
        return x.astype(dtype)


@pytest.mark.parametrize("name, dtype", sorted(SIZED, key=str), ids=str)
def test_large_arrays_are_computed_as_small_ones(name, dtype):
    kernel = SIZED[name, dtype]
    x, is_binary = awkward(dtype), BLOCK_OPERATIONS[name].signature == "B"
    others = [awkward(dtype, 6001)[:6000], np.asarray(2.5, dtype)] if is_binary else [None]
    for y in others:
        pairs = [(x, y), (y, x)] if is_binary else [(x,)]
        for operands in pairs:
            with np.errstate(all="ignore"):
                large, small = kernel.large(*operands), kernel.small(*operands)
            assert large.dtype == small.dtype == dtype and large.shape == small.shape
            if name in EXACT:
                assert_same_bits(large, small, what=name)
            else:
                assert_ulps(large, small, ULPS.get(name, 5), what=name)


@pytest.mark.parametrize("turn", [lambda x: x.T, lambda x: x[::2, ::-1], lambda x: np.broadcast_to(x[0], x.shape)])
def test_large_arrays_lie_in_any_order(turn):
    x = np.linspace(-3, 3, 120 * 120, dtype=np.float32).reshape(120, 120)
    turned = turn(x)
    kernel = SIZED["add", np.dtype(np.float32)]
    y = np.ascontiguousarray(turned) * 2
    assert np.array_equal(kernel.large(turned, y), turned + y)
    assert np.array_equal(kernel.large(y, turned), y + turned)


def test_the_form_follows_from_the_size():
    kernel = SIZED["exp", np.dtype(np.float32)]
    few, many = np.ones(kernel.fewest - 1, np.float32), np.ones(kernel.fewest, np.float32)
    calls = SizedKernel(lambda x: "small", lambda x: "large", kernel.fewest)
    assert (calls(few), calls(many)) == ("small", "large")
    assert kernel(few).shape == few.shape and kernel(many).shape == many.shape


def test_operands_of_two_shapes_go_to_numpy():
    kernel = SIZED["mul", np.dtype(np.float32)]
    x, y = np.ones((90, 90), np.float32), np.arange(90, dtype=np.float32)
    assert np.array_equal(kernel.large(x, y), x * y)


def test_only_functions_of_arrays_have_that_form():
    with pytest.raises(ValueError, match="select is no function"):
        BlockFunction(BLOCK_OPERATIONS["select"], np.dtype(np.float32), np.where)
