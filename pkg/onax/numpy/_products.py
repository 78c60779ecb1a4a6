"""Products of matrices and vectors: matmul, dot, inner, outer, tensordot, kron, cross and their relatives."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import name_error, static_argnames
from onax._ground import dims, dtypes
from onax._ground.config import config
from onax._ground.typing import ArrayLike, DTypeLike, PrecisionLike, ShardingLike
from onax._native.array import Array, ArrayImpl
from onax._prims.convert import convert
from onax._prims.placement import with_out_sharding
from onax.numpy._promotion import (
    canonical_axes,
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    promote_args,
    promote_dtypes,
    single_axis,
)
from onax.numpy._shaping import ravel
from onax.numpy._ufuncs import conjugate


def _promote_operands(name, a, b, preferred_element_type):
    """Returns both operands as Arrays, the dtype of their product, and whether it is weakly typed."""
    a, b = check_arraylike(name, a, b)
    if preferred_element_type is not None:
        dtype, weak = dtypes.check_user_dtype(preferred_element_type, name), False
    else:
        dtype, weak = dtypes.result_type(a, b, return_weak_type_flag=True)
    return ensure_arraylike(name, a), ensure_arraylike(name, b), dtype, weak


def contract(a, b, numbers, precision, dtype, weak=False, out_sharding=None):
    """dot_general with a result of the given dtype and weak type."""
    options = {"precision": precision, "preferred_element_type": dtype, "out_sharding": out_sharding}
    out = lax.dot_general(a, b, dimension_numbers=numbers, **options)
    return convert(out, dtype, weak) if weak or out.dtype != dtype else out


_MATRIX_NUMBERS = (((1,), (0,)), ((), ()))
_NUMBERS_OF_RANKS = {(m, n): (((m - 1,), (0,)), ((), ())) for m in (1, 2) for n in (1, 2)}


def _numbers_of_plain(a, b):
    """The dimension numbers of a product of vectors and matrices of one strong dtype, or None: all else is promoted."""
    if type(a) is not ArrayImpl or type(b) is not ArrayImpl or a.dtype is not b.dtype or a.weak_type or b.weak_type:
        return None
    return None if config.jax_default_matmul_precision else _NUMBERS_OF_RANKS.get((a.ndim, b.ndim))


def _plain_product(name, a, b, numbers):
    """The product of operands that need no promotion, without the checks of `lax.dot_general`'s arguments."""
    try:
        return lax.dot_general_p.bind(
            a, b, dimension_numbers=numbers, precision=None, preferred_element_type=a.dtype, out_sharding=None
        )
    except TypeError as error:
        name_error(error, name, (a, b))
        raise


