"""The record of the meshes in context, and what it says of a difference."""

import pytest

import onax
from onax._core.mesh_context import Meshes, mesh_context

MESH = onax.make_mesh((1,), ("x",), (onax.sharding.AxisType.Auto,))
ABSTRACT = MESH.abstract_mesh


def test_what_enters_a_mesh_is_recorded():
    with onax.set_mesh(MESH):
        assert mesh_context.value == Meshes(MESH, MESH, ABSTRACT)
        with MESH:
            assert mesh_context.value == Meshes(MESH, MESH, ABSTRACT, MESH)
    with onax.sharding.use_abstract_mesh(ABSTRACT):
        assert mesh_context.value == Meshes(ABSTRACT, None, ABSTRACT)
    assert mesh_context.value == Meshes()


@pytest.mark.parametrize(
    ("now", "before", "differences"),
    [
        (Meshes(), Meshes(), []),
        (Meshes(MESH, MESH, ABSTRACT), Meshes(), [("abstract_mesh_context_manager", ABSTRACT, None)]),
        (Meshes(), Meshes(MESH, entered=MESH), [("mesh_context_manager", (), (MESH,))]),
    ],
)
def test_differences(now, before, differences):
    assert list(now.differences(before)) == differences
