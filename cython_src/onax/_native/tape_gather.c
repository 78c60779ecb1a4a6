/* Instructions of tapes that gather and scatter windows at indices.

   For each index vector of a batch there is one window of an operand.  Where it begins is clamped, or windows that leave
   the operand are left out, so that the contents of indices do no harm.

   gather    operands: the result, the operand, the indices
   scatter   operands: the operand, which is updated in place, the indices, the updates
   Attributes of both:

       width of an element in bytes, how a scatter combines (enum combination), type of elements (if it combines)
       whether windows are clamped, type of the indices, numbers of components, of batch axes, of window axes
       for each component of an index vector:  largest value, step in the operand
       for each axis of the batch:             length, step in the result or updates, step in the operand
       for each axis of a window:              length, stride where it goes to, stride where it comes from
       of a gather, the element for what is not in the operand, in as many words as it needs

   Steps and strides are in elements; the indices are (batch axes, components) in row-major order. */
#include "vector_code.h"

#include "tape_scatter.h"
#include "tape_strides.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 256              /* index vectors that are located at a time */
#define PART_BYTES (1 << 20)   /* of the result that one part of a gather writes */
#define MOST_PARTS 64

enum { WINDOWS_WIDTH, WINDOWS_HOW, WINDOWS_TYPE, WINDOWS_CLAMPED, WINDOWS_INDEX_TYPE, WINDOWS_COMPONENTS, WINDOWS_BATCH,
       WINDOWS_AXES, WINDOWS_HEAD };

typedef struct windows windows;
typedef struct { int64_t largest, step; } component;       /* step in bytes */
typedef void (*locator)(const windows *w, const char *indices, int64_t n, int64_t *at);

/* Windows i = 0 ... n - 1: `own` is where the first is in the result or updates, `operand` where it would be at index 0. */
typedef void (*mover)(const windows *w, char *own, char *operand, const int64_t *at, int64_t n);

struct windows {
    locator locate;
    mover move;
    int64_t width, count, index_type, index_size, index_bytes, parts;
    int clamped, n_components, rank;
    int64_t lengths[ONAX_MOST_RANK], own_steps[ONAX_MOST_RANK], operand_steps[ONAX_MOST_RANK];   /* bytes */
    int64_t own_step, operand_step;                         /* of the last of these axes */
    onax_strided_copy grid, fill;                           /* a window from the operand; from one element */
    onax_combine combine;
    const char *missing;                                    /* an element */
    component components[];
};

/* ---- where windows begin: bytes from the first element of the operand on, or -1 */

#define SAME(x) ((int64_t)(x))
#define SATURATED(x) ((x) > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)(x))   /* which is out of bounds in any case */

/* Adds component k of n index vectors, which lie `stride` components apart. */
#define ADD_COMPONENT(T, as_int64, stride) \
    ONAX_EACH { \
        T x; \
        memcpy(&x, indices + i * (stride) * (int64_t)sizeof x, sizeof x); \
        const int64_t v = as_int64(x), near = onax_nearest_index(v, largest); \
        at[i] = (at[i] + near * step) | (at[i] >> 63) | (-(int64_t)(near != v) & ignored); }

#define DEFINE_LOCATOR(T, as_int64) \
    ONAX_CLONES static void locate_##T(const windows *w, const char *indices, int64_t n, int64_t *at) { \
        const int64_t ignored = w->clamped - 1, count = w->n_components; \
        memset(at, 0, (size_t)n * sizeof *at); \
        for (int64_t k = 0; k < count; k++, indices += sizeof(T)) { \
            const int64_t largest = w->components[k].largest, step = w->components[k].step; \
            if (count == 1) ADD_COMPONENT(T, as_int64, 1) \
            else if (count == 2) ADD_COMPONENT(T, as_int64, 2) \
            else ADD_COMPONENT(T, as_int64, count) } }
DEFINE_LOCATOR(int8_t, SAME)
DEFINE_LOCATOR(uint8_t, SAME)
DEFINE_LOCATOR(int16_t, SAME)
DEFINE_LOCATOR(uint16_t, SAME)
DEFINE_LOCATOR(int32_t, SAME)
DEFINE_LOCATOR(uint32_t, SAME)
DEFINE_LOCATOR(int64_t, SAME)
DEFINE_LOCATOR(uint64_t, SATURATED)

static locator locator_of(int64_t type) {
    switch (type) {
        case ONAX_I8: return locate_int8_t;
        case ONAX_U8: return locate_uint8_t;
        case ONAX_I16: return locate_int16_t;
        case ONAX_U16: return locate_uint16_t;
        case ONAX_I32: return locate_int32_t;
        case ONAX_U32: return locate_uint32_t;
        case ONAX_I64: return locate_int64_t;
        case ONAX_U64: return locate_uint64_t;
        default: return NULL;
    }
}

