"""Operations on the last two axes, made of primitives: what NumPy gives, for stacks, for sizes 0 and 1, under jit."""

import numpy as np
import pytest

import onax as jax
from onax._prims import _matrices as m
from tolerance import assert_same_bits

RNG = np.random.default_rng(0)
SHAPES = [(3, 3), (2, 4), (4, 2), (2, 3, 3), (0, 3), (2, 1, 1)]


def matrices(shape, dtype=np.float32):
    x = RNG.integers(-9, 9, shape).astype(dtype)
    return x + 1j * RNG.integers(-9, 9, shape).astype(dtype) if np.dtype(dtype).kind == "c" else x


def agree(function, want, *operands):
    for run in (function, jax.jit(function)):
        got = np.asarray(run(*map(jax.numpy.asarray, operands)))
        assert_same_bits(got, np.asarray(want, got.dtype))


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_triangles(shape, k):
    x = matrices(shape)
    agree(lambda a: m.tril(a, k), np.tril(x, k), x)
    agree(lambda a: m.triu(a, k), np.triu(x, k), x)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "int8"])
def test_identities(n, dtype):
    assert_same_bits(np.asarray(m.eye(n, np.dtype(dtype))), np.eye(n, dtype=dtype))
    assert_same_bits(np.asarray(m.batched_eye((2, n, n), np.dtype(dtype))), np.stack([np.eye(n, dtype=dtype)] * 2))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (0, 0)])
def test_square_matrices(shape, dtype):
    x = matrices(shape, dtype)
    transposed = np.swapaxes(x, -1, -2)
    agree(m.matrix_transpose, transposed, x)
    agree(m.adjoint, transposed.conj(), x)
    agree(m.symmetrize, (x + transposed.conj()) / 2, x)
    agree(m.diagonal, np.diagonal(x, axis1=-2, axis2=-1), x)


@pytest.mark.parametrize("left, right", [((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 0), (0, 4))])
def test_products(left, right):
    x, y = matrices(left), matrices(right)
    agree(m.matmul, x @ y, x, y)


def test_columns():
    x = matrices((2, 3))
    agree(m.as_columns, x[..., None], x)
