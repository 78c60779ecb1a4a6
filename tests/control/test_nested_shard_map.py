"""A shard_map inside the body of another."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def mapped(f, i, o, **options):
    return jax.shard_map(f, mesh=mesh(x=4, y=2), in_specs=i, out_specs=o, **options)


@pytest.mark.parametrize("inner", [
    {}, {"axis_names": {"y"}}, {"axis_names": {"x", "y"}}, {"mesh": "context"}, {"check_vma": False},
])  # fmt: skip
def test_inner_region_maps_over_the_axes_that_are_left(inner):
    """Axes of the outer region are not mapped again, by default or where they are named: gradients count them once."""
    seen = []

    def outer(x):
        here = jax.sharding.get_abstract_mesh()
        seen.append(here.manual_axes)
        options = {**inner, "mesh": here} if "mesh" in inner else inner
        square = lambda y: y * y + lax.axis_size("x")
        return jax.shard_map(square, in_specs=P(None, "y"), out_specs=P(None, "y"), **options)(x)

    z = np.arange(32, dtype=np.float32).reshape(8, 4)
    f = mapped(outer, P("x"), P("x"), axis_names={"x"})
    for g in (f, jax.jit(f)):
        assert np.array_equal(g(z), z * z + 4)
        assert np.array_equal(jax.grad(lambda z, g=g: g(z).sum())(z), 2 * z)
        assert np.array_equal(jax.jvp(g, (z,), (z,))[1], 2 * z * z)
    assert set(seen) == {("x",)} and jax.sharding.get_abstract_mesh().empty


def test_inner_region_whose_axes_are_all_mapped():
    def outer(x):
        return jax.shard_map(lambda y: y * y, in_specs=P(), out_specs=P())(x)

    z = np.arange(32, dtype=np.float32).reshape(8, 4)
    f = mapped(outer, P("x", "y"), P("x", "y"))
    assert np.array_equal(f(z), z * z) and np.array_equal(jax.grad(lambda z: f(z).sum())(z), 2 * z)
    named = mapped(
        lambda x: jax.shard_map(jnp.sin, in_specs=P("x"), out_specs=P("x"))(x), P("x"), P("x"), axis_names={"x"}
    )
    with pytest.raises(ValueError, match="must refer to an axis marked as manual"):
        named(z)


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
