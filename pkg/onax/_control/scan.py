"""scan: a loop of known length over leading axes, with a carry.

    scan_p.bind(*consts, *carry, *xs, jaxpr, length, reverse, num_consts, num_carry, unroll) -> [*carry, *ys]
    jaxpr: (*consts, *carry, *x) -> (*carry, *y)

Reverse mode: the forward scan also stacks the residuals of each step, and the linear scan reads them.  Residuals that
are constants or slices of the scan itself are not stacked again.
"""

import operator
from dataclasses import dataclass

import numpy as np

from onax._control.bodies import (
    arrays_and_avals,
    carry_name,
    check_carry,
    promote_weak_types,
    restore_weak_types,
    stage_body,
)
from onax._control.closed_call import closed_call_p
from onax._control.loops import fixed_point, hoist_invariants
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.lists import merge_lists, reject, select, split_list
from onax._core.programs import LOOP, HeldProgram, programs
from onax._core.rewrite import close, eliminate_dead_code, prune, rename_variables, used_inputs
from onax._core.trace import as_array, find_cur_trace, typeof
from onax._core.zeros import UndefinedPrimal, Zero, drop_zeros, insert_zeros, is_undefined_primal, nonzero_flags
from onax._ground import dims, source
from onax._ground.config import DISABLE_JIT
from onax._native import context
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.shaping import instantiate_zeros
from onax._prims.slicing import index_in_dim
from onax._prims.stacking import stack
from onax._transforms.batching import batch_jaxpr, move_mapped_axis
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.key_reuse import analyze_scan, key_lineage
from onax._transforms.linearize import linearize_jaxpr
from onax._transforms.partial_eval import (
    operands_to_store,
    partial_eval_custom_rules,
    partial_eval_jaxpr,
    partial_eval_jaxpr_custom,
)
from onax._transforms.staging import derive_jaxpr
from onax._transforms.transpose import backward_pass


@source.api_boundary
def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """Carries `init` through `carry, y = f(carry, x)` over the leading axis of `xs`; returns (last carry, stacked ys).

    `xs`: a tree of arrays with equal leading axes, or None with `length`.  The carry keeps structure, shapes and
    dtypes.  Raises TypeError where it does not, ValueError for lengths that disagree.
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")
    return scan_adapted(f, init, xs, length, reverse, unroll)


def scan_adapted(f, init, xs, length, reverse, unroll, what="scan", adapt=None, names=None, carry=None):
    """`scan` for functions that derive the body from the user's function; `stage_body` explains the last parameters."""
    xs_leaves, xs_tree = tree_flatten(xs)
    xs_values, xs_avals = arrays_and_avals(xs_leaves)
    length = common_length(xs_avals, xs_leaves, length)
    if context.option_word() & DISABLE_JIT:
        return _call_each_step(
            f if adapt is None else adapt(f), tree_map(as_array, init), xs_values, xs_tree, length, reverse
        )
    x_avals = [ShapedArray(a.shape[1:], a.dtype, a.weak_type) for a in xs_avals]
    init_leaves, init_tree = tree_flatten(init)
    values, avals = arrays_and_avals(init_leaves)
    in_tree = tree_structure(((init, tree_unflatten(xs_tree, [0] * len(xs_leaves))), {}))
    stage = lambda avals: stage_body(f, in_tree, [*avals, *x_avals], what, adapt, names)
    jaxpr, consts, out_tree = stage(avals)
    carry_tree = _carry_tree(out_tree, jaxpr)
    if carry_tree == init_tree:
        values, changed = promote_weak_types(values, avals, jaxpr.out_avals)
        if changed:
            avals = [typeof(v) for v in values]
            jaxpr, consts, out_tree = stage(avals)
            carry_tree = _carry_tree(out_tree, jaxpr)
    name = lambda: carry or carry_name(f)
    check_carry("scan body function", name, init_tree, carry_tree, avals, jaxpr.out_avals)
    params = {"length": length, "reverse": bool(reverse), "unroll": _check_unroll(unroll, length)}
    return tree_unflatten(out_tree, _bind_scan(jaxpr, consts, values, xs_values, params))


