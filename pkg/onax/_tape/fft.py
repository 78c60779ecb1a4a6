"""fft on tapes: the instruction `fft`."""

from math import prod

from onax._native.tape import TYPES
from onax._prims.fft import FftType, fft_p, half_spectrum_size
from onax._tape.rules import Unsupported, tape

MOST_AXES = 16


@tape.rule(fft_p)
def _fft(b, out, x, *, fft_type, fft_lengths):
    rank = len(fft_lengths)
    if not rank or rank > MOST_AXES:
        raise Unsupported(f"a transform over {rank} axes")
    if fft_type == FftType.IRFFT and x.shape[-1] != half_spectrum_size(fft_lengths[-1]):
        raise Unsupported("the operand is not half the spectrum of the result")
    result = b.buffer(out)
    number = TYPES[result.dtype if fft_type == FftType.RFFT else x.dtype]
    lead = prod(x.shape[: len(x.shape) - rank])
    b.emit("fft", [result], [x], (number, int(fft_type), lead, *fft_lengths))
    return result
