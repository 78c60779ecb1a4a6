/* Instructions that reduce over axes.

   reduce      reads: operand.  Attributes: the reduction, the type, then for each axis its size and whether it is reduced
   arg_reduce  reads: operand.  Attributes: 1 for the smallest element and 0 for the largest, the type, the index's type,
               and the sizes before, of, and after the axis */
#include "tape_reductions.h"

#include <stdlib.h>

#define MOST_RANK 16
#define TILE 4096              /* columns that are reduced together */
#define TASK_WORK 100000.0     /* nanoseconds that are worth a task of their own */
#define MOST_TASKS 32
#define POLLED 65536           /* elements between two looks for signals */

/* An operand seen as [kept...][folded...] of innermost blocks: rows of n elements that become one total each, or `rows` rows
   of n columns that become n totals.  Few long blocks are cut into parts, whose totals are merged; that does not depend on
   the number of threads. */
typedef struct {
    const onax_fold *fold;
    int is_row, n_kept, n_folded;
    int64_t kept[MOST_RANK], kept_strides[MOST_RANK], folded[MOST_RANK], folded_strides[MOST_RANK];
    int64_t outer, repeats, rows, stride, n, width;   /* width: totals of a block */
    int64_t parts, part, tasks, slot;                 /* slot: bytes of scratch memory of a task */
} plan;

typedef struct {
    const void *p;             /* its plan */
    const char *from;
    char *to, *scratch;
    onax_frame *frame;                                /* NULL: signals are not looked for */
    int status;
} job;

/* ---- one block */

static int64_t offset_of(int64_t number, int rank, const int64_t *sizes, const int64_t *strides) {
    int64_t offset = 0;
    if (rank == 1) return number * strides[0];
    for (int i = rank - 1; i >= 0; i--) {
        offset += number % sizes[i] * strides[i];
        number /= sizes[i];
    }
    return offset;
}

/* Joins the elements of columns `first` ... `past` - 1 of a kept position to totals. */
static void fold_block(const plan *p, const char *from, char *totals, int64_t first, int64_t past) {
    const int64_t size = p->fold->size;
    for (int64_t k = 0; k < p->repeats; k++) {
        const char *at = from + offset_of(k, p->n_folded, p->folded, p->folded_strides) * size;
        if (p->is_row) p->fold->row(totals, at, p->n);
        else p->fold->columns(totals, at + first * size, p->rows, p->stride, past - first);
    }
}

static void reduce_block(const job *j, int64_t number, char *room, int64_t first, int64_t past) {
    const plan *p = j->p;
    const onax_fold *fold = p->fold;
    const char *from = j->from + offset_of(number, p->n_kept, p->kept, p->kept_strides) * fold->size;
    for (int64_t at = first; at < past; at += TILE) {
        const int64_t end = at + TILE < past ? at + TILE : past;
        char *to = j->to + (number * p->width + at) * fold->size, *totals = fold->finish ? room : to;
        fold->start(totals, end - at);
        fold_block(p, from, totals, at, end);
        if (fold->finish) fold->finish(to, totals, end - at);
    }
}

/* ---- tasks */

/* A range of kept positions, or of columns. */
static void run_range(void *user, size_t which) {
    job *j = user;
    const plan *p = j->p;
    const int by_column = p->outer < p->tasks;
    const int64_t total = by_column ? p->width : p->outer, share = (total + p->tasks - 1) / p->tasks;
    const int64_t begin = (int64_t)which * share, end = begin + share < total ? begin + share : total;
    char *room = j->scratch + (int64_t)which * p->slot;
    int64_t waiting = 0;
    if (begin >= end) return;
    if (!j->frame && p->is_row && p->fold->rows && p->n_kept < 2 && !p->n_folded) {
        p->fold->rows(j->to + begin * p->fold->size, j->from + begin * p->n * p->fold->size, end - begin, p->n);
        return;
    }
    for (int64_t i = by_column ? 0 : begin; i < (by_column ? p->outer : end); i++) {
        reduce_block(j, i, room, by_column ? begin : 0, by_column ? end : p->width);
        waiting += p->repeats * p->rows * p->n;
        if (j->frame && waiting >= POLLED && (waiting = 0, j->status = onax_poll(j->frame))) return;
    }
}

