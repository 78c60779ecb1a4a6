"""Where results lie when operands lie on several devices.

One program computes whole values; how they are spread afterwards follows from the operands, operation by operation, as
the partitioner of JAX does it in the plain cases: a dimension that goes through an operation keeps the mesh axes that
cut it, a dimension that is reduced, indexed or cut to a size they do not divide loses them.  `shard_map`
and `with_sharding_constraint` say themselves where their results lie.
"""

from onax._control.checkpoint import remat_p
from onax._control.closed_call import closed_call_p
from onax._control.cond import cond_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_vjp_call_p
from onax._control.custom_vmap import custom_vmap_p
from onax._control.jit_call import jit_p
from onax._control.parallel import shard_map_p
from onax._control.scan import scan_p
from onax._control.while_loop import while_p
from onax._core.jaxpr import Literal, jaxprs_in_params
from onax._core.sharding import (
    NamedSharding,
    PartitionSpec,
    Sharding,
    fitting,
    in_context_of_mesh,
    names_in,
    with_new_axis,
)
from onax._core.shards import spread_over
from onax._core.trace import typeof
from onax._native.array import ArrayImpl
from onax._native.hooks import hooks
from onax._native.tree import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten
from onax._prims.dot import dot_general_p
from onax._prims.indexing import gather_p
from onax._prims.misc import device_put_p
from onax._prims.misc_sharding import fit_sharding, sharding_constraint_p
from onax._prims.reductions import argmax_p, argmin_p
from onax._prims.shaping import broadcast_in_dim_p, reshape_p, squeeze_p, transpose_p
from onax._prims.slicing import dynamic_slice_p, slice_p
from onax._prims.stacking import stack_p
from onax._transforms.transfer import device_put, places_of_leaves

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
_BODIES = {
    jit_p: "jaxpr",
    remat_p: "jaxpr",
    custom_jvp_call_p: "call_jaxpr",
    custom_vjp_call_p: "call_jaxpr",
    closed_call_p: "call_jaxpr",
}
_BODIES[custom_vmap_p] = "call"


def _like(cuts, avals, shape):
    """Each dimension as the first operand of this rank has it that is cut there."""
    out = [()] * len(shape)
    for cut, aval in zip(cuts, avals):
        if aval.ndim == len(shape):
            out = [a or b for a, b in zip(out, cut)]
    return out


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
        return [_as_named(fit_sharding(params["sharding"], avals[0].shape))]
    if primitive is device_put_p:
        return [s or _replicated(d) for d, s in zip(params["devices"], shardings)]
    if primitive is jit_p:
        return _results_of_call(params["jaxpr"], shardings, params["in_shardings"], params["out_shardings"])
    if primitive in _LOOPS:
        return _LOOPS[primitive](shardings, params)
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
    return [fitting(mesh, rule(cuts, avals, a.shape, params), a.shape) for a in out_avals]


def _through(cuts, avals, shape, params):
    """Operations whose results have the dimensions of their operands: elementwise, sorting, slicing, scans."""
    return _like(cuts, avals, shape)


def _as_named(place):
    return place if isinstance(place, NamedSharding) else None


def _replicated(place):
    """Where `device_put` inside a program leaves a value: on all devices named, whole, as in JAX."""
    named = _as_named(place)
    return None if named is None else NamedSharding(named.mesh, PartitionSpec())


def _results_of_scan(shardings, params):
    """The carry as the body leaves it; stacked results with a whole dimension in front."""
    n, m, body = params["num_consts"], params["num_carry"], params["jaxpr"]
    xs = [None if s is None else NamedSharding(s.mesh, PartitionSpec(*s.spec[1:])) for s in shardings[n + m :]]
    found = results_of_program(body, [*shardings[: n + m], *xs])
    return [*found[:m], *(with_new_axis(s, 0, None) for s in found[m:])]


def _results_of_while(shardings, params):
    return results_of_program(params["body_jaxpr"], shardings[params["cond_nconsts"] :])


def _results_of_cond(shardings, params):
    each = [results_of_program(branch, shardings[1:]) for branch in params["branches"]]
    return [next((s for s in found if s is not None), None) for found in zip(*each)]


