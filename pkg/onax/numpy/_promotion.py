"""Operand conversion: checks that jnp functions take their operands, and promotes them to one dtype and rank.

`check_arraylike` refuses lists and strings; `promote_args` and its relatives return operands that a primitive takes.
A Python scalar becomes a concrete scalar of the common dtype, never a staged conversion, so it prints as a literal.
"""

import operator
import sys
import warnings

import numpy as np

from onax import lax
from onax._core.api_functions import compiled_code
from onax._core.trace import concrete_or_error
from onax._core.transfer_guards import report_argument
from onax._ground import dtypes, source
from onax._ground.config import config, guard_state
from onax._native import context
from onax._native.array import Array, ArrayImpl, from_user, make_array
from onax._native.buffers import check_mask
from onax._native.context import get_trace
from onax._prims.convert import cast, convert

_ACCEPTED = (Array, np.ndarray, np.generic, bool, int, float, complex)
_INT32, _INT64 = range(-(2**31), 2**31), range(-(2**63), 2**63)
_INEXACT = frozenset(d for d in dtypes.ALL_DTYPES if dtypes.is_inexact(d))


def is_arraylike(x):
    """Whether jnp functions take x as it is: arrays, scalars, and objects with `__jax_array__`."""
    return isinstance(x, _ACCEPTED) or type(x) in dtypes.python_scalar_dtypes or hasattr(type(x), "__jax_array__")


def check_arraylike(name, *args):
    """Returns the arguments, objects with `__jax_array__` as what that gives.

    Raises TypeError for an argument that is neither an array nor a scalar.
    """
    has_objects = False
    for position, x in enumerate(args):
        if type(x) is ArrayImpl:
            continue
        if not isinstance(x, _ACCEPTED) and type(x) not in dtypes.python_scalar_dtypes:
            if not hasattr(type(x), "__jax_array__"):
                raise TypeError(f"{name} requires ndarray or scalar arguments, got {type(x)} at position {position}.")
            has_objects = True
        if isinstance(x, np.ndarray) and type(x) is not np.ndarray:
            check_mask(x)
        if isinstance(x, np.ndarray) and x.dtype.kind in "OSUMm":
            raise TypeError(
                f"{name}: dtype {x.dtype} is not a valid JAX array type. Only arrays of numeric types are supported "
                "by JAX."
            )
    return tuple(map(from_jax_array, args)) if has_objects else args


def from_jax_array(x):
    """The Array that the `__jax_array__` of an object gives; anything else as it is."""
    return x.__jax_array__() if not isinstance(x, Array) and hasattr(type(x), "__jax_array__") else x


def admit(x, dtype):
    """Lets the current trace refuse a value from outside that is about to become an array of this dtype."""
    trace = get_trace()
    if trace is not None:
        trace.admit(x, dtype)


def as_operand(x):
    """Converts x to an Array; a value that is not an Array becomes a concrete one of canonical dtype."""
    if isinstance(x, Array):
        return x
    if guard_state.used:
        report_argument(x)
    if isinstance(x, (np.ndarray, np.generic)):
        dtype = dtypes.dtype(x)
        if x.dtype == dtype:
            return from_user(x)
        admit(x, dtype)
        return make_array(np.asarray(cast(np.asarray(x), dtype)))
    if hasattr(type(x), "__jax_array__"):
        return as_operand(x.__jax_array__())
    if type(x) is int and not fits_default_integer(x):
        _refuse_overflow(x)
    return python_scalar(x, dtypes.dtype(x), dtypes.is_weakly_typed(x))


def fits_default_integer(x):
    """Whether the dtype that a Python int has by default holds it."""
    return x in _INT32 or (x in _INT64 and dtypes.scalar_dtype(int).itemsize == 8)


