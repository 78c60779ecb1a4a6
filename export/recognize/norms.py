"""Means, layer normalization and, from opset 23 on, root mean square normalization.

Measured on ONNX Runtime 1.31: LayerNormalization subtracts the mean before it squares, and NaN and infinities give
NaN as in the formulas.  Only rows with numbers beyond 1e19, whose squares overflow, give NaN instead of 0.

The other direction: `pkg/onax/onnx/normalization.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.lower.convert import F32, F64, HALVES
from onax.export.recognize.match import (
    axes_of,
    is_number,
    kept_shape,
    number,
    orders,
    producer,
    reduced_axes,
    same_type,
    through_cast,
    without_unit_axes,
)
from onax.export.recognize.rewriting import Rewrite

_LONGEST_SCALE = 1 << 16  # elements of a constant of ones


def mean(m, node):
    """sum(x) / n, n the number of elements"""
    total, count = node.inputs
    for total, count in orders(node) if node.op_type == "Mul" else (node.inputs,):
        reduction, n = producer(total, "ReduceSum"), number(count)
        axes = axes_of(reduction) if reduction is not None else None
        if not axes or n is None or not same_type(total, node.outputs[0]) or total.dtype not in (F32, F64, *HALVES):
            continue
        sizes = [reduction.inputs[0].shape[i] for i in axes]
        if not dim_rules.is_constant_shape(sizes) or (wanted := int(np.prod(sizes))) == 0:
            continue
        if is_number(count, wanted if node.op_type == "Div" else 1 / wanted) and m.runs("ReduceMean", total.dtype):
            return Rewrite("ReduceMean", reduction.inputs, reduction.attributes, interior=(total,))
    return None


# ---- what normalizations consist of


def _square_of(value):
    """x of x * x or x ** 2, or None."""
    node = producer(value, "Mul", "Pow")
    if node is None:
        return None
    a, b = node.inputs
    return a if (a is b if node.op_type == "Mul" else is_number(b, 2.0)) else None


def mean_axes(value, x):
    """The axes over which a value is the mean of x, perhaps with other axes of length one; None if it is not."""
    node = producer(without_unit_axes(value), "ReduceMean")
    return axes_of(node) if node is not None and node.inputs[0] is x else None


def _mean_square_axes(value, x):
    """The axes over which a value is the mean of x's squares, perhaps with other axes of length one, or None."""
    node = producer(without_unit_axes(value), "ReduceMean")
    return axes_of(node) if node is not None and _square_of(node.inputs[0]) is x else None


def _centred(value):
    """(x, axes) if a value is x minus its mean over these axes, else (None, None)."""
    node = producer(value, "Sub")
    if node is None or not same_type(node.inputs[0], value):
        return None, None
    x, average = node.inputs
    axes = _broadcast_mean_axes(average, x)
    return (x, axes) if axes is not None else (None, None)


def _broadcast_mean_axes(value, x):
    """The axes over which a value is the mean of x, ready to broadcast with x; 16-bit floats are added in float32."""
    rounded = producer(value, "Cast") if x.dtype in HALVES else None
    if rounded is None:
        return reduced_axes(value, x, "ReduceMean")
    average = rounded.inputs[0]
    reduction = producer(without_unit_axes(average), "ReduceMean")
    wide = producer(reduction.inputs[0], "Cast") if reduction is not None else None
    if wide is None or wide.inputs[0] is not x:
        return None
    return reduced_axes(average, reduction.inputs[0], "ReduceMean")


def is_variance(value, x, axes):
    """Whether a value is the mean of (x - mean)^2, or mean(x^2) - mean^2, perhaps at least 0.

    The value may have other axes of length one than the reduction.
    """
    value = without_unit_axes(value)
    bounded = producer(value, "Relu")
    value = value if bounded is None else without_unit_axes(bounded.inputs[0])
    rounded = producer(value, "Cast") if x.dtype in HALVES else None
    if rounded is not None:
        return _is_wide_variance(rounded.inputs[0], x, axes)
    if _is_mean_of_squared_differences(value, x, axes):
        return True
    difference = producer(value, "Sub")
    if difference is None or _mean_square_axes(difference.inputs[0], x) != axes:
        return False
    average = _square_of(difference.inputs[1])
    return average is not None and mean_axes(average, x) == axes


def _is_mean_of_squared_differences(value, x, axes):
    """Whether a value is the mean of (x - mean)^2."""
    reduction = producer(value, "ReduceMean")
    centred = _square_of(reduction.inputs[0]) if reduction is not None else None
    return centred is not None and axes_of(reduction) == axes and _centred(centred) == (x, axes)


