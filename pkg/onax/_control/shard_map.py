"""shard_map: maps a function over shards of arrays, one on each device of a mesh.

The body is staged on the types of shards; collectives in it name axes of the mesh.  On virtual devices one program
computes all shards: the body is batched over each axis in turn.  A sharded dimension of an argument is reshaped into
mapped axes and the dimension of a shard, and results are assembled in the same way; afterwards the shards of results
are placed on their devices.  Separate devices (`has_separate_devices`) each run the body on their own shards:
`_compile/devices/partition.py`.

    in_specs, out_specs    a PartitionSpec for each argument and result: the mesh axes that shard its dimensions
    manual axes            the mesh axes that the body sees; no value is sharded over the others

With check_vma, types in the body say over which axes values vary (`_transforms/varying_types.py`), and a result that is
not sharded over an axis must not vary over it.  Without it the value of the first device is taken, as in JAX.
"""

import functools
from collections.abc import Callable
from typing import Any

from onax._control.jit_call import call_params, jit_p
from onax._control.manual_region import ManualRegion, global_program, has_separate_devices, mapped_axes, not_replicated
from onax._control.shard_map_specs import (
    REPLICATED,
    Infer,
    axes_of_specs,
    check_inferred,
    check_spread,
    mesh_for,
    specs_of_arguments,
    specs_of_arrays,
    specs_of_results,
)
from onax._control.shard_values import run_batched, split_shards, values_of
from onax._core import jaxpr as core
from onax._core.axes import AxisData, manual_axes, spread_axes
from onax._core.evaluate import bind_with_refs, eval_jaxpr
from onax._core.explicit_axes import automatic_axes, is_split
from onax._core.facts import ON_SHARDS
from onax._core.hitypes import HiPspec, holds_hitypes
from onax._core.lists import merge_lists, reject, select
from onax._core.meshes import AbstractMesh, PartitionSpec
from onax._core.programs import REGION, HeldProgram, programs
from onax._core.refs import AbstractRef, check_distinct
from onax._core.result_checks import SPECIAL
from onax._core.rewrite import eliminate_dead_code, prune
from onax._core.sharding import NamedSharding, insert_spec_entry, names_in, with_whole_spec
from onax._core.shards import shard_array
from onax._core.trace import as_array, find_cur_trace, typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground.config import DISABLE_JIT
from onax._ground.typing import AnyFunction
from onax._native import context
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._native.hooks import hooks
from onax._native.tree import tree_leaves, tree_structure, tree_unflatten
from onax._prims.collectives import psum_p
from onax._prims.creation import full_like
from onax._prims.elementwise import div
from onax._prims.shaping import expand_dims, squeeze
from onax._prims.varying import vary_over, vary_unreduced_cast_p
from onax._transforms.batching import batch_jaxpr
from onax._transforms.discharge import discharge_refs
from onax._transforms.flatten import (
    FlatFunction,
    check_callable,
    debug_info,
    record_results,
)
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.linearize import linearize_jaxpr
from onax._transforms.lower_hitypes import flat, lower_program, lower_values, raise_values, to_lo
from onax._transforms.partial_eval import partial_eval_custom_rules, partial_eval_jaxpr, partial_eval_jaxpr_custom
from onax._transforms.staging import derive_jaxpr, trace_to_jaxpr
from onax._transforms.transpose import transpose_jaxpr
from onax._transforms.varying_types import varying_axes

# ---- the primitive


def _impl(*args, jaxpr, **params):
    if holds_hitypes(jaxpr):
        return _to_lo(args, jaxpr=jaxpr, **params)
    partly = len(params["newly_manual_axes"]) < len(params["mesh"].axis_names)  # the body says how the rest lies
    if (partly or has_separate_devices(params["mesh"])) and not context.option_word() & (DISABLE_JIT | SPECIAL):
        called = _program_of_equation(jaxpr, params)
        return jit_p.bind(*args, **call_params(called, jaxpr.debug_info.func_name))
    program = global_program(jaxpr, params)
    with automatic_axes():  # operations on the parts of all devices give whole values, not values with those types
        outs = eval_jaxpr(program, program.consts, *args)
    specs = map(ManualRegion.of(params).result_spec, jaxpr.out_avals, params["out_specs"])
    shardings = [NamedSharding(params["mesh"], spec) for spec in specs]
    if partly:
        shardings = [with_whole_spec(s, x.ndim) for s, x in zip(shardings, outs)]
    return list(map(shard_array, outs, shardings))


