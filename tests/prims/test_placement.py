"""device_put and sharding_constraint: values stay, devices change."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._prims.placement import REUSE_INPUT, device_put_p, fit_sharding, sharding_constraint_p
from onax.sharding import AxisType, NamedSharding, PartitionSpec

DEVICE = onax.devices()[0]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def put(*xs):
    n = len(xs)
    return device_put_p.bind(*xs, devices=(DEVICE,) * n, srcs=(None,) * n, copy_semantics=(REUSE_INPUT,) * n)


def mesh_sharding(*spec):
    return NamedSharding(onax.make_mesh((1,), ("i",), (AxisType.Auto,)), PartitionSpec(*spec))


def test_device_put_commits_a_value_to_its_device():
    x = jnp.asarray(X)
    (placed,) = put(x)
    assert placed.committed
    assert placed.devices() == {DEVICE}
    np.testing.assert_array_equal(placed, X)


def test_no_device_leaves_the_value_as_it_is():
    x = jnp.asarray(X)
    (placed,) = device_put_p.bind(x, devices=(None,), srcs=(None,), copy_semantics=(REUSE_INPUT,))
    assert placed.committed == x.committed


def test_each_operand_of_device_put_has_its_own_derivative_and_axis():
    x, y = jnp.asarray(X), jnp.asarray(X[0])
    (_, second), (dx, dy) = onax.jvp(lambda x, y: put(x, y), (x, y), (x, y))
    np.testing.assert_array_equal(second, X[0])
    np.testing.assert_array_equal(dx, X)
    np.testing.assert_array_equal(dy, X[0])
    gx, gy = onax.vjp(lambda x, y: put(x, y), x, y)[1]([2 * x, 3 * y])
    np.testing.assert_array_equal(gx, 2 * X)
    np.testing.assert_array_equal(gy, 3 * X[0])
    rows, whole = onax.vmap(lambda r: put(r, y), out_axes=[0, None])(x)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(whole, X[0])


def test_a_constraint_keeps_values_and_derivatives():
    constrain = lambda x: lax.with_sharding_constraint(x, mesh_sharding("i"))
    np.testing.assert_array_equal(onax.jit(constrain)(X), X)
    np.testing.assert_array_equal(onax.grad(lambda x: constrain(x).sum())(jnp.asarray(X)), np.ones_like(X))


def test_a_mapped_axis_comes_in_front_of_the_constraint():
    jaxpr = onax.make_jaxpr(onax.vmap(lambda x: lax.with_sharding_constraint(x, mesh_sharding("i"))))(X)
    (eqn,) = [e for e in jaxpr.eqns if e.primitive is sharding_constraint_p]
    assert tuple(eqn.params["sharding"].spec) == (onax.P.UNCONSTRAINED, "i")
    assert eqn.params["unconstrained_dims"] == frozenset({0})


@pytest.mark.parametrize("shape", [(2, 3), (4,)])
def test_a_sharding_fits_a_shape_with_more_axes_than_its_spec(shape):
    assert fit_sharding(mesh_sharding("i"), shape).mesh.shape == {"i": 1}


def test_other_shardings_fit_as_they_are():
    sharding = onax.sharding.SingleDeviceSharding(DEVICE)
    assert fit_sharding(sharding, (3,)) is sharding