@static_argnames("precision", "preferred_element_type")
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns the matrix product of two arrays.

    Args:
      a: an array (..., n, k), or a vector (k,), which counts as one row.
      b: an array (..., k, m), or a vector (k,), which counts as one column.  Leading axes broadcast.
      precision: None, or a `lax.Precision` or its name; products are always computed in at least the dtype's precision.
      preferred_element_type: the dtype of the sums and the result.
      out_sharding: where the result lies, a NamedSharding or a PartitionSpec over the mesh in context.

    Returns:
      Array (..., n, m) of the common dtype; the axis of a vector is missing.

    Raises:
      ValueError: an operand is a scalar.
      TypeError: the lengths k differ.

    Examples:
      >>> jnp.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
      Array([3, 7], dtype=int32)
    """
    if out_sharding is not None and not np.ndim(a) == np.ndim(b) == 2:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        return with_out_sharding(out_sharding, matmul, a, b, **options)
    if precision is preferred_element_type is out_sharding is None and (numbers := _numbers_of_plain(a, b)):
        return _plain_product("onax.numpy.matmul", a, b, numbers)
    for position, x in enumerate((a, b)):
        if isinstance(x, Array) and x.ndim > 0:
            continue
        a, b = check_arraylike("matmul", a, b)
        if np.ndim((a, b)[position]) < 1:
            raise ValueError(f"matmul input operand {position} must have ndim at least 1, but it has ndim 0")
    a, b, dtype, weak = _promote_operands("matmul", a, b, preferred_element_type)
    try:
        if a.ndim == b.ndim == 2:
            return contract(a, b, _MATRIX_NUMBERS, precision, dtype, weak, out_sharding)
        return _stacked_matmul(a, b, precision, dtype, weak)
    except TypeError as error:
        name_error(error, "onax.numpy.matmul", (a, b))
        raise


def _stacked_matmul(a, b, precision, dtype, weak):
    """matmul with leading axes: equal ones become batch dimensions; those of one operand stay free and are moved."""
    a_row, b_column = a.ndim > 1, b.ndim > 1
    a_lead = a.shape[:-2] if a_row else ()
    b_lead = b.shape[:-2] if b_column else ()
    rank = max(len(a_lead), len(b_lead))
    a_lead = (None,) * (rank - len(a_lead)) + a_lead
    b_lead = (None,) * (rank - len(b_lead)) + b_lead
    shared, a_free, b_free = [], [], []
    a_batch, b_batch, a_drop, b_drop = [], [], [], []
    a_axis = b_axis = 0
    for i, (m, n) in enumerate(zip(a_lead, b_lead)):
        if m is None or (n is not None and type(m) is int and m == 1):
            b_free.append(i)
            if m is not None:
                a_drop.append(a_axis)
        elif n is None or (type(n) is int and n == 1):
            a_free.append(i)
            if n is not None:
                b_drop.append(b_axis)
        elif dims.equal(m, n):
            shared.append(i)
            a_batch.append(a_axis - len(a_drop))
            b_batch.append(b_axis - len(b_drop))
        else:
            raise ValueError(f"Incompatible shapes for matmul arguments: {a.shape} and {b.shape}")
        a_axis += m is not None
        b_axis += n is not None
    a = lax.squeeze(a, tuple(a_drop)) if a_drop else a
    b = lax.squeeze(b, tuple(b_drop)) if b_drop else b
    numbers = (((a.ndim - 1,), (b.ndim - 1 - b_column,)), (tuple(a_batch), tuple(b_batch)))
    out = contract(a, b, numbers, precision, dtype, weak)
    order = [*shared, *a_free, *([rank] if a_row else []), *b_free, *([rank + 1] if b_column else [])]
    permutation = tuple(sorted(range(len(order)), key=order.__getitem__))
    return out if permutation == tuple(range(out.ndim)) else lax.transpose(out, permutation)


@static_argnames("precision", "preferred_element_type")
def dot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns the sum of products over the last axis of a and the second to last one of b.

    Args:
      a: array of shape (..., k), or a scalar.
      b: array of shape (..., k, m) or (k,), or a scalar.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array of shape a.shape[:-1] + b.shape without the axis of length k; a product for scalars.  Unlike in `matmul`,
      leading axes do not broadcast: every pair of them is multiplied.

    Raises:
      TypeError: the lengths k differ.

    Examples:
      >>> jnp.dot(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 1.0]))
      Array([3., 7.], dtype=float32)
    """
    if precision is preferred_element_type is out_sharding is None and (numbers := _numbers_of_plain(a, b)):
        return _plain_product("onax.numpy.dot", a, b, numbers)
    a, b, dtype, weak = _promote_operands("dot", a, b, preferred_element_type)
    if a.ndim == 0 or b.ndim == 0:
        contracted: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    else:
        contracted = (a.ndim - 1,), (max(0, b.ndim - 2),)
    try:
        return contract(a, b, (contracted, ((), ())), precision, dtype, weak, out_sharding)
    except TypeError as error:
        name_error(error, "onax.numpy.dot", (a, b))
        raise


