"""The native target's `onax.Fused` and `onax.Loop`: one node for a region of elementwise equations, or a loop of them.

The nodes hold the words of the programs (`_native/blocks_kernels.h`) and the shapes of their results.
"""

from onax._control.fused import assemble, fused_p, looped_p
from onax._control.threefry_keys import pack_keys_p, unpack_keys_p
from onax.export.lower.registry import lowers

_MOST_LISTED = 8


def _common_attributes(jaxpr, out):
    """The attributes of both operators."""
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    more = [f"and {len(names) - _MOST_LISTED} more"] if len(names) > _MOST_LISTED else []
    return {
        "domain": "onax",
        "computes": " ".join(names[:_MOST_LISTED] + more),
        "program": assemble(jaxpr)[0],
        "axes": [*[len(a.shape) for a in out], 0],
        "dims": [*[d for a in out for d in a.shape], 0],
    }


@lowers(fused_p)
def _fused(g, out, *values, jaxpr):
    return g.node("Fused", *values, outs=out, **_common_attributes(jaxpr, out))


@lowers(looped_p)
def _looped(g, out, *values, jaxpr, condition, n_constants, n_carries, trips, reverse):
    layout = [n_constants, n_carries, trips, int(reverse), int(condition is not None)]
    words = {} if condition is None else {"condition": assemble(condition)[0]}
    return g.node("Loop", *values, outs=out, layout=layout, **words, **_common_attributes(jaxpr, out))


@lowers(unpack_keys_p, components=True)
def _unpack_keys(g, out, keys):
    return keys


@lowers(pack_keys_p, components=True)
def _pack_keys(g, out, first, second):
    return first, second
