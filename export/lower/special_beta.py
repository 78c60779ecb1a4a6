"""Lowering of the regularized incomplete beta function.

Where both parameters are at least 10, however large, it is the integral over its shorter tail,

    x^a y^b / (y B(a, b)) * integral of (1 - u)^(a-1) (1 + u x / y)^(b-1),    y = 1 - x,

by Gauss and Legendre's rule as far as the integrand is above exp(-40); elsewhere a continued fraction.  That, and how
its prefactor is arranged so that large numbers cancel before they are rounded, is by Didonato and Morris,
"Algorithm 708: significant digit computation of the incomplete beta function ratios", 1992.
"""

import numpy as np

from onax._prims import special as prims
from onax.export.lower.elementwise import log1p
from onax.export.lower.special_gamma import gamma_above_1, log1p_minus_x, stirling_correction
from onax.export.lower.special_loops import constant, in_double, integrate, iterate

_LARGE = 10  # parameters from here on are integrated
_FAR = 7  # and from here on gamma functions are Stirling's formula
_EPS = float(np.finfo(np.float64).eps)
_STEPS = 1000
_STEEP = 1e100  # parameters above make a step of the function, but for x next to 0
_SMALLEST = 1e-140  # and below this the fraction is inversely proportional to the first one


def _power(x, y, exponent):
    """x to a power; x + y = 1, and the result is corrected for the rounding of whichever is a difference."""
    return x.pow(exponent) * (exponent * ((1 - x) - y) / x).do("Exp")


def _split(x):
    """Splits x into two numbers of half its digits."""
    c = x * (2.0**27 + 1)
    high = c - (c - x)
    return high, x - high


def _product_error(x, y, product):
    """The rounding error of a product (Dekker, 1971)."""
    (a, b), (c, d) = _split(x), _split(y)
    return ((a * c - product) + a * d + b * c) + b * d


def _offset_from_mean(a, b, x, y):
    """a y - b x: the distance of x below the mean, times a + b, computed without cancellation."""
    p, q = a * y, b * x
    errors = _product_error(a, y, p) - _product_error(b, x, q)
    return (p - q) + (errors + (a * ((1 - y) - x) - b * ((1 - x) - y)))


def _weight(a, b, x, y, off):
    """x^a y^b / B(a, b)."""
    swapped = a > b
    m, big = swapped.where(b, a), swapped.where(a, b)
    x_m, x_big = swapped.where(y, x), swapped.where(x, y)
    both = (m >= _LARGE).where(_weight_of_large(a, b, x, y, off), _weight_of_mixed(m, big, x_m, x_big))
    small = big < _FAR
    m, big = small.where(m, 1), small.where(big, 1)
    gammas = gamma_above_1(m + big) / (gamma_above_1(m) * gamma_above_1(big))
    direct = _power(x_m, x_big, m) * _power(x_big, x_m, big) * gammas * (m * (big / (m + big)))
    return small.where(direct, both)


def _weight_of_large(a, b, x, y, off):
    """`_weight` for a, b >= 10, as a function of the distance from the mean."""
    usable = (a >= _LARGE) & (b >= _LARGE)
    a, b, off = usable.where(a, _LARGE), usable.where(b, _LARGE), usable.where(off, 0)
    exponent = a * _log1p_minus_ratio(-off / a, x, a, b) + b * _log1p_minus_ratio(off / b, y, b, a)
    rest = stirling_correction(a + b) - stirling_correction(a) - stirling_correction(b)
    return (a / (a + b) * b * (0.5 / np.pi)).do("Sqrt") * (exponent + rest).do("Exp")


def _log1p_minus_ratio(ratio, x, a, b):
    """log(1 + ratio) - ratio, where 1 + ratio = x (a + b) / a."""
    far = ratio < -0.5
    return far.where((x + x * (b / a)).do("Log") - ratio, log1p_minus_x(far.where(0, ratio)))


def _weight_of_mixed(m, big, x_m, x_big):
    """`_weight` for m < 10 and `big` >= 7."""
    usable = (m < _LARGE) & (big >= _FAR)
    m, big = usable.where(m, 1), usable.where(big, _FAR)
    ratio = m / big
    exponent = big * log1p_minus_x(ratio) - 0.5 * log1p(ratio) + m * ((1 - x_m) - x_big) / x_m
    rest = stirling_correction(m + big) - stirling_correction(big)
    powers = (x_m * (m + big)).pow(m) * _power(x_big, x_m, big)
    return m / gamma_above_1(m) * powers * (exponent + rest).do("Exp")


