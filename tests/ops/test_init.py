"""Segment reductions against a loop, eager and jitted; rows whose id names no segment are dropped."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import ops

IDS = np.array([0, 2, 0, 9, -1, 2], np.int32)
COMBINE = {"sum": (np.add, 0), "prod": (np.multiply, 1), "max": (np.maximum, None), "min": (np.minimum, None)}


def expected(name, data, count):
    combine, start = COMBINE[name]
    if start is None:
        limits = np.iinfo(data.dtype) if data.dtype.kind == "i" else None
        low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
        start = low if name == "max" else high
    out = np.full((count, *data.shape[1:]), start, data.dtype)
    for row, i in zip(data, IDS):
        if 0 <= i < count:
            out[i] = combine(out[i], row)
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("name", COMBINE)
def test_equals_a_loop(name, dtype):
    data = np.arange(1, 13).reshape(6, 2).astype(dtype)
    f = lambda d, i: getattr(ops, f"segment_{name}")(d, i, 4)
    for way in (f, jax.jit(f)):
        np.testing.assert_array_equal(np.asarray(way(data, IDS)), expected(name, data, 4))


@pytest.mark.parametrize("name, row, empty", [("max", 1 + 3j, -np.inf), ("min", 1 + 2j, np.inf)])
def test_complex_extrema(name, row, empty):
    data = jnp.array([1 + 2j, 3 - 1j, 1 + 3j])
    got = getattr(ops, f"segment_{name}")(data, jnp.array([0, 1, 0]), 3)
    np.testing.assert_array_equal(np.asarray(got), np.array([row, 3 - 1j, empty], np.complex64))


def test_number_of_segments_is_found_where_ids_are_known():
    assert ops.segment_sum(jnp.ones(3), jnp.array([0, 0, 4])).shape == (5,)
    with pytest.raises(jax.errors.ConcretizationTypeError, match="num_segments"):
        jax.jit(ops.segment_sum)(jnp.ones(3), jnp.array([0, 0, 4]))


def test_gradient():
    g = jax.grad(lambda d: jnp.sum(ops.segment_sum(d, IDS, 4) ** 2))(jnp.arange(6.0))
    np.testing.assert_array_equal(np.asarray(g), [4.0, 12.0, 4.0, 0.0, 0.0, 12.0])


@pytest.mark.parametrize("count", [None, 0])
def test_no_segments(count):
    got = ops.segment_sum(jnp.ones((3, 2)), jnp.array([-1, -1, -1]), count)
    assert got.shape == (0, 2)
    assert jax.jit(lambda d, i: ops.segment_sum(d, i, 0))(jnp.ones((3, 2)), jnp.array([0, 1, 2])).shape == (0, 2)


def test_booleans_choose_segments():
    got = ops.segment_sum(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([True, True]))
    np.testing.assert_array_equal(np.asarray(got), [[1.0, 2.0], [3.0, 4.0]])


def test_one_id_for_each_row():
    with pytest.raises(ValueError, match="broadcasting"):
        ops.segment_sum(jnp.ones((2, 3)), jnp.array([[0, 1, 0], [1, 1, 2]]))
    with pytest.raises(ValueError, match="zero-size array"):
        ops.segment_max(jnp.ones(3), jnp.zeros(0, int))


@pytest.mark.parametrize("mode", ["clip", jax.lax.GatherScatterMode.CLIP])
def test_clipped_ids(mode):
    data, ids = np.arange(1.0, 6.0, dtype=np.float32), np.array([0, -1, 1, 5, -7])
    assert ops.segment_sum(data, ids, num_segments=3, mode=mode).tolist() == [8, 3, 4]  # JAX 0.10.2's
    assert ops.segment_max(data, ids, num_segments=3, mode=mode).tolist() == [5, 3, 4]
    assert ops.segment_sum(data, ids, num_segments=3).tolist() == [1, 3, 0]


def test_a_number_of_segments_is_an_integer():
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        ops.segment_sum(np.ones(2), np.array([0, 1]), num_segments=2.0)
