/* Running reductions along an axis.

   cumulative  reads: operand.  Attributes: the operation, the type, the sizes before, of, and after the axis, and whether
               it runs from the end

   The order of operations is JAX's, so that floats round alike: elements are joined one by one in tiles of sixteen, then
   the tiles' totals in tiles of the next level, and so on; each element is joined with what stands before its tile.  From
   the end, every element starts a row of its own to the end of its tile. */
#include "tape_types.h"

#include <stdlib.h>

#define SIDE 16                /* elements of a tile */
#define MOST_LEVELS 11         /* 16**10 elements */
#define COLUMNS 64             /* neighbours that run together */
#define TASK_WORK 100000.0
#define MOST_TASKS 32

enum operation { SUM, PROD, MAX, MIN, LOGSUMEXP, OPERATIONS };

/* A tile of each level that is being filled: how many elements it has, and whether one is complete. */
typedef struct { int counts[MOST_LEVELS], is_later[MOST_LEVELS]; } levels;

/* Runs along `n` elements `stride` apart, for `width` neighbours.  `room` has ROOM elements for each neighbour and
   level. */
typedef void (*runner)(const void *from, void *to, int64_t n, int64_t stride, int64_t width, void *room);
#define ROOM (SIDE + 2)

typedef struct { runner forward, backward, row, row_back; } scan;   /* row: of one row without gaps */

typedef struct {
    const scan *how;
    int64_t type, outer, n, inner, reverse, size, slot, tasks;
    int64_t wide;              /* bytes of scratch memory in which float16 and bfloat16 run as float32 */
    int is_free;               /* the order of operations is not JAX's, for it does not matter */
} plan;

