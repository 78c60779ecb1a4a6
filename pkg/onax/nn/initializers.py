"""onax.nn.initializers: functions (key, shape, dtype) -> array that give a network its first weights."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from onax import numpy as jnp
from onax import random
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes
from onax._ground.source import api_boundary
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._prims.placement import with_out_sharding
from onax.numpy._promotion import ensure_arraylike


class Initializer(Protocol):
    """The protocol of initializers: a call with a key, a shape and optionally a dtype returns an array."""

    def __call__(
        self,
        key: ArrayLike,
        shape: Sequence[DimSize],
        dtype: DTypeLike | None = None,
        out_sharding: ShardingLike | None = None,
    ) -> Array:
        """Returns an array of the shape."""
        raise NotImplementedError("Initializer is a protocol: call one of the functions of onax.nn.initializers")


def _resolve_dtype(given, default):
    if given is None:
        given = default
    return dtypes.scalar_dtype(float) if given is None else dtypes.check_user_dtype(given, "initializer")


def zeros(
    key: ArrayLike, shape: Sequence[DimSize], dtype: DTypeLike | None = None, out_sharding: ShardingLike | None = None
) -> Array:
    """Returns zeros; the key does not matter.

    Args:
      key: anything; it is not used.
      shape: the shape of the result, a tuple of ints.
      dtype: the dtype; default None, float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Examples:
      >>> nn.initializers.zeros(onax.random.key(0), (2,))
      Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, zeros, key, shape, dtype)
    return jnp.zeros(shape, _resolve_dtype(dtype, None))


def ones(
    key: ArrayLike, shape: Sequence[DimSize], dtype: DTypeLike | None = None, out_sharding: ShardingLike | None = None
) -> Array:
    """Returns ones; the key does not matter.

    Args:
      key: anything; it is not used.
      shape: the shape of the result, a tuple of ints.
      dtype: the dtype; default None, float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Examples:
      >>> nn.initializers.ones(onax.random.key(0), (2,))
      Array([1., 1.], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, ones, key, shape, dtype)
    return jnp.ones(shape, _resolve_dtype(dtype, None))


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """Returns an initializer that repeats a value.

    Args:
      value: a number or an array that broadcasts to the shape.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.

    Returns:
      A function (key, shape, dtype) -> array.

    Examples:
      >>> init = nn.initializers.constant(3.0)
      >>> init(onax.random.key(0), (2,))
      Array([3., 3.], dtype=float32)
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        if out_sharding is not None:
            return with_out_sharding(out_sharding, init, key, shape, dtype)
        return jnp.full(shape, value, dtype=_resolve_dtype(dtype, None))

    return init


