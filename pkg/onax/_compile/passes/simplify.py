"""Common-subexpression elimination for elementwise equations and views."""

from onax._compile.passes.bodies import cache_on_program, map_bodies
from onax._control.block_code import codes, views
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from onax._core.structure import literal_key


@cache_on_program
def simplify(jaxpr):
    """Eliminates common subexpressions, in branches and loop bodies too, in each separately."""
    computed = {}  # expression -> the variables that hold its results
    replaced = {}  # variable -> the one that holds the same value
    eqns = []
    for eqn in jaxpr.eqns:
        operands = [x if type(x) is Literal else replaced.get(x, x) for x in eqn.invars]
        expression = _expression(eqn, operands)
        if expression in computed:
            replaced.update(zip(eqn.outvars, computed[expression]))
            continue
        if expression is not None:
            computed[expression] = eqn.outvars
        if any(new is not old for new, old in zip(operands, eqn.invars)):
            eqn = eqn.replace(invars=operands)
        eqns.append(map_bodies(simplify, eqn))
    if not replaced and all(new is old for new, old in zip(eqns, jaxpr.eqns)):
        return jaxpr
    outvars = [x if type(x) is Literal else replaced.get(x, x) for x in jaxpr.outvars]
    inner = Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, eqns, jaxpr.effects, jaxpr.debug_info)
    return ClosedJaxpr(inner, jaxpr.consts)


def _expression(eqn, operands):
    """A key that equations with the same results share; None unless the equation is elementwise or a view."""
    if eqn.primitive not in codes and eqn.primitive not in views:
        return None
    given = [(literal_key(x.val), x.aval) if type(x) is Literal else x for x in operands]
    return eqn.primitive, eqn.outvars[0].aval, *given, *eqn.params.items()
