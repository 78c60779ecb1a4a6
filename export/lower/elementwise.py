"""Lowerings of the elementwise primitives.

A primitive is one operator where the runtime has it, else a formula of several.  Formulas of 16-bit floats are computed
in float32 and rounded once.  Guards are emitted only where an operand may need them: the runtime crashes at
INT_MIN / -1 and fails at a zero divisor.

The other direction: `pkg/onax/onnx/elementwise.py`.
"""

import numpy as np

from onax._prims import elementwise as prims
from onax._prims import elementwise_bits as on_bits
from onax._prims import elementwise_polynomial as polynomials
from onax._prims.convert import cast as cast_array
from onax._prims.elementwise_clamp import clamp_p
from onax._prims.elementwise_high import mulhi_p, multiply_high
from onax._prims.elementwise_pow import pow_p
from onax._prims.elementwise_total import eq_to_p, le_to_p, lt_to_p, ordered_bits
from onax.export.graph import ops
from onax.export.graph.bounds import integer_range, known_elements, known_order
from onax.export.graph.formula import Formula
from onax.export.lower.convert import (
    F32,
    F64,
    HALVES,
    INT32,
    INT64,
    SIGNED,
    UNSIGNED,
    convert,
    is_small_constant,
    reinterpret,
)
from onax.export.lower.native import prefer_when_large
from onax.export.lower.registry import decompose, lowers

LN2 = float(np.log(2.0))
BOOL = np.dtype(np.bool_)


def skip_expand(x, others, shape):
    """The operand of x's Expand if the other operands alone broadcast to the shape of the result, else x."""
    if x.node is not None and x.node.op_type == "Expand":
        source = x.node.inputs[0]
        reached = source.shape
        for other in others:
            reached = ops.broadcast_shape(reached, other.shape)
        if reached == shape:
            return source
    return x


def binary(g, op_type, x, y, out, **attributes):
    """One operator of two operands, which broadcast to the shape of `out`."""
    x = skip_expand(x, (y,), out.shape)
    y = skip_expand(y, (x,), out.shape)
    return g.node(op_type, x, y, out=out, **attributes)


def _in_float32(g, x):
    """A formula over x, in float32 when x is a 16-bit float."""
    return Formula(g, ops.cast(g, x, F32) if x.dtype in HALVES else x)


def _row(primitive, op_type):
    """A unary primitive that is one operator."""

    def rule(g, out, x, **_):
        return g.node(op_type, x, out=out)

    lowers(primitive)(rule)


def _formula(primitive, formula, double=None):
    """A unary primitive that is a formula, or the formula `double` for float64."""

    def rule(g, out, x, **_):
        if x.dtype.kind in "iub":
            result = formula(Formula(g, x))
        else:
            chosen = double if double is not None and x.dtype == F64 else formula
            result = chosen(_in_float32(g, x))
        return ops.cast(g, result.value, out.dtype)

    lowers(primitive)(rule)


def _kernel_or(primitive, op_type, double):
    """A unary primitive that is one operator, or the formula `double` for float64, which has no kernel."""
    _formula(primitive, lambda x: x.do(op_type), double)


def _is_below(x, bound):
    return x.do("Abs") < bound


# ---- trigonometry; the float64 formulas use only operators with a float64 kernel


# pi / 2 in three parts, the first two of 33 bits: their products with integers below 2**20 are exact (Cody and Waite).
_HALF_PI = (1.5707963267341256e00, 6.0771005063039660e-11, 2.0222662487959506e-21)
_REDUCIBLE = 1e6


def _quarter_turns(x):
    """(quarter turns in x, rest in -pi/4..pi/4): for the rest the float64 kernels are right to 2 ulp."""
    turns = (x * (2 / np.pi)).do("Round")
    for part in _HALF_PI:
        x = x - turns * part
    return turns, x


def _is_odd(n):
    """Whether an integral float is odd."""
    return n - (n * 0.5).do("Floor") * 2 == 1


