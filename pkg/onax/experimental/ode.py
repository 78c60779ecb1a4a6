"""Initial value problems, under the name of jax.experimental.ode: an adaptive Runge-Kutta method with an adjoint.

Method: Dormand and Prince, "A family of embedded Runge-Kutta formulae" (1980), order 5; the error estimate of order 4
and values between steps by Shampine, "Some practical Runge-Kutta formulas" (1986), as in JAX; step sizes and the first
step by Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", II.4.  The gradient solves the adjoint
problem backward in time (Pontryagin; Chen et al., "Neural ordinary differential equations", 2018): it keeps the
solution at the given times, and no steps.
"""

import functools
from typing import Any

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._compile.jit import jit
from onax._control.custom_gradient import closure_convert
from onax._control.custom_vjp import custom_vjp
from onax._core.trace import valid_jaxtype
from onax._ground.dtypes import float0
from onax._ground.typing import AnyFunction, ArrayLike
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.tree import tree_flatten, tree_leaves, tree_unflatten
from onax._transforms.autodiff import vjp
from onax._transforms.vmap import vmap

# Nodes, weights of each stage, of the result (the last row), of the error and of the value in the middle of a step.
_NODES = np.array([1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
_STAGES = np.array(
    [
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
_FOURTH = np.array([1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60])
_ERROR = np.array([*_STAGES[-1], 0]) - _FOURTH
_MIDDLE = 0.5 * np.array(
    [
        6025192743 / 30085553152,
        0,
        51252292925 / 65400821598,
        -2691868925 / 45128329728,
        187940372067 / 1594534317056,
        -1776094331 / 19743644256,
        11237099 / 235043384,
    ]
)
_SAFETY, _SHRINK, _GROW, _ORDER = 0.9, 0.2, 10.0, 5


def odeint(
    func: AnyFunction,
    y0: Any,
    t: ArrayLike,
    *args: Any,
    rtol: float = 1.4e-08,
    atol: float = 1.4e-08,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """Returns the solution of dy/dt = func(y, t, *args) at given times (Dormand and Prince, 1980).

    It has derivatives in reverse mode only, with respect to y0, t and args.

    Args:
      func: a function that returns a tree like `y0`; what it closes over may be differentiated too.
      y0: the solution at t[0], a tree of arrays.
      t: strictly increasing times, (n,).
      args: trees of arrays.
      rtol: the relative tolerance for the error of a step; default 1.4e-8, which needs float64.
      atol: the absolute tolerance; default 1.4e-8.
      mxstep: the largest number of steps between two times; default inf.
      hmax: the largest step; default inf.

    Returns:
      A tree like `y0` with a leading axis of length n.

    Raises:
      TypeError: `args` that are no trees of arrays; derivatives of a wider dtype than `y0`, such as complex ones of
        real numbers.

    Examples:
      >>> from onax.experimental.ode import odeint
      >>> y = odeint(lambda y, t: -y, jnp.float32(1.0), jnp.array([0.0, 1.0]), rtol=1e-4, atol=1e-4)
      >>> y.round(3)
      Array([1.   , 0.368], dtype=float32)
    """
    for leaf in tree_leaves(args):
        if not valid_jaxtype(leaf):
            raise TypeError(f"The contents of odeint *args must be arrays or scalars, but got {leaf}.")
    leaves, tree = tree_flatten(y0)
    arrays = [jnp.asarray(x) for x in leaves]
    arrays = [x if jnp.issubdtype(x.dtype, np.inexact) else x.astype(jnp.result_type(float)) for x in arrays]
    pack, unpack = _packing(arrays)
    t = jnp.asarray(t)
    if not jnp.issubdtype(t.dtype, np.floating):
        raise TypeError(f"t must be an array of floats, but got {t}.")

    def derivative(y, t, *args):
        slopes = [jnp.asarray(x) for x in tree_leaves(func(tree_unflatten(tree, unpack(y)), t, *args))]
        for x, slope in zip(arrays, slopes):
            is_scalar = slope.weak_type and slope.dtype.kind == x.dtype.kind
            if not is_scalar and jnp.promote_types(x.dtype, slope.dtype) != x.dtype:
                raise TypeError(
                    "while_loop body function carry input and carry output must have equal types, but they differ:\n"
                    f"y0 of odeint has the dtype {x.dtype}, and func returns {slope.dtype}"
                )
        return pack(slopes)

    flat = pack(arrays)
    converted, consts = closure_convert(derivative, flat, t[0], *args)
    settings = (float(rtol), float(atol), float(mxstep), float(hmax))
    solution = _solve(converted, settings, flat, t, *args, *consts)
    return tree_unflatten(tree, vmap(unpack)(solution))


def _packing(arrays):
    """(function from a list of arrays like these to one vector, its inverse)."""
    dtype = jnp.result_type(*arrays)
    kinds = [(x.shape, x.dtype) for x in arrays]
    offsets = np.cumsum([x.size for x in arrays])[:-1]

    def pack(arrays):
        return jnp.concatenate([jnp.ravel(x if x.dtype == dtype else x.astype(dtype)) for x in arrays])

    def unpack(vector):
        parts = jnp.split(vector, offsets)
        return [_cast(part.reshape(shape), kind) for part, (shape, kind) in zip(parts, kinds)]

    return pack, unpack


def _cast(x, dtype):
    real = jnp.issubdtype(dtype, np.floating) and jnp.issubdtype(x.dtype, np.complexfloating)
    x = x.real if real else x
    return x if x.dtype == dtype else x.astype(dtype)


# ---- one step ----


def _first_step(f, t0, y0, f0, rtol, atol):
    scale = atol + jnp.abs(y0) * rtol
    d0, d1 = jnp.linalg.norm(y0 / scale), jnp.linalg.norm(f0 / scale)
    h0 = jnp.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    f1 = f(y0 + h0 * f0, t0 + h0)
    d2 = jnp.linalg.norm((f1 - f0) / scale) / h0
    steepest = jnp.maximum(d1, d2)
    h1 = jnp.where((d1 <= 1e-15) & (d2 <= 1e-15), jnp.maximum(1e-6, h0 * 1e-3), (0.01 / steepest) ** (1 / _ORDER))
    return jnp.minimum(100 * h0, h1)


def _try_step(f, y0, f0, t0, dt):
    """(y, derivative there, error, the derivatives of all stages) after a step of size dt."""
    k = [f0]
    for node, weights in zip(_NODES, _STAGES):
        moved = sum(w * x for w, x in zip(weights, k) if w)
        k.append(f(y0 + (dt * moved).astype(y0.dtype), t0 + dt * node))
    k = jnp.stack(k)
    y1 = y0 + (dt * _weighted(_STAGES[-1], k[:6])).astype(y0.dtype)
    return y1, k[-1], (dt * _weighted(_ERROR, k)).astype(y0.dtype), k


def _weighted(weights, k):
    return jnp.tensordot(weights.astype(np.finfo(k.dtype).dtype), k, 1)


def _error_ratio(error, rtol, atol, y0, y1):
    tolerance = atol + rtol * jnp.maximum(jnp.abs(y0), jnp.abs(y1))
    return jnp.sqrt(jnp.mean(jnp.abs(error / tolerance) ** 2))


def _next_size(dt, ratio, hmax):
    shrink = jnp.where(ratio < 1, 1.0, _SHRINK)
    factor = jnp.minimum(_GROW, jnp.maximum(ratio ** (-1 / _ORDER) * _SAFETY, shrink))
    return jnp.minimum(jnp.where(ratio == 0, dt * _GROW, dt * factor), hmax).astype(dt.dtype)


def _polynomial(y0, y1, k, dt):
    """Coefficients, highest first, of the quartic through both ends and the middle of a step, with both slopes."""
    middle = y0 + (dt * _weighted(_MIDDLE, k)).astype(y0.dtype)
    d0, d1 = (dt * k[0]).astype(y0.dtype), (dt * k[-1]).astype(y0.dtype)
    a = -2 * d0 + 2 * d1 - 8 * y0 - 8 * y1 + 16 * middle
    b = 5 * d0 - 3 * d1 + 18 * y0 + 14 * y1 - 32 * middle
    c = -4 * d0 + d1 - 11 * y0 - 5 * y1 + 16 * middle
    return jnp.stack([a, b, c, d0, y0])


# ---- from time to time ----


def _integrate(f, settings, y0, ts):
    rtol, atol, mxstep, hmax = settings
    f0 = f(y0, ts[0])
    dt = jnp.minimum(_first_step(f, ts[0], y0, f0, rtol, atol), hmax).astype(ts.dtype)

    def to(carry, target):
        def going_on(state):
            i, _, _, t, dt, _, _ = state
            return (t < target) & (i < mxstep) & (dt > 0)

        def step(state):
            i, y, slope, t, dt, before, coefficients = state
            y1, slope1, error, k = _try_step(f, y, slope, t, dt)
            ratio = _error_ratio(error, rtol, atol, y, y1)
            accepted = ratio <= 1
            pick = lambda new, old: jnp.where(accepted, new, old)
            return (
                i + 1,
                pick(y1, y),
                pick(slope1, slope),
                pick(t + dt, t),
                _next_size(dt, ratio, hmax),
                pick(t, before),
                pick(_polynomial(y, y1, k, dt), coefficients),
            )

        _, *carry = lax.while_loop(going_on, step, (0, *carry))
        _, _, t, _, before, coefficients = carry
        fraction = ((target - before) / (t - before)).astype(y0.dtype)
        return tuple(carry), jnp.polyval(coefficients, fraction)

    start = (y0, f0, ts[0], dt, ts[0], jnp.stack([y0] * 5))
    _, ys = lax.scan(to, start, ts[1:])
    return jnp.concatenate([y0[None], ys])


@functools.partial(jit, static_argnums=(0, 1))
def _run(f, settings, y0, ts, *args):
    return _integrate(lambda y, t: f(y, t, *args), settings, y0, ts)


@functools.partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve(f, settings, y0, ts, *args):
    return _run(f, settings, y0, ts, *args)


def _forward(f, settings, y0, ts, *args):
    ys = _solve(f, settings, y0, ts, *args)  # which a second reverse mode differentiates by the rule
    return ys, (ys, ts, args)


def _backward(f, settings, residuals, ct):
    """Backward from time to time: cotangents of y0, of the times and of the arguments."""
    ys, ts, args = residuals
    leaves, tree = tree_flatten(args)
    inexact = [jnp.issubdtype(jnp.result_type(x), np.inexact) for x in leaves]
    inexact_leaves = [jnp.asarray(x) for x, flag in zip(leaves, inexact) if flag]
    pack, unpack = _packing([ys[0], ct[0], ts[0], *inexact_leaves])

    def with_wanted(some, leaves):
        some = iter(some)
        return tree_unflatten(tree, [next(some) if flag else x for x, flag in zip(leaves, inexact)])

    def augmented(packed, negative_t, *leaves):
        """Derivatives in -t of the state, its cotangent, and what gathers for the time and the arguments."""
        y, y_bar, *_ = unpack(packed)
        inexact_leaves = [x for x, flag in zip(leaves, inexact) if flag]
        of = lambda y, t, *some: f(y, t, *with_wanted(some, leaves))
        slope, pull = vjp(of, y, -negative_t, *inexact_leaves)
        return pack([-slope, *pull(y_bar)])

    def back(carry, i):
        y_bar, t0_bar, args_bar = carry
        t_bar = jnp.sum(f(ys[i], ts[i], *args) * ct[i]).real.astype(ts.dtype)
        packed = pack([ys[i], y_bar, t0_bar - t_bar, *args_bar])
        times = jnp.stack([-ts[i], -ts[i - 1]])
        _, y_bar, t0_bar, *args_bar = unpack(_solve(augmented, settings, packed, times, *leaves)[1])
        return (y_bar + ct[i - 1], t0_bar, args_bar), t_bar

    start = (ct[-1], jnp.zeros((), ts.dtype), [jnp.zeros_like(x) for x in inexact_leaves])
    (y_bar, t0_bar, args_bar), rest = lax.scan(back, start, jnp.arange(len(ts) - 1, 0, -1))
    some = iter(args_bar)
    cts = [next(some) if flag else np.zeros(jnp.shape(x), float0) for x, flag in zip(leaves, inexact)]
    return y_bar, jnp.concatenate([t0_bar[None], rest[::-1]]), *tree_unflatten(tree, cts)


_solve.defvjp(_forward, _backward)

__getattr__ = _unavailable(
    __name__,
    {
        "abs2 fit_4th_order_polynomial initial_step_size interp_fit_dopri mean_error_ratio optimal_step_size "
        "ravel_first_arg runge_kutta_step": "they are steps of JAX's implementation; odeint is the solver",
    },
)

__all__ = ["odeint"]
