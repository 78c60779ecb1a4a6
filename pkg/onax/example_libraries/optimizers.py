"""Optimizers as triples of functions, under the names of jax.example_libraries.optimizers.

    init, update, get_params = adam(1e-3)
    state = init(params)
    state = update(step, gradients, state)       any tree of arrays; `step` counts from 0
    params = get_params(state)

A step size is a number or a function of the step.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

from onax import numpy as jnp
from onax._core.trees import tree_reduce
from onax._native.tree import register_pytree_node, tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten


class Optimizer(NamedTuple):
    """The three functions of an optimizer."""

    init_fn: object
    update_fn: object
    params_fn: object


@dataclass(slots=True, eq=False, repr=False)
class OptimizerState:
    """The state of an optimizer: the flat state of each parameter, and the structures of both trees."""

    packed_state: tuple
    tree_def: object
    subtree_defs: tuple


register_pytree_node(
    OptimizerState,
    lambda state: (state.packed_state, (state.tree_def, state.subtree_defs)),
    lambda aux, packed: OptimizerState(tuple(packed), *aux),
)


@dataclass(slots=True, eq=False, repr=False)
class JoinPoint:
    """Marks where the state of one parameter begins in a tree of states."""

    subtree: object

    def __iter__(self):
        yield self.subtree


def _pack(states, tree):
    flat, subtrees = zip(*map(tree_flatten, states)) if states else ((), ())
    return OptimizerState(tuple(map(tuple, flat)), tree, tuple(subtrees))


def _states(state):
    return [tree_unflatten(tree, flat) for tree, flat in zip(state.subtree_defs, state.packed_state)]


def unpack_optimizer_state(opt_state):
    """The state as a tree like the parameters, each leaf the JoinPoint of its state: for storing it."""
    return tree_unflatten(opt_state.tree_def, [JoinPoint(state) for state in _states(opt_state)])


def pack_optimizer_state(marked_pytree):
    """The inverse of `unpack_optimizer_state`.  Raises TypeError for leaves that are not JoinPoints."""
    points, tree = tree_flatten(marked_pytree)
    if not all(isinstance(point, JoinPoint) for point in points):
        raise TypeError("pack_optimizer_state takes a tree whose leaves are JoinPoints")
    return _pack([point.subtree for point in points], tree)


def optimizer(opt_maker):
    """Decorator that makes an optimizer of trees from an optimizer of single arrays.

    `opt_maker(*settings)` gives `init(x) -> state`, `update(step, gradient, state) -> state` and `params(state) -> x`.
    Trees of gradients must be like the parameters: TypeError.
    """

    @functools.wraps(opt_maker)
    def make(*args, **kwargs):
        init, update, params = opt_maker(*args, **kwargs)

        def tree_init(x0_tree):
            leaves, tree = tree_flatten(x0_tree)
            return _pack([init(x) for x in leaves], tree)

        def tree_update(i, grad_tree, opt_state):
            if tree_structure(grad_tree) != opt_state.tree_def:
                raise TypeError(
                    "optimizer update function was passed a gradient tree that did not match the parameter tree "
                    f"structure with which it was initialized: parameter tree {opt_state.tree_def} and grad tree "
                    f"{tree_structure(grad_tree)}."
                )
            pairs = zip(tree_leaves(grad_tree), _states(opt_state))
            new = _pack([update(i, g, state) for g, state in pairs], opt_state.tree_def)
            for expected, actual in zip(opt_state.subtree_defs, new.subtree_defs):
                if expected != actual:
                    raise TypeError(f"optimizer update function produced an output structure {actual}, not {expected}")
            return new

        def tree_params(opt_state):
            return tree_unflatten(opt_state.tree_def, [params(state) for state in _states(opt_state)])

        return Optimizer(tree_init, tree_update, tree_params)

    return make


# ---- optimizers ----


def _first(state):
    return state[0]


@optimizer
def sgd(step_size):
    """Gradient descent: x - step_size * g."""
    step_size = make_schedule(step_size)
    return (lambda x0: x0), (lambda i, g, x: x - step_size(i) * g), (lambda x: x)


@optimizer
def momentum(step_size, mass):
    """Gradient descent with a velocity: v = mass * v + g; x - step_size * v."""
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, v = state
        v = mass * v + g
        return x - step_size(i) * v, v

    return (lambda x0: (x0, jnp.zeros_like(x0))), update, _first


@optimizer
def nesterov(step_size, mass):
    """Gradient descent with Nesterov's velocity: x - step_size * (mass * v + g)."""
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, v = state
        v = mass * v + g
        return x - step_size(i) * (mass * v + g), v

    return (lambda x0: (x0, jnp.zeros_like(x0))), update, _first


