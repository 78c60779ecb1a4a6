"""The native target's `onax.Fused`: one node for a region of elementwise equations.

The node holds the program's words (`_native/blocks_kernels.h`) and the shapes of its results.
"""

from onax._control.fused import assembled, fused_p
from onax.export.lower.registry import lowers

_SHOWN = 8


@lowers(fused_p)
def _fused(g, out, *values, jaxpr):
    words, _ = assembled(jaxpr)
    axes = [len(a.shape) for a in out]
    dims = [d for a in out for d in a.shape]
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    more = [f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return g.node(
        "Fused",
        *values,
        outs=out,
        domain="onax",
        computes=" ".join(names[:_SHOWN] + more),
        program=words,
        axes=[*axes, 0],
        dims=[*dims, 0],
    )