def _bind_scan(jaxpr, consts, values, xs_values, params):
    """Binds a scan; parts of the carry that no step changes become constants, and ys that are slices are `xs`."""
    n_consts, n_carry = len(consts), len(values)
    body, same, given_back = _drop_forwarded(jaxpr, n_consts, n_carry)
    carried, fixed = reject(values, same), select(values, same)
    outs = []
    if body.outvars or body.effects or find_cur_trace().staging:
        outs = scan_p.bind(
            *fixed,
            *consts,
            *carried,
            *xs_values,
            jaxpr=body,
            num_consts=len(fixed) + n_consts,
            num_carry=len(carried),
            **params,
        )
    ys = iter(outs[len(carried) :])
    return [
        *merge_lists(same, outs[: len(carried)], fixed),
        *(next(ys) if i is None else xs_values[i] for i in given_back),
    ]


def _drop_forwarded(jaxpr, n_consts, n_carry):
    """Drops results that are arguments; returns (body, which parts of the carry stay, for each y its slice or None)."""
    key = ("without forwarded", n_consts, n_carry)
    if key in jaxpr.cache:
        return jaxpr.cache[key]
    consts, carry, xs = split_list(jaxpr.invars, [n_consts, n_carry])
    new, ys = jaxpr.outvars[:n_carry], jaxpr.outvars[n_carry:]
    same = [old is out for old, out in zip(carry, new)]
    places = {v: i for i, v in enumerate(xs)}
    given_back = [None if type(y) is core.Literal else places.get(y) for y in ys]
    body = jaxpr
    if any(same) or any(i is not None for i in given_back):
        invars = [*select(carry, same), *consts, *reject(carry, same), *xs]
        body = close(jaxpr, invars, [*reject(new, same), *(y for y, i in zip(ys, given_back) if i is None)])
    jaxpr.cache[key] = body, same, given_back
    return jaxpr.cache[key]


def _call_each_step(body, carry, xs, xs_tree, length, reverse):
    """Calls the body in a Python loop, for `jax_disable_jit`."""
    if length == 0:
        raise ValueError("zero-length scan is not supported in disable_jit() mode because the output type is unknown.")
    ys = []
    for i in range(length - 1, -1, -1) if reverse else range(length):
        carry, y = body(carry, tree_unflatten(xs_tree, [index_in_dim(x, i, 0, False) for x in xs]))
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, tree_map(lambda *parts: stack([as_array(y) for y in parts], 0), *ys)


def _carry_tree(tree, jaxpr):
    """The tree of the carry: the first element of the pair that the body returns."""
    data = tree.node_data()
    children = tree.children()
    if data is None or data[0] not in (tuple, list) or len(children) != 2:
        types = tree_unflatten(tree, list(map(_TypeText, jaxpr.out_avals)))
        raise TypeError(f"scan body output must be a pair, got {types}.")
    return children[0]


@dataclass(slots=True, eq=False, repr=False)
class _TypeText:
    """An aval whose repr is the short form for messages."""

    aval: ShapedArray

    def __repr__(self):
        return f"{'~' if self.aval.weak_type else ''}{self.aval.str_short()}"


def common_length(avals, leaves, length):
    """The length of the leading axes; raises ValueError if they disagree with each other or with `length`."""
    scalars = [str(leaf) for aval, leaf in zip(avals, leaves) if not aval.shape]
    if scalars:
        raise ValueError(f"scan got value with no leading axis to scan over: {', '.join(scalars)}.")
    sizes = list(dict.fromkeys(a.shape[0] for a in avals))
    if length is not None:
        length = int(length) if dims.is_constant(length) else length
        if any(s != length for s in sizes):
            raise ValueError(f"scan got `length` argument of {length} which disagrees with leading axis sizes {sizes}.")
        return length
    if len(sizes) > 1:
        raise ValueError(
            f"scan got values with different leading axis sizes: {', '.join(str(a.shape[0]) for a in avals)}."
        )
    if not sizes:
        raise ValueError("scan got no values to scan over and `length` not provided.")
    return sizes[0]


