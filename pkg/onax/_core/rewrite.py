"""Rewriting jaxprs: the few functions by which every pass takes programs apart and puts them together.

    close                 other arguments, results or equations over the constants of a program
    map_equations         each equation replaced by some others
    inline                calls replaced by the equations of their programs
    rename_variables      a copy with variables of its own
    eliminate_dead_code   no equation whose results nobody reads
    prune                 some of the results, with the arguments that they need

Nothing here knows a primitive.  What the programs inside equations are is said by `programs`; how an equation becomes
smaller when some of its results are not read, by its primitive's `dce` rule:

    dce(used_outputs, eqn) -> (used_inputs, eqn or None)
"""

from collections.abc import Sequence

from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, convert_constvars_jaxpr
from onax._core.lists import select
from onax._core.programs import called_program, programs
from onax._ground import source

# In the cache of a program that is the body of a library function: (its name, its static arguments).
LIBRARY_CALL = "library call"


def close(jaxpr, invars, outvars, eqns=None):
    """The closed program of these arguments, results and (if given) equations, with the constants of `jaxpr`."""
    effects = jaxpr.effects if eqns is None else None
    eqns = jaxpr.eqns if eqns is None else eqns
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, outvars, eqns, effects, jaxpr.debug_info), jaxpr.consts)


def map_equations(jaxpr, function):
    """The closed program with each equation replaced by the equations `function(eqn)`, a sequence."""
    return close(jaxpr, jaxpr.invars, jaxpr.outvars, [new for eqn in jaxpr.eqns for new in function(eqn)])


def inline(jaxpr, callee=called_program):
    """The closed program in which calls at any depth are replaced by the equations of their programs.

    `callee(eqn)` is the program that replaces an equation, or None for one that stays.  The program keeps its own
    variables; those of a callee, which may be called twice, are new.  Constants of callees become constants.
    """
    eqns, constants = [], dict(zip(jaxpr.constvars, jaxpr.consts))
    outvars = _inline_into(eqns, constants, jaxpr, {}, callee)
    open_jaxpr = Jaxpr(constants, jaxpr.invars, outvars, eqns, jaxpr.effects, jaxpr.debug_info)
    return ClosedJaxpr(open_jaxpr, constants.values())


def _inline_into(eqns, constants, body, env, callee, outermost=True, location=None):
    """Appends the equations of a program whose variables are renamed by `env`; returns its results.

    Equations of library functions, which have no source location, take that of the call: `location`; others are within
    the scopes of the call, too.
    """
    read = lambda atom: atom if type(atom) is Literal else env.get(atom, atom)
    for eqn in body.eqns:
        operands = [read(a) for a in eqn.invars]
        program = callee(eqn)
        source_info = source.called_at(eqn.source_info, location)
        if program is not None:
            names = dict(zip(program.invars, operands))
            names.update((v, Var(v.aval)) for v in program.constvars)
            constants.update((names[v], c) for v, c in zip(program.constvars, program.consts))
            results = _inline_into(eqns, constants, program, names, callee, False, source_info)
            env.update(zip(eqn.outvars, results))
            continue
        results = eqn.outvars
        if not outermost:
            results = [type(v)(v.aval) for v in eqn.outvars]
            env.update(zip(eqn.outvars, results))
        eqns.append(eqn.replace(invars=operands, outvars=results, source_info=source_info))
    return [read(a) for a in body.outvars]


def rename_variables(jaxpr):
    """A closed copy with arguments and results of equations of its own."""
    names = {v: Var(v.aval) for v in jaxpr.invars}
    names.update((v, Var(v.aval)) for eqn in jaxpr.eqns for v in eqn.outvars)
    rename = lambda atoms: [a if type(a) is Literal else names.get(a, a) for a in atoms]
    eqns = [eqn.replace(invars=rename(eqn.invars), outvars=rename(eqn.outvars)) for eqn in jaxpr.eqns]
    return close(jaxpr, rename(jaxpr.invars), rename(jaxpr.outvars), eqns)


# ---- dead code


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False, bodies: bool = True
) -> tuple[Jaxpr, list[bool]]:
    """Returns a program without what some results do not need.

    Equations with effects stay, and so do all constants.

    Args:
      jaxpr: a Jaxpr.
      used_outputs: a bool, or one for each result.
      instantiate: a bool, or one for each argument: keeps it in any case.  Default False.
      bodies: True (the default): equations become smaller too, inside of their programs.

    Returns:
      (open jaxpr, for each argument whether it is needed).

    Examples:
      >>> program = onax.make_jaxpr(lambda x, y: (jnp.sin(x), y))(1.0, 2.0)
      >>> onax.interpreters.partial_eval.dce_jaxpr(program.jaxpr, [False, True])
      ({ lambda ; a:f32[]. let  in (a,) }, [False, True])
    """
    used_outputs = flags_of(used_outputs, len(jaxpr.outvars))
    live = _variables(select(jaxpr.outvars, used_outputs))
    live_eqns = []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        if not eqn.effects and not any(used):
            continue
        operands = eqn.invars
        if bodies and eqn.primitive.dce is not None:
            flags, new = eqn.primitive.dce(used, eqn)
            operands = select(operands, flags)
            eqn = new
        if eqn is not None:
            live_eqns.append(eqn)
        live |= _variables(operands)
    live_eqns.reverse()
    keep = flags_of(instantiate, len(jaxpr.invars))
    used_inputs = [flag or v in live for v, flag in zip(jaxpr.invars, keep)]
    invars, outvars = select(jaxpr.invars, used_inputs), select(jaxpr.outvars, used_outputs)
    return Jaxpr(jaxpr.constvars, invars, outvars, live_eqns, None, jaxpr.debug_info), used_inputs


