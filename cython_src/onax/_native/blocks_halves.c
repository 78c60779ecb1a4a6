/* Kernels of float16 and bfloat16: computed in float32, each operation rounded once. */
#include "blocks_halves.h"
#include "blocks_operations.h"
#include "blocks_rows.h"

/* ---- what one loop does */

#define ONAX_HALF1(t, name, D, value) \
    ONAX_MAP1(ONAX_CLONES, name##_##t, D, uint16_t, value)
#define ONAX_HALF2(t, name, D, value) \
    ONAX_CLONES static void name##_##t(ONAX_ARGUMENTS) { \
        D *d = to; const uint16_t *a = first, *b = second; (void)third; \
        ONAX_EACH { const float x = onax_from_##t(a[i]), y = onax_from_##t(b[i]); d[i] = (D)(value); } }

/* The next number towards another one: one step among the bits, which are ordered as numbers are but for the sign. */
#define ONAX_NEXT(t, infinity) \
    ONAX_INLINE uint16_t onax_next_##t(uint16_t a, uint16_t b) { \
        const int32_t x = a & 0x8000 ? -(a & 0x7FFF) : a, y = b & 0x8000 ? -(b & 0x7FFF) : b; \
        const int32_t next = x < y ? x + 1 : x - 1, size = next < 0 ? -next : next; \
        const int32_t found = size | ((next < 0) | ((next == 0) & (x < 0)) ? 0x8000 : 0); \
        const int32_t out = ((b & 0x7FFF) > infinity) | (x == y) ? b : found; \
        return (uint16_t)((a & 0x7FFF) > infinity ? a : out); }
ONAX_NEXT(f16, 0x7C00)
ONAX_NEXT(bf16, 0x7F80)

#define ONAX_HALF(t) \
    ONAX_HALF1(t, neg, uint16_t, x ^ 0x8000) \
    ONAX_HALF1(t, abs, uint16_t, x & 0x7FFF) \
    ONAX_MAP2(ONAX_CLONES, nextafter_##t, uint16_t, uint16_t, onax_next_##t(x, y))
ONAX_HALF(f16)
ONAX_HALF(bf16)
ONAX_MAP1(ONAX_CLONES, f16_to_f32_in_steps, float, uint16_t, onax_from_f16(x))
ONAX_MAP1(ONAX_CLONES, f32_to_f16_in_steps, uint16_t, float, onax_to_f16(x))
ONAX_MAP1(ONAX_CLONES, bf16_to_f32_in_steps, float, uint16_t, onax_from_bf16(x))
ONAX_MAP1(ONAX_CLONES, f32_to_bf16_in_steps, uint16_t, float, onax_to_bf16(x))

/* CPUs of x86-64 with F16C, which are those with AVX2 and some more, convert eight numbers in one instruction. */
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define ONAX_F16C __attribute__((target("avx,f16c")))
#define ONAX_AVX2 __attribute__((target("avx2")))

ONAX_F16C static void widen_eights(float *d, const uint16_t *a, int64_t n) {
    uint16_t few[8] = {0};
    float wide[8];
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(d + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(a + i))));
    if (i == n) return;
    memcpy(few, a + i, (size_t)(n - i) * sizeof *a);
    _mm256_storeu_ps(wide, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)few)));
    memcpy(d + i, wide, (size_t)(n - i) * sizeof *d);
}

ONAX_F16C static void narrow_eights(uint16_t *d, const float *a, int64_t n) {
    uint16_t few[8];
    float wide[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i *)(d + i), _mm256_cvtps_ph(_mm256_loadu_ps(a + i), 0));
    if (i == n) return;
    memcpy(wide, a + i, (size_t)(n - i) * sizeof *a);
    _mm_storeu_si128((__m128i *)few, _mm256_cvtps_ph(_mm256_loadu_ps(wide), 0));
    memcpy(d + i, few, (size_t)(n - i) * sizeof *d);
}

