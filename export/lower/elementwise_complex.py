"""Lowerings of elementwise primitives for complex numbers, which are pairs (real part, imaginary part) of values.

Functions that are linear with real coefficients apply to each part; products, quotients and comparisons mix the parts.
Functions of complex64 are computed in float64, whose precision and range allow short formulas; the formulas for
complex128 avoid overflow and cancellation.  Branch cuts are those of JAX: on a cut of sqrt and of the inverse
functions, both zeros of the other part count as positive; log, rsqrt and atanh distinguish them.
"""

import numpy as np

from onax._ground.dtypes import real_dtype
from onax._native.avals import ShapedArray
from onax._prims import creation, indexing, shaping
from onax._prims import elementwise as prims
from onax._prims.convert import convert_element_type_p
from onax._prims.elementwise_clamp import clamp_p
from onax._prims.elementwise_pow import pow_p
from onax.export.graph import ops
from onax.export.graph.formula import Formula
from onax.export.lower.convert import F64, convert
from onax.export.lower.elementwise import (
    asinh_double,
    atan2,
    atan_double,
    cosh_double,
    expm1,
    log1p,
    sign_bit,
    sin_cos,
    sinh_double,
)
from onax.export.lower.registry import componentwise, lowering, lowers_components

componentwise(
    prims.neg_p,
    prims.add_p,
    prims.sub_p,
    prims.add_any_p,
    prims.select_n_p,
    prims.stop_gradient_p,
    shaping.reduce_sum_p,
    indexing.scatter_add_p,
    indexing.scatter_sub_p,
)

LN2 = float(np.log(2.0))


def _formulas(g, z):
    return Formula(g, z[0]), Formula(g, z[1])


def _values(*parts):
    return tuple(part.value for part in parts)


def _constant(like, value):
    return Formula(like.g, ops.scalar(like.g, value, like.value))


def _zeros(g, x):
    return ops.full(g, x.shape, 0, x.dtype)


# ---- parts


@lowers_components(prims.real_p)
def _real(g, out, z):
    return z[0]


@lowers_components(prims.imag_p)
def _imag(g, out, z):
    return z[1]


@lowers_components(prims.complex_p)
def _complex(g, out, x, y):
    return ops.expand(g, x, out.shape), ops.expand(g, y, out.shape)


@lowers_components(prims.conj_p)
def _conj(g, out, z, **_):
    return (z[0], g.node("Neg", z[1])) if type(z) is tuple else (z, _zeros(g, z))


@lowers_components(convert_element_type_p)
def _convert_element_type(g, out, z, **_):
    """Conversion to a real dtype takes the real part, also to bool, as in JAX."""
    if out.dtype.kind != "c":
        return convert(g, z[0], out.dtype)
    part = real_dtype(out.dtype)
    if type(z) is tuple:
        return tuple(convert(g, x, part) for x in z)
    x = convert(g, z, part)
    return x, _zeros(g, x)


@lowers_components(creation.iota_p)
def _iota(g, out, *sizes, **params):
    part = ShapedArray(out.shape, real_dtype(out.dtype))
    x = lowering[creation.iota_p](g, part, *sizes, **params)
    return x, _zeros(g, x)


# ---- arithmetic


def product(z, w):
    """The product of two pairs of formulas."""
    (a, b), (c, d) = z, w
    return a * c - b * d, a * d + b * c


@lowers_components(prims.mul_p)
def _mul(g, out, z, w, **_):
    return _values(*product(_formulas(g, z), _formulas(g, w)))


@lowers_components(prims.square_p)
def _square(g, out, z):
    a, b = _formulas(g, z)
    left, right = a.do("Abs") * 0.5, b.do("Abs") * 0.5
    return _values((left - right) * (left + right) * 4, a * b * 2)


def _is_infinite(a, b):
    return (a.do("Abs") == np.inf) | (b.do("Abs") == np.inf)


def _infinity_signs(infinite, a):
    """For numbers with an infinite part: 1 or -1 for an infinite part, 0 for a finite one."""
    return infinite.where((a.do("Abs") == np.inf).where(a.do("Sign"), 0), a)


