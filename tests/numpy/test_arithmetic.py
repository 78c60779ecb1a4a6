"""bitwise_count of every dtype, eager and under jit (expected results are JAX's)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

COUNTED = [
    *((dtype, [0, 1, 3, 100], [0, 1, 2, 3]) for dtype in ("uint8", "uint16", "uint32", "uint64")),
    *((dtype, [0, -1, 3, -100], [0, 1, 2, 3]) for dtype in ("int8", "int16", "int32", "int64")),
    ("uint8", [255, 128], [8, 1]),
    ("int8", [-128, 127], [1, 7]),
    ("uint64", [2**64 - 1, 2**63], [64, 1]),
    ("bool", [True, False], [1, 0]),
]


@pytest.mark.parametrize("dtype, numbers, counts", COUNTED)
def test_bitwise_count(dtype, numbers, counts):
    with jax.enable_x64(True):
        x = jnp.array(np.array(numbers, dtype))
        for count in (jnp.bitwise_count, jax.jit(jnp.bitwise_count), jax.vmap(jnp.bitwise_count)):
            result = count(x)
            assert (result.tolist(), result.dtype, result.weak_type) == (counts, np.uint8, False)


def test_bitwise_count_refuses_floats():
    with pytest.raises(TypeError, match="population_count does not accept dtype float32"):
        jnp.bitwise_count(jnp.ones(2))
