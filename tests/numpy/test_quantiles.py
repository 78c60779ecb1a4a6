"""Quantiles against NumPy: methods, axes, NaN, weights."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5))
N = np.where(RNG.random((4, 5)) < 0.3, np.nan, X)
Q = np.array([0.0, 0.2, 0.5, 1.0])
I = RNG.integers(-9, 9, (3, 4))
METHODS = ("linear", "lower", "higher", "midpoint", "nearest")
CALLS = [
    *[call("quantile", X, Q, axis=1, method=method) for method in METHODS],
    *[call("nanquantile", N, 0.3, axis=0, method=method) for method in METHODS],
    *[call(name, X, axis=axis, keepdims=keep) for name in ("median", "nanmedian")
      for axis in (None, 0, (0, 1)) for keep in (False, True)],
    call("median", N, axis=1), call("nanmedian", N, axis=1), call("quantile", N, Q, axis=0), call("median", I),
    call("quantile", I, 0.25, axis=0),
    call("percentile", X, np.array([10.0, 90.0]), axis=0), call("nanpercentile", N, 40, axis=1),
    call("percentile", X, 50),
    call("quantile", X, Q, axis=(1, 0)), call("quantile", X[:1, :1], 0.7),
    call("nanmedian", np.full((2, 3), np.nan), axis=1),
    call(lambda xp, x, w: xp.quantile(x, 0.4, axis=0, weights=w, method="inverted_cdf"), X, np.abs(X)),
    call("quantile", X, 0.4, axis=1, method="inverted_cdf"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_precision_and_slopes():
    assert jnp.quantile(jnp.ones(3, jnp.float16), 0.5).dtype == jnp.median(jnp.ones(3, jnp.float16)).dtype == np.float16
    x = jnp.array([3.0, 1.0, 2.0, 10.0])
    assert jax.jit(jax.grad(jnp.median))(x).tolist() == [0.5, 0, 0.5, 0]
    np.testing.assert_allclose(jax.grad(lambda q: jnp.quantile(x, q))(0.5), 3.0, rtol=1e-6)


REFUSED = [
    (lambda: jnp.quantile(X, 0.5, method="other"), ValueError, "method"),
    (lambda: jnp.quantile(X, X), ValueError, "rank <= 1"),
    (lambda: jnp.quantile(X * 1j, 0.5), (TypeError, ValueError), "complex"),
    (lambda: jnp.quantile([1.0], 0.5), TypeError, "requires ndarray"),
    (lambda: jnp.median(X, axis=2), ValueError, "out of bounds"),
    (lambda: jnp.percentile(X, 50, overwrite_input=True), ValueError, "overwrite"),
    (lambda: jnp.quantile(X, 0.5, weights=X), NotImplementedError, "inverted_cdf"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
