"""Exponential, trigonometric and dilogarithmic integrals: values and slopes against SciPy, in double precision."""

import numpy as np
import pytest
import scipy.special as theirs

import onax as jax
import onax.scipy.special as ours
from special_functions import X, Z, assert_close, double_precision, scipy_tests, without_branch_cut  # noqa: F401

#  name: (arguments, SciPy's function, absolute error)
REAL = {
    "expi": ((X,), theirs.expi, 1e-14),
    "exp1": ((X,), without_branch_cut(theirs.exp1), 0),
    "spence": ((X,), lambda x: np.where(np.isposinf(x), -np.inf, theirs.spence(x)), 1e-14),
    "fresnel": ((X,), theirs.fresnel, 1e-16),
}
SLOPES = {  # name -> arguments, all differentiated
    "expi": (1.3,),
    "spence": (0.7,),
}

TestScipy = scipy_tests(REAL, SLOPES)


def test_sine_and_cosine_integrals():
    si, ci = ours.sici(X)
    want = theirs.sici(np.abs(X))
    assert_close(si, np.sign(X) * want[0], 1e-15)
    assert_close(ci, np.where(np.isneginf(X), np.nan, want[1]), 1e-14)


def test_single_precision_does_not_underflow():
    with jax.enable_x64(False):
        x = np.array([0.3, 3.0, 30.0, 80.0], np.float32)
        np.testing.assert_allclose(ours.expi(x), theirs.expi(x), 1e-5)
        np.testing.assert_allclose(ours.expi(x.astype(np.float16)[:2]), theirs.expi(x[:2]), 2e-3)
        assert ours.expi(x.astype(np.float16)).dtype == np.float16


def test_orders():
    x = np.abs(X)
    for n in (0, 1, 2, 5, 20):
        assert_close(ours.expn(n, x), np.where(np.isnan(x), np.nan, theirs.expn(n, x)), 0)


def test_refusals():
    with pytest.raises(ValueError, match="does not support complex"):
        ours.expi(Z)
    with pytest.raises(NotImplementedError, match="complex"):
        ours.fresnel(Z)
    with pytest.raises(TypeError, match="not supported"):
        ours.spence(np.arange(3))
