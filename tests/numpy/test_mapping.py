"""piecewise, select, apply_along_axis, apply_over_axes, vectorize: what no table of calls can say."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

X = jnp.arange(1.0, 5.0)
M = jnp.arange(12.0).reshape(3, 4)

PIECES = {
    "the last condition wins": (lambda: jnp.piecewise(X, [X < 3, X < 2], [1, 2, 3]), [2.0, 1.0, 3.0, 3.0]),
    "a default": (lambda: jnp.piecewise(X, [X < 2, X > 3], [-1, 1, lambda x: x * 10]), [-1.0, 20.0, 30.0, 1.0]),
    "zero by default": (lambda: jnp.piecewise(X, [X < 2], [5]), [5.0, 0.0, 0.0, 0.0]),
    "functions get one element": (
        lambda: jnp.piecewise(X, [X > 2], [lambda x: x.sum() + x.ndim]),
        [0.0, 0.0, 3.0, 4.0],
    ),
    "further arguments": (
        lambda: jnp.piecewise(X, [X < 2], [lambda x, a, shift: x * a + shift], 3.0, shift=0),
        [3.0, 0.0, 0.0, 0.0],
    ),
    "conditions are broadcast": (lambda: jnp.piecewise(X, [True, False], [1, 2]), [1.0, 1.0, 1.0, 1.0]),
    "an array of scalar conditions": (lambda: jnp.piecewise(X, X[:3] == 1, [1.0, 2.0, 3.0]), [1.0, 1.0, 1.0, 1.0]),
    "rows of an array": (lambda: jnp.piecewise(X, jnp.stack([X < 2, X > 3]), [1, 2]), [1.0, 0.0, 0.0, 2.0]),
    "integers stay": (lambda: jnp.piecewise(jnp.arange(4), [jnp.arange(4) < 2], [lambda x: x * 1.7]), [0, 1, 0, 0]),
    "jit": (
        lambda: jax.jit(lambda x: jnp.piecewise(x, [x < 2, x > 3], [jnp.square, jnp.negative]))(X),
        [1.0, 0.0, 0.0, -4.0],
    ),
    "grad": (
        lambda: jax.grad(lambda x: jnp.sum(jnp.piecewise(x, [x < 2, x > 3], [jnp.square, lambda v: v**3])))(X),
        [2.0, 0.0, 0.0, 48.0],
    ),
    "no NaN from a function not chosen": (
        lambda: jax.grad(lambda x: jnp.sum(jnp.piecewise(x, [x > 0], [jnp.sqrt, lambda v: v * 2])))(
            jnp.array([0.0, 4.0])
        ),
        [2.0, 0.25],
    ),
    "derivative by a closure": (
        lambda: jax.grad(lambda k: jnp.sum(jnp.piecewise(X, [X < 3], [lambda x: x * k])))(2.0),
        3.0,
    ),
    "vmap": (
        lambda: jax.vmap(lambda x: jnp.piecewise(x, [x < 5], [lambda v: v * 2, -1]))(M)[1],
        [8.0, -1.0, -1.0, -1.0],
    ),
}


@pytest.mark.parametrize("name", PIECES)
def test_piecewise(name):
    call, wanted = PIECES[name]
    got = call()
    np.testing.assert_allclose(got, wanted)
    assert got.dtype == (np.int32 if name == "integers stay" else np.float32)


@pytest.mark.parametrize(
    ("conditions", "functions", "text"),
    [
        ([X < 3], [1, 2, 3], r"with 1 condition\(s\), either 1 or 2 functions are expected; got 3"),
        ([], [3], "condlist must be non-empty"),
    ],
)
def test_piecewise_counts(conditions, functions, text):
    with pytest.raises(ValueError, match=text):
        jnp.piecewise(X, conditions, functions)


WAYS = {"jit": jax.jit, "grad": lambda f: jax.grad(lambda x: jnp.sum(f(x))), "vmap": jax.vmap}
MAPPED = {
    "apply_along_axis": (
        lambda m: jnp.apply_along_axis(lambda v: jnp.cumsum(v) * v, 0, m),
        lambda m: jnp.cumsum(m, 0) * m,
    ),
    "apply_over_axes": (lambda m: jnp.apply_over_axes(jnp.sum, m, [0]), lambda m: jnp.sum(m, 0, keepdims=True)),
    "select": (
        lambda m: jnp.select([m < 3, m > 8], [m * m, -m], 7.0),
        lambda m: jnp.where(m < 3, m * m, jnp.where(m > 8, -m, 7.0)),
    ),
    "vectorize": (
        jnp.vectorize(lambda a: a * jnp.sum(a), signature="(n)->(n)"),
        lambda m: m * m.sum(-1, keepdims=True),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MAPPED)
def test_under_transformations(name, way):
    function, plain = MAPPED[name]
    x = M[None] if way == "vmap" else M
    np.testing.assert_allclose(WAYS[way](function)(x), WAYS[way](plain)(x), rtol=1e-6)


def test_pieces_are_traced_once():
    traced = []

    def piece(x):
        traced.append(x)
        return x + 1

    results = [jnp.piecewise(X, [X > i], [piece, 0]).tolist() for i in range(3)]
    assert len(traced) == 1 and results[2] == [0.0, 0.0, 4.0, 5.0]
    staged = jax.make_jaxpr(lambda x: jnp.piecewise(x, [x > 1], [piece, 0]))(X)
    assert [e.params["name"] for e in staged.eqns if e.primitive.name == "jit"] == ["_piecewise"]


def test_pieces_that_close_over_tracers():
    def total(y):
        return jnp.piecewise(X, [X > 2], [lambda x: x * y, lambda x: x]).sum()

    assert float(jax.jit(total)(3.0)) == 24.0 and float(jax.grad(total)(3.0)) == 7.0
