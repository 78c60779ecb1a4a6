/* Instructions of tapes that gather and scatter windows at indices.

   For each index vector of a batch there is one window of an operand.  Where it begins is clamped, or windows that leave
   the operand are left out, so that the contents of indices do no harm.  Each component of the index vectors is read where
   it lies: in any integer array, along any of the batch's axes, negative numbers counted from the end if it says so.

   gather    operands: the result, the operand, integer arrays
   scatter   operands: the operand, which is updated in place, the updates, integer arrays
   Attributes of both:

       width of an element in bytes, how a scatter combines (enum combination), type of elements (if it combines)
       whether windows are clamped, where the operand's windows are counted from
       numbers of components, of batch axes, of window axes
       for each component:                     number of its operand, type, start, what is added to negative numbers (or 0),
                                               largest value, step in the operand, a stride for each axis of the batch
       for each axis of the batch:             length, step in the result or updates, step in the operand
       for each axis of a window:              length, stride where it goes to, stride where it comes from
       of a gather, the element for what is not in the operand, in as many words as it needs

   Starts, steps and strides are in elements. */
#include "vector_code.h"

#include "tape_scatter.h"
#include "tape_strides.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64                /* bytes of the caches' lines */
#define BLOCK 256              /* index vectors that are located at a time */
#define PART_BYTES (1 << 20)   /* of the result that one part of a gather writes */
#define MOST_PARTS 64

enum { WINDOWS_WIDTH, WINDOWS_HOW, WINDOWS_TYPE, WINDOWS_CLAMPED, WINDOWS_START, WINDOWS_COMPONENTS, WINDOWS_BATCH,
       WINDOWS_AXES, WINDOWS_HEAD };
enum { COMPONENT_OPERAND, COMPONENT_TYPE, COMPONENT_START, COMPONENT_WRAP, COMPONENT_LARGEST, COMPONENT_STEP, COMPONENT_HEAD };

typedef struct windows windows;
typedef struct component component;

/* Adds a component of n index vectors, the first of which is at `indices`, to `sum`, to 0 if that is NULL: to give `at`. */
typedef void (*locator)(const component *c, const char *indices, int64_t n, const int64_t *sum, int64_t *at);

struct component {
    locator locate;
    int64_t wrap, largest, step, start;                     /* step and start in bytes */
    int64_t type, size, last;                               /* last: stride along the last axis of the batch, in bytes */
    int operand;
};

/* Windows i = 0 ... n - 1: `own` is where the first is in the result or updates, `operand` where it would be at index 0. */
typedef void (*mover)(const windows *w, char *own, char *operand, const int64_t *at, int64_t n);

struct windows {
    mover move, each;                                       /* each: of an outer position, where the window's axes are outer */
    int64_t width, row, count, parts, start;                /* row: bytes that lie side by side in a window */
    int clamped, is_gather, n_components, rank;
    int is_indexed;                                         /* elements are combined at indices as they are read */
    int64_t lengths[ONAX_MOST_RANK], own_steps[ONAX_MOST_RANK], operand_steps[ONAX_MOST_RANK];   /* bytes */
    int64_t own_step, operand_step;                         /* of the last of these axes */
    onax_strided_copy grid, fill;                           /* a window from the operand; from one element */
    onax_combine combine;
    const char *missing;                                    /* an element */
    int64_t (*strides)[ONAX_MOST_RANK];                     /* of each component along the axes of the batch, in bytes */
    component components[];
};

/* ---- where windows begin: bytes from the first element of the operand on, or -1 */

#define SAME(W, x) ((W)(x))
#define SATURATED(W, x) ((x) > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)(x))   /* which is out of bounds in any case */

/* Reads number i, counts it from the end if it is negative, and clamps it. */
#define READ_INDEX(T, W, widened, stride) \
        T x; \
        memcpy(&x, indices + i * (stride), sizeof x); \
        const W read = widened(W, x), v = read + ((read >> (8 * sizeof(W) - 1)) & wrap); \
        const W above = v < 0 ? 0 : v, near = above > largest ? largest : above;

