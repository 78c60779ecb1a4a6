/* Exponentials of float32 where the CPU has AVX-512, whose scaling by powers of 2 is one instruction (blocks_functions.h
   includes this).  They have the bits of the forms for other CPUs: the same products and sums are rounded together. */
#ifndef ONAX_BLOCKS_EXPS_H
#define ONAX_BLOCKS_EXPS_H

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(ONAX_SANITIZED)
#include <immintrin.h>

#define ONAX_HAS_SIXTEENS() (__builtin_cpu_supports("x86-64-v4") != 0)
#define ONAX_SIXTEEN __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#define ONAX_SIXTEEN_LOOP __attribute__((target("arch=x86-64-v4")))
#define ONAX_SIXTEEN_INLINE ONAX_SIXTEEN static inline __attribute__((always_inline))

/* onax_expf of each; the bounds keep NaN, which is the second operand. */
ONAX_SIXTEEN_INLINE __m512 onax_sixteen_exps(__m512 x) {
    const __m512 magic = _mm512_set1_ps(ONAX_ROUNDING);
    const __m512 y = _mm512_max_ps(_mm512_set1_ps(-104.0f), _mm512_min_ps(_mm512_set1_ps(89.0f), x));
    const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(y, _mm512_set1_ps(1.44269504088896341f), magic), magic);
    const __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4f), _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), y));
    __m512 p = _mm512_set1_ps(1.9875691500e-4f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.3981999507e-3f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(8.3334519073e-3f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.1665795894e-2f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.6666665459e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.0000001201e-1f));
    p = _mm512_fmadd_ps(_mm512_mul_ps(p, r), r, r);
    return _mm512_scalef_ps(_mm512_add_ps(p, _mm512_set1_ps(1.0f)), n);
}

ONAX_SIXTEEN_INLINE __mmask16 onax_lanes_of(int64_t n) { return n >= 16 ? (__mmask16)-1 : (__mmask16)((1u << n) - 1); }

/* exp(x), or exp(x - y), with y an element each or, if `is_one`, one number. */
ONAX_SIXTEEN_INLINE __m512 onax_sixteen_terms(const float *a, const float *b, __m512 one, int is_one, __mmask16 some) {
    const __m512 x = _mm512_maskz_loadu_ps(some, a);
    return onax_sixteen_exps(b ? _mm512_sub_ps(x, is_one ? one : _mm512_maskz_loadu_ps(some, b)) : x);
}

ONAX_SIXTEEN_INLINE void onax_sixteens(float *d, const float *a, const float *b, int is_one, int64_t n) {
    const __m512 one = is_one ? _mm512_set1_ps(*b) : _mm512_setzero_ps();
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(d + i, onax_sixteen_terms(a + i, b && !is_one ? b + i : b, one, is_one, (__mmask16)-1));
    if (i < n) {
        const __mmask16 some = onax_lanes_of(n - i);
        _mm512_mask_storeu_ps(d + i, some, onax_sixteen_terms(a + i, b && !is_one ? b + i : b, one, is_one, some));
    }
}

/* The sum of the terms, in 32 lanes as ONAX_FOLD has it; d is NULL or where the terms go. */
ONAX_SIXTEEN_INLINE void onax_sum_of_sixteens(double *total, float *d, const float *a, const float *b, int is_one, int64_t n) {
    const __m512 one = is_one ? _mm512_set1_ps(*b) : _mm512_setzero_ps();
    __m512 sums[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    float lanes[16];
    for (int64_t i = 0; i < n; i += 32)
        for (int half = 0; half < 2; half++) {
            const int64_t at = i + 16 * half, left = n - at;
            const __mmask16 some = left >= 16 ? (__mmask16)-1 : left > 0 ? onax_lanes_of(left) : 0;
            __m512 e;
            if (left <= 0) break;
            e = onax_sixteen_terms(a + at, is_one ? b : b + at, one, is_one, some);
            if (d) _mm512_mask_storeu_ps(d + at, some, e);
            sums[half] = _mm512_mask_add_ps(sums[half], some, sums[half], e);
        }
    _mm512_storeu_ps(lanes, _mm512_add_ps(sums[0], sums[1]));
    for (int w = 8; w; w /= 2)
        for (int k = 0; k < w; k++) lanes[k] += lanes[k + w];
    *total += lanes[0];
}

ONAX_SIXTEEN static void exps_of_sixteens(float *d, const float *a, int64_t n) { onax_sixteens(d, a, NULL, 0, n); }
ONAX_SIXTEEN static void exps_of_differences_of_sixteens(float *d, const float *a, const float *b, int64_t n) { onax_sixteens(d, a, b, 0, n); }
ONAX_SIXTEEN static void exps_of_sixteens_less_one(float *d, const float *a, const float *b, int64_t n) { onax_sixteens(d, a, b, 1, n); }
ONAX_SIXTEEN static void sum_of_sixteens(double *total, float *d, const float *a, const float *b, int64_t n) {
    if (d) onax_sum_of_sixteens(total, d, a, b, 0, n);
    else onax_sum_of_sixteens(total, NULL, a, b, 0, n);
}
ONAX_SIXTEEN static void sum_of_sixteens_less_one(double *total, float *d, const float *a, const float *b, int64_t n) {
    if (d) onax_sum_of_sixteens(total, d, a, b, 1, n);
    else onax_sum_of_sixteens(total, NULL, a, b, 1, n);
}

/* bfloat16, rounded as onax_to_bf16 does. */
ONAX_SIXTEEN_INLINE __m256i onax_sixteen_bf16(__m512 x) {
    const __m512i bits = _mm512_castps_si512(x), last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), last), 16);
    const __m512i quiet = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x8000)), _mm512_set1_epi32(0x7fc0));
    return _mm512_cvtepi32_epi16(_mm512_mask_blend_epi32(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), rounded, quiet));
}

ONAX_SIXTEEN static void exps_of_sixteen_bf16(uint16_t *d, const uint16_t *a, int64_t n) {
    for (int64_t i = 0; i < n; i += 16) {
        const __mmask16 some = onax_lanes_of(n - i);
        const __m512i x = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, a + i)), 16);
        _mm256_mask_storeu_epi16(d + i, some, onax_sixteen_bf16(onax_sixteen_exps(_mm512_castsi512_ps(x))));
    }
}

#else
#define ONAX_HAS_SIXTEENS() 0
#define ONAX_SIXTEEN_LOOP
#define exps_of_sixteens(d, a, n) ((void)0)
#define exps_of_differences_of_sixteens(d, a, b, n) ((void)0)
#define exps_of_sixteens_less_one(d, a, b, n) ((void)0)
#define sum_of_sixteens(total, d, a, b, n) ((void)0)
#define sum_of_sixteens_less_one(total, d, a, b, n) ((void)0)
#define exps_of_sixteen_bf16(d, a, n) ((void)0)
#endif

#endif
