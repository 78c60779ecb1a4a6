"""checkpoint (remat): reverse mode keeps a function's arguments, and what a policy names; the rest it computes again.

The forward pass runs the function as it is.  The linear part is one `remat2` equation whose program first computes the
residuals anew from the arguments and from what was kept; transposing it keeps that and walks the rest backward.
"""

import functools

import numpy as np

from onax._control.bodies import arrays_and_avals
from onax._control.jit_call import jit_p
from onax._control.policies import name_p, saves
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.lists import merge_lists, select
from onax._core.programs import Call, programs
from onax._core.rewrite import close, dce_call, eliminate_dead_code, prune
from onax._core.trace import find_cur_trace, set_current_trace
from onax._core.zeros import UndefinedPrimal, Zero, is_undefined_primal
from onax._ground import dtypes, source
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims.convert import reduce_precision_p
from onax._transforms.abstract import CheckedFlatFunction, with_static
from onax._transforms.batching import batch_jaxpr
from onax._transforms.by_policy import call_rule, policy_rules, split_by_policy
from onax._transforms.flatten import argument_names, check_callable, debug_info, fun_signature, normalize_argnums
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.key_reuse import follow_remat, key_lineage
from onax._transforms.linearize import NO_KNOWN_RESULT, TangentTrace, linearize_flat
from onax._transforms.partial_eval import with_parted_calls
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr
from onax._transforms.transpose import backward_pass

_NOT_GIVEN = object()


def checkpoint(fun, *, prevent_cse=True, policy=None, static_argnums=(), static_argnames=(), concrete=_NOT_GIVEN):
    """`fun`, of which reverse mode stores only the arguments: intermediate values are computed again when wanted.

    `policy`: says which intermediate values are stored as well (see `checkpoint_policies`).  `prevent_cse` is accepted:
    no pass here merges the second computation with the first.  Raises NotImplementedError for `concrete`, which JAX
    has removed.
    """
    check_callable(fun, "checkpoint / remat")
    if concrete is not _NOT_GIVEN:
        raise NotImplementedError(
            "The `concrete` option to `jax.checkpoint` was removed in JAX v0.10.0. In its place use `static_argnums`."
        )
    argnums, argnames = normalize_argnums(fun, static_argnums or None, static_argnames or None)

    @functools.wraps(fun, updated=())
    @source.api_boundary
    def checkpointed(*args, **kwargs):
        fixed = {k: v for k, v in kwargs.items() if k in argnames}
        dynamic_kwargs = {k: v for k, v in kwargs.items() if k not in argnames}
        partial, dynamic = with_static(fun, args, argnums)
        if fixed:
            partial = functools.wraps(fun, updated=())(functools.partial(partial, **fixed))
        leaves, _ = tree_flatten((dynamic, dynamic_kwargs))
        in_tree = tree_structure((dynamic, dynamic_kwargs))
        values, avals = arrays_and_avals(leaves)
        flat = CheckedFlatFunction(partial, in_tree, "checkpoint / remat")
        closed = trace_to_jaxpr(flat, avals, debug_info("checkpoint / remat", fun, dynamic, dynamic_kwargs))
        closed, hoisted = hoist_tracers(closed)
        outs = remat_p.bind(
            *hoisted, *values, jaxpr=closed, prevent_cse=prevent_cse, differentiated=False, policy=policy
        )
        return tree_unflatten(flat.out_tree, outs)

    return checkpointed


remat = checkpoint


# ---- rules ----


def _impl(*args, jaxpr, **_):
    return eval_jaxpr(jaxpr, jaxpr.consts, *args)


def _abstract_eval(*avals, jaxpr, **_):
    return list(jaxpr.out_avals)


def _jvp(primals, tangents, *, jaxpr, **params):
    nonzeros = [type(t) is not Zero for t in tangents]
    derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    outs = remat_p.bind(*primals, *(t for t in tangents if type(t) is not Zero), jaxpr=derived, **params)
    n = len(jaxpr.outvars)
    rest = iter(outs[n:])
    return outs[:n], [
        next(rest) if nonzero else Zero(v.aval.to_tangent_aval()) for v, nonzero in zip(jaxpr.outvars, nonzeros_out)
    ]


