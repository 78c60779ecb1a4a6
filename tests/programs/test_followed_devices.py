"""Computations follow committed arrays: results lie on their devices, gradients where their arguments lie."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.sharding import Mesh, NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices


@pytest.fixture(autouse=True)
def devices():
    with eight_devices():
        yield


def place(x):
    """The number of the only device if the array is committed to it, else None."""
    (device,) = x.devices()
    return device.id if x.committed else None


# functions of an array and a weak scalar that are committed to device 1, and of an array that is not committed
FOLLOW = {
    "a scalar of another dtype": lambda v, s, x: s + x,
    "jnp.add": lambda v, s, x: jnp.add(s, x),
    "stacked scalars": lambda v, s, x: jnp.array([s, s]),
    "an update": lambda v, s, x: x.at[0].set(s),
    "vmap": lambda v, s, x: jax.vmap(lambda a: a * s)(x),
    "linspace": lambda v, s, x: jnp.linspace(0, s, 3),
    "full_like of the value": lambda v, s, x: jnp.full_like(x, s),
    "full_like": lambda v, s, x: lax.full_like(v, 1.0),
    "full_like of another shape": lambda v, s, x: lax.full_like(v, 1.0, shape=()),
    "nonzero": lambda v, s, x: jnp.nonzero(v)[0],
    "argwhere": lambda v, s, x: jnp.argwhere(v),
    "where of one argument": lambda v, s, x: jnp.where(v)[0],
    "extract": lambda v, s, x: jnp.extract(v > 0, v),
}


@pytest.mark.parametrize("name", FOLLOW)
def test_results_follow_committed_operands(name):
    one = jax.devices()[1]
    v, s = jax.device_put(jnp.arange(2.0), one), jax.device_put(1, one)
    assert place(FOLLOW[name](v, s, jnp.ones(2))) == 1


def test_sharded_operands():
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"))
    x = jax.device_put(jnp.ones((4, 4)), NamedSharding(mesh, P("a", "b")))
    assert lax.full_like(x, 1.0, shape=(4, 4)).sharding == x.sharding
    assert place(lax.full_like(x, 1.0, shape=(3, 3))) is None
    (rows, _) = jnp.nonzero(x)
    assert rows.sharding == NamedSharding(mesh, P()) and rows.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    two = jax.device_put(2, NamedSharding(mesh, P()))
    assert (jnp.ones((4, 4)) * two).sharding.device_set == set(jax.devices())


# how the argument is made, and the device of the gradient of a function that computes on device 1
ARGUMENTS = {
    "a Python scalar": (lambda: 2.0, None),
    "not committed": (lambda: jnp.float32(2), 0),
    "committed": (lambda: jax.device_put(2.0, jax.devices()[2]), 2),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_gradients_lie_where_arguments_lie(name):
    make, expected = ARGUMENTS[name]
    value, gradient = jax.value_and_grad(lambda x: jax.device_put(x, jax.devices()[1]) * 3.0)(make())
    assert (place(value), place(gradient), float(gradient)) == (1, expected, 3.0)


@pytest.mark.filterwarnings("ignore:backend and device argument:DeprecationWarning")
def test_jit_on_a_device_moves_its_arguments():
    four = jax.jit(lambda a, b: a + b, device=jax.devices()[4])
    for a, b in [(1, 2), (1, jax.device_put(2, jax.devices()[2]))]:
        assert place(four(a, b)) == 4
    for _ in range(2):
        out = four(jax.device_put(1, jax.devices()[2]), jax.device_put(2, jax.devices()[3]))
        assert (place(out), int(out)) == (4, 3)