def _sin_of_turns(x, quarter, op_type):
    """sin(x + quarter * pi / 2); the kernel `op_type` computes it for x too large to be reduced."""
    turns, rest = _quarter_turns(x)
    if quarter:
        turns = turns + quarter
    value = _is_odd(turns).where(rest.do("Cos"), rest.do("Sin"))
    lower_half = _is_odd((turns * 0.5).do("Floor"))
    return _is_below(x, _REDUCIBLE).where(lower_half.where(-value, value), x.do(op_type))


def sin_cos(x):
    """(sine, cosine) of a float64."""
    turns, rest = _quarter_turns(x)
    s, c = rest.do("Sin"), rest.do("Cos")
    odd, near = _is_odd(turns), _is_below(x, _REDUCIBLE)
    sine, cosine = odd.where(c, s), odd.where(s, c)
    sine = _is_odd((turns * 0.5).do("Floor")).where(-sine, sine)
    cosine = _is_odd(((turns + 1) * 0.5).do("Floor")).where(-cosine, cosine)
    return near.where(sine, x.do("Sin")), near.where(cosine, x.do("Cos"))


def _sin_double(x):
    return _sin_of_turns(x, 0, "Sin")


def _cos_double(x):
    return _sin_of_turns(x, 1, "Cos")


def _tan_double(x):
    turns, rest = _quarter_turns(x)
    sine, cosine = rest.do("Sin"), rest.do("Cos")
    near = _is_odd(turns).where(-cosine / sine, sine / cosine)
    return _is_below(x, _REDUCIBLE).where(near, x.do("Sin") / x.do("Cos"))


def atan_double(x):
    """The float32 kernel's value, corrected once by the tangent addition formula, which squares its error."""
    x = x.maximum(-1e300).minimum(1e300)
    guess = x.cast(F32).do("Atan").cast(F64)
    s, c = guess.do("Sin"), guess.do("Cos")
    return guess + (x * c - s) / (c + x * s)


def _asin_double(x):
    return atan_double(x / ((1 - x) * (1 + x)).do("Sqrt"))


def _acos_double(x):
    return 2 * atan_double(((1 - x) / (1 + x)).do("Sqrt"))


def sinh_double(x):
    e = expm1(x)
    h = (x * 0.5).do("Exp")
    big = h * 0.5 * h - 0.5 / h / h
    return _is_below(x, 1).where((e + e / (e + 1)) * 0.5, big)


def cosh_double(x):
    h = (x.do("Abs") * 0.5).do("Exp")
    return h * 0.5 * h + 0.5 / h / h


def _tanh_double(x):
    """The float64 kernel is 1 from 17.7 on, where the result is still smaller."""
    return _is_below(x, 1).where(x.do("Tanh"), 1 - 2 / ((x * 2).do("Exp") + 1))


def asinh_double(x):
    size = x.do("Abs")
    square = size * size
    near = log1p(size + square / ((square + 1).do("Sqrt") + 1))
    return (size > 1e100).where(size.do("Log") + LN2, near) * x.do("Sign")


def _acosh_double(x):
    t = x - 1
    near = log1p(t + t.do("Sqrt") * (t + 2).do("Sqrt"))  # two roots: below -1 they are NaN, their product is not
    return (x > 1e100).where(x.do("Log") + LN2, near)


def _atanh_double(x):
    size = x.do("Abs")
    return log1p(2 * size / (1 - size)) * 0.5 * x.do("Sign")


_formula(prims.sin_p, lambda x: x.do("Sin"), _sin_double)
_formula(prims.cos_p, lambda x: x.do("Cos"), _cos_double)
_kernel_or(prims.tan_p, "Tan", _tan_double)
_kernel_or(prims.asin_p, "Asin", _asin_double)
_kernel_or(prims.acos_p, "Acos", _acos_double)
_kernel_or(prims.atan_p, "Atan", atan_double)
_kernel_or(prims.sinh_p, "Sinh", sinh_double)
_kernel_or(prims.cosh_p, "Cosh", cosh_double)
_formula(prims.tanh_p, lambda x: x.do("Tanh"), _tanh_double)
_kernel_or(prims.asinh_p, "Asinh", asinh_double)
_kernel_or(prims.acosh_p, "Acosh", _acosh_double)
_kernel_or(prims.atanh_p, "Atanh", _atanh_double)


