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
    """Returns an array of devices in groups: its shape is the product of two shapes, axis by axis.

    Args:
      mesh_shape: the shape within a group of devices.
      dcn_mesh_shape: the shape of the groups, with as many axes.
      devices: Devices; default None, all.
      process_is_granule: True: a group are the devices of a process.  Default False: those of one `slice_index`, an
        attribute that devices here do not have.
      should_sort_granules_by_key: whether groups are in the order of their indices; False: as they come in `devices`.
        Default True.
      allow_split_physical_axes: accepted, without effect.

    Returns:
      ndarray of Devices, of shape (mesh_shape[0] * dcn_mesh_shape[0], ...).

    Raises:
      ValueError: the number of groups or of a group's devices does not fit, or devices lack the attribute.

    Examples:
      >>> from onax.experimental import mesh_utils
      >>> mesh_utils.create_hybrid_device_mesh((1,), (1,), onax.devices()[:1], process_is_granule=True).shape
      (1,)
    """
    device_list = list(_devices.devices() if devices is None else devices)
    attribute = "process_index" if process_is_granule else "slice_index"
    if not hasattr(device_list[0], attribute):
        raise ValueError(
            f"Device {device_list[0]} does not have attribute {attribute}. See `process_is_granule` option."
        )
    groups: dict[int, list[Device]] = {}
    for device in device_list:
        groups.setdefault(getattr(device, attribute), []).append(device)
    if math.prod(dcn_mesh_shape) != len(groups):
        raise ValueError(
            f"Number of slices {len(groups)} must equal the product of dcn_mesh_shape {tuple(dcn_mesh_shape)}"
        )
    if len(mesh_shape) != len(dcn_mesh_shape):
        raise ValueError(f"mesh_shape {tuple(mesh_shape)} and dcn_mesh_shape {tuple(dcn_mesh_shape)} differ in length")
    order = sorted(groups) if should_sort_granules_by_key else list(groups)
    parts = np.stack([create_device_mesh(mesh_shape, groups[i]) for i in order])
    parts = parts.reshape(tuple(dcn_mesh_shape) + tuple(mesh_shape))
    ndim = len(mesh_shape)
    between_and_within = [axis for pair in zip(range(ndim), range(ndim, 2 * ndim)) for axis in pair]
    return parts.transpose(between_and_within).reshape([n * m for n, m in zip(dcn_mesh_shape, mesh_shape)])


_wrap_api_functions(globals(), __name__)

__getattr__ = _unavailable(
    __name__,
    {
        "device_kind_handler_dict": "it arranges TPUs by their wires; devices here have no topology",
    },
)

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]
