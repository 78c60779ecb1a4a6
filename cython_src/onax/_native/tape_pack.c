/* Elements of arrays as the numbers that products are computed in, laid out in the order of use, and back. */
#include "vector_code.h"
#include "tape_gemm.h"

#include <string.h>

#include "blocks_halves.h"

/* How many of the first offsets lie side by side. */
static int64_t run_of(const int64_t *offsets, int64_t n) {
    int64_t i = 1;
    while (i < n && offsets[i] == offsets[0] + i) i++;
    return i;
}

/* d[i * di + p * dp] = s[io[i] + p], for as many i, in fours, as it gives back. */
#define TRANSPOSE(name, U) \
    static int64_t name(void *dst, int64_t di, int64_t dp, const void *src, const int64_t *io, int64_t ni, int64_t np) { \
        const U *s = src; \
        int64_t i = 0; \
        if (di != 1) return 0; \
        for (; i + 4 <= ni; i += 4) { \
            const U *a = s + io[i], *b = s + io[i + 1], *c = s + io[i + 2], *e = s + io[i + 3]; \
            U *d = (U *)dst + i; \
            int64_t p = 0; \
            TRANSPOSE_FOURS(U) \
            for (; p < np; p++) d[p * dp] = a[p], d[p * dp + 1] = b[p], d[p * dp + 2] = c[p], d[p * dp + 3] = e[p]; } \
        return i; }
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define TRANSPOSE_FOURS(U) \
    typedef U V __attribute__((vector_size(4 * sizeof(U)))); \
    for (; p + 4 <= np; p += 4) { \
        V w, x, y, z, r; \
        memcpy(&w, a + p, sizeof(V)), memcpy(&x, b + p, sizeof(V)); \
        memcpy(&y, c + p, sizeof(V)), memcpy(&z, e + p, sizeof(V)); \
        { \
            const V wx = __builtin_shufflevector(w, x, 0, 4, 1, 5), yz = __builtin_shufflevector(y, z, 0, 4, 1, 5); \
            const V wx2 = __builtin_shufflevector(w, x, 2, 6, 3, 7), yz2 = __builtin_shufflevector(y, z, 2, 6, 3, 7); \
            r = __builtin_shufflevector(wx, yz, 0, 1, 4, 5), memcpy(d + p * dp, &r, sizeof(V)); \
            r = __builtin_shufflevector(wx, yz, 2, 3, 6, 7), memcpy(d + (p + 1) * dp, &r, sizeof(V)); \
            r = __builtin_shufflevector(wx2, yz2, 0, 1, 4, 5), memcpy(d + (p + 2) * dp, &r, sizeof(V)); \
            r = __builtin_shufflevector(wx2, yz2, 2, 3, 6, 7), memcpy(d + (p + 3) * dp, &r, sizeof(V)); } }
#else
#define TRANSPOSE_FOURS(U)
#endif
TRANSPOSE(transpose_32, uint32_t)
TRANSPOSE(transpose_64, uint64_t)

/* The inner loop goes along whichever index is adjacent in the source, run by run. */
#define PACK(name, S, D, value, is_same) \
    static void name(void *dst, int64_t di, int64_t dp, const void *src, const int64_t *io, int64_t ni, \
                     const int64_t *po, int64_t np) { \
        const S *s = src; \
        D *d = dst; \
        const int64_t along_i = run_of(io, ni), along_p = run_of(po, np); \
        if (di == 1 && (along_i >= 4 || along_i == ni)) { \
            for (int64_t i0 = 0, run; i0 < ni; i0 += run) { \
                run = run_of(io + i0, ni - i0); \
                for (int64_t p = 0; p < np; p++) { \
                    const S *from = s + io[i0] + po[p]; \
                    D *to = d + p * dp + i0; \
                    for (int64_t i = 0; i < run; i++) { const S x = from[i]; to[i] = (D)(value); } } } \
        } else if (along_p >= 2) { \
            for (int64_t p0 = 0, run; p0 < np; p0 += run) { \
                int64_t i = 0; \
                D *first = d + p0 * dp; \
                run = run_of(po + p0, np - p0); \
                if (sizeof(S) == 4 && sizeof(D) == 4 && is_same) i = transpose_32(first, di, dp, s + po[p0], io, ni, run); \
                if (sizeof(S) == 8 && sizeof(D) == 8 && is_same) i = transpose_64(first, di, dp, s + po[p0], io, ni, run); \
                for (; i < ni; i++) { \
                    const S *from = s + io[i] + po[p0]; \
                    D *to = first + i * di; \
                    for (int64_t p = 0; p < run; p++) { const S x = from[p]; to[p * dp] = (D)(value); } } } \
        } else \
            for (int64_t p = 0; p < np; p++) \
                for (int64_t i = 0; i < ni; i++) { \
                    const S x = s[io[i] + po[p]]; \
                    d[p * dp + i * di] = (D)(value); } }

