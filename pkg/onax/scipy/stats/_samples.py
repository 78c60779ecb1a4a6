"""Statistics of samples: mode, rankdata, sem."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import ensure_arraylike, promote_args_inexact


class ModeResult(NamedTuple):
    """The commonest value, and how often it occurs."""

    mode: Array
    count: Array  # type: ignore[assignment]  # a tuple has a method of this name


def _sort_and_mark_runs(x):
    """Sorts x along the last axis and marks where each run of equal elements begins; NaN equals NaN."""
    ordered = jnp.sort(x, axis=-1)
    before, after = ordered[..., :-1], ordered[..., 1:]
    new = before != after
    if jnp.issubdtype(x.dtype, jnp.inexact):
        new = new & ~(jnp.isnan(before) & jnp.isnan(after))
    return ordered, jnp.concatenate([jnp.ones((*x.shape[:-1], 1), bool), new], axis=-1)


def _run_starts(new):
    """The index, for each element, where its run begins."""
    indices = lax.broadcasted_iota(np.int32, new.shape, new.ndim - 1)
    return lax.cummax(jnp.where(new, indices, 0), axis=new.ndim - 1)


@static_argnames("axis", "nan_policy", "keepdims")
def mode(a: ArrayLike, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """Returns the most frequent value along an axis, and how often it occurs.

    Of several values it is the smallest.  NaN counts as a value, the largest.

    Args:
      a: an array.
      axis: an int, or None for all elements; default 0.
      nan_policy: "propagate".
      keepdims: True: the axis remains, with length 1; default False.

    Returns:
      A named tuple (mode, count) of arrays of the shape of `a` without the axis.

    Raises:
      NotImplementedError: `nan_policy` is "omit" or "raise".
      ValueError: another `nan_policy`, or an axis out of bounds.

    Examples:
      >>> onax.scipy.stats.mode(jnp.array([3, 1, 1, 2]))
      ModeResult(mode=Array(1, dtype=int32), count=Array(2, dtype=int32))
    """
    a = ensure_arraylike("mode", a)
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(f"Illegal nan_policy value {nan_policy!r}; expected one of {{'propagate', 'omit', 'raise'}}")
    if nan_policy == "omit":
        raise NotImplementedError(f"Logic for `nan_policy` of {nan_policy} is not implemented")
    if nan_policy == "raise":
        raise NotImplementedError(
            "In order to best JIT compile `mode`, we cannot know whether `x` contains nans. Please check if nans exist "
            "in `x` outside of the `mode` function."
        )
    if axis is None or not a.ndim:
        x = a.reshape(-1)
        shape = (1,) * a.ndim if keepdims else ()
    else:
        x = jnp.moveaxis(a, axis, -1)
        shape = jnp.expand_dims(x[..., :0].sum(-1), axis).shape if keepdims else x.shape[:-1]
    if not x.shape[-1]:
        nothing = jnp.full(shape, np.nan, dtypes.canonicalize_dtype(jnp.result_type(float)))
        return ModeResult(nothing, jnp.zeros_like(nothing))
    if not x.size:
        return ModeResult(jnp.zeros(shape, a.dtype), jnp.zeros(shape, dtypes.scalar_dtype(int)))
    ordered, new = _sort_and_mark_runs(x)
    lengths = lax.broadcasted_iota(np.int32, new.shape, new.ndim - 1) - _run_starts(new) + 1
    at = jnp.argmax(lengths, axis=-1)[..., None]
    value, count = (jnp.take_along_axis(v, at, -1)[..., 0] for v in (ordered, lengths))
    return ModeResult(value.reshape(shape), count.reshape(shape).astype(dtypes.scalar_dtype(int)))


@static_argnames("method", "axis", "nan_policy")
def rankdata(a: ArrayLike, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate") -> Array:
    """Returns the ranks of elements, from 1 on.

    Args:
      a: an array.
      method: which rank equal elements get: "average" (the default), "min" or "max" of their ranks, "dense" (the same
        as "min", with no gap behind them), or "ordinal" (different ranks, in their order).
      axis: an int, or None for all elements, flattened; default None.
      nan_policy: "propagate": one NaN makes all ranks NaN.

    Returns:
      Float array of the shape of `a`, or of shape (a.size,).

    Raises:
      ValueError: another method.
      NotImplementedError: `nan_policy` is "omit" or "raise".

    Examples:
      >>> onax.scipy.stats.rankdata(jnp.array([3, 1, 1, 2]))
      Array([4. , 1.5, 1.5, 3. ], dtype=float32)
    """
    a = ensure_arraylike("rankdata", a)
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(f"Illegal nan_policy value {nan_policy!r}; expected one of {{'propagate', 'omit', 'raise'}}")
    if nan_policy != "propagate":
        raise NotImplementedError(f"Logic for `nan_policy` of {nan_policy} is not implemented")
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f"unknown method '{method}'")
    if axis is None:
        return _ranks(a.reshape(-1), method)
    return jnp.moveaxis(_ranks(jnp.moveaxis(a, axis, -1), method), -1, axis)


def _ranks(x, method):
    dtype = jnp.result_type(float)
    if not x.size:
        return jnp.zeros(x.shape, dtype)
    order = jnp.argsort(x, axis=-1)
    back = jnp.argsort(order, axis=-1)
    if method == "ordinal":
        ranks = back + 1
    else:
        _, new = _sort_and_mark_runs(x)
        ranks = jnp.take_along_axis(_ranks_of_sorted(new, method), back, -1)
    ranks = ranks.astype(dtype)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return ranks
    return jnp.where(jnp.isnan(x).any(-1, keepdims=True), np.nan, ranks)


def _ranks_of_sorted(new, method):
    """The ranks of the elements of the sorted array."""
    if method == "dense":
        return jnp.cumsum(new, axis=-1)
    lowest = _run_starts(new) + 1
    if method == "min":
        return lowest
    last = jnp.concatenate([new[..., 1:], jnp.ones_like(new[..., :1])], axis=-1)
    highest = new.shape[-1] - _run_starts(last[..., ::-1])[..., ::-1]
    return highest if method == "max" else (lowest + highest) / 2


@static_argnames("axis", "nan_policy", "keepdims")
def sem(
    a: ArrayLike, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Array:
    """Returns the standard error of the mean: the standard deviation over the root of the count.

    Args:
      a: an array.
      axis: an int, or None for all elements; default 0.
      ddof: what is subtracted from the count in the deviation; default 1.
      nan_policy: "propagate", or "omit": NaN are left out.
      keepdims: True: the axis remains, with length 1; default False.

    Returns:
      Float array of the shape of `a` without the axis.

    Raises:
      ValueError: another `nan_policy`.
      IndexError: there is no such axis.

    Examples:
      >>> onax.scipy.stats.sem(jnp.array([1.0, 3.0]))
      Array(1., dtype=float32)
    """
    (a,) = promote_args_inexact("sem", a)
    if nan_policy == "propagate":
        size = a.size if axis is None else a.shape[axis]
        if not size:
            return _nan_result(a, axis, keepdims)
        return (a.std(axis, ddof=ddof, keepdims=keepdims) / math.sqrt(size)).astype(a.dtype)
    if nan_policy == "omit":
        count = (~jnp.isnan(a)).sum(axis, keepdims=keepdims)
        return (jnp.nanstd(a, axis, ddof=ddof, keepdims=keepdims) / jnp.sqrt(count.astype(a.dtype))).astype(a.dtype)
    raise ValueError(f"{nan_policy} is not supported")


def _nan_result(a, axis, keepdims):
    return jnp.full_like(a.sum(axis, keepdims=keepdims), np.nan)
