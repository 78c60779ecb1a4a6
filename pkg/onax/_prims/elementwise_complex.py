"""Kernels for complex numbers where NumPy's functions differ from XLA's or are less accurate.

Branch cuts: on a cut of sqrt and of the inverse functions a zero of the other part counts as positive, whatever its
sign; a zero beside the cuts keeps it (in the real part of asin, in the imaginary part of asinh).  Division treats
infinities and zeros as Annex G of the C standard does.  max and min compare real parts, then imaginary parts, and do
not propagate NaN.
"""

import numpy as np


def drop_zero_signs(ufunc):
    """Makes the kernel that replaces -0 by 0 in its operand."""

    def kernel(x):
        return ufunc(x + x.dtype.type(0))

    return kernel


def drop_zero_sign(ufunc, part):
    """Makes the kernel that replaces -0 by 0 in the "real" or "imag" part of its operand."""

    def kernel(x):
        x = np.array(x)
        one = getattr(x, part)
        np.add(one, 0, out=one)
        return ufunc(x)

    return kernel


def _make_complex(real, imag, dtype):
    out = np.empty(np.broadcast(real, imag).shape, dtype)
    out.real, out.imag = real, imag
    return out


def _from_magnitude(logarithm, angle, dtype):
    """The number of that magnitude and angle; also NaN where an infinite angle meets a magnitude of 0 or infinity."""
    root = np.exp(logarithm * 0.5)
    return _make_complex(root * np.cos(angle) * root, np.where(angle == 0, angle, root * np.sin(angle) * root), dtype)


def expm1(x):
    """exp(x) - 1, whose limit is -1 on the left and infinite on the right where the angle is infinite or NaN."""
    a, b = x.real, x.imag
    half = np.sin(b * 0.5)
    real, imag = 0 - 2 * half * half + np.expm1(a) * np.cos(b), np.where(b == 0, b, np.exp(a) * np.sin(b))
    limit = np.isinf(a) & ~np.isfinite(b)
    if limit.any():
        real = np.where(limit, np.where(a < 0, -1, np.inf), real)
        imag = np.where(limit & (a < 0), 0, imag)
    return _make_complex(real, imag, x.dtype)


def abs(x):
    """The absolute value; NaN where a part is, also beside an infinite one."""
    out, unknown = np.abs(x), np.isnan(x)
    return np.where(unknown, out.dtype.type(np.nan), out) if unknown.any() else out


def square(x):
    """x times itself.  The real part is a product, which loses no digits where the parts are almost equal.

    It is computed from halves, so that it overflows only where the result does, and from absolute values, so that it is
    no negative zero.
    """
    half = x.real.dtype.type(0.5)
    a, b = np.abs(x.real) * half, np.abs(x.imag) * half
    return _make_complex((a - b) * (a + b) * 4, x.real * x.imag * 2, x.dtype)


def rsqrt(x):
    """One over the square root: infinite (imaginary part NaN) at 0, 0 at infinity."""
    root, size = np.sqrt(x), np.abs(x)
    infinite = np.isinf(size)
    real = np.where(infinite, 0, np.where(size == 0, np.inf, root.real / size))
    return _make_complex(real, np.where(infinite, 0, -root.imag / size), x.dtype)


def sign(x):
    """x over its absolute value; 0 for 0."""
    size = np.abs(x)
    size = np.where(size == 0, size.dtype.type(1), size)
    return _make_complex(x.real / size, x.imag / size, x.dtype)


def logistic(x):
    """1 / (1 + exp(-x)) or exp(x) / (1 + exp(x)), whichever exponential does not overflow."""
    below = x.real < 0
    e = np.exp(np.where(below, x, -x))
    one = x.dtype.type(1)
    return np.where(below, e, one) / (one + e)


def log1p(x):
    """log(1 + x); near 0 computed from abs(1 + x) ** 2 - 1."""
    wide = x.astype(np.complex128)
    a, b = wide.real, wide.imag
    near = (np.abs(a) < 0.5) & (np.abs(b) < 0.5)
    real = np.where(near, 0.5 * np.log1p(np.where(near, a * (2 + a) + b * b, 0)), np.log(np.abs(1 + wide)))
    return _make_complex(real, np.arctan2(b, 1 + a), x.dtype)


def power(x, y):
    """exp(y log(x)) in complex128; 1 where x is 1 or y is 0; where x is 0, 0 for positive y and NaN for others."""
    wide, exponent = x.astype(np.complex128), y.astype(np.complex128)
    product = exponent * np.log(wide)
    out = _from_magnitude(product.real, product.imag, wide.dtype)
    nothing = (exponent.real > 0) & (exponent.imag == 0)
    out = np.where(wide == 0, np.where(nothing, 0, complex(np.nan, np.nan)), out)
    return np.where((wide == 1) | (exponent == 0), 1, out).astype(x.dtype)


def divide(x, y):
    """x / y; x / 0 and infinite / finite are infinite, finite / infinite is zero."""
    out = np.true_divide(x, y)
    return out if np.isfinite(out).all() else _repair_division(out, *np.broadcast_arrays(x, y))


def _unit(infinite, part):
    return np.where(infinite, np.where(np.isinf(part), np.sign(part), 0), part)


def _repair_division(out, x, y):
    out = np.true_divide(x.astype(np.complex128), y.astype(np.complex128)).astype(out.dtype)
    a, b, c, d = (part.astype(np.float64) for part in (x.real, x.imag, y.real, y.imag))
    zero, infinite = (c == 0) & (d == 0), np.isinf(a) | np.isinf(b)
    p, q = _unit(infinite, a), _unit(infinite, b)
    large = np.maximum(np.abs(c), np.abs(d))
    c, d = c / large, d / large
    over = [np.where(zero, a / y.real, np.where(infinite, np.inf * (p * c + q * d), out.real)),
            np.where(zero, b / y.real, np.where(infinite, np.inf * (q * c - p * d), out.imag))]  # fmt: skip
    beyond = np.isinf(y.real) | np.isinf(y.imag)
    c, d = (np.copysign(np.isinf(part), part) for part in (y.real, y.imag))
    nothing = 0 * (a * c + b * d), 0 * (b * c - a * d)
    return _make_complex(*(np.where(beyond, zero, part) for zero, part in zip(nothing, over)), out.dtype)


def maximum(x, y):
    """The larger number, comparing real parts and then imaginary parts."""
    return np.where((x.real > y.real) | ((x.real == y.real) & (x.imag > y.imag)), x, y)


def minimum(x, y):
    """The smaller number, comparing real parts and then imaginary parts."""
    return np.where((x.real < y.real) | ((x.real == y.real) & (x.imag < y.imag)), x, y)
