"""Special functions, in every float type."""

import numpy as np

from laws.sampling import FLOATS, Sample, numbers
from onax import lax
from onax._prims import special

#        primitive, range of the operand
UNARY = (
    (lax.erf_p, (-2.0, 2.0)),
    (lax.erfc_p, (-2.0, 2.0)),
    (lax.erf_inv_p, (-0.9, 0.9)),
    (lax.lgamma_p, (0.3, 4.0)),
    (lax.digamma_p, (0.3, 4.0)),
    (lax.bessel_i0e_p, (-9.0, 9.0)),
    (lax.bessel_i1e_p, (-9.0, 9.0)),
)

SAMPLES = [
    Sample(p, (numbers(p.name, shape, dtype, low, high),))
    for p, (low, high) in UNARY
    for dtype in FLOATS
    for shape in ((2, 3), ())
]
for _dtype in FLOATS:
    _x = numbers("polygamma", (2, 3), _dtype, 0.5, 4.0)
    SAMPLES.append(Sample(lax.polygamma_p, (np.ones((), _dtype), _x), differentiable=(1,)))
    SAMPLES.append(Sample(lax.zeta_p, (_x + np.ones((), _dtype), _x)))
    _a = numbers("gamma", (2, 3), _dtype, 0.3, 9.0)
    for _p, _active in (
        (lax.igamma_p, (0, 1)),
        (lax.igammac_p, (0, 1)),
        (lax.igamma_grad_a_p, ()),
        (special.random_gamma_grad_p, ()),
    ):
        SAMPLES.append(Sample(_p, (_a, _x), differentiable=_active))
    _place = numbers("beta", (2, 3), _dtype, 0.1, 0.9)
    SAMPLES.append(Sample(lax.regularized_incomplete_beta_p, (_a, _x, _place), differentiable=(2,)))
