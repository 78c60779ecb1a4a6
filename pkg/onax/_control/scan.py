"""scan: a loop of known length over leading axes, with a carry.

    scan_p.bind(*consts, *carry, *xs, jaxpr, length, reverse, num_consts, num_carry, unroll) -> [*carry, *ys]
    jaxpr: (*consts, *carry, *x) -> (*carry, *y)

Reverse mode: the forward scan also stacks the residuals of each step; the linear scan runs over them.  A residual that
is one of the scan's own constants or slices is not stacked again.
"""

import operator

import numpy as np

from onax._control.bodies import arrays_and_avals, carry_name, check_carry, promote_weak, stage_body, with_types
from onax._control.closed_call import closed_call_p
from onax._control.jit_call import jit_p, parted_call
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.lists import merge_lists, reject, select
from onax._core.programs import LOOP, HeldProgram, programs
from onax._core.rewrite import close, eliminate_dead_code, prune, rename_variables, used_inputs
from onax._core.trace import as_array, find_cur_trace, typeof
from onax._core.zeros import UndefinedPrimal, Zero, is_undefined_primal
from onax._ground import dims, source
from onax._ground.config import DISABLE_JIT
from onax._native import context
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.shaping import instantiate_zeros, reshape
from onax._prims.slicing import concatenate, index_in_dim, slice
from onax._prims.stacking import stack
from onax._transforms.batching import batch_jaxpr, move_to
from onax._transforms.by_policy import not_at_hand, policy_rules, split_by_policy
from onax._transforms.flatten import argument_names, fun_signature
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.key_reuse import follow_scan, key_lineage
from onax._transforms.linearize import linearize_jaxpr
from onax._transforms.order import reads_in_order
from onax._transforms.partial_eval import partial_eval_jaxpr
from onax._transforms.staging import trace_to_jaxpr
from onax._transforms.transpose import backward_pass
from onax._transforms.vmap import vmap


@source.api_boundary
def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """Carries `init` through `carry, y = f(carry, x)` over the leading axis of `xs`; returns (last carry, stacked ys).

    `xs`: a tree of arrays with equal leading axes, or None with `length`.  The carry keeps structure, shapes and
    dtypes.  Raises TypeError where it does not, ValueError for lengths that disagree.
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")
    return scan_of(f, init, xs, length, reverse, unroll)


def scan_of(f, init, xs, length, reverse, unroll, what="scan", adapt=None, names=None, carry=None):
    """`scan` of a body that a construct makes from the user's function: see `stage_body` for the last parameters."""
    xs_leaves, xs_tree = tree_flatten(xs)
    xs_values, xs_avals = arrays_and_avals(xs_leaves)
    length = _common_length(xs_avals, xs_leaves, length)
    if context.option_word() & DISABLE_JIT:
        return _by_calling(
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
        values, changed = promote_weak(values, avals, jaxpr.out_avals)
        if changed:
            avals = [typeof(v) for v in values]
            jaxpr, consts, out_tree = stage(avals)
            carry_tree = _carry_tree(out_tree, jaxpr)
    name = lambda: carry or carry_name(f)
    check_carry("scan body function", name, init_tree, carry_tree, avals, jaxpr.out_avals)
    params = {"length": length, "reverse": bool(reverse), "unroll": _unrolled(unroll, length)}
    return tree_unflatten(out_tree, _bind(jaxpr, consts, values, xs_values, params))


def _bind(jaxpr, consts, values, xs_values, params):
    """The results of a scan: a part of the carry that no step changes is a constant, and slices given back are `xs`."""
    n_consts, n_carry = len(consts), len(values)
    body, same, given_back = _without_forwarded(jaxpr, n_consts, n_carry)
    carried = [v for v, fixed in zip(values, same) if not fixed]
    fixed = [v for v, fixed in zip(values, same) if fixed]
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
    found = iter(outs)
    carry = [v if fixed else next(found) for v, fixed in zip(values, same)]
    return [*carry, *(next(found) if i is None else xs_values[i] for i in given_back)]


def _without_forwarded(jaxpr, n_consts, n_carry):
    """(the body without results that are arguments, whether each part of the carry stays, the slice each y is)."""
    key = ("without forwarded", n_consts, n_carry)
    if key in jaxpr.cache:
        return jaxpr.cache[key]
    consts, carry, xs = _split(jaxpr.invars, n_consts, n_carry)
    new, ys = jaxpr.outvars[:n_carry], jaxpr.outvars[n_carry:]
    same = [old is out for old, out in zip(carry, new)]
    places = {v: i for i, v in enumerate(xs)}
    given_back = [None if type(y) is core.Literal else places.get(y) for y in ys]
    body = jaxpr
    if any(same) or any(i is not None for i in given_back):
        fixed = [v for v, stays in zip(carry, same) if stays]
        invars = [*fixed, *consts, *(v for v, stays in zip(carry, same) if not stays), *xs]
        outvars = [v for v, stays in zip(new, same) if not stays]
        body = close(jaxpr, invars, [*outvars, *(y for y, i in zip(ys, given_back) if i is None)])
    jaxpr.cache[key] = body, same, given_back
    return jaxpr.cache[key]


def _by_calling(body, carry, xs, xs_tree, length, reverse):
    """With jit disabled: the body itself is called, once a step."""
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
    """The tree of the carry, the first half of what a body returns."""
    data = tree.node_data()
    children = tree.children()
    if data is None or data[0] not in (tuple, list) or len(children) != 2:
        raise TypeError(f"scan body output must be a pair, got {tree_unflatten(tree, _shown(jaxpr.out_avals))}.")
    return children[0]


class _Shown:
    """An aval that prints as in messages."""

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self):
        return f"{'~' if self.aval.weak_type else ''}{self.aval.str_short()}"


