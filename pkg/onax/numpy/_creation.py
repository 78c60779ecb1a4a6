"""Making arrays: from values (array, asarray), by filling (zeros, full), by counting (arange, linspace, eye)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from onax import lax
from onax._core.api_functions import name_error
from onax._core.new_arrays import new_array
from onax._core.result_checks import SPECIAL, check_new_array
from onax._core.trace import new_const
from onax._core.transfer_guards import report_new_array
from onax._ground import dims, dtypes, source
from onax._ground.config import guard_state
from onax._ground.devices import backends
from onax._ground.typing import ArrayLike, DeviceLike, DimSize, DTypeLike, ShardingLike
from onax._native import context
from onax._native.array import Array, ArrayImpl, from_user, make_array
from onax._native.array_sources import from_device_dlpack, from_device_interface, from_dlpack_buffer
from onax._native.context import get_trace
from onax._native.tree import tree_leaves
from onax._prims.convert import cast, convert
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import canonical_shape as plain_shape
from onax.lax._creation import lay_out_converted
from onax.lax._creation import place_on_device as on_device
from onax.numpy._promotion import (
    admit,
    as_operand,
    check_arraylike,
    ensure_arraylike,
    is_arraylike,
    python_scalar,
    to_dtype,
)

_DL_CUDA = 2  # DLPack's number for the memory of CUDA devices

# --- from values --------------------------------------------------------------------------------------------------


def array(
    object: Any,
    dtype: DTypeLike | None = None,
    *args: Any,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns a new array with the given values.

    Args:
      object: a number, a nested sequence of numbers and arrays of one shape, a NumPy array, or an array.
      dtype: the dtype of the result.  By default that of an array, or the common dtype of a list's elements; a single
        Python number gives a weakly typed array.  64-bit dtypes become 32-bit ones unless `jax_enable_x64` is on.
      *args: no further positional arguments are allowed.
      copy: False allows the values' own memory to be used if they are an onax array.
      order: must be "K", because arrays have no memory order.
      ndmin: leading axes of length 1 are added up to this rank.
      device: a Device or Sharding to place the array on.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array that does not share memory with `object`.

    Raises:
      ValueError: `object` is None or a ragged sequence, or an array that is committed to other devices.
      TypeError: `object` is a string or holds other objects.
      NotImplementedError: `order` is not None or "K".

    Examples:
      >>> jnp.array([[1, 2], [3, 4]])
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    if args:
        raise TypeError("array() takes from 1 to 2 positional arguments")
    if order is not None and order != "K":
        raise NotImplementedError("Only implemented for order='K'")
    if out_sharding is not None:
        return with_out_sharding(out_sharding, array, object, dtype, copy=copy, ndmin=ndmin, device=device)
    if type(object) is ArrayImpl and dtype is None and ndmin == 0 and device is None:
        return lax.copy_p.bind(object) if copy else object
    target_dtype = None if dtype is None else dtypes.check_user_dtype(dtype, "array")
    out = _from_object(object, target_dtype, copy)
    if guard_state.used:
        report_new_array(object, out)
    if type(out) is ArrayImpl and out is not object:
        if context.option_word() & SPECIAL and _called_by_user():
            same = dtype is None and not isinstance(object, (list, tuple))
            check_new_array(out, "stage" if same else "convert_element_type")
        out = new_const(out if device is not None else new_array(out, is_constant=True))
    if ndmin > out.ndim:
        out = lax.broadcast(out, (1,) * (ndmin - out.ndim))
    return lay_out_converted(out, device)


def _called_by_user():
    """Whether the user's program calls `array`; what functions of the library make is not checked, as in JAX."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in _MAKERS:
        frame = frame.f_back
    return frame is None or not source.is_internal(frame.f_code.co_filename)


_MAKERS = (__name__, "onax.numpy._scalar_types")


