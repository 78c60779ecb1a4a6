"""Implementation of jnp.fft."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DeviceLike, DimSize, DTypeLike
from onax._native.array import Array
from onax._prims.convert import convert
from onax._prims.fft import FftType, convert_operand
from onax.lax._creation import place_on_device as on_device
from onax.numpy._arithmetic import remainder
from onax.numpy._creation import asarray
from onax.numpy._padding import pad
from onax.numpy._promotion import canonical_axis, ensure_arraylike, indexed_axis
from onax.numpy._shaping import moveaxis, roll
from onax.numpy._ufuncs import conj

_REAL_RESULT = FftType.IRFFT
_INVERSE_TYPES = (FftType.IFFT, FftType.IRFFT)


def _norm_factor(norm, sizes, fft_type):
    """The factor that `norm` adds to the primitive's own normalization; None for 1."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    if norm in (None, "backward"):
        return None
    total = float(np.prod(sizes, dtype=np.float64))
    if fft_type in _INVERSE_TYPES:
        return total if norm == "forward" else total**0.5
    return 1 / total if norm == "forward" else 1 / total**0.5


def _axes_and_sizes(name, a, s, axes):
    """Returns (non-negative axes, sizes or None) and checks sizes first, as JAX does."""
    if s is not None:
        s = tuple(operator.index(i) for i in s)
        if any(n <= 0 for n in s):
            raise ValueError("Shape should be positive.")
        if axes is not None and len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        if len(s) > a.ndim and axes is None:
            raise ValueError(f"{name}: {len(s)} sizes {s} for an array of shape {a.shape}")
    if axes is None:
        axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
    numbers = None
    if len(set(axes)) == len(axes):
        numbers = tuple(canonical_axis(i, a.ndim) for i in axes)
    if numbers is None or len(set(numbers)) != len(numbers):
        raise ValueError(f"{name} does not support repeated axes. Got axes {axes}.")
    return numbers, s


def _crop_or_pad(x, own):
    """Crops or zero-pads the last axes of x to the given sizes."""
    lead = x.shape[: x.ndim - len(own)]
    starts = (0,) * x.ndim
    have = x.shape[len(lead) :]
    x = lax.slice(x, starts, (*lead, *(min(a, b) for a, b in zip(have, own))))
    return pad(x, [(0, 0)] * len(lead) + [(0, b - a) for a, b in zip(x.shape[len(lead) :], own)])