_LOOPS = {scan_p: _results_of_scan, while_p: _results_of_while, cond_p: _results_of_cond}


def _results_of_call(jaxpr, shardings, in_shardings, out_shardings):
    """As of the program, but for what the call states of arguments and results."""
    if in_shardings:
        shardings = [_as_named(stated) or s for stated, s in zip(in_shardings, shardings)]
    found = results_of_program(jaxpr, shardings)
    if out_shardings:
        found = [_as_named(stated) or s for stated, s in zip(out_shardings, found)]
    return found


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
            or (e.primitive is jit_p and any((*e.params["in_shardings"], *e.params["out_shardings"])))
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


def first_device_of(leaves):
    """The first device of values that lie on several; None if none does."""
    sharding = next((s for s in map(sharding_of, leaves) if s is not None), None)
    return None if sharding is None else sharding.mesh.devices.flat[0]


def places_of_results(jaxpr, leaves, in_shardings=(), out_shardings=()):
    """For each result of a compiled program its sharding; None when everything lies on one device."""
    shardings = [sharding_of(x) for x in leaves]
    mesh = next((s.mesh for s in shardings if s is not None), None)
    if mesh is None and not in_shardings and not out_shardings and not _makes_shards(jaxpr):
        return None
    found = _results_of_call(jaxpr, shardings, in_shardings, out_shardings)
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
    first = next((i for i, x in enumerate(operands) if sharding_of(x) is not None), None)
    for i, x in enumerate(operands if first is not None else ()):  # None: shards of another kind than over a mesh
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


def dynamic_arguments(jitted, args, kwargs):
    """The positional arguments that are not static; ValueError for keyword arguments, as in JAX."""
    dynamic, rest, _ = jitted.split(args, kwargs)
    if rest:
        raise ValueError("pjit does not support kwargs when in_shardings is specified.")
    return tuple(dynamic)


def stated(options, dynamic, staged):
    """The parameters of a `jit` equation that say where arguments and results lie; None where nothing was said."""
    params = {}
    if options.in_shardings is not None:
        wanted = places_of_leaves(resolve(options.in_shardings, "in_shardings"), tree_structure(dynamic))
        params["in_shardings"] = (*[None] * len(staged.hoisted), *wanted)
    if options.out_shardings is not None:
        params["out_shardings"] = tuple(_out_places(options.out_shardings, staged.out_tree))
    return params


def _in_places(in_shardings, dynamic):
    return places_of_leaves(in_shardings, tree_structure(dynamic), "pjit in_shardings")


def _out_places(out_shardings, out_tree):
    return places_of_leaves(resolve(out_shardings, "out_shardings"), out_tree, "pjit out_shardings")


def put_arguments(jitted, args, kwargs, in_shardings):
    """All arguments, where jit wants them; ValueError for one that the user has placed elsewhere."""
    dynamic = dynamic_arguments(jitted, args, kwargs)
    wanted = resolve(in_shardings, "in_shardings")
    for x, place in zip(tree_leaves(dynamic), _in_places(wanted, dynamic)):
        if type(x) is ArrayImpl and x._committed and isinstance(place, Sharding):
            if not x.sharding.is_equivalent_to(place, x.ndim):
                raise ValueError(
                    "Sharding passed to jit does not match the sharding on the respective arg. Got jit sharding: "
                    f"{place},\narg sharding: {x.sharding} for arg type: {x.aval.str_short()}"
                )
    moved = iter(device_put(dynamic, wanted))
    static = {i % len(args) for i in jitted.static_arguments[0] if -len(args) <= i < len(args)}
    return tuple([x if i in static else next(moved) for i, x in enumerate(args)])


def put_results(result, out_shardings, places):
    """The results where jit was told to put them; those it was told nothing of lie where the program leaves them."""
    leaves, tree = tree_flatten(result)
    wanted = _out_places(out_shardings, tree)
    mesh = next((s.mesh for s in wanted if isinstance(s, NamedSharding)), None)
    if places is None:
        places = [None if mesh is None else NamedSharding(mesh, PartitionSpec())] * len(leaves)
    placed = [device_put(x, s if w is None else w) for x, s, w in zip(leaves, places, wanted)]
    return tree_unflatten(tree, placed)


hooks.place_sharded_result = _place_eager
