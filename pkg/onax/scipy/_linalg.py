"""Implementation of onax.scipy.linalg: factorisations, and systems of equations by them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.cond import cond
from onax._control.jit_call import staged
from onax._control.scan import scan
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._transforms.autodiff import jvp
from onax._transforms.vmap import vmap
from onax.lax import linalg as factors
from onax.numpy._decompositions import adjoint
from onax.numpy._promotion import check_arraylike, ensure_arraylikes, promote_dtypes_inexact
from onax.numpy._solvers import lu_solve as _solve_by_lu
from onax.scipy._aligned import aligned, apply_to_columns, check_system, with_batch

# Arguments that concern SciPy's implementation only (overwrite_a, check_finite, ...) are accepted and ignored.


def promote_inexact(name, *args):
    args = check_arraylike(f"jax.scipy.linalg.{name}", *args)
    return promote_dtypes_inexact(*args)


def as_inexact(*args):
    """Converts the arguments (lists included) to arrays of one inexact dtype."""
    return promote_dtypes_inexact(*map(jnp.asarray, args))


def _as_inexact_matrices(name, *args):
    """Converts the arguments (lists included) to matrices, or stacks of matrices, of one inexact dtype."""
    args = as_inexact(*args)
    for x in args:
        if x.ndim < 2:
            raise TypeError(f"Input 0 to {name} must have rank at least 2, but got shape={x.shape}")
    return args


def _as_square_matrices(name, a, refusal):
    """Converts an argument that must be a square matrix, or a stack of some, of an inexact dtype to an array."""
    a = jnp.asarray(*check_arraylike(f"jax.scipy.linalg.{name}", a))
    if a.ndim < 2:
        raise TypeError(f"Input 0 to {name} must have rank at least 2, but got shape={a.shape}")
    if a.shape[-1] != a.shape[-2]:
        raise ValueError(refusal.format(a.shape))
    if not jnp.issubdtype(a.dtype, np.inexact):
        raise TypeError(
            f"{name} does not accept dtype {a.dtype} at position 0. Accepted dtypes at position 0 are subtypes of "
            "floating, complexfloating."
        )
    return a


# ---- factorisations ----


@staged("_cholesky", ("lower",), compiled_from=1)
def _cholesky(a, lower):
    out = factors.cholesky(a if lower else adjoint(a), symmetrize_input=False)
    return out if lower else adjoint(out)


def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Returns the Cholesky factor of Hermitian positive definite matrices.

    Args:
      a: (..., n, n), of which one triangle is read.
      lower: True: L with a = L L^H; default False: U with a = U^H U.
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      Array of the shape of `a`; NaN for a matrix that is not positive definite.

    Examples:
      >>> onax.scipy.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
      Array([[2., 1.],
             [0., 2.]], dtype=float32)
    """
    (a,) = as_inexact(a)
    return _cholesky(a, lower=lower)


def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Returns the Cholesky factor of matrices, for `cho_solve`.

    Args:
      a: (..., n, n), Hermitian and positive definite.
      lower: as in `cholesky`; default False.
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      (factor, lower).

    Raises:
      ValueError: the matrix is not square.

    Examples:
      >>> c, lower = onax.scipy.linalg.cho_factor(4.0 * jnp.eye(2))
      >>> c, lower
      (Array([[2., 0.],
             [0., 2.]], dtype=float32), False)
    """
    return cholesky(a, lower=lower), lower


@staged("_cho_solve", ("lower",), compiled_from=1)
def _cho_solve(c, b, lower):
    solve = partial(factors.triangular_solve, c, left_side=True, lower=lower)
    b = solve(b, transpose_a=not lower, conjugate_a=not lower)
    return solve(b, transpose_a=lower, conjugate_a=lower)


def cho_solve(
    c_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Returns the solution of a x = b, given the factor of a.

    Args:
      c_and_lower: what `cho_factor` returned for a, (..., n, n).
      b: (..., n) or (..., n, k).
      overwrite_b: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      Array of the shape of `b`.

    Examples:
      >>> factor = onax.scipy.linalg.cho_factor(4.0 * jnp.eye(2))
      >>> onax.scipy.linalg.cho_solve(factor, jnp.array([4.0, 8.0]))
      Array([1., 2.], dtype=float32)
    """
    c, lower = c_and_lower
    c, b = promote_inexact("cho_solve", c, b)
    c, b = aligned("cho_solve", "cho_solve(c_and_lower, b[..., None])", c, b)
    return apply_to_columns(c, b, lambda b: _cho_solve(c, b, lower=lower))


