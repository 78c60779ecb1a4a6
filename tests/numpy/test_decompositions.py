"""Decompositions: against NumPy; derivatives; gradients in ONNX Runtime; failures are NaN."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from smooth_functions import assert_derivatives, assert_gradient_is_exported

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 4, 4)) + 3 * np.eye(4)
TALL = RNG.normal(size=(5, 3))
H = A @ A.swapaxes(-1, -2)


@pytest.fixture(autouse=True)
def double_precision():
    """What NumPy and differences are computed in."""
    with jax.enable_x64(True):
        yield


def test_failures_are_nan():
    bad = np.stack([-H[0], H[1]])
    out = jnp.linalg.cholesky(bad)
    assert np.isnan(out[0][np.tril_indices(4)]).all() and not np.isnan(out[1]).any()
    for function in (jnp.linalg.eigvalsh, jnp.linalg.svdvals, jnp.linalg.eigvals):
        found = function(np.stack([H[0] * np.nan, H[1]]))
        assert np.isnan(found[0]).all() and not np.isnan(found[1]).any()


SAME = {  # name -> arguments: NumPy gives the same
    "cholesky": (H,), "eigvalsh": (H,), "svdvals": (A,), "qr": (TALL,),
}  # fmt: skip
SMOOTH = {
    "cholesky": (lambda a: jnp.linalg.cholesky(a @ jnp.matrix_transpose(a)), A),
    "eigvalsh": (lambda a: jnp.linalg.eigvalsh(a + jnp.matrix_transpose(a)), A),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), TALL),
    "qr": (lambda a: jnp.linalg.qr(a, mode="complete"), TALL),
    "wide qr": (lambda a: jnp.linalg.qr(a), TALL.T),
}


@pytest.mark.parametrize("name", SAME)
def test_same_as_numpy(name):
    got, want = getattr(jnp.linalg, name)(*SAME[name]), getattr(np.linalg, name)(*SAME[name])
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(tuple(want) if isinstance(want, tuple) else want)):
        np.testing.assert_allclose(g, w, 1e-9, 1e-11)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    assert_derivatives(*SMOOTH[name])


@pytest.mark.parametrize("name", ("cholesky", "eigvalsh"))
def test_gradients_run_in_onnx_runtime(name):
    assert_gradient_is_exported(*SMOOTH[name])


TOGETHER = {  # what puts a matrix together again from its parts
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), lambda p: (p.U * p.S[..., None, :]) @ p.Vh),
    "full svd": (
        jnp.linalg.svd, lambda p: (p.U[..., : p.S.shape[-1]] * p.S[..., None, :]) @ p.Vh[..., : p.S.shape[-1], :]
    ),
    "qr": (jnp.linalg.qr, lambda p: p.Q @ p.R),
    "complete qr": (lambda a: jnp.linalg.qr(a, mode="complete"), lambda p: p.Q @ p.R),
}  # fmt: skip
OF_SQUARES = {
    "eigh": (jnp.linalg.eigh, lambda p: (p.eigenvectors * p.eigenvalues[..., None, :]) @ jnp.conj(p.eigenvectors.mT)),
    "eig": (jnp.linalg.eig, lambda p: (p.eigenvectors * p.eigenvalues[..., None, :]) @ jnp.linalg.inv(p.eigenvectors)),
    "cholesky": (jnp.linalg.cholesky, lambda l: l @ jnp.conj(l.mT)),
    "upper cholesky": (lambda a: jnp.linalg.cholesky(a, upper=True), lambda u: jnp.conj(u.mT) @ u),
}
Z = H + 1j * (A - A.swapaxes(-1, -2))


@pytest.mark.parametrize(
    "x", [A, TALL, TALL.T, TALL * (1 + 1j), A[:0]], ids=["stack", "tall", "wide", "complex", "none"]
)
@pytest.mark.parametrize("name", TOGETHER)
def test_parts_make_the_matrix(name, x):
    apart, together = TOGETHER[name]
    for run in (apart, jax.jit(apart)):
        np.testing.assert_allclose(together(run(x)), x, 0, 1e-12)


@pytest.mark.parametrize("x", [H, Z, H[:0]], ids=["real", "complex", "none"])
@pytest.mark.parametrize("name", OF_SQUARES)
def test_parts_make_the_square_matrix(name, x):
    apart, together = OF_SQUARES[name]
    x = x + 9 * np.eye(4)
    for run in (apart, jax.jit(apart)):
        np.testing.assert_allclose(together(run(x)), x, 0, 1e-11)


def test_eigenvalues_are_those_of_numpy():
    for x in (A, Z, A + 1j * Z):
        np.testing.assert_allclose(np.sort_complex(jnp.linalg.eigvals(x)), np.sort_complex(np.linalg.eigvals(x)), 1e-10)
    upper = np.triu(A)
    np.testing.assert_allclose(
        jnp.linalg.eigvalsh(upper, UPLO="U", symmetrize_input=False), np.linalg.eigvalsh(A, UPLO="U"), 1e-10, 1e-12
    )
    np.testing.assert_allclose(jnp.linalg.svd(H, hermitian=True)[1], np.linalg.svd(H)[1], 1e-10)


REFUSED = [
    (lambda: jnp.linalg.svd(A, False, subset_by_index=(0, 2)), NotImplementedError, "subset_by_index"),
    (lambda: jnp.linalg.qr(A, mode="thin"), ValueError, "mode 'thin'"),
    (lambda: jnp.linalg.eigh(A, UPLO="X"), ValueError, "UPLO"),
    (lambda: jnp.linalg.cholesky(jnp.ones((2, 2), np.float16)), NotImplementedError, "float32 first"),
    (lambda: jax.jvp(lambda a: jax.lax.linalg.eig(a), (A,), (A,)), NotImplementedError, "enable_eigvec_derivs"),
    (lambda: jnp.linalg.eigvals(TALL), ValueError, "square"),
]


@pytest.mark.parametrize("call, error, words", REFUSED)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
