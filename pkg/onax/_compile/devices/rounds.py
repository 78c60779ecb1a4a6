"""Orders a program for several devices so that collectives that do not depend on one another are neighbours.

Devices then meet once for all of them: the messages of several are under way at a time, and the equations between two
meetings are one compiled segment.  A *round* is the equations that depend on equally many meetings, and then the
meetings that depend on them.
"""

from onax._core.jaxpr import ClosedJaxpr, Literal


def order_in_rounds(jaxpr, meets):
    """A ClosedJaxpr with its equations in rounds; `meets(eqn)`: whether devices meet in an equation.

    Equations with effects keep their order.
    """
    rounds, placed, last_effect = {}, [], 0
    for eqn in jaxpr.eqns:
        own = max((rounds.get(x, 0) for x in eqn.invars if type(x) is not Literal), default=0)
        if eqn.effects:
            own = last_effect = max(own, last_effect)
        meeting = bool(meets(eqn))
        placed.append(((own, meeting), eqn))
        rounds.update(dict.fromkeys(eqn.outvars, own + meeting))
        if eqn.effects:
            last_effect = own + meeting
    eqns = [eqn for _, eqn in sorted(placed, key=lambda pair: pair[0])]
    return ClosedJaxpr(jaxpr.jaxpr.replace(eqns=eqns), jaxpr.consts)
