/* Dot products of two vectors of narrow numbers, read where they lie: matrix kernels would pack both first. */
#include "vector_code.h"
#include "tape_gemm.h"

#include "blocks_operations.h"

#define PART 512               /* elements that are widened together */
#define LANES 32

/* ---- float16 and bfloat16: products and lanes in float32, parts in float64, the sum rounded once */

ONAX_CLONES static double sum_of_products(const float *a, const float *b, int64_t n) {
    float lanes[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lanes[k] += a[i + k] * b[i + k];
    for (int k = 0; k < n - i; k++) lanes[k] += a[i + k] * b[i + k];
    for (int w = LANES / 2; w; w /= 2)
        for (int k = 0; k < w; k++) lanes[k] += lanes[k + w];
    return lanes[0];
}

static float dot_of_halves(const onax_kernel widen, const uint16_t *a, const uint16_t *b, int64_t k) {
    float x[PART], y[PART];
    double total = 0;
    for (int64_t i = 0; i < k; i += PART) {
        const int64_t n = k - i < PART ? k - i : PART;
        widen(x, a + i, NULL, NULL, n);
        widen(y, b + i, NULL, NULL, n);
        total += sum_of_products(x, y, n);
    }
    return (float)total;
}

#define DOT_OF_HALVES(t) \
    static void t##_to_f32(void *c, const void *a, const void *b, int64_t k) { \
        *(float *)c = dot_of_halves(onax_kernels_##t[ONAX_OP_to_f32], a, b, k); } \
    static void t##_to_##t(void *c, const void *a, const void *b, int64_t k) { \
        const float sum = dot_of_halves(onax_kernels_##t[ONAX_OP_to_f32], a, b, k); \
        onax_kernels_f32[ONAX_OP_to_##t](c, &sum, NULL, NULL, 1); }
DOT_OF_HALVES(f16) DOT_OF_HALVES(bf16)

/* ---- integers: sums wrap, so that their low bits are right in whatever width */

#define DOT_OF_INTEGERS(t, T, W) \
    ONAX_CLONES static uint32_t sum_of_##t(const T *a, const T *b, int64_t n) { \
        uint32_t sum = 0; \
        for (int64_t i = 0; i < n; i++) sum += (uint32_t)((W)a[i] * (W)b[i]); \
        return sum; } \
    static void t##_to_8(void *c, const void *a, const void *b, int64_t k) { *(uint8_t *)c = (uint8_t)sum_of_##t(a, b, k); } \
    static void t##_to_16(void *c, const void *a, const void *b, int64_t k) { *(uint16_t *)c = (uint16_t)sum_of_##t(a, b, k); } \
    static void t##_to_32(void *c, const void *a, const void *b, int64_t k) { *(uint32_t *)c = sum_of_##t(a, b, k); }
DOT_OF_INTEGERS(i8, int8_t, int32_t) DOT_OF_INTEGERS(u8, uint8_t, uint32_t)
DOT_OF_INTEGERS(i16, int16_t, int32_t) DOT_OF_INTEGERS(u16, uint16_t, uint32_t)

#define ROW(t) {t##_to_8, t##_to_16, t##_to_32}
static const onax_vector_dot integers[ONAX_TYPES][3] = {[ONAX_I8] = ROW(i8), [ONAX_U8] = ROW(u8), [ONAX_I16] = ROW(i16), [ONAX_U16] = ROW(u16)};

onax_vector_dot onax_narrow_dot(const int64_t *types) {
    const int64_t type = types[0], to = types[2], size = onax_size_of(to);
    if (types[1] != type) return NULL;
    if (type == ONAX_F16) return to == ONAX_F32 ? f16_to_f32 : to == ONAX_F16 ? f16_to_f16 : NULL;
    if (type == ONAX_BF16) return to == ONAX_F32 ? bf16_to_f32 : to == ONAX_BF16 ? bf16_to_bf16 : NULL;
    if (to == ONAX_BOOL || to <= ONAX_F64 || to >= ONAX_F16 || size > 4) return NULL;
    return integers[type][size / 2];
}
