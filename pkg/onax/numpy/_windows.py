"""Window functions: weights of length M that fall off towards both ends."""

import operator

import numpy as np

from onax import lax
from onax._core.trace import concrete_or_error
from onax._ground import dtypes
from onax.numpy._promotion import to_dtype
from onax.numpy._special_functions import i0


def _window_points(name, M):
    """Returns M as an int, the default float dtype, and the numbers 0 to M - 1."""
    M = concrete_or_error(operator.index, M, f"M argument of {name}")
    dtype = dtypes.canonicalize_dtype(np.float64)
    return M, dtype, None if M <= 1 else lax.iota(dtype, M)


def _cosine(n, M, turns, dtype):
    return lax.cos(lax.div(lax.mul(dtype.type(2 * turns * np.pi), n), dtype.type(M - 1)))


def _ones(M, dtype):
    return lax.full((M,), 1, dtype)


def bartlett(M):
    """The triangle from 0 to 1 to 0."""
    M, dtype, n = _window_points("bartlett", M)
    if n is None:
        return _ones(M, dtype)
    one = dtype.type(1)
    twice = lax.add(lax.mul(dtype.type(2), n), one)
    return lax.sub(one, lax.div(lax.abs(lax.sub(twice, dtype.type(M))), dtype.type(M - 1)))


def blackman(M):
    """The Blackman window."""
    M, dtype, n = _window_points("blackman", M)
    if n is None:
        return _ones(M, dtype)
    base = lax.sub(dtype.type(0.42), lax.mul(dtype.type(0.5), _cosine(n, M, 1, dtype)))
    return lax.add(base, lax.mul(dtype.type(0.08), _cosine(n, M, 2, dtype)))


def hamming(M):
    """The Hamming window: a raised cosine that ends at 0.08."""
    M, dtype, n = _window_points("hamming", M)
    if n is None:
        return _ones(M, dtype)
    return lax.sub(dtype.type(0.54), lax.mul(dtype.type(0.46), _cosine(n, M, 1, dtype)))


def hanning(M):
    """The Hann window: a raised cosine that ends at 0."""
    M, dtype, n = _window_points("hanning", M)
    if n is None:
        return _ones(M, dtype)
    return lax.mul(dtype.type(0.5), lax.sub(dtype.type(1), _cosine(n, M, 1, dtype)))


def kaiser(M, beta):
    """The Kaiser window: a ratio of Bessel functions, narrower for larger beta."""
    M, dtype, n = _window_points("kaiser", M)
    if n is None:
        return _ones(M, dtype)
    half = dtype.type(0.5 * (M - 1))
    square = lax.integer_pow(lax.div(lax.sub(n, half), half), 2)
    beta = to_dtype(beta, dtype)
    root = lax.sqrt(lax.sub(dtype.type(1), square))
    return lax.div(i0(lax.mul(beta, root)), i0(beta))
