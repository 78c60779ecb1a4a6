"""while_loop, and fori_loop over it (or over scan, where the trip count is known).

    while_p.bind(*cond_consts, *body_consts, *carry, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts)

Under vmap the condition may be batched: its axes are then the leading axes of every part of the carry, the loop runs
while any example's condition holds, and examples whose condition fails keep their carry.
"""

import numpy as np

from onax._control.bodies import (
    arrays_and_avals,
    carry_name,
    check_carry,
    converted,
    promote_weak,
    stage_body,
    with_types,
)
from onax._control.one_by_one import each_by_itself, sequentially
from onax._control.scan import scan_of
from onax._core import jaxpr as core
from onax._core.effects import has_io
from onax._core.evaluate import eval_jaxpr
from onax._core.lists import merge_lists, reject
from onax._core.programs import CONDITION, LOOP, HeldProgram, programs
from onax._core.rewrite import close, eliminate_dead_code, prune
from onax._core.trace import Tracer, as_array, find_cur_trace, to_concrete_value, typeof
from onax._core.zeros import Zero
from onax._ground import dtypes, errors, source
from onax._ground.config import DISABLE_JIT
from onax._native import context
from onax._native.array import make_array
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.elementwise import add, lt, select_n
from onax._prims.reductions import reduce_or
from onax._prims.shaping import broadcast_in_dim, instantiate_zeros, moveaxis
from onax._transforms.batching import batch_jaxpr, move_to
from onax._transforms.by_policy import not_at_hand, policy_rules, split_by_policy
from onax._transforms.flatten import argument_names, fun_signature
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.key_reuse import follow_while, key_lineage
from onax._transforms.partial_eval import partial_eval_jaxpr
from onax._transforms.staging import trace_to_jaxpr


@source.api_boundary
def while_loop(cond_fun, body_fun, init_val):
    """Applies `body_fun` to the carry as long as `cond_fun(carry)` holds; returns the last carry.

    The carry is a tree of arrays whose structure, shapes and dtypes stay the same.  Raises TypeError where they do
    not, and for a condition that is no boolean scalar.  Reverse-mode differentiation is not possible.
    """
    if not (callable(body_fun) and callable(cond_fun)):
        raise TypeError("lax.while_loop: body_fun and cond_fun arguments should be callable.")
    return _while(cond_fun, body_fun, init_val)


def _while(cond_fun, body_fun, init_val, what="while_body", adapt=None, names=None):
    """`while_loop`; with `adapt`, the body is made from the user's function (see `stage_body`)."""
    if context.option_word() & DISABLE_JIT:
        init_val = tree_map(as_array, init_val)
        holds = to_concrete_value(cond_fun(init_val))
        if holds is not None:
            try:
                return _by_calling(cond_fun, body_fun if adapt is None else adapt(body_fun), init_val, holds)
            except errors.ConcretizationTypeError:  # a mapped value reached the condition: all examples go together
                pass
    leaves, init_tree = tree_flatten(init_val)
    in_tree = tree_structure(((init_val,), {}))
    values, avals = arrays_and_avals(leaves)
    body, body_consts, out_tree = stage_body(body_fun, in_tree, avals, what, adapt, names)
    if out_tree == init_tree:
        values, changed = promote_weak(values, avals, body.out_avals)
        if changed:
            avals = [typeof(v) for v in values]
            body, body_consts, out_tree = stage_body(body_fun, in_tree, avals, what, adapt, names)
    name = lambda: carry_name(body_fun) if adapt is None else "loop_carry"
    check_carry("while_loop body function", name, init_tree, out_tree, avals, body.out_avals)
    cond, cond_consts, cond_tree = stage_body(cond_fun, in_tree, avals, "while_cond")
    _check_condition(cond, cond_tree)
    outs = while_p.bind(
        *cond_consts,
        *body_consts,
        *values,
        cond_jaxpr=cond,
        cond_nconsts=len(cond_consts),
        body_jaxpr=body,
        body_nconsts=len(body_consts),
    )
    return tree_unflatten(out_tree, outs)


