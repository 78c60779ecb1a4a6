"""Differences along an axis, and functions of them: diff, ediff1d, gradient, trapezoid, unwrap."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.tree import tree_leaves
from onax.numpy._arithmetic import mod
from onax.numpy._creation import broadcast_to
from onax.numpy._cumulative import cumsum
from onax.numpy._joining import concatenate
from onax.numpy._promotion import (
    canonical_axes,
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    indexed_axis,
    promote_args,
    promote_dtypes,
    promote_dtypes_inexact,
    single_axis,
    to_dtype,
)
from onax.numpy._shaping import ravel, swapaxes
from onax.numpy._ufuncs import constant_like, scalar_like
from onax.numpy._where import where


def _subtract(x, y):
    """x - y; for bools, whether they differ."""
    return lax.ne(x, y) if x.dtype == np.bool_ else lax.sub(x, y)


@staged("diff", static_argnames=("n", "axis"))
def diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Array:
    """Returns differences of neighbours along an axis.

    Args:
      a: array of rank 1 or more; for bool, whether neighbours differ.
      n: int, how often the difference is taken.
      axis: int.
      prepend: array or scalar that is joined in front along the axis.
      append: array or scalar that is joined behind along the axis.

    Returns:
      Array shorter by n along the axis, of the dtype of `a`.

    Raises:
      ValueError: n is negative, or `a` is a scalar.

    Examples:
      >>> jnp.diff(jnp.array([1, 4, 9, 16]))
      Array([3, 5, 7], dtype=int32)
    """
    a = ensure_arraylike("diff", a)
    n = operator.index(n)
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError(f"diff requires input that is at least one dimensional; got {a}")
    axis = canonical_axis(axis, a.ndim)
    ends = []
    for end in (prepend, append):
        if end is not None:
            end = ensure_arraylike("diff", end)
            end = broadcast_to(end, (*a.shape[:axis], 1, *a.shape[axis + 1 :])) if end.ndim == 0 else end
        ends.append(end)
    if ends != [None, None]:
        a = concatenate([x for x in (ends[0], a, ends[1]) if x is not None], axis)
    for _ in range(n):
        whole: list[tuple[int, int | None]] = [(0, None)] * a.ndim
        later, earlier = whole.copy(), whole.copy()
        later[axis], earlier[axis] = (1, None), (0, -1)
        a = _subtract(_slice(a, later), _slice(a, earlier))
    return a


def _slice(x, bounds):
    """Slices x by one (start, stop) for each axis; None and negative stops mean what they mean in Python."""
    ends = [d if stop is None else (d + stop if d else 0) for d, (_, stop) in zip(x.shape, bounds)]
    starts = [min(start, end) if isinstance(end, int) else start for (start, _), end in zip(bounds, ends)]
    return lax.slice(x, starts, ends)


@staged("ediff1d")
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Returns the differences of neighbours of the flattened array.

    Args:
      ary: array of n elements.
      to_end: values behind the differences.
      to_begin: values before the differences.

    Returns:
      Array of rank 1, of the dtype of `ary`: n - 1 differences and the given values.

    Examples:
      >>> jnp.ediff1d(jnp.array([1, 4, 9]), to_end=0)
      Array([3, 5, 0], dtype=int32)
    """
    ary = ravel(ensure_arraylike("ediff1d", ary))
    out = lax.sub(_slice(ary, [(1, None)]), _slice(ary, [(0, -1)]))
    if to_begin is not None:
        out = concatenate([ravel(to_dtype(to_begin, ary.dtype)), out])
    if to_end is not None:
        out = concatenate([out, ravel(to_dtype(to_end, ary.dtype))])
    return out


@staged("trapezoid", static_argnames=("axis",), compiled_from=FEW)
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """Returns an integral along an axis by the trapezoidal rule.

    Args:
      y: array of values.
      x: points, a vector or an array of the shape of `y`; default: points `dx` apart.
      dx: number, the distance of points where `x` is None.
      axis: int.

    Returns:
      Inexact array without the axis.

    Raises:
      IndexError: the axis has length 0 and `x` is None.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]), dx=0.5)
      Array(2., dtype=float32)
    """
    check_arraylike("trapezoid", *tree_leaves(dx))
    axis = single_axis(axis)
    if x is None:
        (y,) = check_arraylike("trapezoid", y)
        (y,) = promote_dtypes_inexact(y)
        dx = to_dtype(dx, y.dtype)
    else:
        y, x = check_arraylike("trapezoid", y, x)
        y, x = promote_dtypes_inexact(y, x)
        if x.ndim == 1:
            dx = diff(x)
        else:
            last = canonical_axis(axis, x.ndim)
            dx = swapaxes(diff(x, axis=last), last, -1)
    axis = canonical_axis(axis, y.ndim)
    y = lax.transpose(y, (*(i for i in range(y.ndim) if i != axis), axis))
    if x is None:
        if dims.definitely_empty(y.shape[-1:]):
            raise IndexError("trapezoid: index is out of bounds for axis 0 with size 0")
        total = lax.reduce_sum(y, (y.ndim - 1,))
        ends = lax.add(index_last_axis(y, 0), index_last_axis(y, y.shape[-1] - 1))
        total = lax.sub(total, lax.mul(constant_like(y, 0.5), ends))
        return lax.mul(dx, total)
    pairs = lax.add(_slice_last_axis(y, 1, None), _slice_last_axis(y, 0, -1))
    total = lax.mul(*promote_args("trapezoid", dx, pairs))
    return lax.mul(constant_like(y, 0.5), lax.reduce_sum(total, (total.ndim - 1,)))


