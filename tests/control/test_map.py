"""lax.map: slices one after the other, or some at a time."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = np.arange(14, dtype=np.float32).reshape(7, 2)


@pytest.mark.parametrize("size", [None, 1, 2, 3, 7, 9])
@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
def test_every_size_of_batches_gives_the_same(size, way):
    found = way(lambda xs: lax.map(lambda s: {"a": s["x"] * s["n"], "b": s["x"].sum()}, xs, batch_size=size))(
        {"x": X, "n": np.arange(7)}
    )
    np.testing.assert_array_equal(found["a"], X * np.arange(7)[:, None])
    np.testing.assert_array_equal(found["b"], X.sum(1))


@pytest.mark.parametrize("size, shapes", [(None, [(2,)]), (3, [(2,), (2,)]), (9, [(2,)]), (7, [(2,)])])
def test_the_function_sees_single_slices(size, shapes):
    seen = []
    lax.map(lambda x: (seen.append(x.shape), x)[1], X, batch_size=size)
    assert seen == shapes  # 3 of 7: staged for the groups, and for the rest


def test_no_slices():
    assert lax.map(lambda x: x.sum(), X[:0]).shape == (0,)
    assert lax.map(lambda x: x.sum(), X[:0], batch_size=2).shape == (0,)


def test_slices_must_be_as_many():
    with pytest.raises(ValueError, match="different leading axis sizes: 7, 3"):
        lax.map(lambda s: s[0], (X, X[:3]), batch_size=2)


def test_derivatives_of_batches():
    f = lambda size: jax.grad(lambda x: jnp.sum(lax.map(lambda r: jnp.prod(r), x, batch_size=size)))(X + 1)
    np.testing.assert_allclose(f(3), f(None), rtol=1e-6)
