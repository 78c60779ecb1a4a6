"""Average pooling: sums over windows divided by the numbers of their elements.  Maximum pooling.

Measured on ONNX Runtime 1.31: AveragePool gives NaN and infinities as the formula does.  MaxPool does not: it ignores
NaN in all but the last place of a window, and gives the lowest finite number for a window of -inf.  So it serves where
the operand has a lower bound, as behind a Relu; a second MaxPool tells which windows have NaN.  Both take half the time
of maxima of slices.
"""

import math

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.graph import ops
from onax.export.lower.convert import F32
from onax.export.recognize.layout import is_plain, reshaped
from onax.export.recognize.match import formula, is_number, number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite

_SAVED_BY_MAXIMA = 12  # nodes that maxima over overlapping windows become, at least
_SAVED = 8  # nodes at least that a sum over windows becomes when its formula is built


def _param(windows, name):
    return windows.attributes["params"][f"window_{name}"]


def divided_later(m, node):
    """sum over windows, moved, / number of elements: it is divided first"""
    for total, count in orders(node) if node.op_type == "Mul" else (node.inputs,):
        value, moves = total, []
        while (move := producer(value, "Transpose", "Reshape", "Squeeze", "Unsqueeze")) is not None:
            moves.append(move)
            value = move.inputs[0]
        if not moves or formula(value, "WindowSum") is None or number(count) is None:
            continue
        if any(len(m.readers(move.inputs[0])) != 1 for move in moves) or not same_type(total, node.outputs[0]):
            continue
        result = ops.binary(m.g, node.op_type, value, m.g.const(np.asarray(number(count), value.dtype)))
        for move in reversed(moves[1:]):
            result = m.g.node(move.op_type, result, *move.inputs[1:], out=move.outputs[0].aval, **move.attributes)
        return Rewrite(moves[0].op_type, (result, *moves[0].inputs[1:]), moves[0].attributes, interior=(total,))
    return None


def windows_in_place(m, node):
    """Windows over transposed axes whose result is transposed back: windows over the axes as they are"""
    x, perm = node.inputs[0], tuple(node.attributes["perm"])
    windows = formula(x, "WindowMax") or formula(x, "WindowSum")
    turned = producer(windows.inputs[0], "Transpose") if windows is not None else None
    if turned is None or [turned.attributes["perm"][i] for i in perm] != list(range(x.ndim)):
        return None
    return Rewrite("Identity", (windows.attributes["over_axes"](m.g, turned.inputs[0], perm),), interior=(x,))


def windows_without_unit_axes(m, node):
    """Windows over a value that got axes of length one: windows over the value"""
    merged = producer(node.inputs[0], "Reshape", "Unsqueeze") if node.domain == "formula" else None
    if merged is None:
        return None
    x, axes = merged.inputs[0], []
    sizes = list(x.shape)
    for i, d in enumerate(node.inputs[0].shape):
        if sizes and dim_rules.equal(sizes[0], d) and len(axes) < x.ndim:
            axes.append(i)
            sizes.pop(0)
        elif not dim_rules.equal(d, 1) or _param(node, "dimensions")[i] != 1 or _param(node, "strides")[i] != 1:
            return None
    shape = node.outputs[0].shape
    if sizes or len(axes) == len(shape) or not is_plain(shape):
        return None
    return reshaped(m, node.attributes["over_axes"](m.g, x, axes), shape, interior=(node.inputs[0],))


def average_pool(m, node):
    """sum over windows / number of elements, all of them or those that are not padding"""
    for total, count in orders(node) if node.op_type == "Mul" else (node.inputs,):
        windows = formula(total, "WindowSum")
        if windows is None or not same_type(total, node.outputs[0]) or not m.runs("AveragePool", F32):
            continue
        size = math.prod(_param(windows, "dimensions"))
        if is_number(count, size if node.op_type == "Div" else 1 / size):
            counts_padding = 1
        elif node.op_type == "Div" and _counts_elements(count, windows):
            counts_padding = 0
        else:
            continue
        return _pool(m, windows, counts_padding, (total,))
    return None