def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns a value as an array; an array of the right dtype is returned as it is.

    Args:
      a: number, nested sequence, NumPy array or array, as for `array`.
      dtype: dtype of the result; default: that of the value.
      order: must be None or "K".
      copy: True always makes a copy; None and False only where it is needed.
      device: the device or sharding to place the result on; default: the default device.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array that shares no memory that could still be written to.

    Raises:
      TypeError: `a` is a string or holds other objects.
      ValueError: `a` is an array that is committed to other devices.
      NotImplementedError: `order` is another one.

    Examples:
      >>> jnp.asarray([1.0, 2.0])
      Array([1., 2.], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, asarray, a, dtype, order, copy=copy, device=device)
    if type(a) is ArrayImpl and dtype is None and device is None and not copy and (order is None or order == "K"):
        return a
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "asarray")
    try:
        return array(a, dtype, copy=bool(copy), order=order or "K", device=device)
    except TypeError as error:
        name_error(error, "onax.numpy.asarray", (a,))
        raise


def _from_object(x, dtype, copy):
    """The value as an Array of `dtype`, or of its own dtype if that is None."""
    if hasattr(type(x), "__jax_array__"):
        x = x.__jax_array__()
    if isinstance(x, Array):
        out = lax.copy_p.bind(x) if copy else x
        if dtype is not None and dtypes.is_complex(out.dtype):
            return lax.convert_element_type(out, dtype)  # which warns of a lost imaginary part
        return out if dtype is None else to_dtype(out, dtype)
    if dtypes.is_scalar_type(type(x)):
        if dtype is None:
            return python_scalar(x, dtypes.dtype(x), dtypes.is_weakly_typed(x))
        return make_array(_numpy_array(x, dtype), dtype)
    if isinstance(x, (np.ndarray, np.generic)):
        if copy and isinstance(x, np.ma.MaskedArray):  # as NumPy's `array`, this drops the mask
            x = np.asarray(x)
        if dtype is None:
            admit(x, None)
        elif x.dtype.kind in "OSU" or (x.dtype.kind == "c" and dtype.kind == "b"):
            x = x.astype(dtype)
        return from_user(x) if dtype is None or x.dtype == dtype else to_dtype(x, dtype)
    if x is None:
        raise ValueError("None is not a valid value for jnp.array")
    if isinstance(x, (list, tuple)):
        return _from_sequence(x, dtype)
    return _from_foreign(x, dtype)


def _from_sequence(x, dtype):
    """The Array of a nested sequence of scalars and arrays."""
    leaves = tree_leaves(x, lambda leaf: leaf is None)
    if any(leaf is None for leaf in leaves):
        raise ValueError("None is not a valid value for jnp.array")
    if any(isinstance(leaf, Array) or hasattr(type(leaf), "__jax_array__") for leaf in leaves):
        if dtype is None:
            dtype = dtypes.result_type(*leaves)
        parts = [lax.expand_dims(_from_object(part, dtype, False), (0,)) for part in x]
        return lax.concatenate(parts, 0)
    if dtype is None:
        if not leaves:
            dtype = dtypes.scalar_dtype(float)
        elif all(is_arraylike(leaf) for leaf in leaves):
            dtype = dtypes.result_type(*leaves)
    return make_array(_numpy_array(x, dtype))


def _numpy_array(x, dtype):
    """The values as an ndarray; NumPy converts Python's objects to a dtype that is given, or refuses them."""
    if dtype is not None:
        return np.array(x, dtype=dtype)
    values = np.array(x)
    return cast(_require_numeric(values, x), dtypes.dtype(values))


def _first_object(x):
    """The element of nested sequences that no dtype of numbers holds, as text for a message; an array is itself."""
    while isinstance(x, (list, tuple)):
        x = next((item for item in x if isinstance(item, (list, tuple)) or not is_arraylike(item)), None)
    return x if isinstance(x, (str, np.ndarray)) else str(x)


def _require_numeric(values, x):
    """Returns the ndarray if it holds numbers; raises TypeError otherwise."""
    if values.dtype.kind in "OSUMm" or (values.dtype.kind == "V" and values.dtype not in dtypes.ALL_DTYPES):
        raise TypeError(
            f"Value {_first_object(x)!r} with dtype {values.dtype} is not a valid JAX array type. Only arrays of "
            "numeric types are supported by JAX."
        )
    return values