@static_argnames("full_matrices", "compute_uv", "overwrite_a", "check_finite", "lapack_driver")
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Array | tuple[Array, Array, Array]:
    """Returns the singular value decomposition, a = U diag(s) Vh.

    Args:
      a: (..., m, n).
      full_matrices: True (the default): U is (..., m, m) and Vh (..., n, n); False: min(m, n) columns and rows.
      compute_uv: False: s alone; default True.
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.
      lapack_driver: accepted, without effect.

    Returns:
      (U, s, Vh), or s; s is (..., min(m, n)), descending.

    Examples:
      >>> onax.scipy.linalg.svd(jnp.diag(jnp.array([2.0, 3.0])), compute_uv=False)
      Array([3., 2.], dtype=float32)
    """
    if not compute_uv:
        return jnp.linalg.svd(jnp.asarray(a), full_matrices=full_matrices, compute_uv=False)
    u, s, vh = jnp.linalg.svd(jnp.asarray(a), full_matrices=full_matrices)
    return u, s, vh


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Returns determinants.

    Args:
      a: (..., n, n).
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      Array of shape (...).

    Examples:
      >>> onax.scipy.linalg.det(jnp.array([[2.0, 1.0], [0.0, 3.0]]))
      Array(6., dtype=float32)
    """
    return jnp.linalg.det(a)


def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Returns inverse matrices.

    Args:
      a: (..., n, n).
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      Array of the shape of `a`.

    Examples:
      >>> onax.scipy.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
      Array([[0.5 , 0.  ],
             [0.  , 0.25]], dtype=float32)
    """
    return jnp.linalg.inv(a)


def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Array | tuple[Array, Array]:
    """Returns eigenvalues and eigenvectors of Hermitian matrices.

    Unlike SciPy, which reads one triangle, it takes the mean of both, as JAX does.

    Args:
      a: (..., n, n).
      b: None: the generalised problem is not solved.
      lower: accepted, without effect.
      eigvals_only: True: eigenvalues alone; default False.
      overwrite_a: accepted, without effect.
      overwrite_b: accepted, without effect.
      turbo: accepted, without effect.
      eigvals: None: all eigenvalues.
      type: 1.
      check_finite: accepted, without effect.

    Returns:
      (w, v): ascending eigenvalues (..., n), and eigenvectors in the columns of (..., n, n); or w.

    Raises:
      NotImplementedError: `b`, `eigvals` or another `type` is given.

    Examples:
      >>> onax.scipy.linalg.eigh(jnp.array([[0.0, 1.0], [1.0, 0.0]]), eigvals_only=True).round(4)
      Array([-1.,  1.], dtype=float32)
    """
    if b is not None:
        raise NotImplementedError("Only the b=None case of eigh is implemented")
    if type != 1:
        raise NotImplementedError("Only the type=1 case of eigh is implemented.")
    if eigvals is not None:
        raise NotImplementedError("Only the eigvals=None case of eigh is implemented.")
    (a,) = as_inexact(a)
    w, v = jnp.linalg.eigh(a, UPLO="L" if lower else "U")
    return w if eigvals_only else (w, v)


@staged("lu_factor", compiled_from=1)
def _lu_factor(a):
    both, pivots, _ = factors.lu(a)
    return both, pivots


