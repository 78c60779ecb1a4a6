"""onax.scipy.interpolate: interpolation on grids."""

import itertools

import numpy as np

from onax import numpy as jnp

__all__ = ["RegularGridInterpolator"]


class RegularGridInterpolator:
    """A function that interpolates values on a rectangular grid; it takes points of shape (..., d).

    Args:
      points: d ascending arrays, one for each axis of the grid.
      values: an array whose first d axes are those of the grid.
      method: "linear" (the default) or "nearest".
      bounds_error: False.
      fill_value: the value outside of the grid; None: extrapolated from its edge.  Default NaN.

    Raises:
      ValueError: another method, or points and values that do not fit.
      NotImplementedError: `bounds_error` is true.

    Examples:
      >>> grid = onax.scipy.interpolate.RegularGridInterpolator((jnp.arange(3.0),), jnp.array([0.0, 10.0, 40.0]))
      >>> grid(jnp.array([[0.5], [1.5]]))
      Array([ 5., 25.], dtype=float32)
    """

    def __init__(self, points, values, method="linear", bounds_error=False, fill_value=np.nan):
        if method not in ("linear", "nearest"):
            raise ValueError(f"method {method!r} is not defined")
        self.method = method
        self.bounds_error = bounds_error
        if self.bounds_error:
            raise NotImplementedError("`bounds_error` takes no effect under JIT")
        if len(points) > values.ndim:
            raise ValueError(f"there are {len(points)} point arrays, but values has {values.ndim} dimensions")
        if not jnp.issubdtype(values.dtype, jnp.inexact):
            values = jnp.asarray(values, dtype=jnp.result_type(float, values.dtype))
        self.fill_value = None if fill_value is None else jnp.asarray(fill_value)
        self.grid = tuple(jnp.asarray(p) for p in points)
        self.values = jnp.asarray(values)

    def __call__(self, xi, method=None):
        """The values at points: an array whose last axis has a coordinate for each axis of the grid, or a tuple."""
        method = self.method if method is None else method
        if method not in ("linear", "nearest"):
            raise ValueError(f"method {method!r} is not defined")
        rank = len(self.grid)
        xi = _as_points(xi, rank)
        if xi.shape[-1] != rank:
            raise ValueError(
                f"the requested sample points xi have dimension {xi.shape[1]}, but this RegularGridInterpolator has "
                f"dimension {rank}"
            )
        columns = xi.reshape(-1, rank).T
        intervals = [_find_interval(x, grid) for x, grid in zip(columns, self.grid)]
        result = (_linear if method == "linear" else _nearest)(self.values, intervals)
        if self.fill_value is not None:
            outside = jnp.zeros(columns.shape[1], bool)
            for x, grid in zip(columns, self.grid):
                outside = outside | (x < grid[0]) | (x > grid[-1])
            result = jnp.where(outside.reshape(-1, *[1] * (result.ndim - 1)), self.fill_value, result)
        return result.reshape(xi.shape[:-1] + self.values.shape[rank:])


def _as_points(xi, rank):
    if isinstance(xi, tuple):
        return jnp.stack(jnp.broadcast_arrays(*[jnp.asarray(x) for x in xi]), -1)
    xi = jnp.asarray(xi)
    return xi.reshape(-1, rank) if xi.ndim == 1 else xi


def _find_interval(x, grid):
    """Returns (index of the grid interval that holds x, relative position of x in it: 0 to 1)."""
    i = jnp.clip(jnp.searchsorted(grid, x) - 1, 0, grid.size - 2)
    return i, (x - grid[i]) / (grid[i + 1] - grid[i])


def _linear(values, intervals):
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(intervals)):
        weight = 1.0
        for at, (_, part) in zip(corner, intervals):
            weight = weight * (part if at else 1 - part)
        term = values[tuple(i + at for at, (i, _) in zip(corner, intervals))]
        total = total + term * jnp.reshape(weight, (-1, *[1] * (term.ndim - 1)))
    return total


def _nearest(values, intervals):
    return values[tuple(jnp.where(part <= 0.5, i, i + 1) for i, part in intervals)]
