"""Native target: equations of a loop's body that read nothing but its constants run once, before the loop.

What is larger than all that it reads (a broadcast, a table of positions) is computed in each step: a region does that
in registers.  So does the transpose of a product's operand, which products read where it lies.  Branches and loops stay
where they are, because a loop without steps must not run them.
"""

from math import prod

from onax._compile.passes.bodies import cache_on_program, map_bodies
from onax._control.block_code import codes
from onax._control.scan import scan_p
from onax._control.while_loop import while_p
from onax._core.jaxpr import Literal, Var
from onax._core.programs import held_programs
from onax._core.rewrite import close
from onax._ground import dims
from onax._prims.dot import dot_general_p
from onax._prims.shaping import transpose_p
from onax._tape.rules import tape


@cache_on_program
def hoist_invariants(jaxpr):
    """The program whose loops, nested ones too, compute in each step what differs between steps."""
    eqns = []
    for eqn in jaxpr.eqns:
        before, loop = _hoist(map_bodies(hoist_invariants, eqn))
        eqns += [*before, loop]
    if len(eqns) == len(jaxpr.eqns) and all(new is old for new, old in zip(eqns, jaxpr.eqns)):
        return jaxpr
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)


def _hoist(eqn):
    """(equations that run before a loop, the loop that is left); of an equation that is no loop (none, itself)."""
    params = eqn.params
    if eqn.primitive is scan_p:
        parameter, count, first = "jaxpr", "num_consts", 0
    elif eqn.primitive is while_p:
        parameter, count, first = "body_jaxpr", "body_nconsts", params["cond_nconsts"]
    else:
        return [], eqn
    body, n = params[parameter], params[count]
    moved, kept, passed = _split(body, n)
    if not passed:
        return [], eqn
    names = dict(zip(body.invars, eqn.invars[first : first + n]))
    before = []
    for inner in moved:
        operands = [x if type(x) is Literal else names[x] for x in inner.invars]
        names.update((v, Var(v.aval)) for v in inner.outvars)
        before.append(inner.replace(invars=operands, outvars=[names[v] for v in inner.outvars]))
    rest = close(body, [*body.invars[:n], *passed, *body.invars[n:]], body.outvars, kept)
    operands = [*eqn.invars[: first + n], *[names[v] for v in passed], *eqn.invars[first + n :]]
    return before, eqn.replace(invars=operands, params={**params, parameter: rest, count: n + len(passed)})


def _split(body, num_consts):
    """(equations to run before the loop, those that stay, the variables that pass from the former to the latter)."""
    known, invariant = set(body.invars[:num_consts]), set()
    for eqn in body.eqns:
        if _is_movable(eqn) and known.issuperset(_variables(eqn.invars)):
            invariant.add(eqn)
            known.update(eqn.outvars)
    kept = {eqn for eqn in body.eqns if eqn not in invariant}
    read_inside = {*_variables(body.outvars), *[x for eqn in kept for x in _variables(eqn.invars)]}
    read_before, moved, passed = set(), [], []
    for eqn in reversed(body.eqns):
        if eqn not in invariant:
            continue
        is_read_before = not read_before.isdisjoint(eqn.outvars)
        if not read_inside.isdisjoint(eqn.outvars):
            if _grows(eqn) or _is_read_in_place(eqn, body):
                kept.add(eqn)
                read_inside.update(_variables(eqn.invars))
            else:
                passed += [v for v in eqn.outvars if v in read_inside]
                is_read_before = True
        if is_read_before:
            moved.append(eqn)
            read_before.update(_variables(eqn.invars))
    return moved[::-1], [eqn for eqn in body.eqns if eqn in kept], passed


def _variables(atoms):
    return [x for x in atoms if type(x) is not Literal]


def _is_movable(eqn):
    """Whether an equation can run where the loop may have no step: an operation of a tape, without effects."""
    if eqn.effects or not (eqn.primitive in codes or eqn.primitive in tape) or held_programs(eqn):
        return False
    return all(dims.is_constant_shape(x.aval.shape) for x in (*eqn.invars, *eqn.outvars))


def _grows(eqn):
    """Whether an equation makes more elements than any operand has."""
    most = max([prod(x.aval.shape) for x in _variables(eqn.invars)], default=0)
    return any(prod(v.aval.shape) > most for v in eqn.outvars)


def _is_read_in_place(eqn, body):
    """Whether an equation is the transpose of an array that one product alone reads: `_tape/dot.py`."""
    if eqn.primitive is not transpose_p:
        return False
    (result,) = eqn.outvars
    readers = [reader.primitive for reader in body.eqns for x in reader.invars if x is result]
    return readers == [dot_general_p] and not any(x is result for x in body.outvars)
