"""Lowerings of conversions between element types.

`Cast` is exact between integers (it wraps) and between floats.  Its result from a float out of an integer's range is
undefined, while JAX saturates and converts NaN to 0, so the operand is clipped first.

The other direction: `pkg/onax/onnx/convert.py`.
"""

import ml_dtypes
import numpy as np

from onax._ground.errors import LoweringError
from onax._prims.convert import bitcast_convert_type_p, convert_element_type_p, reduce_precision_p
from onax._prims.convert import cast as cast_array
from onax.export.graph import ops
from onax.export.graph.formula import Formula
from onax.export.graph.kernels import ELEMENT_TYPES
from onax.export.graph.value import SMALL_BYTES
from onax.export.lower.convert_bits import bits_of, from_bits
from onax.export.lower.registry import lowers

F16, F32, F64 = map(np.dtype, (np.float16, np.float32, np.float64))
BF16 = np.dtype(ml_dtypes.bfloat16)
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
HALVES = (F16, BF16)
FLOATS = frozenset((F16, BF16, F32, F64))
UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
SIGNED = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
_WITH_BITS = FLOATS.union(UNSIGNED.values(), SIGNED.values())


def refuse(g, fault):
    """Raises LoweringError with the fault and the location of the equation."""
    raise LoweringError(g._say(fault))


def is_small_constant(x):
    """Whether a value is a constant small enough to be folded at compile time."""
    return x.const is not None and x.const.nbytes <= SMALL_BYTES


# ---- convert_element_type


def _saturated_narrow(g, x, dtype):
    """To at most 16 bits: the runtime casts through a wider integer, whose low bits are 0 for NaN."""
    info = np.iinfo(dtype)
    inside = g.node("Clip", x, ops.scalar(g, info.min, x), ops.scalar(g, info.max, x))
    return ops.cast(g, inside, dtype)


def _saturated_exactly(g, x, dtype):
    """To 32 bits from float64, which represents both limits."""
    info = np.iinfo(dtype)
    number = ops.where(g, ops.is_nan(g, x), ops.scalar(g, 0, x), x)
    inside = g.node("Clip", number, ops.scalar(g, info.min, number), ops.scalar(g, info.max, number))
    return ops.cast(g, inside, dtype)


def _saturated(g, x, dtype):
    """To 32 bits from float32, and to 64: no float of x's type is the upper limit, so a Where handles larger values.

    It chooses uint32 among int64, since the runtime for Node and WebAssembly has no Where of uint32.
    """
    info = np.iinfo(dtype)
    chosen = np.dtype(np.int64) if dtype == np.uint32 else dtype
    limit = x.dtype.type(float(info.max + 1))
    number = ops.where(g, ops.is_nan(g, x), ops.scalar(g, 0, x), x)
    bounds = ops.scalar(g, float(info.min), x), g.const(np.nextafter(limit, x.dtype.type(0)))
    inside = ops.cast(g, g.node("Clip", number, *bounds), chosen)
    return ops.cast(g, ops.where(g, ops.greater_equal(g, x, g.const(limit)), g.const(info.max, chosen), inside), dtype)


def convert(g, x, dtype):
    """Converts as JAX does: conversions to integers saturate, and NaN becomes 0."""
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    if dtype not in ELEMENT_TYPES or x.dtype not in ELEMENT_TYPES:
        refuse(g, f"ONNX Runtime does not convert {x.dtype} to {dtype}.")
    if is_small_constant(x):
        return g.const(cast_array(x.const, dtype))
    if x.dtype not in FLOATS or dtype.kind not in "iu":
        return ops.cast(g, x, dtype)
    x = ops.cast(g, x, F32) if x.dtype in HALVES else x
    if dtype.itemsize <= 2:
        return _saturated_narrow(g, x, dtype)
    return (_saturated_exactly if dtype.itemsize == 4 and x.dtype == F64 else _saturated)(g, x, dtype)


@lowers(convert_element_type_p)
def _convert_element_type(g, out, x, *, new_dtype, **_):
    return convert(g, x, out.dtype)


# ---- bitcast_convert_type


def reinterpret(g, x, dtype):
    """Reinterprets the bits as another type of equal width; below opset 26 in arithmetic, which makes all NaN one."""
    if x.dtype == dtype:
        return x
    if x.dtype.kind in "iu" and dtype.kind in "iu":
        return ops.cast(g, x, dtype)
    if g.opset >= 26:
        return ops.bitcast(g, x, dtype)
    if not {x.dtype, dtype} <= _WITH_BITS:
        refuse(g, f"ONNX reads the bits of {x.dtype} as {dtype} from opset 26 on; this graph has opset {g.opset}.")
    g.model.wish(26)
    word = UNSIGNED[dtype.itemsize]
    bits = g.formula("Bits", x, out=(x.shape, word), build=bits_of) if x.dtype in FLOATS else ops.cast(g, x, word)
    if dtype not in FLOATS:
        return ops.cast(g, bits, dtype)
    build = lambda g, words: from_bits(g, words, dtype)
    return g.formula("FromBits", bits, out=(x.shape, dtype), build=build)


def _split_bits(g, x, dtype, out):
    """Wide to narrow: the parts are a new last axis, the lowest first."""
    wide, narrow = UNSIGNED[x.dtype.itemsize], UNSIGNED[dtype.itemsize]
    count = x.dtype.itemsize // dtype.itemsize
    amounts = g.const(np.arange(count) * 8 * dtype.itemsize, wide)
    bits = ops.unsqueeze(g, reinterpret(g, x, wide), (x.ndim,))
    parts = g.node("BitShift", bits, amounts, out=(out.shape, wide), direction="RIGHT")
    return reinterpret(g, ops.cast(g, parts, narrow), dtype)


