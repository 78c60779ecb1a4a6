"""Where results lie when operands lie on several devices.

One program computes whole values; how they are spread afterwards follows from the operands, operation by operation, as
the partitioner of JAX does it in the plain cases: a dimension that goes through an operation keeps the mesh axes that
cut it, a dimension that is reduced, indexed or cut to a size they do not divide loses them.  `shard_map`
and `with_sharding_constraint` say themselves where their results lie.
"""

from onax._control.checkpoint import remat_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_vjp_call_p
from onax._control.custom_vmap import custom_vmap_p
from onax._control.jit_call import jit_p
from onax._control.parallel import shard_map_p
from onax._core.jaxpr import Literal, jaxprs_in_params
from onax._core.sharding import NamedSharding, PartitionSpec, Sharding, in_context_of_mesh, names_in
from onax._core.shards import spread_over
from onax._core.trace import typeof
from onax._native import dispatch
from onax._native.array import ArrayImpl
from onax._native.tree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from onax._prims.dot import dot_general_p
from onax._prims.indexing import gather_p
from onax._prims.misc import device_put_p
from onax._prims.misc_sharding import sharding_constraint_p
from onax._prims.reductions import argmax_p, argmin_p
from onax._prims.shaping import broadcast_in_dim_p, reshape_p, squeeze_p, transpose_p
from onax._prims.slicing import dynamic_slice_p, slice_p
from onax._prims.stacking import stack_p
from onax._transforms.transfer import device_put, spread

# ---- rules: (axes of each dimension, for each operand; operand avals; result shape; params) -> axes of each dimension
#
# The axes of an operand that lies on one device are empty tuples.


def _transpose(cuts, avals, shape, params):
    return [cuts[0][i] for i in params["permutation"]]


def _reduce(cuts, avals, shape, params):
    return [c for i, c in enumerate(cuts[0]) if i not in params["axes"]]


def _squeeze(cuts, avals, shape, params):
    return [c for i, c in enumerate(cuts[0]) if i not in params["dimensions"]]


def _broadcast(cuts, avals, shape, params):
    out = [()] * len(shape)
    for i, d in enumerate(params["broadcast_dimensions"]):
        out[d] = cuts[0][i]
    return out


def _reshape(cuts, avals, shape, params):
    """Dimensions that become one, or come out of one, hand the axes of their first to its first."""
    old, out, i, j = avals[0].shape, [()] * len(shape), 0, 0
    while i < len(old) and j < len(shape):
        first_old, first_new, m, n = i, j, old[i], shape[j]
        i, j = i + 1, j + 1
        while m != n and (i < len(old) if m < n else j < len(shape)):
            if m < n:
                m, i = m * old[i], i + 1
            else:
                n, j = n * shape[j], j + 1
        out[first_new] = cuts[0][first_old]
    return out


def _dot(cuts, avals, shape, params):
    (lc, rc), (lb, rb) = params["dimension_numbers"]
    left = [c for i, c in enumerate(cuts[0]) if i not in lc and i not in lb]
    right = [c for i, c in enumerate(cuts[1]) if i not in rc and i not in rb]
    return [*(cuts[0][a] or cuts[1][b] for a, b in zip(lb, rb)), *left, *right]


def _stack(cuts, avals, shape, params):
    merged = _like(cuts, avals, avals[0].shape)
    return [*merged[: params["axis"]], (), *merged[params["axis"] :]]


def _gather(cuts, avals, shape, params):
    """Dimensions that are taken whole keep their axes."""
    numbers, old = params["dimension_numbers"], avals[0].shape
    gone = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    out = [()] * len(shape)
    for place, d in zip(numbers.offset_dims, [d for d in range(len(old)) if d not in gone]):
        if shape[place] == old[d]:
            out[place] = cuts[0][d]
    return out


def _whole_only(cuts, avals, shape, params):
    """Dimensions of unchanged size keep their axes: slices, where no program is compiled around them."""
    return [c if m == n else () for c, m, n in zip(cuts[0], avals[0].shape, shape)]


_RULES = {
    gather_p: _gather,
    transpose_p: _transpose,
    argmax_p: _reduce,
    argmin_p: _reduce,
    squeeze_p: _squeeze,
    broadcast_in_dim_p: _broadcast,
    reshape_p: _reshape,
    dot_general_p: _dot,
    stack_p: _stack,
}
_EAGER_RULES = {slice_p: _whole_only, dynamic_slice_p: _whole_only}
_BODIES = {jit_p: "jaxpr", remat_p: "jaxpr", custom_jvp_call_p: "call_jaxpr", custom_vjp_call_p: "call_jaxpr"}
_BODIES[custom_vmap_p] = "call"


