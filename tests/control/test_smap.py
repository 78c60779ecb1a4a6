"""smap: shard_map with axes of arrays."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from virtual_devices import MODES, eight_devices, mesh

X = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]), jax.set_mesh(mesh(x=4)):
        yield


@pytest.mark.parametrize(
    ("in_axes", "out_axes", "expected"),
    [
        (0, 0, X * 2),
        ((0,), 1, (X * 2).reshape(1, 8)),
        (None, None, X * 2),
    ],
)
def test_axes(in_axes, out_axes, expected):
    double = jax.smap(lambda a: a * 2, in_axes=in_axes, out_axes=out_axes, axis_name="x")
    for f in (double, jax.jit(double)):
        np.testing.assert_array_equal(f(X), expected)


def test_trees_decorators_and_collectives():
    @jax.smap(in_axes=({"a": 0, "b": None},), out_axes=(None, 0), axis_name="x")
    def f(tree):
        return lax.psum(tree["a"], "x"), tree["a"] + tree["b"]

    total, shifted = f({"a": X, "b": jnp.float32(1)})
    np.testing.assert_array_equal(total, X.sum(0, keepdims=True))
    np.testing.assert_array_equal(shifted, X + 1)


def test_gradient():
    f = jax.smap(lambda a: a * a, in_axes=0, out_axes=0, axis_name="x")
    np.testing.assert_array_equal(jax.grad(lambda x: f(x).sum())(jnp.asarray(X)), 2 * X)


def test_refusals():
    with pytest.raises(TypeError, match="smap axis_name should be"):
        jax.smap(lambda a: a, in_axes=0, out_axes=0, axis_name=("x",))
    with pytest.raises(TypeError, match="must be an int, None"):
        jax.smap(lambda a: a, in_axes=0.5, out_axes=0, axis_name="x")
    with pytest.raises(ValueError, match="subset of"):
        jax.smap(lambda a: a, in_axes=0, out_axes=0, axis_name="q")(X)
    for x in (X, jnp.asarray(X)):
        with pytest.raises(TypeError, match=r"in_axes was not specified when axis_name=frozenset\({'x'}\) was of type"):
            jax.smap(lambda a: a, out_axes=0, axis_name="x")(x)


def test_axes_of_what_has_no_sharding():
    with jax.set_mesh(jax.make_mesh((4,), ("x",))):
        assert jax.smap(lambda a: a * 2, out_axes=0, axis_name="x")(X).shape == (16, 2)