def _shown(avals):
    return [_Shown(a) for a in avals]


def _common_length(avals, leaves, length):
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


def _unrolled(unroll, length):
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if operator.index(unroll) < 0:
        raise ValueError("`unroll` must be a `bool` or a non-negative `int`.")
    return unroll


def map_(f, xs, *, batch_size=None):
    """`f` applied to each slice along the leading axis, one after the other; results stacked.

    With `batch_size` that many slices are taken at once by `vmap`, the rest that is fewer by one more `vmap`.
    """
    if batch_size is None:
        return _map_slices(f, xs, _without_carry)
    leaves, tree = tree_flatten(xs)
    total = _common_length([typeof(x) for x in leaves], leaves, None)
    rows = total // batch_size if batch_size else 0
    whole = rows * batch_size
    grouped = [reshape(_rows(x, 0, whole), (rows, batch_size, *x.shape[1:])) for x in leaves]
    rest = [_rows(x, whole, total) for x in leaves]
    if rows == 0:
        return vmap(f)(tree_unflatten(tree, rest))
    stacked = _map_slices(f, tree_unflatten(tree, grouped), _without_carry_in_batches)
    last = tree_flatten(vmap(f)(tree_unflatten(tree, rest)))[0] if whole < total else None
    flat = [reshape(y, (whole, *y.shape[2:])) for y in tree_flatten(stacked)[0]]
    if last is not None:
        flat = [concatenate([y, more], 0) for y, more in zip(flat, last)]
    return tree_unflatten(tree_structure(stacked), flat)


def _rows(x, start, stop):
    return x if (start, stop) == (0, x.shape[0]) else slice(x, (start, *[0] * (x.ndim - 1)), (stop, *x.shape[1:]))


def _map_slices(f, xs, adapt):
    names = lambda fun, args: argument_names(fun_signature(fun), args[1:], {})
    return scan_of(f, (), xs, None, False, 1, "map", adapt, names)[1]


def _without_carry(f):
    return lambda _, x: ((), f(x))


def _without_carry_in_batches(f):
    return lambda _, x: ((), vmap(f)(x))


# ---- rules ----


def _split(values, num_consts, num_carry):
    end = num_consts + num_carry
    return list(values[:num_consts]), list(values[num_consts:end]), list(values[end:])


