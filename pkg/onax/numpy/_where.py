"""Choosing between arrays: where, select, piecewise, choose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import name_error
from onax._core.result_checks import checked_as_one
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array, ArrayImpl
from onax.numpy._promotion import check_arraylike, ensure_arraylike, ensure_arraylikes, promote_dtypes

_BOOL = np.dtype(bool)


@staged("_where")
def where(condition, x, y):
    """x where condition, y elsewhere, all broadcast together."""
    if (
        type(condition) is ArrayImpl and type(x) is ArrayImpl and type(y) is ArrayImpl and x.dtype is y.dtype
        and condition.dtype is _BOOL and condition.shape == x.shape == y.shape and x.weak_type is y.weak_type
    ):  # fmt: skip
        return lax.select_n_p.bind(condition, y, x)
    return checked_as_one(_where, condition, x, y)


def _where(condition, x, y):
    condition, x, y = check_arraylike("where", condition, x, y)
    condition = ensure_arraylike("where", condition)
    if condition.dtype != np.bool_:
        condition = lax.ne(condition, condition.dtype.type(0))
    x, y = promote_dtypes(x, y)
    try:
        shape = lax.broadcast_shapes(condition.shape, x.shape, y.shape)
    except ValueError as error:
        name_error(error, "onax.numpy.where")
        raise
    # a scalar condition selects whole arrays: it stays a scalar
    condition = condition if condition.shape == () else _broadcast(condition, shape)
    x, y = _broadcast(x, shape), _broadcast(y, shape)
    return lax.select_n(condition, y, x)


def _broadcast(x, shape):
    """x broadcast to shape by NumPy's rule, as one operation."""
    if x.shape == shape:
        return x
    axes = tuple(range(len(shape) - x.ndim, len(shape)))
    return lax.broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=axes, sharding=None)


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> Array:
    """Returns, for each element, the choice whose condition holds first.

    Args:
      condlist: sequence of bool arrays.
      choicelist: sequence of as many arrays; all broadcast.
      default: value where no condition holds.

    Returns:
      Array of the broadcast shape and the promoted dtype of choices and default.

    Raises:
      ValueError: the lists are empty or differ in length.

    Examples:
      >>> x = jnp.array([1, 5, 9])
      >>> jnp.select([x < 3, x < 7], [x, 10 * x], default=-1)
      Array([ 1, 50, -1], dtype=int32)
    """
    if len(condlist) != len(choicelist):
        raise ValueError(f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})")
    if not len(condlist):
        raise ValueError("condlist must be non-empty")
    conditions = [
        lax.ne(c, c.dtype.type(0)) if c.dtype != np.bool_ else c for c in ensure_arraylikes("select", *condlist)
    ]
    (default,) = check_arraylike("select", default)
    choices = promote_dtypes(default, *ensure_arraylikes("select", *choicelist))
    shape = lax.broadcast_shapes(*(c.shape for c in conditions), *(c.shape for c in choices))
    conditions = [_broadcast(c, shape) for c in conditions]
    none = lax.full(shape, False, np.bool_)
    which = lax.argmax(lax.stack([none, *conditions], 0), 0, dtypes.scalar_dtype(int))
    return lax.select_n(which, *(_broadcast(c, shape) for c in choices))