# ---- exponentials, logarithms, roots


def expm1(x):
    """exp(x) - 1; near 0 it is corrected by the rounding error of exp(x), which is x - log(exp(x))."""
    y = x.do("Exp")
    plain = y - 1
    return _is_below(x, 1).where(plain + y * (x - y.do("Log")), plain)


def log1p(x):
    """log(1 + x); near 0 it is corrected by the rounding error of 1 + x."""
    u = x + 1
    plain = u.do("Log")
    return _is_below(x, 0.5).where(plain - (u - 1 - x) / u, plain)


def _cbrt(x):
    """The cube root of |x| as a power and one Newton step, times the sign."""
    size = x.do("Abs")
    root = size.pow(1 / 3)
    step = (root - size / (root * root)) / 3
    return (root - step.is_nan().where(0, step)) * x.do("Sign")


_row(prims.exp_p, "Exp")
_formula(prims.exp2_p, lambda x: Formula(x.g, ops.scalar(x.g, 2, x.value)).pow(x))
_row(prims.log_p, "Log")


@lowers(prims.expm1_p)
def _expm1(g, out, x):
    build = lambda g, x: expm1(Formula(g, x)).value
    return g.formula("Expm1", x, out=out, build=build)


@lowers(prims.log1p_p)
def _log1p(g, out, x):
    build = lambda g, x: log1p(Formula(g, x)).value
    return g.formula("Log1p", x, out=out, build=build)


_formula(prims.logistic_p, lambda x: ((-x).do("Exp") + 1).do("Reciprocal"))
_row(prims.sqrt_p, "Sqrt")
_formula(prims.rsqrt_p, lambda x: x.do("Sqrt").do("Reciprocal"))
_formula(prims.cbrt_p, _cbrt)


@lowers(prims.square_p)
def _square(g, out, x):
    return g.node("Mul", x, x, out=out)


# ---- signs and rounding

_row(prims.abs_p, "Abs")


@lowers(prims.neg_p)
def _neg(g, out, x):
    if x.dtype.kind == "u":
        return g.node("Sub", ops.scalar(g, 0, x), x, out=out)
    return g.node("Neg", x, out=out)


@lowers(prims.sign_p)
def _sign(g, out, x):
    """Avoids the runtime's Sign of integers, which drops the high bits of int64, and of float16, which is 0 for NaN."""
    if x.dtype == INT64:
        one, minus = g.const(1, INT64), g.const(-1, INT64)
        return ops.minimum(g, ops.maximum(g, x, minus), one)
    if x.dtype.kind in "iu":
        least = -1 if x.dtype.kind == "i" else 0
        return g.node("Clip", x, ops.scalar(g, least, x), ops.scalar(g, 1, x), out=out)
    return ops.cast(g, _in_float32(g, x).do("Sign").value, out.dtype)


_row(prims.floor_p, "Floor")
_row(prims.ceil_p, "Ceil")


@lowers(prims.is_finite_p)
def _is_finite(g, out, x):
    return g.node("Less", g.node("Abs", x), ops.scalar(g, np.inf, x), out=out)


@lowers(prims.round_p)
def _round(g, out, x, *, rounding_method):
    if int(rounding_method) == 1:
        return g.node("Round", x, out=out)
    x = _in_float32(g, x)
    # The largest number below a half: adding a half would round 0.49999997 up to 1.
    below_half = np.nextafter(x.value.dtype.type(0.5), x.value.dtype.type(0))
    away = (x.do("Abs") + below_half).do("Floor") * x.do("Sign")
    return ops.cast(g, away.value, out.dtype)


# ---- bits


@lowers(on_bits.not_p)
def _not(g, out, x):
    return g.node("Not" if x.dtype == BOOL else "BitwiseNot", x, out=out)


def _shift_right(g, x, bits):
    return ops.binary(g, "BitShift", x, ops.scalar(g, bits, x), direction="RIGHT")


