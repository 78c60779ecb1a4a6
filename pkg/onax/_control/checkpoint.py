"""checkpoint (remat): reverse mode keeps a function's arguments, and what a policy names; the rest it computes again.

The forward pass runs the function as it is.  The linear part is one `remat2` equation whose program first computes the
residuals anew from the arguments and from what was kept; transposing it keeps that and walks the rest backward.
"""

import functools

from onax._control.bodies import arrays_and_avals
from onax._control.jit_call import jit_p
from onax._control.policies import name_p, saves
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.trace import find_cur_trace
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import source
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._transforms.abstract import CheckedFlatFunction, with_static
from onax._transforms.batching import batch_jaxpr
from onax._transforms.flatten import argument_names, check_callable, debug_info, fun_signature, normalize_argnums
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.linearize import linearize_flat, linearize_jaxpr
from onax._transforms.partial_eval import merged, partial_eval_jaxpr
from onax._transforms.simplify import drop_dead_code, used_inputs
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr
from onax._transforms.transpose import transpose_jaxpr

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


def _linearize(nonzeros, *primals, jaxpr, prevent_cse, differentiated, policy):
    forward, again, nonzeros_out, used = _kept_and_recomputed(jaxpr, nonzeros, policy)
    outs = eval_jaxpr(forward, forward.consts, *primals)
    n = len(jaxpr.outvars)
    residuals = [x for x, is_used in zip([*outs[n:], *primals], used) if is_used]

    def apply(residuals, *tangents):
        given = [t for t in tangents if type(t) is not Zero]
        results = iter(
            remat_p.bind(*residuals, *given, jaxpr=again, prevent_cse=prevent_cse, differentiated=True, policy=policy)
        )
        return [
            next(results) if nonzero else Zero(v.aval.to_tangent_aval())
            for v, nonzero in zip(jaxpr.outvars, nonzeros_out)
        ]

    return outs[:n], nonzeros_out, residuals, apply


def _partial_eval(linear, *args, jaxpr, prevent_cse, differentiated, policy):
    """A forward pass of what depends on no tangent, and one equation for the rest, as `_linearize` makes it."""
    if differentiated or all(linear):
        return None
    forward, again, unknown, used = _kept_and_recomputed(jaxpr, linear, policy, True)
    known = [x for x, is_linear in zip(args, linear) if not is_linear]
    outs = eval_jaxpr(forward, forward.consts, *known)
    n = unknown.count(False)
    residuals = [x for x, is_used in zip([*outs[n:], *known], used) if is_used]
    params = {"jaxpr": again, "prevent_cse": prevent_cse, "differentiated": True, "policy": policy}
    given = [x for x, is_linear in zip(args, linear) if is_linear]
    return merged(unknown, outs[:n], find_cur_trace().record_whole(remat_p, [*residuals, *given], params))


def _kept_and_recomputed(jaxpr, nonzeros, policy, partial=False):
    """(forward, again, nonzeros_out, used); cached with the jaxpr.

    `forward` maps the arguments to (results, values kept); `again` maps (those `used` of the values kept and the
    arguments, tangents) to the tangents of the results, and computes the residuals that were not kept itself.
    `partial`: the program computes results and tangents by itself, and `nonzeros` says which arguments are tangents.
    """
    key = ("checkpoint", tuple(nonzeros), policy, partial)
    if key not in jaxpr.cache:
        split = (partial_eval_jaxpr if partial else linearize_jaxpr)(jaxpr, nonzeros)
        n_out = split[2].count(False) if partial else len(jaxpr.outvars)
        primals = [i for i, nonzero in enumerate(nonzeros) if not (partial and nonzero)]
        jaxpr.cache[key] = _make_kept_and_recomputed(jaxpr, split, n_out, primals, nonzeros, policy)
    return jaxpr.cache[key]


