"""`unary` and `binary`, which build an elementwise primitive with all its rules and its public function from one row.

A row gives name, kernel, tangent rules and the result's dtype.  `unary` and `binary` add abstract evaluation (operands
have equal rank with lengths that agree or are 1, or rank 0; dtypes that the kernel accepts; JAX's error messages),
batching and facts.
"""

import enum
import functools
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from onax._core.facts import ELEMENTWISE, MAKES_NAN
from onax._core.rules import defjvp, defjvp_zero
from onax._core.trace import typeof
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array, make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import ALL, Primitive
from onax._prims._batch_rules import defvectorized

BOOL = np.dtype("bool")


class Unary(Protocol):
    """A function of one array, for type checkers; `accuracy` exists where an error bound can be asked for."""

    def __call__(self, x: ArrayLike, *, accuracy: Any = None) -> Array: ...


class AccuracyMode(enum.Enum):
    """The accuracy asked for: the highest possible, or the default."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """The largest error that a caller allows a function of numbers, as its parameter `accuracy`.

    Args:
      atol: the absolute error, a nonnegative number.
      rtol: the relative error, a nonnegative number.
      ulps: the error in units in the last place, a nonnegative int.

    Raises:
      ValueError: a bound is negative, or none is above zero.

    Examples:
      >>> float(lax.exp(1.0, accuracy=lax.Tolerance(rtol=1e-5)))
      2.7182819843292236
    """

    __slots__ = ("atol", "rtol", "ulps")

    def __init__(self, atol=0.0, rtol=0.0, ulps=0):
        if atol < 0.0 or rtol < 0.0 or ulps < 0:
            raise ValueError("Tolerances must be non-negative.")
        self.atol, self.rtol, self.ulps = atol, rtol, ulps


def _check_accuracy(accuracy):
    if not isinstance(accuracy, (AccuracyMode, Tolerance)):
        raise ValueError(f"accuracy must be a Tolerance or an AccuracyMode, got {accuracy!r}")


# ---- abstract rules ----


def broadcasting_shape(name, avals):
    """The common shape of operands: scalars fit any shape; the others have one rank, and lengths that agree or are
    1."""
    shape = avals[0].shape
    if all(a.shape is shape or a.shape == shape for a in avals):
        return shape
    shapes = [a.shape for a in avals if a.shape]
    if len({len(s) for s in shapes}) > 1:
        raise TypeError(f"{name}: arrays must have the same number of dimensions, got { ({len(s) for s in shapes}) }")
    out = tuple(map(dims.broadcast_dim, zip(*shapes)))
    if None in out:
        shown = ", ".join(map(str, shapes))
        raise TypeError(f"{name} got incompatible shapes for broadcasting: {shown}.")
    return out


def check_dtype(name, kernel, dtype, position=None):
    """TypeError unless the kernel has an entry for the dtype."""
    if (dtype.storage if dtypes.is_extended(dtype) else dtype) not in kernel:
        if dtype == dtypes.float0:
            raise dtypes.float0_error(name, " array" if position is None else f" at position {position}", ",")
        at = "" if position is None else f" at position {position}"
        raise TypeError(
            f"{name} does not accept dtype {dtype}{at}. Accepted dtypes{at} are subtypes of {', '.join(kernel.kinds)}."
        )


def check_same_dtypes(name, avals, numpy_name=None):
    """TypeError unless all operands have one dtype."""
    first = avals[0].dtype
    if any(a.dtype != first for a in avals):
        tip = (
            f" (Tip: jnp.{numpy_name} is a similar function that does automatic type promotion on inputs)."
            if numpy_name
            else ""
        )
        got = ", ".join(str(a.dtype) for a in avals)
        raise TypeError(f"lax.{name} requires arguments to have the same dtypes, got {got}.{tip}")


def _same_dtype(dtype):
    return dtype


def to_bool(dtype):
    """The result dtype bool; as in JAX the result is weakly typed if all operands are."""
    return BOOL


def to_real(dtype):
    """The result dtype that is the dtype of the real part."""
    return dtypes.real_dtype(dtype)


def _unary_abstract(name, kernel, result):
    def abstract_eval(x, **params):
        check_dtype(name, kernel, x.dtype)
        return ShapedArray(x.shape, result(x.dtype), x.weak_type)

    return abstract_eval


def _binary_abstract(name, kernel, result, numpy_name):
    def abstract_eval(x, y, **params):
        shape = broadcasting_shape(name, (x, y))
        check_dtype(name, kernel, x.dtype, 0)
        check_dtype(name, kernel, y.dtype, 1)
        check_same_dtypes(name, (x, y), numpy_name)
        weak = x.weak_type and y.weak_type
        return ShapedArray(shape, result(x.dtype), weak)

    return abstract_eval


# ---- definitions ----


def _facts(facts, makes_nan):
    return facts | ({ELEMENTWISE, MAKES_NAN} if makes_nan else {ELEMENTWISE})


def make_unary(name, kernel, tangent=None, *, result=_same_dtype, facts=frozenset(), makes_nan=None):
    """Makes an elementwise primitive of one operand.

    `tangent(g, y, x, **params)` is the tangent of the result y; None means that it is zero.  `makes_nan` says whether
    numbers can give a NaN; a function with a derivative can, unless the row says otherwise.
    """
    p = Primitive(
        name,
        kernel=kernel.simplest(),
        abstract_eval=_unary_abstract(name, kernel, result),
        weak=ALL,
        facts=_facts(facts, tangent is not None if makes_nan is None else makes_nan),
    )
    defjvp_zero(p) if tangent is None else defjvp(p, tangent)
    return defvectorized(p)


def unary(name, kernel, tangent=None, *, doc, public=None, accuracy=False, **options) -> tuple[Unary, Primitive]:
    """Defines an elementwise primitive of one operand; returns (public function, primitive)."""
    p = make_unary(name, kernel.with_blocks(name), tangent, **options)
    bind = p.bind

    def function(x: ArrayLike) -> Array:
        return bind(x)

    def function_with_accuracy(x: ArrayLike, *, accuracy: Any = None) -> Array:
        if accuracy is not None:
            _check_accuracy(accuracy)
        return bind(x)

    args = f"x: array of {_list_kinds(kernel)} numbers."
    if accuracy:
        args += "\n  accuracy: a `Tolerance` or `AccuracyMode`; there is one implementation, within 4 ulp."
        return _set_name_and_doc(function_with_accuracy, public or name, doc, args, _RESULT_OF_ONE), p
    return _set_name_and_doc(function, public or name, doc, args, _RESULT_OF_ONE), p


def binary(
    name, kernel, *tangents, doc, public=None, result=_same_dtype, facts=frozenset(), numpy_name=None, makes_nan=None,
    parameters=("x", "y"),
) -> tuple[Callable[[ArrayLike, ArrayLike], Array], Primitive]:  # fmt: skip
    """Defines an elementwise primitive of two operands; returns (public function, primitive).

    `tangents` holds for each operand the rule `rule(g, z, x, y)` of its contribution; without them the tangent is zero.
    """
    p = Primitive(
        name,
        kernel=kernel.with_blocks(name).simplest(),
        abstract_eval=_binary_abstract(name, kernel, result, numpy_name),
        weak=ALL,
        facts=_facts(facts, bool(tangents) if makes_nan is None else makes_nan),
    )
    defjvp(p, *tangents) if tangents else defjvp_zero(p)
    bind = p.bind

    def function(x, y):
        return bind(x, y)

    function.__code__ = function.__code__.replace(co_varnames=parameters)
    function.__annotations__ = dict.fromkeys(parameters, ArrayLike) | {"return": Array}
    args = (
        f"{', '.join(parameters)}: arrays of {_list_kinds(kernel)} numbers, of one dtype and one shape.\n"
        "    Lengths of 1 and rank 0 fit any; nothing is promoted, unlike in NumPy."
    )
    return _set_name_and_doc(function, public or name, doc, args, _RESULT_OF_TWO), defvectorized(p)


_PLAIN = {
    "floating": "floating",
    "complexfloating": "complex",
    "integer": "integer",
    "signedinteger": "signed integer",
    "bool": "bool",
    "float32": "float32",
    "float64": "float64",
}


_RESULT_OF_ONE = "Array of the shape of `x`."
_RESULT_OF_TWO = "Array of the broadcast shape."


def _list_kinds(kernel):
    return " or ".join(_PLAIN[kind] for kind in kernel.kinds)


def _set_name_and_doc(function, name, doc, args, result):
    """Sets the name of a function and a docstring with all sections.

    `doc` is the summary, and behind `|` the arguments of an example and its result, a Python number.
    """
    function.__name__ = function.__qualname__ = name
    function.__module__ = "onax.lax"
    summary, _, example = doc.partition(" | ")
    sections = [
        summary,
        f"Args:\n  {args}",
        f"Returns:\n  {result}",
        "Raises:\n  TypeError: dtypes or shapes do not fit.",
    ]
    if example:
        arguments, _, number = example.partition(" -> ")
        call = f"lax.{name}({arguments}).item()"
        call = f"round({call}, 4)" if "." in number else call
        sections.append(f"Examples:\n  >>> {call}\n  {number}")
    function.__doc__ = "\n\n".join(sections)
    return function


# ---- scalars in rules ----


def const(x, value):
    """A scalar of x's dtype, weakly typed if x is."""
    aval = x.aval if isinstance(x, Array) else typeof(x)
    if aval.weak_type:
        return _PYTHON_TYPES[aval.dtype.kind](value)
    scalar = _integer_scalar(value, aval.dtype) if type(value) is int else np.asarray(value).astype(aval.dtype)[()]
    return kept(scalar)


def kept(scalar):
    """A scalar whose dtype holds while 64-bit dtypes are off, as that of an Array does."""
    dtype = scalar.dtype
    if dtype.itemsize < 8 or dtypes.canonicalize_dtype(dtype) == dtype:
        return scalar
    return make_array(np.asarray(scalar))


@functools.lru_cache(maxsize=256)
def _integer_scalar(value, dtype):
    """An integer as a scalar of a dtype; cached, because rules use 0, 1 and 2 very often."""
    return np.asarray(value).astype(dtype)[()]


_PYTHON_TYPES = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
