"""Where arrays say they are."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.meshes import Mesh, PartitionSpec
from onax._core.sharding import NamedSharding, SingleDeviceSharding
from onax._core.shards import Shard, first_device
from onax._native.array import make_array
from onax._native.array_sources import make_sharded
from onax._native.avals import ShapedArray
from virtual_devices import eight_devices, mesh


def test_an_array_on_one_device():
    x = make_array(np.arange(3, dtype=np.float32))
    device = first_device()
    assert x.device is device and x.devices() == {device}
    assert x.sharding == SingleDeviceSharding(device) and not x.committed
    (shard,) = x.addressable_shards
    assert isinstance(shard, Shard) and shard.data is x
    assert repr(shard) == (f"Shard(device={device!r}, index=(slice(None, None, None),), replica_id=0, data=[0. 1. 2.])")


def test_an_array_over_a_mesh():
    device = first_device()
    sharding = NamedSharding(Mesh([device], "i"), PartitionSpec("i"))
    whole = np.arange(4, dtype=np.float32)
    x = make_sharded(whole, [(device, whole)], sharding)
    assert x.sharding is sharding and x.device is sharding
    (shard,) = x.addressable_shards
    assert shard.data.tolist() == [0.0, 1.0, 2.0, 3.0] and shard.device is device


def test_avals_lie_nowhere_in_particular():
    sharding = ShapedArray((2, 3), np.float32).sharding
    assert sharding.spec == PartitionSpec(None, None) and sharding.mesh.axis_names == ()


def test_a_mesh_of_one_device_is_kept():
    """As in JAX: what was placed by a NamedSharding has one, and so have results."""
    device = first_device()
    mesh = Mesh([device], ("i",))
    split, whole = NamedSharding(mesh, PartitionSpec("i")), NamedSharding(mesh, PartitionSpec())
    x = jax.device_put(np.ones(4), split)
    assert x.sharding == split and x.committed and x.devices() == {device}
    assert (x + 1).sharding == jnp.sin(x).sharding == jax.jit(jnp.tanh)(x).sharding == split
    assert x.sum().sharding == x[0].sharding == whole
    assert jax.jit(jnp.sin, out_shardings=whole)(np.ones(4)).sharding == whole
    assert jax.grad(lambda v: jnp.sum(v * v))(x).sharding == split
    alone = SingleDeviceSharding(device)
    assert jax.device_put(x, device).sharding == jax.device_put(x, alone).sharding == alone
    assert (x + jax.device_put(np.ones(4), device)).sharding == split


def test_elements_of_split_arrays_lie_on_the_default_device():
    """As in JAX, which hands on what the host has."""
    with eight_devices():
        grid = mesh(x=4, y=2)
        x = jax.device_put(np.arange(16).reshape(8, 2), NamedSharding(grid, PartitionSpec("x")))
        rows = list(x)
        assert [row.tolist() for row in rows] == x.tolist() and rows[0].devices() == {first_device()}
        whole = jax.device_put(x, NamedSharding(grid, PartitionSpec()))
        assert len(next(iter(whole)).devices()) == 8


def test_bytes_on_all_devices():
    with eight_devices():
        grid = mesh(x=4, y=2)
        for spec, copies in ((PartitionSpec("x", "y"), 1), (PartitionSpec("x"), 2), (PartitionSpec(), 8)):
            x = jax.device_put(np.ones((8, 2), np.float32), NamedSharding(grid, spec))
            assert (x.nbytes, x.on_device_size_in_bytes()) == (64, 64 * copies)
        x.delete()
        for read in (lambda: x.addressable_shards, lambda: x.global_shards, lambda: x.on_device_size_in_bytes()):
            with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[8,2\]"):
                read()


def test_unreduced_arrays_are_the_sum_of_their_shards():
    with eight_devices():
        both = jax.make_mesh((2, 2), ("x", "y"))
        place = jax.NamedSharding(both, jax.P("x", unreduced={"y"}))
        shards = jax.device_put(np.arange(4.0), place).addressable_shards
        assert [list(shard.data) for shard in shards] == [[0, 1], [0, 0], [2, 3], [0, 0]]
