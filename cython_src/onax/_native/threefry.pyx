"""The Threefry-2x32 block function (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) over arrays.

A block maps a key and a counter, two 32-bit words each, to two words in twenty rounds.  The loops are plain C over
independent blocks, so that the compiler runs as many at a time as the machine's vectors hold.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cnp.import_array()

cdef extern from *:
    """
    #include <stdint.h>

    #if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
    #define ONAX_LOOP __attribute__((optimize("O3"), target_clones("default", "avx2", "arch=x86-64-v4")))
    #elif defined(__GNUC__) && !defined(__clang__)
    #define ONAX_LOOP __attribute__((optimize("O3")))
    #else
    #define ONAX_LOOP
    #endif

    #include "threefry_maths.h"

    /* Counters high:low, high:low+1, ...; what is stored of each block is in the name. */
    #define ONAX_COUNTING(name, type, store) \\
    ONAX_LOOP void name(uint32_t k0, uint32_t k1, uint32_t high, uint32_t low, uint32_t n, type *out) { \\
        const uint32_t k2 = k0 ^ k1 ^ ONAX_PARITY; \\
        for (uint32_t i = 0; i < n; i++) { \\
            uint32_t x0 = high, x1 = low + i; \\
            ONAX_THREEFRY(k0, k1, k2) \\
            store; \\
        } \\
    }
    ONAX_COUNTING(onax_xor8, uint8_t, out[i] = (uint8_t)(x0 ^ x1))
    ONAX_COUNTING(onax_xor16, uint16_t, out[i] = (uint16_t)(x0 ^ x1))
    ONAX_COUNTING(onax_xor32, uint32_t, out[i] = x0 ^ x1)
    ONAX_COUNTING(onax_join64, uint64_t, out[i] = ((uint64_t)x0 << 32) | x1)
    ONAX_COUNTING(onax_pair, uint32_t, (out[2 * (uint64_t)i] = x0, out[2 * (uint64_t)i + 1] = x1))

    /* One counter of many keys, into every `step`-th place. */
    #define ONAX_KEYS(name, type, store) \\
    ONAX_LOOP void name(const uint32_t *keys, uint64_t n, uint32_t counter, uint64_t step, type *out) { \\
        for (uint64_t i = 0; i < n; i++) { \\
            const uint32_t k0 = keys[2 * i], k1 = keys[2 * i + 1], k2 = k0 ^ k1 ^ ONAX_PARITY; \\
            uint32_t x0 = 0, x1 = counter; \\
            ONAX_THREEFRY(k0, k1, k2) \\
            store; \\
        } \\
    }
    ONAX_KEYS(onax_keys8, uint8_t, out[i * step] = (uint8_t)(x0 ^ x1))
    ONAX_KEYS(onax_keys16, uint16_t, out[i * step] = (uint16_t)(x0 ^ x1))
    ONAX_KEYS(onax_keys32, uint32_t, out[i * step] = x0 ^ x1)
    ONAX_KEYS(onax_keys64, uint64_t, out[i * step] = ((uint64_t)x0 << 32) | x1)
    ONAX_KEYS(onax_keys_pair, uint32_t, (out[2 * i * step] = x0, out[2 * i * step + 1] = x1))

    /* Counters (i, half + i): the layout in which one stream of counters is cut into two halves. */
    ONAX_LOOP void onax_halves(uint32_t k0, uint32_t k1, uint32_t half, uint32_t n,
                               uint32_t *first, uint32_t *second) {
        const uint32_t k2 = k0 ^ k1 ^ ONAX_PARITY;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t x0 = i, x1 = half + i;
            ONAX_THREEFRY(k0, k1, k2)
            first[i] = x0;
            second[i] = x1;
        }
    }

    ONAX_LOOP void onax_blocks(const uint32_t *k0, const uint32_t *k1, uint64_t n, uint32_t *c0, uint32_t *c1) {
        for (uint64_t i = 0; i < n; i++) {
            const uint32_t a = k0[i], b = k1[i], k2 = a ^ b ^ ONAX_PARITY;
            uint32_t x0 = c0[i], x1 = c1[i];
            ONAX_THREEFRY(a, b, k2)
            c0[i] = x0;
            c1[i] = x1;
        }
    }
    """
    void onax_xor8(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t *) noexcept nogil
    void onax_xor16(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint16_t *) noexcept nogil
    void onax_xor32(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t *) noexcept nogil
    void onax_join64(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint64_t *) noexcept nogil
    void onax_pair(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t *) noexcept nogil
    void onax_keys8(const uint32_t *, uint64_t, uint32_t, uint64_t, uint8_t *) noexcept nogil
    void onax_keys16(const uint32_t *, uint64_t, uint32_t, uint64_t, uint16_t *) noexcept nogil
    void onax_keys32(const uint32_t *, uint64_t, uint32_t, uint64_t, uint32_t *) noexcept nogil
    void onax_keys64(const uint32_t *, uint64_t, uint32_t, uint64_t, uint64_t *) noexcept nogil
    void onax_keys_pair(const uint32_t *, uint64_t, uint32_t, uint64_t, uint32_t *) noexcept nogil
    void onax_halves(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t *, uint32_t *) noexcept nogil
    void onax_blocks(const uint32_t *, const uint32_t *, uint64_t, uint32_t *, uint32_t *) noexcept nogil

cdef enum:
    PAIR = 0
    SEGMENT = 1 << 24       # counters a call: keeps the low word from running over within one
    FEW = 16                # counters a key, up to which the vectors run over keys

cdef dict _DTYPES = {8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: np.dtype(np.uint32), 64: np.dtype(np.uint64)}


cdef void fill(int width, uint32_t k0, uint32_t k1, uint64_t start, uint64_t stop, void *out) noexcept nogil:
    """The blocks of counters start ... stop - 1, as pairs of words (PAIR) or as numbers of `width` bits."""
    cdef uint64_t done = 0
    cdef uint64_t n = stop - start
    cdef uint32_t high, low, count
    while done < n:
        high = <uint32_t>((start + done) >> 32)
        low = <uint32_t>(start + done)
        count = <uint32_t>min(<uint64_t>SEGMENT - (low & (SEGMENT - 1)), n - done)
        if width == PAIR:
            onax_pair(k0, k1, high, low, count, <uint32_t *>out + 2 * done)
        elif width == 8:
            onax_xor8(k0, k1, high, low, count, <uint8_t *>out + done)
        elif width == 16:
            onax_xor16(k0, k1, high, low, count, <uint16_t *>out + done)
        elif width == 32:
            onax_xor32(k0, k1, high, low, count, <uint32_t *>out + done)
        else:
            onax_join64(k0, k1, high, low, count, <uint64_t *>out + done)
        done += count


cdef void fill_keys(int width, const uint32_t *keys, uint64_t count, uint64_t n, void *out) noexcept nogil:
    """The blocks of counters 0 ... n - 1 of each key, key after key."""
    cdef uint64_t i
    cdef uint64_t size = n * (8 if width == PAIR else width // 8)
    if n > FEW or count < 4:
        for i in range(count):
            fill(width, keys[2 * i], keys[2 * i + 1], 0, n, <char *>out + i * size)
        return
    for i in range(n):
        if width == PAIR:
            onax_keys_pair(keys, count, i, n, <uint32_t *>out + 2 * i)
        elif width == 8:
            onax_keys8(keys, count, i, n, <uint8_t *>out + i)
        elif width == 16:
            onax_keys16(keys, count, i, n, <uint16_t *>out + i)
        elif width == 32:
            onax_keys32(keys, count, i, n, <uint32_t *>out + i)
        else:
            onax_keys64(keys, count, i, n, <uint64_t *>out + i)


cdef void _stream(uint32_t k0, uint32_t k1, uint32_t n, uint32_t *out) noexcept nogil:
    """n words of counters 0 ... n - 1 cut into halves; of an odd number, the last counter is paired with 0."""
    cdef uint32_t whole = n // 2
    cdef uint32_t half = n - whole
    cdef uint32_t a = whole
    cdef uint32_t b = 0
    onax_halves(k0, k1, half, whole, out, out + half)
    if n % 2:
        onax_blocks(&k0, &k1, 1, &a, &b)
        out[whole] = a


cdef cnp.ndarray _words(keys):
    """Keys as contiguous pairs of words."""
    return np.ascontiguousarray(keys, np.uint32).reshape(-1, 2)


def random_bits_partitionable(keys, size, int width):
    """Numbers of each key from counters 0, 1, ...: an array (keys, size) of unsigned integers of `width` bits.

    `keys` has shape (keys, 2).  `width` 0 gives both words of each block: (keys, size, 2) of uint32.
    """
    cdef cnp.ndarray pairs = _words(keys)
    cdef uint64_t n = size
    cdef Py_ssize_t count = cnp.PyArray_DIM(pairs, 0)
    cdef tuple shape = (count, size) if width else (count, size, 2)
    cdef cnp.ndarray out = np.empty(shape, _DTYPES[width or 32])
    cdef uint32_t *key = <uint32_t *>cnp.PyArray_DATA(pairs)
    cdef void *data = cnp.PyArray_DATA(out)
    with nogil:
        fill_keys(width, key, count, n, data)
    return out


def random_bits_original(keys, size):
    """Words of each key from one stream of counters cut into halves: an array (keys, size) of uint32.

    Raises ValueError for 2**32 words and more.
    """
    cdef cnp.ndarray pairs = _words(keys)
    cdef Py_ssize_t count = cnp.PyArray_DIM(pairs, 0)
    if size >= 2**32 - 1:
        raise ValueError(f"{size} words of random bits need jax_threefry_partitionable=True")
    cdef uint32_t n = size
    cdef cnp.ndarray out = np.empty((count, n), np.uint32)
    cdef uint32_t *key = <uint32_t *>cnp.PyArray_DATA(pairs)
    cdef uint32_t *data = <uint32_t *>cnp.PyArray_DATA(out)
    cdef Py_ssize_t i
    with nogil:
        for i in range(count):
            _stream(key[2 * i], key[2 * i + 1], n, data + i * <uint64_t>n)
    return out


def threefry2x32(k0, k1, c0, c1):
    """The two words of each block, of keys (k0, k1) and counters (c0, c1): uint32 arrays that broadcast."""
    k0, k1, c0, c1 = np.broadcast_arrays(k0, k1, c0, c1)
    cdef cnp.ndarray a = np.ascontiguousarray(k0)
    cdef cnp.ndarray b = np.ascontiguousarray(k1)
    cdef cnp.ndarray x = np.array(c0, np.uint32, order="C")
    cdef cnp.ndarray y = np.array(c1, np.uint32, order="C")
    cdef uint64_t n = cnp.PyArray_SIZE(x)
    cdef uint32_t *first = <uint32_t *>cnp.PyArray_DATA(a)
    cdef uint32_t *second = <uint32_t *>cnp.PyArray_DATA(b)
    cdef uint32_t *low = <uint32_t *>cnp.PyArray_DATA(x)
    cdef uint32_t *high = <uint32_t *>cnp.PyArray_DATA(y)
    with nogil:
        onax_blocks(first, second, n, low, high)
    return x, y
