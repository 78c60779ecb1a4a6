"""The native target's `onax.Tape`: one node for a part of a program that runs as a tape (`_tape`)."""

from onax._native.host_operator import Handle
from onax._native.tape import TapeNode
from onax._tape.build import build_tape
from onax._tape.tape_call import tape_p
from onax.export.lower.components import join, physical_aval, split
from onax.export.lower.native import keep_float16
from onax.export.lower.registry import lowers

_MOST_LISTED = 8


@lowers(tape_p, components=True)
def _tape(g, out, *values, jaxpr):
    tape, constants = build_tape(jaxpr)
    inputs = [join(g, x, v.aval) for x, v in zip(values, jaxpr.invars)] + [g.const(c) for c in constants]
    avals = [physical_aval(a) for a in out]
    inputs = [keep_float16(g, x) for x in inputs] or [g.const(False)]
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    more = [f"and {len(names) - _MOST_LISTED} more"] if len(names) > _MOST_LISTED else []
    results = g.node(
        "Tape",
        *inputs,
        outs=avals,
        domain="onax",
        kernel=Handle(TapeNode(tape, [(a.shape, a.dtype) for a in avals])),
        computes=" ".join(names[:_MOST_LISTED] + more),
    )
    return [split(g, keep_float16(g, x), a) for x, a in zip(results, out)]
