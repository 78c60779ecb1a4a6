"""Lowerings of erf, erfc and erf_inv; erf of float32 is the only special function with a kernel in the runtime.

Polynomials were fitted to long double values at Chebyshev points, highest power first, in a variable that runs from
-1 to 1.  erfc and erf_inv of narrower types are computed in float32.
"""

import numpy as np

from onax._native.normals import ERF_INV_FAR, ERF_INV_NEAR
from onax._prims import special as prims
from onax.export.graph import ops
from onax.export.graph.formula import Formula
from onax.export.lower.convert import F32, F64
from onax.export.lower.registry import lowers

# erf(x) / x for |x| < 1 in 2 x^2 - 1: right to 1 ulp.
_ERF = (
    -3.809841331303687e-13, 9.211313933832343e-12, -2.0352231233644602e-10, 4.115751344180296e-09,
    -7.511569338092273e-08, 1.2233827639417105e-06, -1.753716944090808e-05, 0.00021751715603559072,
    -0.0022854855611441492, 0.019852496688984225, -0.1405360890227171, 0.9654687386698673,
)  # fmt: skip
# x exp(x^2) erfc(x) for x > 0.5 in ((x - 3) / (x + 3) - _MIDDLE) / _HALF: to 2 ulp.
_LONG = (
    -2.4790551833575592e-11, 2.769098728094832e-11, 3.651342694865889e-10, -1.997325682623341e-10,
    -3.579959440003222e-09, 9.922192845124301e-11, 3.284527874569676e-08, 7.926448004624831e-09,
    -3.214141958185479e-07, -1.118200821603743e-08, 3.4723797277314005e-06, -3.1686610708486773e-06,
    -3.766933593330746e-05, 0.00011897830344107962, 0.00019641279311576832, -0.002639095992882596,
    0.01080748356993284, -0.028490818409563756, 0.05417793396331997, -0.0742455027189263,
    0.0628452998891382, 0.5410974243546136,
)  # fmt: skip
# x exp(x^2) erfc(x) for 0.8 < x < 12 in (x - 3) / (x + 3): to 2e-9.
_SHORT = (
    -0.0003605055235529195, 0.0011733290574011284, 0.0008961047602088267, -0.013999236275214525,
    0.046352046125513115, -0.09547225822768406, 0.1398804636708127, -0.1465829407000093, 0.09530622796842146,
    0.5370034528073477,
)  # fmt: skip
_MIDDLE, _HALF = 0.04608294930875576, 0.7603686635944701
# With w = -log(1 - x^2): ERF_INV_NEAR is erf_inv(x) / x for w < 5 in w / 2.5 - 1; ERF_INV_FAR is erf_inv(x) / sqrt(w)
# above in sqrt(w), up to 6.1; both to 5e-8.
_FAR_MIDDLE, _FAR_HALF = (6.1 + 5**0.5) / 2, (6.1 - 5**0.5) / 2
_LARGEST = 12.0  # erfc is less than any float32 above
_NEAR = 0.84  # above, 1 - erf(x) of float32 has lost 2 bits
_SPLIT = 4097.0  # 2^12 + 1
_SLOPE = 2 / np.pi**0.5  # of erf at 0


def _near_erf(x):
    """erf of a float64 with |x| < 1."""
    return x * (x * x * 2 - 1).horner(_ERF)


def _square_error(x):
    """exp(-x^2), corrected for the rounding error of the square, which the exponential would amplify by x^2."""
    high = x.cast(F32).cast(F64)
    return (-(high * high)).do("Exp") * ((high - x) * (high + x)).do("Exp")


def _far_erfc(size):
    """erfc of a float64 above 0.5."""
    size = size.minimum(30.0)  # beyond, the result is 0
    position = ((size - 3) / (size + 3) - _MIDDLE) * (1 / _HALF)
    return position.horner(_LONG) / size * _square_error(size)


def _erf_double(x):
    size = x.do("Abs")
    far = (1 - _far_erfc(size)) * x.do("Sign")
    return (size < 1).where(_near_erf(x), far)


def _erfc_double(x):
    size = x.do("Abs")
    far = _far_erfc(size)
    return (size < 0.5).where(1 - _near_erf(x), (x < 0).where(2 - far, far))


def _erf_inv_guess(x):
    """erf_inv with a relative error of 5e-8, in float32 of 3 ulp: infinite at 1 and -1, NaN for |x| > 1."""
    w = -((1 - x) * (1 + x)).do("Log")
    near = (w * (1 / 2.5) - 1).horner(ERF_INV_NEAR)
    root = w.do("Sqrt")
    far = ((root - _FAR_MIDDLE) * (1 / _FAR_HALF)).horner(ERF_INV_FAR) * root
    return (w < 5).where(near * x, (w == np.inf).where(np.inf, far) * x.do("Sign"))


def _erf_inv_double(x):
    """One Halley step from the guess, with erfc, which is accurate where erf is nearly 1."""
    guess = _erf_inv_guess(x.do("Abs"))
    error = 1 - x.do("Abs") - _erfc_double(guess)
    small = x.do("Abs") < 0.5
    error = small.where(_near_erf(guess) - x.do("Abs"), error)
    step = error / (_square_error(guess) * _SLOPE)
    better = guess - step / (1 + guess * step)
    return (better.is_nan() | (guess == np.inf)).where(guess, better) * x.do("Sign")


@lowers(prims.erf_p)
def _erf(g, out, x):
    return _erf_double(Formula(g, x)).value if x.dtype == F64 else g.node("Erf", x, out=out)


def _erfc_single(x):
    """erfc of a float32: from erf where that is not close to 1, else from a polynomial."""
    near = 1 - x.do("Erf")
    size = x.maximum(_NEAR).minimum(_LARGEST)  # beyond, the result is 0
    position = (size - 3) / (size + 3)
    high = size * _SPLIT - (size * _SPLIT - size)  # the upper 12 bits, whose square is exact
    square_error = (-(high * high)).do("Exp") * ((high - size) * (high + size)).do("Exp")
    return (x < _NEAR).where(near, position.horner(_SHORT) / size * square_error)


def build_erfc(g, x):
    """The value erfc(x)."""
    if x.dtype == F64:
        return _erfc_double(Formula(g, x)).value
    return ops.cast(g, _erfc_single(Formula(g, ops.cast(g, x, F32))).value, x.dtype)


@lowers(prims.erfc_p)
def _erfc(g, out, x):
    return g.formula("Erfc", x, out=out, build=build_erfc)


@lowers(prims.erf_inv_p)
def _erf_inv(g, out, x):
    if x.dtype == F64:
        return _erf_inv_double(Formula(g, x)).value
    return ops.cast(g, _erf_inv_guess(Formula(g, ops.cast(g, x, F32))).value, out.dtype)
