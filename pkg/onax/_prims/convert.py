"""Changes of type: convert_element_type, bitcast_convert_type, reduce_precision.

`cast` is the conversion itself, on ndarrays, for every kernel that needs one.  It differs from NumPy's `astype` where
XLA does: a float outside an integer type's range saturates, NaN becomes 0, and a complex number gives its real part
(also to bool).
"""

import operator
import warnings

import numpy as np

from onax._core.facts import ELEMENTWISE, LINEAR
from onax._core.rules import deflinear, tangent_zero
from onax._core.trace import as_array, concrete_or_error, typeof
from onax._core.zeros import Zero
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array, make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._native.tape import BLOCK_OPERATIONS, BlockFunction

# ---- the conversion itself ----

_INT32, _FLOAT32 = np.dtype(np.int32), np.dtype(np.float32)
_SCALARS = frozenset((bool, int, float, complex))
_RANGES = {}  # integer dtype -> (lowest, one past the highest), as floats: both are powers of two, hence exact


def _range_of(dtype):
    result = _RANGES.get(dtype)
    if result is None:
        info = dtypes.iinfo(dtype)
        result = _RANGES[dtype] = (int(info.min), int(info.max))
    return result


def _float_to_integer(x, dtype):
    """Truncates toward zero, saturating; NaN gives 0."""
    lowest, highest = _range_of(dtype)
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    wide = dtype if dtype.kind in "iu" else np.dtype(np.int8)  # ml_dtypes' 2- and 4-bit integers are stored in bytes
    if x.size == 0 or (np.minimum.reduce(x, None) >= lowest and np.maximum.reduce(x, None) < highest + 1):
        return x.astype(wide).astype(dtype, copy=False)
    below, above = x < float(lowest), x >= float(highest + 1)
    inside = np.where(below | above | np.isnan(x), x.dtype.type(0), x).astype(wide)
    out = np.where(above, wide.type(highest), np.where(below, wide.type(lowest), inside))
    return out.astype(dtype, copy=False)


def cast(x, dtype):
    """The ndarray x converted to dtype as JAX converts; x itself if it has that dtype already."""
    have = x.dtype
    if have is dtype or have == dtype:
        return x
    steps = _casts.get((have, dtype))
    if steps is None:
        steps = _casts[have, dtype] = _in_blocks(have, dtype, _cast_between(have, dtype))
    return steps(x, dtype)


_casts = {}  # (from, to) -> function(x, to)


def compute_dtype(dtype):
    """The dtype to reduce in: narrow floats in float32, 2- and 4-bit integers in int32, others in their own."""
    if dtype.kind in "biuc" or dtype.itemsize >= 4:
        return dtype
    return _INT32 if dtypes.is_integer(dtype) else _FLOAT32


_CONVERSIONS = {operation.target: operation for operation in BLOCK_OPERATIONS.values() if operation.signature == "V"}
_FEWEST_IN_BLOCKS = 256  # elements from which on it is quicker than NumPy, with the call


def _in_blocks(have, dtype, small):
    """The function that converts, which leaves many floats to an operation over blocks if NumPy has no quick way."""
    operation = _CONVERSIONS.get(dtype)
    if operation is None or have not in operation.dtypes or not dtypes.is_float(have) or dtype.kind == "c":
        return small
    if have.itemsize > 2 and dtype.kind not in "iu" and dtype.itemsize > 2:
        return small
    large = BlockFunction(operation, have, small)
    return lambda x, dtype: large(x) if x.size >= _FEWEST_IN_BLOCKS else small(x, dtype)


def _cast_between(have, dtype):
    """Selects the function that converts between two dtypes."""
    if dtypes.is_extended(have) or dtypes.is_extended(dtype):
        own = dtypes.canonicalize_dtype(have, allow_extended_dtype=True)
        raise ValueError(f"Cannot convert_element_type from {own} to {dtype}")
    if have.kind == "c":
        return _astype if dtype.kind == "c" else _real_part
    if dtypes.is_float(have):
        if dtypes.is_integer(dtype):
            return _float_to_integer
        if dtype.kind == "b":
            return _nonzero_float
        # Not all narrow floats have casts to complex and to one another; float32 holds each of them exactly.
        return _through_float32 if have.itemsize < 4 and (dtype.kind == "c" or dtype.itemsize == 1) else _astype
    if have.kind not in "iub":  # 2- and 4-bit integers: through the next standard type
        return _through_int32
    if dtype.kind == "b":
        return _nonzero
    return _wrap_narrow if dtypes.is_integer(dtype) and dtype.kind not in "iu" else _astype