ONAX_AVX2 static void widen_bf16_eights(float *d, const uint16_t *a, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_si256((__m256i *)(d + i), _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(a + i))), 16));
    for (; i < n; i++) d[i] = onax_from_bf16(a[i]);
}

/* onax_to_bf16 of eight, each in four bytes */
ONAX_AVX2 static inline __m256i narrowed_eight(const float *a) {
    const __m256 x = _mm256_loadu_ps(a);
    const __m256i bits = _mm256_castps_si256(x), upper = _mm256_srli_epi32(bits, 16);
    const __m256i carry = _mm256_add_epi32(_mm256_and_si256(upper, _mm256_set1_epi32(1)), _mm256_set1_epi32(0x7fff));
    const __m256i quiet = _mm256_or_si256(_mm256_and_si256(upper, _mm256_set1_epi32(0x8000)), _mm256_set1_epi32(0x7fc0));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(_mm256_srli_epi32(_mm256_add_epi32(bits, carry), 16), quiet, nan);
}
ONAX_AVX2 static void narrow_bf16_eights(uint16_t *d, const float *a, int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i both = _mm256_packus_epi32(narrowed_eight(a + i), narrowed_eight(a + i + 8));
        _mm256_storeu_si256((__m256i *)(d + i), _mm256_permute4x64_epi64(both, 0xD8));
    }
    for (; i < n; i++) d[i] = onax_to_bf16(a[i]);
}

#define ONAX_F16_EIGHTS(op, instruction) \
    ONAX_F16C static void op##_eights(uint16_t *d, const uint16_t *a, const uint16_t *b, int64_t n) { \
        for (int64_t i = 0; i < n; i += 8) { \
            const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(a + i))); \
            const __m256 y = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(b + i))); \
            _mm_storeu_si128((__m128i *)(d + i), _mm256_cvtps_ph(instruction(x, y), 0)); } } \
    static void op##_f16(ONAX_ARGUMENTS) { \
        const int64_t whole = __builtin_cpu_supports("avx2") ? n / 8 * 8 : 0; \
        op##_eights(to, first, second, whole); \
        if (n > whole) \
            op##_rest_f16((uint16_t *)to + whole, (const uint16_t *)first + whole, (const uint16_t *)second + whole, third, n - whole); }

/* The same for every CPU. */
#define ONAX_IN_EIGHTS(linkage, name, eights, in_steps) \
    linkage void name(ONAX_ARGUMENTS) { \
        if (__builtin_cpu_supports("avx2")) eights(to, first, n); \
        else in_steps(to, first, second, third, n); }
#else
#define ONAX_IN_EIGHTS(linkage, name, eights, in_steps) \
    linkage void name(ONAX_ARGUMENTS) { in_steps(to, first, second, third, n); }
#endif
ONAX_IN_EIGHTS(static, f16_to_f32, widen_eights, f16_to_f32_in_steps)
ONAX_IN_EIGHTS(extern, onax_f32_to_f16, narrow_eights, f32_to_f16_in_steps)
ONAX_IN_EIGHTS(static, bf16_to_f32, widen_bf16_eights, bf16_to_f32_in_steps)
ONAX_IN_EIGHTS(extern, onax_f32_to_bf16, narrow_bf16_eights, f32_to_bf16_in_steps)

ONAX_HALF2(bf16, add, uint16_t, onax_to_bf16(x + y))
ONAX_HALF2(bf16, sub, uint16_t, onax_to_bf16(x - y))
ONAX_HALF2(bf16, mul, uint16_t, onax_to_bf16(x * y))
ONAX_HALF2(bf16, div, uint16_t, onax_to_bf16(x / y))
ONAX_HALF2(bf16, max, uint16_t, x > y || x != x ? a[i] : b[i])
ONAX_HALF2(bf16, min, uint16_t, x < y || x != x ? a[i] : b[i])
ONAX_HALF2(bf16, eq, uint8_t, x == y)
ONAX_HALF2(bf16, ne, uint8_t, x != y)
ONAX_HALF2(bf16, lt, uint8_t, x < y)
ONAX_HALF2(bf16, le, uint8_t, x <= y)

