"""Traces, which interpret operations, and tracers, the values that belong to a trace.

The current trace is state of the thread (`_native.context`).  `Primitive.bind` evaluates at once when there is none;
otherwise it hands the operation to the trace, which unpacks the tracers that are its own and treats everything else
as a constant.  A rule runs while the parent of its trace is current, so transformations nest.  Perturbation confusion
cannot arise, because an identity test tells to which trace a tracer belongs.
"""

import functools
import operator
from typing import Any

import numpy as np

from onax._core.hitypes import type_of_value
from onax._core.refs import AbstractRef, Ref, RefTracerMethods
from onax._core.zeros import Zero
from onax._ground import dims, dtypes, errors, source
from onax._ground.typing import AnyFunction
from onax._native import context
from onax._native.array import Array, ArrayImpl, make_array
from onax._native.avals import ShapedArray
from onax._native.buffers import check_mask
from onax._native.context import set_current_trace
from onax._native.dispatch import evaluate


class Trace:
    """An interpreter of operations.  `staging` says whether operations end up in a program."""

    __slots__ = ("__weakref__", "alive", "calls", "function", "parent_trace", "staging")
    transformation = ""  # its name, for messages
    values = None  # what finds the values of its tracers, in the body of a `shard_map` that is applied at once
    records_tangents = False  # whether it records a linear program (see linearize)

    def __init__(self, parent_trace):
        self.alive = True
        self.calls = {}  # programs of jitted functions that close over tracers, while this is the current trace
        self.function = None  # the transformed function, where messages name it
        self.parent_trace = parent_trace
        self.staging = parent_trace.staging if parent_trace is not None else False

    def process_primitive(self, primitive, args, params):
        """Interprets one operation; returns its result, or a list of results."""
        raise NotImplementedError(f"{type(self).__name__} does not interpret operations")

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        """Interprets a call of a function with its own jvp rule."""
        raise NotImplementedError(f"{type(self).__name__} does not interpret custom_jvp calls")

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        """Interprets a call of a function with its own vjp rule."""
        raise NotImplementedError(f"{type(self).__name__} does not interpret custom_vjp calls")

    def admit(self, x, dtype):
        """Called before a NumPy value or integer becomes an array of a dtype (None: its own dtype); may raise."""

    def new_const(self, x):
        """Makes an array that the user creates a value of the program that is being staged."""
        return self.parent_trace.new_const(x)

    def stage_value(self, val):
        """As `new_const`, under the name that traces of other packages call."""
        return self.new_const(val)

    def records_refs(self, args):
        """Whether operations on these references become equations; else they are discharged."""
        return False

    def make_ref(self, init):
        """A new reference to a value."""
        raise NotImplementedError(f"{type(self).__name__} makes no mutable array references")

    def read_ref(self, ref):
        """The value of a reference."""
        return self.parent_trace.read_ref(ref)

    def write_ref(self, ref, value):
        """Gives a reference a value of its type."""
        self.parent_trace.write_ref(ref, value)

    def invalidate(self):
        """Called when the trace ends; its tracers must not be used afterwards."""
        self.alive = False
        self.calls.clear()

    @property
    def main(self):
        """An object that two traces of one transformation share."""
        return self

    def subject(self):
        """The function and the transformation, as text; empty when the function is not known."""
        function = self.function
        while hasattr(function, "fun"):
            function = function.fun
        if function is None or source.is_internal(getattr(getattr(function, "__code__", None), "co_filename", "")):
            return ""
        return f"{source.function_location(function)} traced for {self.transformation}"


class EvalTrace(Trace):
    """The outermost trace, which evaluates operations."""

    __slots__ = ()

    def __init__(self):
        super().__init__(None)

    def process_primitive(self, primitive, args, params):
        return evaluate(primitive, args, params)

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        return fun(*args)

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        return fun(*args)

    def new_const(self, x):
        return x

    def make_ref(self, init):
        return Ref(as_array(init))

    def read_ref(self, ref):
        if type(ref) is not Ref:
            raise escaped_tracer_error(ref)
        return ref._value

    def write_ref(self, ref, value):
        if isinstance(value, Tracer):
            raise escaped_tracer_error(value)
        ref._value = value

    def __repr__(self):
        return "EvalTrace"


