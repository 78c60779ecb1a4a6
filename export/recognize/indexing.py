"""Indices that may be negative: Gather itself counts them from the end.  Fill values behind a table.

Where elements out of bounds are filled, as in embeddings, a selection over all elements takes longer than the Gather.
So the index selects instead: a constant table gets one more row, of fill values; what is gathered from another one is
multiplied by NaN, or by 1, which changes no number.
"""

import numpy as np

from onax.export.graph import ops
from onax.export.lower.convert import HALVES
from onax.export.recognize.match import is_number, number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite

_INT32 = np.dtype(np.int32)  # Clip of 64-bit integers is wrong beyond 32 bits
_UNIT_AXES = ("Reshape", "Unsqueeze", "Squeeze")


def _counted_from_end(value):
    """(i, n) of the value i + n where i < 0, else i; (None, None) for another one."""
    chosen = producer(value, "Where")
    if chosen is None:
        return None, None
    condition, shifted, index = chosen.inputs
    test, total = producer(condition, "Less"), producer(shifted, "Add")
    if test is None or total is None or test.inputs[0] is not index or not is_number(test.inputs[1], 0):
        return None, None
    for a, b in orders(total):
        n = number(b)
        if a is index and n is not None and n > 0 and index.shape == value.shape and index.dtype == _INT32:
            return index, int(n)
    return None, None


def _bounded(value):
    """(i, n) of an index that is first counted from the end and then bounded by 0 and n - 1, or (None, None)."""
    bound = producer(value, "Clip")
    if bound is None or len(bound.inputs) != 3 or not is_number(bound.inputs[1], 0):
        return None, None
    index, n = _counted_from_end(bound.inputs[0])
    return (index, n) if index is not None and is_number(bound.inputs[2], n - 1) else (None, None)


def _bound(m, index, n):
    return m.g.node("Clip", index, m.g.const(-n, index.dtype), m.g.const(n - 1, index.dtype))


def in_bounds(m, node):
    """Whether an index, counted from the end if it is negative, is the bounded one: whether it is itself in bounds"""
    for a, b in orders(node):
        index, n = _bounded(b)
        if index is not None and producer(b, "Clip").inputs[0] is a:
            return Rewrite("Equal", (_bound(m, index, n), index), saves=1)
    return None


def gather(m, node):
    """Elements at indices between 0 and n - 1, which were counted from the end if they were negative"""
    data, value = node.inputs
    clipped = value
    while (source := producer(clipped, *_UNIT_AXES)) is not None:
        clipped = source.inputs[0]
    index, n = _bounded(clipped)
    if index is None or n != data.shape[node.attributes.get("axis", 0)]:
        return None
    bounded = _bound(m, index, n)
    saves = sum(1 for r in m.readers(clipped) if r is not None and r.op_type == "Equal")
    positions = ops.reshape(m.g, bounded, value.shape)
    return Rewrite("Gather", (data, positions), node.attributes, saves=saves)


# ---- fill values


def _source(value):
    """The value behind changes of axes of length one."""
    while (inner := producer(value, *_UNIT_AXES)) is not None:
        value = inner.inputs[0]
    return value


def _is_same_bound(value, bound):
    """Whether a value is what this Clip computes, perhaps in another node."""
    other = producer(value, "Clip")
    return other is not None and len(other.inputs) == 3 and all(a is b for a, b in zip(other.inputs, bound.inputs))


def _filled_gather(node):
    """(the Gather, its bound index, that index before, the lowest number in bounds) of a selection, or None."""
    valid, gathered, _ = node.inputs
    taken, test = producer(gathered, "Gather"), producer(_source(valid), "Equal")
    if taken is None or test is None or not same_type(gathered, node.outputs[0]):
        return None
    data, positions = taken.inputs
    axis = taken.attributes.get("axis", 0)
    bounded = _source(positions)
    bound = producer(bounded, "Clip")
    if bound is None or len(bound.inputs) != 3:
        return None
    index, low, high = bound.inputs[0], number(bound.inputs[1]), number(bound.inputs[2])
    n = data.shape[axis]
    if low is None or high is None or high != n - 1 or low not in (0, -n):
        return None
    if not any(b is index and _is_same_bound(a, bound) for a, b in orders(test)):
        return None
    wanted = (1,) * axis + positions.shape + (1,) * (data.ndim - axis - 1)
    return (taken, index, int(low)) if (1,) * (len(wanted) - valid.ndim) + valid.shape == wanted else None


def filled(m, node):
    """Elements of a table at indices in bounds, else one number"""
    fill = number(node.inputs[2])
    found = _filled_gather(node) if fill is not None else None
    if found is None:
        return None
    taken, index, low = found
    data, gathered = taken.inputs[0], node.inputs[1]
    if data.const is not None and len(m.readers(data)) == 1 and data.name not in m.g.model.names:
        return _fill_behind(m, taken, index, low, fill)
    if gathered.dtype.kind != "f" or gathered.dtype in HALVES or not np.isnan(fill):
        return None
    mask = ops.where(m.g, node.inputs[0], ops.scalar(m.g, 1, gathered), ops.scalar(m.g, np.nan, gathered))
    return Rewrite("Mul", (gathered, mask), saves=1)


def _fill_behind(m, taken, index, low, fill):
    """The Gather of a table with a row of fill values behind it; a second table says which row an index means."""
    g, (data, positions), axis = m.g, taken.inputs, taken.attributes.get("axis", 0)
    n = data.shape[axis]
    row = np.full_like(np.take(data.const, [0], axis), fill)
    table = g.const(np.concatenate([data.const, row], axis))
    bounded = g.node("Clip", index, g.const(low - 1, index.dtype), g.const(n, index.dtype))
    if low:  # from the end, -1 is the last row of the data and not the fill values
        rows = np.arange(n, dtype=np.int32)
        bounded = ops.gather(g, g.const(np.concatenate([rows, np.array([n, n], np.int32), rows])), bounded, 0)
    positions = ops.reshape(g, bounded, positions.shape)
    return Rewrite("Gather", (table, positions), taken.attributes, interior=(taken.outputs[0],))


RULES = (("Equal", in_bounds), ("Gather", gather), ("Where", filled))