/* n times the same number, or a number each.  W: the type that it is computed in, in which offsets fit if it is int32_t. */
#define LOCATE(T, W, widened, added) \
        const W wrap = (W)c->wrap, largest = (W)c->largest, step = (W)c->step; \
        if (!c->last) { \
            const int64_t i = 0; \
            READ_INDEX(T, W, widened, 0) \
            const W offset = near * step, missing = -(W)(near != v); \
            (void)missing; \
            ONAX_EACH at[i] = added(i); } \
        else if (c->last == (int64_t)sizeof(T)) \
            ONAX_EACH { \
                READ_INDEX(T, W, widened, (int64_t)sizeof(T)) \
                const W offset = near * step, missing = -(W)(near != v); \
                (void)missing; \
                at[i] = added(i); } \
        else \
            ONAX_EACH { \
                READ_INDEX(T, W, widened, c->last) \
                const W offset = near * step, missing = -(W)(near != v); \
                (void)missing; \
                at[i] = added(i); }
#define ALONE(i) offset
#define ALONE_OR_MISSING(i) (offset | missing)                /* an offset is not negative */
#define SUM(i) (sum[i] + offset)
#define SUM_OR_MISSING(i) ((sum[i] + offset) | (sum[i] >> 63) | missing)
#define DEFINE_LOCATORS(name, T, W, widened) \
    ONAX_CLONES static void clamp_##name(const component *c, const char *indices, int64_t n, const int64_t *sum, int64_t *at) { \
        if (sum) { LOCATE(T, W, widened, SUM) } else { LOCATE(T, W, widened, ALONE) } } \
    ONAX_CLONES static void check_##name(const component *c, const char *indices, int64_t n, const int64_t *sum, int64_t *at) { \
        if (sum) { LOCATE(T, W, widened, SUM_OR_MISSING) } else { LOCATE(T, W, widened, ALONE_OR_MISSING) } }
#define DEFINE_BOTH(T) DEFINE_LOCATORS(near_##T, T, int32_t, SAME) DEFINE_LOCATORS(far_##T, T, int64_t, SAME)
DEFINE_BOTH(int8_t)
DEFINE_BOTH(uint8_t)
DEFINE_BOTH(int16_t)
DEFINE_BOTH(uint16_t)
DEFINE_BOTH(int32_t)
DEFINE_LOCATORS(far_uint32_t, uint32_t, int64_t, SAME)
DEFINE_LOCATORS(far_int64_t, int64_t, int64_t, SAME)
DEFINE_LOCATORS(far_uint64_t, uint64_t, int64_t, SATURATED)

#define LOCATOR(name) (clamped ? clamp_##name : check_##name)
#define NEAR_OR_FAR(T) (is_near ? LOCATOR(near_##T) : LOCATOR(far_##T))

static locator locator_of(const component *c, int clamped) {
    const int64_t small = INT32_MAX / 2;
    const int is_near = c->wrap <= small && c->largest <= small && (!c->step || c->largest <= small / c->step);
    switch (c->type) {
        case ONAX_I8: return NEAR_OR_FAR(int8_t);
        case ONAX_U8: return NEAR_OR_FAR(uint8_t);
        case ONAX_I16: return NEAR_OR_FAR(int16_t);
        case ONAX_U16: return NEAR_OR_FAR(uint16_t);
        case ONAX_I32: return NEAR_OR_FAR(int32_t);
        case ONAX_U32: return LOCATOR(far_uint32_t);
        case ONAX_I64: return LOCATOR(far_int64_t);
        case ONAX_U64: return LOCATOR(far_uint64_t);
        default: return NULL;
    }
}

/* ---- moving windows: elements of one width, rows, anything */

typedef struct { uint64_t low, high; } word128;
typedef struct { word128 low, high; } word256;
typedef struct { word256 low, high; } word512;

/* Whether none of eight windows is missing. */
static inline int are_present(const int64_t *at) {
    int64_t all = 0;
    for (int k = 0; k < 8; k++) all |= at[k];
    return all >= 0;
}

