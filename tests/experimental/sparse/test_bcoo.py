"""BCOO arrays against the dense arrays that they stand for (values are compared with JAX's in tests/golden)."""

import numpy as np
import pytest
import scipy.sparse

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse
from onax.experimental.sparse import bcoo

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)
BATCH = np.stack([DENSE, DENSE[::-1] * 2])


@pytest.fixture
def mat():
    return sparse.BCOO.fromdense(DENSE)


def same(actual, expected):
    actual = actual.todense() if isinstance(actual, sparse.JAXSparse) else actual
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_elements_of_a_dense_array(mat):
    assert (mat.shape, mat.nse, mat.ndim, mat.size, mat.dtype) == ((3, 4), 5, 2, 12, np.float32)
    np.testing.assert_array_equal(mat.indices, np.argwhere(DENSE))
    assert repr(mat) == "BCOO(float32[3, 4], nse=5)" and len(mat) == 3
    same(sparse.BCOO.from_scipy_sparse(scipy.sparse.csr_matrix(DENSE)), DENSE)
    batched = sparse.BCOO.fromdense(BATCH, n_batch=1, n_dense=1)
    assert (batched.n_batch, batched.n_sparse, batched.n_dense, batched.nse) == (1, 1, 1, 3)


def test_padding_is_no_part_of_the_array():
    padded = sparse.BCOO.fromdense(DENSE, nse=8)
    np.testing.assert_array_equal(padded.indices[5:], [[3, 4]] * 3)
    ones = padded._with(jnp.where(padded.data == 0, 7, padded.data))
    for form, want in (
        (ones, DENSE), (ones.reshape(4, 3), DENSE.reshape(4, 3)), (ones.sum(0), DENSE.sum(0)), (ones[1:], DENSE[1:]),
        (ones * ones, DENSE**2), (ones @ DENSE.T, DENSE @ DENSE.T), (ones @ ones.T, DENSE @ DENSE.T),
        (bcoo.bcoo_concatenate([ones, ones], dimension=0), np.concatenate([DENSE, DENSE])),
        (bcoo.bcoo_rev(ones, (0,)), DENSE[::-1]), (DENSE[:, 0] @ ones, DENSE[:, 0] @ DENSE),
    ):  # fmt: skip
        same(form, want)


@pytest.mark.parametrize("layout", [{}, {"n_batch": 1}, {"n_dense": 1}, {"n_batch": 1, "n_dense": 1}, {"n_batch": 2}])
def test_every_layout(layout):
    m = sparse.BCOO.fromdense(BATCH, **layout)
    assert (m.n_batch, m.n_dense) == (layout.get("n_batch", 0), layout.get("n_dense", 0))
    same(m, BATCH)
    same(m.sort_indices(), BATCH)
    same(m.sum_duplicates(), BATCH)
    same(m.update_layout(n_batch=0, n_dense=0), BATCH)
    same(m.update_layout(n_batch=1, n_dense=1, on_inefficient=None), BATCH)
    for axis in (0, 1, 2, (0, 2), None):
        same(m.sum(axis), BATCH.sum(axis))
    same(m * BATCH[:, :1], BATCH * BATCH[:, :1])
    same(m * m, BATCH**2)
    same(m**2, BATCH**2)
    same(m[1], BATCH[1])
    same(m[:, 1:, ::-2], BATCH[:, 1:, ::-2])
    same(bcoo.bcoo_dynamic_slice(m, (0, 1, 9), (2, 2, 2)), BATCH[:, 1:, 2:])
    same(bcoo.bcoo_dot_general(m, BATCH, dimension_numbers=(([0], [0]), ([], []))), np.tensordot(BATCH, BATCH, (0, 0)))


def test_products_of_batches():
    m, other = sparse.BCOO.fromdense(BATCH, n_batch=1), BATCH.transpose(0, 2, 1)
    want = BATCH @ other
    same(m @ other, want)
    same(m @ sparse.BCOO.fromdense(other, n_batch=1), want)
    same(BATCH @ sparse.BCOO.fromdense(other, n_batch=1), want)
    same(m @ other[0], BATCH @ other[0])
    same(DENSE @ sparse.BCOO.fromdense(other, n_batch=1), DENSE @ other)
    with pytest.raises(NotImplementedError, match="not batch axes of BCOO"):
        sparse.BCOO.fromdense(BATCH) @ other
    with pytest.raises(TypeError, match="contracting dimensions to have the same shape"):
        m @ BATCH


def test_shared_batches():
    data, indices = jnp.ones((1, 2)), jnp.array([[[0], [1]], [[1], [5]]])
    shared = sparse.BCOO((data, indices), shape=(2, 3))
    dense = np.array([[1, 1, 0], [0, 1, 0]], np.float32)
    for form, want in ((shared, dense), (shared.sum(0), dense.sum(0)), (shared @ np.ones(3), dense @ np.ones(3))):
        same(form, want)