@static_argnames("precision", "preferred_element_type")
def vdot(
    a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """Returns the scalar product of two arrays, flattened, the first one conjugated.

    Args:
      a: array of n numbers.
      b: array of n numbers.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.

    Returns:
      Array of rank 0, of the promoted dtype.

    Raises:
      TypeError: the sizes differ.

    Examples:
      >>> jnp.vdot(jnp.array([1.0j, 2.0]), jnp.array([1.0j, 3.0]))
      Array(7.+0.j, dtype=complex64)
    """
    a, b = check_arraylike("vdot", a, b)
    if dtypes.is_complex(dtypes.dtype(a)):
        a = conjugate(a)
    return dot(ravel(a), ravel(b), precision=precision, preferred_element_type=preferred_element_type)


@static_argnames("precision", "preferred_element_type")
def inner(
    a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """Returns the sum of products over the last axes of two arrays.

    Args:
      a: array of shape (..., k), or a scalar.
      b: array of shape (..., k), or a scalar.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.

    Returns:
      Array of shape a.shape[:-1] + b.shape[:-1]; a product where one is a scalar.

    Raises:
      TypeError: the lengths k differ.

    Examples:
      >>> jnp.inner(jnp.array([1, 2, 3]), jnp.array([1, 0, 1]))
      Array(4, dtype=int32)
    """
    a, b = ensure_arraylikes("inner", a, b)
    if a.ndim == 0 or b.ndim == 0:
        dtype = None if preferred_element_type is None else dtypes.check_user_dtype(preferred_element_type, "inner")
        a, b = promote_args("inner", a, b)
        return lax.mul(a, b) if dtype is None else lax.convert_element_type(lax.mul(a, b), dtype)
    return tensordot(a, b, (-1, -1), precision=precision, preferred_element_type=preferred_element_type)


@static_argnames()
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """Returns the products of all pairs of elements of two arrays.

    Args:
      a: array of m numbers, which is flattened.
      b: array of n numbers, which is flattened.
      out: must be None.

    Returns:
      Array of shape (m, n), of the promoted dtype.

    Raises:
      NotImplementedError: `out` is given.

    Examples:
      >>> jnp.outer(jnp.array([1, 2]), jnp.array([1, 10, 100]))
      Array([[  1,  10, 100],
             [  2,  20, 200]], dtype=int32)
    """
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.outer is not supported.")
    a, b = check_arraylike("outer", a, b)
    a, b = promote_dtypes(a, b)
    a, b = lax.expand_dims(ravel(a), (1,)), lax.expand_dims(ravel(b), (0,))
    return lax.bitwise_and(a, b) if a.dtype == np.bool_ else lax.mul(a, b)


def tensordot(
    a: ArrayLike,
    b: ArrayLike,
    axes: int | Sequence[int] | Sequence[Sequence[int]] = 2,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns sums of products over pairs of axes of two arrays.

    Args:
      a: array of numbers.
      b: array of numbers.
      axes: int n for the last n axes of a with the first n of b, or two sequences of axes (or two ints) to pair.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array whose axes are the other axes of a, then those of b.

    Raises:
      TypeError: the lengths of paired axes differ, or `axes` has another form.

    Examples:
      >>> jnp.tensordot(jnp.ones((2, 3, 4)), jnp.ones((4, 3)), axes=((1, 2), (1, 0)))
      Array([12., 12.], dtype=float32)
    """
    a, b, dtype, weak = _promote_operands("tensordot", a, b, preferred_element_type)
    return contract(a, b, (_tensordot_axes(a, b, axes), ((), ())), precision, dtype, weak, out_sharding)


def _tensordot_axes(a, b, axes):
    shapes = f"({a.shape} and {b.shape})"
    if isinstance(axes, (int, np.integer)):
        n = operator.index(axes)
        if n > min(a.ndim, b.ndim):
            raise TypeError(f"Number of tensordot axes (axes {n}) exceeds input ranks {shapes}")
        return tuple(range(a.ndim - n, a.ndim)), tuple(range(n))
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
        raise TypeError("tensordot axes argument must be an int, a pair of ints, or a pair of lists/tuples of ints.")
    first, second = axes
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        if len(first) != len(second):
            raise TypeError(f"tensordot requires axes lists to have equal length, got {first} and {second}.")
    elif not (isinstance(first, (int, np.integer)) and isinstance(second, (int, np.integer))):
        raise TypeError(
            f"tensordot requires both axes lists to be either ints, tuples or lists, got {first} and {second}"
        )
    return canonical_axes(first, a.ndim), canonical_axes(second, b.ndim)


@staged("kron", compiled_from=None)
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Returns the Kronecker product: b once for each element of a, multiplied by it.

    Args:
      a: array of numbers.
      b: array of numbers; the one of lower rank gets axes of length 1 in front.

    Returns:
      Array whose lengths are the products of those of a and b.

    Examples:
      >>> jnp.kron(jnp.array([1, 10]), jnp.array([1, 2]))
      Array([ 1,  2, 10, 20], dtype=int32)
    """
    a, b = check_arraylike("kron", a, b)
    a, b = promote_dtypes(a, b)
    rank = max(a.ndim, b.ndim)
    a, b = lax.broadcast_to_rank(a, rank), lax.broadcast_to_rank(b, rank)
    wide = lax.mul(lax.expand_dims(a, tuple(range(1, 2 * rank, 2))), lax.expand_dims(b, tuple(range(0, 2 * rank, 2))))
    return lax.reshape(wide, tuple(m * n for m, n in zip(a.shape, b.shape)))


@staged("cross", static_argnames=("axisa", "axisb", "axisc", "axis"))
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Returns the vector product along axes of length 3 or 2.

    Args:
      a: array of numbers with length 3 or 2 along `axisa`; a third component that is missing counts as 0.
      b: array of numbers with length 3 or 2 along `axisb`; the other axes broadcast.
      axisa, axisb: ints, the axes of the vectors.
      axisc: int, the axis of the vectors in the result.
      axis: int that replaces the three others.

    Returns:
      Array of the broadcast shape; without the axis of vectors, and only the third component, where both lengths are 2.

    Raises:
      ValueError: an axis has another length.

    Examples:
      >>> jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
      Array([0, 0, 1], dtype=int32)
    """
    a, b = check_arraylike("cross", a, b)
    a, b = promote_dtypes(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    axisa, axisb, axisc = map(single_axis, (axisa, axisb, axisc))
    a, b = _move_to_last(a, axisa), _move_to_last(b, axisb)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("Dimension must be either 2 or 3 for cross product")
    flat = a.shape[-1] == b.shape[-1] == 2
    parts = [[_component(x, i) for i in range(x.shape[-1])] for x in (a, b)]
    if flat:
        (a0, a1), (b0, b1) = parts
        return lax.sub(_multiply(a0, b1), _multiply(a1, b0))
    (a0, a1, a2), (b0, b1, b2) = (p if len(p) == 3 else [*p, lax.full_like(p[0], 0)] for p in parts)
    components = [
        lax.sub(_multiply(a1, b2), _multiply(a2, b1)),
        lax.sub(_multiply(a2, b0), _multiply(a0, b2)),
        lax.sub(_multiply(a0, b1), _multiply(a1, b0)),
    ]
    out = lax.concatenate([lax.expand_dims(c, (0,)) for c in components], 0)
    out = lax.convert_element_type(out, out.dtype)
    axisc = canonical_axis(axisc, out.ndim)
    return lax.transpose(out, (*range(1, axisc + 1), 0, *range(axisc + 1, out.ndim)))


def _multiply(x, y):
    """x * y, broadcast."""
    return lax.mul(*promote_args("cross", x, y))


def _move_to_last(x, axis):
    """Moves the axis to the end."""
    axis = canonical_axis(axis, x.ndim)
    return lax.transpose(x, (*(i for i in range(x.ndim) if i != axis), axis))


def _component(x, i):
    """x[..., i]"""
    part = lax.slice(x, [0] * (x.ndim - 1) + [i], (*x.shape[:-1], i + 1))
    return lax.squeeze(part, (x.ndim - 1,))


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Returns the scalar product of the vectors along an axis, the first conjugated.

    Args:
      x1: array of numbers, which is conjugated.
      x2: array of numbers; the other axes broadcast.
      axis: int, the axis of the vectors in both.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.

    Returns:
      Array without that axis.

    Raises:
      ValueError: the lengths of the axis differ.

    Examples:
      >>> jnp.vecdot(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 1.0]))
      Array([3., 7.], dtype=float32)
    """
    x1, x2 = ensure_arraylikes("vecdot", x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axes must match; got shapes {x1.shape} and {x2.shape} with axis={axis}")
    if dtypes.is_complex(x1.dtype):
        x1 = conjugate(x1)
    x1, x2 = _move_to_last(x1, axis), _move_to_last(x2, axis)
    shape = lax.broadcast_shapes(x1.shape[:-1], x2.shape[:-1])
    dtype, weak = dtypes.result_type(x1, x2, return_weak_type_flag=True)
    if preferred_element_type is not None:
        dtype, weak = dtypes.check_user_dtype(preferred_element_type, "vecdot"), False
    if x1.shape[:-1] == x2.shape[:-1]:
        lead = tuple(range(len(shape)))
        return contract(x1, x2, (((len(shape),), (len(shape),)), (lead, lead)), precision, dtype, weak)
    if x2.ndim == 1:
        return contract(x1, x2, (((x1.ndim - 1,), (0,)), ((), ())), precision, dtype, weak)
    out = _stacked_matmul(lax.expand_dims(x1, (x1.ndim - 1,)), lax.expand_dims(x2, (x2.ndim,)), precision, dtype, weak)
    return lax.squeeze(out, (out.ndim - 2, out.ndim - 1))


def _check_core(name, operands, dimensions):
    """Raises ValueError unless the trailing axes exist and those with the same letter agree."""
    sizes = {}
    for x, letters in zip(operands, dimensions):
        if x.ndim < len(letters):
            raise ValueError(
                f"{name}: input with shape {x.shape} does not have enough dimensions for all core dimensions "
                f"({','.join(letters)})"
            )
        for letter, size in zip(letters, x.shape[x.ndim - len(letters) :]):
            if not dims.equal(sizes.setdefault(letter, size), size):
                raise ValueError(f"{name}: inconsistent size for core dimension {letter!r}: {size} vs {sizes[letter]}")


@staged("matvec")
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the products of matrices and vectors.

    Args:
      x1: array of shape (..., m, n).
      x2: array of shape (..., n); leading axes broadcast.

    Returns:
      Array of shape (..., m), of the promoted dtype.

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
      Array([3, 7], dtype=int32)
    """
    x1, x2 = ensure_arraylikes("matvec", x1, x2)
    _check_core("matvec", (x1, x2), ("mn", "n"))
    if x2.ndim == 1:
        return matmul(x1, x2)
    out = matmul(x1, lax.expand_dims(x2, (x2.ndim,)))
    return lax.squeeze(out, (out.ndim - 1,))


@staged("vecmat")
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the products of conjugated vectors and matrices.

    Args:
      x1: array of shape (..., n), which is conjugated.
      x2: array of shape (..., n, m); leading axes broadcast.

    Returns:
      Array of shape (..., m), of the promoted dtype.

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> jnp.vecmat(jnp.array([1, 1]), jnp.array([[1, 2], [3, 4]]))
      Array([4, 6], dtype=int32)
    """
    x1, x2 = ensure_arraylikes("vecmat", x1, x2)
    _check_core("vecmat", (x1, x2), ("n", "nm"))
    if x1.ndim == 1:
        return matmul(conjugate(x1), x2)
    out = matmul(lax.expand_dims(conjugate(x1), (x1.ndim - 1,)), x2)
    return lax.squeeze(out, (out.ndim - 2,))
