"""Lowering of random_gamma: the rejection loop of `_prims/random_kernels.py`, over all numbers at once.

Every number has its own key.  Accepted numbers stay as they are; the loop ends when all are accepted.
"""

import math

import numpy as np

from onax._control.while_loop import while_loop
from onax._ground import dtypes
from onax._ground.errors import LoweringError
from onax._prims import random as prims
from onax._prims.convert import convert
from onax._prims.elementwise import add, div, eq, ge, le, log, log1p, max, mul, neg, select_n, sqrt, sub
from onax._prims.elementwise_bits import bitwise_and, bitwise_or, shift_right_logical
from onax._prims.elementwise_pow import pow
from onax._prims.random_generators import threefry_impl
from onax._prims.reductions import reduce_or
from onax._prims.shaping import broadcast_in_dim, reshape, shape_of
from onax._prims.slicing import slice_in_dim
from onax._prims.special import erf_inv
from onax.export.lower.registry import decompose


class _Draws:
    """Draws one number for each key of an array."""

    __slots__ = ("bits_params", "dtype", "mantissa", "width")

    def __init__(self, dtype, bits_params):
        self.bits_params = bits_params
        self.dtype = dtype
        self.mantissa = dtypes.finfo(dtype).nmant
        self.width = 8 if self.mantissa < 8 else dtypes.itemsize_bits(dtype)

    def scalar(self, value):
        return np.asarray(value).astype(self.dtype)[()]

    def split(self, keys, number):
        new = prims.random_split_p.bind(keys, shape=(number,), **self.bits_params)
        return [reshape(slice_in_dim(new, i, i + 1, axis=1), shape_of(keys)) for i in range(number)]

    def uniform(self, keys):
        bits = prims.random_bits_p.bind(keys, bit_width=self.width, shape=(), **self.bits_params)
        mantissa = shift_right_logical(bits, bits.dtype.type(self.width - self.mantissa))
        return mul(convert(mantissa, self.dtype), self.scalar(2.0**-self.mantissa))

    def normal(self, keys):
        one = self.scalar(1)
        low = np.nextafter(-one, one, dtype=self.dtype)
        u = max(low, add(mul(self.uniform(keys), one - low), low))
        return mul(self.scalar(np.sqrt(2)), erf_inv(u))


def _any(x):
    return reduce_or(x, (0,))


def _propose(draws, keys, c):
    one, zero = draws.scalar(1), draws.scalar(0)

    def step(carry):
        keys, x, v = carry
        open_ = le(v, zero)
        new, subkeys = draws.split(keys, 2)
        drawn = draws.normal(subkeys)
        x = select_n(open_, x, drawn)
        return select_n(open_, keys, new), x, add(one, mul(x, c))

    start = [broadcast_in_dim(draws.scalar(v), shape_of(c), ()) for v in (0, -1)]
    _, x, v = while_loop(lambda carry: _any(le(carry[2], zero)), step, (keys, *start))
    return x, v


def _accept(draws, keys, d, c):
    one, half, squeeze = (draws.scalar(v) for v in (1, 0.5, 0.0331))

    def refused(square, cube, u):
        first = ge(u, sub(one, mul(squeeze, mul(square, square))))
        bound = add(mul(square, half), mul(d, add(sub(one, cube), log(cube))))
        return bitwise_and(first, ge(log(u), bound))

    def step(carry):
        keys, square, cube, u = carry
        open_ = refused(square, cube, u)
        new, x_keys, u_keys = draws.split(keys, 3)
        x, v = _propose(draws, x_keys, c)
        drawn = (mul(x, x), mul(mul(v, v), v), draws.uniform(u_keys))
        selected = (select_n(open_, old, fresh) for old, fresh in zip((square, cube, u), drawn))
        return select_n(open_, keys, new), *selected

    start = [broadcast_in_dim(draws.scalar(v), shape_of(d), ()) for v in (0, 1, 2)]
    return while_loop(lambda carry: _any(refused(*carry[1:])), step, (keys, *start))[2]


def _random_gamma(keys, alpha, *, log_space, impl=threefry_impl, **bits_params):
    if impl is not threefry_impl:  # other generators do not draw independently for each key of an array
        raise LoweringError(f"random_gamma of keys of the generator {impl.name} has no ONNX form: use threefry2x32.")
    shape = shape_of(alpha)
    number = math.prod(shape[len(shape_of(keys)) :])
    draws = _Draws(alpha.dtype, bits_params)
    one, zero, third = (draws.scalar(v) for v in (1, 0, 1 / 3))
    new = prims.random_split_p.bind(keys, shape=(number,), **bits_params)
    a = reshape(alpha, (math.prod(shape),))
    large = ge(a, one)
    d = sub(select_n(large, add(a, one), a), third)
    keys, boost_keys = draws.split(reshape(new, shape_of(a)), 2)
    cubes = _accept(draws, keys, d, div(third, sqrt(d)))
    u = draws.uniform(boost_keys)
    if log_space:
        log_u = log1p(neg(u))
        boost = select_n(
            bitwise_or(large, eq(log_u, zero)), mul(log_u, div(one, a)), broadcast_in_dim(zero, shape_of(a), ())
        )
        out = add(add(log(d), log(cubes)), boost)
    else:
        boost = select_n(large, pow(sub(one, u), div(one, a)), broadcast_in_dim(one, shape_of(a), ()))
        out = mul(mul(d, cubes), boost)
    return reshape(out, shape)


decompose(prims.random_gamma_p, _random_gamma, components=True)
