"""Lowerings of lgamma, digamma, the incomplete gamma functions and their slopes in the parameter.

log gamma and its derivative are polynomials next to 2 and 3/2, carried there by the recurrence, and Stirling's series
from 8 on (NIST Digital Library of Mathematical Functions, 5.5.1, 5.11.1, 5.11.2); both keep their digits next to their
zeros on the positive axis.

The incomplete functions for parameters below 20 are a series below the mean and a continued fraction above it (DLMF
8.7.1, 8.9.2), or, where the upper one is small because the parameter is, the series of the remainder (Gil, Segura and
Temme, "Efficient and accurate algorithms for the computation and inversion of the incomplete gamma function ratios",
2012).  From 20 on, however large, the smaller of the two is the integral over its tail,

    x^a exp(-x) / gamma(a) * integral of exp(-w(u)),    w(u) = |x - a + 1| u + (a - 1) (|log(1 +- u)| -+ u),

by Gauss and Legendre's rule as far as w = 40: the integrand is smooth at that scale for every a.  Slopes in a are those
of the same series, fractions and integrals, term by term.
"""

import numpy as np

from onax._prims import special as prims
from onax._prims.special_series import stirling, stirling_slope
from onax.export.lower import native
from onax.export.lower.convert import F32, F64
from onax.export.lower.elementwise import expm1, log1p
from onax.export.lower.special_loops import constant, in_double, integrate, iterate

# (log gamma(2 + d)) / d for |d| < 1/2, in 2 d: to 2e-16.
_NEAR_2 = (
    -2.943025091543748e-14, 1.2345447235230874e-13, -3.646155586866453e-13, 1.5406673737439663e-12,
    -6.878918801035825e-12, 2.924867873716732e-11, -1.2444505508836123e-10, 5.339628272805235e-10,
    -2.304571826674516e-09, 1.001332617019718e-08, -4.387327521544026e-08, 1.9425294274976835e-07,
    -8.716982757351021e-07, 3.981793164251527e-06, -1.86367798703102e-05, 9.032844783545014e-05,
    -0.00046159693929212654, 0.0025726010534730787, -0.016838075263299522, 0.1612335167120566,
    0.42278433509846713,
)  # fmt: skip
# digamma(x) / (x - root) for 1 < x < 2, in 2 x - 3: to 2e-16; the root, and what its float64 lacks.
_NEAR_ROOT = (
    -9.720300404202244e-12, 2.916093601085364e-11, -2.9161179626023815e-11, 8.748420037436287e-11,
    -4.1555064115551965e-10, 1.2466690231864029e-09, -3.509235492410718e-09, 1.0528133851878114e-08,
    -3.1807298477301726e-08, 9.543261570760428e-08, -2.8621216825577647e-07, 8.589062683365892e-07,
    -2.578133701610713e-06, 7.741234441368395e-06, -2.325823275895313e-05, 6.99501882655044e-05,
    -0.00021074841284590126, 0.0006368880303847901, -0.0019350666647392832, 0.005936795278301875,
    -0.018550615381739702, 0.06013562106019684, -0.21181371064073024, 0.9510558760318328,
)  # fmt: skip
_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
# The same of the first root on the negative axis, for |x - root| < 1/5, in 5 (x - root).
_NEAR_LEFT_ROOT = (
    -1.240432906986293e-10, 1.2275835205213295e-09, 1.432065026274315e-10, -9.5080501651448e-10,
    -1.857287474751717e-09, 2.0946211492459495e-08, -5.759294651461921e-09, 8.105584873023409e-08,
    -3.8690567516243695e-08, 5.646774865850873e-07, -2.1378187769705497e-07, 3.4709594769749255e-06,
    -1.1972039355630492e-06, 2.1671746240451763e-05, -6.5959943784099264e-06, 0.00013515841540220124,
    -3.570411793628194e-05, 0.0008432300113539122, -0.00018871211404144426, 0.005262171409932122,
    -0.0009648256085941566, 0.032849309630154866, -0.004706150955365714, 0.2052374774894171,
    -0.022088093190326688, 1.2903428825966208, -0.16186909250613013, 8.939798558792134,
)  # fmt: skip
_LEFT_ROOT, _LEFT_ROOT_REST = -0.5040830082644554, -8.15428206243813e-18
# Stirling's series, of log gamma and of its derivative, in 1 / y^2, for y >= 8.
_STIRLING = stirling(8)[::-1]
_STIRLING_SLOPE = stirling_slope(8)[::-1]
_FAR = 8
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


