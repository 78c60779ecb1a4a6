"""Callbacks that write into buffers."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental.buffer_callback import ExecutionStage, buffer_callback


def add_one(context, out, x):
    assert context.stage is ExecutionStage.EXECUTE and out.writeable and not x.writeable
    np.asarray(out)[...] = np.asarray(x) + 1


def test_calls_and_batches():
    x = jnp.arange(3)
    f = buffer_callback(add_one, jax.ShapeDtypeStruct((), x.dtype), vmap_method="expand_dims")
    assert f(x[1]) == jax.jit(f)(x[1]) == 2
    assert jax.vmap(f)(x).tolist() == jax.jit(jax.vmap(f))(x).tolist() == [1, 2, 3]


def test_trees_effects_and_aliases():
    calls = []

    def callback(context, out, tree, *, y):
        calls.append(np.from_dlpack(tree["x"]).shape)
        np.asarray(out[0])[0] = 7
        np.asarray(out[1])[...] = np.asarray(y)

    types = [jax.ShapeDtypeStruct((2,), np.float32)] * 2
    f = buffer_callback(callback, types, has_side_effect=True, input_output_aliases={0: 0})
    x = np.ones(2, np.float32)
    first, second = jax.jit(lambda x: f({"x": x}, y=2 * x))(x)
    assert first.tolist() == [7, 1] and second.tolist() == [2, 2] and x.tolist() == [1, 1]
    jax.jit(lambda x: (f({"x": x}, y=x), 0)[1])(x)
    assert calls == [(2,), (2,)]


def test_refusals():
    types = jax.ShapeDtypeStruct((2,), np.float32)
    with pytest.raises(ValueError, match="outside the range"):
        buffer_callback(add_one, types, input_output_aliases={1: 0})(jnp.ones(2))
    with pytest.raises(ValueError, match="different abstract value"):
        buffer_callback(add_one, types, input_output_aliases={0: 0})(jnp.ones(3))
    with pytest.raises(jax.errors.JaxRuntimeError, match="XLA FFI GPU context is not available"):
        buffer_callback(lambda context, out: context.stream, types)()
