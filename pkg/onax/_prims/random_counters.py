"""Counter-based generators of Random123 (Salmon et al., 2011): philox2x32, philox4x32 and threefry4x32.

A block function maps the words of a key and the words of a counter to as many random words.  It is written once, in
terms of an `Arithmetic` of uint32, with which it computes on ndarrays (here) and makes equations (`export/lower`).
Splitting, folding in and drawing put the index of an element into the counter, in the words and the order that JAX
uses; every key of an array draws for itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._prims.random_generators import U32, UNSIGNED, PRNGImpl, register_impl

_WEYL = (0x9E3779B9, 0xBB67AE85)
_PHILOX_2 = 0xD256D193
_PHILOX_4 = (0xD2511F53, 0xCD9E8D57)
_PHILOX_ROUNDS = 10
_THREEFRY_ROUNDS = 20
_THREEFRY_PARITY = 0x1BD11BDA
_THREEFRY_ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Operations on arrays of uint32: `product(x, constant)` gives the lower and the upper word."""

    add: Any
    xor: Any
    product: Any
    rotate: Any


def _philox2x32(op, key, counter):
    (k,), (x, y) = key, counter
    for i in range(_PHILOX_ROUNDS):
        if i:
            k = op.add(k, U32.type(_WEYL[0]))
        low, high = op.product(x, _PHILOX_2)
        x, y = op.xor(op.xor(high, y), k), low
    return [x, y]


def _philox4x32(op, key, counter):
    k0, k1 = key
    x0, x1, x2, x3 = counter
    for i in range(_PHILOX_ROUNDS):
        if i:
            k0, k1 = op.add(k0, U32.type(_WEYL[0])), op.add(k1, U32.type(_WEYL[1]))
        low0, high0 = op.product(x0, _PHILOX_4[0])
        low1, high1 = op.product(x2, _PHILOX_4[1])
        x0, x1, x2, x3 = op.xor(op.xor(high1, x1), k0), low1, op.xor(op.xor(high0, x3), k1), low0
    return [x0, x1, x2, x3]


def _threefry4x32(op, key, counter):
    parity = op.xor(op.xor(op.xor(op.xor(key[0], key[1]), key[2]), key[3]), U32.type(_THREEFRY_PARITY))
    schedule = [*key, parity]
    x = [op.add(word, k) for word, k in zip(counter, key)]
    for i in range(_THREEFRY_ROUNDS):
        partners = (1, 3) if i % 2 == 0 else (3, 1)
        for word, partner, amount in zip((0, 2), partners, _THREEFRY_ROTATIONS[i % 8]):
            x[word] = op.add(x[word], x[partner])
            x[partner] = op.xor(x[word], op.rotate(x[partner], amount))
        if i % 4 == 3:
            step = i // 4 + 1
            x = [op.add(word, schedule[(step + j) % 5]) for j, word in enumerate(x)]
            x[3] = op.add(x[3], U32.type(step))
    return x


@dataclass(frozen=True, slots=True)
class CounterGenerator:
    """A block function, and where a generator puts words into its key and counter.

    Its methods take and return lists of words; an index is a pair (upper word, lower word) of uint32.
    """

    name: str
    tag: str
    key_words: int
    block: Any
    counter_words: int
    seeds_key: bool = False  # whether a seed is a key (of a block with counter 0) or a counter (with key 0)

    def _counter(self, index, at_end):
        rest = [U32.type(0)] * (self.counter_words - 2)
        return [*rest, *index] if at_end else [*index, *rest]

    def seed(self, op, index):
        """The words of the key that a seed gives."""
        key, counter = [U32.type(0)] * self.key_words, self._counter((U32.type(0),) * 2, False)
        if self.seeds_key:
            key[:2] = index
        else:
            counter[:2] = index
        return self.block(op, key, counter)[: self.key_words]

    def split(self, op, key, index):
        """The words of new keys; also those of `fold_in`, whose index is the data."""
        return self.block(op, key, self._counter(index, True))[: self.key_words]

    def bits(self, op, key, index, bit_width):
        """One word (of which the lower bits count), or the upper and the lower one if 64 bits are drawn."""
        words = self.block(op, key, self._counter(index, False))
        if bit_width != 64:
            out = words[0]
            for word in words[1:]:
                out = op.xor(out, word)
            return [out]
        if self.seeds_key:
            return [op.xor(words[0], words[2]), op.xor(words[1], words[3])]
        return words[:2]


GENERATORS = (
    CounterGenerator("philox2x32", "phx2", 1, _philox2x32, 2),
    CounterGenerator("philox4x32", "phx4", 2, _philox4x32, 4),
    CounterGenerator("threefry4x32", "fry4", 4, _threefry4x32, 4, seeds_key=True),
)

# ---- on ndarrays


def _product(x, constant):
    wide = np.multiply(x, np.uint64(constant), dtype=np.uint64)
    return wide.astype(U32), (wide >> np.uint64(32)).astype(U32)


def _rotate(x, amount):
    return np.left_shift(x, U32.type(amount)) | np.right_shift(x, U32.type(32 - amount))


NUMPY = Arithmetic(np.add, np.bitwise_xor, _product, _rotate)


def _words(key_data, extra):
    """The words of keys, each with `extra` trailing axes of length 1."""
    return [key_data[(..., i, *[None] * extra)] for i in range(key_data.shape[-1])]


def _index(shape):
    flat = np.arange(int(np.prod(shape)), dtype=np.uint64).reshape(shape)
    return (flat >> np.uint64(32)).astype(U32), flat.astype(U32)


def _impl(generator):
    def seed(integers):
        wide = integers.astype(np.uint64) if integers.dtype.itemsize == 8 else integers.astype(U32).astype(np.uint64)
        return _stack(generator.seed(NUMPY, ((wide >> np.uint64(32)).astype(U32), wide.astype(U32))), wide.shape)

    def split(key_data, shape, partitionable):
        words = generator.split(NUMPY, _words(key_data, len(shape)), _index(shape))
        return _stack(words, (*key_data.shape[:-1], *shape))

    def fold_in(key_data, data):
        words = generator.split(NUMPY, _words(key_data, 0), (U32.type(0), data))
        return _stack(words, np.broadcast_shapes(key_data.shape[:-1], np.shape(data)))

    def random_bits(key_data, bit_width, shape, partitionable):
        words = generator.bits(NUMPY, _words(key_data, len(shape)), _index(shape), bit_width)
        if bit_width != 64:
            return np.asarray(words[0]).astype(UNSIGNED[bit_width])
        high, low = (np.asarray(word).astype(np.uint64) for word in words)
        return high << np.uint64(32) | low

    quiet = np.errstate(over="ignore")  # sums of scalars wrap
    return PRNGImpl(
        (generator.key_words,), *map(quiet, (seed, split, random_bits, fold_in)), generator.name, generator.tag
    )


def _stack(words, shape):
    return np.stack([np.broadcast_to(word, shape) for word in words], -1)


IMPLS = {generator.name: _impl(generator) for generator in GENERATORS}
for _each in IMPLS.values():
    register_impl(_each)
