"""einsum against NumPy: letters, ellipses, diagonals, lists of axes, several operands; paths; dtypes."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 5)), RNG.normal(size=(5, 3))
S, T = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 3, 4))
CALLS = [
    call("einsum", "ij,jk->ik", A, B), call("einsum", "ij,jk", A, B), call("einsum", "ii", S),
    call("einsum", "ii->i", S),
    call("einsum", "ij->ji", A), call("einsum", "ij->", A), call("einsum", "ij->j", A),
    call("einsum", "i,j->ij", A[0], B[0]),
    call("einsum", "ij,jk,kl->il", A, B, C), call("einsum", "ij,jk,ki", A, B, C),
    call("einsum", "...ij,jk->...ik", T, B),
    call("einsum", "i...,i...", A, A), call("einsum", "bij,bij->b", T, T), call("einsum", "bij, kj -> bki", T, A),
    call("einsum", "iij,jk->ik", RNG.normal(size=(3, 3, 4)), B), call("einsum", "ij,ij->ij", A, A),
    call("einsum", ",ij", 2.0, A),
    call("einsum", "ij,kj", A, np.ones((1, 4))), call("einsum", "i,i", A[0], A[1] + 1j * A[2]),
    call("einsum", "ij,jk", (A * 3).astype(np.int32), (B * 3).astype(np.int32)),
    call(lambda xp, a, b: xp.einsum(a, [0, 1], b, [1, 2], [0, 2]), A, B),
    call(lambda xp, t: xp.einsum(t, [0, ..., 1]), T),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


@pytest.mark.parametrize("optimize", [True, False, "optimal", "greedy", [(1, 2), (0, 1)]])
def test_orders_of_contraction(optimize):
    np.testing.assert_allclose(jnp.einsum("ij,jk,kl->il", A, B, C, optimize=optimize), A @ B @ C, rtol=1e-5, atol=1e-5)


def test_paths():
    path, text = jnp.einsum_path("ij,jk,kl->il", A, B, C, optimize="optimal")
    assert path == [(1, 2), (0, 1)] and "ij,jk,kl->il" in str(text)
    assert jnp.einsum_path("ij,jk,kl->il", A, B, C, optimize=False)[0] == [(0, 1), (0, 1)]


def test_dtypes_and_slopes():
    half = jnp.ones((2, 2), jnp.bfloat16)
    assert jnp.einsum("ij,jk", half, half).dtype == jnp.bfloat16
    assert jnp.einsum("ij,jk", half, half, preferred_element_type=np.float32).dtype == np.float32
    assert jnp.einsum("i,i", np.ones(3, bool), np.ones(3, bool)).tolist() is True
    bools = np.array([[True, False], [True, True]])
    assert jnp.einsum("ii->", bools).tolist() is True and jnp.einsum("ab,b->", bools, bools[0]).dtype == np.bool_
    gradient = jax.jit(jax.grad(lambda a: jnp.einsum("ij,jk,ki", a, B, C)))(A)
    np.testing.assert_allclose(gradient, (B @ C).T, rtol=1e-5, atol=1e-5)


REFUSED = [
    (lambda: jnp.einsum("ij,jk", A, C), (TypeError, ValueError), "4|5"),
    (lambda: jnp.einsum("ijk", A), ValueError, "ijk|dim"),
    (lambda: jnp.einsum("ij->k", A), ValueError, "k"),
    (lambda: jnp.einsum("ij,jk->ik", A), ValueError, "operand"),
    (lambda: jnp.einsum("ij", [[1.0]]), TypeError, "requires ndarray"),
    (lambda: jnp.einsum("ij,ik,il->jkl", A, A, A, optimize=[(0, 1, 2)]), NotImplementedError, "3 or more operands"),
    (lambda: jnp.einsum("ij->ij", A, out=1), (TypeError, NotImplementedError), "out"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
