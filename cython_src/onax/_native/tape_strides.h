/* Copies of a grid of elements from strided places to strided places.

   A grid has up to ONAX_MOST_RANK axes; each has a length and two strides, in elements, which may be 0 or negative.
   Axes are merged and ordered once, when the copy is made, and the loop for them is chosen. */
#ifndef ONAX_TAPE_STRIDES_H
#define ONAX_TAPE_STRIDES_H

#include <stdint.h>
#include <string.h>

#include "tape_machine.h"

#define ONAX_MOST_RANK 16
#define ONAX_MOST_WIDTH 65536
#define ONAX_FARTHEST ((int64_t)1 << 56)   /* bytes: sums of ONAX_MOST_RANK such distances do not overflow */

/* memmove, whatever lies between the two modulo the size of a page (tape_strides.c). */
void onax_copy_bytes(char *to, const char *from, int64_t bytes);

typedef struct onax_strided_copy onax_strided_copy;
struct onax_strided_copy {
    void (*run)(const onax_strided_copy *c, char *to, const char *from);
    void (*inner)(const onax_strided_copy *c, char *to, const char *from);   /* the last two axes */
    int64_t width;             /* bytes of an element */
    int64_t bytes;             /* bytes that are written */
    int rank;                  /* after merging; an empty grid has none */
    int64_t dims[ONAX_MOST_RANK], to[ONAX_MOST_RANK], from[ONAX_MOST_RANK];   /* strides in bytes */
    int64_t to_low, to_high, from_low, from_high;   /* bytes that are touched, from the start on: low <= ... < high */
};

/* Writes n elements of each of 2 to 4 sources side by side, in turn; NULL if there is no loop for so many of this width. */
typedef void (*onax_interleaving)(char *to, const char *const *from, int64_t n);
onax_interleaving onax_interleaving_of(int64_t width, int64_t count);

/* Makes a copy from words: for each axis its length, and the strides of where it goes to and comes from.  Gives NULL, or
   what is wrong with them. */
const char *onax_strided_copy_make(onax_strided_copy *c, int64_t width, int64_t rank, const int64_t *axes);

/* Whether the bytes low ... high - 1, counted from `start`, lie within so many bytes. */
static inline int onax_is_inside(int64_t start, int64_t low, int64_t high, int64_t bytes) {
    return start >= -ONAX_FARTHEST && start <= ONAX_FARTHEST && start + low >= 0 && start + high <= bytes;
}

/* Whether a type can be that of an index. */
static inline int onax_is_index(int64_t type) {
    return type == ONAX_I32 || type == ONAX_I64 || type == ONAX_U32 || type == ONAX_U64 || type == ONAX_I8
        || type == ONAX_U8 || type == ONAX_I16 || type == ONAX_U16;
}

#define ONAX_READ_AS(T) { T x; memcpy(&x, p, sizeof x); return (int64_t)x; }

/* An index, which may lie at any address; one that is too large for 64 signed bits is out of bounds in any case. */
static inline int64_t onax_read_index(const char *p, int64_t type) {
    uint64_t x;
    switch (type) {
        case ONAX_I32: ONAX_READ_AS(int32_t)
        case ONAX_U32: ONAX_READ_AS(uint32_t)
        case ONAX_I8: ONAX_READ_AS(int8_t)
        case ONAX_U8: ONAX_READ_AS(uint8_t)
        case ONAX_I16: ONAX_READ_AS(int16_t)
        case ONAX_U16: ONAX_READ_AS(uint16_t)
        default:
            memcpy(&x, p, sizeof x);
            return type == ONAX_U64 && x > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)x;
    }
}

static inline int64_t onax_nearest_index(int64_t x, int64_t largest) {
    const int64_t y = x < 0 ? 0 : x;
    return y > largest ? largest : y;
}

/* How many parts are worth a thread each, and one of them. */
int64_t onax_strided_copy_parts(const onax_strided_copy *c);
void onax_strided_copy_run_part(const onax_strided_copy *c, char *to, const char *from, int64_t part, int64_t parts);

/* Nanoseconds that a run is guessed to take. */
double onax_strided_copy_work(const onax_strided_copy *c);

#endif
