"""Staging: programs of functions, and constants that are made meanwhile (tracers; literals or constants)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.evaluate import jaxpr_as_fun
from onax._transforms.staging import derive_jaxpr, hoist_tracers, instantiate_results, trace_to_jaxpr
from onax.core import Tracer

MADE = {
    "a list": (lambda: jnp.array([1.0, 2.0]), True),
    "a number": (lambda: jnp.asarray(3), True),
    "a NumPy array": (lambda: jnp.asarray(np.arange(3)), True),
    "a NumPy scalar": (lambda: jnp.array(np.float32(2)), True),
    "an array as it is": (lambda: jnp.asarray(ONES), False),
    "a copy": (lambda: jnp.array(ONES), True),
    "another dtype": (lambda: jnp.asarray(ONES, dtype=int), True),
}
ONES = jnp.ones(2)
UNDER = {
    "jit": lambda f: jax.jit(f)(1.0),
    "grad of jit": lambda f: jax.grad(jax.jit(f))(1.0),
    "jit of grad": lambda f: jax.jit(jax.grad(f))(1.0),
    "jit of vmap": lambda f: jax.jit(jax.vmap(f))(ONES),
}


@pytest.mark.parametrize("under", UNDER)
@pytest.mark.parametrize("name", MADE)
def test_whether_it_is_traced(name, under):
    make, traced = MADE[name]
    found = []
    UNDER[under](lambda x: (found.append(isinstance(make(), Tracer)), x)[1])
    assert found == [traced]


@pytest.mark.parametrize("transform", [jax.grad, lambda f: lambda x: jax.vmap(f)(x[None]), lambda f: f])
def test_it_is_not_without_staging(transform):
    found = []
    transform(lambda x: (found.append(isinstance(jnp.array([1.0]), Tracer)), x)[1])(jnp.float32(1))
    assert found == [False]


PROGRAMS = {
    "{ lambda ; . let  in (3:i32[],) }": lambda: jnp.array(3),
    "{ lambda ; . let  in (2:i32[], 2.5:bf16[]) }": lambda: (jnp.array(2.5).astype(int), jnp.array(2.5, jnp.bfloat16)),
    "{ lambda a:f32[2]; . let  in (a,) }": lambda: jnp.array([1.0, 2.0]),
}


@pytest.mark.parametrize("text", PROGRAMS)
def test_how_it_stands_in_a_program(text):
    assert str(jax.make_jaxpr(PROGRAMS[text])()) == text


def test_its_value_is_not_known():
    with pytest.raises(jax.errors.ConcretizationTypeError, match="while tracing the function"):
        jax.jit(lambda: jnp.zeros(int(jnp.array(3))))()
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(lambda: 1 if jnp.array(True) else 2)()


TABLE = jnp.ones(3)


@pytest.mark.parametrize(
    "make, operations, more",
    [
        (lambda: jnp.add(1, 1), ["add 1:i32[] 1:i32[]", "gt b 0:i32[]"], False),
        (lambda: (jnp.sin(TABLE) * TABLE)[0], ["sin b", "mul b c", "gt b 0.0:f32[]"], False),
        (lambda: sum(jnp.add(1, 1) for _ in range(6)), ["add 0:i32[] b", *4 * ["add 1:i32[] 1:i32[]"]], True),
    ],
    ids=["literals", "constants", "many"],
)
def test_errors_list_the_operations_that_made_a_value(make, operations, more):
    with pytest.raises(jax.errors.TracerBoolConversionError, match="became a tracer due to JAX operations") as caught:
        jax.jit(lambda: 1 if make() > 0 else 2)()
    text = str(caught.value)
    found = [line.split(" = ")[1] for line in text.splitlines() if line.startswith("  operation ")]
    assert sorted(found) == sorted(operations)
    assert ("(Additional originating lines are not shown.)" in text) == more
    assert text.count(f"from line {__file__}:") == len(operations)


# ---- programs


def test_equal_constants_are_one_and_unused_ones_go():
    table = jnp.arange(3.0)
    jaxpr = jax.make_jaxpr(lambda x: (x + table) * table + (jnp.arange(5.0), 0)[1])(1.0)
    assert len(jaxpr.consts) == 1 and jaxpr.consts[0] is table


def test_conversions_of_literals_are_made_at_once():
    jaxpr = jax.make_jaxpr(lambda x: x + jnp.asarray(2).astype(jnp.float32))(np.float32(1))
    assert [e.primitive.name for e in jaxpr.eqns] == ["add"]


def test_results_that_nobody_reads_are_dropped():
    jaxpr = jax.make_jaxpr(lambda x: jnp.frexp(x)[0])(1.0)
    assert "_:i32[]" in str(jaxpr) or len(jaxpr.eqns[-1].outvars) == 1
    jaxpr = jax.make_jaxpr(lambda x: jax.lax.sort((x, x), num_keys=1)[0])(ONES)
    assert [type(v).__name__ for v in jaxpr.eqns[0].outvars] == ["Var", "DropVar"]


def test_tracers_of_enclosing_traces_are_hoisted():
    kept = []

    def outer(x):
        closed = trace_to_jaxpr(lambda y: [y * x + ONES], [ONES.aval])
        kept.append(hoist_tracers(closed))
        return x

    jax.make_jaxpr(outer)(1.0)
    jaxpr, hoisted = kept[0]
    assert len(hoisted) == 1 and isinstance(hoisted[0], Tracer) and len(jaxpr.invars) == 2 and len(jaxpr.consts) == 1
    plain = jax.make_jaxpr(jnp.sin)(1.0)
    assert hoist_tracers(plain) == (plain, [])


def test_missing_results_are_zeros():
    jaxpr = jax.make_jaxpr(lambda x: x + 1)(ONES)
    both = instantiate_results(jaxpr, [False, True], [ONES.aval, ONES.aval])
    assert [out.tolist() for out in jaxpr_as_fun(both)(ONES)] == [[0.0, 0.0], [2.0, 2.0]]
    assert instantiate_results(jaxpr, [True], [ONES.aval]) is jaxpr


def test_operands_that_are_no_arrays_are_named():
    with pytest.raises(TypeError, match="is of type <class 'str'> and was passed to sin at position 0"):
        jax.make_jaxpr(lambda x: (jax.lax.sin_p.bind("a"), x)[1])(1.0)


def test_derived_programs_share_no_caller():
    jaxpr = jax.make_jaxpr(jnp.sin)(1.0)
    derived = derive_jaxpr(lambda x: [jnp.cos(x)], jaxpr.in_avals, jaxpr)
    assert derived.debug_info is jaxpr.debug_info and not any(e.source_info for e in derived.eqns)
