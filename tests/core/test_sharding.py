"""Meshes, specs and shardings: texts, pieces, faults.  The devices are made for the test; nothing is placed on them."""

import copy
import pickle

import numpy as np
import pytest

import onax
from onax._core.meshes import DuplicateSpecError, Mesh, P
from onax._core.sharding import IndivisibleError, NamedSharding, SingleDeviceSharding, replica_ids
from onax._ground.devices import Device, devices
from virtual_devices import eight_devices

FOUR = [Device("cpu", i) for i in range(4)]
GRID = Mesh(np.array(FOUR).reshape(2, 2), ("x", "y"))


@pytest.mark.parametrize(
    "value, text",
    [
        (GRID, "Mesh(axis_sizes=(2, 2), axis_names=('x', 'y'), axis_types=(Auto, Auto))"),
        (str(GRID), "\"Mesh('x': 2, 'y': 2, axis_types=(Auto, Auto))\""),
        (P(), "P()"),
        (P("x"), "P('x',)"),
        (P(("x", "y"), None), "P(('x', 'y'), None)"),
        (P("x", P.UNCONSTRAINED), "P('x', UNCONSTRAINED)"),
        (P(()), "P(None,)"),
        (P("x") + P("y"), "P('x', 'y')"),
        (SingleDeviceSharding(FOUR[1]), "SingleDeviceSharding(device=CpuDevice(id=1), memory_kind=device)"),
        (
            NamedSharding(GRID, P("x")),
            "NamedSharding(mesh=Mesh('x': 2, 'y': 2, axis_types=(Auto, Auto)), spec=P('x',), memory_kind=device)",
        ),
    ],
)
def test_texts(value, text):
    assert repr(value) == text


def cut(start, stop):
    return slice(start, stop)


@pytest.mark.parametrize(
    "spec, shape, piece, indices, replicas",
    [
        (
            P("x", "y"),
            (4, 6),
            (2, 3),
            [(cut(0, 2), cut(0, 3)), (cut(0, 2), cut(3, 6)), (cut(2, 4), cut(0, 3)), (cut(2, 4), cut(3, 6))],
            [0, 0, 0, 0],
        ),
        (P(("x", "y")), (8,), (2,), [(cut(2 * i, 2 * i + 2),) for i in range(4)], [0, 0, 0, 0]),
        (
            P("y"),
            (8, 2),
            (4, 2),
            [(cut(0, 4), slice(None)), (cut(4, 8), slice(None))] * 2,
            [0, 0, 1, 1],
        ),
        (P(), (3,), (3,), [(slice(None),)] * 4, [0, 1, 2, 3]),
    ],
)
def test_pieces(spec, shape, piece, indices, replicas):
    sharding = NamedSharding(GRID, spec)
    assert sharding.shard_shape(shape) == piece
    assert list(sharding.devices_indices_map(shape).items()) == list(zip(FOUR, indices))
    assert list(replica_ids(sharding, shape).values()) == replicas
    assert sharding.is_fully_replicated is (piece == shape)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: NamedSharding(GRID, P("z")), ValueError, "Resource axis: z of P"),
        (lambda: NamedSharding(GRID, P("x", "x")), DuplicateSpecError, "duplicate entries for `x`"),
        (lambda: NamedSharding(GRID, "x"), AttributeError, "partitions"),
        (lambda: NamedSharding(GRID, None), TypeError, "PartitionSpec"),
        (lambda: NamedSharding(3, P()), AttributeError, "'int' object has no attribute 'size'"),
        (lambda: NamedSharding(GRID, P(unreduced={"x"})), ValueError, "Unreduced axes can only refer to mesh axes"),
        (lambda: NamedSharding(GRID, P(reduced={"w"})), ValueError, "Reduced axes w is not found in mesh"),
        (lambda: NamedSharding(GRID, P("x")).shard_shape((3,)), IndivisibleError, "partitioned 2 times"),
        (lambda: NamedSharding(GRID, P("x", "y")).shard_shape((4,)), ValueError, "rank at least 2"),
        (lambda: SingleDeviceSharding(FOUR[0], memory_kind="foo"), ValueError, "Got memory kind: foo"),
        (lambda: NamedSharding(GRID.abstract_mesh, P(), memory_kind="foo"), ValueError, "Got invalid memory kind: foo"),
    ],
)
def test_faults(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_equivalence_beyond_the_rank():
    rows = NamedSharding(GRID, P("x"))
    assert rows.is_equivalent_to(NamedSharding(GRID, P("x", None)), 1)
    assert not rows.is_equivalent_to(NamedSharding(GRID, P("x", "y")), 1)


def test_equality():
    one = SingleDeviceSharding(FOUR[0])
    alone = Mesh(np.array(FOUR[:1]), ("x",))
    assert one == SingleDeviceSharding(FOUR[0]) and hash(one) == hash(SingleDeviceSharding(FOUR[0]))
    assert one.is_equivalent_to(NamedSharding(alone, P()), 1) and one != NamedSharding(alone, P())
    assert NamedSharding(GRID, P("x")).is_equivalent_to(NamedSharding(GRID, P("x", None)), 2)
    assert not NamedSharding(GRID, P("x")).is_equivalent_to(NamedSharding(GRID, P("y")), 2)


def test_specs_are_copied_as_themselves():
    spec = P("x")
    assert copy.copy(spec) is spec and copy.deepcopy([spec])[0] is spec


def test_pickle():
    sharding = NamedSharding(Mesh(np.array(devices()[:1]), ("x",)), P("x"))
    assert pickle.loads(pickle.dumps(sharding)) == sharding


def test_an_abstract_mesh_is_that_of_the_context():
    mesh = onax.make_mesh((1,), ("x",))
    abstract = NamedSharding(mesh.abstract_mesh, P("x"))
    x = onax.numpy.arange(3.0)
    with onax.set_mesh(mesh):
        for call in (onax.jit(lambda x: x, out_shardings=abstract), lambda x: onax.device_put(x, abstract)):
            out = call(x)
            assert out.tolist() == [0, 1, 2] and out.sharding == NamedSharding(mesh, P("x"))
    with pytest.raises(ValueError, match="needs devices"):
        onax.jit(lambda x: x, out_shardings=abstract)(x)
    with pytest.raises(ValueError, match="empty NamedSharding"):
        onax.jit(lambda x: x, out_shardings=onax.typeof(x).sharding)(x)


def test_equivalent_over_meshes_of_other_shapes():
    with eight_devices():
        devices = np.array(onax.devices())
        grid, line = Mesh(devices.reshape(4, 2), ("x", "y")), Mesh(devices, "z")
        split = NamedSharding(line, P("z"))
        assert NamedSharding(grid, P(("x", "y"))).is_equivalent_to(split, 2)
        assert not NamedSharding(grid, P(("y", "x"))).is_equivalent_to(split, 2)
        assert not NamedSharding(grid, P("x", "y")).is_equivalent_to(split, 2)
        backward = Mesh(devices[::-1], "z")
        assert not NamedSharding(backward, P("z")).is_equivalent_to(split, 2)
        x, y = (onax.device_put(np.arange(8), NamedSharding(m, P("z"))) for m in (line, backward))
        with pytest.raises(ValueError, match="incompatible devices"):
            x + y