#define PACK_FLOATS(t, S, value) PACK(t##_as_f32, S, float, value, 0) PACK(t##_as_f64, S, double, value, 0)
#define PACK_INTEGERS(t, S) \
    PACK_FLOATS(t, S, x) PACK(t##_as_u32, S, uint32_t, x, 1) PACK(t##_as_u64, S, uint64_t, x, 1)

PACK(f32_as_f32, float, float, x, 1) PACK(f32_as_f64, float, double, x, 0)
PACK(f64_as_f32, double, float, x, 0) PACK(f64_as_f64, double, double, x, 1)
PACK_FLOATS(f16, uint16_t, onax_from_f16(x)) PACK_FLOATS(bf16, uint16_t, onax_from_bf16(x))
PACK_INTEGERS(i8, int8_t) PACK_INTEGERS(u8, uint8_t) PACK_INTEGERS(i16, int16_t) PACK_INTEGERS(u16, uint16_t)
PACK_INTEGERS(i32, int32_t) PACK_INTEGERS(u32, uint32_t) PACK_INTEGERS(i64, int64_t) PACK_INTEGERS(u64, uint64_t)
PACK(bool_as_f32, uint8_t, float, x != 0, 0) PACK(bool_as_f64, uint8_t, double, x != 0, 0)
PACK(bool_as_u32, uint8_t, uint32_t, x != 0, 0) PACK(bool_as_u64, uint8_t, uint64_t, x != 0, 0)

/* A complex number on the left is the matrix (re, -im; im, re), on the right the column (re; im): the product of both
   is the column of their product. */
#define PACK_COMPLEX(t, T) \
    static void t##_left(void *dst, int64_t di, int64_t dp, const void *src, const int64_t *io, int64_t ni, \
                         const int64_t *po, int64_t np) { \
        const T *s = src; \
        T *d = dst; \
        for (int64_t p = 0; p < np; p++) \
            for (int64_t i = 0; i < ni; i++) { \
                const T *x = s + 2 * (io[i] + po[p]); \
                T *to = d + 2 * p * dp + 2 * i * di; \
                to[0] = x[0], to[dp] = -x[1], to[di] = x[1], to[dp + di] = x[0]; } } \
    static void t##_right(void *dst, int64_t dj, int64_t dp, const void *src, const int64_t *jo, int64_t nj, \
                          const int64_t *po, int64_t np) { \
        const T *s = src; \
        T *d = dst; \
        for (int64_t p = 0; p < np; p++) \
            for (int64_t j = 0; j < nj; j++) { \
                const T *x = s + 2 * (jo[j] + po[p]); \
                T *to = d + 2 * p * dp + j * dj; \
                to[0] = x[0], to[dp] = x[1]; } }
PACK_COMPLEX(c64, float) PACK_COMPLEX(c128, double)

#define ROW(t) {t##_as_f32, t##_as_f64, t##_as_u32, t##_as_u64}
#define FLOAT_ROW(t) {t##_as_f32, t##_as_f64, 0, 0}
static const onax_pack packers[ONAX_TYPES][4] = {
    [ONAX_F32] = FLOAT_ROW(f32), [ONAX_F64] = FLOAT_ROW(f64), [ONAX_F16] = FLOAT_ROW(f16), [ONAX_BF16] = FLOAT_ROW(bf16),
    [ONAX_BOOL] = ROW(bool), [ONAX_I8] = ROW(i8), [ONAX_U8] = ROW(u8), [ONAX_I16] = ROW(i16), [ONAX_U16] = ROW(u16),
    [ONAX_I32] = ROW(i32), [ONAX_U32] = ROW(u32), [ONAX_I64] = ROW(i64), [ONAX_U64] = ROW(u64),
};

onax_pack onax_packer(int64_t type, int work, int side) {
    if (type < 0 || type >= ONAX_TYPES) return NULL;
    if (type == ONAX_C64) return work != ONAX_WORK_F32 ? NULL : side ? c64_right : c64_left;
    if (type == ONAX_C128) return work != ONAX_WORK_F64 ? NULL : side ? c128_right : c128_left;
    return packers[type][work];
}

/* ---- back */