/* A part of a block: of its rows, or of its one row. */
static void run_piece(void *user, size_t which) {
    job *j = user;
    const plan *p = j->p;
    const onax_fold *fold = p->fold;
    const int64_t number = (int64_t)which / p->parts, begin = (int64_t)which % p->parts * p->part;
    const int64_t length = p->is_row ? p->n : p->rows, count = begin + p->part < length ? p->part : length - begin;
    const char *from = j->from + offset_of(number, p->n_kept, p->kept, p->kept_strides) * fold->size;
    char *totals = j->scratch + (int64_t)which * p->width * fold->total;
    fold->start(totals, p->width);
    if (count <= 0) return;
    if (p->is_row) fold->row(totals, from + begin * fold->size, count);
    else fold->columns(totals, from + begin * p->stride * fold->size, count, p->stride, p->width);
}

static void merge_parts(const job *j) {
    const plan *p = j->p;
    const onax_fold *fold = p->fold;
    for (int64_t i = 0; i < p->outer; i++) {
        char *totals = j->scratch + i * p->parts * p->width * fold->total;
        char *to = j->to + i * p->width * fold->size;
        fold->merge(totals, totals + p->width * fold->total, p->parts - 1, p->width, p->width);
        if (fold->finish) fold->finish(to, totals, p->width);
        else memcpy(to, totals, (size_t)(p->width * fold->size));
    }
}

static int run_reduce(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    job j = {p, ONAX_BUFFER(q, f, 1), ONAX_BUFFER(q, f, 0), f->scratch, f, ONAX_DONE};
    void (*task)(void *, size_t) = p->parts > 1 ? run_piece : run_range;
    const size_t count = (size_t)(p->parts > 1 ? p->outer * p->parts : p->tasks);
    if (f->parallel && count > 1) {
        j.frame = NULL;
        f->parallel(f->where, task, count, &j);
    } else {
        for (size_t i = 0; i < count && !j.status; i++) {
            task(&j, i);
            if (p->parts > 1) j.status = onax_poll(f);
        }
    }
    if (p->parts > 1 && !j.status) merge_parts(&j);
    return j.status;
}

/* Rows that take no time worth a look for signals. */
static int run_rows(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    p->fold->rows(ONAX_BUFFER(q, f, 0), ONAX_BUFFER(q, f, 1), p->outer, p->n);
    return ONAX_DONE;
}

/* One block of few elements. */
static int run_one_row(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    const onax_fold *fold = p->fold;
    double total[2];
    char *to = ONAX_BUFFER(q, f, 0);
    void *totals = fold->finish ? (void *)total : (void *)to;
    fold->start(totals, 1);
    fold->row(totals, ONAX_BUFFER(q, f, 1), p->n);
    if (fold->finish) fold->finish(to, totals, 1);
    return ONAX_DONE;
}

static int run_columns(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    const onax_fold *fold = p->fold;
    char *to = ONAX_BUFFER(q, f, 0), *totals = fold->finish ? f->scratch : to;
    fold->start(totals, p->n);
    fold->columns(totals, ONAX_BUFFER(q, f, 1), p->rows, p->stride, p->n);
    if (fold->finish) fold->finish(to, totals, p->n);
    return ONAX_DONE;
}

/* ---- reading */

/* Axes of one kind beside each other are one axis. */
static int merge_axes(const int64_t *axes, int rank, int64_t *sizes, int *reduced) {
    int n = 0;
    for (int i = 0; i < rank; i++) {
        const int64_t size = axes[2 * i];
        const int is_reduced = axes[2 * i + 1] != 0;
        if (size == 1) continue;
        if (n && reduced[n - 1] == is_reduced) { sizes[n - 1] *= size; continue; }
        sizes[n] = size;
        reduced[n++] = is_reduced;
    }
    return n;
}

static void plan_axes(plan *p, const int64_t *sizes, const int *reduced, int n) {
    int64_t stride = 1;
    p->is_row = n && reduced[n - 1];
    p->outer = p->repeats = p->rows = p->n = p->width = 1;
    if (n) { p->n = sizes[n - 1]; stride = p->n; n--; }
    p->stride = stride;
    if (!p->is_row) {
        p->width = p->n;
        if (n) { p->rows = sizes[n - 1]; stride *= p->rows; n--; }
    }
    for (int i = n - 1; i >= 0; i--) {
        int64_t *to = reduced[i] ? p->folded : p->kept, *strides = reduced[i] ? p->folded_strides : p->kept_strides;
        const int k = reduced[i] ? p->n_folded++ : p->n_kept++;
        for (int m = k; m > 0; m--) { to[m] = to[m - 1]; strides[m] = strides[m - 1]; }
        to[0] = sizes[i];
        strides[0] = stride;
        *(reduced[i] ? &p->repeats : &p->outer) *= sizes[i];
        stride *= sizes[i];
    }
}

