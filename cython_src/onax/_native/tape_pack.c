/* Elements of arrays as the numbers that products are computed in, laid out in the order of use, and back. */
#include "vector_code.h"
#include "tape_gemm.h"

#include <string.h>

#include "blocks_halves.h"
#include "blocks_operations.h"

/* How many of the first offsets lie side by side. */
static int64_t run_of(const int64_t *offsets, int64_t n) {
    int64_t i = 1;
    while (i < n && offsets[i] == offsets[0] + i) i++;
    return i;
}

/* d[i * di + p * dp] = s[io[i] + p], for as many i, in groups of as many as 16 bytes hold, as it gives back. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
typedef uint32_t quad __attribute__((vector_size(16)));
typedef uint64_t couple __attribute__((vector_size(16)));

static int64_t transpose_32(uint32_t *to, int64_t di, int64_t dp, const uint32_t *s, const int64_t *io, int64_t ni,
                            int64_t np) {
    int64_t i = 0;
    if (di != 1) return 0;
    for (; i + 4 <= ni; i += 4) {
        const uint32_t *a = s + io[i], *b = s + io[i + 1], *c = s + io[i + 2], *e = s + io[i + 3];
        uint32_t *d = to + i;
        int64_t p = 0;
        for (; p + 4 <= np; p += 4, d += 4 * dp) {
            quad w, x, y, z, low, high, r;
            memcpy(&w, a + p, sizeof w), memcpy(&x, b + p, sizeof x);
            memcpy(&y, c + p, sizeof y), memcpy(&z, e + p, sizeof z);
            low = __builtin_shufflevector(w, x, 0, 4, 1, 5), high = __builtin_shufflevector(y, z, 0, 4, 1, 5);
            r = __builtin_shufflevector(low, high, 0, 1, 4, 5), memcpy(d, &r, sizeof r);
            r = __builtin_shufflevector(low, high, 2, 3, 6, 7), memcpy(d + dp, &r, sizeof r);
            low = __builtin_shufflevector(w, x, 2, 6, 3, 7), high = __builtin_shufflevector(y, z, 2, 6, 3, 7);
            r = __builtin_shufflevector(low, high, 0, 1, 4, 5), memcpy(d + 2 * dp, &r, sizeof r);
            r = __builtin_shufflevector(low, high, 2, 3, 6, 7), memcpy(d + 3 * dp, &r, sizeof r);
        }
        for (; p < np; p++, d += dp) d[0] = a[p], d[1] = b[p], d[2] = c[p], d[3] = e[p];
    }
    return i;
}

static int64_t transpose_64(uint64_t *to, int64_t di, int64_t dp, const uint64_t *s, const int64_t *io, int64_t ni,
                            int64_t np) {
    int64_t i = 0;
    if (di != 1) return 0;
    for (; i + 4 <= ni; i += 4) {
        const uint64_t *a = s + io[i], *b = s + io[i + 1], *c = s + io[i + 2], *e = s + io[i + 3];
        uint64_t *d = to + i;
        int64_t p = 0;
        for (; p + 2 <= np; p += 2, d += 2 * dp) {
            couple w, x, y, z, r;
            memcpy(&w, a + p, sizeof w), memcpy(&x, b + p, sizeof x);
            memcpy(&y, c + p, sizeof y), memcpy(&z, e + p, sizeof z);
            r = __builtin_shufflevector(w, x, 0, 2), memcpy(d, &r, sizeof r);
            r = __builtin_shufflevector(y, z, 0, 2), memcpy(d + 2, &r, sizeof r);
            r = __builtin_shufflevector(w, x, 1, 3), memcpy(d + dp, &r, sizeof r);
            r = __builtin_shufflevector(y, z, 1, 3), memcpy(d + dp + 2, &r, sizeof r);
        }
        for (; p < np; p++, d += dp) d[0] = a[p], d[1] = b[p], d[2] = c[p], d[3] = e[p];
    }
    return i;
}
#else
#define transpose_32(to, di, dp, s, io, ni, np) 0
#define transpose_64(to, di, dp, s, io, ni, np) 0
#endif

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
                if (sizeof(S) == 4 && sizeof(D) == 4 && is_same) i = transpose_32((void *)first, di, dp, (const void *)(s + po[p0]), io, ni, run); \
                if (sizeof(S) == 8 && sizeof(D) == 8 && is_same) i = transpose_64((void *)first, di, dp, (const void *)(s + po[p0]), io, ni, run); \
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
PACK(f16_as_f64, uint16_t, double, onax_from_f16(x), 0) PACK(bf16_as_f64, uint16_t, double, onax_from_bf16(x), 0)
PACK(f16_one_by_one, uint16_t, float, onax_from_f16(x), 0) PACK(bf16_one_by_one, uint16_t, float, onax_from_bf16(x), 0)

#define TILE 16             /* rows that are widened together, */
#define TILE_TERMS 56       /* so many elements of each */

