"""dot_general, which sums products over contracted axes, and the functions that call it.

The result's axes are: batch, free axes of the left operand, free axes of the right.  Narrow floats (bfloat16, float16,
the 8-bit ones) are multiplied and summed in float32 and rounded once; integers wrap.
"""

import enum
import math
import operator
from typing import Any, NamedTuple

import numpy as np

from onax._core.facts import MAKES_NAN
from onax._core.rules import defbilinear
from onax._core.sharding import NamedSharding, insert_spec_entry
from onax._core.trace import as_array
from onax._ground import dims, dtypes
from onax._ground.config import config
from onax._ground.typing import ArrayLike, DTypeLike, PrecisionLike, ShardingLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.convert import cast, convert
from onax._prims.placement import placed, sharding_of_cotangent, stated_sharding
from onax._prims.shaping import canonical_axis, transpose

# ---- precision ----


class Precision(enum.Enum):
    """The precision of matrix products on hardware that offers a choice; on a CPU all values mean the same."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value):
        return _PRECISIONS.get(value) if value is None or isinstance(value, str) else None

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"

    def __str__(self):
        return self.name


class DotAlgorithm(NamedTuple):
    """How hardware that offers a choice multiplies and sums; on a CPU all algorithms mean the same.

    Args:
      lhs_precision_type: the dtype to which the left operand is rounded.
      rhs_precision_type: the dtype to which the right operand is rounded.
      accumulation_type: the dtype of the sums.
      lhs_component_count: into how many numbers of its dtype each number of the left operand is split.
      rhs_component_count: the same of the right operand.
      num_primitive_operations: how many products of components are summed for one product.
      allow_imprecise_accumulation: whether sums may have fewer bits than `accumulation_type`.

    Examples:
      >>> algorithm = lax.DotAlgorithm(np.float32, np.float32, np.float32)
      >>> float(lax.dot(jnp.ones(3), jnp.ones(3), precision=algorithm))
      3.0
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Named algorithms for a product; they are accepted, and the dtypes alone decide how the product is computed."""

    DEFAULT = enum.auto()
    ANY_F8_ANY_F8_F32 = enum.auto()
    ANY_F8_ANY_F8_F32_FAST_ACCUM = enum.auto()
    ANY_F8_ANY_F8_ANY = enum.auto()
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = enum.auto()
    F16_F16_F16 = enum.auto()
    F16_F16_F32 = enum.auto()
    BF16_BF16_BF16 = enum.auto()
    BF16_BF16_F32 = enum.auto()
    BF16_BF16_F32_X3 = enum.auto()
    BF16_BF16_F32_X6 = enum.auto()
    BF16_BF16_F32_X9 = enum.auto()
    TF32_TF32_F32 = enum.auto()
    TF32_TF32_F32_X3 = enum.auto()
    F32_F32_F32 = enum.auto()
    F64_F64_F64 = enum.auto()

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"

    def __str__(self):
        return self.name

    @property
    def supported_lhs_types(self):
        """The dtypes that the algorithm takes; None for any."""
        inputs = self.name.split("_")[0]
        if inputs in ("DEFAULT", "ANY"):
            return None
        if self.name.startswith("BF16") and "_X" not in self.name:
            return dtypes.bfloat16, np.float32
        return (_ALGORITHM_TYPES["F32" if inputs in ("BF16", "TF32") else inputs],)

    supported_rhs_types = supported_lhs_types

    @property
    def accumulation_type(self):
        """The dtype in which the algorithm sums; None for the one of the result."""
        parts = self.name.split("_")
        if parts[0] == "ANY":
            return None if parts[4] == "ANY" else np.float32
        return None if parts[0] == "DEFAULT" else _ALGORITHM_TYPES[parts[2]]


_ALGORITHM_TYPES = {"F16": np.float16, "BF16": dtypes.bfloat16, "F32": np.float32, "F64": np.float64}
_PRECISIONS = {
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "default": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    None: Precision.DEFAULT,
}


def canonical_precision(precision):
    """Converts to None, a pair of Precision, an algorithm or a preset; raises ValueError for anything else.

    None becomes the option `jax_default_matmul_precision`.
    """
    if precision is None:
        precision = config.jax_default_matmul_precision
    if precision is None or isinstance(precision, (DotAlgorithmPreset, DotAlgorithm)):
        return precision
    if isinstance(precision, str):
        if precision in DotAlgorithmPreset.__members__:
            return DotAlgorithmPreset[precision]
        if precision in _PRECISIONS:
            return (_PRECISIONS[precision],) * 2
    elif isinstance(precision, Precision):
        return precision, precision
    elif isinstance(precision, (tuple, list)) and len(precision) == 2:
        pair = [p if isinstance(p, Precision) else _PRECISIONS.get(p) for p in precision]
        if None not in pair:
            return tuple(pair)
    raise ValueError(
        "Precision argument must be one of:\n- None,\n"
        f"- a string in {list(_PRECISIONS)},\n- a lax.Precision value,\n"
        "- a tuple of two lax.Precision values or strings,\n"
        "- a lax.DotAlgorithmPreset or the name of one of these presets, or\n"
        f"- a lax.DotAlgorithm value;\nbut got {precision}."
    )


# ---- dot_general ----


def _free_axes(rank, contract, batch):
    """Axes that are neither contracted nor batched, in order."""
    return tuple(i for i in range(rank) if i not in contract and i not in batch)


def _precedence(dtype):
    """The key by which XLA orders dtypes: complex, then largest exponent, digits, bits of an integer, sign."""
    real = dtypes.real_dtype(dtype)
    exponent, digits, bits = -1, -1, -1
    if dtypes.is_integer(real):
        bits = dtypes.itemsize_bits(real)
    elif real.kind != "b":
        info = dtypes.finfo(real)
        exponent, digits = info.maxexp, info.nmant
    return dtypes.is_complex(dtype), exponent, digits, bits, not dtypes.is_unsigned(real)


def _higher_dtype(lhs, rhs):
    """The dtype of a product of operands of two dtypes: one of them, and not the promoted dtype, as in JAX."""
    if lhs == rhs:
        return lhs
    first, second = _precedence(lhs), _precedence(rhs)
    if first == second:
        raise TypeError(f"lax.dot_general argument type error: {lhs}, {rhs}")
    return lhs if first > second else rhs


def _bits(dtype):
    """Bits of a number, or of each part of a complex one."""
    return 1 if dtype.kind == "b" else dtypes.itemsize_bits(dtypes.real_dtype(dtype))


def result_dtype(lhs_dtype, rhs_dtype, preferred):
    """The dtype of a product; TypeError for a preferred dtype too narrow to hold it."""
    natural = _higher_dtype(lhs_dtype, rhs_dtype)
    if preferred is None:
        return natural
    if _bits(preferred) < _bits(natural) and not dtypes.is_float(natural):
        raise TypeError(
            "`preferred_element_type` must not be narrower than the original type, got preferred_element_type "
            f"of {preferred} for result type of {natural}."
        )
    return preferred


def _work_dtype(lhs, rhs, out):
    """The dtype to compute in: an integer of the result's width, or a float or complex dtype of NumPy's BLAS."""
    for dtype in (lhs, rhs):
        if dtype.kind == "c" and out.kind != "c":
            return dtype
    if out.kind == "b":
        return np.dtype(np.bool_)
    if dtypes.issubdtype(out, np.integer):
        operands = _higher_dtype(lhs, rhs)
        if not dtypes.issubdtype(operands, np.integer) and operands.kind != "b":
            return operands if operands.itemsize >= 4 else np.dtype(np.float32)
        return out if out.kind in "iu" else np.dtype(np.int32)
    if out.kind in "fc" and out.itemsize >= 4:
        return out
    operands = _higher_dtype(lhs, rhs)
    return operands if operands.kind == "f" and operands.itemsize == 8 else np.dtype(np.float32)


_float32, _float64 = np.dtype(np.float32), np.dtype(np.float64)
_BLAS_DTYPES = frozenset({_float32, _float64, np.dtype(np.complex64), np.dtype(np.complex128)})


def _kernel(lhs, rhs, *, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None):
    (lc, rc), (lb, rb) = dimension_numbers
    dtype = lhs.dtype
    plain = dtype == rhs.dtype and dtype in _BLAS_DTYPES
    plain = plain and (preferred_element_type is None or preferred_element_type == dtype)
    if plain and not lb and lhs.ndim <= 2 and rhs.ndim <= 2 and len(lc) == 1:
        if lhs.shape[lc[0]] != rhs.shape[rc[0]]:
            raise ValueError("contracted sizes differ")
        return np.matmul(lhs if lc[0] == lhs.ndim - 1 else lhs.T, rhs if rc[0] == 0 else rhs.T)
    if plain:
        return _matmul_flattened(lhs, rhs, lc, rc, lb, rb)
    out = result_dtype(dtype, rhs.dtype, preferred_element_type)
    work = _work_dtype(dtype, rhs.dtype, out)
    return cast(_matmul_flattened(cast(lhs, work), cast(rhs, work), lc, rc, lb, rb), out)


def _sizes(shape, axes):
    return tuple([shape[a] for a in axes])


def _matmul_flattened(x, y, lc, rc, lb, rb):
    """Transposes and flattens the axes for one batched matmul; copies only where axes cannot be flattened in place."""
    lf, rf = _free_axes(x.ndim, lc, lb), _free_axes(y.ndim, rc, rb)
    b, m, n, k = _sizes(x.shape, lb), _sizes(x.shape, lf), _sizes(y.shape, rf), _sizes(x.shape, lc)
    if b != _sizes(y.shape, rb) or k != _sizes(y.shape, rc) or len(lc) != len(rc):
        raise ValueError("contracted or batched sizes differ")
    rows, columns, inner = math.prod(m), math.prod(n), math.prod(k)
    if x.dtype.kind == "b" and not inner:
        return np.zeros(b + m + n, bool)
    if inner == 1 and not lb and rows * columns:  # an outer product
        out = np.multiply(x.reshape(m + (1,) * len(n)) if lf else x.reshape(()), y.reshape(n))
        return out.reshape(m + n)
    left = x.transpose((*lb, *lf, *lc)).reshape((*b, rows, inner))
    right = y.transpose((*rb, *rc, *rf)).reshape((*b, inner, columns))
    return np.matmul(left, right).reshape(b + m + n)


def _check_side(side, rank, contract, batch):
    axes = f"{side}_batch of {batch} and {side}_contracting of {contract}"
    if not all(0 <= a < rank for a in (*contract, *batch)):
        raise TypeError(
            f"dot_general requires {side} dimension numbers to be nonnegative and less than the number of axes of "
            f"the {side} value, got {axes} for {side} of rank {rank}"
        )
    for what, value in (("batch", batch), ("contracting", contract)):
        if len(set(value)) != len(value):
            raise TypeError(f"dot_general requires {side} {what} dimensions to be distinct, got {side}_{what} {value}.")
    if set(contract) & set(batch):
        raise TypeError(
            f"dot_general requires {side} batch dimensions to be disjoint from contracting dimensions, got "
            f"{side}_batch {batch} and {side}_contracting {contract}."
        )


def _abstract_eval(lhs, rhs, *, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None):
    (lc, rc), (lb, rb) = dimension_numbers
    _check_side("lhs", lhs.ndim, lc, lb)
    _check_side("rhs", rhs.ndim, rc, rb)
    batch = _sizes(lhs.shape, lb)
    if not dims.equal_shapes(batch, _sizes(rhs.shape, rb)):
        raise TypeError(
            "dot_general requires lhs batch dimensions and rhs batch dimensions to have the same shape, got "
            f"{batch} and {_sizes(rhs.shape, rb)}."
        )
    contracted = _sizes(lhs.shape, lc)
    if not dims.equal_shapes(contracted, _sizes(rhs.shape, rc)):
        raise TypeError(
            "dot_general requires contracting dimensions to have the same shape, got "
            f"{contracted} and {_sizes(rhs.shape, rc)}."
        )
    for side, x in (("lhs", lhs), ("rhs", rhs)):
        if dtypes.is_extended(x.dtype):
            raise TypeError(f"dot_general does not accept dtype {x.dtype} for its {side}.")
    shape = batch + _sizes(lhs.shape, _free_axes(lhs.ndim, lc, lb)) + _sizes(rhs.shape, _free_axes(rhs.ndim, rc, rb))
    weak = preferred_element_type is None and lhs.weak_type and rhs.weak_type
    return ShapedArray(shape, result_dtype(lhs.dtype, rhs.dtype, preferred_element_type), weak)


def _cotangent(ct, x, y, *, dimension_numbers, x_first, out_sharding=None, **params):
    """The cotangent of x: contracts ct with y over y's free axes, then restores the order of x's axes.

    x is the linear operand; `x_first` says that it is the left one.  dimension_numbers list x's axes first.
    """
    (xc, yc), (xb, yb) = dimension_numbers
    x_rank, y_rank = len(x.aval.shape), len(y.shape)
    nb, ny = len(xb), y_rank - len(yb) - len(yc)
    rank = len(ct.shape)
    ct_y = tuple(range(rank - ny, rank)) if x_first else tuple(range(nb, nb + ny))
    numbers = (ct_y, _free_axes(y_rank, yc, yb)), (tuple(range(nb)), tuple(yb))

    def product(ct, y, sharding=None):
        return dot_general_p.bind(ct, y, dimension_numbers=numbers, out_sharding=sharding, **params)

    # axes of the product: batch, free axes of x, contracted axes in the order of y
    order = (*xb, *_free_axes(x_rank, xc, xb), *(xc[i] for i in sorted(range(len(yc)), key=yc.__getitem__)))
    sharding = sharding_of_cotangent(x.aval, ct, y)
    if sharding is None:
        out = product(ct, y)
    else:
        entries = (*sharding.spec, *[None] * (x_rank - len(sharding.spec)))
        spec = sharding.spec.update(partitions=[entries[i] for i in order])
        out = product(ct, y, NamedSharding(sharding.mesh, spec))
    out = transpose(out, tuple(sorted(range(x_rank), key=order.__getitem__)))
    return convert(out, x.aval.dtype, x.aval.weak_type)


def _lhs_cotangent(ct, x, y, **params):
    return _cotangent(ct, x, y, x_first=True, **params)


def _rhs_cotangent(ct, x, y, *, dimension_numbers, **params):
    (xc, yc), (xb, yb) = dimension_numbers
    return _cotangent(ct, y, x, dimension_numbers=((yc, xc), (yb, xb)), x_first=False, **params)


def _batch(axis_data, operands, mapped, *, dimension_numbers, out_sharding=None, **params):
    """If both operands are mapped, the mapped axis becomes the first batch axis; else a free axis of its operand."""
    (x, y), (dx, dy) = operands, mapped
    (lc, rc), (lb, rb) = dimension_numbers
    if dx is not None:
        lc, lb = _shift_past(dx, lc), _shift_past(dx, lb)
    if dy is not None:
        rc, rb = _shift_past(dy, rc), _shift_past(dy, rb)
    if dx is not None and dy is not None:
        lb, rb = (dx, *lb), (dy, *rb)
        at = 0
    elif dx is not None:
        at = len(lb) + _free_axes(x.ndim, lc, lb).index(dx)
    else:
        at = x.ndim - len(lc) + _free_axes(y.ndim, rc, rb).index(dy)
    if out_sharding is not None:
        out_sharding = insert_spec_entry(out_sharding, at, axis_data.explicit_mesh_axis)
    out = dot_general_p.bind(x, y, dimension_numbers=((lc, rc), (lb, rb)), out_sharding=out_sharding, **params)
    return out, at


def _shift_past(d, axes):
    """Renumbers axes that were counted without the mapped axis d."""
    return tuple(a + (a >= d) for a in axes)


def _pretty(eqn, names):
    shown = {}
    (lc, rc), (lb, rb) = eqn.params["dimension_numbers"]
    shown["dimension_numbers"] = ((list(lc), list(rc)), (list(lb), list(rb)))
    for key in ("precision", "preferred_element_type"):
        if eqn.params.get(key) is not None:
            shown[key] = eqn.params[key]
    return shown


dot_general_p = Primitive(
    "dot_general",
    kernel=_kernel,
    abstract_eval=_abstract_eval,
    batch=_batch,
    pretty=_pretty,
    weak=lambda flags, params: all(flags) and params.get("preferred_element_type") is None,
    facts={MAKES_NAN},
)
defbilinear(dot_general_p, _lhs_cotangent, _rhs_cotangent)


def _axis_tuple(axes):
    return tuple([operator.index(a) for a in axes]) if axes else ()


def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Any,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike = None,
) -> Array:
    """Returns the product of two arrays, summed over contracted axes.

    Args:
      lhs: array of numbers.
      rhs: array of numbers.
      dimension_numbers: ((contracted axes of lhs, of rhs), (batch axes of lhs, of rhs)).
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array with the batch axes, the other axes of lhs, then those of rhs.

    Raises:
      TypeError: axes or their lengths do not fit.

    Examples:
      >>> lax.dot_general(jnp.ones((2, 3)), jnp.ones((4, 3)), (((1,), (1,)), ((), ()))).shape
      (2, 4)
    """
    if out_sharding is not None:
        out_sharding = stated_sharding(out_sharding, "dot_general")
    (lc, rc), (lb, rb) = dimension_numbers
    numbers = (_axis_tuple(lc), _axis_tuple(rc)), (_axis_tuple(lb), _axis_tuple(rb))
    if preferred_element_type is not None:
        preferred_element_type = dtypes.canonicalize_dtype(np.dtype(preferred_element_type))
    out = dot_general_p.bind(
        lhs if isinstance(lhs, Array) else as_array(lhs),
        rhs if isinstance(rhs, Array) else as_array(rhs),
        dimension_numbers=numbers,
        precision=canonical_precision(precision),
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )
    return placed(out, out_sharding)


_MATMUL = ((1,), (0,)), ((), ())


def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    dimension_numbers: Any = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: ShardingLike = None,
) -> Array:
    """Returns the product of vectors and matrices.

    Args:
      lhs: array of rank 1 or 2; of any rank if dimension_numbers are given.
      rhs: array of rank 1 or 2; of any rank if dimension_numbers are given.
      dimension_numbers: as for `dot_general`; default: the last axis of lhs with the first one of rhs.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array of shape (m, n) for matrices, and without the axis that a vector lacks.

    Raises:
      ValueError: the shapes do not fit, and there are no dimension_numbers.

    Examples:
      >>> lax.dot(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 1.0]))
      Array([3., 7.], dtype=float32)
    """
    if not (isinstance(lhs, Array) and isinstance(rhs, Array)):
        lhs, rhs = _dot_operands(lhs, rhs, dimension_numbers is None)
    if dimension_numbers is None:
        plain = precision is preferred_element_type is None and not config.jax_default_matmul_precision
        if lhs.ndim == 2 and rhs.ndim == 2 and plain and out_sharding is None:
            if dims.equal(lhs.shape[1], rhs.shape[0]):  # the common case, kept short for speed
                return dot_general_p.bind(
                    lhs,
                    rhs,
                    dimension_numbers=_MATMUL,
                    precision=None,
                    preferred_element_type=None,
                    out_sharding=None,
                )
        _check_dot_shapes(lhs.shape, rhs.shape)
        dimension_numbers = ((lhs.ndim - 1,), (0,)), ((), ())
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding=out_sharding)


def _check_dot_shapes(lhs, rhs):
    if not (1 <= len(lhs) <= 2 and 1 <= len(rhs) <= 2 and dims.equal(lhs[-1], rhs[0])):
        raise ValueError(
            "jax.lax.dot: dimension_numbers must be specified when not performing simple un-batched "
            f"matrix-matrix, matrix-vector, or vector-vector products; got lhs_shape={lhs} rhs_shape={rhs}"
        )


def _dot_operands(lhs, rhs, shapes_first):
    """Converts both to arrays.  As in JAX, the error about shapes comes before the one about lists or other objects."""
    try:
        return as_array(lhs), as_array(rhs)
    except TypeError:
        if shapes_first:
            _check_dot_shapes(np.shape(lhs), np.shape(rhs))
        raise


def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: PrecisionLike = None) -> Array:
    """Returns products of matrices in the last two axes.

    Args:
      lhs: array of shape (..., m, k).
      rhs: array of shape (..., k, n), with equal leading axes.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.

    Returns:
      Array of shape (..., m, n).

    Raises:
      TypeError: ranks or lengths do not fit.
      ValueError: an operand has less than 2 axes, or their ranks differ.

    Examples:
      >>> lax.batch_matmul(jnp.ones((5, 2, 3)), jnp.ones((5, 3, 4))).shape
      (5, 2, 4)
    """
    lhs = lhs if isinstance(lhs, Array) else as_array(lhs)
    rhs = rhs if isinstance(rhs, Array) else as_array(rhs)
    rank = lhs.ndim
    if min(rank, rhs.ndim) < 2:
        raise ValueError(f"Arguments to batch_matmul must be at least 2D, got {rank}, {rhs.ndim}")
    if rank != rhs.ndim:
        raise ValueError(f"Arguments to batch_matmul must have same ndim, got {rank}, {rhs.ndim}")
    inner = canonical_axis(-1, rank), canonical_axis(-2, rank)
    batch = tuple(range(rank - 2))
    return dot_general(lhs, rhs, (((inner[0],), (inner[1],)), (batch, batch)), precision)
