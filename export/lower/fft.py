"""Lowering of Fourier transforms for the portable target.

The runtime's DFT is right only for lengths that are powers of 2: for others the forward transform loses three digits,
and the inverse in double precision divides by a rounded length (measured, 1.31.1).  Transforms of other lengths are
composed of those: Cooley and Tukey (1965) split off factors, odd primes are products with a matrix, and longer primes
are convolutions of a power of 2 (Bluestein, 1970).  Constants are computed in double precision.

The other direction: `pkg/onax/onnx/fft.py`.
"""

import numpy as np

from onax._ground import dims
from onax._prims._matrices import matmul
from onax._prims.convert import convert
from onax._prims.elementwise import conj, mul, real
from onax._prims.fft import FftType, fft_p, half_spectrum_size
from onax._prims.padding import pad
from onax._prims.shaping import broadcast_in_dim, moveaxis, reshape, rev, transpose
from onax._prims.slicing import concatenate, slice_in_dim, zero_scalar
from onax.export.graph import ops
from onax.export.lower import native
from onax.export.lower.convert import refuse
from onax.export.lower.driver import lower_function
from onax.export.lower.registry import lowers

_LONGEST_MATRIX = 64


def _is_power_of_two(n):
    return n > 0 and n & (n - 1) == 0


@lowers(fft_p, components=True)
def _fft(g, out, x, *, fft_type, fft_lengths):
    known = type(x) is not tuple or all(isinstance(d, int) for d in x[0].shape[-len(fft_lengths) :])
    if not known or not all(isinstance(n, int) for n in fft_lengths):
        refuse(g, "fft along axes of unknown length has no ONNX form.")
    is_plain = fft_type in (FftType.FFT, FftType.IFFT) and len(fft_lengths) == 1
    if is_plain and fft_lengths[0] > 1 and _is_power_of_two(fft_lengths[0]):
        return _emit_dft(g, x, inverse=fft_type == FftType.IFFT)
    parts = x if type(x) is tuple else (x,)
    dtype = parts[0].dtype if type(x) is not tuple else np.result_type(parts[0].dtype, np.complex64)
    aval = out.update(shape=parts[0].shape, dtype=np.dtype(dtype))
    params = {"fft_type": fft_type, "fft_lengths": fft_lengths}
    return lower_function(g, _transform, params, [aval], [x])[0]


def _emit_dft(g, x, inverse):
    """The transform of complex numbers along the last axis by DFT, which takes the parts along one more axis."""
    shape, dtype = x[0].shape, x[0].dtype
    last = len(shape)
    pairs = ops.concat(g, [ops.unsqueeze(g, part, (last,)) for part in x], last)
    flat = ops.reshape(g, pairs, (dims.prod(shape[:-1]), shape[-1], 2))
    length, result = g.const(np.int64(shape[-1])), (flat.shape, dtype)
    how = {"inverse": 1} if inverse else {}
    if g.opset >= 20:
        done = g.node("DFT", flat, length, g.const(np.int64(1)), out=result, **how)
    else:
        done = g.node("DFT", flat, length, out=result, axis=1, **how)
    done = ops.reshape(g, done, (*shape, 2))
    return tuple(ops.gather(g, done, g.const(np.int64(i)), last) for i in (0, 1))


# ---- other transforms, composed of complex transforms along the last axis


def _bind_fft(x, inverse):
    """The transform along the last axis."""
    kind = FftType.IFFT if inverse else FftType.FFT
    return fft_p.bind(x, fft_type=kind, fft_lengths=(x.shape[-1],))


def _transform(x, *, fft_type, fft_lengths):
    first = len(x.shape) - len(fft_lengths)
    n = fft_lengths[-1]
    if fft_type == FftType.RFFT:
        x = convert(x, np.result_type(x.dtype, np.complex64))
        x = slice_in_dim(_transform_last_axis(x, False), 0, half_spectrum_size(n), axis=-1)
        return _transform_other_axes(x, first, False)
    if fft_type == FftType.IRFFT:
        x = _transform_other_axes(x, first, True)
        return real(_transform_last_axis(_full_spectrum(x, n), True))
    inverse = fft_type == FftType.IFFT
    return _transform_other_axes(_transform_last_axis(x, inverse), first, inverse)