/* ---- moving windows: elements of one width, rows, anything */

typedef struct { uint64_t low, high; } word128;

#define DEFINE_MOVERS(width_, T) \
    static void gather_##width_(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) { \
        const int64_t step = w->own_step, operand_step = w->operand_step; \
        T missing; \
        memcpy(&missing, w->missing, sizeof missing); \
        for (int64_t i = 0; i < n; i++, own += step, operand += operand_step) { \
            T x = missing; \
            if (at[i] >= 0) memcpy(&x, operand + at[i], sizeof x); \
            memcpy(own, &x, sizeof x); } } \
    static void put_##width_(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) { \
        const int64_t step = w->own_step, operand_step = w->operand_step; \
        for (int64_t i = 0; i < n; i++, own += step, operand += operand_step) { \
            T x; \
            if (at[i] < 0) continue; \
            memcpy(&x, own, sizeof x); \
            memcpy(operand + at[i], &x, sizeof x); } }
DEFINE_MOVERS(1, uint8_t)
DEFINE_MOVERS(2, uint16_t)
DEFINE_MOVERS(4, uint32_t)
DEFINE_MOVERS(8, uint64_t)
DEFINE_MOVERS(16, word128)

static void gather_any(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) w->grid.run(&w->grid, own, operand + at[i]);
        else w->fill.run(&w->fill, own, w->missing);
}

static void put_any(const windows *w, char *own, char *operand, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++, own += w->own_step, operand += w->operand_step)
        if (at[i] >= 0) w->grid.run(&w->grid, operand + at[i], own);
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
    const int64_t length = w->grid.width / w->width;
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

