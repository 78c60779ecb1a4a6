"""Primitives that programs define as classes, and types of values beside arrays.

Values that change (`MutableHiType`) can be defined, and not used.
"""

from dataclasses import dataclass
from typing import Any, NoReturn

from onax._control.hi_primitives import (
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
from onax._core.hitypes import (
    HiPrimitive,
    HiPspec,
    HiType,
    MappingSpec,
    aval_method,
    aval_property,
    register_hitype,
)
from onax._core.refs import AbstractRef
from onax._core.zeros import Zero, is_undefined_primal
from onax._native.avals import AbstractValue, ShapedArray
from onax._prims.creation import instantiate_zeros
from onax.numpy._ref_views import TransformedRef

HiPrim = VJPHiPrimitive  # JAX's name since 0.12


class MutableHiType(AbstractValue):
    """The type of values that are not arrays and change: it can be defined, and there are no values of it."""

    has_qdd = True


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
      NotImplementedError: cur_qdd: onax has no values whose type has a state (hijax)
    """
    raise NotImplementedError("cur_qdd: onax has no values whose type has a state (hijax)")


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
    "MappingSpec",
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
