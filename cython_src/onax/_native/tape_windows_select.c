/* The selected element of each window: what other array has there, or what is added there.

   select_and_gather   reads: tangents, operand.  Attributes: 1 to select the smallest and 0 for the largest, the type, the
                       rank, and for each axis the words of reduce_window
   select_and_scatter  reads: source, operand.  The same attributes, without dilations

   An element replaces the selected one unless that compares at least as well, so that the next one replaces a NaN.  Axes at
   the end along which windows have length 1 are rows of neighbours, which are compared together. */
#include "tape_windows.h"

#include <math.h>
#include <stdlib.h>

#define ROW 256                /* neighbours that are compared together */
#define TASK_WORK 100000.0
#define MOST_TASKS 16
#define OUTSIDE (-1)

typedef struct {
    void (*start)(void *best, int64_t n);
    /* Where the best is not at least as good, the row's element replaces it and g's element what was gathered. */
    void (*gather)(void *best, void *found, const void *row, const void *g, int64_t n);
    /* ... and `number` is where it is; a row of NULL holds the identity. */
    void (*scatter)(void *best, int32_t *place, const void *row, int32_t number, int64_t n);
    void (*add)(void *to, const void *source, const int32_t *place, const int64_t *offsets, int64_t n);
    /* For rows of one element: what `gather` finds, and what `scatter` adds to. */
    void (*gather_one)(void *found, const void *operand, const void *g, const int64_t *offsets, int64_t n);
    void (*scatter_one)(void *to, const void *operand, const void *source, const int64_t *offsets, int64_t n);
} selection;

/* W: of the same size, in which sums wrap. */
#define ONAX_SELECTION(name, T, W, first, is) \
    static void start_##name(void *best, int64_t n) { \
        T *b = best; \
        for (int64_t i = 0; i < n; i++) b[i] = first; \
    } \
    ONAX_CLONES static void gather_##name(void *best, void *found, const void *row, const void *g, int64_t n) { \
        T *restrict b = best, *restrict f = found; \
        const T *x = row, *y = g; \
        ONAX_OVER(i, n) { \
            const T old = b[i], next = x[i], kept = f[i], other = y[i]; \
            const int holds = old is next; \
            b[i] = holds ? old : next; \
            f[i] = holds ? kept : other; \
        } \
    } \
    ONAX_CLONES static void scatter_##name(void *best, int32_t *place, const void *row, int32_t number, int64_t n) { \
        T *restrict b = best; \
        int32_t *restrict p = place; \
        const T *x = row, none = first; \
        if (!x) { ONAX_OVER(i, n) { const int holds = b[i] is none; b[i] = holds ? b[i] : none; p[i] = holds ? p[i] : number; } return; } \
        ONAX_OVER(i, n) { \
            const T old = b[i], next = x[i]; \
            const int holds = old is next; \
            b[i] = holds ? old : next; \
            p[i] = holds ? p[i] : number; \
        } \
    } \
    static void add_##name(void *to, const void *source, const int32_t *place, const int64_t *offsets, int64_t n) { \
        T *d = to; \
        const T *a = source; \
        for (int64_t i = 0; i < n; i++) { \
            const int64_t at = offsets[place[i]]; \
            if (at != OUTSIDE) d[at + i] = (T)((W)d[at + i] + (W)a[i]); \
        } \
    } \
    static void gather_one_##name(void *found, const void *operand, const void *g, const int64_t *offsets, int64_t n) { \
        const T *x = operand; \
        T best = first; \
        int64_t at = OUTSIDE; \
        for (int64_t k = 0; k < n; k++) \
            if (offsets[k] != OUTSIDE) { \
                const T next = x[offsets[k]]; \
                const int holds = best is next; \
                best = holds ? best : next; \
                at = holds ? at : offsets[k]; \
            } \
        *(T *)found = at == OUTSIDE ? 0 : ((const T *)g)[at]; \
    } \
    static void scatter_one_##name(void *to, const void *operand, const void *source, const int64_t *offsets, int64_t n) { \
        const T *x = operand; \
        int64_t at = offsets[0]; \
        T best = at == OUTSIDE ? first : x[at]; \
        for (int64_t k = 1; k < n; k++) { \
            const T next = offsets[k] == OUTSIDE ? first : x[offsets[k]]; \
            const int holds = best is next; \
            best = holds ? best : next; \
            at = holds ? at : offsets[k]; \
        } \
        if (at != OUTSIDE) ((T *)to)[at] = (T)((W)((T *)to)[at] + (W)*(const T *)source); \
    } \
    static const selection selection_##name = {start_##name, gather_##name, scatter_##name, add_##name, \
                                               gather_one_##name, scatter_one_##name};