def _scaled_quotient(z, w):
    """Numerators and denominator of z / w, divided by the larger part of w (Smith, 1962)."""
    (a, b), (c, d) = z, w
    by_real = c.do("Abs") >= d.do("Abs")
    large, small = by_real.where(c, d), by_real.where(d, c)
    ratio = (small == 0).where(0, small / large)
    real = by_real.where(a + b * ratio, a * ratio + b)
    imag = by_real.where(b - a * ratio, b * ratio - a)
    return real, imag, large + small * ratio


def _wide_quotient(z, w):
    """Numerators and denominator of z / w, for numbers whose squares do not overflow float64."""
    (a, b), (c, d) = z, w
    return a * c + b * d, b * c - a * d, c * c + d * d


def quotient(z, w, narrow):
    """z / w: infinite for w = 0 and for infinite z with finite w; zero for finite z with infinite w."""
    (a, b), (c, d) = z, w
    zero, infinite_z, infinite_w = (c == 0) & (d == 0), _is_infinite(a, b), _is_infinite(c, d)
    boxed = _infinity_signs(infinite_z, a), _infinity_signs(infinite_z, b)
    real, imag, bottom = (_wide_quotient if narrow else _scaled_quotient)(boxed, w)
    # The runtime's Where may drop the sign of a zero, so a factor produces the infinities.
    factor = zero.where(1 / c, infinite_z.where(_constant(c, np.inf), 1))
    bottom = zero.where(1, bottom)
    real, imag = zero.where(a, real) / bottom * factor, zero.where(b, imag) / bottom * factor
    nothing = a * 0 + b * 0
    return infinite_w.where(nothing, real), infinite_w.where(nothing, imag)


@lowers_components(prims.div_p)
def _div(g, out, z, w):
    if w[1].const is not None and not w[1].const.any() and w[0].const is not None and w[0].const.all():
        return _divide_by_real(g, z, w[0])
    return _narrow(g, quotient(_widen(g, z), _widen(g, w), _is_narrow(z)), out)


def _divide_by_real(g, z, c):
    """z / c for real c that is not zero: an infinite part makes the other, finite part NaN, as in any quotient."""
    (a, b), c = _formulas(g, z), Formula(g, c)
    finite_a, finite_b = a.do("Abs") < np.inf, b.do("Abs") < np.inf
    return _values(a / c + finite_a.where(b * 0, 0), b / c + finite_b.where(a * 0, 0))


def _is_narrow(z):
    return z[0].dtype != F64


def _widen(g, z):
    return tuple(Formula(g, ops.cast(g, part, F64)) for part in z)


def _narrow(g, z, out):
    """Casts and expands a pair of formulas to the type of the result."""
    part = real_dtype(out.dtype)
    return tuple(ops.expand(g, ops.cast(g, x.value, part), out.shape) for x in z)


def magnitude(z, narrow):
    """The absolute value; for complex128 the larger part times sqrt(1 + ratio ** 2), because squares may overflow."""
    x, y = z
    if narrow:
        return (x * x + y * y).do("Sqrt")
    x, y = x.do("Abs"), y.do("Abs")
    large, small = x.maximum(y), x.minimum(y)
    ratio = small / large
    size = large * (1 + ratio * ratio).do("Sqrt")
    return ((small == 0.0) | (large == np.inf)).where(large, size)


@lowers_components(prims.abs_p)
def _abs(g, out, z):
    return ops.cast(g, magnitude(_widen(g, z), _is_narrow(z)).value, out.dtype)


# ---- functions of the two parts in float64; `narrow` says whether the numbers are complex64


def _function(primitive):
    """Decorator: the lowering of a primitive by a function (x, y, narrow) -> parts."""

    def register(function):
        @lowers_components(primitive)
        def rule(g, out, z, **_):
            return _narrow(g, function(*_widen(g, z), _is_narrow(z)), out)

        return function

    return register


def _copy_sign(sign, x):
    """x, negative where `sign` is."""
    return (sign < 0).where(-x, x)


@_function(prims.sign_p)
def _sign(x, y, narrow):
    size = magnitude((x, y), narrow)
    size = (size == 0).where(1, size)
    return x / size, y / size


