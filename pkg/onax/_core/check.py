"""Checks that a jaxpr is well formed: each variable is bound once and before its use, and types agree with the
rules."""

from onax._core.jaxpr import DropVar, Jaxpr, Literal, effects_of, jaxprs_in_params
from onax._ground.errors import JaxprTypeError
from onax._native.avals import ShapedArray


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
        _bind(var, bound, "argument")
    for eqn in jaxpr.eqns:
        for atom in eqn.invars:
            _read(atom, bound, eqn)
        _check_eqn(eqn)
        for var in eqn.outvars:
            if type(var) is not DropVar:
                _bind(var, bound, f"result of {eqn.primitive.name}")
    for atom in jaxpr.outvars:
        _read(atom, bound, None)


def _bind(var, bound, what):
    if var in bound:
        raise JaxprTypeError(f"the {what} {var!r} is bound twice")
    bound.add(var)


def _read(atom, bound, eqn):
    if type(atom) is not Literal and atom not in bound:
        where = "as a result" if eqn is None else f"in {eqn.primitive.name}"
        raise JaxprTypeError(f"the variable {atom!r} is used {where} before it is bound")


def _check_eqn(eqn):
    for inner in jaxprs_in_params(eqn.params):
        check_jaxpr(inner)
    out_avals, effects = abstract_results(eqn.primitive, [a.aval for a in eqn.invars], eqn.params)
    if effects != eqn.effects:
        raise JaxprTypeError(f"{eqn.primitive.name} has effects {effects}, its equation says {eqn.effects}")
    if len(out_avals) != len(eqn.outvars):
        raise JaxprTypeError(
            f"{eqn.primitive.name} has {len(out_avals)} results, its equation binds {len(eqn.outvars)}"
        )
    for aval, var in zip(out_avals, eqn.outvars):
        if _shape_and_dtype(aval) != _shape_and_dtype(var.aval):
            raise JaxprTypeError(
                f"{eqn.primitive.name} gives {aval.str_short()}, its equation binds {var.aval.str_short()}"
            )


def _shape_and_dtype(aval):
    """The type without what follows from the context: weak type, and the mesh axes over which values vary."""
    aval = aval.strip_weak_type()
    return aval.update(varying=frozenset()) if isinstance(aval, ShapedArray) else aval


def abstract_results(primitive, avals, params):
    """(result avals as a list, effects) of a primitive on the given types."""
    out, effects = primitive.abstract(*avals, **params)
    return (list(out), effects_of(effects, params)) if primitive.multiple_results else ([out], effects)
