"""Programs that are not well formed are found."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax._core import jaxpr as core
from onax._core.check import check_jaxpr
from onax._core.effects import DebugEffect
from onax.errors import JaxprTypeError


def test_check_finds_unbound_and_rebound_variables():
    closed = jax.make_jaxpr(lambda x: jnp.sin(jnp.cos(x)))(1.0)
    check_jaxpr(closed)
    first, second = closed.eqns
    with pytest.raises(JaxprTypeError, match="before it is bound"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, [second, first]))
    with pytest.raises(JaxprTypeError, match="bound twice"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, [first, first, second]))
    wrong = second.replace(outvars=[core.Var(jnp.ones(2).aval)])
    with pytest.raises(JaxprTypeError, match="its equation binds"):
        check_jaxpr(core.Jaxpr((), closed.invars, wrong.outvars, [first, wrong]))


def changed(closed, eqn, **fields):
    """The program with one other equation."""
    eqns = [e.replace(**fields) if e is eqn else e for e in closed.eqns]
    return core.Jaxpr((), closed.invars, closed.outvars, eqns)


def test_effects_and_numbers_of_results_must_be_those_of_the_rules():
    closed = jax.make_jaxpr(lambda x: jnp.sin(x) + 1)(1.0)
    sin = closed.eqns[0]
    with pytest.raises(JaxprTypeError, match=r"sin has effects frozenset\(\), its equation says"):
        check_jaxpr(changed(closed, sin, effects=frozenset({DebugEffect()})))
    with pytest.raises(JaxprTypeError, match="sin has 1 results, its equation binds 2"):
        check_jaxpr(changed(closed, sin, outvars=[*sin.outvars, core.Var(sin.outvars[0].aval)]))


def test_programs_in_equations_are_checked():
    closed = jax.make_jaxpr(lambda x: jax.lax.scan(lambda c, y: (jnp.sin(c) * y, None), x[0], x)[0])(jnp.ones(3))
    check_jaxpr(closed)
    scan = next(e for e in closed.eqns if e.primitive.name == "scan")
    body = scan.params["jaxpr"]
    broken = core.ClosedJaxpr(core.Jaxpr((), body.invars, body.outvars, body.eqns[::-1]), ())
    with pytest.raises(JaxprTypeError, match="before it is bound"):
        check_jaxpr(changed(closed, scan, params={**scan.params, "jaxpr": broken}))


def test_results_must_be_bound_and_programs_be_programs():
    closed = jax.make_jaxpr(jnp.sin)(1.0)
    with pytest.raises(JaxprTypeError, match="is used as a result before it is bound"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, []))
    with pytest.raises(TypeError, match="expected a jaxpr"):
        check_jaxpr(closed.eqns[0])
