"""Indices that may be negative: Gather itself counts them from the end."""

import numpy as np

from onax.export.graph import ops
from onax.export.recognize.match import is_number, number, orders, producer
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


RULES = (("Equal", in_bounds), ("Gather", gather))
