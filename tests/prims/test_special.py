"""Special functions at their poles and edges, and the derivatives that they refuse."""

import numpy as np
import pytest

from onax import grad, lax
from tolerance import assert_same_bits

INF, NAN = np.inf, np.nan
f32 = lambda *values: np.array(values, np.float32)

#     name, function, operands, expected values
VALUES = (
    ("digamma", lax.digamma, (f32(0, -1, -0.0, -INF, INF, NAN),), [NAN, NAN, NAN, NAN, INF, NAN]),
    ("lgamma", lax.lgamma, (f32(0, -1, INF, -INF, NAN),), [INF, INF, INF, INF, NAN]),
    ("erf_inv", lax.erf_inv, (f32(-1, 1, 0, -0.0, 2, NAN),), [-INF, INF, 0, -0.0, NAN, NAN]),
    ("erf", lax.erf, (f32(-INF, INF, 0, -0.0, NAN),), [-1, 1, 0, -0.0, NAN]),
    ("erfc", lax.erfc, (f32(-INF, INF, 0, NAN),), [2, 0, 1, NAN]),
    ("zeta", lax.zeta, (f32(2, 1, 2, 3), f32(INF, 1, 0, -1)), [NAN, INF, INF, INF]),
    ("zeta of NaN", lax.zeta, (f32(NAN, NAN, NAN, 2), f32(0, -1, 2, NAN)), [NAN] * 4),
    ("polygamma", lax.polygamma, (f32(-1, 0.5, 1, 1), f32(1, 1, INF, NAN)), [NAN, NAN, NAN, NAN]),
    ("igamma", lax.igamma, (f32(0, 0, 2, INF, -1, 1), f32(0, 1, INF, 1, 1, -1)), [NAN, 1, 1, 0, NAN, NAN]),
    ("igammac", lax.igammac, (f32(0, 2, INF), f32(1, INF, 1)), [0, 0, 1]),
    ("betainc", lax.betainc, (f32(1, 1, 1, 1), f32(1, 1, 1, 1), f32(0, 1, -1, NAN)), [0, 1, NAN, NAN]),
    ("bessel_i0e", lax.bessel_i0e, (f32(0, INF, NAN),), [1, 0, NAN]),
    ("bessel_i1e", lax.bessel_i1e, (f32(0, INF, NAN),), [0, 0, NAN]),
)  # fmt: skip


@pytest.mark.parametrize("name, function, operands, want", VALUES, ids=[row[0] for row in VALUES])
def test_values(name, function, operands, want):
    assert_same_bits(np.asarray(function(*operands)), np.array(want, np.float32))


REFUSED = {
    "polygamma gradient with respect to m": lambda: grad(lax.polygamma)(1.0, 2.0),
    "Betainc gradient with respect to a and b": lambda: grad(lax.betainc)(1.0, 2.0, 0.5),
}


@pytest.mark.parametrize("text", REFUSED)
def test_derivatives_that_are_refused(text):
    with pytest.raises(ValueError, match=text):
        REFUSED[text]()


def test_slopes_where_the_formula_divides_by_zero():
    assert grad(lax.bessel_i1e)(0.0) == 0.5 and grad(lax.bessel_i0e)(0.0) == 0.0


@pytest.mark.parametrize(
    "call", [lambda: lax.erf(1), lambda: lax.lgamma(True), lambda: lax.betainc(1.0, 2.0, np.float16(1))]
)
def test_dtypes_that_are_refused(call):
    with pytest.raises(TypeError):
        call()
