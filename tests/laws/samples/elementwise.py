"""Elementwise primitives: (2, 3) and rank 0 in every dtype they accept; binary ones also with rank 0 beside (2, 3)."""

import numpy as np

from laws.sampling import ALL, BOOL, COMPLEXES, FLOATS, INTEGERS, SIGNED, Sample, numbers
from onax import lax
from onax._core.rules import add_any_p

REAL = (-2.0, 2.0)
UNIT = (-0.9, 0.9)
POSITIVE = (0.2, 3.0)
NUMBERS = INTEGERS + FLOATS + COMPLEXES

#        primitive, dtypes, range of the operand, exact?
UNARY = (
    (lax.sin_p, FLOATS + COMPLEXES, REAL),
    (lax.cos_p, FLOATS + COMPLEXES, REAL),
    (lax.tan_p, FLOATS + COMPLEXES, (-1.2, 1.2)),
    (lax.asin_p, FLOATS + COMPLEXES, UNIT),
    (lax.acos_p, FLOATS + COMPLEXES, UNIT),
    (lax.atan_p, FLOATS + COMPLEXES, UNIT),
    (lax.sinh_p, FLOATS + COMPLEXES, REAL),
    (lax.cosh_p, FLOATS + COMPLEXES, REAL),
    (lax.tanh_p, FLOATS + COMPLEXES, UNIT),
    (lax.asinh_p, FLOATS + COMPLEXES, UNIT),
    (lax.acosh_p, FLOATS + COMPLEXES, (1.3, 3.0)),
    (lax.atanh_p, FLOATS + COMPLEXES, UNIT),
    (lax.exp_p, FLOATS + COMPLEXES, REAL),
    (lax.exp2_p, FLOATS + COMPLEXES, REAL),
    (lax.expm1_p, FLOATS + COMPLEXES, REAL),
    (lax.log_p, FLOATS + COMPLEXES, POSITIVE),
    (lax.log1p_p, FLOATS + COMPLEXES, POSITIVE),
    (lax.logistic_p, FLOATS + COMPLEXES, REAL),
    (lax.sqrt_p, FLOATS + COMPLEXES, POSITIVE),
    (lax.rsqrt_p, FLOATS + COMPLEXES, POSITIVE),
    (lax.cbrt_p, FLOATS, POSITIVE),
    (lax.square_p, NUMBERS, REAL),
    (lax.abs_p, SIGNED + FLOATS + COMPLEXES, POSITIVE),
    (lax.neg_p, NUMBERS, REAL),
    (lax.sign_p, NUMBERS, POSITIVE),
    (lax.floor_p, FLOATS, REAL),
    (lax.ceil_p, FLOATS, REAL),
    (lax.is_finite_p, FLOATS, REAL),
    (lax.real_p, COMPLEXES, REAL),
    (lax.imag_p, COMPLEXES, REAL),
    (lax.not_p, INTEGERS + BOOL, REAL),
    (lax.population_count_p, INTEGERS, REAL),
    (lax.clz_p, INTEGERS, REAL),
    (lax.stop_gradient_p, ALL, REAL),
)
BINARY = (
    (lax.add_p, NUMBERS, REAL),
    (lax.sub_p, NUMBERS, REAL),
    (lax.mul_p, NUMBERS, REAL),
    (lax.div_p, NUMBERS, POSITIVE),
    (lax.rem_p, INTEGERS + FLOATS, POSITIVE),
    (lax.max_p, NUMBERS + BOOL, REAL),
    (lax.min_p, NUMBERS + BOOL, REAL),
    (lax.pow_p, FLOATS + COMPLEXES, POSITIVE),
    (lax.atan2_p, FLOATS + COMPLEXES, POSITIVE),
    (lax.nextafter_p, FLOATS, REAL),
    (lax.complex_p, FLOATS[:2], REAL),
    (lax.eq_p, ALL, REAL),
    (lax.ne_p, ALL, REAL),
    (lax.lt_p, INTEGERS + FLOATS + BOOL, REAL),
    (lax.le_p, INTEGERS + FLOATS + BOOL, REAL),
    (lax.gt_p, INTEGERS + FLOATS + BOOL, REAL),
    (lax.ge_p, INTEGERS + FLOATS + BOOL, REAL),
    (lax.eq_to_p, INTEGERS + FLOATS + BOOL, REAL),
    (lax.le_to_p, INTEGERS + FLOATS + BOOL, REAL),
    (lax.lt_to_p, INTEGERS + FLOATS + BOOL, REAL),
    (lax.and_p, INTEGERS + BOOL, REAL),
    (lax.or_p, INTEGERS + BOOL, REAL),
    (lax.xor_p, INTEGERS + BOOL, REAL),
    (lax.shift_left_p, INTEGERS, REAL),
    (lax.shift_right_logical_p, INTEGERS, REAL),
    (lax.shift_right_arithmetic_p, INTEGERS, REAL),
)
EXACT = frozenset((lax.neg_p, lax.floor_p, lax.ceil_p, lax.stop_gradient_p, lax.max_p, lax.min_p, lax.nextafter_p))
# Their derivative is not that of the function: stop_gradient by its purpose, sign of complex numbers as JAX has it
# (zero).  max of complex numbers jumps.
STEPS = frozenset((lax.max_p, lax.min_p))
# Linear in one operand at a time.
BILINEAR = {lax.mul_p: ((0,), (1,)), lax.div_p: ((0,),)}


