"""Activation functions."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import FEW, compiled_when_large, staged
from onax._core.api_functions import static_argnames
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes, source
from onax._ground.typing import ArrayLike, Axis, DTypeLike
from onax._native.array import Array
from onax._prims.slicing import dim_value
from onax.nn._normalization import logsumexp
from onax.numpy._promotion import (
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    is_arraylike,
    promote_args,
    promote_args_inexact,
)
from onax.numpy._ufuncs import constant_like, scalar_like
from onax.numpy._where import where

tanh = jnp.tanh


@staged("identity")
def identity(x: ArrayLike) -> Array:
    """Returns its argument unchanged.

    Args:
      x: an array.

    Returns:
      Array equal to `x`.

    Examples:
      >>> nn.identity(jnp.array([1.0, -2.0]))
      Array([ 1., -2.], dtype=float32)
    """
    return ensure_arraylike("identity", x)


@staged("relu")
def _relu(x):
    return jnp.maximum(x, 0)


@custom_jvp
def relu(x: ArrayLike) -> Array:
    """Returns the rectified linear unit max(x, 0), with derivative 0 at 0.

    Args:
      x: an array of real numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Examples:
      >>> nn.relu(jnp.array([-1.0, 0.0, 2.0]))
      Array([0., 0., 2.], dtype=float32)
    """
    (x,) = check_arraylike("relu", x)
    return _relu(x)


relu.defjvps(lambda g, out, x: lax.select(lax.gt(x, constant_like(x, 0)), g, lax.full_like(g, 0)))


@staged("relu6")
def _relu6(x):
    return jnp.minimum(jnp.maximum(x, 0), 6.0)


@custom_jvp
def relu6(x: ArrayLike) -> Array:
    """Returns min(max(x, 0), 6), with derivative 0 at both bends.

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.relu6(jnp.array([-1.0, 3.0, 8.0]))
      Array([0., 3., 6.], dtype=float32)
    """
    (x,) = check_arraylike("relu6", x)
    return _relu6(x)


relu6.defjvps(
    lambda g, out, x: lax.select(
        lax.bitwise_and(lax.gt(x, constant_like(x, 0)), lax.lt(x, constant_like(x, 6))), g, lax.full_like(g, 0)
    )
)


@staged("squareplus")
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """Returns (x + sqrt(x**2 + b)) / 2, a smooth curve near `relu`.

    Args:
      x: an array of floats; integers are converted to the default float.
      b: the smoothness, a number or an array that broadcasts with `x`; default 4.

    Returns:
      Float array of the common shape.

    Examples:
      >>> nn.squareplus(jnp.array([0.0, 1.5]))
      Array([1., 2.], dtype=float32)
    """
    x, b = check_arraylike("squareplus", x, b)
    return jnp.true_divide(jnp.add(x, jnp.sqrt(jnp.add(jnp.square(x), b))), 2)


@staged("softplus", compiled_from=FEW)
def softplus(x: ArrayLike) -> Array:
    """Returns log(1 + exp(x)), without overflow.

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.softplus(jnp.array([-jnp.inf, 100.0]))
      Array([  0., 100.], dtype=float32)
    """
    return jnp.logaddexp(x, 0)


@staged("sparse_plus", compiled_from=FEW)
def sparse_plus(x: ArrayLike) -> Array:
    """Returns 0 below -1, x above 1 and (x + 1)**2 / 4 between.

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.sparse_plus(jnp.array([-2.0, 0.0, 2.0]))
      Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    x = ensure_arraylike("sparse_plus", x)
    low, high = jnp.less_equal(x, -1.0), jnp.greater_equal(x, 1.0)
    middle = jnp.true_divide(jnp.power(jnp.add(x, 1.0), 2), 4)
    return where(low, 0.0, where(high, x, middle))


