"""Types of values beside arrays, which programs define: their base classes, and the values' Python classes.

A value of such a type is one variable of a program.  It is made of arrays, but only operations that the program
defines too know which: before anything runs, `_transforms/lower_hitypes.py` puts the arrays in its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Any

from onax._core.jaxpr import jaxprs_in_params
from onax._native.avals import AbstractValue
from onax._native.dispatch import Primitive

_MUST_OVERRIDE = "must override"


class _Seen:
    """Whether a program has defined a type of its own; until then nobody looks for values of such types."""

    __slots__ = ("hitypes",)

    def __init__(self):
        self.hitypes = False


seen = _Seen()
_types_of_values: dict[type, Callable] = {}


def register_hitype(cls: type, typeof: Callable[[Any], Any]) -> None:
    """Says that objects of a class are values of a type that is no array.

    Args:
      cls: the class.
      typeof: a function from such an object to its type, an instance of a subclass of HiType.

    Examples:
      >>> from dataclasses import dataclass
      >>> from onax.experimental.hijax import HiType, register_hitype
      >>> @dataclass(frozen=True)
      ... class Money:
      ...     cents: object
      >>> @dataclass(frozen=True)
      ... class MoneyType(HiType):
      ...     aval: object
      ...     lo_ty = lambda self: [self.aval]
      ...     lower_val = lambda self, money: [money.cents]
      ...     raise_val = lambda self, cents: Money(cents)
      >>> register_hitype(Money, lambda money: MoneyType(onax.typeof(money.cents)))
      >>> onax.jit(lambda money: money)(Money(jnp.int32(5)))
      Money(cents=Array(5, dtype=int32))
    """
    seen.hitypes = True
    _types_of_values[cls] = typeof


def type_of_value(x):
    """The type of an object of a registered class, else None."""
    if _types_of_values:
        for cls in type(x).__mro__:
            if cls in _types_of_values:
                return _types_of_values[cls](x)
    return None


@dataclass(slots=True)
class aval_method:
    """A function that tracers of a type have as a method, as an attribute of the type.

    Args:
      fun: the function; its first argument is the tracer.

    Examples:
      >>> from onax.experimental.hijax import aval_method
      >>> aval_method(len).fun is len
      True
    """

    fun: object


@dataclass(slots=True)
class aval_property:
    """A function that tracers of a type have as a property, as an attribute of the type.

    Args:
      fget: the function of a tracer.

    Examples:
      >>> from onax.experimental.hijax import aval_property
      >>> aval_property(len).fget is len
      True
    """

    fget: object


class HiType(AbstractValue):
    """The base class of types of values that are not arrays.

    A subclass has an equality and a hash, as a frozen dataclass does, and defines `lo_ty`, `lower_val` and `raise_val`;
    the other methods are for derivatives (`to_tangent_aval`; `vspace_zero` and `vspace_add` if it is the type of a
    tangent), `vmap` and `scan` (`dec_rank`, `inc_rank`, `leading_axis_spec`) and `shard_map` (`shard`, `unshard`).
    """

    is_high = True
    # What rules for arrays ask of a type: nothing of it holds for these.
    dtype: Any = None
    weak_type: Any = False
    varying: Any = frozenset()
    stated_sharding: Any = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        seen.hitypes = True

    def __hash__(self):
        raise AssertionError(_MUST_OVERRIDE)

    def __eq__(self, other):
        raise AssertionError(_MUST_OVERRIDE)

    def __repr__(self):
        return f"{type(self).__name__}({','.join(f'{name}={value}' for name, value in vars(self).items())})"

    def attribute_of(self, tracer, attribute):
        """An attribute of a traced value, from that of its type."""
        if isinstance(attribute, aval_property):
            return attribute.fget(tracer)
        return MethodType(attribute.fun, tracer) if isinstance(attribute, aval_method) else attribute

    def lo_ty(self):
        """The types of the arrays that a value consists of, as a list."""
        raise AssertionError(_MUST_OVERRIDE)

    def lower_val(self, hi_val):
        """The arrays of a value."""
        raise AssertionError(_MUST_OVERRIDE)

    def raise_val(self, *lo_vals):
        """The value of these arrays."""
        raise AssertionError(_MUST_OVERRIDE)

    def to_tangent_aval(self):
        """The type of tangents."""
        raise AssertionError(_MUST_OVERRIDE)

    def to_ct_aval(self):
        """The type of cotangents."""
        return self.to_tangent_aval()

    def vspace_zero(self):
        """Zero, in a type of tangents."""
        raise AssertionError(_MUST_OVERRIDE)

    def vspace_add(self, x, y):
        """The sum, in a type of tangents."""
        raise AssertionError(_MUST_OVERRIDE)

    def dec_rank(self, size, spec):
        """The type of one of `size` values that a value holds together, as `spec` says."""
        raise AssertionError(_MUST_OVERRIDE)

    def inc_rank(self, size, spec):
        """The type of `size` values together."""
        raise AssertionError(_MUST_OVERRIDE)

    def leading_axis_spec(self):
        """The spec by which `scan` takes values apart and puts them together."""
        raise AssertionError(_MUST_OVERRIDE)

    def shard(self, mesh, manual_axes, check_vma, spec):
        """The type of the part of a value on one device."""
        raise AssertionError(_MUST_OVERRIDE)

    def unshard(self, mesh, check_vma, spec):
        """The type of the parts together."""
        raise AssertionError(_MUST_OVERRIDE)

    def nospec(self, mesh, check_vma, all_names):
        """The spec of a value that varies over these mesh axes."""
        raise AssertionError(_MUST_OVERRIDE)


class MappingSpec:
    """The base class of what stands for a mapped axis of values that are not arrays, in `in_axes` and `out_axes`."""


class HiPspec:
    """The base class of what says how a value that is not an array is split over devices."""

    def to_lo(self):
        """A PartitionSpec for each array that a value consists of."""
        raise AssertionError(_MUST_OVERRIDE)

    def to_tangent_spec(self):
        """How tangents are split."""
        raise AssertionError(_MUST_OVERRIDE)

    def to_ct_spec(self):
        """How cotangents are split."""
        raise AssertionError(_MUST_OVERRIDE)


class HiPrimitive(Primitive):
    """The base class of operations on values that are not arrays.

    A subclass defines `abstract_eval`, which returns the type of the result and a set of effects, `to_lojax`, which
    computes the result with other operations, and, for derivatives, `jvp` and `transpose`.

    Args:
      name: its name in programs.

    Examples:
      >>> from onax.experimental.hijax import HiPrimitive
      >>> class Twice(HiPrimitive):
      ...     def abstract_eval(self, aval):
      ...         return aval, set()
      ...
      ...     def to_lojax(self, x):
      ...         return x + x
      >>> twice = Twice("twice")
      >>> onax.jit(twice.bind)(2.0)
      Array(4., dtype=float32, weak_type=True)
    """

    def __init__(self, name):
        super().__init__(name)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        seen.hitypes = True

    def is_high(self, *avals, **params):
        """Whether `to_lojax` takes its place before a program runs."""
        return True

    def takes_hitypes(self, *avals, **params):
        """The same."""
        return self.is_high(*avals, **params)

    def is_effectful(self, params):
        """Whether it changes something."""
        return False

    def impl(self, *args, **params):
        """Evaluates it."""
        return self.to_lojax(*args, **params)

    def abstract_eval(self, *arg_avals, **params):
        """(type of the result, or a list of types; set of effects)."""
        raise AssertionError(_MUST_OVERRIDE)

    def to_lojax(self, *args, **params):
        """The result, computed by other operations; arguments are of the registered classes."""
        raise AssertionError(f"must override for {self}")

    def jvp(self, primals, tangents, **params):
        """(result, tangent of the result)."""
        raise AssertionError(_MUST_OVERRIDE)

    def transpose(self, *args, **params):
        """The cotangents of the arguments in which it is linear, None for the others."""
        raise AssertionError(_MUST_OVERRIDE)


def is_high(primitive, avals, params):
    """Whether an operation has to be replaced by operations on arrays before it runs."""
    own = getattr(primitive, "takes_hitypes", None)
    if own is not None:
        return own(*avals, **params)
    return any(map(holds_hitypes, jaxprs_in_params(params)))


def holds_hitypes(jaxpr):
    """Whether there are values in a program, or inside of it, that are not arrays, or operations on such."""
    if not seen.hitypes:
        return False
    known = jaxpr.cache.get("holds hitypes")
    if known is None:
        known = jaxpr.cache["holds hitypes"] = _holds_hitypes(jaxpr)
    return known


def _holds_hitypes(jaxpr):
    if any(v.aval.is_high for group in (jaxpr.constvars, jaxpr.invars, jaxpr.outvars) for v in group):
        return True
    return any(
        any(v.aval.is_high for v in eqn.outvars) or is_high(eqn.primitive, [a.aval for a in eqn.invars], eqn.params)
        for eqn in jaxpr.eqns
    )