static void plan_tasks(onax_instruction *q, plan *p) {
    const int64_t length = p->is_row ? p->n : p->rows;
    double wanted;
    q->work = 10.0 + (0.03 * p->fold->size + 0.05) * (double)(p->outer * p->repeats * p->rows * p->n) + 4.0 * (double)p->outer;
    wanted = q->work / TASK_WORK;
    p->parts = p->tasks = 1;
    if (wanted < 2) wanted = 1;
    if (wanted > MOST_TASKS) wanted = MOST_TASKS;
    if ((double)p->outer >= wanted || p->width >= 64 * (int64_t)wanted) p->tasks = (int64_t)wanted;
    else if (!p->n_folded && length > 512 * (int64_t)wanted) p->parts = (int64_t)wanted;
    p->part = (length + p->parts - 1) / p->parts;
    p->slot = (p->width < TILE ? p->width : TILE) * p->fold->total;
    p->slot = (p->slot + 63) / 64 * 64;
    q->scratch = p->parts > 1 ? p->outer * p->parts * p->width * p->fold->total : p->tasks * p->slot;
}

static const char *verify_reduce(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    const int rank = (q->n_attributes - 2) / 2;
    int64_t sizes[MOST_RANK] = {0}, count = 1, kept = 1;
    int reduced[MOST_RANK] = {0};
    const onax_fold *fold;
    plan *p;
    if (q->n_operands != 2 || q->n_attributes < 2 || q->n_attributes % 2 || rank > MOST_RANK) return "a reduction has other operands";
    if (!(fold = onax_fold_of(a[0], a[1]))) return "there is no such reduction";
    for (int i = 0; i < rank; i++) {
        if ((count = onax_product(count, a[2 + 2 * i])) < 0) return "a reduction is too large";
        if (!a[3 + 2 * i] && (kept = onax_product(kept, a[2 + 2 * i])) < 0) return "a reduction is too large";
    }
    if (bytes[1] != onax_product(count, fold->size) || bytes[0] != onax_product(kept, fold->size))
        return "a reduction has operands of other sizes";
    if (!(p = calloc(1, sizeof *p))) return "no memory";
    q->state = p;
    p->fold = fold;
    plan_axes(p, sizes, reduced, count ? merge_axes(a + 2, rank, sizes, reduced) : 0);
    if (!kept) p->outer = p->width = 0;
    if (!count && kept) {   /* the totals of nothing */
        p->is_row = p->n_kept = p->n_folded = 0;
        p->outer = p->repeats = 1;
        p->n = p->width = p->stride = kept;
        p->rows = 0;
    }
    plan_tasks(q, p);
    if (p->outer == 1 && p->repeats == 1 && p->tasks == 1 && p->parts == 1) {
        if (p->is_row) q->run = run_one_row;
        else if (p->width <= TILE) q->run = run_columns;
    }
    if (p->is_row && fold->rows && p->n_kept < 2 && !p->n_folded && p->tasks == 1 && p->parts == 1) q->run = run_rows;
    return NULL;
}

static void release_state(onax_instruction *q) { free(q->state); }

/* ---- argmax and argmin: the first of the best elements; a NaN is better than any number */

#define PIECE 256              /* elements of a row of which the best is found before its place is */
#define COLUMNS 256            /* columns that are searched together */
#define FEW 24                 /* elements of rows that are searched one by one */

typedef struct {
    int64_t (*place)(const void *from, int64_t n, const void *element);
    int64_t (*first)(const void *from, int64_t n);
    int (*is_better)(const void *element, const void *best);
    void (*start)(const void *from, int64_t n, void *best);
    void (*step)(const void *from, int64_t n, int32_t number, void *best, int32_t *places);
} search;

typedef struct {
    const search *how;
    const onax_fold *fold;
    int64_t type, index_type, size, index_size, outer, n, inner, tasks;
} arg_plan;

