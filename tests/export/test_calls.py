"""Calls of exported functions: platforms, dtypes, and calls within functions that are exported in turn."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
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


N, M = symbolic_shape("n, m")
LOADED = {  # a function, and the types for which it is exported
    "loop with a branch": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: c + lax.cond(i > 1, jnp.sin, lambda y: y @ y.T @ y, c), x),
        (3, 2),
    ),
    "loop of any size": (
        lambda x: lax.scan(lambda c, row: (c + row, jnp.cumsum(row).astype(jnp.int32)), jnp.zeros_like(x[0]), x),
        (2 * N, M),
    ),
    "complex numbers": (lambda x: jnp.abs(lax.complex(x, x + 1)) + jnp.fft.rfft(x).real[..., :1], (2, 4)),
    "keys": (lambda x: x + jax.random.uniform(jax.random.key(0), x.shape), (N, 3)),
    "16 bits": (lambda x: jnp.dot(x.astype(jnp.bfloat16), x.T.astype(jnp.bfloat16)).astype(jnp.float16), (N, 3)),
    "narrow numbers": (lambda x: (x.astype(jnp.int4) * 3).astype(jnp.int8), (3,)),
    "several results": (lambda x: {"a": jnp.sort(x), "b": (x.sum(), x.shape[0] * 2)}, (N,)),
    "a large constant": (lambda x: x + np.arange(4096, dtype=np.float32), (4096,)),
}


@pytest.mark.parametrize("name", LOADED)
def test_the_model_of_a_loaded_export_is_copied(name):
    function, shape = LOADED[name]
    loaded = deserialize(export(jax.jit(function))(jax.ShapeDtypeStruct(shape, np.float32)).serialize())
    outer = lambda x: (loaded.call(x), loaded.call(x + 1))
    known = tuple(d if isinstance(d, int) else 2 * len(str(d)) for d in shape)
    x = jnp.linspace(-1, 1, int(np.prod(known)), dtype=np.float32).reshape(known)
    for spec in (x, jax.ShapeDtypeStruct(shape, np.float32)):
        again = deserialize(export(jax.jit(outer))(spec).serialize())
        tree = jax.tree.structure(function(x))
        assert jax.tree.structure(again.call(x)) == jax.tree.structure((tree.unflatten([0] * tree.num_leaves),) * 2)
        for a, b in zip(jax.tree.leaves(again.call(x)), jax.tree.leaves((function(x), function(x + 1)))):
            assert a.dtype == jnp.asarray(b).dtype
            np.testing.assert_allclose(np.float64(a), np.float64(b), rtol=2e-2 if a.dtype == np.float16 else 1e-5)


def test_slopes_of_loaded_exports_are_exported():
    loaded = deserialize(export(jax.jit(lambda x: jnp.sin(x).sum()))(X).serialize(vjp_order=1))
    again = export(jax.jit(jax.grad(loaded.call)))(X)
    np.testing.assert_allclose(again.call(X), np.cos(X), rtol=1e-6)


def test_which_models_are_not_copied():
    newer = deserialize(export(jax.jit(jnp.sin), opset=22)(X).serialize())
    assert export(jax.jit(newer.call))(X).opset == 22
    with pytest.raises(LoweringError, match="exported with opset 22"):
        export(jax.jit(newer.call), opset=21)(X)
    older = deserialize(export(jax.jit(lambda x: jnp.fft.rfft(x).real), opset=18)(X).serialize())
    with pytest.raises(LoweringError, match="DFT of opset 18 is another operator"):
        export(jax.jit(older.call))(X)


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
