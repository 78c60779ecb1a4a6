"""`sparsify`: rules, calls within, refusals (values are compared with JAX's in tests/golden)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)

FUNCTIONS = {
    "elementwise": lambda x: jnp.expm1(x) * 2 + lax.cbrt(x) - jnp.tanh(x) / 3,
    "relu": lambda x: jnp.abs(x) + x**3,
    "shapes": lambda x: jnp.concatenate([x, x[::-1]]).reshape(2, 12)[:, 1:5].T,
    "stack": lambda x: jnp.stack([x, 2 * x], axis=1),
    "dynamic": lambda x: lax.dynamic_slice(x, (jnp.int32(1), jnp.int32(1)), (2, 2)),
    "product": lambda x: x @ x.T,
    "dense": lambda x: sparse.todense(x) + 1,
    "jit": jax.jit(lambda x: jnp.sin(x).sum(0)),
    "dtype": lambda x: x.astype(jnp.int32),
    "checkpoint": jax.checkpoint(lambda x: jnp.sum(jnp.sinh(x) * x)),
}


@pytest.mark.parametrize("use_tracer", [False, True])
@pytest.mark.parametrize("kind", [sparse.BCOO, sparse.BCSR])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, kind, use_tracer):
    f = FUNCTIONS[name]
    result = sparse.sparsify(f, use_tracer=use_tracer)(kind.fromdense(DENSE))
    dense = result.todense() if isinstance(result, sparse.JAXSparse) else result
    np.testing.assert_allclose(dense, f(jnp.asarray(DENSE)), rtol=1e-5, atol=1e-6)
    assert isinstance(result, sparse.JAXSparse) == (name not in ("dense", "checkpoint"))


def test_elements_with_one_coordinate_are_summed_before_functions_that_are_not_linear():
    twice = sparse.BCOO((jnp.ones(2), jnp.array([[1], [1]])), shape=(3,))
    np.testing.assert_allclose(sparse.sparsify(jnp.sin)(twice).todense(), [0, np.sin(2), 0], rtol=1e-6)


def test_programs_and_derivatives():
    m, v = sparse.BCOO.fromdense(DENSE), np.arange(4, dtype=np.float32)
    f = sparse.sparsify(lambda m, v, *, s: s * jnp.tanh(m) @ v)
    np.testing.assert_allclose(jax.jit(lambda m: f(m, v, s=2.0))(m), 2 * np.tanh(DENSE) @ v, rtol=1e-6)
    gradient = sparse.grad(lambda m: f(m, v, s=1.0).sum())(m)
    np.testing.assert_allclose(gradient.data, ((1 - np.tanh(DENSE) ** 2) * v)[DENSE != 0], rtol=1e-5)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (jnp.cos, "cos is not implemented because it would result in dense output"),
        (jnp.cumsum, r"cumsum is not implemented\.$"),
        (lambda x: lax.complex(x, x), r"complex is not implemented\.$"),
        (lambda x: x - 1.0, "Subtraction between sparse and dense"),
        (lambda x: 1.0 / x, "Division by a sparse array"),
        (lambda x: x**-1, "non-positive exponent -1"),
        (lambda x: jnp.stack([x, jnp.ones((3, 4))]), "stacking sparse and dense"),
        (lambda x: lax.scan(lambda c, r: (c, r), 0.0, x)[1], "scan with x values"),
    ],
)
def test_refusals(f, words):
    m = sparse.BCOO.fromdense(DENSE)
    with pytest.raises(NotImplementedError, match=words):
        sparse.sparsify(f)(m)
