"""Arguments of functions with rules of their own: by position, by keyword, without derivative."""

import pytest

import onax as jax

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
