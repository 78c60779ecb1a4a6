"""x.at[index].apply(func) in files: counted namings and a loop; eagerly, compiled and exported alike."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import export

X = np.arange(6, dtype=np.float32).reshape(3, 2)
I = np.array([0, 2, 2, 7])

FUNCTIONS = {
    "repeated and out of bounds": lambda x, i: x.at[i].apply(jnp.sin),
    "clipped": lambda x, i: x.at[i].apply(lambda v: v * v + 1, mode="clip"),
    "one column": lambda x, i: x.at[i, 0].apply(jnp.negative),
    "a slice": lambda x, i: x.at[1:3].apply(jnp.exp),
    "nothing": lambda x, i: x.at[:0].apply(jnp.exp),
    "a scalar": lambda x, i: x[1, 1].at[()].apply(jnp.cos),
    "not element by element": lambda x, i: x.at[i].apply(lambda v: jnp.sum(jnp.stack([v, v]))),
    "integers": lambda x, i: x.astype(int).at[i].apply(lambda v: v + 3),
    "batched": lambda x, i: onax.vmap(lambda row: row.at[i].apply(lambda v: v + 1))(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_eager_compiled_and_exported_agree(name):
    fun = FUNCTIONS[name]
    want = fun(jnp.asarray(X), I)
    for got in (onax.jit(fun)(X, I), export.export(fun)(X, I).call(X, I)):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_symbolic_sizes():
    (n,) = export.symbolic_shape("n")
    given = onax.ShapeDtypeStruct((n,), np.float32), onax.ShapeDtypeStruct((2,), np.int32)
    exported = export.export(lambda x, i: x.at[i].apply(lambda v: 2 * v))(*given)
    np.testing.assert_array_equal(exported.call(jnp.ones(4), jnp.array([1, 1])), [1, 4, 1, 1])
