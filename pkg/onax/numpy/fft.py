"""onax.numpy.fft: discrete Fourier transforms."""

from onax._core.public import publish as _publish
from onax.numpy._transforms import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)

_publish(globals(), __name__)
