"""while_loop, and fori_loop over it (or over scan, where the trip count is known).

    while_p.bind(*cond_consts, *body_consts, *carry, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts)

Under vmap the condition may be batched: its axes are then the leading axes of every part of the carry, the loop runs
while any example's condition holds, and examples whose condition fails keep their carry.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from onax._control.batch_by_loop import batch_by_loop, must_loop_over_devices
from onax._control.bodies import (
    arrays_and_avals,
    carry_name,
    check_carry,
    convert_value,
    promote_weak_types,
    restore_weak_types,
    stage_body,
)
from onax._control.eager_loops import LONG, committed_device, may_be_compiled, run_compiled
from onax._control.loops import fixed_point
from onax._control.scan import scan_adapted
from onax._core import jaxpr as core
from onax._core.effects import has_io, has_ordered_io
from onax._core.evaluate import bind_with_refs, eval_jaxpr
from onax._core.hitypes import holds_hitypes
from onax._core.lists import merge_lists, reject, select, split_list
from onax._core.programs import CONDITION, LOOP, HeldProgram, programs
from onax._core.rewrite import close, eliminate_dead_code, prune, rename_variables
from onax._core.trace import Tracer, as_array, find_cur_trace, to_concrete_value, typeof
from onax._core.zeros import drop_zeros, insert_zeros, nonzero_flags
from onax._ground import dtypes, errors, source
from onax._ground.config import DISABLE_JIT
from onax._ground.typing import ArrayLike, Result
from onax._native import context
from onax._native.array import make_array
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._prims.elementwise import add, lt, select_n
from onax._prims.reductions import reduce_or
from onax._prims.shaping import broadcast_in_dim, moveaxis
from onax._prims.varying import vary_as
from onax._transforms.batching import batch_jaxpr, move_mapped_axis
from onax._transforms.flatten import argument_names, fun_signature
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.key_reuse import analyze_while, key_lineage
from onax._transforms.lower_hitypes import flat, lower_program, lower_values, raise_values, to_lo
from onax._transforms.partial_eval import (
    operands_to_store,
    partial_eval_custom_rules,
    partial_eval_jaxpr,
    partial_eval_jaxpr_custom,
)
from onax._transforms.staging import derive_jaxpr
from onax._transforms.varying_types import varying_axes, with_varying_results


@source.api_boundary
def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Result], init_val: Any) -> Result:
    """Returns the last carry of a loop that runs as long as a condition holds.

    It has derivatives in forward mode only; `scan` and `fori_loop` with static bounds have both.

    Args:
      cond_fun: function carry -> bool scalar.
      body_fun: function carry -> carry, which keeps structure, shapes and dtypes.
      init_val: tree of arrays, the first carry.

    Returns:
      Tree of arrays.

    Raises:
      TypeError: the carry changes its type, or cond_fun does not return a bool scalar.

    Examples:
      >>> lax.while_loop(lambda x: x < 100, lambda x: 2 * x, 3)
      Array(192, dtype=int32, weak_type=True)
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
                return _call_each_step(cond_fun, body_fun if adapt is None else adapt(body_fun), init_val, holds)
            except errors.ConcretizationTypeError:  # the condition became batched: the loop is staged after all
                pass
    leaves, init_tree = tree_flatten(init_val)
    in_tree = tree_structure(((init_val,), {}))
    values, avals = arrays_and_avals(leaves)
    body, body_consts, out_tree = stage_body(body_fun, in_tree, avals, what, adapt, names)
    if out_tree == init_tree:
        values, changed = promote_weak_types(values, avals, body.out_avals)
        if changed:
            avals = [typeof(v) for v in values]
            body, body_consts, out_tree = stage_body(body_fun, in_tree, avals, what, adapt, names)
    name = lambda: carry_name(body_fun) if adapt is None else "loop_carry"
    check_carry("while_loop body function", name, init_tree, out_tree, avals, body.out_avals)
    cond, cond_consts, cond_tree = stage_body(cond_fun, in_tree, avals, "while_cond")
    _check_condition(cond, cond_tree)
    axes = cond.out_avals[0].varying
    if any(axes - varying_axes(a) for a in avals):  # devices differ in the number of steps
        values = [vary_as(x, cond.out_avals[0]) for x in values]
        body_fun = with_varying_results(body_fun, sorted(axes, key=str))
        init_val = tree_unflatten(init_tree, values)
        return _while(cond_fun, body_fun, init_val, what, adapt, names)
    cond, body, fixed = _fix_unused_carry(cond, len(cond_consts), body, len(body_consts))
    kept = select(values, fixed)
    params = {
        "cond_jaxpr": cond,
        "cond_nconsts": len(cond_consts),
        "body_jaxpr": body,
        "body_nconsts": len(kept) + len(body_consts),
    }
    outs = bind_with_refs(while_p, [*cond_consts, *kept, *body_consts, *reject(values, fixed)], params)
    return tree_unflatten(out_tree, merge_lists(fixed, outs, kept))


