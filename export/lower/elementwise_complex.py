"""ONNX forms of elementwise primitives on complex numbers, which are pairs (real part, imaginary part) of values.

What is linear with real coefficients works on each part alone; products, quotients and comparisons mix the parts.
"""

import numpy as np

from onax._prims import elementwise as prims
from onax._prims import shaping
from onax._prims.convert import convert_element_type_p
from onax.export.graph import ops
from onax.export.graph.formula import Formula
from onax.export.lower.convert import convert
from onax.export.lower.registry import componentwise, lowers_components

componentwise(
    prims.neg_p,
    prims.add_p,
    prims.sub_p,
    prims.add_any_p,
    prims.select_n_p,
    prims.stop_gradient_p,
    shaping.reduce_sum_p,
)


def _formulas(g, z):
    return Formula(g, z[0]), Formula(g, z[1])


def _values(*parts):
    return tuple(part.value for part in parts)


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
    """A real result keeps the real part; bool asks whether either part is non-zero."""
    if out.dtype.kind != "c":
        if out.dtype == np.bool_:
            return ops.logical_or(g, *(convert(g, part, out.dtype) for part in z))
        return convert(g, z[0], out.dtype)
    part = np.dtype(f"f{out.dtype.itemsize // 2}")
    if type(z) is tuple:
        return tuple(convert(g, x, part) for x in z)
    x = convert(g, z, part)
    return x, _zeros(g, x)


# ---- arithmetic


@lowers_components(prims.mul_p)
def _mul(g, out, z, w):
    (a, b), (c, d) = _formulas(g, z), _formulas(g, w)
    return _values(a * c - b * d, a * d + b * c)


@lowers_components(prims.square_p)
def _square(g, out, z):
    return _mul(g, out, z, z)


@lowers_components(prims.div_p)
def _div(g, out, z, w):
    """Smith's way: divided through by the larger part of the divisor, so that nothing overflows on the way."""
    (a, b), (c, d) = _formulas(g, z), _formulas(g, w)
    by_real = c.do("Abs") >= d.do("Abs")
    large, small = by_real.where(c, d), by_real.where(d, c)
    ratio = small / large
    bottom = large + small * ratio
    real = by_real.where(a + b * ratio, a * ratio + b)
    imag = by_real.where(b - a * ratio, b * ratio - a)
    return _values(real / bottom, imag / bottom)


@lowers_components(prims.abs_p)
def _abs(g, out, z):
    """The larger part times sqrt(1 + ratio ** 2): squares of large parts would overflow."""
    a, b = (x.do("Abs") for x in _formulas(g, z))
    large, small = a.maximum(b), a.minimum(b)
    ratio = small / large
    size = large * (1 + ratio * ratio).do("Sqrt")
    return ((small == 0.0) | (large == np.inf)).where(large, size).value


# ---- comparisons


@lowers_components(prims.eq_p)
def _eq(g, out, z, w):
    return ops.logical_and(g, ops.equal(g, z[0], w[0]), ops.equal(g, z[1], w[1]))


@lowers_components(prims.ne_p)
def _ne(g, out, z, w):
    return ops.logical_not(g, _eq(g, out, z, w))
