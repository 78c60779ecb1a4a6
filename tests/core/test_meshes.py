"""Meshes and partition specs: sizes, equality, the mesh in context.  The devices are made for the test."""

import numpy as np
import pytest

from onax._core.meshes import AbstractDevice, AbstractMesh, AxisType, Mesh, P, get_mesh, make_mesh
from onax._ground.devices import Device

FOUR = [Device("cpu", i) for i in range(4)]
GRID = Mesh(np.array(FOUR).reshape(2, 2), ("x", "y"))


def test_mesh():
    assert GRID.shape == {"x": 2, "y": 2} and GRID.size == 4 and not GRID.empty and GRID.axis_sizes == (2, 2)
    assert GRID.device_ids.tolist() == [[0, 1], [2, 3]] and GRID.auto_axes == ("x", "y")
    assert GRID == Mesh(GRID.devices, ("x", "y")) and hash(GRID) == hash(Mesh(GRID.devices, ("x", "y")))
    assert GRID != Mesh(GRID.devices, ("x", "z"))
    with pytest.raises(ValueError, match=r"devices.ndim == 1 and len"):
        Mesh(FOUR, ("x", "y"))
    with GRID:
        assert get_mesh() is GRID
    assert get_mesh().empty
    assert make_mesh((1,), ("a",)).axis_types == (AxisType.Explicit,)
    with pytest.raises(ValueError, match="Number of devices"):
        make_mesh((1000,), ("a",))


def test_specs_compare_by_entries():
    assert P("x") != P("x", None) and P(["x", "y"]) == P(("x", "y")) and P("x") != ("x",)


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