eval_trace = EvalTrace()


def find_cur_trace():
    """The current trace; `eval_trace` if no transformation is active."""
    trace = context.get_trace()
    return eval_trace if trace is None else trace


class FoldingTrace(Trace):
    """Evaluates operations on concrete values and passes operations on tracers to the parent trace."""

    __slots__ = ()

    def __init__(self, parent_trace):
        super().__init__(parent_trace)
        self.staging = False

    def process_primitive(self, primitive, args, params):
        if _has_tracer(args):
            return primitive.bind_with_trace(self.parent_trace, args, params)
        with set_current_trace(None):
            return evaluate(primitive, args, params)

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        trace = self.parent_trace if _has_tracer(args) else eval_trace
        with set_current_trace(trace):
            return trace.process_custom_jvp_call(
                primitive, fun, jvp, args, symbolic_zeros=symbolic_zeros, params=params
            )

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        trace = self.parent_trace if _has_tracer(args) else eval_trace
        with set_current_trace(trace):
            return trace.process_custom_vjp_call(
                primitive, fun, fwd, bwd, args, out_trees=out_trees, symbolic_zeros=symbolic_zeros, params=params
            )

    def new_const(self, x):
        return x

    def make_ref(self, init):
        trace = self.parent_trace if _has_tracer([init]) else eval_trace
        return trace.make_ref(init)


def _has_tracer(args):
    return any(isinstance(x, Tracer) for x in args)


def ensure_compile_time_eval() -> Any:
    """Context manager: operations on concrete values are computed at once, also while a function is traced.

    Operations on traced values are recorded all the same.

    Returns:
      A context manager.

    Examples:
      >>> @onax.jit
      ... def f(x):
      ...     with onax.ensure_compile_time_eval():
      ...         assert (jnp.arange(3).sum() == 3)
      ...     return x
      >>> f(1)
      Array(1, dtype=int32, weak_type=True)
    """
    trace = context.get_trace()
    return set_current_trace(None if trace is None else FoldingTrace(trace))


eval_context = ensure_compile_time_eval


def new_const(x):
    """Returns the array, or a tracer for it while a program is being staged."""
    trace = context.get_trace()
    return x if trace is None else trace.new_const(x)


def trace_state_clean():
    """Whether no transformation is active in this thread."""
    return context.get_trace() is None


