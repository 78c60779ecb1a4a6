/* Normal float32 numbers of a Threefry key: bits, uniform numbers in (-1, 1), erf_inv, times sqrt(2), a chunk at a time. */
#ifndef ONAX_NORMALS_LOOPS_H
#define ONAX_NORMALS_LOOPS_H

#include "normals_maths.h"
#include "threefry_loops.h"

/* Numbers in (-1, 1) from bits: the 23 upper ones over 2^22, less the greatest float below 1.  The product is exact. */
ONAX_NORMALS static void onax_signed_unit(const uint32_t *bits, uint64_t n, float *out) {
    const float low = -0.99999994f;
    for (uint64_t i = 0; i < n; i++) {
        const float u = (float)(int32_t)(bits[i] >> 9) * 0x1p-22f + low;
        out[i] = u > low ? u : low;
    }
}

ONAX_NORMALS static void onax_scale(uint64_t n, float *out) {
    for (uint64_t i = 0; i < n; i++) out[i] *= 1.4142135f;
}

/* The numbers of counters start ... stop - 1; `out` first holds their bits. */
static inline void onax_normals(uint32_t k0, uint32_t k1, uint64_t start, uint64_t stop, float *out) {
    enum { CHUNK = 1024 };
    float u[CHUNK];
    for (uint64_t n; start < stop; start += n, out += n) {
        n = stop - start < CHUNK ? stop - start : CHUNK;
        onax_fill(32, k0, k1, start, start + n, out);
        onax_signed_unit((const uint32_t *)(const void *)out, n, u);
        onax_erf_inv(u, n, out);
        onax_scale(n, out);
    }
}

#endif
