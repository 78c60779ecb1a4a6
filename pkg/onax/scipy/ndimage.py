"""onax.scipy.ndimage: interpolation between the elements of an array."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence

from onax import lax
from onax import numpy as jnp
from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array

__all__ = ["map_coordinates"]


def _mirror_index(index, size):
    last = size - 1
    return jnp.abs((index + last) % (2 * last) - last)


# How an index out of bounds is mapped into the array; mode "constant" reads nothing there.
_INDEX_FIXERS = {
    "mirror": _mirror_index,
    "reflect": lambda index, size: jnp.floor_divide(_mirror_index(2 * index + 1, 2 * size + 1), 2),
    "wrap": lambda index, size: index % size,
    "nearest": lambda index, size: jnp.clip(index, 0, size - 1),
    "constant": lambda index, size: index,
}


@static_argnames("order", "mode", "cval")
def map_coordinates(
    input: ArrayLike, coordinates: Sequence[ArrayLike], order: int, mode: str = "constant", cval: ArrayLike = 0.0
) -> Array:
    """Returns an array's values at fractional coordinates.

    Args:
      input: an array.
      coordinates: one array for each axis of `input`; they broadcast to the shape of the result.
      order: 0: the nearest element; 1: linear interpolation.
      mode: what lies beyond the edges: "constant" (the default), "nearest", "wrap", "mirror" or "reflect".
      cval: the constant; default 0.

    Returns:
      Array of the dtype of `input`; integers are rounded.

    Raises:
      ValueError: another number of coordinates.
      NotImplementedError: a higher order, or another mode.

    Examples:
      >>> onax.scipy.ndimage.map_coordinates(jnp.array([0.0, 10.0]), [jnp.array([0.5, 1.0])], order=1)
      Array([ 5., 10.], dtype=float32)
    """
    return _map_coordinates(input, coordinates, order, mode, cval)


@staged("_map_coordinates", static_argnames=("order", "mode", "cval"))
def _map_coordinates(input, coordinates, order, mode, cval):
    input = jnp.asarray(input)
    positions = [jnp.asarray(c) for c in coordinates]
    fill = jnp.asarray(cval, input.dtype)
    if len(positions) != input.ndim:
        raise ValueError(f"coordinates must be a sequence of length input.ndim, but {len(positions)} != {input.ndim}")
    if mode not in _INDEX_FIXERS:
        raise NotImplementedError(
            f"jax.scipy.ndimage.map_coordinates does not yet support mode {mode}. Currently supported modes are "
            f"{set(_INDEX_FIXERS)}."
        )
    if order not in (0, 1):
        raise NotImplementedError("jax.scipy.ndimage.map_coordinates currently requires order<=1")
    neighbours = [
        [
            (_fix_index(index, size, mode), weight)
            for index, weight in (_linear_indices_and_weights if order else _nearest_indices_and_weights)(position)
        ]
        for position, size in zip(positions, input.shape)
    ]
    terms = []
    for corner in itertools.product(*neighbours):
        indexed, weights = zip(*corner) if corner else ((), ())
        indices = tuple(index for index, _ in indexed)
        value = input[indices]
        if mode == "constant":
            valid = functools.reduce(operator.and_, [inside for _, inside in indexed], True)
            value = jnp.where(valid, value, fill)
        terms.append(functools.reduce(operator.mul, weights, 1) * value)
    out = functools.reduce(operator.add, terms)
    if dtypes.is_integer(input.dtype):
        out = out if dtypes.is_integer(out.dtype) else lax.round(out)
    return out.astype(input.dtype)


def _nearest_indices_and_weights(position):
    """(index, weight) of the nearest element."""
    return [(lax.round(position) if jnp.issubdtype(position.dtype, jnp.floating) else position, 1)]


def _linear_indices_and_weights(position):
    """(index, weight) of both neighbours, for linear interpolation."""
    lower = jnp.floor(position)
    upper_weight = position - lower
    return [(lower, 1 - upper_weight), (lower + 1, upper_weight)]


def _fix_index(index, size, mode):
    """Returns (index within the axis, mask of valid elements or None) according to the mode."""
    index = index.astype("int32")
    if mode == "constant":
        return index, (index >= 0) & (index < size)
    return _INDEX_FIXERS[mode](index, size), None


_wrap_api_functions(globals(), __name__, frozenset(globals()) - frozenset(__all__))
