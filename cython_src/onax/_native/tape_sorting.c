/* Instructions that sort along an axis.

   sort   writes and reads as many operands.  Attributes: how many, how many of them are keys, the sizes before, of, and
          after the axis, the types of the keys, the bytes of an element of each other operand
   top_k  writes: values, places (int32); reads: operand.  Attributes: the type, the sizes before, of, and after the axis, k

   An element's key is an unsigned integer of the same order; a key and its place sort as one item, so that no two are
   equal and the order is stable.  Few items are ranked by counting the smaller ones of each, many are sorted by radix. */
#include "tape_sorting.h"

#include <stdlib.h>

#define MOST_OPERANDS 1000
#define RANKED 64              /* items that are ranked by counting */
#define TASK_WORK 100000.0
#define MOST_TASKS 8           /* each has scratch memory of its own */

/* ---- keys */

#define ONAX_KEYS(name, T, U, key) \
    ONAX_CLONES static void keys_##name(const void *from, int64_t stride, int64_t n, uint64_t *keys) { \
        const U *a = from; \
        for (int64_t i = 0; i < n; i++) { const U x = a[i * stride]; keys[i] = (U)(key); } \
    }
#define ONAX_INTEGER_KEYS(w, U) ONAX_KEYS(i##w, U, U, x ^ (U)1 << (w - 1)) ONAX_KEYS(u##w, U, U, x)
ONAX_INTEGER_KEYS(8, uint8_t) ONAX_INTEGER_KEYS(16, uint16_t) ONAX_INTEGER_KEYS(32, uint32_t) ONAX_INTEGER_KEYS(64, uint64_t)