def _from_magnitude(x, y):
    """The number with the magnitude exp(x) and the angle y."""
    sine, cosine = sin_cos(y)
    root = (x * 0.5).do("Exp")  # root * root may overflow although the small cosine makes the result finite
    return root * cosine * root, (y == 0).where(y, root * sine * root)


def _is_no_angle(y):
    return ~(y.do("Abs") < np.inf)


def _with_limits(x, y, lowest, real, imag):
    """The parts of exp(z) or of a shift of it, by their limits where x is infinite and y is no angle.

    On the left that is the number `lowest`, on the right an infinite real part.
    """
    no_angle = _is_no_angle(y)
    left, right = no_angle & (x == -np.inf), no_angle & (x == np.inf)
    return left.where(lowest, right.where(np.inf, real)), left.where(0, imag)


@_function(prims.exp_p)
def _exp(x, y, narrow):
    return _with_limits(x, y, 0, *_from_magnitude(x, y))


@_function(prims.exp2_p)
def _exp2(x, y, narrow):
    if narrow:
        return _from_magnitude(x * LN2, y * LN2)
    sine, cosine = sin_cos(y * LN2)
    root = _constant(x, 2).pow(x * 0.5)
    return root * cosine * root, (y == 0).where(y, root * sine * root)


@_function(prims.expm1_p)
def _expm1(x, y, narrow):
    sine, cosine = sin_cos(y)
    drop = (cosine > 0).where(0 - sine * sine / (cosine + 1), cosine - 1)  # cos(y) - 1
    grown = expm1(x)
    return _with_limits(x, y, -1, grown * cosine + drop, (y == 0).where(y, (grown + 1) * sine))


def _log_magnitude(x, y, narrow):
    """log(abs(z)); near the unit circle log1p(abs(z) ** 2 - 1) / 2; infinite for an infinite part beside NaN."""
    infinite = _is_infinite(x, y)
    if narrow:
        return infinite.where(np.inf, (x * x + y * y).do("Log") * 0.5)
    x, y = x.do("Abs"), y.do("Abs")
    large, small = x.maximum(y), x.minimum(y)
    near = (large > 0.5) & (large < 3)
    ratio = ((small == 0) | (large == np.inf)).where(0, small / large)
    excess = near.where((large - 1) * (large + 1) + small * small, ratio * ratio)
    return infinite.where(np.inf, near.where(0, large.do("Log")) + log1p(excess) * 0.5)


@_function(prims.log_p)
def _log(x, y, narrow):
    return _log_magnitude(x, y, narrow), atan2(y, x)


@_function(prims.log1p_p)
def _log1p(x, y, narrow):
    near = (x.do("Abs") < 0.5) & (y.do("Abs") < 0.5)
    close = log1p(near.where(x * (x + 2) + y * y, 0)) * 0.5
    return near.where(close, _log_magnitude(x + 1, y, narrow)), atan2(y, x + 1)


@_function(prims.logistic_p)
def _logistic(x, y, narrow):
    """1 / (1 + exp(-z)) or exp(z) / (1 + exp(z)), whichever exponential is at most 1."""
    below = x < 0
    e, f = _exp(-x.do("Abs"), below.where(y, -y), narrow)
    one = _constant(x, 1)
    top = below.where(e, one), below.where(f, 0)
    real, imag, bottom = _wide_quotient(top, (e + 1, f))
    return real / bottom, imag / bottom


def _root(x, y, narrow):
    """The parts of sqrt(x + |y| i), both positive."""
    y = y.do("Abs")
    large = (magnitude((x, y), narrow) * 0.5 + x.do("Abs") * 0.5).do("Sqrt")
    small = ((large == 0) | (y == np.inf)).where(y, y / large * 0.5)
    left = x < 0
    return left.where(small, large), left.where(large, small)


@_function(prims.sqrt_p)
def _sqrt(x, y, narrow):
    real, imag = _root(x, y, narrow)
    return real, _copy_sign(y, imag)


