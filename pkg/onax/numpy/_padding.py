"""pad, in all of NumPy's modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.trace import concrete_or_error
from onax._ground import dtypes
from onax._ground.dims import SymbolicDim, as_dim, definitely_at_least, is_constant, min_dim
from onax._ground.errors import InconclusiveDimensionOperation
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.tree import tree_flatten, tree_map
from onax.numpy._arithmetic import round as _round
from onax.numpy._creation import array, broadcast_to
from onax.numpy._mapping import apply_along_axis
from onax.numpy._promotion import ensure_arraylike, to_dtype
from onax.numpy._quantiles import median as _median
from onax.numpy._ranges import linspace
from onax.numpy._reductions import max as _max
from onax.numpy._reductions import mean as _mean
from onax.numpy._reductions import min as _min
from onax.numpy._repeat import repeat
from onax.numpy._shaping import flip

_OPTIONS = {
    "constant": ("constant_values",), "edge": (), "linear_ramp": ("end_values",), "maximum": ("stat_length",),
    "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",), "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",), "wrap": (), "empty": (),
}  # fmt: skip


def pad(array: ArrayLike, pad_width: Any, mode: str | Callable[..., Any] = "constant", **kwargs: Any) -> Array:
    """Returns an array with elements added at both ends of its axes.

    Args:
      array: array.
      pad_width: int, pair (before, after), one such pair for each axis, or a dict from axes to ints or pairs.
      mode: "constant", "edge", "empty" (zeros), "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
        "symmetric", "wrap", or a function as NumPy takes it.
      **kwargs: options of the mode: constant_values, end_values, stat_length, reflect_type.

    Returns:
      Array of the dtype of `array`.

    Raises:
      NotImplementedError: the mode is unknown.
      ValueError: an option does not belong to the mode.

    Examples:
      >>> jnp.pad(jnp.array([1, 2, 3]), (1, 2), constant_values=9)
      Array([9, 1, 2, 3, 9, 9], dtype=int32)
      >>> jnp.pad(jnp.array([1, 2, 3]), 2, mode="reflect")
      Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    array = ensure_arraylike("pad", array)
    widths = _pairs(_widths_from_dict(pad_width, array.ndim), array.ndim, "pad_width", np.integer)
    widths = tuple((as_dim(a), as_dim(b)) for a, b in widths)
    if any(is_constant(n) and n < 0 for pair in widths for n in pair):
        raise ValueError("index can't contain negative values")
    if callable(mode):
        return _pad_by_function(array, widths, mode, kwargs)
    if mode not in _OPTIONS:
        raise NotImplementedError(f"Unimplemented padding mode '{mode}' for np.pad.")
    unsupported = set(kwargs) - set(_OPTIONS[mode])
    if unsupported:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unsupported}")
    stat_length = kwargs.get("stat_length")
    if stat_length is not None:
        pairs = _pairs(stat_length, array.ndim, "stat_length", np.integer)
        stat_length = tuple((as_dim(a), as_dim(b)) for a, b in pairs)
    values = kwargs.get("end_values" if mode == "linear_ramp" else "constant_values", 0)
    out = _pad(array, widths, mode, values, stat_length, kwargs.get("reflect_type", "even"))
    return to_dtype(out, array.dtype, array.weak_type)


def _widths_from_dict(pad_width, ndim):
    """Converts a dict from axes to widths to one pair for each axis."""
    if not isinstance(pad_width, dict):
        return pad_width
    out = [(0, 0)] * ndim
    for axis, width in pad_width.items():
        out[axis] = (width, width) if np.ndim(width) == 0 else tuple(width)
    return out


def _pairs(values, ndim, name, kind):
    """Expands one of NumPy's short forms to an (ndim, 2) ndarray."""
    known = tree_map(lambda x: concrete_or_error(None, x, f"{name} argument of jnp.pad"), values)
    pairs = np.asarray(known)
    if pairs.dtype == object and kind is np.integer and all(isinstance(n, (int, SymbolicDim)) for n in pairs.flat):
        return _broadcast_pairs(pairs, ndim, name, np.broadcast_to)
    if pairs.shape in ((ndim, 2), (1, 2), (2,), (1,), ()) and not np.issubdtype(pairs.dtype, kind):
        raise TypeError(f"`{name}` must be of integral type.")
    return np.array(_broadcast_pairs(pairs, ndim, name, np.broadcast_to))


