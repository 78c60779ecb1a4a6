"""Constants that are made while a function is staged: tracers, which stand in the program as literals or constants."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
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