@_function(prims.rsqrt_p)
def _rsqrt(x, y, narrow):
    real, imag = _root(x, y, narrow)
    size = magnitude((x, y), narrow)
    zero = size == np.inf
    turned = sign_bit(y).where(imag, -imag)
    return (size == 0).where(np.inf, zero.where(0, real / size)), zero.where(0, turned / size)


# ---- trigonometric and hyperbolic functions: multiplying the argument by i maps one kind to the other


def _rotate_argument(function):
    """The function f(z) = -i h(i z) of a hyperbolic h."""

    def turned(x, y, narrow):
        real, imag = function(-y, x, narrow)
        return imag, -real

    return turned


@_function(prims.sinh_p)
def _sinh(x, y, narrow):
    sine, cosine = sin_cos(y)
    size = x.do("Abs")
    limit = _is_no_angle(y) & ((size == 0) | (size == np.inf))
    return limit.where(size, sinh_double(x) * cosine), (y == 0).where(y, cosh_double(x) * sine)


@_function(prims.cosh_p)
def _cosh(x, y, narrow):
    sine, cosine = sin_cos(y)
    no_angle, size = _is_no_angle(y), x.do("Abs")
    real = (no_angle & (size == np.inf)).where(size, cosh_double(x) * cosine)
    return real, (y == 0).where(y, (no_angle & (x == 0)).where(0, sinh_double(x) * sine))


@_function(prims.tanh_p)
def _tanh(x, y, narrow):
    sine, cosine = sin_cos(y)
    infinite, limit = x.do("Abs") == np.inf, x.do("Sign")
    x = x.maximum(-350.0).minimum(350.0)  # the real part is 1 long before; squares stay finite
    up, along = sinh_double(x), cosh_double(x)
    bottom = up * up + cosine * cosine
    imag = (infinite | (y == 0)).where(0, sine * cosine / bottom)
    return infinite.where(limit, up * along / bottom), imag


@_function(prims.sin_p)
def _sin(x, y, narrow):
    """i h(-i z) of sinh, whose limits, of unknown sign, are positive."""
    real, imag = _sinh(y, -x, narrow)
    return -imag, real


_function(prims.tan_p)(_rotate_argument(_tanh))


@_function(prims.cos_p)
def _cos(x, y, narrow):
    return _cosh(-y, x, narrow)


def _clip_infinities(x, narrow):
    """Clips x so that `magnitude` is finite."""
    most = 1e150 if narrow else 1e308
    return x.maximum(-most).minimum(most)


def _roots_about_one(x, y, narrow):
    """The parts of sqrt(1 - z) and sqrt(1 + z), for z with positive imaginary part, and whether z is infinite.

    After Kahan (Branch cuts for complex elementary functions, 1987): inverse functions in terms of these roots add no
    numbers of opposite sign.
    """
    infinite = _is_infinite(x, y)
    x, y = _clip_infinities(x, narrow), _clip_infinities(y, narrow)
    return _root(1 - x, y, narrow), _root(1 + x, y, narrow), infinite


def _height(a, b, infinite):
    """The absolute value of the imaginary part of asin and acos."""
    return infinite.where(np.inf, asinh_double(a[0] * b[1] + a[1] * b[0]))


@_function(prims.asin_p)
def _asin(x, y, narrow):
    a, b, infinite = _roots_about_one(x, y, narrow)
    along = _clip_infinities(x, narrow) / (a[0] * b[0] + a[1] * b[1])
    negative = (x < 0).cast(F64).maximum((x.do("Reciprocal") < 0).cast(F64))  # -0 too, which the runtime's Where loses
    return atan_double(along).do("Abs") * (1 - 2 * negative), _copy_sign(y, _height(a, b, infinite))


@_function(prims.acos_p)
def _acos(x, y, narrow):
    a, b, infinite = _roots_about_one(x, y, narrow)
    return atan_double(a[0] / b[0]) * 2, -_copy_sign(y, _height(a, b, infinite))


@_function(prims.acosh_p)
def _acosh(x, y, narrow):
    a, b, infinite = _roots_about_one(x, y, narrow)
    return _height(a, b, infinite), _copy_sign(y, atan_double(a[0] / b[0]) * 2)


