"""Linear algebra on tapes: results are checked by what they multiply to."""

import itertools

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._prims.linalg import geqrf_p
from tape.harness import check, run_tape
from tape.test_dot import sample, x64  # noqa: F401  a fixture

TOLERANCE = {"float32": 5e-4, "float64": 1e-11, "complex64": 5e-4, "complex128": 1e-11}
SIZES = [0, 1, 2, 3, 4, 7, 9, 33, 70, 133]
LEADS = [(), (3,), (2, 2)]
SPECTRAL = [(1, 1), (2, 2), (5, 5), (4, 7), (7, 4), (70, 70)]


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def values(results):
    return [np.asarray(x._value) for x in results]


@pytest.fixture(params=TOLERANCE)
def dtype(request):
    return np.dtype(request.param)


@pytest.fixture
def close(dtype):
    """Asserts that two arrays agree within the rounding of a product of their size."""

    def compare(x, y):
        np.testing.assert_allclose(x, y, rtol=0, atol=TOLERANCE[dtype.name] * max(1, *np.shape(x)[-2:]))

    return compare


def matrices(dtype):
    rng = np.random.default_rng(1)
    for n, lead in itertools.product(SIZES, LEADS):
        yield n, sample(rng, (*lead, n, n), dtype)


def test_cholesky(dtype, close):
    for n, x in matrices(dtype):
        a = x @ adjoint(x) + n * np.eye(n, dtype=dtype)
        (factor,) = values(run_tape(lambda a: lax.linalg.cholesky_p.bind(a), a))
        close(factor @ adjoint(factor), a)
        assert not np.triu(factor, 1).any()


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan])
def test_a_matrix_that_is_not_positive_definite_gives_nan(dtype, bad):
    a = np.broadcast_to(np.eye(4, dtype=dtype), (2, 4, 4)).copy()
    a[1, 2, 2] = bad
    (factor,) = values(run_tape(lambda a: lax.linalg.cholesky_p.bind(a), a))
    np.testing.assert_array_equal(factor[0], np.eye(4))
    assert np.isnan(factor[1]).all()


def test_lu(dtype, close):
    rng = np.random.default_rng(2)
    for n, lead, extra in itertools.product(SIZES, LEADS, (-2, 0, 3)):
        m = max(n + extra, 0)
        x = sample(rng, (*lead, m, n), dtype)
        both, pivots, order = values(run_tape(lambda x: lax.linalg.lu(x), x))
        k = min(m, n)
        lower, upper = np.tril(both[..., :k], -1) + np.eye(m, k), np.triu(both[..., :k, :])
        close(lower @ upper, np.take_along_axis(x, order[..., None], -2))
        np.testing.assert_array_equal(order, np.asarray(lax.linalg.lu_pivots_to_permutation(pivots, m)._value))
        assert not k or (pivots >= np.arange(k)).all()


def test_lu_of_a_singular_matrix():
    x = np.array([[1, 2, 3], [2, 4, 6], [0, 0, 0]], np.float64)
    both, pivots, _ = values(run_tape(lambda x: lax.linalg.lu(x), x))
    np.testing.assert_array_equal(both, [[2, 4, 6], [0.5, 0, 0], [0, 0, 0]])
    assert pivots[0] == 1


@pytest.mark.parametrize("flags", list(itertools.product((False, True), repeat=5)))
def test_triangular_solve(dtype, close, flags):
    left, lower, transpose, conjugate, unit = flags
    conjugate = conjugate and dtype.kind == "c"
    rng = np.random.default_rng(3)

    def solve(a, b):
        how = {"left_side": left, "lower": lower, "transpose_a": transpose, "conjugate_a": conjugate}
        return lax.linalg.triangular_solve(a, b, unit_diagonal=unit, **how)

    for n, lead, k in itertools.product((1, 2, 4, 9), LEADS, (1, 3, 12)):
        a = sample(rng, (*lead, n, n), dtype)
        a = (a / (2 * n) if unit else a + 2 * n * np.eye(n)).astype(dtype)
        b = sample(rng, (*lead, n, k) if left else (*lead, k, n), dtype)
        (x,) = values(run_tape(solve, a, b))
        t = np.tril(a) if lower else np.triu(a)
        t = t * (1 - np.eye(n)) + np.eye(n) if unit else t
        t = np.swapaxes(t, -1, -2) if transpose else t
        t = t.conj() if conjugate else t
        close(t @ x if left else x @ t, b)


