"""The record of the meshes in context, a part of the key of compiled programs; `meshes.py` sets and reads it."""

from dataclasses import dataclass
from typing import Any

from onax._ground.config import UserContext


@dataclass(frozen=True, slots=True)
class Meshes:
    """The meshes in context: of PartitionSpecs without a mesh, of `get_mesh`, of `get_abstract_mesh`, and of `pjit`."""

    of_specs: Any = None
    concrete: Any = None
    abstract: Any = None
    entered: Any = None  # that of the innermost ``with mesh:``

    def differences(self, before):
        """(name, value, value before) of each mesh that differs, for the explanation of a cache miss."""
        if self.abstract != before.abstract:
            yield "abstract_mesh_context_manager", self.abstract, before.abstract
        if self.entered != before.entered:
            meshes = [() if m is None else (m,) for m in (self.entered, before.entered)]
            yield "mesh_context_manager", *meshes


mesh_context = UserContext(Meshes())


def meshes_in_context() -> Meshes:
    """A record of the meshes in context, which `enter_meshes` enters again."""
    return mesh_context.value


def enter_meshes(recorded: Meshes) -> None:
    """Makes recorded meshes those in context, from now on."""
    if recorded is not mesh_context.value:
        mesh_context.swap_local(recorded)
