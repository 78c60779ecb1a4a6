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
    with pytest.raises(NotImplementedError, match="must be among the batch dimensions in the sparse representation"):
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
    other, batched = sparse.BCOO.fromdense(DENSE, n_batch=1), sparse.BCOO.fromdense(BATCH, n_batch=1)
    batched_dense = sparse.BCOO.fromdense(DENSE, n_dense=1)
    for call, error, words in (
        (lambda: mat + DENSE[0], NotImplementedError, "silent densification"),
        (lambda: mat + other, NotImplementedError, "different batch/dense dimensions"),
        (lambda: mat / mat, NotImplementedError, "Division by a sparse array"),
        (lambda: mat**-1, NotImplementedError, "integer_pow with non-positive exponent -1"),
        (lambda: mat * np.ones((2, 3, 4)), NotImplementedError, "output shape matches the sparse matrix shape"),
        (lambda: mat * np.ones(3), ValueError, "Incompatible shapes for broadcasting"),
        (lambda: mat * batched_dense, NotImplementedError, "differing numbers of dense dimensions"),
        (lambda: bcoo.bcoo_multiply_sparse(mat, mat[0]), TypeError, "same number of dimensions"),
        (lambda: other.transpose(), NotImplementedError, "cannot permute batch axes with non-batch axes"),
        (lambda: bcoo.bcoo_extract(DENSE, DENSE), TypeError, "First argument to bcoo_extract should be a BCOO"),
        (lambda: bcoo.bcoo_extract(mat, DENSE.T), ValueError, "shape mismatch"),
        (
            lambda: bcoo.bcoo_dot_general(batched, batched, dimension_numbers=(([2], [2]), ([], []))),
            ValueError,
            "unused batch dims on rhs with unused sparse dims on lhs",
        ),
        (
            lambda: bcoo.bcoo_dot_general(mat, mat, dimension_numbers=(([0], [0]), ([1], [1]))),
            NotImplementedError,
            "batch_dims must correspond to batch dimensions",
        ),
        (lambda: bcoo.bcoo_reduce_sum(mat, axes=(2,)), ValueError, "out of bounds"),
        (lambda: jax.jit(sparse.BCOO.fromdense)(DENSE), jax.errors.ConcretizationTypeError, "nse"),
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


def test_products_keep_the_batch_axes_of_both_operands():
    m, other = sparse.BCOO.fromdense(BATCH, n_batch=1), sparse.BCOO.fromdense(DENSE.T)
    for product, n_batch, want in (
        (bcoo.bcoo_dot_general(m, other, dimension_numbers=(([2], [0]), ([], []))), 1, BATCH @ DENSE.T),
        (bcoo.bcoo_dot_general(m, m, dimension_numbers=(([2], [2]), ([0], [0]))), 1, BATCH @ BATCH.transpose(0, 2, 1)),
        (bcoo.bcoo_dot_general(m, m, dimension_numbers=(([0], [0]), ([], []))), 0, np.tensordot(BATCH, BATCH, (0, 0))),
    ):
        assert product.n_batch == n_batch
        same(product, want)


def test_products_of_elements_are_broadcast_and_joined_over_layouts():
    m, row, column = (sparse.BCOO.fromdense(x) for x in (DENSE, DENSE[:1], DENSE[:, 3:]))
    batched = sparse.BCOO.fromdense(DENSE, n_batch=1)
    twice = sparse.BCOO((jnp.ones(2), jnp.array([[1], [1]])), shape=(3,))
    for product, n_batch, want in (
        (m * row, 0, DENSE * DENSE[:1]), (row * column, 0, DENSE[:1] * DENSE[:, 3:]), (m * row[0], 0, DENSE * DENSE[0]),
        (batched * m, 0, DENSE**2), (m * batched, 0, DENSE**2), (batched * batched, 1, DENSE**2),
        (batched * row, 0, DENSE * DENSE[:1]), (twice * twice, 0, [0, 4, 0]),
        (sparse.BCOO.fromdense(DENSE, nse=8) * row, 0, DENSE * DENSE[:1]),
    ):  # fmt: skip
        assert product.n_batch == n_batch
        same(product, want)
    by_data = jax.grad(lambda data: (m._with(data) * row).todense().sum())(m.data)
    same(by_data, (np.ones((3, 4)) * DENSE[:1])[tuple(m.indices.T)])


def test_values_and_indices_that_serve_several_examples_stay_shared():
    one_data = sparse.BCOO((jnp.array([[1.0, 2.0]]), jnp.array([[[1], [0]], [[3], [1]]])), shape=(2, 4))
    one_index = sparse.BCOO((jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([[[1], [0]]])), shape=(2, 4))
    functions = {
        "sort": lambda m: m.sort_indices(),
        "sum": lambda m: m.sum_duplicates(nse=2),
        "rows": lambda m: m[:, 1:],
        "reverse": lambda m: m[:, ::-1],
        "slice": lambda m: bcoo.bcoo_dynamic_slice(m, (0, 1), (2, 3)),
        "twice": lambda m: m + m,
    }
    for m in (one_data, one_index):
        dense = np.asarray(m.todense())
        want = {"rows": dense[:, 1:], "reverse": dense[:, ::-1], "slice": dense[:, 1:], "twice": 2 * dense}
        for name, f in functions.items():
            for result in (f(m), jax.jit(f)(m)):
                same(result, want.get(name, dense))
                if m is one_index:
                    assert result.indices.shape[0] == 1, name
    assert (one_data + one_data).data.shape == (1, 4)
    same(jax.vmap(lambda m: m.sort_indices())(one_data), one_data.todense())
    with pytest.raises(NotImplementedError, match="reshape of arrays with broadcasted batch dimensions"):
        sparse.BCOO((jnp.ones((1, 2)), one_index.indices.repeat(2, 0)), shape=(2, 4)).reshape(2, 2, 2)


CONVOLVED = [np.array([[x]], np.float32) for x in ([1, 0, 2, 0, -3], [0, 1.5, 2])]


@pytest.mark.parametrize("padding", ["SAME", "VALID", "SAME_LOWER", [(3, 1)]])
def test_convolutions(padding):
    dense, (x, y) = jax.lax.conv_general_dilated(*CONVOLVED, (1,), padding), CONVOLVED
    a, b = (sparse.BCOO.fromdense(z, n_batch=2, nse=4) for z in CONVOLVED)
    convolve = lambda *operands: sparse.bcoo_conv_general_dilated(*operands, window_strides=(1,), padding=padding)
    for operands in ((a, b), (a, y), (x, b), (x, y), (sparse.BCOO.fromdense(x), b)):
        same(convolve(*operands), dense)
    same(jax.jit(convolve)(a, b), dense)
    loss = lambda convolution, z: jnp.sum(convolution(z) ** 2)
    by_data = jax.grad(lambda data: loss(lambda d: convolve(a._with(d), b).todense(), data))(a.data)
    wanted = jax.grad(lambda z: loss(lambda z: jax.lax.conv_general_dilated(z, y, (1,), padding), z))(jnp.asarray(x))
    same(by_data[0, 0, :3], wanted[0, 0, np.array([0, 2, 4])])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window_strides": (2,)}, "non-unit window_strides"),
        ({"rhs_dilation": (2,)}, "bcoo convolution with rhs_dilation"),
        ({"padding": [(1, 1)], "lhs_dilation": (2,)}, "bcoo convolution with lhs_dilation"),
    ],
)
def test_convolutions_that_are_refused(options, words):
    a, b = (sparse.BCOO.fromdense(x, n_batch=2) for x in CONVOLVED)
    with pytest.raises(NotImplementedError, match=words):
        sparse.bcoo_conv_general_dilated(a, b, **{"window_strides": (1,), "padding": "SAME"} | options)
    with pytest.raises(NotImplementedError, match="leading dimensions other than"):
        wide = sparse.BCOO.fromdense(np.ones((2, 2, 3), np.float32), n_batch=2)
        sparse.bcoo_conv_general_dilated(wide, wide, window_strides=(1,), padding="SAME")
