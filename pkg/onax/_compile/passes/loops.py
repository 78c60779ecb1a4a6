"""Turns each scan or while_loop whose step has only small elementwise equations into one `looped_p` equation."""

from math import prod

from onax._compile.passes.bodies import map_bodies
from onax._compile.passes.picks import element_rules, picked
from onax._compile.passes.words import closed_keys, count, flat, key_rules, opened_keys
from onax._control.block_code import codes, counters, views
from onax._control.fused import looped_p, looped_program
from onax._control.scan_rules import scan_p
from onax._control.while_loop import while_p, with_scalar_condition
from onax._core.effects import no_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from onax._core.rewrite import eliminate_dead_code
from onax._core.trace import typeof
from onax._ground import dims
from onax._native.blocks import TYPES
from onax._prims.shaping import copy_p
from onax._tape.regions import counts, is_view, joins

ONE_BLOCK = 1024  # the maximal number of elements of a value in a looped step


def form_loops(jaxpr, rewrite):
    """Rewrites such loops; applies `rewrite` to branches and to the bodies of other loops."""
    constvars, consts, eqns = list(jaxpr.constvars), list(jaxpr.consts), []
    for eqn in jaxpr.eqns:
        found = _loop_of(eqn) if eqn.primitive in (scan_p, while_p) and not eqn.effects else None
        if found is None:
            eqns.append(map_bodies(rewrite, eqn))
            continue
        own, params = found
        hoisted = [Var(typeof(c)) for c in own]
        constvars += hoisted
        consts += own
        closing = []
        operands, results = opened_keys(eqn.invars, eqns), closed_keys(eqn.outvars, closing)
        eqns.append(JaxprEqn([*hoisted, *operands], results, looped_p, params, eqn.effects, eqn.source_info))
        read = _variables_read(jaxpr)
        eqns += [e for e in closing if e.outvars[0] in read]
    if all(new is old for new, old in zip(eqns, jaxpr.eqns)) and len(eqns) == len(jaxpr.eqns):
        return jaxpr
    inner = Jaxpr(constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug_info)
    return ClosedJaxpr(inner, consts)


def _variables_read(jaxpr):
    atoms = [*jaxpr.outvars, *(x for eqn in jaxpr.eqns for x in eqn.invars)]
    return {x for x in atoms if type(x) is not Literal}


def _loop_of(eqn):
    """(constants to put before the operands, parameters of `looped_p`) of a scan or while_loop, else None."""
    p = eqn.params
    if eqn.primitive is scan_p:
        n, n_carries = p["num_consts"], p["num_carry"]
        layout = n, n_carries, p["length"], p["reverse"]
        steps, condition = _straight(p["jaxpr"]), None
        if steps is None or not dims.is_constant(p["length"]) or not p["length"]:
            return None
    else:
        n, n_carries = p["cond_nconsts"] + p["body_nconsts"], len(eqn.outvars)
        settled_loop = with_scalar_condition(p["cond_jaxpr"], p["body_jaxpr"], p["cond_nconsts"], p["body_nconsts"])
        condition, steps = map(_straight, settled_loop)
        if steps is None or condition is None:
            return None
        layout = n, n_carries, 0, False
    hoisted = [*steps.constvars, *(condition.constvars if condition else ())]
    consts = [*steps.consts, *(condition.consts if condition else ())]
    steps, condition = (j and _with_inputs(j, hoisted) for j in (steps, condition))
    given = [x.aval for x in eqn.invars]
    trips, reverse = layout[2:]
    params = {"n_constants": count(given[:n]) + len(hoisted), "n_carries": count(given[n : n + n_carries])}
    params = {"jaxpr": steps, "condition": condition, **params, "trips": trips, "reverse": reverse}
    try:
        looped_program(**params)
    except ValueError:  # it needs more registers than a block program has
        return None
    return consts, params


def _may_be_step(primitive):
    """Whether an equation of this primitive may become part of a looped step; a quick check before any rewriting."""
    return any(primitive in rules for rules in (codes, views, counters, key_rules, element_rules))


def _straight(jaxpr):
    """A ClosedJaxpr of small elementwise equations whose results are distinct and computed by them, or None.

    Keys become two words each.
    """
    if not all(_may_be_step(e.primitive) for e in jaxpr.eqns):
        return None
    found = eliminate_dead_code(picked(flat(jaxpr)), bodies=False)
    given = [v.aval for v in (*found.invars, *found.constvars)]
    if not found.invars or not all(a.dtype in TYPES and _is_short(a) for a in given):
        return None
    if not all(_is_short(eqn.outvars[0].aval) and (is_view(eqn) or counts(eqn) or joins(eqn)) for eqn in found.eqns):
        return None
    computed = {eqn.outvars[0] for eqn in found.eqns if not is_view(eqn) and not counts(eqn)}
    eqns, outvars = list(found.eqns), []
    for x in found.outvars:
        if type(x) is Literal or x not in computed or x in outvars:
            copied = Var(x.aval)
            eqn = JaxprEqn([x], [copied], copy_p, {})
            if not joins(eqn):
                return None
            eqns.append(eqn)
            x = copied
        outvars.append(x)
    inner = Jaxpr(found.constvars, found.invars, outvars, eqns, no_effects, found.debug_info)
    return ClosedJaxpr(inner, found.consts)


def _is_short(aval):
    return dims.is_constant_shape(aval.shape) and 0 < prod(aval.shape) <= ONE_BLOCK


def _with_inputs(jaxpr, variables):
    """The program with its constants, and perhaps other variables, as its first arguments."""
    inner = Jaxpr([], [*variables, *jaxpr.invars], jaxpr.outvars, jaxpr.eqns, no_effects, jaxpr.debug_info)
    return ClosedJaxpr(inner)
