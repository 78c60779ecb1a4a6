"""The classes of errors; names that JAX also has mean the same as in JAX.

    OnaxError (an Exception)                  the base of all below; its text ends with the command that explains it
      JAXTypeError, also a TypeError          a traced value was used where this is not possible
        ConcretizationTypeError               a concrete value is needed
          TracerBoolConversionError           ... by `if`, `while`, `and`, `or`, `not`, `bool()`
        TracerArrayConversionError            ... by a NumPy function or `np.asarray`
        TracerIntegerConversionError          ... by Python indexing, `range`, ...
        UnexpectedTracerError                 a tracer outlived its transformation
        KeyReuseError                         a random key was consumed twice (`jax_debug_key_reuse`)
      JAXIndexError, also an IndexError
        NonConcreteBooleanIndexError          a traced mask would make a shape depend on data
      JaxprTypeError, also a TypeError        a jaxpr is not well typed
      InconclusiveDimensionOperation          the answer depends on the values of symbolic dimensions
      LoweringError, also a NotImplementedError   an operation has no form in ONNX (or not for these dtypes)
      ExportError, also a ValueError          a function cannot be exported, or not with these arguments
        ArtifactError                         a file is not a valid artefact of onax
      JaxRuntimeError, also a RuntimeError
        BackendError                          ONNX Runtime refused or failed to run a model
      StrictError                             raised within `onax.strict()` alone
        OutOfBoundsError                      an index outside its axis; also an IndexError
        LostValueError                        a cast that does not keep the value; also a ValueError
        TruncatedDtypeError                   a 64-bit dtype while they are off; also a ValueError
        IntegerOverflowError                  also an OverflowError
    TypePromotionError, a ValueError          dtypes have no common type
    FloatingPointError (built in)             `jax_debug_nans` found a NaN

A message has up to four parts: the operation with its operand types, the fault, the location, the remedy.  Errors about
tracers read the tracer's `aval` and `_origin_msg()`, the sentences that name the function and the transformation during
which it was made (an empty string if they are not known).
"""

_EXPLAIN = "python -m onax.errors"


def compose(fault, location="", remedy=""):
    """The text of an error from the fault, its location and a remedy; leaves out empty parts."""
    return "\n".join(part.strip("\n") for part in (fault, location, remedy) if part)


def _static_advice(tracer):
    """Advises to make the argument of a jitted function static on which the tracer depends; else an empty string."""
    names = tracer._argument_names()
    if not names:
        return ""
    if len(names) == 1 and names[0].isidentifier():
        return f", or give the function the value itself: `static_argnames={names[0]!r}`"
    return ", or mark the argument as static"


def _describe_tracer(tracer):
    """Describes a tracer to users, as a traced array of some type."""
    return f"traced array with shape {tracer.aval.str_short()}"


class OnaxError(Exception):
    """An error that `python -m onax.errors` explains; `message` is its text without that command."""

    def __init__(self, message=""):
        name = type(self).__name__
        pointer = f"\nSee onax.errors.{name}: {_EXPLAIN} {name}"
        self.message = str(message).replace(pointer, "")
        super().__init__(self.message + pointer)

    def __reduce__(self):
        return _restore_error, (type(self), self.message)


def add_advice(error, advice):
    """Adds a sentence to the text of an error."""
    OnaxError.__init__(error, compose(error.message, advice))


def _restore_error(kind, message):
    """Restores a pickled error without its constructor, which may need a tracer."""
    error = kind.__new__(kind)
    OnaxError.__init__(error, message)
    return error


class JAXTypeError(OnaxError, TypeError):
    """A type error that the user's guide explains."""


class JAXIndexError(OnaxError, IndexError):
    """An index error that the user's guide explains."""


class ConcretizationTypeError(JAXTypeError):
    """A tracer is used where a concrete value is needed: as a shape, an axis, a Python number."""

    def __init__(self, tracer, context=""):
        super().__init__(
            compose(
                f"Abstract tracer value encountered where concrete value is expected: {_describe_tracer(tracer)}",
                context,
                tracer._origin_msg(),
            )
        )