def _from_foreign(x, dtype):
    """Converts objects of other libraries by DLPack, the array interface or the buffer protocol, or else by NumPy."""
    if hasattr(x, "__cuda_array_interface__") and "gpu" in backends():
        return _from_object(_canonical(_from_cuda(x)), dtype, False)
    if hasattr(x, "__array__"):
        values = np.array(x)
    elif not hasattr(x, "__dlpack__"):
        return make_array(_numpy_array(x, dtype))
    else:
        values = np.array(np.from_dlpack(x))
    return _from_object(_require_numeric(values, x), dtype, False)


def _from_cuda(x):
    """An array with the elements of an object with `__cuda_array_interface__`, on its device."""
    devices = backends()["gpu"].devices()
    number = _cuda_device_of(x).id if hasattr(x, "__dlpack_device__") else 0
    return from_device_interface(x, x.__cuda_array_interface__, devices[number])


def astype(x: ArrayLike, dtype: DTypeLike | None, /, *, copy: bool = False, device: DeviceLike | None = None) -> Array:
    """Returns an array converted to a dtype.

    Floats become integers by truncation; they saturate, and NaN gives 0.

    Args:
      x: array.
      dtype: dtype of the result; None means float.
      copy: whether a copy is made though the dtype stays.
      device: the device or sharding to place the result on; default: the default device.

    Returns:
      Array of the shape of `x`.

    Raises:
      ValueError: `x` is committed to other devices than `device`.

    Examples:
      >>> jnp.astype(jnp.array([1.5, -2.5]), jnp.int32)
      Array([ 1, -2], dtype=int32)
    """
    x = ensure_arraylike("astype", x)
    dtype = dtypes.scalar_dtype(float) if dtype is None else dtypes.check_user_dtype(dtype, "astype")
    if dtypes.is_complex(x.dtype):
        if dtype == np.bool_:
            return lay_out_converted(lax.ne(x, x.dtype.type(0)), device)
        if not dtypes.is_complex(dtype):
            _warn_of_lost_imaginary_part()
    out = convert(x, dtype)  # which warns of nothing
    if copy and out is x:
        out = lax.copy_p.bind(x)
    return lay_out_converted(out, device)


def _warn_of_lost_imaginary_part():
    warnings.warn(
        "Casting from complex to real dtypes will soon raise a ValueError. Please first use jnp.real or jnp.imag to "
        "take the real/imaginary component of your input.",
        DeprecationWarning,
        stacklevel=source.stacklevel(),
    )


def copy(a: ArrayLike, order: str | None = None) -> Array:
    """Returns a copy of an array.

    Args:
      a: array, or anything that `array` takes.
      order: must be None or "K".

    Returns:
      Array of the shape and dtype of `a`.

    Raises:
      NotImplementedError: `order` is another one.

    Examples:
      >>> jnp.copy(jnp.array([1, 2]))
      Array([1, 2], dtype=int32)
    """
    (a,) = check_arraylike("copy", a)
    return array(a, copy=True, order=order or "K")


def from_dlpack(x: Any, /, *, device: DeviceLike | None = None, copy: bool | None = None) -> Array:
    """Returns an array over the memory of an object that has `__dlpack__`.

    This is the one way to an array whose memory others may write to: a write to `x` is seen in the result.

    Args:
      x: an object that has `__dlpack__` and `__dlpack_device__`, such as an array of NumPy, PyTorch or CuPy.
      device: the device or sharding to place the result on; default: the default device.
      copy: True makes a copy; one is made as well where no array can have the dtype of `x` (64 bits with x64 off).

    Returns:
      Array of the shape of `x`, committed to its device.

    Raises:
      BufferError: the memory is neither on the host nor on a CUDA device of onax.
      TypeError: the object has no methods `__dlpack__` and `__dlpack_device__`.

    Examples:
      >>> jnp.from_dlpack(np.arange(3, dtype=np.int32))
      Array([0, 1, 2], dtype=int32)
    """
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(
            "The array passed to from_dlpack must have __dlpack__ and __dlpack_device__ methods.\n"
            f"from_dlpack got {type(x)}."
        )
    if isinstance(x, Array):
        out = array(x, copy=bool(copy))
    else:
        cuda = _cuda_device_of(x)
        out = from_dlpack_buffer(x, copy) if cuda is None else _canonical(from_device_dlpack(x, cuda, copy))
    return on_device(out, out.device if device is None else device)


