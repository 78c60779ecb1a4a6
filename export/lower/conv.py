"""Lowerings of convolutions: Conv or ConvTranspose in float32, MatMul for other element types.

Operands are transposed to (batch, feature, space...) and (output, input, space...).  Batch groups are moved from the
batch to the features, so that they become feature groups.  Conv has neither negative padding nor lhs_dilation, so both
are applied to the operand first; lhs_dilation without strides is a ConvTranspose, which skips the products with zeros.

The other direction: `pkg/onax/onnx/conv.py`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from onax._ground import dims as dim_rules
from onax._ground.dtypes import real_dtype
from onax._native.avals import ShapedArray
from onax._prims.conv import conv_general_dilated_p
from onax._prims.windows_shapes import slice_bounds, window_offsets
from onax.export.graph import ops
from onax.export.lower.convert import F32, F64, FLOATS, INT64, convert, refuse
from onax.export.lower.registry import lowers, lowers_components
from onax.export.lower.shaping import reverse
from onax.export.lower.slicing import pad

# A window with more positions than this is read by one Gather instead of one Slice per position.
_MANY_POSITIONS = 64


@dataclass(slots=True, eq=False)
class _Convolution:
    """The parameters of one convolution, for the spatial axes in order; `space` is the spatial shape of the result."""

    window: tuple
    space: tuple
    strides: tuple
    padding: tuple
    lhs_dilation: tuple
    rhs_dilation: tuple
    groups: int

    @property
    def dilated_window(self):
        """The extent of the window with its dilation."""
        return [dim_rules.dilate_dim(w, d) for w, d in zip(self.window, self.rhs_dilation)]

    def unpadded(self):
        """The same convolution of an operand to which padding and lhs_dilation were applied."""
        n = len(self.space)
        return replace(self, padding=((0, 0),) * n, lhs_dilation=(1,) * n)


def _working_type(lhs, rhs, out):
    """The element type to multiply in: float32 or float64 with floats, else the widest integer, of at least 32 bits."""
    kinds = [d for d in (lhs.dtype, rhs.dtype, out.dtype) if d in FLOATS]
    if out.dtype.kind == "b":
        return F32
    if kinds:
        return F64 if F64 in kinds else F32
    widest = max((lhs.dtype, rhs.dtype, out.dtype), key=lambda d: (d.itemsize, d == out.dtype))
    return widest if widest.itemsize >= 4 else np.dtype(np.int32)


def _batch_groups(g, x, groups):
    """Rearranges x of shape (groups * n, c, ...) to (n, groups * c, ...)."""
    n, (c, *space) = dim_rules.divide_sizes(x.shape[:1], (groups,)), x.shape[1:]
    split = ops.reshape(g, x, (groups, n, c, *space))
    order = (1, 0, *range(2, split.ndim))
    return ops.reshape(g, ops.transpose(g, split, order), (n, groups * c, *space))


def _dilate_and_pad(g, x, c):
    """Applies lhs_dilation and padding to x; negative padding crops."""
    config = ((0, 0, 0), (0, 0, 0), *((low, high, d - 1) for (low, high), d in zip(c.padding, c.lhs_dilation)))
    if all(dim_rules.equal(n, 0) for k in config for n in k):
        return x
    space = [
        dim_rules.dilate_dim(n, d) + low + high for n, d, (low, high) in zip(x.shape[2:], c.lhs_dilation, c.padding)
    ]
    return pad(g, x, g.const(0, x.dtype), config, ShapedArray((*x.shape[:2], *space), x.dtype))


def _conv(g, x, w, c):
    """Emits Conv, which applies the padding unless some of it is negative."""
    low, high = ([p[i] for p in c.padding] for i in (0, 1))
    if min((*low, *high), default=0) < 0 or any(d != 1 for d in c.lhs_dilation):
        x, low, high = _dilate_and_pad(g, x, c), [0] * len(low), [0] * len(high)
    out = (x.shape[0], w.shape[0], *c.space)
    attributes = {
        "kernel_shape": list(w.shape[2:]),
        "strides": list(c.strides),
        "dilations": list(c.rhs_dilation),
        "pads": [*low, *high],
        "group": c.groups,
    }
    return g.node("Conv", x, w, out=(out, x.dtype), **attributes)


def _transposed_space(x, c):
    """The spatial shape of the result of ConvTranspose, without what `pads` crops."""
    sizes = []
    for n, d, k, padding in zip(x.shape[2:], c.lhs_dilation, c.dilated_window, c.padding):
        sizes.append(dim_rules.dilate_dim(n, d) + k - 1 - sum(max(k - 1 - p, 0) for p in padding))
    return sizes


def _conv_transpose(g, x, w, c):
    """Emits ConvTranspose, with the kernel reversed and its features transposed; its `pads` crop the result."""
    outputs, inputs, *window = w.shape
    axes = tuple(range(2, w.ndim))
    each = outputs // c.groups
    w = ops.reshape(g, w, (c.groups, each, inputs, *window))
    w = ops.transpose(g, w, (0, 2, 1, *(a + 1 for a in axes)))
    w = ops.reshape(g, w, (c.groups * inputs, each, *window))
    w = reverse(g, w, [a for a in axes if not dim_rules.equal(w.shape[a], 1)])
    cut = [[k - 1 - p[i] for k, p in zip(c.dilated_window, c.padding)] for i in (0, 1)]
    pads = [[max(n, 0) for n in side] for side in cut]
    space = _transposed_space(x, c)
    attributes = {
        "kernel_shape": window,
        "strides": list(c.lhs_dilation),
        "dilations": list(c.rhs_dilation),
        "pads": [*pads[0], *pads[1]],
        "group": c.groups,
    }
    out = g.node("ConvTranspose", x, w, out=((x.shape[0], outputs, *space), x.dtype), **attributes)
    rest = ((0, 0, 0), (0, 0, 0), *((max(-a, 0), max(-b, 0), 0) for a, b in zip(*cut)))
    if not any(any(k) for k in rest):
        return out
    return pad(g, out, g.const(0, x.dtype), rest, ShapedArray((x.shape[0], outputs, *c.space), x.dtype))


def _fits_transpose(x, w, c):
    """Whether ConvTranspose applies: lhs_dilation, no strides, and a result that is not empty after cropping."""
    if all(d == 1 for d in c.lhs_dilation) or any(s != 1 for s in c.strides):
        return False
    sizes = _transposed_space(x, c)
    return dim_rules.is_constant_shape(w.shape) and all(dim_rules.definitely_at_least(n, 1) for n in sizes)


# ---- element types without a Conv kernel: im2col, then MatMul


def _windows(g, x, window, c):
    """im2col: x (n, c, space...), already padded, as (n, c, positions in the window, windows)."""
    n, features = x.shape[:2]
    positions, count = math.prod(window), dim_rules.prod(c.space)
    if positions > _MANY_POSITIONS and dim_rules.is_constant_shape(x.shape[2:]):
        flat = ops.reshape(g, x, (n, features, math.prod(x.shape[2:])))
        index = np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:])
        rows = [index[tuple(_slices(position, c))].ravel() for position in window_offsets(window)]
        return ops.gather(g, flat, g.const(np.stack(rows), INT64), 2)
    parts = []
    for position in window_offsets(window):
        starts, limits = slice_bounds(position, c.rhs_dilation, c.space, c.strides)
        part = ops.slice_(g, x, (0, 0, *starts), (n, features, *limits), (1, 1, *c.strides))
        parts.append(ops.reshape(g, part, (n, features, 1, count)))
    return ops.concat(g, parts, 2)


def _slices(position, c):
    starts, limits = slice_bounds(position, c.rhs_dilation, c.space, c.strides)
    return map(slice, starts, limits, c.strides)


def _matmul_windows(g, x, w, c):
    """The convolution as a MatMul, for each group, of the kernel and the windows of the features."""
    outputs, inputs, *window = w.shape
    columns = _windows(g, _dilate_and_pad(g, x, c), window, c)
    n, count, terms = x.shape[0], dim_rules.prod(c.space), inputs * math.prod(window)
    columns = ops.reshape(g, columns, (n, c.groups, terms, count))
    w = ops.reshape(g, w, (c.groups, outputs // c.groups, terms))
    out = g.node("MatMul", w, columns, out=((n, c.groups, outputs // c.groups, count), x.dtype))
    return ops.reshape(g, out, (n, outputs, *c.space))


# ---- the rule


def _check(g, window):
    if not dim_rules.is_constant_shape(window):
        refuse(g, f"A convolution with a window of symbolic shape {window} has no ONNX form.")


@lowers(conv_general_dilated_p)
def _conv_general_dilated(g, out, lhs, rhs, *, dimension_numbers, window_strides, padding, lhs_dilation, rhs_dilation,
                          feature_group_count, batch_group_count, **_):  # fmt: skip
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    if dim_rules.definitely_empty((*lhs.shape, *rhs.shape, *out.shape)):
        return ops.full(g, out.shape, 0, out.dtype)
    _check(g, tuple(rhs.shape[i] for i in rhs_spec[2:]))
    dtype = _working_type(lhs, rhs, out)
    x, w = (ops.transpose(g, ops.cast(g, v, dtype), s) for v, s in ((lhs, lhs_spec), (rhs, rhs_spec)))
    if batch_group_count > 1:
        x = _batch_groups(g, x, batch_group_count)
    space = tuple(out.shape[i] for i in out_spec[2:])
    if not space:  # neither Conv nor ConvTranspose accepts zero spatial axes
        x, w = ops.reshape(g, x, (*x.shape, 1)), ops.reshape(g, w, (*w.shape, 1))
        space, window_strides, padding, lhs_dilation, rhs_dilation = (1,), (1,), ((0, 0),), (1,), (1,)
    groups = feature_group_count * batch_group_count
    c = _Convolution(w.shape[2:], space, window_strides, padding, lhs_dilation, rhs_dilation, groups)
    if not all(dim_rules.is_constant(p) for pair in padding for p in pair):
        x, c = _dilate_and_pad(g, x, c), c.unpadded()  # padding that is computed at run time needs a Pad node
    if dtype != F32:
        result = _matmul_windows(g, x, w, c)
    else:
        result = (_conv_transpose if _fits_transpose(x, w, c) else _conv)(g, x, w, c)
    if len(out.shape) == 2:
        result = ops.reshape(g, result, result.shape[:2])
    result = ops.transpose(g, result, sorted(range(len(out_spec)), key=out_spec.__getitem__))
    return result if result.dtype == out.dtype else convert(g, result, out.dtype)


@lowers_components(conv_general_dilated_p)
def _complex_conv(g, out, lhs, rhs, **params):
    """Four convolutions, of real and imaginary parts."""
    part = ShapedArray(out.shape, real_dtype(out.dtype))
    (a, b), (c, d) = lhs, rhs
    ac, bd, ad, bc = (_conv_general_dilated(g, part, x, y, **params) for x, y in ((a, c), (b, d), (a, d), (b, c)))
    return ops.sub(g, ac, bd), ops.add(g, ad, bc)
