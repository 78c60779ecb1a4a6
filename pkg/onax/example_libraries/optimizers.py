"""Optimizers as triples of functions, under the names of jax.example_libraries.optimizers.

    init, update, get_params = adam(1e-3)
    state = init(params)
    state = update(step, gradients, state)       any tree of arrays; `step` counts from 0
    params = get_params(state)

A step size is a number or a function of the step.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from onax import numpy as jnp
from onax._core.trees import tree_reduce
from onax._ground.typing import AnyFunction, Arguments, ArrayLike, PyTree
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.array import Array
from onax._native.tree import (
    PyTreeDef,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

Schedule: TypeAlias = Callable[[Any], Any]  # of the step's number
ScalarOrSchedule: TypeAlias = ArrayLike | Schedule


class Optimizer(NamedTuple):
    """The three functions of an optimizer.

    Args:
      init_fn: a function (params) -> state.
      update_fn: a function (step, gradients, state) -> state.
      params_fn: a function (state) -> params.

    Examples:
      >>> init, update, get_params = onax.example_libraries.optimizers.sgd(0.5)
      >>> get_params(update(0, {"w": 2.0}, init({"w": 1.0})))
      {'w': 0.0}
    """

    init_fn: Callable[[PyTree], Any]
    update_fn: Callable[[Any, PyTree, Any], Any]
    params_fn: Callable[[Any], PyTree]


class OptimizerState(NamedTuple):
    """The state of an optimizer.

    Args:
      packed_state: the flat state of each parameter.
      tree_def: the structure of the parameters.
      subtree_defs: the structure of each parameter's state.

    Examples:
      >>> state = onax.example_libraries.optimizers.sgd(0.5).init_fn({"w": 1.0})
      >>> state.packed_state
      ([1.0],)
    """

    packed_state: tuple[list[Any], ...]
    tree_def: PyTreeDef
    subtree_defs: tuple[PyTreeDef, ...]


register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda aux, children: OptimizerState(children[0], *aux),
)


@dataclass(slots=True, eq=False, repr=False)
class JoinPoint:
    """Marks where the state of one parameter begins in a tree of states.

    Args:
      subtree: the state of the parameter.

    Examples:
      >>> onax.example_libraries.optimizers.JoinPoint((1.0,)).subtree
      (1.0,)
    """

    subtree: Any

    def __iter__(self):
        yield self.subtree


def _pack(states, tree):
    flat, subtrees = zip(*map(tree_flatten, states)) if states else ((), ())
    return OptimizerState(tuple(map(list, flat)), tree, tuple(subtrees))


def _states(state):
    return [tree_unflatten(tree, flat) for tree, flat in zip(state.subtree_defs, state.packed_state)]


def unpack_optimizer_state(opt_state: OptimizerState) -> PyTree:
    """Returns the state as a tree like the parameters, for storing it.

    Args:
      opt_state: an OptimizerState.

    Returns:
      A tree whose leaves are JoinPoints, each with the state of a parameter.

    Examples:
      >>> optimizers = onax.example_libraries.optimizers
      >>> optimizers.unpack_optimizer_state(optimizers.sgd(0.5).init_fn({"w": 1.0}))["w"].subtree
      1.0
    """
    return tree_unflatten(opt_state.tree_def, [JoinPoint(state) for state in _states(opt_state)])


def pack_optimizer_state(marked_pytree: PyTree) -> OptimizerState:
    """Returns the state in a tree of JoinPoints; the inverse of `unpack_optimizer_state`.

    Args:
      marked_pytree: a tree of JoinPoints.

    Returns:
      An OptimizerState.

    Raises:
      TypeError: other leaves.

    Examples:
      >>> optimizers = onax.example_libraries.optimizers
      >>> optimizers.pack_optimizer_state({"w": optimizers.JoinPoint((1.0,))}).packed_state
      ([1.0],)
    """
    points, tree = tree_flatten(marked_pytree)
    if not all(isinstance(point, JoinPoint) for point in points):
        raise TypeError("pack_optimizer_state takes a tree whose leaves are JoinPoints")
    return _pack([point.subtree for point in points], tree)


def optimizer(
    opt_maker: Callable[Arguments, tuple[AnyFunction, AnyFunction, AnyFunction]],
) -> Callable[Arguments, Optimizer]:
    """Makes an optimizer of trees from one of single arrays, as a decorator.

    Args:
      opt_maker: a function (*settings) -> (init, update, params), with ``init(x) -> state``, ``update(step, gradient,
        state) -> state`` and ``params(state) -> x``.

    Returns:
      A function (*settings) -> Optimizer; update raises TypeError for gradients of another structure.

    Examples:
      >>> @onax.example_libraries.optimizers.optimizer
      ... def descent(rate):
      ...     return (lambda x: x), (lambda i, g, x: x - rate * g), (lambda x: x)
      >>> opt = descent(0.5)
      >>> opt.params_fn(opt.update_fn(0, [2.0], opt.init_fn([1.0])))
      [0.0]
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
                    raise TypeError(
                        "optimizer update function produced an output structure that did not match its input "
                        f"structure: input {expected} and output {actual}."
                    )
            return new

        def tree_params(opt_state):
            return tree_unflatten(opt_state.tree_def, [params(state) for state in _states(opt_state)])

        return Optimizer(tree_init, tree_update, tree_params)

    return make


