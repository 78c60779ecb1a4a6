"""Operands of every dtype for tests of instructions."""

import ml_dtypes
import numpy as np

FLOATS = [np.dtype(d) for d in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)]
INTEGERS = [np.dtype(d) for d in "i1 u1 i2 u2 i4 u4 i8 u8".split()]
NUMBERS = [*FLOATS, *INTEGERS, np.dtype(np.complex64), np.dtype(np.complex128)]

_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)


def values(shape, dtype, special=True, seed=0):
    """Numbers of a shape and dtype; some are NaN, infinities and zeros of both signs, unless `special` is false."""
    dtype, rng = np.dtype(dtype), np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    if dtype.kind == "c":
        x = np.empty(shape, dtype)
        x.real, x.imag = values(shape, x.real.dtype, special, seed), values(shape, x.real.dtype, special, seed + 1)
        return x
    x = rng.standard_normal(shape)
    if special and x.size > 3:
        x.flat[rng.integers(0, x.size, len(_SPECIAL))] = rng.permutation(_SPECIAL)
    return x.astype(np.float32).astype(dtype)