def _program_of_equation(jaxpr, params):
    """A program with this equation alone, for separate devices, which run compiled programs; cached with its body."""
    key = ("alone", *params.values())
    if key not in jaxpr.cache:
        region = ManualRegion.of(params)
        avals = [region.unshard_aval(v.aval, spec) for v, spec in zip(jaxpr.invars, params["in_specs"])]
        fun = lambda *args: shard_map_p.bind(*args, jaxpr=jaxpr, **params)
        jaxpr.cache[key] = derive_jaxpr(fun, avals, jaxpr)
    return jaxpr.cache[key]


def _abstract_eval(*avals, jaxpr, out_specs, **params):
    region = ManualRegion.of(params)
    return [region.typed_result(a, spec) for a, spec in zip(jaxpr.out_avals, out_specs)]


def _bind(jaxpr, args, params, in_specs, out_specs):
    return shard_map_p.bind(
        *args, **{**params, "jaxpr": jaxpr, "in_specs": tuple(in_specs), "out_specs": tuple(out_specs)}
    )


def _batch(axis_data, operands, dims, *, jaxpr, in_specs, out_specs, **params):
    region, spread = ManualRegion.of(params), axis_data.spmd_name
    if spread is None and set(names_in(axis_data.explicit_mesh_axis)).issubset(region.names):
        spread = axis_data.explicit_mesh_axis
    check_spread(axis_data, in_specs, out_specs)
    if spread is not None:  # the mapped axis is sharded over axes of the mesh
        axis_data = AxisData(axis_data.name, axis_data.size // region.size(names_in(spread)))
    if axis_data.name in region.names:  # in the body the name is that of the region's own axis
        axis_data = AxisData(None, axis_data.size, axis_data.spmd_name, axis_data.of_devices)
    with region.scope():
        derived, dims_out = batch_jaxpr(jaxpr, axis_data, dims)
    new_in = [s if d is None else insert_spec_entry(s, d, spread) for s, d in zip(in_specs, dims)]
    new_out = [s if d is None else insert_spec_entry(s, d, spread) for s, d in zip(out_specs, dims_out)]
    if spread is not None:
        derived = _with_varying_types(derived, region, new_in, new_out)
    return _bind(derived, operands, params, new_in, new_out), dims_out


def _with_varying_types(jaxpr, region, in_specs, out_specs):
    """The body, whose types say that arguments and results vary over the axes in these specs."""
    if not region.checked:
        return jaxpr

    def fun(*args):
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *args)
        return [vary_over(x, region.mentioned_axes(spec)) for x, spec in zip(outs, out_specs)]

    with region.scope():
        return derive_jaxpr(fun, [region.varying_aval(v.aval, s) for v, s in zip(jaxpr.invars, in_specs)], jaxpr)


def _jvp(primals, tangents, *, jaxpr, in_specs, out_specs, **params):
    nonzeros = [type(t) is not Zero for t in tangents]
    with ManualRegion.of(params).scope():
        derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    outs = _bind(
        derived,
        [*primals, *(t for t in tangents if type(t) is not Zero)],
        params,
        [*in_specs, *select(in_specs, nonzeros)],
        [*out_specs, *select(out_specs, nonzeros_out)],
    )
    n = len(jaxpr.outvars)
    return outs[:n], _insert_zero_tangents(jaxpr, params, out_specs, nonzeros_out, outs[n:])


def _insert_zero_tangents(jaxpr, params, out_specs, nonzeros_out, tangents):
    """Inserts symbolic zeros between the nonzero tangents of results."""
    region, rest = ManualRegion.of(params), iter(tangents)
    return [
        next(rest) if nonzero else Zero(region.unshard_aval(v.aval, spec).to_tangent_aval())
        for v, spec, nonzero in zip(jaxpr.outvars, out_specs, nonzeros_out)
    ]