@_function(prims.atanh_p)
def _atanh(x, y, narrow):
    p, y = _clip_infinities(x, True).do("Abs"), _clip_infinities(y, True)
    apart = 1 - p
    real = log1p(4 * p / (apart * apart + y * y)) * 0.25
    return _copy_sign(x, real), atan2(2 * y, apart * (1 + p) - y * y) * 0.5


_function(prims.asinh_p)(_rotate_argument(_asin))
_function(prims.atan_p)(_rotate_argument(_atanh))


# ---- functions of two numbers


@lowers_components(pow_p)
def _pow(g, out, z, w):
    """exp(w log(z)); 1 where z is 1 or w is 0; where z is 0, 0 for positive w and NaN for others."""
    narrow = _is_narrow(z)
    x, y = _widen(g, z)
    c, d = _widen(g, w) if type(w) is tuple else (Formula(g, ops.cast(g, w, F64)), None)
    size, angle = _log(x, y, narrow)
    real, imag = (c * size, c * angle) if d is None else product((c, d), (size, angle))
    real, imag = _from_magnitude(real, imag)
    on_axis, unit, positive = y == 0, c == 0, c > 0
    if d is not None:
        unit, positive = unit & (d == 0), positive & (d == 0)
    unit, zero = unit | (on_axis & (x == 1)), on_axis & (x == 0)
    of_zero = positive.where(_constant(c, 0), np.nan)
    real, imag = zero.where(of_zero, real), zero.where(of_zero, imag)
    return _narrow(g, (unit.where(1, real), unit.where(0, imag)), out)


@lowers_components(prims.integer_pow_p)
def _integer_pow(g, out, z, *, y):
    """Repeated squaring."""
    square, result, exponent = _formulas(g, z) if y > 0 else _widen(g, z), None, abs(y)
    one = _constant(square[0], 1), _constant(square[0], 0)
    while exponent:
        if exponent & 1:
            result = square if result is None else product(result, square)
        exponent >>= 1
        if exponent:
            square = product(square, square)
    return _narrow(g, one if y == 0 else quotient(one, result, False) if y < 0 else result, out)


@lowers_components(prims.atan2_p)
def _atan2(g, out, z, w):
    """-i log((w + i z) / sqrt(z^2 + w^2))."""
    narrow = _is_narrow(z)
    (a, b), (c, d) = z, w = _widen(g, z), _widen(g, w)
    p, q = product(z, z)
    r, s = product(w, w)
    top, bottom = (c - b, d + a), _sqrt(p + r, q + s, narrow)
    size, angle = _log(*quotient(top, bottom, False), narrow)
    return _narrow(g, (angle, -size), out)


def select_pair(first, z, w):
    """The pair z where the formula `first` is true, else w."""
    return first.where(z[0], w[0]), first.where(z[1], w[1])


def maximum(z, w):
    """The larger of two numbers, ordered by real, then imaginary part."""
    (a, b), (c, d) = z, w
    return select_pair((a > c) | ((a == c) & (b > d)), z, w)


def minimum(z, w):
    """The smaller of two numbers, ordered by real, then imaginary part."""
    (a, b), (c, d) = z, w
    return select_pair((a < c) | ((a == c) & (b < d)), z, w)


def _expand(g, z, out):
    return tuple(ops.expand(g, x.value, out.shape) for x in z)


@lowers_components(prims.max_p)
def _max(g, out, z, w):
    return _expand(g, maximum(_formulas(g, z), _formulas(g, w)), out)


@lowers_components(prims.min_p)
def _min(g, out, z, w):
    return _expand(g, minimum(_formulas(g, z), _formulas(g, w)), out)


@lowers_components(clamp_p)
def _clamp(g, out, lowest, z, highest):
    lowest, z, highest = (_formulas(g, v) for v in (lowest, z, highest))
    return _expand(g, minimum(maximum(lowest, z), highest), out)


# ---- comparisons


@lowers_components(prims.eq_p)
def _eq(g, out, z, w):
    return ops.logical_and(g, ops.equal(g, z[0], w[0]), ops.equal(g, z[1], w[1]))


@lowers_components(prims.ne_p)
def _ne(g, out, z, w):
    return ops.logical_not(g, _eq(g, out, z, w))
