"""Random numbers: a function of the key alone, on every backend; NumPy's generators have a state."""

import functools

import numpy as np

from onax import random
from onax._divergence.case import Case, Family

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key, counts):
    """Threefry 2x32 of 20 rounds on pairs of 32-bit counters.

    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.  `key`: (2,), `counts`: (2, n), uint32.
    """
    with np.errstate(over="ignore"):
        schedule = [key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)]
        a, b = counts[0] + schedule[0], counts[1] + schedule[1]
        for step in range(5):
            for r in _ROTATIONS[step % 2]:
                a = a + b
                b = ((b << np.uint32(r)) | (b >> np.uint32(32 - r))) ^ a
            a = a + schedule[(step + 1) % 3]
            b = b + schedule[(step + 2) % 3] + np.uint32(step + 1)
    return a, b


def _bits(seed, n):
    """The documented 32 random bits of each of n elements: both halves of a block over its index, combined."""
    key = np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)
    counts = np.stack([np.zeros(n, np.uint32), np.arange(n, dtype=np.uint32)])
    a, b = threefry(key, counts)
    return a ^ b


def _uniform(seed, n):
    """23 bits as the fraction of a number in [1, 2), less 1."""
    return ((_bits(seed, n) >> np.uint32(9)) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)


@functools.cache
def _onax(name, seed, n):
    return lambda: getattr(random, name)(random.key(seed), (n,))


def _numpy_bits(seed, n):
    return np.random.default_rng(seed).integers(0, 2**32, n, dtype=np.uint32)


def _numpy_uniform(seed, n):
    return np.random.default_rng(seed).random(n, dtype=np.float32)


def _draws():
    for seed in (0, 1, 42, 2**31 - 1):
        for n in (1, 5, 1000):
            yield Case(f"bits(key({seed}), ({n},))", lambda s=seed, n=n: _numpy_bits(s, n), _onax("bits", seed, n), (),
                       _bits(seed, n), dtype="uint32", shape=f"({n},)")  # fmt: skip
            yield Case(f"uniform(key({seed}), ({n},))", lambda s=seed, n=n: _numpy_uniform(s, n),
                       _onax("uniform", seed, n), (), _uniform(seed, n), dtype="float32", shape=f"({n},)")  # fmt: skip


FAMILIES = (
    Family(
        "random",
        "Random numbers",
        "Random numbers are a function of the key: the same key gives the same bits eagerly, compiled and exported, on "
        "every machine. NumPy's generators are other algorithms and advance a state.",
        "Split keys and use each once: key, sub = onax.random.split(key).",
        _draws,
    ),
)
