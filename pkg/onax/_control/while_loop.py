"""while_loop, and fori_loop over it (or over scan, where the trip count is known).

    while_p.bind(*cond_consts, *body_consts, *carry, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts)

Under vmap the condition may be batched: its axes are then the leading axes of every part of the carry, the loop runs
while any example's condition holds, and examples whose condition fails keep their carry.
"""

import numpy as np

from onax._control.bodies import arrays_and_avals, check_carry, promote_weak, stage_body
from onax._control.scan import scan
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.trace import Tracer, as_array, to_concrete_value, typeof
from onax._core.zeros import Zero
from onax._ground import dtypes
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims.convert import convert_element_type
from onax._prims.elementwise import add, lt, select_n
from onax._prims.reductions import reduce_or
from onax._prims.shaping import broadcast_in_dim, instantiate_zeros
from onax._transforms.batching import batch_jaxpr, move_to
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.staging import trace_to_jaxpr


def while_loop(cond_fun, body_fun, init_val):
    """Applies `body_fun` to the carry as long as `cond_fun(carry)` holds; returns the last carry.

    The carry is a tree of arrays whose structure, shapes and dtypes stay the same.  Raises TypeError where they do
    not, and for a condition that is no boolean scalar.  Reverse-mode differentiation is not possible.
    """
    if not (callable(body_fun) and callable(cond_fun)):
        raise TypeError("lax.while_loop: body_fun and cond_fun arguments should be callable.")
    leaves, init_tree = tree_flatten(init_val)
    in_tree = tree_structure(((init_val,), {}))
    values, avals = arrays_and_avals(leaves)
    body, body_consts, out_tree = stage_body(body_fun, in_tree, avals, "while_loop")
    if out_tree == init_tree:
        values, changed = promote_weak(values, avals, body.out_avals)
        if changed:
            avals = [typeof(v) for v in values]
            body, body_consts, out_tree = stage_body(body_fun, in_tree, avals, "while_loop")
    check_carry("while_loop body function", body_fun, init_tree, out_tree, avals, body.out_avals)
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


def _check_condition(jaxpr, tree):
    if tree.num_nodes != 1 or tree.num_leaves != 1:
        raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {tree}.")
    aval = jaxpr.out_avals[0]
    if aval.shape or aval.dtype != np.bool_:
        raise TypeError(f"cond_fun must return a boolean scalar, but got output type(s) [{aval!r}].")


def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """`body_fun(i, carry)` for i from `lower` to `upper` - 1; returns the last carry.

    With bounds known while tracing this is a `scan`, so reverse-mode differentiation works; otherwise a `while_loop`.
    Raises TypeError for bounds that are not integer scalars of one type.
    """
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    low, high = typeof(lower), typeof(upper)
    for aval in (low, high):
        if aval.shape or not dtypes.issubdtype(aval.dtype, np.integer):
            if low.dtype != high.dtype:
                raise TypeError(
                    f"lower and upper arguments to fori_loop must have equal types, got {low.dtype.name} and "
                    f"{high.dtype.name}"
                )
            raise TypeError(f"fori_loop bounds must be integer scalars, got {aval.str_short()}")
    dtype = dtypes.promote_types(low.dtype, high.dtype) if low.weak_type == high.weak_type else (
        high.dtype if low.weak_type else low.dtype
    )  # fmt: skip
    if to_concrete_value(lower) is not None and to_concrete_value(upper) is not None:
        return _by_scan(lower, upper, dtype, body_fun, init_val, unroll)
    if unroll is not None:
        raise ValueError("Can only use `unroll` in `fori_loop` if the loop bounds are statically known.")

    def condition(carry):
        i, end, _ = carry
        return lt(i, end)

    def body(carry):
        i, end, x = carry
        return add(i, 1), end, body_fun(i, x)

    lower, upper = (_as_integer(b, dtype) for b in (lower, upper))
    return while_loop(condition, body, (lower, upper, init_val))[2]


def _as_integer(x, dtype):
    """A bound in the common dtype; one that has it already keeps its weak type, as JAX's do."""
    x = x if isinstance(x, Tracer) else as_array(x)
    return x if x.dtype == dtype else convert_element_type(x, dtype)


def _by_scan(lower, upper, dtype, body_fun, init_val, unroll):
    def body(carry, _):
        i, x = carry
        return (add(i, 1), body_fun(i, x)), None

    (_, out), _ = scan(
        body, (_as_integer(lower, dtype), init_val), None, length=max(int(upper) - int(lower), 0), unroll=unroll or 1
    )
    return out


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
            return carry
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
    const_nonzeros = [type(t) is not Zero for t in const_tangents]
    carry_nonzeros = [type(t) is not Zero for t in init_tangents]
    while True:
        body_jvp, nonzeros_out = jvp_jaxpr(body_jaxpr, [*const_nonzeros, *carry_nonzeros], tuple(carry_nonzeros))
        joint = [a or b for a, b in zip(carry_nonzeros, nonzeros_out)]
        if joint == carry_nonzeros:
            break
        carry_nonzeros = joint
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
    invars = [*jaxpr.invars, *map(core.Var, avals)]
    open_jaxpr = core.Jaxpr(jaxpr.constvars, invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
    return core.ClosedJaxpr(open_jaxpr, jaxpr.consts)


def _linearize(nonzeros, *primals, **params):
    raise ValueError(
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop "
        "values. Try using lax.scan, or using fori_loop with static start/stop."
    )


def _batch(axis_data, operands, dims, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """Which parts of the carry become mapped is found by going round; a mapped condition maps all of them."""
    size = axis_data.size
    operands = [x if d is None else move_to(x, d, 0, size) for x, d in zip(operands, dims)]
    dims = [None if d is None else 0 for d in dims]
    cond_dims, body_dims, carry_dims = _split(dims, cond_nconsts, body_nconsts)
    nested = bool(cond_jaxpr.out_avals[0].shape)  # mapped already: keep all its axes in front
    while True:
        mapped = tuple(d is not None for d in carry_dims)
        body, body_out = batch_jaxpr(body_jaxpr, axis_data, (*body_dims, *carry_dims), mapped)
        cond, (cond_out,) = batch_jaxpr(cond_jaxpr, axis_data, (*cond_dims, *carry_dims), nested)
        joint = [0 if cond_out is not None or a is not None else b for a, b in zip(carry_dims, body_out)]
        if joint == carry_dims:
            break
        carry_dims = joint
    cond_consts, body_consts, carry = _split(operands, cond_nconsts, body_nconsts)
    was = dims[cond_nconsts + body_nconsts :]
    carry = [move_to(x, a, 0, size) if b == 0 and a is None else x for x, a, b in zip(carry, was, carry_dims)]
    outs = while_p.bind(
        *cond_consts,
        *body_consts,
        *carry,
        cond_jaxpr=cond,
        cond_nconsts=cond_nconsts,
        body_jaxpr=body,
        body_nconsts=body_nconsts,
    )
    return outs, carry_dims


while_p = Primitive(
    "while",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    batch=_batch,
    weak=NEVER,
)
