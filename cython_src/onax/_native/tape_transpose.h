/* Squares of elements, transposed in vectors, where the compiler has shuffles (ONAX_HAS_SHUFFLES).

   A square of ONAX_SIDE(T) elements on a side is read in halves of 16 bytes.  A vector of 32 bytes holds half of one row and
   of one further down, so that elements only move within 16 bytes: these moves take one cycle, others three.  Then rows
   half a square apart are interleaved, which is one instruction for every width of elements, until the square is turned. */
#ifndef ONAX_TAPE_TRANSPOSE_H
#define ONAX_TAPE_TRANSPOSE_H

#include <stdint.h>
#include <string.h>

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define ONAX_HAS_SHUFFLES

#define ONAX_BOTH_OF_8 0, 1, 2, 3
#define ONAX_LOW_OF_8 0, 4, 2, 6
#define ONAX_HIGH_OF_8 1, 5, 3, 7
#define ONAX_BOTH_OF_4 0, 1, 2, 3, 4, 5, 6, 7
#define ONAX_LOW_OF_4 0, 8, 1, 9, 4, 12, 5, 13
#define ONAX_HIGH_OF_4 2, 10, 3, 11, 6, 14, 7, 15
#define ONAX_BOTH_OF_2 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define ONAX_LOW_OF_2 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27
#define ONAX_HIGH_OF_2 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31
#define ONAX_LOW_OF_1 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ONAX_HIGH_OF_1 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

/* Each loop over the vectors of a square becomes its steps, so that they are registers. */
#if defined(__clang__)
#define ONAX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ONAX_UNROLL _Pragma("GCC unroll 16")
#endif

/* Rows k and k + half of `half` vectors become rows 2 k and 2 k + 1. */
#define ONAX_INTERLEAVE(V, r, n, low, high) \
    ONAX_UNROLL for (int distance = 1; distance < (n); distance *= 2) { \
        V turned[n]; \
        ONAX_UNROLL for (int k = 0; k < (n) / 2; k++) { \
            turned[2 * k] = __builtin_shufflevector(r[k], r[k + (n) / 2], low); \
            turned[2 * k + 1] = __builtin_shufflevector(r[k], r[k + (n) / 2], high); } \
        ONAX_UNROLL for (int k = 0; k < (n); k++) r[k] = turned[k]; }

#define ONAX_DEFINE_SQUARE(size, T) \
    typedef T onax_half_row_##size __attribute__((vector_size(16))); \
    typedef T onax_row_##size __attribute__((vector_size(32))); \
    typedef onax_half_row_##size onax_half_row_anywhere_##size __attribute__((aligned(1), may_alias)); \
    typedef onax_row_##size onax_row_anywhere_##size __attribute__((aligned(1), may_alias)); \
    static inline __attribute__((always_inline)) void onax_transpose_square_##size(char *to, int64_t to_row, const char *from, \
                                                                                   int64_t from_row) { \
        enum { HALF = 16 / size }; \
        ONAX_UNROLL for (int column = 0; column < 2 * HALF; column += HALF) { \
            onax_row_##size r[HALF]; \
            ONAX_UNROLL for (int k = 0; k < HALF; k++) { \
                const char *at = from + column * size + k * from_row; \
                const onax_half_row_##size one = *(const onax_half_row_anywhere_##size *)at; \
                const onax_half_row_##size other = *(const onax_half_row_anywhere_##size *)(at + HALF * from_row); \
                r[k] = __builtin_shufflevector(one, other, ONAX_BOTH_OF_##size); } \
            ONAX_INTERLEAVE(onax_row_##size, r, HALF, ONAX_LOW_OF_##size, ONAX_HIGH_OF_##size) \
            ONAX_UNROLL for (int k = 0; k < HALF; k++) *(onax_row_anywhere_##size *)(to + (column + k) * to_row) = r[k]; } }
ONAX_DEFINE_SQUARE(8, uint64_t)
ONAX_DEFINE_SQUARE(4, uint32_t)
ONAX_DEFINE_SQUARE(2, uint16_t)

/* Bytes: sixteen rows of 16. */
typedef uint8_t onax_row_1 __attribute__((vector_size(16)));
static inline __attribute__((always_inline)) void onax_transpose_square_1(char *to, int64_t to_row, const char *from, int64_t from_row) {
    onax_row_1 r[16];
    ONAX_UNROLL for (int k = 0; k < 16; k++) memcpy(&r[k], from + k * from_row, 16);
    ONAX_INTERLEAVE(onax_row_1, r, 16, ONAX_LOW_OF_1, ONAX_HIGH_OF_1)
    ONAX_UNROLL for (int k = 0; k < 16; k++) memcpy(to + k * to_row, &r[k], 16);
}
#endif

/* Elements on a side of the square of a width of 1 to 8 bytes. */
#define ONAX_SIDE(size) ((size) == 1 ? 16 : 32 / (size))

#endif
