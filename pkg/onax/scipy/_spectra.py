"""Spectra of pieces of a signal, for onax.scipy.signal: P. Welch's method (1967), and the short-time transform."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from onax import numpy as jnp
from onax._core.trace import Tracer
from onax._ground import dtypes
from onax._ground.lazy import scipy_signal_windows
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import along_last_axis, canonical_axis, promote_dtypes_inexact, to_dtype

_EXTENSIONS = {
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "constant": {"mode": "edge"},
    "zeros": {"mode": "constant"},
    None: None,
}


def detrend(
    data: ArrayLike, axis: int = -1, type: str = "linear", bp: ArrayLike = 0, overwrite_data: None = None
) -> Array:
    """Returns data less its mean, or less the straight line that fits it best.

    Args:
      data: an array.
      axis: an int; default -1.
      type: "linear" (the default) or "constant".
      bp: indices where another line begins; default 0, one line.
      overwrite_data: None.

    Returns:
      Float array of the shape of `data`.

    Raises:
      ValueError: another `type`, or indices outside of the axis.
      NotImplementedError: `overwrite_data` is given.
      IndexError: there is no such axis.

    Examples:
      >>> onax.scipy.signal.detrend(jnp.array([1.0, 3.0]), type="constant")
      Array([-1.,  1.], dtype=float32)
    """
    if overwrite_data is not None:
        raise NotImplementedError("overwrite_data argument not implemented.")
    if type not in ("constant", "linear"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    (data,) = promote_dtypes_inexact(jnp.asarray(data))
    if type == "constant":
        return data - data.mean(axis, keepdims=True)
    n = data.shape[axis]
    breaks = np.unique(np.concatenate([[0], np.atleast_1d(bp), [n]])).astype(int)
    if breaks[0] < 0 or breaks[-1] > n:
        raise ValueError("Breakpoints must be non-negative and less than length of data along given axis.")
    rows = jnp.moveaxis(data, axis, -1)
    parts = [_subtract_line(rows[..., start:end]) for start, end in zip(breaks[:-1], breaks[1:])]
    out = jnp.moveaxis(jnp.concatenate(parts, axis=-1) if parts else rows, -1, axis)
    return to_dtype(out, data.dtype, data.weak_type)


def _subtract_line(rows):
    """Subtracts the least-squares line from each row."""
    n = rows.shape[-1]
    centered = np.arange(n) - (n - 1) / 2
    square = float(centered @ centered) if n > 1 else 1.0
    centered = along_last_axis(centered.astype(jnp.finfo(rows.dtype).dtype), rows.ndim)
    rows = rows - rows.mean(-1, keepdims=True)
    slope = (rows * centered).sum(-1, keepdims=True) / square
    return rows - slope * centered


def _resolve_window(window, nperseg, length):
    """Returns (the window's weights, the length of a segment)."""
    if isinstance(window, (str, tuple)):
        nperseg = length if nperseg is None else nperseg
        if nperseg > length:
            nperseg = length
        return np.asarray(scipy_signal_windows.get_window(window, nperseg)), nperseg
    result = window if isinstance(window, (Array, Tracer)) else np.asarray(window)
    if result.ndim != 1:
        raise ValueError("window must be 1-D")
    if length < result.shape[-1]:
        raise ValueError("window is longer than input signal")
    if nperseg is not None and nperseg != result.shape[0]:
        raise ValueError("value specified for nperseg is different from length of window")
    return result, result.shape[0]


def _check_sizes(nperseg, noverlap, nfft):
    """Returns (step between segments, length of the transforms); raises ValueError for sizes that do not fit."""
    nfft = nperseg if nfft is None else operator.index(nfft)
    if nfft < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    noverlap = nperseg // 2 if noverlap is None else operator.index(noverlap)
    if noverlap >= nperseg:
        raise ValueError("noverlap must be less than nperseg.")
    return nperseg - noverlap, nfft


def _segment_indices(count, step, length):
    """The index of each element of each segment, of shape (count, length)."""
    return np.arange(count)[:, None] * step + np.arange(length)


def _promote_operands(x, y):
    """Promotes both signals to one dtype; y may be None."""
    if y is None:
        return promote_dtypes_inexact(x)[0], None
    x, y = promote_dtypes_inexact(x, y)
    if x.ndim != y.ndim:
        raise ValueError(f"two-arguments must have the same rank ({x.ndim} vs {y.ndim}).")
    return x, y


def _pad_to_equal_length(x, y):
    n = max(x.shape[-1], y.shape[-1])
    return [jnp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, n - v.shape[-1])]) for v in (x, y)]