def _like(cuts, avals, shape):
    """Each dimension as the first operand of this rank has it that is cut there."""
    out = [()] * len(shape)
    for cut, aval in zip(cuts, avals):
        if aval.ndim == len(shape):
            out = [a or b for a, b in zip(out, cut)]
    return out


def _fitting(mesh, cut, shape):
    """The spec: without axes named twice, and without those that do not divide their dimension."""
    seen, entries = set(), []
    for names, n in zip(cut, shape):
        count = 1
        for a in names:
            count *= mesh.shape[a]
        fits = n % count == 0 and not seen & set(names)
        entries.append(names if fits else None)
        seen |= set(names) if fits else set()
    while entries and not entries[-1]:
        entries.pop()
    return NamedSharding(mesh, PartitionSpec(*entries))


def _axes(sharding, ndim):
    if sharding is None:
        return [()] * ndim
    entries = [names_in(entry) for entry in sharding.spec]
    return entries + [()] * (ndim - len(entries))


def results_of(primitive, shardings, avals, params, out_avals, eager=False):
    """For each result of an operation its sharding, or None; `shardings` are those of the operands, or None."""
    if primitive is shard_map_p:
        return [NamedSharding(params["mesh"], spec) for spec in params["out_specs"]]
    if primitive is sharding_constraint_p:
        return [_as_named(params["sharding"])]
    if primitive is device_put_p:
        return [s or _replicated(d) for d, s in zip(params["devices"], shardings)]
    if primitive is jit_p and any(s is not None for s in params["out_shardings"]):
        return [s if isinstance(s, NamedSharding) else None for s in params["out_shardings"]]
    if primitive in _BODIES:
        return results_of_program(params[_BODIES[primitive]], shardings)
    mesh = next((s.mesh for s in shardings if s is not None), None)
    if mesh is None:
        return [None] * len(out_avals)
    cuts = [_axes(s if s is not None and s.mesh == mesh else None, a.ndim) for s, a in zip(shardings, avals)]
    rule = _EAGER_RULES.get(primitive) if eager else None
    rule = rule or _RULES.get(primitive)
    if rule is None:
        reduces = "axes" in params and len(avals) == 1 and avals[0].ndim == out_avals[0].ndim + len(params["axes"])
        rule = _reduce if reduces else _through
    return [_fitting(mesh, rule(cuts, avals, a.shape, params), a.shape) for a in out_avals]


def _through(cuts, avals, shape, params):
    """Operations whose results have the dimensions of their operands: elementwise, sorting, slicing, scans."""
    return _like(cuts, avals, shape)


def _as_named(place):
    return place if isinstance(place, NamedSharding) and len(place.device_set) > 1 else None


def _replicated(place):
    """Where `device_put` inside a program leaves a value: on all devices named, whole, as in JAX."""
    named = _as_named(place)
    return None if named is None else NamedSharding(named.mesh, PartitionSpec())


def results_of_program(jaxpr, shardings):
    """For each result of a program its sharding, or None."""
    key = ("placing", tuple(shardings))
    if key not in jaxpr.cache:
        env = dict(zip(jaxpr.invars, shardings))
        read = lambda atom: None if type(atom) is Literal else env.get(atom)
        for eqn in jaxpr.eqns:
            found = results_of(
                eqn.primitive, [read(a) for a in eqn.invars], [a.aval for a in eqn.invars], eqn.params,
                [v.aval for v in eqn.outvars],
            )  # fmt: skip
            env.update(zip(eqn.outvars, found))
        jaxpr.cache[key] = [read(a) for a in jaxpr.outvars]
    return jaxpr.cache[key]


def _makes_shards(jaxpr):
    """Whether something in a program says that its result lies on several devices."""
    found = jaxpr.cache.get("makes shards")
    if found is None:
        found = any(
            e.primitive in (shard_map_p, sharding_constraint_p)
            or (e.primitive is device_put_p and any(isinstance(d, Sharding) for d in e.params["devices"]))
            or any(_makes_shards(inner) for inner in jaxprs_in_params(e.params))
            for e in jaxpr.eqns
        )
        jaxpr.cache["makes shards"] = found
    return found


