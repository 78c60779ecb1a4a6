"""rng_bit_generator: bits of Philox-4x32, and the key that goes on where they end."""

import numpy as np
import pytest

import onax as jax
from onax import lax

KEY = np.array([1, 2, 3, 4], np.uint32)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
@pytest.mark.parametrize("dtype, words", [("uint8", 1), ("uint16", 1), ("uint32", 1), ("uint64", 2)])
def test_the_next_key_counts_blocks_of_four_words(dtype, words, way):
    with jax.enable_x64(True):
        key, bits = way(lambda k: lax.rng_bit_generator(k, (3, 3), dtype))(KEY)
        assert bits.shape == (3, 3) and bits.dtype == dtype
        assert key.tolist() == [1, 2, 3 + -(-9 * words // 4), 4]


def test_bits_go_on_where_the_key_says():
    key, first = lax.rng_bit_generator(KEY, (8,))
    _, whole = lax.rng_bit_generator(KEY, (12,))
    _, rest = lax.rng_bit_generator(key, (4,))
    assert [*first.tolist(), *rest.tolist()] == whole.tolist()


def test_the_low_word_carries():
    key, _ = lax.rng_bit_generator(np.array([0, 0, 2**32 - 1, 7], np.uint32), (4,))
    assert key.tolist() == [0, 0, 0, 8]


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
def test_the_first_key_along_an_axis_gives_all_bits(way):
    """As in JAX."""
    _, mapped = way(jax.vmap(lambda k: lax.rng_bit_generator(k, (5,))))(np.stack([KEY, 7 * KEY]))
    assert mapped.tolist() == lax.rng_bit_generator(KEY, (2, 5))[1].tolist()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.rng_bit_generator(KEY[:2], (3,)), TypeError, r"uint32 of shape \(4,\)"),
        (lambda: lax.rng_bit_generator(KEY.astype(np.int32), (3,)), TypeError, "got int32"),
        (lambda: lax.rng_bit_generator(KEY, (3,), np.float32), TypeError, "unsupported dtype"),
        (lambda: lax.rng_bit_generator(KEY, (3,), algorithm=1), NotImplementedError, "Threefry"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
