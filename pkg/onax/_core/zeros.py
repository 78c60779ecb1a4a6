"""Symbolic zeros, and placeholders for linear operands.

`Zero` stands for a tangent or cotangent that is known to vanish; no array is made for it.  `UndefinedPrimal` marks
the operands with respect to which a linear primitive is being transposed.  `SymbolicZero` is `Zero` as users of
`custom_jvp(..., symbolic_zeros=True)` see it.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, eq=False, repr=False)
class Zero:
    """A tangent or cotangent that is zero.

    Args:
      aval: its type.

    Examples:
      >>> onax.interpreters.ad.Zero(onax.typeof(jnp.ones(3))).aval
      ShapedArray(float32[3])
    """

    aval: object

    def __repr__(self):
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(value):
        """The zero tangent of an array; needs only its aval."""
        return Zero(value.aval.to_tangent_aval())


@dataclass(slots=True, eq=False, repr=False)
class SymbolicZero:
    """What a user's rule receives for a tangent that is known to be zero.

    Args:
      aval: its type.

    Examples:
      >>> onax.custom_derivatives.SymbolicZero(onax.typeof(jnp.ones(3))).shape
      (3,)
    """

    aval: object

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)

    @staticmethod
    def from_primal_value(value: Any) -> "SymbolicZero":
        """The zero of the tangent type of an array."""
        return SymbolicZero(value.aval.to_tangent_aval())

    def __repr__(self):
        return "SymbolicZero"


@dataclass(slots=True, eq=False, repr=False)
class UndefinedPrimal:
    """A linear operand of a primitive under transposition: only its type is known.

    Args:
      aval: its type.

    Examples:
      >>> onax.interpreters.ad.UndefinedPrimal(onax.typeof(jnp.ones(3))).aval
      ShapedArray(float32[3])
    """

    aval: object

    def __repr__(self):
        return f"UndefinedPrimal({self.aval})"


def is_undefined_primal(x: Any) -> bool:
    """Returns whether a value stands for a linear operand.

    Args:
      x: anything.

    Returns:
      A bool.

    Examples:
      >>> onax.interpreters.ad.is_undefined_primal(1.0)
      False
    """
    return type(x) is UndefinedPrimal


def nonzero_flags(tangents):
    """For each tangent or cotangent whether it is not a symbolic zero."""
    return [type(t) is not Zero for t in tangents]


def drop_zeros(tangents):
    """The tangents or cotangents that are not symbolic zeros."""
    return [t for t in tangents if type(t) is not Zero]


def insert_zeros(tangents, nonzeros, avals):
    """A tangent for each of the types (of primals): the given ones in order, symbolic zeros where the flag is false."""
    tangents = iter(tangents)
    return [next(tangents) if nonzero else Zero(a.to_tangent_aval()) for nonzero, a in zip(nonzeros, avals)]
