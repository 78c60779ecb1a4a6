"""Ragged products: each of the three kinds against a loop over groups, derivatives, records, errors."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._prims.dot_ragged import RaggedDotDimensionNumbers, masked_dot_general

RNG = np.random.default_rng(0)
LHS = RNG.integers(-3, 4, (8, 3)).astype(np.float32)
RHS = RNG.integers(-3, 4, (4, 3, 2)).astype(np.float32)
SIZES = [
    [2, 0, 5, 1],
    [0, 0, 0, 0],
    [8, 0, 0, 0],
    [1, 1, 1, 1],
    [3, 3, 3, 3],
]  # the last one names more rows than there are


def by_loop(lhs, rhs, sizes):
    """Rows of each group times its matrix; rows in no group give 0."""
    out, start = np.zeros((len(lhs), rhs.shape[2]), np.float32), 0
    for matrix, size in zip(rhs, sizes):
        out[start : start + size] = lhs[start : start + size] @ matrix
        start += size
    return out


@pytest.mark.parametrize("sizes", SIZES)
def test_ragged_rows(sizes):
    sizes = np.array(sizes, np.int32)
    want = by_loop(LHS, RHS, sizes)
    for run in (lax.ragged_dot, jax.jit(lax.ragged_dot)):
        np.testing.assert_array_equal(run(LHS, RHS, sizes), want)


CONTRACTED = RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
ROWS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])


@pytest.mark.parametrize("sizes", SIZES[:4])
def test_a_ragged_contracted_axis(sizes):
    y = RNG.integers(-3, 4, (8, 2)).astype(np.float32)
    got = lax.ragged_dot_general(LHS, y, np.array(sizes, np.int32), CONTRACTED)
    ends = np.cumsum(sizes)
    want = [LHS[e - n : e].T @ y[e - n : e] for e, n in zip(ends, sizes)]
    np.testing.assert_array_equal(got, want)


def test_the_masked_product_is_the_same():
    params = {
        "ragged_dot_dimension_numbers": ROWS,
        "precision": None,
        "preferred_element_type": None,
        "group_offset": None,
    }
    sizes = np.array(SIZES[0], np.int32)
    got = masked_dot_general(*map(jax.numpy.asarray, (LHS, RHS, sizes)), **params)
    np.testing.assert_array_equal(got, by_loop(LHS, RHS, sizes))


def test_gradients():
    sizes = np.array(SIZES[0], np.int32)
    g, ends = jax.grad(lambda x, y: (lax.ragged_dot(x, y, sizes) ** 2).sum(), (0, 1))(LHS, RHS), np.cumsum(sizes)
    out = by_loop(LHS, RHS, sizes)
    group = np.searchsorted(ends, np.arange(8), side="right")
    np.testing.assert_allclose(g[0], [2 * out[i] @ RHS[group[i]].T for i in range(8)], rtol=1e-5)
    np.testing.assert_allclose(g[1], [2 * LHS[e - n : e].T @ out[e - n : e] for e, n in zip(ends, sizes)], rtol=1e-5)


@pytest.mark.parametrize("axes", [(0, None, None), (0, 0, None), (None, 0, 0), (0, None, 0), (None, None, 0)])
def test_batching(axes):
    sizes = np.array(SIZES[:2], np.int32)
    full = np.stack([LHS, LHS[::-1]]), np.stack([RHS, RHS + 1]), sizes
    operands = [x if d == 0 else x[0] for x, d in zip(full, axes)]
    got = jax.vmap(lax.ragged_dot, axes)(*operands)
    want = [by_loop(*(x[i] if d == 0 else x for x, d in zip(operands, axes))) for i in range(2)]
    np.testing.assert_array_equal(got, want)


def test_records():
    again = RaggedDotDimensionNumbers((([1], [1]), ([], [])), (0,), (0,))
    assert again == ROWS and hash(again) == hash(ROWS) and again != CONTRACTED
    assert repr(ROWS).startswith("RaggedDotDimensionNumbers(dot_dimension_numbers=(((1,), (1,)), ((), ()))")


WRONG = {
    "group_sizes.dtype is subtype of np.integer": lambda: lax.ragged_dot(LHS, RHS, np.ones(4, np.float32)),
    "exactly one": lambda: lax.ragged_dot_general(
        LHS, RHS, np.ones(4, int), RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0, 1], [0])
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_errors(text):
    with pytest.raises(TypeError, match=text):
        WRONG[text]()