def _transform_other_axes(x, first, inverse):
    last = len(x.shape) - 1
    for axis in range(first, last):
        x = moveaxis(_transform_last_axis(moveaxis(x, axis, last), inverse), last, axis)
    return x


def _full_spectrum(x, n):
    """The spectrum of n real numbers from its first half: the second half is the conjugate."""
    later = slice_in_dim(x, 1, (n + 1) // 2, axis=-1)
    last = len(x.shape) - 1
    return concatenate([x, rev(conj(later), (last,))], last)


def _smallest_factor(n):
    return next((p for p in range(3, int(n**0.5) + 1, 2) if n % p == 0), n)


def _transform_last_axis(x, inverse):
    """The transform along the last axis, of any length."""
    n = x.shape[-1]
    if n <= 1 or 0 in x.shape:
        return x
    if _is_power_of_two(n):
        return _bind_fft(x, inverse)
    two = n & -n
    if two > 1:
        return _cooley_tukey(x, two, n // two, inverse)
    factor = _smallest_factor(n)
    if factor < n:
        return _cooley_tukey(x, factor, n // factor, inverse)
    return _dft_by_matrix(x, inverse) if n <= _LONGEST_MATRIX else _bluestein(x, inverse)


def _roots_of_unity(numbers, n, inverse, dtype):
    """exp(-2 pi i k / n) for whole numbers k, or its conjugate."""
    turns = np.asarray(numbers) % n * ((2 if inverse else -2) * np.pi / n)
    return np.exp(1j * turns).astype(dtype)


def _cooley_tukey(x, p, q, inverse):
    """A transform of length p * q: transforms of length p, twiddle factors, transforms of length q."""
    lead = x.shape[:-1]
    rank = len(lead)
    x = reshape(x, (*lead, p, q))
    x = moveaxis(_transform_last_axis(moveaxis(x, rank, rank + 1), inverse), rank + 1, rank)
    turns = _roots_of_unity(np.outer(np.arange(p), np.arange(q)), p * q, inverse, x.dtype)
    x = mul(x, broadcast_in_dim(turns, x.shape, (rank, rank + 1)))
    x = _transform_last_axis(x, inverse)
    x = transpose(x, (*range(rank), rank + 1, rank))
    return reshape(x, (*lead, p * q))


def _dft_by_matrix(x, inverse):
    n = x.shape[-1]
    matrix = _roots_of_unity(np.outer(np.arange(n), np.arange(n)), n, inverse, np.complex128)
    matrix = (matrix / n if inverse else matrix).astype(x.dtype)
    rows = reshape(x, (dims.prod(x.shape[:-1]), n))
    return reshape(matmul(rows, matrix, None), x.shape)


def _bluestein(x, inverse):
    """A convolution with exp(pi i m^2 / n), because jk = (j^2 + k^2 - (k - j)^2) / 2."""
    n = x.shape[-1]
    size = 1 << (2 * n - 2).bit_length()
    chirp = _roots_of_unity(np.arange(n) ** 2, 2 * n, inverse, np.complex128)
    filled = np.zeros(size, np.complex128)
    filled[:n] = chirp.conj()
    filled[size - n + 1 :] = chirp.conj()[:0:-1]
    last = len(x.shape) - 1

    def spread(row, shape):
        return broadcast_in_dim(row.astype(x.dtype), shape, (last,))

    padded = pad(mul(x, spread(chirp, x.shape)), zero_scalar(x.dtype), [(0, 0, 0)] * last + [(0, size - n, 0)])
    spectrum = _bind_fft(padded, False)
    product = _bind_fft(mul(spectrum, spread(np.fft.fft(filled), spectrum.shape)), True)
    out = slice_in_dim(product, 0, n, axis=-1)
    return mul(out, spread(chirp / n if inverse else chirp, out.shape))


native.prefer(fft_p)