/* Of floats by their bits; NaN last, both zeros alike. */
#define ONAX_TOTAL(x, U, top) ((x) & top ? (U)~(x) : (U)((x) | top))
#define ONAX_FLOAT_KEYS(name, U, top, infinity) \
    ONAX_KEYS(name, U, U, (U)((U)(x << 1) > (U)(infinity << 1) ? ~(U)0 : (U)(x << 1) == 0 ? top : ONAX_TOTAL(x, U, top))) \
    ONAX_KEYS(total_##name, U, U, ONAX_TOTAL(x, U, top))
ONAX_FLOAT_KEYS(f16, uint16_t, (uint16_t)0x8000u, (uint16_t)0x7c00u)
ONAX_FLOAT_KEYS(bf16, uint16_t, (uint16_t)0x8000u, (uint16_t)0x7f80u)
ONAX_FLOAT_KEYS(f32, uint32_t, 0x80000000u, 0x7f800000u)
ONAX_FLOAT_KEYS(f64, uint64_t, (uint64_t)1 << 63, (uint64_t)0x7ff << 52)

typedef void (*key_maker)(const void *from, int64_t stride, int64_t n, uint64_t *keys);

/* By type: f32 f64 i32 u32 i64 u64 bool i8 u8 i16 u16 f16 bf16 c64 c128; `total` has NaN by its bits, and -0 below 0. */
static const key_maker makers[ONAX_TYPES] = {
    keys_f32, keys_f64, keys_i32, keys_u32, keys_i64, keys_u64, keys_u8, keys_i8, keys_u8, keys_i16, keys_u16, keys_f16,
    keys_bf16, keys_f32, keys_f64,
};
static const key_maker totals[ONAX_TYPES] = {
    keys_total_f32, keys_total_f64, keys_i32, keys_u32, keys_i64, keys_u64, keys_u8, keys_i8, keys_u8, keys_i16, keys_u16,
    keys_total_f16, keys_total_bf16, NULL, NULL,
};

/* ---- order */

/* to[r] = i where the i-th item is the r-th smallest; the items are different. */
ONAX_CLONES static void rank_items(const int64_t *items, int64_t n, uint32_t *to) {
    int64_t ranks[RANKED] = {0};
    for (int64_t j = 0; j < n; j++) {
        const int64_t x = items[j];
        ONAX_OVER(i, n) ranks[i] += x < items[i];
    }
    for (int64_t i = 0; i < n; i++) to[ranks[i]] = (uint32_t)i;
}

ONAX_CLONES static void rank_wide(const uint64_t *keys, int64_t n, uint32_t *to) {
    int64_t ranks[RANKED] = {0};
    for (int64_t j = 0; j < n; j++) {
        const uint64_t x = keys[j];
        ONAX_OVER(i, n) ranks[i] += (x < keys[i]) | ((x == keys[i]) & (j < i));
    }
    for (int64_t i = 0; i < n; i++) to[ranks[i]] = (uint32_t)i;
}

typedef struct { uint64_t key, place; } wide_item;

/* Sorts by the bytes `first` ... `past` - 1 of keys; gives the one of `a` and `b` where the items are then. */
#define ONAX_RADIX(name, T, key_of) \
    static T *name(T *a, T *b, int64_t n, int first, int past, uint32_t *counts) { \
        memset(counts + 256 * first, 0, (size_t)(past - first) * 256 * sizeof *counts); \
        for (int64_t i = 0; i < n; i++) { \
            const uint64_t key = key_of(a[i]); \
            for (int p = first; p < past; p++) counts[256 * p + (int)(key >> 8 * p & 255)]++; \
        } \
        for (int p = first; p < past; p++) { \
            uint32_t *count = counts + 256 * p, sum = 0; \
            T *moved; \
            if (count[key_of(a[0]) >> 8 * p & 255] == (uint32_t)n) continue; \
            for (int k = 0; k < 256; k++) { const uint32_t c = count[k]; count[k] = sum; sum += c; } \
            for (int64_t i = 0; i < n; i++) b[count[key_of(a[i]) >> 8 * p & 255]++] = a[i]; \
            moved = a; \
            a = b; \
            b = moved; \
        } \
        return a; \
    }
#define OWN(x) (x)
#define KEY(x) ((x).key)
ONAX_RADIX(sort_items, uint64_t, OWN)
ONAX_RADIX(sort_wide, wide_item, KEY)

/* Scratch memory of one line of n elements. */
typedef struct { uint64_t *keys, *items, *others; uint32_t *order, *before, *counts; } desk;

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Keys share their memory with `others`, for they are in the items when these are sorted. */
static int64_t desk_bytes(int64_t n, int64_t size) {
    return 2 * rounded((size == 8 ? 16 : 8) * n) + 2 * rounded(4 * n) + (n > RANKED ? 8 * 256 * 4 : 0);
}

static desk desk_in(char *room, int64_t n, int64_t size) {
    const int64_t bytes = rounded((size == 8 ? 16 : 8) * n);
    desk d;
    d.items = (uint64_t *)room;
    d.keys = d.others = (uint64_t *)(room + bytes);
    d.order = (uint32_t *)(room + 2 * bytes);
    d.before = (uint32_t *)(room + 2 * bytes + rounded(4 * n));
    d.counts = (uint32_t *)(room + 2 * bytes + 2 * rounded(4 * n));
    return d;
}

/* order[r] = place of the r-th smallest key, of keys of so many bytes. */
static void order_keys(const desk *d, int64_t n, int size, uint32_t *order) {
    if (size == 8 && n <= RANKED) {
        rank_wide(d->keys, n, order);
    } else if (size == 8) {
        wide_item *items = (wide_item *)d->items;
        for (int64_t i = 0; i < n; i++) { items[i].key = d->keys[i]; items[i].place = (uint64_t)i; }
        items = sort_wide(items, (wide_item *)d->others, n, 0, 8, d->counts);
        for (int64_t i = 0; i < n; i++) order[i] = (uint32_t)items[i].place;
    } else {
        uint64_t *items = d->items;
        const uint64_t flip = n <= RANKED ? (uint64_t)1 << 63 : 0;   /* ranks are those of signed numbers */
        for (int64_t i = 0; i < n; i++) items[i] = (d->keys[i] << 32 | (uint64_t)i) ^ flip;
        if (n <= RANKED) { rank_items((const int64_t *)items, n, order); return; }
        items = sort_items(items, d->others, n, 4, 4 + size, d->counts);
        for (int64_t i = 0; i < n; i++) order[i] = (uint32_t)items[i];
    }
}

/* ---- sort */

typedef struct {
    int64_t outer, n, inner, slot, tasks, widest;     /* widest: bytes of the largest key */
    int n_operands, n_keys;
    int64_t types[];           /* of keys; then the sizes of all operands */
} plan;

typedef struct { const onax_instruction *q; onax_frame *frame; const void *plan; int status; } job;

/* Keys from the last to the first, each sorted stably: complex numbers are two. */
static void order_line(const plan *p, const onax_instruction *q, const onax_frame *f, int64_t offset, const desk *d) {
    int is_first = 1;
    for (int k = p->n_keys - 1; k >= 0; k--) {
        const int64_t type = p->types[k], parts = type >= ONAX_C64 ? 2 : 1, size = p->types[p->n_keys + k] / parts;
        const char *from = ONAX_BUFFER(q, f, p->n_operands + k) + offset * size * parts;
        for (int64_t part = parts - 1; part >= 0; part--) {
            makers[type](from + part * size, p->inner * parts, p->n, d->keys);
            if (is_first) {
                order_keys(d, p->n, (int)size, d->order);
            } else {
                for (int64_t i = 0; i < p->n; i++) d->items[i] = d->keys[d->order[i]];
                memcpy(d->keys, d->items, (size_t)p->n * 8);
                memcpy(d->before, d->order, (size_t)p->n * 4);
                order_keys(d, p->n, (int)size, d->order);
                for (int64_t i = 0; i < p->n; i++) d->order[i] = d->before[d->order[i]];
            }
            is_first = 0;
        }
    }
}

#define ONAX_TAKE(name, T) \
    static void take_##name(const void *from, void *to, int64_t stride, const uint32_t *order, int64_t n) { \
        const T *a = from; \
        T *d = to; \
        for (int64_t i = 0; i < n; i++) d[i * stride] = a[order[i] * stride]; \
    }