def _astype(x, dtype):
    return x.astype(dtype)


def _real_part(x, dtype):
    part = x.real
    return part.copy() if part.dtype == dtype else cast(part, dtype)  # a view would keep the imaginary parts alive


def _nonzero(x, dtype):
    return np.not_equal(x, 0)


def _nonzero_float(x, dtype):
    return np.not_equal(x.astype(np.float32) if x.dtype.itemsize < 4 else x, 0)


def _through_float32(x, dtype):
    return x.astype(np.float32).astype(dtype)


def _through_int32(x, dtype):
    return cast(x.astype(np.int32), dtype)


def _wrap_narrow(x, dtype):
    """An integer reduced to 2 or 4 bits, two's complement."""
    lowest, highest = _range_of(dtype)
    bits = highest - lowest + 1
    low = np.bitwise_and(x.astype(np.int64), bits - 1)
    return np.where(low > highest, low - bits, low).astype(np.int8).astype(dtype)


# ---- convert_element_type ----


def _convert_kernel(x, *, new_dtype, weak_type=False, sharding=None):
    return cast(x, new_dtype)


def _convert_abstract(x, *, new_dtype, weak_type=False, sharding=None):
    extended = isinstance(x.dtype, dtypes.ExtendedDType), isinstance(new_dtype, dtypes.ExtendedDType)
    if any(extended) and x.dtype != new_dtype:
        raise ValueError(f"Cannot convert_element_type from {x.dtype} to {new_dtype}")
    return ShapedArray(x.shape, new_dtype, weak_type)


def _convert_transpose(ct, x, *, new_dtype, weak_type=False, sharding=None):
    if dtypes.issubdtype(new_dtype, np.inexact) and not dtypes.issubdtype(x.aval.dtype, np.inexact):
        return [Zero(x.aval)]  # an integer result has no tangent
    return [convert(ct, x.aval.dtype, x.aval.weak_type)]


def _unary_batch(primitive):
    """Sets the batching rule of an elementwise primitive of one operand: the mapped axis stays where it is."""

    def batch(axis_data, operands, dims, **params):
        return primitive.bind(*operands, **params), dims[0]

    primitive.batch = batch
    return primitive


convert_element_type_p = Primitive(
    "convert_element_type",
    kernel=_convert_kernel,
    abstract_eval=_convert_abstract,
    weak=lambda flags, params: params["weak_type"],
    facts=frozenset({ELEMENTWISE, LINEAR}),
    pretty=lambda eqn, names: {key: eqn.params[key] for key in ("new_dtype", "weak_type")},
)
deflinear(convert_element_type_p, _convert_transpose)
_unary_batch(convert_element_type_p)


def _convert_jvp(primals, tangents, *, new_dtype, **params):
    (x,), (g,) = primals, tangents
    out = convert_element_type_p.bind(x, new_dtype=new_dtype, **params)
    if type(g) is Zero or not dtypes.issubdtype(new_dtype, np.inexact):
        return out, tangent_zero(out)
    return out, convert_element_type_p.bind(g, new_dtype=new_dtype, **params)


convert_element_type_p.jvp = _convert_jvp  # replaces the linear rule: integer and bool results have no tangents


def convert(x, dtype, weak_type=False):
    """Converts x to a canonical dtype and weak type; binds nothing when x has both already."""
    if type(x) in _SCALARS and dtypes.is_extended(dtype):
        raise ValueError(f"Cannot convert_element_type from {dtypes.dtype(x)} to {dtype}")
    if type(x) in _SCALARS and not dtypes.is_extended(dtype):  # converted now, so that staging sees a literal
        if type(x) is complex and dtype.kind != "c":
            x = _without_imaginary_part(x, dtype)
        elif type(x) is int and not -(1 << 63) <= x < 1 << 64 and not dtypes.is_integer(dtype):
            x = float(x)
        with np.errstate(over="ignore"):
            return make_array(cast(np.asarray(x), dtype), dtype, weak_type)
    aval = x if isinstance(x, Array) else typeof(x)
    if aval.dtype == dtypes.float0 and dtype != dtypes.float0:
        x = np.zeros(aval.shape, np.bool_)  # float0 has no values but zero
    if aval.dtype == dtype and aval.weak_type == weak_type:
        return as_array(x)
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type, sharding=None)


def _without_imaginary_part(x, dtype):
    """Converts a Python complex number to a dtype that is not complex as NumPy does: to bool, or else TypeError."""
    if dtype.kind == "b":
        return bool(x)
    kind = "int" if dtypes.is_integer(dtype) else "float"
    raise TypeError(f"{kind}() argument must be a string or a real number, not 'complex'")