def _by_calling(cond_fun, body, carry, holds):
    """With jit disabled: condition and body themselves are called."""
    while holds:
        carry = body(carry)
        holds = cond_fun(carry)
    return carry


def _check_condition(jaxpr, tree):
    if tree.num_nodes != 1 or tree.num_leaves != 1:
        raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {tree}.")
    aval = jaxpr.out_avals[0]
    if aval.shape or aval.dtype != np.bool_:
        raise TypeError(f"cond_fun must return a boolean scalar, but got output type(s) [{aval!r}].")


@source.api_boundary
def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """`body_fun(i, carry)` for i from `lower` to `upper` - 1; returns the last carry.

    With bounds known while tracing this is a `scan`, so reverse-mode differentiation works; otherwise a `while_loop`.
    Raises TypeError for bounds that are not integer scalars of one type.
    """
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    dtype = _bounds_dtype(lower, upper)
    first, end = _known_bound(lower), _known_bound(upper)
    if first is not None and end is not None:
        trips, names = max(end - first, 0), _names_in_scan
        carry = (first, init_val)
        unroll = 1 if unroll is None else unroll
        (_, out), _ = scan_of(
            body_fun, carry, None, trips, False, unroll, "fori_loop", _step_of_scan, names, "loop_carry"
        )
        return out
    if unroll is not None:
        raise ValueError("Can only use `unroll` in `fori_loop` if the loop bounds are statically known.")
    carry = (_as_bound(lower, dtype), _as_bound(upper, dtype), init_val)
    return _while(_below_the_end, body_fun, carry, "fori_loop", _step_of_while, _names_in_while)[2]


def _bounds_dtype(lower, upper):
    """The common dtype of the bounds: a weakly typed signed integer takes the type of another one."""
    low, high = typeof(lower), typeof(upper)
    if low.dtype == high.dtype:
        return low.dtype
    signed = all(dtypes.issubdtype(a.dtype, np.signedinteger) for a in (low, high))
    if signed and low.weak_type != high.weak_type:
        return high.dtype if low.weak_type else low.dtype
    raise TypeError(
        f"lower and upper arguments to fori_loop must have equal types, got {low.dtype.name} and {high.dtype.name}"
    )


def _known_bound(x):
    """The Python integer, or None for a bound that is known only at run time."""
    value = to_concrete_value(x)
    return None if value is None or typeof(value).shape else int(value)


def _as_bound(x, dtype):
    """A bound in the common dtype; one that has it already keeps its weak type, as JAX's do."""
    x = x if isinstance(x, Tracer) else as_array(x)
    return x if x.dtype == dtype else converted(x, dtype)


def _below_the_end(carry):
    i, end, _ = carry
    return lt(i, end)


def _one(i):
    return make_array(np.ones((), i.dtype), i.dtype, True)


def _step_of_scan(body_fun):
    def step(carry, _):
        i, x = carry
        return (add(i, _one(i)), body_fun(i, x)), None

    return step


def _step_of_while(body_fun):
    def step(carry):
        i, end, x = carry
        return add(i, _one(i)), end, body_fun(i, x)

    return step


def _names_in_scan(body_fun, args):
    return argument_names(fun_signature(body_fun), args[0], {})


def _names_in_while(body_fun, args):
    i, _, x = args[0]
    first, *rest = argument_names(fun_signature(body_fun), (i, x), {})
    return (first, "upper", *rest)


# ---- rules ----


def _split(values, cond_nconsts, body_nconsts):
    end = cond_nconsts + body_nconsts
    return list(values[:cond_nconsts]), list(values[cond_nconsts:end]), list(values[end:])


