"""Transformations nested in any order: operation by operation, compiled as a whole, and with compiled pieces inside."""

import itertools

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax, nn

X = np.array([0.3, -0.7, 1.9], np.float32)
M = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)

FUNCTIONS = {
    "polynomial": lambda a: a**3 - 2 * a * a + a,
    "where": lambda a: jnp.where(a > 0, jnp.tanh(a), a * a),
    "softmax": lambda a: nn.softmax(a) * a,
    "logsumexp": lambda a: a * nn.logsumexp(a),
    "indexing": lambda a: a[::-1] * a[jnp.array([0, 0, 2])],
    "updates": lambda a: a.at[jnp.array([0, 0])].add(a[1] * 2) ** 2,
    "products": lambda a: jnp.dot(M, a) * jnp.dot(a, M),
    "max": lambda a: jnp.max(a) * a,
    "clip": lambda a: jnp.clip(a, -0.5, 1.0) * a,
    "norm": lambda a: a / jnp.sqrt(jnp.sum(a * a) + 1),
    "gelu": lambda a: nn.gelu(a) * a,
    "relu": lambda a: nn.relu(a) * a,
    "var": lambda a: a * jnp.var(a) + jnp.std(a),
    "concatenate": lambda a: jnp.concatenate([a[1:], a[:1] * a[2:]]) * a,
    "dynamic slices": lambda a: lax.dynamic_update_slice(a, lax.dynamic_slice(a, (1,), (1,)) * a[:1], (2,)) * a,
    "prod": lambda a: jnp.prod(a) * a,
    "stop_gradient": lambda a: lax.stop_gradient(a) * a * a,
    "jit": lambda a: jax.jit(jnp.sin)(a) * jax.jit(jnp.exp)(-a * a),
    "einsum": lambda a: jnp.einsum("i,j,ij->i", a, a, M),
    "pad": lambda a: lax.pad(a, 0.5, ((1, -1, 0),)) * a,
    "power": lambda a: jnp.abs(a) ** a,
}
# Each takes and gives a function from three numbers to three numbers.
TRANSFORMATIONS = {
    "grad": lambda f: jax.grad(lambda a: jnp.sum(f(a))),
    "value_and_grad": lambda f: lambda a: (lambda v, g: g * v)(*jax.value_and_grad(lambda q: jnp.sum(f(q)))(a)),
    "jvp": lambda f: lambda a: jax.jvp(f, (a,), (a * 0.5 + 1,))[1],
    "vjp": lambda f: lambda a: jax.vjp(f, a)[1](f(a) * 0 + 1.5)[0],
    "linearize": lambda f: lambda a: jax.linearize(f, a)[1](a + 1),
    "vmap": lambda f: lambda a: jnp.sum(jax.vmap(f)(jnp.stack([a, a * 2, a - 1])), 0),
    "vmap behind": lambda f: lambda a: jax.vmap(lambda s, b: f(b * s), (0, None), 1)(jnp.array([1.0, 2.0]), a)[:, 1],
    "jacfwd": lambda f: lambda a: jax.jacfwd(f)(a) @ a,
    "jacrev": lambda f: lambda a: jax.jacrev(f)(a) @ a,
    "jit": jax.jit,
}
PAIRS = list(itertools.product(TRANSFORMATIONS, TRANSFORMATIONS))
CASES = [  # every pair several times, every function with a tenth of them
    (name, PAIRS[(7 * i + 11 * k) % len(PAIRS)]) for i, name in enumerate(FUNCTIONS) for k in range(len(PAIRS) // 8)
]


def assert_close(got, want):
    """Sums of up to a hundred products: rounding relative to the largest value."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape == (3,)
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-5 * (np.abs(want).max() + 1e-3))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pairs_of_transformations(name):
    f = FUNCTIONS[name]
    for outer, inner in (pair for case, pair in CASES if case == name):
        t, u = TRANSFORMATIONS[outer], TRANSFORMATIONS[inner]
        want = t(u(f))(X)
        assert_close(jax.jit(t(u(f)))(X), want)
        assert_close(t(jax.jit(u(jax.jit(f))))(X), want)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_and_reverse_agree(name):
    f = FUNCTIONS[name]
    np.testing.assert_allclose(jax.jacfwd(f)(X), jax.jacrev(f)(X), rtol=2e-5, atol=2e-6)
    hessians = [make(lambda a: jnp.sum(f(a))) for make in (jax.hessian, lambda g: jax.jacrev(jax.jacrev(g)))]
    np.testing.assert_allclose(hessians[0](X), hessians[1](X), rtol=1e-4, atol=1e-4)
