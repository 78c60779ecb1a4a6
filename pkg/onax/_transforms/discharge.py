"""Discharge of mutable array references: programs that create, read and write them become pure ones."""

from onax._core import jaxpr as core
from onax._core.evaluate import staging_contexts
from onax._core.facts import CREATES_REF, FREES_REF
from onax._core.programs import programs, replace_programs
from onax._core.refs import AbstractRef, discharge, is_ref, uses_refs
from onax._core.trace import find_cur_trace
from onax._transforms.staging import derive_jaxpr


def discharge_refs(jaxpr):
    """The program with the references that it creates or takes discharged; the program itself if there are none.

    Arguments that are references become arrays, and their last values become further results, in their order.
    Constants that are references stay: only rules for the backward pass read or write them.
    """
    if not uses_refs(jaxpr.effects) and not any(type(v.aval) is AbstractRef for v in jaxpr.invars):
        return jaxpr
    if "discharged" not in jaxpr.cache:
        jaxpr.cache["discharged"] = _discharge(jaxpr)
    return jaxpr.cache["discharged"]


def _discharge(jaxpr):
    n = len(jaxpr.constvars)
    avals = [v.aval for v in jaxpr.constvars]
    avals += [v.aval.inner_aval if type(v.aval) is AbstractRef else v.aval for v in jaxpr.invars]
    pure = derive_jaxpr(lambda *values: _run(jaxpr, values), avals, jaxpr)
    constvars, consts = [*pure.constvars, *pure.invars[:n]], [*pure.consts, *jaxpr.consts]
    open_jaxpr = core.Jaxpr(constvars, pure.invars[n:], pure.outvars, pure.eqns, None, jaxpr.debug_info)
    if isinstance(jaxpr, core.ClosedJaxpr):
        return core.ClosedJaxpr(open_jaxpr, consts)
    open_jaxpr.consts = consts
    return open_jaxpr


def _run(jaxpr, values):
    """The results of a program, and the last values of its arguments that are references.

    In the environment a reference has its value at that point of the program.
    """
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], values))
    refs = [v for v in jaxpr.invars if type(v.aval) is AbstractRef]
    local = set(refs)
    trace = find_cur_trace()
    with staging_contexts() as contexts:
        for eqn in jaxpr.eqns:
            contexts.enter(eqn)
            operands = [a.array if type(a) is core.Literal else env[a] for a in eqn.invars]
            out = _run_equation(trace, eqn, operands, env, local)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    outs = [a.array if type(a) is core.Literal else env[a] for a in jaxpr.outvars]
    return [*outs, *(env[v] for v in refs)]


def _run_equation(trace, eqn, operands, env, local):
    """The results of an equation; new values of the `local` references go into the environment."""
    if not uses_refs(eqn.effects):
        return trace.process_primitive(eqn.primitive, operands, eqn.params)
    if CREATES_REF in eqn.primitive.facts:
        local.add(eqn.outvars[0])
        return operands[0]
    refs = [a if type(a) is not core.Literal and a in local else None for a in eqn.invars]
    for a, ref in zip(eqn.invars, refs):
        if ref is None and type(a.aval) is AbstractRef and not is_ref(env[a]):
            raise ValueError(
                f"`{eqn.primitive.name}` was called on a mutable array reference of type {a.aval.str_short()} after "
                "`free_ref`"
            )
    if not any(refs):
        pure = replace_programs(eqn, discharge_refs) if not any(map(is_ref, operands)) else eqn
        return trace.process_primitive(pure.primitive, operands, pure.params)
    rule = discharge.get(eqn.primitive)
    if rule is None:
        raise NotImplementedError(f"{eqn.primitive.name} does not take mutable array references as operands")
    if FREES_REF in eqn.primitive.facts:
        local.difference_update(refs)
    outs, changed = rule(operands, refs, **eqn.params)
    env.update((ref, value) for ref, value in zip(refs, changed) if value is not None)
    return outs


def discharge_call(primitive):
    """Attaches the rule of a primitive that calls a program."""
    description = programs[primitive]

    @discharge.rule(primitive)
    def rule(values, refs, **params):
        program = params[description.parameter]
        pure = discharge_refs(program)
        outs = primitive.bind(*values, **description.with_program(params, pure))
        return split_results(outs, len(program.outvars), refs)


def split_results(outs, n, refs):
    """(the first n results, for each operand the last value if it is a reference) from results and last values."""
    last = iter(outs[n:])
    return outs[:n], [None if ref is None else next(last) for ref in refs]


__all__ = ["discharge_call", "discharge_refs", "split_results"]
