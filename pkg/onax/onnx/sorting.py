"""Operators that order elements.

The other direction: `export/lower/sorting.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.operators import operator


def _top(x, k, axis, largest):
    moved = jnp.moveaxis(jnp.asarray(x), axis, -1)
    order = jnp.argsort(moved, -1, descending=bool(largest), stable=True)[..., :k]
    values = jnp.take_along_axis(moved, order, -1)
    return jnp.moveaxis(values, -1, axis), jnp.moveaxis(order, -1, axis).astype(jnp.int64)


@operator("TopK")
def _top_k_of_attribute(call, x):
    return _top(x, call["k"], call.get("axis", -1), True)


@operator("TopK", since=10, static=(1,))
def _top_k(call, x, k):
    axis, largest = call.get("axis", -1), call.get("largest", 1)
    k = int(np.reshape(k, ()))
    if largest and axis in (-1, x.ndim - 1) and jnp.issubdtype(x.dtype, jnp.floating):
        values, order = lax.top_k(jnp.asarray(x), k)
        return values, order.astype(jnp.int64)
    return _top(x, k, axis, largest)


@operator("Unique", static=(0,))
def _unique(call, x):
    axis = call.get("axis")
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    if not call.get("sorted", 1):
        order = np.argsort(first, kind="stable")
        values = np.take(values, order, 0 if axis is None else axis)
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    return values, first.astype(np.int64), np.reshape(inverse, -1).astype(np.int64), counts.astype(np.int64)


@operator("NonMaxSuppression", static=(0, 1, 2, 3, 4))
def _non_max_suppression(call, boxes, scores, limit=None, overlap=None, least=None):
    limit = 0 if limit is None else int(np.reshape(limit, ()))
    overlap = 0.0 if overlap is None else float(np.reshape(overlap, ()))
    if call.get("center_point_box", 0):
        center, half = boxes[..., :2], boxes[..., 2:] / 2
        low, high = center - half, center + half
    else:
        low = np.minimum(boxes[..., :2], boxes[..., 2:])
        high = np.maximum(boxes[..., :2], boxes[..., 2:])
    area = np.prod(high - low, -1)
    selected = []
    for batch, label in np.ndindex(*scores.shape[:2]):
        order = np.argsort(-scores[batch, label], kind="stable")
        if least is not None:
            order = order[scores[batch, label][order] > np.reshape(least, ())]
        kept: list = []
        for box in order:
            if len(kept) >= limit:
                break
            shared = np.maximum(
                np.minimum(high[batch, box], high[batch, kept]) - np.maximum(low[batch, box], low[batch, kept]), 0
            )
            both = np.prod(shared, -1)
            union = area[batch, box] + area[batch, kept] - both
            if not np.any(both > overlap * union):
                kept.append(box)
        selected += [(batch, label, box) for box in kept]
    return np.array(selected, np.int64).reshape(-1, 3)
