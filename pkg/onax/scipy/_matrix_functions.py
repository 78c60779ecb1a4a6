"""Functions of matrices: exponentials, square roots, functions by Schur forms; Sylvester's equation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, overload

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
from onax.numpy._promotion import promote_dtypes_inexact
from onax.numpy._solvers import require_square
from onax.scipy._linalg import as_inexact, promote_inexact, schur, solve_triangular

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
def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """Returns the exponential of square matrices.

    The method is scaling, Padé's approximation and repeated squaring (Higham, 2005).

    Args:
      A: (..., n, n).
      upper_triangular: True: the matrix is upper triangular, which is quicker; default False.
      max_squarings: the largest number of squarings; default 16.

    Returns:
      Float or complex array of the shape of `A`; NaN for a matrix that needs more squarings.

    Raises:
      ValueError: the matrix is not square.
      TypeError: the dtype is not float32, float64, complex64 or complex128.

    Examples:
      >>> onax.scipy.linalg.expm(jnp.zeros((2, 2)))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    (a,) = promote_inexact("expm", A)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Expected A to be a (batched) square matrix, got A.shape={a.shape}.")
    if a.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise TypeError(f"A.dtype={a.dtype} is not supported.")
    function: Callable[..., Any] = partial(_expm, upper_triangular=upper_triangular, max_squarings=max_squarings)
    for _ in range(a.ndim - 2):
        function = vmap(function)
    return function(a)


@overload
def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: Literal[True] = True
) -> tuple[Array, Array]: ...


@overload
def expm_frechet(A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: Literal[False]) -> Array: ...


@overload
def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True
) -> Array | tuple[Array, Array]: ...


@static_argnames("compute_expm", "method")
def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True
) -> Array | tuple[Array, Array]:
    """Returns the exponential of a matrix, and its derivative in a direction.

    Args:
      A: (..., n, n).
      E: the direction, of the same shape.
      method: accepted, without effect.
      compute_expm: False: the derivative alone; default True.

    Returns:
      (exponential, derivative), or the derivative.

    Raises:
      ValueError: shapes that do not fit.

    Examples:
      >>> out, derivative = onax.scipy.linalg.expm_frechet(jnp.zeros((2, 2)), jnp.eye(2))
      >>> derivative
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    a, e = as_inexact(A, E)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expected A to be a (batched) square matrix, got A.shape={a.shape}")
    if e.ndim < 2 or e.shape[-1] != e.shape[-2]:
        raise ValueError(f"expected E to be a (batched) square matrix, got E.shape={e.shape}")
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


def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """Returns the principal square root of a matrix, by its Schur form (Björck and Hammarling, 1983).

    Args:
      A: (n, n).
      blocksize: 1.

    Returns:
      Complex array of shape (n, n).

    Raises:
      NotImplementedError: another `blocksize`.
      ValueError: the matrix is not square.

    Examples:
      >>> onax.scipy.linalg.sqrtm(jnp.diag(jnp.array([4.0, 9.0]))).real.round(4)
      Array([[2., 0.],
             [0., 3.]], dtype=float32)
    """
    if blocksize > 1:
        raise NotImplementedError("Blocked version is not implemented yet.")
    return _sqrtm(*promote_inexact("sqrtm", A))


@staged("_funm_triangular", compiled_from=1)
def _funm_triangular(t, values):
    """Solves f t = t f for one column of f after the other: Parlett's recurrence (1976)."""
    eigenvalues = jnp.diag(t)

    def column(f, j):
        known = jnp.where(jnp.arange(t.shape[0]) < j, t[:, j], 0)
        b = known * values[j] - jnp.matmul(f, known, precision="highest")
        return f.at[:, j].add(_solve_leading(-t, t[j, j] - eigenvalues, b, j)), None

    return scan(column, jnp.diag(values), jnp.arange(t.shape[0]))[0]


@overload
def funm(A: ArrayLike, func: Callable[..., Any], disp: Literal[True] = True) -> Array: ...


@overload
def funm(A: ArrayLike, func: Callable[..., Any], *, disp: Literal[False]) -> tuple[Array, Array]: ...


@overload
def funm(A: ArrayLike, func: Callable[..., Any], disp: bool = True) -> Array | tuple[Array, Array]: ...


def funm(A: ArrayLike, func: Callable[..., Any], disp: bool = True) -> Array | tuple[Array, Array]:
    """Returns a function of a matrix, by its Schur form (Parlett, 1976).

    Args:
      A: (n, n).
      func: a function of the array of eigenvalues, elementwise.
      disp: False: an estimate of the relative error too; default True.

    Returns:
      Complex array of shape (n, n), or (array, error).

    Raises:
      ValueError: the matrix is not square.
      TypeError: it is one of integers.

    Examples:
      >>> onax.scipy.linalg.funm(jnp.diag(jnp.array([2.0, 3.0])), lambda w: w**2).real.round(4)
      Array([[4., 0.],
             [0., 9.]], dtype=float32)
    """
    a = jnp.asarray(A)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError("expected square array_like input")
    t, z = schur(a, output="complex")
    f = _funm_triangular(t, func(jnp.diag(t)))
    out = jnp.matmul(jnp.matmul(z, f), adjoint(z))
    if disp:
        return out
    eps = dtypes.finfo(out.dtype).eps
    eigenvalues = jnp.diag(t)
    gaps = jnp.where(jnp.tri(a.shape[0], k=-1, dtype=bool), jnp.abs(eigenvalues[:, None] - eigenvalues[None]), np.inf)
    smallest_gap = jnp.minimum(jnp.min(gaps), jnp.abs(t[0, 0]))
    smallest_gap = jnp.where(smallest_gap == 0, eps, smallest_gap)
    upper_norm = jnp.linalg.norm(jnp.triu(t, 1), 1)
    error = jnp.minimum(1, jnp.maximum(eps, (eps / smallest_gap) * upper_norm))
    return out, jnp.where(jnp.isfinite(out).all(), error, np.inf)


