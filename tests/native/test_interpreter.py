"""JaxprInterpreter: it computes what binding the equations one by one computes, and frees values at last use."""

import gc
import weakref

import numpy as np
import pytest

from onax._core.evaluate import interpreter_of
from onax._core.jaxpr import ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, Var
from onax._native.array import from_user
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._native.interpreter import JaxprInterpreter

AVAL = ShapedArray((2,), np.dtype(np.float32))
SCALAR = ShapedArray((), np.dtype(np.float32))

add_p = Primitive("test_add", kernel=np.add, abstract_eval=lambda x, y: x)
two_p = Primitive("test_two", multiple_results=True, kernel=lambda x: (x + 1, x * 2), abstract_eval=lambda x: (x, x))
call_p = Primitive("test_call", multiple_results=True, abstract_eval=lambda *x, jaxpr: jaxpr.out_avals)
call_p.inline = lambda params: params["jaxpr"]
scale_p = Primitive("test_scale", kernel=lambda x, *, by: x * np.float32(by), abstract_eval=lambda x, by: x)


def variables(n):
    return [Var(AVAL) for _ in range(n)]


def eqn(primitive, invars, outvars, **params):
    return JaxprEqn(invars, outvars, primitive, params)


def array(*values):
    return from_user(np.array(values, np.float32))


def values(results):
    return [np.asarray(r).tolist() for r in results]


def test_chain_with_literals_constants_and_dropped_results():
    c, x, y, s, t, z = variables(6)
    jaxpr = Jaxpr(
        [c],
        [x, y],
        [z, x, Literal(np.float32(7), SCALAR), z],
        [
            eqn(add_p, [x, y], [s]),
            eqn(two_p, [s], [DropVar(AVAL), t]),
            eqn(add_p, [t, c], [s2 := Var(AVAL)]),
            eqn(scale_p, [s2], [z], by=10),
        ],
    )
    out = JaxprInterpreter(jaxpr, Literal).run([array(1, 1)], [array(1, 2), array(3, 4)])
    assert values(out) == [[90, 130], [1, 2], 7, [90, 130]]


@pytest.mark.parametrize("constants", [False, True])
def test_calls_are_entered(constants):
    x, y, k = variables(3)
    inner_in, inner_out = variables(2)
    if constants:
        inner = Jaxpr([k], [inner_in], [inner_out], [eqn(add_p, [inner_in, k], [inner_out])])
        closed = ClosedJaxpr(inner, [array(5, 5)])
    else:
        inner = Jaxpr([], [inner_in], [inner_out], [eqn(add_p, [inner_in, inner_in], [inner_out])])
        closed = ClosedJaxpr(inner, [])
    outer = Jaxpr([], [x], [y], [eqn(call_p, [x], [y], jaxpr=closed)])
    assert values(interpreter_of(outer).run([], [array(1, 2)])) == [[6, 7] if constants else [2, 4]]


def test_wide_programs_leave_the_stack():
    xs, outs = variables(200), variables(200)
    jaxpr = Jaxpr([], xs, outs, [eqn(add_p, [x, xs[0]], [o]) for x, o in zip(xs, outs)])
    out = JaxprInterpreter(jaxpr, Literal).run([], [array(i, i) for i in range(200)])
    assert values(out) == [[i, i] for i in range(200)]


def test_values_die_at_last_use():
    alive = []

    def watched(x):
        alive.append(sum(r() is not None for r in seen))
        out = np.array(x)
        seen.append(weakref.ref(out))
        return out

    seen = []
    watch_p = Primitive("test_watch", kernel=watched, abstract_eval=lambda x: x)
    chain = variables(6)
    eqns = [eqn(watch_p, [a], [b]) for a, b in zip(chain, chain[1:])]
    gc.disable()
    try:
        JaxprInterpreter(Jaxpr([], chain[:1], chain[-1:], eqns), Literal).run([], [array(1, 2)])
    finally:
        gc.enable()
    assert max(alive) <= 1


def test_errors_free_the_slots():
    def broken(x):
        raise ZeroDivisionError("broken")

    broken_p = Primitive("test_broken", kernel=broken)
    x, y, z = variables(3)
    program = JaxprInterpreter(Jaxpr([], [x], [z], [eqn(add_p, [x, x], [y]), eqn(broken_p, [y], [z])]), Literal)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            program.run([], [array(1, 2)])
    with pytest.raises(TypeError, match="takes 1 values, 2 were given"):
        program.run_flat([1, 2])


def evaluate(jaxpr, args):
    """The meaning of a jaxpr of these primitives, in plain Python."""
    env = dict(zip(jaxpr.invars, args))
    for e in jaxpr.eqns:
        found = e.primitive.kernel(*[env[v] for v in e.invars], **e.params)
        env.update(zip(e.outvars, found if e.primitive.multiple_results else [found]))
    return [env[v] for v in jaxpr.outvars]


@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    known, eqns = variables(2), []
    for _ in range(rng.integers(1, 60)):
        operands = [known[i] for i in rng.integers(0, len(known), 2)]
        kind = rng.integers(3)
        if kind == 0:
            eqns.append(eqn(add_p, operands, variables(1)))
        elif kind == 1:
            eqns.append(eqn(two_p, operands[:1], [DropVar(AVAL), *variables(1)] if rng.integers(2) else variables(2)))
        else:
            eqns.append(eqn(scale_p, operands[:1], variables(1), by=0.5))
        known += [v for v in eqns[-1].outvars if type(v) is not DropVar]
    jaxpr = Jaxpr([], known[:2], [known[i] for i in rng.integers(0, len(known), 4)], eqns)
    args = [np.float32(rng.integers(-9, 9, 2)) for _ in range(2)]
    want = evaluate(jaxpr, args)
    assert values(JaxprInterpreter(jaxpr, Literal).run([], [from_user(a) for a in args])) == [w.tolist() for w in want]