@staged("soft_sign")
def soft_sign(x: ArrayLike) -> Array:
    """Returns x / (|x| + 1).

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.soft_sign(jnp.array([-1.0, 0.0, 3.0]))
      Array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    x = ensure_arraylike("soft_sign", x)
    return jnp.true_divide(x, jnp.add(jnp.absolute(x), 1))


@static_argnames()
def sigmoid(x: ArrayLike) -> Array:
    """Returns the logistic function 1 / (1 + exp(-x)).

    Args:
      x: an array of floats or complex numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` is an array of integers.

    Examples:
      >>> nn.sigmoid(jnp.array([-jnp.inf, 0.0, jnp.inf]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    return lax.logistic(ensure_arraylike("sigmoid", x))


@staged("sparse_sigmoid")
def sparse_sigmoid(x: ArrayLike) -> Array:
    """Returns (x + 1) / 2 limited to [0, 1], the derivative of `sparse_plus`.

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.sparse_sigmoid(jnp.array([-2.0, 0.0, 2.0]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    return jnp.multiply(0.5, jnp.clip(jnp.add(x, 1.0), 0.0, 2.0))


@staged("silu")
def silu(x: ArrayLike) -> Array:
    """Returns x * sigmoid(x), the sigmoid linear unit (also called swish).

    Args:
      x: an array of floats or complex numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` is an array of integers.

    Examples:
      >>> nn.silu(jnp.array([0.0, 100.0]))
      Array([  0., 100.], dtype=float32)
    """
    x = ensure_arraylike("silu", x)
    return jnp.multiply(x, sigmoid(x))


swish = silu


@staged("mish", compiled_from=FEW)
def mish(x: ArrayLike) -> Array:
    """Returns x * tanh(softplus(x)) (Misra, 2019).

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.mish(jnp.array([0.0, 100.0]))
      Array([  0., 100.], dtype=float32)
    """
    x = ensure_arraylike("mish", x)
    return jnp.multiply(x, jnp.tanh(softplus(x)))


@staged("log_sigmoid", compiled_from=FEW)
def log_sigmoid(x: ArrayLike) -> Array:
    """Returns log(sigmoid(x)), without underflow.

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.log_sigmoid(jnp.array([-1000.0, 1000.0]))
      Array([-1000.,    -0.], dtype=float32)
    """
    return jnp.negative(softplus(jnp.negative(ensure_arraylike("log_sigmoid", x))))


@staged("elu", compiled_from=FEW)
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Returns x where it is positive, and alpha * (exp(x) - 1) elsewhere (Clevert et al., 2015).

    Args:
      x: an array of floats; integers are converted to the default float.
      alpha: a number or an array that broadcasts with `x`; default 1.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.elu(jnp.array([-jnp.inf, 0.0, 2.0]))
      Array([-1.,  0.,  2.], dtype=float32)
    """
    x = ensure_arraylike("elu", x)
    positive = jnp.greater(x, 0)
    safe = where(jnp.greater(x, 0), 0.0, x)
    return where(positive, x, jnp.multiply(alpha, jnp.expm1(safe)))


@staged("leaky_relu")
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """Returns x where it is not negative, and negative_slope * x elsewhere.

    Args:
      x: an array of floats; integers are converted to the default float.
      negative_slope: a number or an array that broadcasts with `x`; default 0.01.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.leaky_relu(jnp.array([-2.0, 2.0]), 0.5)
      Array([-1.,  2.], dtype=float32)
    """
    x = ensure_arraylike("leaky_relu", x)
    return where(jnp.greater_equal(x, 0), x, jnp.multiply(negative_slope, x))


@staged("hard_tanh", compiled_from=FEW)
def hard_tanh(x: ArrayLike) -> Array:
    """Returns x limited to [-1, 1], with derivative 1 at both ends.

    Args:
      x: an array of real numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Examples:
      >>> nn.hard_tanh(jnp.array([-3.0, 0.5, 3.0]))
      Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = ensure_arraylike("hard_tanh", x)
    above, below = jnp.greater(x, 1), jnp.less(x, -1)
    return where(above, 1, where(below, -1, x))


@staged("celu")
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Returns max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1) (Barron, 2017).

    Args:
      x: an array of floats; integers are converted to the default float.
      alpha: a number or an array that broadcasts with `x`; default 1.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.celu(jnp.array([-jnp.inf, 0.0, 2.0]), 0.5)
      Array([-0.5,  0. ,  2. ], dtype=float32)
    """
    high = jnp.maximum(x, 0.0)
    return jnp.add(high, jnp.multiply(alpha, jnp.expm1(jnp.true_divide(jnp.minimum(x, 0.0), alpha))))


@staged("selu", compiled_from=FEW)
def selu(x: ArrayLike) -> Array:
    """Returns the scaled exponential linear unit, `elu` of a fixed slope and scale (Klambauer et al., 2017).

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.selu(jnp.array([-jnp.inf, 0.0, 1.0])).round(4)
      Array([-1.7581,  0.    ,  1.0507], dtype=float32)
    """
    return jnp.multiply(1.0507009873554804934193349852946, elu(x, 1.6732632423543772848170429916717))