ONAX_TAKE(1, uint8_t) ONAX_TAKE(2, uint16_t) ONAX_TAKE(4, uint32_t) ONAX_TAKE(8, uint64_t)

static void take(const char *from, char *to, int64_t size, int64_t stride, const uint32_t *order, int64_t n) {
    switch (size) {
        case 1: take_1(from, to, stride, order, n); return;
        case 2: take_2(from, to, stride, order, n); return;
        case 4: take_4(from, to, stride, order, n); return;
        case 8: take_8(from, to, stride, order, n); return;
        default:
            for (int64_t i = 0; i < n; i++) memcpy(to + i * stride * size, from + order[i] * stride * size, (size_t)size);
    }
}

static void sort_lines(void *user, size_t which) {
    job *j = user;
    const plan *p = j->plan;
    const int64_t lines = p->outer * p->inner, share = (lines + p->tasks - 1) / p->tasks, begin = (int64_t)which * share;
    const int64_t end = begin + share < lines ? begin + share : lines;
    const desk d = desk_in(j->frame->scratch + (int64_t)which * p->slot, p->n, p->widest);
    for (int64_t i = begin; i < end; i++) {
        const int64_t offset = i / p->inner * p->n * p->inner + i % p->inner;
        order_line(p, j->q, j->frame, offset, &d);
        for (int k = 0; k < p->n_operands; k++) {
            const int64_t size = p->types[p->n_keys + k];
            take(ONAX_BUFFER(j->q, j->frame, p->n_operands + k) + offset * size,
                 ONAX_BUFFER(j->q, j->frame, k) + offset * size, size, p->inner, d.order, p->n);
        }
        if (p->tasks == 1 && p->n > RANKED && (j->status = onax_poll(j->frame))) return;
    }
}

static int run_lines(const onax_instruction *q, onax_frame *f, int64_t tasks, void (*task)(void *, size_t)) {
    job j = {q, f, q->state, ONAX_DONE};
    if (f->parallel && tasks > 1) f->parallel(f->where, task, (size_t)tasks, &j);
    else
        for (int64_t i = 0; i < tasks && !j.status; i++) {
            task(&j, (size_t)i);
            if (tasks > 1) j.status = onax_poll(f);
        }
    return j.status;
}

static int run_sort(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    return p->n ? run_lines(q, f, p->tasks, sort_lines) : ONAX_DONE;
}

static int64_t tasks_of(double work, int64_t lines) {
    double tasks = work < 2 * TASK_WORK ? 1 : work / TASK_WORK < MOST_TASKS ? work / TASK_WORK : MOST_TASKS;
    return tasks < (double)lines ? (int64_t)tasks : lines > 1 ? lines : 1;
}

static const char *verify_sort(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t count, lines;
    plan *p;
    if (q->n_attributes < 5 || a[0] < 1 || a[0] > MOST_OPERANDS || q->n_operands != 2 * a[0] || q->n_attributes != 5 + a[0]
        || a[1] < 1 || a[1] > a[0]) return "a sort has other operands";
    lines = onax_product(a[2], a[4]);
    count = onax_product(lines, a[3]);
    if (count < 0 || a[3] > INT32_MAX) return "a sort is too large";
    if (!(p = calloc(1, sizeof *p + (size_t)(a[0] + a[1]) * sizeof(int64_t)))) return "no memory";
    q->state = p;
    p->n_operands = (int)a[0];
    p->n_keys = (int)a[1];
    p->outer = a[2];
    p->n = a[3];
    p->inner = a[4];
    for (int k = 0; k < p->n_operands; k++) {
        const int64_t size = k < p->n_keys ? onax_size_of(a[5 + k]) : a[5 + k];
        if (size < 1 || size > 4096) return "a sort has no such type";
        if (bytes[k] != onax_product(count, size) || bytes[a[0] + k] != bytes[k]) return "a sort has operands of other sizes";
        if (k < p->n_keys) p->types[k] = a[5 + k];
        p->types[p->n_keys + k] = size;
        if (k < p->n_keys && (a[5 + k] < ONAX_C64 ? size : size / 2) > p->widest) p->widest = a[5 + k] < ONAX_C64 ? size : size / 2;
    }
    q->work = 10.0 + (double)lines * 10.0;
    for (int k = 0; k < p->n_keys; k++)
        q->work += (double)lines * (p->n <= RANKED ? 0.12 * (double)(p->n * p->n) : 400.0 + 1.6 * (double)(p->n * p->types[p->n_keys + k]));
    q->work += 1.5 * (double)count * p->n_operands;
    p->tasks = tasks_of(q->work, lines);
    p->slot = desk_bytes(p->n, p->widest);
    q->scratch = p->tasks * p->slot;
    return NULL;
}

