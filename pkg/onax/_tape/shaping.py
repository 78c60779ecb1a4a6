"""Shapes on tapes: what keeps the order of elements shares memory, the rest is a strided copy."""

import numpy as np

from onax._control.fused import dense_strides
from onax._prims.creation import copy_p, iota_p
from onax._prims.shaping import broadcast_in_dim_p, reshape_p, rev_p, squeeze_p, transpose_p
from onax._tape.copies import copied, is_in_order
from onax._tape.dot import write_permuted
from onax._tape.rules import tape, type_number


@tape.rule(copy_p, squeeze_p)
def _same_elements(b, out, x, **_):
    return b.bind(x, out)


@tape.rule(reshape_p)
def _reshape(b, out, x, *, new_sizes, dimensions, **_):
    return b.bind(x if dimensions is None else _permuted(b, x, dimensions), out)


@tape.rule(transpose_p)
def _transpose(b, out, x, *, permutation):
    return b.bind(_permuted(b, x, permutation), out)


def _permuted(b, x, permutation):
    """The elements of x with its axes reordered."""
    strides = dense_strides(x.shape)
    shape, strides = [x.shape[p] for p in permutation], [strides[p] for p in permutation]
    if is_in_order(shape, strides) or write_permuted(b, x, permutation):
        return x
    return copied(b, b.array(shape, x.dtype), x, shape, strides)


@tape.rule(broadcast_in_dim_p)
def _broadcast_in_dim(b, out, x, *, shape, broadcast_dimensions, **_):
    strides = [0] * len(shape)
    for axis, n, stride in zip(broadcast_dimensions, x.shape, dense_strides(x.shape)):
        strides[axis] = stride if n != 1 else 0
    return b.bind(x, out) if is_in_order(shape, strides) else copied(b, out, x, shape, strides)


@tape.rule(rev_p)
def _rev(b, out, x, *, dimensions):
    strides, start = list(dense_strides(x.shape)), 0
    for axis in dimensions:
        start += strides[axis] * (x.shape[axis] - 1)
        strides[axis] = -strides[axis]
    return b.bind(x, out) if is_in_order(x.shape, strides) else copied(b, out, x, x.shape, strides, start)


@tape.rule(iota_p)
def _iota(b, out, *, dtype, shape, dimension, **_):
    """Counts along one axis, then repeats that along the others."""
    line = b.array((shape[dimension],), np.dtype(dtype))
    b.emit("iota", [line], [], (type_number(line.dtype), shape[dimension]))
    strides = [int(axis == dimension) for axis in range(len(shape))]
    return b.bind(line, out) if is_in_order(shape, strides) else copied(b, out, line, shape, strides)
