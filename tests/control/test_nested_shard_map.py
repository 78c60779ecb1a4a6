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


def test_inner_region_that_maps_over_an_axis_again():
    """Specs that name an axis of the outer region map over it anew, which JAX refuses; collectives are its own."""

    def total(y):
        return y * lax.psum(jnp.sum(y), "x")

    def outer(x):
        return jax.shard_map(total, in_specs=P("x"), out_specs=P("x"), check_vma=False)(x)

    def plain(z):
        blocks = [[block * block.sum() for block in jnp.split(row, 2, 1)] for row in jnp.split(z, 4, 0)]
        return jnp.concatenate([jnp.concatenate(row, 1) for row in blocks], 0)

    z = np.arange(128, dtype=np.float32).reshape(32, 4) / 99
    f = mapped(outer, P("x", "y"), P("x", "y"), check_vma=False)
    assert np.allclose(f(z), plain(z), rtol=1e-5) and np.allclose(jax.jit(f)(z), plain(z), rtol=1e-5)
    slopes = [jax.grad(lambda z, g=g: jnp.sin(g(z)).sum())(z) for g in (f, jax.jit(f), plain)]
    for slope in slopes[:2]:
        assert np.allclose(slope, slopes[2], rtol=1e-4, atol=1e-4)


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
