"""lax.fft, staged as a named call as in JAX."""

from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
from onax._prims.fft import canonical_type, convert_operand, fft_p
from onax._prims.linalg_rules import operand
from onax._prims.shaping import canonical_shape


@staged("fft", ("fft_type", "fft_lengths"), compiled_from=None)
def _fft(x, fft_type, fft_lengths):
    if not fft_lengths:
        return x
    return fft_p.bind(convert_operand(x, fft_type), fft_type=fft_type, fft_lengths=fft_lengths)


@static_argnames("fft_lengths", "fft_type")
def fft(x, fft_type, fft_lengths):
    """The discrete Fourier transform over the last axes of x, as many as there are lengths.

    fft_type: an FftType or its name.  FFT and IFFT take complex numbers, with axes of exactly the lengths; RFFT takes
    real numbers and gives the first half of the spectrum in the last axis; IRFFT the other way round, its last length
    being that of the result.  Inverse transforms divide by the product of the lengths.  Raises ValueError for shapes
    or dtypes that do not fit.
    """
    fft_type = canonical_type(fft_type)
    return _fft(operand(x), fft_type=fft_type, fft_lengths=canonical_shape(fft_lengths))