#define GATHER_ELEMENT(T, step) do { T x; memcpy(&x, operand + at[i], sizeof x); memcpy(own, &x, sizeof x); own += (step); } while (0)
#define PUT_ELEMENT(T, at, own) do { T x; memcpy(&x, own, sizeof x); memcpy(operand + (at), &x, sizeof x); } while (0)
#define DEFINE_MOVERS(width_, T) \
    static void read_##width_(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) { \
        const int64_t step = w->own_step, operand_step = w->operand_step; \
        int64_t i = 0; \
        if (step == (int64_t)sizeof(T) && !operand_step) \
            for (; i + 4 <= n; i++) { \
                GATHER_ELEMENT(T, sizeof(T)); i++; GATHER_ELEMENT(T, sizeof(T)); i++; \
                GATHER_ELEMENT(T, sizeof(T)); i++; GATHER_ELEMENT(T, sizeof(T)); } \
        for (; i < n; i++, operand += operand_step) GATHER_ELEMENT(T, step); } \
    static void gather_##width_(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) { \
        const int64_t step = w->own_step, operand_step = w->operand_step; \
        T missing; \
        int64_t i = 0; \
        memcpy(&missing, w->missing, sizeof missing); \
        if (step == (int64_t)sizeof(T) && !operand_step) \
            for (; i + 8 <= n && are_present(at + i); i += 8, own += 8 * sizeof(T)) { \
                T x[8]; \
                for (int k = 0; k < 8; k++) memcpy(&x[k], operand + at[i + k], sizeof(T)); \
                memcpy(own, x, sizeof x); } \
        for (operand += i * operand_step; i < n; i++, own += step, operand += operand_step) { \
            T x = missing; \
            if (at[i] >= 0) memcpy(&x, operand + at[i], sizeof x); \
            memcpy(own, &x, sizeof x); } } \
    static void put_##width_(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) { \
        const int64_t step = w->own_step, operand_step = w->operand_step; \
        int64_t i = 0; \
        if (!operand_step) \
            for (; i + 4 <= n && (at[i] | at[i + 1] | at[i + 2] | at[i + 3]) >= 0; i += 4, own += 4 * step) { \
                PUT_ELEMENT(T, at[i], own); PUT_ELEMENT(T, at[i + 1], own + step); \
                PUT_ELEMENT(T, at[i + 2], own + 2 * step); PUT_ELEMENT(T, at[i + 3], own + 3 * step); } \
        for (operand += i * operand_step; i < n; i++, own += step, operand += operand_step) \
            if (at[i] >= 0) PUT_ELEMENT(T, at[i], own); } \
    static void read_strided_##width_(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) { \
        const int64_t length = w->grid.dims[1], to = w->grid.to[1], from = w->grid.from[1]; \
        for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step) { \
            char *d = own; \
            const char *s = operand + at[i]; \
            for (int64_t k = 0; k < length; k++, d += to, s += from) { \
                T x; \
                memcpy(&x, s, sizeof x); \
                memcpy(d, &x, sizeof x); } } }
DEFINE_MOVERS(1, uint8_t)
DEFINE_MOVERS(2, uint16_t)
DEFINE_MOVERS(4, uint32_t)
DEFINE_MOVERS(8, uint64_t)
DEFINE_MOVERS(16, word128)
DEFINE_MOVERS(32, word256)
DEFINE_MOVERS(64, word512)

/* Rows of at least one chunk: the last chunk may repeat bytes of the one before. */
#define DEFINE_ROWS(chunk) \
    ONAX_CLONES static void copy_row_by_##chunk(char *to, const char *from, int64_t bytes) { \
        const int64_t last = bytes - chunk; \
        for (int64_t k = 0; k < last; k += chunk) memcpy(to + k, from + k, chunk); \
        memcpy(to + last, from + last, chunk); } \
    ONAX_CLONES static void read_rows_by_##chunk(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) { \
        const int64_t last = w->row - chunk, step = w->own_step, operand_step = w->operand_step; \
        for (int64_t i = 0; i < n; i++, own += step, operand += operand_step) { \
            const char *from = operand + at[i]; \
            for (int64_t k = 0; k < last; k += chunk) memcpy(own + k, from + k, chunk); \
            memcpy(own + last, from + last, chunk); } }
DEFINE_ROWS(8)
DEFINE_ROWS(32)
#define SHORT_ROW 2048   /* bytes: longer rows are the C library's */

static void gather_any(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) w->grid.run(&w->grid, own, operand + at[i]);
        else w->fill.run(&w->fill, own, w->missing);
}

static void put_any(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) w->grid.run(&w->grid, operand + at[i], own);
}