# The dtypes that `jax_enable_x64` does not change, keyed by the dtypes themselves and by their scalar types.
_CANONICAL_DTYPES = {key: d for d in dtypes.ALL_DTYPES if d not in dtypes.X64_DTYPES for key in (d, d.type)}


_COMPLEX = frozenset(map(np.dtype, ("complex64", "complex128")))
_DISCARDED = "Casting complex values to real discards the imaginary part"


def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """Returns an array converted to a dtype.

    Args:
      operand: array or scalar.
      new_dtype: dtype of the result.

    Returns:
      Array of the shape of the operand, never weakly typed.  Floats become integers by truncation, saturate at the ends
      of the type's range, and NaN becomes 0 (NumPy leaves both undefined); integers wrap; a complex number gives its
      real part, with a ComplexWarning.

    Raises:
      TypeError: the dtype is neither a number nor bool.
      ValueError: the dtype is None, or there is no such conversion.

    Examples:
      >>> lax.convert_element_type(jnp.array([1.5, -2.5]), jnp.int32)
      Array([ 1, -2], dtype=int32)
    """
    if new_dtype is None:
        raise ValueError("dtype must be specified.")
    dtype = _CANONICAL_DTYPES.get(new_dtype) if isinstance(new_dtype, (np.dtype, type)) else None
    if dtype is None:
        dtype = dtypes.check_user_dtype(new_dtype, "convert_element_type")
    if getattr(operand, "dtype", None) in _COMPLEX and dtype not in _COMPLEX:
        warnings.warn(_DISCARDED, np.exceptions.ComplexWarning, stacklevel=2)
    return convert(operand, dtype)


# ---- bitcast_convert_type ----


def _bitcast_kernel(x, *, new_dtype):
    if x.dtype == new_dtype:
        return x.view()
    bits = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(new_dtype)
    if min(bits) < 8 and bits[0] != bits[1]:
        return (_unpack if bits[0] > bits[1] else _pack)(x, new_dtype, *bits)
    old, new = x.dtype.itemsize, new_dtype.itemsize
    if old == new:
        return x.view(new_dtype)
    x = np.asarray(x, order="C")
    if new < old:
        return x.reshape(*x.shape, 1).view(new_dtype)
    return x.view(new_dtype).reshape(x.shape[:-1])


