"""Calls of staged functions as equations: transformations keep the call, printing, library functions with a name."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import names
from onax._control.jit_call import TRANSFORMED_CALLS, call_params, clear_staged_programs, jit_p, staged
from onax._core.rewrite import eliminate_dead_code

X = jnp.arange(1.0, 4.0)


@jax.jit
def f(x, y):
    return jnp.sin(x) * y, y + 1


KEPT = {  # transformed function, how many calls there are, the operations of their programs
    "vmap": (jax.vmap(f), [["sin", "mul", "add"]]),
    "jvp": (lambda x, y: jax.jvp(f, (x, y), (x, y)), None),
    "grad": (lambda x, y: jax.grad(lambda v: f(v, y)[0].sum())(x), None),
    "dead results": (lambda x, y: f(x, y)[1], [["add"]]),
}


@pytest.mark.parametrize("name", KEPT)
def test_transformations_keep_the_call(name):
    function, inside = KEPT[name]
    jaxpr = eliminate_dead_code(jax.make_jaxpr(function)(X, X))
    calls = [eqn for eqn in jaxpr.eqns if eqn.primitive is jit_p]
    assert calls and all(eqn.params["name"] == "f" for eqn in calls)
    assert "sin" not in names(jaxpr)
    assert inside is None or [names(eqn.params["jaxpr"]) for eqn in calls] == inside


def test_residuals_that_are_arguments_do_not_pass_through_the_call():
    jaxpr = jax.make_jaxpr(lambda x, y: jax.vjp(jax.jit(lambda a, b: a * b), x, y)[1](x))(X, X)
    first = next(eqn for eqn in jaxpr.eqns if eqn.primitive is jit_p)
    assert len(first.outvars) == 1  # the product; the residuals are the arguments


def test_inline_writes_the_equations():
    assert names(jax.make_jaxpr(jax.jit(lambda x: jnp.sin(x) + 1, inline=True))(X)) == ["sin", "add"]


def test_inlined_equations_have_the_place_of_the_call():
    @jax.jit(inline=True)
    def callee(x):
        with jax.named_scope("inner"):
            return jnp.sin(x) + 1

    def caller(x):
        with jax.named_scope("outer"):
            return callee(x)

    def caller_of_jit(x):
        return jax.jit(callee, inline=True)(x)

    for function, scopes in ((caller, "outer/inner"), (caller_of_jit, "inner")):
        text = jax.make_jaxpr(function)(X).pretty_print(source_info=True, name_stack=True)
        assert text.count(f"({function.__qualname__})") == 2 and text.count(f"[{scopes}]") == 2, text


def test_parameters_that_are_stated_are_printed():
    body = jax.make_jaxpr(jnp.sin)(X)
    text = lambda **changes: str(jax.make_jaxpr(lambda x: jit_p.bind(x, **call_params(body, "g", **changes)))(X))
    assert "name=g" in text() and "keep_unused" not in text() and "donated_invars" not in text(donated_invars=(False,))
    assert "keep_unused=True" in text(keep_unused=True) and "donated_invars=(True,)" in text(donated_invars=(True,))


# ---- library functions


@staged("shown", static_argnames=("n",))
def power(x, n=2):
    return jnp.prod(jnp.stack([x] * n), 0)


def test_library_functions_are_calls_only_while_staging():
    assert power.static_argnames == {"n"}
    np.testing.assert_array_equal(power(X, n=3), X**3)
    jaxpr = jax.make_jaxpr(lambda x: (power(x), power(x, 3), power(x, n=3)))(X)
    assert [eqn.params["name"] for eqn in jaxpr.eqns] == ["shown"] * 3
    two, three, again = (eqn.params["jaxpr"] for eqn in jaxpr.eqns)
    assert three is not two and names(three) == names(again)
    for got, want in zip(jax.jit(lambda x: (power(x), power(x, 3)))(X), (X**2, X**3)):
        np.testing.assert_array_equal(got, want)


def test_a_program_is_staged_once_for_equal_types_and_statics():
    programs = lambda: [eqn.params["jaxpr"] for eqn in jax.make_jaxpr(lambda x: (power(x), power(2 * x)))(X).eqns[::2]]
    one, two = programs()
    assert one is two
    clear_staged_programs()
    assert programs()[0] is not one


def test_a_closed_over_tracer_is_refused():
    def outer(x):
        @staged()
        def inner(y):
            return x + y

        return inner(1.0)

    with pytest.raises(TypeError, match="inner closes over a value that is being traced; pass it as an argument"):
        jax.make_jaxpr(outer)(X)


@pytest.mark.parametrize("transform", [lambda f: jax.grad(lambda x: f(x).sum()), jax.vmap])
def test_transformed_calls_of_a_library_function_become_calls_of_its_program(transform):
    calls = []

    @staged("twice", ("power",), compiled_from=1)
    def f(x, power=2):
        calls.append(x)
        return jnp.sin(x) * x**power

    x = jnp.arange(3.0)
    results = [np.asarray(transform(f)(x)) for _ in range(TRANSFORMED_CALLS + 5)]
    assert len(calls) == TRANSFORMED_CALLS
    np.testing.assert_allclose(results, [results[0]] * len(results), rtol=1e-6)


def test_static_arguments_without_a_hash_are_no_obstacle_to_a_gradient():
    f = staged("total", ("axes",), compiled_from=1)(lambda x, axes: x.sum(tuple(axes)))
    np.testing.assert_array_equal(jax.grad(lambda x: f(x, axes=[0, 1]))(jnp.ones((2, 3))), np.ones((2, 3)))