# ---- optimizers ----


def _first(state):
    return state[0]


@optimizer
def sgd(step_size: ScalarOrSchedule) -> Optimizer:
    """Returns gradient descent: x - step_size * g.

    Args:
      step_size: a number, or a function of the step's number.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.sgd(0.5)
      >>> opt.params_fn(opt.update_fn(0, 2.0, opt.init_fn(1.0)))
      0.0
    """
    rate = make_schedule(step_size)
    return Optimizer(lambda x0: x0, lambda i, g, x: x - rate(i) * g, lambda x: x)


@optimizer
def momentum(step_size: ScalarOrSchedule, mass: ArrayLike) -> Optimizer:
    """Returns gradient descent with a velocity: v = mass * v + g; x - step_size * v.

    Args:
      step_size: a number, or a function of the step's number.
      mass: the part of the velocity that stays.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.momentum(0.5, 0.9)
      >>> opt.params_fn(opt.update_fn(0, 2.0, opt.init_fn(1.0)))
      Array(0., dtype=float32, weak_type=True)
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, v = state
        v = mass * v + g
        return x - rate(i) * v, v

    return Optimizer(lambda x0: (x0, jnp.zeros_like(x0)), update, _first)


@optimizer
def nesterov(step_size: ScalarOrSchedule, mass: ArrayLike) -> Optimizer:
    """Returns gradient descent with Nesterov's velocity: x - step_size * (mass * v + g).

    Args:
      step_size: a number, or a function of the step's number.
      mass: the part of the velocity that stays.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.nesterov(0.5, 0.5)
      >>> opt.params_fn(opt.update_fn(0, 2.0, opt.init_fn(1.0)))
      Array(-0.5, dtype=float32, weak_type=True)
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, v = state
        v = mass * v + g
        return x - rate(i) * (mass * v + g), v

    return Optimizer(lambda x0: (x0, jnp.zeros_like(x0)), update, _first)


def _inverse_root(x):
    return jnp.where(x > 0, 1.0 / jnp.sqrt(x), 0.0)


@optimizer
def adagrad(step_size: ScalarOrSchedule, momentum: ArrayLike = 0.9) -> Optimizer:
    """Returns Adagrad (Duchi, Hazan and Singer, 2011): gradients over the root of the sum of their squares.

    Args:
      step_size: a number, or a function of the step's number.
      momentum: the part of the velocity that stays; default 0.9.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.adagrad(0.5)
      >>> opt.params_fn(opt.init_fn(1.0))
      1.0
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, squares, m = state
        squares = squares + jnp.square(g)
        m = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * m
        return x - rate(i) * m, squares, m

    return Optimizer(lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0)), update, _first)


@optimizer
def rmsprop(step_size: ScalarOrSchedule, gamma: ArrayLike = 0.9, eps: ArrayLike = 1e-8) -> Optimizer:
    """Returns RMSProp (Tieleman and Hinton, 2012): gradients over the root of the running mean of their squares.

    Args:
      step_size: a number, or a function of the step's number.
      gamma: the part of the mean that stays; default 0.9.
      eps: a number added under the root; default 1e-8.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.rmsprop(0.5)
      >>> opt.params_fn(opt.init_fn(1.0))
      1.0
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, mean = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        return x - rate(i) * g / jnp.sqrt(mean + eps), mean

    return Optimizer(lambda x0: (x0, jnp.zeros_like(x0)), update, _first)


