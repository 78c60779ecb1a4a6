"""Philox-4x32 against the cipher of the paper in plain Python."""

import numpy as np
import pytest

from onax._native import philox

M = 0xFFFFFFFF


def cipher(key, counter):
    """Ten rounds: two words are multiplied, and their halves change places with the other two."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        p, q = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (q >> 32) ^ c1 ^ k0, q & M, (p >> 32) ^ c3 ^ k1, p & M
        k0, k1 = (k0 + 0x9E3779B9) & M, (k1 + 0xBB67AE85) & M
    return c0, c1, c2, c3


@pytest.mark.parametrize("state", [(1, 2, 3, 4), (5, 6, M, M), (M, M, M - 1, M)], ids=str)
def test_blocks(state):
    """The counter begins with the last two words as its lower half and the first two as its upper half, and carries."""
    low, high = state[2] | state[3] << 32, state[0] | state[1] << 32
    start = low | high << 64
    counters = [(start + i) % 2**128 for i in range(5)]
    want = [cipher(state[:2], [c >> s & M for s in (0, 32, 64, 96)]) for c in counters]
    np.testing.assert_array_equal(philox.philox4x32(np.array(state, np.uint32), 5), want)
