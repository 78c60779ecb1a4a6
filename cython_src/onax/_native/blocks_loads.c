/* What the registers of a block hold before its first operation: elements of buffers, constants, numbers of positions. */
#include "blocks_program.h"
#include "blocks_halves.h"

typedef struct { uint64_t words[2]; } sixteen;
typedef struct { float re, im; } complex_f32;
typedef struct { double re, im; } complex_f64;

#define FILL(T) \
    ONAX_CLONES static void fill_##T(char *to, const char *one, int64_t n) { \
        T v; memcpy(&v, one, sizeof v); for (int64_t i = 0; i < n; i++) ((T *)to)[i] = v; }
FILL(uint16_t) FILL(uint32_t) FILL(uint64_t) FILL(sixteen)

static void fill(char *to, const char *one, int size, int64_t n) {
    switch (size) {
        case 2: fill_uint16_t(to, one, n); break;
        case 4: fill_uint32_t(to, one, n); break;
        case 8: fill_uint64_t(to, one, n); break;
        case 16: fill_sixteen(to, one, n); break;
        default: memset(to, *one, (size_t)n);
    }
}

/* Every second, third or fourth element: loops that vector instructions can run. */
#define EVERY(k, T) \
    ONAX_CLONES static void every_##k##_##T(char *to, const char *from, int64_t n) { \
        T *restrict d = (T *)to; const T *restrict a = (const T *)from; \
        for (int64_t i = 0; i < n; i++) d[i] = a[k * i]; }
#define EVERY_OF(k) EVERY(k, uint8_t) EVERY(k, uint16_t) EVERY(k, uint32_t) EVERY(k, uint64_t)
EVERY_OF(2) EVERY_OF(3) EVERY_OF(4)
#define EVERY_ENTRIES(k) {every_##k##_uint8_t, every_##k##_uint16_t, [3] = every_##k##_uint32_t, [7] = every_##k##_uint64_t}
/* By the stride less 2 and the size less 1. */
static void (*const every[3][8])(char *, const char *, int64_t) = {EVERY_ENTRIES(2), EVERY_ENTRIES(3), EVERY_ENTRIES(4)};

#define STRIDED(T) for (i = 0; i < n; i++) ((T *)to)[i] = ((const T *)from)[i * stride]; break;
static void strided(char *to, const char *from, int size, int64_t stride, int64_t n) {
    int64_t i;
    if (stride >= 2 && stride <= 4 && size <= 8) { every[stride - 2][size - 1](to, from, n); return; }
    switch (size) {
        case 1: STRIDED(uint8_t)
        case 2: STRIDED(uint16_t)
        case 4: STRIDED(uint32_t)
        case 8: STRIDED(uint64_t)
        default: STRIDED(sixteen)
    }
}

#define COUNTED(T, value) for (i = 0; i < n; i++) { const int64_t x = start + i * stride; ((T *)to)[i] = value; } break;
static void count_up(char *to, int type, int64_t start, int64_t stride, int64_t n) {
    int64_t i;
    switch (type) {
        case ONAX_F32: COUNTED(float, (float)x)
        case ONAX_F64: COUNTED(double, (double)x)
        case ONAX_I64: case ONAX_U64: COUNTED(int64_t, x)
        case ONAX_I8: case ONAX_U8: COUNTED(uint8_t, (uint8_t)x)
        case ONAX_I16: case ONAX_U16: COUNTED(uint16_t, (uint16_t)x)
        case ONAX_F16: COUNTED(uint16_t, onax_to_f16((float)x))
        case ONAX_BF16: COUNTED(uint16_t, onax_to_bf16((float)x))
        case ONAX_C64: COUNTED(complex_f32, ((complex_f32){(float)x, 0}))
        case ONAX_C128: COUNTED(complex_f64, ((complex_f64){(double)x, 0}))
        default: COUNTED(uint32_t, (uint32_t)x)
    }
}

static void move_run(const reg *g, const char *from, char *to, int64_t at, int64_t stride, int64_t n) {
    if (g->kind == ONAX_IOTA) count_up(to, g->type, at, stride, n);
    else if (stride == 1) memcpy(to, from + at * g->size, (size_t)(n * g->size));
    else if (stride == 0) fill(to, from + at * g->size, g->size, n);
    else strided(to, from + at * g->size, g->size, stride, n);
}

/* ---- boxes: rows of a few elements */

#define FEW 16                 /* elements up to which a row is copied by a loop of its own */

#define ROWS_OF(N) for (int64_t r = 0; r < rows; r++, to += (N), from += step) \
        for (int64_t k = 0; k < (N); k++) to[k] = from[k * stride]
#define BOX(T) \
    static void box_##T(T *to, const T *from, int64_t run, int64_t stride, int64_t rows, int64_t step) { \
        switch (run) { \
            case 2: ROWS_OF(2); break; \
            case 3: ROWS_OF(3); break; \
            case 4: ROWS_OF(4); break; \
            case 8: ROWS_OF(8); break; \
            default: ROWS_OF(run); \
        } }
