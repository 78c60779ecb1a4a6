"""scatter_apply: values of JAX, compiled and mapped, and errors."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

NUMBERS = lax.ScatterDimensionNumbers((), (0,), (0,))
WINDOWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))


def twice_and_one(x):
    return 2 * x + 1


def apply(x, indices, **options):
    return lax.scatter_apply(x, indices, twice_and_one, NUMBERS, update_shape=indices.shape[:-1], **options)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_elements_and_windows(way):
    x, indices = jnp.arange(4.0), jnp.array([[1], [1], [3]])
    assert way(apply)(x, indices).tolist() == [0, 7, 2, 7]
    assert way(lambda x: apply(x, jnp.array([[7]])))(x).tolist() == [0, 1, 2, 3]
    assert way(lambda x: apply(x, jnp.array([[7]]), mode="clip"))(x).tolist() == [0, 1, 2, 7]
    rows = way(lambda x: lax.scatter_apply(x, jnp.array([[1]]), jnp.negative, WINDOWS, update_shape=(1, 2)))
    assert rows(jnp.arange(4.0).reshape(2, 2)).tolist() == [[0, 1], [-2, -3]]


def test_mapped_operands_and_indices():
    xs, indices = jnp.arange(8.0).reshape(2, 4), jnp.array([[[1]], [[0]]])
    assert jax.vmap(apply)(xs, indices).tolist() == [[0, 3, 2, 3], [9, 5, 6, 7]]


def test_refusals():
    x, indices = jnp.arange(4.0), jnp.array([[1]])
    with pytest.raises(NotImplementedError, match="scatter_apply JVP not implemented"):
        jax.grad(lambda x: apply(x, indices).sum())(x)
    with pytest.raises(NotImplementedError, match="closes over traced values"):
        jax.jit(lambda y: lax.scatter_apply(x, indices, lambda e: e * y, NUMBERS, update_shape=(1,)))(2.0)
    with pytest.raises(TypeError, match=r"a scalar of the same dtype; got float32\[\] for int32"):
        lax.scatter_apply(jnp.arange(4), indices, lambda e: e / 2, NUMBERS, update_shape=(1,))
    with pytest.raises(TypeError, match="Updates tensor must be of rank 1; got 0"):
        lax.scatter_apply(x, indices, twice_and_one, NUMBERS)
