"""Which traces are at work, and types with one axis more or less."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.core import ShapedArray
from onax.extend import core

X = ShapedArray((3, 4), np.dtype("float32"))


@pytest.mark.parametrize("axis, shape", [(0, (4,)), (1, (3,)), (None, (3, 4))])
def test_types_without_and_with_an_axis(axis, shape):
    size = 1 if axis is None else X.shape[axis]
    inner = core.mapped_aval(size, axis, X)
    assert (inner.shape, inner.dtype) == (shape, X.dtype)
    assert core.unmapped_aval(size, axis, inner) == X


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: core.mapped_aval(4, 0, X), ValueError),
        (lambda: core.mapped_aval(4, 2, X), ValueError),
        (lambda: core.unmapped_aval(4, 0, X, explicit_mesh_axis="x"), NotImplementedError),
    ],
)
def test_wrong_axes(call, error):
    with pytest.raises(error):
        call()


def seen():
    """What is asked of the traces, as it is now."""
    return (
        core.unsafe_am_i_under_a_jit_DO_NOT_USE(),
        core.unsafe_am_i_under_a_vmap_DO_NOT_USE(),
        core.unsafe_get_axis_names_DO_NOT_USE(),
        core.nonempty_axis_env_DO_NOT_USE(),
    )


WAYS = {
    "eager": (lambda f: f(1.0), (False, False, [], False)),
    "jit": (lambda f: jax.jit(f)(1.0), (True, False, [], False)),
    "vmap": (lambda f: jax.vmap(f)(jnp.ones(2)), (False, True, [], False)),
    "vmap by name": (lambda f: jax.vmap(f, axis_name="i")(jnp.ones(2)), (False, True, ["i"], True)),
    "vmap in jit": (lambda f: jax.jit(jax.vmap(f))(jnp.ones(2)), (True, True, [], False)),
    "grad": (lambda f: jax.grad(f)(1.0), (False, False, [], False)),
}


@pytest.mark.parametrize("name", WAYS)
def test_traces_at_work(name):
    found = []
    run, wanted = WAYS[name]
    run(lambda x: found.append(seen()) or x)
    assert found == [wanted]


def test_states_are_equal_within_one_transformation():
    states = []

    def f(x):
        states.extend([core.get_opaque_trace_state(), core.get_opaque_trace_state(convention="flax")])
        return x

    outside = core.get_opaque_trace_state()
    jax.jit(f)(1.0), jax.vmap(f)(jnp.ones(2))
    assert states[0] != states[2] and states[0] != outside
    with pytest.raises(TypeError, match="unhashable"):
        hash(outside)
    inside = []
    jax.jit(lambda x: inside.append(core.get_opaque_trace_state() == core.get_opaque_trace_state()) or x)(1.0)
    assert inside == [True]


def test_operations_are_carried_out_at_once_inside_take_current_trace():
    def f(x):
        with core.take_current_trace() as trace:
            inside.append((trace is core.find_top_trace(x), float(jnp.sin(0.0) + 1)))
        return x + 1

    inside = []
    jaxpr = jax.make_jaxpr(f)(1.0)
    assert inside == [(False, 1.0)] and len(jaxpr.eqns) == 1


def test_variables_are_new():
    new = core.gensym()
    first, second = new(X), new(X)
    assert first is not second and first.aval == second.aval == X


def test_tags_are_equal_to_themselves_alone():
    tag = core.TraceTag()
    assert tag == tag and tag != core.TraceTag()
