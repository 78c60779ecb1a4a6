"""The base class of sparse arrays."""

import numpy as np
import pytest

import onax as jax
from onax.experimental import sparse


def test_what_all_have():
    m = sparse.eye(3)
    assert m.block_until_ready() is m and (m.size, m.ndim, len(m)) == (9, 2, 3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(m)
    seen = []
    jax.jit(lambda m: (seen.append(repr(m)), m.data)[1])(m)
    assert seen[0].endswith("[BCOO(float32[3, 3], nse=3)]")
    np.testing.assert_array_equal(np.ones(3) @ m, np.ones(3))


def test_parts_that_belong_to_no_array_are_printed_as_invalid():
    m = sparse.eye(3)
    m.indices = jax.numpy.array([])
    assert repr(m) == "BCOO(<invalid>)"
