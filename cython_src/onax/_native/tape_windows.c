/* Reductions over windows.

   reduce_window  reads: operand.  Attributes: the reduction (sum, max or min), the type, the rank, then for each axis: size,
                  window, stride, padding before and after, dilation of the operand, dilation of the window

   One axis after the other is reduced, in `_prims/windows.py`'s order of operations.  Along an axis the operand is
   [outer][size][inner]; each of the `outer` blocks is padded and dilated into a line, whose shifted copies are joined.  Of
   wide windows the joined pairs, fours, eights ... are shifted. */
#include "tape_windows.h"

#include <math.h>
#include <stdlib.h>

#include "tape_reductions.h"

#define NARROW 8               /* windows up to this width are joined element by element */
#define TASK_WORK 100000.0
#define MOST_TASKS 16

/* ---- the shape of windows */

const char *onax_read_windows(const int64_t *words, onax_window_axis *axes, int rank, int64_t *in, int64_t *out) {
    const int64_t most = INT64_C(1) << 40;
    *in = *out = 1;
    for (int i = 0; i < rank; i++) {
        const int64_t *w = words + ONAX_WINDOW_WORDS * i;
        onax_window_axis *a = &axes[i];
        int64_t width;
        for (int k = 0; k < ONAX_WINDOW_WORDS; k++)
            if (w[k] > most || (k == 3 || k == 4 ? w[k] < -most : w[k] < (k != 0))) return "a window has no such shape";
        a->size = w[0];
        a->window = w[1];
        a->stride = w[2];
        a->low = w[3];
        a->base = w[5];
        a->gap = w[6];
        a->padded = onax_product(a->size ? a->size - 1 : 0, a->base);
        width = onax_product(a->window - 1, a->gap);
        if (a->padded < 0 || width < 0) return "a window is too large";
        a->padded += (a->size > 0) + a->low + w[4];
        a->count = a->padded < width + 1 ? 0 : (a->padded - width - 1) / a->stride + 1;
        if (a->padded < 0) a->padded = 0;
        a->is_trivial = a->window == 1 && a->stride == 1 && !a->low && !w[4] && a->base == 1;
        if ((*in = onax_product(*in, a->size)) < 0 || (*out = onax_product(*out, a->count)) < 0) return "windows are too many";
    }
    return NULL;
}

/* ---- rows of elements */

typedef struct {
    /* to[j][i] = from[j * stride + i], for m rows of n elements; a sum makes -0 a 0 */
    void (*copy)(void *to, const void *from, int64_t m, int64_t stride, int64_t n);
    /* to[j][i] joins from[j * stride + i] */
    void (*join)(void *to, const void *from, int64_t m, int64_t stride, int64_t n);
} rows;

#define ONAX_ROWS(how, name, T, first, joined) \
    how static void copy_##name(void *to, const void *from, int64_t m, int64_t stride, int64_t n) { \
        T *d = to; \
        const T *a = from; \
        if (n == stride) { n *= m; m = 1; } \
        if (n == 1) { ONAX_OVER(j, m) { const T y = a[j * stride]; d[j] = (T)(first); } return; } \
        for (int64_t j = 0; j < m; j++, d += n, a += stride) ONAX_OVER(i, n) { const T y = a[i]; d[i] = (T)(first); } \
    } \
    how static void join_##name(void *to, const void *from, int64_t m, int64_t stride, int64_t n) { \
        T *restrict d = to; \
        const T *restrict a = from; \
        if (n == stride) { n *= m; m = 1; } \
        if (n == 1) { ONAX_OVER(j, m) { const T x = d[j], y = a[j * stride]; d[j] = (T)(joined); } return; } \
        for (int64_t j = 0; j < m; j++, d += n, a += stride) \
            ONAX_OVER(i, n) { const T x = d[i], y = a[i]; d[i] = (T)(joined); } \
    } \
    static const rows rows_##name = {copy_##name, join_##name};

