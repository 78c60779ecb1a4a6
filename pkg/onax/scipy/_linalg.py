"""Implementation of onax.scipy.linalg: factorisations, systems of equations, functions of matrices."""

from functools import partial

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.cond import cond
from onax._control.jit_call import staged
from onax._control.scan import scan
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._transforms.autodiff import jvp
from onax._transforms.vmap import vmap
from onax.lax import linalg as factors
from onax.numpy._decompositions import adjoint
from onax.numpy._promotion import check_arraylike, ensure_arraylikes, promote_dtypes_inexact
from onax.numpy._solvers import lu_solve as _solve_by_lu
from onax.numpy._solvers import require_square

# Arguments that concern SciPy's implementation only (overwrite_a, check_finite, ...) are accepted and ignored.


def _promote_inexact(name, *args):
    check_arraylike(f"jax.scipy.linalg.{name}", *args)
    return promote_dtypes_inexact(*args)


def _as_inexact_matrices(name, *args):
    """Converts the arguments (lists included) to matrices, or stacks of matrices, of one inexact dtype."""
    args = promote_dtypes_inexact(*map(jnp.asarray, args))
    for x in args:
        if x.ndim < 2:
            raise TypeError(f"Input 0 to {name} must have rank at least 2, but got shape={x.shape}")
    return args


# ---- factorisations ----


@staged("_cholesky", ("lower",), compiled_from=1)
def _cholesky(a, lower):
    out = factors.cholesky(a if lower else adjoint(a), symmetrize_input=False)
    return out if lower else adjoint(out)


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The triangular factor of Hermitian positive definite matrices: U with a = U^H U, or L with a = L L^H.

    Only that triangle of a is read.  A matrix that is not positive definite gives NaN.
    """
    return _cholesky(*_promote_inexact("cholesky", a), lower=lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """(`cholesky` of a, lower), for `cho_solve`."""
    return cholesky(a, lower=lower), lower


@staged("_cho_solve", ("lower",), compiled_from=1)
def _cho_solve(c, b, lower):
    solve = partial(factors.triangular_solve, c, left_side=True, lower=lower)
    b = solve(b, transpose_a=not lower, conjugate_a=not lower)
    return solve(b, transpose_a=lower, conjugate_a=lower)


def _apply_to_columns(b, function):
    """Applies a function of matrices to a matrix, or to a vector as one column."""
    return function(b) if b.ndim > 1 else function(b[..., None])[..., 0]


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution of a x = b, given `cho_factor` of a; b is a vector or a matrix."""
    c, lower = c_and_lower
    c, b = _promote_inexact("cho_solve", c, b)
    return _apply_to_columns(b, lambda b: _cho_solve(c, b, lower=lower))


