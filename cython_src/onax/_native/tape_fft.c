/* The instruction `fft`: discrete Fourier transforms over the last axes.

   Operands: the result, the array.  Attributes: the complex type, the kind (0 forward, 1 inverse, 2 from real numbers, 3 to
   real numbers), arrays, and the length of each axis.  Lengths whose prime factors are small go through passes of radix 8,
   4, 2, 3, 5 and others, one long array as a matrix by columns and then by rows; others through Bluestein's convolution with a chirp. */
#include "vector_code.h"
#include "tape_machine.h"
#include "tape_transpose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AXES 16
#define MOST_FACTORS 48
#define MOST_RADIX 31           /* larger prime factors take longer than a chirp */
#define MOST_UNITS 512
#define MOST_LENGTH ((int64_t)1 << 30)
#define MOST_TOGETHER 65536     /* longer arrays are transformed one by one */
#define LEAST_SPLIT 1024        /* numbers of an array that goes through as a matrix */
#define ROWS 8                  /* numbers of each array that are moved at a time */
#define PART_WORK 500000.0
#define PARTS 8

#if defined(__GNUC__)
#define FFT_INLINE static inline __attribute__((always_inline))
#define FLOAT_LANES 8
#define DOUBLE_LANES 4
#else
#define FFT_INLINE static
#define FLOAT_LANES 1
#define DOUBLE_LANES 1
#define restrict
#endif
#define LANES_OF(V, x) ((V){0} + (x))

enum { FORWARD, INVERSE, FROM_REAL, TO_REAL };
enum { COMPLEX, TO_HALF, FROM_HALF };

typedef struct {
    int64_t n, factors[MOST_FACTORS], unit_at[MOST_FACTORS];
    int n_factors;
    void *roots, *units;
} passes;

typedef struct {
    int64_t n;
    passes direct, inner;       /* of n; of the convolution with a chirp */
    void *chirp, *spectrum, *halves;
    passes columns, rows;       /* of one long array as a matrix; none if `split_roots` is NULL */
    void *split_roots;
} plan;

/* One axis: `outer` times `inner` arrays of `length`. */
typedef struct {
    plan *plan;
    int kind, is_inverse, from_input, to_output;
    int64_t length, outer, inner;
    int64_t from_step, from_apart, to_step, to_apart;   /* between elements of an array, between arrays side by side */
    int64_t from_outer, to_outer;
} axis;

typedef struct {
    int n_axes, is_double, parts;
    int64_t bytes[2], work, room;       /* room: bytes of an intermediate array in the scratch memory */
    axis axes[MOST_AXES];
} transform;

