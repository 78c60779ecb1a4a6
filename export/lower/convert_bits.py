"""The bits of floats as integers and back in arithmetic, for opsets below 26, which have no BitCast.

Both directions are exact for all numbers, zeros with their signs, subnormal numbers and infinities.  Operators below
opset 26 do not see the sign or the payload of a NaN: its bits become those of NumPy's `nan`.
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from onax.export.graph import ops
from onax.export.graph.formula import Formula

F16, F32, F64 = map(np.dtype, (np.float16, np.float32, np.float64))
BF16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True, slots=True)
class Layout:
    """The bits of a float: `mantissa` of them below those of the exponent, whose bias this is.

    floats   the type that computes: exact for all values of the layout, with the same or a wider range
    ints     a signed type for bits without the sign
    words    an unsigned type for all bits
    """

    mantissa: int
    bias: int
    floats: np.dtype
    ints: np.dtype
    words: np.dtype

    @property
    def sign(self):
        """The number of bits below the sign."""
        return self.mantissa + (2 * self.bias + 1).bit_length()

    def scales(self, exponents):
        """(a, b) whose product is 2**exponent for each of the exponents; a alone leaves no number subnormal."""
        first = np.where(exponents < 0, -(-exponents // 2), exponents // 2)
        return [np.ldexp(1.0, part).astype(self.floats) for part in (first, exponents - first)]


_I32, _I64, _U32, _U64 = map(np.dtype, (np.int32, np.int64, np.uint32, np.uint64))
LAYOUTS = {
    F16: Layout(10, 15, F32, _I32, _U32),
    F32: Layout(23, 127, F32, _I32, _U32),
    F64: Layout(52, 1023, F64, _I64, _U64),
}


def _is_negative(x):
    """Whether the sign bit of each element is set; False for NaN."""
    return (x < 0) | ((x == 0) & (1 / x < 0))


def _exponents(g, size, layout):
    """The biased exponent of each element of `size` (finite, not negative), 1 also for subnormal numbers and zero."""
    last = 2 * layout.bias
    powers = np.ldexp(1.0, np.arange(last + 1) - layout.bias).astype(layout.floats)
    table = g.const(np.append(powers, np.inf).astype(layout.floats))
    inside = size.maximum(float(powers[1]))
    guess = (inside.do("Log") * float(1 / np.log(2.0)) + float(layout.bias)).do("Floor")
    bounds = (ops.scalar(g, bound, guess.value) for bound in (1.0, float(last)))
    guess = Formula(g, g.node("Clip", guess.value, *bounds, out=guess.value.aval)).cast(_I32)  # off by at most one
    at = lambda k: Formula(g, ops.gather(g, table, k.value, 0))
    guess = guess + (inside >= at(guess + 1)).cast(_I32)
    return guess - (inside < at(guess)).cast(_I32)


def bits_of(g, x):
    """The bits of a float as an unsigned integer of its width."""
    if x.dtype == BF16:
        bits = bits_of(g, ops.cast(g, x, F32))
        shifted = g.node("BitShift", bits, ops.scalar(g, 16, bits), out=bits.aval, direction="RIGHT")
        return ops.cast(g, shifted, np.dtype(np.uint16))
    layout, own = LAYOUTS[x.dtype], x.dtype
    x = Formula(g, ops.cast(g, x, layout.floats))
    size = x.do("Abs")
    is_nan = x.is_nan()
    unbounded = is_nan | (size == float("inf"))
    finite = unbounded.where(0.0, size)
    exponent = _exponents(g, finite, layout)
    known = np.arange(2 * layout.bias + 1)
    first, second = layout.scales(layout.mantissa + layout.bias - known)
    scale = lambda table: Formula(g, ops.gather(g, g.const(table), exponent.value, 0))
    # The mantissa as an integer, in which normal numbers have their leading one: it counts the exponent up.
    bits = (finite * scale(first) * scale(second)).cast(layout.ints)
    bits = bits + (exponent - 1).cast(layout.ints) * (1 << layout.mantissa)
    infinite = (2 * layout.bias + 1) << layout.mantissa
    is_nan = is_nan.cast(layout.ints) * (1 << (layout.mantissa - 1))
    bits = unbounded.where(is_nan + infinite, bits)
    sign = _is_negative(x).cast(layout.words) * (1 << layout.sign)
    return ops.cast(g, (bits.cast(layout.words) + sign).value, np.dtype(f"u{own.itemsize}"))


def from_bits(g, x, dtype):
    """The floats of a dtype whose bits are the unsigned integers x, of the same width."""
    if dtype == BF16:
        wide = ops.cast(g, x, _U32)
        shifted = g.node("BitShift", wide, ops.scalar(g, 16, wide), out=wide.aval, direction="LEFT")
        return ops.cast(g, from_bits(g, shifted, F32), BF16)
    layout = LAYOUTS[dtype]
    words = Formula(g, ops.cast(g, x, layout.words))
    mask = lambda bits: Formula(g, ops.binary(g, "BitwiseAnd", words.value, ops.scalar(g, bits, words.value)))
    right = lambda value, n: Formula(
        g, g.node("BitShift", value.value, ops.scalar(g, n, value.value), out=value.value.aval, direction="RIGHT")
    )
    last = 2 * layout.bias + 1
    exponent = right(mask(last << layout.mantissa), layout.mantissa).cast(_I32)
    mantissa = mask((1 << layout.mantissa) - 1).cast(layout.ints).cast(layout.floats)
    known = np.arange(last + 1)
    first, second = layout.scales(np.clip(known, 1, last - 1) - layout.bias - layout.mantissa)
    at = lambda table: Formula(g, ops.gather(g, g.const(table), exponent.value, 0))
    leading = at(np.where(known > 0, 2.0**layout.mantissa, 0.0).astype(layout.floats))
    size = (mantissa + leading) * at(first) * at(second)
    infinite = (mantissa == 0).where(Formula(g, g.const(np.inf, layout.floats)), float("nan"))
    size = (exponent == last).where(infinite, size)
    sign = 1 - 2 * right(words, layout.sign).cast(layout.floats)  # the runtime's Where loses the sign of zero
    return ops.cast(g, (size * sign).value, dtype)
