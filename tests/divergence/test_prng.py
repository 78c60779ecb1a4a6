"""Random bits: Threefry's known answers, and cases that hold."""

import numpy as np
import pytest

from divergence.family_cases import family_tests
from onax._divergence import prng

TestFamilies = family_tests(prng)


KNOWN = [  # key, counters, words: from the reference implementation's table of known answers
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counters", "words"), KNOWN)
def test_threefry(key, counters, words):
    found = prng.threefry(key, [np.array([c], np.uint32) for c in counters])
    assert [int(np.asarray(w).ravel()[0]) for w in found] == list(words)
