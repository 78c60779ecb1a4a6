"""Making arrays: from values (array, asarray), by filling (zeros, full), by counting (arange, linspace, eye)."""

import math
import operator
import warnings

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import name_error
from onax._core.trace import concrete_or_error, new_const
from onax._ground import dims, dtypes, source
from onax._ground.devices import backends
from onax._native.array import Array, ArrayImpl, from_user, make_array
from onax._native.array_sources import from_device_dlpack, from_device_interface, from_dlpack_buffer
from onax._native.context import get_trace
from onax._native.tree import tree_leaves
from onax._prims.convert import cast
from onax._prims.shaping import canonical_shape as plain_shape
from onax._transforms.vmap import vmap
from onax.lax._creation import place_on_device as on_device
from onax.numpy._promotion import (
    admit,
    as_operand,
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

_DL_CUDA = 2  # DLPack's number for the memory of CUDA devices

# --- from values --------------------------------------------------------------------------------------------------


def array(object, dtype=None, *args, copy=True, order="K", ndmin=0, device=None, out_sharding=None):
    """A new array with the given values.

    Args:
      object: a number, a nested sequence of numbers and arrays of one shape, a NumPy array, or an array.
      dtype: the dtype of the result.  By default that of an array, or the common dtype of a list's elements; a single
        Python number gives a weakly typed array.  64-bit dtypes become 32-bit ones unless `jax_enable_x64` is on.
      copy: False allows the values' own memory to be used if they are an onax array.
      order: must be "K", because arrays have no memory order.
      ndmin: leading axes of length 1 are added up to this rank.
      device: a Device or Sharding to place the array on.
      out_sharding: accepted for JAX's signature.

    Returns an array that does not share memory with `object`.  Raises ValueError for ragged sequences and None,
    TypeError for strings and other objects.

    Examples:
      >>> jnp.array([[1, 2], [3, 4]])
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    if args:
        raise TypeError("array() takes from 1 to 2 positional arguments")
    if order is not None and order != "K":
        raise NotImplementedError("Only implemented for order='K'")
    if type(object) is ArrayImpl and dtype is None and ndmin == 0 and device is None:
        return lax.copy_p.bind(object) if copy else object
    target_dtype = None if dtype is None else dtypes.check_user_dtype(dtype, "array")
    out = _from_object(object, target_dtype, copy)
    if type(out) is ArrayImpl and out is not object:
        out = new_const(out)
    if ndmin > out.ndim:
        out = lax.broadcast(out, (1,) * (ndmin - out.ndim))
    return on_device(out, device)


def asarray(a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None):
    """a as an Array; an Array of the right dtype is returned as it is.  See `array`."""
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
        return out if dtype is None else to_dtype(out, dtype)
    if dtypes.is_scalar_type(type(x)):
        if dtype is None:
            return python_scalar(x, dtypes.dtype(x), dtypes.is_weakly_typed(x))
        return make_array(_numpy_array(x, dtype), dtype)
    if isinstance(x, (np.ndarray, np.generic)):
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


def _require_numeric(values, x):
    """Returns the ndarray if it holds numbers; raises TypeError otherwise."""
    if values.dtype.kind in "OSUMm" or (values.dtype.kind == "V" and values.dtype not in dtypes.ALL_DTYPES):
        raise TypeError(
            f"Value {x!r} with dtype {values.dtype} is not a valid JAX array type. Only arrays of numeric types are "
            "supported by JAX."
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


def astype(x, dtype, /, *, copy=False, device=None):
    """x with the given dtype (None: float).

    Floats to integers saturate, nan gives 0; complex numbers keep their real part, but are true
    unless both parts are 0.
    """
    x = ensure_arraylike("astype", x)
    dtype = dtypes.scalar_dtype(float) if dtype is None else dtypes.check_user_dtype(dtype, "astype")
    if dtypes.is_complex(x.dtype):
        if dtype == np.bool_:
            return on_device(lax.ne(x, x.dtype.type(0)), device)
        if not dtypes.is_complex(dtype):
            _warn_of_lost_imaginary_part()
    out = lax.convert_element_type(x, dtype)
    if copy and out is x:
        out = lax.copy_p.bind(x)
    return on_device(out, device)


def _warn_of_lost_imaginary_part():
    warnings.warn(
        "Casting from complex to real dtypes will soon raise a ValueError. Please first use jnp.real or jnp.imag to "
        "take the real/imaginary component of your input.",
        DeprecationWarning,
        stacklevel=source.stacklevel(),
    )


def copy(a, order=None):
    """A copy of a."""
    check_arraylike("copy", a)
    return array(a, copy=True, order=order or "K")


def from_dlpack(x, /, *, device=None, copy=None):
    """An Array over the memory of an object with `__dlpack__`, committed to its device; a copy with copy=True.

    The one way to an Array whose memory others may write to: a write to x afterwards is seen in the Array.  There is a
    copy when no Array can have the dtype of x (64 bits with x64 off).  Raises BufferError for memory that is neither on
    the host nor on a CUDA device of ours.
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


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """A rank-1 Array of the numbers in the bytes of a buffer, of 64 bits each by default, whatever the Array's dtype.

    Raises ValueError for a buffer whose size is not a multiple of the element's.
    """
    return asarray(np.frombuffer(buffer, dtype=np.dtype(dtype), count=count, offset=offset))


def fromstring(string, dtype=float, count=-1, *, sep):
    """A rank-1 Array of the numbers in a text, divided by `sep`."""
    return asarray(np.fromstring(string, dtype=_numpy_dtype(dtype), count=count, sep=sep))


def _numpy_dtype(dtype):
    return dtypes.canonicalize_dtype(dtype)


def _unavailable_function(name, why):
    def refuse(*args, **kwargs):
        raise NotImplementedError(
            f"jnp.{name}() is not implemented because it may be non-pure and thus unsafe for use with JIT and other "
            f"JAX transformations. Consider using jnp.asarray(np.{name}(...)) instead{why}"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not available: raises NotImplementedError.  Use `jnp.asarray(np.{name}(...))`."
    return refuse


fromfile = _unavailable_function("fromfile", ".")
fromiter = _unavailable_function("fromiter", "; it uses up the iterator, which a second trace would find empty.")


def load(file, *args, **kwargs):
    """The array that `jnp.save` or `np.save` wrote to a file; bfloat16 and its relatives come back as themselves."""
    if kwargs.get("allow_pickle"):
        raise ValueError("jnp.load with allow_pickle=True would run code from the file; use np.load for that.")
    out = np.load(file, *args, **kwargs)
    return asarray(out) if isinstance(out, np.ndarray) else out


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """The result of `function` on all index tuples of the shape: it is mapped over arrays `arange(n)`, one an axis."""
    shape = canonical_shape(shape)
    indices = [arange(n, dtype=dtype) for n in shape]

    def mapped(*index):
        return function(*index, **kwargs)

    for axis in range(len(indices)):
        in_axes = tuple(0 if i == len(indices) - axis - 1 else None for i in range(len(indices)))
        mapped = vmap(mapped, in_axes=in_axes)
    return mapped(*indices)


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
        return make_array(np.full(shape, value, dtype) if value else np.zeros(shape, dtype))
    return on_device(lax.full(shape, value, dtype), device)


def _creation_dtype(dtype, function):
    return dtypes.scalar_dtype(float) if dtype is None else dtypes.check_user_dtype(dtype, function)


def zeros(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of zeros.

    Args:
      shape: an int or a sequence of ints.
      dtype: the dtype, by default the default float (float32, or float64 if `jax_enable_x64` is on).
      device: a Device or Sharding to place the array on.
      out_sharding: accepted for JAX's signature.

    Examples:
      >>> jnp.zeros((2, 3))
      Array([[0., 0., 0.],
             [0., 0., 0.]], dtype=float32)
    """
    return _fill(shape, 0, _creation_dtype(dtype, "zeros"), device)


def ones(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of ones.

    Args:
      shape: an int or a sequence of ints.
      dtype: the dtype, by default the default float (float32, or float64 if `jax_enable_x64` is on).
      device: a Device or Sharding to place the array on.
      out_sharding: accepted for JAX's signature.
    """
    return _fill(shape, 1, _creation_dtype(dtype, "ones"), device)


def empty(shape, dtype=None, *, device=None, out_sharding=None):
    """The same as `zeros`: an Array cannot be written later."""
    return _fill(shape, 0, _creation_dtype(dtype, "empty"), device)


def full(shape, fill_value, dtype=None, *, device=None, out_sharding=None):
    """An Array with every element fill_value, which is broadcast to the shape.

    Without dtype: that of fill_value, weakly typed for a Python scalar.
    """
    check_arraylike("full", fill_value)
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "full")
    if np.ndim(fill_value) == 0:
        return on_device(lax.full(canonical_shape(shape), fill_value, dtype), device)
    value = as_operand(fill_value) if dtype is None else to_dtype(fill_value, dtype)
    return on_device(broadcast_to(value, canonical_shape(shape)), device)


def _check_like(name, a):
    """Raises TypeError unless a is array-like or has a shape and a dtype."""
    if isinstance(a, np.ndarray) or not (hasattr(a, "shape") and hasattr(a, "dtype")):
        check_arraylike(name, a)


def _like(name, a, value, dtype, shape, device):
    _check_like(name, a)
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, name)
    if shape is not None:
        shape = canonical_shape(shape)
    return on_device(lax.full_like(a, value, dtype, shape), device)


def zeros_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Zeros with the shape and dtype of a, where not given.  a may be anything with `shape` and `dtype`."""
    return _like("zeros_like", a, 0, dtype, shape, device)


def ones_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Ones with the shape and dtype of a, where not given."""
    return _like("ones_like", a, 1, dtype, shape, device)


def empty_like(prototype, dtype=None, shape=None, *, device=None):
    """The same as `zeros_like`."""
    return _like("empty_like", prototype, 0, dtype, shape, device)


def full_like(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None):
    """fill_value, broadcast, with the shape and dtype of a, where not given."""
    check_arraylike("full_like", 0, fill_value)
    if np.ndim(fill_value) == 0:
        return _like("full_like", a, fill_value, dtype, shape, device)
    _check_like("full_like", a)
    shape = np.shape(a) if shape is None else canonical_shape(shape)
    dtype = dtypes.dtype(a) if dtype is None else dtypes.check_user_dtype(dtype, "full_like")
    return on_device(broadcast_to(to_dtype(fill_value, dtype), shape), device)


def broadcast_to(array, shape, *, out_sharding=None):
    """array repeated to fill the shape, by NumPy's rule.  Raises ValueError when it does not fit."""
    array = ensure_arraylike("broadcast_to", array)
    shape = canonical_shape(shape)
    if array.shape == shape:
        return array
    missing = len(shape) - array.ndim
    if missing < 0:
        raise ValueError(f"Cannot broadcast to shape with fewer dimensions: arr_shape={array.shape} shape={shape}")
    for have, want in zip(array.shape, shape[missing:]):
        if not dims.equal(have, want) and have != 1:
            source, target = (f"{_dtype_name(array)}[{','.join(map(str, s))}]" for s in (array.shape, shape))
            raise ValueError(f"Incompatible types for broadcasting: input type={source} and requested type={target}")
    equal_axes = tuple(i for i, (have, want) in enumerate(zip(array.shape, shape[missing:])) if have == want)
    squeezed = tuple(i for i in range(array.ndim) if i not in equal_axes)
    if squeezed:
        array = lax.squeeze(array, squeezed)
    return lax.broadcast_in_dim(array, shape, tuple(i + missing for i in equal_axes))


def _dtype_name(x):
    """The name of the dtype of x."""
    return x.dtype.name


# --- by counting --------------------------------------------------------------------------------------------------


def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None):
    """Evenly spaced numbers in a half-open interval.

    Args:
      start: the first number; if it is the only argument, the end, and the first number is 0.
      stop: the end, which is not part of the result.
      step: the distance between neighbours, by default 1.
      dtype: the dtype, by default the common one of the arguments.
      device: a Device or Sharding to place the array on.
      out_sharding: accepted for JAX's signature.

    Returns a vector of ceil((stop - start) / step) numbers.  The arguments must be known while tracing, because the
    length depends on them; ConcretizationTypeError is raised otherwise.

    Examples:
      >>> jnp.arange(2, 8, 3)
      Array([2, 5], dtype=int32)
    """
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
    if stop is None:
        start, stop = 0, start
    size = max(0, math.ceil((stop - start) / (1 if step is None else step)))
    out = lax.iota(dtype, size)
    if step is not None:
        out = lax.mul(to_dtype(step, dtype), out)
    return lax.add(to_dtype(start, dtype), out)


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
        raise TypeError("arange with symbolic dimensions takes integers and dimensions only")
    size = dims.non_negative(dims.floor_div(stop - start + step - 1, step))
    dtype = dtypes.scalar_dtype(int) if dtype is None else dtype
    out = lax.iota(dtype, size)
    if type(step) is not int or step != 1:
        out = lax.mul(to_dtype(step, dtype), out)
    return out if type(start) is int and start == 0 else lax.add(to_dtype(start, dtype), out)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Evenly spaced numbers from `start` to `stop`.

    Args:
      start, stop: arrays or scalars, broadcast together.
      num: how many numbers, an int of at least 0.
      endpoint: whether `stop` is the last number.
      retstep: whether the spacing is returned too.
      dtype: the dtype, by default the default float or a wider one of the arguments; integers are rounded down.
      axis: where the new axis lies in the result.
      device: a Device or Sharding to place the array on.

    Returns an array of the broadcast shape with one more axis of length `num`; with retstep a pair of it and the
    spacing.  Raises ValueError for a negative num.

    Examples:
      >>> jnp.linspace(0.0, 1.0, 5)
      Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    num = concrete_or_error(operator.index, num, "'num' argument of jnp.linspace")
    axis = concrete_or_error(operator.index, axis, "'axis' argument of jnp.linspace")
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "linspace")
    out = _linspace(start, stop, num=num, endpoint=endpoint, retstep=retstep, dtype=dtype, axis=axis)
    if retstep:
        return on_device(out[0], device), out[1]
    return on_device(out, device)


