"""Descriptions of the devices that a program may be compiled for, under the names of jax.experimental.topologies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.meshes import Mesh
from onax._ground import devices as _devices
from onax.experimental import mesh_utils


@dataclass(eq=False)
class TopologyDescription:
    """The devices of a topology.

    Args:
      devices: a list of Devices.

    Examples:
      >>> from onax.experimental import topologies
      >>> topologies.TopologyDescription(onax.devices()).devices == onax.devices()
      True
    """

    devices: list


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """Returns the topology of the devices of this process.

    Args:
      platform: the name of a platform; default None, the default one.

    Returns:
      A TopologyDescription.

    Examples:
      >>> from onax.experimental import topologies
      >>> topologies.get_attached_topology().devices == onax.devices()
      True
    """
    return TopologyDescription(_devices.devices(platform))


def get_topology_desc(topology_name: str = "", platform: str | None = None, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: programs are compiled for the machine that runs them.

    Args:
      topology_name: a str.
      platform: the name of a platform.
      kwargs: further options.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.experimental import topologies
      >>> topologies.get_topology_desc("v4:2x2")
      Traceback (most recent call last):
          ...
      NotImplementedError: get_topology_desc('v4:2x2', None): programs are compiled ...
    """
    raise NotImplementedError(
        f"get_topology_desc({topology_name!r}, {platform!r}): programs are compiled for the machine that runs them; "
        "onax.export writes files for others, and get_attached_topology() describes this one"
    )


def make_mesh(
    topo: TopologyDescription,
    mesh_shape: Sequence[int],
    axis_names: Sequence[str],
    *,
    contiguous_submeshes: bool = False,
) -> Mesh:
    """Returns a mesh of the devices of a topology.

    Args:
      topo: a TopologyDescription.
      mesh_shape: the sizes of the axes.
      axis_names: their names.
      contiguous_submeshes: accepted, without effect.

    Returns:
      A Mesh.

    Examples:
      >>> from onax.experimental import topologies
      >>> topologies.make_mesh(topologies.TopologyDescription(onax.devices()[:1]), (1,), ("x",)).axis_names
      ('x',)
    """
    devices = mesh_utils.create_device_mesh(mesh_shape, list(topo.devices), contiguous_submeshes=contiguous_submeshes)
    return Mesh(devices, axis_names)


__all__ = ["TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh"]

_wrap_api_functions(globals(), __name__)
