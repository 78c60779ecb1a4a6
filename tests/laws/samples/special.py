"""Special functions, in every float type."""

import numpy as np

from laws.sampling import FLOATS, Sample, numbers
from onax import lax

#        primitive, range of the operand
UNARY = (
    (lax.erf_p, (-2.0, 2.0)),
    (lax.erfc_p, (-2.0, 2.0)),
    (lax.erf_inv_p, (-0.9, 0.9)),
    (lax.lgamma_p, (0.3, 4.0)),
    (lax.digamma_p, (0.3, 4.0)),
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