def _check_unroll(unroll, length):
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if operator.index(unroll) < 0:
        raise ValueError("`unroll` must be a `bool` or a non-negative `int`.")
    return unroll


# ---- rules ----


def _impl(*args, jaxpr, length, reverse, num_consts, num_carry, unroll):
    """Interprets the body step by step; stacked results are written into arrays allocated once."""
    consts, carry, xs = split_list(args, [num_consts, num_carry])
    y_avals = jaxpr.out_avals[num_carry:]
    buffers = [np.empty((length, *a.shape), getattr(a.dtype, "storage", a.dtype)) for a in y_avals]
    rows = [(x._value, x.dtype, x.weak_type) for x in xs]
    for step in range(length - 1, -1, -1) if reverse else range(length):
        slices = [make_array(np.asarray(value[step]), dtype, weak) for value, dtype, weak in rows]
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *consts, *carry, *slices)
        carry = outs[:num_carry]
        for buffer, y in zip(buffers, outs[num_carry:]):
            buffer[step] = y._value
    carry = restore_weak_types(carry, jaxpr.out_avals)
    return [*carry, *(make_array(b, a.dtype, a.weak_type) for b, a in zip(buffers, y_avals))]


def _abstract_eval(*avals, jaxpr, length, num_carry, **_):
    return _stack_avals(jaxpr.out_avals, length, num_carry)


def _stack_avals(avals, length, num_carry):
    """The types of a scan's results, from those of the results of its body."""
    return [a if i < num_carry else a.update(shape=(length, *a.shape)) for i, a in enumerate(avals)]


def _jvp(primals, tangents, *, jaxpr, num_consts, num_carry, **params):
    sizes = [num_consts, num_carry]
    const_nz, init_nz, xs_nz = split_list(nonzero_flags(tangents), sizes)
    n_ys = len(jaxpr.outvars) - num_carry

    def step(carry_nz):
        derived, out_nz = jvp_jaxpr(jaxpr, [*const_nz, *carry_nz, *xs_nz], (*carry_nz, *[False] * n_ys))
        return (derived, out_nz), out_nz[:num_carry]

    (derived, out_nz), carry_nz = fixed_point(step, init_nz)
    consts, init, xs = split_list(primals, sizes)
    const_dot, init_dot, xs_dot = split_list(tangents, sizes)
    const_dot, xs_dot = drop_zeros(const_dot), drop_zeros(xs_dot)
    init_dot = [instantiate_zeros(t) for t in select(init_dot, carry_nz)]
    sizes_dot = [len(const_dot), len(init_dot)]
    outs = scan_p.bind(
        *consts,
        *const_dot,
        *init,
        *init_dot,
        *xs,
        *xs_dot,
        jaxpr=_interleave(derived, len(jaxpr.invars), len(jaxpr.outvars), sizes, sizes_dot),
        num_consts=num_consts + len(const_dot),
        num_carry=num_carry + len(init_dot),
        **params,
    )
    carry, carry_dot, ys, ys_dot = split_list(outs, [num_carry, len(init_dot), n_ys])
    outs = [*carry, *ys]
    return outs, insert_zeros([*carry_dot, *ys_dot], out_nz, map(typeof, outs))


def _interleave(derived, n_in, n_out, sizes, sizes_dot):
    """Reorders a jvp program so that each group of arguments and results has its primals before its tangents."""
    consts, carry, xs = split_list(derived.invars[:n_in], sizes)
    consts_dot, carry_dot, xs_dot = split_list(derived.invars[n_in:], sizes_dot)
    outs, outs_dot = derived.outvars[:n_out], derived.outvars[n_out:]
    n, m = sizes[1], sizes_dot[1]
    outvars = [*outs[:n], *outs_dot[:m], *outs[n:], *outs_dot[m:]]
    return close(derived, [*consts, *consts_dot, *carry, *carry_dot, *xs, *xs_dot], outvars)


