"""Products of arrays, against NumPy: ranks, stacks, conjugates, integers and bools; dtypes of results; slopes."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
V, M, N = RNG.normal(size=3), RNG.normal(size=(4, 3)), RNG.normal(size=(3, 5))
S, T = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(2, 1, 3, 5))
Z = M + 1j * M[::-1]
I, J = np.arange(12).reshape(4, 3), np.arange(15, dtype=np.int8).reshape(3, 5)
CALLS = [
    *[call("matmul", *pair) for pair in ((V, V), (M, V), (V, N), (M, N), (S, N), (S, T), (Z, N), (I, J))],
    *[call("matmul", *pair) for pair in ((I > 3, J > 2), (M[:, :0], N[:0]))],
    *[call("dot", *pair) for pair in ((V, V), (M, V), (S, N), (S, T), (2.0, M), (Z, N), (I, J), (I > 3, J > 2))],
    *[call("vdot", *pair) for pair in ((V, V), (Z, M), (I, I))],
    *[call("inner", *pair) for pair in ((V, V), (M, S), (3.0, V), (I, I))],
    call("outer", V, M), call("outer", Z[0], V), call("outer", I[0], J[0]),
    call("tensordot", S, N, 1), call("tensordot", S, M, 2), call("tensordot", M, N, 0),
    call("tensordot", S, M, ((1, 2), (0, 1))),
    call("tensordot", I, J, axes=[1, 0]), call("kron", V, M), call("kron", M, V[:2]), call("kron", I, J),
    call("kron", 2.0, V),
    call("cross", M, V), call("cross", M, M[::-1]), call("cross", V, N, axisb=0), call("cross", N, N[:, ::-1], axis=0),
    call("cross", I, I[::-1]),
    call("vecdot", Z, M), call("vecdot", S, M), call("vecdot", N, N, axis=0), call("matvec", S, V),
    call("matvec", M, S),
    call("vecmat", V, N), call("vecmat", Z.T[:, :, None][:, :, 0], M),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


TYPES = [
    (lambda: jnp.matmul(jnp.ones((2, 2), jnp.bfloat16), jnp.ones(2, jnp.bfloat16)), "bfloat16", False),
    (lambda: jnp.dot(J, J.T), "int8", False),
    (lambda: jnp.dot(J, J.T, preferred_element_type=np.int32), "int32", False),
    (lambda: jnp.vdot(jnp.float16([1, 2]), jnp.int8([3, 4])), "float16", False),
    (lambda: jnp.dot(2, 3), "int32", True),
    (lambda: jnp.dot(2.0, jnp.int8([3])), "float32", True),
    (lambda: jnp.outer(2, jnp.int8(3)), "int8", False),
]


@pytest.mark.parametrize(("run", "dtype", "weak"), TYPES)
def test_types(run, dtype, weak):
    assert (str(run().dtype), run().weak_type) == (dtype, weak)


def test_slopes():
    np.testing.assert_allclose(jax.grad(lambda m: (m @ N).sum())(M), np.broadcast_to(N.sum(1), M.shape), rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.grad(lambda v: jnp.cross(v, M[0])[0]))(V), [0, M[0, 2], -M[0, 1]], rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda v: jnp.kron(v, V).sum())(V), np.full(3, V.sum()), rtol=1e-5)


REFUSED = [
    (lambda: jnp.matmul(M, 2.0), ValueError, "ndim at least 1"),
    (lambda: jnp.matmul(M, M), (TypeError, ValueError), "3.*4"),
    (lambda: jnp.cross(M, M[:, :2] @ np.ones((2, 4))), ValueError, "2 or 3"),
    (lambda: jnp.tensordot(M, N, 3), TypeError, "axes"),
    (lambda: jnp.tensordot(M, N, ((0,), (0, 1))), TypeError, "axes"),
    (lambda: jnp.vecdot(V, M[:, :2]), ValueError, "core dim|3"),
    (lambda: jnp.matvec(V, V), ValueError, "dim"),
    (lambda: jnp.dot([1.0], V), TypeError, "requires ndarray"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
