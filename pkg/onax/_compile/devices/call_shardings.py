"""The options `in_shardings` and `out_shardings` of jit, applied to the arguments and results of a call."""

import dataclasses

from onax._core.meshes import DuplicateSpecError, PartitionSpec, mesh_of_options, mesh_of_specs
from onax._core.sharding import NamedSharding, Sharding, check_rank, is_abstract, resolve_spec, splits_alike
from onax._core.trace import typeof
from onax._core.transfer_guards import is_guarded, report_move
from onax._ground.config import guard_state
from onax._native.array import ArrayImpl
from onax._native.avals import ShapedArray
from onax._native.tree import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten
from onax._transforms.transfer import broadcast_devices, device_put


def _resolve(options, option, abstract=False):
    """An option of jit that is a tree of shardings, with shardings over the mesh in context for PartitionSpecs.

    With `abstract`, shardings over an AbstractMesh stay as they are where there is no mesh in context.
    """
    mesh = mesh_of_options(options.uses_with_mesh)
    text = (
        f"{'pjit' if options.uses_with_mesh else 'jit'} requires a non-empty mesh in context if you are passing "
        f"`PartitionSpec`s to {option}. You can define a context mesh via `jax.set_mesh(mesh)`. Alternatively, provide "
        f"`Sharding`s to {option} and then the mesh context manager is not required."
    )

    def resolve(sharding):
        if abstract and is_abstract(sharding) and mesh_of_specs().empty:
            return sharding
        return resolve_spec(sharding, RuntimeError, text, mesh)

    try:
        return tree_map(resolve, getattr(options, option))
    except DuplicateSpecError as error:
        raise DuplicateSpecError(str(error).replace("NamedSharding spec", option, 1)) from None


def over_mesh(options):
    """The options of jit with shardings over the mesh in context for PartitionSpecs."""
    found = {
        o: _resolve(options, o, abstract=True)
        for o in ("in_shardings", "out_shardings")
        if getattr(options, o) is not None
    }
    return dataclasses.replace(options, **found)


def _check_ranks(shardings, avals, what, names):
    """Raises ValueError for a sharding with more dimensions than its argument or result has."""
    for sharding, aval, name in zip(shardings, avals, names):
        if isinstance(aval, ShapedArray):
            check_rank(sharding, aval.ndim, f"pjit {what} with pytree key path {name}")


def _positional_arguments(call):
    """The positional arguments that are not static; raises ValueError for keyword arguments, as in JAX."""
    dynamic, keyword = call.dynamic_arguments()
    if keyword or (call.statics is not None and any(isinstance(name, str) for name in call.statics[1])):
        raise ValueError("pjit does not support kwargs when in_shardings is specified.")
    return dynamic


def stated_of_arguments(call, abstract=False):
    """For each argument leaf of a call what `in_shardings` states; `abstract` as in `_resolve`."""
    arguments = _positional_arguments(call)
    _check_is_tuple(call.options.in_shardings, arguments)
    resolved = _resolve(call.options, "in_shardings", abstract)
    return broadcast_devices(resolved, tree_structure(arguments), "pjit in_shardings")


def _check_is_tuple(shardings, arguments):
    """Raises ValueError for `in_shardings` that are a container, but no tuple with an entry for each argument."""
    if shardings is None or isinstance(shardings, (Sharding, PartitionSpec)):
        return
    if type(shardings) not in (tuple, list):  # a namedtuple may be meant for one argument
        fault = f"is not a tuple: got {type(shardings)} instead."
        if len(arguments) == 1:
            fault += (
                " Given the corresponding argument being passed, it looks like pjit in_shardings might need to be "
                "wrapped in a singleton tuple."
            )
    elif len(shardings) != len(arguments):
        fault = (
            f"is the wrong length: got a tuple or list of length {len(shardings)} for an args tuple of length "
            f"{len(arguments)}."
        )
    else:
        return
    raise ValueError(
        "pjit in_shardings specification must be a tree prefix of the positional arguments tuple. In particular, pjit "
        "in_shardings must either be a Sharding, a PartitionSpec, or a tuple of length equal to the number of "
        f"positional arguments. But pjit in_shardings {fault}"
    )