/* Axes of the windows outside, the batch inside: n windows, for each position of the grid its elements or rows. */
static void move_by_position(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    const onax_strided_copy *g = &w->grid;
    const int64_t *own_steps = w->is_gather ? g->to : g->from, *operand_steps = w->is_gather ? g->from : g->to;
    int64_t position[ONAX_MOST_RANK] = {0};
    for (;;) {
        int a = g->rank - 1;
        w->each(w, own, operand, at, n);
        for (; a >= 0; a--) {
            own += own_steps[a];
            operand += operand_steps[a];
            if (++position[a] < g->dims[a]) break;
            own -= own_steps[a] * g->dims[a];
            operand -= operand_steps[a] * g->dims[a];
            position[a] = 0;
        }
        if (a < 0) return;
    }
}

/* Combines a window of several rows. */
static void combine_window(const windows *w, char *to, const char *from) {
    const onax_strided_copy *g = &w->grid;
    const int is_widened = g->width != w->width, outer = is_widened ? g->rank : g->rank - 1;
    const int64_t n = is_widened ? g->width / w->width : g->dims[outer];
    const int64_t to_step = is_widened ? w->width : g->to[outer], from_step = is_widened ? w->width : g->from[outer];
    int64_t position[ONAX_MOST_RANK] = {0};
    for (;;) {
        int a = outer - 1;
        w->combine.row(to, to_step, from, from_step, n);
        for (; a >= 0; a--) {
            to += g->to[a];
            from += g->from[a];
            if (++position[a] < g->dims[a]) break;
            to -= g->to[a] * g->dims[a];
            from -= g->from[a] * g->dims[a];
            position[a] = 0;
        }
        if (a < 0) return;
    }
}

static void combine_rows(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    const int64_t length = w->row / w->width;
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) w->combine.row(operand + at[i], w->width, own, w->width, length);
}

static void combine_any(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) combine_window(w, operand + at[i], own);
}

static void combine_elements(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    w->combine.elements(operand, w->operand_step, at, own, w->own_step, n);
}

static void copy_row(char *to, const char *from, int64_t bytes) {
    if (bytes < 8 || bytes > SHORT_ROW) onax_copy_bytes(to, from, bytes);
    else if (bytes < 32) copy_row_by_8(to, from, bytes);
    else copy_row_by_32(to, from, bytes);
}

static void read_rows(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        memcpy(own, operand + at[i], (size_t)w->row);
}

static void gather_rows(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) copy_row(own, operand + at[i], w->row);
        else for (int64_t k = 0; k < w->row; k += w->width) memcpy(own + k, w->missing, (size_t)w->width);
}

static void put_rows(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) copy_row(operand + at[i], own, w->row);
}