def _mask(g, x, mask):
    return ops.binary(g, "BitwiseAnd", x, ops.scalar(g, mask, x))


@lowers(on_bits.population_count_p)
def _population_count(g, out, x):
    """Counts bits in pairs, fours and bytes; a multiplication adds the bytes into the highest one."""
    size = x.dtype.itemsize
    working = UNSIGNED[max(size, 4)]
    repeat = lambda byte: int.from_bytes(bytes([byte]) * working.itemsize, "little")
    v = ops.cast(g, ops.cast(g, x, UNSIGNED[size]), working)
    v = ops.sub(g, v, _mask(g, _shift_right(g, v, 1), repeat(0x55)))
    v = ops.add(g, _mask(g, v, repeat(0x33)), _mask(g, _shift_right(g, v, 2), repeat(0x33)))
    v = _mask(g, ops.add(g, v, _shift_right(g, v, 4)), repeat(0x0F))
    if size > 1:
        v = _shift_right(g, ops.mul(g, v, ops.scalar(g, repeat(1), v)), 8 * working.itemsize - 8)
    return ops.cast(g, v, out.dtype)


def _bit_length(x):
    """The bit length of an unsigned number below 2**32.  Adding 0.5 makes it exact for powers of two."""
    return ((x.cast(F64) + 0.5).do("Log") * (1 / LN2)).do("Floor") + 1


@lowers(on_bits.clz_p)
def _clz(g, out, x):
    size = x.dtype.itemsize
    v = Formula(g, ops.cast(g, x, UNSIGNED[size]))
    if size < 8:
        return (8 * size - _bit_length(v)).cast(out.dtype).value
    high = Formula(g, _shift_right(g, v.value, 32))
    low = Formula(g, _mask(g, v.value, 2**32 - 1))
    return (high == 0).where(64 - _bit_length(low), 32 - _bit_length(high)).cast(out.dtype).value


def _binary_row(primitive, op_type, of_bool=None):
    """A binary primitive that is one operator; another one for bools."""

    def rule(g, out, x, y, **_):
        return binary(g, of_bool if of_bool and x.dtype == BOOL else op_type, x, y, out)

    lowers(primitive)(rule)


_binary_row(on_bits.and_p, "BitwiseAnd", "And")
_binary_row(on_bits.or_p, "BitwiseOr", "Or")
_binary_row(on_bits.xor_p, "BitwiseXor", "Xor")


def _cast_or_fold(g, x, dtype):
    """A Cast that wraps; constants are folded."""
    return g.const(cast_array(x.const, np.dtype(dtype))) if is_small_constant(x) else ops.cast(g, x, dtype)


def _shift(g, out, x, y, direction):
    """Shift of unsigned numbers; the runtime returns 0 for amounts of the width or more, also for negative ones."""
    unsigned = UNSIGNED[x.dtype.itemsize]
    bits, amount = _cast_or_fold(g, x, unsigned), _cast_or_fold(g, y, unsigned)
    return ops.cast(g, g.node("BitShift", bits, amount, out=(out.shape, unsigned), direction=direction), out.dtype)


@lowers(on_bits.shift_left_p)
def _shift_left(g, out, x, y):
    return _shift(g, out, x, y, "LEFT")


@lowers(on_bits.shift_right_logical_p)
def _shift_right_logical(g, out, x, y):
    return _shift(g, out, x, y, "RIGHT")