def _join_bits(g, x, dtype, out):
    """Narrow to wide: the last axis holds the parts of one number, the lowest first."""
    if any(type(d) is int and d == 0 for d in out.shape):  # MatMul refuses an empty stack times a vector
        return ops.full(g, out.shape, 0, dtype)
    narrow, wide = UNSIGNED[x.dtype.itemsize], UNSIGNED[dtype.itemsize]
    working = UNSIGNED[max(4, dtype.itemsize)]
    count = dtype.itemsize // x.dtype.itemsize
    weights = g.const([1 << (8 * x.dtype.itemsize * i) for i in range(count)], working)
    parts = ops.cast(g, reinterpret(g, x, narrow), working)
    joined = g.node("MatMul", parts, weights, out=(out.shape, working))
    return reinterpret(g, ops.cast(g, joined, wide), dtype)


@lowers(bitcast_convert_type_p)
def _bitcast_convert_type(g, out, x, *, new_dtype):
    have, want = x.dtype.itemsize, out.dtype.itemsize
    if have == want:
        return reinterpret(g, x, out.dtype)
    return (_split_bits if have > want else _join_bits)(g, x, out.dtype, out)


# ---- reduce_precision


def _round_mantissa(g, x, mantissa_bits):
    """Rounds a float32 to this many mantissa bits, ties to even, as float64: adding `shifted` drops the lower bits."""
    wide = ops.cast(g, x, F64)
    shifted = ops.mul(g, wide, ops.scalar(g, 2.0 ** (52 - mantissa_bits), wide))
    return ops.sub(g, ops.add(g, wide, shifted), shifted)


@lowers(reduce_precision_p)
def _reduce_precision(g, out, x, *, exponent_bits, mantissa_bits):
    info = ml_dtypes.finfo(x.dtype)
    if exponent_bits >= info.nexp and mantissa_bits >= info.nmant:
        return x
    if x.dtype == F64:
        return _reduce_double(g, x, exponent_bits, min(mantissa_bits, 52))
    if x.dtype == F16 and exponent_bits >= info.nexp:
        return _reduce_half(g, x, mantissa_bits)
    single = ops.cast(g, x, F32)
    if (exponent_bits, mantissa_bits) == (8, 7):
        return ops.cast(g, ops.cast(g, single, BF16), out.dtype)
    rounded = _round_mantissa(g, single, mantissa_bits) if mantissa_bits < 23 else ops.cast(g, single, F64)
    return ops.cast(g, _limit_exponent(g, rounded, exponent_bits, single), out.dtype)


def _reduce_half(g, x, mantissa_bits):
    """Rounds a float16 whose exponent keeps all its bits: subnormal results are multiples of one unit."""
    single = ops.cast(g, x, F32)
    wide = Formula(g, ops.cast(g, single, F64))
    shift = 1.5 * 2.0 ** (52 - 14 - mantissa_bits)
    rounded = (wide.do("Abs") < 2.0**-14).where(
        wide + shift - shift, Formula(g, _round_mantissa(g, single, mantissa_bits))
    )
    infinite = Formula(g, g.node("IsInf", single, out=(single.shape, np.bool_)))
    return ops.cast(g, infinite.where(wide, rounded).value, F16)


def _limit_exponent(g, rounded, exponent_bits, original):
    """Makes a float64 overflow to infinity and underflow to zero; infinities and NaN are those of the original."""
    widened = ops.cast(g, original, F64)
    infinite = g.node("IsInf", original, out=(original.shape, np.bool_))
    if exponent_bits >= 11:
        return ops.where(g, infinite, widened, rounded)
    top = 2 ** (exponent_bits - 1) - 1
    magnitude = g.node("Abs", rounded)
    limit, smallest = ops.scalar(g, 2.0 ** (top + 1), rounded), ops.scalar(g, 2.0 ** (1 - top), rounded)
    sign = g.node("Sign", rounded)
    rounded = ops.where(g, ops.less(g, magnitude, smallest), ops.mul(g, rounded, ops.scalar(g, 0.0, rounded)), rounded)
    overflows = ops.greater_equal(g, magnitude, limit)
    rounded = ops.where(g, overflows, ops.mul(g, sign, ops.scalar(g, np.inf, rounded)), rounded)
    return ops.where(g, infinite, widened, rounded)


def _reduce_double(g, x, exponent_bits, mantissa_bits):
    """Rounds a float64 by adding and subtracting a power of two whose unit in the last place is that of the result."""
    x = Formula(g, x)
    size = x.do("Abs")
    small, large = (Formula(g, g.const(2.0**e, F64)) for e in (-200, 200))
    scale = (size > 1).where(small, large)  # away from overflow
    y = x * scale
    top = y * 2.0**52
    top = y + top - top  # y rounded to one bit: its power of two, or the next one
    power = (top.do("Abs") > y.do("Abs")).where(top * 0.5, top)
    shifted = power * 2.0 ** (52 - mantissa_bits)
    rounded = (y + shifted - shifted) / scale
    if exponent_bits == 11:
        return _limit_exponent(g, rounded.value, exponent_bits, x.value)
    beyond = size >= 2.0 ** (2 ** (exponent_bits - 1))
    return _limit_exponent(g, beyond.where(x, rounded).value, exponent_bits, x.value)
