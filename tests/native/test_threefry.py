"""Threefry-2x32 against the cipher in plain Python, and the two ways of counting against their definitions."""

import numpy as np
import pytest

from onax._native import threefry

ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
M = 0xFFFFFFFF


def cipher(k0, k1, x0, x1):
    """Five groups of four rounds; after each group two of three key words are added, and the number of the group."""
    keys = (k0, k1, 0x1BD11BDA ^ k0 ^ k1)
    x0, x1 = (x0 + k0) & M, (x1 + k1) & M
    for group in range(5):
        for r in ROTATIONS[group % 2]:
            x0 = (x0 + x1) & M
            x1 = ((x1 << r | x1 >> (32 - r)) & M) ^ x0
        x0 = (x0 + keys[(group + 1) % 3]) & M
        x1 = (x1 + keys[(group + 2) % 3] + group + 1) & M
    return x0, x1


KEYS = np.random.default_rng(0).integers(0, 2**32, (3, 2), np.uint32)


def pairs(n):
    """Both words of blocks 0 ... n - 1 of each key."""
    return np.array([[cipher(int(a), int(b), i >> 32, i & M) for i in range(n)] for a, b in KEYS], np.uint32)


def test_blocks():
    counters = np.random.default_rng(1).integers(0, 2**32, (2, 50), np.uint32)
    first, second = threefry.threefry2x32(KEYS[:, :1], KEYS[:, 1:], *counters)
    want = [[cipher(int(a), int(b), int(c), int(d)) for c, d in zip(*counters)] for a, b in KEYS]
    np.testing.assert_array_equal(np.stack([first, second], -1), want)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 200])
def test_partitionable_bits(n):
    words = pairs(n)
    np.testing.assert_array_equal(threefry.random_bits_partitionable(KEYS, n, 0), words)
    first, second = words[..., 0], words[..., 1]
    for width, dtype in ((8, np.uint8), (16, np.uint16), (32, np.uint32)):
        got = threefry.random_bits_partitionable(KEYS, n, width)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, (first ^ second).astype(dtype))
    wide = first.astype(np.uint64) << np.uint64(32) | second
    np.testing.assert_array_equal(threefry.random_bits_partitionable(KEYS, n, 64), wide)


@pytest.mark.parametrize("n", [1, 2, 7, 200])
def test_original_bits(n):
    """Counters 0 ... n - 1 are cut into halves, whose elements are paired; an odd number gets a 0 at the end."""
    counters = [*range(n), *[0] * (n % 2)]
    half = len(counters) // 2
    for key, got in zip(KEYS, threefry.random_bits_original(KEYS, n)):
        blocks = [cipher(int(key[0]), int(key[1]), a, b) for a, b in zip(counters[:half], counters[half:])]
        assert got.tolist() == [*(b[0] for b in blocks), *(b[1] for b in blocks)][:n]


def test_more_words_than_the_original_way_can_count():
    with pytest.raises(ValueError, match="jax_threefry_partitionable"):
        threefry.random_bits_original(KEYS, 2**32)
