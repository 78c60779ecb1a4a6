/* Instructions of tapes that move data: strided copies, concatenations, counting. */
#include "vector_code.h"

#include "tape_strides.h"

#include <stdlib.h>
#include <string.h>

#include "blocks_halves.h"

static void release_state(onax_instruction *q) { free(q->state); }

/* ---- large copies are carried out in parts */

typedef struct { const onax_strided_copy *grid; char *to; const char *from; int64_t parts; } large_copy;

static void run_part_of_copy(void *user, size_t part) {
    const large_copy *c = user;
    onax_strided_copy_run_part(c->grid, c->to, c->from, (int64_t)part, c->parts);
}

static int run_large_copy(const onax_strided_copy *grid, char *to, const char *from, int64_t parts, onax_frame *f) {
    large_copy c = {grid, to, from, parts};
    if (f->parallel) {
        f->parallel(f->where, run_part_of_copy, (size_t)parts, &c);
        return ONAX_DONE;
    }
    for (int64_t i = 0; i < parts; i++) {
        const int status = onax_poll(f);
        if (status) return status;
        run_part_of_copy(&c, (size_t)i);
    }
    return ONAX_DONE;
}

/* ---- copy: a grid of elements from a strided place to a strided place, which indices may move

   operands:    the result, the source, then scalars of integer types: the indices
   attributes:  width of an element in bytes, where it begins in the result and in the source, number of axes
                for each axis:   length, stride in the result, stride in the source
                for each index:  type, largest value, step in the result, step in the source
   Starts, strides and steps are in elements.  An index is clamped between 0 and its largest value. */

enum { COPY_WIDTH, COPY_TO, COPY_FROM, COPY_RANK, COPY_AXES };

typedef struct { int64_t type, largest, to, from; } moving_index;
typedef struct {
    onax_strided_copy grid;
    int64_t to, from, parts;
    int n_indices;
    moving_index indices[];
} moving_copy;

static int run_copy(const onax_instruction *q, onax_frame *f) {
    const moving_copy *m = q->state;
    m->grid.run(&m->grid, ONAX_BUFFER(q, f, 0) + m->to, ONAX_BUFFER(q, f, 1) + m->from);
    return ONAX_DONE;
}

static int run_whole_copy(const onax_instruction *q, onax_frame *f) {
    const moving_copy *m = q->state;
    onax_copy_bytes(ONAX_BUFFER(q, f, 0) + m->to, ONAX_BUFFER(q, f, 1) + m->from, m->grid.bytes);
    return ONAX_DONE;
}

static int run_indexed_copy(const onax_instruction *q, onax_frame *f) {
    const moving_copy *m = q->state;
    char *to = ONAX_BUFFER(q, f, 0) + m->to;
    const char *from = ONAX_BUFFER(q, f, 1) + m->from;
    for (int i = 0; i < m->n_indices; i++) {
        const moving_index *index = &m->indices[i];
        const int64_t at = onax_nearest_index(onax_read_index(ONAX_BUFFER(q, f, 2 + i), index->type), index->largest);
        to += at * index->to;
        from += at * index->from;
    }
    if (m->parts > 1) return run_large_copy(&m->grid, to, from, m->parts, f);
    m->grid.run(&m->grid, to, from);
    return ONAX_DONE;
}

/* Bytes side by side that one index of int32, the most common one, moves. */
static int run_whole_copy_at(const onax_instruction *q, onax_frame *f) {
    const moving_copy *m = q->state;
    const moving_index *index = m->indices;
    const int64_t at = onax_nearest_index(onax_read_index(ONAX_BUFFER(q, f, 2), ONAX_I32), index->largest);
    char *to = ONAX_BUFFER(q, f, 0) + m->to + at * index->to;
    const char *from = ONAX_BUFFER(q, f, 1) + m->from + at * index->from;
    if (m->grid.bytes == 4) memcpy(to, from, 4);
    else if (m->grid.bytes == 8) memcpy(to, from, 8);
    else onax_copy_bytes(to, from, m->grid.bytes);
    return ONAX_DONE;
}