/* `join_NAME(x, y)` joins what came before with the next element.  Neighbours are `width` elements beside each other. */
#define ONAX_SCAN(how, name, T) \
    static void copy_##name(T *restrict x, const T *restrict y, int64_t n) { ONAX_OVER(j, n) x[j] = y[j]; } \
    static void join_both_##name(T *restrict x, const T *restrict y, int64_t n) { \
        ONAX_OVER(j, n) x[j] = join_##name(x[j], y[j]); \
    } \
    /* The total of a tile of level `level` - 1 joins the level; `before` becomes the running total of the level. */ \
    static void push_##name(levels *at, int level, T *room, T *before, const T *total, int64_t width) { \
        T *prefix = room + (int64_t)level * ROOM * width, *base = prefix + width; \
        const int last = at->counts[level] == SIDE - 1; \
        if (at->counts[level]) join_both_##name(prefix, total, width); \
        else copy_##name(prefix, total, width); \
        copy_##name(before, prefix, width); \
        if (at->is_later[level]) join_both_##name(before, base, width); \
        at->counts[level] = last ? 0 : at->counts[level] + 1; \
        if (!last || level + 1 >= MOST_LEVELS) return; \
        push_##name(at, level + 1, room, base, prefix, width); \
        at->is_later[level] = 1; \
    } \
    static T push_one_##name(levels *at, int level, T *room, T total) { \
        T *prefix = room + level * ROOM, *base = prefix + 1, before; \
        const int last = at->counts[level] == SIDE - 1; \
        *prefix = at->counts[level] ? join_##name(*prefix, total) : total; \
        before = at->is_later[level] ? join_##name(*prefix, *base) : *prefix; \
        at->counts[level] = last ? 0 : at->counts[level] + 1; \
        if (last && level + 1 < MOST_LEVELS) { \
            *base = push_one_##name(at, level + 1, room, *prefix); \
            at->is_later[level] = 1; \
        } \
        return before; \
    } \
    how static void forward_##name(const void *from, void *to, int64_t n, int64_t stride, int64_t width, void *rooms) { \
        const T *a = from; \
        T *d = to, *prefix = rooms, *before = prefix + width; \
        levels at = {{0}, {0}}; \
        for (int64_t i = 0; i < n; i++, a += stride, d += stride) { \
            if (i % SIDE == 0) ONAX_OVER(j, width) prefix[j] = a[j]; \
            else ONAX_OVER(j, width) prefix[j] = join_##name(prefix[j], a[j]); \
            if (i < SIDE) ONAX_OVER(j, width) d[j] = prefix[j]; \
            else ONAX_OVER(j, width) d[j] = join_##name(prefix[j], before[j]); \
            if (i % SIDE == SIDE - 1 && i < n - 1) push_##name(&at, 1, rooms, before, prefix, width); \
        } \
    } \
    /* The same from the end: `room` has the totals of the tile, of which the first is at its place in the tile. */ \
    static void push_back_##name(levels *at, int level, int64_t number, T *room, T *after, const T *total, int64_t width) { \
        T *tile = room + (int64_t)level * ROOM * width, *base = tile + SIDE * width; \
        const int place = (int)(number % SIDE), past = place + at->counts[level] + 1; \
        copy_##name(tile + place * width, total, width); \
        copy_##name(after, total, width); \
        for (int k = place + 1; k < past; k++) join_both_##name(after, tile + k * width, width); \
        at->counts[level] = place ? at->counts[level] + 1 : 0; \
        if (place) { if (at->is_later[level]) join_both_##name(after, base, width); return; } \
        { \
            T *sum = base + width; \
            copy_##name(sum, after, width); \
            if (at->is_later[level]) join_both_##name(after, base, width); \
            if (level + 1 < MOST_LEVELS && number) { \
                push_back_##name(at, level + 1, number / SIDE, room, base, sum, width); \
                at->is_later[level] = 1; \
            } \
        } \
    } \
    how static void backward_##name(const void *from, void *to, int64_t n, int64_t stride, int64_t width, void *rooms) { \
        const T *a = from; \
        T *d = to, *after = (T *)rooms + SIDE * width, *total = rooms; \
        levels at = {{0}, {0}}; \
        for (int64_t i = n - 1; i >= 0; i--) { \
            const int64_t past = i / SIDE * SIDE + SIDE < n ? i / SIDE * SIDE + SIDE : n; \
            T *here = d + i * stride; \
            ONAX_OVER(j, width) total[j] = a[i * stride + j]; \
            for (int64_t k = i + 1; k < past; k++) { \
                const T *next = a + k * stride; \
                ONAX_OVER(j, width) total[j] = join_##name(total[j], next[j]); \
            } \
            if (past < n) ONAX_OVER(j, width) here[j] = join_##name(total[j], after[j]); \
            else ONAX_OVER(j, width) here[j] = total[j]; \
            if (i % SIDE == 0 && i) push_back_##name(&at, 1, i / SIDE, rooms, after, total, width); \
        } \
    } \
    /* One row: four tiles at a time, each of which waits for its own last sum alone. */ \
    how static void row_##name(const void *from, void *to, int64_t n, int64_t stride, int64_t width, void *rooms) { \
        const T *a = from; \
        T *d = to, before = a[0], total[4]; \
        levels at = {{0}, {0}}; \
        int64_t i = 0; \
        (void)stride, (void)width; \
        for (; i + 4 * SIDE <= n; i += 4 * SIDE, a += 4 * SIDE, d += 4 * SIDE) { \
            T p = a[0], q = a[SIDE], u = a[2 * SIDE], v = a[3 * SIDE]; \
            d[0] = p; d[SIDE] = q; d[2 * SIDE] = u; d[3 * SIDE] = v; \
            for (int k = 1; k < SIDE; k++) { \
                d[k] = p = join_##name(p, a[k]); \
                d[SIDE + k] = q = join_##name(q, a[SIDE + k]); \
                d[2 * SIDE + k] = u = join_##name(u, a[2 * SIDE + k]); \
                d[3 * SIDE + k] = v = join_##name(v, a[3 * SIDE + k]); \
            } \
            total[0] = p; total[1] = q; total[2] = u; total[3] = v; \
            for (int t = 0; t < 4; t++) { \
                T *tile = d + t * SIDE; \
                if (i + t) for (int k = 0; k < SIDE; k++) tile[k] = join_##name(tile[k], before); \
                before = push_one_##name(&at, 1, rooms, total[t]); \
            } \
        } \
        for (; i < n; i += SIDE, a += SIDE, d += SIDE) { \
            const int m = n - i < SIDE ? (int)(n - i) : SIDE; \
            T p = a[0]; \
            d[0] = i ? join_##name(p, before) : p; \
            for (int k = 1; k < m; k++) { \
                p = join_##name(p, a[k]); \
                d[k] = i ? join_##name(p, before) : p; \
            } \
            if (m == SIDE) before = push_one_##name(&at, 1, rooms, p); \
        } \
    } \
    how static void row_back_##name(const void *from, void *to, int64_t n, int64_t stride, int64_t width, void *rooms) { \
        const T *a = from; \
        T *d = to, tile[SIDE], total[1], after[1] = {a[0]}; \
        levels at = {{0}, {0}}; \
        (void)stride, (void)width; \
        for (int64_t i = (n - 1) / SIDE * SIDE; i >= 0; i -= SIDE) { \
            const int m = n - i < SIDE ? (int)(n - i) : SIDE; \
            for (int k = 0; k < m; k++) tile[k] = a[i + k]; \
            if (m < SIDE) \
                for (int k = 1; k < m; k++) for (int t = 0; t < k; t++) tile[t] = join_##name(tile[t], a[i + k]); \
            else \
                for (int k = 1; k < SIDE; k++) { \
                    const T next = a[i + k]; \
                    for (int t = 0; t < SIDE; t++) tile[t] = t < k ? join_##name(tile[t], next) : tile[t]; \
                } \
            total[0] = tile[0]; \
            if (i + SIDE < n) for (int k = 0; k < SIDE; k++) tile[k] = join_##name(tile[k], after[0]); \
            for (int k = 0; k < m; k++) d[i + k] = tile[k]; \
            if (i) push_back_##name(&at, 1, i / SIDE, rooms, after, total, 1); \
        } \
    } \
    static const scan scan_##name = {forward_##name, backward_##name, row_##name, row_back_##name};

