"""InstanceNormalization: group and instance normalization, whose statistics belong to an example and some channels.

GroupNormalization is not used.  ONNX Runtime 1.31 has no kernel for it and runs the function of its definition, which
subtracts the square of the mean from the mean of the squares without a bound at 0: measured, a mean 100 times the
deviation gives 1e-3 where InstanceNormalization gives 9e-6, groups of equal numbers can give NaN, and it takes
544 us where InstanceNormalization takes 155.  A Reshape before and behind InstanceNormalization, with a scale of ones,
is what optimisers of transformers look for too.

The other direction: `pkg/onax/onnx/normalization.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.graph import ops
from onax.export.lower.convert import F32
from onax.export.recognize.batch_norm import channel_axis, channel_vector
from onax.export.recognize.match import (
    is_number,
    kept_shape,
    orders,
    producer,
    reduced_axes,
    without_unit_axes,
)
from onax.export.recognize.norms import is_variance, mean_axes, quotients, root_of_sum
from onax.export.recognize.rewriting import Rewrite


def _of_groups(value, x):
    """The statistic (n, groups) that a value of shape (n, 1, ..., 1, c) repeats for the channels of x, or None."""
    if value.shape != (x.shape[0], *(1,) * (x.ndim - 2), x.shape[-1]):
        return None
    merged = producer(value, "Reshape")
    expanded = producer(merged.inputs[0], "Expand") if merged is not None else None
    if expanded is None:  # groups of one channel
        return without_unit_axes(value)
    n, groups, each = expanded.outputs[0].shape if expanded.outputs[0].ndim == 3 else (None, 0, 0)
    if n != x.shape[0]:
        return None
    if expanded.inputs[0].shape != (n, groups, 1) or groups * each != x.shape[-1]:
        return None
    return without_unit_axes(expanded.inputs[0])


def _groups_of(average, variance, x):
    """The number of groups of channels, the last axis of x, whose mean and variance these values are, or None."""
    average, variance = _of_groups(average, x), _of_groups(variance, x)
    reduction = producer(average, "ReduceMean") if variance is not None else None
    if reduction is None:
        return None
    parted = reduction.inputs[0]
    split = producer(parted, "Reshape")
    if split is None or parted.ndim != x.ndim + 1 or parted.shape[:-2] != x.shape[:-1]:
        return None
    if without_unit_axes(split.inputs[0]) is not without_unit_axes(x):
        return None
    axes = (*range(1, x.ndim - 1), x.ndim)
    fits = mean_axes(average, parted) == axes and is_variance(variance, parted, axes)
    return parted.shape[-2] if fits else None


def _normalized(m, x, groups, epsilon):
    """x, whose second axis has the channels, normalized in groups of them."""
    g = m.g
    n, c, *rest = x.shape
    ones, zeros = g.const(np.ones(groups, np.float32)), g.const(np.zeros(groups, np.float32))
    wide = x if groups == c and rest else ops.reshape(g, x, (n, groups, dim_rules.prod((c // groups, *rest))))
    normal = g.node("InstanceNormalization", wide, ones, zeros, out=wide.aval, epsilon=epsilon)
    return ops.reshape(g, normal, x.shape)


def _channels_last(m, x, groups, epsilon):
    """x, whose last axis has the channels, normalized in groups of them."""
    last = x.ndim - 1
    turned = ops.transpose(m.g, x, (0, last, *range(1, last)))
    return ops.transpose(m.g, _normalized(m, turned, groups, epsilon), (0, *range(2, last + 1), 1))


def _fits(m, x, epsilon):
    sizes = x.shape[1:]
    return (
        x.dtype == F32
        and x.ndim >= 2
        and m.runs("InstanceNormalization", F32)
        and 0 <= epsilon < 1
        and dim_rules.is_constant_shape(sizes)
        and 0 not in sizes
    )


def channels_last(m, node):
    """(x - mean) / sqrt(variance + epsilon), perhaps times a scale, the channels in the last axis, in groups or not"""
    for centred, root, scale in quotients(node):
        difference, (variance, epsilon) = producer(centred, "Sub"), root_of_sum(root)
        if difference is None or variance is None or centred.shape != node.outputs[0].shape:
            continue
        x, average = difference.inputs
        if x.shape != centred.shape or not _fits(m, x, epsilon):
            continue
        axes = tuple(range(1, x.ndim - 1))
        if axes and reduced_axes(average, x, "ReduceMean") == axes:
            fits = variance.shape == kept_shape(x, axes) and is_variance(variance, x, axes)
            groups = x.shape[-1] if fits else None
        else:
            groups = _groups_of(average, variance, x)
        if groups is not None:
            value, interior = _channels_last(m, x, groups, epsilon), (centred, root)
            rest = (value,) if scale is None else (value, scale)
            return Rewrite("Identity" if scale is None else "Mul", rest, interior=interior)
    return None


def groups_of_channels(m, node):
    """A layer normalization of x with its second axis split in groups, put together again"""
    inner = producer(node.inputs[0], "LayerNormalization")
    split = producer(inner.inputs[0], "Reshape") if inner is not None and len(inner.inputs) == 2 else None
    if split is None or not is_number(inner.inputs[1], 1.0):
        return None
    x, parted = split.inputs[0], inner.inputs[0]
    batch = parted.ndim + inner.attributes["axis"] - 1  # axes in front of the groups
    if x.shape != node.outputs[0].shape or batch not in (0, 1):
        return None
    added = parted.ndim - 1 - x.ndim  # an example alone may have got an axis of length one in front
    whole = (1,) * added + x.shape
    if (
        added not in (0, batch)
        or whole[:batch] != parted.shape[:batch]
        or whole[batch + 1 :] != parted.shape[batch + 2 :]
    ):
        return None
    groups, count = parted.shape[batch], dim_rules.prod(parted.shape[batch + 1 :])
    if not dim_rules.is_constant(count) or not m.runs("InstanceNormalization", x.dtype) or x.dtype != F32:
        return None
    g = m.g
    wide = ops.reshape(g, x, (whole[0] if batch else 1, groups, count))
    ones, zeros = g.const(np.ones(groups, np.float32)), g.const(np.zeros(groups, np.float32))
    normal = g.node("InstanceNormalization", wide, ones, zeros, out=wide.aval, epsilon=inner.attributes["epsilon"])
    return Rewrite("Reshape", (normal, node.inputs[1]), node.attributes, interior=(node.inputs[0],))


def _operator_of(value):
    """(the InstanceNormalization, the Transpose behind it or None, the axis of the channels) of a value, or Nones."""
    turned = producer(value, "Transpose")
    inner = producer(value if turned is None else turned.inputs[0], "InstanceNormalization")
    if inner is None:
        return None, None, None
    return inner, turned, 1 if turned is None else tuple(turned.attributes["perm"]).index(1)


def affine(m, node):
    """An instance normalization without a scale and bias, times or plus one number of each channel"""
    place = 1 if node.op_type == "Mul" else 2
    for value, operand in orders(node):
        inner, turned, axis = _operator_of(value)
        if inner is None or value.shape != node.outputs[0].shape or channel_axis(value, operand) != axis:
            continue
        if not is_number(inner.inputs[2], 0.0) or (place == 1 and not is_number(inner.inputs[1], 1.0)):
            continue
        inputs, count = list(inner.inputs), inner.inputs[0].shape[1]
        inputs[place] = channel_vector(m, operand, count)
        if turned is None:
            return Rewrite("InstanceNormalization", tuple(inputs), inner.attributes, interior=(value,))
        normal = m.g.node("InstanceNormalization", *inputs, out=inner.outputs[0].aval, **inner.attributes)
        return Rewrite("Transpose", (normal,), turned.attributes, interior=(value, inner.outputs[0]))
    return None


def scaled_channels(m, node):
    """A layer normalization of all axes behind the second one, times one number of each channel"""
    for value, operand in orders(node):
        inner = producer(value, "LayerNormalization")
        if inner is None or len(inner.inputs) != 2 or not is_number(inner.inputs[1], 1.0):
            continue
        x = inner.inputs[0]
        if x.ndim < 3 or inner.attributes["axis"] != 2 - x.ndim or value.shape != node.outputs[0].shape:
            continue
        if channel_axis(value, operand) == 1 and _fits(m, x, inner.attributes["epsilon"]):
            zeros = m.g.const(np.zeros(x.shape[1], np.float32))
            inputs = x, channel_vector(m, operand, x.shape[1]), zeros
            return Rewrite("InstanceNormalization", inputs, {"epsilon": inner.attributes["epsilon"]}, interior=(value,))
    return None


RULES = (
    ("Div Mul", channels_last),
    ("Reshape", groups_of_channels),
    ("Mul", scaled_channels),
    ("Mul Add", affine),
)
