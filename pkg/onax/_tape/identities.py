"""Primitives whose results are their operands, as values of another type at most: they cost no instruction."""

from onax._control.optimization_barrier import optimization_barrier_p
from onax._control.policies import name_p
from onax._prims.random import random_clone_p, random_unwrap_p, random_wrap_p
from onax._tape.rules import tape


@tape.rule(random_wrap_p, random_unwrap_p, random_clone_p, name_p)
def _same_bytes(b, out, x, **_):
    return b.bind(x, out)


@tape.rule(optimization_barrier_p)
def _optimization_barrier(b, outs, *xs):
    return [b.bind(x, out) for x, out in zip(xs, outs)]
