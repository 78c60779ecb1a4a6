"""Mantissa and exponent of floats below opset 26, where formulas read their bits in arithmetic: frexp and ldexp.

The programs of `jnp.frexp` and `jnp.ldexp` are JAX's: they scale numbers below the smallest normal one, take the bits
of the exponent and put others in their place, and keep 0, infinities and NaN as they are.  The same numbers are found
by a logarithm and products with powers of two, which are exact.
"""

import numpy as np

from onax.export.graph.formula import Formula
from onax.export.lower.convert import F32, INT32
from onax.export.recognize.match import formula, is_number, number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite

_MANTISSA, _BIAS = 23, 127
_TINY = float(np.finfo(np.float32).tiny)
_FIELD = (2 * _BIAS + 1) << _MANTISSA  # the bits of the exponent
_SAVED = 30  # nodes at least that a formula of bits becomes
_FARTHEST = 280.0  # exponents beyond make 0 or inf of every number


# ---- what the nodes are


def _through_casts(value):
    while (cast := producer(value, "Cast")) is not None and cast.inputs[0].dtype.kind in "iu":
        value = cast.inputs[0]
    return value


def _operand(value, op_type, wanted):
    """The other operand of a node of two operands and this constant, or None."""
    node = producer(value, op_type)
    for a, b in orders(node) if node is not None else ():
        found = number(b)
        if found is not None and int(found) == wanted:
            return a
    return None


def _tests_infinity(value, x):
    test = producer(value, "Equal")
    size = producer(test.inputs[0], "Abs") if test is not None and is_number(test.inputs[1], np.inf) else None
    return size is not None and size.inputs[0] is x


def _tests_zero(value, x):
    test = producer(value, "Equal")
    return test is not None and test.inputs[0] is x and is_number(test.inputs[1], 0)


def _tests_nan(value, x):
    test = producer(value, "IsNaN")
    return test is not None and test.inputs[0] is x


def _is_any_of(value, x, tests):
    """Whether a value is true where one of the tests of x is: a chain of Or."""
    if len(tests) == 1:
        return tests[0](value, x)
    node = producer(value, "Or")
    for a, b in orders(node) if node is not None else ():
        for i, test in enumerate(tests):
            if test(a, x) and _is_any_of(b, x, tests[:i] + tests[i + 1 :]):
                return True
    return False


def _is_small(value, x):
    """Whether a value tells where x is below the smallest normal number."""
    test = producer(value, "Less")
    size = producer(test.inputs[0], "Abs") if test is not None and is_number(test.inputs[1], _TINY) else None
    return size is not None and size.inputs[0] is x


def _normal(value):
    """x, if a value is x, and 2^23 x where that is below the smallest normal number; else None."""
    chosen = producer(value, "Where")
    if chosen is None:
        return None
    condition, scaled, x = chosen.inputs
    product = producer(scaled, "Mul")
    if product is None or not _is_small(condition, x) or not same_type(x, value):
        return None
    return x if any(a is x and is_number(b, 2.0**_MANTISSA) for a, b in orders(product)) else None


def _source_of_bits(value):
    """x, of a value that holds the bits of x brought into the normal range; or None."""
    bits = formula(_through_casts(value), "Bits")
    return _normal(bits.inputs[0]) if bits is not None and bits.inputs[0].dtype == F32 else None


# ---- rules


def mantissa(m, node):
    """x where it is 0, infinite or NaN, else x with another exponent"""
    condition, x, value = node.inputs
    pattern = formula(value, "FromBits")
    if pattern is None or x.dtype != F32 or not same_type(value, node.outputs[0]) or not same_type(x, value):
        return None
    kept = _operand(_through_casts(pattern.inputs[0]), "BitwiseOr", (_BIAS - 1) << _MANTISSA)
    bits = _operand(kept, "BitwiseAnd", ~_FIELD) if kept is not None else None
    if bits is None or _source_of_bits(bits) is not x:
        return None
    if not _is_any_of(condition, x, (_tests_infinity, _tests_nan, _tests_zero)):
        return None
    power = _exponent(m, x)
    result = m.g.formula("Mantissa", x, power, out=x.aval, build=_build_mantissa)
    return Rewrite("Identity", (result,), saves=_SAVED)


