"""Arrays of devices for meshes, under the names of jax.experimental.mesh_utils.

There is no topology: devices keep their order.
"""

import math

import numpy as np

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import devices as _devices


def create_device_mesh(mesh_shape, devices=None, *, contiguous_submeshes=False, allow_split_physical_axes=False):
    """An ndarray of devices (by default all) in this shape.

    Raises ValueError unless the number of devices is the product of the shape.  The two options are for TPUs.
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
    mesh_shape,
    dcn_mesh_shape,
    devices=None,
    *,
    process_is_granule=False,
    should_sort_granules_by_key=True,
    allow_split_physical_axes=False,
):
    """An ndarray of devices whose shape is the product of both shapes, axis by axis.

    `dcn_mesh_shape` counts groups of devices: processes, of which there is one, so that it must be all ones.  Raises
    ValueError for anything else, and without `process_is_granule`, as devices belong to no slices.
    """
    device_list = list(_devices.devices() if devices is None else devices)
    if not process_is_granule:
        raise ValueError(
            f"Device {device_list[0]} does not have attribute slice_index. See `process_is_granule` option."
        )
    if math.prod(dcn_mesh_shape) != 1:
        raise ValueError(f"Number of slices 1 must equal the product of dcn_mesh_shape {tuple(dcn_mesh_shape)}")
    if len(mesh_shape) != len(dcn_mesh_shape):
        raise ValueError(f"mesh_shape {tuple(mesh_shape)} and dcn_mesh_shape {tuple(dcn_mesh_shape)} differ in length")
    return create_device_mesh(mesh_shape, device_list)


_wrap_api_functions(globals(), __name__)

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]
