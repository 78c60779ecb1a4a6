"""onax.scipy.signal: convolution and correlation of arrays of any rank; spectra of pieces of a signal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, PrecisionLike
from onax._native.array import Array
from onax.numpy._promotion import canonical_axis, ensure_arraylikes, promote_dtypes_inexact
from onax.scipy._spectra import csd, detrend, istft, stft, welch

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "detrend",
    "fftconvolve",
    "istft",
    "stft",
    "welch",
]


def _promote_operands(name, in1, in2, mode):
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode must be one of ['full', 'same', 'valid'], got {mode!r}")
    in1, in2 = promote_dtypes_inexact(*ensure_arraylikes(name, in1, in2))
    if in1.ndim != in2.ndim:
        raise ValueError(f"{name}: in1 and in2 must have the same number of dimensions")
    if in1.size == 0 or in2.size == 0:
        raise ValueError(f"zero-size arrays not supported in {name}.")
    return in1, in2


def _contains_second(in1, in2, mode):
    """Whether in1 is at least as large as in2; for mode "valid" raises ValueError if neither contains the other."""
    inside = all(m >= n for m, n in zip(in1.shape, in2.shape))
    if mode == "valid" and not inside and not all(m <= n for m, n in zip(in1.shape, in2.shape)):
        raise ValueError("One input must be smaller than the other in every dimension.")
    return inside


def _crop_to_mode(full, shape1, shape2, axes, mode, later=0):
    """Crops the full result to a mode; `later=1` keeps the later of two middle elements."""
    for a in axes:
        m, n = shape1[a], shape2[a]
        size = {"full": m + n - 1, "same": m, "valid": max(m, n) - min(m, n) + 1}[mode]
        start = (m + n - 1 - size + later) // 2
        full = lax.slice_in_dim(full, start, start + size, axis=a)
    return full


def _convolve_directly(in1, in2, precision):
    """The full convolution by `conv_general_dilated`."""
    rank = in1.ndim
    flipped = jnp.flip(in2)
    padding = [(n - 1, n - 1) for n in in2.shape]
    out = lax.conv_general_dilated(in1[None, None], flipped[None, None], (1,) * rank, padding, precision=precision)
    return out[0, 0]


def _convolve_by_fft(in1, in2, axes):
    """The full convolution along the axes by FFT; along other axes the operands broadcast."""
    if all(1 in (in1.shape[a], in2.shape[a]) for a in axes):
        return in1 * in2
    sizes = [in1.shape[a] + in2.shape[a] - 1 for a in axes]
    if dtypes.is_complex(in1.dtype):
        return jnp.fft.ifftn(jnp.fft.fftn(in1, sizes, axes) * jnp.fft.fftn(in2, sizes, axes), sizes, axes)
    return jnp.fft.irfftn(jnp.fft.rfftn(in1, sizes, axes) * jnp.fft.rfftn(in2, sizes, axes), sizes, axes)


def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Sequence[int] | None = None) -> Array:
    """Returns the convolution of two arrays by Fourier transforms.

    Args:
      in1: an array.
      in2: an array of the same rank.
      mode: "full" (the default); "same": as long as `in1`; "valid": where one lies within the other.
      axes: the axes of the convolution; default None, all.

    Returns:
      Float or complex array.

    Raises:
      ValueError: unequal ranks, or empty arrays.

    Examples:
      >>> onax.scipy.signal.fftconvolve(jnp.array([1.0, 2.0]), jnp.array([1.0, 1.0])).round(4)
      Array([1., 3., 2.], dtype=float32)
    """
    in1, in2 = _promote_operands("fftconvolve", in1, in2, mode)
    numbers = range(in1.ndim) if axes is None else np.atleast_1d(axes)
    axes = tuple(canonical_axis(a, in1.ndim) for a in numbers)
    _contains_second(in1, in2, mode)
    return _crop_to_mode(_convolve_by_fft(in1, in2, axes), in1.shape, in2.shape, axes, mode)


def convolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto", precision: PrecisionLike = None
) -> Array:
    """Returns the convolution of two arrays.

    Args:
      in1: an array.
      in2: an array of the same rank.
      mode: "full" (the default); "same": as long as `in1`; "valid": where one lies within the other.
      method: "auto" (the default), "direct" or "fft"; "auto" means "direct".
      precision: of the products, as in `lax.dot_general`; default None.

    Returns:
      Array of the common dtype; integers become floats.

    Raises:
      ValueError: unequal ranks, empty arrays, or "valid" if neither array lies within the other.

    Examples:
      >>> onax.scipy.signal.convolve(jnp.array([1.0, 2.0]), jnp.array([1.0, 1.0]))
      Array([1., 3., 2.], dtype=float32)
    """
    if method == "fft":
        return fftconvolve(in1, in2, mode=mode)
    if method not in ("direct", "auto"):
        raise ValueError(f"Got {method=}; expected 'auto', 'fft', or 'direct'.")
    in1, in2 = _promote_operands("convolve", in1, in2, mode)
    _contains_second(in1, in2, mode)
    return _crop_to_mode(_convolve_directly(in1, in2, precision), in1.shape, in2.shape, range(in1.ndim), mode)


def correlate(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto", precision: PrecisionLike = None
) -> Array:
    """Returns the correlation of two arrays: the convolution with `in2` reversed and conjugated.

    Args:
      in1: an array.
      in2: an array of the same rank.
      mode: "full" (the default); "same": as long as `in1`; "valid": where one lies within the other.
      method: "auto" (the default), "direct" or "fft"; "auto" means "direct".
      precision: of the products, as in `lax.dot_general`; default None.

    Returns:
      Array of the common dtype; integers become floats.

    Raises:
      ValueError: as in `convolve`.

    Examples:
      >>> onax.scipy.signal.correlate(jnp.array([1.0, 2.0]), jnp.array([0.0, 1.0]))
      Array([1., 2., 0.], dtype=float32)
    """
    in1, in2 = _promote_operands("correlate", in1, in2, mode)
    return convolve(in1, jnp.flip(jnp.conj(in2)), mode=mode, method=method, precision=precision)


def _check_2d_arguments(name, in1, in2, boundary, fillvalue):
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError(f"{name}() only supports boundary='fill', fillvalue=0")
    if jnp.ndim(in1) != 2 or jnp.ndim(in2) != 2:
        raise ValueError(f"{name}() only supports 2-dimensional inputs.")


def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """Returns the convolution of two matrices.

    Args:
      in1: a matrix.
      in2: a matrix.
      mode: "full" (the default); "same": as long as `in1`; "valid": where one lies within the other.
      boundary: "fill".
      fillvalue: 0: what lies beyond the edges.
      precision: of the products, as in `lax.dot_general`; default None.

    Returns:
      A matrix of the common dtype; integers become floats.

    Raises:
      NotImplementedError: another `boundary` or `fillvalue`.

    Examples:
      >>> onax.scipy.signal.convolve2d(jnp.ones((2, 2)), jnp.ones((1, 2)))
      Array([[1., 2., 1.],
             [1., 2., 1.]], dtype=float32)
    """
    _check_2d_arguments("convolve2d", in1, in2, boundary, fillvalue)
    return convolve(in1, in2, mode=mode, method="direct", precision=precision)


def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """Returns the correlation of two matrices.

    Of two middles mode "same" keeps the later one, where `correlate` keeps the earlier one: so do JAX and SciPy.

    Args:
      in1: a matrix.
      in2: a matrix.
      mode: "full" (the default); "same": as long as `in1`; "valid": where one lies within the other.
      boundary: "fill".
      fillvalue: 0: what lies beyond the edges.
      precision: of the products, as in `lax.dot_general`; default None.

    Returns:
      A matrix of the common dtype; integers become floats.

    Raises:
      NotImplementedError: another `boundary` or `fillvalue`.

    Examples:
      >>> onax.scipy.signal.correlate2d(jnp.ones((2, 2)), jnp.ones((1, 2)))
      Array([[1., 2., 1.],
             [1., 2., 1.]], dtype=float32)
    """
    _check_2d_arguments("correlate2d", in1, in2, boundary, fillvalue)
    in1, in2 = _promote_operands("correlate2d", in1, in2, mode)
    _contains_second(in1, in2, mode)
    full = _convolve_directly(in1, jnp.flip(jnp.conj(in2)), precision)
    return _crop_to_mode(full, in1.shape, in2.shape, range(2), mode, later=int(mode == "same"))


_wrap_api_functions(globals(), __name__, frozenset(globals()) - frozenset(__all__))