#define PLAIN
ONAX_ROWS(ONAX_CLONES, sum_f32, float, y + 0, x + y) ONAX_ROWS(ONAX_CLONES, sum_f64, double, y + 0, x + y)
ONAX_ROWS(PLAIN, sum_8, uint8_t, y, x + y) ONAX_ROWS(PLAIN, sum_16, uint16_t, y, x + y)
ONAX_ROWS(ONAX_CLONES, sum_32, uint32_t, y, x + y) ONAX_ROWS(PLAIN, sum_64, uint64_t, y, x + y)
#define ONAX_EXTREMES(how, t, T) \
    ONAX_ROWS(how, max_##t, T, y, x > y ? x : y) ONAX_ROWS(how, min_##t, T, y, x < y ? x : y)
ONAX_EXTREMES(PLAIN, i8, int8_t) ONAX_EXTREMES(PLAIN, u8, uint8_t) ONAX_EXTREMES(PLAIN, i16, int16_t)
ONAX_EXTREMES(PLAIN, u16, uint16_t) ONAX_EXTREMES(ONAX_CLONES, i32, int32_t) ONAX_EXTREMES(PLAIN, u32, uint32_t)
ONAX_EXTREMES(PLAIN, i64, int64_t) ONAX_EXTREMES(PLAIN, u64, uint64_t)
#define ONAX_FLOAT_EXTREMES(t, T) \
    ONAX_ROWS(ONAX_CLONES, max_##t, T, y, ((x > y) | (x != x)) ? x : y) \
    ONAX_ROWS(ONAX_CLONES, min_##t, T, y, ((x < y) | (x != x)) ? x : y)
ONAX_FLOAT_EXTREMES(f32, float) ONAX_FLOAT_EXTREMES(f64, double)

/* Sums of complex numbers are those of their parts. */
#define ONAX_PAIR_SUM(name, T, part) \
    static void copy_##name(void *to, const void *from, int64_t m, int64_t stride, int64_t n) { \
        copy_##part(to, from, m, 2 * stride, 2 * n); \
    } \
    static void join_##name(void *to, const void *from, int64_t m, int64_t stride, int64_t n) { \
        join_##part(to, from, m, 2 * stride, 2 * n); \
    } \
    static const rows rows_##name = {copy_##name, join_##name};
ONAX_PAIR_SUM(sum_c64, float, sum_f32) ONAX_PAIR_SUM(sum_c128, double, sum_f64)

/* By type: f32 f64 i32 u32 i64 u64 bool i8 u8 i16 u16 f16 bf16 c64 c128. */
#define R(name) &rows_##name
#define ONAX_ORDERED(o) {R(o##_f32), R(o##_f64), R(o##_i32), R(o##_u32), R(o##_i64), R(o##_u64), R(o##_u8), R(o##_i8), R(o##_u8), \
                         R(o##_i16), R(o##_u16), R(o##_f32), R(o##_f32), NULL, NULL}
static const rows *const all_rows[ONAX_REDUCTIONS][ONAX_TYPES] = {
    [ONAX_SUM] = {R(sum_f32), R(sum_f64), R(sum_32), R(sum_32), R(sum_64), R(sum_64), NULL, R(sum_8), R(sum_8), R(sum_16),
                  R(sum_16), R(sum_f32), R(sum_f32), R(sum_c64), R(sum_c128)},
    [ONAX_MAX] = ONAX_ORDERED(max),
    [ONAX_MIN] = ONAX_ORDERED(min),
};

/* ---- one axis */

typedef struct {
    onax_window_axis axis;
    int64_t outer, inner, tasks, line;     /* line: bytes of a padded line */
} pass;

typedef struct {
    const rows *how;
    int64_t type, size, in, out, middle, lines;   /* bytes of scratch memory: an intermediate, the lines */
    double work;
    int n_passes;
    _Alignas(8) char neutral[16];
    pass passes[ONAX_MOST_WINDOW_AXES];
} plan;

typedef struct { const plan *p; const pass *s; const char *from; char *to, *room; onax_frame *frame; int status; } job;

static void fill(const plan *p, char *to, int64_t elements) {
    const int64_t bytes = elements * p->size;
    if (elements <= 0) return;
    memcpy(to, p->neutral, (size_t)p->size);
    for (int64_t done = p->size; done < bytes; done *= 2)
        memcpy(to + done, to, (size_t)(done < bytes - done ? done : bytes - done));
}

/* The block with holes and padding. */
static void make_line(const plan *p, const pass *s, const char *from, char *line) {
    const onax_window_axis *a = &s->axis;
    const int64_t row = s->inner * p->size, first = a->low < 0 ? (-a->low + a->base - 1) / a->base : 0;
    int64_t to = a->low + first * a->base, past;
    if (a->base == 1) {
        const int64_t room = a->padded - to, count = a->size - first < room ? a->size - first : room;
        past = count > 0 ? to + count : 0;
        if (count > 0) {
            memcpy(line + to * row, from + first * row, (size_t)(count * row));
            fill(p, line, to * s->inner);
        }
        fill(p, line + past * row, (a->padded - past) * s->inner);
        return;
    }
    fill(p, line, a->padded * s->inner);
    for (int64_t i = first; i < a->size && to < a->padded; i++, to += a->base)
        memcpy(line + to * row, from + i * row, (size_t)row);
}

/* The windows of one block. */
static void reduce_block(const plan *p, const pass *s, const char *from, char *to, char *line) {
    const onax_window_axis *a = &s->axis;
    const int64_t n = s->inner, row = n * p->size, stride = a->stride * n;
    const int is_whole = a->padded == a->size && !a->low && a->base == 1;
    const char *source = is_whole ? from : line;
    char *other = line + s->line;
    int64_t done = 0, size = a->padded;
    if (!is_whole) make_line(p, s, from, line);
    if (a->window <= NARROW) {
        p->how->copy(to, source, a->count, stride, n);
        for (int64_t k = 1; k < a->window; k++) p->how->join(to, source + k * a->gap * row, a->count, stride, n);
        return;
    }
    for (int64_t width = 1; ; width *= 2) {
        if (a->window & width) {
            const char *at = source + done * a->gap * row;
            if (done) p->how->join(to, at, a->count, stride, n);
            else p->how->copy(to, at, a->count, stride, n);
            done += width;
        }
        if (done == a->window) return;
        size -= width * a->gap;
        p->how->copy(other, source, size, n, n);
        p->how->join(other, source + width * a->gap * row, size, n, n);
        source = other;
        other = source == line ? line + s->line : line;
    }
}

static void run_blocks(void *user, size_t which) {
    job *j = user;
    const pass *s = j->s;
    const int64_t share = (s->outer + s->tasks - 1) / s->tasks, begin = (int64_t)which * share;
    const int64_t end = begin + share < s->outer ? begin + share : s->outer;
    const int64_t in = s->axis.size * s->inner * j->p->size, out = s->axis.count * s->inner * j->p->size;
    for (int64_t o = begin; o < end && !j->status; o++) {
        reduce_block(j->p, s, j->from + o * in, j->to + o * out, j->room + 2 * (int64_t)which * s->line);
        if (j->frame) j->status = onax_poll(j->frame);
    }
}

static int run_pass(const plan *p, const pass *s, const char *from, char *to, char *room, onax_frame *f) {
    job j = {p, s, from, to, room, f, ONAX_DONE};
    if (f->parallel && s->tasks > 1) {
        j.frame = NULL;
        f->parallel(f->where, run_blocks, (size_t)s->tasks, &j);
    } else
        for (int64_t i = 0; i < s->tasks && !j.status; i++) run_blocks(&j, (size_t)i);
    return j.status;
}

static int run_windows(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    const int is_half = onax_is_half(p->type);
    const char *from = ONAX_BUFFER(q, f, 1);
    char *result = ONAX_BUFFER(q, f, 0), *middle[2], *lines = f->scratch + 2 * p->middle, *to;
    if (!p->out) return ONAX_DONE;
    middle[0] = f->scratch;
    middle[1] = f->scratch + p->middle;
    if (is_half) {
        onax_widen(p->type, (const uint16_t *)from, (float *)middle[1], p->in);
        from = middle[1];
    }
    for (int k = 0; k < p->n_passes; k++) {
        int status;
        to = k == p->n_passes - 1 && !is_half ? result : middle[k % 2];
        if ((status = run_pass(p, &p->passes[k], from, to, lines, f))) return status;
        from = to;
    }
    if (!p->n_passes && !is_half) p->how->copy(result, from, 1, p->out, p->out);
    if (is_half) onax_narrow(p->type, (const float *)from, (uint16_t *)result, p->out);
    return ONAX_DONE;
}

/* ---- reading */

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static const char *plan_passes(plan *p, const onax_window_axis *axes, int rank) {
    int64_t outer = 1, inner = p->in, elements = p->in, largest = onax_is_half(p->type) ? p->in : 0;
    for (int i = 0; i < rank; i++) {
        const onax_window_axis *a = &axes[i];
        pass *s = &p->passes[p->n_passes];
        inner /= a->size;
        if (!a->is_trivial) {
            double work;
            p->n_passes++;
            s->axis = *a;
            s->outer = outer;
            s->inner = inner;
            elements = onax_product(onax_product(outer, a->count), inner);
            s->line = onax_product(onax_product(a->padded, inner), p->size);
            if (elements < 0 || s->line < 0) return "windows are too many";
            s->line = rounded(s->line);
            if (elements > largest) largest = elements;
            work = 0.3 * (double)elements * (double)(a->window < NARROW ? a->window : NARROW) + 5.0 * (double)outer;
            s->tasks = work < 2 * TASK_WORK ? 1 : work / TASK_WORK < MOST_TASKS ? (int64_t)(work / TASK_WORK) : MOST_TASKS;
            if (s->tasks > outer) s->tasks = outer;
            if (2 * s->tasks * s->line > p->lines) p->lines = 2 * s->tasks * s->line;
            p->work += work;
        }
        outer *= a->count;
    }
    p->middle = onax_product(largest, p->size);
    if (p->middle < 0) return "windows are too many";
    p->middle = rounded(p->middle);
    return NULL;
}

static const char *verify_windows(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    onax_window_axis axes[ONAX_MOST_WINDOW_AXES];
    const char *fault;
    int64_t in, out;
    plan *p;
    if (q->n_operands != 2 || q->n_attributes < 3 || a[2] < 0 || a[2] > ONAX_MOST_WINDOW_AXES
        || q->n_attributes != 3 + ONAX_WINDOW_WORDS * a[2]) return "windows have other operands";
    if (a[0] < 0 || a[0] >= ONAX_REDUCTIONS || a[1] < 0 || a[1] >= ONAX_TYPES || !all_rows[a[0]][a[1]])
        return "there is no such reduction over windows";
    if ((fault = onax_read_windows(a + 3, axes, (int)a[2], &in, &out))) return fault;
    if (bytes[1] < 0 || bytes[1] != onax_array_bytes(a[1], in) || bytes[0] != onax_array_bytes(a[1], out))
        return "windows have operands of other sizes";
    if (!in && out) return "windows of nothing have no instruction";
    if (!(p = calloc(1, sizeof *p))) return "no memory";
    q->state = p;
    p->how = all_rows[a[0]][a[1]];
    p->type = a[1];
    p->size = onax_is_half(a[1]) ? 4 : onax_size_of(a[1]);
    p->in = in;
    p->out = out;
    if (a[0] != ONAX_SUM) onax_fold_of(a[0], onax_is_half(a[1]) ? ONAX_F32 : a[1])->start(p->neutral, 1);
    if (out && (fault = plan_passes(p, axes, (int)a[2]))) return fault;
    q->work = 20.0 + p->work + 0.1 * (double)in;
    q->scratch = 2 * p->middle + p->lines;
    return NULL;
}

static void release_state(onax_instruction *q) { free(q->state); }

const onax_tape_operation onax_tape_windows[] = {
    {"reduce_window", 1, verify_windows, run_windows, release_state},
    {"select_and_gather", 1, onax_verify_gather, onax_run_gather, release_state},
    {"select_and_scatter", 1, onax_verify_scatter, onax_run_scatter, release_state},
    {0},
};