@lowers(on_bits.shift_right_arithmetic_p)
def _shift_right_arithmetic(g, out, x, y):
    """Shifts in 64 bits after sign extension; of negative 64-bit numbers it shifts the complement."""
    size = x.dtype.itemsize
    u64 = UNSIGNED[8]
    amount = _cast_or_fold(g, _cast_or_fold(g, y, UNSIGNED[size]), u64)
    known = known_elements(amount)
    if known is None or (known > 8 * size - 1).any():
        amount = ops.minimum(g, amount, g.const(8 * size - 1, u64))
    signed = ops.cast(g, x, SIGNED[size])
    if size >= 4 and known is not None and (known >= 8 * size - 1).all():  # nothing but copies of the sign remain
        none, all_bits = (g.const(n, SIGNED[size]) for n in (0, -1))
        return ops.cast(g, ops.where(g, ops.less(g, signed, none), all_bits, none), out.dtype)
    if size < 8:
        shifted = ops.binary(g, "BitShift", ops.cast(g, signed, u64), amount, direction="RIGHT")
        return ops.cast(g, shifted, out.dtype)
    sign = ops.where(g, ops.less(g, signed, g.const(0, INT64)), g.const(-1, INT64), g.const(0, INT64))
    bits = ops.cast(g, ops.binary(g, "BitwiseXor", signed, sign), u64)
    shifted = ops.cast(g, ops.binary(g, "BitShift", bits, amount, direction="RIGHT"), INT64)
    return ops.cast(g, ops.binary(g, "BitwiseXor", shifted, sign), out.dtype)


# ---- arithmetic

_binary_row(prims.add_p, "Add", "Or")
_binary_row(prims.sub_p, "Sub")


@lowers(prims.mul_p)
def _mul(g, out, x, y, *, out_dtype=None, **_):
    if out_dtype is not None:
        x, y = convert(g, x, out_dtype), convert(g, y, out_dtype)
    return binary(g, "Mul", x, y, out)


def _divisor_faults(x, y):
    """Which divisors need a guard: (0, -1 with the lowest integer as dividend)."""
    lowest, highest = integer_range(y)
    elements = known_elements(y)
    zero = lowest <= 0 <= highest
    minus = y.dtype.itemsize >= 4 and lowest <= -1 <= highest and integer_range(x)[0] == np.iinfo(x.dtype).min
    if elements is not None:
        zero, minus = zero and bool((elements == 0).any()), minus and bool((elements == -1).any())
    return zero, minus


def _guard_divisor(g, op_type, x, y, out, **attributes):
    """(x op y with unsafe divisors replaced by 1, where they were 0 or None, where they were -1 or None)."""
    zero, minus = _divisor_faults(x, y)
    is_zero = ops.equal(g, y, ops.scalar(g, 0, y)) if zero else None
    is_minus = ops.equal(g, y, ops.scalar(g, -1, y)) if minus else None
    bad = ops.logical_or(g, is_zero, is_minus) if zero and minus else is_zero or is_minus
    if bad is not None:
        y = ops.where(g, bad, ops.scalar(g, 1, y), y)
    return binary(g, op_type, x, y, out, **attributes), is_zero, is_minus


def _is_one(x):
    """Whether a value is known to be 1 everywhere."""
    elements = known_elements(x)
    return elements is not None and elements.size > 0 and bool((elements == 1).all())


def _integer_reciprocal(g, y, out):
    """(whether |y| is 1, 1 / y of integers, 0 for y = 0), without Div: the runtime rewrites (1 / y) * z as z / y."""
    y = ops.expand(g, y, out.shape)
    unit = ops.equal(g, y, ops.scalar(g, 1, y))
    if y.dtype.kind == "i":
        unit = ops.logical_or(g, unit, ops.equal(g, y, ops.scalar(g, -1, y)))
    return unit, ops.where(g, unit, y, ops.scalar(g, 0, y))


@lowers(prims.div_p)
def _div(g, out, x, y):
    if x.dtype.kind not in "iu":
        return binary(g, "Div", x, y, out)
    if _is_one(x):
        all_ones = g.const(np.array(-1).astype(x.dtype))
        return ops.where(g, ops.equal(g, y, ops.scalar(g, 0, y)), all_ones, _integer_reciprocal(g, y, out)[1])
    result, is_zero, is_minus = _guard_divisor(g, "Div", x, y, out)
    if is_minus is not None:
        result = ops.where(g, is_minus, g.node("Neg", x), result)
    if is_zero is not None:
        all_ones = g.const(np.array(-1).astype(x.dtype))
        result = ops.where(g, is_zero, all_ones, result)
    return result