def add_unit_axes(jaxpr, positions, results):
    """Adds a leading axis of length 1 to some arguments or results, so that scalars can be sharded."""
    chosen = frozenset(positions)
    key = ("with rank", chosen, results)
    if key in jaxpr.cache:
        return jaxpr.cache[key]

    def fun(*args):
        if not results:
            args = [squeeze(x, (0,)) if i in chosen else x for i, x in enumerate(args)]
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *args)
        return [expand_dims(x, (0,)) if results and i in chosen else x for i, x in enumerate(outs)]

    avals = [v.aval for v in jaxpr.invars]
    if not results:
        avals = [a.update(shape=(1, *a.shape)) if i in chosen else a for i, a in enumerate(avals)]
    jaxpr.cache[key] = derive_jaxpr(fun, avals, jaxpr)
    return jaxpr.cache[key]


def _residual_specs(region, jaxpr, in_specs):
    """The specs of the results of a body that leave it as they are: sharded, along their first dimension, over all axes
    over which they vary."""
    if region.checked:
        return [_spec_over(tuple(a for a in region.names if a in v.varying), v) for v in jaxpr.out_avals]
    key = ("varying", region.key, tuple(in_specs))
    if key not in jaxpr.cache:
        mapped = [None] * len(region.names)

        def fun(*args):
            pairs = [split_shards(region, x, spec) for x, spec in zip(args, in_specs)]
            return run_batched(region, 0, jaxpr, [x for x, _ in pairs], [u for _, u in pairs], mapped)

        trace_to_jaxpr(fun, [region.unshard_aval(v.aval, spec) for v, spec in zip(jaxpr.invars, in_specs)])
        varying = mapped_axes(region, mapped, len(jaxpr.outvars))
        jaxpr.cache[key] = [PartitionSpec(axes) if axes else REPLICATED for axes in varying]
    return jaxpr.cache[key]


def _spec_over(axes, aval):
    """The spec of a stack of shards over these axes, with the kinds that the type of a shard states."""
    if not aval.unreduced and not aval.reduced:
        return PartitionSpec(axes) if axes else REPLICATED
    return PartitionSpec(*([axes] if axes else ()), unreduced=aval.unreduced, reduced=aval.reduced)


def _linearize(nonzeros, *primals, jaxpr, in_specs, out_specs, **params):
    with ManualRegion.of(params).scope():
        forward, linear, nonzeros_out, forwarded = linearize_jaxpr(jaxpr, nonzeros)
    linear, outs, residuals, specs = _bind_with_residuals(
        forward, linear, forwarded, primals, in_specs, out_specs, params
    )

    def apply(residuals, *tangents):
        given = [t for t in tangents if type(t) is not Zero]
        in_all, out_all = [*specs, *select(in_specs, nonzeros)], select(out_specs, nonzeros_out)
        results = _bind(linear, [*residuals, *given], params, in_all, out_all)
        return _insert_zero_tangents(jaxpr, params, out_specs, nonzeros_out, results)

    return outs, nonzeros_out, residuals, apply


def _bind_with_residuals(forward, linear, forwarded, args, in_specs, out_specs, params):
    """Binds the forward region; returns (linear program, results, residuals, specs of the residuals).

    Residuals leave the region as `_residual_specs` says.
    """
    region, n = ManualRegion.of(params), len(out_specs)
    with region.scope():
        computed = [i for i, f in enumerate(forwarded) if f is None]
        scalars = [j for j, v in enumerate(forward.outvars[n:]) if not v.aval.shape]
        forward = add_unit_axes(forward, [n + j for j in scalars], True)
        linear = add_unit_axes(linear, [computed[j] for j in scalars], False)
        residual_specs = _residual_specs(region, forward, in_specs)[n:]
    outs = _bind(forward, args, params, in_specs, [*out_specs, *residual_specs])
    rest, rest_specs = iter(outs[n:]), iter(residual_specs)
    residuals = [next(rest) if f is None else args[f] for f in forwarded]
    specs = [next(rest_specs) if f is None else in_specs[f] for f in forwarded]
    return linear, outs[:n], residuals, specs