@static_argnames("method")
def solve_sylvester(A: ArrayLike, B: ArrayLike, C: ArrayLike, *, method: str = "schur", tol: float = 1e-8) -> Array:
    """Returns the solution X of A X + X B = C, by Schur forms.

    Args:
      A: (..., m, m).
      B: (..., n, n).
      C: (..., m, n); leading axes broadcast.
      method: "schur" (the default) or "eigen"; both use Schur forms.
      tol: the smallest sum of an eigenvalue of A and one of B that counts as not 0; default 1e-8.

    Returns:
      Array of shape (..., m, n); NaN where the solution is not unique.

    Raises:
      ValueError: shapes that do not fit, or another method.

    Examples:
      >>> x = onax.scipy.linalg.solve_sylvester(jnp.eye(2), jnp.eye(2), 2.0 * jnp.ones((2, 2)))
      >>> x.round(4)
      Array([[1., 1.],
             [1., 1.]], dtype=float32)
    """
    a, b, c = as_inexact(A, B, C)
    m, n = c.shape[-2:]
    if a.shape[-2:] != (m, m) or b.shape[-2:] != (n, n):
        raise ValueError(f"Incompatible shapes for Sylvester equation:\nA: {a.shape}\nB: {b.shape}\nC: {c.shape}")
    if method not in ("schur", "eigen"):
        raise ValueError(f'Unrecognized method {method}. The two valid methods are either "schur" or "eigen".')
    solve = partial(_solve_sylvester, tol=tol)
    if a.ndim == b.ndim == c.ndim == 2:
        return solve(a, b, c)
    return jnp.vectorize(solve, signature="(m,m),(n,n),(m,n)->(m,n)")(a, b, c)


def _solve_sylvester(a, b, c, tol):
    m, n = c.shape
    r, u = schur(a, output="complex")
    s, v = schur(b, output="complex")
    f = jnp.matmul(jnp.matmul(adjoint(u), c.astype(u.dtype)), v)

    def solve_column(k, y):  # s is triangular: a column depends on those before it
        rest = f[:, k] - jnp.matmul(y, s[:, k])
        return y.at[:, k].set(solve_triangular(r + s[k, k] * jnp.eye(m, dtype=r.dtype), rest))

    y = lax.fori_loop(0, n, solve_column, jnp.zeros_like(f))
    out = jnp.matmul(jnp.matmul(u, y), adjoint(v))
    gap = jnp.abs(jnp.diag(r)[:, None] + jnp.diag(s)[None, :]).min()
    out = jnp.where(gap < tol, np.nan, out)
    return out if dtypes.is_complex(c.dtype) else out.real


def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, Array] | tuple[Array, Array, Array]:
    """Returns the product of a matrix with the Q of a QR decomposition, and R.

    Args:
      a: (..., m, n).
      c: (..., k, l) or a vector whose length fits Q; leading axes broadcast.
      mode: "right" (the default): c Q; "left": Q c.
      pivoting: True: also the order of the columns; default False.
      conjugate: True: Q is conjugated; default False.
      overwrite_a: accepted, without effect.
      overwrite_c: accepted, without effect.

    Returns:
      (product, R), with `pivoting` (product, R, order).

    Raises:
      ValueError: another mode, or shapes that do not fit.

    Examples:
      >>> product, r = onax.scipy.linalg.qr_multiply(jnp.eye(2), jnp.ones((3, 2)))
      >>> product.shape
      (3, 2)
    """
    if mode not in ("left", "right"):
        raise ValueError(f"Mode argument should be either 'left' or 'right' but got {mode!r}")
    a, c = promote_dtypes_inexact(jnp.asarray(a), jnp.asarray(c))
    if a.ndim < 2:
        raise ValueError(f"not enough values to unpack (expected 2, got {a.ndim})\nqr_multiply: a must be a matrix")
    by_left = mode == "left"
    inner = min(a.shape[-2:]) if by_left else a.shape[-2]
    length = c.shape[-2 if by_left and c.ndim > 1 else -1] if c.ndim else 0
    if length != inner:
        product, of_q, of_c = ("Q @ c", "columns", "rows") if by_left else ("c @ Q", "rows", "columns")
        raise ValueError(
            f"Array shapes are not compatible for {product} operation: a has shape {a.shape} so Q has {inner} {of_q}, "
            f"but c has {length} {of_c} (expected {inner})."
        )
    if c.ndim > 1:
        batch = lax.broadcast_shapes(a.shape[:-2], c.shape[:-2])
        a = jnp.broadcast_to(a, batch + a.shape[-2:])
    q, r, *order = factors.qr(a, full_matrices=False, pivoting=pivoting)
    q = jnp.conj(q) if conjugate else q
    left, right = (q, c) if mode == "left" else (c, q)
    return (jnp.matmul(left, right), r, *order)