#define BY_WIDTH(w, form, others) \
    ((w) == 1 ? form##_1 : (w) == 2 ? form##_2 : (w) == 4 ? form##_4 : (w) == 8 ? form##_8 : (w) == 16 ? form##_16 \
     : (w) == 32 ? form##_32 : (w) == 64 ? form##_64 : (others))

/* What moves elements or rows that lie side by side. */
static mover row_mover(const windows *w) {
    if (!w->is_gather) {
        if (w->combine.row) return w->row == w->width ? combine_elements : combine_rows;
        return BY_WIDTH(w->row, put, put_rows);
    }
    if (!w->clamped) return w->row == w->width ? BY_WIDTH(w->width, gather, gather_rows) : gather_rows;
    return BY_WIDTH(w->row, read, w->row < 8 || w->row > SHORT_ROW ? read_rows : w->row < 32 ? read_rows_by_8 : read_rows_by_32);
}

/* What moves windows of several rows, one window after the other. */
static mover window_mover(const windows *w) {
    const int is_strided = w->clamped && w->grid.rank == 2 && w->grid.dims[0] == 1;
    if (w->combine.row) return combine_any;
    if (!w->is_gather) return put_any;
    return is_strided ? BY_WIDTH(w->row, read_strided, gather_any) : gather_any;
}

/* ---- running */

/* Where a run of windows has come to. */
typedef struct {
    int64_t position[ONAX_MOST_RANK];
    char *own, *operand;
    const char *indices[ONAX_MOST_RANK];
} progress;

/* Moves on by so many positions of an axis of the batch. */
static inline void advance(const windows *w, progress *p, int axis, int64_t count) {
    p->own += count * w->own_steps[axis];
    p->operand += count * w->operand_steps[axis];
    for (int k = 0; k < w->n_components; k++) p->indices[k] += count * w->strides[k][axis];
}

static progress begin_at(const windows *w, char *const *buffers, const int32_t *operands, int64_t first) {
    progress p;
    memset(p.position, 0, sizeof p.position);
    p.own = buffers[operands[!w->is_gather]];
    p.operand = buffers[operands[w->is_gather]] + w->start;
    for (int k = 0; k < w->n_components; k++) p.indices[k] = buffers[operands[w->components[k].operand]] + w->components[k].start;
    for (int a = w->rank - 1; a >= 0; a--) {
        p.position[a] = first % w->lengths[a];
        first /= w->lengths[a];
        advance(w, &p, a, p.position[a]);
    }
    return p;
}

/* Has the caches fetch the indices after the next n, while windows are moved. */
static inline void fetch_indices(const windows *w, const progress *p, int64_t n) {
    for (int k = 0; k < w->n_components; k++) {
        const component *c = &w->components[k];
        const char *next = p->indices[k] + n * c->last;
        if (c->last <= 8)
            for (int64_t i = 0; i < n * c->last; i += LINE) onax_prefetch(next + i);
    }
}

static void locate_and_move(const windows *w, const progress *p, int64_t n) {
    int64_t at[BLOCK];
    if (!w->n_components) memset(at, 0, sizeof at);
    for (int k = 0; k < w->n_components; k++)
        w->components[k].locate(&w->components[k], p->indices[k], n, k ? at : NULL, at);
    fetch_indices(w, p, n);
    w->move(w, p->own, p->operand, at, n);
}

/* Moves the next n windows, which are in one stretch of the last axis of the batch. */
static void move_windows(const windows *w, progress *p, int64_t n) {
    const int last = w->rank - 1;
    if (w->is_indexed) {
        const component *c = w->components;
        w->combine.indexed(p->operand, p->indices[0], (int32_t)c->wrap, (int32_t)c->largest, p->own, n);
    } else locate_and_move(w, p, n);
    p->position[last] += n;
    advance(w, p, last, n);
    for (int a = last; a > 0 && p->position[a] == w->lengths[a]; a--) {
        advance(w, p, a, -p->position[a]);
        advance(w, p, a - 1, 1);
        p->position[a] = 0;
        p->position[a - 1]++;
    }
}

/* The windows first ... past - 1, in order. */
static int run_windows(const onax_instruction *q, char *const *buffers, int64_t first, int64_t past, onax_frame *f) {
    const windows *w = q->state;
    progress p = begin_at(w, buffers, q->operands, first);
    while (first < past) {
        const int64_t left = w->lengths[w->rank - 1] - p.position[w->rank - 1], most = left < BLOCK ? left : BLOCK;
        const int64_t n = past - first < most ? past - first : most;
        const int status = f ? onax_poll(f) : ONAX_DONE;
        if (status) return status;
        move_windows(w, &p, n);
        first += n;
    }
    return ONAX_DONE;
}

typedef struct { const onax_instruction *q; char *const *buffers; } large_gather;

static void run_part_of_gather(void *user, size_t part) {
    const large_gather *g = user;
    const windows *w = g->q->state;
    const int64_t share = (w->count + w->parts - 1) / w->parts, first = (int64_t)part * share;
    const int64_t past = first + share < w->count ? first + share : w->count;
    if (first < past) run_windows(g->q, g->buffers, first, past, NULL);
}

static int run_gather(const onax_instruction *q, onax_frame *f) {
    const windows *w = q->state;
    large_gather g = {q, f->buffers};
    if (w->parts < 2 || !f->parallel) return run_windows(q, f->buffers, 0, w->count, f);
    f->parallel(f->where, run_part_of_gather, (size_t)w->parts, &g);
    return ONAX_DONE;
}

static int run_scatter(const onax_instruction *q, onax_frame *f) {
    return run_windows(q, f->buffers, 0, ((const windows *)q->state)->count, f);
}

/* One index vector. */
static int run_one(const onax_instruction *q, onax_frame *f) {
    const windows *w = q->state;
    int64_t at = 0, is_out = 0;
    for (int k = 0; k < w->n_components; k++) {
        const component *c = &w->components[k];
        const int64_t read = onax_read_index(ONAX_BUFFER(q, f, c->operand) + c->start, c->type), x = read < 0 ? read + c->wrap : read;
        const int64_t near = onax_nearest_index(x, c->largest);
        at += near * c->step;
        is_out |= near != x;
    }
    if (is_out && !w->clamped) at = -1;
    w->move(w, ONAX_BUFFER(q, f, !w->is_gather), ONAX_BUFFER(q, f, w->is_gather) + w->start, &at, 1);
    return ONAX_DONE;
}

static int run_nothing(const onax_instruction *q, onax_frame *f) {
    (void)q, (void)f;
    return ONAX_DONE;
}

/* ---- verification */

/* Adds how far steps lead; they go forward. */
static const char *add_steps(int64_t count, int64_t step, int64_t width, int64_t *reach) {
    if (count < 0 || step < 0 || step > ONAX_FARTHEST / width) return "windows have no such step";
    if (step && count > ONAX_FARTHEST / width / step) return "windows are too far apart";
    *reach += count * step * width;
    return *reach > ONAX_FARTHEST ? "windows are too far apart" : NULL;
}

/* What attributes are read from. */
typedef struct { const int64_t *components, *batch, *axes; int64_t n_components, n_batch, n_axes, stride; } layout;

static const char *read_component(
        const onax_instruction *q, windows *w, const layout *l, int k, const int64_t *bytes, int64_t *operand_reach) {
    const int64_t *a = l->components + k * l->stride;
    component *c = &w->components[k];
    int64_t reach = 0;
    const char *fault;
    if (a[COMPONENT_OPERAND] < 2 || a[COMPONENT_OPERAND] >= q->n_operands) return "an index has no such operand";
    if (!onax_is_index(a[COMPONENT_TYPE])) return "an index has no such type";
    if (a[COMPONENT_WRAP] < 0 || a[COMPONENT_WRAP] > ONAX_FARTHEST || a[COMPONENT_LARGEST] > ONAX_FARTHEST)
        return "an index has no such limit";
    if ((fault = add_steps(a[COMPONENT_LARGEST], a[COMPONENT_STEP], w->width, operand_reach))) return fault;
    c->operand = (int)a[COMPONENT_OPERAND];
    c->type = a[COMPONENT_TYPE];
    c->size = onax_size_of(c->type);
    c->wrap = a[COMPONENT_WRAP];
    c->largest = a[COMPONENT_LARGEST];
    c->step = a[COMPONENT_STEP] * w->width;
    c->locate = locator_of(c, w->clamped);
    if ((fault = add_steps(1, a[COMPONENT_START], c->size, &reach))) return fault;
    c->start = reach;
    for (int64_t i = 0; i < l->n_batch; i++)
        if ((fault = add_steps(l->batch[3 * i] - 1, a[COMPONENT_HEAD + i], c->size, &reach))) return fault;
    return reach + c->size > bytes[c->operand] ? "there are too few indices" : NULL;
}

/* Whether axis i of the batch goes on where `last`, the last that was read, ends. */
static int continues(const windows *w, const layout *l, int64_t i, int last) {
    const int64_t *a = l->batch + 3 * i;
    if (w->own_steps[last] != a[0] * a[1] * w->width || w->operand_steps[last] != a[0] * a[2] * w->width) return 0;
    for (int k = 0; k < w->n_components; k++)
        if (w->strides[k][last] != a[0] * l->components[k * l->stride + COMPONENT_HEAD + i] * w->components[k].size) return 0;
    return 1;
}

/* Reads the batch, merging axes; the reaches grow by what it adds. */
static const char *read_batch(windows *w, const layout *l, int64_t *own_reach, int64_t *operand_reach) {
    const char *fault;
    for (int64_t i = 0; i < l->n_batch; i++) {
        const int64_t *a = l->batch + 3 * i;
        if ((fault = add_steps(a[0] - 1, a[1], w->width, own_reach))) return fault;
        if ((fault = add_steps(a[0] - 1, a[2], w->width, operand_reach))) return fault;
        if (a[0] == 1) continue;
        if (w->rank && continues(w, l, i, w->rank - 1)) w->lengths[w->rank - 1] *= a[0];
        else w->lengths[w->rank++] = a[0];
        w->own_steps[w->rank - 1] = a[1] * w->width;
        w->operand_steps[w->rank - 1] = a[2] * w->width;
        for (int k = 0; k < w->n_components; k++)
            w->strides[k][w->rank - 1] = l->components[k * l->stride + COMPONENT_HEAD + i] * w->components[k].size;
    }
    if (!w->rank) {
        w->lengths[0] = 1;
        w->rank = 1;
    }
    w->own_step = w->own_steps[w->rank - 1];
    w->operand_step = w->operand_steps[w->rank - 1];
    for (int k = 0; k < w->n_components; k++) w->components[k].last = w->strides[k][w->rank - 1];
    return NULL;
}

static const char *count_windows(windows *w, const layout *l) {
    w->count = 1;
    for (int64_t i = 0; i < l->n_batch; i++) {
        const int64_t length = l->batch[3 * i];
        if (length < 0 || length > ONAX_FARTHEST || (length && w->count > ONAX_FARTHEST / length)) return "a batch is too large";
        w->count *= length;
    }
    return NULL;
}

/* Whether indices move windows of a scatter along an axis that they have: then windows may overlap partly. */
static int may_overlap(const windows *w, const layout *l) {
    for (int64_t i = 0; i < l->n_axes; i++)
        for (int k = 0; k < w->n_components; k++)
            if (l->axes[3 * i] > 1 && w->components[k].largest && w->components[k].step == l->axes[3 * i + 1] * w->width) return 1;
    return 0;
}

/* Chooses what moves windows: windows one after the other, or position by position where the batch is written more densely. */
static void choose_mover(windows *w, const layout *l) {
    const onax_strided_copy *g = &w->grid;
    const int64_t *own_steps = w->is_gather ? g->to : g->from;
    int is_outer = w->lengths[w->rank - 1] >= 4 && (w->is_gather || !may_overlap(w, l));
    for (int a = 0; a < g->rank; a++) is_outer = is_outer && (g->dims[a] == 1 || own_steps[a] > w->own_step);
    w->row = g->width;
    w->each = row_mover(w);
    w->move = !g->rank ? w->each : is_outer ? move_by_position : window_mover(w);
}

/* Reads all attributes but the `rest` that follow them; `own` and `operand` are operands of the instruction. */
static const char *read_windows(onax_instruction *q, int own, int operand, const int64_t *bytes, int64_t rest) {
    const int64_t *a = q->attributes, limit = ONAX_MOST_RANK;
    int64_t own_reach = 0, operand_reach = 0;
    layout l;
    const char *fault;
    windows *w;
    if (q->n_operands < 2 || q->n_attributes < WINDOWS_HEAD) return "windows lack operands or attributes";
    if (a[WINDOWS_WIDTH] < 1 || a[WINDOWS_WIDTH] > ONAX_MOST_WIDTH) return "an element has no such width";
    l.n_components = a[WINDOWS_COMPONENTS], l.n_batch = a[WINDOWS_BATCH], l.n_axes = a[WINDOWS_AXES];
    if (l.n_components < 0 || l.n_batch < 0 || l.n_axes < 0 || l.n_components > limit || l.n_batch > limit || l.n_axes > limit)
        return "windows have too many axes";
    l.stride = COMPONENT_HEAD + l.n_batch;
    l.components = a + WINDOWS_HEAD;
    l.batch = l.components + l.n_components * l.stride;
    l.axes = l.batch + 3 * l.n_batch;
    if (q->n_attributes != l.axes + 3 * l.n_axes + rest - a) return "windows have too few or too many attributes";
    q->state = w = calloc(1, sizeof *w + (size_t)l.n_components * (sizeof(component) + sizeof *w->strides));
    if (!w) return "no memory";
    w->width = a[WINDOWS_WIDTH];
    w->clamped = a[WINDOWS_CLAMPED] != 0;
    w->is_gather = own == 0;
    w->n_components = (int)l.n_components;
    w->strides = (int64_t (*)[ONAX_MOST_RANK])(w->components + l.n_components);
    if ((fault = onax_strided_copy_make(&w->grid, w->width, l.n_axes, l.axes))) return fault;
    if ((fault = count_windows(w, &l))) return fault;
    if (!w->grid.bytes) w->count = 0;
    if (!w->count) return NULL;
    if ((fault = add_steps(1, a[WINDOWS_START], w->width, &operand_reach))) return fault;
    w->start = operand_reach;
    for (int k = 0; k < w->n_components; k++)
        if ((fault = read_component(q, w, &l, k, bytes, &operand_reach))) return fault;
    if ((fault = read_batch(w, &l, &own_reach, &operand_reach))) return fault;
    if (w->is_gather) {
        if (!onax_is_inside(0, w->grid.to_low, w->grid.to_high + own_reach, bytes[own])) return "windows leave the result";
        if (!onax_is_inside(0, w->grid.from_low, w->grid.from_high + operand_reach, bytes[operand])) return "windows leave their operand";
    } else {
        if (!onax_is_inside(0, w->grid.from_low, w->grid.from_high + own_reach, bytes[own])) return "windows leave the updates";
        if (!onax_is_inside(0, w->grid.to_low, w->grid.to_high + operand_reach, bytes[operand])) return "windows leave their operand";
    }
    if (a[WINDOWS_HOW] != ONAX_PUT && !w->is_gather) {
        const int is_known = onax_combine_of(a[WINDOWS_HOW], a[WINDOWS_TYPE], &w->combine);
        if (!is_known || onax_size_of(a[WINDOWS_TYPE]) != w->width) return "a scatter does not combine such elements";
    }
    choose_mover(w, &l);
    return NULL;
}

static void guess_work(onax_instruction *q) {
    const windows *w = q->state;
    const double window = w->grid.bytes == w->width ? 0.5 : onax_strided_copy_work(&w->grid);
    q->work = 5 + (double)w->count * (0.2 * w->n_components + window);
    if (!w->count) q->run = run_nothing;
}

static const char *verify_gather(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t words, axes[3 * ONAX_MOST_RANK];
    const char *fault;
    windows *w;
    if (q->n_attributes < WINDOWS_HEAD || a[WINDOWS_WIDTH] < 1 || a[WINDOWS_WIDTH] > ONAX_MOST_WIDTH) return "an element has no such width";
    words = (a[WINDOWS_WIDTH] + 7) / 8;
    if ((fault = read_windows(q, 0, 1, bytes, words))) return fault;
    w = q->state;
    w->missing = (const char *)(a + q->n_attributes - words);
    memcpy(axes, a + q->n_attributes - words - 3 * a[WINDOWS_AXES], (size_t)(3 * a[WINDOWS_AXES]) * sizeof *axes);
    for (int64_t i = 0; i < a[WINDOWS_AXES]; i++) axes[3 * i + 2] = 0;
    if ((fault = onax_strided_copy_make(&w->fill, w->width, a[WINDOWS_AXES], axes))) return fault;
    w->parts = bytes[0] / PART_BYTES;
    w->parts = w->parts < w->count ? w->parts : w->count;
    w->parts = w->parts < 1 ? 1 : w->parts > MOST_PARTS ? MOST_PARTS : w->parts;
    q->run = w->count == 1 ? run_one : run_gather;
    guess_work(q);
    return NULL;
}

/* Whether each update is one element for one index of int32, and they lie side by side. */
static int has_one_index(const windows *w) {
    const component *c = w->components;
    if (w->move != combine_elements || w->clamped || w->n_components != 1 || c->type != ONAX_I32) return 0;
    return c->last == 4 && c->step == w->width && !w->operand_step && w->own_step == w->width
           && c->largest >= 0 && c->largest <= INT32_MAX / 2 && c->wrap <= INT32_MAX / 2;
}

static const char *verify_scatter(onax_instruction *q, const int64_t *bytes) {
    const char *fault = read_windows(q, 1, 0, bytes, 0);
    if (fault) return fault;
    q->run = ((const windows *)q->state)->count == 1 ? run_one : run_scatter;
    ((windows *)q->state)->is_indexed = q->run == run_scatter && has_one_index(q->state);
    guess_work(q);
    return NULL;
}

static void release_windows(onax_instruction *q) { free(q->state); }

const onax_tape_operation onax_tape_gather[] = {
    {"gather", 1, verify_gather, run_gather, release_windows},
    {"scatter", 1, verify_scatter, run_scatter, release_windows},
    {NULL, 0, NULL, NULL, NULL},
};
