"""Relatives of the rectified linear unit: LeakyRelu, PRelu, ThresholdedRelu, Elu, Selu, Celu.

Measured on ONNX Runtime 1.31: NaN and infinities give what the formulas give.  Elu, Selu and Celu compute exp(x) - 1,
which is right to 1e-7 times their factor, so negative results close to 0 have fewer digits than expm1 gives.
"""

import numpy as np

from onax.export.graph.ops import broadcast_shape
from onax.export.lower.convert import F32
from onax.export.recognize.match import formula, is_number, number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite


def _tested_for_sign(condition):
    """x of a condition x > 0 or x >= 0, or None."""
    test = producer(condition, "GreaterOrEqual", "Greater")
    return test.inputs[0] if test is not None and is_number(test.inputs[1], 0.0) else None


def leaky_relu(m, node):
    """x where x >= 0 (or x > 0), else k x"""
    condition, x, other = node.inputs
    if _tested_for_sign(condition) is not x or not same_type(x, node.outputs[0]):
        return None
    product = producer(other, "Mul")
    for a, b in orders(product) if product is not None and x.dtype == F32 else ():
        slope = number(b)
        if a is x and slope is not None and m.runs("LeakyRelu", x.dtype):
            return Rewrite("LeakyRelu", (x,), {"alpha": float(slope)}, interior=(other,))
        if a is x and _is_finite(b) and broadcast_shape(b.shape, x.shape) == x.shape and m.runs("PRelu", x.dtype):
            return Rewrite("PRelu", (x, b), interior=(other,))
    return None


def _is_finite(value):
    """Whether a value is a constant of finite numbers; a product of zero and an infinity would be NaN."""
    return value.const is not None and bool(np.isfinite(value.const).all())


def thresholded_relu(m, node):
    """x where x > k, else 0"""
    condition, x, zero = node.inputs
    test = producer(condition, "Greater")
    if test is None or test.inputs[0] is not x or not is_number(zero, 0.0) or not same_type(x, node.outputs[0]):
        return None
    threshold = number(test.inputs[1])
    if threshold is None or not 0 < threshold < np.inf or x.dtype != F32 or not m.runs("ThresholdedRelu", F32):
        return None
    return Rewrite("ThresholdedRelu", (x,), {"alpha": float(threshold)})


# ---- exponential linear units


def _scaled_expm1(value):
    """(z, k) of k * expm1(z), or (None, None)."""
    power = formula(value, "Expm1")
    if power is not None:
        return power.inputs[0], 1.0
    product = producer(value, "Mul")
    for a, b in orders(product) if product is not None else ():
        power, factor = formula(a, "Expm1"), number(b)
        if power is not None and factor is not None and same_type(a, value):
            return power.inputs[0], float(factor)
    return None, None


def _is_negative_part(z, x, condition):
    """Whether z is x where x is not above 0: x itself, min(x, 0), or 0 where the condition x > 0 holds."""
    if z is x:
        return True
    bound = producer(z, "Min")
    if bound is not None and any(a is x and is_number(b, 0.0) for a, b in orders(bound)):
        return True
    chosen = producer(z, "Where")
    return (
        chosen is not None
        and chosen.inputs[2] is x
        and is_number(chosen.inputs[1], 0.0)
        and (chosen.inputs[0] is condition or _tested_for_sign(chosen.inputs[0]) is x)
    )


def elu(m, node):
    """x where x > 0, else k expm1(x)"""
    condition, x, other = node.inputs
    if _tested_for_sign(condition) is not x or x.dtype != F32 or not same_type(x, node.outputs[0]):
        return None
    z, factor = _scaled_expm1(other)
    if z is None or not _is_negative_part(z, x, condition) or not m.runs("Elu", F32):
        return None
    return Rewrite("Elu", (x,), {"alpha": factor}, interior=(other,))


def selu(m, node):
    """a multiple of elu(x)"""
    for value, scale in orders(node):
        unit, factor = producer(value, "Elu"), number(scale)
        if unit is None or factor is None or not factor > 0 or not same_type(value, node.outputs[0]):
            continue
        attributes = {"alpha": unit.attributes["alpha"], "gamma": float(factor)}
        if m.runs("Selu", F32):
            return Rewrite("Selu", unit.inputs, attributes, interior=(value,))
    return None


def celu(m, node):
    """max(x, 0) + k expm1(min(x, 0) / k)"""
    for positive, negative in orders(node):
        unit = producer(positive, "Relu")
        x = unit.inputs[0] if unit is not None else None
        z, factor = _scaled_expm1(negative) if x is not None and x.dtype == F32 else (None, None)
        if z is None or not factor > 0 or not same_type(x, node.outputs[0]):
            continue
        quotient = producer(z, "Div", "Mul")
        if quotient is not None and is_number(quotient.inputs[1], factor if quotient.op_type == "Div" else 1 / factor):
            z = quotient.inputs[0]
        elif factor != 1:
            continue
        if z is not x and _is_negative_part(z, x, None) and m.runs("Celu", F32):
            return Rewrite("Celu", (x,), {"alpha": factor}, interior=(positive, negative))
    return None


RULES = (
    ("Where", leaky_relu),
    ("Where", thresholded_relu),
    ("Where", elu),
    ("Mul", selu),
    ("Add", celu),
)
