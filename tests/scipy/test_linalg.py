"""onax.scipy.linalg against SciPy, in double precision."""

import numpy as np
import pytest
import scipy.linalg as theirs

import onax as jax
import onax.scipy.linalg as ours

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
H = A @ A.T + np.eye(4)
RHS, V = RNG.normal(size=(4, 2)), RNG.normal(size=4)

SAME = {  # name -> arguments: both libraries give the same
    "cholesky": (H,),
    "det": (A,),
    "inv": (A,),
    "lu": (A,),
    "qr": (A,),
    "lu_factor": (A,),
    "polar": (A,),
    "solve": (A, RHS),
    "solve_triangular": (A, RHS),
    "hessenberg": (A,),
    "schur": (A,),
    "svd": (A,),
    "qr_multiply": (A, RHS.T),
}


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def assert_close(got, want):
    got, want = (jax.tree.leaves(x) for x in (got, want))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", sorted(SAME))
def test_same_as_scipy(name):
    assert_close(getattr(ours, name)(*SAME[name]), getattr(theirs, name)(*SAME[name]))


def test_factors_solve():
    want = np.linalg.solve(H, RHS)
    assert_close(ours.cho_solve(ours.cho_factor(H), RHS), want)
    assert_close(ours.cho_solve(ours.cho_factor(H, lower=True), RHS), want)
    assert_close(ours.lu_solve(ours.lu_factor(H), RHS), want)
    assert_close(ours.solve(H, RHS, assume_a="pos"), want)
    assert_close(ours.lu_solve(ours.lu_factor(A), V, trans=1), np.linalg.solve(A.T, V))
    assert_close(ours.solve_triangular(A, V, trans="T", lower=True), np.linalg.solve(np.tril(A).T, V))


def test_forms_multiply_out():
    for t, z in (ours.schur(A, output="complex"), ours.rsf2csf(*ours.schur(A))):
        assert np.abs(np.tril(t, -1)).max() < 1e-12
        assert_close(z @ t @ z.conj().T, A.astype(complex))
    h, q = ours.hessenberg(A, calc_q=True)
    assert_close(q @ h @ q.T, A)
    w, v = ours.eigh_tridiagonal(V, V[:3])
    assert_close((v * w) @ v.T, np.diag(V) + np.diag(V[:3], 1) + np.diag(V[:3], -1))
    above = V[:3] * np.exp(1j * V[:3])
    w, v = ours.eigh_tridiagonal(V.astype(complex), above)
    assert_close((v * w) @ v.T.conj(), np.diag(V) + np.diag(above, 1) + np.diag(above.conj(), -1))


def test_refusals():
    with pytest.raises(ValueError, match="assume_a"):
        ours.solve(A, RHS, assume_a="diagonal")
    with pytest.raises(ValueError, match="mode"):
        ours.qr(A, mode="thin")
    with pytest.raises(NotImplementedError, match="b=None"):
        ours.eigh(A, A)


LISTS = {  # name -> arguments, of which JAX takes lists too
    "cholesky": (H,),
    "cho_factor": (H,),
    "eigh": (H,),
    "eigh_tridiagonal": (V, V[:3]),
    "expm_frechet": (A, H),
    "polar": (A,),
    "rsf2csf": (np.triu(A), H),
    "solve_sylvester": (A, H, A),
    "solve_triangular": (A, RHS),
    "funm": (A, jax.numpy.exp),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists(name):
    function = getattr(ours, name)
    lists = [x.tolist() if isinstance(x, np.ndarray) else x for x in LISTS[name]]
    assert_close(function(*lists), function(*LISTS[name]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ours.schur(np.eye(2, dtype=int)), TypeError, "schur does not accept dtype int64 at position 0"),
        (lambda: ours.hessenberg(np.eye(2, dtype=int)), TypeError, "hessenberg does not accept dtype int64"),
        (lambda: ours.polar(A, "left"), NotImplementedError, "method='qdwh' only supports mxn matrices"),
        (lambda: ours.polar(A[:2]), NotImplementedError, "method='qdwh' only supports mxn matrices"),
        (lambda: ours.eigh_tridiagonal(V, V[:2]), TypeError, "incompatible shapes for broadcasting"),
        (lambda: ours.eigh_tridiagonal(V, V[:3], select="i"), ValueError, "select_range must be specified"),
        (lambda: ours.eigh_tridiagonal(V, V[:3], select="v"), NotImplementedError, "select='v'"),
        (
            lambda: ours.eigh_tridiagonal(V, V[:3], select="i", select_range=(2, 1)),
            ValueError,
            "Got empty index range in select_range",
        ),
    ],
)
def test_what_jax_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("side", ["right", "left"])
def test_polar_of_a_stack(side):
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype(np.float32)
    u, p = ours.polar(x, side, method="qdwh" if side == "right" else "svd")
    np.testing.assert_allclose(u @ p if side == "right" else p @ u, x, atol=1e-5)
    np.testing.assert_allclose(p, np.swapaxes(p, -1, -2), atol=1e-5)
    with pytest.raises(ValueError, match="at least a 2-D array"):
        ours.polar(np.ones(3))
