"""Checks that a jaxpr is well formed: each variable is bound once and before its use, and types agree with the
rules."""

from onax._core.jaxpr import DropVar, Jaxpr, Literal, effects_of, jaxprs_in_params
from onax._core.printing import printed_name
from onax._core.programs import called_program
from onax._core.slots import Slot
from onax._ground.errors import JaxprTypeError
from onax._native.avals import ShapedArray

equation_checks = Slot(
    "equation_check",
    "rule(eqn), which raises JaxprTypeError",
    "The rule of the types alone says which parameters and operands are wrong.",
    "onax._control",
)


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
    bound = set()
    for var in (*jaxpr.constvars, *jaxpr.invars):
        _bind(var, bound, jaxpr)
    for eqn in jaxpr.eqns:
        for atom in eqn.invars:
            _read(atom, bound, jaxpr)
        _check_eqn(eqn, jaxpr)
        for var in eqn.outvars:
            if type(var) is not DropVar:
                _bind(var, bound, jaxpr)
    for atom in jaxpr.outvars:
        _read(atom, bound, jaxpr)


def _bind(var, bound, jaxpr):
    if var in bound:
        raise JaxprTypeError(f"Variable '{printed_name(var, jaxpr)}' already bound")
    bound.add(var)


def _read(atom, bound, jaxpr):
    if type(atom) is not Literal and atom not in bound:
        raise JaxprTypeError(f"Variable '{printed_name(atom, jaxpr)}' not defined")


def _check_eqn(eqn, jaxpr):
    check = equation_checks.get(eqn.primitive)
    if check is not None:
        check(eqn)
    for inner in jaxprs_in_params(eqn.params):
        check_jaxpr(inner)
    called = called_program(eqn)
    if called is not None:
        _check_operands(eqn, called)
    out_avals, effects = abstract_results(eqn.primitive, [a.aval for a in eqn.invars], eqn.params)
    if effects != eqn.effects:
        raise JaxprTypeError(
            "Inferred effects do not match equation effects. "
            f"Equation effects: {eqn.effects}. Inferred effects: {effects}"
        )
    if len(out_avals) != len(eqn.outvars):
        raise JaxprTypeError(
            f"{eqn.primitive.name} has {len(out_avals)} results, its equation binds {len(eqn.outvars)}"
        )
    for aval, var in zip(out_avals, eqn.outvars):
        if _without_context(aval) != _without_context(var.aval):
            found, bound = (a.str_short(short_dtypes=True) for a in (aval, var.aval))
            raise JaxprTypeError(
                f"Value for variable '{printed_name(var, jaxpr)}' inconsistently typed as {found} "
                f"for let-binder of type {bound}"
            )


def _check_operands(eqn, program):
    name, wanted = eqn.primitive.name, program.in_avals
    if len(eqn.invars) != len(wanted):
        raise JaxprTypeError(
            f"Call primitive {name} with {len(eqn.invars)} operands cannot call jaxpr with {len(wanted)} inputs"
        )
    for atom, aval in zip(eqn.invars, wanted):
        if not have_equal_types([atom.aval], [aval]):
            raise JaxprTypeError(
                f"Call primitive {name} passes operand {atom} of type {atom.aval} to jaxpr expecting type {aval}"
            )


def _without_context(aval):
    """The type without what follows from the context: weak type, and the mesh axes over which values vary."""
    aval = aval.strip_weak_type()
    return aval.update(varying=frozenset()) if isinstance(aval, ShapedArray) else aval


# ---- for rules of `equation_checks` ----


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


def have_equal_types(avals, others):
    """Whether two lists of types are equal but for weak types and for where values lie."""
    return len(avals) == len(others) and all(map(_are_equal, avals, others))


def _are_equal(a, b):
    if isinstance(a, ShapedArray) and isinstance(b, ShapedArray):
        return a.shape == b.shape and a.dtype == b.dtype
    return a == b


def short_types(avals):
    """Types in a row, as messages name them."""
    return " ".join(a.str_short() for a in avals)


def abstract_results(primitive, avals, params):
    """(result avals as a list, effects) of a primitive on the given types."""
    out, effects = primitive.abstract(*avals, **params)
    return (list(out), effects_of(effects, params)) if primitive.multiple_results else ([out], effects)