def _unpack(x, dtype, old, new):
    """Elements of fewer than 8 bits from wider ones; the lowest bits come first."""
    octets = np.asarray(x, order="C").reshape(*x.shape, 1).view(np.uint8)
    shifts = np.arange(0, min(old, 8), new, dtype=np.uint8)
    parts = (octets[..., None] >> shifts) & np.uint8(2**new - 1)
    return parts.reshape(*x.shape, old // new).view(dtype)


def _pack(x, dtype, old, new):
    """Wider elements from those of fewer than 8 bits along the last axis; the first one has the lowest bits."""
    octet = min(new, 8)
    parts = x.view(np.uint8).reshape(*x.shape[:-1], new // octet, octet // old)
    shifts = np.arange(0, octet, old, dtype=np.uint8)
    octets = np.bitwise_or.reduce((parts & np.uint8(2**old - 1)) << shifts, axis=-1)
    return np.ascontiguousarray(octets).view(dtype).reshape(x.shape[:-1])


def _bitcast_abstract(x, *, new_dtype):
    if x.dtype != new_dtype and (dtypes.is_extended(x.dtype) or dtypes.is_extended(new_dtype)):
        raise ValueError(f"unexpected input: dtype={x.dtype if dtypes.is_extended(x.dtype) else new_dtype}")
    old, new = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(new_dtype)
    if x.dtype != new_dtype:
        if {x.dtype.kind, new_dtype.kind} & {"b"} or x.dtype.kind == "c":
            raise TypeError(
                "lax.bitcast_convert_type does not support bool or complex values unless the operand and "
                f"destination types match. Got operand dtype={x.dtype}, {new_dtype=}. Consider using the "
                "arr.view() method instead."
            )
        if 6 in (old, new) and old != new:
            raise NotImplementedError(
                f"lax.bitcast_convert_type between {x.dtype} and {new_dtype}: elements of 6 bits are not packed, in "
                "XLA neither; convert to an 8-bit type first."
            )
    if old < new:
        ratio = new // old
        if not x.shape or x.shape[-1] != ratio:
            last = x.shape[-1] if x.shape else 1
            raise ValueError(
                f"Attempting to convert array of shape {x.shape} from {x.dtype} of size {old} bits to {new_dtype} "
                f"of size {new}, bits but {last} * {old} != {new}"
            )
        return ShapedArray(x.shape[:-1], new_dtype)
    return ShapedArray(x.shape if old == new else (*x.shape, old // new), new_dtype)


def _bitcast_jvp(primals, tangents, **params):
    out = bitcast_convert_type_p.bind(*primals, **params)
    return out, tangent_zero(out)


bitcast_convert_type_p = Primitive(
    "bitcast_convert_type",
    kernel=_bitcast_kernel,
    abstract_eval=_bitcast_abstract,
    jvp=_bitcast_jvp,
    weak=NEVER,
)  # shaping.py sets the batching rule, which may have to move an axis: a widening cast consumes one


def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """Returns the bits of an array, read as another dtype.

    Args:
      operand: array.
      new_dtype: dtype of the result; where it is narrower, a last axis appears, and where it is wider, the last axis
        disappears.

    Returns:
      Array of the dtype.

    Raises:
      ValueError: the last axis does not have the length of the ratio of widths.

    Examples:
      >>> lax.bitcast_convert_type(jnp.array([1.0]), jnp.int32)
      Array([1065353216], dtype=int32)
    """
    new_dtype = dtypes.check_user_dtype(new_dtype, "bitcast_convert_type")
    _bitcast_abstract(typeof(operand), new_dtype=new_dtype)
    return bitcast_convert_type_p.bind(operand, new_dtype=new_dtype)


# ---- reduce_precision ----


def _reduce_precision_kernel(x, *, exponent_bits, mantissa_bits):
    """Rounds to nearest even at the given mantissa; overflow gives inf, underflow a zero with the sign of x.

    Works on the bits, as an unsigned integer of x's width: adding half of the last kept unit (less one where that bit
    is even) carries into the exponent exactly when rounding does.
    """
    info = dtypes.finfo(x.dtype)
    word = np.dtype(f"u{x.dtype.itemsize}")
    mantissa, exponent = int(info.nmant), int(info.nexp)
    one = word.type(1)
    bits = np.asarray(x, order="C").view(word)
    sign = bits & (one << word.type(mantissa + exponent))
    size = bits ^ sign
    drop = mantissa - mantissa_bits
    if drop > 0:
        half = one << word.type(drop - 1)
        even = (size >> word.type(drop)) & one
        size = (size + (half - one) + even) & ~word.type((1 << drop) - 1)
    if exponent_bits < exponent:
        bias, reach = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        field = (size >> word.type(mantissa)).astype(np.int64)
        infinite = word.type(((1 << exponent) - 1) << mantissa)
        size = np.where(field > bias + reach, infinite, size)
        size = np.where(field <= bias - reach, word.type(0), size)
    return np.where(np.isnan(x), x, (size | sign).view(x.dtype)).astype(x.dtype, copy=False)


def _reduce_precision_abstract(x, *, exponent_bits, mantissa_bits):
    if not dtypes.is_float(x.dtype):
        raise TypeError(f"reduce_precision does not accept dtype {x.dtype}. Accepted dtypes are subtypes of floating.")
    if exponent_bits < 1:
        raise ValueError(f"reduce_precision: exponent_bits must be positive; got {exponent_bits}")
    if mantissa_bits < 0:
        raise ValueError(f"reduce_precision: mantissa_bits must be non-negative; got {mantissa_bits}")
    return ShapedArray(x.shape, x.dtype, x.weak_type)


reduce_precision_p = Primitive(
    "reduce_precision",
    kernel=_reduce_precision_kernel,
    abstract_eval=_reduce_precision_abstract,
    facts=frozenset({ELEMENTWISE}),
)
deflinear(reduce_precision_p, lambda ct, x, **params: [reduce_precision_p.bind(ct, **params)])
_unary_batch(reduce_precision_p)


def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """Returns floats rounded to fewer bits, in their own dtype.

    Args:
      operand: array of floats.
      exponent_bits: int, the number of bits of the exponent.
      mantissa_bits: int, the number of bits of the mantissa.

    Returns:
      Array of the shape and dtype of the operand; halves go to even.

    Examples:
      >>> lax.reduce_precision(jnp.array([3.14159]), 8, 7)
      Array([3.140625], dtype=float32)
    """
    aval = typeof(operand)
    exponent_bits = concrete_or_error(operator.index, exponent_bits, "exponent_bits argument of lax.reduce_precision")
    mantissa_bits = concrete_or_error(operator.index, mantissa_bits, "mantissa_bits argument of lax.reduce_precision")
    _reduce_precision_abstract(aval, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)
    return reduce_precision_p.bind(operand, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)
