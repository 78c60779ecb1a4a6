"""Cosine transforms against SciPy."""

import numpy as np
import pytest
import scipy.fft as theirs

import onax as jax
import onax.scipy.fft as ours

X = np.random.default_rng(0).normal(size=(4, 5))


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("name", ["dct", "idct", "dctn", "idctn"])
def test_same_as_scipy(name, norm):
    with jax.enable_x64(True):
        got, want = getattr(ours, name)(X, norm=norm), getattr(theirs, name)(X, norm=norm)
        np.testing.assert_allclose(got, want, 0, 1e-12)
        if name in ("dct", "idct"):
            got, want = getattr(ours, name)(X, n=7, axis=0), getattr(theirs, name)(X, n=7, axis=0)
            np.testing.assert_allclose(got, want, 0, 1e-12)


def test_other_types_are_refused():
    with pytest.raises(NotImplementedError, match="type 2"):
        ours.dct(X, type=3)


def test_complex_numbers_and_one_size():
    x = X + 1j * X[:, ::-1]
    with jax.enable_x64(True):
        for name in ("dct", "idct", "dctn", "idctn"):
            np.testing.assert_allclose(getattr(ours, name)(x), getattr(theirs, name)(x), 0, 1e-12)
        np.testing.assert_allclose(ours.dctn(X, s=3), theirs.dctn(X, s=(3,), axes=(1,)), 0, 1e-12)
