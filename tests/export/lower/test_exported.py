"""Exports of functions that call loaded exports: their models are copied into the graph."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.errors import LoweringError
from onax.export import deserialize, export, symbolic_shape

X = np.linspace(0, 1, 4, dtype=np.float32)
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