def _cuda_device_of(x):
    """The CUDA device that an object with `__dlpack_device__` is on; None for the host and for others."""
    kind, number = x.__dlpack_device__()
    if int(kind) != _DL_CUDA or "gpu" not in backends():
        return None
    return backends()["gpu"].devices()[number]


def _canonical(x):
    """An array of a device; copied through the host if no Array can have its dtype."""
    dtype = dtypes.canonicalize_dtype(x.dtype)
    return x if dtype == x.dtype else on_device(asarray(np.asarray(x)), x.device)


def frombuffer(buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0) -> Array:
    """Returns the numbers in the bytes of a buffer.

    Args:
      buffer: object that has the buffer protocol.
      dtype: dtype of the numbers in the buffer; default: float64.
      count: int, how many numbers to read; default: all.
      offset: int, the byte at which to start.

    Returns:
      Array of rank 1; numbers of 64 bits become 32-bit ones unless x64 is on.

    Raises:
      ValueError: the size of the buffer is not a multiple of the size of a number.

    Examples:
      >>> jnp.frombuffer(bytes([1, 2, 3]), dtype=jnp.uint8)
      Array([1, 2, 3], dtype=uint8)
    """
    return asarray(np.frombuffer(buffer, dtype=np.dtype(dtype), count=count, offset=offset))


