"""Arrays made by counting: ranges, grids, and matrices of a few diagonals."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.trace import concrete_or_error
from onax._core.transfer_guards import report_new_array
from onax._ground import dims, dtypes
from onax._ground.config import guard_state
from onax._ground.typing import ArrayLike, DeviceLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array, ArrayImpl
from onax._prims.placement import with_out_sharding
from onax._transforms.vmap import vmap
from onax.lax._creation import place_on_device as on_device
from onax.numpy._creation import _creation_dtype, broadcast_to, canonical_shape
from onax.numpy._promotion import (
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    is_arraylike,
    promote_dtypes,
    promote_shapes,
    python_scalar,
    to_dtype,
)

_INT32 = np.iinfo(np.int32)

# --- by counting --------------------------------------------------------------------------------------------------


def arange(
    start: ArrayLike,
    stop: ArrayLike | None = None,
    step: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns evenly spaced numbers in a half-open interval.

    Args:
      start: the first number; if it is the only argument, the end, and the first number is 0.
      stop: the end, which is not part of the result.
      step: the distance between neighbours, by default 1.
      dtype: the dtype, by default the common one of the arguments.
      device: a Device or Sharding to place the array on.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape (ceil((stop - start) / step),).

    Raises:
      ConcretizationTypeError: an argument is traced; the length depends on all of them.
      OverflowError: an int does not fit into 64 bits.

    Examples:
      >>> jnp.arange(2, 8, 3)
      Array([2, 5], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, arange, start, stop, step, dtype, device=device)
    return on_device(_arange(start, stop, step, dtype), device)


def _arange(start, stop, step, dtype):
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "arange")
    if any(isinstance(x, dims.SymbolicDim) for x in (start, stop, step)):
        return _arange_symbolic(start, stop, step, dtype)
    why = "It arose in the jnp.arange argument '{}'".format
    start_name = "stop" if stop is None and step is None else "start"
    start = concrete_or_error(None, start, why(start_name))
    given = [start] + [concrete_or_error(None, x, why(n)) for x, n in ((stop, "stop"), (step, "step")) if x is not None]
    for position, x in enumerate(given):
        if isinstance(x, (list, tuple)):
            raise TypeError(
                f"arange requires ndarray, scalar, or None arguments, got {type(x)} at position {position}."
            )
        if np.ndim(x) != 0:
            raise ValueError(f"jax.numpy.arange: arguments must be scalars; got {start_name}={start}, {stop=}, {step=}")
    if any(dtypes.is_complex(dtypes.dtype(x)) for x in given if is_arraylike(x)):
        raise ValueError(
            "Passing complex start/stop/step to jnp.arange is no longer supported starting in JAX v0.10.0."
        )
    if dtype is None:
        dtype = dtypes.result_type(*(_as_python_number(x) for x in given))
    if stop is None and step is None:
        return lax.iota(dtype, max(0, math.ceil(_as_python_number(start))))
    start, stop, step = (None if x is None else _as_python_number(x) for x in (start, stop, step))
    if any(isinstance(x, int) and not -(2**63) <= x < 2**63 for x in (start, stop, step)):
        raise OverflowError("Python int too large to convert to C long")
    if stop is None:
        start, stop = 0, start
    size = max(0, math.ceil((stop - start) / (1 if step is None else step)))
    if step is None:
        out = lax.iota(dtype, size)
        return out if start == 0 else lax.add(to_dtype(start, dtype), out)
    wide = dtypes.is_inexact(dtype) and dtypes.itemsize_bits(dtype) < 32
    compute = np.dtype(np.float32) if wide else dtype
    out = lax.mul(to_dtype(step, compute), lax.iota(compute, size))
    return lax.convert_element_type(lax.add(to_dtype(start, compute), out), dtype)


def _as_python_number(x):
    """A scalar as a Python number; NumPy scalars stay as they are."""
    return x.item() if type(x) is ArrayImpl else x if is_arraylike(x) else _refuse_non_number(x)


def _refuse_non_number(x):
    if x is None:
        raise TypeError("must be real number, not NoneType")
    return dtypes.dtype(np.asarray(x))  # raises TypeError with the value


def _arange_symbolic(start, stop, step, dtype):
    """arange over symbolic dimensions: an iota of symbolic length."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if not all(isinstance(x, (int, dims.SymbolicDim)) for x in (start, stop, step)):
        raise ValueError(
            "In arange with non-constant arguments all of start, stop, and step must be either dimension expressions "
            f"or integers: start={start}, stop={stop}, step={step}"
        )
    if dims.equal(step, 0):
        raise ValueError("arange has step == 0")
    extent, stride = (stop - start, step) if step > 0 else (start - stop, -step)
    size = dims.non_negative(dims.floor_div(extent + stride - 1, stride))
    dtype = dtypes.scalar_dtype(int) if dtype is None else dtype
    out = lax.iota(dtype, size)
    if type(step) is not int or step != 1:
        out = lax.mul(to_dtype(step, dtype), out)
    return out if type(start) is int and start == 0 else lax.add(to_dtype(start, dtype), out)


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike | None = None,
) -> Array: ...


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = None,
    axis: int = 0,
    device: DeviceLike | None = None,
) -> tuple[Array, Array]: ...


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike | None = None,
) -> Array | tuple[Array, Array]: ...


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike | None = None,
) -> Array | tuple[Array, Array]:
    """Returns evenly spaced numbers from `start` to `stop`.

    Args:
      start, stop: arrays or scalars, which broadcast.
      num: how many numbers, an int of at least 0.
      endpoint: whether `stop` is the last number.
      retstep: whether the spacing is returned too.
      dtype: the dtype, by default the default float or a wider one of the arguments; integers are rounded down.
      axis: where the new axis lies in the result.
      device: a Device or Sharding to place the array on.

    Returns:
      Array of the broadcast shape with one more axis of length `num`; with retstep a pair of it and the spacing.

    Raises:
      ValueError: num is negative.

    Examples:
      >>> jnp.linspace(0.0, 1.0, 5)
      Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    num = concrete_or_error(dims.as_dim, num, "'num' argument of jnp.linspace")
    axis = concrete_or_error(operator.index, axis, "'axis' argument of jnp.linspace")
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "linspace")
    out = _linspace(start, stop, num=num, endpoint=endpoint, retstep=retstep, dtype=dtype, axis=axis)
    if retstep:
        return on_device(out[0], device), out[1]
    return on_device(out, device)


def _new_axis(axis, ndim):
    """As `canonical_axis`, for an axis that is inserted: IndexError out of bounds, as in JAX."""
    try:
        return canonical_axis(axis, ndim)
    except ValueError as error:
        raise IndexError(f"list assignment index out of range\n{error}") from None


@staged("_linspace", static_argnames=("num", "endpoint", "retstep", "dtype", "axis"))
def _linspace(start, stop, *, num, endpoint, retstep, dtype, axis):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    start, stop = check_arraylike("linspace", start, stop)
    if dtype is None:
        dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop)))
    compute = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop, dtype)))
    start, stop = (to_dtype(x, compute) for x in (start, stop))
    shape = lax.broadcast_shapes(start.shape, stop.shape)
    start, stop = broadcast_to(start, shape), broadcast_to(stop, shape)
    axis = _new_axis(axis, len(shape) + 1)
    steps = num - 1 if endpoint else num
    if num > 1:
        delta = lax.div(lax.sub(stop, start), _number(steps, compute))
        out = _interpolate(start, stop, steps, shape, compute)
        if endpoint:
            out = lax.concatenate([out, lax.expand_dims(stop, (0,))], 0)
    elif num == 1:
        delta = lax.full((), np.nan if endpoint else 0, compute) if endpoint else lax.sub(stop, start)
        out = lax.reshape(start, (1, *shape))
    else:
        delta = lax.full((), np.nan, compute)
        out = lax.full((0, *shape), 0, compute)
    if dtypes.is_integer(dtype) and not dtypes.is_integer(compute):
        out = lax.floor(lax.real(out) if dtypes.is_complex(compute) else out)
    out = lax.convert_element_type(_move_leading_axis(out, axis), dtype)
    return (out, delta) if retstep else out


def _number(d, dtype):
    """A dimension as a number of a dtype."""
    return dtype.type(d) if dims.is_constant(d) else lax.convert_element_type(d, dtype)


def _interpolate(start, stop, steps, shape, dtype):
    """start * (1 - i / steps) + stop * (i / steps) for i below steps, along a new leading axis."""
    real = dtypes.real_dtype(dtype)
    fraction = lax.div(lax.iota(real, steps), _number(steps, real))
    if shape:
        fraction = lax.reshape(fraction, (steps, *(1,) * len(shape)))
    if real != dtype:
        fraction = lax.convert_element_type(fraction, dtype)
    low = lax.mul(lax.reshape(start, (1, *shape)), lax.sub(dtype.type(1), fraction))
    return lax.add(low, lax.mul(lax.reshape(stop, (1, *shape)), fraction))


def _move_leading_axis(x, axis):
    """Moves the leading axis to `axis`."""
    if axis == 0:
        return x
    order = list(range(1, x.ndim))
    order.insert(axis, 0)
    return lax.transpose(x, order)


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Returns numbers spaced evenly on a logarithmic scale.

    Args:
      start, stop: arrays or scalars, the exponents of the first and last number.
      num: int, how many numbers.
      endpoint: whether the last number is base**stop.
      base: number or array, the base of the powers.
      dtype: dtype; default: that of `linspace`.
      axis: int, the position of the new axis.

    Returns:
      Array with one more axis than start and stop, of length `num`: base**linspace(start, stop, num).

    Examples:
      >>> jnp.round(jnp.logspace(0, 2, 3), 3)
      Array([  1.,  10., 100.], dtype=float32)
    """
    num = concrete_or_error(operator.index, num, "'num' argument of jnp.logspace")
    axis = concrete_or_error(operator.index, axis, "'axis' argument of jnp.logspace")
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "logspace")
    return _logspace(start, stop, base, num=num, endpoint=endpoint, dtype=dtype, axis=axis)


