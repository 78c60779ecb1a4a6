/* Squares of elements, transposed in vectors: ONAX_TRANSPOSE_8(r) for an array r of eight vectors of eight elements,
   ONAX_TRANSPOSE_16(r) for sixteen of sixteen, where the compiler has shuffles. */
#ifndef ONAX_TAPE_TRANSPOSE_H
#define ONAX_TAPE_TRANSPOSE_H

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
/* As many rows as a vector has elements: for each distance d, parts of rows that lie d apart change places. */
#define ONAX_EXCHANGE(a, b, low, high) do { \
        const __typeof__(a) x = a, y = b; \
        a = __builtin_shufflevector(x, y, low); \
        b = __builtin_shufflevector(x, y, high); } while (0)
#define ONAX_LOW_8_BY_4 0, 1, 2, 3, 8, 9, 10, 11
#define ONAX_HIGH_8_BY_4 4, 5, 6, 7, 12, 13, 14, 15
#define ONAX_LOW_8_BY_2 0, 1, 8, 9, 4, 5, 12, 13
#define ONAX_HIGH_8_BY_2 2, 3, 10, 11, 6, 7, 14, 15
#define ONAX_LOW_8_BY_1 0, 8, 2, 10, 4, 12, 6, 14
#define ONAX_HIGH_8_BY_1 1, 9, 3, 11, 5, 13, 7, 15
#define ONAX_TRANSPOSE_8(r) do { \
        for (int k = 0; k < 4; k++) ONAX_EXCHANGE(r[k], r[k + 4], ONAX_LOW_8_BY_4, ONAX_HIGH_8_BY_4); \
        for (int k = 0; k < 8; k++) if (!(k & 2)) ONAX_EXCHANGE(r[k], r[k + 2], ONAX_LOW_8_BY_2, ONAX_HIGH_8_BY_2); \
        for (int k = 0; k < 8; k += 2) ONAX_EXCHANGE(r[k], r[k + 1], ONAX_LOW_8_BY_1, ONAX_HIGH_8_BY_1); } while (0)

#define ONAX_LOW_16_BY_8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define ONAX_HIGH_16_BY_8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#define ONAX_LOW_16_BY_4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define ONAX_HIGH_16_BY_4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define ONAX_LOW_16_BY_2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define ONAX_HIGH_16_BY_2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define ONAX_LOW_16_BY_1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define ONAX_HIGH_16_BY_1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#define ONAX_TRANSPOSE_16(r) do { \
        for (int k = 0; k < 8; k++) ONAX_EXCHANGE(r[k], r[k + 8], ONAX_LOW_16_BY_8, ONAX_HIGH_16_BY_8); \
        for (int k = 0; k < 16; k++) if (!(k & 4)) ONAX_EXCHANGE(r[k], r[k + 4], ONAX_LOW_16_BY_4, ONAX_HIGH_16_BY_4); \
        for (int k = 0; k < 16; k++) if (!(k & 2)) ONAX_EXCHANGE(r[k], r[k + 2], ONAX_LOW_16_BY_2, ONAX_HIGH_16_BY_2); \
        for (int k = 0; k < 16; k += 2) ONAX_EXCHANGE(r[k], r[k + 1], ONAX_LOW_16_BY_1, ONAX_HIGH_16_BY_1); } while (0)
#endif

#endif
