"""Reductions of float16 and bfloat16 without float32 in memory.

`jnp.sum` of halves is staged as a conversion to float32, a reduction, and a conversion back.  The instruction of a
reduction widens what it reads and rounds its totals once, so the three equations become one of the narrow type.
"""

from collections import Counter

import numpy as np

from onax._control.block_code import codes
from onax._core.jaxpr import Literal
from onax._core.rewrite import close
from onax._native.tape import TYPES
from onax._prims.convert import convert_element_type_p
from onax._prims.reductions import reduce_max_p, reduce_min_p, reduce_prod_p
from onax._prims.shaping import reduce_sum_p


def reduce_halves(jaxpr):
    """The ClosedJaxpr in which reductions of halves between two conversions are reductions of the narrow type.

    Where elementwise equations compute the halves, these and the reduction are one pass over memory already.
    """
    if not any(_reduces_floats(eqn) for eqn in jaxpr.eqns):
        return jaxpr
    makers = {eqn.outvars[0]: eqn for eqn in jaxpr.eqns if eqn.outvars}
    reads = Counter([x for eqn in jaxpr.eqns for x in eqn.invars if type(x) is not Literal])
    reads.update([x for x in jaxpr.outvars if type(x) is not Literal])
    replaced, removed = {}, set()
    for last in jaxpr.eqns:
        parts = _parts(last, makers, reads)
        if parts is not None:
            first, reduction = parts
            replaced[id(last)] = reduction.replace(invars=first.invars, outvars=last.outvars)
            removed.update((id(first), id(reduction)))
    if not replaced:
        return jaxpr
    eqns = [replaced.get(id(eqn), eqn) for eqn in jaxpr.eqns if id(eqn) not in removed]
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)


def _reduces_floats(eqn):
    if eqn.primitive not in (reduce_sum_p, reduce_prod_p, reduce_max_p, reduce_min_p):
        return False
    return eqn.invars[0].aval.dtype == np.float32


def _parts(last, makers, reads):
    """The conversion and the reduction that nobody but a conversion back reads; None if it is another equation."""
    if last.primitive is not convert_element_type_p or type(last.invars[0]) is Literal:
        return None
    reduction = makers.get(last.invars[0])
    if reduction is None or not _reduces_floats(reduction) or reads[last.invars[0]] > 1:
        return None
    first = makers.get(reduction.invars[0])
    if first is None or first.primitive is not convert_element_type_p or reads[reduction.invars[0]] > 1:
        return None
    x, out = first.invars[0].aval, last.outvars[0].aval
    if x.dtype != out.dtype or x.dtype.itemsize != 2 or x.dtype not in TYPES or x.dtype.kind in "iu":
        return None
    maker = makers.get(first.invars[0])
    return None if maker is not None and maker.primitive in codes else (first, reduction)
