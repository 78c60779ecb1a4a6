"""Hypergeometric series, Bessel functions, spherical harmonics: values and slopes against SciPy."""

import numpy as np
import pytest
import scipy.special as theirs

import onax as jax
import onax.scipy.special as ours
from special_functions import A, B, C, X, assert_close, double_precision, scipy_tests  # noqa: F401

#  name: (arguments, SciPy's function, absolute error)
REAL = {
    "hyp1f1": ((A, B, 3 * C - 6), theirs.hyp1f1, 0),
    "hyp2f1": ((A, B, C, 1 - A * B), theirs.hyp2f1, 0),
}
SLOPES = {  # name -> arguments, all differentiated
    "hyp1f1": (1.5, 2.5, -0.7),
    "hyp2f1": (1.5, 2.5, 3.3, -0.4),
}

TestScipy = scipy_tests(REAL, SLOPES)


def test_orders():
    z = np.array([0.0, 0.1, 2, 9, 20, -3, -0.5])
    assert_close(ours.bessel_jn(z, v=4, n_iter=60), np.stack([theirs.jv(v, z) for v in range(5)]), 1e-14)
    n = np.arange(12) // 2
    m, theta, phi = n - np.arange(12) % 7, np.linspace(-2, 3, 12), np.linspace(0, 6, 12)
    m = np.clip(m, -n, n)
    want = theirs.sph_harm_y(n, m, theta, phi)
    assert_close(ours.sph_harm_y(n, m, theta, phi), want, 1e-14)
    assert_close(jax.jit(lambda n: ours.sph_harm_y(n, m, theta, phi, n_max=6))(n), want, 1e-14)
    assert_close(
        ours.sph_harm_y(n + 3, m, theta, phi, n_max=5), ours.sph_harm_y(np.minimum(n + 3, 5), m, theta, phi), 0
    )


def test_refusals():
    with pytest.raises(NotImplementedError, match="diff_n"):
        ours.sph_harm_y(np.array([1]), np.array([1]), X[:1], X[:1], diff_n=1)
    with pytest.raises(ValueError, match="complex"):
        ours.hyp1f1(1.0, 2.0, 1j)


def test_associated_legendre_functions():
    z = np.array([0.1, 0.3, -0.7, 1.0], np.float32)
    with pytest.warns(DeprecationWarning, match="lpmn_values is deprecated"):
        values = ours.lpmn_values
    plain, scaled = values(3, 3, z, False), values(3, 3, z, True)
    assert plain.shape == (4, 4, 4) and plain.dtype == np.float32
    for degree in range(4):
        for order in range(4):
            want = theirs.assoc_legendre_p(degree, order, z.astype(float))[0]
            np.testing.assert_allclose(plain[order, degree], want, rtol=2e-6, atol=1e-6)
            want = theirs.sph_harm_y(degree, order, np.arccos(z.astype(float)), 0.0).real
            np.testing.assert_allclose(scaled[order, degree], want, rtol=2e-6, atol=1e-6)
    with pytest.warns(DeprecationWarning, match="lpmn is deprecated"):
        with_derivatives = ours.lpmn
    for n in (0, 1, 3, 6):
        plain, slopes = with_derivatives(n, n, z)
        assert slopes.shape == (n + 1, n + 1, 4) and slopes.dtype == np.float32
        np.testing.assert_array_equal(plain, values(n, n, z, False))
        for degree, order in np.ndindex(n + 1, n + 1):
            want = theirs.assoc_legendre_p(degree, order, z[:3].astype(float), diff_n=1)[1]
            np.testing.assert_allclose(slopes[order, degree, :3], want, rtol=2e-5, atol=1e-5)
        at_one = [d * (d + 1) / 2 for d in range(n + 1)]
        np.testing.assert_allclose(slopes[0, :, 3], at_one, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="m!=n"):
        values(1, 2, z, True)
    with pytest.raises(TypeError, match="is not supported"):
        values(1, 1, np.arange(3), True)
    with pytest.raises(ValueError, match="1D"):
        values(1, 1, np.float32(1), True)
