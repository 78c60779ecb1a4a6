"""A step along a direction that satisfies the strong Wolfe conditions, after J. Nocedal and S. Wright, "Numerical
Optimization" (2nd edition, 2006), algorithms 3.5 and 3.6, with the choices of SciPy and JAX: steps are doubled until
they enclose a minimum; in the interval, the minimum of a cubic is tried, then that of a parabola, then the middle.
"""

from __future__ import annotations

from typing import NamedTuple

from onax import lax
from onax import numpy as jnp
from onax._ground import dtypes

_BRACKETING, _ZOOMING, _FOUND, _FAILED = range(4)
_DECREASE, _CURVATURE = 1e-4, 0.9
_CUBIC_MARGIN, _PARABOLA_MARGIN = 0.2, 0.1  # parts of the interval that trials keep from its ends
_MOST_TRIALS = 30  # in an interval
_SHORTEST = {4: 1e-5, 8: 1e-10}  # lengths of an interval, by the size of its dtype


class _Point(NamedTuple):
    """A step, the function and its slope there."""

    step: object
    value: object
    slope: object


class _State(NamedTuple):
    """The search: `low` is the best point of the interval (before there is one, the last point), `high` its other end,
    `old_step` and `old_value` an end that it had before; `found` and `gradient` are the answer."""

    phase: object
    low: _Point
    high: _Point
    old_step: object
    old_value: object
    found: _Point
    gradient: object
    doublings: object
    trials: object
    evaluations: object


class LineSearchResult(NamedTuple):
    """What a line search gives; status: 0 after success, 1 if the interval gave no step, 3 if no interval was found."""

    step: object
    value: object
    gradient: object
    failed: object
    status: object
    evaluations: object


def _dot(x, y):
    return jnp.dot(x, y, precision=lax.Precision.HIGHEST)


def line_search(value_and_grad, x, direction, value, gradient, maxiter, previous_value=None):
    """Returns a LineSearchResult.

    The first step is 1, or with the function's value at the point before, min(1, 2.02 (value - previous) / slope).
    `maxiter` limits the steps until an interval is found.  If the search in the interval fails, the step is 1.
    """
    real = dtypes.real_dtype(x.dtype)
    shortest = _SHORTEST.get(real.itemsize, _SHORTEST[4])
    number = lambda v: jnp.asarray(v, real)
    start = _Point(number(0), value.astype(real), jnp.real(_dot(gradient, direction)).astype(real))
    first = number(1)
    if previous_value is not None:
        guess = 1.01 * 2 * (start.value - previous_value.astype(real)) / start.slope
        first = jnp.where(guess > 1, number(1), guess)

    def advance(state):
        zooming = state.phase == _ZOOMING
        doubled = jnp.where(state.doublings == 0, first, 2 * state.low.step)
        step = jnp.where(zooming, _trial(state), doubled)
        new_value, new_gradient = value_and_grad(x + step.astype(x.dtype) * direction)
        slope = jnp.real(_dot(new_gradient, direction)).astype(real)
        new = _Point(step, new_value.astype(real), slope)
        bracketed, zoomed = _bracket(state, new, start, new_gradient), _zoom(state, new, start, new_gradient, shortest)
        return _select(zooming, zoomed, bracketed)._replace(evaluations=state.evaluations + 1)

    def should_continue(state):
        return (state.phase == _ZOOMING) | ((state.phase == _BRACKETING) & (state.doublings < maxiter))

    zero = jnp.asarray(0)
    phase = jnp.asarray(_BRACKETING)
    state = _State(phase, start, start, number(0), start.value, start, gradient, zero, zero, zero)
    state = lax.while_loop(should_continue, advance, state)
    failed = state.phase != _FOUND
    status = jnp.where(state.phase == _FAILED, 1, jnp.where(state.doublings >= maxiter, 3, 0))
    step = state.found.step
    if real.itemsize < 8:  # smaller steps would leave x as it is
        step = jnp.where(jnp.abs(step) < 1e-8, jnp.sign(step) * 1e-8, step)
    return LineSearchResult(step, state.found.value, state.gradient, failed, status, state.evaluations)


