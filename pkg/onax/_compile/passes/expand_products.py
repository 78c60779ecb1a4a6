"""Native target: a dot_general that contracts nothing becomes a product of broadcast operands.

That is an elementwise operation, which becomes one pass with its neighbours (the gradient of a linear layer for each
example of a batch is such a product) and has the same bits: each element is one product, rounded once.
"""

from onax._compile.passes.bodies import cache_on_program, map_bodies
from onax._core.rewrite import close, inline
from onax._native.tape import BLOCK_OPERATIONS
from onax._prims.dot import dot_general_p
from onax._prims.elementwise import mul
from onax._prims.shaping import broadcast_in_dim
from onax._transforms.staging import trace_shared


@cache_on_program
def expand_products(jaxpr):
    """The program without such products, also inside branches and loops."""
    if any(_axes(eqn) is not None for eqn in jaxpr.eqns):
        jaxpr = inline(jaxpr, lambda eqn: _product(eqn, jaxpr.debug_info))
    eqns = [map_bodies(expand_products, eqn) for eqn in jaxpr.eqns]
    if all(new is old for new, old in zip(eqns, jaxpr.eqns)):
        return jaxpr
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)


def _axes(eqn):
    """Where the axes of each operand lie in the result, for a product that is to be expanded; else None."""
    if eqn.primitive is not dot_general_p:
        return None
    lhs, rhs, out = (x.aval for x in (*eqn.invars, *eqn.outvars))
    (contracted, _), (left, right) = eqn.params["dimension_numbers"]
    if contracted or not (lhs.dtype == rhs.dtype == out.dtype) or not _is_multiplied(out.dtype):
        return None
    places, taken = [], len(left)
    for x, batch in ((lhs, left), (rhs, right)):
        free = iter(range(taken, len(out.shape)))
        places.append([batch.index(i) if i in batch else next(free) for i in range(len(x.shape))])
        taken += len(x.shape) - len(batch)
    return places if all(p == sorted(p) for p in places) else None


def _is_multiplied(dtype):
    """Whether programs over blocks multiply numbers of a dtype as products do; complex ones have parts."""
    return dtype in BLOCK_OPERATIONS["mul"].dtypes and dtype.kind not in "bc"


def _product(eqn, debug_info):
    """The program of an expanded product, or None for any other equation."""
    places = _axes(eqn)
    if places is None:
        return None
    shape = eqn.outvars[0].aval.shape

    def run(*operands):
        return [mul(*[broadcast_in_dim(x, shape, axes) for x, axes in zip(operands, places)])]

    return trace_shared(run, [x.aval for x in eqn.invars], debug_info)
