"""Meshes and partition specs: sizes, equality, the mesh in context.  The devices are made for the test."""

import copy
import re
import threading

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.meshes import (
    AbstractDevice,
    AbstractMesh,
    AxisType,
    Mesh,
    P,
    get_abstract_mesh,
    get_mesh,
    make_mesh,
    set_mesh,
    use_abstract_mesh,
)
from onax._ground.devices import Device
from virtual_devices import eight_devices
from virtual_devices import mesh as mesh_of

FOUR = [Device("cpu", i) for i in range(4)]
GRID = Mesh(np.array(FOUR).reshape(2, 2), ("x", "y"))


def test_mesh():
    assert GRID.shape == {"x": 2, "y": 2} and GRID.size == 4 and not GRID.empty and GRID.axis_sizes == (2, 2)
    assert GRID.device_ids.tolist() == [[0, 1], [2, 3]] and GRID.auto_axes == ("x", "y")
    assert GRID == Mesh(GRID.devices, ("x", "y")) and hash(GRID) == hash(Mesh(GRID.devices, ("x", "y")))
    assert GRID != Mesh(GRID.devices, ("x", "z"))
    with pytest.raises(ValueError, match=r"devices.ndim == 1 and len"):
        Mesh(FOUR, ("x", "y"))
    assert Mesh(GRID.devices, ("x", "y")) is GRID
    assert make_mesh((1,), ("a",)).axis_types == (AxisType.Explicit,)
    with pytest.raises(ValueError, match="Number of devices"):
        make_mesh((1000,), ("a",))


def test_specs_compare_by_entries():
    assert P("x") != P("x", None) and P(["x", "y"]) == P(("x", "y")) and P("x") != ("x",)


def test_equal_meshes_are_one_object():
    assert Mesh(FOUR, "i") is Mesh(np.array(FOUR), ("i",)) and Mesh(FOUR, "i") is not Mesh(FOUR[::-1], "i")
    assert copy.deepcopy(GRID) is GRID is GRID.update(axis_names=("x", "y"))


def test_sizes_and_texts_of_small_meshes():
    nothing = Mesh(np.empty((), object), ())
    assert nothing.empty and nothing.size == nothing.abstract_mesh.size == AbstractMesh((), ()).size == 0
    assert repr(nothing) == "Mesh(axis_sizes=(), axis_names=())" and Mesh(FOUR[0], ()).size == 1
    assert repr(Mesh(FOUR[0], ())) == "Mesh(axis_sizes=(), axis_names=(), axis_types=())"


FAULTS = [
    (lambda: P("x", unreduced={"x"}), ValueError, "partitions cannot overlap with unreduced axes"),
    (lambda: P(("x", "y"), reduced={"y"}), ValueError, "partitions cannot overlap with reduced axes"),
    (lambda: P(unreduced={"x"}, reduced={"x"}), ValueError, "`unreduced` and `reduced` argument"),
    (lambda: P(unreduced={None}), ValueError, "unreduced cannot contain None"),
    (lambda: P(unreduced="x"), TypeError, "should of type `frozenset` or `set`. Got type x"),
    (lambda: P(reduced=None), TypeError, "should of type `frozenset` or `set`. Got type None"),
    (lambda: P("x", unreduced={"y"}) + ("z",), TypeError, "has unreduced in `__add__`"),
    (lambda: ("z",) + P(reduced={"y"}), TypeError, "has reduced in `__radd__`"),
    (lambda: setattr(P("x"), "reduced", 1), AttributeError, "cannot assign to field 'reduced'"),
    (lambda: setattr(GRID, "axis_names", 1), AttributeError, "cannot assign to field 'axis_names'"),
    (lambda: delattr(GRID, "axis_names"), AttributeError, "cannot delete field 'axis_names'"),
    (lambda: AbstractMesh((2,), ("x", "y")), ValueError, "argument 1 has length 1 but argument 0 has length 2"),
    (lambda: make_mesh((-1,), ("x",)), ValueError, "must equal the product of mesh_shape"),
]  # fmt: skip


