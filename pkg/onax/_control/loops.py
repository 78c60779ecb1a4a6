"""The fixed point over the carry of a loop, and the hoisting of what is the same in every step."""

from onax._core import jaxpr as core
from onax._core.lists import split_list
from onax._core.rewrite import close, eliminate_dead_code
from onax._transforms.partial_eval import residual_order, split_equations


def fixed_point(step, flags):
    """Repeats `step` until it adds no flag; returns (what `step` returned last, the flags of the carry).

    `step(flags) -> (anything, flags of the carry after a step)`: a part of the carry that is active (unknown, mapped,
    used, or with a tangent) after a step is active before the next one.
    """
    while True:
        result, after = step(flags)
        joint = [a or b for a, b in zip(flags, after)]
        if joint == flags:
            return result, flags
        flags = joint


def hoist_invariants(body, forwarded, num_consts, num_carry):
    """Splits a body with residuals by what is the same in every step; returns (invariant, variant, sources).

    Args:
      body: (constants, carry, slices) -> (results, computed residuals).
      forwarded: for each residual the position of the argument that it equals, or None where `body` computes it.

    `invariant` maps the constants to (constants of `variant`, residuals that depend on nothing else); `variant` is the
    body of the loop that remains: it returns the results and the residuals to stack.  `sources` says where each
    residual comes from: ("invariant" | "stacked" | "xs", position).  The outcome is cached with the body.
    """
    key = ("hoisted", forwarded, num_consts, num_carry)
    if key not in body.cache:
        body.cache[key] = _hoist(body, forwarded, num_consts, num_carry)
    return body.cache[key]


def _hoist(body, forwarded, num_consts, num_carry):
    n_out = len(body.outvars) - forwarded.count(None)
    consts, carry, xs = split_list(body.invars, [num_consts, num_carry])
    eqns, changing = split_equations(body, [*carry, *xs], hold_effects=True)
    early, late = ([eqn for eqn, is_changing in eqns if is_changing is flag] for flag in (False, True))
    computed = iter(body.outvars[n_out:])
    positions = {v: i for i, v in enumerate(xs)}
    stacked, invariant, sources = [], [], []
    for position in forwarded:
        atom = next(computed) if position is None else body.invars[position]
        if type(atom) is core.Literal or atom not in changing:
            sources.append(("invariant", len(invariant)))
            invariant.append(atom)
        elif atom in positions:
            sources.append(("xs", positions[atom]))
        else:
            sources.append(("stacked", len(stacked)))
            stacked.append(atom)
    results = [*body.outvars[:n_out], *stacked]
    passed = [v for v in residual_order(late, [*carry, *xs], results) if v not in body.constvars]
    before = close(body, consts, [*passed, *invariant], early)
    return before, eliminate_dead_code(close(body, [*passed, *carry, *xs], results, late)), sources
