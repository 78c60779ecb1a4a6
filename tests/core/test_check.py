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
    with pytest.raises(JaxprTypeError, match="Variable 'c' not defined"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, [second, first]))
    with pytest.raises(JaxprTypeError, match="Variable 'b' already bound"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, [first, first, second]))
    wrong = second.replace(outvars=[core.Var(jnp.ones(2).aval)])
    with pytest.raises(
        JaxprTypeError, match=r"Value for variable 'c' inconsistently typed as f32\[\] for let-binder of type f32\[2\]"
    ):
        check_jaxpr(core.Jaxpr((), closed.invars, wrong.outvars, [first, wrong]))


def changed(closed, eqn, **fields):
    """The program with one other equation."""
    eqns = [e.replace(**fields) if e is eqn else e for e in closed.eqns]
    return core.Jaxpr((), closed.invars, closed.outvars, eqns)


def test_effects_and_numbers_of_results_must_be_those_of_the_rules():
    closed = jax.make_jaxpr(lambda x: jnp.sin(x) + 1)(1.0)
    sin = closed.eqns[0]
    with pytest.raises(JaxprTypeError, match=r"^Inferred effects do not match equation effects"):
        check_jaxpr(changed(closed, sin, effects=frozenset({DebugEffect()})))
    with pytest.raises(JaxprTypeError, match="sin has 1 results, its equation binds 2"):
        check_jaxpr(changed(closed, sin, outvars=[*sin.outvars, core.Var(sin.outvars[0].aval)]))


def test_programs_in_equations_are_checked():
    closed = jax.make_jaxpr(lambda x: jax.lax.scan(lambda c, y: (jnp.sin(c) * y, None), x[0], x)[0])(jnp.ones(3))
    check_jaxpr(closed)
    scan = next(e for e in closed.eqns if e.primitive.name == "scan")
    body = scan.params["jaxpr"]
    broken = core.ClosedJaxpr(core.Jaxpr((), body.invars, body.outvars, body.eqns[::-1]), ())
    with pytest.raises(JaxprTypeError, match="not defined"):
        check_jaxpr(changed(closed, scan, params={**scan.params, "jaxpr": broken}))


def test_results_must_be_bound_and_programs_be_programs():
    closed = jax.make_jaxpr(jnp.sin)(1.0)
    with pytest.raises(JaxprTypeError, match="not defined"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, []))
    with pytest.raises(TypeError, match="expected a jaxpr"):
        check_jaxpr(closed.eqns[0])


PARAMS = [  # parameters of a scan with the carry f32[2]; the first line of the error
    ({"reverse": 4}, "invalid scan param reverse of type int, bool required: 4"),
    ({"num_consts": -3}, "invalid scan param num_consts of type int, non-negative int required: -3"),
    ({"num_carry": 1.0}, "invalid scan param num_carry of type float, non-negative int required: 1.0"),
    ({"unroll": "two\nlines"}, "invalid scan param unroll of type str, non-negative int required:"),
    ({"length": -1}, "invalid scan param length of type int, non-negative int required: -1"),
    ({"jaxpr": 4}, "invalid scan param jaxpr of type int, ClosedJaxpr required: 4"),
    (
        {"num_carry": 0, "num_consts": 1},
        "Value for variable 'c' inconsistently typed as f32[3,2] for let-binder of type f32[2]",
    ),
    (
        {"jaxpr": jax.make_jaxpr(lambda c, x: (x, x))(jnp.ones(2), 1.0)},
        "scan input carry input and output types mismatch: ",
    ),
    ({"jaxpr": jax.make_jaxpr(lambda c, x: (c, x))(jnp.ones(3), 1.0)}, "scan jaxpr takes input carry types"),
    ({"jaxpr": jax.make_jaxpr(lambda c, x: (c, x))(jnp.ones(2), 1)}, "scan jaxpr takes input sequence types"),
]


@pytest.mark.parametrize("params, message", PARAMS)
def test_parameters_of_a_scan(params, message):
    closed = jax.make_jaxpr(lambda c, xs: jax.lax.scan(lambda c, x: (c * x, c.sum()), c, xs))(jnp.ones(2), jnp.ones(3))
    scan = next(e for e in closed.eqns if e.primitive.name == "scan")
    check_jaxpr(closed)
    with pytest.raises(JaxprTypeError) as info:
        check_jaxpr(changed(closed, scan, params={**scan.params, **params}))
    assert str(info.value).split("\n")[0] == message


SIN = jax.make_jaxpr(jnp.sin)(1.0)
VECTOR = jax.make_jaxpr(jnp.sin)(jnp.ones(3))
FIRST = jax.make_jaxpr(lambda x, y: x)(1.0, 2.0)
BRANCHES = [  # branches of a cond with one float; the error
    ((4, 2), "invalid cond param branches of type tuple, tuple of ClosedJaxpr required: (4, 2)"),
    ((), "cond requires at least one branch function"),
    ((SIN, FIRST), "cond branch 0 takes 1 inputs, branch 1 takes 2"),
    ((SIN, jax.make_jaxpr(lambda x: (x, x))(1.0)), "cond branch 0 outputs 1 values, branch 1 outputs 2"),
    ((SIN, VECTOR), "cond branches 0 and 1 have mismatching input types: float32[] vs float32[3]"),
    (
        (SIN, jax.make_jaxpr(lambda x: 1)(1.0)),
        "cond branches 0 and 1 have mismatching output types: float32[] vs int32[]",
    ),
    ((FIRST, FIRST), "cond called with 1 non-predicate operands, but branches take 2 inputs"),
    ((VECTOR, VECTOR), "cond branches take input types float32[3], called with operands of type float32[]"),
]


@pytest.mark.parametrize("branches, message", BRANCHES)
def test_parameters_of_a_cond(branches, message):
    closed = jax.make_jaxpr(lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos], x))(0, 1.0)
    cond = next(e for e in closed.eqns if e.primitive.name == "cond")
    with pytest.raises(JaxprTypeError) as info:
        check_jaxpr(changed(closed, cond, params={**cond.params, "branches": branches}))
    assert str(info.value).split("\n")[0] == message


def test_operands_of_a_call():
    closed = jax.make_jaxpr(lambda x: jax.jit(jnp.sin)(x) + 1)(1.0)
    for program, message in (
        (VECTOR, r"of type ~?float32\[\] to jaxpr expecting type"),
        (FIRST, "with 1 operands cannot"),
    ):
        with pytest.raises(JaxprTypeError, match=f"^Call primitive jit .*{message}"):
            check_jaxpr(changed(closed, closed.eqns[0], params={**closed.eqns[0].params, "jaxpr": program}))
