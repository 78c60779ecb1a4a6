"""Parts and order of the elements of BCOO."""

import numpy as np
import pytest

import onax as jax
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


@pytest.mark.parametrize("layout", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_no_ranks_are_promoted(layout):
    n_batch, n_dense = layout
    dense = np.where(np.random.RandomState(0).rand(3, 4, 5) > 0.5, 1.0, 0.0).astype(np.float32)
    with jax.numpy_rank_promotion("raise"):
        m = sparse.BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
        results = {
            "sum_duplicates": (m.sum_duplicates(), dense),
            "slice": (sparse.bcoo_slice(m, start_indices=(0, 1, 0), limit_indices=(3, 3, 4)), dense[:, 1:3, :4]),
            "dynamic_slice": (sparse.bcoo_dynamic_slice(m, (0, 1, 0), (3, 2, 4)), dense[:, 1:3, :4]),
            "index": (m[0], dense[0]),
            "new axis": (m[None], dense[None]),
            "concatenate": (sparse.bcoo_concatenate([m, m], dimension=0), np.concatenate([dense, dense])),
            "reduce_sum": (sparse.bcoo_reduce_sum(m, axes=(0,)), dense.sum(0)),
            "multiply": (m * m, dense),
            "reverse": (sparse.bcoo_rev(m, dimensions=(1,)), dense[:, ::-1]),
            "reshape": (sparse.bcoo_reshape(m, new_sizes=(3, 2, 2, 5)), dense.reshape(3, 2, 2, 5)),
        }
    for name, (actual, expected) in results.items():
        np.testing.assert_array_equal(actual.todense(), expected, err_msg=name)