def _impl(*args, jaxpr, length, reverse, num_consts, num_carry, unroll):
    """Interprets the body step by step; stacked results are written into arrays allocated once."""
    consts, carry, xs = _split(args, num_consts, num_carry)
    y_avals = jaxpr.out_avals[num_carry:]
    buffers = [np.empty((length, *a.shape), getattr(a.dtype, "storage", a.dtype)) for a in y_avals]
    rows = [(x._value, x.dtype, x.weak_type) for x in xs]
    for step in range(length - 1, -1, -1) if reverse else range(length):
        slices = [make_array(np.asarray(value[step]), dtype, weak) for value, dtype, weak in rows]
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *consts, *carry, *slices)
        carry = outs[:num_carry]
        for buffer, y in zip(buffers, outs[num_carry:]):
            buffer[step] = y._value
    carry = with_types(carry, jaxpr.out_avals)
    return [*carry, *(make_array(b, a.dtype, a.weak_type) for b, a in zip(buffers, y_avals))]


def _abstract_eval(*avals, jaxpr, length, num_carry, **_):
    carry, ys = jaxpr.out_avals[:num_carry], jaxpr.out_avals[num_carry:]
    return [*carry, *(a.update(shape=(length, *a.shape)) for a in ys)]


def _fixed_point(carry, once):
    """Goes round `once(carry) -> (derived, carry out)` until the flags of the carry stay the same."""
    while True:
        derived, out = once(carry)
        joint = [a or b for a, b in zip(carry, out)]
        if joint == carry:
            return derived, carry
        carry = joint


def _jvp(primals, tangents, *, jaxpr, num_consts, num_carry, **params):
    consts, init, xs = _split(primals, num_consts, num_carry)
    nonzeros = [type(t) is not Zero for t in tangents]
    const_nz, init_nz, xs_nz = _split(nonzeros, num_consts, num_carry)
    n_ys = len(jaxpr.outvars) - num_carry

    def once(carry_nz):
        derived, out = jvp_jaxpr(jaxpr, [*const_nz, *carry_nz, *xs_nz], (*carry_nz, *[False] * n_ys))
        return (derived, out), out[:num_carry]

    (derived, out_nz), carry_nz = _fixed_point(init_nz, once)
    const_dot, init_dot, xs_dot = _split(tangents, num_consts, num_carry)
    const_dot = [t for t in const_dot if type(t) is not Zero]
    init_dot = [instantiate_zeros(t) for t, active in zip(init_dot, carry_nz) if active]
    xs_dot = [t for t in xs_dot if type(t) is not Zero]
    body = _interleaved(derived, jaxpr, num_consts, num_carry, len(const_dot), len(init_dot))
    outs = scan_p.bind(
        *consts,
        *const_dot,
        *init,
        *init_dot,
        *xs,
        *xs_dot,
        jaxpr=body,
        num_consts=num_consts + len(const_dot),
        num_carry=num_carry + len(init_dot),
        **params,
    )
    carry, rest = outs[:num_carry], outs[num_carry:]
    carry_dot, rest = iter(rest[: len(init_dot)]), rest[len(init_dot) :]
    ys, ys_dot = rest[:n_ys], iter(rest[n_ys:])
    tangents_out = [
        next(carry_dot) if active else Zero(typeof(c).to_tangent_aval()) for c, active in zip(carry, carry_nz)
    ]
    tangents_out += [
        next(ys_dot) if active else Zero(typeof(y).to_tangent_aval()) for y, active in zip(ys, out_nz[num_carry:])
    ]
    return [*carry, *ys], tangents_out


def _interleaved(derived, jaxpr, n_consts, n_carry, n_const_dot, n_carry_dot):
    """A jvp program with primals and tangents side by side in each group, arguments and results."""
    n_in, n_out = len(jaxpr.invars), len(jaxpr.outvars)
    primals, dots = derived.invars[:n_in], derived.invars[n_in:]
    c, k, x = _split(primals, n_consts, n_carry)
    c_dot, k_dot, x_dot = _split(dots, n_const_dot, n_carry_dot)
    outs, out_dots = derived.outvars[:n_out], derived.outvars[n_out:]
    outvars = [*outs[:n_carry], *out_dots[:n_carry_dot], *outs[n_carry:], *out_dots[n_carry_dot:]]
    return close(derived, [*c, *c_dot, *k, *k_dot, *x, *x_dot], outvars)