@static_argnames("overwrite_a", "check_finite")
def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Returns the LU factors of matrices in one array, for `lu_solve`.

    Args:
      a: (..., m, n).
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      (lu, pivots): both triangles, (..., m, n), and the row that each row was exchanged with, int32 (..., min(m, n)).

    Examples:
      >>> lu, pivots = onax.scipy.linalg.lu_factor(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
      >>> pivots
      Array([1, 1], dtype=int32)
    """
    return _lu_factor(*_as_inexact_matrices("lu_factor", a))


@staged("lu_solve", ("trans",), compiled_from=1)
def _lu_solve(both, pivots, b, trans):
    order = with_batch(factors.lu_pivots_to_permutation(pivots, both.shape[-1]), both.shape[:-2], 1)
    return _solve_by_lu(both, order, b, trans=trans, core=1 if b.ndim == both.ndim - 1 else 2)


@static_argnames("check_finite", "overwrite_b", "trans")
def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Returns the solution of op(a) x = b, given the LU factors of a.

    Args:
      lu_and_piv: what `lu_factor` returned for a, (..., n, n).
      b: (..., n) or (..., n, k).
      trans: 0: a; 1: its transpose; 2: its conjugate transpose.  Default 0.
      overwrite_b: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      Array of the shape of `b`.

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> factors = onax.scipy.linalg.lu_factor(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
      >>> onax.scipy.linalg.lu_solve(factors, jnp.array([3.0, 4.0]))
      Array([2., 3.], dtype=float32)
    """
    both, pivots = lu_and_piv
    both, b = promote_inexact("lu_solve", both, b)
    both, b = aligned("lu_solve", "lu_solve((lu, piv), b[..., None])", both, b)
    return _lu_solve(both, pivots, b, trans=trans)


@staged("lu", ("permute_l",), compiled_from=1)
def _lu(a, permute_l):
    m, n = a.shape[-2:]
    k = min(m, n)
    both, _, order = factors.lu(a)
    rows = lax.broadcasted_iota(np.int32, (*order.shape[:-1], m, m), order.ndim - 1)
    p = jnp.array(rows == order[..., None, :], dtype=dtypes.real_dtype(a.dtype))
    lower = jnp.tril(both, -1)[..., :, :k] + jnp.eye(m, k, dtype=a.dtype)
    upper = jnp.triu(both)[..., :k, :]
    return (jnp.matmul(p.astype(a.dtype), lower), upper) if permute_l else (p, lower, upper)


@static_argnames("permute_l", "overwrite_a", "check_finite")
def lu(
    a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array] | tuple[Array, Array, Array]:
    """Returns the LU decomposition of matrices.

    Args:
      a: (..., m, n).
      permute_l: True: (P L, U); default False.
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      (P, L, U) with a = P L U: a permutation (..., m, m), L (..., m, k) and U (..., k, n), k = min(m, n).

    Raises:
      TypeError: `a` has less than 2 axes.

    Examples:
      >>> p, l, u = onax.scipy.linalg.lu(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
      >>> u
      Array([[2., 0.],
             [0., 1.]], dtype=float32)
    """
    (a,) = _as_inexact_matrices("lu", a)
    return _lu(a, permute_l=permute_l)


@staged("qr", ("mode", "pivoting"), compiled_from=1)
def _qr(a, mode, pivoting):
    q, r, *order = factors.qr(a, pivoting=pivoting, full_matrices=mode in ("full", "r"))
    return (r, *order) if mode == "r" else (q, r, *order)


def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: int | None = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """Returns the QR decomposition of matrices.

    Args:
      a: (..., m, n).
      overwrite_a: accepted, without effect.
      lwork: accepted, without effect.
      mode: "full": Q is (..., m, m); "economic": min(m, n) columns; "r": without Q.
      pivoting: True: columns are exchanged so that R's diagonal descends; default False.
      check_finite: accepted, without effect.

    Returns:
      (Q, R), a tuple (R,) for mode "r"; with `pivoting` also the order of the columns, int32 (..., n).

    Raises:
      ValueError: another mode.

    Examples:
      >>> q, r = onax.scipy.linalg.qr(jnp.ones((3, 2)), mode="economic")
      >>> q.shape, r.shape
      ((3, 2), (2, 2))
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    (a,) = _as_inexact_matrices("qr", a)
    return _qr(a, mode=mode, pivoting=pivoting)


@staged("_schur", ("output",), compiled_from=1)
def _schur(a, output):
    if output == "complex" and not dtypes.is_complex(a.dtype):
        a = a.astype(np.result_type(a.dtype, np.complex64))
    return factors.schur(a)


def schur(a: ArrayLike, output: str = "real") -> tuple[Array, Array]:
    """Returns the Schur form of matrices, a = Z T Z^H.

    Args:
      a: (..., n, n).
      output: "real" (the default): T of a real matrix has blocks of 2 x 2 for complex eigenvalues; "complex": T is
        triangular.

    Returns:
      (T, Z), both (..., n, n).

    Raises:
      ValueError: `output` is another value, or the matrix is not square.
      TypeError: a matrix of integers.

    Examples:
      >>> t, z = onax.scipy.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))
      >>> bool(jnp.allclose(z @ t @ z.T, jnp.array([[1.0, 2.0], [0.0, 3.0]]), atol=1e-5))
      True
    """
    if output not in ("real", "complex"):
        raise ValueError(f"Expected 'output' to be either 'real' or 'complex', got output={output!r}.")
    a = _as_square_matrices("schur", a, "The input to schur must be a square matrix. Got shape {}.")
    return _schur(a, output)


@staged("hessenberg", ("calc_q",), compiled_from=1)
def _hessenberg(a, calc_q):
    n = a.shape[-1]
    packed, taus = factors.hessenberg(a)
    h = jnp.triu(packed, -1)
    if not calc_q:
        return h
    q = factors.householder_product(packed[..., 1:, : n - 1], taus)
    unit = jnp.broadcast_to(jnp.eye(n, dtype=a.dtype), a.shape)
    return h, unit.at[..., 1:, 1:].set(q)


@static_argnames("calc_q", "check_finite", "overwrite_a")
def hessenberg(
    a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array | tuple[Array, Array]:
    """Returns the Hessenberg form of matrices, a = Q H Q^H, zero below the first subdiagonal.

    Args:
      a: (..., n, n).
      calc_q: True: Q too; default False.
      overwrite_a: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      H, or (H, Q), of the shape of `a`.

    Raises:
      TypeError: `a` has less than 2 axes.

    Examples:
      >>> onax.scipy.linalg.hessenberg(jnp.eye(3)).shape
      (3, 3)
    """
    refusal = "Argument to Hessenberg reduction must have shape [..., n, n], got shape {}"
    a = _as_square_matrices("hessenberg", a, refusal)
    if a.shape[-1] == 0:
        return (a, lax.full_like(a, 0)) if calc_q else a
    return _hessenberg(a, calc_q)


@staged("rsf2csf", compiled_from=1)
def _rotation(block):
    """The rotation that makes a block of two rows upper triangular, for the eigenvalue that LAPACK finds first."""
    c, d = block[1, 0], block[1, 1]
    mu = jnp.linalg.eigvals(block)[0] - d
    size = jnp.sqrt(jnp.abs(mu) ** 2 + jnp.abs(c) ** 2).astype(block.dtype)
    cosine, sine = mu / size, c / size
    return jnp.stack([jnp.stack([jnp.conj(cosine), sine]), jnp.stack([-sine, cosine])])


def _rsf2csf(t, z):
    n = t.shape[0]
    eps = dtypes.finfo(t.dtype).eps
    columns, rows = jnp.arange(n)[None], jnp.arange(n)[:, None]

    def rotate(m, t, z):
        turn = _rotation(lax.dynamic_slice(t, (m - 1, m - 1), (2, 2)))
        back = adjoint(turn)
        # What lies below the blocks of a Schur form counts as zero, and stays as it is.
        pair = lax.dynamic_slice(t, (m - 1, 0), (2, n))
        turned = jnp.where(columns >= m - 1, jnp.matmul(turn, pair), pair)
        t = lax.dynamic_update_slice(t, turned, (m - 1, 0))
        pair = lax.dynamic_slice(t, (0, m - 1), (n, 2))
        turned = jnp.where(rows <= m, jnp.matmul(pair, back), pair)
        t = lax.dynamic_update_slice(t, turned, (0, m - 1))
        z = lax.dynamic_update_slice(z, jnp.matmul(lax.dynamic_slice(z, (0, m - 1), (n, 2)), back), (0, m - 1))
        return t, z

    def eliminate(state, m):
        t, z = state
        is_large = jnp.abs(t[m, m - 1]) > eps * (jnp.abs(t[m - 1, m - 1]) + jnp.abs(t[m, m]))
        t, z = cond(is_large, rotate, lambda _, t, z: (t, z), m, t, z)
        return (t.at[m, m - 1].set(0), z), None

    return scan(eliminate, (t, z), jnp.arange(n - 1, 0, -1))[0] if n > 1 else (t, z)


@static_argnames("check_finite")
def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """Returns a real Schur form as a complex, triangular one.

    Args:
      T: (..., n, n), quasi-triangular.
      Z: (..., n, n), orthogonal; leading axes broadcast.
      check_finite: accepted, without effect.

    Returns:
      (T, Z), complex.

    Raises:
      ValueError: the matrices are not square, or of other shapes.

    Examples:
      >>> t, z = onax.scipy.linalg.rsf2csf(*onax.scipy.linalg.schur(jnp.array([[0.0, 1.0], [-1.0, 0.0]])))
      >>> t.dtype
      dtype('complex64')
    """
    T, Z = as_inexact(T, Z)
    for name, value in (("T", T), ("Z", Z)):
        if value.ndim < 2 or value.shape[-1] != value.shape[-2]:
            raise ValueError(f"Input '{name}' must be square.")
    if T.shape[-2:] != Z.shape[-2:]:
        raise ValueError(f"Input array shapes must match: Z: {Z.shape} vs. T: {T.shape}")
    kind = np.result_type(T.dtype, np.complex64)
    T, Z = T.astype(kind), Z.astype(kind)
    if T.ndim == Z.ndim == 2:
        return _rsf2csf(T, Z)
    return jnp.vectorize(_rsf2csf, signature="(n,n),(n,n)->(n,n),(n,n)")(T, Z)


# ---- systems of equations ----


@staged("_solve", ("assume_a", "lower"), compiled_from=1)
def _solve(a, b, assume_a, lower):
    if assume_a != "pos":
        return jnp.linalg.solve(a, b)
    c = factors.cholesky(lax.stop_gradient(a) if lower else adjoint(lax.stop_gradient(a)), symmetrize_input=False)

    def by_factor(_, x):
        y = factors.triangular_solve(c, x[..., None], left_side=True, lower=True)
        return factors.triangular_solve(c, y, left_side=True, lower=True, transpose_a=True, conjugate_a=True)[..., 0]

    def one(v):
        return lax.custom_linear_solve(lambda x: jnp.matmul(a, x), v, solve=by_factor, symmetric=True)

    return one(b) if b.ndim == 1 else vmap(one, 1, 1)(b)


_ASSUMPTIONS = ("gen", "sym", "her", "pos")


def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """Returns the solution of a x = b.

    Args:
      a: (..., n, n).
      b: (..., n) or (..., n, k).
      lower: for "pos": True: the lower triangle of `a` is read; default False.
      overwrite_a: accepted, without effect.
      overwrite_b: accepted, without effect.
      debug: accepted, without effect.
      check_finite: accepted, without effect.
      assume_a: "gen" (the default), "sym", "her", or "pos": Hermitian positive definite, which Cholesky's factor
        solves.

    Returns:
      Array of the shape of `b`.

    Raises:
      ValueError: another assumption, or for "pos" shapes that do not fit.

    Examples:
      >>> onax.scipy.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 8.0]))
      Array([1., 2.], dtype=float32)
    """
    if assume_a not in _ASSUMPTIONS:
        raise ValueError(f"Expected assume_a to be one of {list(_ASSUMPTIONS)}; got {assume_a!r}")
    a, b = promote_inexact("solve", a, b)
    if assume_a == "pos":
        check_system(a, b)
        if a.ndim > 2:
            return jnp.linalg.solve(a, b) if b.ndim == a.ndim else jnp.linalg.solve(a, b[..., None])[..., 0]
    return _solve(a, b, assume_a=assume_a, lower=lower)


@staged("_solve_triangular", ("trans", "lower", "unit_diagonal"), compiled_from=1)
def _solve_triangular(a, b, trans, lower, unit_diagonal):
    a, b = aligned("solve_triangular", "solve_triangular(a, b[..., None])", a, b)
    how = {"left_side": True, "lower": lower, "transpose_a": trans != 0, "conjugate_a": trans == 2}
    vector = b.ndim == a.ndim - 1
    out = factors.triangular_solve(a, b[..., None] if vector else b, unit_diagonal=unit_diagonal, **how)
    return out[..., 0] if vector else out


_TRANS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """Returns the solution of op(a) x = b for a triangular a.

    Args:
      a: (..., n, n), of which one triangle is read.
      b: (..., n) or (..., n, k).
      trans: 0 or "N": a; 1 or "T": its transpose; 2 or "C": its conjugate transpose.  Default 0.
      lower: True: the lower triangle; default False.
      unit_diagonal: True: the diagonal counts as ones; default False.
      overwrite_b: accepted, without effect.
      debug: accepted, without effect.
      check_finite: accepted, without effect.

    Returns:
      Array of the shape of `b`.

    Raises:
      ValueError: another `trans`.

    Examples:
      >>> onax.scipy.linalg.solve_triangular(jnp.array([[2.0, 1.0], [0.0, 4.0]]), jnp.array([4.0, 8.0]))
      Array([1., 2.], dtype=float32)
    """
    if trans not in _TRANS:
        raise ValueError(f"Invalid 'trans' value {trans}")
    a, b = as_inexact(a, b)
    return _solve_triangular(a, b, trans=_TRANS[trans], lower=lower, unit_diagonal=unit_diagonal)


# ---- polar factors, products with factors, tridiagonal matrices ----


@staged("polar", ("side",), compiled_from=1)
def _polar(a, side):
    w, s, vh = jnp.linalg.svd(lax.convert_element_type(a, a.dtype), full_matrices=False)
    u, s = jnp.matmul(w, vh), s[..., None, :].astype(w.dtype)
    return u, jnp.matmul(adjoint(vh) * s, vh) if side == "right" else jnp.matmul(w * s, adjoint(w))


@static_argnames("method", "side")
def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """Returns the polar decomposition of matrices: a = u p, or a = p u.

    Unlike in JAX both methods use the singular values.

    Args:
      a: (..., m, n).
      side: "right" (the default): a = u p; "left": a = p u.
      method: "qdwh" (the default) or "svd".
      eps: accepted, without effect.
      max_iterations: accepted, without effect.

    Returns:
      (u, p): u (..., m, n) with orthonormal columns or rows; p Hermitian, not negative, (..., n, n), for "left" (...,
      m, m).

    Raises:
      ValueError: another method or side, or an array of fewer than two axes.
      NotImplementedError: "qdwh" with m < n for "right", or m >= n for "left".

    Examples:
      >>> u, p = onax.scipy.linalg.polar(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
      >>> p.round(4)
      Array([[3., 0.],
             [0., 2.]], dtype=float32)
    """
    (a,) = as_inexact(a)
    if a.ndim < 2:
        raise ValueError("The input `a` must be at least a 2-D array.")
    if side not in ("right", "left"):
        raise ValueError("The argument `side` must be either 'right' or 'left'.")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"Unknown polar decomposition method {method}.")
    m, n = a.shape[-2:]
    if method == "qdwh" and (m < n if side == "right" else m >= n):
        raise NotImplementedError(
            "method='qdwh' only supports mxn matrices where m < n where side='right' and m >= n side='left', got "
            f"{(m, n)} with {side=}"
        )
    return _polar(a, side)


@static_argnames("eigvals_only", "select", "select_range")
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[int, int] | None = None,
    tol: float | None = None,
    key: ArrayLike | None = None,
) -> Array | tuple[Array, Array]:
    """Returns eigenvalues of a symmetric tridiagonal matrix, and its eigenvectors.

    Args:
      d: the diagonal, (n,), float32, float64 or complex.
      e: the elements above it, (n - 1,), of the same dtype; those below are their conjugates.
      eigvals_only: True: eigenvalues alone; default False.
      select: "a" (the default): all; "i": those with the indices in `select_range`.
      select_range: (first, last), both included.
      tol: accepted, without effect.
      key: accepted, without effect.

    Returns:
      (w, v): ascending eigenvalues (k,) and eigenvectors in the columns of (n, k); or w.

    Raises:
      TypeError: other dtypes, or `e` has another length.
      ValueError: `select` is "i", and there is no `select_range`, or an empty one.
      NotImplementedError: `select` is "v".

    Examples:
      >>> onax.scipy.linalg.eigh_tridiagonal(jnp.zeros(2), jnp.ones(1), eigvals_only=True).round(4)
      Array([-1.,  1.], dtype=float32)
    """
    d, e = jnp.asarray(d), jnp.asarray(e)
    if d.dtype != e.dtype:
        raise TypeError(f"diagonal and off-diagonal values must have same dtype, got {d.dtype} and {e.dtype}")
    if d.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise TypeError(
            "Only float32 and float64 inputs are supported as inputs to jax.scipy.linalg.eigh_tridiagonal, got "
            f"{d.dtype} and {e.dtype}"
        )
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    if select == "v":
        raise NotImplementedError("eigh_tridiagonal(..., select='v') is not implemented")
    if select == "i":
        if select_range is None:
            raise ValueError("for select='i', select_range must be specified.")
        low, high = (int(i) for i in select_range)
        if low > high:
            raise ValueError("Got empty index range in select_range.")
    if d.shape[0] > 1 and (d.ndim > 1 or e.shape != (d.shape[0] - 1,)):
        sums = (*e.shape[:-1], e.shape[-1] + 1) if e.size else e.shape
        raise TypeError(f"add got incompatible shapes for broadcasting: {d.shape}, {sums}.")
    matrix = jnp.diag(d) + jnp.diag(e, 1) + jnp.diag(jnp.conj(e), -1)
    w, v = jnp.linalg.eigh(matrix, symmetrize_input=False)
    if select == "i":
        w, v = w[low : high + 1], v[:, low : high + 1]
    return w if eigvals_only else (w, v)
