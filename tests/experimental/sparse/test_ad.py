"""Derivatives by the stored elements."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)
VECTOR = np.arange(1, 5, dtype=np.float32)


@pytest.mark.parametrize("kind", [sparse.BCOO, sparse.BCSR, sparse.COO, sparse.CSR])
def test_gradients(kind):
    m = kind.fromdense(DENSE)
    f = lambda m, v: jnp.sum(jnp.sin(m @ v))
    by_m, by_v = jax.jit(sparse.grad(f, argnums=(0, 1)))(m, VECTOR)
    want_m, want_v = jax.grad(f, (0, 1))(DENSE, VECTOR)
    assert type(by_m) is kind
    np.testing.assert_allclose(by_m.todense(), np.where(DENSE == 0, 0, want_m), rtol=1e-5)
    np.testing.assert_allclose(by_v, want_v, rtol=1e-5)
    value, gradient = sparse.value_and_grad(f, argnums=-2)(m, VECTOR)
    assert value == f(m, VECTOR)
    np.testing.assert_allclose(gradient.todense(), by_m.todense(), rtol=1e-6)


@pytest.mark.parametrize("jacobian", [sparse.jacfwd, sparse.jacrev, sparse.jacobian])
def test_jacobians(jacobian):
    m = sparse.BCOO.fromdense(DENSE)
    by_m = jacobian(lambda m: m @ VECTOR)(m)
    want = jax.jacrev(lambda m: m @ VECTOR)(DENSE)
    np.testing.assert_allclose(by_m.data, want[(slice(None), *np.asarray(m.indices).T)], rtol=1e-6)
    assert by_m.indices.shape == (3, 5, 2) and by_m.shape == (3, *DENSE.shape)
    np.testing.assert_allclose(by_m.todense(), np.where(DENSE, want, 0), rtol=1e-6)


def test_trees_and_further_results():
    tree = {"m": sparse.BCOO.fromdense(DENSE), "s": jnp.float32(2)}
    gradient, more = sparse.grad(lambda t: (t["s"] * (t["m"] @ VECTOR).sum(), "more"), has_aux=True)(tree)
    np.testing.assert_allclose(gradient["m"].data, 2 * VECTOR[np.nonzero(DENSE)[1]])
    assert gradient["s"] == (DENSE @ VECTOR).sum() and more == "more"
