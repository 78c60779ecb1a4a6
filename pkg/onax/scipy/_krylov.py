"""Implementation of onax.scipy.sparse.linalg: Krylov subspace methods, from Y. Saad, "Iterative Methods for Sparse
Linear Systems" (2nd edition, 2003).

The right-hand side may be a tree; the solvers see it as one flat vector.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.trace import Tracer, typeof
from onax._ground import dtypes
from onax._ground.typing import PyTree
from onax._native.array import Array
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims.convert import convert


def _as_operator(f):
    """Converts a square matrix, or what else has `@`, to a function; returns a function as it is."""
    if callable(f):
        return f
    is_array = isinstance(f, (np.ndarray, Array, Tracer))
    if is_array or hasattr(f, "__matmul__"):
        shape = getattr(f, "shape", None)
        if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
            raise ValueError(f"linear operator must be a square matrix, but has shape: {shape}")
        return partial(jnp.dot if is_array else operator.matmul, f)
    raise TypeError(f"linear operator must be either a function or ndarray: {f}")


class _FlatTree:
    """A tree of arrays as one vector."""

    def __init__(self, tree, may_be_weak=True):
        leaves, self.tree = tree_flatten(tree)
        self.shapes = [x.shape for x in leaves]
        weak = may_be_weak and all(typeof(x).weak_type for x in leaves)
        self.types = [(x.dtype, weak) for x in leaves]
        self.sizes = [x.size for x in leaves]

    def flatten(self, tree):
        """Flattens a tree of these shapes to a vector."""
        leaves, _ = tree_flatten(tree)
        parts = [jnp.reshape(x, (-1,)) for x in leaves]
        return parts[0] if len(parts) == 1 else jnp.concatenate(parts) if parts else jnp.zeros(0)

    def unflatten(self, vector):
        """Restores the tree from a vector."""
        ends = np.cumsum(self.sizes)
        parts = [vector[end - size : end] for end, size in zip(ends, self.sizes)]
        if len(parts) == 1:
            parts = [vector]
        leaves = [convert(jnp.reshape(x, shape), *kind) for x, shape, kind in zip(parts, self.shapes, self.types)]
        return tree_unflatten(self.tree, leaves)

    def map(self, function):
        """Turns a function of trees into one of vectors."""
        return lambda vector: self.flatten(function(self.unflatten(vector)))


def _dot(x, y):
    """The real part of the inner product."""
    return jnp.vdot(x, y, precision=lax.Precision.HIGHEST).real


def _cast(x, like):
    """The value in the dtype of another one, since promotion may be strict."""
    return x if x.dtype == like.dtype else x.astype(like.dtype)


def _check_arguments(A, b, x0, M, maxiter):
    """Checks the arguments and fills in defaults; the last result tells whether there is no preconditioner."""
    if x0 is None:
        x0 = tree_unflatten(tree_flatten(b)[1], [jnp.zeros_like(x) for x in tree_flatten(b)[0]])
    b, x0 = (tree_unflatten(tree, [jnp.asarray(x) for x in leaves]) for leaves, tree in map(tree_flatten, (b, x0)))
    (leaves, tree), (_, x0_tree) = tree_flatten(b), tree_flatten(x0)
    for x in leaves:
        if not jnp.issubdtype(x.dtype, jnp.inexact):
            raise TypeError(f"a linear system is solved in floating or complex numbers, got b of dtype {x.dtype}")
    size = sum(x.size for x in leaves)
    if maxiter is None:
        maxiter = 10 * size
    plain = M is None
    A, M = _as_operator(A), (lambda x: x) if plain else _as_operator(M)
    if x0_tree != tree:
        raise ValueError(f"x0 and b must have matching tree structure: {x0_tree} vs {tree}")
    return A, b, x0, M, maxiter, plain


def _check_shapes(x0, b):
    x0_shapes, b_shapes = ([x.shape for x in tree_flatten(t)[0]] for t in (x0, b))
    if x0_shapes != b_shapes:
        raise ValueError(f"arrays in x0 and b must have matching shapes: {x0_shapes} vs {b_shapes}")


def _solve(solver, A, b, x0, symmetric, may_be_weak=True):
    """Runs the solver on vectors; derivatives are those of the inverse of A, and transposed systems start at zero."""

    def solve(matvec, y, start=None):
        vector = _FlatTree(y, may_be_weak)
        flat = vector.flatten(y)
        first = jnp.zeros_like(flat) if start is None else vector.flatten(start)
        return vector.unflatten(solver(vector.map(matvec), flat, first, vector))

    first = lambda matvec, y: solve(matvec, y, x0)
    return lax.custom_linear_solve(A, b, solve=first, transpose_solve=solve, symmetric=symmetric)


def cg(
    A: Any,
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: float = 1e-05,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[PyTree, Any]:
    """Returns the solution of A x = b by conjugate gradients (Hestenes and Stiefel, 1952).

    Args:
      is Hermitian and positive definite.  Derivatives are those of the solution.
      A: a square matrix, dense, sparse or of another class with `@`, or a linear function of trees like `b`.
      b: a vector, or a tree of arrays.
      x0: where to start, like `b`; default None, zeros.
      tol: the residual's norm may be this part of that of `b`; default 1e-5.
      atol: the residual's norm may be this large; default 0.
      maxiter: the largest number of steps; default None, ten times the number of unknowns.
      M: an approximation of the inverse of `A`, likewise; default None.

    Returns:
      (x, None).

    Raises:
      TypeError: an operator of another kind, or an `x0` that is not like `b`.
      ValueError: shapes that do not fit.

    Examples:
      >>> x, _ = onax.scipy.sparse.linalg.cg(jnp.diag(jnp.array([2.0, 4.0])), jnp.array([2.0, 8.0]))
      >>> x.round(4)
      Array([1., 2.], dtype=float32)
    """
    A, b, x0, M, maxiter, plain = _check_arguments(A, b, x0, M, maxiter)
    _check_shapes(x0, b)
    real = all(not dtypes.is_complex(x.dtype) for x in tree_flatten(b)[0])

    def solver(matvec, b, x, vector):
        return _cg_iterations(matvec, b, x, maxiter, tol, atol, None if plain else vector.map(M))

    return _solve(solver, A, b, x0, real, may_be_weak=False), None


def _cg_iterations(A, b, x0, maxiter, tol, atol, M):
    limit = jnp.maximum(jnp.square(tol) * _dot(b, b), jnp.square(atol))

    def goes_on(state):
        _, r, gamma, _, k = state
        return ((gamma.real if M is None else _dot(r, r)) > limit) & (k < maxiter)

    def step(state):
        x, r, gamma, p, k = state
        q = A(p)
        alpha = gamma / _cast(_dot(p, q), r)
        x, r = x + alpha * p, r - alpha * q
        z = r if M is None else M(r)
        new = _cast(_dot(r, z), r)
        return x, r, new, z + new / gamma * p, k + 1

    r = b - A(x0)
    z = r if M is None else M(r)
    gamma = _cast(_dot(r, z), r)
    return lax.while_loop(goes_on, step, (x0, r, gamma, z, 0))[0]


def bicgstab(
    A: Any,
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: float = 1e-05,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[PyTree, Any]:
    """Returns the solution of A x = b by stabilised biconjugate gradients (van der Vorst, 1992).

    The method may break down, and then stops.  Derivatives are those of the solution.

    Args:
      A: a square matrix, dense, sparse or of another class with `@`, or a linear function of trees like `b`.
      b: a vector, or a tree of arrays.
      x0: where to start, like `b`; default None, zeros.
      tol: the residual's norm may be this part of that of `b`; default 1e-5.
      atol: the residual's norm may be this large; default 0.
      maxiter: the largest number of steps; default None, ten times the number of unknowns.
      M: an approximation of the inverse of `A`, likewise; default None.

    Returns:
      (x, None).

    Raises:
      TypeError: an operator of another kind, or an `x0` that is not like `b`.
      ValueError: shapes that do not fit.

    Examples:
      >>> x, _ = onax.scipy.sparse.linalg.bicgstab(jnp.diag(jnp.array([2.0, 4.0])), jnp.array([2.0, 8.0]))
      >>> x.round(4)
      Array([1., 2.], dtype=float32)
    """
    A, b, x0, M, maxiter, _ = _check_arguments(A, b, x0, M, maxiter)
    _check_shapes(x0, b)

    def solver(matvec, b, x, vector):
        return _bicgstab_iterations(matvec, b, x, maxiter, tol, atol, vector.map(M))

    return _solve(solver, A, b, x0, False), None


def _bicgstab_iterations(A, b, x0, maxiter, tol, atol, M):
    dot = partial(jnp.vdot, precision=lax.Precision.HIGHEST)
    limit = jnp.maximum(jnp.square(tol) * _dot(b, b), jnp.square(atol))

    def goes_on(state):
        r, k = state[1], state[-1]
        return (_dot(r, r) > limit) & (k < maxiter) & (k >= 0)

    def step(state):
        x, r, shadow, alpha, omega, rho, p, q, k = state
        new_rho = dot(shadow, r)
        p = r + new_rho / rho * alpha / omega * (p - omega * q)
        near_p = M(p)
        q = A(near_p)
        alpha = new_rho / dot(shadow, q)
        s = r - alpha * q
        early = _dot(s, s) < limit
        near_s = M(s)
        t = A(near_s)
        omega = dot(t, s) / dot(t, t)
        x = x + alpha * near_p
        x, r = jnp.where(early, x, x + omega * near_s), jnp.where(early, s, s - omega * t)
        broken = (omega == 0) | (alpha == 0) | (new_rho == 0)
        return x, r, shadow, alpha, omega, new_rho, p, q, jnp.where(broken, -1, k + 1)

    r = b - A(x0)
    one = jnp.ones_like(r, shape=())
    return lax.while_loop(goes_on, step, (x0, r, r, one, one, one, r, r, 0))[0]


def gmres(
    A: Any,
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: float = 1e-05,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[PyTree, Any]:
    """Returns the solution of A x = b by generalised minimal residuals (Saad and Schultz, 1986).

    Derivatives are those of the solution.

    Args:
      A: a square matrix, dense, sparse or of another class with `@`, or a linear function of trees like `b`.
      b: a vector, or a tree of arrays.
      x0: where to start, like `b`; default None, zeros.
      tol: the residual's norm may be this part of that of `b`; default 1e-5.
      atol: the residual's norm may be this large; default 0.
      restart: the dimension of a subspace, after which a new one begins; default 20.
      maxiter: the largest number of subspaces; default None, ten times the number of unknowns.
      M: an approximation of the inverse of `A`, likewise; default None.
      solve_method: "batched" (the default) or "incremental"; here both finish each subspace.

    Returns:
      (x, info): info is 0, or -1 where x is not finite.

    Raises:
      TypeError: an operator of another kind, or an `x0` that is not like `b`.
      ValueError: shapes that do not fit, or another `solve_method`.

    Examples:
      >>> x, info = onax.scipy.sparse.linalg.gmres(jnp.diag(jnp.array([2.0, 4.0])), jnp.array([2.0, 8.0]))
      >>> x.round(4)
      Array([1., 2.], dtype=float32)
    """
    A, b, x0, M, maxiter, _ = _check_arguments(A, b, x0, M, maxiter)
    size = sum(x.size for x in tree_flatten(b)[0])
    restart = min(operator.index(restart), size)
    if solve_method not in ("incremental", "batched"):
        raise ValueError(f"invalid solve_method {solve_method}, must be either 'incremental' or 'batched'")

    def solver(matvec, b, x, vector):
        return _gmres_iterations(matvec, b, x, maxiter, tol, atol, restart, vector.map(M))

    x = _solve(solver, A, b, x0, False)
    failed = ~jnp.isfinite(_norm(_FlatTree(x).flatten(x)))
    return x, jnp.where(failed, -1, 0)


def _norm(x):
    return jnp.sqrt(_dot(x, x))


def _gmres_iterations(A, b, x0, maxiter, tol, atol, restart, M):
    norm_b = _norm(b)
    limit = _norm(M(b)) * jnp.minimum(1.0, jnp.maximum(tol * norm_b, atol) / norm_b)
    residual = lambda x: M(b - A(x))

    def goes_on(state):
        _, _, size, k = state
        return (k < maxiter) & (size > limit)

    def step(state):
        x, r, size, k = state
        basis, upper = _arnoldi(lambda v: M(A(v)), r, size, restart)
        # upper is (columns, rows): A's columns in the basis; a unit matrix where a breakdown left them out
        q, triangle = jnp.linalg.qr(upper.T)
        weights = jnp.conj(q[0]) * _cast(size, r)
        x = x + basis[:, :-1] @ lax.linalg.triangular_solve(triangle, weights[:, None], left_side=True)[:, 0]
        r = residual(x)
        return x, r, _norm(r), k + 1

    r = residual(x0)
    return lax.while_loop(goes_on, step, (x0, r, _norm(r), 0))[0]


def _arnoldi(A, r, size, restart):
    """Returns an orthonormal basis of the subspace, as columns, and the transposed Hessenberg matrix of A in it."""
    eps = jnp.finfo(r.dtype).eps
    basis = jnp.zeros((r.size, restart + 1), r.dtype).at[:, 0].set(r / _cast(size, r))

    def goes_on(state):
        _, _, k, broken = state
        return (k < restart) & ~broken

    def step(state):
        basis, upper, k, _ = state
        w = A(basis[:, k])
        before = _norm(w)
        column = jnp.zeros(restart + 1, r.dtype)
        for _ in range(2):  # a second orthogonalization restores the digits that the first one loses
            part = basis.conj().T @ w
            w, column = w - basis @ part, column + part
        after = _norm(w)
        broken = ~(after > eps * before)
        after = jnp.where(broken, 0, after)
        after = _cast(after, r)
        basis = basis.at[:, k + 1].set(jnp.where(broken, 0, w / after))
        upper = upper.at[k].set(column.at[k + 1].set(after))
        return basis, upper, k + 1, broken

    upper = jnp.eye(restart, restart + 1, dtype=r.dtype)
    return lax.while_loop(goes_on, step, (basis, upper, 0, jnp.array(False)))[:2]