def _linearize(nonzeros, *primals, jaxpr, **params):
    n, m = len(jaxpr.outvars), sum(nonzeros)
    derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    unknown = (*[False] * len(primals), *[True] * m)
    keep = (*[False] * n, *[True] * sum(nonzeros_out))
    known, again, unknown_out, used_known, used = _parted(derived, unknown, keep, params["policy"])
    if any(unknown_out[:n]):
        raise ValueError(NO_KNOWN_RESULT)
    outs = eval_jaxpr(known, known.consts, *(x for x, flag in zip(primals, used_known) if flag))
    residuals = [*outs[n:], *(x for x, flag in zip(primals, used) if flag)]
    used_tangents = used[len(primals) :]

    def apply(residuals, *tangents):
        given = [t for t in tangents if type(t) is not Zero]
        given = [t for t, flag in zip(given, used_tangents) if flag]
        results = iter(())
        if again.outvars or again.effects:
            results = iter(remat_p.bind(*residuals, *given, jaxpr=again, **{**params, "differentiated": True}))
        return [
            next(results) if nonzero else Zero(v.aval.to_tangent_aval())
            for v, nonzero in zip(jaxpr.outvars, nonzeros_out)
        ]

    return outs[:n], nonzeros_out, residuals, apply


def _partial_eval(linear, *args, jaxpr, **params):
    """A forward pass of what depends on no tangent, and one equation for the rest, as `_linearize` makes it."""
    if all(linear):
        return None
    known, again, unknown, used_known, used = _parted(jaxpr, tuple(linear), (), params["policy"])
    given = [x for x, is_linear in zip(args, linear) if not is_linear]
    outs = eval_jaxpr(known, known.consts, *(x for x, flag in zip(given, used_known) if flag))
    n = unknown.count(False)
    operands = [*outs[n:], *(x for x, flag in zip(args, used) if flag)]
    rest = {**params, "jaxpr": again, "differentiated": True}
    return merge_lists(unknown, outs[:n], find_cur_trace().record_whole(remat_p, operands, rest))


def _parted(jaxpr, unknown, keep_unknown, policy):
    """(known, again, unknown_out, used_known, used); kept with the program.

    `known` maps the known arguments, those that are `used_known`, to (the known results, what is stored); `again` maps
    (what is stored, the arguments that are `used`) to the unknown results: it computes the rest anew.
    """
    key = ("checkpoint", unknown, keep_unknown, policy)
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _part(jaxpr, unknown, keep_unknown, policy)
    return jaxpr.cache[key]


def _part(jaxpr, unknown, keep_unknown, policy):
    first, second, unknown_out, at_hand, avals = split_by_policy(
        jaxpr, unknown, lambda eqn: saves(policy, eqn), keep_unknown
    )
    again, used = prune(second, select(unknown_out, at_hand))
    stored, used = used[: len(avals)], used[len(avals) :]
    n_known = unknown_out.count(False)
    known, used_known = prune(first, [*[True] * n_known, *stored])
    return _as_stored(known, n_known), again, unknown_out, used_known, used


def _as_stored(known, n_known):
    """The program in which what is stored, and used besides, is rounded to its type: as in JAX, where a compiler might
    keep more bits of one use than of the other."""
    read = {a for eqn in known.eqns for a in eqn.invars if type(a) is not core.Literal}
    made = {v for eqn in known.eqns for v in eqn.outvars}
    wanted = {a for a in known.outvars[n_known:] if a in made and a in read and _is_float(a)}
    if not wanted:
        return known
    names = {v: core.Var(v.aval) for v in wanted}
    renamed = lambda a: a if type(a) is core.Literal else names.get(a, a)
    eqns = []
    for eqn in known.eqns:
        eqns.append(eqn.replace(invars=[renamed(a) for a in eqn.invars]))
        for v in eqn.outvars:
            if v in wanted:
                info = dtypes.finfo(v.aval.dtype)
                params = {"exponent_bits": info.nexp, "mantissa_bits": info.nmant}
                eqns.append(core.new_jaxpr_eqn([v], [names[v]], reduce_precision_p, params))
    return close(known, known.invars, [renamed(a) for a in known.outvars], eqns)


def _is_float(atom):
    return type(atom) is core.Var and dtypes.issubdtype(atom.aval.dtype, np.floating)


def _transpose(cts, *operands, jaxpr, **params):
    linear = tuple(is_undefined_primal(x) for x in operands)
    nonzero_cts = tuple(type(ct) is not Zero for ct in cts)
    derived, nonzeros_out = _transposed(jaxpr, linear, nonzero_cts)
    if not find_cur_trace().staging:
        derived = eliminate_dead_code(derived)
    plain = [x for x in operands if not is_undefined_primal(x)]
    outs = iter(remat_p.bind(*plain, *(ct for ct in cts if type(ct) is not Zero), jaxpr=derived, **params))
    has_ct = iter(nonzeros_out)
    return [
        None if not is_linear else next(outs) if next(has_ct) else Zero(x.aval)
        for x, is_linear in zip(operands, linear)
    ]


