"""Methods of ufuncs for any function: against NumPy, compiled, differentiated and mapped."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
NAMES = ["subtract", "maximum", "logaddexp", "logical_xor", "add", "multiply"]


def both(name, method, *args, **options):
    """(jitted, eager, NumPy's) results of a method of a ufunc."""
    call = lambda module, *args: getattr(getattr(module, name), method)(*args, **options)
    return jax.jit(lambda *args: call(jnp, *args))(*args), call(jnp, *args), call(np, *args)


def check(results):
    *ours, want = results
    for got in ours:
        np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(want, np.float64), rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", NAMES)
def test_along_an_axis(name, axis):
    check(both(name, "reduce", X, axis=axis, keepdims=True))
    check(both(name, "accumulate", X, axis=axis))


@pytest.mark.parametrize("indices", [[0, 2], [1, 3, 2], [3]])
@pytest.mark.parametrize("name", ["subtract", "add", "maximum", "multiply"])
def test_between_indices(name, indices):
    check(both(name, "reduceat", X, np.array(indices)))
    check(both(name, "reduceat", X, np.array(indices), axis=1))


def test_a_mask_leaves_elements_out():
    function = jnp.frompyfunc(lambda a, b: 2 * a + b, 2, 1, identity=0)
    want = [0.0] * 5
    for row in X:
        want = [2 * total + x if x > 0 else total for total, x in zip(want, row)]
    np.testing.assert_allclose(function.reduce(X, where=X > 0), want, rtol=1e-6)
    assert function.reduce(X[:0]).tolist() == [0] * 5


def test_repeated_indices_and_slices():
    index = (np.array([0, 0, 3]), slice(1, 3))
    want = X.copy()
    for row in index[0]:
        want[row, 1:3] = np.logaddexp(want[row, 1:3], 0.5)
    update = lambda x: jnp.logaddexp.at(x, index, np.full((3, 2), 0.5, np.float32), inplace=False)
    np.testing.assert_allclose(update(X), want, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(update)(X), want, rtol=1e-6)
    assert jnp.negative.at(X, (), inplace=False).tolist() == X.tolist()


def test_derivatives_and_mapped_loops():
    f = lambda x: jnp.frompyfunc(lambda a, b: a * b, 2, 1).reduce(x)
    got, want = jax.jvp(f, (X[0],), (X[1],)), jax.jvp(jnp.prod, (X[0],), (X[1],))
    np.testing.assert_allclose(got, want, rtol=1e-5)
    np.testing.assert_allclose(jax.vmap(f)(X), X.prod(1), rtol=1e-5)
    mapped = jax.vmap(lambda i: jnp.subtract.reduceat(X[0], i))(np.array([[0, 2], [1, 3]]))
    np.testing.assert_allclose(mapped[1], np.subtract.reduceat(X[0], [1, 3]), rtol=1e-6)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="zero-size array to reduction operation subtract which has no identity"):
        jnp.subtract.reduce(X[:0])
    with pytest.raises(ValueError, match="accumulate does not allow multiple axes"):
        jnp.subtract.accumulate(X, axis=None)
    with pytest.raises(ValueError, match="must be one-dimensional"):
        jnp.add.reduceat(X, np.array([[0]]))
    with pytest.raises(ValueError, match="a must have 1 or more dimension"):
        jnp.add.reduceat(X[0, 0], np.array([0]))