def _make_kept_and_recomputed(jaxpr, split, n_out, primals, nonzeros, policy):
    forward, linear, nonzeros_out, forwarded = split
    place = {p: i for i, p in enumerate(primals)}
    if policy is not None:  # it is to see the operations inside calls
        inside = forward
        forward = trace_to_jaxpr(lambda *xs: _eval_inlined(inside, xs), inside.in_avals, jaxpr.debug_info)
    residuals = forward.outvars[n_out:]
    kept, eqns = _recomputed_eqns(forward, residuals, policy)
    opened = core.Jaxpr(forward.constvars, [*kept, *forward.invars], residuals, eqns, None, jaxpr.debug_info)
    recompute = core.ClosedJaxpr(opened, forward.consts)
    n_inputs = len(opened.invars)

    def fun(*args):
        computed = iter(eval_jaxpr(recompute, recompute.consts, *args[:n_inputs]))
        given = args[len(kept) : n_inputs]
        every = [next(computed) if f is None else given[place[f]] for f in forwarded]
        return eval_jaxpr(linear, linear.consts, *every, *args[n_inputs:])

    tangent_avals = [v.aval.to_tangent_aval() for v, nonzero in zip(jaxpr.invars, nonzeros) if nonzero]
    again = drop_dead_code(trace_to_jaxpr(fun, [*opened.in_avals, *tangent_avals], jaxpr.debug_info))
    used = used_inputs(again)[:n_inputs]
    pruned = [v for v, is_used in zip(again.invars, used) if is_used]
    again = _closed(again, [*pruned, *again.invars[n_inputs:]], again.outvars)
    saving = _closed(forward, forward.invars, [*forward.outvars[:n_out], *kept])
    return drop_dead_code(saving), again, nonzeros_out, used


def _recomputed_eqns(forward, residuals, policy):
    """(variables that are kept, equations that give the residuals from these and from the arguments)."""
    wanted = {v for v in residuals if type(v) is not core.Literal}
    kept, eqns = [], []
    for eqn in reversed(forward.eqns):
        asked = [v for v in eqn.outvars if v in wanted]
        if not asked and not eqn.effects:  # effects happen again, as in JAX
            continue
        if saves(policy, eqn):
            kept.extend(reversed(asked))
        else:
            eqns.append(eqn)
            wanted.update(a for a in eqn.invars if type(a) is not core.Literal)
    return kept[::-1], eqns[::-1]


def _closed(jaxpr, invars, outvars):
    opened = core.Jaxpr(jaxpr.constvars, invars, outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
    return core.ClosedJaxpr(opened, jaxpr.consts)


def _eval_inlined(jaxpr, args):
    """Binds the equations of a program, and of the calls inside, under the current trace."""
    env = dict(zip(jaxpr.constvars, jaxpr.consts))
    env.update(zip(jaxpr.invars, args))
    read = lambda atom: atom.array if type(atom) is core.Literal else env[atom]
    trace = find_cur_trace()
    for eqn in jaxpr.eqns:
        operands = [read(a) for a in eqn.invars]
        if eqn.primitive is jit_p:
            outs = _eval_inlined(eqn.params["jaxpr"], operands)
        else:
            outs = trace.process_primitive(eqn.primitive, operands, eqn.params)
        env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    return [read(a) for a in jaxpr.outvars]


def _transpose(cts, *operands, jaxpr, **params):
    linear = [is_undefined_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cts]
    derived, nonzeros_out = transpose_jaxpr(jaxpr, linear, nonzero_cts)
    plain = [x for x in operands if not is_undefined_primal(x)]
    outs = iter(remat_p.bind(*plain, *(ct for ct in cts if type(ct) is not Zero), jaxpr=derived, **params))
    has_ct = iter(nonzeros_out)
    return [
        None if not is_linear else next(outs) if next(has_ct) else Zero(x.aval)
        for x, is_linear in zip(operands, linear)
    ]


def _batch(axis_data, operands, dims, *, jaxpr, **params):
    derived, dims_out = batch_jaxpr(jaxpr, axis_data, dims)
    return remat_p.bind(*operands, jaxpr=derived, **params), dims_out


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
    weak=NEVER,
)


# ---- what is stored ----


def saved_residuals(fun, *args, **kwargs):
    """(type, where from) of each value that reverse mode of `fun(*args, **kwargs)` stores."""
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
            made.append((v.aval, _maker(made_by[v])))
    arguments = [(avals[i], f"from the argument {names[i]}") for i in sorted(given)]
    return [*constants, *arguments, *made]


def _maker(eqn):
    what = f"named '{eqn.params['name']}'" if eqn.primitive is name_p else f"output of {eqn.primitive.name}"
    return f"{what} from {source.summarize(eqn.source_info)}" if eqn.source_info else what


def print_saved_residuals(f, *args, **kwargs):
    """Prints a line for each value that reverse mode of `f(*args, **kwargs)` stores: its type and where it is from."""
    for aval, where in saved_residuals(f, *args, **kwargs):
        print(f"{aval.str_short(short_dtypes=True)} {where}")
