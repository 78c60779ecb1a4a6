"""The Philox-4x32 block function in ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

A state is four words: the first two are the key; the counter of 128 bits begins with the last two as its lower half and
has the first two as its upper half.  Counters go up by one from block to block.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t

cnp.import_array()

cdef extern from *:
    """
    #include <stdint.h>

    #if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \\
        && !defined(__SANITIZE_THREAD__)  /* whose runtime is not there yet when a clone is chosen */
    #define ONAX_LOOP __attribute__((optimize("O3"), target_clones("default", "avx2", "arch=x86-64-v4")))
    #elif defined(__GNUC__) && !defined(__clang__)
    #define ONAX_LOOP __attribute__((optimize("O3")))
    #else
    #define ONAX_LOOP
    #endif

    /* Blocks whose counters differ in the lowest word alone. */
    ONAX_LOOP void onax_philox(const uint32_t *key, const uint32_t *counter, uint32_t n, uint32_t *out) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t x0 = counter[0] + i, x1 = counter[1], x2 = counter[2], x3 = counter[3];
            uint32_t k0 = key[0], k1 = key[1];
            for (int round = 0; round < 10; round++) {
                const uint64_t a = (uint64_t)x0 * 0xD2511F53u, b = (uint64_t)x2 * 0xCD9E8D57u;
                x0 = (uint32_t)(b >> 32) ^ x1 ^ k0;
                x2 = (uint32_t)(a >> 32) ^ x3 ^ k1;
                x1 = (uint32_t)b;
                x3 = (uint32_t)a;
                k0 += 0x9E3779B9u;
                k1 += 0xBB67AE85u;
            }
            out[4 * (uint64_t)i] = x0;
            out[4 * (uint64_t)i + 1] = x1;
            out[4 * (uint64_t)i + 2] = x2;
            out[4 * (uint64_t)i + 3] = x3;
        }
    }
    """
    void onax_philox(const uint32_t *, const uint32_t *, uint32_t, uint32_t *) noexcept nogil


cdef void fill(const uint32_t *state, uint64_t start, uint64_t stop, uint32_t *out) noexcept nogil:
    """The blocks start ... stop - 1 from a state of four words, four words each."""
    cdef uint64_t low = state[2] | <uint64_t>state[3] << 32
    cdef uint64_t high = state[0] | <uint64_t>state[1] << 32
    cdef uint64_t here, upper, count
    cdef uint32_t counter[4]
    while start < stop:
        here = low + start
        upper = high + (here < low)
        counter[0], counter[1] = <uint32_t>here, <uint32_t>(here >> 32)
        counter[2], counter[3] = <uint32_t>upper, <uint32_t>(upper >> 32)
        count = min(stop - start, <uint64_t>0x100000000 - counter[0], <uint64_t>1 << 24)
        onax_philox(state, counter, <uint32_t>count, out)
        out += 4 * count
        start += count


def philox4x32(state, n):
    """The first n blocks from a state of four words: uint32 of shape (n, 4)."""
    cdef cnp.ndarray words = np.ascontiguousarray(state, np.uint32)
    cdef uint64_t count = n
    cdef cnp.ndarray out = np.empty((n, 4), np.uint32)
    cdef uint32_t *target = <uint32_t *>cnp.PyArray_DATA(out)
    cdef uint32_t *source = <uint32_t *>cnp.PyArray_DATA(words)
    if cnp.PyArray_SIZE(words) != 4:
        raise ValueError(f"a state has four words, not {cnp.PyArray_SIZE(words)}")
    with nogil:
        fill(source, 0, count, target)
    return out
