"""Polynomials, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 4, 4)) + 3 * np.eye(4)


@pytest.fixture(autouse=True)
def double_precision():
    """What NumPy and differences are computed in."""
    with jax.enable_x64(True):
        yield


def test_polynomials():
    x, y = np.arange(5.0), np.array([0.0, 1, 4, 9, 17])
    for got, want in zip(jnp.polyfit(x, y, 1, cov=True), np.polyfit(x, y, 1, cov=True)):
        np.testing.assert_allclose(got, want, 1e-8)
    np.testing.assert_allclose(jnp.roots(np.array([0.0, 0, 1, -3, 2, 0])), [0, 1, 2], atol=1e-12)
    np.testing.assert_allclose(jnp.poly(A[0]).real, np.poly(A[0]), 1e-9)
    for got, want in zip(jnp.polydiv(y[1:], x[1:3]), np.polydiv(y[1:], x[1:3])):
        np.testing.assert_allclose(got[-len(want) :], want, 1e-12)
    np.testing.assert_allclose(jnp.polyint(y, m=2, k=3), np.polyint(y, m=2, k=3))
    np.testing.assert_allclose(jnp.unwrap(y * 2), np.unwrap(y * 2), 1e-12)
    np.testing.assert_allclose(jnp.kaiser(7, 8.6), np.kaiser(7, 8.6), 1e-7)


P, Q = np.array([1.0, -3, 2, 0.5]), np.array([2.0, 1])
X = np.linspace(-1, 1, 7)
I = np.array([3, 0, -2])
CALLS = [
    call("polyadd", P, Q), call("polyadd", Q, I), call("polysub", P, Q), call("polysub", Q, P), call("polymul", P, Q),
    call("polyder", P), call("polyder", P, 2), call("polyder", P, 0), call("polyder", I, dtypes=False),
    call("polyint", P), call("polyint", P, 2), call(lambda xp, p: xp.polyint(p, 2, xp.asarray([1.0, 2.0])), P),
    call("polyval", P, X), call("polyval", I, np.array([[1, 2], [3, -4]])), call("polyval", P, 1j),
    call("polyval", P[:0], X),
    call("vander", X), call("vander", I, 2), call("vander", X, increasing=True), call("vander", X, 0),
    call("poly", X[:3]), call("poly", I), call("poly", np.array([1j, -1j]), dtypes=False),
    call("polyfit", X, X**2 + 1, 3),
    call("polyfit", X, np.stack([X, 1 - X], 1), 1), call(lambda xp, x, y, w: xp.polyfit(x, y, 1, w=w), X, X**3, X + 2),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_columns_of_coefficients():
    """Several polynomials side by side: the shorter ones broadcast, as the update of an array does."""
    x = jnp.array([[5, 7, 9], [8, 6, 4]])
    assert jnp.polyadd(jnp.array([[2, 3, 4]]), x).tolist() == [[5, 7, 9], [10, 9, 8]]
    assert jnp.polysub(x, jnp.array([2])).tolist() == [[5, 7, 9], [6, 4, 2]]
    with pytest.raises(ValueError, match="broadcast"):
        jnp.polyadd(x, jnp.array([1, 3, 5]))


def test_quotients_put_together():
    for u, v in ((P, Q), (P * 1j, Q), (Q, P)):
        quotient, rest = jnp.polydiv(u, v)
        together = np.polyadd(np.polymul(quotient, v), rest)
        np.testing.assert_allclose(together[len(together) - len(u) :], u, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("p", [P, I, Q * 1j, np.array([0.0, 0, 1, -3, 2]), np.zeros(3), np.ones(1)])
def test_roots(p):
    np.testing.assert_allclose(np.sort_complex(jnp.roots(p)), np.sort_complex(np.roots(p).astype(complex)), atol=1e-12)
    if p[0]:
        found = jax.jit(lambda p: jnp.roots(p, strip_zeros=False))(p)
        np.testing.assert_allclose(np.polyval(p, found), np.zeros(len(p) - 1), atol=1e-10)


REFUSED = [
    (lambda: jnp.polyder(P, -1), ValueError, "positive|nonneg"),
    (lambda: jnp.polyint(P, -1), ValueError, "positive|nonneg"),
    (lambda: jnp.vander(P[None]), ValueError, "one-dimensional|dim"),
    (lambda: jnp.polyfit(X, X[:3], 1), TypeError, "same length"),
    (lambda: jnp.polyfit(X, X, -1), ValueError, ">= 0"),
    (lambda: jnp.polyadd([1.0], P), TypeError, "requires ndarray"),
    (lambda: jax.jit(jnp.roots)(P), jax.errors.ConcretizationTypeError, "roots"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
