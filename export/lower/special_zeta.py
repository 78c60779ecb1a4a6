"""Lowerings of Hurwitz' zeta function and of polygamma, which is made of it.

The first ten terms and Euler and Maclaurin's formula for the rest (NIST Digital Library of Mathematical Functions,
25.11.5 with 2.10.1).  To the left of 0, where the exponent must be an integer, the terms from q to 0 are a finite sum:
a difference of two zeta functions of positive arguments.
"""

import math

import numpy as np

from onax._prims import special as prims
from onax._prims.special_series import euler_maclaurin
from onax.export.graph import ops
from onax.export.graph.formula import Formula
from onax.export.lower.convert import F64
from onax.export.lower.special_gamma import digamma_double
from onax.export.lower.special_loops import along_new_axis, constant, in_double, is_small

_TERMS = 10
_CORRECTIONS = euler_maclaurin(9)[::-1]
_FACTORIALS = (*(float(math.factorial(n)) for n in range(171)), math.inf)


def _first_terms(s, q):
    """(the sum of the first terms, q + their number)"""
    g = s.g
    if is_small(s):
        steps = Formula(g, g.const(np.arange(_TERMS, dtype=np.float64)))
        terms = (along_new_axis(q) + steps).pow(-along_new_axis(s))
        total = ops.reduce(g, "ReduceSum", terms.value, (terms.value.ndim - 1,))
        return Formula(g, total), q + _TERMS
    total, w = q.pow(-s), q
    for _ in range(1, _TERMS):
        w = w + 1
        total = total + w.pow(-s)
    return total, w + 1


def _zeta_positive(s, q):
    """The sum of (q + k)^-s over k = 0, 1, ..., for s > 1 and q > 0."""
    total, w = _first_terms(s, q)
    order = s.minimum(1e15)  # above, what follows is not part of the sum, but must not be NaN
    rest, steps = constant(s, _CORRECTIONS[0]), len(_CORRECTIONS)
    for j, c in zip(range(steps - 1, 0, -1), _CORRECTIONS[1:]):
        rest = (order + (2 * j - 1)) / w * ((order + 2 * j) / w) * rest + c
    return total + w.pow(1 - s) / (s - 1) + w.pow(-s) * (rest * order / w + 0.5)


def _zetas_positive(s, starts):
    """`_zeta_positive` from several starts; few elements are computed in one array."""
    if not is_small(s):
        return [_zeta_positive(s, q) for q in starts]
    g, n = s.g, len(starts)
    rows = [ops.unsqueeze(g, q.value, (0,)) for q in starts]
    s = Formula(g, ops.expand(g, s.value, (n, *s.value.shape)))
    values = _zeta_positive(s, Formula(g, ops.concat(g, rows, 0))).value
    return [Formula(g, ops.gather(g, values, g.const(i, ops.INT64), 0)) for i in range(n)]


def _zeta(s, q):
    defined = (s > 1) & (s < np.inf)
    safe = defined.where(s, 2)
    left = (q < 0) & ((q - q.do("Floor")) > 0)
    # left of 0: from the fraction above upwards, and from the fraction below downwards as far as q
    starts = left.where(q - q.do("Floor"), (q > 0).where(q, 1)), left.where(q.do("Ceil") - q, 1), left.where(1 - q, 1)
    upwards, downwards, beyond = _zetas_positive(safe, starts)
    odd = (safe * 0.5).do("Floor") * 2 < safe
    both = odd.where((upwards - downwards) + beyond, (upwards - beyond) + downwards)
    value = left.where(both, upwards)
    value = (left & ((s - s.do("Floor")) > 0)).where(np.nan, value)
    value = ((q <= 0) & ~left).where(np.inf, value)
    ends = (q > 1).where(constant(s, 0), (q == 1).where(constant(s, 1), np.inf))
    value = (s == np.inf).where(ends, value)
    value = (s < 1).where(np.nan, (s == 1).where(np.inf, value))
    return (s.is_nan() | q.is_nan() | (q.do("Abs") == np.inf)).where(np.nan, value)


def _polygamma(m, x):
    """(-1)^(m + 1) m! zeta(m + 1, x); NaN unless m is 0, 1, 2, ..."""
    order = (m >= 0).where(m.minimum(len(_FACTORIALS) - 1), 0)
    table = m.g.const(np.array(_FACTORIALS), F64)
    factorial = Formula(m.g, ops.gather(m.g, table, ops.cast(m.g, order.value, ops.INT64), 0))
    even = ((m * 0.5).do("Floor") * 2 == m) & (m < np.inf)
    higher = factorial * _zeta(m + 1, x)
    value = (m == 0).where(digamma_double(x), even.where(-higher, higher))
    return ((m >= 0) & (m.do("Floor") == m)).where(value, constant(m, np.nan))


in_double(prims.zeta_p, _zeta)
in_double(prims.polygamma_p, _polygamma)