@staged("_linspace", static_argnames=("num", "endpoint", "retstep", "dtype", "axis"))
def _linspace(start, stop, *, num, endpoint, retstep, dtype, axis):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    check_arraylike("linspace", start, stop)
    if dtype is None:
        dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop)))
    compute = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop, dtype)))
    start, stop = (to_dtype(x, compute) for x in (start, stop))
    shape = lax.broadcast_shapes(start.shape, stop.shape)
    start, stop = broadcast_to(start, shape), broadcast_to(stop, shape)
    axis = canonical_axis(axis, len(shape) + 1)
    steps = num - 1 if endpoint else num
    if num > 1:
        delta = lax.div(lax.sub(stop, start), compute.type(steps))
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
        out = lax.floor(out)
    out = lax.convert_element_type(_move_leading_axis(out, axis), dtype)
    return (out, delta) if retstep else out


def _interpolate(start, stop, steps, shape, dtype):
    """start * (1 - i / steps) + stop * (i / steps) for i below steps, along a new leading axis."""
    real = dtypes.real_dtype(dtype)
    fraction = lax.div(lax.iota(real, steps), real.type(steps))
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


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """`base` to the powers of `linspace(start, stop, num)`."""
    num = concrete_or_error(operator.index, num, "'num' argument of jnp.logspace")
    axis = concrete_or_error(operator.index, axis, "'axis' argument of jnp.logspace")
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "logspace")
    return _logspace(start, stop, base, num=num, endpoint=endpoint, dtype=dtype, axis=axis)


