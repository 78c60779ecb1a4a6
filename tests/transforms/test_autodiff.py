"""grad, jvp, vjp, linearize, Jacobians: against differences, against one another, and their errors."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

X = np.array([0.3, -0.7, 1.9], np.float32)
M = np.array([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]], np.float32)

# Scalar functions of one vector.  Each is differentiated in every way below.
SCALAR = {
    "sum of squares": lambda x: jnp.sum(x**2),
    "tanh product": lambda x: jnp.sum(jnp.tanh(x) * x),
    "matmul": lambda x: jnp.sum(jnp.sin(M @ x)),
    "where": lambda x: jnp.sum(jnp.where(x > 0, x * x, -3.0 * x)),
    "logsumexp": lambda x: jax.nn.logsumexp(x),
    "softmax": lambda x: jnp.sum(jax.nn.softmax(x) * jnp.arange(3.0)),
    "relu": lambda x: jnp.sum(jax.nn.relu(x) ** 2),
    "index": lambda x: x[0] * x[-1] + jnp.sum(x[1:]),
    "gather": lambda x: jnp.sum(x[np.array([0, 0, 2])] ** 3),
    "update": lambda x: jnp.sum(x.at[1].set(x[0] * 2) ** 2),
    "add at": lambda x: jnp.sum(x.at[np.array([1, 1])].add(x[0]) ** 2),
    "shapes": lambda x: jnp.sum(jnp.concatenate([x, x * 2])[::2].reshape(3, 1).T @ x),
    "max": lambda x: jnp.max(x * x),
    "division": lambda x: jnp.sum(1.0 / (2.0 + x) + jnp.exp(-x)),
    "inner jit": lambda x: jnp.sum(jax.jit(lambda v: jnp.cos(v) * v)(x)),
    "closure under jit": lambda x: jnp.sum(jax.jit(lambda v: v * x)(x + 1)),
    "cast": lambda x: jnp.sum(x.astype(jnp.bfloat16).astype(jnp.float32) * 0 + x**3),
}


def numeric_gradient(f, x, eps=1e-2):
    """Central differences in double precision steps of the float32 function."""
    g = np.zeros_like(x, dtype=np.float64)
    for i in range(x.size):
        d = np.zeros_like(x)
        d[i] = eps
        g[i] = (float(f(jnp.asarray(x + d))) - float(f(jnp.asarray(x - d)))) / (2 * eps)
    return g


@pytest.mark.parametrize("name", SCALAR)
def test_grad_agrees_with_differences(name):
    g = jax.grad(SCALAR[name])(X)
    assert g.dtype == np.float32 and g.shape == X.shape
    np.testing.assert_allclose(np.asarray(g), numeric_gradient(SCALAR[name], X), rtol=2e-2, atol=2e-2)


WAYS = {
    "jit(grad)": lambda f: jax.jit(jax.grad(f)),
    "grad(jit)": lambda f: jax.grad(jax.jit(f)),
    "jit(grad(jit))": lambda f: jax.jit(jax.grad(jax.jit(f))),
    "jacfwd": lambda f: jax.jacfwd(f),
    "jacrev": lambda f: jax.jacrev(f),
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](jnp.float32(1))[0],
    "linearize": lambda f: lambda x: jnp.stack([jax.linearize(f, x)[1](e) for e in np.eye(3, dtype=np.float32)]),
    "jvp under vmap": lambda f: lambda x: jax.vmap(lambda t: jax.jvp(f, (x,), (t,))[1])(np.eye(3, dtype=np.float32)),
    "vmap(grad)": lambda f: lambda x: jax.vmap(jax.grad(f))(jnp.stack([x, x]))[1],
    "jit(vmap(grad))": lambda f: lambda x: jax.jit(jax.vmap(jax.grad(f)))(jnp.stack([x, x]))[0],
    "grad(vmap)": lambda f: jax.grad(lambda x: jnp.sum(jax.vmap(f)(jnp.stack([x, x]))) / 2),
    "value_and_grad": lambda f: lambda x: jax.value_and_grad(f)(x)[1],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SCALAR)
def test_every_way_gives_the_gradient(name, way):
    f = SCALAR[name]
    np.testing.assert_allclose(np.asarray(WAYS[way](f)(X)), np.asarray(jax.grad(f)(X)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SCALAR)
def test_second_derivatives_in_any_order(name):
    f = SCALAR[name]
    forward_over_reverse = np.asarray(jax.hessian(f)(X))
    for other in (
        jax.jacrev(jax.jacrev(f)),
        jax.jacrev(jax.jacfwd(f)),
        jax.jacfwd(jax.jacfwd(f)),
        jax.jit(jax.hessian(f)),
        jax.hessian(jax.jit(f)),
    ):
        np.testing.assert_allclose(np.asarray(other(X)), forward_over_reverse, rtol=1e-4, atol=1e-4)


def test_third_derivative_of_a_scalar():
    f = lambda x: jnp.sin(x) * x**2
    third = jax.grad(jax.grad(jax.grad(f)))
    x = 0.7
    wanted = 6 * np.cos(x) - 6 * x * np.sin(x) - x**2 * np.cos(x)
    np.testing.assert_allclose(float(third(x)), wanted, rtol=1e-5)
    np.testing.assert_allclose(float(jax.jit(third)(x)), wanted, rtol=1e-5)


def test_perturbations_are_not_confused():
    # d/dx (x * d/dy (x + y)) = 1; a confused implementation gives 2.
    assert float(jax.grad(lambda x: x * jax.grad(lambda y: x + y)(1.0))(1.0)) == 1.0
    inner = lambda x: jax.jvp(lambda y: x * y, (1.0,), (1.0,))[1]
    assert float(jax.jvp(inner, (3.0,), (1.0,))[1]) == 1.0


def test_python_control_flow_sees_values_under_grad():
    def f(x):
        return x**2 if x > 1 else -x

    assert float(jax.grad(f)(3.0)) == 6.0
    assert float(jax.grad(f)(0.5)) == -1.0
    assert float(jax.jvp(f, (3.0,), (1.0,))[1]) == 6.0


def test_trees_argnums_and_aux():
    def f(p, x, scale=1.0):
        return jnp.sum(p["w"] * x) * scale, {"x": x}

    p = {"w": jnp.arange(3.0), "unused": jnp.ones(2)}
    (value, aux), (gp, gx) = jax.value_and_grad(f, argnums=(0, 1), has_aux=True)(p, X, scale=2.0)
    np.testing.assert_allclose(float(value), 2 * np.sum(np.arange(3) * X), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(gp["w"]), 2 * X)
    np.testing.assert_array_equal(np.asarray(gp["unused"]), np.zeros(2))
    np.testing.assert_allclose(np.asarray(gx), 2 * np.arange(3.0))
    np.testing.assert_array_equal(np.asarray(aux["x"]), X)
    gradient, aux = jax.grad(f, argnums=-1, has_aux=True)(p, X)
    np.testing.assert_allclose(np.asarray(gradient), np.arange(3.0))


def test_integer_arguments_have_float0_tangents():
    _, pull = jax.vjp(lambda i, x: x * i, 3, 2.0)
    ci, cx = pull(jnp.float32(1.0))
    assert np.asarray(ci).dtype == jax.dtypes.float0
    assert float(cx) == 3.0


def test_float0_is_compared_as_in_numpy():
    ones, zero = jax.grad(lambda k: jnp.sum(k * 1.0), allow_int=True)(np.arange(3)), np.zeros((), jax.dtypes.float0)
    assert (ones == zero).tolist() == [True] * 3 and not (ones != zero).any() and (ones == ones).all()
    with pytest.raises(TypeError, match="Called equal with a float0 array"):
        jnp.equal(ones, zero)
    with pytest.raises(TypeError, match="Called add with a float0 array"):
        ones + zero


def test_transposed_functions_are_trees():
    scale = jnp.arange(1.0, 4.0)
    transpose = jax.jit(lambda x: jax.linear_transpose(lambda v: v * scale, x))(V)
    (kept,) = jax.tree.leaves(transpose)
    assert kept.tolist() == scale.tolist()
    np.testing.assert_array_equal(jax.jit(lambda f, x: f(x)[0])(transpose, V), V * scale)


@pytest.mark.parametrize("of, words", [
    (jax.grad, "Gradient"), (jax.value_and_grad, "Value and gradient"),
    (jax.jacfwd, "Jacobian"), (jax.jacrev, "Jacobian"),
])  # fmt: skip
def test_docstrings_of_derivatives(of, words):
    assert of(abs, 0).__doc__.startswith(f"{words} of abs with respect to positional argument(s) 0")


def test_gradient_of_an_unused_argument_is_zero():
    g = jax.grad(lambda x, y: x * 2.0, argnums=1)(1.0, X)
    np.testing.assert_array_equal(np.asarray(g), np.zeros(3))


# ---- errors ----

ERRORS = {
    "vector output": (lambda: jax.grad(lambda x: x)(X), TypeError, "scalar-output functions. Output had shape: (3,)"),
    "tree output": (lambda: jax.grad(lambda x: (x, x))(1.0), TypeError, "Gradient only defined for scalar-output"),
    "integer input": (lambda: jax.grad(lambda x: x * 1.0)(1), TypeError, "but got int32"),
    "integer output": (lambda: jax.grad(lambda x: x.astype(int))(1.0), TypeError, "grad requires real-valued outputs"),
    "argnums": (lambda: jax.grad(lambda x: x, argnums=1)(1.0), TypeError, "requires at least 2 positional arguments"),
    "string": (lambda: jax.grad(lambda x: x)("a"), TypeError, "is not a valid JAX type"),
    "not callable": (lambda: jax.grad(3), TypeError, "Expected a callable value, got 3"),
    "aux": (lambda: jax.grad(lambda x: x, has_aux=True)(1.0), TypeError, "two-element tuple"),
    "tangent dtype": (lambda: jax.jvp(jnp.sin, (1.0,), (1,)), TypeError, "got tangent dtype int32"),
    "tangent shape": (lambda: jax.jvp(jnp.sin, (1.0,), (jnp.ones(2),)), ValueError, "tangent shape as (2,)"),
    "tangents not a tuple": (lambda: jax.jvp(jnp.sin, 1.0, (1.0,)), TypeError, "must be tuples or lists"),
    "tangent tree": (lambda: jax.jvp(jnp.sin, (1.0,), (1.0, 2.0)), TypeError, "same tree structure"),
    "cotangent shape": (lambda: jax.vjp(jnp.sin, 1.0)[1](jnp.ones(2)), ValueError, "got float32[2]"),
    "cotangent tree": (lambda: jax.vjp(jnp.sin, 1.0)[1]((1.0,)), ValueError, "unexpected tree structure"),
    "cotangent dtype": (lambda: jax.vjp(jnp.sin, 1.0)[1](1), ValueError, "got int32[]"),
    "jacfwd of ints": (lambda: jax.jacfwd(lambda x: x)(1), TypeError, "jacfwd requires real-valued inputs"),
    "jacrev of ints": (lambda: jax.jacrev(lambda x: x)(1), TypeError, "jacrev requires real- or complex-valued"),
    "linearized": (lambda: jax.linearize(jnp.sin, 1.0)[1](jnp.ones(2)), ValueError, "Got tangent aval float32[2]"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_gradient_by_a_python_number_is_weakly_typed(wrap):
    assert wrap(jax.grad(lambda x: x * x))(2.0).weak_type
    assert wrap(jax.grad(lambda x: jnp.sin(x) * 2))(2.0).weak_type
    assert not wrap(jax.grad(lambda x: x * x))(np.float32(2)).weak_type


# ---- integers, weak types, options ----

V = jnp.arange(1.0, 4.0)
INTEGERS = {
    "jacfwd of an integer result": (lambda: jax.jacfwd(lambda x: (x * 2).astype(int))(V), "int32", (3, 3)),
    "jacfwd of bools": (lambda: jax.jacfwd(lambda x: x > 0)(V), "bool", (3, 3)),
    "jacrev by integers": (lambda: jax.jacrev(lambda k: k * 1.0, allow_int=True)(jnp.arange(3)), "int32", (3, 3)),
    "grad by an integer": (lambda: jax.grad(lambda k: k * 1.0, allow_int=True)(3), "float0", ()),
    "vjp by an integer": (lambda: jax.vjp(lambda k: k * 2.0, 3)[1](1.0)[0], "float0", ()),
    "linearize by an integer": (
        lambda: jax.linearize(lambda k: k, 3)[1](np.zeros((), jax.dtypes.float0)),
        "float0",
        (),
    ),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_derivatives_by_and_of_integers(name):
    call, dtype, shape = INTEGERS[name]
    out = call()
    assert out.shape == shape
    assert out.dtype == (jax.dtypes.float0 if dtype == "float0" else np.dtype(dtype))
    if dtype != "float0":
        assert not np.any(out)


CALLS = {
    "jacfwd beyond the last": (
        lambda: jax.jacfwd(lambda x: x, argnums=1)(1.0),
        ValueError,
        "but got value 1 for len(args) == 1.",
    ),
    "linearized at another type": (
        lambda: jax.linearize(lambda x: x, 1.0)[1](jnp.ones(2)),
        ValueError,
        "Got tangent aval float32[2] for primal aval ~float32[] but expected ~float32[].",
    ),
    "beyond the last": (lambda: jax.grad(lambda x: x, argnums=2)(1.0), TypeError, "requires at least 3 positional"),
    "before the first": (
        lambda: jax.grad(lambda x, y: x, argnums=-3)(1.0, 2.0),
        ValueError,
        "but got value -3 for len(args) == 2.",
    ),
    "holomorphic jacfwd of a real result": (
        lambda: jax.jacfwd(jnp.abs, holomorphic=True)(jnp.array([1j])),
        TypeError,
        "jacfwd with holomorphic=True requires outputs with complex dtype, but got float32.",
    ),
    "several cotangents": (
        lambda: jax.vjp(jnp.sin, 1.0)[1](1.0, 1.0),
        TypeError,
        "was called with 2 arguments,\nbut functions returned by `jax.vjp` must be called with a single argument",
    ),
    "cotangents of another tree": (
        lambda: jax.vjp(lambda x: {"a": x, "b": x}, 1.0)[1]({"a": 1.0, "c": 1.0}),
        ValueError,
        "  * out was a <class 'dict'> with pytree metadata ('a', 'b') in the original output, but a <class 'dict'> "
        "with pytree metadata ('a', 'c') here, so the pytree node metadata does not match.",
    ),
    "transposed to another type": (
        lambda: jax.linear_transpose(lambda x: x.astype(int), V),
        TypeError,
        "linear_transpose only supports [float or complex] -> [float or complex], and integer -> integer functions",
    ),
    "transposed with a wrong shape": (
        lambda: jax.linear_transpose(lambda x: x * 2, V)(1.0),
        TypeError,
        "cotangent type does not match function output, expected (ShapedArray(float32[3]),) but got [1.0]",
    ),
    "not linear": (lambda: jax.linear_transpose(lambda x: x * x, V)(V), TypeError, "linear in one operand"),
    "without a transpose": (
        lambda: jax.linear_transpose(jnp.sin, V)(V),
        NotImplementedError,
        "Transpose rule (for reverse-mode differentiation) for 'sin' not implemented",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_cannot_be(name):
    call, error, text = CALLS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


@pytest.mark.parametrize("transform", [jax.linearize, jax.vjp])
@pytest.mark.parametrize(
    "f, x, residuals",
    [
        (jnp.sin, 1.0, [np.cos(1.0)]),
        (lambda x: 2.0 * x, 1.0, [2.0]),
        (jnp.sum, np.ones(3, np.float32), []),
        (lambda x: jnp.sin(x["a"]) + x["b"], {"a": 1.0, "b": 2.0}, [np.cos(1.0)]),
    ],
)
def test_known_scalars_are_residuals(transform, f, x, residuals):
    out, linear = transform(f, x)
    np.testing.assert_allclose(jax.tree.leaves(linear), residuals, rtol=1e-6)
    doubled = jax.tree.map(lambda r: 2 * r, linear)
    arguments = x if transform is jax.linearize else out
    expected = linear(arguments)
    if residuals and not isinstance(x, dict):
        expected = jax.tree.map(lambda y: 2 * y, expected)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), doubled(arguments), expected)
    through_jit = jax.jit(lambda x: transform(f, x))(x)[1]
    np.testing.assert_allclose(jax.tree.leaves(through_jit), residuals, rtol=1e-6)


@pytest.mark.parametrize("transform", [jax.grad, jax.value_and_grad, jax.vjp, jax.linear_transpose])
def test_reduce_axes_are_refused(transform):
    arguments = (lambda x: x,) if transform in (jax.grad, jax.value_and_grad) else (lambda x: x, 1.0)
    with pytest.raises(NotImplementedError, match=r"^reduce_axes argument to (grad|vjp|transpose) is deprecated"):
        transform(*arguments, reduce_axes=("i",))
    transform(*arguments, reduce_axes=())
