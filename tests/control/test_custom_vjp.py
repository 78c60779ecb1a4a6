"""custom_vjp and checkpoint: rules used in every transformation, values unchanged, errors."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp


def make():
    @jax.custom_vjp
    def f(x, y):
        return x * jnp.sin(y)

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda res, g: (100.0 * g, g * res[0]))  # not the true derivative
    return f


X = jnp.array([1.0, 2.0, 3.0])
WAYS = {
    "grad": lambda f: jax.grad(lambda x: f(x, 2.0))(1.0),
    "jit(grad)": lambda f: jax.jit(jax.grad(lambda x: f(x, 2.0)))(1.0),
    "grad(jit)": lambda f: jax.grad(jax.jit(lambda x: f(x, 2.0)))(1.0),
    "vmap(grad)": lambda f: jax.vmap(jax.grad(f), in_axes=(0, None))(X, 2.0)[1],
    "grad(vmap)": lambda f: jax.grad(lambda x: jax.vmap(f, in_axes=(0, None))(x, 2.0).sum())(X)[0],
    "jit(grad(vmap))": lambda f: jax.jit(jax.grad(lambda x: jax.vmap(f, (0, None))(x, 2.0).sum()))(X)[0],
    "grad(jit(vmap))": lambda f: jax.grad(lambda x: jax.jit(jax.vmap(f, (0, None)))(x, 2.0).sum())(X)[0],
    "inside scan": lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, _: (f(c, 2.0), None), x, None, length=1)[0])(
        1.0
    ),
    "inside cond": lambda f: jax.grad(lambda x: jax.lax.cond(True, lambda v: f(v, 2.0), lambda v: v, x))(1.0),
    "vjp": lambda f: jax.vjp(f, 1.0, 2.0)[1](jnp.float32(1.0))[0],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_rule_is_used(way):
    assert float(WAYS[way](make())) == 100.0


def test_an_argument_that_is_not_mapped_gets_the_sum():
    f = make()
    got = jax.grad(lambda y: jax.vmap(f, in_axes=(0, None))(X, y).sum())(2.0)
    assert float(got) == float(jnp.sum(X))


def test_the_function_itself_is_unchanged():
    f = make()
    for g in (f, jax.jit(f), jax.vmap(f)):
        np.testing.assert_allclose(np.asarray(g(X, X)), np.asarray(X * jnp.sin(X)), rtol=1e-6)


def test_second_derivatives_go_through_the_rules():
    @jax.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (cube(x), x), lambda x, g: (3 * x**2 * g,))
    assert float(jax.grad(jax.grad(cube))(2.0)) == 12.0
    assert float(jax.jit(jax.grad(jax.grad(cube)))(2.0)) == 12.0
    # Forward mode over the forward rule, which calls the function itself, is refused, under vmap too.
    with pytest.raises(TypeError, match="can't apply forward-mode"):
        jax.hessian(cube)(2.0)


def test_nondiff_arguments_none_and_trees():
    def apply(scale, tree):
        return {"out": tree["a"] * scale + tree["b"]}

    f = jax.custom_vjp(apply, nondiff_argnums=(0,))
    f.defvjp(lambda s, t: (apply(s, t), t["a"]), lambda s, res, g: ({"a": g["out"] * s * 10, "b": None},))
    grads = jax.grad(lambda t: f(2.0, t)["out"])({"a": 1.0, "b": 5.0})
    assert (float(grads["a"]), float(grads["b"])) == (20.0, 0.0)


def test_integer_arguments():
    f = jax.custom_vjp(lambda x, i: x * i)
    f.defvjp(lambda x, i: (x * i, i), lambda i, g: (g * i * 10, None))
    assert float(jax.grad(f)(1.0, 3)) == 30.0


def rules(fwd, bwd):
    f = jax.custom_vjp(lambda x, y: x * y)
    f.defvjp(fwd, bwd)
    return jax.grad(lambda x: f(x, 2.0))(1.0)


def pair_rule(bwd):
    f = jax.custom_vjp(lambda pair: pair[0] * pair[1])
    f.defvjp(lambda pair: (pair[0] * pair[1], None), lambda _, g: bwd(g))
    return jax.grad(f)((jnp.float32(1), jnp.float32(2)))


def test_a_leaf_stands_for_a_container_of_equal_leaves():
    assert pair_rule(lambda g: (5 * g,)) == (5, 5)
    assert pair_rule(lambda g: (None,)) == (0, 0)


def test_shapes_of_cotangents_are_not_compared_where_an_option_says_so():
    f = jax.custom_vjp(lambda x, y: x)
    f.defvjp(lambda x, y: (x, None), lambda _, g: (jnp.zeros(3), jnp.zeros(3)))
    of_y = jax.grad(lambda x, y: f(x, y).sum(), 1)
    with pytest.raises(ValueError, match="bwd rule must produce"):
        of_y(jnp.ones(3), jnp.ones(4))
    jax.config.update("jax_disable_bwd_checks", True)
    try:
        assert of_y(jnp.ones(3), jnp.ones(4)).shape == (3,)
    finally:
        jax.config.update("jax_disable_bwd_checks", False)


def test_a_linear_equation_prints_as_jax_prints_it():
    def bwd(_, g):
        return g, g

    f = jax.custom_vjp(lambda x, y: x + 1)
    f.defvjp(lambda x, y: (x + 1, (x,)), bwd)
    jaxpr = jax.make_jaxpr(lambda x: jax.jvp(lambda x: f(x, 2.0), (x,), (x,))[1])(X)
    assert "custom_lin[bwd=bwd in_zeros=[False, True] num_res=1 symbolic_zeros=False]" in " ".join(
        str(jaxpr).split()
    ).replace("[ ", "[").replace(" ]", "]")


ERRORS = {
    "no rule": (lambda: jax.custom_vjp(lambda x: x)(1.0), AttributeError, "No VJP defined for custom_vjp function"),
    "bwd not a tuple": (lambda: rules(lambda x, y: (x * y, None), lambda r, g: g), TypeError, "PyTreeDef((*, *))"),
    "bwd too short": (
        lambda: rules(lambda x, y: (x * y, None), lambda r, g: (g,)),
        TypeError,
        "structure PyTreeDef((*,))",
    ),
    "fwd not a pair": (lambda: rules(lambda x, y: x * y, lambda r, g: (g, g)), TypeError, "must produce a pair"),
    "bwd shape": (
        lambda: rules(lambda x, y: (x * y, None), lambda r, g: (jnp.ones(2), g)),
        ValueError,
        "at output[0] the bwd rule produced an output of type float32[2]",
    ),
    "bwd shape below a tuple": (
        lambda: pair_rule(lambda g: ((g, jnp.ones(2)),)),
        ValueError,
        "but at output[0][1] the bwd rule produced an output of type float32[2] corresponding to an input",
    ),
    "symbolic zero of another shape": (
        lambda: pair_rule(lambda g: (jax.custom_derivatives.SymbolicZero(jax.typeof(jnp.ones(2))),)),
        ValueError,
        "Custom VJP bwd rule produced a SymbolicZero with a shape/dtype that does not match the corresponding input "
        "tangent shape/dtype: at output[0][0] the SymbolicZero had shape/dtype float32[2] while the corresponding "
        "input had shape/dtype float32[]. Consider just returning a None here instead of a SymbolicZero object.",
    ),
    "forward mode": (
        lambda: jax.jvp(lambda x: make()(x, 2.0), (1.0,), (1.0,)),
        TypeError,
        "can't apply forward-mode autodiff (jvp) to a custom_vjp function.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


# ---- checkpoint ----

LAYER = lambda x: jax.nn.relu(jnp.sin(jnp.where(x > 2, x, jnp.sin(x)) * x)) + x
REMAT_WAYS = {
    "grad": lambda f: jax.grad(lambda x: f(x).sum())(X),
    "jit(grad)": lambda f: jax.jit(jax.grad(lambda x: f(x).sum()))(X),
    "vmap(grad)": lambda f: jax.vmap(jax.grad(f))(X),
    "jacfwd": lambda f: jax.jacfwd(lambda x: f(x).sum())(X),
    "hessian": lambda f: jax.hessian(lambda x: f(x).sum())(X),
    "nested": lambda f: jax.grad(lambda x: jax.checkpoint(lambda v: f(f(v)))(x).sum())(X),
    "scan": lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0].sum())(X),
}


@pytest.mark.parametrize("way", REMAT_WAYS)
def test_checkpoint_changes_no_derivative(way):
    plain, checkpointed = REMAT_WAYS[way](LAYER), REMAT_WAYS[way](jax.checkpoint(LAYER))
    np.testing.assert_allclose(np.asarray(checkpointed), np.asarray(plain), rtol=1e-5, atol=1e-6)


def test_checkpoint_stores_the_arguments_alone():
    layer = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
    text = str(jax.make_jaxpr(jax.grad(lambda x: layer(x).sum()))(X))
    before, _, inside = text.partition("remat2[")
    assert inside and "cos" not in before  # what only the derivative needs is computed inside


def test_results_mapped_behind_the_first_axis():
    """A matrix times a mapped vector is mapped along its second axis; so are its cotangents, seen from inside jit."""
    matrix = jnp.arange(9.0).reshape(3, 3)

    @jax.custom_vjp
    def f(v):
        return jnp.dot(matrix, v)

    f.defvjp(lambda v: (f(v), v), lambda v, ct: (ct * v,))
    rows = jnp.arange(6.0).reshape(2, 3)
    for g in (f, jax.jit(f)):
        found = jax.grad(lambda x, g=g: (jax.vmap(g)(x) * jnp.arange(1.0, 4.0)).sum())(rows)
        np.testing.assert_array_equal(found, rows * jnp.arange(1.0, 4.0))


def test_the_options_of_defvjp_are_attributes():
    f = jax.custom_vjp(lambda x: x)
    assert (f.symbolic_zeros, f.optimize_remat) == (False, False)
    f.defvjp(lambda x: (x, x), lambda r, ct: (ct,), symbolic_zeros=True, optimize_remat=True)
    assert (f.symbolic_zeros, f.optimize_remat) == (True, True)
