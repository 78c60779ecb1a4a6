"""Lowerings of primitives whose parameters are programs.

A call is inlined: the runtime would inline functions of ONNX as well.  Branches become If.  Loops become Scan where
there are scanned values and the length is static, else Loop.  The subgraphs read outer values directly, so only the
state that changes from step to step is passed.

The other direction: `pkg/onax/onnx/control.py`.
"""

import numpy as np

from onax._control.checkpoint import remat_p
from onax._control.closed_call import closed_call_p
from onax._control.composite import composite_p
from onax._control.cond import cond_p
from onax._control.custom_gradient import linear_call_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_lin_p, custom_vjp_call_p
from onax._control.hi_primitives import call_hi_primitive_p
from onax._control.jit_call import jit_p
from onax._control.optimization_barrier import optimization_barrier_p
from onax._control.policies import name_p
from onax._control.reducers import find_monoid, reduce_by_pairs, reduce_p
from onax._control.scan_rules import scan_p
from onax._control.solves import custom_linear_solve_p
from onax._control.while_loop import while_p, with_scalar_condition
from onax._core.evaluate import eval_jaxpr
from onax._core.rewrite import eliminate_dead_code
from onax._ground import dims
from onax._native.avals import ShapedArray
from onax._prims.creation import full
from onax.export.graph import ops
from onax.export.lower.components import flat_avals, flat_values, unflatten_components
from onax.export.lower.driver import inline
from onax.export.lower.native import TOKEN, current_token
from onax.export.lower.registry import decompose, lowers
from onax.export.lower.shaping import reverse as reverse_axes

_BOOL = np.dtype(bool)


@lowers(jit_p, components=True)
def _jit(g, out, *values, jaxpr, **_):
    return inline(g, jaxpr, jaxpr.consts, values)


@lowers(custom_jvp_call_p, custom_vjp_call_p, closed_call_p, components=True)
def _custom_call(g, out, *values, call_jaxpr, **_):
    return inline(g, call_jaxpr, call_jaxpr.consts, values)


@lowers(composite_p, call_hi_primitive_p, components=True)
def _composite(g, out, *values, jaxpr, **_):
    return inline(g, jaxpr, jaxpr.consts, values)


@lowers(linear_call_p, components=True)
def _linear_call(g, out, *values, callee, **_):
    return inline(g, callee, callee.consts, values)


@lowers(optimization_barrier_p, components=True)
def _barrier(g, out, *values):
    return values


@lowers(name_p, components=True)
def _name(g, out, x, *, name):
    return x


@lowers(remat_p, components=True)
def _remat(g, out, *values, jaxpr, **_):
    return inline(g, jaxpr, jaxpr.consts, values)


@lowers(custom_linear_solve_p, components=True)
def _linear_solve(g, out, *values, jaxprs, const_lengths):
    before = const_lengths.matvec + const_lengths.vecmat
    end = before + const_lengths.solve
    consts, b = values[before:end], values[end + const_lengths.transpose_solve :]
    return inline(g, jaxprs.solve, jaxprs.solve.consts, (*consts, *b))


def _reduce(*args, jaxpr, dimensions, **params):
    monoid = find_monoid(jaxpr) if len(args) == 2 else None
    if monoid is None:
        return reduce_by_pairs(*args, jaxpr=jaxpr, dimensions=dimensions, **params)
    x, init = args
    total = monoid(x, dimensions)
    return eval_jaxpr(jaxpr, jaxpr.consts, full(total.shape, init), total)


decompose(reduce_p, _reduce, components=True)


@lowers(custom_lin_p, components=True)
def _custom_lin(g, out, *values, **_):
    raise TypeError("can't apply forward-mode autodiff (jvp) to a custom_vjp function.")


def _set_outputs(body, values):
    """Makes values the outputs of a subgraph; copies those that it does not compute itself or that are repeated."""
    given = set()
    for value in values:
        if value.node is None or value.graph is not body or id(value) in given:
            value = body.node("Identity", value)
        given.add(id(value))
        body.outputs.append(value)


def _broadcast_outs(avals, length):
    return [ShapedArray((length, *a.shape), a.dtype) for a in avals]


# ---- effects: a token passes through all nodes with an effect, and so through the branches and bodies around them


def _token_of(g, programs):
    """The current token if one of the programs has an effect: [Value] or [].  A file has none: it leaves prints out."""
    return [current_token(g)] if g.model.target == "native" and any(p.effects for p in programs) else []


def _keep_token(g, results, ordered):
    """Stores the token, the last result, in the graph; returns the other results."""
    if ordered:
        *results, g.token = results
    return results


def _with_token(body, results, ordered):
    """The flat results of a program, followed by its token if it has an effect."""
    flat = flat_values(results)
    return [*flat, current_token(body)] if ordered else flat


# ---- branches


@lowers(cond_p, components=True)
def _cond(g, out, index, *operands, branches):
    branches = [eliminate_dead_code(b) for b in branches]
    ordered = bool(_token_of(g, branches))
    avals = [*flat_avals(out), TOKEN] if ordered else flat_avals(out)
    return unflatten_components(_keep_token(g, _emit_ifs(g, avals, index, operands, branches, ordered), ordered), out)


