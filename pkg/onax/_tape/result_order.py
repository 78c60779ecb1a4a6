"""The order of equations whose results nobody in the program reads.

A training step is staged with all gradients before the first update of a weight, so that all of them are in memory at
a time.  An update runs as soon as what it reads is there and nobody else needs that any more.
"""

from onax._core.jaxpr import Literal
from onax._core.rewrite import close


def make_results_early(jaxpr):
    """The ClosedJaxpr in which equations that only give results of the program stand as early as that frees memory.

    They stay behind the other readers of their operands, so nothing lives longer than before.
    """
    makers, readers = {}, {}  # variable -> the place that makes it, the last but one that reads it and the last
    for place, eqn in enumerate(jaxpr.eqns):
        makers.update(dict.fromkeys(eqn.outvars, place))
        for x in eqn.invars:
            if type(x) is not Literal and readers.get(x, (-1, -1))[1] != place:
                readers[x] = readers.get(x, (-1, -1))[1], place
    follow = {}  # place -> equations that come right after it
    moved = set()
    for place, eqn in enumerate(jaxpr.eqns):
        if eqn.effects or any(v in readers for v in eqn.outvars):
            continue
        operands = [x for x in eqn.invars if type(x) is not Literal]
        after = max([max(makers.get(x, -1), *[r for r in readers[x] if r != place]) for x in operands], default=place)
        if 0 <= after < place - 1:
            follow.setdefault(after, []).append(eqn)
            moved.add(place)
    if not moved:
        return jaxpr
    eqns = []
    for place, eqn in enumerate(jaxpr.eqns):
        if place not in moved:
            eqns.append(eqn)
        eqns += follow.get(place, ())
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)
