"""checkpoint (remat): reverse mode stores a function's arguments and what a policy names, and recomputes the rest.

The forward pass runs the function as it is.  The linear part is one `remat2` equation whose program first computes the
residuals again from the arguments and from what was stored; its transpose recomputes them too, then runs backward.
"""

import functools
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from onax._control.bodies import arrays_and_avals
from onax._control.jit_call import jit_p
from onax._control.policies import name_p, saves
from onax._core import jaxpr as core
from onax._core.axes import axes_key
from onax._core.effects import has_io
from onax._core.evaluate import bind_with_refs, eval_jaxpr, jaxpr_as_fun
from onax._core.explicit_axes import cotangent_type
from onax._core.function_programs import programs_of
from onax._core.lists import insert_bounded, merge_lists, partition_list, reject, select, split_list
from onax._core.programs import Call, programs
from onax._core.rewrite import close, dce_call, eliminate_dead_code, map_equations, prune
from onax._core.trace import find_cur_trace, typeof
from onax._core.zeros import (
    UndefinedPrimal,
    Zero,
    drop_zeros,
    insert_zeros,
    is_undefined_primal,
    nonzero_flags,
)
from onax._ground import dtypes, lazy, logs, source
from onax._ground.config import config
from onax._ground.errors import ConcretizationTypeError, add_advice
from onax._ground.typing import AnyFunction, Function
from onax._native import context
from onax._native.dispatch import NEVER, Primitive
from onax._native.jit_function import find_program
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims.convert import reduce_precision_p
from onax._transforms.abstract import CheckedFlatFunction, with_static
from onax._transforms.batching import batch_jaxpr
from onax._transforms.discharge import discharge_call
from onax._transforms.flatten import argument_names, check_callable, debug_info, fun_signature, normalize_argnums
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.key_reuse import analyze_remat, key_lineage
from onax._transforms.linearize import NO_KNOWN_RESULT, linearize_flat
from onax._transforms.partial_eval import (
    TangentTrace,
    partial_eval,
    partial_eval_call_custom,
    partial_eval_custom_rules,
    partial_eval_jaxpr_custom,
    split_equations,
)
from onax._transforms.staging import DynamicJaxprTracer, derive_jaxpr, hoist_tracers, trace_to_jaxpr
from onax._transforms.transpose import backward_pass

_NOT_GIVEN = object()


def checkpoint(
    fun: Function,
    *,
    prevent_cse: bool = True,
    policy: Any = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
    concrete: Any = _NOT_GIVEN,
) -> Function:
    """Returns a function that stores less for reverse mode: intermediate values are computed again.

    Args:
      fun: a function.
      prevent_cse: accepted: no pass merges the second computation with the first.
      policy: which intermediate values are stored all the same (`onax.checkpoint_policies`); default None, none.
      static_argnums: indices of arguments that are Python values for `fun`.
      static_argnames: names of such arguments.
      concrete: must not be given: JAX has removed it.

    Returns:
      A function with the signature and the results of `fun`.

    Raises:
      NotImplementedError: `concrete` is given.
      TypeError: `prevent_cse` is neither a bool nor a tuple of bools.

    Examples:
      >>> f = onax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
      >>> bool(onax.grad(f)(1.0) == onax.grad(lambda x: jnp.sin(jnp.sin(x)))(1.0))
      True
    """
    check_callable(fun, "checkpoint / remat")
    if concrete is not _NOT_GIVEN:
        raise NotImplementedError(
            "The `concrete` option to `jax.checkpoint` was removed in JAX v0.10.0. In its place use `static_argnums`."
        )
    if not isinstance(prevent_cse, (bool, tuple)):
        raise TypeError(f"prevent_cse must be a bool or tuple of bools, got type(prevent_cse)={type(prevent_cse)}")
    given = [None if s == () or s == [] else s for s in (static_argnums, static_argnames)]
    argnums, argnames = normalize_argnums(fun, *given)
    programs = programs_of(fun, "checkpoint")

    @functools.wraps(fun, updated=())
    @source.api_boundary
    def checkpointed(*args, **kwargs):
        jaxpr, hoisted, values, out_tree = _stage(fun, args, kwargs, argnums, argnames, programs.table)
        params = {"jaxpr": jaxpr, "prevent_cse": prevent_cse, "differentiated": False, "policy": policy}
        return tree_unflatten(out_tree, bind_with_refs(remat_p, [*hoisted, *values], params))

    return checkpointed