def _linearize(nonzeros, *primals, jaxpr, num_consts, num_carry, **params):
    """A forward scan that stacks residuals, and a linear scan over them.

    What needs the constants alone is computed once, before the scan: residuals among it are constants as well.
    """
    const_nz, init_nz, xs_nz = _split(nonzeros, num_consts, num_carry)
    n_out = len(jaxpr.outvars)

    def once(carry_nz):
        active = (*const_nz, *carry_nz, *xs_nz)
        wanted = (*carry_nz, *[False] * (n_out - num_carry))
        split = linearize_jaxpr(jaxpr, active, wanted)
        return split, split[2][:num_carry]

    (forward, linear, out_nz, forwarded), carry_nz = _fixed_point(init_nz, once)
    positions = list(range(len(primals)))
    outs, fixed, scanned, order = _scan_with_residuals(
        forward, forwarded, primals, positions, num_consts, num_carry, params
    )
    apply = _linear_scan(linear, order, const_nz, carry_nz, xs_nz, out_nz, jaxpr, len(fixed), params)
    return outs, out_nz, [*fixed, *scanned], apply


def _scan_with_residuals(forward, forwarded, args, positions, num_consts, num_carry, params):
    """(results of the forward scan, residuals that are constants, residuals to scan over, which of these each is).

    `args` are those of the whole scan, at `positions` those of `forward`.  What needs the constants alone is computed
    once, before the scan; slices are scanned again, carries and the rest are stacked.
    """
    end = num_consts + num_carry
    n_consts, n_carry = sum(p < num_consts for p in positions), sum(num_consts <= p < end for p in positions)
    place = {p: i for i, p in enumerate(positions)}
    at = tuple(None if f is None else place[f] for f in forwarded)
    consts, init, xs = _split([args[p] for p in positions], n_consts, n_carry)
    before, loop, sources = _hoisted(forward, at, n_consts, n_carry)
    if not find_cur_trace().staging:
        before = eliminate_dead_code(before)
    known = eval_jaxpr(before, before.consts, *consts)
    n_known = len(loop.invars) - n_carry - len(xs)
    outs = []
    if loop.outvars or loop.effects:
        outs = scan_p.bind(*known[:n_known], *init, *xs, jaxpr=loop, num_consts=n_known, num_carry=n_carry, **params)
    n_out = len(forward.outvars) - forwarded.count(None)
    values = {"before": known[n_known:], "stacked": outs[n_out:], "xs": xs}
    fixed, scanned, order = [], [], []
    for group, i in sources:
        chosen = fixed if group == "before" else scanned
        order.append((group == "before", len(chosen)))
        chosen.append(values[group][i])
    return outs[:n_out], fixed, scanned, order


def _partial_eval(linear, *args, jaxpr, num_consts, num_carry, **params):
    """A scan of what depends on no tangent, which stacks residuals, and a linear scan over them."""
    const_u, init_u, xs_u = _split(linear, num_consts, num_carry)
    n_ys = len(jaxpr.outvars) - num_carry

    def once(carry_u):
        split = partial_eval_jaxpr(jaxpr, [*const_u, *carry_u, *xs_u], (*carry_u, *[False] * n_ys))
        return split, split[2][:num_carry]

    (forward, rest, out_u, forwarded), carry_u = _fixed_point(init_u, once)
    if all(linear) or (all(out_u) and not forward.eqns):
        return None
    unknown = [*const_u, *carry_u, *xs_u]
    positions = [i for i, is_unknown in enumerate(unknown) if not is_unknown]
    outs, fixed, scanned, order = _scan_with_residuals(
        forward, forwarded, args, positions, num_consts, num_carry, params
    )
    apply = _linear_scan(rest, order, const_u, carry_u, xs_u, out_u, jaxpr, len(fixed), params)
    tangents = [x if is_unknown else Zero(typeof(x).to_tangent_aval()) for x, is_unknown in zip(args, unknown)]
    with find_cur_trace().recording_whole():
        found = apply([*fixed, *scanned], *tangents)
    return merge_lists(out_u, outs, [x for x, is_unknown in zip(found, out_u) if is_unknown])


