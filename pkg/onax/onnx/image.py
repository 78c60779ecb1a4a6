"""Operators that sample pictures between their elements."""

import functools
import itertools

import numpy as np

import onax.numpy as jnp
from onax._core.trace import Tracer
from onax.onnx.operators import operator
from onax.onnx.sizes import as_size

# --- Resize ------------------------------------------------------------------------------------------------------


def _scaled(size, scale):
    """The size of an axis after it is scaled; an axis that stays as it is may have a size with a name."""
    return size if scale == 1 else int(np.floor(size * scale))


@operator("Upsample", static=(1,))
def _upsample(call, x, scales=None):
    scales = np.asarray(call["scales"] if scales is None else scales, np.float64)
    sizes = [_scaled(n, s) for n, s in zip(x.shape, scales)]
    mode = {"nearest": "nearest"}.get(call.get("mode", "nearest"), "linear")
    rounding = ["floor" if scale >= 1 else "ceil" for scale in scales]
    return _resample(call, x, range(x.ndim), sizes, scales, mode, "asymmetric", rounding)


@operator("Resize", since=10, static=(1,))
def _resize_by_scales(call, x, scales):
    return _upsample(call, x, scales)


@operator("Resize", since=11, static=(1, 2, 3))
def _resize(call, x, region=None, scales=None, sizes=None):
    axes = [axis % x.ndim for axis in call.get("axes", range(x.ndim))]
    if sizes is not None and len(sizes):
        sizes = [as_size(size) for size in sizes]
        scales = [1.0 if size == x.shape[axis] else size / x.shape[axis] for size, axis in zip(sizes, axes)]
        policy = call.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            scale = (min if policy == "not_larger" else max)(scales)
            scales = [scale] * len(axes)
            sizes = [int(np.floor(scale * x.shape[axis] + 0.5)) for axis in axes]
    else:
        scales = [float(scale) for scale in scales]
        sizes = [_scaled(x.shape[axis], scale) for axis, scale in zip(axes, scales)]
    mode = call.get("mode", "nearest")
    place = call.get("coordinate_transformation_mode", "half_pixel")
    region = None if region is None or not len(region) else np.asarray(region, np.float64)
    rounding = [call.get("nearest_mode", "round_prefer_floor")] * len(axes)
    return _resample(call, x, axes, sizes, scales, mode, place, rounding, region)


def _resample(call, x, axes, sizes, scales, mode, place, rounding, region=None):
    """x with new sizes along axes: one product with a matrix of weights for each."""
    x = jnp.asarray(x)
    wide = x
    for i, axis in enumerate(axes):
        have = x.shape[axis]
        if sizes[i] == have and scales[i] == 1 and place != "tf_crop_and_resize":
            continue
        bounds = None if region is None else (region[i], region[i + len(axes)])
        where = _coordinates(np.arange(sizes[i], dtype=np.float64), place, scales[i], sizes[i], have, bounds)
        if mode == "nearest":
            rows = _rounded(where, rounding[i])
            picked = jnp.take(wide, np.clip(rows, 0, have - 1).astype(np.int64), axis)
        else:
            weights = _weights(call, where, have, scales[i], mode)
            numbers = wide if jnp.issubdtype(wide.dtype, jnp.floating) else wide.astype(jnp.float32)
            product = jnp.tensordot(numbers, jnp.asarray(weights.T, numbers.dtype), ((axis,), (0,)))
            picked = jnp.moveaxis(product, -1, axis)
        if place == "tf_crop_and_resize":
            inside = (where >= 0) & (where <= have - 1)
            shape = [-1 if a == axis else 1 for a in range(x.ndim)]
            fill = jnp.asarray(call.get("extrapolation_value", 0.0), picked.dtype)
            picked = jnp.where(jnp.asarray(inside.reshape(shape)), picked, fill)
        wide = picked
    return wide.astype(x.dtype)


def _coordinates(i, place, scale, size, have, bounds):
    """Where, along an axis of the input, each element of the result lies."""
    if place == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if place == "half_pixel_symmetric":
        center = have / 2
        offset = center * (1 - size / (scale * have))
        return offset + (i + 0.5) / scale - 0.5
    if place == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if size > 1 else np.zeros_like(i)
    if place == "align_corners":
        return i * (have - 1) / (scale * have - 1) if size > 1 else np.zeros_like(i)
    if place == "tf_crop_and_resize":
        start, end = bounds
        if size > 1:
            return start * (have - 1) + i * (end - start) * (have - 1) / (size - 1)
        return np.full_like(i, 0.5 * (start + end) * (have - 1))
    if place == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    return i / scale  # asymmetric


