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
      status: 0: yes; 1: too many iterations; 3: no step along the last direction decreases the function; 5: the line
        search ran out of evaluations (with limited memory: it failed).
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

    It can be jitted and mapped; it has no derivative in reverse mode.  The line search is not JAX's (it uses the test
    of Hager and Zhang, 2005), so steps and counts differ.

    Args:
      fun: a function ``fun(x, *args)`` whose result is a real number.
      x0: the first point, (n,), floats.
      args: further arguments, a tuple; default ``()``.
      method: "BFGS", or "l-bfgs-experimental-do-not-rely-on-this", which keeps `maxcor` pairs of vectors in place of a
        matrix.
      tol: gtol, where the options have none; default None.
      options: a dict: maxiter (200 n), norm (of the gradient, inf), gtol (1e-5: it ends below), line_search_maxiter
        (10; maxls, 20, with limited memory).

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


class _State(NamedTuple):
    """The state of the minimisation; `memory` is the method's approximation of the Hessian."""

    x: object
    value: object
    gradient: object
    memory: object
    iterations: object
    evaluations: object
    line_search_status: object


def _descend(both, x0, maxiter, norm, gtol, line_search_maxiter, memory, direction_of, update):
    """The loop that both methods share: each iteration chooses a direction, makes a step and updates the memory."""
    value, gradient = both(x0)
    maxiter = 200 * x0.size if maxiter is None else maxiter
    size = lambda g: jnp.linalg.norm(g, ord=norm)

    def should_continue(s):
        return ~(size(s.gradient) < gtol) & (s.line_search_status == 0) & (s.iterations < maxiter)

    def step(s):
        direction = direction_of(s.memory, s.gradient)
        downhill = jnp.dot(direction, s.gradient) < 0
        direction = jnp.where(downhill, direction, -s.gradient)
        guess = jnp.where(s.iterations == 0, jnp.minimum(1.0, 1.0 / _vector_norm(s.gradient)), 1.0)
        a, new_value, new_gradient, status, count = line_search(
            both, s.x, direction, s.value, s.gradient, guess, line_search_maxiter
        )
        succeeded = status == 0
        step_vector, gradient_change = a * direction, new_gradient - s.gradient
        keep_if_succeeded = lambda new, old: jnp.where(succeeded, new, old)
        return _State(
            keep_if_succeeded(s.x + step_vector, s.x),
            keep_if_succeeded(new_value, s.value),
            keep_if_succeeded(new_gradient, s.gradient),
            update(s.memory, step_vector, gradient_change, succeeded),
            s.iterations + 1,
            s.evaluations + count,
            status,
        )

    s = _State(x0, value, gradient, memory, 0, 1, jnp.array(0))
    s = lax.while_loop(should_continue, step, s)
    success = size(s.gradient) < gtol
    return s, success, jnp.where(success, 0, jnp.where(s.line_search_status == 0, 1, 2 + s.line_search_status))


def _vector_norm(vector):
    return jnp.maximum(jnp.sqrt(jnp.dot(vector, vector)), jnp.finfo(vector.dtype).tiny)


def minimize_bfgs(both, x0, maxiter=None, norm=np.inf, gtol=1e-5, line_search_maxiter=10):
    """Minimizes with an approximation of the inverse Hessian."""
    unit = jnp.eye(x0.size, dtype=x0.dtype)

    def update(inverse, step_vector, gradient_change, succeeded):
        curvature = jnp.dot(step_vector, gradient_change)
        usable = succeeded & (curvature > 0)
        rho = 1 / jnp.where(usable, curvature, 1)
        factor = unit - rho * jnp.outer(step_vector, gradient_change)
        return jnp.where(usable, factor @ inverse @ factor.T + rho * jnp.outer(step_vector, step_vector), inverse)

    direction_of = lambda inverse, gradient: -(inverse @ gradient)
    s, success, status = _descend(both, x0, maxiter, norm, gtol, line_search_maxiter, unit, direction_of, update)
    evaluations = s.evaluations
    return OptimizeResults(s.x, success, status, s.value, s.gradient, s.memory, evaluations, evaluations, s.iterations)


class _CorrectionPairs(NamedTuple):
    """The last steps and gradient changes, oldest first; their products are 0 for pairs that do not exist yet."""

    step_vector: object
    gradient_change: object
    rho: object
    scale: object


def minimize_lbfgs(both, x0, maxiter=None, norm=np.inf, maxcor=10, gtol=1e-5, maxls=20):
    """Minimizes with the last `maxcor` steps in place of a matrix."""
    zeros = jnp.zeros((maxcor, x0.size), x0.dtype)
    memory = _CorrectionPairs(zeros, zeros, zeros[:, 0], jnp.ones((), x0.dtype))

    def direction_of(pairs, gradient):
        def backward(q, pair):
            step_vector, gradient_change, rho = pair
            alpha = rho * jnp.dot(step_vector, q)
            return q - alpha * gradient_change, alpha

        def forward(r, pair):
            step_vector, gradient_change, rho, alpha = pair
            return r + step_vector * (alpha - rho * jnp.dot(gradient_change, r)), None

        q, alphas = lax.scan(backward, gradient, pairs[:3], reverse=True)
        r, _ = lax.scan(forward, pairs.scale * q, (*pairs[:3], alphas))
        return -r

    def update(pairs, step_vector, gradient_change, succeeded):
        curvature = jnp.dot(step_vector, gradient_change)
        usable = succeeded & (curvature > 0)
        safe = jnp.where(usable, curvature, 1)
        newest = step_vector, gradient_change, 1 / safe
        rows = [jnp.concatenate([old[1:], new[None]]) for old, new in zip(pairs[:3], newest)]
        scale = safe / jnp.where(usable, jnp.dot(gradient_change, gradient_change), 1)
        new = _CorrectionPairs(*rows, scale)
        return _CorrectionPairs(*(jnp.where(usable, a, b) for a, b in zip(new, pairs)))

    s, success, status = _descend(both, x0, maxiter, norm, gtol, maxls, memory, direction_of, update)
    status = jnp.where(status > 1, 5, status)
    return OptimizeResults(s.x, success, status, s.value, s.gradient, None, s.evaluations, s.evaluations, s.iterations)


_METHODS: dict[str, Callable[..., OptimizeResults]] = {
    "bfgs": minimize_bfgs,
    "l-bfgs-experimental-do-not-rely-on-this": minimize_lbfgs,
}