remat = checkpoint


def _stage(fun, args, kwargs, argnums, argnames, programs):
    """(program of a call, tracers and references that it takes first, flat arguments, tree of the results).

    `programs` keeps programs for later calls, unless they close over traced values or a static argument has no hash.
    """
    if any(not -len(args) <= i < len(args) for i in argnums):
        raise ValueError(
            "the `static_argnums` argument to `jax.checkpoint` / `jax.remat` can only take integer values greater than "
            f"or equal to `-len(args)` and less than `len(args)`, but got {tuple(argnums)}, while `len(args)` = "
            f"{len(args)}"
        )
    fixed = {k: v for k, v in kwargs.items() if k in argnames}
    dynamic_kwargs = {k: v for k, v in kwargs.items() if k not in argnames}
    partial, dynamic = with_static(fun, args, argnums)
    leaves, in_tree = tree_flatten((dynamic, dynamic_kwargs))
    values, avals = arrays_and_avals(leaves)
    positions = tuple(sorted(i % len(args) for i in argnums if -len(args) <= i < len(args)))
    given = (*(args[i] for i in positions), *fixed.values())
    statics = tuple(map(type, given)), (*positions, *fixed), given
    key = (in_tree, tuple(avals), statics, context.option_word(), axes_key())
    known = find_program(programs, key, 2) if _has_hash(given) else None
    if known is not None:
        jaxpr, out_tree = known
        return jaxpr, [], values, out_tree
    if fixed:
        partial = functools.wraps(fun, updated=())(functools.partial(partial, **fixed))
    flat = CheckedFlatFunction(partial, in_tree, "checkpoint / remat")
    try:
        closed = trace_to_jaxpr(flat, avals, debug_info("checkpoint / remat", fun, args, kwargs, argnums, argnames))
    except ConcretizationTypeError as error:
        if " for checkpoint / remat" in error.message:
            add_advice(error, "Consider the parameter `static_argnums` of `jax.remat` or `jax.checkpoint`.")
        raise
    jaxpr, hoisted = hoist_tracers(closed)
    if not hoisted and not config.jax_check_tracer_leaks and _has_hash(given):
        insert_bounded(programs, key, (jaxpr, flat.out_tree))
    return jaxpr, hoisted, values, flat.out_tree


def _has_hash(values):
    try:
        hash(values)
    except TypeError:
        return False
    return True


# ---- rules ----


def _impl(*args, jaxpr, **_):
    return eval_jaxpr(jaxpr, jaxpr.consts, *args)


def _abstract_eval(*avals, jaxpr, **_):
    return list(jaxpr.out_avals)


def _jvp(primals, tangents, *, jaxpr, **params):
    derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzero_flags(tangents), False)
    outs = remat_p.bind(*primals, *drop_zeros(tangents), jaxpr=derived, **params)
    n = len(jaxpr.outvars)
    return outs[:n], insert_zeros(outs[n:], nonzeros_out, jaxpr.out_avals)


