"""What `onax.explain` says of a program that runs on each device: collectives, and operands that are gathered."""

import numpy as np
import pytest

import onax as jax
from onax._ground.config import separate_devices
from onax.sharding import NamedSharding
from sharded_programs import GRID, P, jnp, lax
from virtual_devices import eight_devices

Z = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)


@pytest.fixture(autouse=True)
def programs_of_their_own():
    with eight_devices(), separate_devices(True):
        yield


def explained(function, spec):
    return jax.explain(function)(jax.device_put(Z, NamedSharding(GRID, spec)))


def test_collectives():
    e = explained(lambda a: a @ a.T, P(None, "x"))
    assert e.runner == "devices"
    assert [(s.where, s.operation, s.bytes) for s in e.steps] == [("devices", "psum", 2 * 256 * 3 // 4)]
    assert "test_communication.py" in e.steps[0].location
    assert "what they exchange" in str(e)


def test_a_sum_has_the_line_of_the_value_that_is_summed():
    def f(a):
        product = a @ a.T
        return jnp.tanh(product)

    first = f.__code__.co_firstlineno
    (step,) = explained(f, P(None, "x")).steps
    assert (step.operation, f"test_communication.py:{first + 1}:" in step.location) == ("psum", True)


def test_collectives_in_loops():
    e = explained(lambda a: lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ a), a), P("x"))
    outer, *inner = e.steps
    assert outer.operation == "scan"
    assert {s.depth for s in inner} == {1}
    assert [s.operation for s in inner] == ["all_gather"]


def test_gathered_operands():
    key = jax.random.key(0)
    e = explained(lambda a: jax.random.gamma(key, jnp.abs(a) + 1), P("x"))
    step = next(s for s in e.steps if s.reason)
    assert step.equations[0][0] == "random_gamma"
    assert step.bytes == 192
    assert "gathers them" in str(e)


def test_a_program_on_one_device_is_measured():
    assert jax.explain(jnp.sin)(Z).runner == "tape"