#define ONAX_SEARCH(name, T, is) \
    static int64_t place_##name(const void *from, int64_t n, const void *element) { \
        const T *a = from; \
        const T x = *(const T *)element; \
        int64_t i = 0; \
        if (x != x) while (i < n - 1 && a[i] == a[i]) i++; \
        else while (i < n - 1 && a[i] != x) i++; \
        return i; \
    } \
    static int64_t first_##name(const void *from, int64_t n) { \
        const T *a = from; \
        int64_t at = 0; \
        T best = a[0]; \
        for (int64_t i = 1; i < n; i++) { \
            const T x = a[i]; \
            const int better = (x is best) | ((x != x) & (best == best)); \
            best = better ? x : best; \
            at = better ? i : at; \
        } \
        return at; \
    } \
    static int is_better_##name(const void *element, const void *best) { \
        const T x = *(const T *)element, y = *(const T *)best; \
        return x is y || (x != x && y == y); \
    } \
    static void start_##name(const void *from, int64_t n, void *best) { memcpy(best, from, (size_t)n * sizeof(T)); } \
    ONAX_CLONES static void step_##name(const void *from, int64_t n, int32_t number, void *bests, int32_t *places) { \
        const T *restrict a = from; \
        T *restrict best = bests; \
        int32_t *restrict place = places; \
        ONAX_OVER(j, n) { \
            const T x = a[j], y = best[j]; \
            const int better = (x is y) | ((x != x) & (y == y)); \
            best[j] = better ? x : y; \
            place[j] = better ? number : place[j]; \
        } \
    } \
    static const search search_##name = {place_##name, first_##name, is_better_##name, start_##name, step_##name};
#define ONAX_SEARCHES(t, T) ONAX_SEARCH(max_##t, T, >) ONAX_SEARCH(min_##t, T, <)
ONAX_SEARCHES(f32, float) ONAX_SEARCHES(f64, double) ONAX_SEARCHES(i8, int8_t) ONAX_SEARCHES(u8, uint8_t)
ONAX_SEARCHES(i16, int16_t) ONAX_SEARCHES(u16, uint16_t) ONAX_SEARCHES(i32, int32_t) ONAX_SEARCHES(u32, uint32_t)
ONAX_SEARCHES(i64, int64_t) ONAX_SEARCHES(u64, uint64_t)

/* By type: f32 f64 i32 u32 i64 u64 bool i8 u8 i16 u16 f16 bf16. */
#define ONAX_SEARCHED(o) {&search_##o##_f32, &search_##o##_f64, &search_##o##_i32, &search_##o##_u32, &search_##o##_i64, \
                          &search_##o##_u64, &search_##o##_u8, &search_##o##_i8, &search_##o##_u8, &search_##o##_i16, \
                          &search_##o##_u16, &search_##o##_f32, &search_##o##_f32, NULL, NULL}
static const search *const searches[2][ONAX_TYPES] = {ONAX_SEARCHED(max), ONAX_SEARCHED(min)};

/* The low bytes of an index are the index as an integer of so many bytes. */
static void put_index(char *to, int64_t size, int64_t index) {
    const uint8_t byte = (uint8_t)index;
    const uint16_t two = (uint16_t)index;
    const uint32_t four = (uint32_t)index;
    if (size == 4) memcpy(to, &four, 4);
    else if (size == 8) memcpy(to, &index, 8);
    else if (size == 2) memcpy(to, &two, 2);
    else memcpy(to, &byte, 1);
}

static int64_t search_row(const arg_plan *p, const char *from) {
    double best = 0, x;
    float wide[PIECE];
    int64_t place = 0;
    if (p->n <= FEW) {
        if (!onax_is_half(p->type)) return p->how->first(from, p->n);
        onax_widen(p->type, (const uint16_t *)from, wide, p->n);
        return p->how->first(wide, p->n);
    }
    for (int64_t at = 0, m; at < p->n; at += m, from += m * p->size) {
        const void *piece = from;
        m = p->n - at < PIECE ? p->n - at : PIECE;
        if (onax_is_half(p->type)) { onax_widen(p->type, (const uint16_t *)from, wide, m); piece = wide; }
        p->fold->start(&x, 1);
        p->fold->row(&x, piece, m);
        if (at && !p->how->is_better(&x, &best)) continue;
        best = x;
        place = at + p->how->place(piece, m, &x);
    }
    return place;
}