def index_last_axis(x, i):
    """x[..., i], for a known i >= 0."""
    part = lax.slice(x, [0] * (x.ndim - 1) + [i], (*x.shape[:-1], i + 1))
    return lax.squeeze(part, (x.ndim - 1,))


def _slice_last_axis(x, start, stop):
    return _slice(x, [(0, None)] * (x.ndim - 1) + [(start, stop)])


@staged("gradient", static_argnames=("axis", "edge_order"), compiled_from=FEW)
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: int | Sequence[int] | None = None, edge_order: int | None = None
) -> Array | list[Array]:
    """Returns derivatives along the axes: central differences, one-sided at the ends.

    Args:
      f: array with at least two elements along each axis.
      *varargs: nothing (spacing 1), one number, or for each axis a number or the vector of its points.
      axis: int or ints; default: all axes.
      edge_order: must be None; ends are of first order.

    Returns:
      Inexact array of the shape of `f`, or a list with one for each axis.

    Raises:
      ValueError: an axis is shorter than 2.
      TypeError: the number of spacings does not fit.
      NotImplementedError: `edge_order` is given.

    Examples:
      >>> jnp.gradient(jnp.array([1.0, 4.0, 9.0, 16.0]))
      Array([3., 4., 6., 7.], dtype=float32)
    """
    if edge_order is not None:
        raise NotImplementedError("The 'edge_order' argument to jnp.gradient is not supported.")
    f, *varargs = check_arraylike("gradient", f, *varargs)
    f, *varargs = promote_dtypes_inexact(f, *varargs)
    axes = canonical_axes(axis, f.ndim)
    if any(np.ndim(h) > 1 for h in varargs):
        raise ValueError("gradient: Spacing arrays must be 1D arrays or scalars.")
    if min((f.shape[i] for i in axes), default=2) < 2:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least 2 elements are required."
        )
    if len(varargs) == 0:
        spacings = [scalar_like(f, 1)] * len(axes)
    elif len(varargs) == 1:
        spacings = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        spacings = list(varargs)
    else:
        raise TypeError(f"Invalid number of spacing arguments {len(varargs)} for {axes=}")
    out = [_gradient_along_axis(f, i, h) for i, h in zip(axes, spacings)]
    return out[0] if len(axes) == 1 else out


def _gradient_along_axis(f, axis, spacing):
    n = f.shape[axis]

    def part(start, stop):
        starts, stops, strides = [0] * f.ndim, list(f.shape), [1] * f.ndim
        starts[axis], stops[axis] = start, stop
        return lax.slice(f, starts, stops, strides)

    first, last = lax.sub(part(1, 2), part(0, 1)), lax.sub(part(n - 1, n), part(n - 2, n - 1))
    if np.ndim(spacing) == 0:
        middle = lax.mul(lax.sub(part(2, n), part(0, n - 2)), scalar_like(f, 0.5))
        middle, last = lax.div(middle, spacing), lax.div(last, spacing)
        return lax.concatenate([lax.div(first, spacing), middle, last], axis)
    if not dims.equal(np.shape(spacing)[0], n):
        raise ValueError(
            "Spacing arrays must have the same length as the dimension along which the gradient is calculated: "
            f"{np.shape(spacing)[0]} for {n}."
        )
    gaps = lax.reshape(diff(spacing), [n - 1 if i == axis else 1 for i in range(f.ndim)])

    def gap(start, stop):
        return lax.slice_in_dim(gaps, start, stop, axis=axis)

    before, after = gap(0, n - 2), gap(1, n - 1)
    total = lax.add(before, after)
    weights = (
        lax.neg(lax.div(after, lax.mul(before, total))),
        lax.div(lax.sub(after, before), lax.mul(before, after)),
        lax.div(before, lax.mul(after, total)),
    )
    parts = (part(0, n - 2), part(1, n - 1), part(2, n))
    terms = [lax.mul(w, p) for w, p in zip(weights, parts)]
    middle = lax.add(lax.add(terms[0], terms[1]), terms[2])
    return lax.concatenate([lax.div(first, gap(0, 1)), middle, lax.div(last, gap(n - 2, n - 1))], axis)


@staged("unwrap", static_argnames=("axis",), compiled_from=FEW)
def unwrap(p: ArrayLike, discont: ArrayLike | None = None, axis: int = -1, period: ArrayLike = 2 * np.pi) -> Array:
    """Returns an array in which jumps along an axis are removed by adding multiples of a period.

    Args:
      p: array of real numbers.
      discont: number; differences up to it stay, if it is above period / 2; default: period / 2.
      axis: int.
      period: number; default: 2 pi.

    Returns:
      Array of the shape of `p`, inexact unless both `p` and the period are integers.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: `p` is complex.

    Examples:
      >>> jnp.unwrap(jnp.array([0, 1, 2, 0, 1]), period=3)
      Array([0, 1, 2, 3, 4], dtype=int32)
    """
    p, period = promote_dtypes(ensure_arraylike("unwrap", p), period)
    if dtypes.is_complex(p.dtype):
        raise ValueError("jnp.unwrap does not support complex inputs.")
    axis = indexed_axis(axis, p.ndim)
    if p.shape[axis] == 0:
        return p
    discont = period / 2 if discont is None else discont
    interval = period // 2 if dtypes.is_integer(p.dtype) else period / 2
    steps = diff(p, axis=axis)
    wrapped = mod(steps + interval, period) - interval
    wrapped = where((wrapped == -interval) & (steps > 0), interval, wrapped)
    correction = where(abs(steps) < discont, 0, wrapped - steps)
    first = lax.slice_in_dim(p, 0, 1, axis=axis)
    rest = lax.slice_in_dim(p, 1, None, axis=axis) + cumsum(correction, axis=axis)
    return lax.concatenate(promote_dtypes(first, rest), axis)