def _refuse_overflow(x):
    """Raises OverflowError for a large int that is an argument of a function that JAX compiles."""
    name, frame = None, sys._getframe(2)
    while frame is not None and source.is_internal(frame.f_code.co_filename):
        code, values = frame.f_code, frame.f_locals
        if code in compiled_code:
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            name = next((p for p in parameters if values.get(p) is x), name)
        frame = frame.f_back
    if name is not None:
        raise OverflowError(
            "An overflow was encountered while parsing an argument to a jitted computation, whose argument path is "
            f"{name}. Got {int} with value {x}"
        )


def python_scalar(x, dtype, weak_type):
    """The Array of shape () for a Python scalar.  Raises OverflowError for an int that does not fit."""
    if isinstance(x, int) and dtypes.is_integer(dtype):
        info = dtypes.iinfo(dtype)
        if not info.min <= x <= info.max:
            raise OverflowError(f"Python int {x} too large to convert to {dtype.name}")
    elif not isinstance(x, (int, float, complex)):
        return lax.convert_element_type(x, dtype)  # a symbolic dimension
    return make_array(np.asarray(x).astype(dtype), weak_type=weak_type)


def ensure_arraylikes(name, *args):
    """Converts the arguments to Arrays.  Raises TypeError for one that is neither an array nor a scalar."""
    args = check_arraylike(name, *args)
    return [x if isinstance(x, Array) else as_operand(x) for x in args]


def ensure_arraylike(name, x):
    """Converts one argument to an Array.  Raises TypeError if it is neither an array nor a scalar."""
    if isinstance(x, Array):
        return x
    check_arraylike(name, x)
    return as_operand(x)


def can_use_numpy(*arrays):
    """Whether NumPy may compute a result: nothing is traced, and no array is committed to a device."""
    if context.get_trace() is not None:
        return False
    return all(type(x) is ArrayImpl and not x.committed and isinstance(x.dtype, np.dtype) for x in arrays)


# --- dtypes -------------------------------------------------------------------------------------------------------


def to_dtype(x, dtype, weak_type=False):
    """x with the given dtype; a Python scalar wraps as C does, anything else converts as `lax` does."""
    kind = type(x)
    if kind is ArrayImpl:
        if x.dtype is dtype and x.weak_type is weak_type:
            return x
        if x.weak_type and not x.ndim and x._shards is None:  # it stays a literal in the jaxpr, as in JAX
            device = x.device if x._committed else None
            return make_array(cast(x._value, dtype), None, weak_type, device, x._committed)
        return convert(x, dtype, weak_type)
    if guard_state.used:
        report_argument(x)
    if kind is int or kind is float or kind is complex or kind is bool:
        if kind is int and not fits_default_integer(x):
            _refuse_overflow(x)
        if kind is int and dtypes.is_integer(dtype):
            bits, given = dtypes.itemsize_bits(dtype), x
            x &= (1 << bits) - 1
            if x > int(dtypes.iinfo(dtype).max):
                x -= 1 << bits
            if x != given:
                admit(given, dtype)
        return make_array(cast(np.asarray(x), dtype), weak_type=weak_type)
    if isinstance(x, Array):
        return convert(x, dtype, weak_type)
    if isinstance(x, (np.ndarray, np.generic)):
        admit(x, dtype)
        return make_array(np.array(cast(np.asarray(x), dtype)), weak_type=weak_type)
    return convert(as_operand(x), dtype, weak_type)


def _have_one_dtype(args):
    """Whether all are Arrays of one dtype and weak type."""
    first = args[0]
    if not isinstance(first, Array):
        return False
    aval = first.aval
    dtype, weak_type = aval.dtype, aval.weak_type
    if weak_type and dtype == np.bool_:
        return False  # becomes strong
    for x in args:
        if x is not first:
            if not isinstance(x, Array):
                return False
            aval = x.aval
            if aval.dtype is not dtype or aval.weak_type is not weak_type:
                return False
    return True