def _fix_unused_carry(cond, n_cond, body, n_body):
    """Makes parts of the carry that no step changes, and that the condition does not read, constants of the body.

    Returns (condition, body, for each part whether it is fixed).  So a mapped condition does not map them.
    """
    consts, carry = body.invars[:n_body], body.invars[n_body:]
    same = [old is new for old, new in zip(carry, body.outvars)]
    if not any(same) or all(same):
        return cond, body, [False] * len(carry)
    keep = [*[True] * n_cond, *(not flag for flag in same)]
    smaller, used = prune(cond, [True], keep)
    fixed = [not flag for flag in used[n_cond:]]
    if not any(fixed):
        return cond, body, fixed
    key = ("fixed carry", n_body, tuple(fixed))
    if key not in body.cache:
        invars = [*select(carry, fixed), *consts, *reject(carry, fixed)]
        body.cache[key] = close(body, invars, reject(body.outvars, fixed))
    return smaller, body.cache[key], fixed


def _call_each_step(cond_fun, body, carry, holds):
    """Calls the condition and the body in a Python loop, for `jax_disable_jit`."""
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
def fori_loop(
    lower: ArrayLike,
    upper: ArrayLike,
    body_fun: Callable[[Any, Any], Result],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Result:
    """Returns the last carry of a counted loop.

    Args:
      lower: integer scalar, the first index.
      upper: integer scalar, the index after the last one.
      body_fun: function (index, carry) -> carry, which keeps structure, shapes and dtypes.
      init_val: tree of arrays, the first carry.
      unroll: int or bool, how many steps are written out at a time; only for static bounds.

    Returns:
      Tree of arrays.

    Raises:
      TypeError: the carry changes its type.
      ValueError: unroll is given for bounds that are traced.

    Examples:
      >>> lax.fori_loop(0, 5, lambda i, total: total + i, 0)
      Array(10, dtype=int32, weak_type=True)
    """
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    dtype = _bounds_dtype(lower, upper)
    first, end = _known_bound(lower), _known_bound(upper)
    if first is not None and end is not None:
        trips, names = max(end - first, 0), _fori_scan_arg_names
        if trips == 0 and context.option_word() & DISABLE_JIT:
            return tree_map(as_array, init_val)
        carry = (first, init_val)
        unroll = 1 if unroll is None else unroll
        (_, out), _ = scan_adapted(
            body_fun, carry, None, trips, False, unroll, "fori_loop", _fori_scan_body, names, "loop_carry"
        )
        return out
    if unroll is not None:
        raise ValueError("Can only use `unroll` in `fori_loop` if the loop bounds are statically known.")
    carry = (_as_bound(lower, dtype), _as_bound(upper, dtype), init_val)
    return _while(_fori_cond_fun, body_fun, carry, "fori_loop", _fori_while_body, _fori_while_arg_names)[2]


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
    """The bound as a Python integer, or None if it is known only at run time."""
    value = to_concrete_value(x if isinstance(x, Tracer) else as_array(x))  # OverflowError for a large int
    return None if value is None or typeof(value).shape else int(value)


def _as_bound(x, dtype):
    """A bound in the common dtype; one that has it already keeps its weak type, as JAX's do."""
    x = x if isinstance(x, Tracer) else as_array(x)
    return x if x.dtype == dtype else convert_value(x, dtype)


def _fori_cond_fun(carry):
    i, end, _ = carry
    return lt(i, end)


def _one_like(i):
    return make_array(np.ones((), i.dtype), i.dtype, True)


def _fori_scan_body(body_fun):
    def step(carry, _):
        i, x = carry
        return (add(i, _one_like(i)), body_fun(i, x)), None

    return step


def _fori_while_body(body_fun):
    def step(carry):
        i, end, x = carry
        return add(i, _one_like(i)), end, body_fun(i, x)

    return step


def _fori_scan_arg_names(body_fun, args):
    return argument_names(fun_signature(body_fun), args[0], {})


def _fori_while_arg_names(body_fun, args):
    i, _, x = args[0]
    first, *rest = argument_names(fun_signature(body_fun), (i, x), {})
    return (first, "upper", *rest)


# ---- rules ----


def _impl(*args, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """Interprets the body step by step; when the loop turns out to be long, the rest of it is compiled."""
    if holds_hitypes(cond_jaxpr) or holds_hitypes(body_jaxpr):
        counts = {"cond_nconsts": cond_nconsts, "body_nconsts": body_nconsts}
        return _to_lo(args, cond_jaxpr=cond_jaxpr, body_jaxpr=body_jaxpr, **counts)
    committed_device(while_p, args)
    cond_consts, body_consts, carry = split_list(args, [cond_nconsts, body_nconsts])
    batched = bool(cond_jaxpr.out_avals[0].shape)
    steps = 0
    while True:
        if steps == LONG and may_be_compiled(cond_jaxpr, body_jaxpr):
            params = {"cond_jaxpr": cond_jaxpr, "cond_nconsts": cond_nconsts}
            params |= {"body_jaxpr": body_jaxpr, "body_nconsts": body_nconsts}
            carry = restore_weak_types(carry, body_jaxpr.out_avals)
            return run_compiled(while_p, (*cond_consts, *body_consts, *carry), params, body_jaxpr)
        steps += 1
        (holds,) = eval_jaxpr(cond_jaxpr, cond_jaxpr.consts, *cond_consts, *carry)
        if not np.any(holds._value):
            return restore_weak_types(carry, body_jaxpr.out_avals)
        new = eval_jaxpr(body_jaxpr, body_jaxpr.consts, *body_consts, *carry)
        if batched:
            new = [keep_where(holds, n, c) for n, c in zip(new, carry)]
        carry = new


def keep_where(holds, new, old):
    """The new carry where the condition held, else the old; the axes of `holds` are the carry's leading ones."""
    shape, axes = typeof(new).shape, tuple(range(typeof(holds).ndim))
    which = holds if len(shape) == len(axes) else broadcast_in_dim(holds, shape, axes)
    return select_n(which, old, new)


def with_scalar_condition(cond_jaxpr, body_jaxpr, cond_nconsts, body_nconsts):
    """The loop with a scalar condition: (condition, body), both on (*cond_consts, *body_consts, *carry).

    A batched condition becomes true if it holds for any example; the selection of each example's carry moves into the
    body.
    """
    key = ("with scalar condition", body_jaxpr, cond_nconsts, body_nconsts)
    if key in cond_jaxpr.cache:
        return cond_jaxpr.cache[key]
    batched = cond_jaxpr.out_avals[0].shape

    def holds(*args):
        cond_consts, _, carry = split_list(args, [cond_nconsts, body_nconsts])
        return eval_jaxpr(cond_jaxpr, cond_jaxpr.consts, *cond_consts, *carry)[0]

    def condition(*args):
        return [reduce_or(holds(*args), tuple(range(len(batched)))) if batched else holds(*args)]

    def body(*args):
        _, body_consts, carry = split_list(args, [cond_nconsts, body_nconsts])
        new = eval_jaxpr(body_jaxpr, body_jaxpr.consts, *body_consts, *carry)
        return [keep_where(holds(*args), n, c) for n, c in zip(new, carry)] if batched else new

    avals = [*cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals]
    result = tuple(derive_jaxpr(f, avals, body_jaxpr) for f in (condition, body))
    cond_jaxpr.cache[key] = result
    return result


def _abstract_eval(*avals, body_jaxpr, **_):
    return list(body_jaxpr.out_avals)


def _jvp(primals, tangents, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """The loop carries tangents beside the carry; the fixed point finds which of them vanish."""
    cond_consts, body_consts, init = split_list(primals, [cond_nconsts, body_nconsts])
    _, const_dot, init_dot = split_list(tangents, [cond_nconsts, body_nconsts])
    body, carry_nz = _body_jvp(body_jaxpr, nonzero_flags(const_dot), nonzero_flags(init_dot))
    const_dot, init_dot = drop_zeros(const_dot), [instantiate_zeros(t) for t in select(init_dot, carry_nz)]
    n = len(init)
    consts, carry, consts_dot, carry_dot = split_list(body.invars, [body_nconsts, n, len(const_dot)])
    outs = while_p.bind(
        *cond_consts,
        *body_consts,
        *const_dot,
        *init,
        *init_dot,
        cond_jaxpr=_add_unused_arguments(cond_jaxpr, [typeof(t) for t in init_dot]),
        cond_nconsts=cond_nconsts,
        body_jaxpr=close(body, [*consts, *consts_dot, *carry, *carry_dot], body.outvars),
        body_nconsts=body_nconsts + len(const_dot),
    )
    return outs[:n], insert_zeros(outs[n:], carry_nz, map(typeof, init))


def _body_jvp(body_jaxpr, const_nz, carry_nz):
    """The body on primals and tangents, and which parts of the carry have a tangent at the fixed point."""
    return fixed_point(lambda carry_nz: jvp_jaxpr(body_jaxpr, [*const_nz, *carry_nz], tuple(carry_nz)), carry_nz)


def _add_unused_arguments(jaxpr, avals):
    """A copy of the program with additional arguments that it does not read."""
    key = ("more arguments", tuple(avals))
    if key not in jaxpr.cache:
        copy = rename_variables(jaxpr)
        jaxpr.cache[key] = close(copy, [*copy.invars, *map(core.Var, avals)], copy.outvars)
    return jaxpr.cache[key]


def _linearize(nonzeros, *primals, **params):
    """The linear part is a loop that computes the primal carry again; it cannot be transposed."""
    outs = while_p.bind(*primals, **params)
    _, const_nz, init_nz = split_list(nonzeros, [params["cond_nconsts"], params["body_nconsts"]])
    _, nonzeros_out = _body_jvp(params["body_jaxpr"], const_nz, init_nz)

    def apply(residuals, *tangents):
        return _jvp(residuals, tangents, **params)[1]

    return outs, nonzeros_out, list(primals), apply


def _partial_eval(unknown, *args, **params):
    """A loop that computes the known carry, without residuals; the rest is the whole loop again."""
    sizes = [params["cond_nconsts"], params["body_nconsts"]]
    body_jaxpr, cond_jaxpr = params["body_jaxpr"], params["cond_jaxpr"]
    cond_u, body_u, carry_u = split_list(unknown, sizes)

    def step(carry_u):
        body, _, out_u, _ = partial_eval_jaxpr(body_jaxpr, [*body_u, *carry_u], tuple(carry_u))
        return body, out_u

    body, carry_u = fixed_point(step, carry_u)
    cond, _, (depends,), _ = partial_eval_jaxpr(cond_jaxpr, [*cond_u, *carry_u])
    if depends or all(carry_u):
        return None
    groups = zip(split_list(args, sizes), (cond_u, body_u, carry_u))
    cond_consts, body_consts, init = (reject(values, flags) for values, flags in groups)
    outs = while_p.bind(
        *cond_consts,
        *body_consts,
        *init,
        cond_jaxpr=_keep_first_results(cond, 1),
        cond_nconsts=len(cond_consts),
        body_jaxpr=_keep_first_results(body, len(init)),
        body_nconsts=len(body_consts),
    )
    every = find_cur_trace().record_whole(while_p, args, params)
    return merge_lists(carry_u, outs, select(every, carry_u))


def _keep_first_results(jaxpr, n):
    """The program with its first n results alone."""
    return eliminate_dead_code(close(jaxpr, jaxpr.invars, jaxpr.outvars[:n]))


def _transpose(cts, *operands, **params):
    raise ValueError(
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop "
        "values. Try using lax.scan, or using fori_loop with static start/stop."
    )


def _batch(axis_data, operands, dims, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """A fixed point finds which parts of the carry become mapped; a mapped condition maps all of them.

    The axes of a condition that was batched before stay the leading axes of the carry: if this `vmap` does not map the
    condition, the new axis comes after them.
    """
    if not axis_data.of_devices and has_ordered_io(cond_jaxpr.effects | body_jaxpr.effects):
        raise NotImplementedError("Ordered IO effects not supported in vmap.")
    size = axis_data.size
    in_front = [None if d is None else 0 for d in dims]
    cond_dims, body_dims, carry_dims = split_list(in_front, [cond_nconsts, body_nconsts])
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
    if cond_out is not None and must_loop_over_devices(axis_data, (cond_jaxpr, body_jaxpr)):
        params = {"cond_jaxpr": cond_jaxpr, "cond_nconsts": cond_nconsts}
        params |= {"body_jaxpr": body_jaxpr, "body_nconsts": body_nconsts}
        return batch_by_loop(while_p, axis_data, operands, dims, params)
    if cond_out is not None and has_io(cond_jaxpr.effects | body_jaxpr.effects):
        raise NotImplementedError("Unordered IO effects not supported in while_loop with batched predicate")
    n = cond_nconsts + body_nconsts
    consts = [x if d is None else move_mapped_axis(x, d, 0, size) for x, d in zip(operands[:n], dims)]
    carry = [move_mapped_axis(x, d, at, size) if m else x for x, d, m in zip(operands[n:], dims[n:], mapped)]
    outs = while_p.bind(
        *consts,
        *carry,
        cond_jaxpr=cond,
        cond_nconsts=cond_nconsts,
        body_jaxpr=_move_mapped_axis(body, mapped, at),
        body_nconsts=body_nconsts,
    )
    return outs, carry_dims


def _move_mapped_axis(body, mapped, at):
    """The batched body, with the mapped axis of its results there, not in front."""
    if at == 0 or not any(mapped):
        return body
    key = ("mapped axis", tuple(mapped), at)
    if key not in body.cache:
        run = lambda *args: eval_jaxpr(body, body.consts, *args)
        move = lambda *args: [moveaxis(x, 0, at) if m else x for x, m in zip(run(*args), mapped)]
        body.cache[key] = derive_jaxpr(move, body.in_avals, body)
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


key_lineage.set(while_p, analyze_while)


@to_lo.rule(while_p)
def _to_lo(args, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    lowered = lower_values(args)
    avals = [list(map(typeof, group)) for group in lowered]
    n = cond_nconsts + body_nconsts
    outs = while_p.bind(
        *flat(lowered),
        cond_jaxpr=lower_program(cond_jaxpr, [*avals[:cond_nconsts], *avals[n:]]),
        cond_nconsts=len(flat(lowered[:cond_nconsts])),
        body_jaxpr=lower_program(body_jaxpr, avals[cond_nconsts:]),
        body_nconsts=len(flat(lowered[cond_nconsts:n])),
    )
    return raise_values(body_jaxpr.out_avals, outs)


@programs.rule(while_p)
def _programs(eqn):
    p, n, m = eqn.params, len(eqn.invars), len(eqn.outvars)
    n_cond, n_body = p["cond_nconsts"], p["body_nconsts"]
    of_condition = (*range(n_cond), *range(n_cond + n_body, n))
    return [
        HeldProgram(p["cond_jaxpr"], CONDITION, "cond_jaxpr", None, of_condition, None, n_cond, m),
        HeldProgram(p["body_jaxpr"], LOOP, "body_jaxpr", None, range(n_cond, n), range(m), n_body, m),
    ]


@partial_eval_custom_rules.rule(while_p)
def _partial_eval_custom(saveable, unknown, instantiated, eqn):
    """A loop computes the known carry if the condition needs nothing else; the second program has the whole loop."""
    p = eqn.params
    n_cond, n_body, body, condition = p["cond_nconsts"], p["body_nconsts"], p["body_jaxpr"], p["cond_jaxpr"]
    cond_u, body_u, carry_u = split_list(unknown, [n_cond, n_body])

    def step(carry_u):
        split = partial_eval_jaxpr_custom(body, [*body_u, *carry_u], saveable, carry_u, ensure_out_instantiated=True)
        return None, split[2]

    _, carry_u = fixed_point(step, carry_u)
    n_out = len(carry_u)
    stored = operands_to_store(eqn, instantiated)
    _, used = prune(condition, [True])
    if all(carry_u) or any(select(used, [*cond_u, *carry_u])):
        return None, eqn, [True] * n_out, [True] * n_out, stored
    inner, _ = prune(body, [not flag for flag in carry_u])
    early = eqn.replace(
        invars=reject(eqn.invars, [*cond_u, *body_u, *carry_u]),
        outvars=reject(eqn.outvars, carry_u),
        params={
            "body_jaxpr": close(inner, reject(body.invars, [*body_u, *carry_u]), inner.outvars),
            "body_nconsts": body_u.count(False),
            "cond_jaxpr": close(condition, reject(condition.invars, [*cond_u, *carry_u]), condition.outvars),
            "cond_nconsts": cond_u.count(False),
        },
    )
    return early, eqn, carry_u, [True] * n_out, stored
