"""The primitive `scan_p` and its rules.

    scan_p.bind(*consts, *carry, *xs, jaxpr, length, reverse, num_consts, num_carry, unroll) -> [*carry, *ys]
    jaxpr: (*consts, *carry, *x) -> (*carry, *y)

Reverse mode: the forward scan also stacks the residuals of each step, and the linear scan reads them.  Residuals that
are constants or slices of the scan itself are not stacked again.
"""

import numpy as np

from onax._control.bodies import restore_weak_types
from onax._control.closed_call import closed_call_p
from onax._control.eager_loops import LONG, are_spread, committed_device, may_be_compiled, run_compiled
from onax._control.loops import fixed_point, hoist_invariants
from onax._control.scan_bodies import derive_at_fixed_point, jvp_body, linear_body, stack_avals, transpose_body
from onax._core import jaxpr as core
from onax._core.check import check_param, equation_checks, is_count
from onax._core.evaluate import eval_jaxpr
from onax._core.hitypes import holds_hitypes
from onax._core.lists import merge_lists, reject, select, split_list
from onax._core.programs import LOOP, HeldProgram, programs
from onax._core.rewrite import close, eliminate_dead_code, prune, rename_variables
from onax._core.trace import find_cur_trace, typeof
from onax._core.zeros import Zero, drop_zeros, insert_zeros, is_undefined_primal, nonzero_flags
from onax._native.array import make_array
from onax._native.dispatch import NEVER, Primitive
from onax._prims.creation import instantiate_zeros
from onax._transforms.batching import batch_jaxpr, move_mapped_axis
from onax._transforms.key_reuse import analyze_scan, key_lineage
from onax._transforms.linearize import linearize_jaxpr
from onax._transforms.lower_hitypes import flat, lower_program, lower_values, raise_values, to_lo
from onax._transforms.partial_eval import (
    operands_to_store,
    partial_eval_custom_rules,
    partial_eval_jaxpr,
    partial_eval_jaxpr_custom,
)
from onax._transforms.sharding_types import axes_of_type, sharding_type, slice_aval


def _impl(*args, jaxpr, length, reverse, num_consts, num_carry, unroll):
    """Interprets the body step by step, stacked results going into arrays allocated once.

    A long loop is compiled, and one over several devices, whose stacked results have shardings.
    """
    if holds_hitypes(jaxpr):
        counts = {"num_consts": num_consts, "num_carry": num_carry}
        return _to_lo(args, jaxpr=jaxpr, length=length, reverse=reverse, unroll=unroll, **counts)
    if type(length) is int and (length >= LONG or are_spread(args)) and may_be_compiled(jaxpr):
        params = {"jaxpr": jaxpr, "length": length, "reverse": reverse, "num_consts": num_consts}
        return run_compiled(scan_p, args, params | {"num_carry": num_carry, "unroll": unroll}, jaxpr)
    device = committed_device(scan_p, args)
    place = (device, device is not None)
    consts, carry, xs = split_list(args, [num_consts, num_carry])
    y_avals = jaxpr.out_avals[num_carry:]
    buffers = [np.empty((length, *a.shape), getattr(a.dtype, "storage", a.dtype)) for a in y_avals]
    rows = [(x._value, x.dtype, x.weak_type) for x in xs]
    for step in range(length - 1, -1, -1) if reverse else range(length):
        slices = [make_array(np.asarray(value[step]), dtype, weak, *place) for value, dtype, weak in rows]
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *consts, *carry, *slices)
        carry = outs[:num_carry]
        for buffer, y in zip(buffers, outs[num_carry:]):
            buffer[step] = y._value
    carry = restore_weak_types(carry, jaxpr.out_avals)
    return [*carry, *(make_array(b, a.dtype, a.weak_type, *place) for b, a in zip(buffers, y_avals))]


def _abstract_eval(*avals, jaxpr, length, num_carry, **_):
    return stack_avals(jaxpr.out_avals, length, num_carry)


def _jvp(primals, tangents, *, jaxpr, num_consts, num_carry, **params):
    sizes = [num_consts, num_carry]
    body, nonzeros, out_nz = jvp_body(jaxpr, nonzero_flags(tangents), sizes)
    flags = split_list(nonzeros, sizes)
    consts, init, xs = split_list(primals, sizes)
    consts_dot, init_dot, xs_dot = (select(group, given) for group, given in zip(split_list(tangents, sizes), flags))
    outs = scan_p.bind(
        *consts,
        *consts_dot,
        *init,
        *map(instantiate_zeros, init_dot),
        *xs,
        *xs_dot,
        jaxpr=body,
        num_consts=num_consts + len(consts_dot),
        num_carry=num_carry + len(init_dot),
        **params,
    )
    carry, carry_dot, ys, ys_dot = split_list(outs, [num_carry, len(init_dot), len(jaxpr.outvars) - num_carry])
    outs = [*carry, *ys]
    return outs, insert_zeros([*carry_dot, *ys_dot], out_nz, map(typeof, outs))