@staged("_logspace", static_argnames=("num", "endpoint", "dtype", "axis"))
def _logspace(start, stop, base, *, num, endpoint, dtype, axis):
    start, stop = check_arraylike("logspace", start, stop)
    if dtype is None:
        dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop)))
    compute = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop, dtype)))
    start, stop = (to_dtype(x, compute) for x in (start, stop))
    exponents = linspace(start, stop, num=num, endpoint=endpoint, axis=axis)
    base, exponents = promote_shapes("logspace", *promote_dtypes(base, exponents))
    return lax.convert_element_type(lax.pow(base, exponents), dtype)


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Returns numbers with a constant ratio.

    Args:
      start, stop: arrays or scalars of the same sign, the first and last number.
      num: int, how many numbers.
      endpoint: whether the last number is `stop`.
      dtype: dtype; default: that of `linspace`.
      axis: int, the position of the new axis.

    Returns:
      Array with one more axis than start and stop, of length `num`.

    Examples:
      >>> jnp.round(jnp.geomspace(1, 100, 3), 3)
      Array([  1.,  10., 100.], dtype=float32)
    """
    num = concrete_or_error(operator.index, num, "'num' argument of jnp.geomspace")
    axis = concrete_or_error(operator.index, axis, "'axis' argument of jnp.geomspace")
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "geomspace")
    return _geomspace(start, stop, num=num, endpoint=endpoint, dtype=dtype, axis=axis)


@staged("_geomspace", static_argnames=("num", "endpoint", "dtype", "axis"))
def _geomspace(start, stop, *, num, endpoint, dtype, axis):
    start, stop = check_arraylike("geomspace", start, stop)
    if dtype is None:
        dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop)))
    compute = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop, dtype)))
    start, stop = (to_dtype(x, compute) for x in (start, stop))
    sign = lax.sign(start)
    ends = [_log10(lax.div(*promote_shapes("geomspace", x, sign))) for x in (start, stop)]
    out = logspace(*ends, num=num, endpoint=endpoint, base=10.0, axis=0)
    out = lax.mul(lax.broadcast_to_rank(sign, out.ndim) if sign.ndim else sign, out)
    return lax.convert_element_type(_move_leading_axis(out, canonical_axis(axis, out.ndim)), dtype)


def _log10(x):
    logarithm = lax.log(x)
    if not dtypes.is_complex(x.dtype):
        return lax.mul(logarithm, x.dtype.type(1 / np.log(10)))
    parts = lax.real(logarithm), lax.imag(logarithm)
    return lax.complex(*(lax.mul(p, p.dtype.type(1 / np.log(10))) for p in parts))


def _matrix_dimension(name, argument, n):
    """Returns the number of rows or columns given as n, checked."""
    try:
        return canonical_shape((n,))[0]
    except TypeError as error:
        first, *rest = str(error).split("\n")
        where = f"argument of 'N' jnp.{name}()." if argument == "N" else f"argument {argument!r} of jnp.{name}()."
        raise TypeError("\n".join([f"{first} {where}", *rest])) from error


def eye(
    N: DimSize,
    M: DimSize | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """Returns a matrix with ones on a diagonal and zeros elsewhere.

    Args:
      N: int, the number of rows.
      M: int, the number of columns; default: N.
      k: int, the diagonal; above the main one where positive.
      dtype: dtype; default: the default float.
      device: the device or sharding to place the result on; default: the default device.

    Returns:
      Array of shape (N, M).

    Raises:
      ValueError: a size is negative.

    Examples:
      >>> jnp.eye(2, 3, k=1)
      Array([[0., 1., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    dtype = _creation_dtype(dtype, "eye")
    N = _matrix_dimension("eye", "N", N)
    M = N if M is None else _matrix_dimension("eye", "M", M)
    if any(type(n) is int and n < 0 for n in (N, M)):
        raise ValueError(f"negative dimensions are not allowed, got {N} and {None if N is M else M}")
    if isinstance(k, int):
        k = min(max(k, _INT32.min), _INT32.max)
    else:
        offset = ensure_arraylike("eye", k)
        if offset.shape or not dtypes.is_integer(offset.dtype):
            raise ValueError(f"k must be a scalar integer; got {k}")
    if guard_state.used:
        report_new_array(k, np.asarray(k))
    return on_device(_diagonal_ones(N, M, k, dtype), device)


def _diagonal_ones(rows, columns, k, dtype):
    """Ones where column = row + k."""
    index = dtypes.scalar_dtype(int)
    i, j = lax.broadcasted_iota(index, (rows, columns), 0), lax.broadcasted_iota(index, (rows, columns), 1)
    return lax.convert_element_type(lax.eq(lax.add(i, to_dtype(k, index)), j), dtype)


def identity(n: DimSize, dtype: DTypeLike | None = None) -> Array:
    """Returns a unit matrix.

    Args:
      n: int, the number of rows and columns.
      dtype: dtype; default: the default float.

    Returns:
      Array of shape (n, n).

    Examples:
      >>> jnp.identity(2)
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=_creation_dtype(dtype, "identity"))


def lower_mask(rows, columns, k, dtype=np.bool_):
    """Whether column <= row + k, as an (rows, columns) array.  Raises OverflowError for an int k that does not fit."""
    index = dtypes.scalar_dtype(int) if isinstance(k, int) else np.dtype(np.int32)
    offset = python_scalar(k, index, False) if isinstance(k, int) else to_dtype(k, index)
    i = lax.add(lax.broadcasted_iota(index, (rows, columns), 0), offset)
    mask = lax.ge(i, lax.broadcasted_iota(index, (rows, columns), 1))
    return mask if dtype == np.bool_ else lax.convert_element_type(mask, dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Returns a matrix with ones on and below a diagonal and zeros elsewhere.

    Args:
      N: int, the number of rows.
      M: int, the number of columns; default: N.
      k: int, the diagonal; above the main one where positive.
      dtype: dtype; default: float32.

    Returns:
      Array of shape (N, M).

    Raises:
      OverflowError: the default integer dtype does not hold `k`.

    Examples:
      >>> jnp.tri(3)
      Array([[1., 0., 0.],
             [1., 1., 0.],
             [1., 1., 1.]], dtype=float32)
    """
    dtype = np.dtype(np.float32) if dtype is None else _creation_dtype(dtype, "tri")
    return lower_mask(N, N if M is None else M, k, dtype)


def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Array]:
    """Returns the coordinate arrays of the grid that vectors span.

    Args:
      *xi: vectors, or scalars.
      copy: must be True.
      sparse: whether each array varies along its own axis only, with length 1 along the others.
      indexing: "xy" (the first two axes of the result are swapped) or "ij".

    Returns:
      List of arrays, one for each vector.

    Raises:
      ValueError: a rank is above 1, or indexing is unknown.

    Examples:
      >>> jnp.meshgrid(jnp.array([1, 2]), jnp.array([3, 4]), indexing="ij")
      [Array([[1, 1],
             [2, 2]], dtype=int32), Array([[3, 4],
             [3, 4]], dtype=int32)]
    """
    args = ensure_arraylikes("meshgrid", *xi)
    if not copy:
        raise ValueError("jax.numpy.meshgrid only supports copy=True")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for indexing are 'xy' and 'ij', got {indexing}")
    if any(x.ndim != 1 for x in args):
        raise ValueError(f"Arguments to jax.numpy.meshgrid must be 1D, got shapes {[x.shape for x in args]}")
    swap = indexing == "xy" and len(args) >= 2
    if swap:
        args[0], args[1] = args[1], args[0]
    shape = [1 if sparse else x.shape[0] for x in args]
    out = [
        lax.broadcast_in_dim(x, [x.shape[0] if j == i else n for j, n in enumerate(shape)], (i,))
        for i, x in enumerate(args)
    ]
    if swap:
        out[0], out[1] = out[1], out[0]
    return out


@overload
def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: Literal[False] = False) -> Array: ...


@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, *, sparse: Literal[True]
) -> tuple[Array, ...]: ...