def _partial_eval(linear, *args, jaxpr, in_specs, out_specs, **params):
    """A region for the known part, and one for the rest, which reads its residuals."""
    if all(linear):
        return None
    with ManualRegion.of(params).scope():
        forward, rest, unknown, forwarded = partial_eval_jaxpr(jaxpr, linear)
    known, known_specs = reject(args, linear), reject(in_specs, linear)
    rest, outs, residuals, specs = _bind_with_residuals(
        forward, rest, forwarded, known, known_specs, reject(out_specs, unknown), params
    )
    with find_cur_trace().recording_whole():
        in_all = [*specs, *select(in_specs, linear)]
        rest_outs = _bind(rest, [*residuals, *select(args, linear)], params, in_all, select(out_specs, unknown))
    return merge_lists(unknown, outs, rest_outs)


def _transpose(cts, *operands, jaxpr, in_specs, out_specs, **params):
    linear = [is_undefined_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cts]
    plain_specs = [s for s, flag in zip(in_specs, linear) if not flag]
    ct_specs, linear_specs = select(out_specs, nonzero_cts), select(in_specs, linear)
    derived, nonzeros_out = _transpose_body(jaxpr, ManualRegion.of(params), linear, nonzero_cts, ct_specs, linear_specs)
    plain = [x for x, flag in zip(operands, linear) if not flag]
    given = [ct for ct in cts if type(ct) is not Zero]
    given_specs, specs = map(_specs_of_cotangents, (ct_specs, select(linear_specs, nonzeros_out)))
    outs = _bind(derived, [*plain, *given], params, [*plain_specs, *given_specs], specs)
    results, has_ct = iter(outs), iter(nonzeros_out)
    return [
        None if not is_linear else next(results) if next(has_ct) else Zero(x.aval)
        for x, is_linear in zip(operands, linear)
    ]


def _specs_of_cotangents(specs):
    """The specs of cotangents of values with these: over the axes over which those are reduced they are unreduced."""
    return [s.update(unreduced=s.reduced, reduced=s.unreduced) for s in specs]


def _transpose_body(jaxpr, region, linear, nonzero_cts, ct_specs, linear_specs):
    """The transposed body; it sums the cotangent of an operand over the axes over which the operand is not sharded.

    The cotangent of a result is divided among the devices over which the result is not sharded.  Where types say which
    values vary, they take care of that.
    """
    key = ("transposed", region.key, spread_axes(), *map(tuple, (linear, nonzero_cts, ct_specs, linear_specs)))
    if key in jaxpr.cache:
        return jaxpr.cache[key]
    with region.scope():
        derived, nonzeros_out = transpose_jaxpr(jaxpr, linear, nonzero_cts)
        if region.checked:  # the types of the body sum what varies where an operand does not
            jaxpr.cache[key] = derived, nonzeros_out
            return derived, nonzeros_out
        n_plain = len(derived.invars) - len(ct_specs)
        summed = list(map(region.repeated_axes, select(linear_specs, nonzeros_out)))
        counts = [region.size(region.repeated_axes(s)) for s in ct_specs]

        def fun(*args):
            cts = list(map(_divide_among, args[n_plain:], counts))
            outs = eval_jaxpr(derived, derived.consts, *args[:n_plain], *cts)
            return [_sum_over_axes(x, axes) for x, axes in zip(outs, summed)]

        result = derive_jaxpr(fun, [v.aval for v in derived.invars], jaxpr)
    jaxpr.cache[key] = result, nonzeros_out
    return result, nonzeros_out


def _divide_among(ct, count):
    return ct if count == 1 else div(ct, full_like(ct, count))


def _sum_over_axes(ct, axes):
    return psum_p.bind(ct, axes=axes, axis_index_groups=None) if axes else ct


def _dce(used_outputs, eqn):
    """Drops unused results, and the operands that the body then does not need."""
    params = eqn.params
    pruned, used_inputs = prune(params["jaxpr"], used_outputs)
    if not any(used_outputs) and not pruned.effects:
        return [False] * len(eqn.invars), None
    if pruned is params["jaxpr"]:
        return used_inputs, eqn
    in_specs, out_specs = select(params["in_specs"], used_inputs), select(params["out_specs"], used_outputs)
    return used_inputs, eqn.replace(
        invars=select(eqn.invars, used_inputs),
        outvars=select(eqn.outvars, used_outputs),
        params={**params, "jaxpr": pruned, "in_specs": tuple(in_specs), "out_specs": tuple(out_specs)},
        effects=pruned.effects,
    )


