"""lax.fft, staged as a named call as in JAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims.fft import canonical_type, convert_operand, fft_p
from onax._prims.linalg_rules import operand
from onax._prims.shaping import canonical_shape


@staged("fft", ("fft_type", "fft_lengths"), compiled_from=None)
def _fft(x, fft_type, fft_lengths):
    if not fft_lengths:
        return x
    return fft_p.bind(convert_operand(x, fft_type), fft_type=fft_type, fft_lengths=fft_lengths)


@static_argnames("fft_lengths", "fft_type")
def fft(x: ArrayLike, fft_type: Any, fft_lengths: Sequence[int]) -> Array:
    """Returns the discrete Fourier transform over the last axes.

    Args:
      x: array of numbers, which are real for RFFT.
      fft_type: a `lax.FftType` or its name: FFT, IFFT, RFFT (the first half of the spectrum in the last axis) or IRFFT.
      fft_lengths: ints, the lengths of the last axes (of the result, for IRFFT).

    Returns:
      Array; inverse transforms are divided by the product of the lengths.

    Raises:
      ValueError: shapes or dtypes do not fit.

    Examples:
      >>> lax.fft(jnp.array([1.0, 2.0, 3.0, 4.0]), "RFFT", (4,))
      Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    fft_type = canonical_type(fft_type)
    return _fft(operand(x), fft_type=fft_type, fft_lengths=canonical_shape(fft_lengths))
