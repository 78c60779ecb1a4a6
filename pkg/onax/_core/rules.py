"""Makers of rules: a rule is written out only when it carries information.

    linear(p, transpose)              tangent through p itself; the adjoint is given
    bilinear(p, lhs, rhs)             product rule; the adjoint of each side is given
    elementwise_jvp(p, rule, ...)     one derivative an operand:  rule(g, y, *operands, **params)
    no_derivative(p)                  integer or boolean results: tangents are zero

`add_any`, the addition of tangents, is the one primitive that stands here, because the makers need it; elementwise.py
gives it the rules of `add`.
"""

from functools import reduce

import numpy as np

from onax._core.zeros import UndefinedPrimal, Zero, is_undefined_primal
from onax._ground import dims
from onax._native.avals import ShapedArray
from onax._native.dispatch import COMMUTATIVE, ELEMENTWISE, LINEAR, Primitive

not_mapped = None


def _add_any_abstract(x, y):
    """Batching leaves scalars, and axes of length 1."""
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
    facts=frozenset({ELEMENTWISE, LINEAR, COMMUTATIVE}),
)


def add_tangents(x, y):
    """The sum of two tangents or cotangents, either of which may be a symbolic zero."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return add_any_p.bind(x, y)


def tangent_zero(out):
    """The zero tangent of a result (or of each of several results)."""
    if isinstance(out, (tuple, list)):
        return [Zero.from_primal_value(o) for o in out]
    return Zero.from_primal_value(out)


def linear(primitive, transpose):
    """Gives jvp and transpose to a primitive that is linear in all its array operands together.

    `transpose(ct, *operands, **params)` returns one cotangent an operand.
    """

    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            return out, tangent_zero(out)
        tangents = [_instantiate(t) if type(t) is Zero else t for t in tangents]
        return out, primitive.bind(*tangents, **params)

    def transposed(ct, *operands, **params):
        if type(ct) is Zero:
            return [Zero(x.aval) if is_undefined_primal(x) else None for x in operands]
        cts = transpose(ct, *operands, **params)
        return cts if isinstance(cts, (list, tuple)) else [cts]

    primitive.jvp = jvp
    primitive.transpose = transposed
    return primitive


def _instantiate(zero):
    """An array of zeros for a symbolic one (a NumPy array: it becomes a constant where it is used)."""
    return np.zeros(zero.aval.shape, zero.aval.dtype)


def bilinear(primitive, lhs, rhs):
    """Gives jvp and transpose to a primitive linear in each of its two operands.

    `lhs(ct, x, y, **params)` is the cotangent of x, where x is an UndefinedPrimal; `rhs` that of y.
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
        linear = type(x) is UndefinedPrimal
        if linear is (type(y) is UndefinedPrimal):
            raise TypeError(f"{primitive.name} is linear in one operand at a time")
        if linear:
            return [Zero(x.aval) if type(ct) is Zero else lhs(ct, x, y, **params), None]
        return [None, Zero(y.aval) if type(ct) is Zero else rhs(ct, x, y, **params)]

    primitive.jvp = jvp
    primitive.transpose = transpose
    return primitive


def elementwise_jvp(primitive, *tangent_rules):
    """Gives jvp by one derivative an operand: `rule(g, y, *operands, **params)`, or None where there is none."""

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


def no_derivative(primitive):
    """Gives a jvp that yields symbolic zeros."""

    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        return out, tangent_zero(out)

    primitive.jvp = jvp
    return primitive


__all__ = [
    "ShapedArray",
    "UndefinedPrimal",
    "add_any_p",
    "add_tangents",
    "bilinear",
    "elementwise_jvp",
    "linear",
    "no_derivative",
    "not_mapped",
    "tangent_zero",
]