static void search_columns(const arg_plan *p, const char *from, int64_t n, char *to) {
    double best[COLUMNS];
    float wide[COLUMNS];
    int32_t places[COLUMNS] = {0};
    for (int64_t i = 0; i < p->n; i++, from += p->inner * p->size) {
        const void *row = from;
        if (onax_is_half(p->type)) { onax_widen(p->type, (const uint16_t *)from, wide, n); row = wide; }
        if (i) p->how->step(row, n, (int32_t)i, best, places);
        else p->how->start(row, n, best);
    }
    for (int64_t j = 0; j < n; j++) put_index(to + j * p->index_size, p->index_size, places[j]);
}

static void search_range(void *user, size_t which) {
    const job *j = user;
    const arg_plan *p = (const arg_plan *)j->p;
    const int64_t pieces = (p->inner + COLUMNS - 1) / COLUMNS, total = p->outer * pieces;
    const int64_t share = (total + p->tasks - 1) / p->tasks, begin = (int64_t)which * share;
    const int64_t end = begin + share < total ? begin + share : total;
    for (int64_t i = begin; i < end; i++) {
        const int64_t o = i / pieces, at = i % pieces * COLUMNS, n = p->inner - at < COLUMNS ? p->inner - at : COLUMNS;
        const char *from = j->from + (o * p->n * p->inner + at) * p->size;
        char *to = j->to + (o * p->inner + at) * p->index_size;
        if (p->inner == 1) put_index(to, p->index_size, search_row(p, from));
        else search_columns(p, from, n, to);
    }
}

static int run_arg_reduce(const onax_instruction *q, onax_frame *f) {
    const arg_plan *p = q->state;
    job j = {q->state, ONAX_BUFFER(q, f, 1), ONAX_BUFFER(q, f, 0), NULL, NULL, ONAX_DONE};
    if (f->parallel && p->tasks > 1) f->parallel(f->where, search_range, (size_t)p->tasks, &j);
    else
        for (int64_t i = 0; i < p->tasks; i++) {
            search_range(&j, (size_t)i);
            if (p->tasks > 1 && onax_poll(f)) return ONAX_RAISED;
        }
    return ONAX_DONE;
}

static const char *verify_arg_reduce(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t kept;
    arg_plan *p;
    if (q->n_operands != 2 || q->n_attributes != 6) return "argmax has other operands";
    if (a[0] < 0 || a[0] > 1 || a[1] < 0 || a[1] >= ONAX_TYPES || !searches[a[0]][a[1]]) return "argmax has no such type";
    if (a[2] < 0 || a[2] >= ONAX_F16 || a[2] == ONAX_F32 || a[2] == ONAX_F64 || a[2] == ONAX_BOOL) return "an index is an integer";
    if (a[4] < 1 || a[4] > INT32_MAX) return "argmax has no such axis";
    kept = onax_product(a[3], a[5]);
    if (bytes[1] < 0 || bytes[1] != onax_array_bytes(a[1], onax_product(kept, a[4])) || bytes[0] != onax_array_bytes(a[2], kept))
        return "argmax has operands of other sizes";
    if (!(p = calloc(1, sizeof *p))) return "no memory";
    q->state = p;
    p->how = searches[a[0]][a[1]];
    p->fold = onax_fold_of(a[0] ? ONAX_MIN : ONAX_MAX, onax_is_half(a[1]) ? ONAX_F32 : a[1]);
    p->type = a[1];
    p->index_type = a[2];
    p->size = onax_size_of(a[1]);
    p->index_size = onax_size_of(a[2]);
    p->outer = a[3];
    p->n = a[4];
    p->inner = a[5];
    q->work = 10.0 + 0.3 * (double)(kept * a[4]) + 10.0 * (double)kept;
    p->tasks = q->work < 2 * TASK_WORK ? 1 : q->work / TASK_WORK < MOST_TASKS ? (int64_t)(q->work / TASK_WORK) : MOST_TASKS;
    return NULL;
}

const onax_tape_operation onax_tape_reductions[] = {
    {"reduce", 1, verify_reduce, run_reduce, release_state},
    {"arg_reduce", 1, verify_arg_reduce, run_arg_reduce, release_state},
    {0},
};
