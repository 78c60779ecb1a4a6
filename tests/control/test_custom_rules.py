"""Arguments of functions with rules of their own: by position, by keyword, without derivative."""

import functools

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

SIGNATURES = {
    "unknown keyword": (lambda x: x, {"z": 3}, "got an unexpected keyword argument 'z'"),
    "keyword only": (lambda x, *, k=1: x, {"k": 3}, "could not be resolved to positions: k"),
}


@pytest.mark.parametrize("kind", ["custom_jvp", "custom_vjp"])
@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_that_have_no_position(kind, name):
    fun, kwargs, text = SIGNATURES[name]
    f = getattr(jax, kind)(fun)
    f.defjvp(None) if kind == "custom_jvp" else f.defvjp(None, None)
    f.jvp = f.fwd = f.bwd = lambda *_: None
    with pytest.raises(TypeError, match=f"input arguments to the {kind}-decorated function") as caught:
        jax.grad(f)(2.0, **kwargs)
    assert text in str(caught.value)


@pytest.mark.parametrize("which", [{"nondiff_argnums": (1,)}, {"nondiff_argnums": -1}, {"nondiff_argnames": ("n",)}])
def test_arguments_without_derivative_by_position_and_by_name(which):
    which = {k: (v,) if isinstance(v, int) else v for k, v in which.items()}
    f = jax.custom_vjp(lambda x, n: x * n, **which)
    f.defvjp(lambda x, n: (x * n, x), lambda n, r, g: (g * n * 10,))
    assert jax.grad(f)(2.0, n=3) == 30.0
    g = jax.custom_jvp(lambda x, n: x * n, **which)
    g.defjvp(lambda n, primals, tangents: (primals[0] * n, tangents[0] * n * 10))
    assert jax.grad(g)(2.0, 3) == 30.0


PARTIAL = functools.partial(lambda x, y, a: x + y * a, a=0.5)


@pytest.mark.parametrize("kind", ["custom_jvp", "custom_vjp"])
def test_keywords_of_a_partial_stay_its_own(kind):
    f = getattr(jax, kind)(PARTIAL)
    if kind == "custom_jvp":
        f.defjvp(lambda primals, tangents: jax.jvp(PARTIAL, primals, tangents))
    else:
        f.defvjp(lambda x, y: (PARTIAL(x, y), None), lambda _, g: (g, 0.5 * g))
    assert jax.grad(lambda pair: f(*pair))((1.0, 2.0)) == (1.0, 0.5)
    with pytest.raises(TypeError, match="could not be resolved to positions: y"):
        f(1.0, y=2.0)


X = jnp.arange(4.0)


def jvp_of_psum(fun=lambda x: lax.psum(x, "i")):
    f = jax.custom_jvp(fun)
    f.defjvp(lambda p, t: (fun(*p), t[0]))
    return f


def vjp_of_psum(fun=lambda x: lax.psum(x, "i")):
    f = jax.custom_vjp(fun)
    f.defvjp(lambda x: (fun(x), None), lambda _, g: (g,))
    return f


@pytest.mark.parametrize("make", [jvp_of_psum, vjp_of_psum])
def test_results_that_only_an_axis_name_maps_are_not_mapped(make):
    f = jax.jit(make())
    axes = {"in_axes": (0, None), "out_axes": None, "axis_name": "i"}
    assert jax.vmap(lambda _, x: f(x), **axes)(X, 2.0) == 8.0
    assert jax.vmap(lambda _, x: jax.grad(f)(x), **axes)(X, 2.0) == 1.0
    assert jax.grad(lambda x: jax.vmap(lambda _, x: f(x), **axes)(X, x))(2.0) == 1.0


def scanned(f, x):
    return lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0]


def with_jvp(rule):
    f = jax.custom_jvp(named)
    f.defjvp(rule)
    return jax.jvp(lambda x: scanned(f, x), (jnp.float32(1),), (jnp.float32(1),))


