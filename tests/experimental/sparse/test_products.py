"""Products on buffers."""

import numpy as np

import onax.numpy as jnp
from onax.experimental.sparse import _products


def test_sums_over_no_axis_are_outer_products():
    data, indices, dense = jnp.array([2.0, 3.0]), jnp.array([[0], [2]]), np.arange(2.0)
    outer = _products.contract_dense(data, indices, (3,), (), dense, ())
    np.testing.assert_array_equal(outer, np.outer([2, 0, 3], dense))


def test_pairs_that_differ_are_zero():
    x, i = jnp.array([2.0, 3.0]), jnp.array([[0], [2]])
    data, indices = _products.contract_sparse(
        x, i, x, i, x_shape=(3,), x_contracting=(0,), y_shape=(3,), y_contracting=(0,)
    )
    assert data.tolist() == [4, 0, 0, 9] and indices.shape == (4, 0)


def test_elements_out_of_bounds_are_no_factors():
    x, i, j = jnp.array([2.0, 3.0]), jnp.array([[1], [3]]), jnp.array([[3], [1]])
    data, indices = _products.multiply_elements(x, i, x, j, x_shape=(3,), y_shape=(3,))
    assert data.tolist() == [6, 0, 0, 0] and indices[:, 0].tolist() == [1, 3, 3, 3]
    wide, where = _products.multiply_elements(x, i, x, i, x_shape=(3,), y_shape=(1,))
    assert wide.tolist() == [0, 0, 0, 0] and (where >= 3).all()