@compiled_when_large(("approximate",), compiled_from=FEW)
def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """Returns x times the normal distribution function at x (Hendrycks and Gimpel, 2016).

    Args:
      x: an array of floats; integers are converted to the default float.
      approximate: True (the default): a formula with tanh takes the place of the distribution function, with an
        absolute error up to 0.0005.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.gelu(jnp.array([0.0, 100.0]))
      Array([  0., 100.], dtype=float32)
    """
    (x,) = promote_args_inexact("gelu", x)
    one, half = scalar_like(x, 1), scalar_like(x, 0.5)
    if approximate:
        inner = lax.add(x, lax.mul(scalar_like(x, 0.044715), lax.integer_pow(x, 3)))
        cdf = lax.mul(half, lax.add(one, lax.tanh(jnp.multiply(x.dtype.type(np.sqrt(2 / np.pi)), inner))))
        return jnp.multiply(x, cdf)
    half_x = lax.mul(half, x)
    tail = lax.erfc(jnp.multiply(lax.neg(x), x.dtype.type(np.sqrt(0.5))))
    return lax.copy_p.bind(jnp.multiply(half_x, tail))


@staged("glu", static_argnames=("axis",), compiled_from=FEW)
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """Returns one half of x times the sigmoid of the other (Dauphin et al., 2016).

    Args:
      x: an array of floats, of even length along `axis`.
      axis: the axis along which `x` is divided; default -1.

    Returns:
      Array of the dtype of `x`, half as long along `axis`.

    Raises:
      AssertionError: the length of the axis is odd.

    Examples:
      >>> nn.glu(jnp.array([2.0, 4.0, 0.0, jnp.inf]))
      Array([1., 4.], dtype=float32)
    """
    x = ensure_arraylike("glu", x)
    assert x.shape[axis] % 2 == 0, "axis size must be divisible by 2"
    first, second = jnp.split(x, 2, axis)
    return jnp.multiply(first, sigmoid(second))


@staged("hard_sigmoid")
def hard_sigmoid(x: ArrayLike) -> Array:
    """Returns relu6(x + 3) / 6.

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.hard_sigmoid(jnp.array([-4.0, 0.0, 4.0]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    return jnp.true_divide(relu6(jnp.add(x, 3.0)), 6.0)


@staged("hard_silu")
def hard_silu(x: ArrayLike) -> Array:
    """Returns x * hard_sigmoid(x).

    Args:
      x: an array of floats; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> nn.hard_silu(jnp.array([0.0, 4.0]))
      Array([0., 4.], dtype=float32)
    """
    x = ensure_arraylike("hard_silu", x)
    return jnp.multiply(x, hard_sigmoid(x))


hard_swish = hard_silu


# --- normalising --------------------------------------------------------------------------------------------------


@staged("standardize", static_argnames=("axis", "algorithm"), compiled_from=FEW)
def standardize(
    x: ArrayLike,
    axis: Axis = -1,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    epsilon: ArrayLike = 1e-5,
    where: ArrayLike | None = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Returns x minus its mean, divided by its standard deviation.

    Args:
      x: an array of floats; integers are converted to the default float.
      axis: an int or a tuple of ints over which mean and variance are taken; default -1.
      mean: the mean, of the shape of `x` with axes of length 1; default None, computed.
      variance: the variance, likewise.
      epsilon: a number that is added to the variance; default 1e-5.
      where: a bool array that broadcasts to `x`; elements where it is False do not count.
      algorithm: "fast": the variance is the mean square minus the squared mean; "stable": the mean squared deviation.

    Returns:
      Float array of the shape of `x`.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: `algorithm` is another value.

    Examples:
      >>> nn.standardize(jnp.array([1.0, 3.0]), epsilon=0.0)
      Array([-1.,  1.], dtype=float32)
    """
    x = ensure_arraylike("standardize", x)
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        if algorithm == "fast":
            mean_square = jnp.mean(jnp.square(x), axis, keepdims=True, where=where)
            variance = jnp.subtract(mean_square, jnp.square(mean))
            variance = jnp.clip(variance, 0)
        elif algorithm == "stable":
            variance = jnp.mean(jnp.square(jnp.subtract(x, mean)), axis, keepdims=True, where=where)
        else:
            raise ValueError(f"Unknown algorithm {algorithm!r}. Expected 'fast' or 'stable'.")
    centered = jnp.subtract(x, mean)
    return jnp.multiply(centered, lax.rsqrt(*promote_args_inexact("rsqrt", jnp.add(variance, epsilon))))


# --- others -------------------------------------------------------------------------------------------------------