/* Reads the indices and adds how far they move the two places. */
static const char *read_indices(moving_copy *m, const onax_instruction *q, const int64_t *a, const int64_t *bytes) {
    onax_strided_copy *grid = &m->grid;
    const int64_t width = q->attributes[COPY_WIDTH];
    for (int i = 0; i < m->n_indices; i++, a += 4) {
        const int64_t limit = ONAX_FARTHEST / width / (a[1] > 0 ? a[1] : 1);
        if (!onax_is_index(a[0]) || bytes[2 + i] != onax_size_of(a[0])) return "an index of a copy has no such type";
        if (a[1] < 0 || a[2] < -limit || a[2] > limit || a[3] < -limit || a[3] > limit) return "an index moves a copy too far";
        m->indices[i] = (moving_index){a[0], a[1], a[2] * width, a[3] * width};
        *(a[2] < 0 ? &grid->to_low : &grid->to_high) += a[1] * a[2] * width;
        *(a[3] < 0 ? &grid->from_low : &grid->from_high) += a[1] * a[3] * width;
        if (grid->to_low < -ONAX_FARTHEST || grid->to_high > ONAX_FARTHEST || grid->from_low < -ONAX_FARTHEST
            || grid->from_high > ONAX_FARTHEST) return "an index moves a copy too far";
    }
    return NULL;
}

static const char *verify_copy(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes, n = q->n_operands - 2;
    const char *fault;
    moving_copy *m;
    int64_t rank;
    if (q->n_attributes < COPY_AXES || n < 0) return "a copy lacks operands or attributes";
    rank = a[COPY_RANK];
    if (rank < 0 || rank > ONAX_MOST_RANK || q->n_attributes != COPY_AXES + 3 * rank + 4 * n) return "a copy has too few or too many attributes";
    q->state = m = calloc(1, sizeof *m + (size_t)n * sizeof(moving_index));
    if (!m) return "no memory";
    if ((fault = onax_strided_copy_make(&m->grid, a[COPY_WIDTH], rank, a + COPY_AXES))) return fault;
    if (a[COPY_TO] < 0 || a[COPY_TO] > ONAX_FARTHEST / a[COPY_WIDTH] || a[COPY_FROM] < 0 || a[COPY_FROM] > ONAX_FARTHEST / a[COPY_WIDTH])
        return "a copy begins nowhere";
    m->to = a[COPY_TO] * a[COPY_WIDTH];
    m->from = a[COPY_FROM] * a[COPY_WIDTH];
    m->n_indices = m->grid.bytes ? (int)n : 0;
    m->parts = onax_strided_copy_parts(&m->grid);
    if (!m->grid.bytes) m->to = m->from = 0;
    else if ((fault = read_indices(m, q, a + COPY_AXES + 3 * rank, bytes))) return fault;
    else if (!onax_is_inside(m->to, m->grid.to_low, m->grid.to_high, bytes[0])) return "a copy leaves its result";
    else if (!onax_is_inside(m->from, m->grid.from_low, m->grid.from_high, bytes[1])) return "a copy leaves its source";
    if (m->n_indices == 1 && m->indices[0].type == ONAX_I32 && !m->grid.rank && m->parts < 2) q->run = run_whole_copy_at;
    else q->run = m->n_indices || m->parts > 1 ? run_indexed_copy : m->grid.bytes && !m->grid.rank ? run_whole_copy : run_copy;
    q->work = onax_strided_copy_work(&m->grid) + 2.0 * (double)n;
    return NULL;
}

/* ---- concatenate: rows of several sources side by side

   operands:    the result, the sources
   attributes:  the number of rows, and for each source the bytes of one of its rows */

#define JOINED_BYTES (1 << 16)   /* of a part: some of the second cache */
#define JOINED_ROWS 64           /* at least, of a part */

static int run_join(const onax_instruction *q, onax_frame *f) {
    const int64_t *bytes = q->attributes + 1;
    char *to = ONAX_BUFFER(q, f, 0);
    for (int i = 1; i < q->n_operands; i++) {
        const int64_t n = *bytes++;
        const char *from = ONAX_BUFFER(q, f, i);
        if (n == 4) memcpy(to, from, 4);
        else if (n == 8) memcpy(to, from, 8);
        else onax_copy_bytes(to, from, n);
        to += n;
    }
    return ONAX_DONE;
}

typedef struct {
    int n;
    int64_t parts;
    onax_interleaving interleave;          /* NULL: rows are copied */
    onax_strided_copy grids[];
} joining;

typedef struct { const joining *j; const onax_instruction *q; onax_frame *f; } joining_job;

