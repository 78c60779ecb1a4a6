"""Slices, updates of slices, concatenations, padding and splits on tapes."""

from itertools import accumulate
from math import prod

from onax._control.fused import dense_strides
from onax._prims.padding import pad_p, padded_ranges
from onax._prims.slicing import concatenate_p, dynamic_slice_p, dynamic_update_slice_p, slice_p, split_p
from onax._tape.copies import copied, copy, readable_origin
from onax._tape.rules import tape

FILLED_WHOLE = 4096  # bytes of a result up to which a pad fills all of it before it copies its operand


@tape.rule(slice_p)
def _slice(b, out, x, *, start_indices, limit_indices, strides=None):
    if out.shape == x.shape:
        return b.bind(x, out)
    dense = dense_strides(x.shape)
    start = sum([s * i for s, i in zip(dense, start_indices)])
    return copied(b, out, x, out.shape, [s * k for s, k in zip(dense, strides or (1,) * len(dense))], start)


@tape.rule(split_p)
def _split(b, outs, x, *, sizes, axis):
    strides, at, results = dense_strides(x.shape), 0, []
    for out, size in zip(outs, sizes):
        results.append(b.bind(x, out) if size == x.shape[axis] else copied(b, out, x, out.shape, strides, at))
        at += size * strides[axis]
    return results


# ---- at indices that are known at run time


def _locate(indices, window, shape):
    """(start of a window, the indices that move it): known indices are part of the start.

    An index is (Buffer, largest value, step in elements); one of an axis that the window fills does not move it.
    """
    start, moving = 0, []
    for index, size, d, stride in zip(indices, window, shape, dense_strides(shape)):
        if size == d:
            continue
        if index.value is None:
            moving.append((index, d - size, stride))
        else:
            start += min(max(int(index.value), 0), d - size) * stride
    return start, moving


@tape.rule(dynamic_slice_p)
def _dynamic_slice(b, out, x, *indices, slice_sizes):
    if out.shape == x.shape:
        return b.bind(x, out)
    start, moving = _locate(indices, slice_sizes, x.shape)
    return copied(b, out, x, slice_sizes, dense_strides(x.shape), start, moving)


@tape.rule(dynamic_update_slice_p)
def _dynamic_update_slice(b, out, x, update, *indices):
    """Writes into the memory of x if nothing else reads it."""
    if update.shape == x.shape:
        return b.bind(update, out)
    start, moving = _locate(indices, update.shape, x.shape)
    result = b.reuse(x, out)
    if update.bytes:
        movements = [(index, largest, step, 0) for index, largest, step in moving]
        strides = dense_strides(x.shape), dense_strides(update.shape)
        copy(b, result, update, update.shape, *strides, start, 0, movements)
    return result


# ---- several operands


@tape.rule(concatenate_p)
def _concatenate(b, out, *xs, dimension):
    filled = [x for x in xs if x.bytes]
    return b.bind(filled[0], out) if len(filled) == 1 else concatenated(b, out, filled, dimension)


def concatenated(b, out, xs, axis):
    """The elements of xs side by side: for each position of the axes before `axis`, a row of each."""
    origins = [readable_origin(b, x) for x in xs]
    if 2 * sum(o is not None for o in origins) >= len(xs) and len(xs[0].shape) == len(out.shape):
        return _concatenated_from(b, out, xs, origins, axis)
    rows, result = prod(out.shape[:axis]), b.buffer(out)
    if rows != 1 or not _computed_within(b, result, xs):
        b.emit("concatenate", [result], xs, (rows, *[_row_bytes(x, axis) for x in xs]))
    return result


def _computed_within(b, result, xs):
    """Has values that nothing else reads be computed in their parts of the result, and copies the others there."""
    begins = list(accumulate([x.bytes for x in xs], initial=0))
    others = [(x, begin) for x, begin in zip(xs, begins) if not b.settle_within(x, result, begin)]
    if len(others) == len(xs):
        return False
    for x, begin in others:
        copy(b, result, x, (x.size,), (1,), (1,), begin // x.dtype.itemsize)
    return True


def _concatenated_from(b, out, xs, origins, axis):
    """Copies slices into the result from where they were sliced."""
    b.withdraw([origin.instruction for origin in origins if origin is not None])
    result, strides, at = b.buffer(out), dense_strides(out.shape), 0
    for x, origin in zip(xs, origins):
        if origin is None:
            copy(b, result, x, x.shape, strides, dense_strides(x.shape), at)
        else:
            copy(b, result, origin.source, x.shape, strides, origin.strides, at, origin.start)
        at += x.shape[axis] * strides[axis]
    return result


def _row_bytes(x, axis):
    return prod(x.shape[axis:]) * x.dtype.itemsize


@tape.rule(pad_p)
def _pad(b, out, x, value, *, padding_config):
    ranges = padded_ranges(x.shape, out.shape, padding_config)
    if all(first == begin == 0 and step == 1 for first, _, begin, step in ranges) and out.shape == x.shape:
        return b.bind(x, out)
    result = b.buffer(out)
    strides, from_strides = dense_strides(out.shape), dense_strides(x.shape)
    for start, shape in _margins(out.shape, ranges, result.bytes):
        copy(b, result, value, shape, strides, [0] * len(shape), sum([s * i for s, i in zip(strides, start)]))
    if all(count for _, count, _, _ in ranges):
        first, counts, begin, steps = zip(*ranges)
        to_start = sum([s * i for s, i in zip(strides, begin)])
        from_start = sum([s * i for s, i in zip(from_strides, first)])
        copy(b, result, x, counts, [s * k for s, k in zip(strides, steps)], from_strides, to_start, from_start)
    return result


def _margins(shape, ranges, size):
    """What a pad fills, as (start, shape) of rectangles: the whole of it, or the margins of a large result."""
    if size <= FILLED_WHOLE or any(step != 1 or not count for _, count, _, step in ranges):
        return [((0,) * len(shape), shape)]
    margins, start, rest = [], [0] * len(shape), list(shape)
    for axis, (_, count, begin, _) in enumerate(ranges):
        for low, high in ((0, begin), (begin + count, shape[axis])):
            if high > low:
                margins.append(
                    ((*start[:axis], low, *start[axis + 1 :]), (*rest[:axis], high - low, *rest[axis + 1 :]))
                )
        start[axis], rest[axis] = begin, count
    return margins
