"""Checks that a jaxpr is well formed: variables are bound once and before their use, and types agree with the rules."""

from onax._core.jaxpr import DropVar, Jaxpr, Literal, effects_of
from onax._core.printing import names_in, print_eqn, print_part
from onax._core.programs import BRANCH, CALL, CONDITION, CUSTOM_RULE, LOOP, held_programs
from onax._core.slots import Slot
from onax._ground import source
from onax._ground.errors import JaxprTypeError
from onax._native.avals import ShapedArray

equation_checks = Slot(
    "equation_check",
    "rule(eqn), which raises JaxprTypeError by `check_param`",
    "The rule of the types alone says which parameters are wrong.",
    "onax._control",
)

_SHOWN = 10  # equations before and after the wrong one


class _Wrong(Exception):
    """What is wrong: a text, or a function from the names of variables to it."""


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Raises JaxprTypeError unless a program is well formed, the programs in it too.

    Args:
      jaxpr: a Jaxpr.

    Returns:
      None.

    Raises:
      TypeError: the argument is no Jaxpr.

    Examples:
      >>> onax.extend.core.check_jaxpr(onax.make_jaxpr(jnp.sin)(1.0).jaxpr)
    """
    if not isinstance(jaxpr, Jaxpr):
        raise TypeError(f"expected a jaxpr, got {type(jaxpr)}")
    position = None  # of the equation that is being checked
    try:
        bound = set()
        for var in (*jaxpr.constvars, *jaxpr.invars):
            _bind(var, bound)
        for position, eqn in enumerate(jaxpr.eqns):  # noqa: B007  it is read where an error is composed
            for atom in eqn.invars:
                _read(atom, bound)
            _check_eqn(eqn)
            for var in eqn.outvars:
                if type(var) is not DropVar:
                    _bind(var, bound)
        position = None
        for atom in jaxpr.outvars:
            _read(atom, bound)
    except (_Wrong, JaxprTypeError) as error:
        raise JaxprTypeError(_text(error, jaxpr, position)) from None


def _text(error, jaxpr, position):
    """The text of an error: what is wrong, the equation, and the part of the program about it."""
    names = names_in(jaxpr)
    if isinstance(error, JaxprTypeError):  # of a program in the equation
        lines = [error.message]
    else:
        (fault,) = error.args
        lines = [fault(names) if callable(fault) else fault]
    first, last = 0, 2 * _SHOWN
    if position is not None:
        eqn = jaxpr.eqns[position]
        where = source.summarize(eqn.source_info) if eqn.source_info else ""
        lines += ["in equation:", print_eqn(eqn, names, 2), f"from source: {where}"]
        first, last = position - _SHOWN, position + _SHOWN
    return "\n\n".join([*lines, "while checking jaxpr:", print_part(jaxpr, names, first, last)])


def _bind(var, bound):
    if var in bound:
        raise _Wrong(lambda names: f"Variable '{var.text(names)}' already bound")
    bound.add(var)


def _read(atom, bound):
    if type(atom) is not Literal and atom not in bound:
        raise _Wrong(lambda names: f"Variable '{atom.text(names)}' not defined")


def _check_eqn(eqn):
    check = equation_checks.get(eqn.primitive)
    if check is not None:
        check(eqn)
    held = held_programs(eqn)
    for one in held:
        if one.kind in _CHECKS:
            _CHECKS[one.kind](eqn, one, held[0])
        check_jaxpr(one.program)
    out_avals, effects = abstract_results(eqn.primitive, [a.aval for a in eqn.invars], eqn.params)
    if effects != eqn.effects:
        raise _Wrong(
            f"Inferred effects do not match equation effects. Equation effects: {eqn.effects}. "
            f"Inferred effects: {effects}"
        )
    if len(out_avals) != len(eqn.outvars):
        raise _Wrong(f"{eqn.primitive.name} has {len(out_avals)} results, its equation binds {len(eqn.outvars)}")
    for aval, var in zip(out_avals, eqn.outvars):
        if not _match(aval, var.aval):
            raise _Wrong(
                lambda names, aval=aval, var=var: (
                    f"Value for variable '{var.text(names)}' inconsistently typed as {_short(aval)} for let-binder of "
                    f"type {_short(var.aval)}"
                )
            )


# ---- programs in equations


def _check_call(eqn, held, _):
    given, taken, name = [a.aval for a in eqn.invars], held.program.in_avals, eqn.primitive.name
    if len(given) != len(taken):
        raise _Wrong(f"Call primitive {name} with {len(given)} operands cannot call jaxpr with {len(taken)} inputs")
    for x, aval, wanted in zip(eqn.invars, given, taken):
        if not _match(aval, wanted):
            raise _Wrong(
                lambda names, x=x, aval=aval, wanted=wanted: (
                    f"Call primitive {name} passes operand {x.text(names)} of type {aval} to jaxpr expecting type "
                    f"{wanted}"
                )
            )


def _check_branch(eqn, held, first):
    name = f"{eqn.primitive.name} branch"
    a, b, i = first.program, held.program, held.index
    if len(a.invars) != len(b.invars):
        raise _Wrong(f"{name} 0 takes {len(a.invars)} inputs, branch {i} takes {len(b.invars)}")
    if len(a.outvars) != len(b.outvars):
        raise _Wrong(f"{name} 0 outputs {len(a.outvars)} values, branch {i} outputs {len(b.outvars)}")
    for what, ones, others in ("input", a.in_avals, b.in_avals), ("output", a.out_avals, b.out_avals):
        if not _all_match(ones, others):
            raise _Wrong(f"{name}es 0 and {i} have mismatching {what} types: {_types(ones)} vs {_types(others)}")
    given = [x.aval for x in eqn.invars[1:]]
    if len(given) != len(a.invars):
        raise _Wrong(
            f"{eqn.primitive.name} called with {len(given)} non-predicate operands, but branches take "
            f"{len(a.invars)} inputs"
        )
    if not _all_match(given, a.in_avals):
        raise _Wrong(f"{name}es take input types {_types(a.in_avals)}, called with operands of type {_types(given)}")


def _check_step(eqn, held, _):
    """Checks a step of a loop, or its condition."""
    program, n, fixed = held.program, held.num_consts, held.num_consts + held.num_carry
    name, taken = eqn.primitive.name, program.in_avals
    if held.operands[-1] >= len(eqn.invars) or len(held.operands) != len(taken):
        raise _Wrong(f"{name} jaxpr takes {len(taken)} inputs, called with {len(eqn.invars)} operands")
    given = [eqn.invars[i].aval for i in held.operands]
    carried = program.out_avals[: held.num_carry]
    if held.kind is LOOP and not _all_match(taken[n:fixed], carried):
        types = f"\n{_types(taken[n:fixed])}\nvs\n{_types(carried)}"
        raise _Wrong(f"{name} input carry input and output types mismatch: {types}")
    for part, what, called in (
        (slice(n), "const", "consts of type"),
        (slice(n, fixed), "carry", "initial carry of type"),
    ):
        if not _all_match(taken[part], given[part]):
            raise _not_taken(name, what, taken[part], called, given[part])
    if not all(a.shape and (a.shape[1:], a.dtype) == (b.shape, b.dtype) for a, b in zip(given[fixed:], taken[fixed:])):
        raise _not_taken(name, "sequence", taken[fixed:], "sequences of type", given[fixed:])


def _not_taken(name, what, taken, called, given):
    types = f"{what} types\n{_types(taken)},\ncalled with {called}\n{_types(given)}"
    return _Wrong(f"{name} jaxpr takes input {types}")


_CHECKS = {
    CALL: _check_call, CUSTOM_RULE: _check_call, BRANCH: _check_branch, LOOP: _check_step, CONDITION: _check_step
}  # fmt: skip


def _short(aval):
    return aval.str_short(short_dtypes=True)


def _types(avals):
    return " ".join(a.str_short() for a in avals)


def _all_match(ones, others):
    return len(ones) == len(others) and all(map(_match, ones, others))


def _match(one, other):
    return _shape_and_dtype(one) == _shape_and_dtype(other)


def _shape_and_dtype(aval):
    """The type without what follows from the context: weak type, and the mesh axes over which values vary."""
    aval = aval.strip_weak_type()
    return aval.update(varying=frozenset()) if isinstance(aval, ShapedArray) else aval


# ---- for rules of `equation_checks`


def check_param(eqn, name, required, is_valid):
    """Raises JaxprTypeError for a parameter that is not what the primitive requires."""
    if is_valid:
        return
    value = eqn.params[name]
    text = str(value)
    raise JaxprTypeError(
        f"invalid {eqn.primitive.name} param {name} of type {type(value).__name__}, {required} required:"
        + ("\n" if "\n" in text else " ")
        + text
    )


def is_count(value):
    """Whether a parameter is an int that is not negative."""
    return type(value) is int and value >= 0


def abstract_results(primitive, avals, params):
    """(result avals as a list, effects) of a primitive on the given types."""
    out, effects = primitive.abstract(*avals, **params)
    return (list(out), effects_of(effects, params)) if primitive.multiple_results else ([out], effects)