@optimizer
def rmsprop_momentum(
    step_size: ScalarOrSchedule, gamma: ArrayLike = 0.9, eps: ArrayLike = 1e-8, momentum: ArrayLike = 0.9
) -> Optimizer:
    """Returns RMSProp with a velocity.

    Args:
      step_size: a number, or a function of the step's number.
      gamma: the part of the mean that stays; default 0.9.
      eps: a number added under the root; default 1e-8.
      momentum: the part of the velocity that stays; default 0.9.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.rmsprop_momentum(0.5)
      >>> opt.params_fn(opt.init_fn(1.0))
      1.0
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, mean, m = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        m = momentum * m + rate(i) * g / jnp.sqrt(mean + eps)
        return x - m, mean, m

    return Optimizer(lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0)), update, _first)


@optimizer
def adam(step_size: ScalarOrSchedule, b1: ArrayLike = 0.9, b2: ArrayLike = 0.999, eps: ArrayLike = 1e-8) -> Optimizer:
    """Returns Adam (Kingma and Ba, 2014): running means of gradients and squares, without their bias towards zero.

    Args:
      step_size: a number, or a function of the step's number.
      b1: the part of the mean of gradients that stays; default 0.9.
      b2: the part of the mean of squares that stays; default 0.999.
      eps: a number added to the root; default 1e-8.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.adam(0.5)
      >>> opt.params_fn(opt.update_fn(0, 2.0, opt.init_fn(1.0))).round(4)
      Array(0.5, dtype=float32)
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        mean = m / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        square = v / (1 - jnp.asarray(b2, m.dtype) ** (i + 1))
        return x - rate(i) * mean / (jnp.sqrt(square) + eps), m, v

    return Optimizer(lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0)), update, _first)


