"""Where results lie while `set_mesh` has set a mesh: whole on all of its devices, as in JAX.

Operations and functions run on the devices of the mesh in context unless an operand is committed to others.  Only
values that move nowhere, such as those of `device_put`, stay where they are.
"""

from onax._core.axes import manual_axes
from onax._core.explicit_axes import seen
from onax._core.facts import BRINGS_VALUES
from onax._core.meshes import AbstractMesh, PartitionSpec, set_mesh_in_context
from onax._core.result_checks import add_checked_evaluation
from onax._core.sharding import (
    NamedSharding,
    Sharding,
    incompatible_devices_error,
    operand_names,
    placed_argument,
)
from onax._core.shards import shard_array
from onax._ground.config import USER_CONTEXTS
from onax._native import context
from onax._native.array import ArrayImpl


def mesh_of_results(find_mesh=set_mesh_in_context):
    """The mesh on which results lie; None while there is none, or while a function is being traced or computed for all
    devices of a mesh by one program.  `find_mesh` gives the mesh in context."""
    if not context.option_word() & USER_CONTEXTS or context.get_trace() is not None:
        return None
    if seen.automatic or manual_axes():
        return None
    mesh = find_mesh()
    if mesh is None or isinstance(mesh, AbstractMesh) or mesh.size < 2 or mesh.is_multi_process:
        return None
    return mesh


def on_mesh(x, mesh, is_constant=False):
    """An array that lies on no certain device, as one that lies whole on those of a mesh."""
    if type(x) is not ArrayImpl or x._shards is not None or x._committed or x.is_deleted():
        return x
    entries = () if is_constant or not mesh.explicit_axes else (None,) * x.ndim
    return shard_array(x, NamedSharding(mesh, PartitionSpec(*entries)))


def new_array(x, is_constant=False):
    """A new array, which lies on the devices of the mesh that `set_mesh` has set."""
    mesh = mesh_of_results()
    return x if mesh is None else on_mesh(x, mesh, is_constant)


def _evaluate(primitive, operands, params, evaluate):
    out = evaluate(primitive, operands, params)
    mesh = None if BRINGS_VALUES in primitive.facts else mesh_of_results()
    if mesh is None:
        return out
    check_operands(primitive.name, operands, mesh)
    return [on_mesh(x, mesh) for x in out] if primitive.multiple_results else on_mesh(out, mesh)


def check_operands(name, operands, mesh):
    """Raises ValueError for an operand that is committed to other devices than those of the mesh."""
    devices = tuple(mesh.devices.flat)
    for i, x in enumerate(operands):
        if type(x) is ArrayImpl and x._committed and isinstance(x.sharding, Sharding):
            if x.sharding._ordered_devices() != devices:
                given = placed_argument(operands, i, name, operand_names(operands))
                raise incompatible_devices_error(given, ("jit's context mesh", devices))


def install():
    """From now on operations look for a mesh in context."""
    add_checked_evaluation(USER_CONTEXTS, _evaluate)
