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
    np.testing.assert_array_equal(exported.call(placed, X)[0], 2 * X)


def test_meshes_of_other_axes_are_refused():
    mesh = mesh_of(8)
    exported = export(onax.jit(lambda x: 2 * x, in_shardings=NamedSharding(mesh, P("a"))))(X)
    for other in (mesh_of(4), mesh_of(4, 2)):
        with pytest.raises(ValueError, match="does not match the mesh used for export"):
            exported.in_shardings_jax(other)
    with pytest.raises(TypeError, match="a mesh is a Mesh"):
        exported.in_shardings_jax("a")
