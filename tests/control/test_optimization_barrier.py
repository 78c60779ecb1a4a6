"""optimization_barrier is the value itself, in every transformation."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(1.0, 4.0)
BARRIER = {
    "value": lambda b: b(X),
    "tree": lambda b: b({"p": X, "q": 2.0})["p"],
    "jit": lambda b: jax.jit(lambda x: b((x, x * 1j)))(X)[0],
    "vmap": lambda b: jax.vmap(lambda x: b((x, 2.0)))(X)[0],
    "grad": lambda b: jax.grad(lambda x: jnp.sum(b((x * x, 3.0))[0]))(X / 2),
    "jvp": lambda b: jax.jvp(lambda x: b((x, 2.0))[0], (X,), (X,))[1],
}


@pytest.mark.parametrize("name", BARRIER)
def test_optimization_barrier_is_the_value_itself(name):
    np.testing.assert_array_equal(BARRIER[name](lax.optimization_barrier), X)