def _hoisted(forward, forwarded, num_consts, num_carry):
    """(before, loop, sources): a body's forward program taken apart; kept with it.

    `before` maps the scan's constants to (constants of `loop`, residuals that need nothing else); `loop` is the body of
    what is left: it gives the results and the residuals to be stacked.  `sources` says for each residual where it is
    found: ("before" | "stacked" | "xs", number).
    """
    key = ("hoisted", forwarded, num_consts, num_carry)
    if key not in forward.cache:
        forward.cache[key] = _hoist(forward, forwarded, num_consts, num_carry)
    return forward.cache[key]


def _hoist(forward, forwarded, num_consts, num_carry):
    n_out = len(forward.outvars) - forwarded.count(None)
    consts, carry, xs = _split(forward.invars, num_consts, num_carry)
    looped = {*carry, *xs}
    early, late = [], []
    for eqn in forward.eqns:
        if eqn.effects or any(type(a) is not core.Literal and a in looped for a in eqn.invars):
            if eqn.primitive is jit_p and not eqn.effects:
                first, eqn = parted_call(eqn, [type(a) is not core.Literal and a in looped for a in eqn.invars])
                early.append(first)
            late.append(eqn)
            looped.update(eqn.outvars)
        else:
            early.append(eqn)
    computed = iter(forward.outvars[n_out:])
    residuals = [next(computed) if f is None else forward.invars[f] for f in forwarded]
    invariant = lambda a: type(a) is core.Literal or a not in looped
    places = {v: i for i, v in enumerate(xs)}
    stacked, fixed, sources = [], [], []
    for atom in residuals:
        if invariant(atom):
            sources.append(("before", len(fixed)))
            fixed.append(atom)
        elif atom in places:
            sources.append(("xs", places[atom]))
        else:
            sources.append(("stacked", len(stacked)))
            stacked.append(atom)
    results = forward.outvars[:n_out]
    read = reads_in_order(late, [*carry, *xs], [*results, *stacked])
    passed = [a for a in read if a not in forward.constvars]
    before = close(forward, consts, [*passed, *fixed], early)
    loop = close(forward, [*passed, *carry, *xs], [*results, *stacked], late)
    return before, loop, sources


def _linear_scan(linear, order, const_nz, carry_nz, xs_nz, out_nz, jaxpr, n_fixed, params):
    """The function of (residuals, tangents) that binds the linear scan."""
    n_res, num_carry = len(order), len(carry_nz)
    residual_vars, tangent_vars = linear.invars[:n_res], linear.invars[n_res:]
    n_const_dot, n_carry_dot = sum(const_nz), sum(carry_nz)
    c_dot, k_dot, x_dot = _split(tangent_vars, n_const_dot, n_carry_dot)
    fixed = [v for v, (is_fixed, _) in zip(residual_vars, order) if is_fixed]
    scanned = [v for v, (is_fixed, _) in zip(residual_vars, order) if not is_fixed]
    used = dict(zip(linear.invars, used_inputs(linear)))
    reads_const, reads_x = [used[v] for v in c_dot], [used[v] for v in x_dot]
    c_dot, x_dot = select(c_dot, reads_const), select(x_dot, reads_x)
    body = close(linear, [*fixed, *c_dot, *k_dot, *x_dot, *scanned], linear.outvars)
    out_avals = [v.aval.to_tangent_aval() for v in jaxpr.outvars]

    def apply(residuals, *tangents):
        t_consts, t_init, t_xs = _split(tangents, len(const_nz), num_carry)
        t_init = [instantiate_zeros(t) for t, active in zip(t_init, carry_nz) if active]
        outs = iter(
            scan_p.bind(
                *residuals[:n_fixed],
                *select([t for t in t_consts if type(t) is not Zero], reads_const),
                *t_init,
                *select([t for t in t_xs if type(t) is not Zero], reads_x),
                *residuals[n_fixed:],
                jaxpr=body,
                num_consts=n_fixed + len(c_dot),
                num_carry=n_carry_dot,
                **params,
            )
        )
        avals = [a if i < num_carry else a.update(shape=(params["length"], *a.shape)) for i, a in enumerate(out_avals)]
        return [next(outs) if nonzero else Zero(a) for nonzero, a in zip(out_nz, avals)]

    return apply