def dce_jaxpr_consts(
    jaxpr: Jaxpr, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool], list[bool]]:
    """Returns a program without what some results do not need, constants included.

    Args:
      jaxpr: a Jaxpr.
      used_outputs: a bool, or one for each result.
      instantiate: a bool, or one for each argument: keeps it in any case.  Default False.

    Returns:
      (open jaxpr, for each constant whether it is needed, for each argument whether it is needed).

    Examples:
      >>> program = onax.make_jaxpr(lambda x, y: (jnp.sin(x), y))(1.0, 2.0)
      >>> onax.interpreters.partial_eval.dce_jaxpr_consts(program.jaxpr, [False, True])
      ({ lambda ; a:f32[]. let  in (a,) }, [], [False, True])
    """
    n = len(jaxpr.constvars)
    keep = [False] * n + flags_of(instantiate, len(jaxpr.invars))
    pruned, used = dce_jaxpr(convert_constvars_jaxpr(jaxpr), used_outputs, keep)
    constvars = select(jaxpr.constvars, used[:n])
    invars = pruned.invars[len(constvars) :]
    return Jaxpr(constvars, invars, pruned.outvars, pruned.eqns, None, jaxpr.debug_info), used[:n], used[n:]


def _variables(atoms):
    return {a for a in atoms if type(a) is not Literal}


def flags_of(value, count):
    """A list of `count` flags from one flag for all, or from as many."""
    flags = [value] * count if isinstance(value, bool) else list(value)
    if len(flags) != count:
        raise ValueError(f"expected {count} flags, got {len(flags)}")
    return flags


def eliminate_dead_code(jaxpr, bodies=True):
    """The closed program without equations whose results nobody reads and that have no effect, nor their constants.

    It keeps its arguments and results; with `bodies` the programs inside calls, loops and branches become smaller too.
    The program itself where nothing is dead.  The program caches the outcome.
    """
    key = ("live code", bodies)
    if key not in jaxpr.cache:
        pruned, _ = dce_jaxpr(jaxpr, True, True, bodies)
        whole = _same(pruned.eqns, jaxpr.eqns)
        jaxpr.cache[key] = None if whole else _close_over_used(pruned, jaxpr.consts)
    return jaxpr.cache[key] or jaxpr


def prune(jaxpr, used_outputs, instantiate=False):
    """(closed program of the used results and the arguments that they need, for each argument whether it is needed).

    The program itself where all of it is needed.  `instantiate`: as in `dce_jaxpr`.  It is kept with the
    program.
    """
    key = ("pruned", tuple(used_outputs), instantiate if isinstance(instantiate, bool) else tuple(instantiate))
    if key not in jaxpr.cache:
        pruned, used_inputs = dce_jaxpr(jaxpr, used_outputs, instantiate)
        whole = all(used_inputs) and all(used_outputs) and _same(pruned.eqns, jaxpr.eqns)
        new = None if whole else _close_over_used(pruned, jaxpr.consts)
        if new is not None and LIBRARY_CALL in jaxpr.cache and all(used_inputs) and all(used_outputs):
            new.cache[LIBRARY_CALL] = jaxpr.cache[LIBRARY_CALL]
        jaxpr.cache[key] = new, used_inputs
    pruned, used_inputs = jaxpr.cache[key]
    return pruned or jaxpr, used_inputs


def _same(some, others):
    return len(some) == len(others) and all(a is b for a, b in zip(some, others))


def _close_over_used(jaxpr, consts):
    """The open program closed over those of its constants that it reads."""
    used = used_variables(jaxpr)
    constants = [(v, c) for v, c in zip(jaxpr.constvars, consts) if v in used]
    jaxpr.constvars = [v for v, _ in constants]
    return ClosedJaxpr(jaxpr, [c for _, c in constants])


def used_variables(jaxpr):
    """The variables that equations or results of a program read."""
    return _variables(jaxpr.outvars).union(*[_variables(eqn.invars) for eqn in jaxpr.eqns])


def used_inputs(jaxpr):
    """For each argument whether any equation or result reads it."""
    used = used_variables(jaxpr)
    return [v in used for v in jaxpr.invars]


def dce_call(used_outputs, eqn):
    """The `dce` rule of calls: a call with the used results and the operands that they need."""
    description = programs[eqn.primitive]
    program = eqn.params[description.parameter]
    pruned, used_inputs = prune(program, used_outputs)
    if not any(used_outputs) and not pruned.effects:
        return [False] * len(eqn.invars), None
    if pruned is program:
        return used_inputs, eqn
    return used_inputs, eqn.replace(
        invars=select(eqn.invars, used_inputs),
        outvars=select(eqn.outvars, used_outputs),
        params=description.with_program(eqn.params, pruned, used_inputs, used_outputs),
        effects=pruned.effects,
    )
