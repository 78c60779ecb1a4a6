"""While a mesh is set, results lie whole on its devices, unless they are committed elsewhere."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.sharding import AxisType, NamedSharding, SingleDeviceSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices

CASES = [
    ("zeros", lambda: jnp.zeros(8), P(None)),
    ("full", lambda: jnp.full((4, 2), 2.0), P(None, None)),
    ("arange", lambda: jnp.arange(8), P(None)),
    ("array", lambda: jnp.array([1.0, 2.0]), P()),
    ("asarray", lambda: jnp.asarray(np.arange(4)), P()),
    ("eye", lambda: jnp.eye(3), P(None, None)),
    ("iota", lambda: lax.iota(np.int32, 4), P(None)),
    ("key", lambda: jax.random.key(0), P()),
    ("normal", lambda: jax.random.normal(jax.random.key(0), (4,)), P(None)),
    ("an operation", lambda: jnp.zeros(8) + 1, P(None)),
    ("a sum", lambda: jnp.zeros(8).sum(), P()),
    ("jit", lambda: jax.jit(lambda x: x * 2)(np.arange(4.0)), P(None)),
    ("a gradient", lambda: jax.grad(lambda x: (x**2).sum())(jnp.arange(3.0)), P(None)),
]


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


@pytest.mark.parametrize("name, make, spec", CASES)
def test_where_results_lie(name, make, spec):
    mesh = jax.make_mesh((4, 2), ("x", "y"))
    plain = make()
    assert isinstance(plain.sharding, SingleDeviceSharding)
    with jax.set_mesh(mesh):
        x = make()
    assert x.sharding == NamedSharding(mesh, spec) and x.committed
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        x, plain = jax.random.key_data(x), jax.random.key_data(plain)
    np.testing.assert_allclose(x, plain, rtol=1e-6)
    assert isinstance(make().sharding, SingleDeviceSharding)


@pytest.mark.parametrize("name, make, spec", CASES[:6])
def test_over_automatic_axes(name, make, spec):
    mesh = jax.make_mesh((4, 2), ("x", "y"), (AxisType.Auto, AxisType.Auto))
    with jax.set_mesh(mesh):
        assert make().sharding == NamedSharding(mesh, P())


def test_what_stays():
    with jax.set_mesh(jax.make_mesh((4, 2), ("x", "y"))):
        assert isinstance(jax.device_put(np.arange(4.0)).sharding, SingleDeviceSharding)
        there = jax.device_put(jnp.arange(4.0), jax.devices()[1])
        assert there.devices() == {jax.devices()[1]}
        assert jnp.zeros(3, device=jax.devices()[1]).devices() == {jax.devices()[1]}
        traced = jax.make_jaxpr(lambda: jnp.zeros(4) + 1)()
    assert str(traced.out_avals[0]) == "float32[4]"
    with jax.set_mesh(jax.make_mesh((1,), ("x",))):
        assert jnp.zeros(8).devices() == {jax.devices()[0]}


@pytest.mark.parametrize("axes", [(("a", "b"), (AxisType.Auto,) * 2), (("x", "y"), (AxisType.Explicit,) * 2)])
def test_axes_of_an_abstract_mesh(axes):
    mesh = jax.make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)
    names, types = axes
    with jax.set_mesh(mesh), jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((4, 2), names, types)):
        x = jnp.arange(8) + 1
    spec = P(None) if types[0] is AxisType.Explicit else P()
    assert x.sharding == NamedSharding(mesh.update(axis_names=names, axis_types=types), spec)


def test_types_have_the_mesh_in_context():
    mesh = jax.make_mesh((4, 2), ("x", "y"))
    with jax.set_mesh(mesh):
        assert jax.typeof(jnp.zeros(3)).sharding == NamedSharding(mesh.abstract_mesh, P(None))
        shape = jax.eval_shape(lambda x: x, jnp.zeros(3))
        assert shape.shape == (3,)


def test_shards_can_be_shown(capsys):
    def rotate(x):
        y = lax.ppermute(x, "x", [(0, 1), (1, 0)])
        print(y)
        return y

    with jax.set_mesh(jax.make_mesh((2,), ("x",))):
        out = jax.shard_map(rotate, in_specs=P("x"), out_specs=P("x"))(jnp.arange(4))
    assert out.tolist() == [2, 3, 0, 1] and "[2 3]" in capsys.readouterr().out


@pytest.mark.parametrize("place", [1, "mesh"])
def test_arguments_on_other_devices(place):
    other = jax.make_mesh((2,), ("x",), (AxisType.Auto,), devices=jax.devices()[:2])
    x = jax.device_put(np.arange(4.0), jax.devices()[1] if place == 1 else NamedSharding(other, P("x")))
    ids = "[1]" if place == 1 else "[0, 1]"
    text = (
        "Received incompatible devices for jitted computation. Got argument x of {} with shape float32[4] and with "
        f"device ids {ids} on platform CPU and jit's context mesh with device ids [0, 1, 2, 3, 4, 5, 6, 7] on platform"
    )

    def double(x):
        return x * 2

    with jax.set_mesh(jax.make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)):
        for run, name in ((jax.jit(double), double.__qualname__), (jnp.negative, "neg")):
            with pytest.raises(ValueError) as caught:
                run(x)
            assert str(caught.value).startswith(text.format(name))
    assert jax.jit(double)(x).devices() == x.devices()
