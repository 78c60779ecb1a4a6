"""approx_max_k and approx_min_k: exact here; numbers of results, NaN, derivatives, errors."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._prims.sorting_approximate import _result_size

X = np.float32([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
def test_results_are_exact(way):
    values, indices = way(lambda x: lax.approx_max_k(x, 2))(X)
    np.testing.assert_array_equal(values, [[5, 4], [9, 6]])
    np.testing.assert_array_equal(indices, [[4, 2], [0, 2]])
    values, indices = way(lambda x: lax.approx_min_k(x, 2, reduction_dimension=0))(X)
    np.testing.assert_array_equal(values, np.sort(X, 0))
    assert indices.dtype == np.int32


def test_nan_comes_first_among_the_largest_and_last_among_the_smallest():
    x = np.float32([1, np.nan, np.inf, -np.inf])
    assert np.isnan(lax.approx_max_k(x, 1)[0][0]) and lax.approx_max_k(x, 2)[0][1] == np.inf
    values, indices = lax.approx_min_k(x, 4)
    assert values[0] == -np.inf and values[1] == 1 and set(indices[2:].tolist()) == {1, 2}
    np.testing.assert_array_equal(jax.jit(lambda x: lax.approx_min_k(x, 4)[1])(x)[:2], indices[:2])


@pytest.mark.parametrize("size, rank, k, recall, aggregate, override, wanted", [
    (5000, 1, 7, 0.95, True, -1, 7),  # aggregated: k
    (1000, 1, 7, 0.95, False, -1, 1000),  # no more than the lanes: all
    (5000, 1, 1, 0.95, False, -1, 1024),
    (500, 2, 1, 0.95, False, -1, 128),
    (5000, 1, 7, 1.0, False, -1, 5000),
    (100_000, 2, 10, 0.95, False, -1, 256),
    (100_000, 2, 10, 0.95, False, 400_000, 128),
])  # fmt: skip
def test_numbers_of_results(size, rank, k, recall, aggregate, override, wanted):
    assert _result_size(size, rank, k, recall, aggregate, override) == wanted


def test_the_derivative_goes_to_the_chosen_elements():
    g = jax.grad(lambda x: lax.approx_max_k(x, 2)[0].sum())(X)
    np.testing.assert_array_equal(g, [[0, 0, 1, 0, 1], [1, 0, 1, 0, 0]])


def test_batching():
    got = jax.vmap(lambda x: lax.approx_max_k(x, 1)[0], 1)(X)
    np.testing.assert_array_equal(got[:, 0], X.max(0))


@pytest.mark.parametrize("call, error, text", [
    (lambda: lax.approx_max_k(X, 0), ValueError, "k must be positive"),
    (lambda: lax.approx_max_k(X, 6), ValueError, "k must be smaller than the size of reduction_dim 5, got 6"),
    (lambda: lax.approx_max_k(X.astype(int), 2), ValueError, "operand must be a floating type"),
    (lambda: lax.approx_max_k(X, 2, reduction_input_size_override=3), ValueError, "should be greater equals to 5"),
    (lambda: lax.approx_max_k(X, 2.5), TypeError, "k"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