def one_hot(x: Any, num_classes: int, *, dtype: DTypeLike | None = None, axis: int | str = -1) -> Array:
    """Returns vectors that are 1 at an index and 0 elsewhere.

    Args:
      x: an array of indices.
      num_classes: the length of the new axis, an int.
      dtype: the dtype of the result; default the default float.
      axis: where the new axis lies in the result; default -1.  The name of an axis that `vmap` or `shard_map` binds:
        the classes lie along that one.

    Returns:
      Array of the shape of `x` with one more axis; an index out of range gives zeros.

    Raises:
      ValueError: the named axis has another length than `num_classes`.

    Examples:
      >>> nn.one_hot(jnp.array([0, 2, 5]), 3)
      Array([[1., 0., 0.],
             [0., 0., 1.],
             [0., 0., 0.]], dtype=float32)
    """
    num_classes = concrete_or_error(
        dims.as_dim, num_classes, "The error arose in jax.nn.one_hot argument `num_classes`."
    )
    dtype = dtypes.scalar_dtype(float) if dtype is None else dtypes.check_user_dtype(dtype, "astype")
    x = ensure_arraylike("one_hot", x) if is_arraylike(x) else jnp.asarray(x)
    if not dtypes.isdtype(x.dtype, "integral"):
        text = f"jax.nn.one_hot input should be integer-typed; got dtype={x.dtype}"
        warnings.warn(text, DeprecationWarning, stacklevel=source.stacklevel())
    if not isinstance(axis, str):
        return _one_hot(x, num_classes, dtype=dtype, axis=operator.index(axis))
    size = lax.axis_size(axis)
    if num_classes != size:
        raise ValueError(f"Expected num_classes to match the size of axis {axis}, but {num_classes} != {size}")
    return lax.convert_element_type(lax.eq(*promote_args("equal", x, lax.axis_index(axis))), dtype)


@staged("_one_hot", static_argnames=("num_classes", "dtype", "axis"))
def _one_hot(x, num_classes, *, dtype, axis):
    axis = canonical_axis(axis, x.ndim + 1)
    lhs = lax.expand_dims(x, (axis,))
    shape = [1] * (x.ndim + 1)
    shape[axis] = num_classes
    rhs = lax.broadcasted_iota(x.dtype, shape, axis)
    return lax.convert_element_type(lax.eq(*promote_args("equal", lhs, rhs)), dtype)


@staged("log1mexp")
def _log1mexp(x):
    small = lax.lt(*promote_args("less", x, jnp.log(2.0))) if lax.dtype(x).kind != "c" else jnp.less(x, jnp.log(2.0))
    return where(small, lax.log(lax.neg(lax.expm1(lax.neg(x)))), lax.log1p(lax.neg(lax.exp(lax.neg(x)))))


@custom_jvp
def log1mexp(x: ArrayLike) -> Array:
    """Returns log(1 - exp(-x)), accurate both near 0 and for large x (Mächler, 2012).

    Args:
      x: an array of nonnegative numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Raises:
      TypeError: `x` is an array of bools.

    Examples:
      >>> nn.log1mexp(jnp.array([0.0, 1000.0]))
      Array([-inf,  -0.], dtype=float32)
    """
    (x,) = check_arraylike("log1mexp", x)
    if lax.dtype(x) == np.bool_:
        raise TypeError("log1mexp does not accept dtype bool, only integer, floating and complex dtypes.")
    (x,) = promote_args_inexact("log1mexp", x)
    return _log1mexp(x)


log1mexp.defjvps(lambda g, out, x: lax.div(g, lax.expm1(x)))


@staged("logmeanexp", static_argnames=("axis", "keepdims"))
def logmeanexp(x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, keepdims: bool = False) -> Array:
    """Returns the logarithm of the mean of exp(x).

    Args:
      x: an array of floats; integers are converted to the default float.
      axis: an int or a tuple of ints; default None, all axes.
      where: a bool array that broadcasts to `x`; elements where it is False do not count.
      keepdims: True: reduced axes remain, with length 1; default False.

    Returns:
      Float array of the shape of `x` without the reduced axes.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> nn.logmeanexp(jnp.array([1000.0, 1000.0]))
      Array(1000., dtype=float32)
    """
    out = logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    if where is None:
        size = jnp.size(x, axis)
        count = constant_like(out, size) if dims.is_constant(size) else dim_value(size, out.dtype)
    else:
        count = jnp.sum(where, axis=axis, keepdims=keepdims, dtype=out.dtype)
    return lax.sub(*promote_args("subtract", out, lax.log(count)))
