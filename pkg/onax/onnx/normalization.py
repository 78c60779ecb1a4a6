"""Normalizations, and dropout.

The other direction: `export/recognize/norms.py`, `export/recognize/batch_norm.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax import random as keyed
from onax._core.trace import Tracer
from onax.onnx.operators import operator
from onax.onnx.reading import dtype_of


def _per_channel(v, x):
    return jnp.reshape(v, (1, -1) + (1,) * (x.ndim - 2)) if x.ndim > 1 else jnp.reshape(v, -1)


@operator("BatchNormalization")
def _batch_norm_of_elements(call, x, scale, bias, mean, var):
    """Until version 8 each element of a sample may have statistics of its own, which then are the channels."""
    if call.get("spatial", 1):
        return _batch_norm(call, x, scale, bias, mean, var)
    flat = [jnp.reshape(v, -1) for v in (scale, bias, mean, var)]
    y, *statistics = _as_tuple(_batch_norm(call, jnp.reshape(x, (x.shape[0], -1)), *flat))
    return (jnp.reshape(y, x.shape), *[jnp.reshape(v, x.shape[1:]) for v in statistics])


def _as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


@operator("BatchNormalization", since=9)
def _batch_norm(call, x, scale, bias, mean, var):
    epsilon, momentum = call.get("epsilon", 1e-5), call.get("momentum", 0.9)
    trains = bool(call.get("training_mode", 0)) if call.version >= 14 else call.output_count > 1
    if not (trains or (call.training and call.output_count == 1)):
        return _normalized(x, _per_channel(mean, x), _per_channel(var, x), epsilon, scale, bias)
    axes = (0, *range(2, x.ndim))
    now, spread = jnp.mean(x, axes), jnp.var(x, axes)
    y = _normalized(x, _per_channel(now, x), _per_channel(spread, x), epsilon, scale, bias)
    new = [(old * momentum + value * (1 - momentum)).astype(old.dtype) for old, value in ((mean, now), (var, spread))]
    # until version 13 two more outputs hold the batch's own statistics
    return (y, *new, now, spread)[: call.output_count] if call.output_count > 1 else y


def _normalized(x, mean, var, epsilon, scale, bias):
    y = (x - mean) * lax.rsqrt(var + epsilon)
    return (y * _per_channel(scale, x) + _per_channel(bias, x)).astype(x.dtype)


@operator("InstanceNormalization")
def _instance_norm(call, x, scale, bias):
    axes = tuple(range(2, x.ndim))
    mean, var = jnp.mean(x, axes, keepdims=True), jnp.var(x, axes, keepdims=True)
    return _normalized(x, mean, var, call.get("epsilon", 1e-5), scale, bias)


@operator("GroupNormalization", since=18)
def _group_norm_by_group(call, x, scale, bias):
    size = x.shape[1] // call["num_groups"]
    return _group_norm(call, x, jnp.repeat(scale, size), jnp.repeat(bias, size))


@operator("GroupNormalization", since=21)
def _group_norm(call, x, scale, bias):
    groups = call["num_groups"]
    wide = stash(call, x).reshape(x.shape[0], groups, -1)
    mean, var = jnp.mean(wide, -1, keepdims=True), jnp.var(wide, -1, keepdims=True)
    y = ((wide - mean) * lax.rsqrt(var + call.get("epsilon", 1e-5))).reshape(x.shape).astype(x.dtype)
    return y * _per_channel(scale, x) + _per_channel(bias, x)


def stash(call, x):
    """x in the dtype of intermediate values: float32 for shorter ones."""
    dtype = dtype_of(call.get("stash_type", 1))
    return jnp.asarray(x).astype(dtype) if dtype.itemsize > x.dtype.itemsize else jnp.asarray(x)


@operator("LayerNormalization")
def _layer_norm(call, x, scale, bias=None):
    axes = tuple(range(call.get("axis", -1) % x.ndim, x.ndim))
    wide = stash(call, x)
    mean = jnp.mean(wide, axes, keepdims=True)
    centered = wide - mean
    inverse = lax.rsqrt(jnp.mean(centered * centered, axes, keepdims=True) + call.get("epsilon", 1e-5))
    y = (centered * inverse).astype(x.dtype) * scale
    return (y if bias is None else y + bias), mean, inverse


@operator("RMSNormalization")
def _rms_norm(call, x, scale):
    axes = tuple(range(call.get("axis", -1) % x.ndim, x.ndim))
    wide = stash(call, x)
    y = wide * lax.rsqrt(jnp.mean(wide * wide, axes, keepdims=True) + call.get("epsilon", 1e-5))
    return y.astype(x.dtype) * scale


@operator("MeanVarianceNormalization")
def _mean_variance_norm(call, x):
    axes = call.get("axes", (0, 2, 3))
    mean = jnp.mean(x, axes, keepdims=True)
    return (x - mean) / (jnp.sqrt(jnp.mean(x * x, axes, keepdims=True) - mean * mean) + 1e-9)


@operator("LpNormalization")
def _lp_norm(call, x):
    axis, p = call.get("axis", -1), call.get("p", 2)
    norm = jnp.sum(jnp.abs(x), axis, keepdims=True) if p == 1 else jnp.sqrt(jnp.sum(x * x, axis, keepdims=True))
    return jnp.where(norm == 0, jnp.zeros((), x.dtype), x / jnp.where(norm == 0, jnp.ones((), x.dtype), norm))


@operator("LRN")
def _local_response_norm(call, x):
    size = call["size"]
    before = (size - 1) // 2
    pads = [(0, 0), (before, size - 1 - before), *[(0, 0)] * (x.ndim - 2)]
    window = (1, size) + (1,) * (x.ndim - 2)
    sums = lax.reduce_window(x * x, jnp.zeros((), x.dtype), lax.add, window, (1,) * x.ndim, pads)
    return x / (call.get("bias", 1.0) + call.get("alpha", 1e-4) / size * sums) ** call.get("beta", 0.75)


@operator("Dropout")
def _dropout_of_attribute(call, x):
    return _drop(call, x, call.get("ratio", 0.5), call.training)


@operator("Dropout", since=12, static=(2,))
def _dropout(call, x, ratio=None, training=None):
    trains = call.training if training is None else bool(np.reshape(training, ())) or call.training
    return _drop(call, x, 0.5 if ratio is None else ratio, trains)


def _drop(call, x, ratio, trains):
    x = jnp.asarray(x)
    if not trains:
        return x, jnp.ones(x.shape, bool)
    if not isinstance(ratio, Tracer) and float(ratio) == 0:
        return x, jnp.ones(x.shape, bool)
    kept = keyed.uniform(call.key, x.shape, jnp.float32) >= ratio
    return jnp.where(kept, x / jnp.asarray(1 - ratio, x.dtype), jnp.zeros((), x.dtype)), kept
