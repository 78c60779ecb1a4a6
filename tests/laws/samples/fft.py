"""fft: each type over one, two and three axes, lengths even, odd, prime and beyond the longest matrix."""

import numpy as np

from laws.sampling import COMPLEXES, Sample, numbers
from onax import lax

SHAPES = (((8,), 1), ((2, 6), 1), ((3, 7), 2), ((2, 3, 4), 3), ((15,), 1), ((1,), 1), ((2, 0, 3), 1), ((67,), 1))
ROUNDINGS = 64


def _size(x):
    return float(np.sum(np.abs(x))) + 1e-300


def _sample(x, kind, lengths):
    return Sample(lax.fft_p, (x,), {"fft_type": kind, "fft_lengths": tuple(lengths)}, sums=(ROUNDINGS, _size))


def transforms():
    """All four types of transform."""
    for dtype in COMPLEXES:
        real = np.dtype(f"f{dtype.itemsize // 2}")
        for shape, n in SHAPES:
            lengths = shape[len(shape) - n :]
            half = (*shape[:-1], shape[-1] // 2 + 1)
            yield _sample(numbers("fft", shape, dtype), lax.FftType.FFT, lengths)
            yield _sample(numbers("ifft", shape, dtype), lax.FftType.IFFT, lengths)
            yield _sample(numbers("rfft", shape, real), lax.FftType.RFFT, lengths)
            yield _sample(numbers("irfft", half, dtype), lax.FftType.IRFFT, lengths)


SAMPLES = list(transforms())
