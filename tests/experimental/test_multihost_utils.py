"""What several processes would exchange, in the one process that there is."""

import operator

import numpy as np
import pytest

import onax
from onax import numpy as jnp
from onax.experimental import multihost_utils
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices

TREE = {"a": jnp.arange(8.0), "b": (jnp.ones((8, 2)),)}


def same(found, wanted):
    for f, w in zip(onax.tree.leaves(found), onax.tree.leaves(wanted), strict=True):
        np.testing.assert_array_equal(f, w)


def test_the_only_process_has_everything():
    found = multihost_utils.broadcast_one_to_all(TREE)
    same(found, TREE)
    assert all(type(x) is np.ndarray for x in onax.tree.leaves(found))
    same(multihost_utils.process_allgather(TREE, tiled=True), TREE)
    same(multihost_utils.process_allgather(TREE), onax.tree.map(lambda x: x[None], TREE))
    with pytest.raises(ValueError, match="must be the source"):
        multihost_utils.broadcast_one_to_all(TREE, is_source=False)


def test_nothing_to_wait_for():
    assert multihost_utils.sync_global_devices("start") is None
    assert multihost_utils.assert_equal(TREE) is None
    assert multihost_utils.reached_preemption_sync_point(3) is False


def test_arrays_over_a_mesh_and_back():
    with eight_devices():
        mesh = onax.make_mesh((4, 2), ("x", "y"))
        specs = {"a": P("x"), "b": None}
        whole = multihost_utils.host_local_array_to_global_array(TREE, mesh, specs)
        same(whole, TREE)
        assert whole["a"].sharding == onax.NamedSharding(mesh, P("x"))
        assert len(whole["b"][0].devices()) == 8
        local = multihost_utils.global_array_to_host_local_array(whole, mesh, specs)
        same(local, TREE)
        assert all(map(operator.is_, onax.tree.leaves(local), onax.tree.leaves(whole)))  # one process holds them
