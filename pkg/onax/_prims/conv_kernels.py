"""The kernel of conv_general_dilated: windows as a strided view, and one matrix product for each group.

The left operand is transposed to (group, batch, feature, space...) and the right one to (group, output feature, input
feature, space...); batch groups and feature groups differ only in the axis from which the group axis is split.  The
windows are written out in one of two layouts: rows (one row for each position) give one large product however few the
positions are; columns (one column for each position) are copied along the last axis and give features before positions.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from onax._ground import dims
from onax._prims.convert import cast
from onax._prims.padding import dilate_and_pad

# Bytes of windows written out at a time; a larger batch is taken in chunks.  Measured with 8 f32 images of 64 x 56 x
# 56, a 3 x 3 kernel and one thread: 22 ms in chunks, 41 ms as a whole; half or double this size takes 12 to 25 %
# longer.
_CHUNK_BYTES = 1 << 23
# Fewer positions than this are laid out as rows: with so few columns a product does not use the BLAS well.
_FEW_POSITIONS = 48
# Up to this many output features of one input feature are multiplied elementwise: depthwise convolutions.
_FEW_FEATURES = 4


def convolve(x, w, out_dtype, work, params, out_shape):
    """The convolution of two ndarrays, computed in the dtype `work`; out_shape is (batch, feature, space...)."""
    x_spec, w_spec, out_spec = params["dimension_numbers"]
    x, w = cast(x.transpose(x_spec), work), cast(w.transpose(w_spec), work)
    features, batches = params["feature_group_count"], params["batch_group_count"]
    groups = features * batches
    batch, space = out_shape[0], out_shape[2:]
    width = [dims.dilate_dim(k, d) for k, d in zip(w.shape[2:], params["rhs_dilation"])]
    if math.prod(out_shape) == 0 or math.prod(w.shape[1:]) == 0:
        out = np.zeros(out_shape, work)
    else:
        x = dilate_and_pad(x, 0, ((0, 0), (0, 0), *params["padding"]), (1, 1, *params["lhs_dilation"]))
        if batches > 1:
            x = x.reshape(batches, batch, *x.shape[1:])
        else:
            x = x.reshape(batch, groups, x.shape[1] // groups, *x.shape[2:]).swapaxes(0, 1)
        w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
        view = _windows(x, w.shape[3:], params["window_strides"], params["rhs_dilation"], space, width)
        out = _multiply_windows(view, w, len(space), out_spec[1] == len(out_spec) - 1)
        out = out.reshape(out_shape)
    return cast(out.transpose(_inverse(out_spec)), out_dtype)


def _inverse(spec):
    return tuple(sorted(range(len(spec)), key=spec.__getitem__))


def _windows(x, window, strides, dilation, space, width):
    """A view of shape (group, batch, feature, positions..., window...)."""
    lead, steps = x.strides[:3], x.strides[3:]
    shape = (*x.shape[:3], *space, *window)
    strides = (
        *lead,
        *(step * stride for step, stride in zip(steps, strides)),
        *(step * gap for step, gap in zip(steps, dilation)),
    )
    return as_strided(x, shape, strides, writeable=False)


def _multiply_windows(view, w, rank, features_last):
    """Sums over input features and window; returns an array with axes (batch, group, output feature, positions...)."""
    groups, batch, inputs = view.shape[:3]
    space, outputs = view.shape[3 : 3 + rank], w.shape[1]
    positions, terms = math.prod(space), inputs * math.prod(w.shape[3:])
    kind = view.dtype.kind
    if inputs == 1 and outputs <= _FEW_FEATURES and groups > 1 and kind != "b":
        return _multiply_depthwise(view, w, rank)
    one = groups * positions * terms * view.dtype.itemsize
    if one > 8 * _CHUNK_BYTES and rank and space[0] > 1:  # a single image that would fill memory
        step = max(1, 8 * _CHUNK_BYTES * space[0] // one)
        parts = (view[:, :, :, start : start + step] for start in range(0, space[0], step))
        return np.concatenate([_multiply_windows(part, w, rank, features_last) for part in parts], 3)
    piece = max(1, _CHUNK_BYTES // one)
    if features_last or positions < _FEW_POSITIONS:
        out = np.empty((batch, positions, groups, outputs), view.dtype)
        pieces = _multiply_rows
    else:
        out = np.empty((batch, groups, outputs, positions), view.dtype)
        pieces = _multiply_columns
    for start in range(0, batch, piece):
        part = slice(start, start + piece)
        pieces(view[:, part], w, rank, out[part])
    if pieces is _multiply_rows:
        out = np.moveaxis(out, 1, 3)
    return out.reshape(batch, groups, outputs, *space)


def _multiply_rows(view, w, rank, out):
    """out (batch, positions, group, output) = windows (group, batch * positions, terms) @ w (group, terms, output)."""
    groups, batch = view.shape[:2]
    spatial = range(3, 3 + rank)
    inside = range(3 + rank, 3 + 2 * rank)
    # the axis with the smallest stride goes last, so that rows are copied along it
    features_first = rank and view.strides[-1] <= view.strides[2]
    terms = (2, *inside) if features_first else (*inside, 2)
    rows = view.transpose(0, 1, *spatial, *terms).reshape(groups, batch * out.shape[1], -1)
    weights = w if features_first else np.moveaxis(w, 2, -1)
    weights = weights.reshape(groups, w.shape[1], -1).swapaxes(1, 2)
    if groups == 1:
        np.matmul(rows[0], weights[0], out=out.reshape(-1, w.shape[1]))
        return
    out[...] = np.matmul(rows, weights).reshape(groups, batch, out.shape[1], -1).transpose(1, 2, 0, 3)


def _multiply_columns(view, w, rank, out):
    """out (batch, group, output, positions) = w (group, output, terms) @ windows (batch, group, terms, positions)."""
    groups, batch = view.shape[:2]
    spatial = range(3, 3 + rank)
    inside = range(3 + rank, 3 + 2 * rank)
    columns = view.transpose(1, 0, 2, *inside, *spatial).reshape(batch, groups, -1, out.shape[-1])
    np.matmul(w.reshape(groups, w.shape[1], -1), columns, out=out)


def _multiply_depthwise(view, w, rank):
    """For one input feature in each group: sums over the window's positions the shifted images times one weight per
    group."""
    groups = len(view)
    images = np.moveaxis(view[:, :, 0], 0, 1)[:, :, None]  # batch, group, 1, positions..., window...
    ones = (1,) * rank
    out = None
    for position in np.ndindex(*w.shape[3:]):
        weight = w[(slice(None), slice(None), 0, *position)].reshape(1, groups, w.shape[1], *ones)
        term = images[(..., *position)] * weight
        out = term if out is None else np.add(out, term, out=out)
    return out
