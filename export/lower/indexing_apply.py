"""Lowering of `x.at[index].apply(func)`: a scatter with a function of the old element.

The function is applied to an element as often as indices name it.  If indices may repeat, a scatter of ones counts
them, and a loop applies the function to all elements as often as the largest count, and keeps the results that are due.
"""

import numpy as np

from onax._control.while_loop import while_loop
from onax._core.evaluate import eval_jaxpr
from onax._core.facts import ELEMENTWISE
from onax._ground import dims
from onax._ground.errors import LoweringError
from onax._prims.creation import full
from onax._prims.elementwise import gt, lt, select
from onax._prims.indexing import scatter_add
from onax._prims.reductions import reduce_max
from onax._prims.shaping import reshape, shape_of
from onax._transforms.vmap import vmap
from onax.export.lower.driver import lower_function

INT32 = np.dtype(np.int32)


def scatter_apply(g, x, indices, updates, *, dimension_numbers, mode, update_jaxpr, update_consts, unique_indices):
    """The result of the scatter.  Raises LoweringError for a function that also reads the updates."""
    unused = update_jaxpr.invars[1]
    if any(unused in eqn.invars for eqn in update_jaxpr.eqns) or unused in update_jaxpr.outvars:
        raise LoweringError("a scatter with a function of the updates has no ONNX form")

    def once(old):
        return eval_jaxpr(update_jaxpr, update_consts, old, np.zeros((), old.dtype))[0]

    def everywhere(old):
        if all(ELEMENTWISE in eqn.primitive.facts for eqn in update_jaxpr.eqns):
            return once(old)
        return reshape(vmap(once)(reshape(old, (dims.prod(shape_of(old)),))), shape_of(old))

    def function(x, indices, updates):
        zeros, ones = full(shape_of(x), 0, INT32), full(shape_of(updates), 1, INT32)
        named = scatter_add(zeros, indices, ones, dimension_numbers, unique_indices=unique_indices, mode=mode)
        if unique_indices:
            return select(gt(named, zeros), everywhere(x), x)
        most = reduce_max(named, tuple(range(len(shape_of(x)))))

        def step(state):
            times, old = state
            due = gt(named, full(shape_of(x), times, INT32))
            return times + np.int32(1), select(due, everywhere(old), old)

        return while_loop(lambda state: lt(state[0], most), step, (np.int32(0), x))[1]

    avals = [v.aval for v in (x, indices, updates)]
    return lower_function(g, lambda *values: [function(*values)], {}, avals, [x, indices, updates])[0]
