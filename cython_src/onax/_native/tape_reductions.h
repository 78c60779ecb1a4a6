/* Folds of rows and of columns by sum, product, maximum, minimum, and, or, xor.

   A row fold joins n neighbouring elements to one total; a column fold joins `rows` rows of n elements, a stride apart,
   to n totals.  Totals of float sums and products are float64; a row keeps several.  In sums of float32 and narrower types
   a few neighbours are added in float32 before: a term passes at most three such additions, and the total is rounded
   once, so the error is at most 4 * 2**-24 of the sum of all magnitudes, however many terms there are. */
#ifndef ONAX_TAPE_REDUCTIONS_H
#define ONAX_TAPE_REDUCTIONS_H

#include "tape_types.h"

enum onax_reduction { ONAX_SUM, ONAX_PROD, ONAX_MAX, ONAX_MIN, ONAX_AND, ONAX_OR, ONAX_XOR, ONAX_REDUCTIONS };

typedef struct {
    void (*start)(void *totals, int64_t n);
    void (*row)(void *total, const void *from, int64_t n);
    void (*rows)(void *to, const void *from, int64_t count, int64_t n);       /* of each row, finished; or NULL */
    void (*columns)(void *totals, const void *from, int64_t rows, int64_t stride, int64_t n);
    void (*merge)(void *totals, const void *others, int64_t rows, int64_t stride, int64_t n);  /* totals of other parts */
    void (*finish)(void *to, const void *totals, int64_t n);  /* NULL: totals are elements */
    void (*squares)(void *totals, const void *from, int64_t rows, int64_t stride, int64_t n);  /* columns of them; or NULL */
    int32_t size, total;                                      /* bytes of an element and of a total */
} onax_fold;

/* The folds of a type; float16 and bfloat16 are folded as float32.  NULL: there is none. */
const onax_fold *onax_fold_of(int64_t reduction, int64_t type);

#endif
