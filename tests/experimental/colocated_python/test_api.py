"""Functions that run beside their devices run in this process."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental.colocated_python import colocated_cpu_devices, colocated_python, colocated_python_class
from onax.sharding import NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices


@colocated_python
def increment(x):
    assert isinstance(x, jax.Array)
    return np.asarray(x) + 1


def test_calls():
    result = increment(jnp.arange(2))
    assert isinstance(result, jax.Array) and result.tolist() == [1, 2] and increment.__name__ == "increment"
    assert colocated_cpu_devices(jax.devices()) == jax.devices()
    assert colocated_cpu_devices(tuple(jax.devices())) == tuple(jax.devices())
    mesh = jax.make_mesh((1,), ("x",))
    assert colocated_cpu_devices(mesh) is mesh


def test_specializations():
    x = jnp.ones(2)
    special = increment.specialize(out_specs_fn=lambda x: x, devices=jax.devices())
    assert special(x).tolist() == [2, 2]
    typed = special.specialize(in_specs=((jax.ShapeDtypeStruct((2,), np.float32),), {}))
    assert typed(x).tolist() == [2, 2]
    with pytest.raises(ValueError, match="a argument of type float32"):
        typed(jnp.ones(3))
    with pytest.raises(ValueError, match="already specified"):
        special.specialize(devices=jax.devices())
    with pytest.raises(ValueError, match="a result of type"):
        increment.specialize(out_specs_fn=lambda x: jax.ShapeDtypeStruct((3,), np.float32))(x)
    with pytest.raises(NotImplementedError, match="within a transformation"):
        jax.jit(increment)(x)


def test_classes():
    @colocated_python_class
    class Counter:
        def __init__(self, start):
            self.value = start

        def add(self, x):
            self.value += x
            return self.value

    counter = Counter(jnp.zeros(2))
    counter.add(1.0)
    assert counter.add(jnp.ones(2)).tolist() == [2, 2]


def test_results_that_lie_on_the_devices_stay():
    with eight_devices():
        pair = jax.devices()[1::-1]
        sharding = NamedSharding(jax.sharding.Mesh(np.array(pair), ("x",)), P("x"))
        x = jax.device_put(np.arange(4.0), sharding)
        same = colocated_python(lambda x: (x, jnp.ones(2))).specialize(devices=pair)
        there, new = same(x)
        assert there.sharding == sharding and new.devices() == {pair[0]}


def test_no_arguments_and_no_devices():
    make = colocated_python(lambda: jnp.ones(2))
    with pytest.raises(ValueError, match="must be first specialized with devices"):
        make()
    assert make.specialize(devices=jax.devices()[:1])().tolist() == [1, 1]
