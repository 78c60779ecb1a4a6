"""Complex numbers under jit: functions on and off their branch cuts, special values, gradients, calls, indexing."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._ground.config import enable_x64
from tolerance import assert_ulps

RNG = np.random.default_rng(0)
Z = (RNG.uniform(0.3, 1.5, (3, 4)) + 1j * RNG.uniform(0.2, 1.2, (3, 4))).astype(np.complex64)
W = (RNG.uniform(0.3, 1.5, (3, 4)) - 1j * RNG.uniform(0.2, 1.2, (3, 4))).astype(np.complex64)
X = RNG.uniform(0.5, 1.5, (3, 4)).astype(np.float32)

UNARY = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log1p logistic sqrt rsqrt square "
    "sign abs conj real imag"
).split()


def plane(dtype, scale):
    """Points of all quadrants and of both axes, with zeros of both signs."""
    line = np.array([-2.5, -1.0, -0.3, -0.0, 0.0, 0.3, 1.0, 2.5]) * scale
    out = np.empty((8, 8), dtype)
    out.real, out.imag = line[:, None], line
    return out


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", UNARY)
def test_functions_over_the_plane(name, dtype):
    fun = getattr(lax, name)
    for scale in (1.0, 1e-6, 7.0):
        z = plane(dtype, scale)
        with enable_x64(True):
            got, want = onax.jit(fun)(z), fun(jnp.asarray(z))
        # a pole or a branch point may lie on the grid
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
        finite = np.isfinite(want)
        assert_ulps(np.asarray(got)[finite], np.asarray(want)[finite], 16, f"{name} at {scale}")


# What real JAX 0.10.2 gives on the CPU.
CUTS = [
    ("sqrt", complex(-4, 0.0), 2j), ("sqrt", complex(-4, -0.0), 2j), ("sqrt", complex(-4, -1e-30), -2j),
    ("log", complex(-1, 0.0), 1j * np.pi), ("log", complex(-1, -0.0), -1j * np.pi),
    ("rsqrt", complex(-4, 0.0), -0.5j), ("rsqrt", complex(-4, -0.0), 0.5j),
    ("asin", complex(2, 0.0), np.pi / 2 + 1.3169578969248166j),
    ("asin", complex(2, -0.0), np.pi / 2 + 1.3169578969248166j),
    ("acosh", complex(-2, -0.0), 1.3169578969248166 + 1j * np.pi),
    ("atanh", complex(2, 0.0), 0.5493061443340549 + 0.5j * np.pi),
    ("atanh", complex(2, -0.0), 0.5493061443340549 - 0.5j * np.pi),
]  # fmt: skip


@pytest.mark.parametrize("name, z, want", CUTS, ids=str)
def test_branch_cuts(name, z, want):
    z = np.full(2, z, np.complex64)
    fun = getattr(lax, name)
    np.testing.assert_allclose(onax.jit(fun)(z), want, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fun(jnp.asarray(z)), want, rtol=1e-6, atol=1e-7)


INF, NAN = np.inf, np.nan
SPECIAL = [
    (lax.div, (1, 0), (0, 0), (INF, NAN)), (lax.div, (1, 1), (0, 0), (INF, INF)),
    (lax.div, (1, 1), (-0.0, 0), (-INF, -INF)), (lax.div, (1, 2), (INF, 0), (0, 0)),
    (lax.div, (INF, 1), (-2, 0), (-INF, NAN)), (lax.div, (INF, NAN), (1, 1), (INF, -INF)),
    (lax.div, (3e38, 3e38), (3e38, 3e38), (1, 0)), (lax.div, (1e-30, 1e-30), (1e-30, 0), (1, 1)),
    (lax.pow, (0, 0), (0, 0), (1, 0)), (lax.pow, (0, 0), (2, 0), (0, 0)), (lax.pow, (0, 0), (1, 1), (NAN, NAN)),
    (lax.pow, (1, 0), (INF, 3), (1, 0)),
    (lax.max, (1, 2), (1, 3), (1, 3)), (lax.min, (1, 2), (0, 9), (0, 9)), (lax.max, (0, 0), (-1, NAN), (0, 0)),
]  # fmt: skip


@pytest.mark.parametrize("fun, z, w, want", SPECIAL, ids=lambda v: getattr(v, "__name__", str(v)))
def test_special_values(fun, z, w, want):
    z, w = (np.full(2, complex(*v), np.complex64) for v in (z, w))
    for got in (onax.jit(fun)(z, w), fun(jnp.asarray(z), jnp.asarray(w))):
        got = np.asarray(got)
        np.testing.assert_allclose(got.real, np.full(2, want[0]), rtol=1e-6)
        np.testing.assert_allclose(got.imag, np.full(2, want[1]), rtol=1e-6)


UNARY_SPECIAL = [
    ("exp", (INF, 0), (INF, 0)), ("exp", (-INF, INF), (0, 0)), ("exp", (-INF, 1), (0, 0)),
    ("sin", (INF, 0), (NAN, 0)), ("cos", (0, INF), (INF, 0)), ("sinh", (0, INF), (0, NAN)),
    ("tanh", (INF, 1), (1, 0)), ("log", (0, 0), (-INF, 0)), ("log", (INF, NAN), (INF, NAN)),
    ("abs", (INF, NAN), (NAN, 0)), ("sqrt", (INF, 1), (INF, 0)), ("sqrt", (1, INF), (INF, INF)),
    ("rsqrt", (0, 0), (INF, NAN)), ("rsqrt", (0, INF), (0, 0)), ("sign", (0, 0), (0, 0)),
    ("logistic", (-272, 5), (0, 0)), ("logistic", (-INF, 1), (0, 0)), ("logistic", (272, 5), (1, 0)),
    ("asin", (INF, INF), (np.pi / 4, INF)), ("acos", (-INF, 1), (np.pi, -INF)), ("asinh", (1, INF), (INF, np.pi / 2)),
]  # fmt: skip


@pytest.mark.parametrize("name, z, want", UNARY_SPECIAL, ids=str)
def test_functions_of_special_values(name, z, want):
    z, fun = np.full(2, complex(*z), np.complex64), getattr(lax, name)
    for got in (onax.jit(fun)(z), fun(jnp.asarray(z))):
        got = np.asarray(got).astype(np.complex64)
        np.testing.assert_allclose(got.real, np.full(2, want[0]), rtol=1e-6, atol=1e-30)
        np.testing.assert_allclose(got.imag, np.full(2, want[1]), rtol=1e-6, atol=1e-30)


def test_sizes_and_logarithms_do_not_overflow():
    with enable_x64(True):
        for z in (np.complex64(3e38 + 3e38j), np.complex128(1.2e308 + 1.2e308j), np.complex128(1e-300 + 1e-300j)):
            z = np.full(2, z)
            for fun in (lax.abs, lax.log, lax.sqrt):
                with np.errstate(all="ignore"):
                    got, want = onax.jit(fun)(z), fun(jnp.asarray(z))
                np.testing.assert_allclose(got, want, rtol=1e-6 if z.dtype == np.complex64 else 1e-14)


FUNCTIONS = {
    "polynomial": lambda z, w: (1 + 2j) * z**3 - w / z + z**-2,
    "power": lambda z, w: z**w,
    "trigonometry": lambda z, w: jnp.sin(z) * jnp.tanh(w) + jnp.arctan(z),
    "logarithms": lambda z, w: jnp.log(z) + jnp.log1p(w) * jnp.sqrt(z),
    "product": lambda z, w: jnp.prod(z, 1) + jnp.sum(w, 1),
    "running": lambda z, w: jnp.cumsum(z, 1) * jnp.cumprod(w, 0),
    "matrices": lambda z, w: z @ w.T,
    "einsum": lambda z, w: jnp.einsum("ij,kj->ik", z, w),
    "moved": lambda z, w: jnp.concatenate([jnp.pad(z, 1), jnp.roll(jnp.pad(w, 1), 1)])[::-1].T,
    "indexed": lambda z, w: z[np.array([2, 0, 0])] * w.at[1].multiply(2j, unique_indices=True).at[0].add(z[1]),
    "chosen": lambda z, w: jnp.where(z.real > w.real, z, w) + lax.max(z, w),
    "called": lambda z, w: onax.jit(lambda u: u * w)(z) + onax.nn.silu(z),
    "constants": lambda z, w: z + jnp.full((4,), 1 + 2j) * np.array([1j, 2, 3, 4], np.complex64),
    "mapped": lambda z, w: onax.vmap(lambda u, v: u * jnp.exp(v))(z, w),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_holomorphic_gradients(name):
    fun = FUNCTIONS[name]
    z, w = jnp.asarray(Z), jnp.asarray(W)
    np.testing.assert_allclose(onax.jit(fun)(Z, W), fun(z, w), rtol=2e-5)
    gradient = onax.grad(lambda z, w: jnp.sum(fun(z, w)), (0, 1), holomorphic=True)
    for got, want in zip(onax.jit(gradient)(Z, W), gradient(z, w)):
        assert got.dtype == np.complex64
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_from_real_to_complex_to_real(name):
    fun = FUNCTIONS[name]
    gradient = onax.grad(lambda x: jnp.sum(jnp.abs(fun(lax.complex(x, x * x), lax.complex(x, -x))) ** 2))
    got, want = onax.jit(gradient)(X), gradient(jnp.asarray(X))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_elements_out_of_bounds():
    fun = lambda z: (z.at[np.array([1, 7])].get(mode="fill"), z.at[7].get(mode="fill", fill_value=1 + 2j))
    (a, b), (c, d) = onax.jit(fun)(Z[0]), fun(jnp.asarray(Z[0]))
    np.testing.assert_array_equal(a, c)
    assert np.isnan(a[1].real) and a[1].imag == 0 and b == d == 1 + 2j


def test_products_of_updates_that_may_meet_have_no_onnx_form():
    """The kernel runs in the compiled program; a file, which has none, is refused."""
    fun, i = lambda z, i: z.at[i].multiply(2j), np.array([0, 0])
    np.testing.assert_array_equal(onax.jit(fun)(Z, i), fun(jnp.asarray(Z), i))
    with pytest.raises(onax.errors.LoweringError, match="unique_indices=True"):
        onax.export.export(fun)(Z, i)


def test_division_by_real_constants():
    z = np.array([1 + 2j, complex(1, -INF), complex(INF, -INF), complex(INF, 2), complex(NAN, 1)], np.complex64)
    for fun in (lambda z: z / 3, lambda z: z / jnp.array([1, -2, 3, 4, 5], np.complex64)):
        np.testing.assert_array_almost_equal(onax.jit(fun)(z), fun(jnp.asarray(z)))


def test_bool_asks_the_real_part():
    z = np.array([0j, 1j, 1, complex(0, NAN), complex(NAN, 0)], np.complex64)
    fun = lambda z: lax.convert_element_type(z, bool)
    for got in (onax.jit(fun)(z), fun(jnp.asarray(z))):
        np.testing.assert_array_equal(got, [False, False, True, False, True])


def test_strong_and_weak_scalars():
    assert onax.jit(lambda z: z * 2j)(Z).dtype == np.complex64
    assert onax.jit(lambda x: x * 2j)(X).dtype == np.complex64
    np.testing.assert_array_equal(onax.jit(lambda: jnp.array([1j, 2]))(), np.array([1j, 2], np.complex64))
