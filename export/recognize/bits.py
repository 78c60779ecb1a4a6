"""Sign bits, and bools that are numbers in between.

The sign bit of a float is a comparison of the float below opset 26, where its bits are computed.

The other direction: `pkg/onax/onnx/elementwise.py`.
"""

from onax.export.graph import ops
from onax.export.recognize.match import formula, is_number, number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite

_NODES_OF_BITS = 40  # at least, of the formula


def sign_bit(m, node):
    """Whether the bits of x are a negative number: whether x or 1 / x is negative; NaN has no sign here"""
    signed = producer(node.inputs[0], "Cast")
    bits = formula(signed.inputs[0], "Bits") if signed is not None else None
    if bits is None or node.inputs[0].dtype.kind != "i" or not is_number(node.inputs[1], 0):
        return None
    if node.inputs[0].dtype.itemsize != signed.inputs[0].dtype.itemsize:
        return None
    g, (x,) = m.g, bits.inputs
    zero = ops.scalar(g, 0, x)
    inverse = g.node("Reciprocal", x, out=x.aval)
    return Rewrite("Or", (ops.less(g, x, zero), ops.less(g, inverse, zero)), saves=_NODES_OF_BITS)


def selected_number(m, node):
    """Whether the number that a condition selects is not 0: the condition"""
    chosen = producer(node.inputs[0], "Where")
    if chosen is None or node.outputs[0].dtype != bool:
        return None
    condition, (first, second) = chosen.inputs[0], map(number, chosen.inputs[1:])
    if first and second == 0 and same_type(condition, node.outputs[0]):
        return Rewrite("Identity", (condition,))
    return None


def bool_as_number(m, node):
    """Whether a bool as a number is 1, or 0: the bool, or its opposite"""
    for value, wanted in orders(node):
        cast = producer(value, "Cast")
        if cast is None or cast.inputs[0].dtype != bool or cast.inputs[0].shape != node.outputs[0].shape:
            continue
        if is_number(wanted, 1):
            return Rewrite("Identity", cast.inputs)
        if is_number(wanted, 0):
            return Rewrite("Not", cast.inputs)
    return None


def negated_or_not(m, node):
    """-x or x: x times -1 or 1, because the selection of ONNX Runtime 1.31 makes a zero of each -0.0"""
    condition, *chosen = node.inputs
    for i, value in enumerate(chosen):
        negated, other = producer(value, "Neg"), chosen[1 - i]
        if negated is None or negated.inputs[0] is not other or other.dtype.kind != "f":
            continue
        if not same_type(other, node.outputs[0]) or not m.runs("Mul", other.dtype):
            continue
        g, one = m.g, ops.scalar(m.g, 1, other)
        minus = ops.scalar(g, -1, other)
        signs = ops.where(g, condition, minus, one) if i == 0 else ops.where(g, condition, one, minus)
        return Rewrite("Mul", (other, signs), interior=(value,))
    return None


def _less_or_only_last_nan(value):
    """(a, b) of a value that is a < b, or a a number and b NaN: the order of sorted arrays; else None."""
    either = producer(value, "Or")
    for test, rest in orders(either) if either is not None else ():
        less, both = producer(test, "Less"), producer(rest, "And")
        if less is None or both is None or less.inputs[0].dtype.kind != "f":
            continue
        a, b = less.inputs
        for number_test, nan_test in orders(both):
            same, nan = producer(number_test, "Equal"), producer(nan_test, "IsNaN")
            if same is not None and nan is not None and nan.inputs[0] is b and all(v is a for v in same.inputs):
                return a, b
    return None


def not_before(m, node):
    """Whether a does not come before b in the order of sorted arrays: a >= b, or a is NaN"""
    pair = _less_or_only_last_nan(node.inputs[0])
    if pair is None or not m.runs("IsNaN", pair[0].dtype):
        return None
    return Rewrite("Or", (ops.greater_equal(m.g, *pair), ops.is_nan(m.g, pair[0])))


RULES = (
    ("Not", not_before),
    ("Less", sign_bit),
    ("Cast", selected_number),
    ("Where", negated_or_not),
    ("Equal", bool_as_number),
)
