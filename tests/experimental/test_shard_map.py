"""shard_map under its former name: the mesh is the second argument, and it warns."""

import numpy as np
import pytest

import onax as jax
from onax.experimental.shard_map import shard_map
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices


@pytest.mark.parametrize("check_rep", [True, False])
def test_means_the_same(check_rep):
    with eight_devices():
        mesh = jax.make_mesh((8,), ("x",))
        total = lambda x: jax.lax.psum(x.sum(), "x")
        with pytest.warns(DeprecationWarning, match=r"use onax\.shard_map"):
            old = shard_map(total, mesh, P("x"), P(), check_rep=check_rep)
        new = jax.shard_map(total, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=check_rep)
        x = np.arange(16.0, dtype=np.float32)
        assert float(old(x)) == float(new(x)) == 120