# ---- one scan becomes two ----


def _linearize(nonzeros, *primals, jaxpr, num_consts, num_carry, **params):
    """A forward scan that stacks residuals, and a linear scan over them."""
    sizes = [num_consts, num_carry]
    split, nonzeros = derive_at_fixed_point(linearize_jaxpr, jaxpr, nonzeros, sizes, 2)
    forward, linear, out_nz, forwarded = split
    outs, residuals, is_constant = _scan_with_residuals(forward, forwarded, primals, sizes, params)
    out_avals = stack_avals(jaxpr.out_avals, params["length"], num_carry)
    apply = _linear_scan(linear, is_constant, nonzeros, out_nz, out_avals, sizes, params)
    return outs, out_nz, residuals, apply


def _partial_eval(unknown, *args, jaxpr, num_consts, num_carry, **params):
    """A scan of the known part, which stacks residuals, and a scan of the rest, which reads them."""
    sizes = [num_consts, num_carry]
    split, unknown = derive_at_fixed_point(partial_eval_jaxpr, jaxpr, unknown, sizes, 2)
    known, rest, unknown_out, forwarded = split
    if all(unknown) or (all(unknown_out) and not known.eqns):
        return None
    known_sizes = [flags.count(False) for flags in split_list(unknown, sizes)[:2]]
    outs, residuals, is_constant = _scan_with_residuals(known, forwarded, reject(args, unknown), known_sizes, params)
    out_avals = stack_avals(jaxpr.out_avals, params["length"], num_carry)
    with find_cur_trace().recording_whole():
        apply = _linear_scan(rest, is_constant, unknown, unknown_out, out_avals, sizes, params)
        rest_outs = apply(residuals, *args)
    return merge_lists(unknown_out, outs, select(rest_outs, unknown_out))


def _scan_with_residuals(forward, forwarded, args, sizes, params):
    """Binds the forward scan; returns (results, residuals, for each residual whether it is the same in every step).

    Equations that read only constants are computed once, before the scan; residuals that are slices are read again, all
    others are stacked.
    """
    num_carry = sizes[1]
    consts, init, xs = split_list(args, sizes)
    before, loop, sources = hoist_invariants(forward, tuple(forwarded), *sizes)
    if not find_cur_trace().staging:
        before = eliminate_dead_code(before)
    known = eval_jaxpr(before, before.consts, *consts)
    n_known = len(loop.invars) - num_carry - len(xs)
    outs = []
    if loop.outvars or loop.effects:
        outs = scan_p.bind(*known[:n_known], *init, *xs, jaxpr=loop, num_consts=n_known, num_carry=num_carry, **params)
    n_out = len(forward.outvars) - forwarded.count(None)
    values = {"invariant": known[n_known:], "stacked": outs[n_out:], "xs": xs}
    residuals = [values[group][i] for group, i in sources]
    return outs[:n_out], residuals, [group == "invariant" for group, _ in sources]


def _linear_scan(linear, is_constant, flags, out_flags, out_avals, sizes, params):
    """A function of (residuals, tangents) that binds the scan of `linear`.

    Args:
      linear: maps (residuals, tangents) to tangents of the results.
      is_constant: for each residual whether it is the same in every step.
      flags, out_flags: which arguments and which results of the scan have a tangent.
    """
    n_consts_dot, num_carry = (sum(group) for group in split_list(flags, sizes)[:2])
    body, reads_const, reads_x = linear_body(linear, is_constant, n_consts_dot, num_carry)

    def apply(residuals, *tangents):
        consts, init, xs = split_list(select(tangents, flags), [n_consts_dot, num_carry])
        consts = [*select(residuals, is_constant), *select(consts, reads_const)]
        outs = scan_p.bind(
            *consts,
            *map(instantiate_zeros, init),
            *select(xs, reads_x),
            *reject(residuals, is_constant),
            jaxpr=body,
            num_consts=len(consts),
            num_carry=num_carry,
            **params,
        )
        return insert_zeros(outs, out_flags, out_avals)

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
        jaxpr=transpose_body(jaxpr, linear_consts, num_carry, linear_xs, nonzero_flags(ct_ys)),
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


@to_lo.rule(scan_p)
def _to_lo(args, *, jaxpr, num_consts, num_carry, length, **params):
    lowered = lower_values(args)
    n = num_consts + num_carry
    avals = [[a if i < n else slice_aval(a, length) for a in map(typeof, xs)] for i, xs in enumerate(lowered)]
    outs = scan_p.bind(
        *flat(lowered),
        jaxpr=lower_program(jaxpr, avals),
        num_consts=len(flat(lowered[:num_consts])),
        num_carry=len(flat(lowered[num_consts:n])),
        length=length,
        **params,
    )
    return raise_values(jaxpr.out_avals, outs)


