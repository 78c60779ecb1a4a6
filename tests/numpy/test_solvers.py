"""Systems of equations, determinants, inverses: against NumPy; derivatives; gradients in ONNX Runtime."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from smooth_functions import assert_derivatives, assert_gradient_is_exported

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 4, 4)) + 3 * np.eye(4)
B = RNG.normal(size=(2, 4, 2))
TALL = RNG.normal(size=(5, 3))
SAME = {  # name -> arguments: NumPy gives the same
    "det": (A,), "slogdet": (A,), "inv": (A,), "solve": (A, B), "pinv": (TALL,), "matrix_rank": (A,), "cond": (A,),
    "matrix_power": (A, -3), "tensorinv": (A[0], 1), "tensorsolve": (A[0], B[0, :, 0]),
}  # fmt: skip
SMOOTH = {
    "det": (lambda a: jnp.linalg.det(a), A),
    "singular det": (lambda a: jnp.linalg.det(a), np.outer(np.arange(1, 5), np.ones(4)) + np.diag([0.0, 1, 2, 0])),
    "slogdet": (lambda a: jnp.linalg.slogdet(a)[1], A),
    "inv": (jnp.linalg.inv, A),
    "solve": (lambda a: jnp.linalg.solve(a, B), A),
    "vector": (lambda b: jnp.linalg.solve(A[0], b), B[0, :, 0]),
    "pinv": (jnp.linalg.pinv, TALL),
    "lstsq": (lambda a: jnp.linalg.lstsq(a, np.arange(5.0))[0], TALL),
}


@pytest.fixture(autouse=True)
def double_precision():
    """What NumPy and differences are computed in."""
    with jax.enable_x64(True):
        yield


def test_traced_threshold_of_lstsq():
    b = np.arange(5.0)
    for rcond in (None, 1e-8, 0.5, -1.0):
        want = np.linalg.lstsq(TALL, b, rcond=rcond)[0]
        np.testing.assert_allclose(jnp.linalg.lstsq(TALL, b, rcond)[0], want, 1e-9)
        if rcond is not None:
            np.testing.assert_allclose(jax.jit(jnp.linalg.lstsq)(TALL, b, rcond)[0], want, 1e-9)


@pytest.mark.parametrize("name", SAME)
def test_same_as_numpy(name):
    got, want = getattr(jnp.linalg, name)(*SAME[name]), getattr(np.linalg, name)(*SAME[name])
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(tuple(want) if isinstance(want, tuple) else want)):
        np.testing.assert_allclose(g, w, 1e-9, 1e-11)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    assert_derivatives(*SMOOTH[name])


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_run_in_onnx_runtime(name):
    assert_gradient_is_exported(*SMOOTH[name])


def test_special_cases():
    singular = np.ones((2, 2))
    assert jnp.linalg.det(singular) == 0 and jnp.linalg.slogdet(singular)[1] == -np.inf
    assert jnp.linalg.slogdet(A, method="qr")[0].tolist() == jnp.linalg.slogdet(A, method="lu")[0].tolist()
    np.testing.assert_allclose(jnp.linalg.slogdet(A, method="qr")[1], np.linalg.slogdet(A)[1], 1e-12)
    assert np.isinf(jnp.linalg.cond(singular, "fro")) or jnp.linalg.cond(singular, "fro") > 1e15
    for p in (None, 2, -2, 1, -1, "fro", np.inf):
        np.testing.assert_allclose(jnp.linalg.cond(A, p), np.linalg.cond(A, p), 1e-9)
    np.testing.assert_allclose(jnp.linalg.matrix_power(A, 0), np.broadcast_to(np.eye(4), A.shape))
    np.testing.assert_allclose(jnp.linalg.matrix_power(A, 5), np.linalg.matrix_power(A, 5), 1e-10)
    np.testing.assert_allclose(jnp.linalg.pinv(A, hermitian=False, rtol=0.9), np.linalg.pinv(A, rcond=0.9), 1e-9, 1e-11)
    assert jnp.linalg.matrix_rank(singular) == 1 and jnp.linalg.matrix_rank(np.ones(3)) == 1


REFUSED = [
    (lambda: jnp.linalg.inv(TALL), ValueError, "must have shape"),
    (lambda: jnp.linalg.solve(A[0], np.ones(3)), ValueError, "core dimension 'm'"),
    (lambda: jnp.linalg.det([[1.0]]), TypeError, "requires ndarray"),
    (lambda: jnp.linalg.slogdet(A, method="svd"), ValueError, "svd"),
    (lambda: jnp.linalg.tensorinv(A, 0), ValueError, "ind"),
    (lambda: jnp.linalg.matrix_power(A, 1.5), TypeError, "integer"),
]


@pytest.mark.parametrize("call, error, words", REFUSED)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_wide_matrices():
    """LAPACK's integers count the elements of thin factors; derivatives need no square matrix of the longer side."""
    x = RNG.normal(size=(2, 40_000))
    inverse, change = jax.jvp(jnp.linalg.pinv, (x,), (x,))
    np.testing.assert_allclose(inverse, np.linalg.pinv(x), atol=1e-12)
    np.testing.assert_allclose(change, -inverse, atol=1e-12)
