"""ONNX forms of primitives whose parameters are programs.

A call is lowered by lowering its program in its place: ONNX has no call that the runtime would not inline itself.
Branches become If; loops become Loop, or Scan where something is scanned and there is a step.  The programs inside read
outer values directly, so constants and operands are not passed; only what changes from step to step is.
"""

import numpy as np

from onax._control.checkpoint import remat_p
from onax._control.cond import cond_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_lin_p, custom_vjp_call_p
from onax._control.jit_call import jit_p
from onax._control.reducers import reduce_p, reduced
from onax._control.scan import scan_p
from onax._control.solves import custom_linear_solve_p
from onax._control.while_loop import settled, while_p
from onax._ground import dims
from onax._native.avals import ShapedArray
from onax.export.graph import ops
from onax.export.lower.driver import component_aval, inline, trailing
from onax.export.lower.registry import COMPONENT_RULES, RULES, decompose, lowers, unsupported

_BOOL = np.dtype(bool)


@lowers(jit_p, components=True)
def _jit(g, out, *values, jaxpr, **_):
    return inline(g, jaxpr, jaxpr.consts, values)


@lowers(custom_jvp_call_p, custom_vjp_call_p, components=True)
def _custom_call(g, out, *values, call_jaxpr, **_):
    return inline(g, call_jaxpr, call_jaxpr.consts, values)


@lowers(remat_p, components=True)
def _remat(g, out, *values, jaxpr, **_):
    return inline(g, jaxpr, jaxpr.consts, values)


@lowers(custom_linear_solve_p, components=True)
def _linear_solve(g, out, *values, jaxprs, const_lengths):
    before = const_lengths.matvec + const_lengths.vecmat
    end = before + const_lengths.solve
    consts, b = values[before:end], values[end + const_lengths.transpose_solve :]
    return inline(g, jaxprs.solve, jaxprs.solve.consts, (*consts, *b))


decompose(reduce_p, reduced)
COMPONENT_RULES[reduce_p] = RULES[reduce_p]
unsupported(custom_lin_p, "a custom_vjp function knows its reverse mode only; jvp of it cannot be computed")


# ---- components: a value of complex or key dtype is a tuple of them, and each is a value of the loop


def _flat(values):
    return [part for v in values for part in (v if type(v) is tuple else (v,))]


def _flat_avals(avals):
    flat = []
    for aval in avals:
        axes, _ = trailing(aval.dtype)
        flat.extend([component_aval(aval)] * int(np.prod(axes)))
    return flat


def _gathered(flat, avals):
    """The flat values as one value, or a tuple of components, for each aval."""
    flat, values = iter(flat), []
    for aval in avals:
        axes, _ = trailing(aval.dtype)
        values.append(tuple(next(flat) for _ in range(int(np.prod(axes)))) if axes else next(flat))
    return values


def _give(body, values):
    """Makes values the results of a subgraph; one that it does not compute itself, or gives twice, is copied."""
    given = set()
    for value in values:
        if value.node is None or value.graph is not body or id(value) in given:
            value = body.node("Identity", value)
        given.add(id(value))
        body.outputs.append(value)


def _broadcast_outs(avals, length):
    return [ShapedArray((length, *a.shape), a.dtype) for a in avals]


# ---- branches


@lowers(cond_p, components=True)
def _cond(g, out, index, *operands, branches):
    avals = _flat_avals(out)
    return _gathered(_choose(g, avals, index, operands, branches), out)


def _choose(g, avals, index, operands, branches):
    """Results of the branch that the index names, as nested Ifs: each asks whether it is the last branch left."""
    if len(branches) == 1:
        return _flat(inline(g, branches[0], branches[0].consts, operands))
    last = g.const(np.int32(len(branches) - 1))
    is_last = g.node("Equal", index, last, out=((), _BOOL))
    then, otherwise = g.subgraph(), g.subgraph()
    _give(then, _flat(inline(then, branches[-1], branches[-1].consts, operands)))
    _give(otherwise, _choose(otherwise, avals, index, operands, branches[:-1]))
    if not avals:
        return []
    return g.node("If", is_last, outs=avals, then_branch=then, else_branch=otherwise)


# ---- loops


