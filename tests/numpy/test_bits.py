"""Bits of integers: counting, packing, unpacking, eager and under jit."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from agreement import assert_as_numpy, call

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


B = np.random.default_rng(0).integers(0, 2, (3, 11)).astype(np.uint8)
P = np.random.default_rng(1).integers(0, 256, (2, 3)).astype(np.uint8)
CALLS = [
    *[call("packbits", B, axis=axis, bitorder=order) for axis in (None, 0, -1) for order in ("big", "little")],
    *[call("unpackbits", P, axis=axis, bitorder=order) for axis in (None, 0, 1) for order in ("big", "little")],
    *[call("unpackbits", P, axis=1, count=count) for count in (0, 5, -3, 30)],
    call("packbits", B > 0), call("packbits", B[:, :0], axis=1), call("packbits", B.astype(np.int64) * 7),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


REFUSED = [
    (lambda: jnp.packbits(jnp.ones(3)), TypeError, "integer"),
    (lambda: jnp.unpackbits(jnp.arange(3)), TypeError, "unsigned byte"),
    (lambda: jnp.packbits(B, bitorder="middle"), ValueError, "order"),
    (lambda: jnp.packbits(B, axis=2), IndexError, "out of bounds"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
