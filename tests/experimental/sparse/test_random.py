"""Random sparse arrays (bits are compared with JAX's in tests/golden)."""

import numpy as np
import pytest

import onax as jax
from onax.experimental import sparse


def test_numbers_and_order():
    m = sparse.random_bcoo(jax.random.key(3), (2, 6, 7), nse=0.25, n_batch=1, sorted_indices=True)
    assert m.nse == 11 and m.n_batch == 1 and m.indices_sorted
    for indices in np.asarray(m.indices):
        assert len(np.unique(indices, axis=0)) == 11
        np.testing.assert_array_equal(indices, indices[np.lexsort(indices.T[::-1])])
    normal = sparse.random_bcoo(jax.random.key(3), (5, 4), nse=3, generator=jax.random.normal, dtype="float16")
    assert normal.dtype == np.float16


def test_refusals():
    with pytest.raises(ValueError, match="Invalid n_batch=2"):
        sparse.random_bcoo(jax.random.key(0), (3,), n_batch=2)
    with pytest.raises(ValueError, match="not have enough range"):
        sparse.random_bcoo(jax.random.key(0), (300,), indices_dtype="int8")