/* Runs of halves are widened by vector code, those along p before they are transposed. */
#define PACK_HALVES(t) \
    static void t##_as_f32(void *dst, int64_t di, int64_t dp, const void *src, const int64_t *io, int64_t ni, \
                           const int64_t *po, int64_t np) { \
        const uint16_t *s = src; \
        float *d = dst, tile[TILE * TILE_TERMS]; \
        int64_t to_io[TILE], to_po[TILE_TERMS]; \
        if (di == 1 && run_of(io, ni) == ni) { \
            for (int64_t p = 0; p < np; p++) \
                onax_kernels_##t[ONAX_OP_to_f32](d + p * dp, s + io[0] + po[p], NULL, NULL, ni); \
            return; } \
        if (run_of(po, np) < 8) { t##_one_by_one(dst, di, dp, src, io, ni, po, np); return; } \
        for (int64_t i = 0; i < TILE; i++) to_io[i] = i * TILE_TERMS; \
        for (int64_t p = 0; p < TILE_TERMS; p++) to_po[p] = p; \
        for (int64_t p = 0, run; p < np; p += run) { \
            run = run_of(po + p, np - p < TILE_TERMS ? np - p : TILE_TERMS); \
            for (int64_t i = 0; i < ni; i += TILE) { \
                const int64_t rows = ni - i < TILE ? ni - i : TILE; \
                for (int64_t r = 0; r < rows; r++) \
                    onax_kernels_##t[ONAX_OP_to_f32](tile + to_io[r], s + io[i + r] + po[p], NULL, NULL, run); \
                f32_as_f32(d + i * di + p * dp, di, dp, tile, to_io, rows, to_po, run); } } }
PACK_HALVES(f16) PACK_HALVES(bf16)
PACK_INTEGERS(i8, int8_t) PACK_INTEGERS(u8, uint8_t) PACK_INTEGERS(i16, int16_t) PACK_INTEGERS(u16, uint16_t)
PACK_INTEGERS(i32, int32_t) PACK_INTEGERS(u32, uint32_t) PACK_INTEGERS(i64, int64_t) PACK_INTEGERS(u64, uint64_t)
PACK(bool_as_f32, uint8_t, float, x != 0, 0) PACK(bool_as_f64, uint8_t, double, x != 0, 0)
PACK(bool_as_u32, uint8_t, uint32_t, x != 0, 0) PACK(bool_as_u64, uint8_t, uint64_t, x != 0, 0)

/* Groups of G terms as 32 bits, `value` in 32 / G bits of each. */
#define PACK_GROUPS(name, S, G, value) \
    ONAX_CLONES static void name(void *dst, int64_t di, int64_t dp, const void *src, const int64_t *io, int64_t ni, \
                                 const int64_t *po, int64_t np) { \
        const S *s = src; \
        uint32_t *d = dst; \
        const uint32_t mask = G == 4 ? 0xff : 0xffff; \
        int64_t p = 0; \
        for (; p + G <= np; p += G, d += dp) { \
            const int64_t p0 = po[p], p1 = po[p + 1], p2 = po[p + G / 2], p3 = po[p + G - 1]; \
            const int along_i = di == 1 && io[ni - 1] - io[0] == ni - 1 && run_of(io, ni) == ni; \
            const S *from = s + io[0]; \
            if (along_i && G == 2) \
                for (int64_t i = 0; i < ni; i++) { \
                    const uint32_t x = (uint32_t)ONE(value, from[p0 + i]), y = (uint32_t)ONE(value, from[p1 + i]); \
                    d[i] = (x & mask) | y << 16; } \
            else if (along_i) \
                for (int64_t i = 0; i < ni; i++) { \
                    const uint32_t x = (uint32_t)ONE(value, from[p0 + i]), y = (uint32_t)ONE(value, from[p1 + i]); \
                    const uint32_t z = (uint32_t)ONE(value, from[p2 + i]), w = (uint32_t)ONE(value, from[p3 + i]); \
                    d[i] = (x & 255) | (y & 255) << 8 | (z & 255) << 16 | w << 24; } \
            else \
                for (int64_t i = 0; i < ni; i++) { \
                    const S *at = s + io[i]; \
                    const uint32_t x = (uint32_t)ONE(value, at[p0]), y = (uint32_t)ONE(value, at[p1]); \
                    if (G == 2) d[i * di] = (x & mask) | y << 16; \
                    else { \
                        const uint32_t z = (uint32_t)ONE(value, at[p2]), w = (uint32_t)ONE(value, at[p3]); \
                        d[i * di] = (x & 255) | (y & 255) << 8 | (z & 255) << 16 | w << 24; } } } \
        for (int64_t i = 0; i < ni && p < np; i++) { \
            uint32_t group = 0; \
            for (int64_t q = p; q < np; q++) \
                group |= ((uint32_t)ONE(value, s[io[i] + po[q]]) & mask) << (q - p) * (32 / G); \
            d[i * di] = group; } }
#define ONE(value, element) value(element)
#define SAME(x) (x)
#define IS_SET(x) ((x) != 0)
#define SHIFTED(x) ((x) ^ 0x80)
PACK_GROUPS(i8_pairs, int8_t, 2, SAME) PACK_GROUPS(u8_pairs, uint8_t, 2, SAME) PACK_GROUPS(i16_pairs, int16_t, 2, SAME)
PACK_GROUPS(bool_pairs, uint8_t, 2, IS_SET) PACK_GROUPS(bf16_pairs, uint16_t, 2, SAME)
PACK_GROUPS(i8_left, int8_t, 4, SHIFTED) PACK_GROUPS(i8_right, int8_t, 4, SAME)

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
    if (work == ONAX_WORK_I8) return type != ONAX_I8 ? NULL : side ? i8_right : i8_left;
    if (work == ONAX_WORK_BF16) return type == ONAX_BF16 ? bf16_pairs : NULL;
    if (work == ONAX_WORK_I16)
        return type == ONAX_I8 ? i8_pairs : type == ONAX_U8 ? u8_pairs : type == ONAX_I16 ? i16_pairs
             : type == ONAX_BOOL ? bool_pairs : NULL;
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
    UNPACK(i32_to_##t, int32_t, D, x, (uint64_t)*to + (uint64_t)(int64_t)x) \
    UNPACK(u64_to_##t, uint64_t, D, x, (uint64_t)*to + x)

UNPACK_FLOAT(f32_to_f32, float, float, x) UNPACK_FLOAT(f32_to_f64, float, double, x)
UNPACK_FLOAT(f64_to_f32, double, float, x) UNPACK_FLOAT(f64_to_f64, double, double, x)
UNPACK_FLOAT(f32_to_f16_one_by_one, float, uint16_t, onax_to_f16(x)) UNPACK_FLOAT(f64_to_f16, double, uint16_t, onax_to_f16(onax_round_to_odd(x)))
UNPACK_FLOAT(f32_to_bf16_one_by_one, float, uint16_t, onax_to_bf16(x))
UNPACK_FLOAT(f64_to_bf16, double, uint16_t, onax_to_bf16((float)x))
#define UNPACK_HALVES(t) \
    static void f32_to_##t(void *dst, const int64_t *io, int64_t ni, const int64_t *jo, int64_t nj, const void *src, \
                           int64_t si, int more) { \
        if (run_of(jo, nj) < nj) { f32_to_##t##_one_by_one(dst, io, ni, jo, nj, src, si, more); return; } \
        for (int64_t i = 0; i < ni; i++) \
            onax_kernels_f32[ONAX_OP_to_##t]((uint16_t *)dst + io[i] + jo[0], (const float *)src + i * si, NULL, NULL, nj); }
UNPACK_HALVES(f16) UNPACK_HALVES(bf16)
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

#define BACK(t) {f32_to_##t, f64_to_##t, u32_to_##t, u64_to_##t, i32_to_##t}
static const onax_unpack unpackers[ONAX_TYPES][5] = {
    [ONAX_F32] = {f32_to_f32, f64_to_f32, 0, 0}, [ONAX_F64] = {f32_to_f64, f64_to_f64, 0, 0},
    [ONAX_F16] = {f32_to_f16, f64_to_f16, 0, 0}, [ONAX_BF16] = {f32_to_bf16, f64_to_bf16, 0, 0},
    [ONAX_C64] = {parts_to_c64, 0, 0, 0}, [ONAX_C128] = {0, parts_to_c128, 0, 0},
    [ONAX_BOOL] = {f32_to_bool, 0, 0, 0}, [ONAX_I8] = BACK(i8), [ONAX_U8] = BACK(u8), [ONAX_I16] = BACK(i16),
    [ONAX_U16] = BACK(u16), [ONAX_I32] = BACK(i32), [ONAX_U32] = BACK(u32), [ONAX_I64] = BACK(i64),
    [ONAX_U64] = BACK(u64),
};

onax_unpack onax_unpacker(int64_t type, int work) {
    if (work == ONAX_WORK_BF16) work = ONAX_WORK_F32;
    if (work == ONAX_WORK_I8) work = ONAX_WORK_I16;
    return type < 0 || type >= ONAX_TYPES ? NULL : unpackers[type][work];
}