@optimizer
def adamax(step_size: ScalarOrSchedule, b1: ArrayLike = 0.9, b2: ArrayLike = 0.999, eps: ArrayLike = 1e-8) -> Optimizer:
    """Returns Adamax (Kingma and Ba, 2014): Adam with a decaying maximum in place of the mean of squares.

    Args:
      step_size: a number, or a function of the step's number.
      b1: the part of the mean of gradients that stays; default 0.9.
      b2: the part of the maximum that stays; default 0.999.
      eps: a number added to the maximum; default 1e-8.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.adamax(0.5)
      >>> opt.params_fn(opt.init_fn(1.0))
      1.0
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, m, u = state
        m = (1 - b1) * g + b1 * m
        u = jnp.maximum(b2 * u, jnp.abs(g))
        return x - (rate(i) / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))) * m / (u + eps), m, u

    return Optimizer(lambda x0: (x0, jnp.zeros_like(x0), jnp.zeros_like(x0)), update, _first)


@optimizer
def sm3(step_size: ScalarOrSchedule, momentum: ArrayLike = 0.9) -> Optimizer:
    """Returns SM3 (Anil, Gupta, Koren and Singer, 2019): Adagrad that keeps one number per row of each axis.

    Args:
      step_size: a number, or a function of the step's number.
      momentum: the part of the velocity that stays; default 0.9.

    Returns:
      An Optimizer.

    Examples:
      >>> opt = onax.example_libraries.optimizers.sm3(0.5)
      >>> opt.params_fn(opt.init_fn(jnp.ones(2)))
      Array([1., 1.], dtype=float32)
    """
    rate = make_schedule(step_size)

    def init(x0):
        return x0, jnp.zeros_like(x0), [jnp.zeros(n, dtype=x0.dtype) for n in jnp.shape(x0)]

    def update(i, g, state):
        x, m, rows = state
        along = [v.reshape([-1 if k == axis else 1 for k in range(x.ndim)]) for axis, v in enumerate(rows)]
        squares = functools.reduce(jnp.minimum, along) + jnp.square(g)
        m = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * m
        rows = [squares.max([k for k in range(x.ndim) if k != axis]) for axis in range(x.ndim)]
        return x - rate(i) * m, m, rows

    return Optimizer(init, update, _first)


# ---- step sizes ----


def constant(step_size: ArrayLike) -> Schedule:
    """Returns a constant step size.

    Args:
      step_size: a number.

    Returns:
      A function of the step's number.

    Examples:
      >>> onax.example_libraries.optimizers.constant(0.5)(10)
      0.5
    """
    return lambda i: step_size


def exponential_decay(step_size: ArrayLike, decay_steps: ArrayLike, decay_rate: ArrayLike) -> Schedule:
    """Returns the step sizes step_size * decay_rate ** (step / decay_steps).

    Args:
      step_size: the first one.
      decay_steps: a number.
      decay_rate: a number.

    Returns:
      A function of the step's number.

    Examples:
      >>> onax.example_libraries.optimizers.exponential_decay(1.0, 10, 0.5)(10)
      0.5
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: ArrayLike, decay_steps: ArrayLike, decay_rate: ArrayLike, staircase: bool = False
) -> Schedule:
    """Returns the step sizes step_size / (1 + decay_rate * step / decay_steps).

    Args:
      step_size: the first one.
      decay_steps: a number.
      decay_rate: a number.
      staircase: True: the quotient is rounded down; default False.

    Returns:
      A function of the step's number.

    Examples:
      >>> onax.example_libraries.optimizers.inverse_time_decay(1.0, 10, 1.0)(10)
      0.5
    """
    if staircase:
        return lambda i: step_size / (1 + decay_rate * jnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(
    step_size: ArrayLike, decay_steps: ArrayLike, final_step_size: ArrayLike, power: ArrayLike = 1.0
) -> Schedule:
    """Returns step sizes that go from one to another along a power.

    Args:
      step_size: the first one.
      decay_steps: the number of steps.
      final_step_size: the last one.
      power: the exponent; default 1.

    Returns:
      A function of the step's number.

    Examples:
      >>> onax.example_libraries.optimizers.polynomial_decay(1.0, 10, 0.5)(10)
      Array(0.5, dtype=float32, weak_type=True)
    """

    def schedule(i):
        rest = (1 - jnp.minimum(i, decay_steps) / decay_steps) ** power
        return rest * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(
    boundaries: ArrayLike | Sequence[ArrayLike], values: ArrayLike | Sequence[ArrayLike]
) -> Schedule:
    """Returns the step sizes values[k] after k of the boundaries.

    Args:
      boundaries: increasing numbers of steps.
      values: step sizes, one more.

    Returns:
      A function of the step's number.

    Raises:
      ValueError: another number of values.

    Examples:
      >>> onax.example_libraries.optimizers.piecewise_constant([10], [1.0, 0.5])(20)
      Array(0.5, dtype=float32)
    """
    bounds, sizes = jnp.array(boundaries), jnp.array(values)
    if not bounds.ndim == sizes.ndim == 1:
        raise ValueError("boundaries and values must be sequences")
    if bounds.shape[0] != sizes.shape[0] - 1:
        raise ValueError("boundaries length must be one shorter than values length")
    return lambda i: sizes[jnp.sum(i > bounds)]


def make_schedule(scalar_or_schedule: ScalarOrSchedule) -> Schedule:
    """Returns step sizes as a function.

    Args:
      scalar_or_schedule: a number, or a function of the step's number.

    Returns:
      A function of the step's number.

    Raises:
      TypeError: anything else.

    Examples:
      >>> onax.example_libraries.optimizers.make_schedule(0.5)(10)
      0.5
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise TypeError(type(scalar_or_schedule))


def l2_norm(tree: PyTree) -> Array:
    """Returns the root of the sum of the squares of all numbers in a tree.

    Args:
      tree: a tree of arrays.

    Returns:
      A number.

    Examples:
      >>> onax.example_libraries.optimizers.l2_norm([3.0, 4.0])
      Array(5., dtype=float32, weak_type=True)
    """
    return jnp.sqrt(tree_reduce(lambda total, x: total + jnp.vdot(x, x), tree, 0))


def clip_grads(grad_tree: PyTree, max_norm: ArrayLike) -> PyTree:
    """Returns a tree, scaled so that its norm is at most a number.

    Args:
      grad_tree: a tree of arrays.
      max_norm: the largest norm.

    Returns:
      A tree like it.

    Examples:
      >>> onax.example_libraries.optimizers.clip_grads([jnp.float32(6.0), jnp.float32(8.0)], 5.0)
      [Array(3., dtype=float32), Array(4., dtype=float32)]
    """
    norm = l2_norm(grad_tree)
    return tree_map(lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


__getattr__ = _unavailable(
    __name__,
    {"Step": "it is int", "map safe_map safe_zip unzip2 zip": "they are helpers of JAX's module; see onax.api_util"},
)
