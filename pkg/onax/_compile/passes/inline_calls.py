"""Replaces calls by the equations of the called programs, also inside branches and loops.

Calls of library functions that are one instruction of a tape remain, unless they are small.
"""

from onax._compile.passes.bodies import cache_on_program, map_bodies
from onax._core.programs import called_program
from onax._core.rewrite import close, inline
from onax._tape.calls import is_one_instruction
from onax._tape.regions import is_small


@cache_on_program
def inline_calls(jaxpr):
    """The program without calls."""
    if any(_callee(eqn) is not None for eqn in jaxpr.eqns):
        jaxpr = inline(jaxpr, _callee)
    eqns = [map_bodies(inline_calls, eqn) for eqn in jaxpr.eqns]
    if all(new is old for new, old in zip(eqns, jaxpr.eqns)):
        return jaxpr
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)


def _callee(eqn):
    """The program to inline instead of an equation, or None."""
    callee = called_program(eqn)
    return None if callee is None or (is_one_instruction(eqn) and not is_small(eqn)) else callee