static void release_state(onax_instruction *q) { free(q->state); }

/* ---- top_k */

typedef struct { int64_t type, outer, n, inner, k, size, tasks, slot; int is_selected; } top_plan;

/* The k largest of a line in order: the smallest of the inverted keys. */
static void top_lines(void *user, size_t which) {
    job *j = user;
    const top_plan *p = j->plan;
    const int64_t lines = p->outer * p->inner, share = (lines + p->tasks - 1) / p->tasks, begin = (int64_t)which * share;
    const int64_t end = begin + share < lines ? begin + share : lines;
    const char *from = ONAX_BUFFER(j->q, j->frame, 2);
    char *values = ONAX_BUFFER(j->q, j->frame, 0), *room = j->frame->scratch + (int64_t)which * p->slot;
    int32_t *places = (int32_t *)ONAX_BUFFER(j->q, j->frame, 1);
    const desk d = desk_in(room, p->n, p->size);
    for (int64_t i = begin; i < end; i++) {
        const int64_t block = i / p->inner, column = i % p->inner;
        const char *line = from + (block * p->n * p->inner + column) * p->size;
        const int64_t to = block * p->k * p->inner + column;
        if (p->is_selected) {
            onax_select_top((const uint32_t *)line, p->n, p->k, p->type, (uint64_t *)room, (uint32_t *)values + to, places + to);
        } else {
            totals[p->type](line, p->inner, p->n, d.keys);
            for (int64_t m = 0; m < p->n; m++) d.keys[m] = ~d.keys[m] & (~(uint64_t)0 >> (64 - 8 * p->size));
            order_keys(&d, p->n, (int)p->size, d.order);
            take(line, values + to * p->size, p->size, p->inner, d.order, p->k);
            for (int64_t m = 0; m < p->k; m++) places[to + m * p->inner] = (int32_t)d.order[m];
        }
        if (p->tasks == 1 && p->n > RANKED && (j->status = onax_poll(j->frame))) return;
    }
}

static int run_top_k(const onax_instruction *q, onax_frame *f) {
    const top_plan *p = q->state;
    return p->k ? run_lines(q, f, p->tasks, top_lines) : ONAX_DONE;
}

static const char *verify_top_k(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t lines;
    top_plan *p;
    if (q->n_operands != 3 || q->n_attributes != 5) return "top_k has other operands";
    if (a[0] < 0 || a[0] >= ONAX_TYPES || !totals[a[0]]) return "top_k has no such type";
    lines = onax_product(a[1], a[3]);
    if (a[2] > INT32_MAX || a[4] < 0 || a[4] > a[2] || bytes[2] < 0 || bytes[2] != onax_array_bytes(a[0], onax_product(lines, a[2]))
        || bytes[0] != onax_array_bytes(a[0], onax_product(lines, a[4])) || bytes[1] != onax_product(onax_product(lines, a[4]), 4))
        return "top_k has operands of other sizes";
    if (!(p = calloc(1, sizeof *p))) return "no memory";
    q->state = p;
    p->type = a[0];
    p->outer = a[1];
    p->n = a[2];
    p->inner = a[3];
    p->k = a[4];
    p->size = onax_size_of(a[0]);
    p->is_selected = p->size == 4 && p->inner == 1 && p->n > RANKED && 16 * p->k < p->n;
    q->work = 20.0 + (double)lines * (10.0 + (p->n <= RANKED ? 0.12 * (double)(p->n * p->n)
                                              : p->is_selected ? 0.3 * (double)p->n + 20.0 * (double)p->k
                                              : 400.0 + 1.6 * (double)(p->n * p->size)));
    p->tasks = tasks_of(q->work, lines);
    p->slot = p->is_selected ? rounded(8 * onax_top_room(p->k)) : desk_bytes(p->n, p->size);
    q->scratch = p->tasks * p->slot;
    return NULL;
}

const onax_tape_operation onax_tape_sorting[] = {
    {"sort", -1, verify_sort, run_sort, release_state},
    {"top_k", 2, verify_top_k, run_top_k, release_state},
    {0},
};
