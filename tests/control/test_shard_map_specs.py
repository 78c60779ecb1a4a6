"""The arguments of shard_map: specs that are None, meshes without devices, errors."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh

X = np.arange(8, dtype=np.float32)


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def mapped(f, i, o, **options):
    return jax.shard_map(f, mesh=mesh(x=4, y=2), in_specs=i, out_specs=o, **options)


def test_arguments_without_specs():
    """The function gets them as they are: objects of any type, Python numbers for shapes, traced values too."""
    seen = []

    def body(kind, n, v, scale):
        seen.append((kind, n))
        return v.reshape(n, -1) * scale

    f = mapped(body, (None, None, P("x"), None), P("x"))
    for call in (f, jax.jit(f, static_argnums=(0, 1))):
        assert np.array_equal(call("text", 1, X, 2.0), 2 * X.reshape(4, 2)) and seen[-1] == ("text", 1)
    slope = jax.grad(lambda scale: f(object, 1, X, scale).sum())(3.0)
    assert slope == X.sum() and seen[-1] == (object, 1)
    with pytest.raises(TypeError, match="not a valid JAX type"):
        mapped(body, (P(), None, P("x"), None), P("x"))("text", 1, X, 2.0)


def test_abstract_mesh_of_the_arguments():
    whole = mesh(x=4, y=2)
    f = jax.shard_map(lambda v: v * 2, mesh=whole.abstract_mesh, in_specs=P("x"), out_specs=P("x"))
    assert np.array_equal(f(jax.device_put(X, jax.NamedSharding(whole, P("x")))), 2 * X)
    with pytest.raises(ValueError, match="as input to `shard_map` when passing"):
        f(X)


def test_refusals():
    with pytest.raises(TypeError, match="shard_map requires a callable for its first argument, but got 3"):
        mapped(3, P("x"), P("x"))
    with pytest.raises(TypeError, match="shard_map in_specs argument must be a pytree of"):
        mapped(lambda v: v, (3,), P("x"))(X)


def test_types_over_some_axes():
    """Inside, the mesh of explicit types says which axes are mapped over, as the mesh in context does."""
    seen = []

    def body(v):
        here = jax.sharding.get_abstract_mesh()
        assert jax.typeof(v).sharding == jax.NamedSharding(here, P(None, "y")) and "memory_kind" not in repr(seen)
        seen.append(jax.typeof(v).sharding)
        return 2 * v

    explicit = jax.make_mesh((4, 2), ("x", "y"))
    x = jax.device_put(np.arange(16, dtype=np.float32).reshape(8, 2), jax.NamedSharding(explicit, P("x", "y")))
    f = jax.shard_map(body, mesh=explicit, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    for call in (f, jax.jit(f)):
        out = call(x)
        assert np.array_equal(out, 2 * x) and str(jax.typeof(out)) == "float32[8@x,2@y]"
    assert "axis_types=(Manual, Explicit)" in repr(seen[0])


def test_staging_over_a_mesh_without_devices():
    whole = mesh(x=4, y=2)
    f = jax.shard_map(lambda v: v * 2, mesh=whole.abstract_mesh, in_specs=P("x"), out_specs=P("x"))
    assert jax.eval_shape(f, X).shape == (8,) and jax.make_jaxpr(f)(X).eqns[0].primitive.name == "shard_map"
    x = jax.device_put(X, jax.NamedSharding(whole, P("y")))
    np.testing.assert_array_equal(jax.jit(f)(x), X * 2)
    assert jax.jit(f)(x).sharding == jax.NamedSharding(whole, P("x"))


def test_meshes_that_are_refused():
    f = lambda **options: jax.shard_map(lambda v: v, in_specs=P("x"), out_specs=P("x"), **options)(X)
    with pytest.raises(TypeError, match="AbstractMesh` instance for its second argument, but got 3 of type"):
        f(mesh=3)
    with pytest.raises(ValueError, match=r"axis_names=frozenset\({'z'}\) to be a subset of mesh.axis_names="):
        f(mesh=mesh(x=4, y=2), axis_names={"z"})
    with jax.set_mesh(mesh(z=8)):
        with pytest.raises(ValueError, match=r"The context mesh AbstractMesh.* should match the mesh passed to"):
            f(mesh=mesh(x=4, y=2))
        assert jax.pmap(lambda v: v)(X).shape == (8,)
    with mesh(z=8):  # which is for specs alone
        assert f(mesh=mesh(x=4, y=2)).shape == (8,)


def test_partial_sums_are_refused_over_axes_that_are_not_explicit():
    over = mesh(x=4, y=2)
    for options, error in (({}, ValueError), ({"axis_names": {"x"}}, NotImplementedError)):
        for kind in ("unreduced", "reduced"):
            spec = P(**{kind: {"x"}})
            for name, specs in (("in_specs", (spec, P("x"))), ("out_specs", (P(), spec))):
                f = jax.shard_map(lambda v: v, mesh=over, in_specs=specs[0], out_specs=specs[1], **options)
                with pytest.raises(error, match=name):
                    f(X)


def test_an_axis_that_is_not_mapped_over_is_no_name():
    f = lambda **options: jax.shard_map(lambda v: jax.lax.pcast(v, "y", to="varying"), in_specs=P("x"), **options)(X)
    with pytest.raises(NameError, match="Found an unbound axis name: y"):
        f(mesh=mesh(x=4, y=2), out_specs=P("x"), axis_names={"x"})


FUNCTIONS = {
    "jit": lambda f: jax.jit(f),
    "jit within": lambda f: jax.jit(lambda v: jax.jit(f)(v) + 0),
    "scan": lambda f: jax.jit(lambda v: jax.lax.scan(lambda c, _: (f(c), None), v / 2, None, length=1)[0] * 2),
    "grad": lambda f: jax.jit(jax.grad(lambda v: jnp.sum(f(v * v)) / 2)),
    "ahead of time": lambda f: lambda v: jax.jit(f).lower(v).compile()(v),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_abstract_mesh_has_the_devices_of_the_arguments(name):
    devices = jax.devices()
    meshes = [jax.sharding.Mesh(np.array(part), ("x",)) for part in (devices[:2], devices[2:4], devices[:2][::-1])]
    double = jax.shard_map(lambda v: 2 * v, mesh=meshes[0].abstract_mesh, in_specs=P("x"), out_specs=P("x"))
    f = FUNCTIONS[name](double)
    for over in (*meshes, *meshes):
        out = f(jax.device_put(X, jax.NamedSharding(over, P("x"))))
        assert out.sharding == jax.NamedSharding(over, P("x"))
        np.testing.assert_array_equal(out, 2 * X)


def test_specs_of_numbers():
    with eight_devices():
        four = mesh(x=4)
        for f, options in (
            (lambda x: x, {"in_specs": P(None), "out_specs": P()}),
            (jnp.sum, {"in_specs": P(), "out_specs": P("x")}),
        ):
            with pytest.raises(
                ValueError, match=r"(?s)For scalar values \(rank 0\), consider using an .*_specs entry of"
            ):
                jax.shard_map(f, mesh=four, **options)(np.float32(1))