def promote_dtypes(*args):
    """The arguments as Arrays of their common dtype."""
    if len(args) < 2:
        return [as_operand(x) for x in args]
    if _have_one_dtype(args):
        return list(args)
    if all(_is_float0(x) for x in args):
        return [as_operand(x) for x in args]
    dtype, weak_type = dtypes.result_type(*args, return_weak_type_flag=True)
    return [to_dtype(x, dtype, weak_type) for x in args]


def _refuse_key_dtype(dtype):
    """Returns the dtype; raises TypeError for a key dtype."""
    if dtypes.is_extended(dtype):
        raise TypeError(f"Cannot interpret '{dtype}' as a data type")
    return dtype


def promote_dtypes_inexact(*args):
    """The arguments as Arrays of their common dtype, integers and bools as floats."""
    dtype, weak_type = dtypes.result_type(*args, return_weak_type_flag=True)
    dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(_refuse_key_dtype(dtype)))
    return [to_dtype(x, dtype, weak_type) for x in args]


def promote_dtypes_numeric(*args):
    """The arguments as Arrays of their common dtype, bools as integers."""
    dtype, weak_type = dtypes.result_type(*args, return_weak_type_flag=True)
    dtype = dtypes.canonicalize_dtype(dtypes.to_numeric_dtype(_refuse_key_dtype(dtype)))
    return [to_dtype(x, dtype, weak_type) for x in args]


# --- ranks --------------------------------------------------------------------------------------------------------


def promote_shapes(name, *args):
    """The arguments with equal rank, or of rank 0; leading axes of length 1 are prepended.

    Raises ValueError when shapes do not broadcast, or, under `jax_numpy_rank_promotion`, for any unequal ranks.
    """
    ranks = {x.ndim for x in args}
    if len(ranks) == 1:
        return args
    shapes = [x.shape for x in args]
    nonzero = ranks - {0}
    if len(nonzero) < 2:
        return args
    if config.jax_numpy_rank_promotion != "allow":
        _rank_promotion(name, shapes)
    rank = len(lax.broadcast_shapes(*shapes))
    return [lax.broadcast_to_rank(x, rank) for x in args]


def along_last_axis(weights, rank):
    """A vector as an array of some rank, whose other axes have length 1: no ranks are promoted when it multiplies."""
    return weights.reshape((1,) * (rank - 1) + weights.shape)


def _rank_promotion(name, shapes):
    text = f"for {name} on shapes {' '.join(map(str, shapes))}"
    if config.jax_numpy_rank_promotion == "raise":
        raise ValueError(
            f"Operands could not be broadcast together {text} and with the config option "
            f"jax_numpy_rank_promotion='raise'. For more information, see {_PAGE_ON_RANKS}."
        )
    report_promotion(f"Following NumPy automatic rank promotion {text}.", "warning")


_PAGE_ON_RANKS = "https://docs.jax.dev/en/latest/rank_promotion_warning.html"


def report_promotion(text, noun="message"):
    """Raises ValueError, warns, or does neither, as the option jax_numpy_rank_promotion says."""
    mode = config.jax_numpy_rank_promotion
    text = (
        f"{text} Set the jax_numpy_rank_promotion config option to 'allow' to disable this {noun}; for more "
        f"information, see {_PAGE_ON_RANKS}."
    )
    if mode == "raise":
        raise ValueError(text)
    if mode == "warn":
        warnings.warn(text, stacklevel=source.stacklevel())


def _have_one_dtype_and_rank(args):
    """Whether all are Arrays of one dtype, weak type and rank, so that nothing needs promotion (the common case)."""
    if not _have_one_dtype(args):
        return False
    rank = len(args[0].aval.shape)
    for x in args:
        if len(x.aval.shape) != rank:
            return False
    return True


