"""Shardings that an artefact states: those of the function's jit, then those of its arguments, as in JAX 0.10.2."""

import numpy as np
import pytest

import onax
from onax.export import deserialize, export
from onax.sharding import Mesh, NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices

X = np.arange(8, dtype=np.float32)


@pytest.fixture(autouse=True)
def devices():
    with eight_devices(MODES[next(iter(MODES))]):
        yield


def mesh_of(*shape, reverse=False):
    found = onax.devices()[::-1] if reverse else onax.devices()
    return Mesh(np.array(found[: int(np.prod(shape))]).reshape(shape), ("a", "b")[: len(shape)])


STATED = {
    "arguments": (P("a"), None, X, P("a"), None),
    "results": (None, P("a"), X, None, P("a")),
    "both, over two axes": (P(("a", "b")), P(None, "b"), np.ones((8, 8), np.float32), P(("a", "b")), P(None, "b")),
    "nothing": (None, None, X, None, None),
}


@pytest.mark.parametrize("name", STATED)
def test_what_jit_states(name):
    given, results, x, arguments, wanted = STATED[name]
    mesh, other = mesh_of(4, 2), mesh_of(4, 2, reverse=True)
    place = lambda spec, mesh: None if spec is None else NamedSharding(mesh, spec)
    f = onax.jit(lambda x: x + x, in_shardings=place(given, mesh), out_shardings=place(results, mesh))
    exported = export(f)(x)
    for loaded in (exported, deserialize(exported.serialize())):
        for target in (mesh, other, mesh.abstract_mesh):
            assert loaded.in_shardings_jax(target) == (place(arguments, target),)
            assert loaded.out_shardings_jax(target) == (place(wanted, target),)


def test_an_argument_brings_its_sharding_and_the_artefact_takes_placed_ones():
    mesh, other = mesh_of(8), mesh_of(8, reverse=True)
    exported = export(onax.jit(lambda x, y: (2 * x, y)))(onax.device_put(X, NamedSharding(mesh, P("a"))), X)
    assert exported.in_shardings_jax(other) == (NamedSharding(other, P("a")), None)
    assert exported.out_shardings_jax(other) == (None, None)
    placed = onax.device_put(X, exported.in_shardings_jax(other)[0])
    result = exported.call(placed, X)[0]
    assert result.sharding == placed.sharding
    np.testing.assert_array_equal(result, 2 * X)


def test_calls_run_on_as_many_devices_as_were_exported_for():
    mesh, other = mesh_of(4), Mesh(np.array(onax.devices()[2:6]).reshape(2, 2), ("c", "d"))
    exported = export(onax.jit(lambda x: 2 * x))(
        onax.ShapeDtypeStruct((8,), np.float32, sharding=NamedSharding(mesh, P("a")))
    )
    loaded = deserialize(exported.serialize())
    assert exported.nr_devices == loaded.nr_devices == 4
    for target, spec in ((mesh, P("a")), (other, P("c"))):
        result = exported.call(onax.device_put(X, NamedSharding(target, spec)))
        assert [(s.device, s.index) for s in result.addressable_shards][1] == (
            target.devices.flat[1],
            (slice(2, 4, None),),
        )
        np.testing.assert_array_equal(result, 2 * X)
        again = loaded.call(onax.device_put(X, NamedSharding(target, spec)))
        assert again.sharding.device_set == result.sharding.device_set
        np.testing.assert_array_equal(again, 2 * X)
    for call in (exported.call, loaded.call):
        with pytest.raises(ValueError, match=r"was exported for 4 devices and is called in a context with 1 devices"):
            call(X)
    with pytest.raises(ValueError, match="Dtype mismatch"):
        exported.call(onax.device_put(np.arange(8), NamedSharding(mesh, P("a"))))


def test_a_function_of_one_device_is_split_as_its_arguments():
    exported = export(onax.jit(lambda x: 2 * x))(X)
    result = exported.call(onax.device_put(X, NamedSharding(mesh_of(4), P("a"))))
    assert exported.nr_devices == 1 and result.sharding == NamedSharding(mesh_of(4), P("a"))


def test_meshes_of_other_axes_are_refused():
    mesh = mesh_of(8)
    exported = export(onax.jit(lambda x: 2 * x, in_shardings=NamedSharding(mesh, P("a"))))(X)
    for other in (mesh_of(4), mesh_of(4, 2)):
        with pytest.raises(ValueError, match="does not match the mesh used for export"):
            exported.in_shardings_jax(other)
    with pytest.raises(TypeError, match="a mesh is a Mesh"):
        exported.in_shardings_jax("a")


def test_derivatives_are_for_as_many_devices():
    mesh = mesh_of(2)
    split, turned = NamedSharding(mesh, P("a")), NamedSharding(mesh, P(None, "a"))
    x = np.ones((4, 6), np.float32)
    exported = export(onax.jit(lambda x: onax.numpy.sin(x.T), in_shardings=split, out_shardings=turned))(x)
    pulled = deserialize(exported.serialize(vjp_order=2)).vjp()
    assert pulled.nr_devices == pulled.vjp().nr_devices == 2
    assert pulled.in_shardings_jax(mesh) == (split, turned) and pulled.out_shardings_jax(mesh) == (split,)
    assert pulled.vjp().out_shardings_jax(mesh) == (split, turned)
    with pytest.raises(ValueError, match="exported for 2 devices and is called in a context with 1 devices"):
        pulled.call(x, x.T)
    everywhere = NamedSharding(mesh_of(2, reverse=True), P())
    found = pulled.call(onax.device_put(x, everywhere), onax.device_put(x.T, everywhere))[0]
    np.testing.assert_allclose(found, np.cos(x), rtol=1e-6)


def test_devices_that_programs_and_contexts_name():
    mesh = mesh_of(2)
    split = NamedSharding(mesh, P("a"))
    constrained = onax.jit(lambda x: onax.lax.with_sharding_constraint(2 * x, split))
    mapped = onax.jit(onax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("a"), out_specs=P("a")))
    plain = onax.jit(lambda x: 2 * x)
    with onax.set_mesh(mesh):
        within = export(plain)(X)
    with mesh:
        of_specs = export(plain)(X)
        assert of_specs.nr_devices == 1 and of_specs.vjp().nr_devices == 2
    for exported in (within, export(constrained)(X), export(mapped)(X)):
        assert exported.nr_devices == exported.vjp().nr_devices == 2
        assert exported.in_shardings_jax(mesh) == exported.out_shardings_jax(mesh) == (None,)
        np.testing.assert_array_equal(exported.call(onax.device_put(X, split)), 2 * X)
    alone = export(onax.jit(lambda x: 2 * x, in_shardings=NamedSharding(mesh_of(1), P("a"))))(X)
    np.testing.assert_array_equal(alone.call(onax.device_put(X, split)), 2 * X)
