"""Special functions against SciPy, in double precision; their edges, dtypes and slopes."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import onax as jax
import onax.scipy.special

X = np.array([-2.5, -0.5, 0.3, 1.0, 2.7, 6.0])
SPECIAL = {
    "gamma": (X,), "gammasgn": (X,), "i0": (X,), "i1": (X,), "i0e": (X,), "i1e": (X,), "beta": (np.abs(X), 1.3),
    "betaln": (np.abs(X), 1.3), "factorial": (np.arange(5.0),), "polygamma": (2, np.abs(X)), "multigammaln": (3.3, 2),
    "gammainc": (1.2, np.abs(X)), "gammaincc": (1.2, np.abs(X)), "betainc": (1.2, 0.5, np.abs(X) / 10),
    "ndtri": (np.array([0.0, 1e-300, 1e-20, 1e-5, 0.01, 0.3, 0.5, 0.99, 1.0]),),
    "log_ndtr": (np.array([-40.0, -15, -3, 0, 4, 9]),),
}  # fmt: skip


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_special(name):
    want = getattr(scipy.special, name)(*SPECIAL[name])
    np.testing.assert_allclose(getattr(onax.scipy.special, name)(*SPECIAL[name]), want, 1e-8)


def test_log_ndtr_is_differentiable_far_out():
    slope = jax.grad(jax.scipy.special.log_ndtr)(-15.0)
    assert abs(slope - 15.0662) < 1e-3


U = np.array([0.0, 1e-9, 0.25, 0.5, 0.99, 1.0])
AGREEING = [
    ("logit", (U,), {}), ("expit", (X,), {}), ("xlogy", (U, X + 3), {}), ("xlog1py", (U, X + 3), {}),
    ("entr", (X,), {}),
    ("rel_entr", (U, U[::-1]), {}), ("kl_div", (U, U[::-1]), {}), ("ndtr", (X,), {}), ("ndtri", (U,), {}),
    ("log_ndtr", (X,), {}),
    ("softmax", (X,), {}), ("log_softmax", (X,), {}), ("erf", (X,), {}), ("erfc", (X,), {}), ("erfinv", (U,), {}),
    ("digamma", (X,), {}), ("gammaln", (X,), {}), ("gammainc", (np.abs(X), 1.5), {}), ("zeta", (2.5, np.abs(X)), {}),
    ("logsumexp", (X,), {}), ("factorial", (np.array([0, 1, 5, -1]),), {}), ("beta", (1.5, np.abs(X)), {}),
    ("betainc", (1.5, 2.5, U), {}), ("i0e", (X,), {}), ("i1", (X,), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "options"), AGREEING)
def test_as_in_scipy_eagerly_and_compiled(name, args, options):
    ours, theirs = getattr(onax.scipy.special, name), getattr(scipy.special, name)
    for run in (ours, jax.jit(ours)):
        np.testing.assert_allclose(run(*args, **options), theirs(*args, **options), 1e-9, 1e-12)
    with jax.enable_x64(False):
        half = ours(*(np.asarray(a, np.float32) for a in args), **options)
        assert half.dtype == np.float32


SLOPES = {  # function, where, the derivative there
    "logit": (onax.scipy.special.logit, 0.25, 16 / 3),
    "xlogy": (lambda y: onax.scipy.special.xlogy(0.0, y), 0.5, 0.0),
    "entr": (onax.scipy.special.entr, 1.0, -1.0),
    "ndtr": (onax.scipy.special.ndtr, 0.0, 1 / np.sqrt(2 * np.pi)),
    "ndtri": (onax.scipy.special.ndtri, 0.5, np.sqrt(2 * np.pi)),
    "rel_entr": (lambda q: onax.scipy.special.rel_entr(0.5, q), 0.25, -2.0),
    "gamma": (onax.scipy.special.gamma, 1.0, -np.euler_gamma),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes(name):
    function, at, want = SLOPES[name]
    np.testing.assert_allclose(jax.jit(jax.grad(function))(at), want, 1e-9, 1e-12)


TAILS = {1e-30: 8.65805e28, 1e-10: 1.5357243e09, 0.0: 0.0, 0.01: 37.52043, 0.99: 37.52043, 1.0: 0.0}


@pytest.mark.parametrize("p", TAILS)
def test_slopes_of_ndtri_are_finite_in_float32(p):
    slope = jax.grad(onax.scipy.special.ndtri)
    with jax.enable_x64(False):
        np.testing.assert_allclose([slope(p), jax.jit(slope)(p)], TAILS[p], 1e-5)
        if 0 < p < 1:
            with jax.debug_nans(True):
                slope(p)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: onax.scipy.special.factorial(3, exact=True), NotImplementedError, "exact"),
        (lambda: onax.scipy.special.ndtr(np.float16(1)), TypeError, "float16|dtype"),
        (lambda: onax.scipy.special.ndtri(np.int32(0)), TypeError, "dtype"),
        (lambda: onax.scipy.special.polygamma(1, [1.0]), TypeError, "requires ndarray"),
        (lambda: onax.scipy.special.log_ndtr(1.0, series_order=-1), ValueError, "series_order"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