def with_vjp(fwd):
    f = jax.custom_vjp(named)
    f.defvjp(fwd, lambda _, g: (g,))
    return jax.grad(lambda x: scanned(f, x))(jnp.float32(1))


def named(x):
    return x


def rule(p, t):
    return (p[0], p[0]), (t[0], t[0])


def long_rule(p, t):
    return jnp.zeros(3), jnp.zeros(3)


def fwd(x):
    return (x, x), None


def long_fwd(x):
    return jnp.zeros(3), None


RESULTS = {
    "jvp, tree": (
        lambda: with_jvp(rule),
        "Custom JVP rule rule for function named must produce a pair (list or tuple of length two) where the first "
        "element represents the primal output (equal in value to the output of the custom_jvp-decorated function "
        "named, and in particular of the same container/pytree structure), but instead the JVP rule output's first "
        "element had container/pytree structure:\n    (float32[], float32[])\nwhile the custom_jvp-decorated function "
        "named had output container/pytree structure:\n    float32[].",
    ),
    "jvp, types": (
        lambda: with_jvp(long_rule),
        "and in particular with leaves of the same shape/dtype), but instead the JVP rule output's first element had "
        "shapes/dtypes of:\n    float32[3]\nwhile the custom_jvp-decorated function named had output shapes/dtypes "
        "of:\n    float32[]",
    ),
    "vjp, tree": (
        lambda: with_vjp(fwd),
        "Custom VJP fwd rule fwd for function named must produce a pair (list or tuple of length two) where the first "
        "element represents the primal output (equal to the output of the custom_vjp-decorated function named) and the "
        "second element represents residuals (i.e. values stored from the forward pass for use on the backward pass), "
        "but instead the fwd rule output's first element had container/pytree structure:\n    (float32[], float32[])\n",
    ),
    "vjp, types": (lambda: with_vjp(long_fwd), "element had shapes/dtypes of:\n    float32[3]\nwhile the custom_vjp-"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_rule_returns_what_the_function_returns(name):
    call, text = RESULTS[name]
    with pytest.raises(TypeError) as caught:
        call()
    assert text in str(caught.value)


def test_functions_with_two_rules_have_the_methods_of_both():
    """As in the documentation of JAX's custom_vmap, and the other way around."""
    inner = jax.custom_batching.custom_vmap(lambda x, y: jnp.sin(x) * y)
    f = jax.custom_vjp(inner)
    assert f.def_vmap(lambda n, batched, x, y: (jnp.cos(x) * y, True)) is inner.vmap_rule
    f.defvjp(lambda x, y: (f(x, y), (jnp.cos(x), jnp.sin(x), y)), lambda r, g: (r[0] * g * r[2], r[1] * g))
    assert jax.vmap(f)(jnp.zeros(3), jnp.ones(3)).tolist() == [1, 1, 1]
    assert jax.grad(f)(jnp.zeros(()), jnp.ones(())) == 1.0
    outer = jax.custom_batching.custom_vmap(jax.custom_jvp(jnp.sin))
    outer.defjvp(lambda p, t: (jnp.sin(*p), 7 * t[0]))
    outer.def_vmap(lambda n, batched, x: (x, True))
    assert jax.jvp(outer, (0.0,), (1.0,))[1] == 7.0
    with pytest.raises(AttributeError, match="has no attribute 'apply'"):
        f.apply()


@pytest.mark.parametrize("kind", [jax.custom_jvp, jax.custom_vjp])
@pytest.mark.parametrize("out", ["a", {"x": [1.0, "a"]}])
def test_results_of_functions_with_rules_are_arrays(kind, out):
    f = kind(lambda x: out)
    f.defjvp(lambda p, t: (p[0], t[0])) if kind is jax.custom_jvp else f.defvjp(lambda x: (x, x), lambda r, ct: (ct,))
    with pytest.raises(TypeError, match="Argument 'a' of type <class 'str'> is not a valid JAX type"):
        f(1.0)