def _linearize(nonzeros, *primals, jaxpr, num_consts, num_carry, **params):
    """A forward scan that stacks residuals, and a linear scan over them.

    Equations that read only constants are computed once, before the scan; their residuals are constants too.
    """
    const_nz, init_nz, xs_nz = split_list(nonzeros, [num_consts, num_carry])
    n_ys = len(jaxpr.outvars) - num_carry

    def step(carry_nz):
        found = linearize_jaxpr(jaxpr, (*const_nz, *carry_nz, *xs_nz), (*carry_nz, *[False] * n_ys))
        return found, found[2][:num_carry]

    (forward, linear, out_nz, forwarded), carry_nz = fixed_point(step, init_nz)
    positions = list(range(len(primals)))
    sizes = [num_consts, num_carry]
    outs, fixed, scanned, order = _scan_with_residuals(forward, forwarded, primals, positions, sizes, params)
    apply = _linear_scan(linear, order, const_nz, carry_nz, out_nz, jaxpr.out_avals, len(fixed), params)
    return outs, out_nz, [*fixed, *scanned], apply


def _partial_eval(unknown, *args, jaxpr, num_consts, num_carry, **params):
    """A scan of the known part, which stacks residuals, and a scan of the rest, which reads them."""
    const_u, init_u, xs_u = split_list(unknown, [num_consts, num_carry])
    n_ys = len(jaxpr.outvars) - num_carry

    def step(carry_u):
        found = partial_eval_jaxpr(jaxpr, [*const_u, *carry_u, *xs_u], (*carry_u, *[False] * n_ys))
        return found, found[2][:num_carry]

    (known, rest, out_u, forwarded), carry_u = fixed_point(step, init_u)
    if all(unknown) or (all(out_u) and not known.eqns):
        return None
    unknown = [*const_u, *carry_u, *xs_u]
    positions = reject(range(len(args)), unknown)
    sizes = [num_consts, num_carry]
    outs, fixed, scanned, order = _scan_with_residuals(known, forwarded, args, positions, sizes, params)
    apply = _linear_scan(rest, order, const_u, carry_u, out_u, jaxpr.out_avals, len(fixed), params)
    given = [x if is_unknown else Zero(typeof(x).to_tangent_aval()) for x, is_unknown in zip(args, unknown)]
    with find_cur_trace().recording_whole():
        found = apply([*fixed, *scanned], *given)
    return merge_lists(out_u, outs, select(found, out_u))


def _scan_with_residuals(forward, forwarded, args, positions, sizes, params):
    """Binds the forward scan; returns (results, constant residuals, stacked residuals, order).

    `order` says for each residual (whether it is constant, its position among the constant or stacked ones).  `args`
    are the arguments of the whole scan; `positions` are those of the arguments of `forward`.  Equations that read only
    constants are computed once, before the scan; residuals that are slices are read again, all others are stacked.
    """
    num_consts, end = sizes[0], sum(sizes)
    n_consts, n_carry = sum(p < num_consts for p in positions), sum(num_consts <= p < end for p in positions)
    place = {p: i for i, p in enumerate(positions)}
    at = tuple(None if f is None else place[f] for f in forwarded)
    consts, init, xs = split_list([args[p] for p in positions], [n_consts, n_carry])
    before, loop, sources = hoist_invariants(forward, at, n_consts, n_carry)
    if not find_cur_trace().staging:
        before = eliminate_dead_code(before)
    known = eval_jaxpr(before, before.consts, *consts)
    n_known = len(loop.invars) - n_carry - len(xs)
    outs = []
    if loop.outvars or loop.effects:
        outs = scan_p.bind(*known[:n_known], *init, *xs, jaxpr=loop, num_consts=n_known, num_carry=n_carry, **params)
    n_out = len(forward.outvars) - forwarded.count(None)
    values = {"invariant": known[n_known:], "stacked": outs[n_out:], "xs": xs}
    fixed, scanned, order = [], [], []
    for group, i in sources:
        residuals = fixed if group == "invariant" else scanned
        order.append((group == "invariant", len(residuals)))
        residuals.append(values[group][i])
    return outs[:n_out], fixed, scanned, order


