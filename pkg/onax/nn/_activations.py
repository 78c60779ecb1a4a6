"""Activation functions."""

import operator
import warnings

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import FEW, compiled_when_large, staged
from onax._core.api_functions import static_argnames
from onax._core.trace import concrete_or_error
from onax._ground import dtypes, source
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
def identity(x):
    """x itself."""
    return ensure_arraylike("identity", x)


@staged("relu")
def _relu(x):
    return jnp.maximum(x, 0)


@custom_jvp
def relu(x):
    """max(x, 0), with derivative 0 at 0."""
    check_arraylike("relu", x)
    return _relu(x)


relu.defjvps(lambda g, out, x: lax.select(lax.gt(x, constant_like(x, 0)), g, lax.full_like(g, 0)))


@staged("relu6")
def _relu6(x):
    return jnp.minimum(jnp.maximum(x, 0), 6.0)


@custom_jvp
def relu6(x):
    """min(max(x, 0), 6), with derivative 0 at both bends."""
    check_arraylike("relu6", x)
    return _relu6(x)


relu6.defjvps(
    lambda g, out, x: lax.select(
        lax.bitwise_and(lax.gt(x, constant_like(x, 0)), lax.lt(x, constant_like(x, 6))), g, lax.full_like(g, 0)
    )
)


@staged("squareplus")
def squareplus(x, b=4):
    """(x + sqrt(x**2 + b)) / 2."""
    check_arraylike("squareplus", x, b)
    return jnp.true_divide(jnp.add(x, jnp.sqrt(jnp.add(jnp.square(x), b))), 2)


@staged("softplus", compiled_from=FEW)
def softplus(x):
    """log(1 + exp(x))."""
    return jnp.logaddexp(x, 0)


@staged("sparse_plus", compiled_from=FEW)
def sparse_plus(x):
    """0 below -1, x above 1, (x + 1)**2 / 4 between."""
    x = ensure_arraylike("sparse_plus", x)
    low, high = jnp.less_equal(x, -1.0), jnp.greater_equal(x, 1.0)
    middle = jnp.true_divide(jnp.power(jnp.add(x, 1.0), 2), 4)
    return where(low, 0.0, where(high, x, middle))


@staged("soft_sign")
def soft_sign(x):
    """x / (|x| + 1)."""
    x = ensure_arraylike("soft_sign", x)
    return jnp.true_divide(x, jnp.add(jnp.absolute(x), 1))


@static_argnames()
def sigmoid(x):
    """1 / (1 + exp(-x)).  Raises TypeError for integers."""
    return lax.logistic(ensure_arraylike("sigmoid", x))


@staged("sparse_sigmoid")
def sparse_sigmoid(x):
    """(x + 1) / 2, limited to [0, 1]: the derivative of `sparse_plus`."""
    return jnp.multiply(0.5, jnp.clip(jnp.add(x, 1.0), 0.0, 2.0))


@staged("silu")
def silu(x):
    """x * sigmoid(x)."""
    x = ensure_arraylike("silu", x)
    return jnp.multiply(x, sigmoid(x))


swish = silu


@staged("mish", compiled_from=FEW)
def mish(x):
    """x * tanh(softplus(x))."""
    x = ensure_arraylike("mish", x)
    return jnp.multiply(x, jnp.tanh(softplus(x)))


@staged("log_sigmoid", compiled_from=FEW)
def log_sigmoid(x):
    """log(sigmoid(x)), without underflow."""
    return jnp.negative(softplus(jnp.negative(ensure_arraylike("log_sigmoid", x))))


@staged("elu", compiled_from=FEW)
def elu(x, alpha=1.0):
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    x = ensure_arraylike("elu", x)
    positive = jnp.greater(x, 0)
    safe = where(jnp.greater(x, 0), 0.0, x)
    return where(positive, x, jnp.multiply(alpha, jnp.expm1(safe)))


@staged("leaky_relu")
def leaky_relu(x, negative_slope=1e-2):
    """x where x >= 0, negative_slope * x elsewhere."""
    x = ensure_arraylike("leaky_relu", x)
    return where(jnp.greater_equal(x, 0), x, jnp.multiply(negative_slope, x))


