"""Primitives that programs define as classes, and classes of jax.experimental.hijax for types of values beside arrays.

onax traces arrays alone: libraries can define other types, but values of these cannot be arguments of transformations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from onax._control.hi_primitives import (
    NO_HITYPES,
    GradAccum,
    NullAccum,
    RefAccum,
    ValAccum,
    VJPHiPrimitive,
    jvp_from_lin,
    linearize_from_jvp,
    vjp_from_jvp,
    vjp_from_lin,
)
from onax._core.refs import AbstractRef
from onax._core.zeros import Zero, is_undefined_primal
from onax._native.avals import AbstractValue, ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.creation import instantiate_zeros
from onax.numpy._ref_views import TransformedRef

HiPrim = VJPHiPrimitive  # JAX's name since 0.12


class HiType(AbstractValue):
    """The type of values that are not arrays."""


class MutableHiType(AbstractValue):
    """The type of values that are not arrays and change."""


class HiPrimitive(Primitive):
    """A primitive on values that are not arrays: it can be defined, and not applied."""

    def bind(self, *args, **params):
        raise NotImplementedError(f"{self.name}: {NO_HITYPES}")


class HiPspec:
    """How a value that is not an array is split over devices."""


class EArray:
    """The class of JAX's arrays of user-defined dtypes, which onax does not have."""


@dataclass(frozen=True, slots=True)
class AvalQDD:
    """A type with the state that a value of it is in.

    Args:
      aval: the type.
      qdd: the state, any value with equality.

    Examples:
      >>> from onax.experimental.hijax import AvalQDD
      >>> AvalQDD(onax.typeof(jnp.ones(2)), "open").qdd
      'open'
    """

    aval: AbstractValue
    qdd: object


@dataclass(frozen=True, slots=True)
class AvalMutableQDD:
    """A type with a state that changes.

    Args:
      aval: the type.
      mutable_qdd: what holds the state.

    Examples:
      >>> from onax.experimental.hijax import AvalMutableQDD
      >>> AvalMutableQDD(onax.typeof(jnp.ones(2)), ["open"]).mutable_qdd
      ['open']
    """

    aval: AbstractValue
    mutable_qdd: object


@dataclass(slots=True)
class aval_method:
    """A function that tracers of a type have as a method.

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
    """A function that tracers of a type have as a property.

    Args:
      fget: the function of a tracer.

    Examples:
      >>> from onax.experimental.hijax import aval_property
      >>> aval_property(len).fget is len
      True
    """

    fget: object


class EffectTypes:
    """A set of classes of effects."""

    def __init__(self):
        self._types = set()

    def add_type(self, effect_type):
        """Adds a class."""
        self._types.add(effect_type)

    def contains(self, effect):
        """Whether an effect is of one of the classes."""
        return isinstance(effect, tuple(self._types))


control_flow_allowed_effects = EffectTypes()


def register_hitype(cls: type, typeof: Callable[[Any], Any]) -> None:
    """Accepts a class of values that are not arrays; nothing else follows from it.

    Args:
      cls: the class.
      typeof: a function from a value to its type.

    Examples:
      >>> from onax.experimental.hijax import register_hitype
      >>> class Money:
      ...     pass
      >>> register_hitype(Money, lambda value: onax.typeof(1.0))
    """


def cur_qdd(x: Any) -> NoReturn:
    """Raises NotImplementedError: there are no values whose type has a state.

    Args:
      x: a value.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.experimental.cur_qdd(1)
      Traceback (most recent call last):
          ...
      NotImplementedError: cur_qdd: onax has no types of values besides arrays (hijax)
    """
    raise NotImplementedError(f"cur_qdd: {NO_HITYPES}")


__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "EArray",
    "GradAccum",
    "HiPrim",
    "HiPrimitive",
    "HiPspec",
    "HiType",
    "MutableHiType",
    "NullAccum",
    "RefAccum",
    "ShapedArray",
    "TransformedRef",
    "VJPHiPrimitive",
    "ValAccum",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp_from_lin",
    "linearize_from_jvp",
    "register_hitype",
    "vjp_from_jvp",
    "vjp_from_lin",
]