@lowers(prims.rem_p)
def _rem(g, out, x, y):
    if x.dtype.kind not in "iu":
        return binary(g, "Mod", x, y, out, fmod=1)
    if _is_one(x):
        return ops.where(g, _integer_reciprocal(g, y, out)[0], ops.scalar(g, 0, y), ops.scalar(g, 1, y))
    if x.dtype == INT64:  # Mod with the dividend's sign computes in float64
        quotient, is_zero, _ = _guard_divisor(g, "Div", x, y, out)
        result = ops.sub(g, x, ops.mul(g, quotient, quotient.node.inputs[1]))
    else:
        result, is_zero, _ = _guard_divisor(g, "Mod", x, y, out, fmod=int(x.dtype.kind == "i"))
    return result if is_zero is None else ops.where(g, is_zero, x, result)


def _extreme(primitive, op_type, of_bool, of_int64):
    """max or min; int64 has its own form, because the runtime compares it wrongly."""

    def rule(g, out, x, y):
        if x.dtype == INT64:
            return of_int64(g, skip_expand(x, (y,), out.shape), y)
        return binary(g, of_bool if x.dtype == BOOL else op_type, x, y, out)

    lowers(primitive)(rule)


_extreme(prims.max_p, "Max", "Or", ops.maximum)
_extreme(prims.min_p, "Min", "And", ops.minimum)


def sign_bit(x):
    """Whether the sign bit of a number is set."""
    return (x < 0) | (1 / x < 0)


def atan2(y, x):
    """The angle of the point (x, y), which are formulas of float32 or float64."""
    same = y.do("Abs") == x.do("Abs")  # both zero, both infinite: there the quotient is NaN
    ratio = same.where(y.do("Sign") * x.do("Sign"), y / x)
    angle = atan_double(ratio) if ratio.value.dtype == F64 else ratio.do("Atan")
    turn = sign_bit(y).where(angle - np.pi, angle + np.pi)
    return sign_bit(x).where(turn, angle)


@lowers(prims.atan2_p)
def _atan2(g, out, y, x):
    return ops.cast(g, atan2(_in_float32(g, y), _in_float32(g, x)).value, out.dtype)


@lowers(prims.nextafter_p)
def _nextafter(g, out, x, y):
    fx, fy = Formula(g, x), Formula(g, y)
    moved = _step_bits(g, x, fx, fy) if x.dtype in HALVES or g.opset >= 26 else _step_rounded(fx, fy)
    result = (fx == fy).where(fy, moved)
    unordered = fy.is_nan() if x.dtype in (F32, F64) and g.opset < 26 else fx.is_nan() | fy.is_nan()
    result = unordered.where(float("nan"), result)
    return ops.expand(g, result.value, out.shape)


def _step_bits(g, x, fx, fy):
    """Steps the bits: up away from zero, else down; from zero to the smallest subnormal number."""
    signed = SIGNED[x.dtype.itemsize]
    bits = Formula(g, reinterpret(g, x, signed))
    lowest = int(np.iinfo(signed).min)
    away = Formula(g, ops.equal(g, (fx < fy).value, (fx > 0).value))
    stepped = bits + away.where(Formula(g, g.const(1, signed)), -1)
    from_zero = (fy < 0).where(Formula(g, g.const(lowest + 1, signed)), 1)
    return Formula(g, reinterpret(g, (fx == 0).where(from_zero, stepped).value, x.dtype))


def _step_rounded(x, y):
    """Adds a little more than half the distance to the next number, and lets rounding do the rest.

    Rump, Zimmermann, Boldo and Melquiond, "Computing predecessor and successor in rounding to nearest", 2009: small
    numbers are scaled up before; next to 0 the distance is that of subnormal numbers.
    """
    dtype = x.value.dtype
    info = np.finfo(dtype)
    unit, least = float(info.eps) / 2, float(info.smallest_subnormal)
    size = x.do("Abs")
    up, small = x < y, size < 0.5 * (least / unit) / unit
    base = small.where(x * (1 / unit), x)
    step = base.do("Abs") * (unit * (1 + 2 * unit))
    moved = base + up.where(step, -step)
    moved = small.where(moved * unit, moved)
    tiny = up.where(Formula(x.g, x._value_of(least)), -least)
    moved = (size < least / unit).where(x + tiny, moved)
    bounds = (x._value_of(bound) for bound in (-float(info.max), float(info.max)))
    finite = Formula(x.g, x.g.node("Clip", x.value, *bounds))
    return (size == float("inf")).where(finite, moved)