def _linearize(nonzeros, *primals, jaxpr, **params):
    n, m = len(jaxpr.outvars), sum(nonzeros)
    derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    unknown = (*[False] * len(primals), *[True] * m)
    keep = (*[False] * n, *[True] * sum(nonzeros_out))
    known, staged, unknown_out, used_known, used = _split(derived, unknown, keep, params["policy"])
    if any(unknown_out[:n]):
        raise ValueError(NO_KNOWN_RESULT)
    outs = eval_jaxpr(known, known.consts, *select(primals, used_known))
    residuals = [*outs[n:], *select(primals, used)]
    _log_residuals(known, n, select(primals, used))
    used_tangents = used[len(primals) :]

    def apply(residuals, *tangents):
        given, tangents_out = select(drop_zeros(tangents), used_tangents), ()
        if staged.outvars or staged.effects:
            tangents_out = remat_p.bind(*residuals, *given, jaxpr=staged, **{**params, "differentiated": True})
        return insert_zeros(tangents_out, nonzeros_out, jaxpr.out_avals)

    return outs[:n], nonzeros_out, residuals, apply


def _partial_eval(unknown, *args, jaxpr, **params):
    """Evaluates what depends on no unknown, and records one equation for the rest, as `_linearize` does."""
    if all(unknown):
        return None
    known, staged, unknown_out, used_known, used = _split(jaxpr, tuple(unknown), False, params["policy"])
    outs = eval_jaxpr(known, known.consts, *select(reject(args, unknown), used_known))
    n = unknown_out.count(False)
    _log_residuals(known, n, reject(select(args, used), select(unknown, used)))
    rest = {**params, "jaxpr": staged, "differentiated": True}
    rest_outs = find_cur_trace().record_whole(remat_p, [*outs[n:], *select(args, used)], rest)
    return merge_lists(unknown_out, outs[:n], rest_outs)


def _split(jaxpr, unknown, ensure_out_unknown, policy):
    """(known, staged, unknown_out, used_known, used); cached with the program.

    `known` maps the known arguments, those that are `used_known`, to (the known results, residuals); `staged` maps
    (residuals, the arguments that are `used`) to the unknown results: it recomputes what the policy did not save.
    """
    if has_io(jaxpr.effects):  # it would be called in the forward and in the backward pass
        effects = [e for e in jaxpr.effects if has_io((e,))]
        raise NotImplementedError(f"Effects not supported in partial-eval of `checkpoint`/`remat`: {effects}")
    key = ("checkpoint", unknown, ensure_out_unknown, policy)
    if key not in jaxpr.cache:
        split = partial_eval_jaxpr_custom(jaxpr, unknown, functools.partial(saves, policy), ensure_out_unknown)
        known, staged, unknown_out, instantiated_out, avals = split
        staged, used = prune(staged, select(unknown_out, instantiated_out))
        stored, used = used[: len(avals)], used[len(avals) :]
        n_known = unknown_out.count(False)
        known, used_known = prune(known, [*[True] * n_known, *stored])
        jaxpr.cache[key] = _round_residuals(known, n_known), staged, unknown_out, used_known, used
    return jaxpr.cache[key]


def _round_residuals(known, n_known):
    """Rounds residuals that the known part also reads to their type with `reduce_precision`, as JAX does.

    JAX does it because XLA might keep more bits for one use than for the other.
    """
    read = {a for eqn in known.eqns for a in eqn.invars if type(a) is not core.Literal}
    made = {v for eqn in known.eqns for v in eqn.outvars}
    to_round = {a for a in known.outvars[n_known:] if a in made and a in read and _is_float(a)}
    if not to_round:
        return known
    names = {v: core.Var(v.aval) for v in to_round}
    rename = lambda atoms: [a if type(a) is core.Literal else names.get(a, a) for a in atoms]

    def round_results(eqn):
        yield eqn.replace(invars=rename(eqn.invars))
        for v in eqn.outvars:
            if v in to_round:
                info = dtypes.finfo(v.aval.dtype)
                params = {"exponent_bits": info.nexp, "mantissa_bits": info.nmant}
                yield core.new_jaxpr_eqn([v], [names[v]], reduce_precision_p, params)

    rounded = map_equations(known, round_results)
    return close(rounded, rounded.invars, rename(rounded.outvars))


def _is_float(atom):
    return type(atom) is core.Var and dtypes.issubdtype(atom.aval.dtype, np.floating)


