"""Implementation of jnp.fft."""

import operator

import numpy as np

from onax import lax
from onax._ground import dtypes
from onax._prims.convert import convert
from onax._prims.fft import FftType, convert_operand
from onax.lax._creation import place_on_device as on_device
from onax.numpy._arithmetic import remainder
from onax.numpy._creation import asarray
from onax.numpy._padding import pad
from onax.numpy._promotion import canonical_axis, ensure_arraylike
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
            raise ValueError(f"{name}: Shape should be positive.")
        if axes is not None and len(s) != len(axes):
            raise ValueError(f"{name}: Shape and axes have different lengths.")
        if len(s) > a.ndim:
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


def _fft_core_1d(name, a, fft_type, n, axis, norm):
    if isinstance(axis, (list, tuple)):
        raise ValueError(
            f"jax.numpy.fft.{name} does not support multiple axes. Please use jax.numpy.fft.{name}n. Got axis = {axis}."
        )
    return _fft_core(name, a, fft_type, None if n is None else [n], (axis,), norm)


def _fft_core_2d(name, a, fft_type, s, axes, norm):
    if len(axes) != 2:
        raise ValueError(f"jax.numpy.fft.{name} only supports 2 axes. Got axes = {axes}.")
    return _fft_core(name, a, fft_type, s, axes, norm)


def fft(a, n=None, axis=-1, norm=None):
    """The discrete Fourier transform along an axis, cut or filled with zeros to n.

    norm: "backward" (the default: nothing is divided), "forward" (divided by n), "ortho" (by its root).
    """
    return _fft_core_1d("fft", a, FftType.FFT, n, axis, norm)


def ifft(a, n=None, axis=-1, norm=None):
    """The inverse of `fft`, which divides by n by default."""
    return _fft_core_1d("ifft", a, FftType.IFFT, n, axis, norm)


def rfft(a, n=None, axis=-1, norm=None):
    """The transform of real numbers along an axis: the first n // 2 + 1 numbers of `fft`."""
    return _fft_core_1d("rfft", a, FftType.RFFT, n, axis, norm)


def irfft(a, n=None, axis=-1, norm=None):
    """The inverse of `rfft`: n real numbers, by default twice as many as the axis has less two."""
    return _fft_core_1d("irfft", a, FftType.IRFFT, n, axis, norm)


_OPPOSITE_NORMS = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _swap_direction(norm):
    if norm not in _OPPOSITE_NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    return _OPPOSITE_NORMS[norm]


def hfft(a, n=None, axis=-1, norm=None):
    """The transform of numbers whose spectrum is real: n real numbers from the first half of the sequence."""
    return irfft(conj(ensure_arraylike("jax.numpy.fft.hfft", a)), n, axis, _swap_direction(norm))


def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of `hfft`.  Takes lists too, as in JAX."""
    return conj(rfft(asarray(a), n, axis, _swap_direction(norm)))


def fft2(a, s=None, axes=(-2, -1), norm=None):
    """`fftn` over two axes."""
    return _fft_core_2d("fft2", a, FftType.FFT, s, axes, norm)


def ifft2(a, s=None, axes=(-2, -1), norm=None):
    """`ifftn` over two axes."""
    return _fft_core_2d("ifft2", a, FftType.IFFT, s, axes, norm)


def rfft2(a, s=None, axes=(-2, -1), norm=None):
    """`rfftn` over two axes."""
    return _fft_core_2d("rfft2", a, FftType.RFFT, s, axes, norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None):
    """`irfftn` over two axes."""
    return _fft_core_2d("irfft2", a, FftType.IRFFT, s, axes, norm)


def fftn(a, s=None, axes=None, norm=None):
    """The transform over several axes, all by default, each cut or filled with zeros to its size in s."""
    return _fft_core("fftn", a, FftType.FFT, s, axes, norm)


def ifftn(a, s=None, axes=None, norm=None):
    """The inverse of `fftn`."""
    return _fft_core("ifftn", a, FftType.IFFT, s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None):
    """`rfft` along the last of the axes, then `fft` along the others."""
    return _fft_core("rfftn", a, FftType.RFFT, s, axes, norm)


def irfftn(a, s=None, axes=None, norm=None):
    """The inverse of `rfftn`."""
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


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies that the numbers of `fft` belong to, for samples d apart: 0, 1, ..., -2, -1 over n d."""
    d, n = _check_spacing("fftfreq", d), _check_count("fftfreq", n)
    if np.ndim(n):
        raise ValueError(f"jax.numpy.fft.fftfreq: n must be a scalar; got {n}")
    dtype = _frequencies_dtype(dtype)
    real = dtypes.real_dtype(dtype) if dtypes.is_inexact(dtype) else dtypes.scalar_dtype(float)
    k = lax.iota(real, max(0, int(np.ceil(n))))
    middle = real.type(n // 2)
    k = remainder(k + middle, n) - middle
    return on_device((k / ensure_arraylike("fftfreq", d * n).astype(real)).astype(dtype), device)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies that the numbers of `rfft` belong to: 0, 1, ..., n / 2 over n d."""
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


def fftshift(x, axes=None):
    """x with frequency 0 moved from the front of the axes, all by default, to their middle."""
    return _shift(ensure_arraylike("jax.numpy.fft.fftshift", x), axes, 1)


def ifftshift(x, axes=None):
    """The inverse of `fftshift`."""
    return _shift(ensure_arraylike("jax.numpy.fft.ifftshift", x), axes, -1)
