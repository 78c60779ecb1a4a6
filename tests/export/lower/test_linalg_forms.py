"""The portable forms of Hessenberg, tridiagonal and Schur form and of eigenvalues: what they put together."""

import numpy as np
import pytest

from laws.runtime import run_on_runtime
from laws.sampling import Sample
from onax._ground.config import enable_x64
from onax._prims import linalg_spectral as prims
from tolerance import assert_same_bits

DTYPES = [np.dtype(t) for t in ("float32", "float64", "complex64", "complex128")]
RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(2, 7, 7))
ONES_ABOVE = np.eye(6, k=1)
#   name: matrices
MATRICES = {
    "normal": NORMAL,
    "larger": RNG.normal(size=(20, 20)),
    "symmetric": NORMAL + NORMAL.swapaxes(-1, -2),
    "skew": NORMAL - NORMAL.swapaxes(-1, -2),
    "orthogonal": np.linalg.qr(NORMAL)[0],
    "cyclic": np.roll(np.eye(5), 1, 0),  # steps without exceptional shifts would leave it as it is
    "defective": 2 * np.eye(6) + ONES_ABOVE,
    "nilpotent": ONES_ABOVE.T,
    "triangular": np.triu(NORMAL),
    "rank 1": np.ones((5, 5)),
    "rotations": np.kron(np.eye(3), np.array([[0.0, 1.0], [-1.0, 0.0]])),
    "zero": np.zeros((3, 4, 4)),
    "diagonal": np.diag(np.arange(5.0)),
    "graded": 10.0 ** np.arange(0, 8, 2)[:, None] * NORMAL[0, :4, :4],
    "large": 1e30 * NORMAL,
    "small": 1e-30 * NORMAL,
    "two": np.array([[[1.0, 2], [3, 1]], [[1, 2], [-3, 1]], [[1, 0], [3, 1]], [[1, 1], [0, 1]]]),
    "one": np.array([[3.0]]),
    "none": np.zeros((2, 0, 0)),
}
over_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
# Complex numbers where their steps differ, single precision where numbers may vanish or overflow.
CASES = [
    *((name, DTYPES[1]) for name in MATRICES),
    *(
        (name, DTYPES[3])
        for name in ("normal", "larger", "cyclic", "defective", "rank 1", "zero", "two", "one", "none")
    ),
    *((name, d) for name in ("rank 1", "large", "small") for d in DTYPES[::2]),
]
over_cases = pytest.mark.parametrize("name, dtype", CASES, ids=str)
AS_LAPACK = ("normal", "symmetric", "triangular", "two", "one", "zero")


def matrices(name, dtype):
    """The matrices in a dtype, complex ones with other imaginary parts."""
    x = MATRICES[name]
    return (x if dtype.kind == "f" else x + 0.5j * x.swapaxes(-1, -2)).astype(dtype)


def portable(primitive, x, **params):
    """Results of the portable form."""
    with enable_x64(True):
        ((_, results),) = run_on_runtime(primitive, [Sample(primitive, (x,), params)], 21)
    return results


def kernel(primitive, x, **params):
    with enable_x64(True):
        return [np.asarray(y) for y in primitive.bind(x, **params)]


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


def assert_small(difference, like, units, what):
    """At most so many roundings of the largest element."""
    size = np.max(np.abs(like), initial=0.0) * np.finfo(like.dtype).eps
    found = np.max(np.abs(difference), initial=0.0)
    assert found <= units * size, f"{what}: {found / size if size else found} roundings"


@pytest.mark.parametrize("name", AS_LAPACK)
@over_dtypes
def test_hessenberg_as_lapack(name, dtype):
    x = matrices(name, dtype)
    h, taus = portable(prims.hessenberg_p, x)
    want = kernel(prims.hessenberg_p, x)
    assert (h.shape, taus.shape) == (x.shape, want[1].shape)
    assert_small(h - want[0], x, 512, "form")
    assert np.max(np.abs(taus - want[1]), initial=0) < 256 * np.finfo(dtype).eps


@pytest.mark.parametrize("lower", [True, False])
@over_dtypes
def test_tridiagonal_as_lapack(lower, dtype):
    x = matrices("normal", dtype)
    x = x + adjoint(x)
    half = np.tril(x) + np.triu(x * 2, 1) if lower else np.triu(x) + np.tril(x * 2, -1)  # the other half does not count
    for got, want in zip(
        portable(prims.tridiagonal_p, half, lower=lower), kernel(prims.tridiagonal_p, half, lower=lower)
    ):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        assert_small(got - want, x, 1024, "tridiagonal")


@over_cases
def test_schur(name, dtype):
    x = matrices(name, dtype)
    params = {"compute_schur_vectors": True, "sort_eig_vals": False, "select_callable": None}
    t, z = portable(prims.schur_p, x, **params)
    n = x.shape[-1]
    assert_small(z @ t @ adjoint(z) - x, x, 32 * n, "put together")
    assert_small(adjoint(z) @ z - np.eye(n), np.ones(1, dtype), 32 * n, "unitary")
    if dtype.kind == "c":
        assert not np.tril(t, -1).any()
        return
    assert not np.tril(t, -2).any()
    below, above = (np.diagonal(t, k, -2, -1) for k in (-1, 1))
    assert not (below[..., 1:] * below[..., :-1]).any()
    middle = np.diagonal(t, 0, -2, -1)
    pairs = below != 0
    assert_same_bits(middle[..., 1:][pairs], middle[..., :-1][pairs])
    assert (np.sign(below) * np.sign(above))[pairs].max(initial=-1) < 0


@over_cases
def test_eig(name, dtype):
    x = matrices(name, dtype)
    params = {
        "compute_left_eigenvectors": True,
        "compute_right_eigenvectors": True,
        "enable_eigvec_derivs": False,
        "implementation": None,
    }
    w, left, right = portable(prims.eig_p, x, **params)
    want = kernel(prims.eig_p, x, **params)
    assert [(y.shape, y.dtype) for y in (w, left, right)] == [(y.shape, y.dtype) for y in want]
    n = x.shape[-1]
    assert_small(x @ right - right * w[..., None, :], x, 32 * n, "right")
    assert_small(adjoint(left) @ x - w[..., :, None] * adjoint(left), x, 32 * n, "left")
    for v in (left, right):
        assert_small(np.linalg.norm(v, axis=-2) - 1, np.ones(1, dtype), 16, "length")
    if dtype.kind == "f":  # eigenvalues in pairs, vectors of real ones real
        np.testing.assert_array_equal(np.sort(w.imag), np.sort(-w.imag))
        assert not np.where(w.imag[..., None, :] == 0, right.imag, 0).any()
    if name not in ("defective", "nilpotent", "two"):
        assert_small(np.sort(np.abs(w)) - np.sort(np.abs(want[0])), x, 512 * n, "eigenvalues")


@over_dtypes
def test_not_finite(dtype):
    x = matrices("normal", dtype)
    x[0, 1, 2] = np.nan
    params = {"compute_schur_vectors": True, "sort_eig_vals": False, "select_callable": None}
    for got in portable(prims.schur_p, x, **params):
        assert np.isnan(got[0]).all() and np.isfinite(got[1]).all()