class Tracer(Array):
    """A value that stands for others while a function is transformed.

    Args:
      trace: the trace that interprets operations on it.
      aval: its type.
      location: the place in the source that made it; default None.

    Examples:
      >>> onax.jit(lambda x: isinstance(x, onax.core.Tracer))(1)
      Array(True, dtype=bool)
    """

    __slots__ = ("__weakref__", "_location", "_trace", "aval")

    def __init__(self, trace, aval, location=None):
        self._trace = trace
        self.aval = aval
        self._location = location  # source location of the operation that made it; None if not known

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)
    weak_type = property(lambda self: self.aval.weak_type)

    def __getattr__(self, name):
        """The methods that tracers of mutable array references have besides those of arrays.

        Tracers of values of a type that a program defined have the attributes of that type.
        """
        if name == "aval":
            return super().__getattribute__(name)  # raises the AttributeError that led here
        if self.aval.is_high and not name.startswith("__") and hasattr(self.aval, name):
            return self.aval.attribute_of(self, getattr(self.aval, name))
        method = None if name.startswith("_") else vars(RefTracerMethods).get(name)
        if method is not None and type(self.aval) is AbstractRef:
            return functools.partial(method, self)
        if hasattr(type(self), name):
            return super().__getattribute__(name)  # raises the AttributeError that led here
        raise _no_attribute(self, name)

    def to_concrete_value(self):
        """The concrete value of this tracer if it has one, else None."""
        return None

    def _origin_msg(self):
        """Sentences for error messages that say where this tracer was made."""
        subject = self._trace.subject()
        return f"The error occurred in the function {subject}." if subject else ""

    def _creation_msg(self):
        """A sentence, with JAX's words, that says on which line this tracer was made; empty if that is not known."""
        location = getattr(self, "_location", None)
        if location is None:
            return ""
        kind = type(self).__name__
        return f"This {kind} with object id {id(self)} was created on line:\n  {source.summarize(location)}"

    def _argument_names(self):
        """Names of the arguments that this value depends on; None if they could not be static."""
        return None

    def escape_msg(self):
        """Sentences that say where this tracer, which outlived its trace, was made."""
        subject = self._trace.subject()
        text = f"The function being traced when the value leaked was {subject}.\n" if subject else ""
        if self._location is None:
            return text
        line, locations = "-" * 30, [source.summarize(r) for r in (self._location, *(self._location.callers or ()))]
        text += f"{line}\nThe leaked intermediate value was created on line {locations[0]}.\n{line}\n"
        if self._location.callers is None:  # only staging records callers
            return text
        shown = "\n".join(reversed(locations))
        return (
            f"{text}When the value was created, the final {len(locations)} stack frames (most recent last) excluding "
            f"onax-internal frames were:\n{line}\n{shown}\n{line}\n\n"
        )

    # Conversions to Python values, which succeed if the tracer has a concrete value.

    def _concrete(self, error, *details):
        value = self.to_concrete_value()
        if value is None:
            raise error(self, *details)
        return value

    def __bool__(self):
        size = dims.prod(self.aval.shape)
        if dims.is_constant(size) and size != 1:
            what = "array with more than one element is ambiguous. Use a.any() or a.all()"
            if not size:
                what = "empty array is ambiguous. Use `array.size > 0` to check that an array is not empty."
            raise ValueError(f"The truth value of an {what}")
        return bool(self._concrete(errors.TracerBoolConversionError))

    def _check_scalar(self):
        if self.aval.shape:
            raise TypeError(
                f"Only scalar arrays can be converted to Python scalars; got arr.ndim={len(self.aval.shape)}"
            )

    def __int__(self):
        self._check_scalar()
        return int(self._concrete(errors.ConcretizationTypeError, _cast_advice("int")))

    # A Python float has no tangent: a derivative would be lost, so not even concrete values are converted.

    def __float__(self):
        self._check_scalar()
        raise errors.ConcretizationTypeError(self, _cast_advice("float"))

    def __complex__(self):
        self._check_scalar()
        raise errors.ConcretizationTypeError(self, _cast_advice("complex"))

    def __index__(self):
        if self.aval.shape or not dtypes.issubdtype(self.aval.dtype, np.integer):
            raise TypeError("Only integer scalar arrays can be converted to a scalar index.")
        return operator.index(self._concrete(errors.TracerIntegerConversionError))

    def __array__(self, *args, **kwargs):
        raise errors.TracerArrayConversionError(self)

    def item(self, *args):
        """The concrete value as a Python scalar; an error if there is none."""
        return self._concrete(errors.ConcretizationTypeError, "This occurred in the item() method of jax.Array").item(
            *args
        )

    def tolist(self):
        """The concrete value as nested lists; an error if there is none."""
        return self._concrete(errors.ConcretizationTypeError, _sentence(self, "tolist() method")).tolist()

    def tobytes(self, order="C"):
        """The bytes of the concrete value; an error if there is none."""
        return self._concrete(errors.ConcretizationTypeError, _sentence(self, "tobytes() method")).tobytes(order)

    def __getitem__(self, index):
        if type(self.aval) is AbstractRef:
            return Ref.read_item(self, index)
        return super().__getitem__(index)

    def __setitem__(self, index, value):
        if type(self.aval) is AbstractRef:
            Ref.write_item(self, index, value)
        else:
            super().__setitem__(index, value)

    def __hash__(self):
        raise TypeError(f"unhashable type: {type(self).__name__!r}")

    def __len__(self):
        if not self.aval.shape:
            raise TypeError("len() of unsized object")
        return self.aval.shape[0]

    def __iter__(self):
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(int(self.aval.shape[0]))])

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"{type(self).__name__}({self.aval.str_short()})"

    def __format__(self, spec):
        if not spec:
            return repr(self)
        raise TypeError(
            f"unsupported format string passed to {type(self).__name__}.__format__\nThe value is traced, "
            "so that it has no digits yet: print it with `jax.debug.print`"
        )

    def __reduce__(self):
        raise errors.ConcretizationTypeError(
            self,
            "The error occurred in the __reduce__ method, which may indicate an attempt to serialize/pickle a traced "
            "value.",
        )