def _broadcast_pairs(values, ndim, name, broadcast):
    """Broadcasts values of shape (ndim, 2), (1, 2), (2,), (1,) or () to (ndim, 2)."""
    if values.shape not in ((ndim, 2), (1, 2), (2,), (1,), ()):
        raise ValueError(
            f"jnp.pad: {name} with nd={ndim} has unsupported shape {values.shape}. Valid shapes are ({ndim}, 2), "
            "(1, 2), (2,), (1,), or ()."
        )
    return broadcast(values, (ndim, 2))


@staged("_pad", static_argnames=("pad_width", "mode", "stat_length", "reflect_type"))
def _pad(array, pad_width, mode, values, stat_length, reflect_type):
    array = ensure_arraylike("pad", array)
    if array.ndim == 0:
        return array
    if mode == "constant":
        return _pad_constant(array, pad_width, values)
    if mode == "wrap":
        return _pad_wrap(array, pad_width)
    if mode in ("symmetric", "reflect"):
        return _pad_reflect(array, pad_width, mode, reflect_type)
    if mode == "edge":
        return _pad_each_axis(array, pad_width, _edge_ends)
    if mode == "linear_ramp":
        ends = _constant_pairs(values, array.ndim, "end_values", array.dtype)
        return _pad_each_axis(array, pad_width, lambda x, axis, widths: _ramp_ends(x, axis, widths, ends))
    if mode == "empty":
        return _pad_each_axis(array, pad_width, _zero_ends)
    return _pad_each_axis(
        array, pad_width, lambda x, axis, widths: _statistic_ends(x, array, axis, widths, mode, stat_length)
    )


def _constant_pairs(values, ndim, name, dtype):
    """Expands constants in a short form to an (ndim, 2) Array; a single number stays a scalar."""
    leaves, _ = tree_flatten(values)
    if len(leaves) == 1 and np.ndim(leaves[0]) == 0:
        return to_dtype(leaves[0], dtype)
    constants = lax.convert_element_type(array(values), dtype)
    return _broadcast_pairs(constants, ndim, name, broadcast_to)


def _pad_constant(x, widths, constant_values):
    values = _constant_pairs(constant_values, x.ndim, "constant_values", x.dtype)
    if values.ndim == 0:
        return lax.pad(x, values, tuple((a, b, 0) for a, b in widths))
    for axis, ends in enumerate(widths):
        for side, width in enumerate(ends):
            value = lax.squeeze(lax.slice(values, (axis, side), (axis + 1, side + 1)), (0, 1))
            config = [(0, 0, 0)] * x.ndim
            config[axis] = (width, 0, 0) if side == 0 else (0, width, 0)
            x = lax.pad(x, value, config)
    return x


def _pad_wrap(x, widths):
    """Pads with copies of x, cropped to the widths."""
    for axis, (before, after) in enumerate(widths):
        n = x.shape[axis]
        if n == 0:
            if before or after:
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
            continue
        parts = [x]
        left, right = divmod(before, n), divmod(after, n)
        parts = [x] * (left[0] + 1 + right[0])
        if left[1]:
            parts.insert(0, lax.slice_in_dim(x, n - left[1], n, axis=axis))
        if right[1]:
            parts.append(lax.slice_in_dim(x, 0, right[1], axis=axis))
        x = lax.concatenate(parts, axis)
    return x


def _pad_reflect(x, widths, mode, reflect_type):
    """Pads with mirror images, as many as the widths need."""
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd'; got {reflect_type!r}")
    for axis, (before, after) in enumerate(widths):
        if x.shape[axis] == 0:
            if before or after:
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
            continue
        n = x.shape[axis]
        try:
            offset = 1 if mode == "reflect" and n > 1 else 0
            x = _reflect_axis(x, axis, (before, after), n - offset, offset, reflect_type == "odd")
        except InconclusiveDimensionOperation as error:
            raise ValueError(
                "Shape polymorphism is supported for jnp.pad with 'reflect' or 'symmetric' padding mode only when it "
                f"is possible to determine at lowering time that the axis size (= {n}) is larger than 1 and larger or "
                f"equal than the padding length (= {before} and {after}). Error while handling padding on axis {axis}."
            ) from error
    return x


