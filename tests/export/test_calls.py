"""Calls of exported functions: dtypes, devices, and calls within functions that are exported in turn."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.export import deserialize, export, symbolic_shape

X = np.linspace(0, 1, 4, dtype=np.float32)
WAVE = export(jax.jit(lambda x: jnp.sin(x) * 2))(X)


@pytest.mark.parametrize(
    "function",
    [
        WAVE.call,
        lambda x: WAVE.call(x) + WAVE.call(2 * x),
        jax.jit(lambda x: jax.jit(WAVE.call)(x) * x),
        lambda x: jax.grad(lambda x: WAVE.call(x).sum())(x),
    ],
)
def test_functions_that_call_exports_are_exported(function):
    again = export(jax.jit(function))(X)
    np.testing.assert_allclose(again.call(X), function(jnp.asarray(X)), rtol=1e-6)
    loaded = deserialize(export(jax.jit(again.call))(X).serialize())
    np.testing.assert_allclose(loaded.call(X), function(jnp.asarray(X)), rtol=1e-6)


def test_exports_of_any_length_are_called_for_the_lengths_of_the_caller():
    (n,), (m,) = symbolic_shape("n"), symbolic_shape("m")
    inner = export(jax.jit(lambda x, k, *, y: x[1:-1] * k + y, static_argnums=1))(
        jax.ShapeDtypeStruct((n,), np.float32), 3, y=np.float32(1)
    )
    function = lambda x: inner.call(x, y=x[0]) ** 2
    for shape in ((4,), (m,), (2 * m + 1,)):
        spec = jax.ShapeDtypeStruct(shape, np.float32)
        again = export(jax.jit(function))(spec)
        slope = export(jax.jit(jax.grad(lambda x: function(x).sum())))(spec)
        for size in (4,) if shape == (4,) else (5, 7):
            x = jnp.linspace(0, 1, size)
            wanted = (x[1:-1] * 3 + x[0]) ** 2
            np.testing.assert_allclose(again.call(x), wanted, rtol=1e-6)
            np.testing.assert_allclose(slope.call(x), jax.grad(lambda x: function(x).sum())(x), rtol=1e-6)


@pytest.mark.parametrize("value", [2, True, np.float16(2), jnp.int32(2)])
def test_other_dtypes_are_refused(value):
    scalar = export(jax.jit(lambda x: x * 2))(jax.ShapeDtypeStruct((), np.float32))
    assert scalar.call(2.0) == scalar.call(np.float32(2)) == 4
    with pytest.raises(ValueError, match=r"Dtype mismatch for args\[0\]: expected float32 and called with"):
        scalar.call(value)


def test_each_device_calls_an_export():
    n = min(4, jax.device_count())
    inner = export(jax.jit(lambda x: x * 2 + x.shape[0]))(jax.ShapeDtypeStruct(symbolic_shape("n"), np.float32))
    x = np.arange(3 * n, dtype=np.float32)
    np.testing.assert_array_equal(jax.pmap(inner.call)(x.reshape(n, 3)).ravel(), 2 * x + 3)
    mesh = jax.make_mesh((n,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    over_devices = jax.shard_map(inner.call, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"))
    np.testing.assert_array_equal(over_devices(x), 2 * x + 3)
    with pytest.raises(NotImplementedError, match="Batching rule for 'call_exported' not implemented"):
        jax.vmap(inner.call)(x.reshape(n, 3))