def test_a_zero_on_the_diagonal_gives_infinity():
    a, b = np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[2.0], [3.0]])
    (x,) = values(run_tape(lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), a, b))
    np.testing.assert_array_equal(x, [[1.0], [np.inf]])


@pytest.mark.parametrize("full", [False, True])
def test_qr(dtype, close, full):
    rng = np.random.default_rng(4)
    for n, lead, extra in itertools.product(SIZES, LEADS[:2], (-2, 0, 3)):
        m = max(n + extra, 0)
        x = sample(rng, (*lead, m, n), dtype)
        q, r = values(run_tape(lambda x: lax.linalg.qr(x, full_matrices=full), x))
        close(q @ r, x)
        close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*lead, q.shape[-1], q.shape[-1])))
        assert not np.tril(r, -1).any()


def test_r_without_q(dtype):
    for n in (5, 70):
        x = sample(np.random.default_rng(17), (2, n + 3, n), dtype)
        (r,) = values(run_tape(lambda x: lax.linalg.qr(x, full_matrices=False)[1], x))
        _, both = values(run_tape(lambda x: lax.linalg.qr(x, full_matrices=False), x))
        np.testing.assert_array_equal(r, both)


def test_reflections(dtype, close):
    rng = np.random.default_rng(5)
    for n, extra in itertools.product((1, 2, 5, 12), (0, 4)):
        x = sample(rng, (2, n + extra, n), dtype)
        factors, taus = values(run_tape(lambda x: geqrf_p.bind(x), x))
        (q,) = values(run_tape(lambda a, t: lax.linalg.householder_product(a, t), factors, taus))
        close(q @ np.triu(factors[:, :n]), x)


@pytest.mark.parametrize("left, transpose", list(itertools.product((False, True), repeat=2)))
def test_products_with_reflections(dtype, close, left, transpose):
    rng = np.random.default_rng(11)
    for m, n, lead in itertools.product((1, 3, 40), (1, 5, 36), LEADS[:2]):
        k = min(m, n)
        x, c = sample(rng, (*lead, m, n), dtype), sample(rng, (*lead, m, 7) if left else (*lead, 7, m), dtype)
        factors, taus = values(run_tape(lambda x: geqrf_p.bind(x), x))
        square = np.zeros((*lead, m, m), dtype)
        square[..., :k] = factors[..., :k]
        (q,) = values(run_tape(lambda a, t: lax.linalg.householder_product(a, t), square, taus))
        q = adjoint(q) if transpose else q
        how = {"left": left, "transpose": transpose}
        (got,) = values(run_tape(lambda a, t, c, how=how: lax.linalg.ormqr(a, t, c, **how), factors, taus, c))
        close(got, q @ c if left else c @ q)


@pytest.mark.parametrize("shape", [(300, 300), (400, 260), (260, 400)])
def test_threads_and_one_thread_give_the_same_bits(dtype, shape):
    x = sample(np.random.default_rng(12), shape, dtype)
    definite = (x[:260, :260] @ adjoint(x[:260, :260]) + 260 * np.eye(260)).astype(dtype)
    q, t = jnp.asarray(x), jnp.asarray(definite)
    for fn, a in ((lax.linalg.lu, q), (lax.linalg.qr, q), (lambda a: lax.linalg.cholesky_p.bind(a), t)):
        for got, want in zip(jax.tree.leaves(jax.jit(fn)(a)), jax.tree.leaves(fn(a))):
            assert np.asarray(got).tobytes() == np.asarray(want).tobytes()


def test_permutations_from_pivots():
    pivots = np.array([[2, 2, 3], [0, 1, 2], [9, -4, 3]], np.int32)
    check(lambda p: lax.linalg.lu_pivots_to_permutation(p, 5), pivots)


