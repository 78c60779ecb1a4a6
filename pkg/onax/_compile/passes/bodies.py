"""Applies a pass to the programs inside branches and loops."""

import functools

from onax._core.programs import BRANCH, CONDITION, LOOP, programs, replace_programs

_BODIES = BRANCH, LOOP, CONDITION


def cache_on_program(rewrite):
    """Decorator that caches the outcome of a pass with the program, so that a shared body is rewritten once."""
    key = f"pass {rewrite.__name__}"

    @functools.wraps(rewrite)
    def cached(jaxpr):
        if key not in jaxpr.cache:
            new = rewrite(jaxpr)
            jaxpr.cache[key] = None if new is jaxpr else new  # avoids a reference cycle
        return jaxpr.cache[key] or jaxpr

    return cached


def map_bodies(rewrite, eqn):
    """Rewrites the programs of the branches or of the loop of an equation."""
    describe = programs.get(eqn.primitive)
    if describe is None:
        return eqn
    held = describe(eqn)
    return replace_programs(eqn, rewrite) if held and held[0].kind in _BODIES else eqn