def _is_wide_variance(value, x, axes):
    """Whether a value of float32 is the variance of x, which has 16-bit floats."""
    reduction = producer(without_unit_axes(value), "ReduceMean")
    centred = _square_of(reduction.inputs[0]) if reduction is not None else None
    wide, found = _centred(centred) if centred is not None else (None, None)
    cast = producer(wide, "Cast")
    return cast is not None and cast.inputs[0] is x and found == axes == axes_of(reduction)


def root_of_sum(value):
    """(v, epsilon) if a value is sqrt(v + epsilon), else (None, None)."""
    node = producer(value, "Sqrt")
    sum_of_both = through_cast(node.inputs[0]) if node is not None else None
    total = producer(sum_of_both, "Add")
    for v, constant in orders(total) if total is not None else ():
        epsilon = number(constant)
        if epsilon is not None and same_type(v, sum_of_both):
            return v, float(epsilon)
    return None, None


def quotients(node):
    """(x, s, scale) for each way to read x / s, x * (1 / s) or x * ((1 / s) * scale); scale may be None."""
    if node.op_type == "Div":
        yield (*node.inputs, None)
        return
    for x, factor in orders(node):
        inverse = producer(through_cast(factor), "Reciprocal")
        if inverse is not None:
            yield x, inverse.inputs[0], None
        product = producer(factor, "Mul")
        for a, scale in orders(product) if product is not None else ():
            inverse = producer(through_cast(a), "Reciprocal")
            if inverse is not None:
                yield x, inverse.inputs[0], scale


def _normalization(m, node, op_type, x, axes, epsilon, scale, interior):
    """The operator, if the axes are the last ones and the scale has their shape."""
    first = x.ndim - len(axes)
    sizes = x.shape[first:]
    if axes != tuple(range(first, x.ndim)) or not same_type(x, node.outputs[0]) or x.dtype not in (F32, *HALVES):
        return None
    if not m.runs(op_type, x.dtype) or not 0 <= epsilon < 1:
        return None
    if scale is None:
        if not dim_rules.is_constant_shape(sizes) or np.prod(sizes) > _LONGEST_SCALE:
            return None
        scale = m.g.const(np.ones(sizes, x.dtype))
    elif scale.shape != sizes:
        return None
    return Rewrite(op_type, (x, scale), {"axis": first - x.ndim, "epsilon": epsilon}, interior=interior)


def layer_norm(m, node):
    """(x - mean) / sqrt(variance + epsilon)"""
    for centred, root, scale in quotients(node):
        x, axes = _centred(centred)
        variance, epsilon = root_of_sum(root) if x is not None else (None, None)
        if variance is None or variance.shape != kept_shape(x, axes) or not is_variance(variance, x, axes):
            continue
        found = _normalization(m, node, "LayerNormalization", x, axes, epsilon, scale, (centred, root))
        if found is not None:
            return found
    return None


def rms_norm(m, node):
    """x / sqrt(mean(x^2) + epsilon)"""
    for x, root, scale in quotients(node):
        square, epsilon = root_of_sum(root)
        axes = _mean_square_axes(square, x) if square is not None else None
        if axes and square.shape == kept_shape(x, axes):
            return _normalization(m, node, "RMSNormalization", x, axes, epsilon, scale, (root,))
    return None


# ---- scale and bias


def scaled(m, node):
    """A normalization times a scale of the shape of the normalized axes."""
    for value, scale in orders(node):
        norm = producer(value, "LayerNormalization", "RMSNormalization")
        if norm is None or len(norm.inputs) != 2 or not is_number(norm.inputs[1], 1.0):
            continue
        if scale.shape == norm.inputs[1].shape and scale is not value:
            return Rewrite(norm.op_type, (norm.inputs[0], scale), norm.attributes, interior=(value,))
    return None


def shifted(m, node):
    """A layer normalization plus a bias of the shape of the normalized axes."""
    for value, bias in orders(node):
        norm = producer(value, "LayerNormalization")
        if norm is not None and len(norm.inputs) == 2 and bias.shape == norm.inputs[1].shape:
            return Rewrite(norm.op_type, (*norm.inputs, bias), norm.attributes, interior=(value,))
    return None


RULES = (
    ("Div Mul", mean),
    ("Div Mul", layer_norm),
    ("Div Mul", rms_norm),
    ("Mul", scaled),
    ("Add", shifted),
)
