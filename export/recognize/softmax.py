"""Softmax and LogSoftmax, which subtract the maximum first, as the formulas do.

Measured on ONNX Runtime 1.31: rows with NaN, +inf, or nothing but -inf give what the formulas give.  Without the
maximum the formulas overflow where the operators do not, so they stay as they are.  ReduceLogSumExp serves for few
elements only: of NaN and inf it gives inf, and of many elements it takes twice as long as the formula, which becomes
shorter.
"""

import math

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.graph import ops
from onax.export.lower.convert import F32
from onax.export.recognize.match import (
    axes_of,
    formula,
    is_number,
    orders,
    producer,
    reduced_axes,
    same_type,
    without_unit_axes,
)
from onax.export.recognize.rewriting import Rewrite

_FEW_ELEMENTS = 256


def _is_maximum(value, x, axes):
    """Whether a value is the maximum of x over these axes, perhaps with -inf as a lower bound."""
    inner = without_unit_axes(value)
    bound = producer(inner, "Max")
    for a, b in orders(bound) if bound is not None else ():
        if is_number(a, float("-inf")):
            inner = without_unit_axes(b)
    node = formula(inner, "ReduceMax")
    return node is not None and node.inputs[0] is x and axes_of(node) == axes


def shifted_by_maximum(value, axes):
    """x if a value is x minus its maximum over these axes, else None."""
    node = producer(value, "Sub")
    if node is None or not same_type(node.inputs[0], value):
        return None
    x, maximum = node.inputs
    return x if _is_maximum(maximum, x, axes) else None


def softmax(m, node):
    """exp(x - max x) / sum(exp(x - max x)) over one axis"""
    power, total = node.inputs
    exponential = producer(power, "Exp")
    axes = reduced_axes(total, power, "ReduceSum") if exponential is not None else None
    if axes is None or len(axes) != 1 or not m.runs("Softmax", power.dtype):
        return None
    x = shifted_by_maximum(exponential.inputs[0], axes)
    return None if x is None else Rewrite("Softmax", (x,), {"axis": axes[0]}, interior=(power,))


def log_softmax(m, node):
    """(x - max x) - log(sum(exp(x - max x))) over one axis"""
    shifted, logarithm = node.inputs
    log = producer(without_unit_axes(logarithm), "Log")
    total = without_unit_axes(log.inputs[0]) if log is not None else None
    reduction = producer(total, "ReduceSum")
    exponential = producer(reduction.inputs[0], "Exp") if reduction is not None else None
    if exponential is None or exponential.inputs[0] is not shifted or not m.runs("LogSoftmax", shifted.dtype):
        return None
    axes = axes_of(reduction)
    if axes is None or len(axes) != 1 or logarithm.shape != _kept(shifted, axes):
        return None
    x = shifted_by_maximum(shifted, axes)
    return None if x is None else Rewrite("LogSoftmax", (x,), {"axis": axes[0]}, interior=(shifted,))


def _finite_maximum(value, x, axes):
    """Whether a value is the maximum of x over these axes where that is finite, else 0."""
    chosen = producer(without_unit_axes(value), "Where")
    if chosen is None or not is_number(chosen.inputs[2], 0.0):
        return False
    test = producer(chosen.inputs[0], "Less")
    size = producer(test.inputs[0], "Abs") if test is not None and is_number(test.inputs[1], np.inf) else None
    maximum = chosen.inputs[1]
    return size is not None and size.inputs[0] is maximum and _is_maximum(maximum, x, axes)


def _logsumexp_of_few(g, x, axes, result):
    """ReduceLogSumExp, but NaN where an element is NaN: minus the sum of sizes is not larger, or NaN"""
    keepdims = result.ndim == x.ndim
    total = ops.reduce(g, "ReduceLogSumExp", x, axes, keepdims=keepdims)
    return Rewrite("Max", (total, g.node("Neg", ops.reduce(g, "ReduceL1", x, axes, keepdims=keepdims))))


def logsumexp(m, node):
    """log(sum(exp(x - max x))) + max x, where only a finite maximum is subtracted

    A maximum that skips NaN serves, because the sum is then NaN, and so does the largest finite number for infinities.
    """
    result = node.outputs[0]
    for logarithm, peak in orders(node):
        log = producer(logarithm, "Log")
        size = producer(log.inputs[0], "Abs") if log is not None else None
        total = without_unit_axes(size.inputs[0] if size is not None else log.inputs[0]) if log is not None else None
        reduction = producer(total, "ReduceSum")
        exponential = producer(reduction.inputs[0], "Exp") if reduction is not None else None
        shifted = producer(exponential.inputs[0], "Sub") if exponential is not None else None
        axes = axes_of(reduction) if shifted is not None else None
        if not axes or result.dtype != F32:
            continue
        x, subtracted = shifted.inputs
        if not all(_finite_maximum(v, x, axes) for v in (peak, subtracted)) or not same_type(x, exponential.outputs[0]):
            continue
        if m.runs("ReduceLogSumExp", F32) and dim_rules.is_constant_shape(x.shape):
            if math.prod(x.shape) <= _FEW_ELEMENTS:
                return _logsumexp_of_few(m.g, x, axes, result)
        g, largest = m.g, np.finfo(np.float32).max
        maximum = ops.reduce(g, "ReduceMax", x, axes, keepdims=True)
        maximum = g.node("Clip", maximum, g.const(-largest, F32), g.const(largest, F32))
        power = g.node("Exp", ops.sub(g, x, maximum))
        log = g.node("Log", ops.reduce(g, "ReduceSum", power, axes, keepdims=True))
        if result.shape == log.shape:
            return Rewrite("Add", (log, maximum))
        return Rewrite("Squeeze", (ops.add(g, log, maximum), g.const(axes, ops.INT64)))
    return None


def _kept(x, axes):
    return tuple(1 if i in axes else d for i, d in enumerate(x.shape))


RULES = (
    ("Div", softmax),
    ("Sub", log_softmax),
    ("Add", logsumexp),
)
