"""Second moments: cov, corrcoef."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax._prims.slicing import dim_value
from onax.numpy._arithmetic import clip
from onax.numpy._creation import full, zeros
from onax.numpy._differences import index_last_axis
from onax.numpy._joining import concatenate
from onax.numpy._products import dot
from onax.numpy._promotion import (
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    promote_args,
    promote_dtypes_inexact,
)
from onax.numpy._reductions import average, mean, sum
from onax.numpy._shaping import atleast_2d, squeeze, swapaxes
from onax.numpy._ufuncs import absolute, constant_like, multiply


@staged("cov", ("rowvar", "bias", "ddof", "dtype"), compiled_from=None)
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Returns the covariance matrix of variables.

    Args:
      m: array of shape (n,) or (variables, observations).
      y: more variables of the same form, which are joined to m.
      rowvar: whether variables lie in rows; otherwise in columns.
      bias: whether sums are divided by the number of observations n instead of n - 1.
      ddof: int that replaces the choice of `bias`: sums are divided by n - ddof.
      fweights: integers, how often each observation counts.
      aweights: weights of the observations.
      dtype: dtype of the result; default: an inexact one by promotion.

    Returns:
      Array of shape (variables, variables); a scalar for one variable. NaN if there are no observations.

    Raises:
      ValueError: m has a rank above 2.
      RuntimeError: there are not as many weights as observations.

    Examples:
      >>> jnp.cov(jnp.array([[1.0, 2.0, 3.0], [1.0, 3.0, 5.0]]))
      Array([[1., 2.],
             [2., 4.]], dtype=float32)
    """
    if dtype is not None:
        if not dtypes.issubdtype(np.dtype(dtype), np.inexact):
            raise ValueError(f"cov: dtype must be a subclass of float or complex; got dtype={dtype!r}")
        dtype = dtypes.check_user_dtype(dtype, "cov")
    if y is None:
        (x,) = promote_dtypes_inexact(ensure_arraylike("cov", m))
    else:
        x, y = promote_dtypes_inexact(*ensure_arraylikes("cov", m, y))
        if y.ndim > 2:
            raise ValueError("y has more than 2 dimensions")
        if {x.ndim, y.ndim} == {1, 2}:  # arrays of unequal rank must broadcast, as in JAX; NumPy concatenates them
            lax.broadcast_shapes(x.shape, y.shape)
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if dtype is not None:
        x, y = lax.convert_element_type(x, dtype), None if y is None else lax.convert_element_type(y, dtype)
    if not rowvar and x.ndim == 2:
        x = swapaxes(x, 0, 1)
    x = atleast_2d(x)
    if x.shape[0] == 0:
        return zeros((0, 0))
    if y is not None:
        y = atleast_2d(y)
        if not rowvar and y.shape[0] != 1:
            y = swapaxes(y, 0, 1)
        x = concatenate([x, y])
    if x.shape[1] == 0:
        return full(() if x.shape[0] == 1 else (x.shape[0], x.shape[0]), np.nan, dtype=x.dtype)
    if ddof is None:
        ddof = 0 if bias else 1
    weights, aweights = _cov_weights(x, fweights, aweights)
    if weights is None:
        average_of_rows = mean(x, axis=1)
        count = x.shape[1] - ddof
        factor = x.dtype.type(count) if dims.is_constant(count) else dim_value(count, x.dtype)
    else:
        if dtype is not None:
            weights = lax.convert_element_type(weights, dtype)
        average_of_rows, total = average(x, axis=1, weights=weights, returned=True)
        factor = _cov_factor(index_last_axis(total, 0), weights, aweights, ddof)
    centered = lax.sub(*promote_args("cov", x, lax.expand_dims(average_of_rows, (1,))))
    weighted = centered
    if weights is not None:
        weighted = lax.mul(*promote_args("cov", centered, lax.expand_dims(weights, (0,))))
    right = lax.transpose(weighted, (1, 0))
    right = lax.conj(right) if dtypes.is_complex(right.dtype) else right
    return squeeze(lax.div(*promote_args("cov", dot(centered, right), factor)))


def _cov_weights(x, fweights, aweights):
    """The product of fweights and aweights, one weight for each observation, and the magnitudes of aweights."""
    weights, given = None, None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        given = ensure_arraylike("cov", given)
        if given.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if given.shape[0] != x.shape[1]:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if name == "fweights" and not dtypes.is_integer(given.dtype):
            raise TypeError("fweights must be integer.")
        given = absolute(given)
        weights = given if weights is None else multiply(weights, given)
    return weights, given


def _cov_factor(total, weights, aweights, ddof):
    """The divisor of the weighted sum."""
    if ddof == 0:
        return total
    if aweights is None:
        return lax.sub(total, constant_like(total, ddof))
    products = sum(multiply(weights, aweights))
    correction = lax.mul(*promote_args("cov", ddof, products))
    return lax.sub(*promote_args("cov", total, lax.div(*promote_args("cov", correction, total))))


@staged("corrcoef", static_argnames=("rowvar", "dtype"), compiled_from=FEW)
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: DTypeLike | None = None) -> Array:
    """Returns the matrix of Pearson's correlation coefficients of variables.

    Args:
      x: array of shape (n,) or (variables, observations).
      y: more variables of the same form, which are joined to x.
      rowvar: whether variables lie in rows; otherwise in columns.
      dtype: dtype of the result; default: an inexact one by promotion.

    Returns:
      Array of shape (variables, variables), with real and imaginary parts limited to [-1, 1].

    Raises:
      ValueError: dtype is not inexact.

    Examples:
      >>> jnp.round(jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])), 4)
      Array([[ 1., -1.],
             [-1.,  1.]], dtype=float32)
    """
    (x,) = check_arraylike("corrcoef", x)
    if dtype is not None and not dtypes.issubdtype(np.dtype(dtype), np.inexact):
        raise ValueError(f"corrcoef: dtype must be a subclass of float or complex; got dtype={dtype!r}")
    out = cov(x, y, rowvar, dtype=dtype) if y is not None or not rowvar or dtype is not None else cov(x)
    if out.ndim == 0:
        return lax.div(out, out)
    n = out.shape[0]
    i, j = lax.broadcasted_iota(np.int32, (n, n), 0), lax.broadcasted_iota(np.int32, (n, n), 1)
    variances = lax.reduce_sum(lax.select(lax.eq(i, j), out, lax.full_like(out, 0)), (1,))
    spread = lax.sqrt(lax.real(variances) if dtypes.is_complex(out.dtype) else variances)
    spread = lax.convert_element_type(spread, out.dtype)
    out = lax.div(lax.div(out, lax.expand_dims(spread, (1,))), lax.expand_dims(spread, (0,)))
    if dtypes.is_complex(out.dtype):
        return lax.complex(clip(lax.real(out), -1, 1), clip(lax.imag(out), -1, 1))
    return clip(out, -1, 1)
