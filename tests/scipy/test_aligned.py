"""Batch dimensions of factors and right-hand sides in onax.scipy.linalg broadcast against each other."""

import warnings

import numpy as np
import pytest

import onax.numpy as jnp
import onax.scipy.linalg as linalg

CALLS = {
    "cho_solve lower": (lambda a, b: linalg.cho_solve((a, True), b), lambda a: np.tril(a) @ _turned(np.tril(a))),
    "cho_solve upper": (lambda a, b: linalg.cho_solve((a, False), b), lambda a: _turned(np.triu(a)) @ np.triu(a)),
    "lu_solve": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), lambda a: a),
    "solve_triangular": (lambda a, b: linalg.solve_triangular(a, b, lower=True), np.tril),
    "solve_triangular transposed": (lambda a, b: linalg.solve_triangular(a, b, trans=1), lambda a: _turned(np.triu(a))),
}
SHAPES = [  # of the factor, of b
    ((4, 4), (4,)),
    ((3, 4, 4), (4,)),
    ((3, 4, 4), (4, 2)),
    ((3, 4, 4), (3, 4, 2)),
    ((4, 4), (3, 4, 2)),
    ((2, 3, 4, 4), (4, 2)),
    ((2, 1, 4, 4), (3, 4, 2)),
    ((1, 4, 4), (3, 4, 1)),
]
VECTORS = [((3, 4, 4), (3, 4)), ((4, 4, 4), (4, 4)), ((2, 3, 4, 4), (2, 3, 4))]
UNFIT = [((4, 4), (5,)), ((4, 4), (3, 4)), ((3, 4, 5), (4,)), ((2, 3, 4, 4), (3, 4)), ((3, 4, 4), (2, 4, 2))]


def _turned(a):
    return np.swapaxes(a, -1, -2)


def _operands(shape, b_shape):
    rng = np.random.default_rng(0)
    a = rng.normal(size=shape).astype(np.float32) * 0.3
    a = a + 3 * np.eye(*shape[-2:], dtype=np.float32)
    return a, rng.normal(size=b_shape).astype(np.float32)


@pytest.mark.parametrize(("shape", "b_shape"), SHAPES)
@pytest.mark.parametrize("name", CALLS)
def test_batches(name, shape, b_shape):
    call, matrix = CALLS[name]
    a, b = _operands(shape, b_shape)
    wanted = np.linalg.solve(matrix(a), b[:, None] if b.ndim == 1 else b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = call(jnp.array(a), jnp.array(b))
    np.testing.assert_allclose(result, wanted[..., 0] if b.ndim == 1 else wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("shape", "b_shape"), VECTORS)
@pytest.mark.parametrize("name", CALLS)
def test_vectors_with_batch_dimensions_are_deprecated(name, shape, b_shape):
    call, matrix = CALLS[name]
    a, b = _operands(shape, b_shape)
    with pytest.warns(FutureWarning, match="batched 1D solves with b.ndim > 1 are deprecated"):
        result = call(jnp.array(a), jnp.array(b))
    np.testing.assert_allclose(result, np.linalg.solve(matrix(a), b[..., None])[..., 0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("shape", "b_shape"), UNFIT)
@pytest.mark.parametrize("name", [name for name in CALLS if name != "lu_solve"])
def test_shapes_that_do_not_fit(name, shape, b_shape):
    a, b = _operands(shape, b_shape)
    with pytest.raises(ValueError, match=r"inconsistent size for core dimension 'n'|Incompatible shapes"):
        CALLS[name][0](jnp.array(a), jnp.array(b))


@pytest.mark.parametrize("b_shape", [(3, 4), (3, 4, 2)])
def test_systems_that_are_positive_definite(b_shape):
    a, b = _operands((3, 4, 4), b_shape)
    a = a @ _turned(a)
    wanted = np.linalg.solve(a, b.reshape(3, 4, -1)).reshape(b_shape)
    np.testing.assert_allclose(linalg.solve(a, b, assume_a="pos"), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "b_shape"),
    [((3, 4, 4), (4,)), ((3, 4, 4), (4, 2)), ((4, 4), (3, 4, 2)), ((4, 4), (5,)), ((2, 1, 4, 4), (3, 4, 2))],
)
def test_positive_definite_systems_of_shapes_that_do_not_fit(shape, b_shape):
    with pytest.raises(ValueError, match="The arguments to solve must have shapes a="):
        linalg.solve(*_operands(shape, b_shape), assume_a="pos")
