"""Programs that are not well formed are found; the error shows the equation in its program."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core import jaxpr as core
from onax._core.check import check_jaxpr
from onax._core.effects import DebugEffect
from onax.errors import JaxprTypeError

FLOAT, INT, ROW = jnp.float32(1).aval, jnp.int32(1).aval, jnp.ones(3).aval
ONE = core.Literal(np.int32(1), INT)


def program(f, x=np.float32(1)):
    return jax.make_jaxpr(f)(x)


def other(closed, position, **fields):
    """The program with one other equation."""
    eqns = list(closed.eqns)
    eqns[position] = eqns[position].replace(**fields)
    return core.Jaxpr((), closed.invars, closed.outvars, eqns)


def with_param(closed, position, name, value):
    return other(closed, position, params={**closed.eqns[position].params, name: value})


SUM = program(lambda x: jnp.sin(x) + jnp.cos(x))
SIN, COS, ADD = SUM.eqns
COND = program(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x))
BRANCH = COND.eqns[-1].params["branches"][0]
SCAN = program(lambda x: lax.scan(lambda c, y: (c * y, None), x[0], x)[0], np.ones(3, np.float32))
BODY = SCAN.eqns[-1].params["jaxpr"]
JIT = program(jax.jit(lambda x: jnp.sin(x) + 1))
WHILE = program(lambda x: lax.while_loop(lambda c: c < 3, lambda c: c * 2, x))
UNSORTED = core.ClosedJaxpr(core.Jaxpr((), SUM.invars, SUM.outvars, SUM.eqns[::-1]), ())
SCANNED = SCAN.eqns[-1].invars

WRONG = {
    "another order": (UNSORTED, "Variable 'c' not defined"),
    "bound twice": (other(SUM, 1, outvars=SIN.outvars), "Variable 'b' already bound"),
    "a result that is not made": (SUM.jaxpr.replace(outvars=[core.Var(FLOAT)]), "Variable 'd' not defined"),
    "another type": (
        other(SUM, 0, outvars=[core.Var(INT)]),
        "Value for variable '_' inconsistently typed as f32[] for let-binder of type i32[]",
    ),
    "effects": (
        other(SUM, 0, effects=frozenset({DebugEffect()})),
        "Inferred effects do not match equation effects. Equation effects: ",
    ),
    "number of results": (other(SUM, 2, outvars=[]), "add has 1 results, its equation binds 0"),
    "operands of a call": (
        other(JIT, 0, invars=JIT.invars * 2),
        "Call primitive jit with 2 operands cannot call jaxpr with 1 inputs",
    ),
    "types of a call": (
        other(JIT, 0, invars=[ONE]),
        "Call primitive jit passes operand 1:i32[] of type int32[] to jaxpr expecting type float32[]",
    ),
    "operands of branches": (
        other(COND, -1, invars=COND.eqns[-1].invars[:1]),
        "cond called with 0 non-predicate operands, but branches take 1 inputs",
    ),
    "types of branches": (
        with_param(COND, -1, "branches", (program(lambda x: x, np.int32(1)),) * 2),
        "cond branches take input types int32[], called with operands of type float32[]",
    ),
    "arguments of a branch": (
        with_param(COND, -1, "branches", (BRANCH, SCAN)),
        "cond branches 0 and 1 have mismatching input types: float32[] vs float32[3]",
    ),
    "results of a branch": (
        with_param(COND, -1, "branches", (BRANCH, program(lambda x: (x, x)))),
        "cond branch 0 outputs 1 values, branch 1 outputs 2",
    ),
    "types of results of a branch": (
        with_param(COND, -1, "branches", (BRANCH, program(lambda x: x.astype(int)))),
        "cond branches 0 and 1 have mismatching output types: float32[] vs int32[]",
    ),
    "carry of a loop": (
        with_param(SCAN, -1, "jaxpr", core.ClosedJaxpr(core.Jaxpr((), BODY.invars, [ONE], BODY.eqns), ())),
        "scan input carry input and output types mismatch: \nfloat32[]\nvs\nint32[]",
    ),
    "initial carry": (
        other(SCAN, -1, invars=[ONE, SCANNED[1]]),
        "scan jaxpr takes input carry types\nfloat32[],\ncalled with initial carry of type\nint32[]",
    ),
    "sequence": (
        other(SCAN, -1, invars=[SCANNED[0], SCANNED[0]]),
        "scan jaxpr takes input sequence types\nfloat32[],\ncalled with sequences of type\nfloat32[]",
    ),
    "operands of a loop": (
        other(SCAN, -1, invars=SCANNED[:1]),
        "scan jaxpr takes 2 inputs, called with 1 operands",
    ),
    "carry of a condition": (
        other(WHILE, 0, invars=[ONE]),
        "while jaxpr takes input carry types\nfloat32[],\ncalled with initial carry of type\nint32[]",
    ),
    "reverse": (with_param(SCAN, -1, "reverse", 4), "invalid scan param reverse of type int, bool required: 4"),
    "num_consts": (
        with_param(SCAN, -1, "num_consts", -3),
        "invalid scan param num_consts of type int, non-negative int required: -3",
    ),
    "num_carry": (
        with_param(SCAN, -1, "num_carry", 1.0),
        "invalid scan param num_carry of type float, non-negative int required: 1.0",
    ),
    "unroll": (
        with_param(SCAN, -1, "unroll", "two\nlines"),
        "invalid scan param unroll of type str, non-negative int required:",
    ),
    "length": (
        with_param(SCAN, -1, "length", -1),
        "invalid scan param length of type int, non-negative int required: -1",
    ),
    "no body": (with_param(SCAN, -1, "jaxpr", 4), "invalid scan param jaxpr of type int, ClosedJaxpr required: 4"),
    "branches": (
        with_param(COND, -1, "branches", (4, 2)),
        "invalid cond param branches of type tuple, tuple of ClosedJaxpr required: (4, 2)",
    ),
    "no branches": (with_param(COND, -1, "branches", ()), "cond requires at least one branch function"),
    "in a call": (with_param(JIT, 0, "jaxpr", UNSORTED), "Variable 'c' not defined"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name):
    jaxpr, text = WRONG[name]
    with pytest.raises(JaxprTypeError) as caught:
        check_jaxpr(jaxpr)
    assert str(caught.value).startswith(f"{text}\n" if not text.endswith(" ") else text), str(caught.value)


@pytest.mark.parametrize("closed", [SUM, COND, SCAN, JIT, WHILE])
def test_programs_that_are_well_formed(closed):
    check_jaxpr(closed)


def test_the_equation_in_its_program():
    def long(x):
        for _ in range(30):
            x = x + x
        return x

    closed = program(long)
    with pytest.raises(JaxprTypeError) as caught:
        check_jaxpr(other(closed, 15, invars=[closed.eqns[14].outvars[0], core.Var(FLOAT)]))
    fault, _, equation, place, _, text = caught.value.message.split("\n\n")
    assert fault == "Variable 'r' not defined" and equation == "q:f32[] = add p r"
    assert place.startswith(f"from source: {__file__}:") and place.endswith("long)")
    lines = text.splitlines()
    assert lines[0] == "{ lambda ; a:f32[]. let" and lines[1] == lines[-2] == "    ..." and len(lines) == 24


def test_programs_be_programs():
    with pytest.raises(TypeError, match="expected a jaxpr"):
        check_jaxpr(SIN)