def _counts_elements(count, windows):
    """Whether a constant holds, for each window, how many of its elements are not padding."""
    if count.const is None:
        return False
    x = windows.inputs[0]
    wanted = np.ones((1,) * x.ndim, np.float32)
    rows = zip(x.shape, windows.outputs[0].shape, _param(windows, "dimensions"), _param(windows, "strides"),
               windows.attributes["params"]["padding"], _param(windows, "dilation"))  # fmt: skip
    for axis, (n, count_of_windows, w, s, (low, _), d) in enumerate(rows):
        if w == 1 and s == 1:
            continue
        first = np.arange(count_of_windows)[:, None] * s - low
        positions = first + np.arange(w) * d
        inside = ((positions >= 0) & (positions < n)).sum(1)
        shape = [1] * x.ndim
        shape[axis] = count_of_windows
        wanted = wanted * inside.reshape(shape)
    if count.const.ndim > wanted.ndim:
        return False
    found = count.const.reshape((1,) * (wanted.ndim - count.const.ndim) + count.const.shape)
    return all(a in (b, 1) for a, b in zip(wanted.shape, found.shape)) and bool((found == wanted).all())


def _pool(m, windows, counts_padding, interior):
    """AveragePool."""
    settings = {"count_include_pad": counts_padding}
    average = lambda operand, out, attributes: m.g.node("AveragePool", operand, out=out, **attributes)
    return _pooling(m, windows, interior, average, settings)


def _pooling(m, windows, interior, pool, more, saves=_SAVED):
    """The Rewrite of a pooling operator, whose operand has two axes in front of those of the windows."""
    g, (x,) = m.g, windows.inputs
    padding, shape = windows.attributes["params"]["padding"], windows.outputs[0].shape
    dimensions, strides, dilation = (_param(windows, name) for name in ("dimensions", "strides", "dilation"))
    pooled = [i for i, (w, s) in enumerate(zip(dimensions, strides)) if w > 1 or s > 1]
    others = [i for i in range(x.ndim) if i not in pooled]
    if len(others) > 2 and not dim_rules.is_constant_shape([x.shape[i] for i in others]):
        return None
    if any(dilation[i] != 1 for i in pooled) and g.opset < 19:
        return None
    lead = [x.shape[i] for i in others]
    front = (
        lead if len(lead) == 2 else [1] * (2 - len(lead)) + lead if len(lead) < 2 else [math.prod(lead[:-1]), lead[-1]]
    )
    turned = ops.transpose(g, x, (*others, *pooled))
    operand = ops.reshape(g, turned, (*front, *[x.shape[i] for i in pooled]))
    pads = [padding[i] for i in pooled]
    settings = {
        "kernel_shape": [dimensions[i] for i in pooled],
        "strides": [strides[i] for i in pooled],
        "pads": [low for low, _ in pads] + [high for _, high in pads],
        **more,
    }
    if any(dilation[i] != 1 for i in pooled):
        settings["dilations"] = [dilation[i] for i in pooled]
    sizes = [shape[i] for i in pooled]
    out = pool(operand, ((*front, *sizes), F32), settings)
    if operand is not x:
        out = ops.reshape(g, out, (*lead, *sizes))
    order = [*others, *pooled]
    back = tuple(order.index(i) for i in range(x.ndim))
    if back == tuple(range(x.ndim)):
        return Rewrite("Identity", (out,), interior=interior, saves=saves)
    return Rewrite("Transpose", (out,), {"perm": back}, interior=interior, saves=saves)


# ---- maxima


_BOUNDED_BELOW = ("Relu", "Sigmoid", "Exp", "Abs", "Softmax", "Softplus", "HardSigmoid", "HardSwish")
_MOVES = ("Transpose", "Reshape", "Unsqueeze", "Squeeze", "Slice", "Expand")


def _has_lower_bound(value):
    """Whether a value is above -inf, or NaN, by the operator that computes it."""
    while (node := producer(value, *_MOVES)) is not None:
        value = node.inputs[0]
    clip = producer(value, "Clip")
    low = number(clip.inputs[1]) if clip is not None else None
    return producer(value, *_BOUNDED_BELOW) is not None or (low is not None and bool(np.isfinite(low)))


def max_pool(m, node):
    """the maximum over windows, which overlap, of what has a lower bound"""
    if node.domain != "formula" or node.attributes["blocks"] or not m.runs("MaxPool", F32):
        return None
    if not _has_lower_bound(node.inputs[0]):
        return None

    def pool(operand, out, attributes):
        g = m.g
        result = g.node("MaxPool", operand, out=out, **attributes)
        tests = ops.cast(g, ops.is_nan(g, operand), F32)
        has_nan = ops.cast(g, g.node("MaxPool", tests, out=out, **attributes), ops.BOOL)
        return ops.where(g, has_nan, g.const(np.nan, F32), result)

    return _pooling(m, node, (), pool, {}, _SAVED_BY_MAXIMA)


RULES = (
    ("Transpose", windows_in_place),
    ("WindowMax WindowSum", windows_without_unit_axes),
    ("Div Mul", divided_later),
    ("Div Mul", average_pool),
    ("WindowMax", max_pool),
)