def _transpose(cts, *operands, jaxpr, num_consts, num_carry, length, reverse, unroll):
    """The scan run the other way: it carries the carry's cotangents and the sums of the constants' cotangents."""
    consts, init, xs = _split(operands, num_consts, num_carry)
    linear_consts = [is_undefined_primal(x) for x in consts]
    linear_xs = [is_undefined_primal(x) for x in xs]
    # A carry that starts at a known tangent starts at zero (linearization made it): it is linear too, and unasked for.
    ct_carry = [instantiate_zeros(ct) for ct in cts[:num_carry]]
    ct_ys = cts[num_carry:]
    ys_nonzero = [type(ct) is not Zero for ct in ct_ys]
    const_avals = [x.aval for x in consts if is_undefined_primal(x)]
    plain_consts = [x for x in consts if not is_undefined_primal(x)]
    plain_xs = [x for x in xs if not is_undefined_primal(x)]
    body = _transposed_body(jaxpr, linear_consts, num_carry, linear_xs, ys_nonzero)
    sums = [instantiate_zeros(Zero(a)) for a in const_avals]
    outs = scan_p.bind(
        *plain_consts,
        *sums,
        *ct_carry,
        *(ct for ct in ct_ys if type(ct) is not Zero),
        *plain_xs,
        jaxpr=body,
        length=length,
        reverse=not reverse,
        num_consts=len(plain_consts),
        num_carry=len(sums) + num_carry,
        unroll=unroll,
    )
    ct_consts, rest = iter(outs[: len(sums)]), outs[len(sums) :]
    ct_init, ct_xs = rest[:num_carry], iter(rest[num_carry:])
    return [
        *(next(ct_consts) if is_linear else None for is_linear in linear_consts),
        *(ct if is_undefined_primal(x) else None for x, ct in zip(init, ct_init)),
        *(next(ct_xs) if is_linear else None for is_linear in linear_xs),
    ]


def _transposed_body(jaxpr, linear_consts, num_carry, linear_xs, ys_nonzero):
    """(plain consts, sums, carry cotangents, y cotangents, plain slices) -> (sums, carry cotangents, x cotangents)."""
    key = ("transposed scan", tuple(linear_consts), tuple(linear_xs), tuple(ys_nonzero))
    if key in jaxpr.cache:
        return jaxpr.cache[key]
    in_avals = jaxpr.in_avals
    const_avals, carry_avals, x_avals = _split(in_avals, len(linear_consts), num_carry)
    y_avals = jaxpr.out_avals[num_carry:]
    plain = [a for a, is_linear in zip(const_avals, linear_consts) if not is_linear]
    summed = [a for a, is_linear in zip(const_avals, linear_consts) if is_linear]
    plain_x = [a for a, is_linear in zip(x_avals, linear_xs) if not is_linear]
    groups = [plain, summed, carry_avals, [a for a, nonzero in zip(y_avals, ys_nonzero) if nonzero], plain_x]

    def fun(*args):
        parts, rest = [], list(args)
        for group in groups:
            parts.append(rest[: len(group)])
            rest = rest[len(group) :]
        consts, sums, ct_carry, given, slices = parts
        consts, slices, given = iter(consts), iter(slices), iter(given)
        undefined = lambda a: UndefinedPrimal(a.update(weak_type=False))
        primals = [undefined(a) if is_l else next(consts) for a, is_l in zip(const_avals, linear_consts)]
        primals += [undefined(a) for a in carry_avals]
        primals += [undefined(a) if is_l else next(slices) for a, is_l in zip(x_avals, linear_xs)]
        ct_ys = [next(given) if nonzero else Zero(a) for a, nonzero in zip(y_avals, ys_nonzero)]
        rest = iter(sums)
        start = [next(rest) if is_l else None for is_l in linear_consts]
        cts = backward_pass(jaxpr, jaxpr.consts, primals, [*ct_carry, *ct_ys], start)
        ct_consts, ct_in, ct_x = _split(cts, len(linear_consts), num_carry)
        ct_consts = [ct for ct, is_l in zip(ct_consts, linear_consts) if is_l]
        ct_x = [ct for ct, is_l in zip(ct_x, linear_xs) if is_l]
        return [instantiate_zeros(ct) for ct in (*ct_consts, *ct_in, *ct_x)]

    jaxpr.cache[key] = trace_to_jaxpr(fun, [a for group in groups for a in group], jaxpr.debug_info)
    return jaxpr.cache[key]