@programs.rule(scan_p)
def _programs(eqn):
    p, operands, results = eqn.params, range(len(eqn.invars)), range(len(eqn.outvars))
    return [HeldProgram(p["jaxpr"], LOOP, "jaxpr", None, operands, results, p["num_consts"], p["num_carry"])]


@equation_checks.rule(scan_p)
def _check_equation(eqn):
    p, jaxpr = eqn.params, eqn.params["jaxpr"]
    check_param(eqn, "reverse", "bool", type(p["reverse"]) is bool)
    for name in ("num_consts", "num_carry"):
        check_param(eqn, name, "non-negative int", is_count(p[name]))
    check_param(eqn, "jaxpr", "ClosedJaxpr", type(jaxpr) is core.ClosedJaxpr)
    check_param(eqn, "unroll", "non-negative int", is_count(p["unroll"]))
    check_param(eqn, "length", "non-negative int", type(p["length"]) is not int or p["length"] >= 0)


@partial_eval_custom_rules.rule(scan_p)
def _partial_eval_custom(saveable, unknown, instantiated, eqn):
    """A scan of the known part, which returns what the policy saves; the second scan recomputes what is not saved.

    Values saved in each step are stacked; saved values that depend only on constants are constants.
    """
    p = eqn.params
    sizes = [p["num_consts"], p["num_carry"]]
    derive = lambda body, flags, ensure: partial_eval_jaxpr_custom(
        body, flags, saveable, ensure, ensure_out_instantiated=True
    )
    (known, staged, unknown_out, _, avals), flags = derive_at_fixed_point(derive, p["jaxpr"], unknown, sizes, 2)
    known_sizes = [group.count(False) for group in split_list(flags, sizes)]
    before, loop, sources = hoist_invariants(known, (None,) * len(avals), *known_sizes[:2])
    is_constant = [group == "invariant" for group, _ in sources]
    saved = [core.Var(a if same else stack_avals([a], p["length"], 0)[0]) for a, same in zip(avals, is_constant)]
    constants, stacked = select(saved, is_constant), reject(saved, is_constant)
    first = _hoisted_scan_program(rename_variables(before), rename_variables(loop), known_sizes, len(stacked), p)
    early = eqn.replace(
        invars=reject(eqn.invars, flags),
        outvars=[*reject(eqn.outvars, unknown_out), *constants, *stacked],
        primitive=closed_call_p,
        params={"call_jaxpr": first},
        effects=first.effects,
    )
    residuals, rest = split_list(staged.invars, [len(avals)])
    body = close(staged, [*select(residuals, is_constant), *rest, *reject(residuals, is_constant)], staged.outvars)
    late = eqn.replace(
        invars=[*constants, *eqn.invars, *stacked],
        params={**p, "jaxpr": body, "num_consts": len(constants) + p["num_consts"]},
        effects=body.effects,
    )
    stored = [*operands_to_store(eqn, instantiated), *constants, *stacked]
    return early, late, unknown_out, [True] * len(unknown_out), stored


def _hoisted_scan_program(before, loop, sizes, n_stacked, params):
    """A program of (constants, carry, slices) that evaluates `before` and scans `loop` over the slices.

    It returns the results of the scan, the saved results of `before`, and the `n_stacked` last results of `loop`.
    """
    _, num_carry, n_xs = sizes
    n_known = len(loop.invars) - num_carry - n_xs
    operands = [core.Var(a) for a in stack_avals(loop.in_avals[n_known:], params["length"], num_carry)]
    outs = [core.Var(a) for a in stack_avals(loop.out_avals, params["length"], num_carry)]
    eqns = list(before.eqns)
    if loop.outvars or loop.effects:
        params = {**params, "jaxpr": loop, "num_consts": n_known, "num_carry": num_carry}
        eqns.append(core.new_jaxpr_eqn([*before.outvars[:n_known], *operands], outs, scan_p, params, loop.effects))
    n_out = len(outs) - n_stacked
    results = [*outs[:n_out], *before.outvars[n_known:], *outs[n_out:]]
    return close(before, [*before.invars, *operands], results, eqns)


@sharding_type.rule(scan_p)
def _sharding_types(name, axes, avals, params, outs):
    """The carry has the axes of the body's results; stacked results have one more dimension, which is whole."""
    own = [axes_of_type(a) for a in params["jaxpr"].out_avals]
    m = params["num_carry"]
    return [*own[:m], *([(), *each] for each in own[m:])]
