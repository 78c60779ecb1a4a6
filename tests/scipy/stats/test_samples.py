"""Statistics of samples, against SciPy."""

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats

import onax as jax
import onax.scipy.stats as stats

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


def test_samples():
    x = RNG.integers(0, 5, (7, 4)).astype(float)
    for axis in (0, 1, None):
        got, want = stats.mode(x, axis), scipy.stats.mode(x, axis)
        close(got.mode, want.mode)
        close(got.count, want.count)
        for method in ("average", "min", "max", "dense", "ordinal"):
            close(stats.rankdata(x, method, axis=axis), scipy.stats.rankdata(x, method, axis=axis))
        close(stats.sem(x, axis), scipy.stats.sem(x, axis))
    x[2, 1] = np.nan
    close(stats.sem(x, nan_policy="omit"), scipy.stats.sem(x, nan_policy="omit"))
    assert np.isnan(stats.rankdata(x, axis=0))[:, 1].all()


def test_commonest_values_of_ties_and_dtypes():
    assert [float(v) for v in stats.mode(np.array([3, 1, 3, 1, 2]))] == [1, 2]
    assert stats.mode(np.int8([1, 1, 2])).mode.dtype == np.int8
    kept = stats.mode(np.ones((2, 3)), axis=1, keepdims=True)
    assert kept.mode.shape == kept.count.shape == (2, 1)
    assert jax.jit(lambda x: stats.mode(x).count)(np.array([1.0, 1, 2])) == 2


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: stats.rankdata(np.ones(3), method="best"), ValueError, "best"),
        (lambda: stats.mode(np.ones(3), nan_policy="omit"), (ValueError, NotImplementedError), "nan_policy|omit"),
        (lambda: stats.sem(np.ones(3), nan_policy="other"), ValueError, "nan_policy|other"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