@static_argnames("full_matrices", "compute_uv", "overwrite_a", "check_finite", "lapack_driver")
def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """(U, s, Vh), or s alone; see `jnp.linalg.svd`."""
    out = jnp.linalg.svd(jnp.asarray(a), full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(out) if compute_uv else out


def det(a, overwrite_a=False, check_finite=True):
    """Determinants; see `jnp.linalg.det`."""
    return jnp.linalg.det(a)


def inv(a, overwrite_a=False, check_finite=True):
    """Inverses; see `jnp.linalg.inv`."""
    return jnp.linalg.inv(a)


def eigh(
    a,
    b=None,
    lower=True,
    eigvals_only=False,
    overwrite_a=False,
    overwrite_b=False,
    turbo=True,
    eigvals=None,
    type=1,
    check_finite=True,
):
    """(eigenvalues, eigenvectors) of Hermitian matrices, or eigenvalues alone; of both triangles' mean, as in JAX.

    Raises NotImplementedError for the generalised problem (b, type) and for a choice of eigenvalues.
    """
    if b is not None:
        raise NotImplementedError("Only the b=None case of eigh is implemented")
    if type != 1:
        raise NotImplementedError("Only the type=1 case of eigh is implemented.")
    if eigvals is not None:
        raise NotImplementedError("Only the eigvals=None case of eigh is implemented.")
    (a,) = _promote_inexact("eigh", a)
    w, v = jnp.linalg.eigh(a, UPLO="L" if lower else "U")
    return w if eigvals_only else (w, v)


@staged("lu_factor", compiled_from=1)
def _lu_factor(a):
    both, pivots, _ = factors.lu(a)
    return both, pivots


@static_argnames("overwrite_a", "check_finite")
def lu_factor(a, overwrite_a=False, check_finite=True):
    """(lu, pivots): both triangular factors in one array, and the rows exchanged, for `lu_solve`."""
    return _lu_factor(*_as_inexact_matrices("lu_factor", a))


@staged("lu_solve", ("trans",), compiled_from=1)
def _lu_solve(both, pivots, b, trans):
    order = factors.lu_pivots_to_permutation(pivots, both.shape[-1])
    return _solve_by_lu(both, order, b, trans=trans, core=1 if b.ndim == both.ndim - 1 else 2)


@static_argnames("check_finite", "overwrite_b", "trans")
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The solution of op(a) x = b, given `lu_factor` of a; trans: 1 transposed, 2 adjoint."""
    both, pivots = lu_and_piv
    both, b = _promote_inexact("lu_solve", both, b)
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
def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """(P, L, U) with a = P L U, or (P L, U) with permute_l."""
    return _lu(*_as_inexact_matrices("lu", a), permute_l=permute_l)


@staged("qr", ("mode", "pivoting"), compiled_from=1)
def _qr(a, mode, pivoting):
    q, r, *order = factors.qr(a, pivoting=pivoting, full_matrices=mode in ("full", "r"))
    return (r, *order) if mode == "r" else (q, r, *order)


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """(Q, R), with pivoting also the order of the columns; mode "full", "economic" or "r" (without Q: a tuple of R)."""
    if mode not in ("full", "r", "economic"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    return _qr(*_as_inexact_matrices("qr", a), mode=mode, pivoting=pivoting)


@staged("_schur", ("output",), compiled_from=1)
def _schur(a, output):
    if output == "complex" and not dtypes.is_complex(a.dtype):
        a = a.astype(np.result_type(a.dtype, np.complex64))
    return factors.schur(a)


def schur(a, output="real"):
    """(T, Z) with a = Z T Z^H; output "complex" makes T of a real matrix triangular."""
    if output not in ("real", "complex"):
        raise ValueError(f"Expected 'output' to be either 'real' or 'complex', got output={output!r}.")
    (a,) = _promote_inexact("schur", a)
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
def hessenberg(a, *, calc_q=False, overwrite_a=False, check_finite=True):
    """The Hessenberg form H of square matrices, with calc_q (H, Q): a = Q H Q^H."""
    (a,) = _promote_inexact("hessenberg", a)
    if a.ndim < 2:
        raise TypeError(f"Input 0 to hessenberg must have rank at least 2, but got shape={a.shape}")
    require_square("hessenberg", a)
    if a.shape[-1] == 0:
        return (a, lax.full_like(a, 0)) if calc_q else a
    return _hessenberg(a, calc_q)


@staged("rsf2csf", compiled_from=1)
def _rsf2csf(t, z):
    n = t.shape[0]

    def rotate(state, m):
        t, z = state
        block = lax.dynamic_slice(t, (m - 1, m - 1), (2, 2))
        a, b, c, d = block[0, 0], block[0, 1], block[1, 0], block[1, 1]
        half = (a - d) / 2
        root = jnp.sqrt(half * half + b * c)
        mu = jnp.where(jnp.abs(half + root) < jnp.abs(half - root), half + root, half - root)
        size = jnp.sqrt(jnp.abs(mu) ** 2 + jnp.abs(c) ** 2).astype(t.dtype)
        size = jnp.where(c == 0, 1, size)
        cs, sn = jnp.where(c == 0, 1, mu / size), jnp.where(c == 0, 0, c / size)
        turn = jnp.stack([jnp.stack([jnp.conj(cs), sn]), jnp.stack([-sn, cs])])
        rows = lax.dynamic_slice(t, (m - 1, 0), (2, n))
        t = lax.dynamic_update_slice(t, jnp.matmul(turn, rows), (m - 1, 0))
        back = adjoint(turn)
        t = lax.dynamic_update_slice(t, jnp.matmul(lax.dynamic_slice(t, (0, m - 1), (n, 2)), back), (0, m - 1))
        z = lax.dynamic_update_slice(z, jnp.matmul(lax.dynamic_slice(z, (0, m - 1), (n, 2)), back), (0, m - 1))
        return (t, z), None

    (t, z), _ = scan(rotate, (t, z), jnp.arange(n - 1, 0, -1))
    return jnp.triu(t), z


@static_argnames("check_finite")
def rsf2csf(T, Z, check_finite=True):
    """(T, Z) of a real Schur form as a complex, triangular one, by a rotation for each block."""
    T, Z = _promote_inexact("rsf2csf", T, Z)
    for name, value in (("T", T), ("Z", Z)):
        if value.ndim != 2 or value.shape[0] != value.shape[1]:
            raise ValueError(f"Input '{name}' must be square.")
    if T.shape != Z.shape:
        raise ValueError(f"Input array shapes must match: Z: {Z.shape} vs. T: {T.shape}")
    kind = np.result_type(T.dtype, np.complex64)
    return _rsf2csf(T.astype(kind), Z.astype(kind))


# ---- systems of equations ----


@staged("_solve", ("assume_a", "lower"), compiled_from=1)
def _solve(a, b, assume_a, lower):
    if assume_a != "pos":
        return jnp.linalg.solve(a, b)
    require_square("solve", a)
    c = factors.cholesky(lax.stop_gradient(a) if lower else adjoint(lax.stop_gradient(a)), symmetrize_input=False)

    def by_factor(_, x):
        y = factors.triangular_solve(c, x[..., None], left_side=True, lower=True)
        return factors.triangular_solve(c, y, left_side=True, lower=True, transpose_a=True, conjugate_a=True)[..., 0]

    def one(v):
        return lax.custom_linear_solve(lambda x: jnp.matmul(a, x), v, solve=by_factor, symmetric=True)

    return one(b) if b.ndim == 1 else vmap(one, 1, 1)(b)


_ASSUMPTIONS = ("gen", "sym", "her", "pos")


def solve(
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    debug=False,
    check_finite=True,
    assume_a="gen",
):
    """The solution of a x = b; assume_a "pos" uses the Cholesky factor of one triangle of a.

    Raises ValueError for another assumption than "gen", "sym", "her", "pos".
    """
    if assume_a not in _ASSUMPTIONS:
        raise ValueError(f"Expected assume_a to be one of {list(_ASSUMPTIONS)}; got {assume_a!r}")
    a, b = _promote_inexact("solve", a, b)
    if assume_a == "pos" and a.ndim > 2:
        return jnp.linalg.solve(a, b)
    return _solve(a, b, assume_a=assume_a, lower=lower)


@staged("_solve_triangular", ("trans", "lower", "unit_diagonal"), compiled_from=1)
def _solve_triangular(a, b, trans, lower, unit_diagonal):
    how = {"left_side": True, "lower": lower, "transpose_a": trans != 0, "conjugate_a": trans == 2}
    vector = b.ndim == a.ndim - 1
    out = factors.triangular_solve(a, b[..., None] if vector else b, unit_diagonal=unit_diagonal, **how)
    return out[..., 0] if vector else out


_TRANS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None, check_finite=True):
    """The solution of op(a) x = b for triangular a; trans 0 or "N", 1 or "T", 2 or "C"."""
    if trans not in _TRANS:
        raise ValueError(f"Invalid 'trans' value {trans}")
    a, b = _promote_inexact("solve_triangular", a, b)
    return _solve_triangular(a, b, trans=_TRANS[trans], lower=lower, unit_diagonal=unit_diagonal)


# ---- functions of matrices ----

# Pade's approximation of exp of degree (7 for float32, 13 for float64), its coefficients, and the norm up to which it
# is right: Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).
_PADE = {
    3: (120.0, 60.0, 12.0, 1.0),
    5: (30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0),
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0),
    9: (17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0),
    13: (
        64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
        10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
    ),
}  # fmt: skip
_DEGREE = {4: (7, 3.925724783138660), 8: (13, 5.371920351148152)}


def _pade(a, degree):
    """(even, odd) parts of the numerator: exp(a) is about (even - odd)^-1 (even + odd)."""
    b = [a.dtype.type(c) for c in _PADE[degree]]
    unit = jnp.eye(a.shape[0], dtype=a.dtype)
    square = jnp.matmul(a, a)
    odd, even = b[1] * unit, b[0] * unit
    power = unit
    for k in range(2, degree + 1, 2):
        power = jnp.matmul(power, square)
        even = even + b[k] * power
        odd = odd + b[k + 1] * power
    return even, jnp.matmul(a, odd)


@staged("expm", ("upper_triangular", "max_squarings"), compiled_from=1)
def _expm(a, upper_triangular, max_squarings):
    real = dtypes.real_dtype(a.dtype)
    degree, limit = _DEGREE[real.itemsize]
    size = jnp.linalg.norm(a, 1)
    squarings = jnp.maximum(0, jnp.floor(jnp.log2(size / real.type(limit))) + 1)
    squarings = jnp.where(size == 0, 0, squarings)
    scaled = a / (2**squarings).astype(a.dtype)
    even, odd = _pade(scaled, degree)
    below, above = even - odd, even + odd
    out = solve_triangular(below, above) if upper_triangular else jnp.linalg.solve(below, above)
    out, _ = scan(
        lambda x, k: (cond(k < squarings, lambda x: jnp.matmul(x, x), lambda x: x, x), None),
        out,
        jnp.arange(max_squarings, dtype=real),
    )
    return jnp.where(squarings > max_squarings, np.nan, out)


@static_argnames("max_squarings", "upper_triangular")
def expm(A, *, upper_triangular=False, max_squarings=16):
    """The exponential of square matrices, by Pade's approximation and repeated squaring.

    A matrix that needs more than max_squarings gives NaN.  Raises ValueError for other than square matrices.
    """
    (a,) = _promote_inexact("expm", A)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Expected A to be a (batched) square matrix, got {a.shape=}.")
    if a.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise TypeError(f"A.dtype={a.dtype} is not supported by expm; convert to float32 first.")
    function = partial(_expm, upper_triangular=upper_triangular, max_squarings=max_squarings)
    for _ in range(a.ndim - 2):
        function = vmap(function)
    return function(a)


@static_argnames("compute_expm", "method")
def expm_frechet(A, E, *, method=None, compute_expm=True):
    """(expm(A), its derivative in the direction E), or the derivative alone."""
    a, e = _promote_inexact("expm_frechet", A, E)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expected A to be a square matrix, got A.shape={a.shape}")
    if a.shape != e.shape:
        raise ValueError(f"expected A and E to be the same shape, got A.shape={a.shape} E.shape={e.shape}")
    out, change = jvp(expm, (a,), (e,))
    return (out, change) if compute_expm else change


def _solve_leading(upper, diagonal, b, j):
    """The solution of the first j equations of a triangular system, whose diagonal is given and counts as 1 where it is
    0, followed by zeros."""
    inside = jnp.arange(b.shape[0]) < j
    diagonal = jnp.where(inside & (diagonal != 0), diagonal, 1)
    system = jnp.where(jnp.eye(b.shape[0], dtype=bool), diagonal, upper)
    return factors.triangular_solve(system, jnp.where(inside, b, 0), left_side=True)


def _sqrtm_triangular(t):
    """Solves for one column after the other: Bjorck and Hammarling, "A Schur method for the square root" (1983)."""
    diagonal = jnp.sqrt(jnp.diag(t))

    def column(u, j):
        return u.at[:, j].add(_solve_leading(u, diagonal + diagonal[j], t[:, j], j)), None

    return scan(column, jnp.diag(diagonal), jnp.arange(t.shape[0]))[0]


@staged("_sqrtm", compiled_from=1)
def _sqrtm(a):
    t, z = schur(a, output="complex")
    return jnp.matmul(jnp.matmul(z, _sqrtm_triangular(t)), adjoint(z))


def sqrtm(A, blocksize=1):
    """The principal square root of a matrix, complex.  Raises NotImplementedError for another blocksize."""
    if blocksize > 1:
        raise NotImplementedError("Blocked version is not implemented yet.")
    return _sqrtm(*_promote_inexact("sqrtm", A))


@staged("_funm_triangular", compiled_from=1)
def _funm_triangular(t, values):
    """Solves f t = t f for one column of f after the other: Parlett's recurrence (1976)."""
    eigenvalues = jnp.diag(t)

    def column(f, j):
        known = jnp.where(jnp.arange(t.shape[0]) < j, t[:, j], 0)
        b = known * values[j] - jnp.matmul(f, known, precision="highest")
        return f.at[:, j].add(_solve_leading(-t, t[j, j] - eigenvalues, b, j)), None

    return scan(column, jnp.diag(values), jnp.arange(t.shape[0]))[0]


def funm(A, func, disp=True):
    """A function of a matrix by its Schur form (Parlett's recurrence): func takes the array of eigenvalues.

    Without disp also an estimate of the relative error.
    """
    (a,) = _promote_inexact("funm", A)
    require_square("funm", a)
    t, z = schur(a, output="complex")
    f = _funm_triangular(t, func(jnp.diag(t)))
    out = jnp.matmul(jnp.matmul(z, f), adjoint(z))
    if disp:
        return out
    eps = dtypes.finfo(out.dtype).eps
    eigenvalues = jnp.diag(t)
    gaps = jnp.where(jnp.tri(a.shape[0], k=-1, dtype=bool), jnp.abs(eigenvalues[:, None] - eigenvalues), np.inf)
    smallest_gap = jnp.minimum(jnp.min(gaps), jnp.abs(t[0, 0]))
    smallest_gap = jnp.where(smallest_gap == 0, eps, smallest_gap)
    upper_norm = jnp.linalg.norm(jnp.triu(t, 1), 1)
    error = jnp.minimum(1, jnp.maximum(eps, (eps / smallest_gap) * upper_norm))
    return out, jnp.where(jnp.isfinite(out).all(), error, np.inf)


@staged("polar", ("side",), compiled_from=1)
def _polar(a, side):
    w, s, vh = jnp.linalg.svd(lax.convert_element_type(a, a.dtype), full_matrices=False)
    u, s = jnp.matmul(w, vh), s[..., None, :].astype(w.dtype)
    return u, jnp.matmul(adjoint(vh) * s, vh) if side == "right" else jnp.matmul(w * s, adjoint(w))


@static_argnames("method", "side")
def polar(a, side="right", *, method="qdwh", eps=None, max_iterations=None):
    """(u, p) with a = u p, or p u for side "left": u with orthonormal columns, p Hermitian and not negative.

    a[..., m, n] gives u[..., m, n] and p[..., n, n], or p[..., m, m].  Both methods, "qdwh" and "svd", use the singular
    values here.  Raises ValueError for another method.
    """
    (a,) = _promote_inexact("polar", a)
    if a.ndim < 2:
        raise ValueError("The input `a` must be at least a 2-D array.")
    if side not in ("right", "left"):
        raise ValueError(f"The argument `side` must be either 'right' or 'left', not {side!r}.")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"Unknown polar decomposition method {method}.")
    m, n = a.shape[-2:]
    if method == "qdwh" and ((side == "right" and m < n) or (side == "left" and m > n)):
        raise NotImplementedError(f"method='qdwh' needs {'m >= n' if side == 'right' else 'm <= n'}; use method='svd'.")
    return _polar(a, side)


