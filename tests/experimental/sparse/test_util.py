"""Maps over batch axes of which some have length 1."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax.experimental.sparse import bcoo, bcsr, coo, csr, util


def test_axes_of_length_1_serve_all_examples():
    x, y = np.ones((1, 3, 2)), np.arange(12.0).reshape(2, 3, 2)
    product = util.nfold_vmap(jnp.vdot, 2)(x, y)
    np.testing.assert_array_equal(product, (x * y).sum(-1))
    np.testing.assert_array_equal(util.broadcasting_vmap(jnp.add, (0, None))(np.ones((1, 2)), 1.0), [[2, 2]])
    with pytest.raises(ValueError, match="mismatched input shapes"):
        util.nfold_vmap(jnp.add, 1)(np.ones(2), np.ones(3))


def test_types_for_annotations():
    for module in (util, bcoo, bcsr, coo, csr):
        assert module.Shape == tuple[int, ...]
    assert bcoo.DotDimensionNumbers is bcsr.DotDimensionNumbers is util.DotDimensionNumbers