def _rounded(where, rounding):
    if rounding == "floor":
        return np.floor(where)
    if rounding == "ceil":
        return np.ceil(where)
    if rounding == "round_prefer_ceil":
        return np.floor(where + 0.5)
    return np.ceil(where - 0.5)


def _weights(call, where, have, scale, mode):
    """The matrix of weights (size of the result, size of the input) of linear or cubic interpolation."""
    reach = 1 if mode == "linear" else 2
    stretch = 1 / scale if call.get("antialias", 0) and scale < 1 else 1.0
    span = int(np.ceil(reach * stretch))
    base = np.floor(where).astype(np.int64)
    result = np.zeros((len(where), have))
    taps = range(-span + 1, span + 1) if stretch == 1 else range(-span, span + 2)
    columns = [base + tap for tap in taps]
    factors = []
    for column in columns:
        distance = np.abs(column - where) / stretch
        kernel = np.maximum(1 - distance, 0) if mode == "linear" else cubic(distance, call.get("cubic_coeff_a", -0.75))
        outside = (column < 0) | (column >= have)
        if call.get("exclude_outside", 0):
            kernel = np.where(outside, 0, kernel)
        factors.append(kernel)
    factors = np.array(factors)
    if call.get("exclude_outside", 0) or stretch != 1:
        factors = factors / np.sum(factors, 0)
    rows = np.arange(len(where))
    for column, factor in zip(columns, factors):
        np.add.at(result, (rows, np.clip(column, 0, have - 1)), factor)
    return result


