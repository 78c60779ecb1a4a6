"""Draws from the gamma distribution by rejection (Marsaglia and Tsang, "A simple method for generating gamma
variables", 2000): d v^3 with d = shape - 1/3 and v = 1 + x / (3 sqrt(d)) for a normal x, accepted by comparison with a
uniform u.

Each number has its own key and depends on that key alone.  The loops draw for all numbers that are not accepted yet.
For shapes below 1 the number is one of shape + 1 times u^(1 / shape).
"""

import numpy as np

from onax._ground import dtypes
from onax._prims.special import erf_inv_p


def _scalar(value, dtype):
    return np.asarray(value).astype(dtype)[()]


class _Draws:
    """Draws one number from each of many keys."""

    __slots__ = ("dtype", "impl", "mantissa", "partitionable", "width")

    def __init__(self, impl, partitionable, dtype):
        self.impl = impl
        self.partitionable = partitionable
        self.dtype = dtype
        self.mantissa = dtypes.finfo(dtype).nmant
        self.width = 8 if self.mantissa < 8 else dtypes.itemsize_bits(dtype)

    def split(self, keys, number):
        """Splits each key; returns `number` arrays of new keys."""
        new = self.impl.split_each(keys, (number,), self.partitionable)
        return [new[:, i] for i in range(number)]

    def uniform(self, keys):
        bits = self.impl.bits_each(keys, self.width, (), self.partitionable)
        mantissa = bits >> bits.dtype.type(self.width - self.mantissa)
        return mantissa.astype(self.dtype) * _scalar(2.0**-self.mantissa, self.dtype)

    def normal(self, keys):
        one = _scalar(1, self.dtype)
        low = np.nextafter(-one, one, dtype=self.dtype)
        u = np.maximum(low, self.uniform(keys) * (one - low) + low)
        return _scalar(np.sqrt(2), self.dtype) * erf_inv_p.kernel[self.dtype](u)


def _propose(draws, keys, c):
    """Normal numbers x for which v = 1 + c x is positive, and v."""
    one = _scalar(1, draws.dtype)
    x, v = np.empty_like(c), np.empty_like(c)
    left = np.arange(c.size)
    while left.size:
        keys, subkeys = draws.split(keys, 2)
        x[left] = drawn = draws.normal(subkeys)
        v[left] = proposed = one + drawn * c[left]
        again = proposed <= 0
        keys, left = keys[again], left[again]
    return x, v


def _accept(draws, keys, d, c):
    """Draws candidates until one is accepted for each number; returns v^3."""
    one, half, squeeze = (_scalar(v, draws.dtype) for v in (1, 0.5, 0.0331))
    out = np.empty_like(d)
    left = np.arange(d.size)
    while left.size:
        keys, x_keys, u_keys = draws.split(keys, 3)
        x, v = _propose(draws, x_keys, c)
        square, cube = x * x, v * v * v
        u = draws.uniform(u_keys)
        out[left] = cube
        undecided = np.flatnonzero(u >= one - squeeze * (square * square))
        a, b = square[undecided], cube[undecided]
        refused = np.log(u[undecided]) >= a * half + d[undecided] * ((one - b) + np.log(b))
        again = undecided[refused]
        keys, left, d, c = keys[again], left[again], d[again], c[again]
    return out


def random_gamma(key_data, alpha, *, log_space, partitionable, impl):
    """Draws numbers with shape parameters `alpha` (or logarithms); each key draws for alpha's trailing axes."""
    dtype = alpha.dtype
    lead = key_data.shape[: key_data.ndim - len(impl.key_shape)]
    number = int(np.prod(alpha.shape[len(lead) :]))
    keys = impl.split_kernel(key_data, (number,), partitionable).reshape((-1, *impl.key_shape))
    draws = _Draws(impl, partitionable, dtype)
    a = alpha.reshape(-1)
    one, third, zero = (_scalar(v, dtype) for v in (1, 1 / 3, 0))
    with np.errstate(all="ignore"):
        large = a >= one
        d = np.where(large, a, a + one) - third
        keys, boost_keys = draws.split(keys, 2)
        cubes = _accept(draws, keys, d, third / np.sqrt(d))
        if log_space:
            boost = np.zeros_like(a)
            log_u = np.log1p(-draws.uniform(boost_keys[~large]))
            boost[~large] = np.where(log_u == zero, log_u, log_u * (one / a[~large]))
            out = np.log(d) + np.log(cubes) + boost
        else:
            boost = np.ones_like(a)
            boost[~large] = np.power(one - draws.uniform(boost_keys[~large]), one / a[~large])
            out = d * cubes * boost
    return out.reshape(alpha.shape)