def _linear_scan(linear, order, const_nz, carry_nz, out_nz, out_avals, n_fixed, params):
    """A function of (residuals, tangents) that binds the linear scan.

    `order` says for each residual of `linear` whether it is one of the `n_fixed` constant residuals.
    """
    is_fixed = [flag for flag, _ in order]
    num_carry, n_carry_dot = len(carry_nz), sum(carry_nz)
    residual_vars, c_dot, k_dot, x_dot = split_list(linear.invars, [len(order), sum(const_nz), n_carry_dot])
    used = dict(zip(linear.invars, used_inputs(linear)))
    reads_const, reads_x = [used[v] for v in c_dot], [used[v] for v in x_dot]
    c_dot, x_dot = select(c_dot, reads_const), select(x_dot, reads_x)
    fixed, scanned = select(residual_vars, is_fixed), reject(residual_vars, is_fixed)
    body = close(linear, [*fixed, *c_dot, *k_dot, *x_dot, *scanned], linear.outvars)

    def apply(residuals, *tangents):
        t_consts, t_init, t_xs = split_list(tangents, [len(const_nz), num_carry])
        outs = scan_p.bind(
            *residuals[:n_fixed],
            *select(drop_zeros(t_consts), reads_const),
            *map(instantiate_zeros, select(t_init, carry_nz)),
            *select(drop_zeros(t_xs), reads_x),
            *residuals[n_fixed:],
            jaxpr=body,
            num_consts=n_fixed + len(c_dot),
            num_carry=n_carry_dot,
            **params,
        )
        return insert_zeros(outs, out_nz, _stack_avals(out_avals, params["length"], num_carry))

    return apply


def _transpose(cts, *operands, jaxpr, num_consts, num_carry, length, reverse, unroll):
    """A scan in the opposite direction; it carries cotangents of the carry and sums of cotangents of the constants."""
    consts, init, xs = split_list(operands, [num_consts, num_carry])
    linear_consts, linear_xs = list(map(is_undefined_primal, consts)), list(map(is_undefined_primal, xs))
    # An initial carry that is not linear is a zero that linearization made: the carry is linear, its cotangent unused.
    ct_carry, ct_ys = [instantiate_zeros(ct) for ct in cts[:num_carry]], cts[num_carry:]
    plain_consts = reject(consts, linear_consts)
    sums = [instantiate_zeros(Zero(x.aval)) for x in select(consts, linear_consts)]
    outs = scan_p.bind(
        *plain_consts,
        *sums,
        *ct_carry,
        *drop_zeros(ct_ys),
        *reject(xs, linear_xs),
        jaxpr=_transpose_body(jaxpr, linear_consts, num_carry, linear_xs, nonzero_flags(ct_ys)),
        length=length,
        reverse=not reverse,
        num_consts=len(plain_consts),
        num_carry=len(sums) + num_carry,
        unroll=unroll,
    )
    ct_consts, ct_init, ct_xs = split_list(outs, [len(sums), num_carry])
    return [
        *merge_lists(linear_consts, [None] * len(plain_consts), ct_consts),
        *(ct if is_undefined_primal(x) else None for x, ct in zip(init, ct_init)),
        *merge_lists(linear_xs, [None] * linear_xs.count(False), ct_xs),
    ]