def _batch(axis_data, operands, dims, *, jaxpr, num_consts, num_carry, **params):
    """Which parts of the carry become mapped is found by going round; slices are mapped behind the scanned axis."""
    size = axis_data.size
    const_dims, init_dims, xs_dims = _split(dims, num_consts, num_carry)
    consts, init, xs = _split(operands, num_consts, num_carry)
    consts = [x if d is None else move_to(x, d, 0, size) for x, d in zip(consts, const_dims)]
    in_front = lambda some: [None if d is None else 0 for d in some]
    n_ys = len(jaxpr.outvars) - num_carry

    def once(mapped):
        carry_dims = [0 if m else None for m in mapped]
        derived, out = batch_jaxpr(
            jaxpr, axis_data, (*in_front(const_dims), *carry_dims, *in_front(xs_dims)), (*mapped, *[False] * n_ys)
        )
        return (derived, out), [d is not None for d in out[:num_carry]]

    (derived, out_dims), mapped = _fixed_point([d is not None for d in init_dims], once)
    init = [move_to(x, d, 0, size) if m else x for x, d, m in zip(init, init_dims, mapped)]
    xs = [x if d is None else move_to(x, d, 1, size) for x, d in zip(xs, xs_dims)]
    outs = scan_p.bind(*consts, *init, *xs, jaxpr=derived, num_consts=num_consts, num_carry=num_carry, **params)
    carry_out = [0 if m else None for m in mapped]
    return outs, [*carry_out, *(None if d is None else 1 for d in out_dims[num_carry:])]