/* Some rows of every source, so that a line of the result that holds several is in a cache until it is complete. */
static void run_part_of_joining(void *user, size_t part) {
    const joining_job *job = user;
    const joining *j = job->j;
    const int64_t rows = job->q->attributes[0], *widths = job->q->attributes + 1;
    const int64_t share = (rows + j->parts - 1) / j->parts, start = (int64_t)part * share < rows ? (int64_t)part * share : rows;
    const int64_t count = rows - start < share ? rows - start : share;
    char *to = ONAX_BUFFER(job->q, job->f, 0);
    if (j->interleave) {
        const char *from[4];
        for (int i = 0; i < j->n; i++) from[i] = (const char *)ONAX_BUFFER(job->q, job->f, 1 + i) + start * widths[0];
        j->interleave(to + start * j->n * widths[0], from, count);
        return;
    }
    for (int i = 0; i < j->n; i++) {
        onax_strided_copy_run_part(&j->grids[i], to, ONAX_BUFFER(job->q, job->f, 1 + i), (int64_t)part, j->parts);
        to += widths[i];
    }
}

static int run_concatenate(const onax_instruction *q, onax_frame *f) {
    joining_job job = {q->state, q, f};
    const int64_t parts = job.j->parts;
    if (f->parallel && parts > 1) {
        f->parallel(f->where, run_part_of_joining, (size_t)parts, &job);
        return ONAX_DONE;
    }
    for (int64_t i = 0; i < parts; i++) {
        const int status = parts > 1 ? onax_poll(f) : ONAX_DONE;
        if (status) return status;
        run_part_of_joining(&job, (size_t)i);
    }
    return ONAX_DONE;
}

static const char *verify_concatenate(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes, n = q->n_operands - 1, rows = q->n_attributes ? a[0] : 0;
    joining *j;
    const char *fault;
    int64_t total = 0;
    if (n < 1 || q->n_attributes != n + 1) return "a concatenation lacks operands or attributes";
    for (int64_t i = 1; i <= n; i++) {
        if (a[i] < 0 || a[i] > ONAX_FARTHEST || rows < 0 || (a[i] && rows > ONAX_FARTHEST / a[i]) || bytes[i] != rows * a[i])
            return "a concatenation has other rows";
        total += a[i];
        if (total > ONAX_FARTHEST) return "a concatenation is too large";
    }
    if ((total && rows > ONAX_FARTHEST / total) || bytes[0] != rows * total) return "a concatenation has other rows";
    q->work = 3 + 2 * (double)n + (double)bytes[0] / 20;
    if (rows == 1) {
        q->run = run_join;
        return NULL;
    }
    q->state = j = calloc(1, sizeof *j + (size_t)n * sizeof *j->grids);
    if (!j) return "no memory";
    j->n = (int)n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t axes[] = {rows, total, a[1 + i], a[1 + i], 1, 1};
        if ((fault = onax_strided_copy_make(&j->grids[i], 1, 2, axes))) return fault;
    }
    j->parts = bytes[0] / JOINED_BYTES < rows / JOINED_ROWS ? bytes[0] / JOINED_BYTES : rows / JOINED_ROWS;
    j->parts = j->parts < 1 ? 1 : j->parts;
    j->interleave = onax_interleaving_of(a[1], n);
    for (int64_t i = 1; i < n; i++)
        if (a[1 + i] != a[1]) j->interleave = NULL;
    return NULL;
}

/* ---- iota: 0, 1, 2, ... in any type of numbers; attributes: the type, how many */

#define COUNT(type, T, value) \
    case type: { \
        ONAX_EACH { const T x = (T)(value); memcpy(to + i * (int64_t)sizeof x, &x, sizeof x); } \
        break; }

ONAX_CLONES static void count_up(int64_t type, char *to, int64_t n) {
    switch (type) {
        COUNT(ONAX_F32, float, i)
        COUNT(ONAX_F64, double, i)
        COUNT(ONAX_I32, uint32_t, i)
        COUNT(ONAX_U32, uint32_t, i)
        COUNT(ONAX_I64, int64_t, i)
        COUNT(ONAX_U64, int64_t, i)
        COUNT(ONAX_I8, uint8_t, i)
        COUNT(ONAX_U8, uint8_t, i)
        COUNT(ONAX_I16, uint16_t, i)
        COUNT(ONAX_U16, uint16_t, i)
        COUNT(ONAX_F16, uint16_t, onax_to_f16((float)i))
        COUNT(ONAX_BF16, uint16_t, onax_to_bf16((float)i))
        case ONAX_C64: {
            ONAX_EACH { const float x[] = {(float)i, 0}; memcpy(to + i * (int64_t)sizeof x, x, sizeof x); }
            break;
        }
        case ONAX_C128: {
            ONAX_EACH { const double x[] = {(double)i, 0}; memcpy(to + i * (int64_t)sizeof x, x, sizeof x); }
            break;
        }
        default: break;
    }
}

static int run_iota(const onax_instruction *q, onax_frame *f) {
    count_up(q->attributes[0], ONAX_BUFFER(q, f, 0), q->attributes[1]);
    return ONAX_DONE;
}