def unary():
    """Each unary primitive, dtype and shape."""
    for p, dtypes, (low, high) in UNARY:
        for dtype in dtypes:
            for shape in ((2, 3), ()):
                x = numbers(p.name, shape, dtype, low, high)
                constant = p is lax.stop_gradient_p or (p is lax.sign_p and dtype in COMPLEXES)
                yield Sample(p, (x,), exact=p in EXACT or None, differentiable=() if constant else None)


def binary():
    """Each binary primitive and dtype: equal shapes, and rank 0 on one side."""
    for p, dtypes, (low, high) in BINARY:
        for dtype in dtypes:
            for shapes in (((2, 3), (2, 3)), ((), (2, 3)), ((2, 3), ()), ((2, 1), (2, 3))):
                x, y = (numbers(f"{p.name}{i}", s, dtype, low, high) for i, s in enumerate(shapes))
                linear = BILINEAR.get(p) if dtype in FLOATS + COMPLEXES else None
                steps = p in STEPS and dtype in COMPLEXES
                yield Sample(p, (x, y), linear=linear, exact=p in EXACT or None, differentiable=() if steps else None)


def others():
    """Primitives with parameters, of three operands, or of mixed dtypes."""
    for dtype in FLOATS:
        x = numbers("round", (2, 3), dtype)
        for method in lax.RoundingMethod:
            yield Sample(lax.round_p, (x,), {"rounding_method": method}, exact=True)
        y = numbers("exponent", (2, 3), np.int32)
        base = numbers("base", (2, 3), dtype, *POSITIVE)
        yield Sample(lax.pow_p, (base, np.abs(y) % 4))
        yield Sample(add_any_p, (x, base))
    for dtype in FLOATS + COMPLEXES:
        x = numbers("integer_pow", (2, 3), dtype, *POSITIVE)
        for y in (-2, -1, 0, 1, 2, 3, 5):
            yield Sample(lax.integer_pow_p, (x,), {"y": y})
    for dtype in INTEGERS:
        yield Sample(lax.integer_pow_p, (numbers("integer_pow", (2, 3), dtype),), {"y": 3})
    for dtype in COMPLEXES + FLOATS[:2]:
        x = numbers("conj", (2, 3), dtype)
        yield Sample(lax.conj_p, (x,), {"input_dtype": x.dtype}, exact=True)


def choices():
    """select_n by bool and by integer, whole and by a scalar; clamp with whole and scalar limits."""
    for dtype in ALL:
        cases = [numbers(f"case{i}", (2, 3), dtype) for i in range(3)]
        smooth = tuple(range(1, 4)) if dtype in FLOATS + COMPLEXES else ()
        for which, n in (
            (numbers("which", (2, 3), bool), 2),
            (np.asarray(True), 2),
            (np.array([[0, 1, 2], [2, 0, 1]], np.int32), 3),
            (np.asarray(2, np.int32), 3),
        ):
            linear = (smooth[:n],) if smooth else ()
            yield Sample(lax.select_n_p, (which, *cases[:n]), linear=linear, exact=True)
        x = numbers("clamp", (2, 3), dtype)
        for shape in ((), (2, 3)):
            low, high = numbers("low", shape, dtype, -1.0, -0.5), numbers("high", shape, dtype, 0.5, 1.0)
            yield Sample(lax.clamp_p, (low, x, high), exact=True, differentiable=() if dtype in COMPLEXES else None)


def upper_halves():
    """mulhi of the largest numbers, of both signs."""
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        x = np.array([info.max, info.min, info.max // 3, 7, info.max - 1, info.min // 3], dtype)
        yield Sample(lax.mulhi_p, (x, np.flip(x).copy()))
        yield Sample(lax.mulhi_p, (x.reshape(2, 3), x[2]))


SAMPLES = [*unary(), *binary(), *others(), *choices(), *upper_halves()]