def _refuse_keys(name, args):
    """Raises TypeError for key arrays among other arguments, because nothing promotes to or from key dtypes."""
    key_dtypes = [dtypes.dtype(x) for x in args if isinstance(x, Array) and dtypes.is_extended(x.dtype)]
    if key_dtypes and not (len(key_dtypes) == len(args) and all(d == key_dtypes[0] for d in key_dtypes)):
        names = ", ".join(str(dtypes.dtype(x)) for x in args)
        raise TypeError(f"{name} does not accept dtypes {names}.")


def refuse_float0(name, args):
    """Raises TypeError for an array of zeros without a vector space."""
    if any(_is_float0(x) for x in args):
        raise dtypes.float0_error(name)


def _is_float0(x):
    return isinstance(x, (Array, np.ndarray)) and x.dtype == dtypes.float0


def promote_args(name, *args):
    """Checked arguments of one dtype and rank."""
    if _have_one_dtype_and_rank(args):
        return args
    args = check_arraylike(name, *args)
    _refuse_keys(name, args)
    refuse_float0(name, args)
    return promote_shapes(name, *promote_dtypes(*args))


def promote_args_inexact(name, *args):
    """Checked arguments of one floating or complex dtype and of one rank."""
    if _have_one_dtype_and_rank(args) and args[0].aval.dtype in _INEXACT:
        return args
    args = check_arraylike(name, *args)
    _refuse_keys(name, args)
    refuse_float0(name, args)
    return promote_shapes(name, *promote_dtypes_inexact(*args))


def promote_args_numeric(name, *args):
    """Checked arguments of one dtype other than bool and of one rank."""
    args = check_arraylike(name, *args)
    _refuse_keys(name, args)
    refuse_float0(name, args)
    return promote_shapes(name, *promote_dtypes_numeric(*args))


# --- arguments that many functions have -----------------------------------------------------------------------------


def canonical_axis(axis, ndim):
    """axis as a number in 0..ndim-1.  Raises ValueError when it is out of bounds, TypeError when it is not an
    integer."""
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise ValueError(f"axis {number} is out of bounds for array of dimension {ndim}")
    return number + ndim if number < 0 else number


def indexed_axis(axis, ndim):
    """As `canonical_axis`, for functions that index the shape with the axis in JAX: IndexError out of bounds."""
    try:
        return canonical_axis(axis, ndim)
    except ValueError as error:
        raise IndexError(f"tuple index out of range\n{error}") from None


def listed_axis(axis, ndim):
    """As `canonical_axis`, for functions that index a list of the axes in JAX."""
    try:
        return canonical_axis(axis, ndim)
    except ValueError as error:
        raise IndexError(f"index {axis} is out of bounds for axis 0 with size {ndim}\n{error}") from None
    except TypeError as error:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            f"valid indices\n{error}"
        ) from None


def static_axes(axis):
    """One axis or a sequence of them, which a trace must know, as a tuple of ints.

    Raises ConcretizationTypeError for a traced value, TypeError for one that is not an integer.
    """
    axis = concrete_or_error(None, axis, "expected a static index or sequence of indices.")
    try:
        return (operator.index(axis),)
    except TypeError:
        return tuple(map(operator.index, axis))


def single_axis(axis):
    """Returns an axis that may be given as a tuple of one.  Raises ValueError for a tuple of another length."""
    if not isinstance(axis, tuple):
        return axis
    if len(axis) != 1:
        raise ValueError(f"Inconsistent number of elements: {len(axis)} vs 1")
    return axis[0]


def canonical_axes(axis, ndim):
    """One axis or a sequence of them as a tuple of numbers in 0..ndim-1; None means all."""
    if axis is None:
        return tuple(range(ndim))
    if hasattr(axis, "__index__") and getattr(axis, "ndim", 0) == 0:
        return (canonical_axis(axis, ndim),)
    return tuple(canonical_axis(a, ndim) for a in axis)


def no_out(name, out):
    """Refuses NumPy's `out=`, because arrays are immutable."""
    if out is not None:
        raise NotImplementedError(f"The 'out' argument to jnp.{name} is not supported.")
