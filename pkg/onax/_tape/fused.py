"""Programs over blocks are instructions of their own."""

from onax._control.fused import fused_p
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from onax._tape.rules import tape


@tape.rule(fused_p)
def _fused(b, outs, *operands, jaxpr):
    known = {i: x.value for i, x in enumerate(operands) if x.value is not None and x.shape == ()}
    if known and len(known) < len(operands):
        jaxpr = _with_numbers(jaxpr, known)
        operands = [x for i, x in enumerate(operands) if i not in known]
    return b.blocks(jaxpr, outs, operands)


def _with_numbers(jaxpr, known):
    """The program with some of its operands, by their places, as numbers that are written into it."""
    numbers = {jaxpr.invars[i]: Literal(value, jaxpr.invars[i].aval) for i, value in known.items()}
    eqns = []
    for eqn in jaxpr.eqns:
        operands = [x if type(x) is Literal else numbers.get(x, x) for x in eqn.invars]
        eqns.append(eqn.replace(invars=operands))
    rest = [v for v in jaxpr.invars if v not in numbers]
    return ClosedJaxpr(Jaxpr([], rest, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug_info))
