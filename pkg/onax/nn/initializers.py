"""onax.nn.initializers: functions (key, shape, dtype) -> array that give a network its first weights."""

import math
import operator
from typing import Protocol

import numpy as np

from onax import numpy as jnp
from onax import random
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes
from onax._ground.source import api_boundary
from onax._native.array import Array
from onax.numpy._promotion import ensure_arraylike


class Initializer(Protocol):
    """The protocol of initializers: a call with a key, a shape and optionally a dtype returns an array."""

    def __call__(self, key, shape, dtype=None, out_sharding=None) -> Array:
        """Returns an array of the shape."""
        raise NotImplementedError("Initializer is a protocol: call one of the functions of onax.nn.initializers")


def _resolve_dtype(given, default):
    if given is None:
        given = default
    return dtypes.scalar_dtype(float) if given is None else dtypes.check_user_dtype(given, "initializer")


def zeros(key, shape, dtype=None, out_sharding=None):
    """Zeros; the key does not matter."""
    return jnp.zeros(shape, _resolve_dtype(dtype, None))


def ones(key, shape, dtype=None, out_sharding=None):
    """Ones; the key does not matter."""
    return jnp.ones(shape, _resolve_dtype(dtype, None))


def constant(value, dtype=None):
    """An initializer that repeats a value."""

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        return jnp.full(shape, value, dtype=_resolve_dtype(dtype, None))

    return init


def uniform(scale=1e-2, dtype=None):
    """An initializer of numbers uniform in [0, scale)."""

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        dtype = _resolve_dtype(dtype, None)
        return random.uniform(key, shape, dtype) * jnp.array(scale, dtype)

    return init


def normal(stddev=1e-2, dtype=None):
    """An initializer of normal numbers with a standard deviation."""

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        dtype = _resolve_dtype(dtype, None)
        return random.normal(key, shape, dtype) * jnp.array(stddev, dtype)

    return init


def truncated_normal(stddev=1e-2, dtype=None, lower=-2.0, upper=2.0):
    """An initializer of normal numbers between lower and upper standard deviations."""

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
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


def variance_scaling(scale, mode, distribution, in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
    """An initializer whose numbers have the variance scale / n.

    mode: n is "fan_in" (numbers going into a result), "fan_out", "fan_avg" or "fan_geo_avg".  distribution:
    "truncated_normal", "normal" or "uniform".  The axes say which of the shape are inputs, outputs, and copies.
    Raises ValueError for other words, or a shape of fewer than two axes.
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
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


def _make_variance_scaling(scale, mode, distribution, doc):
    def maker(in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
        return variance_scaling(
            scale, mode, distribution, in_axis=in_axis, out_axis=out_axis, batch_axis=batch_axis, dtype=dtype
        )

    maker.__doc__ = doc + "\n\n    The axes and the dtype are those of `variance_scaling`.\n    "
    return maker


def _set_name(maker, name):
    maker.__name__ = maker.__qualname__ = name
    return maker


glorot_uniform = xavier_uniform = _set_name(
    _make_variance_scaling(1.0, "fan_avg", "uniform", "Glorot's and Bengio's uniform initializer."), "glorot_uniform"
)
glorot_normal = xavier_normal = _set_name(
    _make_variance_scaling(1.0, "fan_avg", "truncated_normal", "Glorot's and Bengio's normal initializer."),
    "glorot_normal",
)
lecun_uniform = _set_name(
    _make_variance_scaling(1.0, "fan_in", "uniform", "LeCun's uniform initializer."), "lecun_uniform"
)
lecun_normal = _set_name(
    _make_variance_scaling(1.0, "fan_in", "truncated_normal", "LeCun's normal initializer."), "lecun_normal"
)
he_uniform = kaiming_uniform = _set_name(
    _make_variance_scaling(2.0, "fan_in", "uniform", "He's uniform initializer, for rectified units."), "he_uniform"
)
he_normal = kaiming_normal = _set_name(
    _make_variance_scaling(2.0, "fan_in", "truncated_normal", "He's normal initializer, for rectified units."),
    "he_normal",
)


def orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """An initializer of matrices with orthonormal rows or columns (whichever are fewer), uniformly distributed.

    column_axis is one axis of the matrix, all others together the other.  Raises ValueError for fewer than two axes.
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
        dtype = _resolve_dtype(dtype, None)
        if len(shape) < 2:
            raise ValueError("orthogonal initializer requires at least a 2D shape")
        rows, columns = math.prod(shape) // shape[column_axis], shape[column_axis]
        out = random.orthogonal(key, rows, (), dtype, columns)
        out = jnp.reshape(out, (*np.delete(shape, column_axis).tolist(), columns))
        return ensure_arraylike("orthogonal", scale).astype(dtype) * jnp.moveaxis(out, -1, column_axis)

    return init


def delta_orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """An initializer of convolutions of 1 to 3 dimensions: an orthogonal matrix in the middle, zeros around it.

    Raises ValueError for other than 3 to 5 axes, or fewer outputs than inputs.
    """

    @api_boundary
    def init(key, shape, dtype=dtype, out_sharding=None):
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
