"""gcd and lcm of integers; i0, the modified Bessel function of order 0; unwrap."""

import numpy as np

from onax import lax
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import staged
from onax._control.while_loop import while_loop
from onax._ground import dtypes
from onax.numpy._arithmetic import floor_divide, mod
from onax.numpy._cumulative import cumsum
from onax.numpy._promotion import (
    array_of,
    canonical_axis,
    check_arraylike,
    promote_args_inexact,
    promote_dtypes,
    promote_dtypes_inexact,
)
from onax.numpy._reductions import any as any_
from onax.numpy._statistics import diff
from onax.numpy._ufuncs import absolute
from onax.numpy._where import where


def _integers(name, x1, x2):
    check_arraylike(name, x1, x2)
    x1, x2 = promote_dtypes(x1, x2)
    if not dtypes.is_integer(x1.dtype):
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers.")
    shape = lax.broadcast_shapes(x1.shape, x2.shape)
    return [_stretched(x, shape) for x in (x1, x2)]


def _stretched(x, shape):
    if x.shape == shape:
        return x
    wide = lax.broadcast_to_rank(x, len(shape))
    kept = [i for i, (a, b) in enumerate(zip(wide.shape, shape)) if a == b]
    return lax.broadcast_in_dim(lax.reshape(wide, [shape[i] for i in kept]), shape, kept)


def _has_rest(state):
    return any_(lax.ne(state[1], lax.full_like(state[1], 0)))


def _euclid(state):
    a, b = state
    zero = lax.full_like(b, 0)
    more = lax.ne(b, zero)
    rest = lax.rem(a, lax.select(more, b, lax.full_like(b, 1)))
    return lax.select(more, b, a), lax.select(more, rest, zero)


@staged("gcd")
def _gcd(x1, x2):
    return while_loop(_has_rest, _euclid, (absolute(x1), absolute(x2)))[0]


def gcd(x1, x2):
    """The greatest common divisor of integers, element by element, by Euclid's rule; gcd(0, 0) is 0.

    Raises ValueError for other than integers.
    """
    return _gcd(*_integers("gcd", x1, x2))


@staged("lcm")
def _lcm(x1, x2):
    x1, x2 = absolute(x1), absolute(x2)
    common = _gcd(x1, x2)
    product = lax.mul(x1, floor_divide(x2, common))
    return where(lax.eq(common, lax.full_like(common, 0)), 0, product)


def lcm(x1, x2):
    """The least common multiple of integers, element by element; 0 where one is 0.  ValueError for other numbers."""
    return _lcm(*_integers("lcm", x1, x2))


@custom_jvp
def _i0(x):
    x = lax.abs(x)
    return lax.mul(lax.exp(x), lax.bessel_i0e(x))


@_i0.defjvp
def _i0_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    return _i0(x), lax.mul(g, lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x)))


@staged("i0")
def i0(x):
    """The modified Bessel function of the first kind and order 0.  Raises ValueError for complex numbers."""
    (x,) = promote_args_inexact("i0", x)
    if dtypes.is_complex(x.dtype):
        raise ValueError(f"Unsupported input type to jax.numpy.i0: {x.dtype}")
    return _i0(x)


@staged("unwrap", static_argnames=("axis",))
def unwrap(p, discont=None, axis=-1, period=2 * np.pi):
    """p with multiples of the period added along an axis, so that neighbours differ by at most half of it.

    Differences up to discont are left alone, if that is more.  Raises ValueError for complex numbers.
    """
    p = array_of("unwrap", p)
    if dtypes.is_complex(p.dtype):
        raise ValueError("jnp.unwrap does not support complex inputs.")
    if not p.shape:
        return promote_dtypes_inexact(p)[0]
    axis = canonical_axis(axis, p.ndim)
    if p.shape[axis] == 0:
        return promote_dtypes_inexact(p)[0]
    discont = period / 2 if discont is None else discont
    interval = period / 2
    steps = diff(p, axis=axis)
    wrapped = mod(steps + interval, period) - interval
    wrapped = where((wrapped == -interval) & (steps > 0), interval, wrapped)
    correction = where(abs(steps) < discont, 0, wrapped - steps)
    first = lax.slice_in_dim(p, 0, 1, axis=axis)
    rest = lax.slice_in_dim(p, 1, None, axis=axis) + cumsum(correction, axis=axis)
    return lax.concatenate(promote_dtypes(first, rest), axis)
