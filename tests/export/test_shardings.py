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