def _dce(used_outputs, eqn):
    """Without what is stacked for nobody, and the parts of the carry that only they themselves need."""
    p = eqn.params
    if not any(used_outputs) and not eqn.effects:
        return [False] * len(eqn.invars), None
    jaxpr, n_consts, n_carry = p["jaxpr"], p["num_consts"], p["num_carry"]
    carry_used, ys_used = list(used_outputs[:n_carry]), used_outputs[n_carry:]
    while True:
        inner, used = prune(jaxpr, [*carry_used, *ys_used])
        joint = [a or b for a, b in zip(carry_used, used[n_consts : n_consts + n_carry])]
        if joint == carry_used:
            break
        carry_used = joint
    used_inputs = [*used[:n_consts], *carry_used, *used[n_consts + n_carry :]]
    used_results = [*carry_used, *ys_used]
    if inner is jaxpr:
        return used_inputs, eqn
    invars = [v for v, flag in zip(jaxpr.invars, used_inputs) if flag]
    if len(invars) != len(inner.invars):
        inner = close(inner, invars, inner.outvars)
    counts = {"num_consts": sum(used[:n_consts]), "num_carry": sum(carry_used)}
    return used_inputs, eqn.replace(
        invars=[a for a, flag in zip(eqn.invars, used_inputs) if flag],
        outvars=[v for v, flag in zip(eqn.outvars, used_results) if flag],
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


key_lineage.set(scan_p, follow_scan)


@programs.rule(scan_p)
def _programs(eqn):
    p, operands, results = eqn.params, range(len(eqn.invars)), range(len(eqn.outvars))
    return [HeldProgram(p["jaxpr"], LOOP, "jaxpr", None, operands, results, p["num_consts"], p["num_carry"])]


def _by_policy(saves, unknown, at_hand, eqn):
    """What is known is scanned first, with what a policy stores; the whole is scanned again but for that.

    Values stored of every step are stacked; those that need the constants alone are constants.
    """
    p = eqn.params
    jaxpr, n_consts, n_carry = p["jaxpr"], p["num_consts"], p["num_carry"]
    const_u, init_u, xs_u = _split(unknown, n_consts, n_carry)
    n_ys = len(jaxpr.outvars) - n_carry

    def once(carry_u):
        flags, keep = [*const_u, *carry_u, *xs_u], [*carry_u, *[False] * n_ys]
        found = split_by_policy(jaxpr, flags, saves, keep, all_at_hand=True)
        return found, found[2][:n_carry]

    (known, second, unknown_out, _, avals), carry_u = _fixed_point(init_u, once)
    before, loop, sources = _hoisted(known, (None,) * len(avals), n_consts - sum(const_u), n_carry - sum(carry_u))
    stacked = lambda a: a.update(shape=(p["length"], *a.shape))
    fixed = [group == "before" for group, _ in sources]
    places = [core.Var(a if is_fixed else stacked(a)) for a, is_fixed in zip(avals, fixed)]
    residuals = [*select(places, fixed), *reject(places, fixed)]
    flags = [*const_u, *carry_u, *xs_u]
    before, loop = rename_variables(before), rename_variables(loop)
    first = _scan_after(before, loop, n_carry - sum(carry_u), len(xs_u) - sum(xs_u), len(places) - sum(fixed), p)
    early = eqn.replace(
        invars=reject(eqn.invars, flags),
        outvars=[*reject(eqn.outvars, unknown_out), *residuals],
        primitive=closed_call_p,
        params={"call_jaxpr": first},
        effects=first.effects,
    )
    slots, rest = second.invars[: len(avals)], second.invars[len(avals) :]
    body = close(second, [*select(slots, fixed), *rest, *reject(slots, fixed)], second.outvars)
    late = eqn.replace(
        invars=[*select(places, fixed), *eqn.invars, *reject(places, fixed)],
        params={**p, "jaxpr": body, "num_consts": sum(fixed) + n_consts},
        effects=body.effects,
    )
    return early, late, unknown_out, [True] * len(unknown_out), [*not_at_hand(eqn, at_hand), *residuals]


def _scan_after(before, loop, n_carry, n_xs, n_stacked, params):
    """The program of (constants, carry, slices) that computes `before` and scans `loop` over the slices.

    It gives the results of the scan, what of `before` is stored, and what the last `n_stacked` results of `loop` are.
    """
    n_known = len(loop.invars) - n_carry - n_xs
    along = lambda v: v.aval.update(shape=(params["length"], *v.aval.shape))
    carry = [core.Var(v.aval) for v in loop.invars[n_known : n_known + n_carry]]
    xs = [core.Var(along(v)) for v in loop.invars[n_known + n_carry :]]
    outs = [core.Var(v.aval if i < n_carry else along(v)) for i, v in enumerate(loop.outvars)]
    eqns = list(before.eqns)
    if loop.outvars or loop.effects:
        invars = [*before.outvars[:n_known], *carry, *xs]
        counts = {"jaxpr": loop, "num_consts": n_known, "num_carry": n_carry}
        eqns.append(core.new_jaxpr_eqn(invars, outs, scan_p, {**params, **counts}, loop.effects))
    n_out = len(outs) - n_stacked
    results = [*outs[:n_out], *before.outvars[n_known:], *outs[n_out:]]
    return close(before, [*before.invars, *carry, *xs], results, eqns)


policy_rules[scan_p] = _by_policy
