"""Factorizations of small matrices in ONNX: without loops, equal to the kernels, also for zeros, NaN and infinities."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.export import export

RNG = np.random.default_rng(0)
SIZES = [1, 2, 3, 4]


def exported(function, *operands):
    model = export(jax.jit(function))(*operands)
    assert not {"Loop", "Scan"} & {node.op_type for node in model.onnx_model.graph.node}
    return jax.tree.map(np.asarray, model.call(*operands))


def node_count(function, *operands):
    return len(export(jax.jit(function))(*operands).onnx_model.graph.node)


def matrices(*shape):
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(m, n) for m in SIZES for n in SIZES])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_lu_is_that_of_the_kernel(batch, shape):
    x = matrices(*batch, *shape)
    for got, wanted in zip(exported(lax.linalg.lu, x), lax.linalg.lu(x)):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1], [2, 3]],
        [[0, 0], [0, 3]],
        [[1, 2], [-1, 3]],
        [[np.nan, 1], [2, 3]],
        [[0, 1, 2], [0, 1, 1], [3, 0, 0]],
        [[1, 2, 3], [2, 4, 7], [5, 10, 15]],
        [[np.nan, 1, 3], [2, 3, 4], [5, 3, 1]],
        [[1, 1, 3], [np.nan, 3, 4], [5, 3, 1]],
        [[np.inf, 1, 1], [2, 1, 3], [3, 2, 1]],
    ],
)
def test_lu_exchanges_rows_as_the_kernel_does(rows):
    x = np.array(rows, np.float32)
    for got, wanted in zip(exported(lax.linalg.lu, x), lax.linalg.lu(x)):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("n", SIZES)
def test_complex_systems(n):
    x = matrices(2, n, n) + 1j * matrices(2, n, n)
    inverse = exported(jnp.linalg.inv, x)
    np.testing.assert_allclose(x @ inverse, np.broadcast_to(np.eye(n), x.shape), atol=1e-4)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("flags", range(16))
def test_triangular_systems(n, flags):
    names = ("left_side", "lower", "transpose_a", "unit_diagonal")
    options = {name: bool(flags >> i & 1) for i, name in enumerate(names)}
    a, b = matrices(2, n, n) + 4 * np.eye(n, dtype=np.float32), matrices(2, n, n)
    function = lambda a, b: lax.linalg.triangular_solve(a, b, **options)
    np.testing.assert_allclose(exported(function, a, b), function(a, b), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n):
    x = matrices(2, n, n)
    x = x @ np.swapaxes(x, -1, -2) + np.eye(n, dtype=np.float32)
    np.testing.assert_allclose(exported(lax.linalg.cholesky, x), lax.linalg.cholesky(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("first", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_cholesky_of_what_is_not_positive_definite_is_nan_on_and_below_the_diagonal(first, at):
    x = np.stack([np.eye(3), np.eye(3)]).astype(np.float32)
    x[0, at, at] = first
    np.testing.assert_array_equal(exported(lax.linalg.cholesky, x), lax.linalg.cholesky(x))


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("small", [0, 1])
def test_tridiagonal_systems(n, small):
    lower, middle, upper = (matrices(2, n) for _ in range(3))
    middle[:, 0] *= 1 - small  # a pivot of 0 that an exchange removes
    lower[:, 0], upper[:, -1] = 0, 0
    b = matrices(2, n, 3)
    got = exported(lax.linalg.tridiagonal_solve, lower, middle, upper, b)
    np.testing.assert_allclose(got, lax.linalg.tridiagonal_solve(lower, middle, upper, b), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("n", [2, 3])
def test_singular_tridiagonal_systems_are_nan(n):
    nothing, b = np.zeros((1, n), np.float32), np.ones((1, n, 1), np.float32)
    middle = np.ones((1, n), np.float32)
    for i in range(n):
        diagonal = middle.copy()
        diagonal[0, i] = 0
        got = exported(lax.linalg.tridiagonal_solve, nothing, diagonal, nothing, b)
        assert np.isnan(got[0, i]).all()


MATRICES = {
    "random": matrices(3, 2),
    "wide": matrices(2, 4),
    "zero": np.zeros((2, 2), np.float32),
    "rank one": np.array([[1, 2], [2, 4]], np.float32),
    "one column": np.array([[0, 3], [0, 4]], np.float32),
    "other column": np.array([[3, 0], [4, 0]], np.float32),
    "graded": np.array([[1, 1], [0, 1e-5]], np.float32),
    "large": np.array([[1e30, 2e29], [3e30, -1e30]], np.float32),
    "small": np.array([[1e-30, 2e-29], [3e-30, -1e-30]], np.float32),
    "stack": matrices(3, 4, 2),
    "one": np.array([[-2.0]], np.float32),
    "nothing": np.array([[0.0]], np.float32),
}


@pytest.mark.parametrize("name", MATRICES)
def test_singular_values(name):
    x = MATRICES[name]
    values = exported(jnp.linalg.svdvals, x)
    wanted = np.linalg.svd(x.astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(values, wanted, atol=1e-6 * wanted.max(initial=1e-37), rtol=1e-5)
    assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("name", [n for n in MATRICES if n not in ("large", "small")])
def test_singular_vectors(name):
    x = MATRICES[name]
    u, s, vh = jax.tree.map(np.asarray, export(jax.jit(lambda a: lax.linalg.svd(a, full_matrices=False)))(x).call(x))
    np.testing.assert_allclose((u * s[..., None, :]) @ vh, x, atol=3e-6)
    for q in (u, np.swapaxes(vh, -1, -2)):
        gram = np.swapaxes(q, -1, -2) @ q
        np.testing.assert_allclose(gram, np.broadcast_to(np.eye(gram.shape[-1]), gram.shape), atol=1e-5)


@pytest.mark.parametrize(
    "rows",
    [
        [[2, 1], [1, 3]],
        [[3, 1], [1, 2]],
        [[1, 0], [0, 1]],
        [[2, 0], [0, 1]],
        [[0, 0], [0, 0]],
        [[0, 1], [1, 0]],
        [[1, 1e-6], [1e-6, 1]],
        [[-4, 2], [2, -1]],
        [[5]],
        [[-0.0]],
    ],
)
@pytest.mark.parametrize("lower", [True, False])
def test_eigenvalues_of_symmetric_matrices(rows, lower):
    x = np.array(rows, np.float32)
    v, w = exported(lambda a: lax.linalg.eigh(a, lower=lower, symmetrize_input=False), x)
    np.testing.assert_allclose((v * w) @ v.T, x, atol=1e-6)
    np.testing.assert_allclose(v.T @ v, np.eye(len(x)), atol=1e-6)
    assert (np.diff(w) >= 0).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [1, 2])
def test_spectra_of_what_is_not_finite_are_nan(value, n):
    x = np.stack([np.eye(n), np.eye(n)]).astype(np.float32)
    x[0, -1, 0] = value
    functions = (jnp.linalg.svdvals, jnp.linalg.eigvals, lambda a: lax.linalg.eigh(a, symmetrize_input=False)[1])
    for function in functions:
        values = exported(function, x)
        assert np.isnan(values[0]).all() and np.isfinite(values[1]).all()


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [3, 4]],
        [[1, -2], [3, 1]],
        [[2, 1], [0, 2]],
        [[2, 0], [1, 2]],
        [[0, 0], [0, 0]],
        [[1e10, 2e10], [3e10, -1e10]],
        [[1, 1e-4], [1e-4, 1]],
        [[-3]],
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_eigenvalues_of_two_rows(rows, dtype):
    x = np.array(rows, dtype)
    if dtype == np.complex64:
        x = x * np.array(1 + 2j, dtype)
    order = lambda w: np.sort_complex(np.round(w / np.abs(x).max(initial=1e-30), 3))
    np.testing.assert_allclose(order(exported(jnp.linalg.eigvals, x)), order(np.linalg.eigvals(x)), atol=2e-3)


@pytest.mark.parametrize("rows", [[[1, 2], [3, 4]], [[1, -2], [3, 1]], [[2, 0], [1, 3]]])
def test_eigenvectors_of_two_rows(rows):
    x = np.array(rows, np.float32)
    w, v = exported(jnp.linalg.eig, x)
    np.testing.assert_allclose(x @ v, v * w, atol=1e-5)


@pytest.mark.parametrize("lower", [True, False])
def test_tridiagonal_form_of_two_rows(lower):
    x = matrices(3, 2, 2)
    function = lambda a: lax.linalg.tridiagonal(a, lower=lower)
    for got, wanted in zip(exported(function, x), function(x)):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    "function, shape, most",
    [
        (jnp.linalg.inv, (1, 1), 1),
        (jnp.linalg.inv, (2, 2), 45),
        (lax.linalg.cholesky, (3, 3), 36),
        (jnp.linalg.svdvals, (3, 2), 53),
        (jnp.linalg.eigvals, (2, 2), 83),
    ],
)
def test_node_counts(function, shape, most):
    assert node_count(function, matrices(*shape)) <= most


@pytest.mark.parametrize("shape", [(3, 0), (0, 3, 2), (2, 3, 0)])
def test_no_right_hand_sides(shape):
    a, b = np.zeros((*shape[:-1], 3), np.float32) + np.eye(3, dtype=np.float32), np.zeros(shape, np.float32)
    solve = lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True)
    assert export(solve)(a, b).call(a, b).shape == shape
    if len(shape) == 3:
        band = np.ones(shape[:-1], np.float32)
        assert export(lax.linalg.tridiagonal_solve)(band, band, band, b).call(band, band, band, b).shape == shape
    assert export(jnp.linalg.solve)(a, b).call(a, b).shape == shape
