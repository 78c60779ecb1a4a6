"""Batching traces and programs: mapped axes of results, what is left unmapped, names of axes, refusals."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.axes import AxisData
from onax._core.evaluate import jaxpr_as_fun
from onax._native.dispatch import Primitive
from onax._transforms.batching import batch_flat, batch_jaxpr, move_mapped_axis, used_axis_names

X = np.arange(12, dtype=np.float32).reshape(3, 4)
AXIS = AxisData("i", 3)


def test_only_what_depends_on_mapped_values_is_mapped():
    run = lambda x, y: [x + y, y * 2, 3.0, x]
    outs, dims = batch_flat(run, AXIS, [X, X[0]], [0, None])
    assert dims == [0, None, None, 0]
    np.testing.assert_array_equal(outs[0], X + X[0])
    np.testing.assert_array_equal(outs[1], X[0] * 2)


def test_tracers_show_one_example():
    seen = []
    batch_flat(lambda x: [seen.append((x.shape, repr(x))) or x], AxisData(None, 4), [X], [1])
    assert seen == [((3,), "VmapTracer(aval=float32[3], batched=float32[3,4])")]


@pytest.mark.parametrize(
    "source, target, shape", [(None, 0, (3, 3, 4)), (None, 1, (3, 3, 4)), (1, 0, (4, 3)), (0, 0, (3, 4))]
)
def test_moving_the_mapped_axis(source, target, shape):
    moved = np.asarray(move_mapped_axis(X, source, target, 3))
    wanted = (
        np.broadcast_to(X, shape)
        if (source, target) == (None, 0)
        else moved
        if source is None
        else np.moveaxis(X, source, target)
    )
    assert moved.shape == shape
    np.testing.assert_array_equal(moved, wanted)
    if source is None:
        np.testing.assert_array_equal(np.moveaxis(moved, target, 0)[1], X)


PROGRAM = jax.make_jaxpr(lambda x, y: (x * y, jnp.sum(x), y + 1))(X[0], X[0])


@pytest.mark.parametrize("dims, instantiate, dims_out", [
    ((0, None), False, [0, 0, None]), ((None, 0), False, [0, None, 0]), ((1, 1), False, [0, 0, 0]),
    ((0, None), True, [0, 0, 0]), ((None, None), [False, True, False], [None, 0, None]),
])  # fmt: skip
def test_batched_programs(dims, instantiate, dims_out):
    batched, found = batch_jaxpr(PROGRAM, AXIS, dims, instantiate)
    assert list(found) == dims_out and batch_jaxpr(PROGRAM, AXIS, dims, instantiate)[0] is batched
    rows = [X if d is not None else X[0] for d in dims]
    outs = jaxpr_as_fun(batched)(*(np.moveaxis(x, 0, d) if d else x for x, d in zip(rows, dims)))
    for out, dim, of_row in zip(outs, dims_out, (lambda x, y: x * y, lambda x, y: x.sum(), lambda x, y: y + 1)):
        each = [of_row(*(x[i] if d is not None else x for x, d in zip(rows, dims))) for i in range(3)]
        np.testing.assert_array_equal(out, np.stack(each) if dim == 0 else each[0])


def test_names_that_collectives_use():
    inner = jax.jit(lambda x: lax.psum(x, ("i", "j")))
    jaxpr = jax.make_jaxpr(lambda x: inner(x) + lax.axis_index("k"), axis_env=[("i", 2), ("j", 2), ("k", 2)])(1.0)
    assert used_axis_names(jaxpr) == {"i", "j", "k"} and used_axis_names(PROGRAM) == frozenset()


def test_an_operation_without_a_rule_is_named():
    p = Primitive("test_no_batch", kernel=lambda x: x, abstract_eval=lambda x: x)
    with pytest.raises(NotImplementedError, match="Batching rule for 'test_no_batch' not implemented"):
        jax.vmap(p.bind)(X)
    assert jax.vmap(lambda x: p.bind(2.0) + x)(X).shape == X.shape  # nothing mapped reaches it
