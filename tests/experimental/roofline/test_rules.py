"""Costs of single operations and of collectives; all numbers were recorded from JAX 0.10.2."""

import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax.experimental import roofline
from virtual_devices import eight_devices


def f32(*shape):
    return onax.ShapeDtypeStruct(shape, jnp.float32)


INDICES = onax.ShapeDtypeStruct((4,), jnp.int32)
COMPLEX = onax.ShapeDtypeStruct((3,), jnp.complex64)


def _conv(**options):
    return lambda x, w: lax.conv_general_dilated(x, w, **options)


CASES = {
    "sin": ((lax.sin, f32(3, 8)), 24, 192, 0),
    "erf": ((lax.erf, f32(3)), 3, 24, 0),
    "is_finite": ((lax.is_finite, f32(3)), 3, 15, 0),
    "real": ((lax.real, COMPLEX), 3, 36, 0),
    "invert": ((lax.bitwise_not, INDICES), 4, 32, 0),
    "integer_pow": ((lambda x: lax.integer_pow(x, 5), f32(3)), 3, 24, 0),
    "add": ((lax.add, f32(3), f32(3)), 3, 36, 0),
    "less": ((lax.lt, f32(3), f32(3)), 3, 27, 0),
    "broadcast add": ((jnp.add, f32(3, 1), f32(1, 4)), 12, 76, 0),
    "tanh": ((lax.tanh, f32(3)), 0, 0, 0),
    "select": ((jnp.where, onax.ShapeDtypeStruct((3,), bool), f32(3), f32(3)), 3, 15, 0),
    "cumsum": ((lambda x: lax.cumsum(x, 1), f32(3, 5)), 5, 120, 0),
    "cumlogsumexp": ((lambda x: lax.cumlogsumexp(x, 1), f32(3, 5)), 10, 120, 0),
    "sum": ((lambda x: x.sum(1), f32(3, 5)), 12, 72, 0),
    "sum of all": ((jnp.sum, f32(3, 5)), 14, 64, 0),
    "max of all": ((jnp.max, f32(3, 5)), 0, 0, 0),
    "dot": ((jnp.dot, f32(3, 4), f32(4, 5)), 120, 188, 120),
    "batched dot": ((jnp.matmul, f32(2, 3, 4), f32(2, 4, 5)), 240, 376, 240),
    "conv": ((_conv(window_strides=(1, 1), padding="SAME"), f32(2, 3, 8, 9), f32(4, 3, 3, 2)), 17952, 4320, 0),
    "dilated conv": (
        (
            _conv(window_strides=(2, 1), padding=[(1, 2), (0, 1)], lhs_dilation=(2, 1), rhs_dilation=(1, 2)),
            f32(2, 3, 8, 9),
            f32(4, 3, 3, 2),
        ),
        5760,
        4064,
        0,
    ),
    "grouped conv": (
        (_conv(window_strides=(1, 1), padding="VALID", feature_group_count=3), f32(2, 3, 8, 9), f32(6, 1, 3, 2)),
        6912,
        4176,
        0,
    ),
    "batch groups": (
        (_conv(window_strides=(1,), padding="VALID", batch_group_count=2), f32(4, 3, 8), f32(4, 3, 3)),
        864,
        720,
        0,
    ),
    "gather": ((lambda x, i: x[i], f32(7, 3), INDICES), 12, 192, 0),
    "gather with filling": ((lambda x, i: x.at[i].get(mode="fill"), f32(7, 3), INDICES), 40, 192, 0),
    "scatter-add": ((lambda x, i: x.at[i].add(1.0), f32(7), INDICES), 16, 144, 0),
    "scatter": ((lambda x, i: x.at[i].set(1.0), f32(7), INDICES), 12, 144, 0),
    "scatter-max": ((lambda x, i: x.at[i].max(1.0), f32(7), INDICES), 16, 144, 0),
    "apply": ((lambda x, i: x.at[i].apply(lambda v: 2 * jnp.sin(v)), f32(7), INDICES), 20, 144, 0),
    "callback": ((lambda x: onax.pure_callback(lambda v: v, f32(3), x), f32(3)), 0, 24, 0),
    "print": ((lambda x: onax.debug.print("{}", x), f32(3)), 0, 0, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_operations(name):
    (function, *args), flops, nbytes, products = CASES[name]
    costs = roofline.roofline(function)(*args)[1]
    assert (costs.unfused_flops, costs.unfused_hbm_bytes, costs.flops) == (flops, nbytes, products)


AXES = ("x", "y")
BOTH = onax.P(AXES)
SPLIT = onax.P("x", "y")
COLLECTIVES = {
    "all_gather": ((lambda a: lax.all_gather(a, AXES, tiled=True), BOTH, BOTH), {"x": 112, "y": 112}, {"x": 8, "y": 8}),
    "psum": ((lambda a: lax.psum(a, AXES), SPLIT, onax.P()), {"x": 28, "y": 28}, {"x": 16, "y": 16}),
    "psum of one axis": ((lambda a: lax.psum(a, "y"), SPLIT, onax.P("x")), {"y": 48}, {"y": 8}),
    "psum_scatter": ((lambda a: lax.psum_scatter(a, "y", tiled=True), onax.P("x"), BOTH), {"y": 96}, {"y": 4}),
    "all_to_all": (
        (lambda a: lax.all_to_all(a, AXES, 0, 1, tiled=True), onax.P(None, AXES), BOTH),
        {"x": 64, "y": 64},
        {"x": 3, "y": 3},
    ),
    "all_to_all of one axis": (
        (lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True), onax.P("x", "y"), onax.P(AXES)),
        {"y": 32},
        {"y": 2},
    ),
    "ring": ((lambda a: lax.ppermute(a, "y", [(0, 1), (1, 2), (2, 3), (3, 0)]), SPLIT, SPLIT), {"y": 32}, {"y": 1}),
    "far": (
        (lambda a: lax.ppermute(a, AXES, [(0, 7), (3, 4), (5, 2), (2, 1), (6, 6)]), SPLIT, SPLIT),
        {"x": 64, "y": 64},
        {"x": 2, "y": 2},
    ),
    "pmax": ((lambda a: lax.pmax(a, AXES), SPLIT, onax.P()), {"x": 14, "y": 14}, {"x": 8, "y": 8}),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(name):
    (function, in_specs, out_specs), ici_bytes, latency = COLLECTIVES[name]
    with eight_devices():
        mesh = onax.make_mesh((2, 4), AXES)
        costs = roofline.roofline(function, mesh, in_specs, out_specs)(f32(8, 8))[1]
    assert (costs.ici_bytes, costs.ici_latency) == (ici_bytes, latency)


def test_collectives_of_one_device_cost_nothing():
    mesh = onax.sharding.AbstractMesh((1,), ("x",))

    def run(x):
        x = lax.all_gather(lax.pmin(x, "x"), "x", axis=1, tiled=True)
        x = lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True)
        return lax.ppermute(lax.all_to_all(x, "x", 0, 1, tiled=True), "x", [(0, 0)])

    costs = roofline.roofline(run, mesh, onax.P("x"), onax.P("x"))(f32(8, 8))[1]
    assert (costs.ici_bytes, costs.ici_latency) == ({"x": 0}, {"x": 0})
