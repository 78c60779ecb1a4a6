"""Complex kernels where NumPy's are not used: branch cuts, infinities, zeros, NaN, order."""

import cmath

import numpy as np
import pytest

import onax as jax
from onax._prims import elementwise
from onax._prims import elementwise_complex as on_complex

INF, NAN = np.inf, np.nan
PLANE = np.array([complex(a, b) for a in (-2.5, -0.3, 0.0, 0.7, 3.0) for b in (-1.5, -0.2, 0.0, 0.4, 2.0)])


def same(got, want):
    """Equal parts; NaN equals NaN, and signs of zeros count."""
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        assert (np.isnan(g) and np.isnan(w)) or (g == w and np.signbit(g) == np.signbit(w)), (got, want)


FUNCTIONS = {
    "expm1": lambda z: cmath.exp(z) - 1, "rsqrt": lambda z: 1 / cmath.sqrt(z), "sign": lambda z: z / abs(z),
    "logistic": lambda z: 1 / (1 + cmath.exp(-z)), "log1p": lambda z: cmath.log(1 + z),
    "abs": lambda z: complex(abs(z)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_plane(name, dtype):
    plane = PLANE[PLANE != 0].astype(dtype)
    got, want = getattr(on_complex, name)(plane), np.array([FUNCTIONS[name](complex(z)) for z in plane])
    assert got.dtype == (plane.real.dtype if name == "abs" else dtype)
    np.testing.assert_allclose(got, want, rtol=20 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


EDGES = [  # name, operands, result
    ("expm1", (complex(-0.0, 0.0),), 0j),
    ("expm1", (complex(1000, 0),), complex(INF, 0)),
    ("expm1", (complex(INF, 0),), complex(INF, 0)),
    ("expm1", (complex(-INF, 2),), complex(-1, 0)),
    ("expm1", (complex(-INF, NAN),), complex(-1, 0)),
    ("expm1", (complex(INF, INF),), complex(INF, NAN)),
    ("expm1", (complex(NAN, 0),), complex(NAN, 0)),
    ("expm1", (complex(2, INF),), complex(NAN, NAN)),
    ("expm1", (complex(NAN, 1),), complex(NAN, NAN)),
    ("sign", (0j,), 0j),
    ("rsqrt", (0j,), complex(INF, NAN)),
    ("rsqrt", (complex(INF, 0),), 0j),
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


PARTS = np.array([0.0, -0.0, 0.5, -0.5, 2.0, -2.0, np.inf, -np.inf])
SIDES = {  # JAX 0.10.2: the part of the operand whose zero keeps its sign, that of the result which has it
    "asin": ("real", "real"),
    "asinh": ("imag", "imag"),
}


@pytest.mark.parametrize("times", [1, 200])  # arrays of many elements go to vector code
@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", SIDES)
def test_zeros_beside_a_cut_keep_their_signs(name, dtype, way, times):
    part, of_result = SIDES[name]
    z = np.empty(PARTS.size**2, dtype)
    z.real, z.imag = np.repeat(PARTS, PARTS.size), np.tile(PARTS, PARTS.size)
    z = z[getattr(z, part) == 0]
    with jax.enable_x64(True):
        got = np.asarray(way(getattr(elementwise, name))(jax.numpy.asarray(np.tile(z, times))))
    np.testing.assert_array_equal(np.signbit(getattr(got, of_result)), np.signbit(np.tile(getattr(z, part), times)))


QUOTIENTS = [(1, 0, INF), (1, -0.0, -INF), (1, INF, INF), (1, -INF, INF), (1, -INF, -INF), (1, 2, INF), (-1, INF, 1)]


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("x, c, d", QUOTIENTS)
def test_quotients_by_infinite_numbers_are_signed_zeros(x, c, d, way):
    """The signs are those of Annex G of the C standard, as in JAX."""
    with jax.enable_x64(True):
        got = complex(way(elementwise.div)(jax.numpy.array(complex(x)), jax.numpy.array(complex(c, d))))
    c, d = (np.copysign(float(np.isinf(part)), part) for part in (c, d))
    same(got, complex(0 * (x * c), 0 * (0 * c - x * d)))


LIMITS = np.array([-np.inf, -2.5, -0.0, 0.0, 0.7, np.inf, np.nan])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sinh", "cosh", "sin", "cos", "logistic"])
def test_infinite_and_nan_parts_under_jit(name, dtype):
    z = np.empty(LIMITS.size**2, dtype)
    z.real, z.imag = np.repeat(LIMITS, LIMITS.size), np.tile(LIMITS, LIMITS.size)
    primitive = getattr(elementwise, f"{name}_p")
    with np.errstate(all="ignore"):
        want = primitive.kernel[z.dtype](z)
    with jax.enable_x64(True):
        got = np.asarray(jax.jit(primitive.bind)(z))
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(got, part), getattr(want, part), rtol=8 * np.finfo(dtype).eps, atol=1e-7)


LAWS = [  # the array API standard's, where parts mix an infinity with another or with NaN
    ("exp", complex(-INF, INF), complex(0, 0)), ("exp", complex(INF, NAN), complex(INF, NAN)),
    ("cosh", complex(0, INF), complex(NAN, 0)), ("cosh", complex(INF, INF), complex(INF, NAN)),
    ("sinh", complex(0, NAN), complex(0, NAN)), ("sinh", complex(INF, NAN), complex(INF, NAN)),
    ("log", complex(NAN, INF), complex(INF, NAN)), ("log", complex(-INF, NAN), complex(INF, NAN)),
]  # fmt: skip


@pytest.mark.parametrize("name, x, want", LAWS)
def test_limits_are_the_standards(name, x, want):
    with np.errstate(all="ignore"):
        got = complex(getattr(elementwise, f"{name}_p").kernel[np.dtype(np.complex128)](np.array(x)))
    np.testing.assert_array_equal([got.real, got.imag], [want.real, want.imag])


@pytest.mark.parametrize("f", [elementwise.square, jax.jit(elementwise.square)])
@pytest.mark.parametrize("repeats", [1, 300])
def test_real_parts_of_squares_lose_no_digits(f, repeats):
    z = np.array([9e7 + 9e7j, -1 + 1j, 1.2345678 + 1.2345677j, 3e38 + 3e38j, 3e30 + 1e30j], np.complex64)
    exact = z.real.astype(float) ** 2 - z.imag.astype(float) ** 2
    with np.errstate(over="ignore"):
        want = exact.astype(np.float32)
    got = np.asarray(f(np.tile(z, repeats))).real[-5:]
    np.testing.assert_allclose(got, want, rtol=3e-7)
    assert not np.signbit(got).any()
