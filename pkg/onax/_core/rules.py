"""Functions that give primitives their differentiation rules; the names follow jax.interpreters.ad.

    deflinear(p, transpose)           p is linear in all operands together; the tangent goes through p itself
    deflinear_first(p)                p is linear in its first operand; sets the jvp alone
    defbilinear(p, lhs, rhs)          p is linear in each of two operands; `lhs` and `rhs` give their cotangents
    defjvp(p, rule, ...)              one tangent rule for each operand: rule(g, y, *operands, **params)
    defjvp_zero(p)                    the results are integers or booleans, so their tangents are zero

`add_any` adds tangents.  It is the one primitive defined here, because these functions need it; elementwise.py gives it
the rules of `add`.
"""

from functools import reduce
from typing import Any

import numpy as np

from onax._core.facts import ELEMENTWISE, LINEAR
from onax._core.hitypes import seen
from onax._core.trace import typeof
from onax._core.zeros import UndefinedPrimal, Zero, is_undefined_primal
from onax._ground import dims
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive

not_mapped = None


def _add_any_abstract(x, y):
    """Returns the broadcast type: batching may pass one operand as a scalar or with axes of length 1."""
    if len(x.shape) != len(y.shape):
        shape = x.shape or y.shape
    else:
        shape = tuple(n if dims.equal(m, 1) else m for m, n in zip(x.shape, y.shape))
    return x.update(shape=shape, weak_type=x.weak_type and y.weak_type)


def _add_any_kernel(x, y):
    if x.dtype.names is not None:  # float0: nothing is stored
        return x
    return np.add(x, y)


add_any_p = Primitive(
    "add_any",
    kernel=_add_any_kernel,
    abstract_eval=_add_any_abstract,
    facts=frozenset({ELEMENTWISE, LINEAR}),
)


def add_tangents(x: Any, y: Any) -> Any:
    """Returns the sum of two tangents or cotangents.

    Args:
      x: an array or a Zero.
      y: an array or a Zero.

    Returns:
      An array or a Zero.

    Examples:
      >>> onax.interpreters.ad.add_tangents(jnp.ones(2), jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    if seen.hitypes and (aval := typeof(x)).is_high:
        return aval.vspace_add(x, y)
    return add_any_p.bind(x, y)


class InvalidOperands(ValueError):
    """A kernel refuses its operands; the dispatcher then runs `abstract_eval`, which raises the explained error."""


def tangent_zero(out):
    """The zero tangent of a result (or of each of several results), which a user's kernel may give as an ndarray."""
    if isinstance(out, (tuple, list)):
        return [tangent_zero(o) for o in out]
    return Zero(typeof(out).to_tangent_aval())


def deflinear(primitive, transpose):
    """Sets jvp and transpose of a primitive that is linear in all its array operands together; returns the primitive.

    `transpose(ct, *operands, **params)` returns one cotangent for each operand.
    """

    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            return out, tangent_zero(out)
        tangents = [_instantiate(t) if type(t) is Zero else t for t in tangents]
        return out, primitive.bind(*tangents, **params)

    def transpose_rule(ct, *operands, **params):
        if type(ct) is Zero:
            return [Zero(x.aval) if is_undefined_primal(x) else None for x in operands]
        cts = transpose(ct, *operands, **params)
        return cts if isinstance(cts, (list, tuple)) else [cts]

    primitive.jvp = jvp
    primitive.transpose = transpose_rule
    return primitive


def _instantiate(zero):
    """Returns a NumPy array of zeros for a symbolic zero; staging makes it a constant of the program."""
    return np.zeros(zero.aval.shape, zero.aval.dtype)


def deflinear_first(primitive):
    """Sets the jvp of a primitive that is linear in its first operand and constant in the others."""

    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        if type(tangents[0]) is Zero:
            return out, tangent_zero(out)
        return out, primitive.bind(tangents[0], *primals[1:], **params)

    primitive.jvp = jvp
    return primitive


def defbilinear(primitive, lhs, rhs):
    """Sets jvp and transpose of a primitive that is linear in each of its two operands; returns the primitive.

    `lhs(ct, x, y, **params)` returns the cotangent of x, which is an UndefinedPrimal; `rhs` returns that of y.
    """

    def jvp(primals, tangents, **params):
        x, y = primals
        tx, ty = tangents
        out = primitive.bind(x, y, **params)
        if type(tx) is Zero and type(ty) is Zero:
            return out, tangent_zero(out)
        from_x = tx if type(tx) is Zero else primitive.bind(tx, y, **params)
        from_y = ty if type(ty) is Zero else primitive.bind(x, ty, **params)
        return out, add_tangents(from_x, from_y)

    def transpose(ct, x, y, **params):
        is_lhs = type(x) is UndefinedPrimal
        if is_lhs is (type(y) is UndefinedPrimal):
            raise TypeError(f"{primitive.name} is linear in one operand at a time")
        if is_lhs:
            return [Zero(x.aval) if type(ct) is Zero else lhs(ct, x, y, **params), None]
        return [None, Zero(y.aval) if type(ct) is Zero else rhs(ct, x, y, **params)]

    primitive.jvp = jvp
    primitive.transpose = transpose
    return primitive


def defjvp(primitive, *tangent_rules):
    """Sets the jvp from one rule for each operand: `rule(g, y, *operands, **params)`, or None for a zero tangent."""

    def jvp(primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        parts = [
            rule(g, y, *primals, **params)
            for rule, g in zip(tangent_rules, tangents)
            if rule is not None and type(g) is not Zero
        ]
        if len(parts) == 1:
            return y, parts[0]
        return y, reduce(add_tangents, parts) if parts else tangent_zero(y)

    primitive.jvp = jvp
    return primitive


def defjvp_zero(primitive):
    """Sets a jvp that returns symbolic zeros."""

    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        return out, tangent_zero(out)

    primitive.jvp = jvp
    return primitive


__all__ = [
    "InvalidOperands",
    "ShapedArray",
    "UndefinedPrimal",
    "add_any_p",
    "add_tangents",
    "defbilinear",
    "defjvp",
    "defjvp_zero",
    "deflinear",
    "deflinear_first",
    "not_mapped",
    "tangent_zero",
]
