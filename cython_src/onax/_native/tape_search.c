/* The instruction that searches a sorted array for many numbers.

   binary_search   writes: places (int32), as many as numbers; reads: the array, the numbers
                   Attributes: the type of both, how many elements the array has, whether places are those after equal ones

   For each number an interval of the array, at first the whole, is halved as often as an interval of this length can be;
   so the result is determined for arrays in any order.  NaN is after all other numbers. */
#include "tape_types.h"

#include <stdlib.h>

#define BLOCK 128              /* numbers that are searched for side by side */
#define TASK_WORK 100000.0
#define MOST_TASKS 16

/* `to`: the places of m numbers. */
typedef void (*searcher)(const void *array, int32_t n, int steps, int is_right, const void *numbers, int32_t *to, int64_t m);

typedef struct {
    searcher search;
    int64_t type, n, count, tasks;
    int steps, is_right;
} search_plan;

#define BEFORE(x, y) ((x < y) | ((x == x) & (y != y)))
#define HALVE(is_before) ONAX_EACH { \
        const int32_t middle = low[i] + (high[i] - low[i]) / 2, place = middle < last ? middle : last; \
        const int is_open = low[i] < high[i]; \
        const T there = array[place], x = numbers[i]; \
        const int is_after = is_before; \
        low[i] = is_open & is_after ? middle + 1 : low[i]; \
        high[i] = is_open & !is_after ? middle : high[i]; }

#define DEFINE_SEARCH(name, type) \
    ONAX_CLONES static void search_##name( \
            const void *sorted, int32_t count, int steps, int is_right, const void *values, int32_t *to, int64_t m) { \
        typedef type T; \
        const T *array = sorted, *numbers = values; \
        const int32_t last = count - 1; \
        for (; m > 0; m -= BLOCK, numbers += BLOCK, to += BLOCK) { \
            const int64_t n = m < BLOCK ? m : BLOCK; \
            int32_t low[BLOCK], high[BLOCK]; \
            ONAX_EACH { low[i] = 0; high[i] = count; } \
            for (int step = 0; step < steps; step++) \
                if (is_right) HALVE(!BEFORE(x, there)) \
                else HALVE(BEFORE(there, x)) \
            memcpy(to, low, (size_t)n * sizeof *low); } }
DEFINE_SEARCH(f32, float)
DEFINE_SEARCH(f64, double)
DEFINE_SEARCH(i8, int8_t)
DEFINE_SEARCH(u8, uint8_t)
DEFINE_SEARCH(i16, int16_t)
DEFINE_SEARCH(u16, uint16_t)
DEFINE_SEARCH(i32, int32_t)
DEFINE_SEARCH(u32, uint32_t)
DEFINE_SEARCH(i64, int64_t)
DEFINE_SEARCH(u64, uint64_t)

static const searcher searchers[ONAX_TYPES] = {
    [ONAX_F32] = search_f32, [ONAX_F64] = search_f64, [ONAX_I8] = search_i8, [ONAX_U8] = search_u8, [ONAX_I16] = search_i16,
    [ONAX_U16] = search_u16, [ONAX_I32] = search_i32, [ONAX_U32] = search_u32, [ONAX_I64] = search_i64,
    [ONAX_U64] = search_u64, [ONAX_F16] = search_f32, [ONAX_BF16] = search_f32,
};

/* ---- running */

typedef struct { const search_plan *p; int32_t *to; const char *array, *numbers; onax_frame *frame; int status; } search_job;

/* The numbers first ... past - 1, with signals looked for between blocks if there is a frame. */
static int search_range(search_job *j, int64_t first, int64_t past, onax_frame *f) {
    const search_plan *p = j->p;
    const int is_half = onax_is_half(p->type);
    const int64_t size = onax_size_of(p->type);
    for (int64_t i = first; i < past; i += BLOCK) {
        const int64_t n = past - i < BLOCK ? past - i : BLOCK;
        const int status = f ? onax_poll(f) : ONAX_DONE;
        float wide[BLOCK];
        if (status) return status;
        if (is_half) onax_widen(p->type, (const uint16_t *)j->numbers + i, wide, n);
        p->search(j->array, (int32_t)p->n, p->steps, p->is_right, is_half ? (const char *)wide : j->numbers + i * size, j->to + i, n);
    }
    return ONAX_DONE;
}

static void search_part(void *user, size_t part) {
    search_job *j = user;
    const int64_t share = (j->p->count + j->p->tasks - 1) / j->p->tasks, first = (int64_t)part * share;
    search_range(j, first, first + share < j->p->count ? first + share : j->p->count, NULL);
}

static int run_search(const onax_instruction *q, onax_frame *f) {
    const search_plan *p = q->state;
    search_job j = {p, (int32_t *)ONAX_BUFFER(q, f, 0), ONAX_BUFFER(q, f, 1), ONAX_BUFFER(q, f, 2), f, ONAX_DONE};
    if (onax_is_half(p->type)) {
        onax_widen(p->type, (const uint16_t *)j.array, (float *)f->scratch, p->n);
        j.array = f->scratch;
    }
    if (p->tasks < 2 || !f->parallel) return search_range(&j, 0, p->count, f);
    f->parallel(f->where, search_part, (size_t)p->tasks, &j);
    return ONAX_DONE;
}

static const char *verify_search(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    search_plan *p;
    int64_t size;
    if (q->n_operands != 3 || q->n_attributes != 3) return "a search has other operands";
    if (a[0] < 0 || a[0] >= ONAX_TYPES || !searchers[a[0]]) return "a search has no such type";
    size = onax_size_of(a[0]);
    if (a[1] < 1 || a[1] > INT32_MAX || bytes[1] != a[1] * size) return "a search has an array of another size";
    if (bytes[0] % 4 || bytes[2] != onax_product(bytes[0] / 4, size)) return "a search has operands of other sizes";
    if (!(p = calloc(1, sizeof *p))) return "no memory";
    q->state = p;
    p->search = searchers[a[0]];
    p->type = a[0];
    p->n = a[1];
    p->is_right = a[2] != 0;
    p->count = bytes[0] / 4;
    while (p->n >> p->steps) p->steps++;
    q->work = 10.0 + 0.6 * (double)p->count * p->steps;
    p->tasks = (int64_t)(q->work / TASK_WORK);
    p->tasks = p->tasks < 1 ? 1 : p->tasks > MOST_TASKS ? MOST_TASKS : p->tasks;
    q->scratch = onax_is_half(p->type) ? 4 * p->n : 0;
    return NULL;
}

static void release_search(onax_instruction *q) { free(q->state); }

const onax_tape_operation onax_tape_search[] = {
    {"binary_search", 1, verify_search, run_search, release_search},
    {0},
};
