"""Activation functions: Relu, Clip, Sigmoid, Gelu, Softplus, Softsign, Mish, HardSigmoid, HardSwish.

Measured on ONNX Runtime 1.31: NaN and infinities give what the formulas give.  Gelu is right to 2e-7 |x| and Sigmoid to
2e-7, so neither keeps the digits of results that are close to 0; where a logarithm or quotient needs them, the formula
stays.

The other direction: `pkg/onax/onnx/activations.py`.
"""

import math

from onax.export.graph import ops
from onax.export.lower.convert import F32, FLOATS, HALVES
from onax.export.recognize.match import (
    formula,
    is_multiple,
    is_number,
    number,
    orders,
    other_operand,
    producer,
    products_of_three,
    same_type,
    through_cast,
)
from onax.export.recognize.rewriting import Rewrite

NARROW = (F32, *HALVES)
_ROOT_HALF = math.sqrt(0.5)


# ---- Relu and Clip


def relu(m, node):
    """max(x, 0)"""
    for x, zero in orders(node):
        if is_number(zero, 0.0) and same_type(x, node.outputs[0]) and x.dtype in FLOATS and m.runs("Relu", x.dtype):
            return Rewrite("Relu", (x,))
    return None


def clip(m, node):
    """min(max(x, low), high), and max(min(x, high), low), with constants low <= high"""
    inner_op = "Max" if node.op_type == "Min" else "Min"
    for inner, b in orders(node):
        source, outer_bound = producer(inner, inner_op, "Relu"), number(b)
        if source is None or outer_bound is None or (source.op_type == "Relu" and node.op_type == "Max"):
            continue
        pairs = ((source.inputs[0], None),) if source.op_type == "Relu" else orders(source)
        for x, a in pairs:
            inner_bound = 0.0 if a is None else number(a)
            if inner_bound is None or not same_type(x, node.outputs[0]) or x.dtype not in FLOATS:
                continue
            low, high = (inner_bound, outer_bound) if node.op_type == "Min" else (outer_bound, inner_bound)
            if low <= high and m.runs("Clip", x.dtype):
                bounds = m.g.const(low, x.dtype), m.g.const(high, x.dtype)
                return Rewrite("Clip", (x, *bounds), interior=(inner,))
    return None


def hard_tanh(m, node):
    """high where x > high, else low where x < low, else x, with constants low <= high"""
    condition, bound, other = node.inputs
    inner = producer(other, "Where")
    x = inner.inputs[2] if inner is not None else None
    if x is None or not same_type(x, node.outputs[0]) or x.dtype not in FLOATS:
        return None
    outer, inside = _comparison(condition, x), _comparison(inner.inputs[0], x)
    if outer is None or inside is None or {outer[0], inside[0]} != {"Less", "Greater"}:
        return None
    bounds = {outer[0]: (outer[1], number(bound)), inside[0]: (inside[1], number(inner.inputs[1]))}
    (low, below), (high, above) = bounds["Less"], bounds["Greater"]
    if (
        below is None
        or above is None
        or low != below
        or high != above
        or not low <= high
        or not m.runs("Clip", x.dtype)
    ):
        return None
    return Rewrite("Clip", (x, m.g.const(low, x.dtype), m.g.const(high, x.dtype)), interior=(other,))