def _inverse_root(x):
    return jnp.where(x > 0, 1.0 / jnp.sqrt(x), 0.0)


@optimizer
def adagrad(step_size, momentum=0.9):
    """Adagrad (Duchi, Hazan and Singer 2011): gradients divided by the root of the sum of their squares."""
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, squares, m = state
        squares = squares + jnp.square(g)
        m = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * m
        return x - step_size(i) * m, squares, m

    return (lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0))), update, _first


@optimizer
def rmsprop(step_size, gamma=0.9, eps=1e-8):
    """RMSProp (Tieleman and Hinton 2012): gradients divided by the root of the running mean of their squares."""
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, mean = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        return x - step_size(i) * g / jnp.sqrt(mean + eps), mean

    return (lambda x0: (x0, jnp.zeros_like(x0))), update, _first


@optimizer
def rmsprop_momentum(step_size, gamma=0.9, eps=1e-8, momentum=0.9):
    """RMSProp with a velocity."""
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, mean, m = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        m = momentum * m + step_size(i) * g / jnp.sqrt(mean + eps)
        return x - m, mean, m

    return (lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0))), update, _first


@optimizer
def adam(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """Adam (Kingma and Ba 2014): running means of gradients and squares, each without its bias towards zero."""
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        mean = m / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        square = v / (1 - jnp.asarray(b2, m.dtype) ** (i + 1))
        return x - step_size(i) * mean / (jnp.sqrt(square) + eps), m, v

    return (lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0))), update, _first


@optimizer
def adamax(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """Adamax (Kingma and Ba 2014): Adam with a decaying maximum of gradients instead of the mean of squares."""
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, m, u = state
        m = (1 - b1) * g + b1 * m
        u = jnp.maximum(b2 * u, jnp.abs(g))
        return x - (step_size(i) / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))) * m / (u + eps), m, u

    return (lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0))), update, _first


@optimizer
def sm3(step_size, momentum=0.9):
    """SM3 (Anil, Gupta, Koren and Singer 2019): Adagrad that keeps one number per row of each axis."""
    step_size = make_schedule(step_size)

    def init(x0):
        return x0, jnp.zeros_like(x0), [jnp.zeros(n, dtype=x0.dtype) for n in jnp.shape(x0)]

    def update(i, g, state):
        x, m, rows = state
        along = [v.reshape([-1 if k == axis else 1 for k in range(x.ndim)]) for axis, v in enumerate(rows)]
        squares = functools.reduce(jnp.minimum, along) + jnp.square(g)
        m = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * m
        rows = [squares.max([k for k in range(x.ndim) if k != axis]) for axis in range(x.ndim)]
        return x - step_size(i) * m, m, rows

    return init, update, _first


# ---- step sizes ----


def constant(step_size):
    """A constant step size."""
    return lambda i: step_size


def exponential_decay(step_size, decay_steps, decay_rate):
    """step_size * decay_rate ** (step / decay_steps)."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size, decay_steps, decay_rate, staircase=False):
    """step_size / (1 + decay_rate * step / decay_steps); with `staircase` the quotient is rounded down."""
    if staircase:
        return lambda i: step_size / (1 + decay_rate * jnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(step_size, decay_steps, final_step_size, power=1.0):
    """From `step_size` to `final_step_size` in `decay_steps` steps, along a power."""

    def schedule(i):
        rest = (1 - jnp.minimum(i, decay_steps) / decay_steps) ** power
        return rest * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries, values):
    """values[k] after k of the boundaries, which increase; ValueError unless there is one value more."""
    boundaries, values = jnp.array(boundaries), jnp.array(values)
    if not boundaries.ndim == values.ndim == 1:
        raise ValueError("boundaries and values must be sequences")
    if boundaries.shape[0] != values.shape[0] - 1:
        raise ValueError("boundaries length must be one shorter than values length")
    return lambda i: values[jnp.sum(i > boundaries)]


def make_schedule(scalar_or_schedule):
    """A function of the step from a number or such a function; TypeError for anything else."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise TypeError(type(scalar_or_schedule))


def l2_norm(tree):
    """The root of the sum of the squares of all numbers in a tree."""
    return jnp.sqrt(tree_reduce(lambda total, x: total + jnp.vdot(x, x), tree, 0))


def clip_grads(grad_tree, max_norm):
    """The tree, scaled so that its norm is at most `max_norm`."""
    norm = l2_norm(grad_tree)
    return tree_map(lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)