#define ONAX_SELECTIONS(t, T, W, lowest, highest) \
    ONAX_SELECTION(max_##t, T, W, lowest, >=) ONAX_SELECTION(min_##t, T, W, highest, <=)
ONAX_SELECTIONS(f32, float, float, -HUGE_VALF, HUGE_VALF) ONAX_SELECTIONS(f64, double, double, -HUGE_VAL, HUGE_VAL)
ONAX_SELECTIONS(i32, int32_t, uint32_t, INT32_MIN, INT32_MAX) ONAX_SELECTIONS(i64, int64_t, uint64_t, INT64_MIN, INT64_MAX)

/* By type; float16 and bfloat16 are compared and added as float32, other types fall to the kernels. */
static const selection *const selections[2][ONAX_TYPES] = {
    {[ONAX_F32] = &selection_max_f32, [ONAX_F64] = &selection_max_f64, [ONAX_I32] = &selection_max_i32,
     [ONAX_I64] = &selection_max_i64, [ONAX_F16] = &selection_max_f32, [ONAX_BF16] = &selection_max_f32},
    {[ONAX_F32] = &selection_min_f32, [ONAX_F64] = &selection_min_f64, [ONAX_I32] = &selection_min_i32,
     [ONAX_I64] = &selection_min_i64, [ONAX_F16] = &selection_min_f32, [ONAX_BF16] = &selection_min_f32},
};

typedef struct {
    const selection *how;
    int64_t type, size, in, out, inner, windows, positions, wide, slot, tasks;   /* wide: bytes of operands as float32 */
    int rank, is_plain;        /* axes before the rows; whether the operand has no holes */
    onax_window_axis axes[ONAX_MOST_WINDOW_AXES];
    int64_t strides[ONAX_MOST_WINDOW_AXES];
} plan;

typedef struct { const plan *p; const char *first, *operand; char *to, *scratch; onax_frame *frame; int status; } job;

/* The offsets of a window's positions in the operand, in order; OUTSIDE where there is padding or a hole. */
static void find_offsets(const plan *p, const int64_t *start, int64_t *offsets) {
    int64_t at[ONAX_MOST_WINDOW_AXES] = {0};
    for (int64_t k = 0; k < p->positions; k++) {
        int64_t offset = 0;
        for (int i = 0; i < p->rank && offset != OUTSIDE; i++) {
            const onax_window_axis *a = &p->axes[i];
            const int64_t place = start[i] + at[i] * a->gap;
            if (place < 0 || place % a->base || place / a->base >= a->size) offset = OUTSIDE;
            else offset += place / a->base * p->strides[i];
        }
        offsets[k] = offset;
        for (int i = p->rank - 1; i >= 0; i--) {
            if (++at[i] < p->axes[i].window) break;
            at[i] = 0;
        }
    }
}

/* A walk over windows: where each begins along the axes, and the offsets of its positions from its first, if all of them
   are inside. */
typedef struct { const plan *p; int64_t number[ONAX_MOST_WINDOW_AXES], *offsets, *inside; } walk;

static walk start_walk(const plan *p, int64_t window, char *room) {
    walk w = {p, {0}, (int64_t *)room, (int64_t *)room + p->positions};
    int64_t none[ONAX_MOST_WINDOW_AXES] = {0};
    for (int i = p->rank - 1; i >= 0; i--) {
        w.number[i] = window % p->axes[i].count;
        window /= p->axes[i].count;
    }
    if (p->is_plain) find_offsets(p, none, w.inside);
    return w;
}

static void step_walk(walk *w) {
    const plan *p = w->p;
    int64_t start[ONAX_MOST_WINDOW_AXES], first = 0;
    int is_inside = p->is_plain;
    for (int i = 0; i < p->rank; i++) {
        const onax_window_axis *a = &p->axes[i];
        start[i] = w->number[i] * a->stride - a->low;
        is_inside &= start[i] >= 0 && start[i] + (a->window - 1) * a->gap < a->size;
        first += start[i] * p->strides[i];
    }
    if (is_inside) for (int64_t k = 0; k < p->positions; k++) w->offsets[k] = w->inside[k] + first;
    else find_offsets(p, start, w->offsets);
    for (int i = p->rank - 1; i >= 0; i--) {
        if (++w->number[i] < p->axes[i].count) break;
        w->number[i] = 0;
    }
}

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static void gather_range(void *user, size_t which) {
    job *j = user;
    const plan *p = j->p;
    const int64_t share = (p->windows + p->tasks - 1) / p->tasks, begin = (int64_t)which * share;
    const int64_t end = begin + share < p->windows ? begin + share : p->windows;
    double best[ROW];
    walk at;
    if (begin >= end) return;
    at = start_walk(p, begin, j->scratch + (int64_t)which * p->slot);
    for (int64_t w = begin; w < end && !j->status; w++) {
        const int64_t *offsets = at.offsets;
        step_walk(&at);
        if (p->inner == 1) p->how->gather_one(j->to + w * p->size, j->operand, j->first, offsets, p->positions);
        else for (int64_t c = 0; c < p->inner; c += ROW) {
            const int64_t n = p->inner - c < ROW ? p->inner - c : ROW;
            char *found = j->to + (w * p->inner + c) * p->size;
            p->how->start(best, n);
            memset(found, 0, (size_t)(n * p->size));
            for (int64_t k = 0; k < p->positions; k++) {
                const int64_t from = (offsets[k] + c) * p->size;
                if (offsets[k] != OUTSIDE) p->how->gather(best, found, j->operand + from, j->first + from, n);
            }
        }
        if (j->frame && w % 64 == 63) j->status = onax_poll(j->frame);
    }
}

/* Windows of one block of the first axis, if windows do not overlap along it, or all. */
static void scatter_range(void *user, size_t which) {
    job *j = user;
    const plan *p = j->p;
    const int64_t blocks = p->tasks > 1 ? p->axes[0].count : 1, each = p->windows / blocks;
    const int64_t share = (blocks + p->tasks - 1) / p->tasks, begin = (int64_t)which * share * each;
    const int64_t end = begin + share * each < p->windows ? begin + share * each : p->windows;
    double best[ROW];
    int32_t place[ROW];
    walk at;
    if (begin >= end) return;
    at = start_walk(p, begin, j->scratch + (int64_t)which * p->slot);
    for (int64_t w = begin; w < end && !j->status; w++) {
        const int64_t *offsets = at.offsets;
        step_walk(&at);
        if (p->inner == 1) p->how->scatter_one(j->to, j->operand, j->first + w * p->size, offsets, p->positions);
        else for (int64_t c = 0; c < p->inner; c += ROW) {
            const int64_t n = p->inner - c < ROW ? p->inner - c : ROW;
            memset(place, 0, sizeof place);
            if (offsets[0] == OUTSIDE) p->how->start(best, n);
            else memcpy(best, j->operand + (offsets[0] + c) * p->size, (size_t)(n * p->size));
            for (int64_t k = 1; k < p->positions; k++)
                p->how->scatter(best, place, offsets[k] == OUTSIDE ? NULL : j->operand + (offsets[k] + c) * p->size, (int32_t)k, n);
            p->how->add(j->to + c * p->size, j->first + (w * p->inner + c) * p->size, place, offsets, n);
        }
        if (j->frame && w % 64 == 63) j->status = onax_poll(j->frame);
    }
}

static int run_tasks(job *j, void (*task)(void *, size_t)) {
    onax_frame *f = j->frame;
    if (f->parallel && j->p->tasks > 1) {
        j->frame = NULL;
        f->parallel(f->where, task, (size_t)j->p->tasks, j);
    } else
        for (int64_t i = 0; i < j->p->tasks && !j->status; i++) task(j, (size_t)i);
    return j->status;
}

/* Runs with operands and result as float32. */
static int run_wide(const onax_instruction *q, onax_frame *f, int64_t first, int64_t results, void (*task)(void *, size_t)) {
    const plan *p = q->state;
    float *wide = (float *)f->scratch, *operand = wide + first, *to = operand + p->in;
    job j = {p, (const char *)wide, (const char *)operand, (char *)to, f->scratch + p->wide, f, ONAX_DONE};
    int status;
    onax_widen(p->type, (const uint16_t *)ONAX_BUFFER(q, f, 1), wide, first);
    onax_widen(p->type, (const uint16_t *)ONAX_BUFFER(q, f, 2), operand, p->in);
    memset(to, 0, (size_t)results * sizeof(float));
    status = run_tasks(&j, task);
    onax_narrow(p->type, to, (uint16_t *)ONAX_BUFFER(q, f, 0), results);
    return status;
}

int onax_run_gather(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    job j = {p, ONAX_BUFFER(q, f, 1), ONAX_BUFFER(q, f, 2), ONAX_BUFFER(q, f, 0), f->scratch, f, ONAX_DONE};
    return p->wide ? run_wide(q, f, p->in, p->out, gather_range) : run_tasks(&j, gather_range);
}

int onax_run_scatter(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    job j = {p, ONAX_BUFFER(q, f, 1), ONAX_BUFFER(q, f, 2), ONAX_BUFFER(q, f, 0), f->scratch, f, ONAX_DONE};
    if (p->wide) return run_wide(q, f, p->out, p->in, scatter_range);
    memset(j.to, 0, (size_t)(p->in * p->size));
    return run_tasks(&j, scatter_range);
}

/* ---- reading */

static const char *read_plan(onax_instruction *q, int64_t *in, int64_t *out) {
    const int64_t *a = q->attributes;
    const char *fault;
    plan *p;
    if (q->n_operands != 3 || q->n_attributes < 3 || a[2] < 0 || a[2] > ONAX_MOST_WINDOW_AXES
        || q->n_attributes != 3 + ONAX_WINDOW_WORDS * a[2]) return "selected windows have other operands";
    if (a[0] < 0 || a[0] > 1 || a[1] < 0 || a[1] >= ONAX_TYPES || !selections[a[0]][a[1]]) return "a selection has no such type";
    if (!(p = calloc(1, sizeof *p))) return "no memory";
    q->state = p;
    if ((fault = onax_read_windows(a + 3, p->axes, (int)a[2], in, out))) return fault;
    p->how = selections[a[0]][a[1]];
    p->type = a[1];
    p->size = onax_is_half(a[1]) ? 4 : onax_size_of(a[1]);
    p->in = *in;
    p->out = *out;
    p->rank = (int)a[2];
    p->inner = p->positions = p->windows = p->is_plain = 1;
    while (p->rank && p->axes[p->rank - 1].is_trivial) p->inner *= p->axes[--p->rank].size;
    for (int i = p->rank - 1; i >= 0; i--) {
        p->strides[i] = i == p->rank - 1 ? p->inner : p->strides[i + 1] * p->axes[i + 1].size;
        if ((p->positions = onax_product(p->positions, p->axes[i].window)) < 0 || p->positions > INT32_MAX) return "a window is too large";
        p->windows *= p->axes[i].count;
        p->is_plain &= p->axes[i].base == 1;
    }
    if (!*in || !*out) p->windows = 0;
    p->wide = onax_is_half(a[1]) ? rounded(4 * (2 * *in + 2 * *out)) : 0;
    p->slot = rounded(16 * p->positions);
    q->work = 20.0 + (double)p->windows * (double)p->positions * (2.0 + 0.5 * (double)p->inner);
    p->tasks = q->work < 2 * TASK_WORK ? 1 : q->work / TASK_WORK < MOST_TASKS ? (int64_t)(q->work / TASK_WORK) : MOST_TASKS;
    return NULL;
}

static const char *set_scratch(onax_instruction *q, int64_t most_tasks) {
    plan *p = q->state;
    if (p->tasks > most_tasks) p->tasks = most_tasks > 0 ? most_tasks : 1;
    q->scratch = p->wide + p->tasks * p->slot;
    return NULL;
}

const char *onax_verify_gather(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t in, out;
    const char *fault = read_plan(q, &in, &out);
    if (fault) return fault;
    if (bytes[1] < 0 || bytes[1] != onax_array_bytes(a[1], in) || bytes[2] != bytes[1] || bytes[0] != onax_array_bytes(a[1], out))
        return "selected windows have operands of other sizes";
    if (!in && out) return "windows of nothing have no instruction";
    return set_scratch(q, ((plan *)q->state)->windows);
}

const char *onax_verify_scatter(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t in, out;
    const plan *p;
    const char *fault = read_plan(q, &in, &out);
    if (fault) return fault;
    if (bytes[0] < 0 || bytes[0] != onax_array_bytes(a[1], in) || bytes[2] != bytes[0] || bytes[1] != onax_array_bytes(a[1], out))
        return "selected windows have operands of other sizes";
    p = q->state;
    return set_scratch(q, p->rank && p->axes[0].is_trivial ? p->axes[0].count : 1);
}
