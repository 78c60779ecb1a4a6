"""Kernels of incomplete functions: complements, derivatives against differences, each method of evaluation."""

import numpy as np
import pytest

from onax._prims.special_kernels import betainc, igamma, igamma_grad_a, igammac, random_gamma_grad

A = np.array([0.01, 0.5, 1.0, 3.0, 20.0, 300.0])
# Small x: the series; x > a + 1: the continued fraction; very large x: its leading term.
X = {"series": A * 0.4, "near a": A * 1.05, "fraction": A * 2 + 2}
STEP = 1e-5


@pytest.mark.parametrize("name", X)
def test_the_derivative_agrees_with_differences(name):
    x, h = X[name], STEP * A
    difference = (igamma(A + h, x) - igamma(A - h, x)) / (2 * h)
    np.testing.assert_allclose(igamma_grad_a(A, x), difference, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", X)
def test_a_number_moves_so_that_its_probability_stays(name):
    x = X[name]
    inside = (igamma(A, x) > 1e-3) & (igamma(A, x) < 1 - 1e-3)
    assert inside.any()
    a, x = A[inside], x[inside]
    h = STEP * a
    moved = igamma(a + h, x + h * random_gamma_grad(a, x))
    np.testing.assert_allclose(moved, igamma(a, x), atol=1e-8)


def test_far_out_the_derivative_vanishes():
    assert np.all(igamma_grad_a(np.array([1.0, 2.0]), np.array([1e4, 1e300])) == 0)


@pytest.mark.parametrize("function", [igamma_grad_a, random_gamma_grad])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes_and_broadcasting(function, dtype):
    out = function(A[:, None].astype(dtype), np.array([1.0, 2.0], dtype))
    assert out.dtype == dtype and out.shape == (6, 2)
    assert np.isnan(function(dtype(-1), dtype(1))) and np.isnan(function(dtype(np.nan), dtype(1)))


def test_complements():
    for x in X.values():
        np.testing.assert_allclose(igamma(A, x) + igammac(A, x), 1, rtol=1e-12)
        y = x / (1 + x)
        np.testing.assert_allclose(betainc(A, 2 * A, y) + betainc(2 * A, A, 1 - y), 1, rtol=1e-9)


@pytest.mark.parametrize(
    "a, b, x, want", [(0, 1, 0.5, 1), (1, 0, 0.5, 0), (1, 1, 0.25, 0.25), (1, 1, 1.5, np.nan), (-1, 1, 0.5, np.nan)]
)
def test_steps_and_edges_of_betainc(a, b, x, want):
    np.testing.assert_equal(float(betainc(*np.float32([a, b, x]))), want)
