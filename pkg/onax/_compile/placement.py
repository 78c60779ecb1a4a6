"""Devices of arguments: those of committed arguments, and whether a call involves several devices.

The code for several devices is in `devices/`, which a program of one device never imports.
"""

from onax._compile.lazy_import import multi_device
from onax._control.jit_call import jit_p
from onax._control.manual_region import has_separate_devices
from onax._control.shard_map import shard_map_p
from onax._core.jaxpr import jaxprs_in_params
from onax._core.meshes import AbstractMesh, Mesh, with_mesh_in_context
from onax._core.new_arrays import mesh_of_results
from onax._core.redistribution import is_spanning
from onax._core.sharding import (
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    described_argument,
    incompatible_devices_error,
    is_abstract,
    placed_argument,
)
from onax._core.trace import Tracer, escaped_tracer_error
from onax._ground import processes
from onax._ground.config import config
from onax._ground.devices import devices as all_devices
from onax._ground.source import summarize
from onax._native.array import ArrayImpl
from onax._prims.placement import device_put_p, reshard_p, sharding_constraint_p
from onax._transforms.abstract import ShapeDtypeStruct
from onax._transforms.sharding_types import without_sharding_types


def committed_device(leaves, name, arg_names):
    """(device, committed) of a program's results: that of its committed arguments.

    Raises ValueError if these are on different devices; `arg_names()` gives the arguments' names.
    """
    first = None
    for i, leaf in enumerate(leaves):
        if type(leaf) is not ArrayImpl:
            if isinstance(leaf, Tracer):
                raise escaped_tracer_error(leaf)
        elif leaf._committed:
            if first is None:
                first = i
            elif leaf.device != leaves[first].device and leaf.devices() != leaves[first].devices():
                raise incompatible_devices_error(*(placed_argument(leaves, k, name, arg_names()) for k in (first, i)))
    if first is None or leaves[first]._shards is not None:  # results on several devices are placed afterwards
        return None, False
    return leaves[first].device, True


def mesh_of_call(options):
    """The mesh in context, on whose devices a function with these options runs; None without one."""
    return mesh_of_results(with_mesh_in_context) if options.uses_with_mesh else mesh_of_results()


def committed_shardings(leaves):
    """For each argument of a call its sharding, None where it is not committed."""
    return [x.sharding if type(x) is ArrayImpl and x._committed else None for x in leaves]


def check_devices_of_program(jaxpr, call, in_shardings, out_shardings, mesh=None):
    """Raises ValueError unless arguments with a certain place, the shardings that a program states and the mesh in
    context, if there is one, are over the same devices.

    Their order counts.  The shardings have an entry for each argument of the call, and for each result.
    """
    first = None
    for devices, describe in _stated_devices(jaxpr, call, in_shardings, out_shardings, mesh):
        if first is None:
            first = devices, describe
        elif devices != first[0]:
            raise incompatible_devices_error(first[1](), describe())


def check_devices_of_call(jaxpr, call, out_shardings, mesh):
    """The same for a call on values; a device that jit got goes before those of the arguments, which are moved."""
    if call.options.device is None:
        check_devices_of_program(jaxpr, call, committed_shardings(call.leaves), out_shardings, mesh)
    else:
        check_devices_of_program(jaxpr, call, (), (SingleDeviceSharding(call.options.device),))


def _stated_devices(jaxpr, call, in_shardings, out_shardings, mesh):
    """Pairs of devices in their order and a function that returns what states them, for the error."""

    def argument(i, sharding):
        return described_argument(i, call.avals[i], sharding, call.qualified_name, call.arg_names())

    for i, sharding in enumerate(in_shardings):
        if _is_over_devices(sharding):
            yield sharding._ordered_devices(), lambda i=i, sharding=sharding: argument(i, sharding)
    for sharding in out_shardings:
        if _is_over_devices(sharding):
            devices = sharding._ordered_devices()
            yield devices, lambda devices=devices: ("explicit output sharding", devices)
    if mesh is not None:
        devices = tuple(mesh.devices.flat)
        yield devices, lambda devices=devices: ("jit's context mesh", devices)
    for devices, eqn in _devices_of_equations(jaxpr):
        place = lambda eqn=eqn: f"at {summarize(eqn.source_info)}"
        yield devices, lambda d=devices, eqn=eqn, at=place: (f"{eqn.primitive.name} inside jit", d, at())


