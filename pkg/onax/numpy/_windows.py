"""Window functions: weights of length M that fall off towards both ends."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._core.trace import concrete_or_error
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import promote_shapes, to_dtype
from onax.numpy._special_functions import i0


def _window_points(name, M):
    """Returns M as an int, the default float dtype, and the numbers 0 to M - 1."""
    M = concrete_or_error(int, M, f"M argument of {name}")
    dtype = dtypes.canonicalize_dtype(np.float64)
    return M, dtype, None if M <= 1 else lax.iota(dtype, M)


def _cosine(n, M, turns, dtype):
    return lax.cos(lax.div(lax.mul(dtype.type(2 * turns * np.pi), n), dtype.type(M - 1)))


def _ones(M, dtype):
    return lax.full((M,), 1, dtype)


def bartlett(M: int) -> Array:
    """Returns the Bartlett window, a triangle from 0 to 1 to 0.

    Args:
      M: int, the number of points.

    Returns:
      Floating array of shape (M,); [1] for M = 1.

    Examples:
      >>> jnp.bartlett(5)
      Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    M, dtype, n = _window_points("bartlett", M)
    if n is None:
        return _ones(M, dtype)
    one = dtype.type(1)
    twice = lax.add(lax.mul(dtype.type(2), n), one)
    return lax.sub(one, lax.div(lax.abs(lax.sub(twice, dtype.type(M))), dtype.type(M - 1)))


def blackman(M: int) -> Array:
    """Returns the Blackman window, 0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1)).

    Args:
      M: int, the number of points.

    Returns:
      Floating array of shape (M,); [1] for M = 1.

    Examples:
      >>> jnp.round(jnp.blackman(5)[1:4], 4)
      Array([0.34, 1.  , 0.34], dtype=float32)
    """
    M, dtype, n = _window_points("blackman", M)
    if n is None:
        return _ones(M, dtype)
    base = lax.sub(dtype.type(0.42), lax.mul(dtype.type(0.5), _cosine(n, M, 1, dtype)))
    return lax.add(base, lax.mul(dtype.type(0.08), _cosine(n, M, 2, dtype)))


def hamming(M: int) -> Array:
    """Returns the Hamming window, 0.54 - 0.46 cos(2 pi n / (M - 1)).

    Args:
      M: int, the number of points.

    Returns:
      Floating array of shape (M,); [1] for M = 1.

    Examples:
      >>> jnp.round(jnp.hamming(5), 4)
      Array([0.08, 0.54, 1.  , 0.54, 0.08], dtype=float32)
    """
    M, dtype, n = _window_points("hamming", M)
    if n is None:
        return _ones(M, dtype)
    return lax.sub(dtype.type(0.54), lax.mul(dtype.type(0.46), _cosine(n, M, 1, dtype)))


def hanning(M: int) -> Array:
    """Returns the Hann window, 0.5 - 0.5 cos(2 pi n / (M - 1)).

    Args:
      M: int, the number of points.

    Returns:
      Floating array of shape (M,); [1] for M = 1.

    Examples:
      >>> jnp.round(jnp.hanning(5), 4)
      Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    M, dtype, n = _window_points("hanning", M)
    if n is None:
        return _ones(M, dtype)
    return lax.mul(dtype.type(0.5), lax.sub(dtype.type(1), _cosine(n, M, 1, dtype)))


def kaiser(M: int, beta: ArrayLike) -> Array:
    """Returns the Kaiser window, i0(beta sqrt(1 - (2 n / (M - 1) - 1)**2)) / i0(beta).

    Args:
      M: int, the number of points.
      beta: number; the larger it is, the narrower the window.

    Returns:
      Floating array of shape (M,); [1] for M = 1.

    Examples:
      >>> jnp.round(jnp.kaiser(5, 2.0), 4)
      Array([0.4387, 0.8348, 1.    , 0.8348, 0.4387], dtype=float32)
    """
    M, dtype, n = _window_points("kaiser", M)
    if n is None:
        return _ones(M, dtype)
    half = dtype.type(0.5 * (M - 1))
    square = lax.integer_pow(lax.div(lax.sub(n, half), half), 2)
    beta = to_dtype(beta, dtype)
    root = lax.sqrt(lax.sub(dtype.type(1), square))
    return lax.div(*promote_shapes("kaiser", i0(lax.mul(*promote_shapes("kaiser", beta, root))), i0(beta)))