@staged("_logspace", static_argnames=("num", "endpoint", "dtype", "axis"))
def _logspace(start, stop, base, *, num, endpoint, dtype, axis):
    check_arraylike("logspace", start, stop)
    if dtype is None:
        dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop)))
    compute = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.result_type(start, stop, dtype)))
    start, stop = (to_dtype(x, compute) for x in (start, stop))
    exponents = linspace(start, stop, num=num, endpoint=endpoint, axis=axis)
    base, exponents = promote_dtypes(base, exponents)
    return lax.convert_element_type(lax.pow(base, exponents), dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from start to stop with a constant ratio."""
    num = concrete_or_error(operator.index, num, "'num' argument of jnp.geomspace")
    axis = concrete_or_error(operator.index, axis, "'axis' argument of jnp.geomspace")
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, "geomspace")
    return _geomspace(start, stop, num=num, endpoint=endpoint, dtype=dtype, axis=axis)


@staged("_geomspace", static_argnames=("num", "endpoint", "dtype", "axis"))
def _geomspace(start, stop, *, num, endpoint, dtype, axis):
    check_arraylike("geomspace", start, stop)
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
    shape = canonical_shape(n)
    if len(shape) != 1:
        raise TypeError(
            f"Shapes must be 1D sequences of concrete values of integer type, got {shape}. argument of {argument!r} "
            f"jnp.{name}()."
        )
    return shape[0]


def eye(N, M=None, k=0, dtype=None, *, device=None):
    """The (N, M) matrix with ones on its k-th diagonal; M defaults to N.  Raises ValueError for negative sizes."""
    dtype = _creation_dtype(dtype, "eye")
    N = _matrix_dimension("eye", "N", N)
    M = N if M is None else _matrix_dimension("eye", "M", M)
    if any(type(n) is int and n < 0 for n in (N, M)):
        raise ValueError(f"negative dimensions are not allowed, got {N} and {None if N is M else M}")
    if isinstance(k, (float, complex)):
        raise ValueError(f"k must be a scalar integer; got {k}")
    return on_device(_diagonal_ones(N, M, k, dtype), device)


def _diagonal_ones(rows, columns, k, dtype):
    """Ones where column = row + k."""
    index = dtypes.scalar_dtype(int)
    i, j = lax.broadcasted_iota(index, (rows, columns), 0), lax.broadcasted_iota(index, (rows, columns), 1)
    return lax.convert_element_type(lax.eq(lax.add(i, to_dtype(k, index)), j), dtype)


def identity(n, dtype=None):
    """The (n, n) unit matrix."""
    return eye(n, dtype=_creation_dtype(dtype, "identity"))


def lower_mask(rows, columns, k, dtype=np.bool_):
    """Whether column <= row + k, as an (rows, columns) array."""
    index = np.dtype(np.int32)
    i = lax.add(lax.broadcasted_iota(index, (rows, columns), 0), index.type(k))
    mask = lax.ge(i, lax.broadcasted_iota(index, (rows, columns), 1))
    return mask if dtype == np.bool_ else lax.convert_element_type(mask, dtype)


def tri(N, M=None, k=0, dtype=None):
    """The (N, M) matrix with ones on and below the k-th diagonal."""
    dtype = np.dtype(np.float32) if dtype is None else _creation_dtype(dtype, "tri")
    return lower_mask(N, N if M is None else M, k, dtype)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of the grid spanned by rank-1 arrays, a list; 'xy' swaps the first two axes.

    Raises ValueError for arrays of higher rank and for another indexing.
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


def indices(dimensions, dtype=None, sparse=False):
    """The index arrays of a grid: one (stacked) Array, or with sparse a tuple of arrays that broadcast."""
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