#define BY_WIDTH(w, form) \
    ((w) == 1 ? form##_1 : (w) == 2 ? form##_2 : (w) == 4 ? form##_4 : (w) == 8 ? form##_8 : (w) == 16 ? form##_16 : form##_any)

/* ---- running */

/* Where a run of windows has come to. */
typedef struct { int64_t position[ONAX_MOST_RANK]; char *own, *operand; } progress;

static progress begin_at(const windows *w, char *own, char *operand, int64_t first) {
    progress p = {{0}, own, operand};
    for (int a = w->rank - 1; a >= 0; a--) {
        p.position[a] = first % w->lengths[a];
        first /= w->lengths[a];
        p.own += p.position[a] * w->own_steps[a];
        p.operand += p.position[a] * w->operand_steps[a];
    }
    return p;
}

/* Moves the next n windows, of which `at` says where they begin, one stretch of the last axis of the batch at a time. */
static void move_windows(const windows *w, progress *p, const int64_t *at, int64_t n) {
    const int last = w->rank - 1;
    while (n) {
        const int64_t left = w->lengths[last] - p->position[last], m = n < left ? n : left;
        w->move(w, p->own, p->operand, at, m);
        at += m;
        n -= m;
        p->position[last] += m;
        p->own += m * w->own_steps[last];
        p->operand += m * w->operand_steps[last];
        for (int a = last; a > 0 && p->position[a] == w->lengths[a]; a--) {
            p->own += w->own_steps[a - 1] - p->position[a] * w->own_steps[a];
            p->operand += w->operand_steps[a - 1] - p->position[a] * w->operand_steps[a];
            p->position[a] = 0;
            p->position[a - 1]++;
        }
    }
}

/* The windows first ... past - 1, in order. */
static int run_windows(const windows *w, char *own, char *operand, const char *indices, int64_t first, int64_t past, onax_frame *f) {
    progress p = begin_at(w, own, operand, first);
    int64_t at[BLOCK];
    while (first < past) {
        const int64_t n = past - first < BLOCK ? past - first : BLOCK;
        const int status = f ? onax_poll(f) : ONAX_DONE;
        if (status) return status;
        w->locate(w, indices + first * w->index_bytes, n, at);
        move_windows(w, &p, at, n);
        first += n;
    }
    return ONAX_DONE;
}

typedef struct { const windows *w; char *own, *operand; const char *indices; } large_gather;

static void run_part_of_gather(void *user, size_t part) {
    const large_gather *g = user;
    const int64_t share = (g->w->count + g->w->parts - 1) / g->w->parts, first = (int64_t)part * share;
    const int64_t past = first + share < g->w->count ? first + share : g->w->count;
    if (first < past) run_windows(g->w, g->own, g->operand, g->indices, first, past, NULL);
}

static int run_gather(const onax_instruction *q, onax_frame *f) {
    const windows *w = q->state;
    large_gather g = {w, ONAX_BUFFER(q, f, 0), ONAX_BUFFER(q, f, 1), ONAX_BUFFER(q, f, 2)};
    if (w->parts < 2 || !f->parallel) return run_windows(w, g.own, g.operand, g.indices, 0, w->count, f);
    f->parallel(f->where, run_part_of_gather, (size_t)w->parts, &g);
    return ONAX_DONE;
}

static int run_scatter(const onax_instruction *q, onax_frame *f) {
    const windows *w = q->state;
    return run_windows(w, ONAX_BUFFER(q, f, 2), ONAX_BUFFER(q, f, 0), ONAX_BUFFER(q, f, 1), 0, w->count, f);
}

/* ---- one index vector */

static int64_t locate_one(const windows *w, const char *indices) {
    int64_t at = 0, is_out = 0;
    for (int k = 0; k < w->n_components; k++, indices += w->index_size) {
        const component *c = &w->components[k];
        const int64_t x = onax_read_index(indices, w->index_type), near = onax_nearest_index(x, c->largest);
        at += near * c->step;
        is_out |= near != x;
    }
    return is_out && !w->clamped ? -1 : at;
}

static int run_gather_of_one(const onax_instruction *q, onax_frame *f) {
    const windows *w = q->state;
    const int64_t at = locate_one(w, ONAX_BUFFER(q, f, 2));
    w->move(w, ONAX_BUFFER(q, f, 0), ONAX_BUFFER(q, f, 1), &at, 1);
    return ONAX_DONE;
}

static int run_scatter_of_one(const onax_instruction *q, onax_frame *f) {
    const windows *w = q->state;
    const int64_t at = locate_one(w, ONAX_BUFFER(q, f, 1));
    w->move(w, ONAX_BUFFER(q, f, 2), ONAX_BUFFER(q, f, 0), &at, 1);
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

/* Reads the batch, merging axes; the reaches grow by what it adds. */
static const char *read_batch(windows *w, int64_t rank, const int64_t *a, int64_t *own_reach, int64_t *operand_reach) {
    const char *fault;
    w->count = 1;
    for (int64_t i = 0; i < rank; i++) {
        const int64_t length = a[3 * i];
        if (length < 0 || length > ONAX_FARTHEST || (length && w->count > ONAX_FARTHEST / length)) return "a batch is too large";
        w->count *= length;
    }
    for (int64_t i = 0; i < rank && w->count; i++, a += 3) {
        const int64_t length = a[0];
        const int last = w->rank - 1;
        if ((fault = add_steps(length - 1, a[1], w->width, own_reach))) return fault;
        if ((fault = add_steps(length - 1, a[2], w->width, operand_reach))) return fault;
        if (length == 1) continue;
        if (last >= 0 && w->own_steps[last] == length * a[1] * w->width && w->operand_steps[last] == length * a[2] * w->width)
            w->lengths[last] *= length;
        else w->lengths[w->rank++] = length;
        w->own_steps[w->rank - 1] = a[1] * w->width;
        w->operand_steps[w->rank - 1] = a[2] * w->width;
    }
    if (!w->rank) {
        w->lengths[0] = 1;
        w->rank = 1;
    }
    w->own_step = w->own_steps[w->rank - 1];
    w->operand_step = w->operand_steps[w->rank - 1];
    return NULL;
}

static const char *read_components(windows *w, const int64_t *a, int64_t *operand_reach) {
    const char *fault;
    for (int k = 0; k < w->n_components; k++, a += 2) {
        if (a[0] > ONAX_FARTHEST) return "an index has no such limit";
        if ((fault = add_steps(a[0], a[1], w->width, operand_reach))) return fault;
        w->components[k] = (component){a[0], a[1] * w->width};
    }
    return NULL;
}

typedef struct { int64_t operand, own, indices; int is_scatter; } sizes;   /* bytes of the operands */

/* Reads all attributes; `rest` is how many follow them. */
static const char *read_windows(onax_instruction *q, sizes size, int64_t rest) {
    const int64_t *a = q->attributes, count = q->n_attributes, limit = ONAX_MOST_RANK;
    int64_t own_reach = 0, operand_reach = 0, k, b, r;
    const char *fault;
    windows *w;
    if (count < WINDOWS_HEAD) return "windows lack attributes";
    k = a[WINDOWS_COMPONENTS], b = a[WINDOWS_BATCH], r = a[WINDOWS_AXES];
    if (k < 0 || b < 0 || r < 0 || k > limit || b > limit || r > limit || count != WINDOWS_HEAD + 2 * k + 3 * b + 3 * r + rest)
        return "windows have too few or too many attributes";
    q->state = w = calloc(1, sizeof *w + (size_t)k * sizeof(component));
    if (!w) return "no memory";
    w->width = a[WINDOWS_WIDTH];
    w->clamped = a[WINDOWS_CLAMPED] != 0;
    w->n_components = (int)k;
    w->index_type = a[WINDOWS_INDEX_TYPE];
    w->locate = locator_of(w->index_type);
    if (!w->locate) return "an index has no such type";
    w->index_size = onax_size_of(w->index_type);
    w->index_bytes = k * w->index_size;
    if ((fault = onax_strided_copy_make(&w->grid, w->width, r, a + WINDOWS_HEAD + 2 * k + 3 * b))) return fault;
    if ((fault = read_components(w, a + WINDOWS_HEAD, &operand_reach))) return fault;
    if ((fault = read_batch(w, b, a + WINDOWS_HEAD + 2 * k, &own_reach, &operand_reach))) return fault;
    if (!w->grid.bytes) w->count = 0;
    if (!w->count) return NULL;
    if (k && w->count > size.indices / w->index_bytes) return "there are too few indices";
    if (size.is_scatter) {
        if (!onax_is_inside(0, w->grid.from_low, w->grid.from_high + own_reach, size.own)) return "windows leave the updates";
        if (!onax_is_inside(0, w->grid.to_low, w->grid.to_high + operand_reach, size.operand)) return "windows leave their operand";
    } else {
        if (!onax_is_inside(0, w->grid.to_low, w->grid.to_high + own_reach, size.own)) return "windows leave the result";
        if (!onax_is_inside(0, w->grid.from_low, w->grid.from_high + operand_reach, size.operand)) return "windows leave their operand";
    }
    return NULL;
}

static void guess_work(onax_instruction *q) {
    const windows *w = q->state;
    q->work = 5 + (double)w->count * (0.3 * w->n_components + (w->grid.bytes == w->width ? 0.5 : onax_strided_copy_work(&w->grid)));
    if (!w->count) q->run = run_nothing;
}

static const char *verify_gather(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t words, axes[3 * ONAX_MOST_RANK];
    const char *fault;
    windows *w;
    if (q->n_operands != 3 || q->n_attributes < WINDOWS_HEAD) return "a gather lacks operands";
    if (a[WINDOWS_WIDTH] < 1 || a[WINDOWS_WIDTH] > ONAX_MOST_WIDTH) return "an element has no such width";
    words = (a[WINDOWS_WIDTH] + 7) / 8;
    if ((fault = read_windows(q, (sizes){bytes[1], bytes[0], bytes[2], 0}, words))) return fault;
    w = q->state;
    w->missing = (const char *)(a + q->n_attributes - words);
    memcpy(axes, a + q->n_attributes - words - 3 * a[WINDOWS_AXES], (size_t)(3 * a[WINDOWS_AXES]) * sizeof *axes);
    for (int64_t i = 0; i < a[WINDOWS_AXES]; i++) axes[3 * i + 2] = 0;
    if ((fault = onax_strided_copy_make(&w->fill, w->width, a[WINDOWS_AXES], axes))) return fault;
    w->move = w->grid.rank || w->grid.width != w->width ? gather_any : BY_WIDTH(w->width, gather);
    w->parts = bytes[0] / PART_BYTES;
    w->parts = w->parts < w->count ? w->parts : w->count;
    w->parts = w->parts < 1 ? 1 : w->parts > MOST_PARTS ? MOST_PARTS : w->parts;
    q->run = w->count == 1 ? run_gather_of_one : run_gather;
    guess_work(q);
    return NULL;
}

static const char *verify_scatter(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    const char *fault;
    windows *w;
    int is_element;
    if (q->n_operands != 3 || q->n_attributes < WINDOWS_HEAD) return "a scatter lacks operands";
    if ((fault = read_windows(q, (sizes){bytes[0], bytes[2], bytes[1], 1}, 0))) return fault;
    w = q->state;
    is_element = !w->grid.rank && w->grid.width == w->width;
    if (a[WINDOWS_HOW] == ONAX_PUT) w->move = is_element ? BY_WIDTH(w->width, put) : put_any;
    else {
        if (onax_size_of(a[WINDOWS_TYPE]) != w->width || !onax_combine_of(a[WINDOWS_HOW], a[WINDOWS_TYPE], &w->combine))
            return "a scatter does not combine such elements";
        w->move = is_element ? combine_elements : !w->grid.rank ? combine_rows : combine_any;
    }
    q->run = w->count == 1 ? run_scatter_of_one : run_scatter;
    guess_work(q);
    return NULL;
}

static void release_windows(onax_instruction *q) { free(q->state); }

const onax_tape_operation onax_tape_gather[] = {
    {"gather", 1, verify_gather, run_gather, release_windows},
    {"scatter", 1, verify_scatter, run_scatter, release_windows},
    {NULL, 0, NULL, NULL, NULL},
};