def _fraction(a, b, x, y, off, going):
    """f, where f x^a y^b / B(a, b) is the function, for x about the mean at most."""

    given, a = a, a.maximum(_SMALLEST)

    def step(k, state, known):
        (a, b, x, y, c), (p2, q2, p1, q1, f) = known, state
        t, w = k / a, k * (b - k) * x
        before, s = (k - 1) / a + 1, a + k * 2 - 1
        e = a / s
        p = (k == 1).where(constant(a, 1), before)
        alpha = (p * (p + b / a) * e * e) * (w * x)
        beta = k + w / s + (t + 1) / (t * 2 + 1 + 1 / a) * (c + (y + 1) * k)
        p2, p1 = p1, alpha * p2 + beta * p1
        q2, q1 = q1, alpha * q2 + beta * q1
        new = p1 / q1
        return (new - f).do("Abs") > new.do("Abs") * _EPS, [p2 / q1, q2 / q1, new, constant(a, 1), new]

    c = off + 1
    first = (1 / a + 1) / c
    start = [constant(a, 0), constant(a, 1), constant(a, 1), 1 / first, first]
    return iterate(step, start, [a, b, x, y, c], _STEPS, going, at_once=4)[-1] * (a / given)


def _tail(a, b, x, y, off):
    """The integral, for a, b >= 10 and x below the mode."""
    ratio, slope = x / y, ((off - y + x) / y).maximum(0)
    a, b = a - 1, b - 1
    curved = (a + b * ratio * ratio).do("Sqrt") * 80**0.5
    size = slope.maximum(curved)
    steep, bent = slope / size, curved / size
    end = (80 / (slope + size * (steep * steep + bent * bent).do("Sqrt"))).minimum(0.98)

    def exponent(u, a, b, ratio, slope):
        return a * log1p_minus_x(-u) + b * log1p_minus_x(ratio * u) - slope * u

    for _ in range(3):  # Newton's rule for an exponent of -40
        v = ratio * end
        change = slope + a * (end / (1 - end)) + b * ratio * (v / (1 + v))
        end = (end + (exponent(end, a, b, ratio, slope) + 40) / change).minimum(0.98)

    def integrand(node, known):
        *numbers, end = known
        return [exponent(end * node, *numbers).do("Exp")]

    return integrate(integrand, [a, b, ratio, slope, end], 1)[0] * end


def _betainc(a, b, x):
    fine = (a > 0) & (b > 0) & (a < _STEEP) & (b < _STEEP) & (x > 0) & (x < 1)
    safe_a, safe_b, safe_x = fine.where(a, 2), fine.where(b, 2), fine.where(x, 0.25)
    large = (safe_a >= _LARGE) & (safe_b >= _LARGE)
    safe_y = 1 - safe_x
    off = _offset_from_mean(safe_a, safe_b, safe_x, safe_y)
    above_mode = off < safe_y - safe_x
    # 1 minus a number close to 1 would have no digits: b must not be small, unless the fraction hardly converges.
    above = (off < 0) & ((safe_b > 1) | (safe_y < 1e-3))
    swapped = (large & above_mode) | (~large & above)
    p, q = swapped.where(safe_b, safe_a), swapped.where(safe_a, safe_b)
    s, t = swapped.where(safe_y, safe_x), swapped.where(safe_x, safe_y)
    off = swapped.where(-off, off)
    numbers = (p, 20, 1), (q, 20, 1), (s, 0.25, 0.25), (t, 0.75, 0.75), (off, 10, 0.5)
    integral = _tail(*(large.where(v, other) for v, other, _ in numbers))
    f = _fraction(*(large.where(other, v) for v, _, other in numbers), ~large)
    value = _weight(p, q, s, t, off) * large.where(integral / t, f)
    value = swapped.where(1 - value, value)
    return _limits(a, b, x, fine, value)


def _limits(a, b, x, fine, value):
    """A step at 0 where a is 0, at 1 where b is 0, at the mean where one is very large; NaN outside the domain."""
    zero, one = constant(x, 0), constant(x, 1)
    at_mean = (x / (1 - x) > a / b).where(one, zero)
    value = fine.where(value, ((x > 0) & (x < 1)).where(at_mean, (x > 0).where(one, zero)))
    value = (b == 0).where((x >= 1).where(one, zero), value)
    value = (a == 0).where((x > 0).where(one, zero), value)
    outside = (a < 0) | (b < 0) | (x < 0) | (x > 1) | ((a == 0) & (b == 0)) | ((a == np.inf) & (b == np.inf))
    return (outside | a.is_nan() | b.is_nan() | x.is_nan()).where(np.nan, value)


in_double(prims.regularized_incomplete_beta_p, _betainc)