def _transpose_body(jaxpr, linear_consts, num_carry, linear_xs, ys_nonzero):
    """(plain consts, sums, carry cotangents, y cotangents, plain slices) -> (sums, carry cotangents, x cotangents)."""
    key = ("transposed scan", tuple(linear_consts), tuple(linear_xs), tuple(ys_nonzero))
    if key in jaxpr.cache:
        return jaxpr.cache[key]
    n_consts = len(linear_consts)
    const_avals, carry_avals, x_avals = split_list(jaxpr.in_avals, [n_consts, num_carry])
    y_avals = jaxpr.out_avals[num_carry:]
    linear = [*linear_consts, *[True] * num_carry, *linear_xs]
    # Cotangents of constants keep the weak types of these; those of a carry do not, since they change with each step.
    undefined = [UndefinedPrimal(a) for a in select(const_avals, linear_consts)]
    undefined += [UndefinedPrimal(a.update(weak_type=False)) for a in select(jaxpr.in_avals, linear)[len(undefined) :]]
    groups = [
        reject(const_avals, linear_consts),
        select(const_avals, linear_consts),
        carry_avals,
        select(y_avals, ys_nonzero),
        reject(x_avals, linear_xs),
    ]

    def fun(*args):
        consts, sums, ct_carry, given, slices = split_list(args, [len(group) for group in groups[:-1]])
        primals = merge_lists(linear, [*consts, *slices], undefined)
        given, sums = iter(given), merge_lists(linear_consts, [None] * len(consts), sums)
        ct_ys = [next(given) if nonzero else Zero(a) for a, nonzero in zip(y_avals, ys_nonzero)]
        cts = backward_pass(jaxpr, jaxpr.consts, primals, [*ct_carry, *ct_ys], sums)
        return [instantiate_zeros(ct) for ct in select(cts, linear)]

    jaxpr.cache[key] = derive_jaxpr(fun, [a for group in groups for a in group], jaxpr)
    return jaxpr.cache[key]


def _batch(axis_data, operands, dims, *, jaxpr, num_consts, num_carry, **params):
    """The fixed point finds which parts of the carry become mapped; in `xs` the mapped axis is the second."""
    size = axis_data.size
    const_dims, init_dims, xs_dims = split_list(dims, [num_consts, num_carry])
    consts, init, xs = split_list(operands, [num_consts, num_carry])
    in_front = lambda some: [None if d is None else 0 for d in some]
    n_ys = len(jaxpr.outvars) - num_carry

    def step(mapped):
        in_dims = (*in_front(const_dims), *(0 if m else None for m in mapped), *in_front(xs_dims))
        derived, out_dims = batch_jaxpr(jaxpr, axis_data, in_dims, (*mapped, *[False] * n_ys))
        return (derived, out_dims), [d is not None for d in out_dims[:num_carry]]

    (derived, out_dims), mapped = fixed_point(step, [d is not None for d in init_dims])
    consts = [x if d is None else move_mapped_axis(x, d, 0, size) for x, d in zip(consts, const_dims)]
    init = [move_mapped_axis(x, d, 0, size) if m else x for x, d, m in zip(init, init_dims, mapped)]
    xs = [x if d is None else move_mapped_axis(x, d, 1, size) for x, d in zip(xs, xs_dims)]
    outs = scan_p.bind(*consts, *init, *xs, jaxpr=derived, num_consts=num_consts, num_carry=num_carry, **params)
    carry_out = [0 if m else None for m in mapped]
    return outs, [*carry_out, *(None if d is None else 1 for d in out_dims[num_carry:])]


def _dce(used_outputs, eqn):
    """Drops unused stacked results, and parts of the carry that only they themselves read."""
    p = eqn.params
    if not any(used_outputs) and not eqn.effects:
        return [False] * len(eqn.invars), None
    jaxpr, n_consts, n_carry = p["jaxpr"], p["num_consts"], p["num_carry"]
    carry_used, ys_used = split_list(used_outputs, [n_carry])

    def step(carry_used):
        keep = [False] * len(jaxpr.invars)
        keep[n_consts : n_consts + n_carry] = carry_used
        inner, used = prune(jaxpr, [*carry_used, *ys_used], keep)
        return (inner, used), used[n_consts : n_consts + n_carry]

    (inner, used_inputs), carry_used = fixed_point(step, carry_used)
    if inner is jaxpr:
        return used_inputs, eqn
    counts = {"num_consts": sum(used_inputs[:n_consts]), "num_carry": sum(carry_used)}
    return used_inputs, eqn.replace(
        invars=select(eqn.invars, used_inputs),
        outvars=select(eqn.outvars, [*carry_used, *ys_used]),
        params={**p, "jaxpr": inner, **counts},
        effects=inner.effects,
    )


