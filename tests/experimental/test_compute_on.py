"""compute_on checks its name and changes nothing else."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental.compute_on import compute_on, compute_on2


def test_programs():
    @jax.jit
    def f(x):
        with compute_on("device_host"):
            return jnp.sin(x) * 2

    assert f(0.5) == jnp.sin(0.5) * 2
    assert compute_on2(jnp.cos, compute_type="device", out_memory_spaces=None)(0.0) == 1
    assert compute_on2(compute_type="gpu_stream:1", out_memory_spaces=None)(jnp.cos)(0.0) == 1


@pytest.mark.parametrize(("name", "error"), [("gpu", ValueError), (3, TypeError)])
def test_refusals(name, error):
    with pytest.raises(error, match=r"compute.type"), compute_on(name):
        pass