def _comparison(condition, x):
    """(Less or Greater, the number) of a comparison of x with a constant, or None."""
    test = producer(condition, "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
    k = number(test.inputs[1]) if test is not None and test.inputs[0] is x else None
    return None if k is None else (test.op_type.removesuffix("OrEqual"), k)


# ---- Sigmoid and Softplus


def _needs_digits(m, value, depth=4):
    """Whether a logarithm or a quotient reads a value, perhaps behind a few products or changes of shape."""
    for reader in m.readers(value):
        if reader is None:
            continue
        if reader.op_type in ("Log", "Reciprocal", "Pow") or (reader.op_type == "Div" and reader.inputs[1] is value):
            return True
        passes_on = reader.op_type in ("Mul", "Neg", "Reshape", "Max", "Clip", "Where", "Transpose", "Unsqueeze")
        if passes_on and depth and any(_needs_digits(m, v, depth - 1) for v in reader.outputs):
            return True
    return False


def sigmoid(m, node):
    """1 / (1 + exp(-x)), by Reciprocal or Div, unless its logarithm or inverse is taken"""
    if node.op_type == "Div" and not is_number(node.inputs[0], 1.0):
        return None
    total = node.inputs[-1]
    power = producer(other_operand(total, "Add", 1.0), "Exp")
    negative = producer(power.inputs[0], "Neg") if power is not None else None
    if negative is None:
        return None
    x = negative.inputs[0]
    if not same_type(x, node.outputs[0]) or x.dtype in HALVES or not m.runs("Sigmoid", x.dtype):
        return None
    return None if _needs_digits(m, node.outputs[0]) else Rewrite("Sigmoid", (x,), interior=(total,))


def softplus(m, node):
    """log(1 + exp(x)) as `logaddexp(x, 0)` computes it: max(x, 0) + log1p(exp(-|x|)), where x is a number"""
    condition, not_a_number, plain = node.inputs
    total = producer(plain, "Add")
    if total is None or _tested_for_nan(condition) is None:
        return None
    for a, b in orders(total):
        positive, power = producer(a, "Relu"), formula(b, "Log1p")
        x = positive.inputs[0] if positive is not None else None
        if power is None or x is None or x.dtype != F32 or not same_type(x, node.outputs[0]):
            continue
        size = _size_below(power.inputs[0])
        if size is not None and _is_shifted(size, x) and _is_shifted(_tested_for_nan(condition), x):
            if _is_shifted(not_a_number, x) and m.runs("Softplus", F32):
                return Rewrite("Softplus", (x,), interior=(plain,))
    return None


def _tested_for_nan(condition):
    """x of a condition x != x, or None."""
    test = producer(condition, "Not")
    same = producer(test.inputs[0], "Equal") if test is not None else None
    if same is not None and same.inputs[0] is same.inputs[1]:
        return same.inputs[0]
    test = producer(condition, "IsNaN")
    return None if test is None else test.inputs[0]


def _size_below(power):
    """x of exp(-|x|), or None."""
    node = producer(power, "Exp")
    for op_type in ("Neg", "Abs"):
        node = producer(node.inputs[0], op_type) if node is not None else None
    return None if node is None else node.inputs[0]


def _is_shifted(value, x):
    """Whether a value is x, or x plus or minus 0."""
    node = producer(value, "Add", "Sub")
    return value is x or (node is not None and node.inputs[0] is x and is_number(node.inputs[1], 0.0))


def mish(m, node):
    """x tanh(softplus(x))"""
    for x, gate in orders(node):
        curve = producer(gate, "Tanh")
        power = producer(curve.inputs[0], "Softplus") if curve is not None else None
        if power is not None and power.inputs[0] is x and m.runs("Mish", x.dtype):
            return Rewrite("Mish", (x,), interior=(gate, curve.inputs[0]))
    return None


def softsign(m, node):
    """x / (1 + |x|)"""
    x, total = node.inputs
    size = producer(other_operand(total, "Add", 1.0), "Abs")
    if size is None or size.inputs[0] is not x or x.dtype != F32 or not m.runs("Softsign", F32):
        return None
    return Rewrite("Softsign", (x,), interior=(total,))


# ---- Gelu


def _is_erf_gelu(x, y):
    """Whether y is erfc(-x / sqrt(2)) or 1 + erf(x / sqrt(2))."""
    complement = formula(y, "Erfc")
    if complement is not None:
        return is_multiple(complement.inputs[0], x, -_ROOT_HALF)
    error = producer(other_operand(y, "Add", 1.0), "Erf")
    return error is not None and is_multiple(error.inputs[0], x, _ROOT_HALF)


def _is_cube(value, x):
    node = producer(through_cast(value), "Mul", "Pow")
    if node is None:
        return False
    if node.op_type == "Pow":
        return x in (node.inputs[0], through_cast(node.inputs[0])) and is_number(node.inputs[1], 3.0)
    for a, b in orders(node):
        square = producer(b, "Mul")
        if square is not None and all(v is x or through_cast(v) is x for v in (a, *square.inputs)):
            return True
    return False


def _is_tanh_gelu(x, y):
    """Whether y is 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))."""
    curve = producer(other_operand(y, "Add", 1.0), "Tanh")
    total = other_operand(curve.inputs[0], "Mul", math.sqrt(2 / math.pi)) if curve is not None else None
    node = producer(total, "Add")
    for a, b in orders(node) if node is not None else ():
        cube = other_operand(b, "Mul", 0.044715)
        if a is x and cube is not None and _is_cube(cube, x):
            return True
    return False


def gelu(m, node):
    """x / 2 times erfc(-x / sqrt(2)), or times 1 + erf(...), or times 1 + tanh(...), in any order"""
    for k, x, y in products_of_three(node):
        if abs(k - 0.5) > 1e-6 or not same_type(x, node.outputs[0]) or x.dtype not in NARROW:
            continue
        if _is_erf_gelu(x, y):
            if m.runs("Gelu", x.dtype):
                return Rewrite("Gelu", (x,), interior=(y,))
            return _spelled_out(m, node, x, y)
        if _is_tanh_gelu(x, y) and m.runs("Gelu", x.dtype):
            return Rewrite("Gelu", (x,), {"approximate": "tanh"}, interior=(y,))
    return None


def _spelled_out(m, node, x, y):
    """Below opset 20 the form that optimizers look for: (x (1 + erf(x / sqrt(2)))) / 2."""
    if formula(y, "Erfc") is None:
        return None
    error = m.g.node("Erf", ops.div(m.g, x, m.g.const(math.sqrt(2), x.dtype)))
    product = ops.mul(m.g, x, ops.add(m.g, error, m.g.const(1, x.dtype)))
    return Rewrite("Mul", (product, m.g.const(0.5, x.dtype)), interior=(y,))


def erfc_in_gelu(m, node):
    """erfc(z) as 1 - erf(z) in the derivative of gelu, which has erfc(z) beside exp(-z^2)"""
    (z,) = node.inputs
    scaled = producer(z, "Mul", "Div")
    if z.dtype != F32 or scaled is None or not any(abs(abs(k) - _ROOT_HALF) < 1e-6 for k in _numbers(scaled)):
        return None
    if not any(_is_exponential_of_minus_square(m, reader) for reader in m.readers(z) if reader is not None):
        return None
    if _needs_digits(m, node.outputs[0]):
        return None
    return Rewrite("Sub", (m.g.const(1, F32), m.g.node("Erf", z)), saves=1)


def _numbers(node):
    return [float(k) for k in map(number, node.inputs) if k is not None]


def _is_exponential_of_minus_square(m, node):
    """Whether a node is a square that only an exponential of its negative reads."""
    if node.op_type != "Mul" or node.inputs[0] is not node.inputs[1]:
        return False
    for op_type in ("Neg", "Exp"):
        readers = m.readers(node.outputs[0])
        if len(readers) != 1 or readers[0] is None or readers[0].op_type != op_type:
            return False
        (node,) = readers
    return True


# ---- hard functions


def hard_sigmoid(m, node):
    """clip(x + 3, 0, 6) / 6"""
    clipped, six = node.inputs if node.op_type == "Div" else (None, None)
    for a, b in orders(node) if node.op_type == "Mul" else ((clipped, six),):
        if not is_number(b, 6.0 if node.op_type == "Div" else 1 / 6):
            continue
        source = producer(a, "Clip")
        if source is None or not (is_number(source.inputs[1], 0.0) and is_number(source.inputs[2], 6.0)):
            continue
        x = other_operand(source.inputs[0], "Add", 3.0)
        if x is not None and x.dtype in NARROW and same_type(x, node.outputs[0]) and m.runs("HardSigmoid", x.dtype):
            return Rewrite("HardSigmoid", (x,), {"alpha": 1 / 6, "beta": 0.5}, interior=(a,))
    return None


def hard_swish(m, node):
    """x times its hard sigmoid"""
    for x, y in orders(node):
        gate = producer(y, "HardSigmoid")
        if gate is None or gate.inputs[0] is not x or not m.runs("HardSwish", x.dtype):
            continue
        if abs(gate.attributes["alpha"] - 1 / 6) < 1e-6 and gate.attributes["beta"] == 0.5:
            return Rewrite("HardSwish", (x,), interior=(y,))
    return None


RULES = (
    ("Max", relu),
    ("Min Max", clip),
    ("Where", hard_tanh),
    ("Reciprocal Div", sigmoid),
    ("Where", softplus),
    ("Mul", mish),
    ("Div", softsign),
    ("Erfc", erfc_in_gelu),
    ("Mul", gelu),
    ("Mul Div", hard_sigmoid),
    ("Mul", hard_swish),
)
