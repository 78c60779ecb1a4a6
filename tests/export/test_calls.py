"""Calls of exported functions: platforms, dtypes, and calls within functions that are exported in turn."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.errors import LoweringError
from onax.export import DisabledSafetyCheck, deserialize, export, symbolic_shape

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


def test_the_program_of_a_loaded_export_is_not_at_hand():
    with pytest.raises(LoweringError, match="call_exported"):
        export(jax.jit(deserialize(WAVE.serialize()).call))(X)


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


def test_platforms():
    assert WAVE.platforms == ("cpu",) and WAVE.in_shardings_hlo == WAVE.out_shardings_hlo == (None,)
    for platforms in ((), None, ("cpu", "tpu")):
        kept = export(jax.jit(jnp.sin), platforms=platforms)(X)
        assert kept.platforms == tuple(platforms or ("cpu",)) and kept.call(X).shape == (4,)
    elsewhere = export(jax.jit(jnp.sin), platforms=["tpu", "rocm"])(X)
    for found in (elsewhere, deserialize(elsewhere.serialize()), elsewhere.vjp()):
        assert found.platforms == ("tpu", "rocm")
        args = (X,) * len(found.in_avals)
        for call in (found.call, jax.jit(found.call)):
            with pytest.raises(ValueError, match=r"was exported for platforms '\('tpu', 'rocm'\)' but it is used on"):
                call(*args)
    unchecked = export(jax.jit(jnp.sin), platforms=("tpu",), disabled_checks=[DisabledSafetyCheck.platform()])(X)
    assert unchecked.call(X).shape == (4,)
