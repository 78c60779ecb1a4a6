"""onax.scipy.fft: cosine transforms of type 2 and their inverses, by Fourier transforms of the same length.

Makhoul, "A fast cosine transform in one and two dimensions" (1980).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import along_last_axis, canonical_axis, ensure_arraylike, promote_dtypes_inexact

__all__ = ["dct", "dctn", "idct", "idctn"]


def _check_operand(name, x, type, norm):
    if isinstance(type, Array) and type.ndim:
        raise ValueError(f"{name}: type must be an integer, got an array of shape {type.shape}")
    if type != 2:
        raise NotImplementedError(f"{name}: only type 2 is implemented")
    if not (norm is None or (isinstance(norm, str) and norm in ("backward", "ortho"))):
        raise ValueError(f"jax.scipy.fft.{name}: norm={norm!r} is not implemented")
    (x,) = promote_dtypes_inexact(ensure_arraylike(name, x))
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def _crop_or_pad(x, n, axis):
    """Crops or zero-pads x to length n along an axis."""
    if n is None:
        return x
    if not hasattr(n, "__index__") or (isinstance(n, Array) and n.ndim):
        raise TypeError(f"the length n must be an integer, got {n!r}")
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"the length n must not be negative, got {n}")
    widths = [(0, max(0, n - d)) if i == axis else (0, 0) for i, d in enumerate(x.shape)]
    return jnp.pad(x[(slice(None),) * axis + (slice(0, n),)], widths)


def _twiddle_factors(n, sign, dtype):
    kind = np.result_type(dtype, np.complex64)
    return jnp.asarray(np.exp(sign * 1j * np.pi * np.arange(n) / (2 * n)).astype(kind))


def _ortho_factors(n, dtype):
    """The factors of the coefficients that make the transform orthonormal."""
    scale = np.full(n, np.sqrt(1 / (2 * n)))
    scale[0] = np.sqrt(1 / (4 * n))
    return jnp.asarray(scale.astype(dtype))


def _dct_last_axis(x, norm):
    n = x.shape[-1]
    shuffled = jnp.concatenate([x[..., ::2], jnp.flip(x[..., 1::2], -1)], axis=-1)
    factors = along_last_axis(_twiddle_factors(n, -1, x.dtype), x.ndim)
    out = (2 * (jnp.fft.fft(shuffled) * factors).real).astype(x.dtype)
    return out * along_last_axis(_ortho_factors(n, x.dtype), x.ndim) if norm == "ortho" else out


def _idct_last_axis(x, norm):
    n = x.shape[-1]
    x = x / along_last_axis(_ortho_factors(n, x.dtype), x.ndim) if norm == "ortho" else x
    mirrored = jnp.concatenate([jnp.zeros_like(x[..., :1]), jnp.flip(x[..., 1:], -1)], axis=-1)
    factors = along_last_axis(_twiddle_factors(n, 1, x.dtype), x.ndim)
    v = jnp.fft.ifft(lax.complex(x, -mirrored) * factors / 2).real.astype(x.dtype)
    indices = np.zeros(n, np.int32)
    indices[::2], indices[1::2] = np.arange((n + 1) // 2), np.arange(n - 1, (n + 1) // 2 - 1, -1)
    return v[..., indices]


def _transform_axis(function, x, n, axis, norm):
    axis = canonical_axis(axis, x.ndim)
    if dtypes.is_complex(x.dtype):
        parts = (_transform_axis(function, part, n, axis, norm) for part in (x.real, x.imag))
        return lax.complex(*parts)
    x = _crop_or_pad(x, n, axis)
    if not x.shape[axis]:
        raise TypeError(f"the axis {axis} to transform has length 0 in shape {x.shape}")
    return jnp.moveaxis(function(jnp.moveaxis(x, axis, -1), norm), -1, axis)


def dct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the cosine transform, 2 times the sum over j of x[j] cos(pi k (2 j + 1) / (2 n)).

    Args:
      x: an array of real numbers.
      type: 2.
      n: the length of the transform: the signal is cut, or zeros follow it; default None, its own.
      axis: an int; default -1.
      norm: None or "ortho", which makes the transform orthonormal.

    Returns:
      Float array, n long along the axis.

    Raises:
      NotImplementedError: another `type`.
      ValueError: `norm` is another value.

    Examples:
      >>> onax.scipy.fft.dct(jnp.array([1.0, 1.0])).round(4)
      Array([4., 0.], dtype=float32)
    """
    return _transform_axis(_dct_last_axis, _check_operand("dct", x, type, norm), n, axis, norm)


def idct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the inverse of the cosine transform `dct`.

    Args:
      x: an array of real numbers.
      type: 2.
      n: the length of the transform: the signal is cut, or zeros follow it; default None, its own.
      axis: an int; default -1.
      norm: None or "ortho", which makes the transform orthonormal.

    Returns:
      Float array, n long along the axis.

    Raises:
      NotImplementedError: another `type`.
      ValueError: there is no such axis.

    Examples:
      >>> onax.scipy.fft.idct(jnp.array([4.0, 0.0])).round(4)
      Array([1., 1.], dtype=float32)
    """
    return _transform_axis(_idct_last_axis, _check_operand("idct", x, type, norm), n, axis, norm)


def _transform_axes(function, x, s, axes, norm):
    if s is not None:
        s = (s,) if isinstance(s, int) else tuple(s)
        if len(s) > x.ndim:
            raise ValueError(f"s must have at most x.ndim ({x.ndim}) elements, got {len(s)}")
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    axes = tuple(canonical_axis(axis, x.ndim) for axis in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"repeated axis: {axes}")
    if s is not None and len(s) != len(axes):
        raise ValueError(f"s and axes have different lengths: {s}, {axes}")
    for i, axis in enumerate(axes):
        x = _transform_axis(function, x, None if s is None else s[i], axis, norm)
    return x


def dctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Returns the cosine transform along several axes.

    Args:
      x: an array of real numbers.
      type: 2.
      s: the lengths along the axes; default None, those of `x`.
      axes: ints; default None, all.
      norm: None or "ortho", which makes the transform orthonormal.

    Returns:
      Float array.

    Raises:
      NotImplementedError: another `type`.

    Examples:
      >>> onax.scipy.fft.dctn(jnp.ones((2, 2))).round(4)
      Array([[16.,  0.],
             [ 0.,  0.]], dtype=float32)
    """
    return _transform_axes(_dct_last_axis, _check_operand("dctn", x, type, norm), s, axes, norm)


def idctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Returns the inverse of the cosine transform along several axes.

    Args:
      x: an array of real numbers.
      type: 2.
      s: the lengths along the axes; default None, those of `x`.
      axes: ints; default None, all.
      norm: None or "ortho", which makes the transform orthonormal.

    Returns:
      Float array.

    Raises:
      NotImplementedError: another `type`.

    Examples:
      >>> onax.scipy.fft.idctn(onax.scipy.fft.dctn(jnp.ones((2, 2)))).round(4)
      Array([[1., 1.],
             [1., 1.]], dtype=float32)
    """
    return _transform_axes(_idct_last_axis, _check_operand("idctn", x, type, norm), s, axes, norm)


_wrap_api_functions(globals(), __name__, frozenset(globals()) - frozenset(__all__))
