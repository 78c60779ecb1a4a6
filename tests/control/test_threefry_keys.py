"""Keys as two words: unpacking, packing, positions, and the words of blocks against the generator itself."""

import numpy as np
import pytest

from onax import random
from onax._control.threefry_keys import (
    is_threefry_key,
    pack_keys_p,
    positions_p,
    threefry_both_p,
    threefry_first_p,
    threefry_second_p,
    unpack_keys_p,
)

KEYS = random.split(random.key(5), (2, 3))
WORDS = np.asarray(random.key_data(KEYS))


def test_unpacking_and_packing():
    first, second = unpack_keys_p.bind(KEYS)
    np.testing.assert_array_equal(first, WORDS[..., 0])
    np.testing.assert_array_equal(second, WORDS[..., 1])
    assert bool((pack_keys_p.bind(first, second) == KEYS).all())


def test_which_keys_are_of_this_kind():
    assert is_threefry_key(KEYS.dtype)
    assert not is_threefry_key(random.key(0, impl="rbg").dtype) and not is_threefry_key(np.dtype(np.uint32))


@pytest.mark.parametrize("axes, wanted", [(1, [[0, 1, 2], [0, 1, 2]]), (2, [[0, 1, 2], [3, 4, 5]]), (0, [[0] * 3] * 2)])
def test_positions(axes, wanted):
    np.testing.assert_array_equal(positions_p.bind(shape=(2, 3), axes=axes), wanted)


def test_words_of_blocks_are_the_drawn_bits():
    """The bits of a partitionable draw are both words of block i, folded."""
    one = KEYS[1, 2]
    first, second = unpack_keys_p.bind(one)
    counters = np.arange(5, dtype=np.uint32)
    folded = threefry_both_p.bind(first, second, counters)
    np.testing.assert_array_equal(folded, random.bits(one, (5,)))
    words = [np.asarray(p.bind(first, second, counters)) for p in (threefry_first_p, threefry_second_p)]
    np.testing.assert_array_equal(words[0] ^ words[1], folded)
    np.testing.assert_array_equal(np.stack(words, -1)[:3], random.key_data(random.split(one, 3)))