def _sentence(tracer, what):
    """The first sentence of an error: which attribute or method of the tracer is not available."""
    return f"The {what} was called on traced array with shape {tracer.aval.str_short()}."


def _concrete_only(name, is_method):
    """Makes a method or property of tracers that raises ConcretizationTypeError."""

    def refuse(self, *args, **kwargs):
        """Not available while tracing: raises ConcretizationTypeError."""
        raise errors.ConcretizationTypeError(
            self, _sentence(self, f"{name}{'() method' if is_method else ' property'}")
        )

    refuse.__name__ = name
    return refuse if is_method else property(refuse)


def _no_attribute(tracer, name):
    return AttributeError(f"{type(tracer).__name__} has no attribute {name}")


def _missing_property(name, text, hint=""):
    """Makes a property of tracers that raises AttributeError with an explanation, so that `hasattr` is False."""

    def refuse(self):
        """Not available while tracing: raises AttributeError."""
        fault = f"The '{name}' {text} traced array with shape {self.aval.str_short()}.{hint}"
        raise AttributeError(errors.compose(fault, self._origin_msg()))

    return property(refuse)


for _name in (
    "__dlpack__",
    "addressable_data",
    "delete",
    "devices",
    "is_deleted",
    "on_device_size_in_bytes",
    "unsafe_buffer_pointer",
):
    setattr(Tracer, _name, _concrete_only(_name, True))
for _name in ("addressable_shards", "committed", "global_shards", "is_fully_addressable", "is_fully_replicated"):
    setattr(Tracer, _name, _concrete_only(_name, False))
for _name in ("block_until_ready", "copy_to_host_async"):
    setattr(Tracer, _name, _missing_property(_name, "method is not available on"))


def _refuse_device(self):
    """Not available while tracing: raises AttributeError."""
    raise _no_attribute(self, "device")


Tracer.device = property(_refuse_device)
Tracer.sharding = _missing_property(
    "sharding", "attribute is not available on", " To query sharding information on tracers, use `jax.typeof(x)`."
)


_ADVICE = {"int": "int", "float": "float", "complex": "complex"}


def _cast_advice(function):
    """The sentence that names the conversion, and a remedy if there is one."""
    text = f"The problem arose with the `{function}` function. "
    if function in _ADVICE:
        text += (
            "If trying to convert the data type of a value, try using "
            f"`x.astype({_ADVICE[function]})` or `jnp.array(x, {_ADVICE[function]})` instead."
        )
    return text


def raise_stray_tracer(primitive, tracer):
    """Raises the error for a tracer that is used after its transformation has ended."""
    raise escaped_tracer_error(tracer)


def escaped_tracer_error(tracer):
    """Makes the error for a tracer that outlived its trace."""
    return errors.UnexpectedTracerError(
        "Encountered an unexpected tracer. A function transformed by JAX had a side effect, allowing for a "
        f"reference to an intermediate value with type {tracer.aval.str_short()} wrapped in a "
        f"{type(tracer).__name__} to escape the scope of the transformation.\n"
        "onax transformations require that functions explicitly return their outputs, and disallow saving "
        f"intermediate values to global state.\n{tracer.escape_msg()}"
        "To catch the leak earlier, try setting the environment variable JAX_CHECK_TRACER_LEAKS or using the "
        "`checking_leaks` context manager."
    )


