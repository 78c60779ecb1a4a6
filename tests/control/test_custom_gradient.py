"""custom_gradient, closure_convert, linear_call, symbolic zeros of custom_vjp: what rules see, what comes of it."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import custom_derivatives as cd
from onax import lax

X = jnp.arange(1.0, 4.0)


@jax.custom_gradient
def tenfold(x):
    return jnp.sin(x), lambda g: (g * 10 * x,)


@jax.custom_gradient
def of_two(x, y):
    return {"p": x * y, "s": x + y}, lambda g: (g["p"] * y * 2, g["s"] * 3)


def total(x, y):
    return sum(of_two(x, y).values())


GRADIENTS = {
    "grad": (lambda: jax.grad(tenfold)(2.0), 20.0),
    "value": (lambda: tenfold(2.0), np.sin(np.float32(2))),
    "single cotangent": (lambda: jax.grad(jax.custom_gradient(lambda x: (x, lambda g: g * 7)))(2.0), 7.0),
    "second derivative": (lambda: jax.grad(jax.grad(tenfold))(2.0), 10.0),
    "jit of grad": (lambda: jax.jit(jax.grad(tenfold))(2.0), 20.0),
    "grad of jit": (lambda: jax.grad(jax.jit(tenfold))(2.0), 20.0),
    "vmap of grad": (lambda: jax.vmap(jax.grad(tenfold))(X), [10.0, 20.0, 30.0]),
    "grad of vmap": (lambda: jax.grad(lambda x: jnp.sum(jax.vmap(tenfold)(x)))(X), [10.0, 20.0, 30.0]),
    "in scan": (lambda: jax.grad(lambda x: lax.scan(lambda c, v: (tenfold(c) * v, c), x, X[:2])[0])(0.0), 0.0),
    "two arguments": (lambda: jnp.stack(jax.grad(total, (0, 1))(2.0, 5.0)), [10.0, 3.0]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_custom_gradient(name):
    call, wanted = GRADIENTS[name]
    np.testing.assert_allclose(call(), np.float32(wanted), rtol=1e-6)


def test_a_custom_gradient_may_close_over_mapped_values():
    def closing(k):
        inner = jax.custom_gradient(lambda x: (x * k, lambda g: (g * k * 7,)))
        return jax.value_and_grad(inner)(3.0)

    value, slope = jax.vmap(closing)(X)
    np.testing.assert_array_equal(value, 3 * X)
    np.testing.assert_array_equal(slope, 7 * X)


def closes_over(y):
    converted, values = jax.closure_convert(lambda x: jnp.sin(x) * y + X.sum(), 1.0)
    return converted(2.0, *values), len(values)


def test_closure_convert_takes_out_what_may_have_a_derivative():
    value, slope = jax.value_and_grad(lambda y: closes_over(y)[0])(3.0)
    np.testing.assert_allclose([value, slope], [3 * np.sin(2) + 6, np.sin(2)], rtol=1e-6)
    counts = []
    count = lambda y: counts.append(closes_over(y)[1]) or y
    for transform in (jax.grad, jax.jit, lambda f: f):
        transform(count)(3.0)
    jax.vmap(count)(X)
    jax.jit(count)(3)
    assert counts == [1, 1, 0, 0, 0]


def test_a_converted_closure_wants_arguments_like_the_example():
    converted, values = jax.closure_convert(lambda x: x, 1.0)
    with pytest.raises(TypeError, match=r"same Pytree structure .* Expected PyTreeDef\(\(\*,\)\), but got"):
        converted({"x": 2.0}, *values)


# ---- linear_call ----


def hundredfold(x, y):
    return cd.linear_call(lambda r, v: v * r, lambda r, ct: ct * r * 100, x, y)


LINEAR = {
    "value": (lambda: hundredfold(2.0, 3.0), 6.0),
    "jvp": (lambda: jax.jvp(lambda y: hundredfold(2.0, y), (3.0,), (1.0,))[1], 2.0),
    "grad": (lambda: jax.grad(hundredfold, 1)(2.0, 3.0), 200.0),
    "transposed twice": (
        lambda: jax.grad(lambda ct: jax.linear_transpose(lambda y: hundredfold(2.0, y), 3.0)(ct)[0])(1.0),
        2.0,
    ),
    "vmap of grad, jitted": (lambda: jax.jit(jax.vmap(jax.grad(hundredfold, 1)))(X, X), [100.0, 200.0, 300.0]),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_call(name):
    call, wanted = LINEAR[name]
    np.testing.assert_allclose(call(), np.float32(wanted))


def test_linear_call_checks_its_transpose():
    with pytest.raises(TypeError, match="transpose output pytree structure must match"):
        cd.linear_call(lambda r, v: v, lambda r, ct: (ct, ct), 1.0, 2.0)
    with pytest.raises(TypeError, match="linear in its last argument alone"):
        jax.grad(hundredfold, 0)(2.0, 3.0)


# ---- symbolic zeros ----


def product(log):
    """x * y, whose rules record what they are told."""
    f = jax.custom_vjp(lambda x, y: (x * y, x))

    def fwd(x, y):
        log.append((x.perturbed, y.perturbed))
        return (x.value * y.value, x.value), (x.value, y.value)

    def bwd(residuals, cts):
        log.append(tuple(type(ct) is cd.SymbolicZero for ct in cts))
        x, y = residuals
        ct = jnp.zeros(cts[0].shape) if type(cts[0]) is cd.SymbolicZero else cts[0]
        return ct * y, ct * x

    f.defvjp(fwd, bwd, symbolic_zeros=True, optimize_remat=True)
    return f


WAYS = {
    "grad": (lambda f: jax.grad(lambda x, y: f(x, y)[0])(2.0, 3.0), 3.0, [(True, False), (False, True)]),
    "by both": (
        lambda f: jnp.stack(jax.grad(lambda x, y: f(x, y)[0], (0, 1))(2.0, 3.0)),
        [3.0, 2.0],
        [(True, True), (False, True)],
    ),
    "other result": (lambda f: jax.grad(lambda y: f(2.0, y)[1] + y)(3.0), 1.0, [(False, True), (True, False)]),
    "grad of jit": (
        lambda f: jax.grad(lambda x: jax.jit(f)(x, 3.0)[0])(2.0),
        3.0,
        [(True, False), (False, True)],
    ),
    "jit of grad": (
        lambda f: jax.jit(jax.grad(lambda x: f(x, 3.0)[0]))(2.0),
        3.0,
        [(True, False), (False, True)],
    ),
    "vmap of grad": (
        lambda f: jax.vmap(jax.grad(lambda x, y: f(x, y)[0]))(X, 2 * X),
        [2.0, 4.0, 6.0],
        [(True, False), (False, True)],
    ),
    "grad of vmap": (
        lambda f: jax.grad(lambda x: jnp.sum(jax.vmap(f)(x, 2 * X)[0]))(X),
        [2.0, 4.0, 6.0],
        [(True, False), (False, True)],
    ),
    "no derivative": (lambda f: f(2.0, 3.0)[0], 6.0, []),
}


@pytest.mark.parametrize("name", WAYS)
def test_rules_are_told_what_vanishes(name):
    run, wanted, seen = WAYS[name]
    log = []
    np.testing.assert_allclose(run(product(log)), np.float32(wanted))
    assert log == seen


def test_values_of_a_tree_of_primals():
    f = jax.custom_vjp(lambda d: d["a"] * d["b"])
    f.defvjp(
        lambda d: (f(cd.custom_vjp_primal_tree_values(d)), cd.custom_vjp_primal_tree_values(d)),
        lambda d, ct: ({"a": d["b"] * ct, "b": None},),
        symbolic_zeros=True,
    )
    assert jax.grad(lambda a: f({"a": a, "b": 3.0}))(1.0) == 3.0
    with pytest.raises(TypeError, match="unexpected leaf type"):
        cd.custom_vjp_primal_tree_values({"a": 1.0})


def test_zero_from_primal():
    assert cd.zero_from_primal(X).tolist() == [0.0, 0.0, 0.0]
    assert cd.zero_from_primal(jnp.arange(2)).dtype == jax.dtypes.float0
    zero = cd.zero_from_primal(X, symbolic_zeros=True)
    assert type(zero) is cd.SymbolicZero
    assert zero.shape == (3,)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit, lambda f: jax.jit(jax.vmap(f))])
def test_forward_mode_of_a_reverse_rule_is_refused(way):
    with pytest.raises(TypeError, match="can't apply forward-mode autodiff"):
        way(lambda x: jax.jvp(tenfold, (x,), (x,)))(X)


def test_cotangents_of_mapped_and_unmapped_scalars_are_added():
    f = lambda x, w: x * w * w + w
    slope = lambda w: jnp.sum(jax.vmap(jax.grad(f, 1), (0, None))(X, w))
    assert jax.hessian(slope)(2.0) == 0.0
    both = lambda w: jax.vmap(lambda x: jax.jvp(lambda v: f(v, w) + w * v, (x,), (w,))[1])(X)
    np.testing.assert_allclose(jax.jacrev(both)(2.0), [16.0, 16.0, 16.0])
    np.testing.assert_allclose(jax.jit(jax.jacfwd(both))(2.0), [16.0, 16.0, 16.0])
