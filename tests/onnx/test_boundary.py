"""Files that onax exported are called with the arguments of the exported function."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp


def loaded(function, *args, **kwargs):
    return jax.onnx.load(jax.export.export(jax.jit(function))(*args, **kwargs).onnx_model_serialized)


def test_trees():
    def function(params, *, x):
        return {"y": x @ params["w"], "both": (params["b"], x.sum())}

    params, x = {"w": jnp.ones((3, 2)), "b": jnp.arange(2)}, jnp.ones((4, 3))
    model = loaded(function, params, x=x)
    want, got = function(params, x=x), model(model.params, params, x=x)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)
    with pytest.raises(ValueError, match="do not have the structure"):
        model(model.params, params)


def test_complex_numbers_and_keys():
    def function(key, z):
        return jax.random.split(key)[0], z * 2j

    key, z = jax.random.key(3), jnp.array([1 + 2j, 3.0])
    model = loaded(function, key, z)
    for call in (model, lambda p, *args: jax.jit(lambda *a: model(p, *a))(*args)):
        k, y = call(model.params, key, z)
        assert k.dtype == key.dtype
        assert np.array_equal(jax.random.key_data(k), jax.random.key_data(function(key, z)[0]))
        np.testing.assert_allclose(np.asarray(y), np.asarray(function(key, z)[1]))


def test_gradient_of_an_exported_function():
    w = jnp.arange(6.0).reshape(3, 2)
    model = loaded(lambda x: jnp.tanh(x @ w), jnp.ones((4, 3)))
    assert len(model.params) == 1
    x = jnp.ones((4, 3)) / 3
    got = jax.grad(lambda x: model(model.params, x).sum())(x)
    want = jax.grad(lambda x: jnp.tanh(x @ w).sum())(x)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5)