def test_tridiagonal_solve(dtype, close):
    rng = np.random.default_rng(6)
    for n, k in itertools.product((1, 2, 3, 8, 40), (1, 3)):
        dl, d, du = (sample(rng, (3, n), dtype) for _ in range(3))
        d = (d + 3 * (np.arange(n) % 2)).astype(dtype)
        b = sample(rng, (3, n, k), dtype)
        (x,) = values(run_tape(lambda *a: lax.linalg.tridiagonal_solve(*a), dl, d, du, b))
        a = np.zeros((3, n, n), dtype)
        i = np.arange(n)
        a[:, i, i], a[:, i[1:], i[:-1]], a[:, i[:-1], i[1:]] = d, dl[:, 1:], du[:, :-1]
        np.testing.assert_allclose(np.linalg.solve(a, a @ x), np.linalg.solve(a, b), rtol=1e-2, atol=1e-2)


def test_a_singular_tridiagonal_matrix():
    zeros, b = np.zeros((1, 3)), np.ones((1, 3, 1))
    (x,) = values(run_tape(lambda *a: lax.linalg.tridiagonal_solve(*a), zeros, zeros, zeros, b))
    assert np.isnan(x).all()
    (x,) = values(run_tape(lambda *a: lax.linalg.tridiagonal_solve(*a, perturb_singular=True), zeros, zeros, zeros, b))
    assert not np.isnan(x).any()


def test_solve_in_a_loop():
    a = np.eye(4, dtype=np.float32) * 3 + np.arange(16, dtype=np.float32).reshape(4, 4) / 16

    def loop(a, x):
        return lax.fori_loop(0, 20, lambda i, x: jnp.linalg.solve(a, x + 1), x)

    x = np.ones(4, np.float32)
    got = run_tape(lambda a, x: jax.jit(loop)(a, x), a, x, python=None)[0]
    want = x
    for _ in range(20):
        want = np.linalg.solve(a, want + 1)
    np.testing.assert_allclose(np.asarray(got._value), want, rtol=1e-4)


# ---- what LAPACK computes


@pytest.mark.parametrize("lower", [False, True])
def test_eigh(dtype, close, lower):
    rng = np.random.default_rng(7)
    for n, lead in itertools.product((1, 2, 5, 40), LEADS):
        x = sample(rng, (*lead, n, n), dtype)
        a = ((x + adjoint(x)) / 2).astype(dtype)
        triangle = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
        given = np.where(triangle, a, 7).astype(dtype)
        v, w = values(run_tape(lambda x: lax.linalg.eigh(x, lower=lower, symmetrize_input=False), given))
        close(a @ v, v * w[..., None, :])
        close(adjoint(v) @ v, np.broadcast_to(np.eye(n), v.shape))
        assert (np.diff(w) >= 0).all()


@pytest.mark.parametrize("shape", SPECTRAL)
def test_svd(dtype, close, shape):
    rng = np.random.default_rng(8)
    k = min(shape)
    for lead, full in itertools.product(LEADS, (False, True)):
        x = sample(rng, (*lead, *shape), dtype)
        u, s, vh = values(run_tape(lambda x, full=full: lax.linalg.svd(x, full_matrices=full), x))
        close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x)
        for basis in (u, adjoint(vh)):
            close(adjoint(basis) @ basis, np.broadcast_to(np.eye(basis.shape[-1]), (*lead, *basis.shape[-1:] * 2)))
        (alone,) = values(run_tape(lambda x: lax.linalg.svd(x, compute_uv=False), x))
        close(alone, s)


@pytest.mark.parametrize("shape", SPECTRAL)
def test_svd_by_qr(dtype, close, shape):
    x = sample(np.random.default_rng(13), (2, *shape), dtype)
    k = min(shape)
    for full in (False, True):
        how = {"full_matrices": full, "algorithm": lax.linalg.SvdAlgorithm.QR}
        u, s, vh = values(run_tape(lambda x, how=how: lax.linalg.svd(x, **how), x))
        close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x)