def uniform(scale: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Returns an initializer of numbers uniform in [0, scale).

    Args:
      scale: the upper bound; default 0.01.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.

    Returns:
      A function (key, shape, dtype) -> array.

    Examples:
      >>> x = nn.initializers.uniform(0.5)(onax.random.key(0), (100,))
      >>> bool(((0 <= x) & (x < 0.5)).all())
      True
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        if out_sharding is not None:
            return with_out_sharding(out_sharding, init, key, shape, dtype)
        dtype = _resolve_dtype(dtype, None)
        return random.uniform(key, shape, dtype) * jnp.array(scale, dtype)

    return init


def normal(stddev: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Returns an initializer of normal numbers of mean 0.

    Args:
      stddev: the standard deviation; default 0.01.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.

    Returns:
      A function (key, shape, dtype) -> array.

    Examples:
      >>> nn.initializers.normal(1.0)(onax.random.key(0), (2, 3)).shape
      (2, 3)
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        if out_sharding is not None:
            return with_out_sharding(out_sharding, init, key, shape, dtype)
        dtype = _resolve_dtype(dtype, None)
        return random.normal(key, shape, dtype) * jnp.array(stddev, dtype)

    return init


def truncated_normal(
    stddev: ArrayLike = 1e-2, dtype: DTypeLike | None = None, lower: ArrayLike = -2.0, upper: ArrayLike = 2.0
) -> Initializer:
    """Returns an initializer of normal numbers between two bounds.

    Args:
      stddev: the standard deviation before truncation; default 0.01.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.
      lower: the lower bound, in standard deviations; default -2.
      upper: the upper bound, in standard deviations; default 2.

    Returns:
      A function (key, shape, dtype) -> array.

    Examples:
      >>> x = nn.initializers.truncated_normal(1.0)(onax.random.key(0), (100,))
      >>> bool((abs(x) <= 2).all())
      True
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        if out_sharding is not None:
            return with_out_sharding(out_sharding, init, key, shape, dtype)
        dtype = _resolve_dtype(dtype, None)
        return random.truncated_normal(key, lower, upper, shape, dtype) * jnp.array(stddev, dtype)

    return init


def _as_axes(axis):
    return [operator.index(axis)] if hasattr(axis, "__index__") else [operator.index(a) for a in axis]


def _compute_fans(shape, in_axis, out_axis, batch_axis):
    """Returns (fan_in, fan_out): the numbers of inputs of each output and of outputs of each input."""
    if isinstance(in_axis, int) and in_axis == -2 and len(shape) <= 1:
        raise ValueError(
            f"Can't compute input and output sizes of a {len(shape)}-dimensional weights tensor with default in_axis. "
            "Must be at least 2D or specify in_axis explicitly."
        )

    def product(axes):
        return math.prod(shape[a] for a in _as_axes(axes))

    size_in, size_out = product(in_axis), product(out_axis)
    receptive = math.prod(shape) / size_in / size_out / product(batch_axis)
    return size_in * receptive, size_out * receptive


_MODES = {
    "fan_in": lambda fan_in, fan_out: fan_in,
    "fan_out": lambda fan_in, fan_out: fan_out,
    "fan_avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
    "fan_geo_avg": lambda fan_in, fan_out: (fan_in * fan_out) ** 0.5,
}
# The standard deviation of normal numbers between -2 and 2, and of complex ones within a circle of radius 2.
_TRUNCATED, _TRUNCATED_COMPLEX = 0.87962566103423978, 0.95311164380491208


def variance_scaling(
    scale: ArrayLike,
    mode: str,
    distribution: str,
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: DTypeLike | None = None,
) -> Initializer:
    """Returns an initializer whose numbers have the variance scale / n, where n follows from the shape.

    Args:
      scale: the numerator, positive.
      mode: n is "fan_in" (how many inputs each output has), "fan_out" (how many outputs each input has), "fan_avg"
        (their mean) or "fan_geo_avg" (their geometric mean).
      distribution: "truncated_normal" (at two standard deviations), "normal" or "uniform".
      in_axis: the axis or axes of the shape that count inputs; default -2.
      out_axis: those that count outputs; default -1.
      batch_axis: those that count copies; default none.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.

    Returns:
      A function (key, shape, dtype) -> array.  It raises ValueError for another mode or distribution, and for a shape
      of fewer than two axes.

    Examples:
      >>> init = nn.initializers.variance_scaling(2.0, "fan_in", "uniform")
      >>> x = init(onax.random.key(0), (600, 2))
      >>> bool((abs(x) <= 0.1).all())
      True
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        if out_sharding is not None:
            return with_out_sharding(out_sharding, init, key, shape, dtype)
        dtype = _resolve_dtype(dtype, None)
        shape = tuple(shape)
        fan_in, fan_out = _compute_fans(shape, in_axis, out_axis, batch_axis)
        if mode not in _MODES:
            raise ValueError(f"invalid mode for variance scaling initializer: {mode}")
        variance = jnp.array(scale / _MODES[mode](fan_in, fan_out), dtype=dtype)
        if distribution == "normal":
            return random.normal(key, shape, dtype) * jnp.sqrt(variance)
        if distribution == "uniform":
            if dtypes.is_complex(dtype):
                return _uniform_in_disk(key, shape, dtype) * jnp.sqrt(2 * variance.real).astype(dtype)
            return random.uniform(key, shape, dtype, -1) * jnp.sqrt(3 * variance)
        if distribution == "truncated_normal":
            if dtypes.is_complex(dtype):
                spread = jnp.sqrt(variance) / jnp.array(_TRUNCATED_COMPLEX, dtype)
                return _complex_truncated_normal(key, shape, dtype) * spread
            return random.truncated_normal(key, -2, 2, shape, dtype) * (
                jnp.sqrt(variance) / jnp.array(_TRUNCATED, dtype)
            )
        raise ValueError(f"invalid distribution for variance scaling initializer: {distribution}")

    return init


def _from_polar(key, shape, dtype, radius):
    real = dtypes.real_dtype(dtype)
    of_radius, of_angle = random.split(key)
    size = radius(random.uniform(of_radius, shape, real)).astype(dtype)
    angle = 2 * np.pi * random.uniform(of_angle, shape, real).astype(dtype)
    return size * jnp.exp(1j * angle)


def _uniform_in_disk(key, shape, dtype):
    """Complex numbers uniformly distributed in the unit disk."""
    return _from_polar(key, shape, dtype, jnp.sqrt)


def _complex_truncated_normal(key, shape, dtype, upper=2):
    """Complex normal numbers with absolute value below upper."""
    return _from_polar(key, shape, dtype, lambda t: jnp.sqrt(-jnp.log(1 - (1 - np.exp(-(upper**2))) * t)))


class _VarianceScaling(Protocol):
    """The type of the functions that `_make_variance_scaling` returns."""

    def __call__(
        self,
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer: ...


def _make_variance_scaling(name, scale, mode, distribution, doc) -> _VarianceScaling:
    # The text of the documentation stands once, for all of these functions.
    def maker(
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer:
        return variance_scaling(
            scale, mode, distribution, in_axis=in_axis, out_axis=out_axis, batch_axis=batch_axis, dtype=dtype
        )

    maker.__doc__ = _SCALING_DOC.format(doc=doc, scale=scale, mode=mode, distribution=distribution, name=name)
    return _set_name(maker, name)


_SCALING_DOC = """Returns {doc}.

    It is ``variance_scaling({scale}, "{mode}", "{distribution}")``.

    Args:
      in_axis: the axis or axes of the shape that count inputs; default -2.
      out_axis: those that count outputs; default -1.
      batch_axis: those that count copies; default none.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.

    Returns:
      A function (key, shape, dtype) -> array.

    Raises:
      ValueError: the initializer is called with a shape of fewer than two axes.

    Examples:
      >>> nn.initializers.{name}()(onax.random.key(0), (2, 3)).shape
      (2, 3)
    """


def _set_name(maker, name):
    maker.__name__ = maker.__qualname__ = name
    return maker


glorot_uniform = xavier_uniform = _make_variance_scaling(
    "glorot_uniform", 1.0, "fan_avg", "uniform", "the uniform initializer of Glorot and Bengio (2010)"
)
glorot_normal = xavier_normal = _make_variance_scaling(
    "glorot_normal", 1.0, "fan_avg", "truncated_normal", "the normal initializer of Glorot and Bengio (2010)"
)
lecun_uniform = _make_variance_scaling(
    "lecun_uniform", 1.0, "fan_in", "uniform", "the uniform initializer of LeCun et al. (1998)"
)
lecun_normal = _make_variance_scaling(
    "lecun_normal", 1.0, "fan_in", "truncated_normal", "the normal initializer of LeCun et al. (1998)"
)
he_uniform = kaiming_uniform = _make_variance_scaling(
    "he_uniform", 2.0, "fan_in", "uniform", "the uniform initializer of He et al. (2015), for rectified units"
)
he_normal = kaiming_normal = _make_variance_scaling(
    "he_normal", 2.0, "fan_in", "truncated_normal", "the normal initializer of He et al. (2015), for rectified units"
)


def orthogonal(scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Returns an initializer of matrices with orthonormal rows or columns, whichever are fewer (Saxe et al., 2013).

    Args:
      scale: a factor; default 1.
      column_axis: the axis of the shape that counts columns; the others together count rows.  Default -1.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.

    Returns:
      A function (key, shape, dtype) -> array.  It raises ValueError for a shape of fewer than two axes.

    Raises:
      ValueError: the initializer is called with a shape of fewer than two axes.

    Examples:
      >>> x = nn.initializers.orthogonal()(onax.random.key(0), (3, 3))
      >>> bool(jnp.allclose(x @ x.T, jnp.eye(3), atol=1e-5))
      True
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        if out_sharding is not None:
            return with_out_sharding(out_sharding, init, key, shape, dtype)
        dtype = _resolve_dtype(dtype, None)
        if len(shape) < 2:
            raise ValueError("orthogonal initializer requires at least a 2D shape")
        rows, columns = math.prod(shape) // shape[column_axis], shape[column_axis]
        out = random.orthogonal(key, rows, (), dtype, columns)
        out = jnp.reshape(out, (*np.delete(shape, column_axis).tolist(), columns))
        return ensure_arraylike("orthogonal", scale).astype(dtype) * jnp.moveaxis(out, -1, column_axis)

    return init


def delta_orthogonal(scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Returns an initializer of convolutions: an orthogonal matrix in the middle, zeros around it (Xiao et al., 2018).

    Args:
      scale: a factor; default 1.
      column_axis: the axis of the matrix that counts columns; default -1.
      dtype: the dtype of results unless a call gives one; default None, float32, with 64 bits enabled float64.

    Returns:
      A function (key, shape, dtype) -> array for shapes of 3 to 5 axes, the last two inputs and outputs.  It raises
      ValueError for others, and for fewer outputs than inputs.

    Examples:
      >>> x = nn.initializers.delta_orthogonal()(onax.random.key(0), (3, 2, 2))
      >>> int((x != 0).sum(axis=(1, 2))[1])
      4
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        if out_sharding is not None:
            return with_out_sharding(out_sharding, init, key, shape, dtype)
        dtype = _resolve_dtype(dtype, None)
        if len(shape) not in (3, 4, 5):
            raise ValueError("Delta orthogonal initializer requires a 3D, 4D or 5D shape.")
        if shape[-1] < shape[-2]:
            raise ValueError("`fan_in` must be less or equal than `fan_out`. ")
        matrix = orthogonal(scale=scale, column_axis=column_axis, dtype=dtype)(key, shape[-2:])
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return jnp.zeros(shape, dtype=dtype).at[middle].set(matrix)

    return init


_wrap_api_functions(globals(), __name__, globals().keys())


__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]


def __dir__():
    return list(__all__)
