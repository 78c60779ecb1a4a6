"""Primitives that came after JAX 0.10.2, in every dtype they accept; their recorded answers are JAX_VERSION's."""

import numpy as np

from laws.sampling import COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax

JAX_VERSION = "0.12.0.1"

#        primitive, dtypes, range of the operand
UNARY = (
    (lax.log2_p, FLOATS + COMPLEXES, (0.2, 3.0)),
    (lax.one_minus_square_p, INTEGERS + FLOATS + COMPLEXES, (-2.0, 2.0)),
)


def unary():
    """Each unary primitive, dtype and shape."""
    for p, dtypes, (low, high) in UNARY:
        for dtype in dtypes:
            for shape in ((2, 3), ()):
                yield Sample(p, (numbers(p.name, shape, dtype, low, high),))


def polynomials():
    """Of degrees 1 to 9, whose coefficients are scalars, whole arrays, and of shapes that are broadcast."""
    scalars, mixed = ((), (), ()), ((), (2, 3), (1, 3), (2, 1))
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        low = (0.5, 1.5) if dtype in INTEGERS else (0.3, 0.9)
        for shapes in (scalars, mixed, ((),) * 2) if dtype != np.float32 else (scalars, mixed, ((),) * 10):
            x = numbers("polynomial", (2, 3), dtype, *low)
            coefficients = [numbers(f"coefficient{k}", s, dtype, 0.5, 1.5) for k, s in enumerate(shapes)]
            linear = (tuple(range(1, len(shapes) + 1)),) if dtype in FLOATS + COMPLEXES else None
            yield Sample(lax.polynomial_p, (x, *coefficients), linear=linear)


SAMPLES = [*unary(), *polynomials()]