def _is_over_devices(sharding):
    return isinstance(sharding, Sharding) and not is_abstract(sharding)


def _devices_of_equations(jaxpr):
    """Pairs of devices and the first equation, here or in inner programs, that states a sharding over them."""
    if "devices of equations" not in jaxpr.cache:
        found = {}
        for eqn in jaxpr.eqns:
            for sharding in stated_shardings(eqn):
                found.setdefault(sharding._ordered_devices(), eqn)
            for inner in jaxprs_in_params(eqn.params):
                for devices, stating in _devices_of_equations(inner):
                    found.setdefault(devices, stating)
        jaxpr.cache["devices of equations"] = list(found.items())
    return jaxpr.cache["devices of equations"]


def has_shards(x):
    """Whether a value is on several devices, or has a sharding that can be propagated; or is such a sharding."""
    return isinstance(x, NamedSharding) or getattr(x, "_shards", None) is not None


def mesh_of_other_devices(leaves):
    """The mesh of the first array that lies over a mesh, unless it is one of the first devices in their order."""
    for x in leaves:
        placed = x._shards is not None if type(x) is ArrayImpl else isinstance(x, ShapeDtypeStruct)
        if placed and isinstance(x.sharding, NamedSharding) and isinstance(x.sharding.mesh, Mesh):
            found = tuple(x.sharding.mesh.devices.flat)
            return x.sharding.mesh if found != tuple(all_devices()[: len(found)]) else None
    return None


def makes_shards(jaxpr):
    """Whether an operation in a program states the sharding of its results."""
    return _any_equation(jaxpr, "makes shards", states_sharding)


def _any_equation(jaxpr, key, predicate):
    """Whether a predicate holds for an equation of a program or of one inside it; cached with each program by `key`."""
    if key not in jaxpr.cache:
        jaxpr.cache[key] = any(
            predicate(eqn) or any(_any_equation(inner, key, predicate) for inner in jaxprs_in_params(eqn.params))
            for eqn in jaxpr.eqns
        )
    return jaxpr.cache[key]


def states_sharding(eqn):
    """Whether an equation states the sharding of its results."""
    primitive, params = eqn.primitive, eqn.params
    if primitive in (shard_map_p, sharding_constraint_p, reshard_p):
        return True
    if primitive is jit_p and any((*params["in_shardings"], *params["out_shardings"])):
        return True
    return primitive is device_put_p and any(isinstance(d, Sharding) for d in params["devices"])


def first_device(leaves):
    """The first device of the first value that is on several devices; None if there is none."""
    if not any(map(has_shards, leaves)):
        return None
    return multi_device().sharding_propagation.first_device_of(leaves)


def shardings_of_results(jaxpr, leaves, in_shardings=(), out_shardings=()):
    """The sharding of each result; None if everything is on one device."""
    stated = in_shardings or out_shardings
    if not stated and not any(map(has_shards, leaves)) and not makes_shards(jaxpr):
        return None
    return multi_device().sharding_propagation.shardings_of_results(jaxpr, leaves, in_shardings, out_shardings)


def staged_shardings(call, staged):
    """The StagedShardings of a call that is compiled ahead of time; None if everything is on one device."""
    options = call.options
    stated = options.in_shardings is not None or options.out_shardings is not None
    if not stated and all(getattr(x, "sharding", None) is None or _on_one_device(x) for x in call.leaves):
        if not makes_shards(staged.jaxpr):
            given = [] if options.device is not None else staged_arguments(call)
            if len({s._ordered_devices() for s in given if s is not None}) > 1:
                check_devices_of_program(staged.jaxpr, call, given, ())
            return None
    return multi_device().staged_shardings.of_call(call, staged)