@lowers(while_p, components=True)
def _while(g, out, *operands, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    condition, step = settled(cond_jaxpr, body_jaxpr, cond_nconsts, body_nconsts)
    consts, carry = operands[: cond_nconsts + body_nconsts], operands[cond_nconsts + body_nconsts :]
    carry_avals = _flat_avals(out)
    (holds,) = inline(g, condition, condition.consts, (*consts, *carry))
    body = g.subgraph([((), ops.INT64), ((), _BOOL), *carry_avals])
    inner = _gathered(body.inputs[2:], out)
    new = inline(body, step, step.consts, (*consts, *inner))
    (again,) = inline(body, condition, condition.consts, (*consts, *new))
    _give(body, [again, *_flat(new)])
    results = g.node("Loop", None, holds, *_flat(carry), outs=carry_avals, body=body)
    return _gathered(results, out)


@lowers(scan_p, components=True)
def _scan(g, out, *operands, jaxpr, length, reverse, num_consts, num_carry, unroll):
    consts, carry, xs = (
        operands[:num_consts],
        operands[num_consts : num_consts + num_carry],
        operands[num_consts + num_carry :],
    )
    y_avals = jaxpr.out_avals[num_carry:]
    if dims.equal(length, 0):
        empty = [ops.full(g, (0, *a.shape), 0, a.dtype) for a in _flat_avals(y_avals)]
        return [*carry, *_gathered(empty, y_avals)]
    stepwise = _by_scan if xs and dims.is_constant(length) else _by_loop
    flat = stepwise(g, jaxpr, consts, carry, xs, num_consts, num_carry, length, reverse)
    return _gathered(flat, out)


def _by_scan(g, jaxpr, consts, carry, xs, num_consts, num_carry, length, reverse):
    carry_avals = _flat_avals(jaxpr.in_avals[num_consts : num_consts + num_carry])
    x_avals = _flat_avals(jaxpr.in_avals[num_consts + num_carry :])
    y_avals = _flat_avals(jaxpr.out_avals[num_carry:])
    body = g.subgraph([*carry_avals, *x_avals])
    inner = _gathered(body.inputs, jaxpr.in_avals[num_consts:])
    _give(body, _flat(inline(body, jaxpr, jaxpr.consts, (*consts, *inner))))
    backwards = 1 if reverse else 0
    return g.node(
        "Scan",
        *_flat(carry),
        *_flat(xs),
        outs=[*carry_avals, *_broadcast_outs(y_avals, length)],
        num_scan_inputs=len(x_avals),
        scan_input_directions=[backwards] * len(x_avals),
        scan_output_directions=[backwards] * len(y_avals) or None,
        body=body,
    )


def _by_loop(g, jaxpr, consts, carry, xs, num_consts, num_carry, length, reverse):
    """Without scanned values, or with a length known only at run time: slices are gathered by the step's number."""
    carry_avals = _flat_avals(jaxpr.in_avals[num_consts : num_consts + num_carry])
    x_avals = _flat_avals(jaxpr.in_avals[num_consts + num_carry :])
    y_avals = _flat_avals(jaxpr.out_avals[num_carry:])
    trips = g.dim(length)
    body = g.subgraph([((), ops.INT64), ((), _BOOL), *carry_avals])
    step, go_on, *state = body.inputs
    at = body.node("Sub", body.node("Sub", trips, step), body.const(1, ops.INT64)) if reverse else step
    slices = [body.node("Gather", x, at, out=a, axis=0) for x, a in zip(_flat(xs), x_avals)]
    inner = _gathered([*state, *slices], jaxpr.in_avals[num_consts:])
    _give(body, [go_on, *_flat(inline(body, jaxpr, jaxpr.consts, (*consts, *inner)))])
    outs = [*carry_avals, *_broadcast_outs(y_avals, length)]
    results = list(g.node("Loop", trips, None, *_flat(carry), outs=outs, body=body))
    if reverse:
        n = len(carry_avals)
        results[n:] = [_reversed(g, y) for y in results[n:]]
    return results


def _reversed(g, y):
    """The stacked results in the order of the steps' numbers."""
    last, before_first = g.const([-1], ops.INT64), g.const([np.iinfo(np.int64).min], ops.INT64)
    axes, back = g.const([0], ops.INT64), g.const([-1], ops.INT64)
    return g.node("Slice", y, last, before_first, axes, back)
