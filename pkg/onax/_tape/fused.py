"""Programs over blocks are instructions of their own."""

from onax._control.fused import fused_p
from onax._tape.rules import tape


@tape.rule(fused_p)
def _fused(b, outs, *operands, jaxpr):
    return b.blocks(jaxpr, outs, operands)