def _impl(*args, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    cond_consts, body_consts, carry = _split(args, cond_nconsts, body_nconsts)
    batched = bool(cond_jaxpr.out_avals[0].shape)
    while True:
        (holds,) = eval_jaxpr(cond_jaxpr, cond_jaxpr.consts, *cond_consts, *carry)
        if not np.any(holds._value):
            return with_types(carry, body_jaxpr.out_avals)
        new = eval_jaxpr(body_jaxpr, body_jaxpr.consts, *body_consts, *carry)
        if batched:
            new = [keep_where(holds, n, c) for n, c in zip(new, carry)]
        carry = new


def keep_where(holds, new, old):
    """The new carry where the condition held, else the old; the axes of `holds` are the carry's leading ones."""
    shape, axes = typeof(new).shape, tuple(range(typeof(holds).ndim))
    which = holds if len(shape) == len(axes) else broadcast_in_dim(holds, shape, axes)
    return select_n(which, old, new)


def settled(cond_jaxpr, body_jaxpr, cond_nconsts, body_nconsts):
    """The loop with a scalar condition: (condition, body), both on (*cond_consts, *body_consts, *carry).

    A batched condition becomes "any example's", and its selection of the carry moves into the body.
    """
    key = ("settled while", body_jaxpr, cond_nconsts, body_nconsts)
    if key in cond_jaxpr.cache:
        return cond_jaxpr.cache[key]
    batched = cond_jaxpr.out_avals[0].shape

    def holds(*args):
        cond_consts, _, carry = _split(args, cond_nconsts, body_nconsts)
        return eval_jaxpr(cond_jaxpr, cond_jaxpr.consts, *cond_consts, *carry)[0]

    def condition(*args):
        return [reduce_or(holds(*args), tuple(range(len(batched)))) if batched else holds(*args)]

    def body(*args):
        _, body_consts, carry = _split(args, cond_nconsts, body_nconsts)
        new = eval_jaxpr(body_jaxpr, body_jaxpr.consts, *body_consts, *carry)
        return [keep_where(holds(*args), n, c) for n, c in zip(new, carry)] if batched else new

    avals = [*cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals]
    found = tuple(trace_to_jaxpr(f, avals, body_jaxpr.debug_info) for f in (condition, body))
    cond_jaxpr.cache[key] = found
    return found


def _abstract_eval(*avals, body_jaxpr, **_):
    return list(body_jaxpr.out_avals)


def _jvp(primals, tangents, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """The carry travels with its tangents; which of them vanish is found by going round until nothing changes."""
    cond_consts, body_consts, init = _split(primals, cond_nconsts, body_nconsts)
    _, const_tangents, init_tangents = _split(tangents, cond_nconsts, body_nconsts)
    nonzeros = [[type(t) is not Zero for t in some] for some in (const_tangents, init_tangents)]
    body_jvp, carry_nonzeros = _body_jvp(body_jaxpr, *nonzeros)
    init_dot = [instantiate_zeros(t) for t, active in zip(init_tangents, carry_nonzeros) if active]
    const_dot = [t for t in const_tangents if type(t) is not Zero]
    n, nc = len(init), len(body_consts)
    body = _reordered(body_jvp, nc, n, len(const_dot))
    cond = _with_more_arguments(cond_jaxpr, [typeof(t) for t in init_dot])
    outs = while_p.bind(
        *cond_consts,
        *body_consts,
        *const_dot,
        *init,
        *init_dot,
        cond_jaxpr=cond,
        cond_nconsts=cond_nconsts,
        body_jaxpr=body,
        body_nconsts=nc + len(const_dot),
    )
    rest = iter(outs[n:])
    return outs[:n], [
        next(rest) if active else Zero(typeof(x).to_tangent_aval()) for x, active in zip(init, carry_nonzeros)
    ]


def _body_jvp(body_jaxpr, const_nonzeros, carry_nonzeros):
    """The body on primals and tangents, and which parts of the carry have a tangent in the end."""
    while True:
        body_jvp, nonzeros_out = jvp_jaxpr(body_jaxpr, [*const_nonzeros, *carry_nonzeros], tuple(carry_nonzeros))
        joint = [a or b for a, b in zip(carry_nonzeros, nonzeros_out)]
        if joint == carry_nonzeros:
            return body_jvp, carry_nonzeros
        carry_nonzeros = joint


def _reordered(jaxpr, n_consts, n_carry, n_const_dot):
    """(consts, carry, const tangents, carry tangents) as (consts, const tangents, carry, carry tangents)."""
    invars = jaxpr.invars
    consts, carry = invars[:n_consts], invars[n_consts : n_consts + n_carry]
    rest = invars[n_consts + n_carry :]
    ordered = [*consts, *rest[:n_const_dot], *carry, *rest[n_const_dot:]]
    open_jaxpr = core.Jaxpr(jaxpr.constvars, ordered, jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
    return core.ClosedJaxpr(open_jaxpr, jaxpr.consts)


def _with_more_arguments(jaxpr, avals):
    """The program with further arguments that it does not read."""
    key = ("more arguments", tuple(avals))
    if key not in jaxpr.cache:
        n = len(jaxpr.invars)
        fun = lambda *args: eval_jaxpr(jaxpr, jaxpr.consts, *args[:n])
        jaxpr.cache[key] = trace_to_jaxpr(fun, [*jaxpr.in_avals, *avals], jaxpr.debug_info)
    return jaxpr.cache[key]


def _linearize(nonzeros, *primals, **params):
    """The linear part is a loop of its own that computes the primal carry anew; it cannot be run backward."""
    outs = while_p.bind(*primals, **params)
    n_consts = params["cond_nconsts"] + params["body_nconsts"]
    _, nonzeros_out = _body_jvp(params["body_jaxpr"], nonzeros[params["cond_nconsts"] : n_consts], nonzeros[n_consts:])

    def apply(residuals, *tangents):
        return _jvp(residuals, tangents, **params)[1]

    return outs, nonzeros_out, list(primals), apply


def _partial_eval(linear, *args, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """A loop of what depends on no tangent, for its results alone; the rest is one of everything."""
    cond_u, body_u, carry_u = _split(linear, cond_nconsts, body_nconsts)
    while True:
        body, _, out_u, _ = partial_eval_jaxpr(body_jaxpr, [*body_u, *carry_u], tuple(carry_u))
        if out_u == carry_u:
            break
        carry_u = out_u
    cond, _, (depends,), _ = partial_eval_jaxpr(cond_jaxpr, [*cond_u, *carry_u])
    if depends or all(carry_u):
        return None
    cond_consts, body_consts, init = (
        [x for x, is_unknown in zip(some, flags) if not is_unknown]
        for some, flags in zip(_split(args, cond_nconsts, body_nconsts), (cond_u, body_u, carry_u))
    )
    outs = while_p.bind(
        *cond_consts,
        *body_consts,
        *init,
        cond_jaxpr=_first_results(cond, 1),
        cond_nconsts=len(cond_consts),
        body_jaxpr=_first_results(body, len(init)),
        body_nconsts=len(body_consts),
    )
    params = {
        "cond_jaxpr": cond_jaxpr,
        "cond_nconsts": cond_nconsts,
        "body_jaxpr": body_jaxpr,
        "body_nconsts": body_nconsts,
    }
    every = find_cur_trace().record_whole(while_p, args, params)
    return merge_lists(carry_u, outs, [x for x, is_unknown in zip(every, carry_u) if is_unknown])


def _first_results(jaxpr, n):
    """The program without the results from the n-th on."""
    opened = core.Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars[:n], jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
    return eliminate_dead_code(core.ClosedJaxpr(opened, jaxpr.consts), bodies=False)


def _transpose(cts, *operands, **params):
    raise ValueError(
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop "
        "values. Try using lax.scan, or using fori_loop with static start/stop."
    )


def _batch(axis_data, operands, dims, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """Which parts of the carry become mapped is found by going round; a mapped condition maps all of them.

    The axes of a condition that is mapped already stay the leading ones of the carry: where the condition is not mapped
    once more, the new axis stands behind them.
    """
    size = axis_data.size
    cond_dims, body_dims, carry_dims = _split([None if d is None else 0 for d in dims], cond_nconsts, body_nconsts)
    at = len(cond_jaxpr.out_avals[0].shape)
    mapped = [d is not None for d in carry_dims]
    while True:
        carry_dims = [at if is_mapped else None for is_mapped in mapped]
        body, body_out = batch_jaxpr(body_jaxpr, axis_data, (*body_dims, *carry_dims), tuple(mapped))
        cond, (cond_out,) = batch_jaxpr(cond_jaxpr, axis_data, (*cond_dims, *carry_dims))
        every = cond_out is not None
        joint = [every or is_mapped or d is not None for is_mapped, d in zip(mapped, body_out)]
        if joint == mapped and not (every and at):
            break
        mapped, at = joint, 0 if every else at
    if cond_out is not None and each_by_itself(axis_data, (cond_jaxpr, body_jaxpr)):
        params = {"cond_jaxpr": cond_jaxpr, "cond_nconsts": cond_nconsts}
        params |= {"body_jaxpr": body_jaxpr, "body_nconsts": body_nconsts}
        return sequentially(while_p, axis_data, operands, dims, params)
    if cond_out is not None and has_io(cond_jaxpr.effects | body_jaxpr.effects):
        raise NotImplementedError("IO effects not supported in while_loop with batched predicate")
    n = cond_nconsts + body_nconsts
    consts = [x if d is None else move_to(x, d, 0, size) for x, d in zip(operands[:n], dims)]
    carry = [move_to(x, d, at, size) if m else x for x, d, m in zip(operands[n:], dims[n:], mapped)]
    outs = while_p.bind(
        *consts,
        *carry,
        cond_jaxpr=cond,
        cond_nconsts=cond_nconsts,
        body_jaxpr=_with_mapped_axis_at(body, mapped, at),
        body_nconsts=body_nconsts,
    )
    return outs, carry_dims


def _with_mapped_axis_at(body, mapped, at):
    """The batched body, with the mapped axis of its results there, not in front."""
    if at == 0 or not any(mapped):
        return body
    key = ("mapped axis", tuple(mapped), at)
    if key not in body.cache:
        run = lambda *args: eval_jaxpr(body, body.consts, *args)
        move = lambda *args: [moveaxis(x, 0, at) if m else x for x, m in zip(run(*args), mapped)]
        body.cache[key] = trace_to_jaxpr(move, body.in_avals, body.debug_info)
    return body.cache[key]


while_p = Primitive(
    "while",
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


key_lineage.set(while_p, follow_while)


@programs.rule(while_p)
def _programs(eqn):
    p, n, m = eqn.params, len(eqn.invars), len(eqn.outvars)
    n_cond, n_body = p["cond_nconsts"], p["body_nconsts"]
    of_condition = (*range(n_cond), *range(n_cond + n_body, n))
    return [
        HeldProgram(p["cond_jaxpr"], CONDITION, "cond_jaxpr", None, of_condition, None, n_cond, m),
        HeldProgram(p["body_jaxpr"], LOOP, "body_jaxpr", None, range(n_cond, n), range(m), n_body, m),
    ]


def _by_policy(saves, unknown, at_hand, eqn):
    """What is known of the carry is computed first, if the condition needs no more; the whole loop again after it."""
    p = eqn.params
    n_cond, n_body, body = p["cond_nconsts"], p["body_nconsts"], p["body_jaxpr"]
    cond_u, body_u, carry_u = _split(unknown, n_cond, n_body)
    n_out = len(carry_u)
    while True:
        found = split_by_policy(body, [*body_u, *carry_u], saves, carry_u, all_at_hand=True)[2]
        if found == carry_u:
            break
        carry_u = found
    _, used = prune(p["cond_jaxpr"], [True])
    stored = not_at_hand(eqn, at_hand)
    if all(carry_u) or any(a and b for a, b in zip(used, [*cond_u, *carry_u])):
        return None, eqn, [True] * n_out, [True] * n_out, stored
    kept = [not flag for flag in carry_u]
    inner, _ = prune(body, kept)
    known_in = reject(body.invars, [*body_u, *carry_u])
    condition = p["cond_jaxpr"]
    early = eqn.replace(
        invars=reject(eqn.invars, [*cond_u, *body_u, *carry_u]),
        outvars=reject(eqn.outvars, carry_u),
        params={
            "body_jaxpr": close(inner, known_in, inner.outvars, inner.eqns),
            "body_nconsts": n_body - sum(body_u),
            "cond_jaxpr": close(
                condition, reject(condition.invars, [*cond_u, *carry_u]), condition.outvars, condition.eqns
            ),
            "cond_nconsts": n_cond - sum(cond_u),
        },
    )
    return early, eqn, carry_u, [True] * n_out, stored


policy_rules[while_p] = _by_policy
