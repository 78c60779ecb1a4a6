"""Operators of BCOO are those of dense arrays, and refuse what would store zeros."""

import operator

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)


def same(actual, expected):
    np.testing.assert_allclose(sparse.todense(actual), expected, rtol=1e-6)


@pytest.mark.parametrize("indices", ["unique", "repeated"])
def test_values(indices):
    m = sparse.BCOO.fromdense(DENSE)
    dense = DENSE
    if indices == "repeated":
        m, dense = sparse.bcoo_concatenate([m, m], dimension=0).reshape(2, 3, 4).sum(0), 2 * DENSE
    for got, want in (
        (abs(m), abs(dense)), (-m, -dense), (+m, dense), (m**3, dense**3), (m / 2, dense / 2), (m * 2.5, dense * 2.5),
        (m - m.T.T, 0 * dense), (m.astype(jnp.int32), dense.astype(np.int32)), (m.reshape(2, -1), dense.reshape(2, -1)),
        (m.sum(axis=0, keepdims=True), dense.sum(0, keepdims=True)), (m.sum((0, 1)), dense.sum()),
        (m.sum(-1, dtype="int32"), dense.sum(-1, dtype=np.int32)), (np.ones(3, np.float32) @ m, dense.sum(0)),
        (m + dense, 2 * dense), (dense + m, 2 * dense), (m + 0 * m, dense),
    ):  # fmt: skip
        same(got, want)
    assert m.sum((0, 1)).shape == () and isinstance(m.sum(), jax.Array)
    assert [x.todense().tolist() for x in m] == dense.tolist()


def test_dtypes_are_those_of_dense_arrays():
    whole = sparse.BCOO.fromdense(DENSE.astype(np.int8))
    for f in (
        lambda x: x * 2, lambda x: x * 2.5, lambda x: x / 2, lambda x: x**2, lambda x: x @ jnp.ones(4),
        lambda x: x * jnp.ones(4, jnp.int16), lambda x: x * jnp.float16(2), lambda x: abs(x),
    ):  # fmt: skip
        got, want = f(whole), f(jnp.asarray(DENSE.astype(np.int8)))
        assert got.dtype == want.dtype
        same(got, want)


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [
        *((f, NotImplementedError, f"sparse rule for {f.__name__} is not implemented because it would result in dense")
          for f in (operator.gt, operator.ge, operator.lt, operator.le, operator.eq, operator.ne)),
        (lambda m, x: m - x, NotImplementedError, "Subtraction between sparse and dense"),
        (lambda m, x: x - m, NotImplementedError, "Subtraction between sparse and dense"),
        (lambda m, x: x / m, NotImplementedError, "Division by a sparse array"),
        (lambda m, x: m**x, NotImplementedError, "sparse rule for pow"),
        (lambda m, x: 2**m, NotImplementedError, "sparse rule for pow"),
        (lambda m, x: m + 1, NotImplementedError, "silent densification"),
        (lambda m, x: m + None, TypeError, "requires ndarray or scalar arguments"),
        (lambda m, x: m @ [1, 2, 3, 4], TypeError, "requires ndarray or scalar arguments"),
        (lambda m, x: m * "a", TypeError, "not a valid JAX array type"),
        (lambda m, x: m @ 2, ValueError, "must have ndim at least 1"),
        (lambda m, x: m @ x, TypeError, "contracting dimensions to have the same shape"),
        (lambda m, x: m * x.T, TypeError, "mul got incompatible shapes for broadcasting"),
        (lambda m, x: m.reshape(5), TypeError, "cannot reshape array of shape"),
        (lambda m, x: m.sum(2), ValueError, "out of bounds"),
    ],
)  # fmt: skip
def test_refusals(f, error, words):
    with pytest.raises(error, match=words):
        f(sparse.BCOO.fromdense(DENSE), jnp.asarray(DENSE))


def test_other_formats_have_fewer_operators():
    for kind in (sparse.COO, sparse.CSR, sparse.CSC):
        m = kind.fromdense(DENSE)
        for f in (lambda m: m + m, lambda m: 2 * m, lambda m: m[0], lambda m: jnp.ones(3) @ m, lambda m: m.sum()):
            with pytest.raises(NotImplementedError, match=rf"{kind.__name__}'>.(__\w+__|sum)"):
                f(m)
