"""Shapes of BCOO: what cannot be said without storing zeros."""

import numpy as np
import pytest

from onax.experimental import sparse
from onax.experimental.sparse import bcoo

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)


def test_new_axes():
    m = sparse.BCOO.fromdense(DENSE)
    np.testing.assert_array_equal(m[:, None].todense(), DENSE[:, None])
    np.testing.assert_array_equal(m[None, ..., None].todense(), DENSE[None, ..., None])
    wide = bcoo.bcoo_broadcast_in_dim(m, shape=(2, 3, 4), broadcast_dimensions=(1, 2))
    assert wide.n_batch == 1
    np.testing.assert_array_equal(wide.todense(), np.stack([DENSE, DENSE]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: bcoo.bcoo_broadcast_in_dim(m, shape=(3, 2, 4), broadcast_dimensions=(0, 2)), NotImplementedError,
         "lengths != 1"),
        (lambda m: bcoo.bcoo_broadcast_in_dim(m, shape=(3, 4), broadcast_dimensions=(0,)), ValueError, "same length"),
        (lambda m: bcoo.bcoo_slice(m, start_indices=(2, 0), limit_indices=(1, 4)), ValueError, "invalid indices"),
        (lambda m: bcoo.bcoo_dynamic_slice(m, (0, 0), (4, 4)), TypeError, "slice_sizes must be less"),
        (lambda m: bcoo.bcoo_concatenate([m, DENSE], dimension=0), ValueError, "sequence of BCOO"),
        (lambda m: bcoo.bcoo_concatenate([m, m.T], dimension=0), TypeError, "shapes differ"),
        (lambda m: bcoo.bcoo_transpose(m, permutation=(0, 0)), TypeError, "isn't a permutation"),
    ],
)  # fmt: skip
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(sparse.BCOO.fromdense(DENSE))