# ---- log gamma and digamma


def _shift_down(w, low, steps=6):
    """Subtracts 1 from w <= low + steps until it is at most `low`.

    Returns (the result, the product of the numbers on the way, the sum of their reciprocals).
    """
    product, reciprocals = constant(w, 1), constant(w, 0)
    for _ in range(steps):
        over = w > low
        w = over.where(w - 1, w)
        product = over.where(product * w, product)
        reciprocals = over.where(reciprocals + 1 / w, reciprocals)
    return w, product, reciprocals


def stirling_correction(y):
    """The remainder of Stirling's formula for log gamma, for y >= 8."""
    return (1 / (y * y)).horner(_STIRLING) / y


def lgamma_positive(w):
    """log gamma of w > 0."""
    y = w.maximum(_FAR).minimum(1e306)
    far = y * (y.do("Log") - 1) - 0.5 * y.do("Log") + (stirling_correction(y) + _HALF_LOG_2PI)
    u, product, _ = _shift_down(w.minimum(_FAR), 2.5)
    tiny, low = w < 0.5, w < 1.5
    d = tiny.where(u, low.where(u - 1, u - 2))
    near = d * (d * 2).horner(_NEAR_2)
    rest = log1p(low.where(d, 0)) + tiny.where(u, 1).do("Log")
    near = low.where(near - rest, near + product.do("Log"))
    return (w < _FAR).where(near, (w > 1e306).where(np.inf, far))


def _lgamma(x):
    left = x < 0
    value = lgamma_positive(left.where(1 - x, x))
    angle = (x - x.do("Round")) * np.pi
    mirrored = np.log(np.pi) - angle.do("Sin").do("Abs").do("Log") - value
    return (x.do("Abs") == np.inf).where(np.inf, left.where(mirrored, value))


def digamma_positive(w):
    """The derivative of log gamma at w > 0."""
    y = w.maximum(_FAR)
    square = 1 / (y * y)
    far = y.do("Log") - 0.5 / y + square.horner(_STIRLING_SLOPE) * square
    u, _, reciprocals = _shift_down(w.minimum(_FAR), 2)
    low = w < 1
    reciprocals = low.where(-1 / w, reciprocals)
    u = low.where(u + 1, u)
    near = ((u - _ROOT) - _ROOT_REST) * (u * 2 - 3).horner(_NEAR_ROOT) + reciprocals
    return (w < _FAR).where(near, far)


def digamma_double(x):
    left = x < 0
    value = digamma_positive(left.where(1 - x, x))
    angle = (x - x.do("Round")) * np.pi
    mirrored = value - angle.do("Cos") / angle.do("Sin") * np.pi
    value = left.where((angle == 0).where(np.nan, mirrored), value)
    d = (x - _LEFT_ROOT) - _LEFT_ROOT_REST
    at_root = d.do("Abs") < 0.2
    value = at_root.where(d * (at_root.where(d, 0) * 5).horner(_NEAR_LEFT_ROOT), value)
    return (x == 0).where(np.nan, value)


def _is_double_or_large(eqn):
    dtype = eqn.invars[0].aval.dtype
    return dtype == F64 or (dtype == F32 and native.is_large(eqn))


in_double(prims.lgamma_p, _lgamma, when=_is_double_or_large)
in_double(prims.digamma_p, digamma_double, when=_is_double_or_large)

# ---- the incomplete gamma functions

_LARGE = 20  # parameters from here on are integrated
_EPS = float(np.finfo(np.float64).eps)
_SERIES, _FRACTION = 300, 500  # most steps; the fraction needs most next to 1, about a hundred


