"""Coefficients of the asymptotic series of special functions: all are Bernoulli's numbers over products of integers.

Each quotient is a division of integers, which Python rounds once.
"""

import math

# (numerator, denominator) of B_2, B_4, ..., B_18 (OEIS A000367, A002445).
_BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798))


def _terms(count):
    """(k, numerator, denominator) of B_2k, for k = 1 ... count."""
    return [(k, *_BERNOULLI[k - 1]) for k in range(1, count + 1)]


def stirling(count):
    """The first coefficients of Stirling's series of log gamma, B_2k / (2k (2k - 1)) of y^(1 - 2k) (DLMF 5.11.1)."""
    return tuple(p / (q * 2 * k * (2 * k - 1)) for k, p, q in _terms(count))


def stirling_slope(count):
    """The first coefficients of the series of digamma, -B_2k / 2k of y^(-2k) (DLMF 5.11.2)."""
    return tuple(-p / (q * 2 * k) for k, p, q in _terms(count))


def euler_maclaurin(count):
    """The first coefficients of Euler and Maclaurin's formula, B_2k / (2k)! of the derivative 2k - 1 (DLMF 2.10.1)."""
    return tuple(p / (q * math.factorial(2 * k)) for k, p, q in _terms(count))
