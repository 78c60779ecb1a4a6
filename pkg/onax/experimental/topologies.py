"""Descriptions of the devices that a program may be compiled for, under the names of jax.experimental.topologies."""

from dataclasses import dataclass

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.meshes import Mesh
from onax._ground import devices as _devices
from onax.experimental import mesh_utils


@dataclass(eq=False)
class TopologyDescription:
    """The devices of a topology, in the list `devices`."""

    devices: list


def get_attached_topology(platform=None):
    """The topology of the devices of this process."""
    return TopologyDescription(_devices.devices(platform))


def get_topology_desc(topology_name="", platform=None, **kwargs):
    """Raises NotImplementedError: programs are compiled for the machine that runs them."""
    raise NotImplementedError(
        f"get_topology_desc({topology_name!r}, {platform!r}): programs are compiled for the machine that runs them; "
        "onax.export writes files for others, and get_attached_topology() describes this one"
    )


def make_mesh(topo, mesh_shape, axis_names, *, contiguous_submeshes=False):
    """A Mesh of the devices of a topology in a shape."""
    devices = mesh_utils.create_device_mesh(mesh_shape, list(topo.devices), contiguous_submeshes=contiguous_submeshes)
    return Mesh(devices, axis_names)


__all__ = ["TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh"]

_wrap_api_functions(globals(), __name__)
