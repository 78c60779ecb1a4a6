/* How a scatter combines what is there with updates. */
#ifndef ONAX_TAPE_SCATTER_H
#define ONAX_TAPE_SCATTER_H

#include <stdint.h>

enum combination { ONAX_PUT, ONAX_ADD, ONAX_SUB, ONAX_MUL, ONAX_MIN, ONAX_MAX, ONAX_COMBINATIONS };

typedef struct {
    /* Elements one after the other: element i at `to` + i * step + at[i], unless at[i] is negative. */
    void (*elements)(char *to, int64_t step, const int64_t *at, const char *from, int64_t from_step, int64_t n);
    /* Elements side by side to those at indices of int32, of which negative ones have `wrap` added; those above `largest`, or
       still negative, are left out. */
    void (*indexed)(char *to, const char *indices, int32_t wrap, int32_t largest, const char *from, int64_t n);
    /* A row of different elements. */
    void (*row)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);
} onax_combine;

/* Whether elements of a type are combined so, and by what.  Integers wrap; float16 and bfloat16 are computed in float32
   and rounded each time; the smaller and the larger of two are NaN if one is. */
int onax_combine_of(int64_t how, int64_t type, onax_combine *combine);

#endif
