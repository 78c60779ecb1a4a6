"""RotaryEmbedding, from opset 23 on: the two halves of each head rotated by angles of the position.

Measured on ONNX Runtime 1.31: NaN and infinities give what the formulas give.  Heads may lie in front of the positions
or behind them; there the operator takes both as one axis, so nothing is transposed.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.graph import ops
from onax.export.lower.convert import F32
from onax.export.recognize.match import orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite


def _half(value):
    """(x, 0 or 1) if a value is the first or second half of x along the last axis, else (None, None)."""
    node = producer(value, "Split", "Slice")
    x = node.inputs[0] if node is not None else None
    if (
        x is None
        or value.shape[:-1] != x.shape[:-1]
        or type(x.shape[-1]) is not int
        or x.shape[-1] != 2 * value.shape[-1]
    ):
        return None, None
    if node.op_type == "Split":
        return x, next(i for i, v in enumerate(node.outputs) if v is value)
    start = node.inputs[1].const
    if start is None or (len(node.inputs) > 4 and not (node.inputs[4].const == 1).all()):
        return None, None
    return x, int(start.flat[-1] > 0)


def _halves_times(value):
    """{which half of x: (x, factor)} of the sum or difference of two products with halves, or None."""
    found = {}
    for term in value.inputs:
        product = producer(term, "Mul")
        for half, factor in orders(product) if product is not None else ():
            x, which = _half(half)
            if x is not None and same_type(half, term):
                found[which] = x, factor
                break
    return found if len(found) == 2 else None


def rotation(m, node):
    """(x1 cos - x2 sin, x2 cos + x1 sin), x1 and x2 the halves of x"""
    if len(node.inputs) != 2 or node.attributes["axis"] % node.outputs[0].ndim != node.outputs[0].ndim - 1:
        return None
    first, second = producer(node.inputs[0], "Sub"), producer(node.inputs[1], "Add")
    difference = _halves_times(first) if first is not None else None
    total = _halves_times(second) if second is not None else None
    if difference is None or total is None:
        return None
    (x, cosine), (y, sine) = difference[0], difference[1]
    if not (x is y is total[0][0] is total[1][0] and total[1][1] is cosine and total[0][1] is sine):
        return None
    subtracted = producer(first.inputs[1], "Mul")
    if not any(_half(v) == (x, 1) for v in subtracted.inputs):
        return None
    return _operator(m, x, cosine, sine, node.inputs)


def rotation_of_whole(m, node):
    """x cos + (-x2, x1) sin, with constants whose halves are equal"""
    for plain, turned in orders(node):
        left, right = producer(plain, "Mul"), producer(turned, "Mul")
        for pair, sine in orders(right) if left is not None and right is not None else ():
            joined = producer(pair, "Concat")
            if joined is None or len(joined.inputs) != 2 or not same_type(pair, node.outputs[0]):
                continue
            negative = producer(joined.inputs[0], "Neg")
            if negative is None or joined.attributes["axis"] % pair.ndim != pair.ndim - 1:
                continue
            x, which = _half(negative.inputs[0])
            if x is None or which != 1 or _half(joined.inputs[1]) != (x, 0):
                continue
            for y, cosine in orders(left):
                halves = [_first_half(m, v) for v in (cosine, sine)]
                if y is x and None not in halves:
                    return _operator(m, x, *halves, (plain, turned, pair))
    return None


def _first_half(m, value):
    """The first half of a constant along the last axis if it equals the second, else None."""
    array = value.const
    if array is None or not array.ndim or array.shape[-1] % 2:
        return None
    first, second = np.split(array, 2, -1)
    return m.g.const(np.ascontiguousarray(first)) if (first == second).all() else None


def _operator(m, x, cosine, sine, interior):
    """The operator for x of (batch, positions, heads, size) or (batch, heads, positions, size)."""
    if x.ndim != 4 or x.dtype != F32 or cosine.shape != sine.shape or not dim_rules.is_constant_shape(x.shape):
        return None
    shape = (1,) * (4 - cosine.ndim) + cosine.shape
    batch, size = x.shape[0], x.shape[3]
    if shape[0] not in (1, batch) or shape[3] * 2 != size or 0 in x.shape or not m.runs("RotaryEmbedding", F32):
        return None
    if shape[1:3] == (x.shape[1], 1):
        length, heads, axes_joined = x.shape[1], x.shape[2], True
    elif shape[1:3] == (1, x.shape[2]):
        length, heads, axes_joined = x.shape[2], x.shape[1], False
    else:
        return None
    tables, g = _tables(m, (cosine, sine), shape[0], batch, length), m.g
    if not axes_joined:
        return Rewrite("RotaryEmbedding", (x, *tables), interior=tuple(interior))
    joined = ops.reshape(g, x, (batch, length, heads * size))
    turned = g.node("RotaryEmbedding", joined, *tables, out=joined.aval, num_heads=heads)
    return Rewrite("Reshape", (turned, g.shape_const(x.shape)), interior=tuple(interior))


def _tables(m, values, given, batch, length):
    """Cosines and sines of each position, and the positions of each example unless the tables are by example."""
    shape = (length, values[0].shape[-1]) if given == 1 else (batch, length, values[0].shape[-1])
    tables = [m.reshaped(v, shape) if v.const is not None else ops.reshape(m.g, v, shape) for v in values]
    if given == 1:
        tables.append(m.g.const(np.broadcast_to(np.arange(length, dtype=np.int64), (batch, length))))
    return tables


RULES = (
    ("Concat", rotation),
    ("Add", rotation_of_whole),
)