def _transpose(cts, *operands, jaxpr, **params):
    linear = tuple(is_undefined_primal(x) for x in operands)
    derived, nonzeros_out = _transpose_jaxpr(jaxpr, linear, tuple(nonzero_flags(cts)))
    if not find_cur_trace().staging:
        derived = eliminate_dead_code(derived)
    plain, undefined = partition_list(linear, operands)
    outs = remat_p.bind(*plain, *drop_zeros(cts), jaxpr=derived, **params)
    cotangents = merge_lists(nonzeros_out, [Zero(x.aval) for x in reject(undefined, nonzeros_out)], outs)
    return merge_lists(linear, [None] * len(plain), cotangents)


def _transpose_jaxpr(jaxpr, linear, nonzero_cts):
    """`transpose_jaxpr` of a program that recomputes its residuals, perhaps in one loop with the linear part."""
    key = ("transposed checkpoint", linear, nonzero_cts)
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _make_transpose_jaxpr(jaxpr, linear, nonzero_cts)
    return jaxpr.cache[key]


_RECOMPUTED = source.Scope("rematted_computation")


def _make_transpose_jaxpr(jaxpr, linear, nonzero_cts):
    nonzeros_out = []
    plain_avals, linear_avals = partition_list(linear, jaxpr.in_avals)
    result_cts = list(map(cotangent_type, jaxpr.out_avals))
    ct_avals = select(result_cts, nonzero_cts)
    eqns, _ = split_equations(jaxpr, select(jaxpr.invars, linear))
    run = jaxpr_as_fun(close(jaxpr, jaxpr.invars, jaxpr.outvars, [eqn for eqn, _ in eqns]))

    def fun(*args):
        plain, given = split_list(args, [len(plain_avals)])
        values = merge_lists(linear, plain, linear_avals)
        arguments = run, values, linear, TangentTrace, False, jaxpr.debug_info
        rest, _, unknown_out = source.call_within(_RECOMPUTED, partial_eval, *arguments)
        cts = merge_lists(nonzero_cts, [Zero(a) for a in reject(result_cts, nonzero_cts)], given)
        primals = [UndefinedPrimal(cotangent_type(v.aval)) for v in rest.invars]
        cotangents = backward_pass(rest, rest.consts, primals, select(cts, unknown_out))
        nonzeros_out.extend(nonzero_flags(cotangents))
        return drop_zeros(cotangents)

    return derive_jaxpr(fun, [*plain_avals, *ct_avals], jaxpr), nonzeros_out


def _batch(axis_data, operands, dims, *, jaxpr, **params):
    derived, dims_out = batch_jaxpr(jaxpr, axis_data, dims)
    return remat_p.bind(*operands, jaxpr=derived, **params), dims_out


def _pretty(eqn, _):
    """Prints a policy that is a function without its address."""
    shown = {key: eqn.params[key] for key in sorted(eqn.params)}
    if hasattr(shown["policy"], "__qualname__"):
        shown["policy"] = f"<function {shown['policy'].__qualname__} at 0xXXXXXXXXXXXX>"
    return shown


remat_p = Primitive(
    "remat2",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    partial_eval=_partial_eval,
    transpose=_transpose,
    batch=_batch,
    dce=dce_call,
    pretty=_pretty,
    weak=NEVER,
)
key_lineage.set(remat_p, analyze_remat)
programs.set(remat_p, Call("jaxpr"))
discharge_call(remat_p)


@partial_eval_custom_rules.rule(remat_p)
def _partial_eval_custom(saveable, unknown, instantiated, eqn):
    known, staged, *flags_and_avals = partial_eval_call_custom(saveable, unknown, instantiated, eqn, forward=False)
    return known, staged.replace(params={**staged.params, "differentiated": True}), *flags_and_avals


# ---- what is stored ----


