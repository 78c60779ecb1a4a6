"""Fourier transforms and windows; complex numbers are pairs along a last axis.

The other direction: `export/lower/fft.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.operators import operator
from onax.onnx.reading import dtype_of


def _to_complex(x):
    return lax.complex(x[..., 0], x[..., 1] if x.shape[-1] == 2 else jnp.zeros_like(x[..., 0]))


def _to_pairs(z, dtype):
    return jnp.stack([z.real, z.imag], -1).astype(dtype)


def _wide(x):
    return jnp.asarray(x).astype(jnp.promote_types(x.dtype, jnp.float32))


@operator("DFT", static=(1,))
def _dft_of_attribute(call, x, length=None):
    return _transform(call, x, length, call.get("axis", 1))


@operator("DFT", since=20, static=(1, 2))
def _dft(call, x, length=None, axis=None):
    return _transform(call, x, length, -2 if axis is None else int(np.reshape(axis, ())))


def _transform(call, x, length, axis):
    axis = axis % x.ndim
    inverse, onesided = call.get("inverse", 0), call.get("onesided", 0)
    natural = 2 * (x.shape[axis] - 1) if inverse and onesided else x.shape[axis]
    length = natural if length is None else int(np.reshape(length, ()))
    wide = _wide(x)
    if inverse and onesided:
        return jnp.fft.irfft(_to_complex(wide), length, axis)[..., None].astype(x.dtype)
    if inverse:
        return _to_pairs(jnp.fft.ifft(_to_complex(wide), length, axis), x.dtype)
    if onesided:
        return _to_pairs(jnp.fft.rfft(wide[..., 0], length, axis), x.dtype)
    return _to_pairs(jnp.fft.fft(_to_complex(wide), length, axis), x.dtype)


@operator("STFT", static=(1, 3))
def _stft(call, x, step, window=None, length=None):
    step = int(np.reshape(step, ()))
    length = int(np.reshape(length, ())) if length is not None else window.shape[0]
    count = (x.shape[1] - length) // step + 1
    frames = _wide(x)[:, np.arange(count)[:, None] * step + np.arange(length)]
    if window is not None:
        before = (length - window.shape[0]) // 2
        padded = jnp.pad(jnp.asarray(window), (before, length - window.shape[0] - before))
        frames = frames * padded.reshape(-1, *[1] * (frames.ndim - 3))
    if call.get("onesided", 1) and (frames.ndim == 3 or frames.shape[-1] == 1):
        return _to_pairs(jnp.fft.rfft(frames.reshape(frames.shape[:3]), axis=2), x.dtype)
    z = _to_complex(frames) if frames.ndim == 4 else frames
    z = jnp.fft.fft(z, axis=2)
    return _to_pairs(z[:, :, : length // 2 + 1] if call.get("onesided", 1) else z, x.dtype)


_WINDOWS = {
    "HannWindow": (0.5, -0.5),
    "HammingWindow": (25 / 46, -21 / 46),
    "BlackmanWindow": (0.42, -0.5, 0.08),
}


@operator(*_WINDOWS, static=(0,))
def _window(call, size):
    size = int(np.reshape(size, ()))
    period = size if call.get("periodic", 1) else max(size - 1, 1)
    angle = 2 * np.pi * np.arange(size) / period
    values = sum(c * np.cos(i * angle) for i, c in enumerate(_WINDOWS[call.node.op_type]))
    return values.astype(dtype_of(call.get("output_datatype", 1)))


@operator("MelWeightMatrix", static=(0, 1, 2, 3, 4))
def _mel_weights(call, bins, length, rate, low, high):
    bins, length, rate = (int(np.reshape(v, ())) for v in (bins, length, rate))

    def mel(hertz):
        return 2595 * np.log10(1 + float(np.reshape(hertz, ())) / 700)

    points = np.arange(bins + 2) * ((mel(high) - mel(low)) / (bins + 2)) + mel(low)
    edges = ((length + 1) * (700 * (10 ** (points / 2595) - 1)) // rate).astype(int)
    result = np.zeros((length // 2 + 1, bins))
    for i in range(bins):
        low, center, high = edges[i : i + 3]
        if center == low:
            result[center, i] = 1
        else:
            result[low : center + 1, i] = (np.arange(low, center + 1) - low) / (center - low)
        if high > center:
            result[center:high, i] = (high - np.arange(center, high)) / (high - center)
    return result.astype(dtype_of(call.get("output_datatype", 1)))
