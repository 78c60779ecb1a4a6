"""Gradients of softmax and log_softmax, which read the same exponentials and sums: in terms of Softmax.

The sums are as right as in the formulas; NaN and infinities give what the formulas give.
"""

from onax.export.graph import ops
from onax.export.recognize.match import axes_of, kept_shape, orders, producer, same_type, without_unit_axes
from onax.export.recognize.rewriting import Rewrite
from onax.export.recognize.softmax import shifted_by_maximum


def _exponentials(m, value):
    """(x, the axis, exp(x - max x)) if a value is exp(x - max x) over the axis of the sum that reads it; else None."""
    node = producer(value, "Exp")
    if node is None or not m.runs("Softmax", value.dtype):
        return None
    for reader in m.readers(value):
        axes = axes_of(reader) if reader is not None and reader.op_type == "ReduceSum" else None
        if axes is None or len(axes) != 1:
            continue
        x = shifted_by_maximum(node.inputs[0], axes)
        if x is not None:
            return x, axes[0]
    return None


def _is_sum(value, power, axis):
    """Whether a value is the sum of the exponentials over this axis, in any shape."""
    reduction = producer(without_unit_axes(value), "ReduceSum")
    return reduction is not None and reduction.inputs[0] is power and axes_of(reduction) == (axis,)


def _has_shape(value, power, axis):
    """Whether a value has the shape of the exponentials or of their sum; axes of length one in front may be missing."""
    shape = (1,) * (power.ndim - value.ndim) + value.shape
    return shape in (power.shape, kept_shape(power, (axis,)))


def quotient_times_power(m, node):
    """(c / sum e) e with e = exp(x - max x): c softmax(x)"""
    for quotient, power in orders(node):
        division = producer(without_unit_axes(quotient), "Div")
        found = _exponentials(m, power) if division is not None and same_type(power, node.outputs[0]) else None
        if found is None:
            continue
        x, axis = found
        c, total = division.inputs
        if not _has_shape(quotient, power, axis) or not _is_sum(total, power, axis):
            continue
        if c.shape == division.outputs[0].shape:
            softmax = m.g.node("Softmax", x, axis=axis)
            if (1,) * (quotient.ndim - c.ndim) + c.shape != quotient.shape:
                c = ops.reshape(m.g, c, quotient.shape)
            return Rewrite("Mul", (c, softmax), interior=(quotient,), repeat=True)
    return None


def _weighted(value, power, axis):
    """z if a value is -sum(z (sum e)^-2 e), in any shape, else None."""
    negative = producer(without_unit_axes(value), "Neg")
    reduction = producer(without_unit_axes(negative.inputs[0]), "ReduceSum") if negative is not None else None
    product = producer(reduction.inputs[0], "Mul") if reduction is not None else None
    if product is None or axes_of(reduction) != (axis,):
        return None
    for scaled, e in orders(product):
        factors = producer(scaled, "Mul") if e is power else None
        for z, w in orders(factors) if factors is not None else ():
            inverse = producer(without_unit_axes(w), "Reciprocal")
            square = producer(without_unit_axes(inverse.inputs[0]), "Mul") if inverse is not None else None
            if square is not None and all(_is_sum(v, power, axis) for v in square.inputs):
                return z
    return None


def softmax_gradient(m, node):
    """(z / sum e - sum(z e / (sum e)^2)) e with e = exp(x - max x): p (z - sum(z p)) with p = softmax(x)"""
    for total, power in orders(node):
        added = producer(total, "Add")
        found = _exponentials(m, power) if added is not None and same_type(power, node.outputs[0]) else None
        for quotient, rest in orders(added) if found is not None else ():
            x, axis = found
            division, z = producer(quotient, "Div"), _weighted(rest, power, axis)
            if division is None or z is None or division.inputs[0] is not z:
                continue
            fits = ops.broadcast_shape(z.shape, power.shape) == power.shape and _has_shape(rest, power, axis)
            if fits and _is_sum(division.inputs[1], power, axis):
                g = m.g
                softmax = g.node("Softmax", x, axis=axis)
                mean = ops.reduce(g, "ReduceSum", ops.mul(g, z, softmax), (axis,), keepdims=True)
                return Rewrite("Mul", (softmax, ops.sub(g, z, mean)), interior=(total, rest), repeat=True)
    return None


RULES = (
    ("Mul", quotient_times_power),
    ("Mul", softmax_gradient),
)