def sharding_of(x):
    """The sharding of a value that lies on several devices, else None."""
    sharding = x.sharding if getattr(x, "_shards", None) is not None else None
    return sharding if isinstance(sharding, NamedSharding) else None


def places_of_results(jaxpr, leaves):
    """For each result of a compiled program its sharding; None when everything lies on one device."""
    shardings = [sharding_of(x) for x in leaves]
    mesh = next((s.mesh for s in shardings if s is not None), None)
    if mesh is None and not _makes_shards(jaxpr):
        return None
    found = results_of_program(jaxpr, shardings)
    mesh = next((s.mesh for s in found if s is not None), mesh)
    if mesh is None:
        return None
    return [NamedSharding(mesh, PartitionSpec()) if s is None else s for s in found]


def place(results, places):
    """The flat results as they lie."""
    return [spread_over(x, s) for x, s in zip(results, places)]


def place_tree(result, places):
    """A tree of results as they lie."""
    leaves, tree = tree_flatten(result)
    return tree_unflatten(tree, place(leaves, places))


def _place_eager(primitive, operands, params, out):
    """The result of an operation carried out on operands of which some lie on several devices."""
    outs = out if primitive.multiple_results else [out]
    _check_devices(primitive, operands)
    avals, out_avals = [typeof(x) for x in operands], [typeof(x) for x in outs]
    shardings = results_of(primitive, [sharding_of(x) for x in operands], avals, params, out_avals, eager=True)
    placed = [x if s is None else spread_over(x, s) for x, s in zip(outs, shardings)]
    return placed if primitive.multiple_results else placed[0]


def _check_devices(primitive, operands):
    """ValueError for an operand that is committed to a device beside those of the sharded ones."""
    first = next(i for i, x in enumerate(operands) if sharding_of(x) is not None)
    for i, x in enumerate(operands):
        if type(x) is ArrayImpl and x._committed and x.devices() != operands[first].devices():
            texts = [_described(primitive, operands, j) for j in sorted((first, i))]
            raise ValueError(f"Received incompatible devices for jitted computation. Got {texts[0]} and {texts[1]}")


def _described(primitive, operands, i):
    x, name = operands[i], "xyz"[i] if len(operands) <= 3 else f"args[{i}]"
    devices = sorted(x.devices(), key=lambda d: d.id)
    return (
        f"argument {name} of {primitive.name} with shape {x.aval.str_short()} and with device ids "
        f"{[d.id for d in devices]} on platform {devices[0].platform.upper()}"
    )


# ---- what jit was told


def resolve(places, what):
    """A tree of places with shardings over the mesh in context for its PartitionSpecs."""
    text = (
        f"jit requires a non-empty mesh in context if you are passing `PartitionSpec`s to {what}. You can define a "
        "context mesh via `jax.set_mesh(mesh)`, or pass shardings, which name their mesh."
    )
    return tree_map(lambda p: in_context_of_mesh(p, RuntimeError, text), places)


def stated(options, args, staged):
    """The parameters of a `jit` equation that say where arguments and results lie; None where nothing was said."""
    params = {}
    if options.in_shardings is not None:
        wanted = tree_leaves(spread(resolve(options.in_shardings, "in_shardings"), args), is_leaf=lambda x: x is None)
        count = len(staged.jaxpr.invars) - len(wanted)  # hoisted values, and keyword arguments
        params["in_shardings"] = (*[None] * len(staged.hoisted), *wanted, *[None] * (count - len(staged.hoisted)))
    if options.out_shardings is not None:
        results = tree_unflatten(staged.out_tree, [0] * staged.out_tree.num_leaves)
        wanted = spread(resolve(options.out_shardings, "out_shardings"), results)
        params["out_shardings"] = tuple(tree_leaves(wanted, is_leaf=lambda x: x is None))
    return params


def put_arguments(args, in_shardings):
    """The arguments where jit wants them; ValueError for one that the user has placed elsewhere."""
    wanted = resolve(in_shardings, "in_shardings")
    for x, place in zip(tree_leaves(args), tree_leaves(spread(wanted, args))):
        if type(x) is ArrayImpl and x._committed and isinstance(place, Sharding):
            if not x.sharding.is_equivalent_to(place, x.ndim):
                raise ValueError(
                    "Sharding passed to jit does not match the sharding on the respective arg. Got jit sharding: "
                    f"{place},\narg sharding: {x.sharding} for arg type: {x.aval.str_short()}"
                )
    return device_put(args, wanted)


dispatch.set_sharded_handler(_place_eager)
