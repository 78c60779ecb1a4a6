"""Meshes, partition specs and shardings, under JAX's names."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.axes import ManualAxisType
from onax._core.meshes import (
    AbstractDevice,
    AbstractMesh,
    AxisType,
    Mesh,
    PartitionSpec,
    UnreducedKind,
    get_abstract_mesh,
    get_mesh,
    set_mesh,
    use_abstract_mesh,
)
from onax._core.sharding import NamedSharding, Sharding, SingleDeviceSharding
from onax._ground.config import no_collectives
from onax.lax._axis_types import auto_axes, explicit_axes
from onax.lax._sharding import make_single_device_sharding, reshard

__all__ = [
    "AbstractDevice",
    "AbstractMesh",
    "AxisType",
    "ManualAxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "UnreducedKind",
    "auto_axes",
    "explicit_axes",
    "get_abstract_mesh",
    "get_mesh",
    "make_single_device_sharding",
    "no_collectives",
    "reshard",
    "set_mesh",
    "use_abstract_mesh",
]

_wrap_api_functions(globals(), __name__)
