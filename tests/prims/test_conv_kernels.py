"""The kernel of convolutions, in each of its layouts."""

import numpy as np
import pytest

from onax import lax
from onax._prims import conv_kernels


def test_one_large_image_in_parts(monkeypatch):
    """Windows that would fill memory are written out a part of the rows at a time."""
    rng = np.random.default_rng(10)
    x, w = rng.integers(-3, 4, (2, 2, 9, 5)).astype(np.float32), rng.integers(-3, 4, (3, 2, 3, 3)).astype(np.float32)
    layouts = None, ("NCHW", "OIHW", "NHWC")
    want = [np.asarray(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=d)) for d in layouts]
    monkeypatch.setattr(conv_kernels, "_CHUNK_BYTES", 64)
    for layout, whole in zip(layouts, want):
        got = np.asarray(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout))
        np.testing.assert_array_equal(got, whole)


def by_definition(x, w, strides, padding, dilation, groups):
    """Sums over windows, written out; x is (batch, feature, space), w (output, feature of a group, window)."""
    x = np.pad(x, ((0, 0), (0, 0), *padding))
    outputs, inputs, *window = w.shape
    space = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], window, strides, dilation)]
    out = np.zeros((len(x), outputs, *space))
    for o in range(outputs):
        first = o // (outputs // groups) * inputs
        for at in np.ndindex(*space):
            for k in np.ndindex(*window):
                where = tuple(i * s + j * d for i, s, j, d in zip(at, strides, k, dilation))
                out[(slice(None), o, *at)] += (
                    x[(slice(None), slice(first, first + inputs), *where)] @ w[(o, slice(None), *k)]
                )
    return out


LAYOUTS = {  # batch, features, groups, outputs, space, window: which layout computes it
    "rows, few positions": (2, 4, 1, 3, (5, 4), (2, 2)),
    "columns, many positions": (2, 4, 1, 3, (9, 9), (3, 2)),
    "columns in groups": (3, 4, 2, 6, (9, 8), (2, 2)),
    "rows in groups": (3, 4, 2, 6, (3, 4), (2, 2)),
    "depthwise": (2, 6, 6, 12, (5, 5), (3, 3)),
    "one dimension": (2, 3, 1, 2, (70,), (4,)),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("out_spec", [(0, 1, 2, 3), (0, 3, 1, 2)], ids=["features first", "features last"])
def test_every_layout(name, out_spec):
    batch, features, groups, outputs, space, window = LAYOUTS[name]
    rank, rng = len(space), np.random.default_rng(0)
    x = rng.integers(-3, 4, (batch, features, *space)).astype(np.float32)
    w = rng.integers(-3, 4, (outputs, features // groups, *window)).astype(np.float32)
    strides, dilation, padding = (2, 1)[:rank], (1, 2)[:rank], ((1, 2), (0, 1))[:rank]
    want = by_definition(x, w, strides, padding, dilation, groups)
    spec = (0, 1, *range(2, 2 + rank))
    out_spec = out_spec if rank == 2 else spec
    params = {
        "dimension_numbers": (spec, spec, out_spec), "feature_group_count": groups, "batch_group_count": 1,
        "padding": padding, "window_strides": strides, "lhs_dilation": (1,) * rank, "rhs_dilation": dilation,
    }  # fmt: skip
    got = conv_kernels.convolve(x, w, np.float32, np.float32, params, want.shape)
    np.testing.assert_array_equal(got.transpose(out_spec), want)
