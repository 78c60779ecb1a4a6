"""Values of types that programs define, through every transformation, evaluated and compiled."""

import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._core.hitypes import holds_hitypes
from onax._transforms.lower_hitypes import lower_program
from user_types import Pair, PairSpec, from_number, numbers, pack, part, plus, scale, times, to_number

A = to_number(jnp.float32(3))
P = Pair(jnp.arange(3.0), jnp.arange(3.0) + 1)
ROWS = PairSpec((0, 0))


@onax.custom_jvp
def squared(a):
    return times(a, a)


@squared.defjvp
def _(primals, tangents):
    return squared(*primals), plus(tangents[0], primals[0])


def steps(pair):
    return part(lax.scan(lambda c, x: (scale(c, 2.0), part(x, 0)), pair, pair, length=3)[0], 1)


CASES = {
    "evaluated": (lambda a: times(a, plus(a, a)), (A,), [18.0]),
    "derivative": (onax.grad(lambda a: from_number(times(a, times(a, a)))), (A,), [27.0]),
    "derivative of an array": (onax.grad(lambda x: from_number(times(to_number(x), to_number(x)))), (2.0,), [4.0]),
    "tangents": (lambda a: onax.jvp(lambda x: times(x, x), (a,), (a,)), (A,), [9.0, 18.0]),
    "a rule of the program": (lambda a: onax.jvp(squared, (a,), (a,)), (A,), [9.0, 6.0]),
    "cotangents": (lambda a: onax.vjp(onax.jit(lambda x: times(x, x)), a)[1](a), (A,), [18.0]),
    "linear map": (lambda a: onax.linearize(lambda x: times(x, x), a)[1](a), (A,), [18.0]),
    "branch": (lambda a: lax.cond(from_number(a) > 1, lambda x: times(x, x), lambda x: x, a), (A,), [9.0]),
    "counted loop": (lambda a: lax.fori_loop(0, 3, lambda i, c: plus(c, c), a), (A,), [24.0]),
    "loop": (lambda a: lax.while_loop(lambda c: from_number(c) < 9, lambda c: times(c, c), a), (A,), [9.0]),
    "slices and carry": (steps, (P,), [[8.0, 16.0, 24.0]]),
    "stacked": (
        lambda x: lax.scan(lambda c, x: (c, pack(x, 2 * x)), 0, x)[1],
        (jnp.arange(3.0),),
        [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]],
    ),
    "mapped": (
        onax.vmap(lambda p: part(p, 0) + part(p, 1), in_axes=ROWS, axis_size=3),
        (P,),
        [[1.0, 3.0, 5.0]],
    ),
    "mapped inside": (onax.vmap(lambda x: part(pack(x, 2 * x), 1)), (jnp.arange(3.0),), [[0.0, 2.0, 4.0]]),
    "derivative of a pair": (
        onax.grad(lambda p: part(p, 0) * part(p, 1)),
        (Pair(jnp.float32(2), jnp.float32(3)),),
        [3.0, 2.0],
    ),
}


@pytest.mark.parametrize("decorate", [lambda f: f, onax.jit], ids=["evaluated", "compiled"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, decorate):
    fun, args, expected = CASES[name]
    assert numbers(decorate(fun)(*args)) == expected


ERRORS = {
    "an attribute of the values": (lambda: onax.jit(lambda a: a.value)(A), AttributeError, "has no attribute value"),
    "a traced array in a value": (
        lambda: onax.jit(lambda x: Pair(x, x))(1.0),
        TypeError,
        "No constant handler for type",
    ),
    "no length": (lambda: lax.scan(lambda c, x: (c, ()), 0, P), ValueError, "must provide `length` to `scan`"),
    "an axis": (lambda: onax.vmap(lambda p: p, axis_size=3)(P), ValueError, "non-array type"),
    "another axis": (lambda: onax.vmap(lambda p: p, in_axes=ROWS, axis_size=3)(P), ValueError, "got axis spec 0 but"),
    "branches of examples": (
        lambda: onax.vmap(lambda x: part(lax.cond(x > 1, lambda: pack(x, x), lambda: pack(-x, x)), 0))(jnp.arange(3.0)),
        NotImplementedError,
        "index differs from example to example",
    ),
    "a gradient of no number": (lambda: onax.grad(lambda a: a)(A), TypeError, "Output had abstract value"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


def test_programs_hold_one_variable_for_a_value():
    program = onax.make_jaxpr(lambda a: times(a, a))(A)
    assert str(program) == "{ lambda ; a:num. let b:num = times a a in (b,) }"
    assert holds_hitypes(program) and program.is_high
    lowered = lower_program(program)
    assert str(lowered) == "{ lambda ; a:f32[]. let b:f32[] = mul a a in (b,) }" and not lowered.is_high


def test_ahead_of_time():
    assert numbers(onax.jit(lambda a: times(a, a)).lower(A).compile()(A)) == [9.0]