def exponent(m, node):
    """0 where x is 0, infinite or NaN, else the number that the bits of its exponent mean"""
    condition, none, value = node.inputs
    if not is_number(none, 0) or value.dtype != INT32 or not same_type(value, node.outputs[0]):
        return None
    total = producer(value, "Add")
    for shift, rest in orders(total) if total is not None else ():
        chosen = producer(shift, "Where")
        if chosen is None or not is_number(chosen.inputs[1], -_MANTISSA) or not is_number(chosen.inputs[2], 0):
            continue
        field = _operand(rest, "Add", 1)
        difference = producer(field, "Sub") if field is not None else None
        if difference is None or not is_number(difference.inputs[1], _BIAS):
            continue
        shifted = _operand(_through_casts(difference.inputs[0]), "BitwiseAnd", 2 * _BIAS + 1)
        down = producer(_through_casts(shifted), "BitShift") if shifted is not None else None
        x = _source_of_bits(down.inputs[0]) if down is not None and is_number(down.inputs[1], _MANTISSA) else None
        if x is None or not _is_small(chosen.inputs[0], x):
            continue
        if _is_any_of(condition, x, (_tests_infinity, _tests_nan, _tests_zero)):
            return Rewrite("Identity", (_exponent(m, x),), saves=_SAVED)
    return None


def _exponent(m, x):
    """The formula of the exponent of x, one for all who ask."""
    for reader in m.readers(x):
        if reader is not None and reader.domain == "formula" and reader.op_type == "Exponent":
            if reader.outputs[0].graph is m.g:
                return reader.outputs[0]
    return m.g.formula("Exponent", x, out=(x.shape, INT32), build=_build_exponent)


def scaled(m, node):
    """x where it is 0 or infinite, else its mantissa times a power of two: x times a power of two"""
    condition, x, value = node.inputs
    product = producer(value, "Mul")
    if product is None or x.dtype != F32 or not same_type(value, node.outputs[0]):
        return None
    for factor, power in orders(product):
        raised = producer(power, "Pow")
        if raised is None or not is_number(raised.inputs[0], 2):
            continue
        total = _lowered(raised.inputs[1])
        parts = _raised(factor, total) if total is not None else None
        if parts is None or not _is_any_of(condition, parts.inputs[0], (_tests_infinity, _tests_zero)):
            continue
        if parts.inputs[0] is not x:
            continue
        added = producer(total, "Add")
        for a, n in orders(added) if added is not None else ():
            cast = producer(a, "Cast")
            if cast is not None and cast.inputs[0] is parts.inputs[1]:
                result = m.g.formula("Scaled", x, n, out=node.outputs[0].aval, build=_build_scaled)
                return Rewrite("Identity", (result,), saves=_SAVED)
    return None


def _is_positive(value, total):
    test = producer(value, "Greater")
    return test is not None and test.inputs[0] is total and is_number(test.inputs[1], 0)


def _lowered(value):
    """t, if a value is t - 1 where t is positive, else t."""
    chosen = producer(value, "Where")
    less = producer(chosen.inputs[1], "Sub") if chosen is not None else None
    if less is None or less.inputs[0] is not chosen.inputs[2] or not is_number(less.inputs[1], 1):
        return None
    return chosen.inputs[2] if _is_positive(chosen.inputs[0], chosen.inputs[2]) else None


def _raised(value, total):
    """The formula of a mantissa that is doubled where `total` is positive, or None."""
    chosen = producer(value, "Where")
    twice = producer(chosen.inputs[1], "Mul") if chosen is not None else None
    if twice is None or not _is_positive(chosen.inputs[0], total):
        return None
    plain = chosen.inputs[2]
    doubled = any(a is plain and is_number(b, 2) for a, b in orders(twice))
    return formula(plain, "Mantissa") if doubled else None


# ---- the formulas


def _power_of_two(like, exponent):
    return Formula(like.g, like._value_of(2.0)).pow(exponent)


def _build_exponent(g, x):
    """The exponent of frexp: the logarithm, which may be off by one, is corrected by the powers of two around it."""
    size = Formula(g, x).do("Abs")
    small = size < _TINY
    normal = small.where(size * 2.0**_MANTISSA, size)
    fine = (normal < float("inf")) & (normal > 0)
    normal = fine.where(normal, 1.0)
    guess = (normal.do("Log") * float(1 / np.log(2.0))).do("Floor")
    scale = _power_of_two(normal, guess)
    above = (normal >= scale * 2).cast(F32) - (normal < scale).cast(F32)
    shift = small.where(Formula(g, normal._value_of(float(1 - _MANTISSA))), 1.0)
    return fine.where((guess + above + shift).cast(INT32), 0).value


def _build_mantissa(g, x, power):
    """x times 2^-power, in two factors that are both normal."""
    x = Formula(g, x)
    power = Formula(g, power).cast(F32)
    half = (power * -0.5).do("Floor")
    return (x * _power_of_two(x, half) * _power_of_two(x, -power - half)).value


def _build_scaled(g, x, n):
    """x times 2^n in three factors, of which none is infinite, and none 0 or subnormal."""
    x, n = Formula(g, x), Formula(g, n)
    n = n.minimum(_FARTHEST).maximum(-_FARTHEST)
    third = (n * float(1 / 3)).do("Floor")
    part = _power_of_two(x, third)
    return (x * part * part * _power_of_two(x, n - third * 2)).value


RULES = (("Where", mantissa), ("Where", exponent), ("Where", scaled))