static const char *verify_iota(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes, size = q->n_attributes == 2 ? onax_size_of(a[0]) : 0;
    if (!size || a[0] == ONAX_BOOL || q->n_operands != 1) return "an iota has no such type";
    if (a[1] < 0 || a[1] > ONAX_FARTHEST || bytes[0] != a[1] * size) return "an iota has another number of elements";
    q->work = 5 + (double)bytes[0] / 16;
    return NULL;
}

/* ---- reduce_precision: floats rounded to fewer bits of mantissa and exponent, to nearest even

   operands: the result, the source; attributes: type, how many, bits of the exponent, bits of the mantissa
   Overflow gives infinity, underflow a zero; NaN stays. */

typedef struct { int exponent, mantissa; } float_format;   /* bits */

#define DEFINE_REDUCE(type, T, all_exponent, all_mantissa) \
    ONAX_CLONES static void reduce_##type(char *to, const char *from, int64_t n, float_format kept) { \
        const T one = 1, sign = (T)(one << ((all_exponent) + (all_mantissa))), infinity = (T)(((one << (all_exponent)) - 1) << (all_mantissa)); \
        const int drop = kept.mantissa < (all_mantissa) ? (all_mantissa) - kept.mantissa : 0, any = drop > 0; \
        const int bias = (1 << ((all_exponent) - 1)) - 1; \
        const int reach = kept.exponent < (all_exponent) ? (1 << (kept.exponent - 1)) - 1 : bias + 1; \
        const T half = (T)(any ? (one << (drop - 1)) - 1 : 0), mask = (T)~((one << drop) - 1); \
        const T highest = (T)((T)(bias + reach) << (all_mantissa) | ((one << (all_mantissa)) - 1)); \
        const T lowest = (T)((T)(bias - reach < 0 ? 0 : bias - reach) << (all_mantissa) | ((one << (all_mantissa)) - 1)); \
        const int full = kept.exponent >= (all_exponent); \
        ONAX_EACH { \
            T x; \
            memcpy(&x, from + i * (int64_t)sizeof x, sizeof x); \
            const T size = (T)(x & (T)~sign); \
            T r = (T)((T)(size + half + (any ? size >> drop & 1 : 0)) & mask); \
            r = !full && r > highest ? infinity : r; \
            r = !full && r <= lowest ? 0 : r; \
            x = size > infinity ? x : (T)(r | (x & sign)); \
            memcpy(to + i * (int64_t)sizeof x, &x, sizeof x); } }
DEFINE_REDUCE(f16, uint16_t, 5, 10)
DEFINE_REDUCE(bf16, uint16_t, 8, 7)
DEFINE_REDUCE(f32, uint32_t, 8, 23)
DEFINE_REDUCE(f64, uint64_t, 11, 52)

static int run_reduce_precision(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes;
    const float_format kept = {(int)a[2], (int)a[3]};
    char *to = ONAX_BUFFER(q, f, 0);
    const char *from = ONAX_BUFFER(q, f, 1);
    switch (a[0]) {
        case ONAX_F16: reduce_f16(to, from, a[1], kept); break;
        case ONAX_BF16: reduce_bf16(to, from, a[1], kept); break;
        case ONAX_F32: reduce_f32(to, from, a[1], kept); break;
        default: reduce_f64(to, from, a[1], kept);
    }
    return ONAX_DONE;
}

static const char *verify_reduce_precision(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    if (q->n_operands != 2 || q->n_attributes != 4) return "a change of precision lacks operands or attributes";
    if (a[0] != ONAX_F16 && a[0] != ONAX_BF16 && a[0] != ONAX_F32 && a[0] != ONAX_F64) return "a change of precision has no such type";
    if (a[1] < 0 || a[1] > ONAX_FARTHEST || bytes[0] != a[1] * onax_size_of(a[0]) || bytes[1] != bytes[0])
        return "a change of precision has another number of elements";
    if (a[2] < 1 || a[2] > 64 || a[3] < 0 || a[3] > 64) return "a change of precision has no such format";
    q->work = 5 + (double)a[1] * 0.5;
    return NULL;
}

const onax_tape_operation onax_tape_copies[] = {
    {"copy", 1, verify_copy, run_copy, release_state},
    {"concatenate", 1, verify_concatenate, run_concatenate, release_state},
    {"iota", 1, verify_iota, run_iota, NULL},
    {"reduce_precision", 1, verify_reduce_precision, run_reduce_precision, NULL},
    {NULL, 0, NULL, NULL, NULL},
};