# ---- powers


def power(x, exponent):
    """A formula to a positive integer power, by squaring."""
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        if exponent:
            x = x * x
    return result


@lowers(pow_p)
def _pow(g, out, x, y):
    if y.dtype == UNSIGNED[8]:  # exponents beyond int64 become a large even number
        y = ops.minimum(g, y, g.const(2**63 - 2, y.dtype))
    if y.dtype.kind in "iub":
        y = ops.cast(g, y, y.dtype if y.dtype in (INT32, INT64) else INT64)
    elif y.dtype in HALVES:
        y = ops.cast(g, y, F32)
    x = ops.cast(g, x, F32) if x.dtype in HALVES else x
    result = g.node("Pow", x, y, out=(out.shape, x.dtype))
    return ops.cast(g, result, out.dtype)


@lowers(prims.integer_pow_p)
def _integer_pow(g, out, x, *, y):
    if y == 0:
        return ops.full(g, out.shape, 1, out.dtype)
    base = Formula(g, x) if x.dtype.kind in "iu" else _in_float32(g, x)
    result = power(base, abs(y))
    if y < 0:
        result = result.do("Reciprocal")
    return ops.cast(g, result.value, out.dtype)


# ---- comparisons


@lowers(prims.eq_p)
def _eq(g, out, x, y):
    return binary(g, "Equal", x, y, out)


@lowers(prims.ne_p)
def _ne(g, out, x, y):
    if x.dtype == BOOL:
        return binary(g, "Xor", x, y, out)
    if x is y and x.dtype.kind == "f":
        return ops.is_nan(g, x)
    return g.node("Not", binary(g, "Equal", x, y, out))


def _known_comparison(op_type, x, y):
    """What a comparison of integers always gives, by their ranges, or None."""
    less = op_type in ("Less", "GreaterOrEqual")
    order = known_order(x, y) if less else known_order(y, x)
    return None if order == 0 else (order < 0) == (op_type in ("Less", "Greater"))


def _comparison(primitive, op_type, of_bool, negated):
    """A comparison; for bools it is `of_bool` with the operand number `negated` inverted."""

    def rule(g, out, x, y):
        if x.dtype.kind in "iu" and (known := _known_comparison(op_type, x, y)) is not None:
            return ops.full(g, out.shape, known, BOOL)
        if x.dtype != BOOL:
            return binary(g, op_type, x, y, out)
        x, y = (g.node("Not", x), y) if negated == 0 else (x, g.node("Not", y))
        return binary(g, of_bool, x, y, out)

    lowers(primitive)(rule)


_comparison(prims.lt_p, "Less", "And", 0)
_comparison(prims.le_p, "LessOrEqual", "Or", 0)
_comparison(prims.gt_p, "Greater", "And", 1)
_comparison(prims.ge_p, "GreaterOrEqual", "Or", 1)


def _in_total_order(compare):
    return lambda x, y: compare(ordered_bits(x), ordered_bits(y))


decompose(eq_to_p, _in_total_order(prims.eq))
decompose(le_to_p, _in_total_order(prims.le))
decompose(lt_to_p, _in_total_order(prims.lt))


# ---- selects


def _uniform_bool(x):
    """The bool that all elements of x are known to equal, or None."""
    elements = known_elements(x)
    if elements is None or elements.size == 0 or (elements != elements.flat[0]).any():
        return None
    return bool(elements.flat[0])