#define UNPACK(name, W, D, value, added) \
    static void name(void *dst, const int64_t *io, int64_t ni, const int64_t *jo, int64_t nj, const void *src, \
                     int64_t si, int more) { \
        const int adjacent = run_of(jo, nj) == nj; \
        for (int64_t i = 0; i < ni; i++) { \
            const W *s = (const W *)src + i * si; \
            D *d = (D *)dst + io[i]; \
            if (!more && adjacent) \
                for (int64_t j = 0; j < nj; j++) { const W x = s[j]; d[jo[0] + j] = (D)(value); } \
            else \
                for (int64_t j = 0; j < nj; j++) { \
                    const W x = s[j]; \
                    D *to = d + jo[j]; \
                    if (more) *to = (D)(added); \
                    else *to = (D)(value); } } }
#define UNPACK_FLOAT(name, W, D, value) UNPACK(name, W, D, value, value)
/* Sums of small integers in floats are exact; what they add up to wraps. */
#define UNPACK_INTEGER(t, D) \
    UNPACK(f32_to_##t, float, D, (int32_t)x, (uint64_t)*to + (uint64_t)(int64_t)x) \
    UNPACK(f64_to_##t, double, D, (int64_t)x, (uint64_t)*to + (uint64_t)(int64_t)x) \
    UNPACK(u32_to_##t, uint32_t, D, x, (uint64_t)*to + x) \
    UNPACK(u64_to_##t, uint64_t, D, x, (uint64_t)*to + x)

UNPACK_FLOAT(f32_to_f32, float, float, x) UNPACK_FLOAT(f32_to_f64, float, double, x)
UNPACK_FLOAT(f64_to_f32, double, float, x) UNPACK_FLOAT(f64_to_f64, double, double, x)
UNPACK_FLOAT(f32_to_f16, float, uint16_t, onax_to_f16(x)) UNPACK_FLOAT(f64_to_f16, double, uint16_t, onax_to_f16(onax_round_to_odd(x)))
UNPACK_FLOAT(f32_to_bf16, float, uint16_t, onax_to_bf16(x))
UNPACK_FLOAT(f64_to_bf16, double, uint16_t, onax_to_bf16((float)x))
UNPACK_FLOAT(f32_to_bool, float, uint8_t, x != 0)
UNPACK_INTEGER(i8, int8_t) UNPACK_INTEGER(u8, uint8_t) UNPACK_INTEGER(i16, int16_t) UNPACK_INTEGER(u16, uint16_t)
UNPACK_INTEGER(i32, int32_t) UNPACK_INTEGER(u32, uint32_t) UNPACK_INTEGER(i64, int64_t) UNPACK_INTEGER(u64, uint64_t)

/* Pairs of rows of real and imaginary parts. */
#define UNPACK_COMPLEX(t, T) \
    static void parts_to_##t(void *dst, const int64_t *io, int64_t ni, const int64_t *jo, int64_t nj, const void *src, \
                             int64_t si, int more) { \
        (void)more; \
        for (int64_t i = 0; i < ni; i++) { \
            const T *s = (const T *)src + 2 * i * si; \
            T *d = (T *)dst + 2 * io[i]; \
            for (int64_t j = 0; j < nj; j++) d[2 * jo[j]] = s[j], d[2 * jo[j] + 1] = s[si + j]; } }
UNPACK_COMPLEX(c64, float) UNPACK_COMPLEX(c128, double)

#define BACK(t) {f32_to_##t, f64_to_##t, u32_to_##t, u64_to_##t}
static const onax_unpack unpackers[ONAX_TYPES][4] = {
    [ONAX_F32] = {f32_to_f32, f64_to_f32, 0, 0}, [ONAX_F64] = {f32_to_f64, f64_to_f64, 0, 0},
    [ONAX_F16] = {f32_to_f16, f64_to_f16, 0, 0}, [ONAX_BF16] = {f32_to_bf16, f64_to_bf16, 0, 0},
    [ONAX_C64] = {parts_to_c64, 0, 0, 0}, [ONAX_C128] = {0, parts_to_c128, 0, 0},
    [ONAX_BOOL] = {f32_to_bool, 0, 0, 0}, [ONAX_I8] = BACK(i8), [ONAX_U8] = BACK(u8), [ONAX_I16] = BACK(i16),
    [ONAX_U16] = BACK(u16), [ONAX_I32] = BACK(i32), [ONAX_U32] = BACK(u32), [ONAX_I64] = BACK(i64),
    [ONAX_U64] = BACK(u64),
};

onax_unpack onax_unpacker(int64_t type, int work) {
    return type < 0 || type >= ONAX_TYPES ? NULL : unpackers[type][work];
}
