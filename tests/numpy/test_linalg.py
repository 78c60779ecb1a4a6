"""Norms and products of jnp.linalg, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp
from smooth_functions import assert_derivatives, assert_gradient_is_exported

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 5))
S = RNG.normal(size=(2, 4, 3))
V = np.array([3.0, 0.0, -4.0])
Z = X + 1j * X[::-1]
I = np.array([[1, -2, 2], [0, 3, 4]])
CALLS = [
    call("linalg.norm", V), call("linalg.norm", X), call("linalg.norm", S, axis=(1, 2), ord="fro", keepdims=True),
    *[call("linalg.norm", V, ord=ord) for ord in (0, 1, 2, 3, -1, -2, 0.5, np.inf, -np.inf)],
    *[call("linalg.norm", X, ord=ord) for ord in (1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")],
    *[call("linalg.norm", Z, ord=ord) for ord in (None, 1, 2, "nuc")], call("linalg.norm", Z[0], 3),
    call("linalg.norm", S, axis=-1), call("linalg.norm", S, ord=1, axis=(0, 2)), call("linalg.norm", I, axis=0, ord=1),
    *[call("linalg.matrix_norm", S, ord=ord) for ord in ("fro", "nuc", 1, 2)],
    call("linalg.vector_norm", S), call("linalg.vector_norm", S, axis=(0, 2), ord=1, keepdims=True),
    call("linalg.vector_norm", Z, axis=1), call("linalg.multi_dot", [X, Y, Y.T, X.T]), call("linalg.multi_dot", [V, Y]),
    call("linalg.matmul", X, Y), call("linalg.outer", V, X[0]), call("linalg.vecdot", Z, Z),
    call("linalg.vecdot", S, X),
    call("linalg.tensordot", X, Y, axes=1), call("linalg.cross", X, X[::-1]), call("linalg.diagonal", S, offset=1),
    call("linalg.trace", S, offset=-1), call("linalg.trace", I, dtype=np.float32),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_slopes_of_norms():
    """That of an absolute value is 1 at 0, as in JAX."""
    for order, wanted in ((2, V / 5), (1, [1, 1, -1]), (np.inf, [0, 0, -1])):
        np.testing.assert_allclose(jax.grad(lambda v, order=order: jnp.linalg.norm(v, order))(V), wanted, rtol=1e-6)


def test_the_nuclear_norm_has_derivatives():
    with jax.enable_x64(True):
        assert_gradient_is_exported(lambda a: jnp.linalg.norm(a, ord="nuc"), X)
        assert_derivatives(lambda a: jnp.linalg.norm(a, ord="nuc"), X)


REFUSED = [
    (lambda: jnp.linalg.norm(X, ord="other"), ValueError, "other"),
    (lambda: jnp.linalg.norm(X, ord=3), ValueError, "3"),
    (lambda: jnp.linalg.norm(S, axis=(0, 1, 2)), ValueError, "axis|axes"),
    (lambda: jnp.linalg.norm(V, ord="fro"), ValueError, "fro"),
    (lambda: jnp.linalg.multi_dot([X]), ValueError, "at least two"),
    (lambda: jnp.linalg.outer(X, V), ValueError, "one-dimensional"),
    (lambda: jnp.linalg.cross(Y.T[:, :2], Y.T[:, :2]), ValueError, "3"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
