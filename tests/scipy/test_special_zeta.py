"""Hurwitz' zeta function against SciPy."""

import numpy as np
import pytest
import scipy.special

import onax as jax
from agreement import assert_agrees
from onax.scipy import special


@pytest.mark.parametrize("x", [1.5, 2.0, 7.25, 30.0])
def test_as_in_scipy(x):
    q = np.array([0.25, 1.0, 3.5, 40.0])
    assert_agrees(lambda q: special.zeta(x, q), lambda q: scipy.special.zeta(x, q), q)


def test_edges():
    assert float(special.zeta(1.0, 2.0)) == np.inf and np.isnan(special.zeta(0.5, 1.0))
    with jax.enable_x64(True):
        slope = jax.grad(lambda q: special.zeta(3.0, q))(1.5)
        np.testing.assert_allclose(slope, -3 * scipy.special.zeta(4.0, 1.5), rtol=1e-10)


def test_riemanns_function_is_refused():
    with pytest.raises(NotImplementedError):
        special.zeta(2.0)
