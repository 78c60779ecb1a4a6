/* A number that is not above the k-th largest so far is passed over, many at a time; the others are collected, and as
   soon as there is no more room the k largest of them are kept. */
#include "top_k_kernels.h"

#include <stdlib.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define ONAX_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define ONAX_CLONES
#endif

#define TOGETHER 64            /* numbers that are looked at before one is */
#define LEAST_ROOM 64
#define FEW 16

/* A number as one whose order as a signed integer is the order asked for. */
static inline int32_t key_of(uint32_t bits, int type) {
    if (type == ONAX_TOP_FLOAT) return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) >> 1));
    return (int32_t)(type == ONAX_TOP_SIGNED ? bits : bits ^ 0x80000000u);
}

static inline onax_ranked ranked(int32_t key, int64_t place) {
    return (onax_ranked)((uint32_t)key ^ 0x80000000u) << 32 | (uint32_t)~(uint32_t)place;
}

static inline int64_t place_of(onax_ranked x) { return (int64_t)(uint32_t)~(uint32_t)x; }

#define ONAX_ABOVE(name, type) \
    ONAX_CLONES static int name(const uint32_t *x, int32_t least) { \
        uint32_t found = 0; \
        for (int i = 0; i < TOGETHER; i++) found |= (uint32_t)(key_of(x[i], type) > least); \
        return found != 0; }
ONAX_ABOVE(above_float, ONAX_TOP_FLOAT)
ONAX_ABOVE(above_signed, ONAX_TOP_SIGNED)
ONAX_ABOVE(above_unsigned, ONAX_TOP_UNSIGNED)

static int descending(const void *a, const void *b) {
    const onax_ranked x = *(const onax_ranked *)a, y = *(const onax_ranked *)b;
    return (x < y) - (x > y);
}

static void swap(onax_ranked *a, onax_ranked *b) { const onax_ranked x = *a; *a = *b; *b = x; }

/* The k largest go to the front, in no order.  No two are the same. */
static void select_first(onax_ranked *x, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    for (int rounds = 0; low < high; rounds++) {
        int64_t middle = low + (high - low) / 2, i = low, j = high;
        onax_ranked pivot;
        if (rounds > 64) {      /* an unlucky order */
            qsort(x + low, (size_t)(high - low + 1), sizeof *x, descending);
            return;
        }
        if (x[middle] > x[low]) swap(&x[middle], &x[low]);
        if (x[high] > x[low]) swap(&x[high], &x[low]);
        if (x[high] > x[middle]) swap(&x[high], &x[middle]);
        pivot = x[middle];
        while (i <= j) {
            while (x[i] > pivot) i++;
            while (x[j] < pivot) j--;
            if (i <= j) swap(&x[i++], &x[j--]);
        }
        if (k - 1 <= j) high = j;
        else if (k - 1 >= i) low = i;
        else return;
    }
}

int64_t onax_top_room(int64_t k) { return (2 * k > LEAST_ROOM ? 2 * k : LEAST_ROOM) + TOGETHER; }

static int32_t key_in(onax_ranked x) { return (int32_t)((uint32_t)(x >> 32) ^ 0x80000000u); }

static int is_any_above(const uint32_t *x, int32_t least, int type) {
    return type == ONAX_TOP_FLOAT ? above_float(x, least)
         : type == ONAX_TOP_SIGNED ? above_signed(x, least) : above_unsigned(x, least);
}

/* Of few the k largest are kept in order all the time. */
static int64_t find_few(const uint32_t *row, int64_t from, int64_t to, int64_t k, int type, onax_ranked *room) {
    int64_t count = 0;
    int32_t least = INT32_MIN;
    for (int64_t at = from; at < to; at += TOGETHER) {
        const int64_t end = at + TOGETHER < to ? at + TOGETHER : to;
        if (count == k && end - at == TOGETHER && !is_any_above(row + at, least, type)) continue;
        for (int64_t i = at; i < end; i++) {
            const int32_t key = key_of(row[i], type);
            onax_ranked new;
            int64_t j;
            if (count == k && key <= least) continue;
            new = ranked(key, i);
            for (j = count < k ? count++ : k - 1; j > 0 && room[j - 1] < new; j--) room[j] = room[j - 1];
            room[j] = new;
            least = key_in(room[count - 1]);
        }
    }
    return count;
}

int64_t onax_top_find(const uint32_t *row, int64_t from, int64_t to, int64_t k, int type, onax_ranked *room) {
    const int64_t full = onax_top_room(k) - TOGETHER;
    int64_t count = 0;
    int32_t least = INT32_MIN;
    int is_known = 0;           /* whether `least` is the k-th largest of those before */
    if (k <= 0) return 0;
    if (k <= FEW) return find_few(row, from, to, k, type, room);
    for (int64_t at = from; at < to; at += TOGETHER) {
        const int64_t end = at + TOGETHER < to ? at + TOGETHER : to;
        if (is_known && end - at == TOGETHER && !is_any_above(row + at, least, type)) continue;
        for (int64_t i = at; i < end; i++) {
            const int32_t key = key_of(row[i], type);
            room[count] = ranked(key, i);
            count += !is_known || key > least;
        }
        if (count < full) continue;
        select_first(room, count, k);
        count = k;
        is_known = 1;
        least = INT32_MAX;
        for (int64_t i = 0; i < k; i++) {
            if (key_in(room[i]) < least) least = key_in(room[i]);
        }
    }
    if (count > k) {
        select_first(room, count, k);
        count = k;
    }
    return count;
}

void onax_top_give(const uint32_t *row, onax_ranked *found, int64_t count, int64_t k, uint32_t *values, int32_t *places) {
    if (count > k) select_first(found, count, k);
    qsort(found, (size_t)k, sizeof *found, descending);
    for (int64_t i = 0; i < k; i++) {
        const int64_t place = place_of(found[i]);
        values[i] = row[place];
        places[i] = (int32_t)place;
    }
}

void onax_top_without_room(const uint32_t *row, int64_t n, int64_t k, int type, uint32_t *values, int32_t *places) {
    onax_ranked before = UINT64_MAX;
    for (int64_t j = 0; j < k; j++) {
        onax_ranked best = 0;
        for (int64_t i = 0; i < n; i++) {
            const onax_ranked x = ranked(key_of(row[i], type), i);
            /* the very first may be the largest number there is */
            if (x >= best && (x < before || j == 0)) best = x;
        }
        values[j] = row[place_of(best)];
        places[j] = (int32_t)place_of(best);
        before = best;
    }
}