def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str) -> Array:
    """Returns the numbers in a text.

    Args:
      string: str.
      dtype: dtype of the numbers; default: the default float.
      count: int, how many numbers to read; default: all.
      sep: str that separates numbers.

    Returns:
      Array of rank 1.

    Examples:
      >>> jnp.fromstring("1 2 3", dtype=jnp.int32, sep=" ")
      Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, dtype=_numpy_dtype(dtype), count=count, sep=sep))


def _numpy_dtype(dtype):
    return dtypes.canonicalize_dtype(dtype)


def _unavailable_function(name, why, example):
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"jnp.{name}() is not implemented because it may be non-pure and thus unsafe for use with JIT and other "
            f"JAX transformations. Consider using jnp.asarray(np.{name}(...)) instead{why}"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = (
        f"Raises NotImplementedError; use `jnp.asarray(np.{name}(...))`.\n\n"
        "Args:\n  args: ignored.\n  kwargs: ignored.\n\n"
        f"Raises:\n  NotImplementedError: always, because `{name}` reads from outside of a traced program.\n\n"
        f"Examples:\n  >>> {example}\n  Array([1, 2], dtype=int32)"
    )
    return refuse


_FILE_EXAMPLE = """import tempfile
  >>> with tempfile.NamedTemporaryFile() as file:
  ...     np.array([1, 2], np.int32).tofile(file.name)
  ...     jnp.asarray(np.fromfile(file.name, np.int32))"""
fromfile = _unavailable_function("fromfile", ".", _FILE_EXAMPLE)
fromiter = _unavailable_function(
    "fromiter",
    "; it uses up the iterator, which a second trace would find empty.",
    "jnp.asarray(np.fromiter(iter([1, 2]), np.int32))",
)


def load(file: Any, *args: Any, **kwargs: Any) -> Array:
    """Returns the array that `jnp.save` or `np.save` wrote to a file.

    bfloat16 and its relatives come back as themselves.

    Args:
      file: path or file object.
      *args: further positional arguments of `np.load`.
      **kwargs: keyword arguments of `np.load`.

    Returns:
      Array, or the archive of an `.npz` file.

    Examples:
      >>> import io
      >>> file = io.BytesIO()
      >>> jnp.save(file, jnp.array([1.0, 2.0]))
      >>> _ = file.seek(0)
      >>> jnp.load(file)
      Array([1., 2.], dtype=float32)
    """
    out = np.load(file, *args, **kwargs)
    if not isinstance(out, np.ndarray) or out.dtype == object:
        return out
    if out.dtype == np.dtype("V2"):  # so NumPy's format writes bfloat16, as JAX reads it
        out = out.view(dtypes.bfloat16)
    return asarray(out)


# --- by filling ---------------------------------------------------------------------------------------------------


def canonical_shape(shape):
    """A shape given as a number, a sequence or a concrete integer array, as a tuple."""
    if isinstance(shape, Array):
        return plain_shape(shape if shape.ndim else (shape,))
    if not isinstance(shape, (tuple, list, dims.SymbolicDim)) and np.ndim(shape) == 0:
        shape = (shape,)
    return plain_shape(shape)


def _fill(shape, value, dtype, device):
    """An array whose elements are all one Python number."""
    shape = canonical_shape(shape)
    plain = get_trace() is None and device is None and not dtypes.is_extended(dtype)
    if plain and all(type(d) is int and d >= 0 for d in shape):
        if guard_state.used:
            report_new_array(value, np.asarray(value, dtype))
        return new_array(make_array(np.full(shape, value, dtype) if value else np.zeros(shape, dtype)))
    return on_device(lax.full(shape, value, dtype), device)


def _creation_dtype(dtype, function, shape=None):
    """The dtype of a new array; the error for an int in its place asks whether it belongs to the shape."""
    if dtype is None:
        return dtypes.scalar_dtype(float)
    try:
        return dtypes.check_user_dtype(dtype, function)
    except TypeError as error:
        if isinstance(shape, (int, np.integer)) and isinstance(dtype, (int, np.integer)):
            name = f"jax.numpy.{function}"
            raise TypeError(
                f"{error}.\n\nDid you accidentally write `{name}({shape}, {dtype})` when you meant "
                f"`{name}(({shape}, {dtype}))`, i.e. with a single tuple argument for the shape?"
            ) from None
        raise


def zeros(
    shape: Any,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns an array of zeros.

    Args:
      shape: an int or a sequence of ints.
      dtype: the dtype, by default the default float (float32, or float64 if `jax_enable_x64` is on).
      device: a Device or Sharding to place the array on.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype.

    Raises:
      TypeError: a length is negative or no integer.

    Examples:
      >>> jnp.zeros((2, 3))
      Array([[0., 0., 0.],
             [0., 0., 0.]], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, zeros, shape, dtype, device=device)
    return _fill(shape, 0, _creation_dtype(dtype, "zeros", shape), device)


def ones(
    shape: Any,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns an array of ones.

    Args:
      shape: an int or a sequence of ints.
      dtype: the dtype, by default the default float (float32, or float64 if `jax_enable_x64` is on).
      device: a Device or Sharding to place the array on.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> jnp.ones(3, jnp.int32)
      Array([1, 1, 1], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, ones, shape, dtype, device=device)
    return _fill(shape, 1, _creation_dtype(dtype, "ones", shape), device)


def empty(
    shape: Any,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns an array of zeros, because an array cannot be written to later.

    Args:
      shape: int or ints.
      dtype: dtype; default: the default float.
      device: the device or sharding to place the result on; default: the default device.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> jnp.empty(2)
      Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, empty, shape, dtype, device=device)
    return _fill(shape, 0, _creation_dtype(dtype, "empty", shape), device)


def full(
    shape: Any,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns an array filled with a value.

    Args:
      shape: int or ints.
      fill_value: scalar, or array that broadcasts to the shape.
      dtype: dtype; default: that of fill_value, weakly typed for a Python scalar.
      device: the device or sharding to place the result on; default: the default device.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> jnp.full((2, 2), jnp.array([1, 2]))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, full, shape, fill_value, dtype, device=device)
    (fill_value,) = check_arraylike("full", fill_value)
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "full")
    if np.ndim(fill_value) == 0:
        return on_device(lax.full(canonical_shape(shape), fill_value, dtype), device)
    value = as_operand(fill_value) if dtype is None else to_dtype(fill_value, dtype)
    return on_device(broadcast_to(value, canonical_shape(shape)), device)


def _check_like(name, a):
    """Raises TypeError unless a is array-like or has a shape and a dtype."""
    if isinstance(a, np.ndarray) or not (hasattr(a, "shape") and hasattr(a, "dtype")):
        (a,) = check_arraylike(name, a)


def _like(name, a, value, dtype, shape, device):
    _check_like(name, a)
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, name)
    if shape is not None:
        shape = canonical_shape(shape)
    return on_device(lax.full_like(a, value, dtype, shape), device)


def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns zeros of the shape and dtype of another array.

    Args:
      a: array, or anything that has a shape and a dtype.
      dtype: dtype that replaces that of `a`.
      shape: shape that replaces that of `a`.
      device: the device or sharding to place the result on; default: the default device.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> jnp.zeros_like(jnp.array([1, 2]))
      Array([0, 0], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, zeros_like, a, dtype, shape, device=device)
    return _like("zeros_like", a, 0, dtype, shape, device)


def ones_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns ones of the shape and dtype of another array.

    Args:
      a: array, or anything that has a shape and a dtype.
      dtype: dtype that replaces that of `a`.
      shape: shape that replaces that of `a`.
      device: the device or sharding to place the result on; default: the default device.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> jnp.ones_like(jnp.array([1, 2]), dtype=jnp.float32)
      Array([1., 1.], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, ones_like, a, dtype, shape, device=device)
    return _like("ones_like", a, 1, dtype, shape, device)


def empty_like(
    prototype: ArrayLike, dtype: DTypeLike | None = None, shape: Any = None, *, device: DeviceLike | None = None
) -> Array:
    """Returns zeros of the shape and dtype of another array, as `zeros_like`.

    Args:
      prototype: array, or anything that has a shape and a dtype.
      dtype: dtype that replaces that of the prototype.
      shape: shape that replaces that of the prototype.
      device: the device or sharding to place the result on; default: the default device.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> jnp.empty_like(jnp.array([1, 2]))
      Array([0, 0], dtype=int32)
    """
    return _like("empty_like", prototype, 0, dtype, shape, device)


def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns an array of the shape and dtype of another one, filled with a value.

    Args:
      a: array, or anything that has a shape and a dtype.
      fill_value: scalar, or array that broadcasts to the shape.
      dtype: dtype that replaces that of `a`.
      shape: shape that replaces that of `a`.
      device: the device or sharding to place the result on; default: the default device.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> jnp.full_like(jnp.array([1.0, 2.0]), 7)
      Array([7., 7.], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, full_like, a, fill_value, dtype, shape, device=device)
    check_arraylike("full_like", 0, fill_value)
    if np.ndim(fill_value) == 0:
        return _like("full_like", a, fill_value, dtype, shape, device)
    _check_like("full_like", a)
    shape = np.shape(a) if shape is None else canonical_shape(shape)
    dtype = dtypes.dtype(a) if dtype is None else dtypes.check_user_dtype(dtype, "full_like")
    return on_device(broadcast_to(to_dtype(fill_value, dtype), shape), device)


def broadcast_to(
    array: ArrayLike, shape: DimSize | Sequence[DimSize], *, out_sharding: ShardingLike | None = None
) -> Array:
    """Returns an array repeated to fill a shape, by NumPy's rule.

    Args:
      array: array.
      shape: int or ints; its last lengths are those of the array, where these are not 1.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and the dtype of `array`; a copy, unlike NumPy's.

    Raises:
      ValueError: the shape does not fit.

    Examples:
      >>> jnp.broadcast_to(jnp.array([1, 2]), (2, 2))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, broadcast_to, array, shape)
    array = ensure_arraylike("broadcast_to", array)
    wanted = canonical_shape(shape)
    if array.shape == wanted:
        return array
    missing = len(wanted) - array.ndim
    if missing < 0:
        raise ValueError(f"Cannot broadcast to shape with fewer dimensions: arr_shape={array.shape} shape={wanted}")
    for have, want in zip(array.shape, wanted[missing:]):
        if not dims.equal(have, want) and have != 1:
            source, target = (f"{_dtype_name(array)}[{','.join(map(str, s))}]" for s in (array.shape, wanted))
            raise ValueError(f"Incompatible types for broadcasting: input type={source} and requested type={target}")
    equal_axes = tuple(i for i, (have, want) in enumerate(zip(array.shape, wanted[missing:])) if have == want)
    squeezed = tuple(i for i in range(array.ndim) if i not in equal_axes)
    if squeezed:
        array = lax.squeeze(array, squeezed)
    return lax.broadcast_in_dim(array, wanted, tuple(i + missing for i in equal_axes))


def _dtype_name(x):
    """The name of the dtype of x."""
    return x.dtype.name
