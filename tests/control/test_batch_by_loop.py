"""Batching by a loop: one application for each example, in order, wherever the mapped axes are."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._control.batch_by_loop import batch_by_loop, must_loop_over_devices
from onax._core.axes import AxisData
from onax._native.dispatch import Primitive

X = np.arange(12, dtype=np.float32).reshape(3, 4)
SEEN = []


def _two(x, y, *, scale):
    SEEN.append((np.asarray(x).tolist(), np.asarray(y).tolist()))
    return [jnp.sum(x) * scale, x + y]


two_p = Primitive(
    "two",
    multiple_results=True,
    impl=_two,
    abstract_eval=lambda x, y, *, scale: jax.make_jaxpr(lambda a, b: [a.sum(), a + b])(x, y).out_avals,
)


@pytest.mark.parametrize("dims, size", [((0, None), 3), ((1, None), 4), ((None, 0), 3), ((0, 0), 3), ((1, 1), 4)])
def test_each_example_is_applied_once_in_order(dims, size):
    SEEN.clear()
    operands = [X if d is not None else X.take(0, 1 if 1 in dims else 0) for d in dims]
    outs, out_dims = batch_by_loop(two_p, AxisData("i", size), operands, dims, {"scale": 2.0})
    slices = [[x if d is None else x.take(i, d) for x, d in zip(operands, dims)] for i in range(size)]
    assert out_dims == [0, 0] and SEEN == [(a.tolist(), b.tolist()) for a, b in slices]
    np.testing.assert_array_equal(outs[0], [a.sum() * 2 for a, _ in slices])
    np.testing.assert_array_equal(outs[1], [a + b for a, b in slices])


def test_no_examples():
    outs, _ = batch_by_loop(two_p, AxisData("i", 0), [X[:0], X[0]], (0, None), {"scale": 1.0})
    assert [out.shape for out in outs] == [(0,), (0, 4)]


@pytest.mark.parametrize("of_devices, function, wanted", [
    (True, lambda x: jax.debug.print("{}", x), True),
    (True, lambda x: jnp.sin(x), False),
    (True, lambda x: jax.debug.print("{}", jax.lax.psum(x, "i")), False),
    (False, lambda x: jax.debug.print("{}", x), False),
])  # fmt: skip
def test_devices_take_turns_only_for_effects_that_some_may_not_want(of_devices, function, wanted):
    jaxpr = jax.make_jaxpr(function, axis_env=[("i", 2)])(1.0)
    assert must_loop_over_devices(AxisData("i", 2, of_devices=of_devices), [jaxpr]) is wanted
