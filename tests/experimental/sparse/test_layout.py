"""Parts and order of the elements of BCOO."""

import numpy as np

import onax.numpy as jnp
from onax.experimental import sparse
from onax.experimental.sparse import _layout


def test_batches_get_their_full_length():
    m = sparse.BCOO((jnp.ones((1, 2)), jnp.zeros((3, 2, 1), int)), shape=(3, 4))
    data, indices = _layout.broadcast_batch(m)
    assert data.shape == (3, 2) and indices.shape == (3, 2, 1)


def test_elements_out_of_bounds_are_zero():
    taken = _layout.extract(jnp.array([[1], [7]]), jnp.array([3.0, 4.0]))
    assert taken.tolist() == [4, 0]
    assert _layout.extract(jnp.zeros((1, 0), int), jnp.float32(2)).tolist() == [2]


def test_room_for_more_elements():
    m = sparse.BCOO((jnp.array([1.0, 2]), jnp.array([[1], [1]])), shape=(3,))
    wide = _layout.bcoo_sum_duplicates(m, 4)
    np.testing.assert_array_equal(wide.indices[:, 0], [1, 3, 3, 3])
    np.testing.assert_array_equal(wide.data, [3, 0, 0, 0])
    assert _layout.bcoo_sum_duplicates(m, 0).nse == 0