shard_map_p = Primitive(
    "shard_map",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    partial_eval=_partial_eval,
    transpose=_transpose,
    batch=_batch,
    dce=_dce,
    weak=NEVER,
    facts={ON_SHARDS},
)


@to_lo.rule(shard_map_p)
def _to_lo(args, *, jaxpr, in_specs, out_specs, **params):
    region, lowered = ManualRegion.of(params), lower_values(args)
    given, stated = (list(map(specs_of_arrays, specs)) for specs in (in_specs, out_specs))
    avals = [
        [region.shard_aval(typeof(x), s) for x, s in zip(xs, specs)] for xs, specs in zip(lowered, given, strict=True)
    ]
    with region.scope():
        program = lower_program(jaxpr, avals)
    outs = _bind(program, flat(lowered), params, flat(given), flat(stated))
    return raise_values([region.typed_result(a, s) for a, s in zip(jaxpr.out_avals, out_specs)], outs)


def _type_of_shard(aval, mesh, manual_axes, check_vma, spec):
    return ManualRegion(mesh, manual_axes, check_vma).shard_aval(aval, spec)


def _type_of_whole(aval, mesh, check_vma, spec):
    return ManualRegion(mesh, mesh.axis_names, check_vma).typed_result(aval, spec)


hooks.type_of_shard = _type_of_shard
hooks.type_of_whole = _type_of_whole


@programs.rule(shard_map_p)
def _programs(eqn):
    operands, results = range(len(eqn.invars)), range(len(eqn.outvars))
    return [HeldProgram(eqn.params["jaxpr"], REGION, "jaxpr", None, operands, results)]


@partial_eval_custom_rules.rule(shard_map_p)
def _partial_eval_custom(saveable, unknown, instantiated, eqn):
    """A region for the known part, which returns what the policy saves, and one that recomputes the rest."""
    params, region = eqn.params, ManualRegion.of(eqn.params)
    in_specs, out_specs = params["in_specs"], params["out_specs"]
    with region.scope():
        split = partial_eval_jaxpr_custom(params["jaxpr"], unknown, saveable, instantiated=instantiated)
        known, staged, unknown_out, instantiated_out, avals = split
        n = unknown_out.count(False)
        scalars = [i for i, aval in enumerate(avals) if not aval.shape]
        known = add_unit_axes(known, [n + i for i in scalars], True)
        staged = eliminate_dead_code(add_unit_axes(staged, scalars, False))
        specs = _residual_specs(region, known, reject(in_specs, unknown))[n:]
    stored = [core.Var(region.unshard_aval(a, spec)) for a, spec in zip(known.out_avals[n:], specs)]

    def part(jaxpr, invars, outvars, in_specs, out_specs):
        own = {"jaxpr": jaxpr, "in_specs": tuple(in_specs), "out_specs": tuple(out_specs)}
        return eqn.replace(invars=invars, outvars=outvars, params={**params, **own}, effects=jaxpr.effects)

    first = part(
        known,
        reject(eqn.invars, unknown),
        [*reject(eqn.outvars, unknown_out), *stored],
        reject(in_specs, unknown),
        [*reject(out_specs, unknown_out), *specs],
    )
    second = part(
        staged,
        [*stored, *select(eqn.invars, instantiated)],
        select(eqn.outvars, instantiated_out),
        [*specs, *select(in_specs, instantiated)],
        select(out_specs, instantiated_out),
    )
    return first, second, unknown_out, instantiated_out, stored


def stage_body(fun, avals, in_specs, region, debug_info, values=None):
    """Stages a body on shards; returns (jaxpr that takes its constants first, constants).

    `values` finds what its tracers stand for, where the arguments are known.
    """
    shard_avals = [region.shard_aval(a, s) for a, s in zip(avals, in_specs)]
    with region.scope():
        closed = trace_to_jaxpr(fun, shard_avals, debug_info, values)
    return core.ClosedJaxpr(core.convert_constvars_jaxpr(closed), ()), closed.consts