BOX(uint8_t) BOX(uint16_t) BOX(uint32_t) BOX(uint64_t) BOX(sixteen)

/* The first `done` bytes, over and over, up to `bytes`. */
static void repeat(char *to, int64_t done, int64_t bytes) {
    for (; done < bytes; done *= 2) memcpy(to + done, to, (size_t)(bytes - done < done ? bytes - done : done));
}

/* Rows of `run` elements, `stride` apart, which begin `step` apart. */
static void load_box(const reg *g, const char *from, char *to, int64_t run, int64_t stride, int64_t rows, int64_t step) {
    if (stride == 1 && step == run) {
        memcpy(to, from, (size_t)(rows * run * g->size));
        return;
    }
    if (step == 0 && run >= 8) {
        move_run(g, from, to, 0, stride, run);
        repeat(to, run * g->size, rows * run * g->size);
        return;
    }
    if (run == 1) {
        strided(to, from, g->size, step, rows);
        return;
    }
    if (run > FEW) {
        for (int64_t r = 0; r < rows; r++) move_run(g, from, to + r * run * g->size, r * step, stride, run);
        return;
    }
    switch (g->size) {
        case 1: box_uint8_t((uint8_t *)to, (const uint8_t *)from, run, stride, rows, step); break;
        case 2: box_uint16_t((uint16_t *)to, (const uint16_t *)from, run, stride, rows, step); break;
        case 4: box_uint32_t((uint32_t *)to, (const uint32_t *)from, run, stride, rows, step); break;
        case 8: box_uint64_t((uint64_t *)to, (const uint64_t *)from, run, stride, rows, step); break;
        default: box_sixteen((sixteen *)to, (const sixteen *)from, run, stride, rows, step);
    }
}

/* ---- loads */

/* After how many positions elements repeat. */
static int64_t period_of(const loop *l, const reg *g) {
    int64_t period = 1;
    int first = 0;
    while (first < l->rank - 1 && !g->strides[first]) first++;
    for (int i = first; i < l->rank; i++) period *= l->dims[i];
    return period;
}

/* Where the odometer of a load stands: an index for each axis, and the element there. */
typedef struct { int64_t index[MOST_RANK], at; } odometer;

static void set(odometer *m, const loop *l, const reg *g, int64_t o) {
    m->at = g->start;
    for (int i = l->rank - 1; i >= 0; i--) {
        m->index[i] = o ? o % l->dims[i] : 0;
        o = o ? o / l->dims[i] : 0;
        m->at += m->index[i] * g->strides[i];
    }
}

/* Goes on by `count` along an axis, at most to its end, where the axes before it go on. */
static void advance(odometer *m, const loop *l, const reg *g, int axis, int64_t count) {
    m->index[axis] += count;
    m->at += count * g->strides[axis];
    for (int i = axis; i > 0 && m->index[i] == l->dims[i]; i--) {
        m->at += g->strides[i - 1] - m->index[i] * g->strides[i];
        m->index[i] = 0;
        m->index[i - 1]++;
    }
}

static void load_range(const loop *l, const reg *g, const char *from, char *to, int64_t o, int64_t n) {
    const int last = l->rank - 1;
    const int64_t width = l->dims[last], stride = g->strides[last];
    odometer m;
    set(&m, l, g, o);
    while (n > 0) {
        int64_t run = width - m.index[last];
        if (run == width && n >= width) {
            int64_t rows = l->dims[last - 1] - m.index[last - 1];
            if (rows > n / width) rows = n / width;
            if (g->kind == ONAX_IOTA) rows = 1;
            if (rows > 1) load_box(g, from + m.at * g->size, to, width, stride, rows, g->strides[last - 1]);
            else move_run(g, from, to, m.at, stride, width);
            to += rows * width * g->size;
            n -= rows * width;
            advance(&m, l, g, last - 1, rows);
            continue;
        }
        if (run > n) run = n;
        move_run(g, from, to, m.at, stride, run);
        to += run * g->size;
        n -= run;
        advance(&m, l, g, last, run);
    }
}

void onax_load(const loop *l, const reg *g, const char *from, char *to, int64_t o, int64_t n) {
    int64_t period;
    if (l->rank == 1) {
        move_run(g, from, to, g->start + o * g->strides[0], g->strides[0], n);
        return;
    }
    if (l->rank == 2 && n == l->n && g->strides[0] && g->kind != ONAX_IOTA) {
        load_box(g, from + g->start * g->size, to, l->dims[1], g->strides[1], l->dims[0], g->strides[0]);
        return;
    }
    period = g->strides[0] ? n : period_of(l, g);
    load_range(l, g, from, to, o, n < period ? n : period);
    repeat(to, period * g->size, n * g->size);
}

void onax_fill_uniform(const reg *g, const char *from, char *to, int64_t n) {
    if (g->kind == ONAX_IOTA) count_up(to, g->type, g->start, 0, n);
    else if (g->kind == ONAX_CONSTANT) fill(to, (const char *)g->bits, g->size, n);
    else fill(to, from + g->start * g->size, g->size, n);
}
