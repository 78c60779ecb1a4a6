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
        (lambda m: bcoo.bcoo_concatenate([m, m.T], dimension=0), TypeError, "shapes that differ in dimensions"),
        (lambda m: bcoo.bcoo_concatenate([m, m], dimension=2), TypeError, "dimension out of bounds"),
        (lambda m: bcoo.bcoo_concatenate([], dimension=0), ValueError, "non-empty"),
        (lambda m: bcoo.bcoo_concatenate([m, m.astype("int32")], dimension=0), TypeError, "same dtypes"),
        (lambda m: bcoo.bcoo_concatenate([m, m.update_layout(n_batch=1, on_inefficient=None)], dimension=0), ValueError,
         "matching batch dimensions"),
        (lambda m: bcoo.bcoo_transpose(m, permutation=(0, 0)), TypeError, "isn't a permutation"),
        (lambda m: bcoo.bcoo_transpose(m, permutation=(-1, 0)), TypeError, "isn't a permutation"),
        (lambda m: bcoo.bcoo_rev(m, (2,)), TypeError, "less than operand ndim"),
        (lambda m: bcoo.bcoo_rev(m, (0, 0)), TypeError, "must be unique"),
        (lambda m: bcoo.bcoo_squeeze(m, dimensions=(2,)), ValueError, "out of bounds"),
        (lambda m: bcoo.bcoo_slice(DENSE, start_indices=(0, 0), limit_indices=(1, 1)), TypeError, "should be BCOO"),
        (lambda m: bcoo.bcoo_slice(m, start_indices=(0,), limit_indices=(1,)), ValueError, "size mat.ndim=2"),
        (lambda m: bcoo.bcoo_slice(m, start_indices=(0, 0), limit_indices=(1, 1), strides=(0, 1)), ValueError,
         "positive integers"),
        (lambda m: bcoo.bcoo_dynamic_slice(m, (0,), (2, 2)), ValueError, "number of operand dimensions"),
        (lambda m: bcoo.bcoo_dynamic_slice(m, (0.0, 1.0), (2, 2)), TypeError, "integers of the same type"),
    ],
)  # fmt: skip
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(sparse.BCOO.fromdense(DENSE))


def test_nothing_is_known_about_the_indices_of_slices():
    m = bcoo.bcoo_fromdense(DENSE)
    assert m.indices_sorted and m.unique_indices
    for part in (m[0], m[:1, :2], m[:0], bcoo.bcoo_dynamic_slice(m, (0, 0), (1, 2)), bcoo.bcoo_dot_general(
        m, m, dimension_numbers=(((1,), (1,)), ((), ()))
    )):  # fmt: skip
        assert not part.indices_sorted and not part.unique_indices


def test_the_first_of_two_inefficient_layouts():
    with pytest.raises(sparse.SparseEfficiencyError, match="increasing n_dense from 0 to 1"):
        bcoo.bcoo_update_layout(bcoo.bcoo_fromdense(DENSE), n_batch=1, n_dense=1)


def test_layouts_that_differ_are_named():
    a, b = (bcoo.bcoo_fromdense(np.ones((2, 3, 4)), n_dense=n) for n in (1, 0))
    with pytest.raises(NotImplementedError, match=r"BCOOProperties\(n_batch=0, n_sparse=2, n_dense=1, nse=6\), BCOOPr"):
        bcoo.bcoo_multiply_sparse(a, b)
