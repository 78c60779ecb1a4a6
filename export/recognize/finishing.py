"""Rules of a second turn, after which no rule looks at the nodes: operators that say what two or three others say.

Norms and sums of squares, repetitions, maxima and minima of more than two values; products that attention did not take.
"""

import math

from onax._ground import dims as dim_rules
from onax.export.recognize.layout import is_plain, one_reshape, reshaped
from onax.export.recognize.match import axes_of, producer
from onax.export.recognize.products import turned_merged_product
from onax.export.recognize.rewriting import Rewrite

# Kernels of sums of squares and sizes take 0.9 us for 1,000 elements where Mul and ReduceSum take 0.3, a node 0.7.
_MOST_ELEMENTS_OF_NORMS = 1024


def variadic_extreme(m, node):
    """The maximum of a maximum and others: the maximum of all"""
    for i, value in enumerate(node.inputs):
        inner = producer(value, node.op_type)
        if inner is not None and value.dtype == node.outputs[0].dtype and m.readers(value) == [node]:
            return Rewrite(node.op_type, (*node.inputs[:i], *inner.inputs, *node.inputs[i + 1 :]), interior=(value,))
    return None


def _square(value):
    """x if a value is x * x, else None."""
    product = producer(value, "Mul")
    return product.inputs[0] if product is not None and product.inputs[0] is product.inputs[1] else None


def sum_of_squares(m, node):
    """The sum of x * x, or of the sizes of x"""
    value = node.inputs[0]
    size = producer(value, "Abs")
    x, op_type = (_square(value), "ReduceSumSquare") if size is None else (size.inputs[0], "ReduceL1")
    if x is None or axes_of(node) is None or x.dtype.kind != "f" or not m.runs(op_type, x.dtype):
        return None
    if not dim_rules.is_constant_shape(x.shape) or math.prod(x.shape) > _MOST_ELEMENTS_OF_NORMS:
        return None
    return Rewrite(op_type, (x, node.inputs[1]), node.attributes, interior=(value,))


def root_of_squares(m, node):
    """The root of a sum of squares"""
    total = producer(node.inputs[0], "ReduceSumSquare")
    if total is None or not m.runs("ReduceL2", total.inputs[0].dtype):
        return None
    return Rewrite("ReduceL2", total.inputs, total.attributes, interior=(node.inputs[0],))


def _repeats(unit, grown, shape, result):
    """How often each axis of `shape` is repeated if (unit -> grown) repeats whole axes, in order; None if it does not.

    unit    the shape before it is expanded, with an axis of length one for each repetition
    grown   the shape afterwards
    shape   that of the operand, of the rank of the result
    """
    unit = (1,) * (len(grown) - len(unit)) + unit
    pairs = [(a, b) for a, b in zip(unit, grown) if not dim_rules.equal(b, 1)]
    counts = []
    for size, total in zip(shape, result):
        count = 1
        if pairs and dim_rules.equal(pairs[0][0], 1) and dim_rules.is_constant(pairs[0][1]):
            rest = pairs[0][1] * size
            if dim_rules.equal(rest, total) and not dim_rules.equal(size, total):
                count = pairs.pop(0)[1]
        if not dim_rules.equal(size, 1):
            if not pairs or not all(dim_rules.equal(size, d) for d in pairs[0]):
                return None
            pairs.pop(0)
        if not dim_rules.equal(count * size, total):
            return None
        counts.append(count)
    return None if pairs else counts


def tile(m, node):
    """Axes that are inserted, expanded and merged with others: Tile"""
    grown = producer(node.inputs[0], "Expand")
    unit = producer(grown.inputs[0], "Reshape", "Unsqueeze") if grown is not None else None
    if unit is None:
        return None
    x, result = unit.inputs[0], node.outputs[0]
    if x.ndim > result.ndim or not m.runs("Tile", x.dtype) or 0 in (*x.shape, *result.shape):
        return None
    shape = (1,) * (result.ndim - x.ndim) + x.shape
    counts = _repeats(grown.inputs[0].shape, node.inputs[0].shape, shape, result.shape)
    if counts is None or max(counts) == 1:
        return None
    operand = x if x.ndim == result.ndim else m.g.node("Unsqueeze", x, m.g.const(list(range(result.ndim - x.ndim))),
                                                       out=(shape, x.dtype))  # fmt: skip
    return Rewrite("Tile", (operand, m.g.const(counts)), interior=(node.inputs[0], grown.inputs[0]))


def reshaped_operands(m, node):
    """An operator on two values that were reshaped from one shape: the result is reshaped"""
    shape, sources = node.outputs[0].shape, []
    if not is_plain(shape) or len(node.inputs) != 2:
        return None
    for value in node.inputs:
        merged = producer(value, "Reshape", "Squeeze", "Unsqueeze")
        if value.shape != shape or (merged is None and value.const is None):
            return None
        sources.append(None if merged is None else merged.inputs[0])
    source = next((x.shape for x in sources if x is not None), None)
    if source is None or not is_plain(source) or any(x is not None and x.shape != source for x in sources):
        return None
    operands = [m.reshaped(v, source) if x is None else x for v, x in zip(node.inputs, sources)]
    result = m.g.node(node.op_type, *operands, out=(source, node.outputs[0].dtype))
    return reshaped(m, result, shape, interior=tuple(v for v, x in zip(node.inputs, sources) if x is not None))


RULES = (
    ("Reshape Squeeze Unsqueeze", one_reshape),
    ("Transpose", turned_merged_product),
    ("Add Sub Mul Div Max Min", reshaped_operands),
    ("Max Min", variadic_extreme),
    ("ReduceSum", sum_of_squares),
    ("Sqrt", root_of_squares),
    ("Reshape", tile),
)