def _select_bools(g, out, which, no, yes):
    """Selects bools by logical operators, because Where has no bool kernel; a constant branch needs one or two."""
    if (value := _uniform_bool(yes)) is not None and no.shape == out.shape:
        if value:
            return binary(g, "Or", which, no, out)
        return binary(g, "And", g.node("Not", which), no, out)
    if (value := _uniform_bool(no)) is not None and yes.shape == out.shape:
        if value:
            return binary(g, "Or", g.node("Not", which), yes, out)
        return binary(g, "And", which, yes, out)
    chosen = ops.logical_and(g, which, yes)
    return binary(g, "Or", chosen, ops.logical_and(g, g.node("Not", which), no), out)


def select(g, which, yes, no, out):
    """yes where the bool `which` is true, else no."""
    which = skip_expand(which, (yes, no), out.shape)
    yes = skip_expand(yes, (which, no), out.shape)
    no = skip_expand(no, (which, yes), out.shape)
    if (value := _uniform_bool(which)) is not None and (chosen := yes if value else no).shape == out.shape:
        return chosen
    if out.dtype == BOOL:
        return _select_bools(g, out, which, no, yes)
    return g.node("Where", which, yes, no, out=out)


@lowers(prims.select_n_p)
def _select_n(g, out, which, *cases):
    if len(cases) == 1:
        return cases[0]
    if which.dtype == BOOL:
        return select(g, which, cases[1], cases[0], out)
    result = cases[0]
    for i, case in enumerate(cases[1:], 1):
        result = select(g, ops.greater_equal(g, which, ops.scalar(g, i, which)), case, result, out)
    return result


def _clip_bound(x):
    """A bound as a scalar for Clip, or None: the operator ignores NaN bounds and takes only scalars."""
    elements = known_elements(x)
    if elements is None or elements.size != 1 or bool((elements != elements).any()):
        return None
    return elements.reshape(())


@lowers(clamp_p)
def _clamp(g, out, lowest, x, highest):
    low, high = _clip_bound(lowest), _clip_bound(highest)
    if x.dtype == INT64:
        return ops.minimum(g, ops.maximum(g, x, lowest), highest)
    if low is not None and high is not None:
        return g.node("Clip", x, g.const(low), g.const(high), out=out)
    return binary(g, "Min", binary(g, "Max", lowest, x, out), highest, out)


# ---- tangents

_binary_row(prims.add_any_p, "Add", "Or")
decompose(mulhi_p, multiply_high)
decompose(polynomials.log2_p, polynomials.multiply_logarithm, components=True)
decompose(polynomials.one_minus_square_p, polynomials.multiply_conjugates, components=True)
decompose(polynomials.polynomial_p, polynomials.horner, components=True)


@lowers(prims.stop_gradient_p)
def _stop_gradient(g, out, x):
    return x


# ---- preferred kernels: measured with 300,000 elements, they take at most a third of the time for these types

_FLOATS, _COMPLEX, _INTEGERS = "float16 float32 float64", " complex64 complex128", "int8 int16 int32 int64"
prefer_when_large(
    _FLOATS, prims.acosh_p, prims.asinh_p, prims.atanh_p, prims.cbrt_p, prims.exp2_p, prims.expm1_p, prims.log1p_p,
    prims.nextafter_p,
)  # fmt: skip
prefer_when_large(_FLOATS + _COMPLEX, prims.cosh_p, prims.sinh_p, prims.tan_p)
prefer_when_large("float16 float64" + _COMPLEX, prims.cos_p, prims.sin_p)
prefer_when_large("float32 float64", prims.atan2_p, pow_p)
prefer_when_large("float64", prims.acos_p, prims.asin_p, prims.atan_p, prims.log_p)
prefer_when_large("float64" + _COMPLEX, prims.exp_p, prims.tanh_p)
prefer_when_large(_COMPLEX, prims.abs_p, prims.div_p)
prefer_when_large(_INTEGERS, prims.rem_p)
prefer_when_large(_INTEGERS + " uint8 uint16 uint32 uint64", on_bits.clz_p, on_bits.population_count_p)
prefer_when_large("uint8 uint16", on_bits.shift_left_p, on_bits.shift_right_logical_p)
