"""ravel_pytree: there and back, under transformations, of nothing and of integers."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.flatten_util import ravel_pytree

TREE = {"a": jnp.ones((2, 3)), "b": jnp.arange(3), "c": 1.5}


def test_there_and_back():
    flat, unravel = ravel_pytree(TREE)
    assert flat.shape == (10,) and flat.dtype == np.float32
    back = unravel(flat * 2)
    assert jax.tree.structure(back) == jax.tree.structure(TREE)
    assert back["a"].shape == (2, 3) and back["b"].dtype == np.int32 and back["c"].shape == ()
    np.testing.assert_array_equal(np.asarray(back["b"]), [0, 2, 4])


def test_under_transformations():
    flat, unravel = ravel_pytree({"w": jnp.ones((2, 2)), "b": jnp.zeros(2)})
    loss = lambda v: jnp.sum(jnp.tanh(unravel(v)["w"] @ jnp.ones(2) + unravel(v)["b"]) ** 2)
    eager, compiled = jax.grad(loss)(flat), jax.jit(jax.grad(loss))(flat)
    assert eager.shape == (6,)
    np.testing.assert_allclose(np.asarray(eager), np.asarray(compiled), rtol=1e-6)
    again = ravel_pytree({"w": jnp.ones((2, 2)), "b": jnp.zeros(2)})[1]
    assert again == unravel and hash(again) == hash(unravel)  # what jit compares, when it is static


def test_nothing_and_integers():
    flat, unravel = ravel_pytree([])
    assert flat.shape == (0,) and flat.dtype == np.float32 and unravel(flat) == []
    flat, unravel = ravel_pytree({"b": jnp.arange(3)})
    assert flat.dtype == np.int32
    assert unravel(jnp.ones(3))["b"].dtype == np.float32  # leaves of one dtype: any dtype comes back
    with pytest.raises(ValueError, match="Sum of sizes 3 must be equal to dimension 0 of the operand shape"):
        unravel(jnp.arange(4))


def test_leaves_of_several_dtypes_are_converted_back():
    flat, unravel = ravel_pytree([jnp.ones(2, "int8"), jnp.ones(1, "float16")])
    assert [x.dtype.name for x in unravel(flat)] == ["int8", "float16"]
    with pytest.raises(TypeError, match="given array of dtype float32, but expected dtype float16"):
        unravel(jnp.ones(3))


def test_weak_types_stay():
    flat, unravel = ravel_pytree([1.0, 2.0])
    assert flat.weak_type and unravel(flat)[0].weak_type
