"""Functions made of gamma functions: values and slopes against SciPy, in double precision."""

import numpy as np
import pytest
import scipy.special as theirs

import onax as jax
import onax.scipy.special as ours
from special_functions import A, B, X, Z, assert_close, double_precision, scipy_tests, without_branch_cut  # noqa: F401

#  name: (arguments, SciPy's function, absolute error)
REAL = {
    "loggamma": ((X,), without_branch_cut(theirs.loggamma), 1e-14),
    "boxcox": ((X, 0.5), theirs.boxcox, 1e-14),
    "boxcox1p": ((X, -1.5), theirs.boxcox1p, 1e-14),
    "poch": ((A - 2, B - 1), theirs.poch, 0),
    "comb": ((np.arange(-1, 9)[:, None], np.arange(-1, 5)), theirs.comb, 0),
}
SLOPES = {  # name -> arguments, all differentiated
    "loggamma": (2.2,),
    "boxcox": (1.4, 0.3),
    "poch": (2.5, 1.5),
}

TestScipy = scipy_tests(REAL, SLOPES)


def test_poles_of_pochhammers_symbol():
    z, m = np.meshgrid(np.arange(-4.0, 5), np.arange(-2.0, 4))
    got, want = np.asarray(ours.poch(z, m)), theirs.poch(z, m)
    np.testing.assert_allclose(got, want, 1e-12)


def test_complex_arguments():
    assert_close(ours.loggamma(Z), theirs.loggamma(Z), 1e-12)


def test_numbers_of_bernoulli_and_binomial_coefficients():
    assert_close(ours.bernoulli(12), theirs.bernoulli(12), 0)
    assert_close(ours.comb(5, 2, repetition=True), 15.0, 0)
    with pytest.raises(ValueError):
        ours.bernoulli(-1)


def test_log_beta_of_large_numbers():
    """log(gamma) of large numbers cancels: the difference is taken by Stirling's formula."""
    a, b = np.geomspace(1e-3, 1e30, 40), np.array([[0.3], [1.0], [7.0], [50.0]])
    want = np.where(a > 1e10, theirs.loggamma(b) - b * np.log(a), theirs.betaln(a, b))
    np.testing.assert_allclose(ours.betaln(a, b), want, rtol=1e-8, atol=1e-10)
    slope = jax.vmap(jax.grad(ours.betaln), (0, None))(a, 1.0)
    np.testing.assert_allclose(slope, -1 / a, rtol=1e-5, atol=1e-12)
