"""shard_alike: two values that lie alike, eagerly, in programs and under transformations."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental.shard_alike import shard_alike
from onax.sharding import NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


X = np.arange(16.0, dtype=np.float32).reshape(8, 2)


def split(spec, x=X):
    return jax.device_put(x, NamedSharding(mesh(x=2, y=2), spec))


PAIRS = {  # the values, and the spec of both results
    "the first is split": (lambda: (split(P("x", "y")), X), P("x", "y")),
    "the second is split": (lambda: (X, split(P("x"))), P("x")),
    "both are": (lambda: (split(P("x", "y")), split(P("y"))), P("y")),
    "the second is whole": (lambda: (split(P("x")), split(P())), P("x")),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_both_lie_alike(name, wrap):
    pair, spec = PAIRS[name]
    for out in wrap(shard_alike)(*pair()):
        np.testing.assert_array_equal(out, X)
        assert out.sharding.is_equivalent_to(NamedSharding(mesh(x=2, y=2), spec), 2)


INSIDE = {  # a function of a split array
    "a new array": lambda x: shard_alike(x, jnp.arange(16).reshape(8, 2) * 1.0)[1],
    "a product": lambda x: shard_alike(x, x * 2)[1] / 2,
    "trees": lambda x: shard_alike({"a": x}, {"a": jnp.zeros((8, 2))})[1]["a"] + x,
    "a carry": lambda x: jax.lax.fori_loop(0, 2, lambda i, c: shard_alike(x, c)[1], jnp.zeros((8, 2))) + x,
    "vmap": lambda x: jax.vmap(shard_alike)(x, jnp.zeros((8, 2)))[1] + x,
    "vmap along different axes": lambda x: jax.vmap(shard_alike, (0, 1), (0, 0))(x, jnp.zeros((2, 8)))[1] + x,
    "vmap of one": lambda x: jax.vmap(shard_alike, (0, None))(x, jnp.zeros(2))[1] + x,
    "grad": lambda x: jax.grad(lambda y: jnp.sum(shard_alike(x, y)[1] * x))(jnp.zeros((8, 2))),
    "jvp": lambda x: jax.jvp(lambda y: shard_alike(x, y)[1], (x,), (x,))[1],
}


@pytest.mark.parametrize("name", INSIDE)
def test_within_programs(name):
    x = split(P("x", "y"))
    out = jax.jit(INSIDE[name])(x)
    np.testing.assert_array_equal(out, X)
    assert out.sharding.is_equivalent_to(x.sharding, 2)
    np.testing.assert_array_equal(INSIDE[name](x), X)