def cubic(distance, a):
    """The weight of cubic convolution at a distance (Keys, 1981) with the free parameter a."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


# --- sampling at computed positions ------------------------------------------------------------------------------


def sample_linearly(x, *positions):
    """Elements of x (n, c, ...) at positions (n, ...), one array a spatial dimension; zero outside."""
    return _sample(x, positions, lambda index, size: (index, (index >= 0) & (index < size)), "linear")


def _sample(x, positions, fold, mode):
    reach = {"nearest": (0,), "linear": (0, 1), "cubic": (-1, 0, 1, 2)}[mode]
    base = [jnp.round(p) if mode == "nearest" else jnp.floor(p) for p in positions]
    result = 0
    batch = jnp.arange(x.shape[0]).reshape(-1, *[1] * (positions[0].ndim - 1))
    for taps in itertools.product(reach, repeat=len(positions)):
        weight, index, inside = 1, [], True
        for p, b, tap, size in zip(positions, base, taps, x.shape[2:]):
            column = b + tap
            if mode != "nearest":
                weight = weight * _tap_weight(jnp.abs(p - column), mode)
            folded, valid = fold(column, size)
            index.append(jnp.clip(folded, 0, size - 1).astype(jnp.int64))
            inside = inside & valid
        values = jnp.moveaxis(x, 1, -1)[(batch, *index)]
        result = result + jnp.where((inside & jnp.ones_like(inside, bool))[..., None], values, 0) * jnp.expand_dims(
            weight, -1
        )
    return jnp.moveaxis(result.astype(x.dtype), -1, 1)


def _tap_weight(distance, mode):
    if mode == "linear":
        return 1 - distance
    a = -0.75
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return jnp.where(distance <= 1, near, far)


@operator("GridSample")
def _grid_sample(call, x, grid):
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(call.get("mode", "linear"), call.get("mode", "linear"))
    padding, corners = call.get("padding_mode", "zeros"), call.get("align_corners", 0)
    sizes = x.shape[2:]
    positions = []
    for i, size in enumerate(sizes):
        g = grid[..., len(sizes) - 1 - i]
        positions.append((g + 1) / 2 * (size - 1) if corners else ((g + 1) * size - 1) / 2)
    low, high = (0.0, -1.0) if corners else (-0.5, -0.5)

    def fold(index, size):
        if padding == "zeros":
            return index, (index >= 0) & (index < size)
        if padding == "border":
            return index, jnp.ones(index.shape, bool)
        return _reflect(index, low, size + high), jnp.ones(index.shape, bool)

    if padding == "border" and mode == "linear":
        positions = [jnp.clip(p, 0, size - 1) for p, size in zip(positions, sizes)]
    return _sample(jnp.asarray(x), positions, fold, mode)


def _reflect(x, low, high):
    """x folded back into [low, high]."""
    span = high - low
    if span <= 0:
        return jnp.zeros_like(x)
    offset = jnp.abs(x - low)
    turns = jnp.floor(offset / span)
    rest = offset - turns * span
    return jnp.where(turns % 2 == 0, low + rest, high - rest)


@operator("AffineGrid", static=(1,))
def _affine_grid(call, theta, size):
    sizes = [int(n) for n in size[2:]]
    axes = []
    for n in sizes:
        axes.append(np.linspace(-1, 1, n) if call.get("align_corners", 0) else (np.arange(n) * 2 + 1) / n - 1)
    mesh = np.meshgrid(*axes, indexing="ij")
    points = np.stack([*reversed(mesh), np.ones(sizes)], -1)
    return jnp.einsum("...i,nji->n...j", jnp.asarray(points, theta.dtype), theta)


# --- regions -----------------------------------------------------------------------------------------------------


@operator("RoiAlign", static=(2,))
def _roi_align(call, x, rois, batch_of):
    high, wide = call.get("output_height", 1), call.get("output_width", 1)
    scale, count = call.get("spatial_scale", 1.0), call.get("sampling_ratio", 0)
    shift = (
        0.5
        if call.get("coordinate_transformation_mode", "half_pixel" if call.version >= 16 else "") == "half_pixel"
        else 0.0
    )
    if count == 0 and isinstance(rois, Tracer):
        call.refuse("with sampling_ratio 0 the regions decide how many elements are sampled, and they are traced")
    rows = []
    for i, batch in enumerate(batch_of):
        x1, y1, x2, y2 = (rois[i, j] * scale - shift for j in range(4))
        width, height = x2 - x1, y2 - y1
        if not shift:
            width, height = jnp.maximum(width, 1.0), jnp.maximum(height, 1.0)
        ny, nx = (count or int(np.ceil(float(v) / n)) for v, n in ((height, high), (width, wide)))
        ys = y1 + (np.arange(high * ny) + 0.5) * height / (high * ny)
        xs = x1 + (np.arange(wide * nx) + 0.5) * width / (wide * nx)
        best = call.get("mode", "avg") == "max"
        values = _interpolated(jnp.asarray(x)[int(batch)], ys, xs, best).reshape(x.shape[1], high, ny, wide, nx)
        rows.append(values.max((2, 4)) if best else values.mean((2, 4)))
    return jnp.stack(rows).astype(x.dtype) if rows else jnp.zeros((0, x.shape[1], high, wide), x.dtype)


def _interpolated(x, ys, xs, best):
    """x (c, h, w) at each pair of positions, zero outside: the sum of four weighted elements, or (best) the largest."""

    def corners(p, size):
        p = jnp.asarray(p)
        inside = (p >= -1) & (p <= size)
        p = jnp.clip(p, 0, size - 1)
        low = jnp.floor(p)
        weights = [jnp.where(inside, w, 0).astype(x.dtype) for w in (1 - (p - low), p - low)]
        low = low.astype(jnp.int64)
        return [(low, weights[0]), (jnp.minimum(low + 1, size - 1), weights[1])]

    terms = [
        x[:, i[:, None], j] * (a[:, None] * b)
        for (i, a), (j, b) in itertools.product(corners(ys, x.shape[1]), corners(xs, x.shape[2]))
    ]
    return functools.reduce(jnp.maximum if best else jnp.add, terms)


@operator("MaxRoiPool", static=(1,))
def _max_roi_pool(call, x, rois):
    high, wide = call["pooled_shape"]
    scale = call.get("spatial_scale", 1.0)
    rows = []
    for batch, *corners in np.asarray(rois, np.float64):
        x1, y1, x2, y2 = (int(np.round(c * scale)) for c in corners)
        height, width = max(y2 - y1 + 1, 1) / high, max(x2 - x1 + 1, 1) / wide
        cells = []
        for i, j in itertools.product(range(high), range(wide)):
            top, left = int(np.floor(i * height)) + y1, int(np.floor(j * width)) + x1
            end, right = int(np.ceil((i + 1) * height)) + y1, int(np.ceil((j + 1) * width)) + x1
            part = jnp.asarray(x)[int(batch), :, max(top, 0) : max(end, 0), max(left, 0) : max(right, 0)]
            cells.append(part.max((1, 2)) if part.size else jnp.zeros(x.shape[1], x.dtype))
        rows.append(jnp.stack(cells, -1).reshape(-1, high, wide))
    return jnp.stack(rows)