/* ---- what the kernels of float32 do, a chunk at a time */

#define ONAX_WIDE1(t, op, out) ONAX_WIDE1_AS(op##_##t, t, op, out)
#define ONAX_WIDE1_AS(name, t, op, out) \
    static void name(ONAX_ARGUMENTS) { \
        float x[ONAX_CHUNK]; \
        ONAX_UNUSED(); \
        for (int64_t i = 0; i < n; i += ONAX_CHUNK) { \
            const int64_t m = n - i < ONAX_CHUNK ? n - i : ONAX_CHUNK; \
            t##_to_f32(x, (const uint16_t *)first + i, NULL, NULL, m); \
            onax_kernels_f32[ONAX_OP_##op](x, x, NULL, NULL, m); \
            onax_kernels_f32[ONAX_OP_##out]((uint16_t *)to + i, x, NULL, NULL, m); } }
#define ONAX_WIDE2(t, op, out) \
    static void op##_##t(ONAX_ARGUMENTS) { \
        float x[ONAX_CHUNK], y[ONAX_CHUNK]; \
        (void)third; \
        for (int64_t i = 0; i < n; i += ONAX_CHUNK) { \
            const int64_t m = n - i < ONAX_CHUNK ? n - i : ONAX_CHUNK; \
            t##_to_f32(x, (const uint16_t *)first + i, NULL, NULL, m); \
            t##_to_f32(y, (const uint16_t *)second + i, NULL, NULL, m); \
            onax_kernels_f32[ONAX_OP_##op](x, x, y, NULL, m); \
            onax_kernels_f32[ONAX_OP_##out]((uint16_t *)to + i, x, NULL, NULL, m); } }
/* A total is that of float32. */
#define ONAX_WIDE_FOLD(t, op, name) \
    static void name(ONAX_ARGUMENTS) { \
        float x[ONAX_CHUNK]; \
        (void)second, (void)third; \
        if (n <= 0) onax_kernels_f32[ONAX_OP_##op](to, first, NULL, NULL, n); \
        for (int64_t i = 0; i < n; i += ONAX_CHUNK) { \
            const int64_t m = n - i < ONAX_CHUNK ? n - i : ONAX_CHUNK; \
            t##_to_f32(x, (const uint16_t *)first + i, NULL, NULL, m); \
            onax_kernels_f32[ONAX_OP_##op](to, x, NULL, NULL, m); } }

#define ONAX_WIDE(t, out) \
    ONAX_WIDE2(t, rem, out) ONAX_WIDE2(t, pow, out) ONAX_WIDE2(t, atan2, out) ONAX_WIDE1(t, sign, out) \
    ONAX_WIDE1(t, floor, out) ONAX_WIDE1(t, ceil, out) ONAX_WIDE1(t, rint, out) ONAX_WIDE1(t, round, out) \
    ONAX_WIDE1(t, sqrt, out) ONAX_WIDE1(t, rsqrt, out) ONAX_WIDE1(t, exp2, out) \
    ONAX_WIDE1(t, expm1, out) ONAX_WIDE1(t, log1p, out) ONAX_WIDE1(t, sin, out) ONAX_WIDE1(t, cos, out) ONAX_WIDE1(t, tan, out) \
    ONAX_WIDE1(t, asin, out) ONAX_WIDE1(t, acos, out) ONAX_WIDE1(t, atan, out) ONAX_WIDE1(t, sinh, out) \
    ONAX_WIDE1(t, cosh, out) ONAX_WIDE1(t, asinh, out) ONAX_WIDE1(t, acosh, out) ONAX_WIDE1(t, atanh, out) \
    ONAX_WIDE1(t, cbrt, out) ONAX_WIDE1(t, erfc, out) ONAX_WIDE1(t, erf_inv, out) \
    ONAX_WIDE1(t, lgamma, out) ONAX_WIDE1(t, bessel_i0e, out) ONAX_WIDE1(t, bessel_i1e, out) ONAX_WIDE1(t, digamma, out) \
    ONAX_WIDE_FOLD(t, sum, sum_##t) ONAX_WIDE_FOLD(t, prod, prod_##t)
#define ONAX_WIDE_FUNCTIONS(t, out) \
    ONAX_WIDE1(t, exp, out) ONAX_WIDE1(t, log, out) ONAX_WIDE1(t, tanh, out) ONAX_WIDE1(t, logistic, out) \
    ONAX_WIDE1(t, erf, out) ONAX_WIDE_FOLD(t, largest, largest_##t) ONAX_WIDE_FOLD(t, smallest, smallest_##t)
#ifdef ONAX_F16_EIGHTS
#define ONAX_F16_ARITHMETIC(op, value, instruction) \
    static void op##_rest_f16(ONAX_ARGUMENTS) { \
        uint16_t *d = to; const uint16_t *a = first, *b = second; (void)third; \
        ONAX_EACH { const float x = onax_from_f16(a[i]), y = onax_from_f16(b[i]); d[i] = onax_to_f16(value); } } \
    ONAX_F16_EIGHTS(op, instruction)
ONAX_F16_ARITHMETIC(add, x + y, _mm256_add_ps) ONAX_F16_ARITHMETIC(sub, x - y, _mm256_sub_ps)
ONAX_F16_ARITHMETIC(mul, x * y, _mm256_mul_ps) ONAX_F16_ARITHMETIC(div, x / y, _mm256_div_ps)
#else
ONAX_WIDE2(f16, add, to_f16) ONAX_WIDE2(f16, sub, to_f16) ONAX_WIDE2(f16, mul, to_f16) ONAX_WIDE2(f16, div, to_f16)
#endif
ONAX_WIDE2(f16, max, to_f16) ONAX_WIDE2(f16, min, to_f16)
#define ONAX_WIDE_COMPARISON(t, op) \
    static void op##_##t(ONAX_ARGUMENTS) { \
        float x[ONAX_CHUNK], y[ONAX_CHUNK]; \
        (void)third; \
        for (int64_t i = 0; i < n; i += ONAX_CHUNK) { \
            const int64_t m = n - i < ONAX_CHUNK ? n - i : ONAX_CHUNK; \
            t##_to_f32(x, (const uint16_t *)first + i, NULL, NULL, m); \
            t##_to_f32(y, (const uint16_t *)second + i, NULL, NULL, m); \
            onax_kernels_f32[ONAX_OP_##op]((uint8_t *)to + i, x, y, NULL, m); } }
ONAX_WIDE_COMPARISON(f16, eq) ONAX_WIDE_COMPARISON(f16, ne) ONAX_WIDE_COMPARISON(f16, lt) ONAX_WIDE_COMPARISON(f16, le)
ONAX_WIDE(f16, to_f16) ONAX_WIDE_FUNCTIONS(f16, to_f16)
ONAX_WIDE(bf16, to_bf16)

/* The largest and the smallest by their bits, which are ordered as numbers are but for the sign; NaN is larger in size than
   infinity. */
#define ONAX_BF16_EXTREME(name, limit, is_beyond) \
    ONAX_CLONES static void name##_bf16(ONAX_ARGUMENTS) { \
        const uint16_t *a = first; \
        int16_t found = limit, size = 0; \
        float value; \
        (void)second, (void)third; \
        if (n <= 0) { onax_kernels_f32[ONAX_OP_##name](to, first, NULL, NULL, n); return; } \
        for (int64_t i = 0; i < n; i++) { \
            const int16_t bits = (int16_t)a[i], key = (int16_t)(bits ^ (bits >> 15 & 0x7FFF)); \
            const int16_t positive = (int16_t)(bits & 0x7FFF); \
            found = key is_beyond found ? key : found; \
            size = positive > size ? positive : size; \
        } \
        value = onax_from_bf16(size > 0x7F80 ? 0x7FC0 : (uint16_t)(found ^ (found >> 15 & 0x7FFF))); \
        onax_kernels_f32[ONAX_OP_##name](to, &value, NULL, NULL, 1); }
ONAX_BF16_EXTREME(largest, INT16_MIN, >)
ONAX_BF16_EXTREME(smallest, INT16_MAX, <)
/* Vectors of 16 go from bfloat16 to it in one pass. */
#define ONAX_IN_SIXTEENS(op) \
    ONAX_WIDE1_AS(op##_in_chunks, bf16, op, to_bf16) \
    static void op##_bf16(ONAX_ARGUMENTS) { \
        if (onax_has_sixteens()) onax_##op##_bf16(to, first, second, third, n); \
        else op##_in_chunks(to, first, second, third, n); }
ONAX_IN_SIXTEENS(exp) ONAX_IN_SIXTEENS(log) ONAX_IN_SIXTEENS(tanh) ONAX_IN_SIXTEENS(logistic) ONAX_IN_SIXTEENS(erf)

static void is_finite_f16(ONAX_ARGUMENTS) {
    uint8_t *d = to; const uint16_t *a = first; ONAX_UNUSED();
    ONAX_EACH d[i] = (a[i] & 0x7C00) != 0x7C00;
}
static void is_finite_bf16(ONAX_ARGUMENTS) {
    uint8_t *d = to; const uint16_t *a = first; ONAX_UNUSED();
    ONAX_EACH d[i] = (a[i] & 0x7F80) != 0x7F80;
}

/* ---- conversions */

#define ONAX_THROUGH_F32(t, target, size) \
    ONAX_CHAIN(t##_##target, 2, onax_kernels_##t, to_f32, onax_kernels_f32, target, size)
#define ONAX_FROM_HALF(t) \
    ONAX_THROUGH_F32(t, to_f64, 8) ONAX_THROUGH_F32(t, to_i32, 4) ONAX_THROUGH_F32(t, to_u32, 4) \
    ONAX_THROUGH_F32(t, to_i64, 8) ONAX_THROUGH_F32(t, to_u64, 8) ONAX_THROUGH_F32(t, to_bool, 1) \
    ONAX_THROUGH_F32(t, to_i8, 1) ONAX_THROUGH_F32(t, to_u8, 1) ONAX_THROUGH_F32(t, to_i16, 2) \
    ONAX_THROUGH_F32(t, to_u16, 2) ONAX_THROUGH_F32(t, to_f16, 2) ONAX_THROUGH_F32(t, to_bf16, 2) \
    ONAX_THROUGH_F32(t, to_c64, 8) ONAX_THROUGH_F32(t, to_c128, 16)
ONAX_FROM_HALF(f16)
ONAX_FROM_HALF(bf16)

/* ---- by operation */

static void select_half(ONAX_ARGUMENTS) { onax_kernels_u16[ONAX_OP_select](to, first, second, third, n); }
static void move_half(ONAX_ARGUMENTS) { onax_kernels_u16[ONAX_OP_move](to, first, second, third, n); }
static void take_half(ONAX_ARGUMENTS) { onax_kernels_u16[ONAX_OP_take](to, first, second, third, n); }

#define ONAX_ROW_OF(t) \
    onax_kernel_row onax_kernels_##t = { \
        ONAX_REAL_ENTRIES(t), ONAX_CONVERSION_ENTRIES(t), K(erf_inv, erf_inv_##t), K(select, select_half), \
        K(move, move_half), K(take, take_half), K(sum, sum_##t), K(prod, prod_##t), K(largest, largest_##t), \
        K(bessel_i0e, bessel_i0e_##t), K(bessel_i1e, bessel_i1e_##t), K(digamma, digamma_##t), \
        K(smallest, smallest_##t), K(to_c64, t##_to_c64), K(to_c128, t##_to_c128)};
ONAX_ROW_OF(f16)
ONAX_ROW_OF(bf16)
