"""Implementation of onax.scipy.optimize: BFGS and limited-memory BFGS, after J. Nocedal and S. Wright, "Numerical
Optimization" (2nd edition, 2006), algorithms 6.1, 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._transforms.autodiff import value_and_grad
from onax.scipy._line_search import line_search


class OptimizeResults(NamedTuple):
    """The result of `minimize`, a pytree.

    Args:
      x: the last point.
      success: whether the gradient at x is smaller than gtol.
      status: 0: yes; 1: too many iterations; 3: the line search found an interval but no step in it; 5: it found no
        interval.  With limited memory: 2 and 3: too many evaluations; 4: the function decreased by less than ftol; 5:
        the line search failed.
      fun: the function at x.
      jac: its gradient at x.
      hess_inv: an approximation of the inverse of the Hessian; None with limited memory.
      nfev: how often the function was evaluated.
      njev: how often its gradient was evaluated.
      nit: the number of iterations.

    Examples:
      >>> result = onax.scipy.optimize.minimize(lambda x: jnp.sum(x**2), jnp.ones(2), method="BFGS")
      >>> bool(result.success)
      True
    """

    x: Array
    success: bool | Array
    status: int | Array
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: int | Array
    njev: int | Array
    nit: int | Array


def minimize(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Returns a local minimum of a scalar function, by a quasi-Newton method.

    It can be jitted and mapped; it has no derivative in reverse mode.

    Args:
      fun: a function ``fun(x, *args)`` whose result is a real number.
      x0: the first point, (n,), floats; with limited memory also complex numbers.
      args: further arguments, a tuple; default ``()``.
      method: "BFGS", or "l-bfgs-experimental-do-not-rely-on-this", which keeps `maxcor` pairs of vectors in place of a
        matrix.
      tol: gtol, where the options have none; default None.
      options: a dict: maxiter (200 n), norm (of the gradient, inf), gtol (1e-5: it ends below), line_search_maxiter
        (10).  With limited memory: maxiter (200 n, if no other limit is given), norm, gtol, maxcor (10), ftol (2.2e-9),
        maxfun and maxgrad (None), maxls (20).

    Returns:
      OptimizeResults.

    Raises:
      TypeError: `args` is not a tuple, `x0` is not a vector of floats, or unknown options.
      ValueError: another method.

    Examples:
      >>> result = onax.scipy.optimize.minimize(lambda x: jnp.sum((x - 1) ** 2), jnp.zeros(2), method="BFGS")
      >>> result.x.round(3)
      Array([1., 1.], dtype=float32)
    """
    if not isinstance(args, tuple):
        raise TypeError(f"args argument to jax.scipy.optimize.minimize must be a tuple, got {args}")
    options = dict(options or {})
    if tol is not None:
        options.setdefault("gtol", tol)
    name = method.lower() if isinstance(method, str) else method
    if name not in _METHODS:
        raise ValueError(f"Method {method} not recognized")
    if not hasattr(x0, "shape") or x0.ndim != 1:
        raise TypeError(f"minimize: x0 must be an array with one axis, got {x0!r}")

    def objective(x):
        return fun(x, *args)

    return _METHODS[name](value_and_grad(objective), jnp.asarray(x0), **options)


def _dot(x, y):
    return jnp.dot(x, y, precision=lax.Precision.HIGHEST)


def _results(s, converged, failed, status, memory):
    """The OptimizeResults of a state."""
    success = converged & ~failed
    return OptimizeResults(
        s.x, success, status, s.value, s.gradient, memory, s.evaluations, s.evaluations, s.iterations
    )


class _State(NamedTuple):
    """The state of the minimisation: `inverse` approximates the inverse Hessian, `previous` is the value before."""

    x: Array
    value: Array
    gradient: Array
    inverse: Array
    previous: Array
    iterations: Array
    evaluations: Array
    converged: Array
    failed: Array
    line_search_status: Array