@pytest.mark.parametrize("call, error, text", FAULTS)
def test_what_meshes_and_specs_refuse(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_texts_of_specs():
    assert repr(P(unreduced={"x"})) == "P(unreduced={'x'})" and repr(P("x")) == "P('x',)" and repr(P()) == "P()"
    assert repr(P("x", reduced={"y"})) == "P('x', reduced={'y'})"
    assert P(("x",), ["y", "z"]).index(["x"]) == 0 and P(("x", "y")).count(["x", "y"]) == 1


def test_abstract_meshes_know_the_kind_of_their_devices():
    mesh = GRID.abstract_mesh
    assert (
        repr(mesh)
        == str(mesh)
        == ("AbstractMesh('x': 2, 'y': 2, axis_types=(Auto, Auto), device_kind=cpu, num_cores=None, platform=cpu)")
    )
    assert mesh.abstract_device == AbstractDevice("cpu", None, "cpu")
    plain = AbstractMesh((2, 2), ("x", "y"))
    assert plain == mesh and plain.abstract_device is None and plain.abstract_mesh is plain
    assert repr(mesh.update(axis_names=("a", "b"))).startswith("AbstractMesh('a': 2, 'b': 2,")
    assert mesh.update(axis_sizes=(4, 1)).abstract_device is mesh.abstract_device
    assert plain.update_axis_types({"y": AxisType.Manual}).axis_types == (AxisType.Auto, AxisType.Manual)
    for name in ("devices", "device_ids", "local_mesh"):
        with pytest.raises(ValueError, match=f"AbstractMesh does not implement {name}"):
            getattr(plain, name)


@pytest.fixture
def devices():
    with eight_devices():
        yield


@pytest.fixture
def grid(devices):
    return mesh_of(x=2, y=2)


@pytest.fixture
def line(devices):
    return mesh_of(x=4)


def test_meshes_in_context(grid, line):
    small = AbstractMesh((2,), ("x",))
    with grid:  # it is that of specs alone
        assert get_mesh().empty and get_abstract_mesh().empty
        spread = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P("x")))(jnp.arange(8.0))
        assert spread.sharding == jax.NamedSharding(grid, P("x"))
    with use_abstract_mesh(small):
        assert get_mesh().empty and get_abstract_mesh() == small
        with grid:
            assert get_mesh().empty and get_abstract_mesh() == small
    with set_mesh(grid) as nothing:
        assert nothing is None and get_mesh() is grid and get_abstract_mesh() == grid.abstract_mesh
        with pytest.raises(ValueError, match=re.escape("use_abstract_mesh cannot change the size of the mesh. Got")):
            use_abstract_mesh(small).__enter__()
        with use_abstract_mesh(line.abstract_mesh):
            assert get_mesh() is grid and get_abstract_mesh().axis_names == ("x",)
        with set_mesh(None):
            assert get_mesh().empty
        for transform in (jax.jit, jax.vmap, jax.make_jaxpr):
            with pytest.raises(ValueError, match=re.escape("`get_mesh` can only be used outside of `jax.jit`")):
                transform(lambda x: get_mesh().empty * x)(jnp.ones(2))
            with pytest.raises(ValueError, match=re.escape("`set_mesh` can only be used outside of `jax.jit`")):
                transform(lambda x: set_mesh(grid))(jnp.ones(2))
    for mesh in (grid, None):
        with pytest.raises(ValueError, match=re.escape("Expected mesh of type `jax.sharding.AbstractMesh`. Got")):
            use_abstract_mesh(mesh)
    for mesh in (small, 3):
        with pytest.raises(ValueError, match=re.escape("Expected mesh of type `jax.sharding.Mesh`. Got <class ")):
            set_mesh(mesh)
    assert get_mesh().empty


def test_set_mesh_from_now_on(grid):
    outer = set_mesh(grid)
    try:
        assert get_mesh() is grid
        found = []
        thread = threading.Thread(target=lambda: found.append(get_mesh().empty))
        thread.start()
        thread.join()
        assert found == [True]  # it is the mesh of this thread
    finally:
        with outer:
            pass
    assert get_mesh().empty


def test_programs_belong_to_a_mesh(grid, line):
    """A function is traced again in another mesh, and not in one that it has been traced in."""
    seen = []

    @jax.jit
    def spread(x):
        seen.append(get_abstract_mesh().axis_names)
        return x if get_abstract_mesh().empty else jax.lax.with_sharding_constraint(x, P("x"))

    def body(carry, _):
        return carry * get_abstract_mesh().size, None

    x = jnp.arange(8.0)
    for mesh in (None, grid, line, grid, None):
        with set_mesh(mesh):
            sharding = spread(x).sharding
            assert (sharding == jax.NamedSharding(mesh, P("x"))) if mesh else len(sharding.device_set) == 1
            assert jax.lax.scan(body, 1, None, length=2)[0] == (16 if mesh else 0)
    assert seen == [(), ("x", "y"), ("x",)]


def test_sizes_of_make_mesh_are_ints():
    assert jax.make_mesh((1, np.int32(1), np.int64(1)), ("x", "y", "z")).shape == {"x": 1, "y": 1, "z": 1}
    with pytest.raises(ValueError, match=r"^`axis_shapes` passed to `make_mesh` should be a sequence of ints"):
        jax.make_mesh(((4,), 4), ("x", "y"))