def spectra(x, y, fs, window, nperseg, noverlap, nfft, detrending, onesided, scaling, axis, boundary=None, padded=False,
            squares=True):  # fmt: skip
    """(frequencies, times, spectra): of x alone, or of x and y, the pieces along the last axis.

    squares: products of spectra, which are scaled as power; else the transforms of x.
    """
    if boundary not in _EXTENSIONS:
        raise ValueError(f"Unknown boundary option '{boundary}', must be one of: {list(_EXTENSIONS)}")
    if nperseg is not None:
        nperseg = operator.index(nperseg)
        if nperseg < 1:
            raise ValueError("nperseg must be a positive integer")
    x, y = _promote_operands(jnp.asarray(x), None if y is None else jnp.asarray(y))
    axis = canonical_axis(axis, x.ndim)
    x, y = (v if v is None else jnp.moveaxis(v, axis, -1) for v in (x, y))
    if y is not None:
        x, y = _pad_to_equal_length(x, y)
    if not x.size:
        nothing = jnp.zeros(x.shape, jnp.finfo(x.dtype).dtype)
        return nothing, nothing, nothing[..., None]
    win, nperseg = _resolve_window(window, nperseg, x.shape[-1])
    step, nfft = _check_sizes(nperseg, noverlap, nfft)
    x, y = (v if v is None else _extend(v, nperseg, step, boundary, padded) for v in (x, y))
    real = jnp.finfo(x.dtype).dtype
    win = jnp.asarray(win, real)
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {scaling}")
    scale = 1 / (fs * (win * win).sum()) if scaling == "density" else 1 / win.sum() ** 2
    onesided = onesided and not any(dtypes.is_complex(v.dtype) for v in (x, y) if v is not None)
    pieces = _segment_indices((x.shape[-1] - nperseg) // step + 1, step, nperseg)
    transform = lambda v: _transform_segments(v[..., pieces], win, detrending, nfft, onesided)
    out = transform(x)
    if squares:
        out = jnp.conj(out) * (out if y is None else transform(y)) * scale.astype(out.dtype)
        out = out.real if y is None else out
        if onesided:
            twice = np.asarray([1] + [2] * ((nfft - 1) // 2) + [1] * (1 - nfft % 2), out.dtype)
            out = out * along_last_axis(twice, out.ndim)
    else:
        out = out * jnp.sqrt(scale).astype(out.dtype)
    frequencies = (jnp.fft.rfftfreq if onesided else jnp.fft.fftfreq)(nfft, 1 / fs).astype(real)
    centres = nperseg / 2 + step * np.arange(pieces.shape[0]) - (nperseg / 2 if boundary is not None else 0)
    times = jnp.asarray(centres, real) / fs
    return frequencies, times, jnp.moveaxis(jnp.moveaxis(out, -1, -2), -2, axis)


def _extend(x, nperseg, step, boundary, padded):
    outer = [(0, 0)] * (x.ndim - 1)
    if boundary is not None:
        x = jnp.pad(x, [*outer, (nperseg // 2, nperseg // 2)], **_EXTENSIONS[boundary])
    if padded:
        x = jnp.pad(x, [*outer, (0, (-(x.shape[-1] - nperseg) % step) % nperseg)])
    return x


def _transform_segments(pieces, win, detrending, nfft, onesided):
    if callable(detrending):
        pieces = detrending(pieces)
    elif detrending:
        pieces = detrend(pieces, type=detrending)
    weighted = pieces * along_last_axis(win.astype(pieces.dtype), pieces.ndim)
    return (jnp.fft.rfft if onesided else jnp.fft.fft)(weighted, nfft)


def csd(
    x: ArrayLike,
    y: ArrayLike | None,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Returns the cross spectral density of two signals by Welch's method (1967).

    Args:
      x: a signal, real or complex.
      y: a signal; None: `x`.
      fs: the number of samples in a unit of time; default 1.
      window: a name or a tuple that SciPy's `get_window` knows, or the numbers themselves; default "hann".
      nperseg: the length of a piece; default None, that of the signals.
      noverlap: how many samples two pieces share; default None, half of `nperseg`.
      nfft: the length of the transforms, with zeros behind the pieces; default None, `nperseg`.
      detrend: what is subtracted from each piece: "constant", "linear", a function, or False for nothing.
      return_onesided: True (the default): of a real signal, the frequencies from 0 on alone.
      scaling: "density" (by frequency, the default) or "spectrum".
      axis: the axis of time; default -1.
      average: over the pieces: "mean" (the default) or "median".

    Returns:
      (frequencies, density): (f,), and an array with f elements along the axis.

    Raises:
      ValueError: sizes or options that do not fit.

    Examples:
      >>> f, density = onax.scipy.signal.csd(jnp.ones(8), jnp.ones(8), nperseg=8)
      >>> f.shape, density.shape
      ((5,), (5,))
    """
    frequencies, _, out = spectra(x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis)
    count = out.shape[-1]
    if count <= 1:
        return frequencies, out.reshape(out.shape[:-1])
    if average == "mean":
        return frequencies, out.mean(-1)
    if average != "median":
        raise ValueError(f'average must be "median" or "mean", got {average}')
    even = 2 * np.arange(1, (count - 1) // 2 + 1)
    bias = float(1 + np.sum(1 / (even + 1) - 1 / even))  # of the median of squares
    middle = lambda v: jnp.median(v, axis=-1)
    average_spectrum = middle(out.real) + 1j * middle(out.imag) if jnp.iscomplexobj(out) else middle(out)
    return frequencies, average_spectrum / bias


def welch(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Returns the power spectral density of a signal by Welch's method (1967).

    Args:
      x: a signal, real or complex.
      fs: the number of samples in a unit of time; default 1.
      window: a name or a tuple that SciPy's `get_window` knows, or the numbers themselves; default "hann".
      nperseg: the length of a piece; default None, that of the signal.
      noverlap: how many samples two pieces share; default None, half of `nperseg`.
      nfft: the length of the transforms, with zeros behind the pieces; default None, `nperseg`.
      detrend: what is subtracted from each piece: "constant", "linear", a function, or False for nothing.
      return_onesided: True (the default): of a real signal, the frequencies from 0 on alone.
      scaling: "density" (by frequency, the default) or "spectrum".
      axis: the axis of time; default -1.
      average: over the pieces: "mean" (the default) or "median".

    Returns:
      (frequencies, density): (f,), and an array with f elements along the axis.

    Raises:
      ValueError: sizes or options that do not fit.

    Examples:
      >>> f, density = onax.scipy.signal.welch(jnp.ones(8), nperseg=8)
      >>> f
      Array([0.   , 0.125, 0.25 , 0.375, 0.5  ], dtype=float32)
    """
    return csd(x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def stft(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Returns the Fourier transforms of the pieces of a signal.

    Args:
      x: a signal, real or complex.
      fs: the number of samples in a unit of time; default 1.
      window: a name or a tuple that SciPy's `get_window` knows, or the numbers themselves; default "hann".
      nperseg: the length of a piece; default 256.
      noverlap: how many samples two pieces share; default None, half of `nperseg`.
      nfft: the length of the transforms, with zeros behind the pieces; default None, `nperseg`.
      detrend: what is subtracted from each piece: "constant", "linear", a function, or False for nothing.
      return_onesided: True (the default): of a real signal, the frequencies from 0 on alone.
      boundary: how the signal goes on for half a piece at both ends: "even", "odd", "constant", "zeros" (the default)
        or None.
      padded: True (the default): zeros behind the signal complete the last piece.
      axis: the axis of time; default -1.

    Returns:
      (frequencies, times, transforms): (f,), (t,) and a complex array with f elements along the axis and t along a last
      one.

    Raises:
      ValueError: sizes or options that do not fit.

    Examples:
      >>> f, t, z = onax.scipy.signal.stft(jnp.ones(16), nperseg=8)
      >>> f.shape, t.shape, z.shape
      ((5,), (5,), (5, 5))
    """
    return spectra(
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        "spectrum",
        axis,
        boundary,
        padded,
        False,
    )


def istft(
    Zxx: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """Returns the signal that has given transforms of its pieces; the inverse of `stft`.

    There are as many times as the signal is long on its first axis, as in JAX and SciPy.

    Args:
      Zxx: the transforms, as `stft` returned them.
      fs: the number of samples in a unit of time; default 1.
      window: a name or a tuple that SciPy's `get_window` knows, or the numbers themselves; default "hann".
      nperseg: the length of a piece, as in `stft`; default None, from the number of frequencies.
      noverlap: how many samples two pieces share; default None, half of `nperseg`.
      nfft: the length of the transforms, with zeros behind the pieces; default None, `nperseg`.
      input_onesided: whether frequencies below 0 are left out; default True.
      boundary: whether the signal's ends were extended; default True.
      time_axis: the axis of the pieces; default -1.
      freq_axis: the axis of the frequencies; default -2.

    Returns:
      (times, signal).

    Raises:
      ValueError: fewer than two axes, equal axes, or sizes that do not fit.

    Examples:
      >>> f, t, z = onax.scipy.signal.stft(jnp.ones(16), nperseg=8)
      >>> onax.scipy.signal.istft(z, nperseg=8)[1].shape
      (16,)
    """
    (z,) = promote_dtypes_inexact(jnp.asarray(Zxx))
    if z.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    freq_axis, time_axis = (canonical_axis(a, z.ndim) for a in (freq_axis, time_axis))
    if time_axis == freq_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    z = jnp.moveaxis(z, (freq_axis, time_axis), (-1, -2))
    count, bins = z.shape[-2:]
    default = 2 * (bins - 1) if input_onesided else bins
    nperseg = default if nperseg is None else operator.index(nperseg)
    if nperseg < 1:
        raise ValueError("nperseg must be a positive integer")
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == default + 1 else default
    if nfft < nperseg:
        raise ValueError(f"FFT length ({nfft}) must be longer than nperseg ({nperseg}).")
    step, nfft = _check_sizes(nperseg, noverlap, nfft)
    win = np.asarray(_resolve_window(window, nperseg, nperseg)[0])
    pieces = (jnp.fft.irfft if input_onesided else jnp.fft.ifft)(z, nfft)[..., :nperseg]
    length = nperseg + (count - 1) * step
    indices = _segment_indices(count, step, nperseg)
    norm = np.zeros(length)
    np.add.at(norm, indices, np.broadcast_to(win * win, indices.shape))
    weights = (win * win.sum()).astype(pieces.dtype)
    x = (
        jnp.zeros((*pieces.shape[:-2], length), pieces.dtype)
        .at[..., indices]
        .add(pieces * along_last_axis(weights, pieces.ndim))
    )
    if boundary:
        inside = slice(nperseg // 2, -(nperseg // 2) or None)
        x, norm = x[..., inside], norm[inside]
    x = x / along_last_axis(np.where(norm > 1e-10, norm, 1).astype(pieces.dtype), x.ndim)
    signal = jnp.moveaxis(x, -1, time_axis - (freq_axis < time_axis))
    return jnp.arange(signal.shape[0], dtype=jnp.finfo(pieces.dtype).dtype) / fs, signal
