"""A step along a direction that satisfies the strong Wolfe conditions, after J. Nocedal and S. Wright, "Numerical
Optimization" (2nd edition, 2006), algorithms 3.5 and 3.6; with the test of W. Hager and H. Zhang (2005) for where the
function no longer tells its values apart.
"""

from typing import NamedTuple

from onax import lax
from onax import numpy as jnp

_BRACKETING, _ZOOMING, _FOUND, _FAILED = range(4)
_DECREASE, _CURVATURE = 1e-4, 0.9


class _Point(NamedTuple):
    """A step, the function and its slope there, and the gradient."""

    step: object
    value: object
    slope: object
    gradient: object


class _State(NamedTuple):
    """The search: `low` is the best point so far, `high` the other end of the interval, `trial` the step to try."""

    phase: object
    low: _Point
    high: _Point
    trial: object
    evaluations: object


def line_search(value_and_grad, x, direction, value, gradient, first, maxiter):
    """(step, function's value there, gradient there, status, number of evaluations).

    The status is 0 after success, 1 if no step in an interval sufficed and 3 if no interval was found, as in JAX.
    """
    zero = jnp.zeros((), x.dtype)
    start = _Point(zero, value, jnp.dot(gradient, direction), gradient)
    slack = jnp.finfo(x.dtype).eps * jnp.abs(value)

    def evaluate_at(step):
        new_value, slope_vector = value_and_grad(x + step * direction)
        return _Point(step, new_value, jnp.dot(slope_vector, direction), slope_vector)

    def advance(state):
        return _advance(state, evaluate_at(state.trial), start, slack)

    def should_continue(state):
        return (state.phase < _FOUND) & (state.evaluations < maxiter)

    state = _State(jnp.asarray(_BRACKETING), start, start, jnp.asarray(first, x.dtype), jnp.asarray(0))
    state = lax.while_loop(should_continue, advance, state)
    # Out of evaluations in an interval that has a minimum, a point that decreases the function is good enough.
    low = state.low
    bracketed = (state.phase == _ZOOMING) | (state.phase == _FAILED)
    succeeded = (state.phase == _FOUND) | (bracketed & (low.step > 0) & (low.value < value))
    status = jnp.where(succeeded, 0, jnp.where(bracketed & ~jnp.isnan(state.high.value), 1, 3))
    return low.step, low.value, low.gradient, status, state.evaluations


def _advance(state, new, start, slack):
    """Returns the state of the search after one more evaluation."""
    low, high = state.low, state.high
    zooming = state.phase == _ZOOMING
    limit = start.value + _DECREASE * new.step * start.slope
    flat = new.slope >= _CURVATURE * start.slope
    enough = jnp.abs(new.slope) <= -_CURVATURE * start.slope
    nearly_converged = (new.value <= start.value + slack) & (new.slope <= (2 * _DECREASE - 1) * start.slope) & flat
    poor = ~((new.value <= limit) & ((new.value < low.value) | (low.step == 0)))
    is_accepted = (~poor & enough) | nearly_converged
    # The new point is the best unless it is poor; the minimum lies between it and the end that the slope points to.
    turns = jnp.where(zooming, new.slope * (high.step - low.step) >= 0, new.slope >= 0)
    next_high = _select_point(poor, new, _select_point(turns, low, high))
    next_low = _select_point(poor & ~is_accepted, low, new)
    bracketed = zooming | poor | turns
    phase = jnp.where(is_accepted, _FOUND, jnp.where(bracketed, _ZOOMING, _BRACKETING))
    trial = jnp.where(bracketed, _cubic_minimum(next_low, next_high), 2 * new.step)
    stuck = bracketed & ((trial == next_low.step) | (trial == next_high.step)) & ~is_accepted
    return _State(jnp.where(stuck, _FAILED, phase), next_low, next_high, trial, state.evaluations + 1)


def _select_point(condition, one, other):
    return _Point(*(jnp.where(condition, a, b) for a, b in zip(one, other)))


def _cubic_minimum(low, high):
    """The minimizer of the cubic through both ends, clipped away from them; the midpoint if there is none."""
    span = high.step - low.step
    rise = low.slope + high.slope - 3 * (high.value - low.value) / span
    square = rise * rise - low.slope * high.slope
    root = jnp.sign(span) * jnp.sqrt(jnp.maximum(square, 0))
    cubic = high.step - span * (high.slope + root - rise) / (high.slope - low.slope + 2 * root)
    part = (cubic - low.step) / span
    usable = (square >= 0) & (part > 0) & (part < 1)
    return low.step + span * jnp.where(usable, jnp.clip(part, 0.1, 0.9), 0.5)
