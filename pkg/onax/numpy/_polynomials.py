"""Polynomials as vectors of coefficients, highest power first."""

import operator

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.trace import concrete_or_error
from onax._ground import dtypes
from onax.numpy._arithmetic import power
from onax.numpy._promotion import array_of, check_arraylike, promote_dtypes, promote_dtypes_inexact
from onax.numpy._ufuncs import add, subtract


def _padded(x, n):
    """Zeros in front, up to n coefficients."""
    return lax.pad(x, x.dtype.type(0), [(n - x.shape[0], 0, 0)])


def _equal_lengths(name, a1, a2):
    check_arraylike(name, a1, a2)
    a1, a2 = promote_dtypes(a1, a2)
    n = max(a1.shape[0], a2.shape[0])
    return _padded(a1, n), _padded(a2, n)


@staged("polyadd")
def polyadd(a1, a2):
    """The sum of two polynomials."""
    return add(*_equal_lengths("polyadd", a1, a2))


@staged("polysub")
def polysub(a1, a2):
    """The difference of two polynomials."""
    return subtract(*_equal_lengths("polysub", a1, a2))


@staged("polyder", static_argnames=("m",))
def polyder(p, m=1):
    """The m-th derivative of a polynomial."""
    (p,) = promote_dtypes_inexact(array_of("polyder", p))
    m = concrete_or_error(operator.index, m, "'m' argument of jnp.polyder")
    if m < 0:
        raise ValueError("Order of derivative must be positive")
    if m == 0:
        return p
    if p.ndim != 1:
        raise TypeError(f"polyder: p must be one-dimensional, got shape {p.shape}")
    n = p.shape[0]
    powers = np.arange(n - 1, m - 1, -1.0)
    factors = np.prod([powers - k for k in range(m)], axis=0)
    return lax.mul(lax.slice(p, (0,), (max(n - m, 0),)), array_of("polyder", factors.astype(p.dtype)))


@staged("vander", static_argnames=("N", "increasing"))
def vander(x, N=None, increasing=False):
    """The matrix whose columns are powers of x, N of them, falling unless increasing."""
    x = array_of("vander", x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    N = x.shape[0] if N is None else concrete_or_error(operator.index, N, "'N' argument of jnp.vander()")
    if N < 0:
        raise ValueError("N must be nonnegative")
    powers = lax.iota(x.dtype, N)
    if not increasing:
        powers = lax.sub(powers.dtype.type(N - 1), powers)
    base, exponent = lax.expand_dims(x, (1,)), lax.expand_dims(powers, (0,))
    if dtypes.is_integer(x.dtype):
        return power(base, exponent)
    return lax.pow(base, exponent)