def _emit_ifs(g, avals, index, operands, branches, ordered):
    """The results of the branch with this index, as nested Ifs: each tests for the last of the remaining branches."""
    if len(branches) == 1:
        return _with_token(g, inline(g, branches[0], branches[0].consts, operands), ordered)
    last = g.const(np.int32(len(branches) - 1))
    is_last = g.node("Equal", index, last, out=((), _BOOL))
    then, otherwise = g.subgraph(), g.subgraph()
    _set_outputs(then, _with_token(then, inline(then, branches[-1], branches[-1].consts, operands), ordered))
    _set_outputs(otherwise, _emit_ifs(otherwise, avals, index, operands, branches[:-1], ordered))
    if not avals:
        return []
    return g.node("If", is_last, outs=avals, then_branch=then, else_branch=otherwise)


# ---- loops


@lowers(while_p, components=True)
def _while(g, out, *operands, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    condition, step = with_scalar_condition(cond_jaxpr, body_jaxpr, cond_nconsts, body_nconsts)
    consts, carry = operands[: cond_nconsts + body_nconsts], operands[cond_nconsts + body_nconsts :]
    (holds,) = inline(g, condition, condition.consts, (*consts, *carry))
    token = _token_of(g, (condition, step))
    avals = [*flat_avals(out), *[TOKEN] * len(token)]
    body = g.subgraph([((), ops.INT64), ((), _BOOL), *avals])
    state = _keep_token(body, body.inputs[2:], token)
    new = inline(body, step, step.consts, (*consts, *unflatten_components(state, out)))
    (again,) = inline(body, condition, condition.consts, (*consts, *new))
    _set_outputs(body, [again, *_with_token(body, new, token)])
    results = g.node("Loop", None, holds, *flat_values(carry), *token, outs=avals, body=body)
    return unflatten_components(_keep_token(g, results, token), out)


def _parts(values, num_consts, num_carry):
    """(constants, carry, scanned values)."""
    end = num_consts + num_carry
    return values[:num_consts], values[num_consts:end], values[end:]


@lowers(scan_p, components=True)
def _scan(g, out, *operands, jaxpr, length, reverse, num_consts, num_carry, unroll):
    consts, carry, xs = _parts(operands, num_consts, num_carry)
    y_avals = jaxpr.out_avals[num_carry:]
    if dims.equal(length, 0):
        empty = [ops.full(g, (0, *a.shape), 0, a.dtype) for a in flat_avals(y_avals)]
        return [*carry, *unflatten_components(empty, y_avals)]
    stepwise = _emit_scan if xs and dims.is_constant(length) else _emit_loop
    token = _token_of(g, (jaxpr,))
    state = [*flat_values(carry), *token]
    _, carry_avals, x_avals = _parts(jaxpr.in_avals, num_consts, num_carry)
    state_avals = [*flat_avals(carry_avals), *[TOKEN] * len(token)]

    def step(body, state, slices):
        inner = unflatten_components([*_keep_token(body, state, token), *slices], jaxpr.in_avals[num_consts:])
        results = inline(body, jaxpr, jaxpr.consts, (*consts, *inner))
        return [*_with_token(body, results[:num_carry], token), *flat_values(results[num_carry:])]

    flat = stepwise(g, step, state, state_avals, xs, flat_avals(x_avals), flat_avals(y_avals), length, reverse)
    state, ys = _keep_token(g, flat[: len(state)], token), flat[len(state_avals) :]
    return unflatten_components([*state, *ys], out)


def _emit_scan(g, step, state, state_avals, xs, x_avals, y_avals, length, reverse):
    n = len(state)
    body = g.subgraph([*state_avals, *x_avals])
    _set_outputs(body, step(body, body.inputs[:n], body.inputs[n:]))
    backwards = 1 if reverse else 0
    return g.node(
        "Scan",
        *state,
        *flat_values(xs),
        outs=[*state_avals, *_broadcast_outs(y_avals, length)],
        num_scan_inputs=len(x_avals),
        scan_input_directions=[backwards] * len(x_avals),
        scan_output_directions=[backwards] * len(y_avals) or None,
        body=body,
    )


def _emit_loop(g, step, state, state_avals, xs, x_avals, y_avals, length, reverse):
    """The Loop of a scan without scanned values or of dynamic length: each step gathers its slices."""
    n = len(state)
    trips = g.dim(length)
    body = g.subgraph([((), ops.INT64), ((), _BOOL), *state_avals])
    number, go_on, *inner = body.inputs
    at = body.node("Sub", body.node("Sub", trips, number), body.const(1, ops.INT64)) if reverse else number
    slices = [body.node("Gather", x, at, out=a, axis=0) for x, a in zip(flat_values(xs), x_avals)]
    _set_outputs(body, [go_on, *step(body, inner, slices)])
    outs = [*state_avals, *_broadcast_outs(y_avals, length)]
    results = list(g.node("Loop", trips, g.const(True), *state, outs=outs, body=body))
    if reverse:
        results[n:] = [reverse_axes(g, y, (0,)) for y in results[n:]]
    return results