@pytest.mark.parametrize("shape", SPECTRAL)
@pytest.mark.parametrize("full", [False, True])
def test_pivoted_qr(dtype, close, shape, full):
    for lead in LEADS:
        x = sample(np.random.default_rng(14), (*lead, *shape), dtype)
        q, r, order = values(run_tape(lambda x: lax.linalg.qr(x, pivoting=True, full_matrices=full), x))
        close(q @ r, np.take_along_axis(x, order[..., None, :], -1))
        close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*lead, *q.shape[-1:] * 2)))
        lengths = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
        assert not np.tril(r, -1).any() and (np.diff(lengths) <= 1e-5 * lengths.max()).all()


def product_of_reflections(form, taus, below):
    """The unitary matrix of the reflections in the columns of `form`, from `below` the diagonal on."""
    n = form.shape[-1]
    q = np.broadcast_to(np.eye(n, dtype=form.dtype), form.shape).copy()
    inner = np.ascontiguousarray(form[..., below:, : n - below])
    (q[..., below:, below:],) = values(run_tape(lambda a, t: lax.linalg.householder_product(a, t), inner, taus))
    return q


def test_hessenberg(dtype, close):
    for n, lead in itertools.product((1, 2, 5, 40), LEADS):
        x = sample(np.random.default_rng(15), (*lead, n, n), dtype)
        form, taus = values(run_tape(lambda x: lax.linalg.hessenberg(x), x))
        q = product_of_reflections(form, taus, 1)
        close(q @ np.triu(form, -1) @ adjoint(q), x)


def test_tridiagonal(dtype, close):
    for n, lead in itertools.product((1, 2, 5, 40), LEADS):
        x = sample(np.random.default_rng(16), (*lead, n, n), dtype)
        a = ((x + adjoint(x)) / 2).astype(dtype)
        form, d, e, taus = values(run_tape(lambda x: lax.linalg.tridiagonal(x), np.tril(a)))
        q = product_of_reflections(form, taus, 1)
        t = np.zeros(a.shape, dtype)
        i = np.arange(n)
        t[..., i, i], t[..., i[1:], i[:-1]], t[..., i[:-1], i[1:]] = d, e, e
        close(q @ t @ adjoint(q), a)


@pytest.mark.parametrize("scale", [1.0, 1e-30])
def test_eig(dtype, close, scale):
    rng = np.random.default_rng(9)
    for n, lead in itertools.product((1, 2, 5, 40), LEADS):
        x = sample(rng, (*lead, n, n), dtype)
        given = (x * scale).astype(dtype)
        w, left, right = values(run_tape(lambda x: lax.linalg.eig(x), given))
        w = w / scale
        close(x @ right, right * w[..., None, :])
        close(adjoint(left) @ x, w[..., None] * adjoint(left))
        only = {"compute_left_eigenvectors": False}
        w, right = values(run_tape(lambda x, only=only: lax.linalg.eig(x, **only), x))
        close(x @ right, right * w[..., None, :])


def test_schur(dtype, close):
    rng = np.random.default_rng(10)
    for n, lead in itertools.product((1, 2, 5, 40), LEADS):
        x = sample(rng, (*lead, n, n), dtype)
        form, vectors = values(run_tape(lambda x: lax.linalg.schur(x), x))
        close(vectors @ form @ adjoint(vectors), x)
        assert not np.tril(form, -2).any()


def test_matrices_that_are_not_finite_give_nan():
    x = np.stack([np.eye(3), np.full((3, 3), np.inf), np.eye(3)])
    v, w = values(run_tape(lambda x: lax.linalg.eigh(x, symmetrize_input=False), x))
    u, s, vh = values(run_tape(lambda x: lax.linalg.svd(x), x))
    (form,) = values(run_tape(lambda x: lax.linalg.schur(x, compute_schur_vectors=False), x))
    (eigenvalues,) = values(
        run_tape(lambda x: lax.linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False), x)
    )
    for out in (v, w, u, s, vh, form, eigenvalues):
        assert np.isfinite(out[[0, 2]]).all() and np.isnan(out[1]).all()
