"""Products on buffers."""

import numpy as np

import onax.numpy as jnp
from onax.experimental.sparse import _products


def test_sums_over_no_axis_are_outer_products():
    data, indices, dense = jnp.array([2.0, 3.0]), jnp.array([[0], [2]]), np.arange(2.0)
    outer = _products.contract_dense(data, indices, (3,), (), dense, ())
    np.testing.assert_array_equal(outer, np.outer([2, 0, 3], dense))


def test_pairs_that_differ_are_padding():
    x, i = jnp.array([2.0, 3.0]), jnp.array([[0], [2]])
    data, indices = _products.contract_sparse(x, i, (3,), (0,), x, i, (3,), (0,))
    assert data.tolist() == [4, 0, 0, 9] and indices.shape == (4, 0)
    assert _products.largest_nse((2, 3), 10) == 6 and _products.largest_nse((), 3) == 1
