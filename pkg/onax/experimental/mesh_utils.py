"""Arrays of devices for meshes, under the names of jax.experimental.mesh_utils.

There is no topology: devices keep their order.
"""

import math
from collections.abc import Sequence

import numpy as np

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import devices as _devices
from onax._ground.devices import Device
from onax._ground.unavailable import unavailable as _unavailable


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Device] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """Returns an array of devices in a shape.

    Args:
      mesh_shape: the shape.
      devices: Devices; default None, all.
      contiguous_submeshes: accepted, without effect.
      allow_split_physical_axes: accepted, without effect.

    Returns:
      ndarray of Devices.

    Raises:
      ValueError: the number of devices is not the product of the shape.

    Examples:
      >>> from onax.experimental import mesh_utils
      >>> mesh_utils.create_device_mesh((1,), onax.devices()[:1]).shape
      (1,)
    """
    device_list = list(_devices.devices() if devices is None else devices)
    if any(isinstance(n, str) or not hasattr(n, "__mul__") for n in mesh_shape):
        raise ValueError(f"create_device_mesh: mesh_shape holds sizes of axes; got {mesh_shape!r}")
    if len(device_list) != math.prod(mesh_shape):
        raise ValueError(
            f"Number of devices {len(device_list)} must equal the product of mesh_shape {tuple(mesh_shape)}"
        )
    return _in_shape(device_list, mesh_shape)


def _in_shape(items, shape):
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out.reshape(tuple(shape))


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int],
    dcn_mesh_shape: Sequence[int],
    devices: Sequence[Device] | None = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """Returns an array of devices whose shape is the product of two shapes, axis by axis.

    Along each axis devices of one group are neighbours.

    Args:
      mesh_shape: the shape within a group of devices.
      dcn_mesh_shape: the shape of groups.
      devices: Devices; default None, all.
      process_is_granule: True: the devices of a process are a group; False (the default): those of a slice, which
        they name by `slice_index`.
      should_sort_granules_by_key: True (the default): groups are in the order of their numbers; False: in that of
        their first devices.
      allow_split_physical_axes: accepted, without effect.

    Returns:
      ndarray of Devices.

    Raises:
      ValueError: devices that name no group, or shapes that do not fit the number of groups, of devices or each other.

    Examples:
      >>> from onax.experimental import mesh_utils
      >>> mesh_utils.create_hybrid_device_mesh((1,), (1,), onax.devices()[:1], process_is_granule=True).shape
      (1,)
    """
    device_list = list(_devices.devices() if devices is None else devices)
    name = "process_index" if process_is_granule else "slice_index"
    groups: dict[int, list[Device]] = {}
    for device in device_list:
        if not hasattr(device, name):
            raise ValueError(f"Device {device} does not have attribute {name}. See `process_is_granule` option.")
        groups.setdefault(getattr(device, name), []).append(device)
    if math.prod(dcn_mesh_shape) != len(groups):
        raise ValueError(
            f"Number of slices {len(groups)} must equal the product of dcn_mesh_shape {tuple(dcn_mesh_shape)}"
        )
    if len(mesh_shape) != len(dcn_mesh_shape):
        raise ValueError(f"mesh_shape {tuple(mesh_shape)} and dcn_mesh_shape {tuple(dcn_mesh_shape)} differ in length")
    keys = sorted(groups) if should_sort_granules_by_key else list(groups)
    parts = [create_device_mesh(mesh_shape, groups[key]) for key in keys]
    n = len(mesh_shape)
    whole = np.stack(parts).reshape(*dcn_mesh_shape, *mesh_shape)
    whole = whole.transpose([axis for i in range(n) for axis in (i, n + i)])
    return whole.reshape(tuple(np.multiply(dcn_mesh_shape, mesh_shape)))


_wrap_api_functions(globals(), __name__)

__getattr__ = _unavailable(
    __name__,
    {
        "device_kind_handler_dict": "it arranges TPUs by their wires; devices here have no topology",
    },
)

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]
