"""Complex kernels where NumPy's are not used: branch cuts, infinities, zeros, NaN, order."""

import cmath

import numpy as np
import pytest

from onax._prims import elementwise_complex as on_complex

INF, NAN = np.inf, np.nan
PLANE = np.array([complex(a, b) for a in (-2.5, -0.3, 0.0, 0.7, 3.0) for b in (-1.5, -0.2, 0.0, 0.4, 2.0)])


def same(got, want):
    """Equal parts; NaN equals NaN, and signs of zeros count."""
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        assert (np.isnan(g) and np.isnan(w)) or (g == w and np.signbit(g) == np.signbit(w)), (got, want)


FUNCTIONS = {
    "exp": cmath.exp, "sinh": cmath.sinh, "cosh": cmath.cosh, "sin": cmath.sin, "cos": cmath.cos,
    "rsqrt": lambda z: 1 / cmath.sqrt(z), "sign": lambda z: z / abs(z), "logistic": lambda z: 1 / (1 + cmath.exp(-z)),
    "log1p": lambda z: cmath.log(1 + z), "log": cmath.log, "abs": lambda z: complex(abs(z)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_plane(name, dtype):
    plane = PLANE[PLANE != 0].astype(dtype)
    got, want = getattr(on_complex, name)(plane), np.array([FUNCTIONS[name](complex(z)) for z in plane])
    assert got.dtype == (plane.real.dtype if name == "abs" else dtype)
    np.testing.assert_allclose(got, want, rtol=20 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


EDGES = [  # name, operands, result
    ("exp", (complex(-INF, INF),), complex(NAN, NAN)),
    ("exp", (complex(INF, 0.0),), complex(INF, 0)),
    ("exp", (complex(1000, 1),), complex(INF, INF)),
    ("sign", (0j,), 0j),
    ("rsqrt", (0j,), complex(INF, NAN)),
    ("rsqrt", (complex(INF, 0),), 0j),
    ("log", (complex(NAN, 1),), complex(NAN, NAN)),
    ("abs", (complex(NAN, INF),), complex(NAN, 0)),
    ("log1p", (complex(1e-20, 0),), complex(1e-20, 0)),
    ("logistic", (complex(-1000, 0),), 0j),
    ("power", (0j, 2 + 0j), 0j),
    ("power", (0j, -1 + 0j), complex(NAN, NAN)),
    ("power", (0j, 0j), 1 + 0j),
    ("power", (1 + 0j, complex(INF, NAN)), 1 + 0j),
    ("divide", (1 + 1j, 0j), complex(INF, INF)),
    ("divide", (complex(INF, 1), 2 + 0j), complex(INF, NAN)),
    ("divide", (1 + 1j, complex(INF, 1)), 0j),
    ("maximum", (1 + 2j, 1 + 3j), 1 + 3j),
    ("maximum", (2 + 0j, 1 + 9j), 2 + 0j),
    ("minimum", (1 + 2j, 1 + 3j), 1 + 2j),
    ("maximum", (complex(NAN, 0), 1 + 0j), 1 + 0j),
]


@pytest.mark.parametrize("name, operands, want", EDGES)
def test_edges(name, operands, want):
    with np.errstate(all="ignore"):
        got = complex(getattr(on_complex, name)(*(np.array(z) for z in operands)))
    if name == "divide" and np.isinf(operands[0]):
        assert np.isinf(got)
    else:
        same(got, want)


@pytest.mark.parametrize("ufunc", [np.sqrt, np.arcsin, np.arccosh, np.arctanh])
def test_a_zero_on_a_cut_counts_as_positive(ufunc):
    on_cut = np.array([-2 + 0j, 2 + 0j, 2j, -2j])
    below = np.array([complex(z.real, -0.0) if z.imag == 0 else complex(-0.0, z.imag) for z in on_cut])
    np.testing.assert_array_equal(on_complex.drop_zero_signs(ufunc)(below), on_complex.drop_zero_signs(ufunc)(on_cut))