# ---- types of values ----


def typeof(x: Any) -> Any:
    """Returns the type of a value that operations take; raises TypeError for any other one."""
    if isinstance(x, Array):
        return x.aval
    kind = type(x)
    if kind in dtypes.python_scalar_dtypes:
        return ShapedArray((), dtypes.canonicalize_dtype(dtypes.scalar_dtype(kind)), weak_type=kind is not bool)
    if isinstance(x, (np.ndarray, np.generic)):
        if kind is not np.ndarray:
            check_mask(x)
        if x.dtype.kind in "OSUMm" or (x.dtype.names is not None and x.dtype != dtypes.float0):
            raise TypeError(
                f"Dtype {x.dtype} is not a valid JAX array type. Only arrays of numeric types are supported by JAX."
            )
        return ShapedArray(x.shape, dtypes.canonicalize_dtype(x.dtype))
    if isinstance(x, Zero) or type(x) is Ref:
        return x.aval
    hitype = type_of_value(x)
    if hitype is not None:
        return hitype
    if hasattr(x, "__jax_array__"):
        return typeof(x.__jax_array__())
    if dtypes.is_scalar_type(kind):
        return typeof(x)
    named = kind if kind is str else f"'{kind}'"  # as JAX writes them
    raise TypeError(f"Argument '{x}' of type {named} is not a valid JAX type")


get_aval = typeof


def valid_jaxtype(x: Any) -> bool:
    """Returns whether a value can be traced.

    Args:
      x: anything.

    Returns:
      A bool.

    Examples:
      >>> onax.extend.core.valid_jaxtype(1), onax.extend.core.valid_jaxtype("a")
      (True, False)
    """
    try:
        typeof(x)
    except TypeError:
        return False
    return True


def as_array(x):
    """Converts a value to an Array or tracer: NumPy values are copied, Python scalars become weakly typed.

    Mutable array references stay what they are, and so do values of types that programs define.
    """
    if isinstance(x, Array) or type(x) is Ref:
        return x
    if hasattr(type(x), "__jax_array__"):
        return as_array(x.__jax_array__())
    aval = typeof(x)
    if aval.is_high:
        return x
    try:
        value = np.array(x, dtype=aval.dtype)
    except OverflowError:
        raise OverflowError(f"Python int {x} too large to convert to {aval.dtype.name}") from None
    return make_array(value, aval.dtype, aval.weak_type)


def is_concrete(x):
    """Whether the value is known now."""
    return not isinstance(x, Tracer) or x.to_concrete_value() is not None


def to_concrete_value(x):
    """The value itself if it is known now, else None."""
    return x.to_concrete_value() if isinstance(x, Tracer) else x


def concrete_or_error(force: AnyFunction, val: Any, context: str = "") -> Any:
    """Returns a value that is known, converted by a function.

    Args:
      force: a function such as `int`; None: none.
      val: a value.
      context: a text for the message.

    Returns:
      The converted value.

    Raises:
      ConcretizationTypeError: the value is traced.

    Examples:
      >>> onax.extend.core.concrete_or_error(int, jnp.array(3))
      3
    """
    if force is None:
        force = _identity
    if isinstance(val, Tracer):
        value = val.to_concrete_value()
        if value is None:
            raise errors.ConcretizationTypeError(val, context)
        return force(value)
    return force(val)


def _identity(x):
    return x


__all__ = [
    "ArrayImpl",
    "EvalTrace",
    "Trace",
    "Tracer",
    "as_array",
    "concrete_or_error",
    "eval_trace",
    "find_cur_trace",
    "is_concrete",
    "set_current_trace",
    "source",
    "to_concrete_value",
    "trace_state_clean",
    "typeof",
    "valid_jaxtype",
]