def _select(condition, one, other):
    """Chooses one of two trees."""
    if isinstance(one, tuple):
        return type(one)(*(_select(condition, a, b) for a, b in zip(one, other)))
    return jnp.where(condition, one, other)


def _exceeds(new, start):
    """Whether the function decreases too little."""
    return new.value > start.value + _DECREASE * new.step * start.slope


def _is_flat(new, start):
    """Whether the slope is small enough."""
    return jnp.abs(new.slope) <= -_CURVATURE * start.slope


def _bracket(state, new, start, gradient):
    """Returns the state after a step that no interval limits."""
    last = state.low
    rises = _exceeds(new, start) | ((new.value >= last.value) & (state.doublings > 0))
    found = ~rises & _is_flat(new, start)
    turns = ~rises & ~found & (new.slope >= 0)
    low, high = _select(rises, last, new), _select(rises, new, last)
    # what is given back should the search in the interval fail
    fallback = _Point(jnp.ones_like(new.step), low.value, low.slope)
    answer = _select(found, new, _select(rises | turns, fallback, state.found))
    return state._replace(
        phase=jnp.where(found, _FOUND, jnp.where(rises | turns, _ZOOMING, _BRACKETING)),
        low=low,
        high=high,
        old_step=(low.step + high.step) / 2,
        old_value=(low.value + high.value) / 2,
        found=answer,
        gradient=jnp.where(found, gradient, state.gradient),
        doublings=state.doublings + 1,
    )


def _zoom(state, new, start, gradient, shortest):
    """Returns the state after a trial in the interval."""
    low, high = state.low, state.high
    span = high.step - low.step
    rises = _exceeds(new, start) | (new.value >= low.value)
    found = ~rises & _is_flat(new, start)
    becomes_low = ~rises & ~found
    turns = becomes_low & (new.slope * span >= 0)
    trials = state.trials + 1
    failed = (span <= shortest) | (trials >= _MOST_TRIALS)
    return state._replace(
        phase=jnp.where(failed, _FAILED, jnp.where(found, _FOUND, _ZOOMING)),
        low=_select(becomes_low, new, low),
        high=_select(rises, new, _select(turns, low, high)),
        old_step=jnp.where(rises | turns, high.step, jnp.where(becomes_low, low.step, state.old_step)),
        old_value=jnp.where(rises | turns, high.value, jnp.where(becomes_low, low.value, state.old_value)),
        found=_select(found, new, state.found),
        gradient=jnp.where(found, gradient, state.gradient),
        trials=trials,
    )


def _trial(state):
    """The step to try in the interval."""
    low, high = state.low, state.high
    span = high.step - low.step
    first, last = jnp.minimum(low.step, high.step), jnp.maximum(low.step, high.step)
    inside = lambda step, margin: (step > first + margin * span) & (step < last - margin * span)
    cubic, parabola = _cubic_minimum(state), _parabola_minimum(low, high)
    by_cubic = (state.trials > 0) & inside(cubic, _CUBIC_MARGIN)
    middle = (low.step + high.step) / 2
    return jnp.where(by_cubic, cubic, jnp.where(inside(parabola, _PARABOLA_MARGIN), parabola, middle))


def _cubic_minimum(state):
    """The minimum of the cubic with the slope at the low end and the values at both ends and at an earlier one."""
    low, high = state.low, state.high
    slope = low.slope
    b, c = high.step - low.step, state.old_step - low.step
    to_b, to_c = high.value - low.value - slope * b, state.old_value - low.value - slope * c
    scale = (b * c) ** 2 * (b - c)
    third = (c**2 * to_b - b**2 * to_c) / scale
    second = (-(c**3) * to_b + b**3 * to_c) / scale
    return low.step + (-second + jnp.sqrt(second * second - 3 * third * slope)) / (3 * third)


def _parabola_minimum(low, high):
    """The minimum of the parabola with the slope at the low end and the values at both."""
    span = high.step - low.step
    second = (high.value - low.value - low.slope * span) / (span**2)
    return low.step - low.slope / (2 * second)
