"""Continuous distributions, each a function of uniform numbers as in JAX, so that a key gives JAX's numbers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.new_arrays import new_array
from onax._core.result_checks import SPECIAL
from onax._ground import dtypes
from onax._ground.config import KEY_REUSE, config
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native import context
from onax._native.array import Array, ArrayImpl, make_array
from onax._native.normals import normal as fresh_normals
from onax._prims.convert import convert
from onax._prims.placement import with_out_sharding
from onax._prims.random_generators import key_dtype, threefry_impl
from onax._prims.shaping import broadcast_to_rank, canonical_shape
from onax.numpy._arithmetic import clip
from onax.numpy._promotion import ensure_arraylikes
from onax.numpy._where import where
from onax.random._bits import (
    broadcast_parameter,
    check_arguments,
    check_safe_to_cast,
    check_shape,
    draw_bits,
    float_dtype,
)
from onax.random._keys import check_single_key, split

THREEFRY = key_dtype(threefry_impl)


def _check_plain_shape(name, shape):
    """Returns the shape of a result without parameters."""
    return canonical_shape(shape)


@functools.lru_cache(maxsize=256)
def scalar(value, dtype):
    """A Python number as a NumPy scalar of a dtype."""
    return np.asarray(value).astype(dtype)[()]


@functools.lru_cache(maxsize=32)
def _above_minus_one(dtype):
    return np.nextafter(scalar(-1.0, dtype), scalar(0.0, dtype), dtype=dtype)


def _prepare_bounds(shape, dtype, *bounds):
    """Converts bounds to arrays of a dtype and prepends axes of length 1 up to the rank of the shape."""
    arrays = [broadcast_parameter("uniform", b, dtype) for b in bounds]
    return [broadcast_to_rank(a, len(shape)) for a in arrays]


# ---- uniform


def _unit_interval(key, shape, dtype):
    """Uniform numbers in [0, 1): as many random bits as the mantissa has, times the distance of two numbers near 1."""
    mantissa = dtypes.finfo(dtype).nmant
    width = 8 if mantissa < 8 else dtypes.itemsize_bits(dtype)
    bits = draw_bits(key, width, shape)
    # The bits kept are below 2 ** mantissa, so conversion and product are exact.
    mantissa_bits = lax.shift_right_logical(bits, np.array(width - mantissa, bits.dtype)[()])
    return lax.mul(convert(mantissa_bits, dtype), scalar(2.0**-mantissa, dtype))


@staged("_uniform", static_argnames=("shape", "dtype"))
def _uniform(key, minval, maxval, *, shape, dtype):
    floats = _unit_interval(key, shape, dtype)
    if type(minval) is float and type(maxval) is float and minval == 0.0 and maxval == 1.0:
        return floats  # the operations below would change nothing
    if all(isinstance(bound, np.generic) and bound.dtype == dtype for bound in (minval, maxval)):
        low, high = minval, maxval  # they fit any shape as they are
    else:
        low, high = _prepare_bounds(shape, dtype, minval, maxval)
    return lax.max(low, lax.add(lax.mul(floats, lax.sub(high, low)), low))


def uniform(
    key: ArrayLike,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers uniformly from [minval, maxval).

    Args:
      key: one key, from `onax.random.key`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      minval: the lower bound, which broadcasts to `shape`; default 0.
      maxval: the upper bound, which broadcasts to `shape`; default 1.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: a dtype that is not floating.
      TypeError: bounds that do not broadcast to `shape`.

    Examples:
      >>> x = onax.random.uniform(onax.random.key(0), (2, 3), minval=-1.0)
      >>> x.shape, bool(((-1 <= x) & (x < 1)).all())
      ((2, 3), True)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, uniform, key, shape, dtype, minval, maxval)
    key = check_single_key("uniform", key)
    dtype = float_dtype("uniform", dtype)
    return _uniform(key, minval, maxval, shape=_check_plain_shape("uniform", shape), dtype=dtype)


# ---- normal


@staged("_normal_real", static_argnames=("shape", "dtype"))
def _normal_real(key, *, shape, dtype):
    u = _uniform(key, _above_minus_one(dtype), scalar(1.0, dtype), shape=shape, dtype=dtype)
    return lax.mul(_sqrt_of_2(dtype), lax.erf_inv(u))


def _sqrt_of_2(dtype):
    return scalar(np.sqrt(2), dtype)


@staged("_normal", static_argnames=("shape", "dtype"))
def _normal(key, *, shape, dtype):
    if not dtypes.is_complex(dtype):
        return _normal_real(key, shape=shape, dtype=dtype)
    keys = split(key)
    real = dtypes.real_dtype(dtype)
    x = convert(_normal_real(keys[0], shape=shape, dtype=real), dtype)
    y = convert(_normal_real(keys[1], shape=shape, dtype=real), dtype)
    return lax.div(lax.add(x, lax.mul(scalar(1j, dtype), y)), _sqrt_of_2(dtype))


def normal(
    key: ArrayLike,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws normal numbers of mean 0 and variance 1.

    Args:
      key: one key, from `onax.random.key`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: a floating or complex dtype; real and imaginary part then have variance 1/2 each.  Default float32, with 64
        bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: a dtype that is neither floating nor complex.
      TypeError: `key` is no random key.

    Examples:
      >>> x = onax.random.normal(onax.random.key(0), (10_000,))
      >>> abs(x.mean()) < 0.05, abs(x.std() - 1) < 0.05
      (Array(True, dtype=bool), Array(True, dtype=bool))
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, normal, key, shape, dtype)
    key = check_single_key("normal", key)
    canonical = float_dtype("normal", dtype, complex_too=True)
    shape = _check_plain_shape("normal", shape)
    if canonical == np.float32 and _can_draw_by_kernel(key):
        words = key._value.reshape(1).view(np.uint32)
        numbers = fresh_normals(words[0], words[1], math.prod(shape)).reshape(shape)
        if key._committed:
            return make_array(numbers, None, False, key._device, True)
        return new_array(make_array(numbers))
    return _normal(key, shape=shape, dtype=canonical)


def _can_draw_by_kernel(key):
    """Whether one kernel can draw normal numbers: nothing is traced or checked, and the key is a Threefry key.

    Its numbers equal those of the staged operations (three passes over memory) bit for bit.
    """
    return (
        context.get_trace() is None
        and type(key) is ArrayImpl
        and key._shards is None
        and key.dtype == THREEFRY
        and not key.ndim
        and not context.option_word() & (SPECIAL | KEY_REUSE)
        and config.jax_threefry_partitionable
    )


@staged("_truncated_normal", static_argnames=("shape", "dtype"))
def _truncated_normal(key, lower, upper, *, shape, dtype):
    lower, upper = (
        broadcast_parameter("truncated_normal", lower, dtype),
        broadcast_parameter("truncated_normal", upper, dtype),
    )
    root = _sqrt_of_2(dtype)
    u = _uniform(key, lax.erf(lax.div(lower, root)), lax.erf(lax.div(upper, root)), shape=shape, dtype=dtype)
    out = lax.mul(root, lax.erf_inv(u))
    inf = scalar(np.inf, dtype)
    return clip(out, lax.nextafter(lax.stop_gradient(lower), inf), lax.nextafter(lax.stop_gradient(upper), -inf))


def truncated_normal(
    key: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws normal numbers of mean 0 and variance 1 that lie between two bounds.

    Args:
      key: one key, from `onax.random.key`.
      lower: the lower bound, not attained.
      upper: the upper bound, not attained.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> x = onax.random.truncated_normal(onax.random.key(0), -2.0, 2.0, (1000,))
      >>> bool((abs(x) < 2).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, truncated_normal, key, lower, upper, shape, dtype)
    key = check_single_key("truncated_normal", key)
    dtype = float_dtype("truncated_normal", dtype)
    shape = check_shape("truncated_normal", shape, np.shape(lower), np.shape(upper))
    return _truncated_normal(key, lower, upper, shape=shape, dtype=dtype)


def lognormal(
    key: ArrayLike,
    sigma: ArrayLike = np.float32(1.0),
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws exponentials of normal numbers of mean 0.

    Args:
      key: one key, from `onax.random.key`.
      sigma: the standard deviation of the normal numbers; default 1.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> x = onax.random.lognormal(onax.random.key(0), 0.5, (1000,))
      >>> bool((x > 0).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, lognormal, key, sigma, shape, dtype)
    key = check_single_key("lognormal", key)
    dtype = float_dtype("lognormal", dtype, complex_too=True)
    shape = check_shape("lognormal", shape, np.shape(sigma))
    check_safe_to_cast("lognormal", dtype, sigma)
    sigma = broadcast_to_rank(broadcast_parameter("lognormal", sigma, dtype), len(shape))
    return lax.exp(lax.mul(_normal(key, shape=shape, dtype=dtype), sigma))


# ---- distributions without parameters


class _Sampler(Protocol):
    """The type of the public functions that `_make_sampler` returns."""

    def __call__(
        self,
        key: ArrayLike,
        shape: Sequence[DimSize] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: ShardingLike | None = None,
    ) -> Array: ...


def _make_sampler(name, formula, doc) -> tuple[Callable[..., Array], _Sampler]:
    """Makes the staged and the public function of a distribution whose only arguments are shape and dtype."""
    call = staged(f"_{name}", static_argnames=("shape", "dtype"))(formula)

    def function(
        key: ArrayLike,
        shape: Sequence[DimSize] = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: ShardingLike | None = None,
    ) -> Array:
        if out_sharding is not None:
            return with_out_sharding(out_sharding, function, key, shape, dtype)
        key = check_single_key(name, key)
        canonical = float_dtype(name, dtype)
        return call(key, shape=_check_plain_shape(name, shape), dtype=canonical)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _SAMPLER_DOC.format(doc=doc, name=name)
    return call, function


_SAMPLER_DOC = """{doc}

    Args:
      key: one key, from `onax.random.key`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: a dtype that is not floating.

    Examples:
      >>> onax.random.{name}(onax.random.key(0), (3,)).shape
      (3,)
    """


def _uniform_between(key, low, high, shape, dtype):
    """Uniform numbers between two bounds rounded to the dtype."""
    low, high = (scalar(bound, dtype) for bound in (low, high))
    return _uniform(key, low, high, shape=shape, dtype=dtype)


def _exponential_formula(key, *, shape, dtype):
    # log1p(-u) rather than log(u): u may be 0.
    return lax.neg(lax.log1p(lax.neg(_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype))))


def _laplace_formula(key, *, shape, dtype):
    u = _uniform_between(key, -1.0 + float(dtypes.finfo(dtype).epsneg), 1.0, shape, dtype)
    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))


def _logistic_formula(key, *, shape, dtype):
    u = _uniform_between(key, float(dtypes.finfo(dtype).tiny), 1.0, shape, dtype)
    return lax.sub(lax.log(u), lax.log1p(lax.neg(u)))


def _cauchy_formula(key, *, shape, dtype):
    u = _uniform_between(key, float(dtypes.finfo(dtype).eps), 1.0, shape, dtype)
    half, pi = (scalar(v, dtype) for v in (0.5, np.pi))
    return lax.tan(lax.mul(pi, lax.sub(u, half)))


def _maxwell_formula(key, *, shape, dtype):
    x = _normal(key, shape=(*shape, 3), dtype=dtype)
    return lax.sqrt(lax.reduce_sum(lax.mul(x, x), (len(shape),)))


_exponential, exponential = _make_sampler("exponential", _exponential_formula, "Draws exponential numbers of rate 1.")
_laplace, laplace = _make_sampler(
    "laplace", _laplace_formula, "Draws numbers of the Laplace distribution, whose absolute values are exponential."
)
_logistic, logistic = _make_sampler(
    "logistic", _logistic_formula, "Draws logistic numbers, log(u / (1 - u)) for uniform u."
)
_cauchy, cauchy = _make_sampler(
    "cauchy", _cauchy_formula, "Draws numbers of the Cauchy distribution, which has no mean."
)
_maxwell, maxwell = _make_sampler(
    "maxwell",
    _maxwell_formula,
    "Draws numbers of the Maxwell distribution: lengths of vectors of three normal numbers.",
)


def _unit_float(high, low):
    """Returns (high 2^32 + low) / 2^64 as a float32, cut off instead of rounded; 2^-65 for zero."""
    zeros, low_zeros = lax.clz(high), lax.clz(low)
    within_high = lax.ne(high, scalar(0, np.uint32))
    width = scalar(32, np.uint32)
    shifted = lax.bitwise_or(lax.shift_left(high, zeros), lax.shift_right_logical(low, lax.sub(width, zeros)))
    mantissa = lax.shift_right_logical(
        where(within_high, shifted, lax.shift_left(low, low_zeros)), scalar(8, np.uint32)
    )
    exponent = lax.sub(scalar(126, np.uint32), where(within_high, zeros, lax.add(width, low_zeros)))
    fraction = lax.bitwise_and(mantissa, scalar(0x7FFFFF, np.uint32))
    bits = lax.bitwise_or(lax.shift_left(exponent, scalar(23, np.uint32)), fraction)
    return lax.bitcast_convert_type(bits, np.float32)


def _gumbel_from_64_bits(key, shape):
    """Draws -log(-log(1 - u)) for u of 64 bits, of which either end of the interval keeps its leading ones."""
    high, low = draw_bits(key, 32, (2, *shape))
    is_small = lax.lt(high, scalar(1 << 31, np.uint32))
    # the complement 2^64 - u, whose upper word gets a carry where the lower one is 0
    carry = convert(lax.eq(low, scalar(0, np.uint32)), np.dtype(np.uint32))
    high_complement, low_complement = lax.add(lax.bitwise_not(high), carry), lax.neg(low)
    x = _unit_float(where(is_small, high, high_complement), where(is_small, low, low_complement))
    return lax.neg(lax.log(lax.neg(where(is_small, lax.log1p(lax.neg(x)), lax.log(x)))))


@staged("_gumbel", static_argnames=("shape", "dtype", "mode"))
def _gumbel(key, *, shape, dtype, mode):
    info = dtypes.finfo(dtype)
    if mode == "low":
        u = _uniform_between(key, float(info.tiny), 1.0, shape, dtype)
        return lax.neg(lax.log(lax.neg(lax.log(u))))
    if mode == "highest" and dtype == np.float32:
        return _gumbel_from_64_bits(key, shape)
    # A second number supplies the bits that the first lacks near 0.
    high, low = _uniform(key, 0.0, 1.0, shape=(2, *shape), dtype=dtype)
    half, eps, tiny = (scalar(float(v), dtype) for v in (0.5, info.eps, info.tiny))
    finer = lax.add(lax.add(high, lax.mul(eps, low)), tiny)
    u = where(lax.ge(high, half), high, finer)
    return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(u)))))


def gumbel(
    key: ArrayLike,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    mode: str | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the standard Gumbel distribution, -log(-log(u)) for uniform u.

    Args:
      key: one key, from `onax.random.key`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      mode: "low": from the bits of one uniform number; "high": of two, which reaches further into the tails;
        "highest": for float32 from 64 bits, which reaches far into both tails, else "high".  Default None, "low".
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: another mode, or a dtype that is not floating.

    Examples:
      >>> onax.random.gumbel(onax.random.key(0), (3,)).shape
      (3,)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, gumbel, key, shape, dtype, mode)
    key = check_single_key("gumbel", key)
    dtype = float_dtype("gumbel", dtype)
    mode = "low" if mode is None else mode
    if mode not in ("low", "high", "highest"):
        raise ValueError(f"Must provide valid mode for gumbel got: {mode}")
    return _gumbel(key, shape=_check_plain_shape("gumbel", shape), dtype=dtype, mode=mode)


# ---- distributions with parameters


@staged("_rayleigh", static_argnames=("shape", "dtype"))
def _rayleigh(key, scale, *, shape, dtype):
    u = _uniform(key, 0.0, 1.0, shape=shape, dtype=dtype)
    minus_two = scalar(-2.0, dtype)
    return lax.mul(broadcast_parameter("rayleigh", scale, dtype, shape), lax.sqrt(lax.mul(lax.log(u), minus_two)))


def rayleigh(
    key: ArrayLike,
    scale: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the Rayleigh distribution, scale * sqrt(-2 log(u)) for uniform u.

    Args:
      key: one key, from `onax.random.key`.
      scale: the mode of the distribution, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> onax.random.rayleigh(onax.random.key(0), jnp.array([1.0, 2.0])).shape
      (2,)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, rayleigh, key, scale, shape, dtype)
    key, dtype, shape = check_arguments("rayleigh", key, dtype, shape, scale)
    return _rayleigh(key, scale, shape=shape, dtype=dtype)


@staged("_pareto", static_argnames=("shape", "dtype"))
def _pareto(key, b, *, shape, dtype):
    b = broadcast_to_rank(broadcast_parameter("pareto", b, dtype), len(shape))
    return lax.exp(lax.div(_exponential(key, shape=shape, dtype=dtype), b))


def pareto(
    key: ArrayLike,
    b: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the Pareto distribution, of density b / x**(b + 1) for x >= 1.

    Args:
      key: one key, from `onax.random.key`.
      b: the exponent, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> bool((onax.random.pareto(onax.random.key(0), 3.0, (100,)) >= 1).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, pareto, key, b, shape, dtype)
    key, dtype, shape = check_arguments("pareto", key, dtype, shape, b)
    return _pareto(key, b, shape=shape, dtype=dtype)


@staged("_weibull_min", static_argnames=("shape", "dtype"))
def _weibull_min(key, scale, concentration, *, shape, dtype):
    x = _exponential_formula(key, shape=shape, dtype=dtype)
    return x ** (1.0 / concentration) * scale


def weibull_min(
    key: ArrayLike,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
) -> Array:
    """Draws numbers of the Weibull distribution, scale * e**(1 / concentration) for exponential e.

    Args:
      key: one key, from `onax.random.key`.
      scale: the scale, which broadcasts to `shape`.
      concentration: the shape parameter, which broadcasts to `shape`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: a dtype that is not floating.

    Examples:
      >>> onax.random.weibull_min(onax.random.key(0), 1.0, 2.0, (3,)).shape
      (3,)
    """
    key = check_single_key("weibull_min", key)
    dtype = float_dtype("weibull_min", dtype)
    scale, concentration = ensure_arraylikes("weibull_min", scale, concentration)
    return _weibull_min(key, scale, concentration, shape=canonical_shape(shape), dtype=dtype)


def triangular(
    key: ArrayLike,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers with a density that rises linearly from `left` to `mode` and falls to `right`.

    Args:
      key: one key, from `onax.random.key`.
      left: the lower end.
      mode: where the density is greatest.
      right: the upper end.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> x = onax.random.triangular(onax.random.key(0), 0.0, 1.0, 2.0, (100,))
      >>> bool(((0 <= x) & (x <= 2)).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, triangular, key, left, mode, right, shape, dtype)
    key, dtype, shape = check_arguments("triangular", key, dtype, shape, left, mode, right)
    left, mode, right = (broadcast_parameter("triangular", x, dtype, shape) for x in (left, mode, right))
    turn = lax.div(lax.sub(mode, left), lax.sub(right, left))
    u = _uniform(key, 0.0, 1.0, shape=shape, dtype=dtype)
    one = scalar(1.0, dtype)
    rising = lax.mul(lax.mul(u, lax.sub(right, left)), lax.sub(mode, left))
    falling = lax.mul(lax.mul(lax.sub(one, u), lax.sub(right, left)), lax.sub(right, mode))
    return lax.select_n(lax.lt(u, turn), lax.sub(right, lax.sqrt(falling)), lax.add(left, lax.sqrt(rising)))


@staged("_wald", static_argnames=("shape", "dtype"))
def _wald(key, mean, *, shape, dtype):
    keys = split(key)
    mean = broadcast_parameter("wald", mean, dtype, shape)
    y = lax.integer_pow(_normal(keys[0], shape=shape, dtype=dtype), 2)
    z = _uniform(keys[1], 0.0, 1.0, shape=shape, dtype=dtype)
    two, four = (scalar(v, dtype) for v in (2.0, 4.0))
    mean_2 = lax.integer_pow(mean, 2)
    root = lax.sqrt(lax.add(lax.mul(lax.mul(four, mean), y), lax.mul(mean_2, lax.integer_pow(y, 2))))
    x = lax.add(mean, lax.div(lax.mul(mean_2, y), two))
    x = lax.sub(x, lax.mul(lax.div(mean, two), root))
    return lax.select_n(lax.le(z, lax.div(mean, lax.add(mean, x))), lax.div(mean_2, x), x)


def wald(
    key: ArrayLike,
    mean: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the Wald (inverse Gaussian) distribution of scale 1.

    Args:
      key: one key, from `onax.random.key`.
      mean: the mean, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> bool((onax.random.wald(onax.random.key(0), 2.0, (100,)) > 0).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, wald, key, mean, shape, dtype)
    key, dtype, shape = check_arguments("wald", key, dtype, shape, mean)
    return _wald(key, mean, shape=shape, dtype=dtype)


@staged("_double_sided_maxwell", static_argnames=("shape", "dtype"))
def _double_sided_maxwell(key, loc, scale, *, shape, dtype):
    keys = split(key)
    half, one, two = (scalar(v, dtype) for v in (0.5, 1.0, 2.0))
    size = _maxwell(keys[0], shape=shape, dtype=dtype)
    # As `rademacher` draws its signs: from uniform numbers of the default float dtype.
    positive = lax.lt(_uniform(keys[1], 0.0, 1.0, shape=shape, dtype=dtypes.scalar_dtype(float)), float(half))
    signs = lax.sub(lax.mul(two, convert(positive, dtype)), one)
    return lax.mul(signs, size) * scale + loc


def double_sided_maxwell(
    key: ArrayLike, loc: ArrayLike, scale: ArrayLike, shape: Sequence[DimSize] = (), dtype: DTypeLike | None = None
) -> Array:
    """Draws loc + scale * s * m, for a random sign s and a number m of the Maxwell distribution.

    Args:
      key: one key, from `onax.random.key`.
      loc: the centre.
      scale: the scale, positive.
      shape: axes in front of the common shape s of `loc` and `scale`; default ``()``.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.

    Returns:
      Array of shape ``shape + s`` and dtype `dtype`.

    Raises:
      ValueError: a dtype that is not floating.

    Examples:
      >>> onax.random.double_sided_maxwell(onax.random.key(0), jnp.zeros(2), 1.0, (3,)).shape
      (3, 2)
    """
    key = check_single_key("double_sided_maxwell", key)
    dtype = float_dtype("double_sided_maxwell", dtype)
    # As in JAX: the parameters' axes come after those of `shape`, not in them.
    own = np.broadcast_shapes(np.shape(loc), np.shape(scale))
    shape = (canonical_shape(shape) or own) + own
    loc, scale = ensure_arraylikes("double_sided_maxwell", loc, scale)
    return _double_sided_maxwell(key, loc, scale, shape=shape, dtype=dtype)
