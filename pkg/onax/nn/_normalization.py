"""Normalized exponentials: softmax, log_softmax, logsumexp."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import FEW, compiled_when_large, staged
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.config import softmax_custom_jvp
from onax._ground.typing import ArrayLike, Axis
from onax._native.array import Array
from onax.numpy._promotion import ensure_arraylike, promote_args_inexact
from onax.numpy._reductions import reduction_axes
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where as _where


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
    where: ArrayLike | None = None,
) -> Array: ...


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    *,
    return_sign: Literal[True],
    where: ArrayLike | None = None,
) -> tuple[Array, Array]: ...


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Array | tuple[Array, Array]: ...


@static_argnames("keepdims")
@compiled_when_large(("axis", "keepdims", "return_sign"), compiled_from=FEW)
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Array | tuple[Array, Array]:
    """Returns log(sum(b * exp(a))), without overflow.

    Args:
      a: an array of real or complex numbers.
      axis: an int or a tuple of ints; default None, all axes.
      b: weights, which broadcast to `a`; default None, ones.
      keepdims: True: reduced axes remain, with length 1; default False.
      return_sign: True: the result is a pair; default False.
      where: a bool array that broadcasts to `a`; elements where it is False do not count.

    Returns:
      Float array of the shape of `a` without the reduced axes; NaN where the sum is negative.  With `return_sign` the
      logarithm of the absolute value of the sum, and its sign.

    Raises:
      TypeError: `axis` is an array that is not a scalar.
      ValueError: there is no such axis.

    Examples:
      >>> nn.logsumexp(jnp.array([1000.0, -jnp.inf]))
      Array(1000., dtype=float32)
    """
    if b is not None:
        a, b = promote_args_inexact("logsumexp", a, b)
        a = _where(lax.ne(b, constant_like(b, 0)), a, -np.inf)
    else:
        (a,) = promote_args_inexact("logsumexp", a)
    if where is not None:
        a = _where(where, a, 0)
    if isinstance(axis, Array) and axis.ndim:
        raise TypeError(f"logsumexp: axis must be an integer or a tuple of them, got an array of shape {axis.shape}")
    axes = reduction_axes(axis, a.ndim)
    largest = jnp.max(
        lax.real(a) if dtypes.is_complex(a.dtype) else a, axes, keepdims=keepdims, where=where, initial=-np.inf
    )
    largest = lax.stop_gradient(lax.select(lax.is_finite(largest), largest, lax.full_like(largest, 0)))
    wide = largest if keepdims else lax.expand_dims(largest, axes)
    if dtypes.is_complex(a.dtype):
        wide = lax.convert_element_type(wide, a.dtype)
    exponentials = lax.exp(lax.sub(a, wide))
    if b is not None:
        exponentials = lax.mul(exponentials, b)
    total = jnp.sum(exponentials, axis=axes, keepdims=keepdims, where=where)
    sign = lax.sign(total)
    if return_sign or not dtypes.is_complex(a.dtype):
        total = lax.abs(total)
    total = lax.log(total)
    if _became_real(total, largest):
        largest = lax.real(largest)
    out = lax.add(total, lax.convert_element_type(largest, total.dtype))
    if return_sign:
        return out, sign
    if b is not None and not dtypes.is_complex(out.dtype):
        out = jnp.where(lax.lt(sign, constant_like(sign, 0)), np.nan, out)
    return out


def _became_real(total, largest):
    return dtypes.is_complex(largest.dtype) and not dtypes.is_complex(total.dtype)


def _subtract_max(x, axis, mask):
    """x minus its largest element along the axis (through which no derivative flows), and its exponential."""
    largest = jnp.max(x, axis, where=mask, initial=-np.inf, keepdims=True)
    if mask is not None:
        x = _where(mask, x, -np.inf)
    shifted = jnp.subtract(x, lax.stop_gradient(largest))
    return shifted, jnp.exp(shifted)


@compiled_when_large(("axis",), compiled_from=FEW)
def softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """Returns exp(x) divided by its sum along an axis.

    The largest element is subtracted first, so that large numbers do not overflow.

    Args:
      x: an array of real numbers.
      axis: an int or a tuple of ints; default -1.
      where: a bool array that broadcasts to `x`; elements where it is False count as -inf and give 0.

    Returns:
      Float array of the shape of `x`.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> nn.softmax(jnp.array([1.0, 1.0, 1.0, 1.0]))
      Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    x = ensure_arraylike("softmax", x)
    return (_softmax_with_derivative if softmax_custom_jvp.value else _softmax)(x, axis, where)


def _softmax(x, axis, where):
    _, unnormalized = _subtract_max(x, axis, where)
    total = jnp.sum(unnormalized, axis, where=where, keepdims=True)
    out = jnp.divide(unnormalized, total)
    return out if where is None else jnp.where(where, out, 0)


_softmax_with_derivative = custom_jvp(_softmax, nondiff_argnums=(1,))


@_softmax_with_derivative.defjvp
def _softmax_jvp(axis, primals, tangents):
    """Of the result y alone: y times the tangent less its mean weighted by y."""
    (x, where), (tangent, _) = primals, tangents
    y = _softmax_with_derivative(x, axis, where)
    return y, y * (tangent - jnp.sum(y * tangent, axis, where=where, keepdims=True))


@staged("log_softmax", static_argnames=("axis",), compiled_from=FEW)
def log_softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """Returns the logarithm of `softmax`, exact also where the softmax itself would be rounded to 0.

    Args:
      x: an array of real numbers.
      axis: an int or a tuple of ints; default -1.
      where: a bool array that broadcasts to `x`; elements where it is False give -inf.

    Returns:
      Float array of the shape of `x`.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> nn.log_softmax(jnp.array([0.0, 1000.0]))
      Array([-1000.,     0.], dtype=float32)
    """
    x = ensure_arraylike("log_softmax", x)
    shifted, unnormalized = _subtract_max(x, axis, where)
    logarithm = jnp.log(jnp.sum(unnormalized, axis, where=where, keepdims=True))
    out = jnp.subtract(shifted, logarithm)
    return out if where is None else jnp.where(where, out, -np.inf)