@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False
) -> Array | tuple[Array, ...]: ...


def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False
) -> Array | tuple[Array, ...]:
    """Returns the index arrays of a grid.

    Args:
      dimensions: ints, the lengths of the grid.
      dtype: dtype; default: the default integer.
      sparse: whether each array varies along its own axis only, with length 1 along the others.

    Returns:
      Array of shape (len(dimensions), *dimensions), or a tuple of arrays if `sparse`.

    Raises:
      TypeError: `dimensions` is a scalar.

    Examples:
      >>> jnp.indices((2, 2))
      Array([[[0, 0],
              [1, 1]],
      <BLANKLINE>
             [[0, 1],
              [0, 1]]], dtype=int32)
    """
    dtype = dtypes.scalar_dtype(int) if dtype is None else dtypes.check_user_dtype(dtype, "indices")
    if np.ndim(dimensions) == 0:
        raise TypeError(f"indices: dimensions must be a sequence of lengths, got {dimensions!r}")
    shape = canonical_shape(dimensions)
    out = []
    for axis, n in enumerate(shape):
        target = [1] * len(shape) if sparse else list(shape)
        target[axis] = n
        out.append(lax.broadcast_in_dim(lax.iota(dtype, n), target, (axis,)))
    if sparse:
        return tuple(out)
    return lax.stack(out, 0) if out else lax.full((0,), 0, dtype)


def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: DTypeLike = float, **kwargs: Any) -> Array:
    """Returns the results of a function of indices, for all indices of a shape.

    Unlike NumPy's, the function is mapped over scalars by `vmap`.

    Args:
      function: function of one scalar for each axis.
      shape: ints.
      dtype: dtype of the indices; default: float.
      **kwargs: keyword arguments of the function.

    Returns:
      Array of the shape, followed by the axes of a result.

    Examples:
      >>> jnp.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int)
      Array([[ 0,  1,  2],
             [10, 11, 12]], dtype=int32)
    """
    shape = canonical_shape(shape)
    indices = [arange(n, dtype=dtype) for n in shape]

    def mapped(*index):
        return function(*index, **kwargs)

    for axis in range(len(indices)):
        in_axes = tuple(0 if i == len(indices) - axis - 1 else None for i in range(len(indices)))
        mapped = vmap(mapped, in_axes=in_axes)
    return mapped(*indices)
