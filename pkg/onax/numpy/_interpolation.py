"""Linear interpolation: interp."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._arithmetic import clip, remainder
from onax.numpy._gathering import take
from onax.numpy._joining import concatenate
from onax.numpy._promotion import check_arraylike, ensure_arraylike, promote_dtypes_inexact
from onax.numpy._searching import searchsorted
from onax.numpy._ufuncs import absolute, add, constant_like, multiply, subtract
from onax.numpy._where import where


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None,
    period: ArrayLike | None = None,
) -> Array:
    """Returns the values of a piecewise linear function.

    Args:
      x: array of points at which it is evaluated.
      xp: vector of increasing points.
      fp: vector of the values at xp.
      left: value for x < xp[0]; default: fp[0].  "extrapolate" continues the first line.
      right: value for x > xp[-1]; default: fp[-1].  "extrapolate" continues the last line.
      period: number; x and xp, in any order, are taken modulo it, and nothing is outside.

    Returns:
      Inexact array of the shape of `x`.

    Raises:
      ValueError: xp and fp are not vectors of one length.

    Examples:
      >>> jnp.interp(jnp.array([0.5, 3.0]), jnp.array([0.0, 1.0, 2.0]), jnp.array([0.0, 10.0, 30.0]))
      Array([ 5., 30.], dtype=float32)
    """
    x, xp, fp = check_arraylike("interp", x, xp, fp)
    for name, end in (("left", left), ("right", right)):
        if isinstance(end, str) and end != "extrapolate":
            raise ValueError(f"the only valid string value of `{name}` is 'extrapolate', but got: {end!r}")
    if period is not None and np.ndim(period) != 0:
        raise ValueError(f"period must be a scalar; got {period}")
    static = tuple(end if isinstance(end, str) else None for end in (left, right))
    low, high = (None if isinstance(end, str) else end for end in (left, right))
    return _interp(x, xp, fp, low, high, period, ends=static)


@staged("_interp", static_argnames=("ends",))
def _interp(x, xp, fp, left, right, period, *, ends):
    if np.shape(xp) != np.shape(fp) or np.ndim(xp) != 1:
        raise ValueError("xp and fp must be one-dimensional arrays of equal size")
    x, xp = promote_dtypes_inexact(ensure_arraylike("interp", x), ensure_arraylike("interp", xp))
    (fp,) = promote_dtypes_inexact(ensure_arraylike("interp", fp))
    if dtypes.is_complex(x.dtype):
        raise ValueError("jnp.interp: complex x values not supported.")
    if period is not None:
        x, xp, fp = _extend_periodically(x, xp, fp, period)
    n = xp.shape[0]
    i = clip(searchsorted(xp, x, "right"), 1, n - 1)
    before = lax.sub(i, i.dtype.type(1))
    x0, x1, f0, f1 = take(xp, before), take(xp, i), take(fp, before), take(fp, i)
    width = lax.sub(x1, x0)
    tiny = lax.abs(constant_like(width, np.spacing(dtypes.finfo(width.dtype).eps)))
    flat = lax.le(lax.abs(width), tiny)
    slope = lax.div(lax.sub(x, x0), where(flat, constant_like(width, 1), width))
    out = where(flat, f0, add(f0, multiply(slope, subtract(f1, f0))))
    low, high = (lax.squeeze(lax.slice(xp, (k,), (k + 1,)), (0,)) for k in (0, n - 1))
    if period is None and ends[0] is None:
        value = lax.squeeze(lax.slice(fp, (0,), (1,)), (0,)) if left is None else left
        out = where(lax.lt(x, low), value, out)
    if period is None and ends[1] is None:
        value = lax.squeeze(lax.slice(fp, (n - 1,), (n,)), (0,)) if right is None else right
        out = where(lax.gt(x, high), value, out)
    return out


def _extend_periodically(x, xp, fp, period):
    """Takes x and xp modulo the period, sorts the points, and adds one point at each end."""
    period = absolute(period)
    x, xp = remainder(x, period), remainder(xp, period)
    xp, fp = lax.sort_key_val(xp, fp)
    n = xp.shape[0]
    before, after = (lax.slice(xp, (i,), (i + 1,)) for i in (n - 1, 0))
    xp = concatenate([subtract(before, period), xp, add(after, period)])
    return x, xp, lax.concatenate([lax.slice(fp, (n - 1,), (n,)), fp, lax.slice(fp, (0,), (1,))], 0)