def pure_region(jaxpr, params):
    """The body and parameters without references: the last values of those among the arguments are further results."""
    specs = [spec for v, spec in zip(jaxpr.invars, params["in_specs"]) if type(v.aval) is AbstractRef]
    with ManualRegion.of(params).scope():
        return discharge_refs(jaxpr), {**params, "out_specs": (*params["out_specs"], *specs)}


# ---- the function


def shard_map(
    f: AnyFunction = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = Infer,
    mesh: Any = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Callable[..., Any]:
    """Returns a function that maps `f` over shards of its arguments, one shard for each device of a mesh.

    Without `f` the result is a decorator.

    Args:
      f: a function of shards, which may use collectives over the mesh's axes.
      out_specs: PartitionSpecs of the results: one, or a prefix tree.
      in_specs: PartitionSpecs of the arguments: one, or a prefix tree of their tuple, with None for an argument that
        `f` gets as it is, of any type; by default those of the arguments' types.
      mesh: a Mesh; default None, the mesh in context.
      axis_names: the mesh axes over which `f` is mapped; default all.  Those over which an enclosing `shard_map` maps
        are left to it, unless the specs name them.
      check_vma: True (the default): results must be the same along axes over which they are not sharded.

    Returns:
      A function of whole arrays.

    Raises:
      ValueError: specs that do not fit the mesh, the arguments or the results.
      TypeError: `f` is not callable.

    Examples:
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> f = onax.shard_map(lambda x: onax.lax.psum(x, "x"), mesh=mesh, in_specs=onax.P("x"), out_specs=onax.P())
      >>> f(jnp.arange(3.0))
      Array([0., 1., 2.], dtype=float32)
    """
    given = {
        "out_specs": out_specs, "in_specs": in_specs, "mesh": mesh, "axis_names": axis_names, "check_vma": check_vma,
    }  # fmt: skip
    if f is None:
        return functools.partial(shard_map, **given)
    if not callable(f):
        raise TypeError(f"shard_map requires a callable for its first argument, but got {f} of type {type(f)}.")
    check_callable(f)

    @functools.wraps(f)
    def mapped(*args):
        resolved = mesh_for(mesh, tree_leaves(args))
        manual = frozenset(axis_names) or frozenset(resolved.axis_names)
        if not manual <= set(resolved.axis_names):
            raise ValueError(
                f"jax.shard_map requires axis_names={manual} to be a subset of "
                f"mesh.axis_names={frozenset(resolved.axis_names)}"
            )
        if not spread_axes().isdisjoint(axis_names):
            raise ValueError(
                f"jax.shard_map requires axis_names={manual} to be a subset of "
                f"mesh.axis_names={frozenset(resolved.axis_names) - spread_axes()}"
            )
        check_inferred(in_specs, resolved, manual)
        if enclosing := manual_axes():  # an enclosing shard_map maps over these already
            manual -= enclosing - axes_of_specs((in_specs, out_specs))
        specs, leaves = specs_of_arguments(f, in_specs, resolved, manual, args)
        return call_on_shards(
            FlatFunction(f, tree_structure((args, {}))),
            leaves,
            specs,
            {"mesh": resolved, "newly_manual_axes": manual, "check_vma": bool(check_vma)},
            lambda tree, avals: specs_of_results(f, out_specs, resolved, manual, tree, avals),
            debug_info("shard_map", f, args),
        )

    return mapped


def call_on_shards(flat, leaves, specs, params, find_out_specs, info):
    """Applies a FlatFunction to shards of flat values; returns the result as a tree.

    A value whose spec is None is handed to the function as it is.  `params` are those of the region;
    `find_out_specs(tree, avals)` returns specs from the types of the results' shards.
    """
    region, out_specs, whole = ManualRegion.of(params), [], [spec is None for spec in specs]

    def fun(*shards):
        outs = flat(*merge_lists(whole, shards, select(leaves, whole)))
        record_results(info, flat.out_tree)
        out_specs[:] = find_out_specs(flat.out_tree, [typeof(x) for x in outs])
        if not region.checked:
            return outs
        outs = [_typed_as_stated(region, x, spec) for x, spec in zip(outs, out_specs)]
        _check_replicated(region, map(typeof, outs), out_specs, info)
        _check_kinds(region, outs, out_specs)
        return outs

    sharded, given = reject(leaves, whole), reject(specs, whole)
    values = None if any(isinstance(spec, HiPspec) for spec in given) else values_of(region, sharded, given)
    body, consts = stage_body(fun, [typeof(x) for x in sharded], given, region, info, values)
    _check_closed_over(region, consts)
    out_specs = tuple(out_specs)
    in_specs = (*[REPLICATED] * len(consts), *given)
    check_distinct(info, sharded, consts)
    params = {**params, "in_specs": in_specs, "out_specs": out_specs}
    if not holds_hitypes(body):
        pure, pure_params = pure_region(body, params)
        _check_replicated(region, pure.out_avals, pure_params["out_specs"], info)  # what references hold at the end too
        global_program(pure, pure_params)  # raises its errors before the function is staged
    return tree_unflatten(flat.out_tree, bind_with_refs(shard_map_p, [*consts, *sharded], {**params, "jaxpr": body}))


def _check_closed_over(region, consts):
    """Raises NotImplementedError for a value from outside that an explicit axis splits."""
    for aval in map(typeof, consts):
        if is_split(aval) and not set(aval.stated_sharding.mesh.axis_names).isdisjoint(region.names):
            raise NotImplementedError(
                "Closing over inputs to shard_map where the input is sharded on `Explicit` axes is not implemented. As "
                "a workaround, please pass those inputs as an argument to shard_map. Got input with shape "
                f"{aval.str_short(True)}"
            )


def _typed_as_stated(region, x, spec):
    """A result with the type that its spec states: it varies, and is a part of a sum, over these axes."""
    if isinstance(spec, HiPspec):
        return x
    x = vary_over(as_array(x), region.mentioned_axes(spec))
    parts = tuple(a for a in region.unreduced_axes(spec) if a not in typeof(x).unreduced)
    return vary_unreduced_cast_p.bind(x, axes=parts) if parts else x


def _check_kinds(region, outs, out_specs):
    """Raises ValueError for a result that is unreduced or reduced over other axes than its spec says."""
    for x, spec in zip(outs, out_specs):
        aval = typeof(x)
        for kind in ("unreduced", "reduced") if type(aval) is ShapedArray else ():
            if getattr(aval, kind).intersection(region.names) != getattr(spec, kind):
                raise ValueError(
                    f"out_specs passed to shard_map should be equal to the {kind} present on the out_aval. Got "
                    f"out_specs={spec} and out_aval={aval.str_short(True)}"
                )


def _check_replicated(region, avals, out_specs, info):
    """Raises ValueError for the type of a result that varies over an axis over which it is not sharded."""
    wrong = []
    for aval, spec in zip(avals, out_specs):
        if isinstance(spec, HiPspec):
            continue
        own = aval.mat.vur if type(aval) is ShapedArray else varying_axes(aval)
        varying = own - spec.unreduced - spec.reduced
        if not varying.isdisjoint(region.unmentioned_axes(spec)):
            wrong.append((spec, varying))
    if wrong:
        raise not_replicated(info.func_name, region, wrong)


def stated_meshes(jaxpr):
    """The meshes of all shardings that a program states, and of its regions."""
    if "stated meshes" not in jaxpr.cache:
        meshes = {}
        for eqn in jaxpr.eqns:
            params = eqn.params
            if eqn.primitive is shard_map_p:
                meshes[params["mesh"]] = None
            stated = (params.get("sharding"), *params.get("in_shardings", ()), *params.get("out_shardings", ()))
            named = [s for s in stated if isinstance(s, NamedSharding) and not isinstance(s.mesh, AbstractMesh)]
            meshes.update((s.mesh, None) for s in named)
            for inner in core.jaxprs_in_params(params):
                meshes.update(dict.fromkeys(stated_meshes(inner)))
        jaxpr.cache["stated meshes"] = tuple(meshes)
    return jaxpr.cache["stated meshes"]
