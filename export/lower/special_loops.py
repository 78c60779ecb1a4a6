"""Helpers for lowerings of special functions: float64 formulas, and loops that run until every element has converged.

A narrower type is computed in float64 and rounded once.
"""

import math

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.graph import ops
from onax.export.graph.formula import Formula
from onax.export.lower import native
from onax.export.lower.convert import F32, F64
from onax.export.lower.registry import lowers

_BOOL = np.dtype(bool)
_FEW_ELEMENTS = 4096
# Gauss and Legendre's rule with 28 points on [0, 1]: nodes, and the weights of the first half, which the others
# mirror.  NumPy's own are right to 1e-13 only.
_NODES = (
    0.001778751213022775, 0.009348417314563623, 0.022870359685530903, 0.04218348680393396, 0.06705373871280247,
    0.09717931454141042, 0.1321945609931841, 0.17167445298056752, 0.21513976409429914, 0.2620628875224409,
    0.31187424195546065, 0.363969186182411, 0.41771535893330963, 0.47246035505798284, 0.5275396449420171,
    0.5822846410666904, 0.6360308138175891, 0.6881257580445393, 0.7379371124775591, 0.7848602359057009,
    0.8283255470194325, 0.8678054390068158, 0.9028206854585896, 0.9329462612871975, 0.9578165131960661,
    0.9771296403144691, 0.9906515826854364, 0.9982212487869773,
)  # fmt: skip
_WEIGHTS = (
    0.0045621412965472586, 0.01056605629638563, 0.01645071389115219, 0.022136467379502114, 0.027553672837858374,
    0.0326364619834998, 0.03732310711728439, 0.041556708614450606, 0.04528587219651642, 0.04846532899896496,
    0.05105648378903038, 0.05302788296142321, 0.05435559612914707, 0.0550235065082376,
)  # fmt: skip


def in_double(primitive, function, *, when=lambda eqn: True):
    """Registers a formula of float64 numbers, all of the result's shape, as the lowering of an elementwise primitive.

    Compiled functions prefer the kernel, which is quicker, for equations with `when(eqn)`.
    """

    def rule(g, out, *operands):
        wide = [Formula(g, ops.expand(g, ops.cast(g, x, F64), out.shape)) for x in operands]
        return ops.cast(g, function(*wide).value, out.dtype)

    lowers(primitive)(rule)
    native.prefer(primitive, when=when)


def constant(like, value):
    """A formula of one number, in the shape of another formula."""
    return Formula(like.g, ops.full(like.g, like.value.shape, value, F64))


def _any(g, mask):
    """Whether any element of a formula of bools is true, as a scalar Value."""
    counted = ops.reduce(g, "ReduceSum", ops.cast(g, mask.value, F32), range(mask.value.ndim))
    return ops.greater(g, counted, ops.scalar(g, 0, counted))


def is_small(x):
    """Whether a formula has so few elements that an axis of 28 more costs less than a Loop of as many steps."""
    return dim_rules.is_constant_shape(x.value.shape) and 0 < math.prod(x.value.shape) <= _FEW_ELEMENTS


def along_new_axis(x):
    """A formula with an axis of length one behind the others."""
    return Formula(x.g, ops.unsqueeze(x.g, x.value, (-1,)))


def iterate(step, state, known, limit, going=None, *, at_once=1):
    """Runs as many steps as each element needs, at most `limit`; returns the final state.

    step(k, state, known) -> (going, state)   k is the step's number from 1, a float64 scalar
    state    formulas of one shape; an element no longer changes once its `going` is false
    known    constant formulas that the step reads
    going    the elements to compute, a formula of bools; all by default
    at_once  steps between two looks at what is still going, which cost as much as a few steps; an element may then
             take some steps too many
    """
    g = state[0].g
    if going is None:
        going = constant(state[0], 0) == 0
    body = g.subgraph([((), ops.INT64), ((), _BOOL), going.value.aval, *(x.value.aval for x in state)])
    number, _, active, *before = (Formula(body, v) for v in body.inputs)
    inner, after, first = [Formula(body, x.value) for x in known], before, number.cast(F64) * at_once
    for k in range(1, at_once + 1):
        again, after = step(first + k, after, inner)
    again = active & again
    after = [active.where(new, old) for new, old in zip(after, before, strict=True)]
    body.outputs.extend([_any(body, again), again.value, *(x.value for x in after)])
    outs = [going.value.aval, *(x.value.aval for x in state)]
    trips = g.const(-(-limit // at_once), ops.INT64)
    results = g.node("Loop", trips, _any(g, going), going.value, *(x.value for x in state), outs=outs, body=body)
    return [Formula(g, v) for v in results[1:]]


def integrate(function, known, width):
    """The integrals from 0 to 1, by Gauss and Legendre's rule, of the `width` formulas that a function gives.

    function(node, known) -> formulas   node is a float64 scalar, or has all nodes along the last axis
    """
    g, like = known[0].g, known[0].value.aval
    if is_small(known[0]):
        values = function(Formula(g, g.const(np.asarray(_NODES))), [along_new_axis(x) for x in known])
        weights = g.const(np.asarray((*_WEIGHTS, *_WEIGHTS[::-1])))
        return [Formula(g, g.node("MatMul", v.value, weights, out=like)) for v in values]
    body = g.subgraph([((), ops.INT64), ((), _BOOL), *[like] * width])
    number, holds, *before = body.inputs
    columns = (g.const(np.asarray(c), F64) for c in (_NODES, (*_WEIGHTS, *_WEIGHTS[::-1])))
    node, weight = (Formula(body, ops.gather(body, c, number, 0)) for c in columns)
    values = function(node, [Formula(body, x.value) for x in known])
    totals = [Formula(body, old) + value * weight for old, value in zip(before, values, strict=True)]
    body.outputs.extend([body.node("Identity", holds), *(x.value for x in totals)])
    zeros = [constant(known[0], 0).value] * width
    results = g.node("Loop", g.const(len(_NODES), ops.INT64), g.const(True), *zeros, outs=[like] * width, body=body)
    return [Formula(g, v) for v in results]