def staged_arguments(call):
    """For each argument of a call that is compiled ahead of time the sharding that it has or states, or None."""
    structs = [x.sharding if isinstance(x, ShapeDtypeStruct) else None for x in call.leaves]
    return [s or own for s, own in zip(structs, committed_shardings(call.leaves))]


def _on_one_device(x):
    if isinstance(x, ShapeDtypeStruct):
        return not isinstance(x.sharding, NamedSharding)
    return type(x) is ArrayImpl and x._shards is None


def device_of_types(leaves):
    """The device to which an array is committed, or that a ShapeDtypeStruct states; None if there is none."""
    for x in leaves:
        if type(x) is ArrayImpl and x._committed and x._shards is None:
            return x.device
        if isinstance(x, ShapeDtypeStruct) and isinstance(x.sharding, SingleDeviceSharding):
            return x.sharding._device
    return None


def check_shardings(leaves, required, arg_names):
    """Raises ValueError if a leaf is committed to another sharding than that required of it, where that is not None."""
    wrong = []
    for i, (x, sharding) in enumerate(zip(leaves, required)):
        if sharding is None or type(x) is not ArrayImpl or not x._committed:
            continue
        if not x.sharding.is_equivalent_to(sharding, x.ndim):
            wrong.append(
                f"Argument {arg_names()[i]} with shape {x.aval.str_short()}:\n  Passed sharding: {x.sharding}\n"
                f"  Required sharding: {sharding}"
            )
    if wrong:
        raise ValueError(
            "Computation was compiled for input shardings that disagree with the shardings of arguments passed to it. "
            f"Here are the {len(wrong)} mismatches:\n" + "\n".join(wrong)
        )


def partitioned(jaxpr, leaves, shardings):
    """The program that is compiled for arguments and the shardings of its results (`shardings_of_results`).

    Its types say nothing of shardings.  Where devices run a program each, that is the partitioned program.
    """
    jaxpr = without_sharding_types(jaxpr)
    if not shardings or isinstance(shardings[0].mesh, AbstractMesh) or not has_separate_devices(shardings[0].mesh):
        return jaxpr
    return multi_device().spmd.partition_call(jaxpr, leaves, shardings)


def has_separate_regions(jaxpr):
    """Whether a program holds a shard_map over separate devices."""
    return _any_equation(jaxpr, ("separate regions", config.onax_separate_devices), _is_separate_region)


def _is_separate_region(eqn):
    return eqn.primitive is shard_map_p and has_separate_devices(eqn.params["mesh"])


def place_eager_result(primitive, operands, params, out):
    """The result of an eager operation, of whose operands some are on several devices."""
    return multi_device().sharding_propagation.place_eager_result(primitive, operands, params, out)


def spans_processes(jaxpr, leaves, stated=()):
    """Whether an argument of a program, a mesh in it, or a stated sharding has devices of several processes."""
    if processes.current() is None:
        return False
    if any(isinstance(s, Sharding) and not s.is_fully_addressable for s in stated):
        return True
    return any(map(is_spanning, leaves)) or _any_equation(jaxpr, "spans processes", _spans_processes)


def _spans_processes(eqn):
    if eqn.primitive is shard_map_p and eqn.params["mesh"].is_multi_process:
        return True
    return not all(sharding.is_fully_addressable for sharding in stated_shardings(eqn))


def stated_shardings(eqn):
    """The shardings that the parameters of an equation state."""
    params, stated = eqn.params, ()
    if eqn.primitive is sharding_constraint_p or eqn.primitive is reshard_p:
        stated = (params["sharding"],)
    elif eqn.primitive is device_put_p:
        stated = params["devices"]
    elif eqn.primitive is jit_p:
        stated = (*params["in_shardings"], *params["out_shardings"])
    return list(filter(_is_over_devices, stated))


def evaluate_spanning(primitive, operands, params):
    """The result of an operation of which some operands lie in several processes."""
    return multi_device().multi_process.evaluate(primitive, operands, params)
