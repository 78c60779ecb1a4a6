/* The largest of many numbers of four bytes, in the total order of their bits, and where they are. */
#ifndef ONAX_TAPE_SORTING_H
#define ONAX_TAPE_SORTING_H

#include "tape_types.h"

/* Numbers of eight bytes that `onax_select_top` needs for k. */
int64_t onax_top_room(int64_t k);
/* The k largest of n numbers of the type f32, i32 or u32, k > 0, in descending order, of equal ones the first first. */
void onax_select_top(const uint32_t *row, int64_t n, int64_t k, int64_t type, uint64_t *room, uint32_t *values, int32_t *places);

#endif