def test_programs_gradients_and_maps(mat):
    vector = np.arange(4, dtype=np.float32)
    same(jax.jit(lambda m, v: (m * 2) @ v)(mat, vector), 2 * DENSE @ vector)
    loss = lambda data, v: jnp.sum((mat._with(data) @ v) ** 2)
    by_data, by_v = jax.grad(loss, (0, 1))(mat.data, vector)
    dense_m, dense_v = jax.grad(lambda m, v: jnp.sum((m @ v) ** 2), (0, 1))(jnp.asarray(DENSE), vector)
    same(by_data, dense_m[tuple(mat.indices.T)])
    same(by_v, dense_v)
    same(jax.vmap(lambda v: mat @ v)(np.eye(4, dtype=np.float32)), DENSE.T)
    roomy = jax.jit(lambda m: m.sum_duplicates(nse=6))(mat)
    same(roomy, DENSE)


def test_wide_reductions_of_random_arrays():
    m = sparse.random_bcoo(jax.random.key(0), (4, 5, 6), nse=7, n_batch=1, unique_indices=False)
    dense = np.asarray(m.todense())
    same(m.sum_duplicates(remove_zeros=False), dense)
    same(bcoo.bcoo_extract(m, dense), dense)
    same(bcoo.bcoo_transpose(m, permutation=(0, 2, 1)), dense.transpose(0, 2, 1))


def test_refusals(mat):
    other = sparse.BCOO.fromdense(DENSE, n_batch=1)
    for call, error, words in (
        (lambda: mat + DENSE[0], NotImplementedError, "silent densification"),
        (lambda: mat + other, NotImplementedError, "different batch/dense dimensions"),
        (lambda: mat * other, NotImplementedError, "layouts differ"),
        (lambda: mat / mat, NotImplementedError, "Division by a sparse array"),
        (lambda: mat**-1, NotImplementedError, "positive integers"),
        (lambda: mat[jnp.array([0, 1])], NotImplementedError, "integers, slices"),
        (lambda: mat[3], IndexError, "out of bounds"),
        (lambda: mat * np.ones((2, 3, 4)), NotImplementedError, "not broadcast"),
        (lambda: other.transpose(), NotImplementedError, "batch axes move among themselves"),
        (lambda: bcoo.bcoo_gather(mat, None, None, None), NotImplementedError, "indexing a sparse array by arrays"),
        (
            lambda: bcoo.bcoo_conv_general_dilated(mat, mat, window_strides=(1,), padding="SAME"),
            NotImplementedError,
            "todense",
        ),
        (
            lambda: sparse.BCOO((np.ones(2), np.ones((2, 2))), shape=(2, 2)),
            ValueError,
            "indices of a BCOO are integers",
        ),
        (lambda: mat.update_layout(n_batch=1), sparse.SparseEfficiencyError, "inefficient storage"),
    ):
        with pytest.raises(error, match=words):
            call()
    with pytest.warns(sparse.SparseEfficiencyWarning):
        same(mat.update_layout(n_dense=1, on_inefficient="warn"), DENSE)


M = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 5
MAPPED = {
    "dense": lambda a: a.todense(),
    "product": lambda a: a @ jnp.arange(4.0),
    "transpose": lambda a: a.T,
    "sum": lambda a: a.sum(0),
    "sorted": lambda a: a.sort_indices(),
    "scaled": lambda a: a * 2.0,
    "added": lambda a: a + a,
    "reshape": lambda a: a.reshape(4, 3),
    "sparse product": lambda a: a @ a.T,
    "row": lambda a: a[1],
}


@pytest.mark.parametrize("name", MAPPED)
def test_vmap_maps_a_batch_axis(name):
    dense = lambda x: x.todense() if isinstance(x, sparse.BCOO) else x
    mapped = jax.vmap(MAPPED[name])(sparse.BCOO.fromdense(M, n_batch=1))
    loop = [dense(MAPPED[name](sparse.BCOO.fromdense(m))) for m in M]
    np.testing.assert_allclose(dense(mapped), np.stack(loop))
    assert not isinstance(mapped, sparse.BCOO) or mapped.n_batch == 1


def test_vmap_of_other_axes():
    made = jax.vmap(lambda m: sparse.BCOO.fromdense(m, nse=4))(M)
    assert made.n_batch == 1 and repr(made) == "BCOO(float32[2, 3, 4], nse=4, n_batch=1)"
    with pytest.raises(ValueError, match="Cannot map in_axis=1 for BCOO array with n_batch=1"):
        jax.vmap(lambda a: a, in_axes=1)(made)
