"""A shard_map inside the body of another."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def mapped(f, i, o, **options):
    return jax.shard_map(f, mesh=mesh(x=4, y=2), in_specs=i, out_specs=o, **options)


def test_nested_shard_map():
    """The mesh is in context inside; an inner shard_map takes another of its axes."""

    def outer(x):
        return jax.shard_map(
            lambda y: lax.psum(y, "y") + lax.axis_index("x"), in_specs=P(None, "y"), out_specs=P(), axis_names={"y"}
        )(x)

    z = np.arange(32, dtype=np.float32).reshape(8, 4)
    f = mapped(outer, P("x"), P("x"), axis_names={"x"})
    want = z[:, :2] + z[:, 2:] + np.arange(4).repeat(2)[:, None]
    assert np.array_equal(f(z), want) and np.array_equal(jax.jit(f)(z), want)
