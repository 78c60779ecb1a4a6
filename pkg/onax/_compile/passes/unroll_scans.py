"""Replaces a scan of no more steps than its parameter `unroll` says by its steps, as JAX does when it lowers one.

The steps, next to each other, become one region if they are elementwise: a polynomial by Horner's scheme is one pass.
Long ones (LARGEST equations) stay loops.
"""

from onax._compile.passes.bodies import cache_on_program, map_bodies
from onax._control.scan import scan_p
from onax._core.evaluate import eval_jaxpr
from onax._core.rewrite import close, inline
from onax._prims.shaping import expand_dims, squeeze
from onax._prims.slicing import concatenate, slice_in_dim
from onax._transforms.staging import derive_jaxpr

LARGEST = 512


@cache_on_program
def unroll_scans(jaxpr):
    """The program without such scans, also inside branches and loops."""
    if any(_is_unrolled(eqn) for eqn in jaxpr.eqns):
        jaxpr = inline(jaxpr, _steps)
    eqns = [map_bodies(unroll_scans, eqn) for eqn in jaxpr.eqns]
    if all(new is old for new, old in zip(eqns, jaxpr.eqns)):
        return jaxpr
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)


def _is_unrolled(eqn):
    if eqn.primitive is not scan_p or eqn.effects:
        return False
    length, unroll = eqn.params["length"], eqn.params["unroll"]
    return type(length) is int and 0 < length <= unroll and length * len(eqn.params["jaxpr"].eqns) <= LARGEST


def _steps(eqn):
    """The program of a scan's steps, or None for any other equation."""
    if not _is_unrolled(eqn):
        return None
    body, length, reverse = (eqn.params[name] for name in ("jaxpr", "length", "reverse"))
    first, last = eqn.params["num_consts"], eqn.params["num_consts"] + eqn.params["num_carry"]

    def run(*operands):
        consts, carry, xs = operands[:first], operands[first:last], operands[last:]
        rows = [None] * length
        for i in reversed(range(length)) if reverse else range(length):
            elements = [squeeze(slice_in_dim(x, i, i + 1), [0]) for x in xs]
            results = eval_jaxpr(body, body.consts, *consts, *carry, *elements)
            carry, rows[i] = results[: last - first], results[last - first :]
        stacks = [concatenate([expand_dims(y, [0]) for y in ys], 0) for ys in zip(*rows)]
        return [*carry, *stacks]

    return derive_jaxpr(run, [x.aval for x in eqn.invars], body)