static void unit_root(int64_t k, int64_t n, double *re, double *im) {
    /* by eighths of the circle, where the sine and cosine of a small angle are accurate */
    const int64_t eighth = 8 * k / n, rest = 8 * k - eighth * n;
    const double full = 6.283185307179586476925286766559, angle = full / 8 * (double)rest / (double)n;
    const double other = full / 8 * (double)(n - rest) / (double)n;
    const double c = eighth & 1 ? sin(other) : cos(angle), s = eighth & 1 ? cos(other) : sin(angle);
    const int quarter = (int)(eighth / 2) & 3;
    *re = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *im = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

static int factorise(passes *p, int64_t n) {
    int64_t units = 0;
    p->n = n;
    p->n_factors = 0;
    while (n % 8 == 0 && (n % 16 || n % 32 == 0)) p->factors[p->n_factors++] = 8, n /= 8;   /* 16 is 4 times 4 */
    while (n % 4 == 0) p->factors[p->n_factors++] = 4, n /= 4;
    for (int64_t f = 2; n > 1 && f <= MOST_RADIX; f++)
        while (n % f == 0) {
            if (f > 5) p->unit_at[p->n_factors] = units, units += f;
            p->factors[p->n_factors++] = f, n /= f;
        }
    return n == 1 && units <= MOST_UNITS;
}

static int is_smooth(int64_t n) {
    for (int64_t f = 2; f <= MOST_RADIX; f++) while (n % f == 0) n /= f;
    return n == 1;
}

/* The least product of 2, 3 and 5 that is at least n. */
static int64_t smooth_length(int64_t n) {
    int64_t best = INT64_MAX;
    for (int64_t five = 1; five < best && five < 5 * n; five *= 5)
        for (int64_t three = five; three < best && three < 3 * 5 * n; three *= 3) {
            int64_t x = three;
            while (x < n) x *= 2;
            best = x < best ? x : best;
        }
    return best;
}

#define PAGE 4096               /* bytes: addresses that are multiples of it apart share the lines of the first cache */

/* Elements from the first of an array to the first of the next in the work memory: those at the same position of four
   arrays share no lines of the first cache. */
static int64_t array_apart(int64_t n, size_t size) {
    const int64_t bytes = n * (int64_t)size;
    return bytes < PAGE ? n : ((bytes + PAGE - 1) / PAGE * PAGE + PAGE / 4) / (int64_t)size;
}

#if defined(ONAX_HAS_SHUFFLES) && FLOAT_LANES == 8 && ROWS == 8
/* Eight complex numbers of eight arrays become eight rows of one number of each array, and back. */
FFT_INLINE void turn_square(float *to, int64_t to_row, const float *from, int64_t from_row) {
    const int64_t size = sizeof(float), side = ONAX_SIDE(8);
    for (int64_t i = 0; i < 8; i += side)
        for (int64_t j = 0; j < 8; j += side)
            onax_transpose_square_8((char *)(to + i * to_row + 2 * j), to_row * size, (const char *)(from + j * from_row + 2 * i), from_row * size);
}
#define HAS_SQUARES
#endif

#define R float
#define TYPE f32
#define LANES FLOAT_LANES
#define turn_lanes_f32 onax_transpose_square_4
#define turn_lanes_f64 onax_transpose_square_8
#define EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15
#define LOW_PAIRS 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_PAIRS 4, 12, 5, 13, 6, 14, 7, 15
#include "tape_fft_type.h"
#undef HAS_SQUARES
#undef EVEN_LANES
#undef ODD_LANES
#undef LOW_PAIRS
#undef HIGH_PAIRS
#define R double
#define TYPE f64
#define LANES DOUBLE_LANES
#define EVEN_LANES 0, 2, 4, 6
#define ODD_LANES 1, 3, 5, 7
#define LOW_PAIRS 0, 4, 1, 5
#define HIGH_PAIRS 2, 6, 3, 7
#include "tape_fft_type.h"

/* ---- planning */

static void free_passes(passes *p) { free(p->roots); free(p->units); }

static void release_fft(onax_instruction *q) {
    transform *t = q->state;
    for (int i = 0; t && i < t->n_axes; i++) {
        plan *p = t->axes[i].plan;
        if (!p) continue;
        free_passes(&p->direct), free_passes(&p->inner), free_passes(&p->columns), free_passes(&p->rows);
        free(p->chirp), free(p->spectrum), free(p->halves), free(p->split_roots), free(p);
    }
    free(t);
}

static int64_t lanes_of(const transform *t) { return t->is_double ? DOUBLE_LANES : FLOAT_LANES; }

/* Memory for the arrays that go through an axis together. */
static int64_t work_bytes(const transform *t, const axis *a) {
    const plan *p = a->plan;
    const int64_t real = t->is_double ? 8 : 4, lanes = p->n <= MOST_TOGETHER ? lanes_of(t) : 1, size = real * lanes;
    const int64_t together = 4 * (array_apart(p->n, (size_t)size) + (p->chirp ? array_apart(p->inner.n, (size_t)size) : 0)) * size;
    const int64_t matrix = p->columns.n > p->rows.n ? p->columns.n : p->rows.n, line = lanes_of(t) * real;
    const int64_t single = 4 * (array_apart(p->n, (size_t)real) + (p->chirp ? array_apart(p->inner.n, (size_t)real) : 0)) * real
                           + (p->split_roots ? 4 * array_apart(matrix, (size_t)line) * line : 0);
    return ((together > single ? together : single) + 63) / 64 * 64;
}

static const char *make_axis(transform *t, axis *a, int64_t length, int64_t step_from, int64_t step_to) {
    const int64_t n = a->kind != COMPLEX && length % 2 == 0 ? length / 2 : length;
    a->length = length;
    a->from_step = step_from, a->to_step = step_to;
    if (!(a->plan = calloc(1, sizeof *a->plan))) return "no memory";
    if (!(t->is_double ? make_plan_f64(a->plan, n, n != length) : make_plan_f32(a->plan, n, n != length))) return "no memory";
    return NULL;
}

/* Axes in the order in which they are transformed: real numbers are read first, and written last. */
static const char *make_axes(transform *t, const int64_t *lengths, int rank, int kind, int64_t count) {
    const int64_t last = lengths[rank - 1], half = last / 2 + 1;
    int64_t in_row = kind == TO_REAL ? half : last, out_row = kind == FROM_REAL ? half : last, before = count;
    const int64_t between = kind == TO_REAL ? half : out_row;       /* what the other axes see of the last one */
    axis *a = t->axes;
    const char *fault;
    for (int i = 0; i + 1 < rank; i++) before *= lengths[i];
    t->n_axes = 0;
    for (int step = 0; step < rank; step++) {
        const int i = kind == TO_REAL ? step : rank - 1 - step;     /* the axis */
        int64_t inner = i == rank - 1 ? 1 : between, outer = count;
        for (int j = i + 1; j + 1 < rank; j++) inner *= lengths[j];
        for (int j = 0; j < i; j++) outer *= lengths[j];
        a = &t->axes[t->n_axes++];
        a->kind = i < rank - 1 || kind < FROM_REAL ? COMPLEX : kind == FROM_REAL ? TO_HALF : FROM_HALF;
        a->is_inverse = kind == INVERSE || kind == TO_REAL;
        a->from_input = step == 0;
        a->to_output = kind != TO_REAL || step == rank - 1;
        a->outer = outer, a->inner = inner;
        if ((fault = make_axis(t, a, lengths[i], inner, inner))) return fault;
        if (i == rank - 1) {    /* arrays side by side are rows */
            a->inner = before, a->outer = 1;
            a->from_apart = in_row, a->to_apart = out_row;
        } else a->from_apart = a->to_apart = 1, a->from_outer = a->to_outer = inner * lengths[i];
    }
    t->room = kind == TO_REAL && rank > 1 ? (before * half * (t->is_double ? 16 : 8) + 63) / 64 * 64 : 0;
    return NULL;
}

static const char *check_fft(const onax_instruction *q, const int64_t *bytes) {
    const int64_t *at = q->attributes;
    const int rank = q->n_attributes - 3;
    int64_t in, out;
    if (q->n_operands != 2 || rank < 1 || rank > MOST_AXES) return "fft: operands and axes";
    if (at[0] != ONAX_C64 && at[0] != ONAX_C128) return "fft: no such type";
    if (at[1] < FORWARD || at[1] > TO_REAL || at[2] < 1 || at[2] > MOST_LENGTH) return "fft: kind and arrays";
    in = out = at[2] * (at[0] == ONAX_C64 ? 4 : 8);
    for (int i = 0; i < rank; i++) {
        const int64_t n = at[3 + i], half = n / 2 + 1;
        const int last = i == rank - 1;
        if (n < 1 || n > MOST_LENGTH || in > ((int64_t)1 << 40) / n || out > ((int64_t)1 << 40) / n) return "fft: lengths";
        in *= !last ? n : at[1] == FROM_REAL ? n : at[1] == TO_REAL ? 2 * half : 2 * n;
        out *= !last ? n : at[1] == TO_REAL ? n : at[1] == FROM_REAL ? 2 * half : 2 * n;
    }
    return in != bytes[1] || out != bytes[0] ? "fft: the size of an operand" : NULL;
}

static const char *verify_fft(onax_instruction *q, const int64_t *bytes) {
    const int64_t *at = q->attributes;
    const char *fault = check_fft(q, bytes);
    transform *t;
    double work = 0;
    if (fault) return fault;
    if (!(t = q->state = calloc(1, sizeof *t))) return "no memory";
    t->is_double = at[0] == ONAX_C128;
    if ((fault = make_axes(t, at + 3, q->n_attributes - 3, (int)at[1], at[2]))) return fault;
    for (int i = 0; i < t->n_axes; i++) {
        const axis *a = &t->axes[i];
        const int64_t own = work_bytes(t, a);
        const double numbers = (double)a->outer * (double)a->inner * (double)(a->plan->chirp ? 8 * a->length : a->length);
        t->work = own > t->work ? own : t->work;
        work += numbers * (1 + log2((double)a->length + 1)) * 0.4;
    }
    q->work = 30 + work;
    t->parts = q->work > 2 * PART_WORK ? PARTS : 1;
    q->scratch = t->room + t->work * t->parts;
    return NULL;
}

/* ---- running */

typedef struct { const transform *t; const axis *a; const char *from; char *to, *work; onax_frame *f; } job;

static void run_lines(const job *j, int64_t outer, int64_t inner, int64_t lanes, char *work) {
    const axis *a = j->a;
    const int64_t real = j->t->is_double ? 8 : 4;
    const int64_t from = (outer * a->from_outer + inner * a->from_apart) * (a->kind == TO_HALF ? real : 2 * real);
    const int64_t to = (outer * a->to_outer + inner * a->to_apart) * (a->kind == FROM_HALF ? real : 2 * real);
    if (j->t->is_double) run_lines_f64(a, j->from + from, j->to + to, work, lanes);
    else run_lines_f32(a, j->from + from, j->to + to, work, lanes);
}

static int64_t blocks_of(const transform *t, const axis *a) { return (a->inner + lanes_of(t) - 1) / lanes_of(t); }

/* Some of the blocks of arrays of an axis: `lanes` arrays each, but the last of a row, which may be fewer. */
static int run_blocks(const job *j, int64_t first, int64_t past, char *work, onax_frame *f) {
    const axis *a = j->a;
    const int64_t lanes = lanes_of(j->t), blocks = blocks_of(j->t, a);
    for (int64_t b = first; b < past; b++) {
        const int64_t outer = b / blocks, inner = b % blocks * lanes, count = a->inner - inner;
        if (count >= lanes && lanes > 1 && a->plan->n <= MOST_TOGETHER) run_lines(j, outer, inner, lanes, work);
        else for (int64_t l = 0; l < lanes && l < count; l++) run_lines(j, outer, inner + l, 1, work);
        if (f && onax_poll(f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

static void run_part(void *user, size_t i) {
    const job *j = user;
    const int64_t all = j->a->outer * blocks_of(j->t, j->a), parts = j->t->parts;
    run_blocks(j, all * (int64_t)i / parts, all * ((int64_t)i + 1) / parts, j->work + (int64_t)i * j->t->work, NULL);
}

static int run_fft(const onax_instruction *q, onax_frame *f) {
    const transform *t = q->state;
    char *out = ONAX_BUFFER(q, f, 0), *room = f->scratch;
    for (int i = 0; i < t->n_axes; i++) {
        const axis *a = &t->axes[i];
        char *here = t->room ? room : out;
        job j = {t, a, a->from_input ? ONAX_BUFFER(q, f, 1) : here, a->to_output ? out : room, f->scratch + t->room, f};
        if (t->parts > 1 && f->parallel) f->parallel(f->where, run_part, (size_t)t->parts, &j);
        else if (run_blocks(&j, 0, a->outer * blocks_of(t, a), j.work, f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

const onax_tape_operation onax_tape_fft[] = {
    {"fft", 1, verify_fft, run_fft, release_fft},
    {0},
};
