"""Elements read and written at computed places inside loops: the same as eager, wherever the places are."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import after_passes
from onax import lax, random
from onax._ground.config import enable_x64

X = np.arange(12, dtype=np.float32).reshape(4, 3) + 0.5
PLACES = [0, 1, 3, 4, 7, -1, -4, -5, 2**31 - 1, -(2**31)]
CLIP, FILL = (lax.GatherScatterMode.from_any(m) for m in ("clip", "fill"))


def rows(i, mode):
    d = lax.GatherDimensionNumbers(offset_dims=(0,), collapsed_slice_dims=(0,), start_index_map=(0,))
    return lambda x: lax.gather(x, jnp.array([i]), d, (1, 3), mode=mode, fill_value=-7)


STEPS = {
    "a row": lambda x, i: x[i] * 2,
    "an element": lambda x, i: x[i, 1] + x[1, i],
    "rows": lambda x, i: x[jnp.stack([i, i + 1, jnp.abs(i)])],
    "elements": lambda x, i: x[jnp.stack([i, i + 1]), jnp.stack([i, i])],
    "a matrix of rows": lambda x, i: x[jnp.stack([jnp.stack([i, 0 * i]), jnp.stack([i, i])])],
    "clipped": lambda x, i: rows(i, CLIP)(x),
    "filled": lambda x, i: rows(i, FILL)(x),
    "taken": lambda x, i: jnp.take(x, i, axis=0, mode="wrap") + jnp.take(x, i, axis=0, mode="clip"),
    "a slice": lambda x, i: lax.dynamic_slice(x, (i, 0 * i), (2, 2)),
    "a slice of a slice": lambda x, i: lax.dynamic_slice(x[1:, ::2], (i, i), (2, 1)),
    "put together": lambda x, i: jnp.concatenate([x[:1], x * 2, x[i][None], x[1:3]]),
    "put side by side": lambda x, i: jnp.concatenate([x[:, :2], x, x[:, :1], x[:, :0]], axis=1),
    "stacked": lambda x, i: jnp.stack([x, x * 2, x + i, jnp.ones((4, 3))], axis=1),
    "an update": lambda x, i: lax.dynamic_update_slice(x, x[:2, :2] * 2, (i, i)),
    "set": lambda x, i: x.at[i].set(1.0),
    "set a row": lambda x, i: x.at[i].set(x[0] * 2),
    "set an element": lambda x, i: x.at[i, 2].set(x[0, 0] - 5),
    "add": lambda x, i: x.at[i].add(x[1]),
    "multiply": lambda x, i: x.at[i, i].multiply(3.0),
    "subtract, largest, smallest": lambda x, i: x.at[i].subtract(1).at[i].max(4).at[i].min(5),
    "set, clipped": lambda x, i: x.at[i].set(9.0, mode="clip"),
    "set, filled": lambda x, i: x.at[i].set(9.0, mode="drop"),
}


def check(function, *args):
    for got, want in zip(
        jax.tree_util.tree_leaves(jax.jit(function)(*args)), jax.tree_util.tree_leaves(function(*args))
    ):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    return [eqn.primitive.name for eqn in after_passes(jax.make_jaxpr(function)(*args)).eqns]


@pytest.mark.parametrize("dtype", ("int32", "uint32", "int64"))
@pytest.mark.parametrize("name", STEPS)
def test_steps(name, dtype):
    with enable_x64(dtype == "int64"):
        places = np.array([p for p in PLACES if p >= 0] if dtype == "uint32" else PLACES).astype(dtype)
        check(lambda x: lax.scan(lambda c, i: (c + 1, STEPS[name](x + c, i)), 0.0, places), X)


def test_other_numbers_and_a_written_carry():
    for x in (X.astype(np.int32), X > 5, X.astype(np.float16)):
        check(lambda x: lax.scan(lambda x, i: (x.at[i].set(x[i - 1]), x[i, 0]), x, np.arange(4)), x)
    small = np.array([1, -1, 3], np.int8)
    check(lambda x: lax.scan(lambda x, i: (x.at[i].set(x[i - 1]), x[i, 0]), x, small), X)


def test_a_walk_by_choice():
    def step(i, state):
        key, x, path = state
        key, sub = random.split(key)
        x = x + random.choice(sub, jnp.array([-1, 1]))
        return key, x, path.at[i].set(x)

    check(lambda k: lax.fori_loop(0, 50, step, (k, jnp.int32(0), jnp.zeros(50, jnp.int32)))[1:], random.key(0))


def test_many_rows():
    check(lambda x: lax.scan(lambda c, i: (c.at[i].add(1), None), x, np.zeros((3, 2), int))[0], X)