def _fft_core(name, a, fft_type, s, axes, norm):
    a = ensure_arraylike(f"jax.numpy.fft.{name}", a)
    axes, s = _axes_and_sizes(f"jax.numpy.fft.{name}", a, s, axes)
    if not axes:
        a = convert_operand(a, fft_type)
        return convert(a, a.dtype)
    given = s is not None
    last = len(axes) - 1
    sizes = list(s) if given else [a.shape[i] for i in axes]
    if fft_type == _REAL_RESULT and not given:
        sizes[last] = max(0, 2 * (a.shape[axes[last]] - 1))
    if fft_type == FftType.RFFT and not sizes[last]:
        raise ValueError(f"jax.numpy.fft.{name}: the last axis to transform has length 0 in shape {a.shape}")
    scale = _norm_factor(norm, sizes, fft_type)
    behind = tuple(range(a.ndim - len(axes), a.ndim))
    a = moveaxis(a, axes, behind)
    if given:
        own = [n // 2 + 1 if fft_type == _REAL_RESULT and i == last else n for i, n in enumerate(sizes)]
        a = _crop_or_pad(a, own)
    out = _fft_any_rank(a, fft_type, tuple(sizes))
    if scale is not None:
        out = out * out.dtype.type(scale)
    return moveaxis(out, behind, axes)


def _fft_any_rank(x, fft_type, sizes):
    """The transform over any number of axes, three at a time; the real transform comes first, or last if inverse."""
    if len(sizes) <= 3:
        return lax.fft(x, fft_type, sizes)
    others = FftType.FFT if fft_type in (FftType.FFT, FftType.RFFT) else FftType.IFFT
    first, rest = sizes[:-3], sizes[-3:]
    back = tuple(range(x.ndim - len(first), x.ndim))
    axes = tuple(range(x.ndim - len(sizes), x.ndim - 3))
    if fft_type in (FftType.FFT, FftType.RFFT, FftType.IFFT):
        x = lax.fft(x, fft_type, rest)
        return moveaxis(_fft_any_rank(moveaxis(x, axes, back), others, first), back, axes)
    x = moveaxis(_fft_any_rank(moveaxis(x, axes, back), others, first), back, axes)
    return lax.fft(x, fft_type, rest)


def _check_not_several(name, axis):
    if isinstance(axis, (list, tuple)):
        raise ValueError(
            f"jax.numpy.fft.{name} does not support multiple axes. Please use jax.numpy.fft.{name}n. Got axis = {axis}."
        )


def _check_one_axis(name, a, n, axis):
    """Raises for an axis of `hfft` or `ihfft` what indexing the shape with it raises in JAX."""
    _check_not_several(name, axis)
    if n is not None:
        return
    if not isinstance(axis, (int, np.integer)):
        raise TypeError(f"tuple indices must be integers or slices, not {type(axis).__name__}")
    indexed_axis(axis, a.ndim)


def _fft_core_1d(name, a, fft_type, n, axis, norm):
    _check_not_several(name, axis)
    return _fft_core(name, a, fft_type, None if n is None else [n], None if axis is None else (axis,), norm)


def _fft_core_2d(name, a, fft_type, s, axes, norm):
    if len(axes) != 2:
        raise ValueError(f"jax.numpy.fft.{name} only supports 2 axes. Got axes = {axes!r}.")
    return _fft_core(name, a, fft_type, s, axes, norm)


def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the discrete Fourier transform along one axis.

    Args:
      a: array of numbers; bool and integers become float32.
      n: int, the length of the transform: the axis is cut, or filled with zeros, to it; default: the length of the
        axis.
      axis: int.
      norm: "backward" (default: no factor here, 1/n in the inverse), "ortho" (1/sqrt(n) in both) or "forward" (1/n
        here).

    Returns:
      Complex array of the shape of `a`, with length n along `axis`: element k is the sum of a[j] exp(-2 pi i j k / n).

    Raises:
      ValueError: n is below 1, the axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.fft(jnp.array([1.0, 2.0, 3.0, 4.0]))
      Array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return _fft_core_1d("fft", a, FftType.FFT, n, axis, norm)


def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the inverse discrete Fourier transform along one axis.

    Args:
      a: array of numbers; bool and integers become float32.
      n: int, the length to which the axis is cut or filled with zeros; default: the length of the axis.
      axis: int.
      norm: "backward" (default: the factor 1/n), "ortho" (1/sqrt(n)) or "forward" (no factor).

    Returns:
      Complex array of the shape of `a`, with length n along `axis`.

    Raises:
      ValueError: n is below 1, the axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.ifft(jnp.array([4.0, 0.0, 0.0, 0.0])).real
      Array([1., 1., 1., 1.], dtype=float32)
    """
    return _fft_core_1d("ifft", a, FftType.IFFT, n, axis, norm)


def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the discrete Fourier transform of real numbers along one axis, without its redundant half.

    Args:
      a: array of real numbers.
      n: int, the length to which the axis is cut or filled with zeros; default: the length of the axis.
      axis: int.
      norm: "backward" (default), "ortho" or "forward", as for `fft`.

    Returns:
      Complex array with length n // 2 + 1 along `axis`: the first elements of what `fft` returns.

    Raises:
      ValueError: `a` is complex, n is below 1, the axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.rfft(jnp.array([1.0, 2.0, 3.0, 4.0]))
      Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    return _fft_core_1d("rfft", a, FftType.RFFT, n, axis, norm)


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the inverse of `rfft` along one axis.

    Args:
      a: array of numbers: half of a spectrum that is Hermitian.
      n: int, the length of the result; default: 2 (m - 1) for an axis of length m.  Give it when the length is odd.
      axis: int.
      norm: "backward" (default), "ortho" or "forward", as for `ifft`.

    Returns:
      Real array with length n along `axis`.

    Raises:
      ValueError: n is below 1, the axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.irfft(jnp.array([10.0, -2.0 + 2.0j, -2.0]))
      Array([1., 2., 3., 4.], dtype=float32)
    """
    return _fft_core_1d("irfft", a, FftType.IRFFT, n, axis, norm)


_OPPOSITE_NORMS = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _swap_direction(norm):
    if norm not in _OPPOSITE_NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    return _OPPOSITE_NORMS[norm]


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the Fourier transform of a signal whose spectrum is real, from the signal's first half.

    Args:
      a: array of numbers: the first half of a sequence that is Hermitian.
      n: int, the length of the result; default: 2 (m - 1) for an axis of length m.
      axis: int.
      norm: "backward" (default: no factor), "ortho" or "forward".

    Returns:
      Real array with length n along `axis`.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: n is below 1, the axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.hfft(jnp.array([1.0, 2.0, 3.0]))
      Array([ 8., -2.,  0., -2.], dtype=float32)
    """
    a = ensure_arraylike("jax.numpy.fft.hfft", a)
    _check_one_axis("hfft", a, n, axis)
    return irfft(conj(a), n, axis, _swap_direction(norm))


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Returns the inverse of `hfft` along one axis.

    Unlike the other transforms it accepts lists, as in JAX.

    Args:
      a: array of real numbers.
      n: int, the length to which the axis is cut or filled with zeros; default: the length of the axis.
      axis: int.
      norm: "backward" (default: the factor 1/n), "ortho" or "forward".

    Returns:
      Complex array with length n // 2 + 1 along `axis`.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: n is below 1, the axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.ihfft(jnp.array([9.0, -4.0, 1.0, -4.0])).real
      Array([0.5, 2. , 4.5], dtype=float32)
    """
    a = asarray(a)
    _check_one_axis("ihfft", a, n, axis)
    out = conj(rfft(a, n, axis))
    scale = _norm_factor(_swap_direction(norm), [a.shape[axis] if n is None else n], FftType.RFFT)
    return out if scale is None else out * out.dtype.type(scale)


def fft2(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """Returns the discrete Fourier transform over two axes.

    Args:
      a: array of numbers of rank 2 or more.
      s: two ints, the lengths to which the axes are cut or filled with zeros; default: their lengths.
      axes: two ints.
      norm: "backward" (default), "ortho" or "forward", as for `fft`.

    Returns:
      Complex array of the shape of `a`, with lengths `s` along `axes`.

    Raises:
      ValueError: there are not two axes, or as for `fftn`.

    Examples:
      >>> jnp.fft.fft2(jnp.eye(2))
      Array([[2.+0.j, 0.+0.j],
             [0.+0.j, 2.+0.j]], dtype=complex64)
    """
    return _fft_core_2d("fft2", a, FftType.FFT, s, axes, norm)


def ifft2(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """Returns the inverse discrete Fourier transform over two axes.

    Args:
      a: array of numbers of rank 2 or more.
      s: two ints, the lengths to which the axes are cut or filled with zeros; default: their lengths.
      axes: two ints.
      norm: "backward" (default: the factor one over the product of the lengths), "ortho" or "forward".

    Returns:
      Complex array of the shape of `a`, with lengths `s` along `axes`.

    Raises:
      ValueError: there are not two axes, or as for `ifftn`.

    Examples:
      >>> jnp.fft.ifft2(jnp.array([[2.0, 0.0], [0.0, 2.0]])).real
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return _fft_core_2d("ifft2", a, FftType.IFFT, s, axes, norm)


def rfft2(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """Returns the discrete Fourier transform of real numbers over two axes, without its redundant half.

    Args:
      a: array of real numbers of rank 2 or more.
      s: two ints, the lengths to which the axes are cut or filled with zeros; default: their lengths.
      axes: two ints; the last one is halved.
      norm: "backward" (default), "ortho" or "forward", as for `fft`.

    Returns:
      Complex array with length s[1] // 2 + 1 along the second of the axes.

    Raises:
      ValueError: there are not two axes, or as for `rfftn`.

    Examples:
      >>> jnp.fft.rfft2(jnp.ones((2, 4)))
      Array([[8.+0.j, 0.+0.j, 0.+0.j],
             [0.+0.j, 0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _fft_core_2d("rfft2", a, FftType.RFFT, s, axes, norm)


def irfft2(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """Returns the inverse of `rfft2`.

    Args:
      a: array of numbers of rank 2 or more: half of a Hermitian spectrum.
      s: two ints, the lengths of the result along the axes; default: those of `a`, the last one m becoming 2 (m - 1).
      axes: two ints.
      norm: "backward" (default), "ortho" or "forward", as for `ifft`.

    Returns:
      Real array with lengths `s` along `axes`.

    Raises:
      ValueError: there are not two axes, or as for `irfftn`.

    Examples:
      >>> jnp.fft.irfft2(jnp.array([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
      Array([[1., 1., 1., 1.],
             [1., 1., 1., 1.]], dtype=float32)
    """
    return _fft_core_2d("irfft2", a, FftType.IRFFT, s, axes, norm)


def fftn(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """Returns the discrete Fourier transform over several axes.

    Args:
      a: array of numbers; bool and integers become float32.
      s: ints, one for each axis: the lengths to which the axes are cut or filled with zeros; default: their lengths.
      axes: ints; default: all axes, or the last len(s) ones where s is given.
      norm: "backward" (default), "ortho" or "forward", as for `fft`.

    Returns:
      Complex array of the shape of `a`, with lengths `s` along `axes`.

    Raises:
      ValueError: `s` and `axes` differ in length, an axis is named twice or out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.fftn(jnp.ones((2, 2)))
      Array([[4.+0.j, 0.+0.j],
             [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _fft_core("fftn", a, FftType.FFT, s, axes, norm)


def ifftn(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """Returns the inverse discrete Fourier transform over several axes.

    Args:
      a: array of numbers; bool and integers become float32.
      s: ints, one for each axis: the lengths to which the axes are cut or filled with zeros; default: their lengths.
      axes: ints; default: all axes, or the last len(s) ones where s is given.
      norm: "backward" (default: the factor one over the product of the lengths), "ortho" or "forward".

    Returns:
      Complex array of the shape of `a`, with lengths `s` along `axes`.

    Raises:
      ValueError: `s` and `axes` differ in length, an axis is named twice or out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.ifftn(jnp.array([[4.0, 0.0], [0.0, 0.0]])).real
      Array([[1., 1.],
             [1., 1.]], dtype=float32)
    """
    return _fft_core("ifftn", a, FftType.IFFT, s, axes, norm)


def rfftn(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """Returns the discrete Fourier transform of real numbers over several axes, without its redundant half.

    It is `rfft` along the last of the axes, followed by `fft` along the others.

    Args:
      a: array of real numbers.
      s: ints, one for each axis: the lengths to which the axes are cut or filled with zeros; default: their lengths.
      axes: ints; default: all axes, or the last len(s) ones where s is given.
      norm: "backward" (default), "ortho" or "forward", as for `fft`.

    Returns:
      Complex array with length s[-1] // 2 + 1 along the last of the axes.

    Raises:
      ValueError: `a` is complex, `s` and `axes` differ in length, an axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.rfftn(jnp.ones((2, 2)))
      Array([[4.+0.j, 0.+0.j],
             [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _fft_core("rfftn", a, FftType.RFFT, s, axes, norm)


def irfftn(
    a: ArrayLike, s: Sequence[DimSize] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """Returns the inverse of `rfftn`.

    Args:
      a: array of numbers: half of a Hermitian spectrum.
      s: ints, the lengths of the result along the axes; default: those of `a`, the last one m becoming 2 (m - 1).
      axes: ints; default: all axes, or the last len(s) ones where s is given.
      norm: "backward" (default), "ortho" or "forward", as for `ifft`.

    Returns:
      Real array with lengths `s` along `axes`.

    Raises:
      ValueError: `s` and `axes` differ in length, an axis is out of bounds, or `norm` is unknown.

    Examples:
      >>> jnp.fft.irfftn(jnp.array([[4.0, 0.0], [0.0, 0.0]]))
      Array([[1., 1.],
             [1., 1.]], dtype=float32)
    """
    return _fft_core("irfftn", a, FftType.IRFFT, s, axes, norm)


def _frequencies_dtype(dtype):
    return dtypes.scalar_dtype(float) if dtype is None else dtypes.check_user_dtype(dtype, "fftfreq")


def _check_spacing(name, d):
    if isinstance(d, (list, tuple)):
        raise ValueError(f"The d argument of jax.numpy.fft.{name} only takes a single value. Got d = {d}.")
    return d


def _check_count(name, n):
    if isinstance(n, (list, tuple)):
        raise ValueError(f"The n argument of jax.numpy.fft.{name} only takes an int. Got n = {n}.")
    return n


def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Array:
    """Returns the frequencies to which the elements of `fft` belong.

    Args:
      n: int, the length of the transform.
      d: float, the distance of the samples.
      dtype: a floating dtype; default: the default float.
      device: the device or sharding to place the result on; default: the default device.

    Returns:
      Array of shape (n,): 0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1, divided by n d, in cycles per unit of `d`.

    Raises:
      ValueError: `n` is no scalar.

    Examples:
      >>> jnp.fft.fftfreq(4, d=0.5)
      Array([ 0. ,  0.5, -1. , -0.5], dtype=float32)
    """
    d, n = _check_spacing("fftfreq", d), _check_count("fftfreq", n)
    if np.ndim(n):
        raise ValueError(f"jax.numpy.fft.fftfreq: n must be a scalar; got {n}")
    dtype = _frequencies_dtype(dtype)
    real = dtypes.real_dtype(dtype) if dtypes.is_inexact(dtype) else dtypes.scalar_dtype(float)
    k = lax.iota(real, max(0, int(np.ceil(n))))
    middle = real.type(n // 2)
    k = remainder(k + middle, n) - middle
    return on_device((k / ensure_arraylike("fftfreq", d * n).astype(real)).astype(dtype), device)


def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Array:
    """Returns the frequencies to which the elements of `rfft` belong.

    Args:
      n: int, the length of the transform.
      d: float, the distance of the samples.
      dtype: a floating dtype; default: the default float.
      device: the device or sharding to place the result on; default: the default device.

    Returns:
      Array of shape (n // 2 + 1,): 0, 1, ..., n // 2, divided by n d, in cycles per unit of `d`.

    Examples:
      >>> jnp.fft.rfftfreq(4, d=0.5)
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    d, n = _check_spacing("rfftfreq", d), _check_count("rfftfreq", n)
    dtype = _frequencies_dtype(dtype)
    return on_device(
        lax.iota(dtype, max(0, int(n // 2 + 1))) / ensure_arraylike("rfftfreq", d * n).astype(dtype), device
    )


def _shift(x, axes, sign):
    if axes is None:
        axes = tuple(range(x.ndim))
    elif isinstance(axes, int):
        return roll(x, sign * (x.shape[axes] // 2), axes)
    shifts = [sign * (x.shape[a] // 2) for a in axes]
    return roll(x, shifts, axes)


def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Returns x with frequency 0 moved from the front of the axes to their middle.

    Args:
      x: array of any dtype.
      axes: int or ints; default: all axes.

    Returns:
      Array of the shape and dtype of `x`.

    Examples:
      >>> jnp.fft.fftshift(jnp.fft.fftfreq(4, d=0.25))
      Array([-2., -1.,  0.,  1.], dtype=float32)
    """
    return _shift(ensure_arraylike("jax.numpy.fft.fftshift", x), axes, 1)


def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Returns the inverse of `fftshift`: the middle of the axes moves to their front.

    Args:
      x: array of any dtype.
      axes: int or ints; default: all axes.

    Returns:
      Array of the shape and dtype of `x`.

    Examples:
      >>> jnp.fft.ifftshift(jnp.array([-2, -1, 0, 1]))
      Array([ 0,  1, -2, -1], dtype=int32)
    """
    return _shift(ensure_arraylike("jax.numpy.fft.ifftshift", x), axes, -1)