def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False, overwrite_a=False, overwrite_c=False):
    """(c Q, R), or (Q c, R) for mode "left", with pivoting also the order of the columns."""
    if mode not in ("left", "right"):
        raise ValueError(f"Mode argument should be either 'left' or 'right' but got {mode!r}")
    a, c = promote_dtypes_inexact(jnp.asarray(a), jnp.asarray(c))
    inner = min(a.shape[-2:]) if mode == "left" else a.shape[-2] if a.ndim > 1 else None
    if a.ndim > 1 and (c.ndim < 1 or c.shape[-2 if mode == "left" and c.ndim > 1 else -1] != inner):
        raise ValueError(f"qr_multiply: shapes do not fit for mode {mode!r}: a {a.shape}, c {c.shape}")
    q, r, *order = factors.qr(a, full_matrices=False, pivoting=pivoting)
    q = jnp.conj(q) if conjugate else q
    left, right = (q, c) if mode == "left" else (c, q)
    return (jnp.matmul(left, right), r, *order)


@static_argnames("eigvals_only", "select", "select_range")
def eigh_tridiagonal(d, e, *, eigvals_only=False, select="a", select_range=None, tol=None, key=None):
    """Eigenvalues of the symmetric tridiagonal matrix with diagonal d and e beside it; with vectors unless
    eigvals_only.  select "i" returns the ascending eigenvalues with the indices in select_range, both ends included."""
    d, e = ensure_arraylikes("eigh_tridiagonal", d, e)
    if d.dtype != e.dtype:
        raise TypeError(f"diagonal and off-diagonal values must have same dtype, got {d.dtype} and {e.dtype}")
    if d.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise TypeError(
            "Only float32 and float64 inputs are supported as inputs to jax.scipy.linalg.eigh_tridiagonal, got "
            f"{d.dtype} and {e.dtype}"
        )
    if select not in ("a", "i"):
        raise NotImplementedError("eigh_tridiagonal: only select='a' and select='i' are implemented")
    matrix = jnp.diag(d) + jnp.diag(e, -1) + jnp.diag(jnp.conj(e), 1)
    w, v = jnp.linalg.eigh(matrix, symmetrize_input=False)
    if select == "i":
        low, high = (int(i) for i in select_range)
        w, v = w[low : high + 1], v[:, low : high + 1]
    return w if eigvals_only else (w, v)


