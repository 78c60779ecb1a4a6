/* The inverse of the error function over float32 numbers; normals.pyx says how. */
#ifndef ONAX_NORMALS_MATHS_H
#define ONAX_NORMALS_MATHS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \
    && !defined(__SANITIZE_THREAD__)  /* whose runtime is not there yet when a clone is chosen */
#define ONAX_NORMALS __attribute__((optimize("O3", "fp-contract=fast"), target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#elif defined(__GNUC__) && !defined(__clang__)
#define ONAX_NORMALS __attribute__((optimize("O3", "fp-contract=fast")))
#else
#define ONAX_NORMALS
#endif

/* Fitted at Chebyshev points, highest power first: the first for w < 5 in w / 2.5 - 1, the second above, in
   sqrt(w) moved and scaled to -1 ... 1 for sqrt(w) up to 6.1. */
static const double onax_near[10] = {
    -3.333980932719749e-05, 3.553137893709535e-05, 0.0002840751529070523, -0.000845545938834775,
    -0.0004843499507161512, 0.008529176355175368, -0.019574194007119218, -0.026108685994249568,
    0.6166007234735242, 1.501409359832882,
};
static const double onax_far[11] = {
    -3.9099842586749476e-05, 6.10579156023805e-06, 0.00019037601308760963, -0.00028411652442719037,
    0.00021228806369317913, -4.9208684578889995e-05, -0.0007148554839737934, 0.0032300627233897076,
    -0.009513086816005933, 0.022202085630960634, 0.9619510437410882,
};

/* Where w >= 5, about one uniform number in 300; and 1, -1, NaN and what lies outside. */
static float onax_erf_inv_far(float x) {
    const double root5 = 2.23606797749979, middle = (6.1 + root5) / 2, half = (6.1 - root5) / 2;
    const double root = sqrt(-log1p(-(double)x * x)), b = (root - middle) / half;
    double y = onax_far[0];
    if (fabsf(x) == 1.0f) return x * HUGE_VALF;
    for (int k = 1; k < 11; k++) y = y * b + onax_far[k];
    return copysignf((float)(y * root), x);
}

ONAX_NORMALS static void onax_erf_inv_near(const float *in, uint64_t n, float *out) {
    for (uint64_t i = 0; i < n; i++) {
        const double x = in[i], t = 1.0 - x * x;
        /* t = m 2^e with m in [sqrt(1/2), sqrt(2)); log(m) = 2 atanh(s), s = (m - 1) / (m + 1) */
        uint64_t bits;
        memcpy(&bits, &t, 8);
        const uint64_t moved = bits + (0x3FF0000000000000ull - 0x3FE6A09E667F3BCDull);
        const uint64_t mantissa = (moved & 0xFFFFFFFFFFFFFull) + 0x3FE6A09E667F3BCDull;
        const uint64_t shifted = (moved >> 52) | 0x4330000000000000ull;  /* 2^52 + e + 1023, as a double */
        double m, e;
        memcpy(&m, &mantissa, 8);
        memcpy(&e, &shifted, 8);
        e -= 4503599627370496.0 + 1023.0;
        const double s = (m - 1.0) / (m + 1.0), q = s * s;
        const double series = 1.0 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11)))));
        const double a = -(2.0 * s * series + e * 0.6931471805599453) * 0.4 - 1.0;
        double y = onax_near[0];
        for (int k = 1; k < 10; k++) y = y * a + onax_near[k];
        out[i] = (float)(y * x);
    }
}

static void onax_erf_inv(const float *in, uint64_t n, float *out) {
    for (uint64_t start = 0; start < n; start += 4096) {  /* the second pass finds the first's numbers in cache */
        const uint64_t stop = start + 4096 < n ? start + 4096 : n;
        onax_erf_inv_near(in + start, stop - start, out + start);
        for (uint64_t i = start; i < stop; i++)
            if (!(fabsf(in[i]) < 0.9966f)) out[i] = onax_erf_inv_far(in[i]);
    }
}

#endif