def saved_residuals(fun, *args, **kwargs):
    """(type, origin) of each value that reverse mode of `fun(*args, **kwargs)` stores.

    Known scalars are literals of the linear program and are not listed; JAX lists them too.
    """
    leaves, _ = tree_flatten((args, kwargs))
    _, avals = arrays_and_avals(leaves)
    flat = CheckedFlatFunction(fun, tree_structure((args, kwargs)), "saved_residuals")
    info = debug_info("saved_residuals", fun, args, kwargs)
    captured = {}

    def forward(*tracers):
        lin = linearize_flat(flat, tracers, [a.to_tangent_aval().dtype.names is None for a in avals], info)
        residuals = eliminate_dead_code(lin.jaxpr).consts
        captured["constants"] = [r for r in residuals if not isinstance(r, DynamicJaxprTracer)]
        return [r for r in residuals if isinstance(r, DynamicJaxprTracer)]

    jaxpr = trace_to_jaxpr(forward, avals, info)
    names = argument_names(fun_signature(fun), args, kwargs)
    made_by = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    constants = [(c.aval, "from a constant") for c in captured["constants"] if c.aval.shape]
    given, made = [], []
    for v in dict.fromkeys(v for v in jaxpr.outvars if type(v) is not core.Literal):
        if v in jaxpr.invars:
            given.append(jaxpr.invars.index(v))
        elif v in made_by:
            made.append(v)
    position = {v: i for i, eqn in enumerate(jaxpr.eqns) for v in eqn.outvars}
    made = [(v.aval, _describe_producer(made_by[v], made_by)) for v in sorted(made, key=position.__getitem__)]
    arguments = [(avals[i], f"from the argument {names[i]}") for i in sorted(given)]
    return [*constants, *arguments, *made]


def _log_residuals(known, n_known, inputs):
    """Logs the arguments and the results of `known` that a call stores.

    It is a warning if `jax_log_checkpoint_residuals` is on, else a message for debugging.  Where nobody has imported
    `logging`, nobody waits for one.
    """
    if not config.jax_log_checkpoint_residuals and "logging" not in sys.modules:
        return
    level = lazy.logging.WARNING if config.jax_log_checkpoint_residuals else lazy.logging.DEBUG
    logger = logs.logger("onax.checkpoint")
    if not logger.isEnabledFor(level):
        return
    made_by = {v: eqn for eqn in known.eqns for v in eqn.outvars}
    stored = {v for v in known.outvars[n_known:] if type(v) is not core.Literal}
    shapes = [f"  {typeof(x).str_short()}\n" for x in inputs]
    made = [
        f"  {v.aval.str_short()} from {_describe_producer(eqn, made_by)}\n" for v, eqn in made_by.items() if v in stored
    ]
    titles = (("saving inputs with shapes:\n", shapes), ("saving these intermediates:\n", made))
    parts = [title + "".join(lines) for title, lines in titles if lines]
    logger.log(level, "remat-decorated function %s", "and ".join(parts))


def _describe_producer(eqn, made_by):
    if eqn.primitive is reduce_precision_p and eqn.invars[0] in made_by:  # made by `_round_residuals`
        eqn = made_by[eqn.invars[0]]
    what = f"output of {eqn.primitive.name}"
    if eqn.primitive is name_p:
        what = f"named '{eqn.params['name']}'"
    elif eqn.primitive is jit_p:
        what = f"output of jitted function '{eqn.params['name']}'"
    return f"{what} from {source.summarize(eqn.source_info)}" if eqn.source_info else what


def print_saved_residuals(f: AnyFunction, *args: Any, **kwargs: Any) -> None:
    """Prints the type and the origin of each value that reverse mode of a call stores.

    Args:
      f: a function.
      args: its arguments.
      kwargs: its keyword arguments.

    Returns:
      None.

    Examples:
      >>> onax.ad_checkpoint.print_saved_residuals(jnp.sin, 1.0)
      f32[] output of cos from ...
    """
    for aval, where in saved_residuals(f, *args, **kwargs):
        print(f"{aval.str_short(short_dtypes=True)} {where}")
