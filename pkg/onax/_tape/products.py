"""Products whose transpose alone is read: the same products with their operands exchanged.

The gradient of `x @ w` with respect to w is staged as a product with the axes of w in reverse, and a transpose.
"""

from collections import Counter

from onax._core.jaxpr import Literal
from onax._core.rewrite import close
from onax._prims.dot import dot_general_p
from onax._prims.shaping import transpose_p


def exchange_operands(jaxpr):
    """The ClosedJaxpr in which a product's operands are exchanged where that makes its transpose unnecessary."""
    makers = {eqn.outvars[0]: eqn for eqn in jaxpr.eqns if eqn.primitive is dot_general_p}
    if not makers:
        return jaxpr
    reads = Counter([x for eqn in jaxpr.eqns for x in eqn.invars if type(x) is not Literal])
    reads.update([x for x in jaxpr.outvars if type(x) is not Literal])
    exchanged, eqns = {}, []
    for eqn in jaxpr.eqns:
        product = (
            makers.get(eqn.invars[0]) if eqn.primitive is transpose_p and type(eqn.invars[0]) is not Literal else None
        )
        if product is not None and reads[eqn.invars[0]] == 1 and _exchanges(product, eqn.params["permutation"]):
            exchanged[id(product)] = _exchanged(product, eqn.outvars)
        else:
            eqns.append(eqn)
    if not exchanged:
        return jaxpr
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, [exchanged.get(id(eqn), eqn) for eqn in eqns])


def _exchanges(product, permutation):
    """Whether a permutation puts the free axes of the right operand before those of the left one."""
    (lc, _), (lb, _) = product.params["dimension_numbers"]
    batch, rank = len(lb), len(permutation)
    middle = batch + len(product.invars[0].aval.shape) - len(lc) - batch
    return tuple(permutation) == (*range(batch), *range(middle, rank), *range(batch, middle))


def _exchanged(product, outvars):
    (lc, rc), (lb, rb) = product.params["dimension_numbers"]
    params = {**product.params, "dimension_numbers": ((rc, lc), (rb, lb))}
    if type(params["precision"]) is tuple:
        params["precision"] = params["precision"][::-1]
    return product.replace(invars=product.invars[::-1], outvars=outvars, params=params)
