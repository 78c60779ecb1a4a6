"""Special functions against SciPy, in double precision: values, at the edges too; slopes against differences."""

import numpy as np
import pytest
import scipy.special as theirs

import onax as jax
import onax.scipy.special as ours

X = np.concatenate([np.linspace(-9, 9, 73), [20.0, 35.5, 45.0, 0.0, np.inf, -np.inf, np.nan, 1e-5]])
RNG = np.random.default_rng(0)
A, B, C = RNG.uniform(0.2, 4, (3, 60))
Z = RNG.normal(size=60) * 3 + 1j * RNG.normal(size=60) * 3
NONNEGATIVE = lambda f: lambda x: np.where(x < 0, np.nan, f(np.abs(x)))  # JAX has no branch cut there

#  name: (arguments, SciPy's function, absolute error)
REAL = {
    "expi": ((X,), theirs.expi, 1e-14), "exp1": ((X,), NONNEGATIVE(theirs.exp1), 0), "spence": ((X,), None, 1e-14),
    "fresnel": ((X,), theirs.fresnel, 1e-16), "dawsn": ((X,), theirs.dawsn, 0), "erfcx": ((X,), theirs.erfcx, 0),
    "loggamma": ((X,), NONNEGATIVE(theirs.loggamma), 1e-14), "boxcox": ((X, 0.5), theirs.boxcox, 1e-14),
    "boxcox1p": ((X, -1.5), theirs.boxcox1p, 1e-14), "owens_t": ((A - 2, 2 * B - 4), theirs.owens_t, 1e-15),
    "poch": ((A - 2, B - 1), theirs.poch, 0), "hyp1f1": ((A, B, 3 * C - 6), theirs.hyp1f1, 0),
    "hyp2f1": ((A, B, C, 1 - A * B), theirs.hyp2f1, 0), "wofz": ((Z,), theirs.wofz, 0),
    "comb": ((np.arange(-1, 9)[:, None], np.arange(-1, 5)), theirs.comb, 0),
}  # fmt: skip


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def assert_close(got, want, atol):
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, np.real(w) if np.isrealobj(np.asarray(g)) else w, 5e-13, atol)


@pytest.mark.parametrize("name", REAL)
def test_same_as_scipy(name):
    args, scipys, atol = REAL[name]
    want = (scipys or getattr(theirs, name))(*args)
    if name == "spence":
        want = np.where(np.isposinf(args[0]), -np.inf, want)
    mine = getattr(ours, name)
    assert_close(mine(*args), want, atol)
    assert_close(jax.jit(mine)(*args), want, atol)


def test_sine_and_cosine_integrals():
    si, ci = ours.sici(X)
    want = theirs.sici(np.abs(X))
    assert_close(si, np.sign(X) * want[0], 1e-15)
    assert_close(ci, np.where(np.isneginf(X), np.nan, want[1]), 1e-14)


def test_orders():
    x = np.abs(X)
    for n in (0, 1, 2, 5, 20):
        assert_close(ours.expn(n, x), np.where(np.isnan(x), np.nan, theirs.expn(n, x)), 0)
    z = np.array([0.0, 0.1, 2, 9, 20, -3, -0.5])
    assert_close(ours.bessel_jn(z, v=4, n_iter=60), np.stack([theirs.jv(v, z) for v in range(5)]), 1e-14)
    n = np.arange(12) // 2
    m, theta, phi = n - np.arange(12) % 7, np.linspace(0.1, 3, 12), np.linspace(0, 6, 12)
    m = np.clip(m, -n, n)
    want = theirs.sph_harm_y(n, m, theta, phi)
    assert_close(ours.sph_harm_y(n, m, theta, phi), want, 1e-14)
    assert_close(jax.jit(lambda n: ours.sph_harm_y(n, m, theta, phi, n_max=6))(n), want, 1e-14)
    assert_close(ours.bernoulli(12), theirs.bernoulli(12), 0)


def test_complex_arguments():
    assert_close(ours.loggamma(Z), theirs.loggamma(Z), 1e-12)
    assert_close(ours.erfcx(Z), theirs.erfcx(Z), 0)


def test_poles_of_pochhammers_symbol():
    z, m = np.meshgrid(np.arange(-4.0, 5), np.arange(-2.0, 4))
    got, want = np.asarray(ours.poch(z, m)), theirs.poch(z, m)
    np.testing.assert_allclose(got, want, 1e-12)


SLOPES = {  # name -> arguments, all differentiated
    "expi": (1.3,), "spence": (0.7,), "dawsn": (0.8,), "erfcx": (0.4,), "owens_t": (0.7, -1.4), "poch": (2.5, 1.5),
    "hyp1f1": (1.5, 2.5, -0.7), "hyp2f1": (1.5, 2.5, 3.3, -0.4), "boxcox": (1.4, 0.3), "loggamma": (2.2,),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOPES)
def test_slopes(name):
    function, args = getattr(ours, name), SLOPES[name]
    got = jax.grad(function, tuple(range(len(args))))(*args)
    for i, g in enumerate(got):
        moved = [[x + (h if j == i else 0) for j, x in enumerate(args)] for h in (1e-6, -1e-6)]
        np.testing.assert_allclose(g, (function(*moved[0]) - function(*moved[1])) / 2e-6, 1e-7, 1e-8)


def test_single_precision_does_not_underflow():
    with jax.enable_x64(False):
        x = np.array([0.3, 3.0, 30.0, 80.0], np.float32)
        np.testing.assert_allclose(ours.expi(x), theirs.expi(x), 1e-5)
        np.testing.assert_allclose(ours.expi(x.astype(np.float16)[:2]), theirs.expi(x[:2]), 2e-3)
        assert ours.expi(x.astype(np.float16)).dtype == np.float16


def test_refusals():
    with pytest.raises(ValueError, match="does not support complex"):
        ours.expi(Z)
    with pytest.raises(NotImplementedError, match="complex"):
        ours.fresnel(Z)
    with pytest.raises(TypeError, match="not supported"):
        ours.spence(np.arange(3))
    with pytest.raises(NotImplementedError, match="diff_n"):
        ours.sph_harm_y(np.array([1]), np.array([1]), X[:1], X[:1], diff_n=1)