def _transposed(jaxpr, linear, nonzero_cts):
    """`transpose_jaxpr` of a program that computes its residuals itself, maybe in one loop with the linear part."""
    key = ("transposed checkpoint", linear, nonzero_cts)
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _transpose_parted(jaxpr, linear, nonzero_cts)
    return jaxpr.cache[key]


def _transpose_parted(jaxpr, linear, nonzero_cts):
    nonzeros_out = []
    plain_avals = [v.aval for v, is_linear in zip(jaxpr.invars, linear) if not is_linear]
    ct_avals = [v.aval for v, nonzero in zip(jaxpr.outvars, nonzero_cts) if nonzero]
    parted = with_parted_calls(jaxpr, linear)

    def fun(*args):
        plain, given = iter(args[: len(plain_avals)]), iter(args[len(plain_avals) :])
        trace = TangentTrace(jaxpr.debug_info, find_cur_trace())
        values = [trace.new_arg(v.aval) if is_l else next(plain) for v, is_l in zip(jaxpr.invars, linear)]
        try:
            with set_current_trace(trace):
                outs = eval_jaxpr(parted, parted.consts, *values)
            rest = trace.to_jaxpr([x for x in outs if trace.is_own(x)])
        finally:
            trace.invalidate()
        every = [next(given) if nonzero else Zero(v.aval) for v, nonzero in zip(jaxpr.outvars, nonzero_cts)]
        primals = [UndefinedPrimal(v.aval) for v in rest.invars]
        found = backward_pass(rest, rest.consts, primals, [ct for ct, x in zip(every, outs) if trace.is_own(x)])
        nonzeros_out.extend(type(ct) is not Zero for ct in found)
        return [ct for ct in found if type(ct) is not Zero]

    return trace_to_jaxpr(fun, [*plain_avals, *ct_avals], jaxpr.debug_info), nonzeros_out


def _batch(axis_data, operands, dims, *, jaxpr, **params):
    derived, dims_out = batch_jaxpr(jaxpr, axis_data, dims)
    return remat_p.bind(*operands, jaxpr=derived, **params), dims_out


def _pretty(eqn, _):
    """A policy that is a function prints as one, without its address."""
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
key_lineage.set(remat_p, follow_remat)
programs.set(remat_p, Call("jaxpr"))
policy_rules[remat_p] = call_rule(
    lambda params, program, again: {**params, "jaxpr": program, "differentiated": again or params["differentiated"]}
)


# ---- what is stored ----


def saved_residuals(fun, *args, **kwargs):
    """(type, where from) of each value that reverse mode of `fun(*args, **kwargs)` stores.

    Scalars that are known are part of the linear program; JAX lists them as well, as literals.
    """
    leaves, _ = tree_flatten((args, kwargs))
    _, avals = arrays_and_avals(leaves)
    flat = CheckedFlatFunction(fun, tree_structure((args, kwargs)), "saved_residuals")
    info = debug_info("saved_residuals", fun, args, kwargs)
    found = {}

    def forward(*tracers):
        lin = linearize_flat(flat, tracers, [a.to_tangent_aval().dtype.names is None for a in avals], info)
        found["constants"] = [r for r in lin.residuals if not hasattr(r, "_var")]
        return [r for r in lin.residuals if hasattr(r, "_var")]

    jaxpr = trace_to_jaxpr(forward, avals, info)
    names = argument_names(fun_signature(fun), args, kwargs)
    made_by = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    constants = [(c.aval, "from a constant") for c in found["constants"] if c.aval.shape]
    given, made = [], []
    for v in dict.fromkeys(v for v in jaxpr.outvars if type(v) is not core.Literal):
        if v in jaxpr.invars:
            given.append(jaxpr.invars.index(v))
        elif v in made_by:
            made.append((v.aval, _maker(made_by[v], made_by)))
    arguments = [(avals[i], f"from the argument {names[i]}") for i in sorted(given)]
    return [*constants, *arguments, *made]


def _maker(eqn, made_by):
    if eqn.primitive is reduce_precision_p and eqn.invars[0] in made_by:  # what `_as_stored` made
        eqn = made_by[eqn.invars[0]]
    what = f"output of {eqn.primitive.name}"
    if eqn.primitive is name_p:
        what = f"named '{eqn.params['name']}'"
    elif eqn.primitive is jit_p:
        what = f"output of jitted function '{eqn.params['name']}'"
    return f"{what} from {source.summarize(eqn.source_info)}" if eqn.source_info else what


def print_saved_residuals(f, *args, **kwargs):
    """Prints a line for each value that reverse mode of `f(*args, **kwargs)` stores: its type and where it is from."""
    for aval, where in saved_residuals(f, *args, **kwargs):
        print(f"{aval.str_short(short_dtypes=True)} {where}")