scan_p = Primitive(
    "scan",
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
)


key_lineage.set(scan_p, analyze_scan)


@programs.rule(scan_p)
def _programs(eqn):
    p, operands, results = eqn.params, range(len(eqn.invars)), range(len(eqn.outvars))
    return [HeldProgram(p["jaxpr"], LOOP, "jaxpr", None, operands, results, p["num_consts"], p["num_carry"])]


@partial_eval_custom_rules.rule(scan_p)
def _partial_eval_custom(saveable, unknown, instantiated, eqn):
    """A scan of the known part, which returns what the policy saves; the second scan recomputes what is not saved.

    Values saved in each step are stacked; saved values that depend only on constants are constants.
    """
    p = eqn.params
    jaxpr, n_consts, n_carry = p["jaxpr"], p["num_consts"], p["num_carry"]
    const_u, init_u, xs_u = split_list(unknown, [n_consts, n_carry])
    n_ys = len(jaxpr.outvars) - n_carry

    def step(carry_u):
        flags, ensure = [*const_u, *carry_u, *xs_u], [*carry_u, *[False] * n_ys]
        found = partial_eval_jaxpr_custom(jaxpr, flags, saveable, ensure, ensure_out_instantiated=True)
        return found, found[2][:n_carry]

    (known, staged, unknown_out, _, avals), carry_u = fixed_point(step, init_u)
    known_carry = n_carry - sum(carry_u)
    before, loop, sources = hoist_invariants(known, (None,) * len(avals), const_u.count(False), known_carry)
    fixed = [group == "invariant" for group, _ in sources]
    saved = [core.Var(a if flag else _stack_avals([a], p["length"], 0)[0]) for a, flag in zip(avals, fixed)]
    constants, scanned = select(saved, fixed), reject(saved, fixed)
    before, loop = rename_variables(before), rename_variables(loop)
    first = _hoisted_scan_program(before, loop, known_carry, xs_u.count(False), scanned, p)
    early = eqn.replace(
        invars=reject(eqn.invars, [*const_u, *carry_u, *xs_u]),
        outvars=[*reject(eqn.outvars, unknown_out), *constants, *scanned],
        primitive=closed_call_p,
        params={"call_jaxpr": first},
        effects=first.effects,
    )
    inner, rest = split_list(staged.invars, [len(avals)])
    body = close(staged, [*select(inner, fixed), *rest, *reject(inner, fixed)], staged.outvars)
    late = eqn.replace(
        invars=[*constants, *eqn.invars, *scanned],
        params={**p, "jaxpr": body, "num_consts": len(constants) + n_consts},
        effects=body.effects,
    )
    residuals = [*operands_to_store(eqn, instantiated), *constants, *scanned]
    return early, late, unknown_out, [True] * len(unknown_out), residuals


def _hoisted_scan_program(before, loop, n_carry, n_xs, stacked, params):
    """A program of (constants, carry, slices) that evaluates `before` and scans `loop` over the slices.

    It returns the results of the scan, the saved results of `before`, and the last results of `loop`: `stacked`.
    """
    n_known = len(loop.invars) - n_carry - n_xs
    in_avals = _stack_avals(loop.in_avals[n_known:], params["length"], n_carry)
    operands = [core.Var(a) for a in in_avals]
    outs = [core.Var(a) for a in _stack_avals(loop.out_avals, params["length"], n_carry)]
    eqns = list(before.eqns)
    if loop.outvars or loop.effects:
        params = {**params, "jaxpr": loop, "num_consts": n_known, "num_carry": n_carry}
        eqns.append(core.new_jaxpr_eqn([*before.outvars[:n_known], *operands], outs, scan_p, params, loop.effects))
    n_out = len(outs) - len(stacked)
    results = [*outs[:n_out], *before.outvars[n_known:], *outs[n_out:]]
    return close(before, [*before.invars, *operands], results, eqns)
