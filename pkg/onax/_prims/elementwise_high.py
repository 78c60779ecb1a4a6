"""mulhi: the upper half of the product of two integers."""

import numpy as np

from onax._prims.convert import convert
from onax._prims.creation import full_like
from onax._prims.elementwise import add, lt, mul, sub
from onax._prims.elementwise_bits import bitwise_and, shift_right_arithmetic, shift_right_logical
from onax._prims.elementwise_kernels import NARROW_INTEGERS, by_kind
from onax._prims.elementwise_rows import binary, const

_U64 = np.dtype(np.uint64)
_HALF = 32


def _high_kernel(x, y):
    bits = 8 * x.dtype.itemsize
    if bits < 64:
        wide = np.dtype(f"{x.dtype.kind}8")
        return (np.multiply(x.astype(wide), y.astype(wide)) >> wide.type(bits)).astype(x.dtype)
    high = _multiply_high_by_halves(
        x.view(_U64), y.view(_U64), np.multiply, np.add, _lower_half, lambda v: v >> _U64.type(_HALF)
    )
    if x.dtype.kind == "i":
        high = high.view(x.dtype) - np.where(x < 0, y, 0) - np.where(y < 0, x, 0)
    return high


def _lower_half(v):
    return v & _U64.type(2**_HALF - 1)


def _multiply_high_by_halves(x, y, times, plus, low, high):
    """The upper 64 bits of a product of two 64-bit numbers, from four products of their halves."""
    across = times(high(x), low(y))
    middle = plus(plus(high(times(low(x), low(y))), low(across)), times(low(x), high(y)))
    return plus(plus(times(high(x), high(y)), high(across)), high(middle))


_kernel = by_kind(integer=_high_kernel)
for _dtype in NARROW_INTEGERS:  # XLA does not accept these dtypes either
    _kernel.pop(_dtype, None)
mulhi, mulhi_p = binary(
    "mulhi", _kernel, doc="Returns the upper half of the bits of the product of x and y. | 2**30, 8 -> 2"
)


def multiply_high(x, y):
    """mulhi as other operations: a product in 64 bits, or for 64-bit numbers products of halves."""
    dtype = x.dtype
    bits = 8 * dtype.itemsize
    if bits < 64:
        wide = np.dtype(f"{dtype.kind}8")
        product = mul(*(convert(v, wide) for v in (x, y)))
        shift = shift_right_arithmetic if dtype.kind == "i" else shift_right_logical
        return convert(shift(product, full_like(product, bits)), dtype)
    low = lambda v: bitwise_and(v, const(v, 2**_HALF - 1))
    upper = lambda v: shift_right_logical(v, const(v, _HALF))
    high = _multiply_high_by_halves(*(convert(v, _U64) for v in (x, y)), mul, add, low, upper)
    if dtype.kind == "u":
        return high
    high = convert(high, dtype)
    for a, b in ((x, y), (y, x)):  # the unsigned view of a negative number is larger by 2^64
        high = sub(high, mul(convert(lt(a, full_like(a, 0)), dtype), b))
    return high
