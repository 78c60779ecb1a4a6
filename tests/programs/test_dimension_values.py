"""Symbolic dimensions as numbers: what a traced function may do with `x.shape[0]`."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import export, symbolic_shape

USES = {
    "result": lambda x: x.shape[0],
    "array": lambda x: jnp.asarray(x.shape[0]),
    "list": lambda x: jnp.array([x.shape[0], 2]),
    "cast": lambda x: jnp.float32(x.shape[0]),
    "times": lambda x: x * x.shape[0],
    "over": lambda x: x / x.shape[0],
    "one over": lambda x: x * (1 / x.shape[0]),
    "power": lambda x: x.shape[0] ** -0.5 * x,
    "times float": lambda x: x + 1.5 * x.shape[0],
    "lax": lambda x: lax.add(x.astype(int), x.shape[0]),
    "fill": lambda x: jnp.full((2,), x.shape[0]),
    "jit argument": lambda x: onax.jit(lambda y, n: y * n)(x, x.shape[0]),
    "minimum": lambda x: jnp.minimum(x.shape[0], 3),
    "index": lambda x: x[x.shape[0] - 1],
    "slice": lambda x: x[: x.shape[0] // 2],
    "start": lambda x: lax.dynamic_slice(x, (x.shape[0] - 1,), (1,)),
    "size": lambda x: x * x.size,
    "vmap": lambda x: onax.vmap(lambda r: r * x.shape[0])(x),
    "grad": lambda x: onax.grad(lambda y: jnp.sum(y**2) / x.shape[0])(x),
    "mask": lambda x: jnp.where(jnp.arange(x.shape[0]) < x.shape[0] - 1, x, 0),
    "update": lambda x: jnp.zeros(x.shape[0] + 1).at[: x.shape[0]].set(x),
}


@pytest.mark.parametrize("use", USES)
def test_use(use):
    (b,) = symbolic_shape("b")
    exported = export(USES[use])(ShapeDtypeStruct((b,), np.float32))
    for n in (1, 4):
        x = jnp.arange(n, dtype=np.float32) + 1
        got, wanted = exported.call(x), jnp.asarray(USES[use](x))
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
