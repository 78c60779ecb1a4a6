/* The combinations of scatters; tape_scatter.h says what they are. */
#include "vector_code.h"

#include "tape_machine.h"
#include "tape_scatter.h"

#include <string.h>

#include "blocks_halves.h"

/* T: how elements are stored; C: what they are computed in; from_(x) and back(x) lead from one to the other.  Elements
   may lie at any address. */
#define COMBINE_BYTES(T, C, from_, back, expression, to, from) do { \
        T old, new; \
        memcpy(&old, to, sizeof old); \
        memcpy(&new, from, sizeof new); \
        const C x = from_(old), y = from_(new); \
        old = back(expression); \
        memcpy(to, &old, sizeof old); } while (0)
#if defined(__GNUC__)     /* by memcpy, numbers go through registers of integers: maxima take half as long again */
#define COMBINE_NUMBERS(T, C, from_, back, expression, to, from) do { \
        typedef T anywhere __attribute__((aligned(1), may_alias)); \
        const T old = *(const anywhere *)(to), new = *(const anywhere *)(from); \
        const C x = from_(old), y = from_(new); \
        *(anywhere *)(to) = back(expression); } while (0)
#else
#define COMBINE_NUMBERS COMBINE_BYTES
#endif

#define COMBINE_INDEXED(COMBINE_ONE, T, C, from_, back, expression, i, wrap) do { \
        int32_t at; \
        memcpy(&at, indices + 4 * (i), sizeof at); \
        at += (at >> 31) & (wrap); \
        if ((uint32_t)at <= (uint32_t)largest) \
            COMBINE_ONE(T, C, from_, back, expression, to + at * (int64_t)sizeof(T), from + (i) * (int64_t)sizeof(T)); } while (0)

#define DEFINE_COMBINE(name, T, C, from_, back, expression) DEFINE_COMBINE_BY(COMBINE_NUMBERS, name, T, C, from_, back, expression)
#define DEFINE_COMBINE_BY(COMBINE_ONE, name, T, C, from_, back, expression) \
    static void elements_##name(char *to, int64_t step, const int64_t *at, const char *from, int64_t from_step, int64_t n) { \
        int64_t i = 0; \
        if (!step && from_step == (int64_t)sizeof(T)) \
            for (; i + 4 <= n && (at[i] | at[i + 1] | at[i + 2] | at[i + 3]) >= 0; i += 4, from += 4 * sizeof(T)) { \
                COMBINE_ONE(T, C, from_, back, expression, to + at[i], from); \
                COMBINE_ONE(T, C, from_, back, expression, to + at[i + 1], from + sizeof(T)); \
                COMBINE_ONE(T, C, from_, back, expression, to + at[i + 2], from + 2 * sizeof(T)); \
                COMBINE_ONE(T, C, from_, back, expression, to + at[i + 3], from + 3 * sizeof(T)); } \
        for (to += i * step; i < n; i++, to += step, from += from_step) \
            if (at[i] >= 0) COMBINE_ONE(T, C, from_, back, expression, to + at[i], from); } \
    static void indexed_##name(char *to, const char *indices, int32_t wrap, int32_t largest, const char *from, int64_t n) { \
        int64_t i = 0; \
        for (; !wrap && i + 4 <= n; i += 4) { \
            COMBINE_INDEXED(COMBINE_ONE, T, C, from_, back, expression, i, 0); \
            COMBINE_INDEXED(COMBINE_ONE, T, C, from_, back, expression, i + 1, 0); \
            COMBINE_INDEXED(COMBINE_ONE, T, C, from_, back, expression, i + 2, 0); \
            COMBINE_INDEXED(COMBINE_ONE, T, C, from_, back, expression, i + 3, 0); } \
        for (; i < n; i++) COMBINE_INDEXED(COMBINE_ONE, T, C, from_, back, expression, i, wrap); } \
    ONAX_CLONES static void packed_##name(char *to, const char *from, int64_t n) { \
        ONAX_EACH COMBINE_ONE(T, C, from_, back, expression, to + i * (int64_t)sizeof(T), from + i * (int64_t)sizeof(T)); } \
    static void row_##name(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) { \
        if (to_step == (int64_t)sizeof(T) && from_step == (int64_t)sizeof(T)) packed_##name(to, from, n); \
        else for (int64_t i = 0; i < n; i++, to += to_step, from += from_step) \
            COMBINE_ONE(T, C, from_, back, expression, to, from); }

