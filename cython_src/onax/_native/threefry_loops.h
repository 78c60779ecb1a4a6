/* Threefry-2x32 over many counters or many keys: loops over independent blocks, which the compiler makes vector code. */
#ifndef ONAX_THREEFRY_LOOPS_H
#define ONAX_THREEFRY_LOOPS_H

#include <stdint.h>

#include "threefry_maths.h"

#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \
    && !defined(__SANITIZE_THREAD__)  /* whose runtime is not there yet when a clone is chosen */
#define ONAX_LOOP __attribute__((unused, optimize("O3"), target_clones("default", "avx2", "arch=x86-64-v4")))
#elif defined(__GNUC__) && !defined(__clang__)
#define ONAX_LOOP __attribute__((unused, optimize("O3")))
#elif defined(__GNUC__)
#define ONAX_LOOP __attribute__((unused))
#else
#define ONAX_LOOP
#endif

/* Counters high:low, high:low+1, ...; what is stored of each block is in the name. */
#define ONAX_COUNTING(name, type, store) \
    ONAX_LOOP static void name(uint32_t k0, uint32_t k1, uint32_t high, uint32_t low, uint32_t n, type *out) { \
        const uint32_t k2 = k0 ^ k1 ^ ONAX_PARITY; \
        for (uint32_t i = 0; i < n; i++) { \
            uint32_t x0 = high, x1 = low + i; \
            ONAX_THREEFRY(k0, k1, k2) \
            store; \
        } \
    }
ONAX_COUNTING(onax_xor8, uint8_t, out[i] = (uint8_t)(x0 ^ x1))
ONAX_COUNTING(onax_xor16, uint16_t, out[i] = (uint16_t)(x0 ^ x1))
ONAX_COUNTING(onax_xor32, uint32_t, out[i] = x0 ^ x1)
ONAX_COUNTING(onax_join64, uint64_t, out[i] = ((uint64_t)x0 << 32) | x1)
ONAX_COUNTING(onax_pair, uint32_t, (out[2 * (uint64_t)i] = x0, out[2 * (uint64_t)i + 1] = x1))

/* One counter of many keys, into every `step`-th place. */
#define ONAX_KEYS(name, type, store) \
    ONAX_LOOP static void name(const uint32_t *keys, uint64_t n, uint32_t counter, uint64_t step, type *out) { \
        for (uint64_t i = 0; i < n; i++) { \
            const uint32_t k0 = keys[2 * i], k1 = keys[2 * i + 1], k2 = k0 ^ k1 ^ ONAX_PARITY; \
            uint32_t x0 = 0, x1 = counter; \
            ONAX_THREEFRY(k0, k1, k2) \
            store; \
        } \
    }
ONAX_KEYS(onax_keys8, uint8_t, out[i * step] = (uint8_t)(x0 ^ x1))
ONAX_KEYS(onax_keys16, uint16_t, out[i * step] = (uint16_t)(x0 ^ x1))
ONAX_KEYS(onax_keys32, uint32_t, out[i * step] = x0 ^ x1)
ONAX_KEYS(onax_keys64, uint64_t, out[i * step] = ((uint64_t)x0 << 32) | x1)
ONAX_KEYS(onax_keys_pair, uint32_t, (out[2 * i * step] = x0, out[2 * i * step + 1] = x1))

/* Counters (i, half + i): the layout in which one stream of counters is cut into two halves. */
ONAX_LOOP static void onax_halves(uint32_t k0, uint32_t k1, uint32_t half, uint32_t n, uint32_t *first, uint32_t *second) {
    const uint32_t k2 = k0 ^ k1 ^ ONAX_PARITY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x0 = i, x1 = half + i;
        ONAX_THREEFRY(k0, k1, k2)
        first[i] = x0;
        second[i] = x1;
    }
}

ONAX_LOOP static void onax_blocks(const uint32_t *k0, const uint32_t *k1, uint64_t n, uint32_t *c0, uint32_t *c1) {
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t a = k0[i], b = k1[i], k2 = a ^ b ^ ONAX_PARITY;
        uint32_t x0 = c0[i], x1 = c1[i];
        ONAX_THREEFRY(a, b, k2)
        c0[i] = x0;
        c1[i] = x1;
    }
}

/* What a number is: 8, 16, 32 or 64 bits, or a pair of words. */
enum { ONAX_PAIR = 0 };
#define ONAX_SEGMENT ((uint32_t)1 << 24)   /* counters a call: keeps the low word from running over within one */
#define ONAX_FEW_COUNTERS 16               /* counters a key, up to which the vectors run over keys */

/* The blocks of counters start ... stop - 1, as numbers of `width`. */
static inline void onax_fill(int width, uint32_t k0, uint32_t k1, uint64_t start, uint64_t stop, void *out) {
    for (uint64_t done = 0, n = stop - start; done < n;) {
        const uint32_t high = (uint32_t)((start + done) >> 32), low = (uint32_t)(start + done);
        const uint64_t left = n - done, most = ONAX_SEGMENT - (low & (ONAX_SEGMENT - 1));
        const uint32_t count = (uint32_t)(most < left ? most : left);
        if (width == ONAX_PAIR) onax_pair(k0, k1, high, low, count, (uint32_t *)out + 2 * done);
        else if (width == 8) onax_xor8(k0, k1, high, low, count, (uint8_t *)out + done);
        else if (width == 16) onax_xor16(k0, k1, high, low, count, (uint16_t *)out + done);
        else if (width == 32) onax_xor32(k0, k1, high, low, count, (uint32_t *)out + done);
        else onax_join64(k0, k1, high, low, count, (uint64_t *)out + done);
        done += count;
    }
}

/* The blocks of counters 0 ... n - 1 of each key, key after key. */
static inline void onax_fill_keys(int width, const uint32_t *keys, uint64_t count, uint64_t n, void *out) {
    const uint64_t size = n * (uint64_t)(width == ONAX_PAIR ? 8 : width / 8);
    if (n > ONAX_FEW_COUNTERS || count < 4) {
        for (uint64_t i = 0; i < count; i++) onax_fill(width, keys[2 * i], keys[2 * i + 1], 0, n, (char *)out + i * size);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (width == ONAX_PAIR) onax_keys_pair(keys, count, i, n, (uint32_t *)out + 2 * i);
        else if (width == 8) onax_keys8(keys, count, i, n, (uint8_t *)out + i);
        else if (width == 16) onax_keys16(keys, count, i, n, (uint16_t *)out + i);
        else if (width == 32) onax_keys32(keys, count, i, n, (uint32_t *)out + i);
        else onax_keys64(keys, count, i, n, (uint64_t *)out + i);
    }
}

/* n words of counters 0 ... n - 1 cut into halves; of an odd number, the last counter is paired with 0. */
static inline void onax_stream(uint32_t k0, uint32_t k1, uint32_t n, uint32_t *out) {
    const uint32_t whole = n / 2, half = n - whole;
    uint32_t a = whole, b = 0;
    onax_halves(k0, k1, half, whole, out, out + half);
    if (n % 2) {
        onax_blocks(&k0, &k1, 1, &a, &b);
        out[whole] = a;
    }
}

#endif
