"""Programs of users, with the types that type checkers must infer; tests/ground/test_typing.py checks them."""

from collections.abc import Callable
from typing import Any, assert_type

import onax as jax
from onax import Array


def loss(w: Array, x: Array, scale: float = 1.0) -> Array:
    return ((x @ w) ** 2).sum() * scale


def step(w: Array, x: Array) -> tuple[Array, dict[str, Array]]:
    value = loss(w, x)
    return w - 0.1 * value, {"loss": value}


def called(function: Callable[[Array, int], Array]) -> Callable[[Array, int], Array]:
    return function


@jax.jit
def decorated(x: Array, times: int) -> Array:
    return x * times


def programs(array: Array) -> None:
    # Transformations keep the arguments of the function that they are given, jit and vmap its result too.
    compiled = jax.jit(step)
    assert_type(compiled(array, array), tuple[Array, dict[str, Array]])
    assert_type(jax.jit(static_argnames="scale")(loss)(array, array, scale=2.0), Array)
    assert_type(jax.vmap(loss)(array, array), Array)
    assert_type(jax.checkpoint(loss)(array, array), Array)
    assert_type(jax.value_and_grad(loss)(array, array), tuple[Array, Any])
    assert_type(jax.jvp(loss, (array, array), (array, array)), tuple[Array, Array])
    assert_type(jax.vjp(loss, array, array)[0], Array)
    assert_type(jax.jit(jax.vmap(loss))(array, array), Array)

    # Arrays: attributes, operators, methods.
    assert_type(array.shape, tuple[int, ...])
    assert_type(array.ndim, int)
    assert_type(array + 1, Array)
    assert_type(2.0 / array, Array)
    assert_type(array < 3, Array)
    assert_type(array[0], Array)
    assert_type(array.T.reshape(3, 2).sum(axis=0), Array)
    assert_type(float(array.mean()), float)
    assert_type(list(array), list[Array])
    assert_type(decorated(array, 3), Array)
    assert_type(jax.grad(called(decorated))(array, 3), Any)