#define SAME(x) (x)
#define DEFINE_WRAPPING(w, T, C) \
    DEFINE_COMBINE(add_##w, T, C, SAME, (T), (C)(x + y)) \
    DEFINE_COMBINE(sub_##w, T, C, SAME, (T), (C)(x - y)) \
    DEFINE_COMBINE(mul_##w, T, C, SAME, (T), (C)(x * y))
DEFINE_WRAPPING(8, uint8_t, uint32_t)
DEFINE_WRAPPING(16, uint16_t, uint32_t)
DEFINE_WRAPPING(32, uint32_t, uint32_t)
DEFINE_WRAPPING(64, uint64_t, uint64_t)

#define DEFINE_ORDER(t, T) \
    DEFINE_COMBINE(min_##t, T, T, SAME, SAME, x <= y ? x : y) \
    DEFINE_COMBINE(max_##t, T, T, SAME, SAME, x >= y ? x : y)
DEFINE_ORDER(i8, int8_t) DEFINE_ORDER(u8, uint8_t) DEFINE_ORDER(i16, int16_t) DEFINE_ORDER(u16, uint16_t)
DEFINE_ORDER(i32, int32_t) DEFINE_ORDER(u32, uint32_t) DEFINE_ORDER(i64, int64_t) DEFINE_ORDER(u64, uint64_t)

/* NaN if one of them is.  The processor guesses whether y is NaN, which is rare, but not which is the larger: a wrong
   guess would hold up the loads that follow. */
#if defined(__GNUC__)
#define IS_RARE(x) __builtin_expect(x, 0)
#else
#define IS_RARE(x) (x)
#endif
#define SMALLER(x, y) (IS_RARE(y != y) ? (x != x ? x : y) : (y < x ? y : x))
#define LARGER(x, y) (IS_RARE(y != y) ? (x != x ? x : y) : (y > x ? y : x))

#define DEFINE_FLOAT(t, T, C, from_, back) \
    DEFINE_COMBINE(add_##t, T, C, from_, back, x + y) \
    DEFINE_COMBINE(sub_##t, T, C, from_, back, x - y) \
    DEFINE_COMBINE(mul_##t, T, C, from_, back, x * y) \
    DEFINE_COMBINE(min_##t, T, C, from_, back, SMALLER(x, y)) \
    DEFINE_COMBINE(max_##t, T, C, from_, back, LARGER(x, y))
DEFINE_FLOAT(f32, float, float, SAME, SAME)
DEFINE_FLOAT(f64, double, double, SAME, SAME)
DEFINE_FLOAT(f16, uint16_t, float, onax_from_f16, onax_to_f16)
DEFINE_FLOAT(bf16, uint16_t, float, onax_from_bf16, onax_to_bf16)

typedef struct { float real, imaginary; } c64;
typedef struct { double real, imaginary; } c128;
#define DEFINE_COMPLEX(t) \
    DEFINE_COMBINE_BY(COMBINE_BYTES, add_##t, t, t, SAME, SAME, ((t){x.real + y.real, x.imaginary + y.imaginary})) \
    DEFINE_COMBINE_BY(COMBINE_BYTES, sub_##t, t, t, SAME, SAME, ((t){x.real - y.real, x.imaginary - y.imaginary})) \
    DEFINE_COMBINE_BY(COMBINE_BYTES, mul_##t, t, t, SAME, SAME, \
        ((t){x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real}))
DEFINE_COMPLEX(c64)
DEFINE_COMPLEX(c128)

DEFINE_COMBINE(or_bool, uint8_t, uint8_t, SAME, SAME, x | y)
DEFINE_COMBINE(and_bool, uint8_t, uint8_t, SAME, SAME, x & y)

#define NONE {0, 0, 0}
#define PAIR(name) {elements_##name, indexed_##name, row_##name}
#define ARITHMETIC(w) NONE, PAIR(add_##w), PAIR(sub_##w), PAIR(mul_##w)
#define INTEGER(w, t) {ARITHMETIC(w), PAIR(min_##t), PAIR(max_##t)}

static const onax_combine combinations[ONAX_TYPES][ONAX_COMBINATIONS] = {
    [ONAX_F32] = INTEGER(f32, f32), [ONAX_F64] = INTEGER(f64, f64), [ONAX_F16] = INTEGER(f16, f16),
    [ONAX_BF16] = INTEGER(bf16, bf16),
    [ONAX_I8] = INTEGER(8, i8), [ONAX_U8] = INTEGER(8, u8), [ONAX_I16] = INTEGER(16, i16), [ONAX_U16] = INTEGER(16, u16),
    [ONAX_I32] = INTEGER(32, i32), [ONAX_U32] = INTEGER(32, u32), [ONAX_I64] = INTEGER(64, i64),
    [ONAX_U64] = INTEGER(64, u64),
    [ONAX_C64] = {ARITHMETIC(c64), NONE, NONE}, [ONAX_C128] = {ARITHMETIC(c128), NONE, NONE},
    [ONAX_BOOL] = {NONE, PAIR(or_bool), NONE, PAIR(and_bool), PAIR(and_bool), PAIR(or_bool)},
};

int onax_combine_of(int64_t how, int64_t type, onax_combine *combine) {
    if (how < 0 || how >= ONAX_COMBINATIONS || type < 0 || type >= ONAX_TYPES) return 0;
    *combine = combinations[type][how];
    return combine->row != NULL;
}