def minimize_bfgs(both, x0, maxiter=None, norm=np.inf, gtol=1e-5, line_search_maxiter=10):
    """Minimizes with an approximation of the inverse Hessian."""
    maxiter = 200 * x0.size if maxiter is None else maxiter
    unit = jnp.eye(x0.size, dtype=x0.dtype)
    is_small = lambda gradient: jnp.linalg.norm(gradient, ord=norm) < gtol

    def step(s):
        direction = -_dot(s.inverse, s.gradient)
        search = line_search(both, s.x, direction, s.value, s.gradient, line_search_maxiter, s.previous)
        moved = search.step.astype(x0.dtype) * direction
        change = search.gradient - s.gradient
        rho = jnp.reciprocal(_dot(change, moved))
        factor = unit - rho * jnp.outer(moved, change)
        inverse = _dot(_dot(factor, s.inverse), factor.T) + rho * jnp.outer(moved, moved)
        return _State(
            s.x + moved,
            search.value.astype(s.value.dtype),
            search.gradient,
            jnp.where(jnp.isfinite(rho), inverse, s.inverse),
            s.value,
            s.iterations + 1,
            s.evaluations + search.evaluations,
            is_small(search.gradient),
            search.failed,
            search.status,
        )

    value, gradient = both(x0)
    # the last value but one that makes the first step of the order of 1 / (the gradient's norm)
    previous = value + (jnp.linalg.norm(gradient) / 2).astype(value.dtype)
    zero, no = jnp.asarray(0), jnp.asarray(False)
    s = _State(x0, value, gradient, unit, previous, zero, jnp.asarray(1), is_small(gradient), no, zero)
    s = lax.while_loop(lambda s: ~s.converged & ~s.failed & (s.iterations < maxiter), step, s)
    ended = jnp.where(s.iterations == maxiter, 1, jnp.where(s.failed, 2 + s.line_search_status, -1))
    return _results(s, s.converged, s.failed, jnp.where(s.converged, 0, ended), s.inverse)


class _CorrectionPairs(NamedTuple):
    """The last steps and gradient changes, oldest first, and the inverses of their products, 0 for pairs that do not
    exist yet."""

    moved: Array
    change: Array
    rho: Array

    def direction(self, gradient, scale):
        """The step of Newton's method, in the approximation of the pairs (algorithm 7.4; for complex numbers after
        Sorber, Van Barel and De Lathauwer, 2012)."""

        def backward(q, pair):
            moved, change, rho = pair
            alpha = rho * jnp.real(_dot(jnp.conj(moved), q)).astype(rho.dtype)
            return q - alpha * jnp.conj(change), alpha

        def forward(q, pair):
            moved, change, rho, alpha = pair
            return q + (alpha - rho * jnp.real(_dot(change, q)).astype(rho.dtype)) * moved, None

        q, alphas = lax.scan(backward, -jnp.conj(gradient), self, reverse=True)
        return lax.scan(forward, scale * q, (*self, alphas))[0]

    def with_newest(self, *pair):
        """The pairs without the oldest, with another."""
        return _CorrectionPairs(*(jnp.concatenate([old[1:], new[None]]) for old, new in zip(self, pair)))


class _LimitedState(NamedTuple):
    """The state of the minimisation with limited memory; `scale` is that of the Hessian before corrections."""

    x: Array
    value: Array
    gradient: Array
    pairs: _CorrectionPairs
    scale: Array
    iterations: Array
    evaluations: Array
    converged: Array
    status: Array


def minimize_lbfgs(
    both, x0, maxiter=None, norm=np.inf, maxcor=10, ftol=2.220446049250313e-09, gtol=1e-5, maxfun=None, maxgrad=None,
    maxls=20,
):  # fmt: skip
    """Minimizes with the last `maxcor` steps in place of a matrix."""
    if maxiter is None and maxfun is None and maxgrad is None:
        maxiter = 200 * x0.size

    def status_after(s, value, failed):
        status = jnp.where(s.value - value < ftol, 4, 0)
        for limit, count, number in (
            (maxgrad, s.evaluations, 3),
            (maxfun, s.evaluations, 2),
            (maxiter, s.iterations, 1),
        ):
            if limit is not None:
                status = jnp.where(count >= limit, number, status)
        return jnp.where(failed, 5, status)

    def step(s):
        direction = s.pairs.direction(s.gradient, s.scale)
        search = line_search(both, s.x, direction, s.value, s.gradient, maxls)
        moved = search.step.astype(x0.dtype) * direction
        change = search.gradient - s.gradient
        product = jnp.real(_dot(change, moved))
        converged = jnp.linalg.norm(search.gradient, ord=norm) < gtol
        value = search.value.astype(s.value.dtype)
        return _LimitedState(
            s.x + moved,
            value,
            search.gradient,
            s.pairs.with_newest(moved, change, jnp.reciprocal(product).astype(x0.dtype)),
            (product / jnp.real(_dot(jnp.conj(change), change))).astype(x0.dtype),
            s.iterations + 1,
            s.evaluations + search.evaluations,
            converged,
            jnp.where(converged, 0, status_after(s, value, search.failed)),
        )

    zeros = jnp.zeros((maxcor, x0.size), x0.dtype)
    pairs, zero = _CorrectionPairs(zeros, zeros, zeros[:, 0]), jnp.asarray(0)
    s = _LimitedState(x0, *both(x0), pairs, jnp.ones((), x0.dtype), zero, jnp.asarray(1), jnp.asarray(False), zero)
    s = lax.while_loop(lambda s: ~s.converged & (s.status == 0), step, s)
    return _results(s, s.converged, s.status > 0, s.status, None)


_METHODS: dict[str, Callable[..., OptimizeResults]] = {
    "bfgs": minimize_bfgs,
    "l-bfgs-experimental-do-not-rely-on-this": minimize_lbfgs,
}