def log1p_minus_x(x):
    """log(1 + x) - x, to a few units in its last place: with t = x / (2 + x) it is 2 (artanh t) - x."""
    inside = x.do("Abs") < 0.5
    near = inside.where(x, 0)
    t = near / (near + 2)
    square = t * t
    series = square.horner(tuple(2 / (2 * k + 3) for k in range(15, -1, -1)))
    near = t * square * series - t * near
    return inside.where(near, log1p(x) - x)


def gamma_above_1(b):
    """gamma(b + 1), for 0 <= b < 14."""
    u, product, _ = _shift_down(b + 1, 2.5, 13)
    low = u < 1.5
    d = low.where(b, u - 2)
    rest = log1p(low.where(d, 0))
    return product * (d * (d * 2).horner(_NEAR_2) - rest).do("Exp")


def _weight(a, x):
    """x^a exp(-x) / gamma(a + 1)."""
    small = a < _FAR
    b, y = small.where(a, 1), x.minimum(1500)  # beyond, the result is 0
    half = (y * -0.5).do("Exp")
    near = y.pow(b) * half / gamma_above_1(b) * half
    b = small.where(_FAR, a)
    scale = b.do("Sqrt") * (2 * np.pi) ** 0.5
    return small.where(near, _far_exponential(b, x) / scale)


def _far_exponential(a, x):
    """(x / a)^a exp(a - x) times what Stirling's formula lacks of 1 / gamma(a), for a >= 8."""
    ratio = (x - a) / a
    lower = ratio < -0.5
    exponent = lower.where((x / a).do("Log") - ratio, log1p_minus_x(lower.where(0, ratio)))
    return (a * exponent - stirling_correction(a)).do("Exp")


def _series(a, x, going):
    """The sum of x^n / ((a + 1) ... (a + n)) over n = 0, 1, ..."""

    def step(k, state, known):
        (a, x), (total, term) = known, state
        term = term * (x / (a + k))
        total = total + term
        return term > total * _EPS, [total, term]

    return iterate(step, [constant(x, 1), constant(x, 1)], [a, x], _SERIES, going, at_once=8)[0]


def _series_slope(a, x, going):
    """(_series, its derivative with respect to a)"""

    def step(k, state, known):
        (a, x), (total, slope, term, term_slope) = known, state
        r = a + k
        term_slope = (term_slope - term / r) * (x / r)
        term = term * (x / r)
        total, slope = total + term, slope + term_slope
        return term_slope.do("Abs") > slope.do("Abs") * _EPS, [total, slope, term, term_slope]

    one, zero = constant(x, 1), constant(x, 0)
    total, slope, *_ = iterate(step, [one, zero, one, zero], [a, x], _SERIES, going, at_once=8)
    return total, slope


def _fraction(a, x, going):
    """f, where f x^a exp(-x) / gamma(a) is the upper incomplete function: the last of its convergents."""

    def step(k, state, known):
        (a, x), (p2, q2, p1, q1, f) = known, state
        z, yc = x + 2 - a + k * 2, (1 - a + k) * k
        p, q = p1 * z - p2 * yc, q1 * z - q2 * yc
        new = (q == 0).where(f, p / q)
        scale = (p.do("Abs") > 1 / _EPS).where(constant(p, _EPS), 1)
        return (new - f).do("Abs") > new.do("Abs") * _EPS, [*(v * scale for v in (p1, q1, p, q)), new]

    q = (x + 2 - a) * x
    start = [constant(x, 1), x, x + 1, q, (x + 1) / q]
    return iterate(step, start, [a, x], _FRACTION, going, at_once=4)[-1]