@static_argnames("method")
def solve_sylvester(A, B, C, *, method="schur", tol=1e-8):
    """The solution X of A X + X B = C, by Schur forms ("schur") or eigenvectors ("eigen"); NaN where it is not unique.

    Raises ValueError for shapes that do not fit.
    """
    a, b, c = _promote_inexact("solve_sylvester", A, B, C)
    m, n = c.shape
    if a.shape != (m, m) or b.shape != (n, n):
        raise ValueError(f"Incompatible shapes for Sylvester equation: A: {a.shape}, B: {b.shape}, C: {c.shape}")
    if method not in ("schur", "eigen"):
        raise ValueError(f"Unrecognized method {method}. The two valid methods are either 'schur' or 'eigen'.")
    r, u = schur(a, output="complex")
    s, v = schur(b, output="complex")
    f = jnp.matmul(jnp.matmul(adjoint(u), c.astype(u.dtype)), v)
    columns = []
    for k in range(n):
        rest = f[:, k]
        for j, y in enumerate(columns):
            rest = rest - y * s[j, k]
        columns.append(solve_triangular(r + s[k, k] * jnp.eye(m, dtype=r.dtype), rest))
    out = jnp.matmul(jnp.matmul(u, jnp.stack(columns, 1)), adjoint(v))
    gap = jnp.abs(jnp.diag(r)[:, None] + jnp.diag(s)[None, :]).min()
    out = jnp.where(gap < tol, np.nan, out)
    return out if dtypes.is_complex(c.dtype) else out.real
