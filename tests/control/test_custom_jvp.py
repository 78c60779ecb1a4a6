"""custom_jvp: its rule is used in every transformation, and its errors."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp


@jax.custom_jvp
def cube(x):
    return x**3


@cube.defjvp
def _cube_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return cube(x), 100.0 * t  # recognisably not the true derivative


WAYS = {
    "grad": lambda: jax.grad(cube)(2.0),
    "jit(grad)": lambda: jax.jit(jax.grad(cube))(2.0),
    "grad(jit)": lambda: jax.grad(jax.jit(cube))(2.0),
    "jvp": lambda: jax.jvp(cube, (2.0,), (1.0,))[1],
    "vmap(grad)": lambda: jax.vmap(jax.grad(cube))(jnp.ones(2))[0],
    "grad(vmap)": lambda: jax.grad(lambda x: jax.vmap(cube)(x).sum())(jnp.ones(2))[0],
    "jit(grad(vmap))": lambda: jax.jit(jax.grad(lambda x: jax.vmap(cube)(x).sum()))(jnp.ones(2))[0],
    "grad(jit(vmap))": lambda: jax.grad(lambda x: jax.jit(jax.vmap(cube))(x).sum())(jnp.ones(2))[0],
    "jacfwd": lambda: jax.jacfwd(cube)(2.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_rule_is_used(way):
    assert float(WAYS[way]()) == 100.0


def test_the_function_itself_is_unchanged():
    for f in (cube, jax.jit(cube), jax.vmap(cube)):
        np.testing.assert_array_equal(np.asarray(f(jnp.arange(3.0))), [0, 1, 8])


def test_defjvps_sums_and_none_means_no_derivative():
    @jax.custom_jvp
    def f(x, y):
        return x * y

    f.defjvps(lambda t, out, x, y: 10.0 * t, None)
    gx, gy = jax.grad(f, argnums=(0, 1))(2.0, 3.0)
    assert (float(gx), float(gy)) == (10.0, 0.0)


@pytest.mark.parametrize("rules", [[None], [None] * 3])
def test_defjvps_takes_a_rule_for_each_argument(rules):
    f = jax.custom_jvp(lambda x, y: x * y)
    f.defjvps(*rules)
    lengths = f"argument 1 has length {len(rules)} but argument 0 has length 2. All lengths: (2, {len(rules)})"
    with pytest.raises(ValueError, match=re.escape(lengths)):
        jax.grad(f)(2.0, 3.0)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_arguments_without_derivative_have_gradient_0(way):
    f = jax.custom_jvp(lambda n, x: n * x, nondiff_argnums=(0,))

    @f.defjvp
    def rule(n, primals, tangents):
        return f(n, *primals), 7.0 * tangents[0]

    assert [float(g) for g in way(jax.grad(f, argnums=(0, 1)))(2.0, 3.0)] == [0.0, 7.0]
    assert [float(x) for x in way(lambda *xs: jax.jvp(f, xs, xs))(1.0, 1.0)] == [1.0, 7.0]
    assert jax.vmap(jax.grad(f))(jnp.ones(2), jnp.ones(2)).tolist() == [0.0, 0.0]
    printed = str(jax.make_jaxpr(f)(2.0, 3.0))
    assert "stop_gradient a" in printed and "num_consts=1" in printed


def test_nondiff_argnums_come_first():
    calls = []

    def f(g, x):
        return g(x)

    f = jax.custom_jvp(f, nondiff_argnums=(0,))

    @f.defjvp
    def rule(g, primals, tangents):
        calls.append(g)
        return g(primals[0]), 5.0 * tangents[0]

    assert float(jax.grad(lambda x: f(jnp.sin, x))(1.0)) == 5.0
    assert calls == [jnp.sin]


def test_symbolic_zeros_reach_the_rule():
    seen = []

    @jax.custom_jvp
    def f(x, y):
        return x * y

    def rule(primals, tangents):
        seen.extend(type(t).__name__ for t in tangents)
        return f(*primals), tangents[0]

    f.defjvp(rule, symbolic_zeros=True)
    assert float(jax.grad(f)(2.0, 3.0)) == 1.0
    assert "SymbolicZero" in seen


@pytest.mark.parametrize("map_", [jax.vmap, lambda f: jax.vmap(jax.jit(f)), lambda f: jax.jit(jax.vmap(f))])
def test_symbolic_zeros_of_mapped_calls(map_):
    """The rule of one example gets zeros of its shape, and may return some."""
    seen = []

    @jax.custom_jvp
    def f(x, y):
        return x * y, x

    def rule(primals, tangents):
        seen.append([type(t).__name__ for t in tangents] + [tangents[1].shape])
        return f(*primals), (tangents[0], jax.custom_derivatives.zero_from_primal(primals[0], symbolic_zeros=True))

    f.defjvp(rule, symbolic_zeros=True)
    y = jnp.ones((3, 2))
    _, tangents = jax.jvp(lambda x: map_(f)(x, y), (2 * y,), (3 * y,))
    assert seen[0][1:] == ["SymbolicZero", (2,)]
    assert tangents[0].tolist() == (3 * y).tolist() and not tangents[1].any() and tangents[1].shape == (3, 2)


ERRORS = {
    "no rule": (lambda f: f(1.0), AttributeError, "No JVP defined"),
    "not a pair": (lambda f: (f.defjvp(lambda p, t: 1.0), jax.grad(f)(1.0)), TypeError, "must produce a pair"),
    "trees": (
        lambda f: (f.defjvp(lambda p, t: (p[0], (t[0],))), jax.grad(f)(1.0)),
        TypeError,
        "with equal container (pytree) structures",
    ),
    "shapes": (
        lambda f: (f.defjvp(lambda p, t: (p[0], jnp.ones(2))), jax.grad(f)(1.0)),
        TypeError,
        "corresponding shapes and dtypes",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call(jax.custom_jvp(lambda x: x * 2))
    assert text in str(caught.value)
