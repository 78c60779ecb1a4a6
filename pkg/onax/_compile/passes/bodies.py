"""Applying a pass to the programs within branches and loops."""

import functools

from onax._core.programs import BRANCH, CONDITION, LOOP, programs, replace_programs

_BODIES = BRANCH, LOOP, CONDITION


def cache_on_program(rewrite):
    """Decorator: the outcome of a pass is kept with the program: a body that is held twice is rewritten once."""
    key = f"pass {rewrite.__name__}"

    @functools.wraps(rewrite)
    def cached(jaxpr):
        if key not in jaxpr.cache:
            new = rewrite(jaxpr)
            jaxpr.cache[key] = None if new is jaxpr else new  # no reference from a program to itself
        return jaxpr.cache[key] or jaxpr

    return cached


def map_bodies(rewrite, eqn):
    """The equation with the programs of its branches or of its loop rewritten."""
    describe = programs.get(eqn.primitive)
    if describe is None:
        return eqn
    held = describe(eqn)
    return replace_programs(eqn, rewrite) if held and held[0].kind in _BODIES else eqn