def _fraction_slope(a, x, going):
    """(_fraction, its derivative with respect to a)"""

    def step(k, state, known):
        (a, x), (p2, q2, p1, q1, dp2, dq2, dp1, dq1, f, df) = known, state
        z, yc = x + 2 - a + k * 2, (1 - a + k) * k
        p, q = p1 * z - p2 * yc, q1 * z - q2 * yc
        dp = dp1 * z - p1 - dp2 * yc + p2 * k
        dq = dq1 * z - q1 - dq2 * yc + q2 * k
        new = (q == 0).where(f, p / q)
        slope = (q == 0).where(df, (dp - new * dq) / q)
        scale = (p.do("Abs") > 1 / _EPS).where(constant(p, _EPS), 1)
        more = (slope - df).do("Abs") > slope.do("Abs") * _EPS
        return more, [*(v * scale for v in (p1, q1, p, q, dp1, dq1, dp, dq)), new, slope]

    one, zero = constant(x, 1), constant(x, 0)
    q = (x + 2 - a) * x
    start = [one, x, x + 1, q, zero, zero, zero, -x, (x + 1) / q, (x + 1) / q * x / q]
    *_, f, df = iterate(step, start, [a, x], _FRACTION, going)
    return f, df


def _complement_series(a, x, going):
    """1 - P for small a and x, from x^a / gamma(a + 1) = 1 + (that less 1)."""

    def step(k, state, known):
        (a, x), (total, factor) = known, state
        factor = factor * (-x / k)
        term = factor / (a + k)
        return term.do("Abs") > total.do("Abs") * _EPS, [total + term, factor]

    total, _ = iterate(step, [constant(x, 0), constant(x, 1)], [a, x], _SERIES, going, at_once=8)
    b = going.where(a, 1)
    low = b < 0.5
    d = low.where(b, b - 1)
    log_gamma = d * (d * 2).horner(_NEAR_2)  # of b + 1; b is at most 1.1 / 1.1
    log_gamma = low.where(log_gamma - log1p(low.where(d, 0)), log_gamma)
    exponent = b * going.where(x, 1).do("Log") - log_gamma
    return -expm1(exponent) - b * exponent.do("Exp") * total


def _tail(a, x):
    """(integral of exp(-w), of log(1 +- u) exp(-w), whether it is the lower tail) over the shorter tail; a >= 20."""
    b = a - 1
    lower = x <= b
    slope, sign = (x - b).do("Abs"), lower.where(constant(x, -1), 1)
    curved = b.do("Sqrt") * 80**0.5
    size = slope.maximum(curved)
    steep, bent = slope / size, curved / size
    end = 80 / (slope + size * (steep * steep + bent * bent).do("Sqrt"))
    end = lower.where(end.minimum(0.98), end)
    for _ in range(3):  # Newton's rule for w = 40
        excess = slope * end - b * log1p_minus_x(sign * end) - 40
        end = end - excess / (slope + b * end / (1 + sign * end))

    def integrand(node, known):
        b, slope, sign, end = known
        u = end * node * sign
        rest = log1p_minus_x(u)
        value = (b * rest - slope * u.do("Abs")).do("Exp")
        return [value, value * (rest + u)]

    total, logarithms = integrate(integrand, [b, slope, sign, end], 2)
    return total * end, logarithms * end, lower


class _Parts:
    """The parts of the incomplete functions of (a, x), and where each applies."""

    def __init__(self, a, x):
        self.a, self.x = a, x
        self.fine = (a > 0) & (x >= 0) & (a < np.inf) & (x < np.inf)
        self.large = self.fine & (a >= _LARGE)
        self.small = self.fine & (a < _LARGE)
        below = (x <= 1) | (x <= a)
        self.near, self.far = self.small & below, self.small & (x > 1) & (x > a)
        self.safe_a = self.small.where(a, 1)

    def of_small(self, method, where, otherwise):
        """The results of a method for parameters below 20; elements outside `where` get harmless operands."""
        return method(where.where(self.a, 1), where.where(self.x, otherwise), where)

    def of_large(self):
        """(a, x) where a >= 20, harmless numbers elsewhere."""
        return self.large.where(self.a, _LARGE), self.large.where(self.x, _LARGE)