class TracerBoolConversionError(ConcretizationTypeError):
    """A tracer was asked whether it is true."""

    def __init__(self, tracer):
        JAXTypeError.__init__(
            self,
            compose(
                f"Attempted boolean conversion of {_describe_tracer(tracer)}.",
                tracer._origin_msg(),
                f"Use `where`, `lax.cond` or `lax.while_loop`{_static_advice(tracer)}.",
            ),
        )


class TracerArrayConversionError(JAXTypeError):
    """A tracer was asked for its elements as a NumPy array."""

    def __init__(self, tracer):
        super().__init__(
            compose(
                f"The numpy.ndarray conversion method __array__() was called on {_describe_tracer(tracer)}",
                tracer._origin_msg(),
                "Use the function of the same name in `onax.numpy`.",
            )
        )


class TracerIntegerConversionError(JAXTypeError):
    """A tracer was asked for a Python integer."""

    def __init__(self, tracer):
        super().__init__(
            compose(
                f"The __index__() method was called on {_describe_tracer(tracer)}",
                tracer._origin_msg(),
                "Index an array of `onax.numpy` instead of a Python sequence (`jnp.asarray(sequence)[i]`)"
                f"{_static_advice(tracer)}.",
            )
        )


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean array was used as an index; the result's shape would depend on its values."""

    def __init__(self, tracer):
        super().__init__(
            compose(
                f"Array boolean indices must be concrete; got {tracer.aval.str_short()}",
                tracer._origin_msg(),
                "Use the three-argument form of `where`; to write, `x.at[mask].set(value)`.",
            )
        )


class UnexpectedTracerError(JAXTypeError):
    """A tracer was used after the transformation it belongs to had ended."""


class ForbiddenCollectiveError(OnaxError):
    """Raised for a collective over an axis that `jax.sharding.no_collectives` names."""


class KeyReuseError(JAXTypeError):
    """A random key was consumed more than once."""


class JaxprTypeError(OnaxError, TypeError):
    """A jaxpr breaks a rule of the language; raised by the checker."""


class TypePromotionError(ValueError):
    """Dtypes have no common type that the promotion mode allows."""


class InconclusiveDimensionOperation(OnaxError):
    """The answer depends on the values of symbolic dimensions."""

    def __init__(self, message):
        super().__init__(
            f"{message}\n"
            "This error arises for comparison operations with shapes that\n"
            "are non-constant, and the result of the operation cannot be represented as\n"
            "a boolean value for all values of the symbolic dimensions involved."
        )


class LoweringError(OnaxError, NotImplementedError):
    """An operation cannot be written in ONNX for these types, this opset or this provider."""


class OperatorError(OnaxError, NotImplementedError):
    """A node of a loaded ONNX model cannot be evaluated: its operator, or a form of it, is not there in onax."""


class JaxRuntimeError(OnaxError, RuntimeError):
    """Running a compiled program failed."""


class BackendError(JaxRuntimeError):
    """ONNX Runtime refused a model or failed while running it."""


class StrictError(OnaxError):
    """An error of `onax.strict()`; outside of it the same operation succeeds silently."""


class OutOfBoundsError(StrictError, IndexError):
    """An index lies outside its axis."""


class LostValueError(StrictError, ValueError):
    """A cast does not keep a value."""


class TruncatedDtypeError(StrictError, ValueError):
    """A 64-bit dtype is asked for while 64-bit dtypes are off."""


class IntegerOverflowError(StrictError, OverflowError):
    """The exact result of an operation on integers does not fit in their dtype."""


class ExportError(OnaxError, ValueError):
    """A function cannot be exported, or not with these arguments."""


class ArtifactError(ExportError):
    """A file is missing, damaged, of a newer format, or not an artefact of onax."""


PUBLIC = (
    OnaxError,
    ConcretizationTypeError,
    ForbiddenCollectiveError,
    InconclusiveDimensionOperation,
    JAXIndexError,
    JAXTypeError,
    JaxprTypeError,
    JaxRuntimeError,
    KeyReuseError,
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
    ArtifactError,
    BackendError,
    ExportError,
    LoweringError,
    OperatorError,
    StrictError,
    OutOfBoundsError,
    LostValueError,
    TruncatedDtypeError,
    IntegerOverflowError,
)

for _error in PUBLIC:
    _error.__module__ = "onax.errors"
TypePromotionError.__module__ = "onax.dtypes"