def _reflect_axis(x, axis, widths, most, offset, is_odd):
    """Adds mirrored elements, at most `most` a side at a time; `offset` 1 does not repeat the edge element."""
    before, after = widths
    if max(before, after) <= most:  # both sides mirror the elements of `x`
        front = [_mirror(x, axis, before, offset, is_odd, True)] if before else []
        back = [_mirror(x, axis, after, offset, is_odd, False)] if after else []
        return lax.concatenate([*front, x, *back], axis) if front or back else x
    while before > 0:
        x = lax.concatenate([_mirror(x, axis, min(before, most), offset, is_odd, True), x], axis)
        before -= most
    while after > 0:
        x = lax.concatenate([x, _mirror(x, axis, min(after, most), offset, is_odd, False)], axis)
        after -= most
    return x


def _mirror(x, axis, width, offset, is_odd, in_front):
    """The mirror image of the first or last `width` elements."""
    length = x.shape[axis]
    edge_at, start = (0, offset) if in_front else (length - 1, length - offset - width)
    part = flip(lax.slice_in_dim(x, start, start + width, axis=axis), axis)
    if is_odd:
        edge = lax.slice_in_dim(x, edge_at, edge_at + 1, axis=axis)
        part = lax.sub(lax.mul(x.dtype.type(2), edge), part)
    return part


def _pad_each_axis(x, widths, ends):
    """Pads one axis after the other; `ends(x, axis, (before, after))` returns the two parts to add."""
    for axis, width in enumerate(widths):
        if x.shape[axis] == 0 and width != (0, 0) and ends is not _zero_ends:
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        before, after = ends(x, axis, width)
        x = lax.concatenate([before, x, after], axis)
    return x


def _repeat_slice(x, axis, length):
    """Repeats a slice of length 1 along its axis."""
    return repeat(x, length, axis=axis)


def _edge_ends(x, axis, widths):
    n = x.shape[axis]
    first = _repeat_slice(lax.slice_in_dim(x, 0, 1, axis=axis), axis, widths[0])
    return first, _repeat_slice(lax.slice_in_dim(x, n - 1, n, axis=axis), axis, widths[1])


def _zero_ends(x, axis, widths):
    def zeros(width):
        return lax.full(tuple(width if i == axis else d for i, d in enumerate(x.shape)), 0, x.dtype)

    return zeros(widths[0]), zeros(widths[1])


def _ramp_ends(x, axis, widths, ends):
    """Linear ramps from the end values to the edges."""
    n = x.shape[axis]

    def ramp(at, width, side):
        edge = lax.squeeze(lax.slice_in_dim(x, at, at + 1, axis=axis), (axis,))
        end = ends if ends.ndim == 0 else lax.squeeze(lax.slice(ends, (axis, side), (axis + 1, side + 1)), (0, 1))
        line = linspace(end, edge, width, endpoint=False, dtype=x.dtype, axis=axis)
        return flip(line, axis) if side else line

    return ramp(0, widths[0], 0), ramp(n - 1, widths[1], 1)


def _statistic_ends(x, original, axis, widths, mode, stat_length):
    """The mean, median, maximum or minimum of the elements near each end."""
    n = x.shape[axis]
    lengths = (n, n) if stat_length is None else stat_length[axis]
    if 0 in lengths:
        raise ValueError("stat_length of 0 yields no value for padding")

    def value(start, stop):
        part = x if (start, stop) == (0, n) else lax.slice_in_dim(x, start, stop, axis=axis)
        statistic = _STATISTICS[mode](part, axis=axis, keepdims=True)
        if dtypes.is_integer(x.dtype) and statistic.dtype != x.dtype:
            statistic = _round(statistic)
        return lax.convert_element_type(statistic, x.dtype)

    before = value(0, min_dim(lengths[0], n))
    after = before if all(definitely_at_least(d, n) for d in lengths) else value(n - min_dim(lengths[1], n), n)
    return _repeat_slice(before, axis, widths[0]), _repeat_slice(after, axis, widths[1])


_STATISTICS = {"mean": _mean, "median": _median, "maximum": _max, "minimum": _min}


def _pad_by_function(x, widths, function, options):
    """NumPy's protocol: the function fills the ends of each vector, which here it must return."""
    x = lax.pad(x, x.dtype.type(0), tuple((a, b, 0) for a, b in widths))
    for axis, width in enumerate(widths):
        x = apply_along_axis(lambda v, a=axis, w=width: function(v, w, a, options), axis, x)
    return x