def _incomplete(a, x):
    """(P, Q), the lower and the upper regularized incomplete gamma function."""
    parts = _Parts(a, x)
    log_x = (parts.small & (x > 0)).where(x, 1).do("Log")
    # Where P would be nearly 1, Q is computed first, as in SciPy.
    first_upper = (x <= 0.5).where(-0.4 / log_x > a, x * 1.1 > a)
    upper_first = parts.near & (x <= 1.1) & (x > 0) & first_upper
    lower_first = parts.near & ((x > 1.1) | (x == 0) | ~upper_first)
    total = parts.of_small(_series, lower_first, 0)
    left = parts.of_small(_complement_series, upper_first, 1)
    f = parts.of_small(_fraction, parts.far, 2)
    weight = _weight(parts.fine.where(a, 1), parts.fine.where(x, 1))
    integral, _, is_lower = _tail(*parts.of_large())
    by_integral = weight * a * integral
    by_fraction = (x > 1e100).where(0, weight * a * f)
    lower = parts.large.where(by_integral, weight * total)
    upper = parts.large.where(by_integral, parts.far.where(by_fraction, left))
    from_upper = upper_first | parts.far | (parts.large & ~is_lower)
    p, q = from_upper.where(1 - upper, lower), from_upper.where(upper, 1 - lower)
    return _limits(a, x, p, q)


def _limits(a, x, p, q):
    """(P, Q) with the values at infinities and zeros; NaN where a < 0, x < 0 or both are 0."""
    all_of_it = ((a == 0) & (x > 0)) | ((x == np.inf) & (a >= 0))
    none_of_it = ((a == np.inf) & (x < np.inf)) | ((x == 0) & (a > 0))
    p, q = none_of_it.where(0, p), none_of_it.where(1, q)
    p, q = all_of_it.where(1, p), all_of_it.where(0, q)
    outside = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | a.is_nan() | x.is_nan()
    return outside.where(np.nan, p), outside.where(np.nan, q)


in_double(prims.igamma_p, lambda a, x: _incomplete(a, x)[0])
in_double(prims.igammac_p, lambda a, x: _incomplete(a, x)[1])


def _slopes(a, x, of_sample):
    """The derivative with respect to a of P(a, x), or, with `of_sample`, of x at constant P."""
    parts = _Parts(a, x)
    safe_x = (parts.fine & (x > 0)).where(x, 1)
    log_x = safe_x.do("Log")
    gap = log_x - digamma_positive(parts.safe_a + 1)
    total, total_slope = parts.of_small(_series_slope, parts.near & (x > 0), 0)
    near = total_slope + total * gap
    far_off = parts.far & (x > 1e100)
    f, f_slope = parts.of_small(_fraction_slope, parts.far & (x <= 1e100), 2)
    f, f_slope = far_off.where(1 / safe_x, f), far_off.where(0, f_slope)
    far = f_slope + f * (gap + 1 / parts.safe_a)
    b, y = parts.of_large()
    integral, logarithms, is_lower = _tail(b, y)
    square = 1 / (b * b)
    lacking = 0.5 / b - square.horner(_STIRLING_SLOPE) * square  # log(b) - digamma(b)
    ratio = (y - b) / b
    log_ratio = (ratio.do("Abs") < 0.5).where(log1p((ratio.do("Abs") < 0.5).where(ratio, 0)), y.do("Log") - b.do("Log"))
    tail = (logarithms + integral * (log_ratio + lacking)) * is_lower.where(constant(x, 1), -1)
    if of_sample:
        value = parts.large.where(-tail * x, parts.near.where(-near * (x / a), far * x))
    else:
        weight = _weight(parts.fine.where(a, 1), parts.fine.where(x, 1))
        value = parts.large.where(tail * a, parts.near.where(near, -far * a)) * weight
        value = (weight == 0).where(0, value)
    value = ((a > 0) & (x == 0)).where(0, value)
    return (parts.fine | ((a > 0) & (x == 0))).where(value, constant(x, np.nan))


in_double(prims.igamma_grad_a_p, lambda a, x: _slopes(a, x, of_sample=False))
in_double(prims.random_gamma_grad_p, lambda a, x: _slopes(a, x, of_sample=True))
