/* The largest numbers of a row: one that is not above the k-th largest so far is passed over, many at a time; the others are
   collected, and as soon as there is no more room the k largest of them are kept. */
#include "tape_sorting.h"

#define TOGETHER 64            /* numbers that are looked at before one is */
#define LEAST_ROOM 64
#define FEW 16

/* A number and its place in one: larger for what comes first in the result. */
typedef uint64_t ranked;

/* A number as one whose order as a signed integer is the order asked for. */
ONAX_INLINE int32_t key_of(uint32_t bits, int64_t type) {
    if (type == ONAX_F32) return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) >> 1));
    return (int32_t)(type == ONAX_I32 ? bits : bits ^ 0x80000000u);
}

ONAX_INLINE ranked rank_of(int32_t key, int64_t place) {
    return (ranked)((uint32_t)key ^ 0x80000000u) << 32 | (uint32_t)~(uint32_t)place;
}

ONAX_INLINE int64_t place_of(ranked x) { return (int64_t)(uint32_t)~(uint32_t)x; }
ONAX_INLINE int32_t key_in(ranked x) { return (int32_t)((uint32_t)(x >> 32) ^ 0x80000000u); }

#define ONAX_ABOVE(name, type) \
    ONAX_CLONES static int name(const uint32_t *x, int32_t least) { \
        uint32_t found = 0; \
        for (int i = 0; i < TOGETHER; i++) found |= (uint32_t)(key_of(x[i], type) > least); \
        return found != 0; }
ONAX_ABOVE(above_float, ONAX_F32)
ONAX_ABOVE(above_signed, ONAX_I32)
ONAX_ABOVE(above_unsigned, ONAX_U32)

static int is_any_above(const uint32_t *x, int32_t least, int64_t type) {
    return type == ONAX_F32 ? above_float(x, least) : type == ONAX_I32 ? above_signed(x, least) : above_unsigned(x, least);
}

static void swap(ranked *a, ranked *b) { const ranked x = *a; *a = *b; *b = x; }

/* The smallest of a heap is its first. */
static void sink(ranked *x, int64_t n, int64_t i) {
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && x[child + 1] < x[child]) child++;
        if (x[i] <= x[child]) return;
        swap(&x[i], &x[child]);
    }
}

static void sort_descending(ranked *x, int64_t n) {
    for (int64_t i = n / 2 - 1; i >= 0; i--) sink(x, n, i);
    for (int64_t i = n - 1; i > 0; i--) {
        swap(&x[0], &x[i]);
        sink(x, i, 0);
    }
}

/* The k largest go to the front, in no order.  No two are the same. */
static void select_first(ranked *x, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    for (int rounds = 0; low < high; rounds++) {
        int64_t middle = low + (high - low) / 2, i = low, j = high;
        ranked pivot;
        if (rounds > 64) {      /* an unlucky order */
            sort_descending(x + low, high - low + 1);
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

/* Of few the k largest are kept in order all the time. */
static int64_t find_few(const uint32_t *row, int64_t n, int64_t k, int64_t type, ranked *room) {
    int64_t count = 0;
    int32_t least = INT32_MIN;
    for (int64_t at = 0; at < n; at += TOGETHER) {
        const int64_t end = at + TOGETHER < n ? at + TOGETHER : n;
        if (count == k && end - at == TOGETHER && !is_any_above(row + at, least, type)) continue;
        for (int64_t i = at; i < end; i++) {
            const int32_t key = key_of(row[i], type);
            ranked new;
            int64_t j;
            if (count == k && key <= least) continue;
            new = rank_of(key, i);
            for (j = count < k ? count++ : k - 1; j > 0 && room[j - 1] < new; j--) room[j] = room[j - 1];
            room[j] = new;
            least = key_in(room[count - 1]);
        }
    }
    return count;
}

static int64_t find_many(const uint32_t *row, int64_t n, int64_t k, int64_t type, ranked *room) {
    const int64_t full = onax_top_room(k) - TOGETHER;
    int64_t count = 0;
    int32_t least = INT32_MIN;
    int is_known = 0;           /* whether `least` is the k-th largest of those before */
    for (int64_t at = 0; at < n; at += TOGETHER) {
        const int64_t end = at + TOGETHER < n ? at + TOGETHER : n;
        if (is_known && end - at == TOGETHER && !is_any_above(row + at, least, type)) continue;
        for (int64_t i = at; i < end; i++) {
            const int32_t key = key_of(row[i], type);
            room[count] = rank_of(key, i);
            count += !is_known || key > least;
        }
        if (count < full) continue;
        select_first(room, count, k);
        count = k;
        is_known = 1;
        least = INT32_MAX;
        for (int64_t i = 0; i < k; i++)
            if (key_in(room[i]) < least) least = key_in(room[i]);
    }
    return count;
}

void onax_select_top(const uint32_t *row, int64_t n, int64_t k, int64_t type, uint64_t *room, uint32_t *values, int32_t *places) {
    const int64_t count = k <= FEW ? find_few(row, n, k, type, room) : find_many(row, n, k, type, room);
    if (count > k) select_first(room, count, k);
    if (k > FEW) sort_descending(room, k);
    for (int64_t i = 0; i < k; i++) {
        const int64_t place = place_of(room[i]);
        values[i] = row[place];
        places[i] = (int32_t)place;
    }
}
