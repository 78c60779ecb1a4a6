"""Covariances and correlations, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3, 8)), RNG.normal(size=(2, 8))
F, W = np.array([1, 0, 2, 1, 1, 3, 1, 1]), RNG.random(8)
CALLS = [
    call("cov", X), call("cov", X, Y), call("cov", X.T, rowvar=False), call("cov", X, bias=True),
    call("cov", X, ddof=0), call("cov", X[0]), call("cov", X[0], Y[1]),
    call(lambda xp, x, f: xp.cov(x, fweights=f), X, F), call(lambda xp, x, w: xp.cov(x, aweights=w), X, W),
    call(lambda xp, x, f, w: xp.cov(x, fweights=f, aweights=w, ddof=0), X, F, W),
    call(lambda xp, x, f, w: xp.cov(x, fweights=f, aweights=w, ddof=2), X + 1j * X[::-1], F, W),
    call("cov", X + 1j * X[::-1]), call("corrcoef", X), call("corrcoef", X, Y), call("corrcoef", X.T, rowvar=False),
    call("corrcoef", X + 1j * X[::-1]), call("corrcoef", X[0]),
    call("cov", np.arange(6).reshape(2, 3)), call("cov", X[:1].T, rowvar=False), call("cov", X[:, :0]),
    call(lambda xp, x, w: xp.cov(x, aweights=w), X, W > 0.5), call("cov", X[:0]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_precision_and_slopes():
    assert (
        jnp.cov(jnp.ones((2, 3), jnp.bfloat16)).dtype == jnp.bfloat16
        and jnp.cov(X, dtype=np.float16).dtype == np.float16
    )
    half = jnp.asarray(X, jnp.float16)
    assert jnp.cov(half, fweights=F).dtype == np.float16 and jnp.cov(half, aweights=np.float32(W)).dtype == np.float32
    assert jnp.cov(X, aweights=-W).tolist() == jnp.cov(X, aweights=W).tolist()
    slope = jax.jit(jax.grad(lambda x: jnp.cov(x)))(X[0])
    np.testing.assert_allclose(slope, 2 * (X[0] - X[0].mean()) / 7, rtol=1e-4, atol=1e-6)


REFUSED = [
    (lambda: jnp.cov(X[None]), ValueError, "dim"),
    (lambda: jnp.cov(X, fweights=F[:3]), RuntimeError, "incompatible"),
    (lambda: jnp.cov(X, fweights=W), TypeError, "integer"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