def params_of(call, staged):
    """The parameters of a `jit` equation with the shardings of arguments and results, None for each without one."""
    options, params = call.options, {}
    if options.in_shardings is not None:
        params["in_shardings"] = (*[None] * len(staged.hoisted), *stated_of_arguments(call))
    if options.out_shardings is not None:
        params["out_shardings"] = tuple(shardings_of_leaves(options, staged.out_tree, staged.jaxpr))
    return params


def shardings_of_leaves(options, out_tree, jaxpr=None, abstract=False):
    """For each result of a call what the option `out_shardings` states, with the mesh in context for PartitionSpecs;
    `abstract` as in `_resolve`.

    Raises ValueError for a sharding with more dimensions than its result of the program has.
    """
    stated = broadcast_devices(_resolve(options, "out_shardings", abstract), out_tree, "pjit out_shardings")
    if jaxpr is not None:
        _check_ranks(stated, jaxpr.out_avals, "outputs", jaxpr.debug_info.result_paths)
    return stated


def put_arguments(call):
    """The leaves of a call with the shardings of jit; raises ValueError for a leaf committed to another sharding."""
    dynamic, resolved = _positional_arguments(call), _resolve(call.options, "in_shardings")
    leaves, stated = tree_leaves(dynamic), stated_of_arguments(call)
    _check_ranks(stated, map(typeof, leaves), "arguments", call.arg_names())
    for x, sharding in zip(leaves, stated):
        if type(x) is ArrayImpl and isinstance(sharding, Sharding) and x.sharding.memory_kind != sharding.memory_kind:
            raise ValueError(
                "Memory kinds passed to jax.jit does not match memory kind on the respective arg. Got jit memory "
                f"kind: {sharding.memory_kind}, arg memory kind: {x.sharding.memory_kind} for arg type: "
                f"{x.aval.str_short()}"
            )
        if type(x) is ArrayImpl and x._committed and isinstance(sharding, Sharding):
            if not splits_alike(x.sharding, sharding, x.ndim):  # shards that are alike go to other devices, as in JAX
                raise ValueError(
                    "Sharding passed to jit does not match the sharding on the respective arg. Got jit sharding: "
                    f"{sharding},\narg sharding: {x.sharding} for arg type: {x.aval.str_short()}"
                )
        elif guard_state.used and type(x) is ArrayImpl and isinstance(sharding, Sharding) and is_guarded():
            report_move(x, sharding)
    return tree_leaves(device_put(dynamic, resolved))


def moved_to_device(leaves, device):
    """The leaves of a call of a function that was compiled for a device: those split over several lie on this one."""
    for x in leaves:
        if guard_state.used and type(x) is ArrayImpl and is_guarded():
            report_move(x, device)
    return [device_put(x, device) if type(x) is ArrayImpl and x._shards is not None else x for x in leaves]


def move_arguments(arguments, options):
    """The leaves of (args, kwargs), of which the positional ones get the shardings of jit."""
    args, kwargs = arguments
    return tree_leaves((device_put(args, _resolve(options, "in_shardings")), kwargs))


def put_results(result, options, shardings):
    """The results with the shardings that the option `out_shardings` states.

    `shardings` are those of the program's results, or None; a result without a stated sharding keeps its sharding.
    """
    leaves, tree = tree_flatten(result)
    stated = shardings_of_leaves(options, tree)
    mesh = next((s.mesh for s in stated if isinstance(s, NamedSharding)), None)
    if shardings is None:
        shardings = [None if mesh is None else NamedSharding(mesh, PartitionSpec())] * len(leaves)
    placed = [device_put(x, s if w is None else w) for x, s, w in zip(leaves, shardings, stated)]
    return tree_unflatten(tree, placed)
