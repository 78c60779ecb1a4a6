"""fft: discrete Fourier transforms over the last axes, complex and real; NumPy (pocketfft) computes them."""

import enum

import numpy as np

from onax._core.facts import LINEAR, MAKES_NAN
from onax._core.rules import deflinear
from onax._ground import dims, dtypes
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._prims.convert import convert
from onax._prims.elementwise import conj, div, mul
from onax._prims.shaping import bdim_at_front, broadcast_in_dim, shape_of


class FftType(enum.IntEnum):
    """The kind of transform: complex forward or inverse, from real numbers, or to real numbers."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


# names, because NumPy imports numpy.fft when it is first used
_FUNCTIONS = {FftType.FFT: "fftn", FftType.IFFT: "ifftn", FftType.RFFT: "rfftn", FftType.IRFFT: "irfftn"}


def _kernel(x, *, fft_type, fft_lengths):
    shape = _shape(x.shape, fft_type, fft_lengths)
    dtype = _dtype(x.dtype, fft_type)
    if x.size == 0 or 0 in shape:
        return np.zeros(shape, dtype)
    axes = tuple(range(x.ndim - len(fft_lengths), x.ndim))
    return np.ascontiguousarray(getattr(np.fft, _FUNCTIONS[fft_type])(x, fft_lengths, axes), dtype)


def _shape(shape, fft_type, lengths):
    """The result's shape.  Raises ValueError where lengths do not fit."""
    n = len(lengths)
    if len(shape) < n:
        raise ValueError(
            f"FFT input shape {shape} must have at least as many input dimensions as fft_lengths {lengths}."
        )
    lead, own = shape[: len(shape) - n], shape[len(shape) - n :]
    if fft_type in (FftType.FFT, FftType.IFFT):
        if not dims.equal_shapes(own, lengths):
            raise ValueError(f"FFT input shape {shape} minor dimensions must be equal to fft_lengths {lengths}")
        return shape
    if fft_type == FftType.RFFT:
        if not dims.equal_shapes(own, lengths):
            raise ValueError(f"RFFT input shape {shape} minor dimensions must be equal to fft_lengths {lengths}")
        return (*lead, *lengths[:-1], half_spectrum_size(lengths[-1]))
    if not dims.equal_shapes(own[:-1], lengths[:-1]):
        raise ValueError(
            f"IRFFT input shape {shape} minor dimensions must be equal to all except the last fft_length, "
            f"got fft_lengths={lengths}"
        )
    return (*lead, *lengths)


def half_spectrum_size(n):
    """The number of outputs of a transform of n real numbers; the remaining outputs are conjugates of these."""
    return n // 2 + 1 if not dims.is_constant(n) or n > 0 else 0


def _dtype(dtype, fft_type):
    if fft_type == FftType.RFFT:
        return np.result_type(dtype, np.complex64)
    return dtypes.real_dtype(dtype) if fft_type == FftType.IRFFT else dtype


def _abstract(x, *, fft_type, fft_lengths):
    if fft_type == FftType.RFFT:
        if x.dtype not in (np.float32, np.float64):
            raise ValueError(f"RFFT input must be float32 or float64, got {x.dtype}")
    elif not dtypes.is_complex(x.dtype):
        raise ValueError(f"{FftType(fft_type).name} input must be complex64 or complex128, got {x.dtype}")
    return ShapedArray(_shape(x.shape, fft_type, fft_lengths), _dtype(x.dtype, fft_type))


def _half_spectrum_weights(n, dtype):
    """How often the full spectrum contains each number of the half one: twice, except for the first and, if n is even,
    the last."""
    out = np.full(half_spectrum_size(n), 2, dtype)
    out[0] = 1
    if n % 2 == 0:
        out[-1] = 1
    return out


def _broadcast_last(row, like):
    shape = shape_of(like)
    return broadcast_in_dim(row, shape, (len(shape) - 1,))


def _transform_size(lengths):
    return float(np.prod(lengths, dtype=np.float64))


def _rfft_transpose(ct, lengths):
    counts = _broadcast_last(_half_spectrum_weights(lengths[-1], ct.dtype), ct)
    back = fft_p.bind(div(conj(ct), counts), fft_type=FftType.IRFFT, fft_lengths=lengths)
    return mul(np.asarray(_transform_size(lengths), back.dtype)[()], back)


def _irfft_transpose(ct, lengths):
    spectrum = fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=lengths)
    weights = (_half_spectrum_weights(lengths[-1], spectrum.dtype) / _transform_size(lengths)).astype(spectrum.dtype)
    return conj(mul(_broadcast_last(weights, spectrum), spectrum))


def _transpose(ct, x, *, fft_type, fft_lengths):
    if fft_type == FftType.RFFT:
        return [_rfft_transpose(ct, fft_lengths)]
    if fft_type == FftType.IRFFT:
        return [_irfft_transpose(ct, fft_lengths)]
    return [fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)]


def _batch(axis_data, operands, mapped, **params):
    return fft_p.bind(bdim_at_front(operands[0], mapped[0], axis_data.size), **params), 0


fft_p = deflinear(
    Primitive(
        "fft", kernel=_kernel, abstract_eval=_abstract, batch=_batch, facts=frozenset({LINEAR, MAKES_NAN}), weak=NEVER
    ),
    _transpose,
)


def canonical_type(fft_type):
    """Converts a name to an FftType.  Raises ValueError for an unknown name, TypeError for other values."""
    if isinstance(fft_type, str):
        result = FftType.__members__.get(fft_type.upper())
        if result is None:
            raise ValueError(f"Unknown FFT type '{fft_type}'")
        return result
    if isinstance(fft_type, FftType):
        return fft_type
    raise TypeError(f"Unknown FFT type value '{fft_type}'")


def convert_operand(x, fft_type):
    """Converts x to the dtype that the transform takes.  Raises ValueError for complex numbers where it takes real
    ones."""
    if fft_type == FftType.RFFT:
        if dtypes.is_complex(x.dtype):
            raise ValueError("only real valued inputs supported for rfft")
        if dtypes.is_inexact(x.dtype):
            return x
        return convert(x, dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(x.dtype)))
    if dtypes.is_complex(x.dtype):
        return x
    wide = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(x.dtype))
    return convert(x, np.result_type(wide if wide in (np.float32, np.float64) else np.float32, np.complex64))
