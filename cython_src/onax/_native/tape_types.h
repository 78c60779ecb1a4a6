/* Element types of tapes that C does not have: arrays of float16 and bfloat16 as bits, complex numbers as pairs; and sizes
   that are multiplied without overflow. */
#ifndef ONAX_TAPE_TYPES_H
#define ONAX_TAPE_TYPES_H

#include "blocks_halves.h"
#include "tape_machine.h"
#include "vector_code.h"

/* A loop over i whose steps are independent. */
#if defined(__GNUC__) && !defined(__clang__)
#define ONAX_OVER(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)
#else
#define ONAX_OVER(i, n) for (int64_t i = 0; i < (n); i++)
#endif

typedef struct { float re, im; } onax_c64;
typedef struct { double re, im; } onax_c128;

/* Floats of two bytes to float32 and back, element by element. */
void onax_widen(int64_t type, const uint16_t *from, float *to, int64_t n);
void onax_narrow(int64_t type, const float *from, uint16_t *to, int64_t n);

static inline int onax_is_half(int64_t type) { return type == ONAX_F16 || type == ONAX_BF16; }

/* The product of two sizes; -1 if one is negative or the product exceeds 2**40. */
static inline int64_t onax_product(int64_t a, int64_t b) {
    const int64_t most = INT64_C(1) << 40;
    if (a < 0 || b < 0 || a > most || b > most) return -1;
    return b && a > most / b ? -1 : a * b;
}

/* The bytes of an array of a type; -1 if there is no such type or size. */
static inline int64_t onax_array_bytes(int64_t type, int64_t elements) {
    const int64_t size = onax_size_of(type);
    return size ? onax_product(elements, size) : -1;
}

#endif