#define PLAIN
#define ONAX_JOINED(how, name, T, joined) \
    ONAX_INLINE T join_##name(T x, T y) { return (T)(joined); } \
    ONAX_SCAN(how, name, T)

ONAX_JOINED(ONAX_CLONES, sum_f32, float, x + y) ONAX_JOINED(ONAX_CLONES, sum_f64, double, x + y)
ONAX_JOINED(ONAX_CLONES, prod_f32, float, x * y) ONAX_JOINED(PLAIN, prod_f64, double, x * y)
ONAX_JOINED(PLAIN, sum_8, uint8_t, x + y) ONAX_JOINED(PLAIN, sum_16, uint16_t, x + y)
ONAX_JOINED(ONAX_CLONES, sum_32, uint32_t, x + y) ONAX_JOINED(ONAX_CLONES, sum_64, uint64_t, x + y)
ONAX_JOINED(PLAIN, prod_8, uint8_t, x * y) ONAX_JOINED(PLAIN, prod_16, uint16_t, (uint32_t)x * y)
ONAX_JOINED(PLAIN, prod_32, uint32_t, x * y) ONAX_JOINED(PLAIN, prod_64, uint64_t, x * y)

#define ONAX_EXTREMES(how, t, T) \
    ONAX_JOINED(how, max_##t, T, x > y ? x : y) ONAX_JOINED(how, min_##t, T, x < y ? x : y)
ONAX_EXTREMES(PLAIN, i8, int8_t) ONAX_EXTREMES(PLAIN, u8, uint8_t) ONAX_EXTREMES(PLAIN, i16, int16_t)
ONAX_EXTREMES(PLAIN, u16, uint16_t) ONAX_EXTREMES(ONAX_CLONES, i32, int32_t) ONAX_EXTREMES(PLAIN, u32, uint32_t)
ONAX_EXTREMES(PLAIN, i64, int64_t) ONAX_EXTREMES(PLAIN, u64, uint64_t)
#define ONAX_FLOAT_EXTREMES(how, t, T) \
    ONAX_JOINED(how, max_##t, T, ((x > y) | (x != x)) ? x : y) ONAX_JOINED(how, min_##t, T, ((x < y) | (x != x)) ? x : y)
ONAX_FLOAT_EXTREMES(ONAX_CLONES, f32, float) ONAX_FLOAT_EXTREMES(ONAX_CLONES, f64, double)

/* Every partial result of float16 and bfloat16 is rounded. */
#define ONAX_HALF(t) \
    ONAX_JOINED(PLAIN, sum_##t, uint16_t, onax_to_##t(onax_from_##t(x) + onax_from_##t(y))) \
    ONAX_JOINED(PLAIN, prod_##t, uint16_t, onax_to_##t(onax_from_##t(x) * onax_from_##t(y))) \
    ONAX_INLINE int is_nan_##t(uint16_t x) { return onax_from_##t(x) != onax_from_##t(x); } \
    ONAX_JOINED(PLAIN, max_##t, uint16_t, is_nan_##t(x) || onax_from_##t(x) > onax_from_##t(y) ? x : y) \
    ONAX_JOINED(PLAIN, min_##t, uint16_t, is_nan_##t(x) || onax_from_##t(x) < onax_from_##t(y) ? x : y)
ONAX_HALF(f16) ONAX_HALF(bf16)

/* Of complex numbers the first wins if it is ahead, else the second: also where one is NaN. */
#define ONAX_PAIR(t, C) \
    ONAX_INLINE C join_sum_##t(C x, C y) { const C z = {x.re + y.re, x.im + y.im}; return z; } \
    ONAX_INLINE C join_prod_##t(C x, C y) { \
        const C z = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; \
        return z; \
    } \
    ONAX_INLINE C join_max_##t(C x, C y) { return x.re > y.re || (x.re == y.re && x.im > y.im) ? x : y; } \
    ONAX_INLINE C join_min_##t(C x, C y) { return x.re < y.re || (x.re == y.re && x.im < y.im) ? x : y; } \
    ONAX_SCAN(PLAIN, sum_##t, C) ONAX_SCAN(PLAIN, prod_##t, C) ONAX_SCAN(PLAIN, max_##t, C) ONAX_SCAN(PLAIN, min_##t, C)
ONAX_PAIR(c64, onax_c64) ONAX_PAIR(c128, onax_c128)

/* log(exp(x) + exp(y)); of equal numbers, infinities too, x + log(2). */
ONAX_INLINE float join_log_f32(float x, float y) {
    const float apart = (x > y ? x : y) + onax_log1pf(onax_expf(-onax_sizef(x - y)));
    return x == y ? x + 0.693147180559945309f : apart;
}
ONAX_INLINE double join_log_f64(double x, double y) {
    const double gap = x - y, most = x > y ? x : y;
    if (x == y) return x + 0.693147180559945309;
    return gap != gap ? x + y : most + log1p(exp(-fabs(gap)));
}
ONAX_SCAN(ONAX_CLONES, log_f32, float) ONAX_SCAN(PLAIN, log_f64, double)

/* By type: f32 f64 i32 u32 i64 u64 bool i8 u8 i16 u16 f16 bf16 c64 c128. */
#define SCAN(name) &scan_##name
#define ONAX_ARITHMETIC(o) {SCAN(o##_f32), SCAN(o##_f64), SCAN(o##_32), SCAN(o##_32), SCAN(o##_64), SCAN(o##_64), NULL, \
                            SCAN(o##_8), SCAN(o##_8), SCAN(o##_16), SCAN(o##_16), SCAN(o##_f16), SCAN(o##_bf16), \
                            SCAN(o##_c64), SCAN(o##_c128)}
#define ONAX_ORDERED(o) {SCAN(o##_f32), SCAN(o##_f64), SCAN(o##_i32), SCAN(o##_u32), SCAN(o##_i64), SCAN(o##_u64), NULL, \
                         SCAN(o##_i8), SCAN(o##_u8), SCAN(o##_i16), SCAN(o##_u16), SCAN(o##_f16), SCAN(o##_bf16), \
                         SCAN(o##_c64), SCAN(o##_c128)}
static const scan *const scans[OPERATIONS][ONAX_TYPES] = {
    ONAX_ARITHMETIC(sum), ONAX_ARITHMETIC(prod), ONAX_ORDERED(max), ONAX_ORDERED(min),
    {SCAN(log_f32), SCAN(log_f64), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, SCAN(log_f32), SCAN(log_f32), NULL, NULL},
};

/* ---- the instruction */

typedef struct { const plan *p; const char *from; char *to, *scratch; onax_frame *frame; int status; } job;

static void run_lines(const plan *p, const char *from, char *to, int64_t width, char *room) {
    const scan *how = p->how;
    const int64_t end = (p->n - 1) * p->inner * p->size;
    if (p->reverse && p->is_free) how->forward(from + end, to + end, p->n, -p->inner, width, room);
    else if (p->inner == 1) (p->reverse ? how->row_back : how->row)(from, to, p->n, 1, 1, room);
    else (p->reverse ? how->backward : how->forward)(from, to, p->n, p->inner, width, room);
}

static void run_range(void *user, size_t which) {
    job *j = user;
    const plan *p = j->p;
    const int64_t pieces = (p->inner + COLUMNS - 1) / COLUMNS, total = p->outer * pieces;
    const int64_t share = (total + p->tasks - 1) / p->tasks, begin = (int64_t)which * share;
    const int64_t end = begin + share < total ? begin + share : total;
    char *room = j->scratch + (int64_t)which * p->slot;
    for (int64_t i = begin; i < end && !j->status; i++) {
        const int64_t at = i % pieces * COLUMNS, width = p->inner - at < COLUMNS ? p->inner - at : COLUMNS;
        const int64_t offset = (i / pieces * p->n * p->inner + at) * p->size;
        run_lines(p, j->from + offset, j->to + offset, width, room);
        if (j->frame && p->n * width > 1024) j->status = onax_poll(j->frame);
    }
}

static int run_cumulative(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    const int64_t count = p->outer * p->n * p->inner;
    char *from = ONAX_BUFFER(q, f, 1), *to = ONAX_BUFFER(q, f, 0);
    job j = {p, from, to, f->scratch + p->wide, f, ONAX_DONE};
    if (!count) return ONAX_DONE;
    if (p->wide) {
        onax_widen(p->type, (const uint16_t *)from, (float *)f->scratch, count);
        j.from = f->scratch;
        j.to = f->scratch + p->wide / 2;
    }
    if (f->parallel && p->tasks > 1) {
        j.frame = NULL;
        f->parallel(f->where, run_range, (size_t)p->tasks, &j);
    } else
        for (int64_t i = 0; i < p->tasks && !j.status; i++) run_range(&j, (size_t)i);
    if (p->wide) onax_narrow(p->type, (const float *)j.to, (uint16_t *)to, count);
    return j.status;
}

static const char *verify_cumulative(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t count, size;
    plan *p;
    if (q->n_operands != 2 || q->n_attributes != 6) return "a running reduction has other operands";
    if (a[0] < 0 || a[0] >= OPERATIONS || a[1] < 0 || a[1] >= ONAX_TYPES || !scans[a[0]][a[1]])
        return "there is no such running reduction";
    count = onax_product(onax_product(a[2], a[3]), a[4]);
    if (bytes[0] < 0 || bytes[0] != onax_array_bytes(a[1], count) || bytes[1] != bytes[0])
        return "a running reduction has operands of other sizes";
    if (!(p = calloc(1, sizeof *p))) return "no memory";
    q->state = p;
    p->how = scans[a[0]][a[1]];
    p->type = a[1];
    p->is_free = a[0] == LOGSUMEXP;
    p->outer = a[2];
    p->n = a[3];
    p->inner = a[4];
    p->reverse = a[5] != 0;
    p->wide = a[0] == LOGSUMEXP && onax_is_half(a[1]) ? (count + 15) / 16 * 64 * 2 : 0;
    size = p->size = p->wide ? 4 : onax_size_of(a[1]);
    q->work = 10.0 + (double)count * (a[0] == LOGSUMEXP ? 10.0 : p->reverse ? 3.0 : 1.0);
    p->tasks = q->work < 2 * TASK_WORK ? 1 : q->work / TASK_WORK < MOST_TASKS ? (int64_t)(q->work / TASK_WORK) : MOST_TASKS;
    for (p->slot = 1, count = p->n; count > 1; count /= SIDE) p->slot++;
    p->slot *= ROOM * (p->inner < COLUMNS ? p->inner : COLUMNS) * size;
    p->slot = (p->slot + 63) / 64 * 64;
    q->scratch = p->wide + p->tasks * p->slot;
    return NULL;
}

static void release_state(onax_instruction *q) { free(q->state); }

const onax_tape_operation onax_tape_cumulative[] = {
    {"cumulative", 1, verify_cumulative, run_cumulative, release_state},
    {0},
};