@staged("hard_tanh", compiled_from=FEW)
def hard_tanh(x):
    """x limited to [-1, 1], with derivative 1 at both ends."""
    x = ensure_arraylike("hard_tanh", x)
    above, below = jnp.greater(x, 1), jnp.less(x, -1)
    return where(above, 1, where(below, -1, x))


@staged("celu")
def celu(x, alpha=1.0):
    """max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)."""
    high = jnp.maximum(x, 0.0)
    return jnp.add(high, jnp.multiply(alpha, jnp.expm1(jnp.true_divide(jnp.minimum(x, 0.0), alpha))))


@staged("selu", compiled_from=FEW)
def selu(x):
    """The scaled exponential linear unit (Klambauer et al. 2017): elu with fixed slope and scale."""
    return jnp.multiply(1.0507009873554804934193349852946, elu(x, 1.6732632423543772848170429916717))


@compiled_when_large(("approximate",), compiled_from=FEW)
def gelu(x, approximate=True):
    """x times the normal distribution function of x; `approximate` by a tanh."""
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
def glu(x, axis=-1):
    """One half of x times the sigmoid of the other, divided along an axis of even length."""
    x = ensure_arraylike("glu", x)
    assert x.shape[axis] % 2 == 0, "axis size must be divisible by 2"
    first, second = jnp.split(x, 2, axis)
    return jnp.multiply(first, sigmoid(second))


@staged("hard_sigmoid")
def hard_sigmoid(x):
    """relu6(x + 3) / 6."""
    return jnp.true_divide(relu6(jnp.add(x, 3.0)), 6.0)


@staged("hard_silu")
def hard_silu(x):
    """x * hard_sigmoid(x)."""
    x = ensure_arraylike("hard_silu", x)
    return jnp.multiply(x, hard_sigmoid(x))


hard_swish = hard_silu


# --- normalising --------------------------------------------------------------------------------------------------


@staged("standardize", static_argnames=("axis", "algorithm"), compiled_from=FEW)
def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None, *, algorithm="fast"):
    """x minus its mean, divided by its standard deviation, along the axis.

    algorithm: "fast" takes the variance as the mean square minus the squared mean, "stable" as the mean squared
    deviation.
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


def one_hot(x, num_classes, *, dtype=None, axis=-1):
    """Vectors that are 1 at an index and 0 elsewhere.

    Args:
      x: an array of indices.
      num_classes: the length of the new axis, an int.
      dtype: the dtype of the result, by default the default float.
      axis: where the new axis lies in the result.

    Returns an array of the shape of `x` with one more axis; an index out of range gives zeros.

    Examples:
      >>> nn.one_hot(jnp.array([0, 2, 5]), 3)
      Array([[1., 0., 0.],
             [0., 0., 1.],
             [0., 0., 0.]], dtype=float32)
    """
    num_classes = concrete_or_error(
        operator.index, num_classes, "The error arose in jax.nn.one_hot argument `num_classes`."
    )
    dtype = dtypes.scalar_dtype(float) if dtype is None else dtypes.check_user_dtype(dtype, "astype")
    x = ensure_arraylike("one_hot", x) if is_arraylike(x) else jnp.asarray(x)
    if not dtypes.isdtype(x.dtype, "integral"):
        text = f"jax.nn.one_hot input should be integer-typed; got dtype={x.dtype}"
        warnings.warn(text, DeprecationWarning, stacklevel=source.stacklevel())
    return _one_hot(x, num_classes, dtype=dtype, axis=axis)


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
def log1mexp(x):
    """log(1 - exp(-x)), exact on both sides of log(2); TypeError for bool."""
    check_arraylike("log1mexp", x)
    if lax.dtype(x) == np.bool_:
        raise TypeError("log1mexp does not accept dtype bool, only integer, floating and complex dtypes.")
    (x,) = promote_args_inexact("log1mexp", x)
    return _log1mexp(x)


log1mexp.defjvps(lambda g, out, x: lax.div(g, lax.expm1(x)))


@staged("logmeanexp", static_argnames=("axis", "keepdims"))
def logmeanexp(x, axis=None, where=None, keepdims=False):
    """The logarithm of the mean of exp(x) over the axes."""
    out = logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    if where is None:
        count = constant_like(out, jnp.size(x, axis))
    else:
        count = jnp.sum(where, axis=axis, keepdims=keepdims, dtype=out.dtype)
    return lax.sub(*promote_args("subtract", out, lax.log(count)))
