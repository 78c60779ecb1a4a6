"""Bits of keys: widths, shapes, layouts; shares of zeros and ones."""

import numpy as np
import pytest

import onax as jax
from onax import random

KEY = random.key(3)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_every_bit_is_drawn_half_of_the_time(dtype, impl):
    with jax.enable_x64(True):
        key = random.key(3, impl=impl)
        drawn = random.bits(key, (40, 50), dtype)
        assert drawn.shape == (40, 50) and drawn.dtype == dtype
        assert jax.jit(lambda k: random.bits(k, (40, 50), dtype))(key).tolist() == drawn.tolist()
        bits = np.unpackbits(np.asarray(drawn).view(np.uint8))
        assert abs(bits.mean() - 0.5) < 5 * 0.5 / bits.size**0.5


@pytest.mark.parametrize("partitionable", [True, False])
def test_a_shape_is_an_arrangement_of_the_same_bits(partitionable):
    with jax.threefry_partitionable(partitionable):
        assert random.bits(KEY, (2, 3)).ravel().tolist() == random.bits(KEY, (6,)).tolist()
        assert random.bits(KEY).shape == () and random.bits(KEY, (0,)).shape == (0,)


def test_integers_of_less_than_8_bits_are_drawn_as_bytes():
    for dtype in ("uint4", "uint2"):
        drawn = random.bits(KEY, (3,), dtype)
        assert drawn.dtype == np.uint8 and drawn.tolist() == random.bits(KEY, (3,), np.uint8).tolist()


def test_refusals():
    for dtype in (int, np.int32, np.float32, bool):
        with pytest.raises(ValueError, match="unsigned int dtype"):
            random.bits(KEY, (2,), dtype)
    with pytest.raises((TypeError, ValueError), match=r"many|single key|key array"):
        random.bits(random.split(KEY), (2,))
