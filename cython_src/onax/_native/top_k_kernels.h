/* The largest of many numbers of four bytes, in the total order of their bits, and where they are. */
#ifndef ONAX_TOP_KERNELS_H
#define ONAX_TOP_KERNELS_H

#include <stdint.h>

enum onax_top_type { ONAX_TOP_FLOAT, ONAX_TOP_SIGNED, ONAX_TOP_UNSIGNED };

/* A number and its place in one: larger for what comes first in the result. */
typedef uint64_t onax_ranked;

/* How many of the numbers `from` ... `to` - 1 of a row it leaves in `room`, k at most, in no order.  `room` has
   onax_top_room(k) places. */
int64_t onax_top_room(int64_t k);
int64_t onax_top_find(const uint32_t *row, int64_t from, int64_t to, int64_t k, int type, onax_ranked *room);
/* The k first of `count` ranked numbers, in order, as numbers and places.  `found` is left in another order. */
void onax_top_give(const uint32_t *row, onax_ranked *found, int64_t count, int64_t k, uint32_t *values, int32_t *places);
/* The same, slowly, where there is no memory. */
void onax_top_without_room(const uint32_t *row, int64_t n, int64_t k, int type, uint32_t *values, int32_t *places);

#endif
