/* Instructions that draw random numbers from keys of Threefry-2x32.

   random_bits      reads: keys.  Attributes: bits of a number (0: pairs of words, which are keys), how many keys, how many
                    numbers of each, and whether counters are laid out as with jax_threefry_partitionable=False
   random_normal    reads: keys.  Attributes: how many keys, how many normal float32 numbers of each
   random_seed      reads: integers.  Attributes: their type, how many
   random_fold_in   reads: keys, words.  Attributes: how many, and for each operand 1, or 0 if it has one element
   threefry         writes: two words; reads: two words of keys, two of counters.  Attributes: as for random_fold_in
   random_gamma     reads: keys, shape parameters.  Attributes: the type, how many keys, how many numbers of each, and
                    whether parameters and numbers are logarithms
   gamma_grad       reads: shape parameters, numbers.  Attributes: the type, how many, and 1 or 0 for each operand */
#include "tape_random.h"

#include <stdlib.h>

#include "normals_loops.h"

#define SHARE 32768            /* numbers that one task draws */

typedef struct { const onax_instruction *q; onax_frame *frame; } job;

static int64_t shares_of(int64_t n) { return (n + SHARE - 1) / SHARE; }

static int run_tasks(const onax_instruction *q, onax_frame *f, int64_t count, void (*task)(void *, size_t)) {
    job j = {q, f};
    if (f->parallel && count > 1) {
        f->parallel(f->where, task, (size_t)count, &j);
        return ONAX_DONE;
    }
    for (int64_t i = 0; i < count; i++) {
        task(&j, (size_t)i);
        if (count > 1 && onax_poll(f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

/* Whether an operand of so many bytes has one element, or n of them, as its step says. */
static int is_stepped(int64_t step, int64_t n, int64_t size, int64_t bytes) {
    return (step == 0 || step == 1) && bytes == onax_product(step ? n : 1, size);
}

/* ---- bits */

static void draw_share(void *user, size_t which) {
    const job *j = user;
    const int64_t *a = j->q->attributes;
    const int64_t shares = shares_of(a[2]), key = (int64_t)which / shares, start = (int64_t)which % shares * SHARE;
    const int64_t stop = start + SHARE < a[2] ? start + SHARE : a[2];
    const uint32_t *keys = (const uint32_t *)ONAX_BUFFER(j->q, j->frame, 1);
    char *out = ONAX_BUFFER(j->q, j->frame, 0) + (key * a[2] + start) * (a[0] ? a[0] / 8 : 8);
    onax_fill((int)a[0], keys[2 * key], keys[2 * key + 1], (uint64_t)start, (uint64_t)stop, out);
}

static int run_bits(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes;
    if (a[2] > SHARE) return run_tasks(q, f, a[1] * shares_of(a[2]), draw_share);
    onax_fill_keys((int)a[0], (const uint32_t *)ONAX_BUFFER(q, f, 1), (uint64_t)a[1], (uint64_t)a[2], ONAX_BUFFER(q, f, 0));
    return ONAX_DONE;
}

/* Words of one stream cut into halves: a number is parts of a word, lowest first, or one word of each half. */
static void draw_original(const uint32_t *key, int64_t width, int64_t n, uint32_t *words, char *out) {
    const int64_t count = width ? (width * n + 31) / 32 : 2 * n;
    onax_stream(key[0], key[1], (uint32_t)count, words);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t joined = width == 64 ? (uint64_t)words[i] << 32 | words[n + i] : 0;
        const uint16_t half = (uint16_t)(words[i / 2] >> 16 * (i % 2));
        const uint8_t byte = (uint8_t)(words[i / 4] >> 8 * (i % 4));
        if (width == 64) memcpy(out + 8 * i, &joined, 8);
        else if (width == 16) memcpy(out + 2 * i, &half, 2);
        else if (width == 8) memcpy(out + i, &byte, 1);
        else { memcpy(out, words, (size_t)count * 4); return; }
    }
}

static int run_bits_original(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes;
    const uint32_t *keys = (const uint32_t *)ONAX_BUFFER(q, f, 1);
    char *out = ONAX_BUFFER(q, f, 0);
    for (int64_t i = 0; i < a[1]; i++) {
        draw_original(keys + 2 * i, a[0], a[2], (uint32_t *)f->scratch, out + i * a[2] * (a[0] ? a[0] / 8 : 8));
        if (onax_poll(f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

static const char *verify_bits(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t count;
    if (q->n_operands != 2 || q->n_attributes != 4) return "random bits have other operands";
    if (a[0] != 0 && a[0] != 8 && a[0] != 16 && a[0] != 32 && a[0] != 64) return "random bits have no such width";
    count = onax_product(a[1], a[2]);
    if (bytes[0] < 0 || bytes[0] != onax_product(count, a[0] ? a[0] / 8 : 8) || bytes[1] != onax_product(a[1], 8))
        return "random bits have operands of other sizes";
    if (a[3]) {
        if (onax_product(a[2], 2) < 0 || 2 * a[2] >= (int64_t)UINT32_MAX) return "one stream has no so many words";
        q->run = run_bits_original;
        q->scratch = 8 * a[2] + 8;
    }
    q->work = 25.0 + 1.0 * (double)count + 10.0 * (double)a[1];
    return NULL;
}

/* ---- normal numbers */

static void draw_normals(void *user, size_t which) {
    const job *j = user;
    const int64_t each = j->q->attributes[1], shares = shares_of(each);
    const int64_t key = (int64_t)which / shares, start = (int64_t)which % shares * SHARE;
    const int64_t stop = start + SHARE < each ? start + SHARE : each;
    const uint32_t *words = (const uint32_t *)ONAX_BUFFER(j->q, j->frame, 1) + 2 * key;
    onax_normals(words[0], words[1], (uint64_t)start, (uint64_t)stop, (float *)ONAX_BUFFER(j->q, j->frame, 0) + key * each + start);
}

static int run_normals(const onax_instruction *q, onax_frame *f) {
    return run_tasks(q, f, q->attributes[0] * shares_of(q->attributes[1]), draw_normals);
}

static const char *verify_normals(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t count;
    if (q->n_operands != 2 || q->n_attributes != 2) return "normal numbers have other operands";
    count = onax_product(a[0], a[1]);
    if (bytes[0] < 0 || bytes[0] != onax_product(count, 4) || bytes[1] != onax_product(a[0], 8))
        return "normal numbers have operands of other sizes";
    q->work = 25.0 + 3.0 * (double)count + 10.0 * (double)a[0];
    return NULL;
}

/* ---- keys */

#define ONAX_SEEDS(name, T) \
    static void seed_##name(const void *from, uint32_t *to, int64_t n) { \
        const T *a = from; \
        for (int64_t i = 0; i < n; i++) { \
            to[2 * i] = sizeof(T) == 8 ? (uint32_t)((uint64_t)a[i] >> 32) : 0; \
            to[2 * i + 1] = (uint32_t)a[i]; \
        } \
    }
ONAX_SEEDS(i8, int8_t) ONAX_SEEDS(u8, uint8_t) ONAX_SEEDS(i16, int16_t) ONAX_SEEDS(u16, uint16_t) ONAX_SEEDS(i32, int32_t)
ONAX_SEEDS(i64, int64_t)

typedef void (*seeder)(const void *, uint32_t *, int64_t);
static const seeder seeders[ONAX_TYPES] = {
    NULL, NULL, seed_i32, seed_i32, seed_i64, seed_i64, NULL, seed_i8, seed_u8, seed_i16, seed_u16, NULL, NULL, NULL, NULL,
};

static int run_seed(const onax_instruction *q, onax_frame *f) {
    seeders[q->attributes[0]](ONAX_BUFFER(q, f, 1), (uint32_t *)ONAX_BUFFER(q, f, 0), q->attributes[1]);
    return ONAX_DONE;
}

static const char *verify_seed(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    if (q->n_operands != 2 || q->n_attributes != 2) return "seeds have other operands";
    if (a[0] < 0 || a[0] >= ONAX_TYPES || !seeders[a[0]]) return "seeds have no such type";
    if (bytes[1] < 0 || bytes[1] != onax_array_bytes(a[0], a[1]) || bytes[0] != onax_product(a[1], 8))
        return "seeds have operands of other sizes";
    q->work = 10.0 + (double)a[1];
    return NULL;
}

ONAX_INLINE void block(uint32_t k0, uint32_t k1, uint32_t *c0, uint32_t *c1) {
    const uint32_t k2 = k0 ^ k1 ^ ONAX_PARITY;
    uint32_t x0 = *c0, x1 = *c1;
    ONAX_THREEFRY(k0, k1, k2)
    *c0 = x0;
    *c1 = x1;
}

static int run_fold_in(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes;
    const uint32_t *keys = (const uint32_t *)ONAX_BUFFER(q, f, 1), *data = (const uint32_t *)ONAX_BUFFER(q, f, 2);
    uint32_t *out = (uint32_t *)ONAX_BUFFER(q, f, 0);
    for (int64_t i = 0; i < a[0]; i++) {
        const uint32_t *key = keys + 2 * i * a[1];
        uint32_t c0 = 0, c1 = data[i * a[2]];
        block(key[0], key[1], &c0, &c1);
        out[2 * i] = c0;
        out[2 * i + 1] = c1;
    }
    return ONAX_DONE;
}

static const char *verify_fold_in(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    if (q->n_operands != 3 || q->n_attributes != 3) return "fold_in has other operands";
    if (bytes[0] < 0 || bytes[0] != onax_product(a[0], 8) || !is_stepped(a[1], a[0], 8, bytes[1])
        || !is_stepped(a[2], a[0], 4, bytes[2])) return "fold_in has operands of other sizes";
    q->work = 10.0 + 25.0 * (double)a[0];
    return NULL;
}

static int run_threefry(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes;
    const uint32_t *from[4];
    uint32_t *first = (uint32_t *)ONAX_BUFFER(q, f, 0), *second = (uint32_t *)ONAX_BUFFER(q, f, 1);
    for (int k = 0; k < 4; k++) from[k] = (const uint32_t *)ONAX_BUFFER(q, f, 2 + k);
    if (a[1] && a[2] && a[3] && a[4]) {
        memcpy(first, from[2], (size_t)a[0] * 4);
        memcpy(second, from[3], (size_t)a[0] * 4);
        onax_blocks(from[0], from[1], (uint64_t)a[0], first, second);
        return ONAX_DONE;
    }
    for (int64_t i = 0; i < a[0]; i++) {
        uint32_t c0 = from[2][i * a[3]], c1 = from[3][i * a[4]];
        block(from[0][i * a[1]], from[1][i * a[2]], &c0, &c1);
        first[i] = c0;
        second[i] = c1;
    }
    return ONAX_DONE;
}

static const char *verify_threefry(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    if (q->n_operands != 6 || q->n_attributes != 5) return "threefry has other operands";
    if (bytes[0] < 0 || bytes[0] != onax_product(a[0], 4) || bytes[1] != bytes[0]) return "threefry has operands of other sizes";
    for (int k = 0; k < 4; k++)
        if (!is_stepped(a[1 + k], a[0], 4, bytes[2 + k])) return "threefry has operands of other sizes";
    q->work = 15.0 + 10.0 * (double)a[0];
    return NULL;
}

/* ---- the gamma distribution */

#define GAMMA_SHARE 1024       /* numbers that one task draws */

static void gamma_share(void *user, size_t which) {
    const job *j = user;
    const int64_t *a = j->q->attributes, n = a[1] * a[2], begin = (int64_t)which * GAMMA_SHARE;
    const int64_t end = begin + GAMMA_SHARE < n ? begin + GAMMA_SHARE : n;
    const uint32_t *keys = (const uint32_t *)ONAX_BUFFER(j->q, j->frame, 1);
    void *alpha = ONAX_BUFFER(j->q, j->frame, 2), *out = ONAX_BUFFER(j->q, j->frame, 0);
    if (a[0] == ONAX_F32) onax_gamma_f32(keys, a[2], alpha, out, begin, end, a[3] != 0);
    else onax_gamma_f64(keys, a[2], alpha, out, begin, end, a[3] != 0);
}

static int run_gamma(const onax_instruction *q, onax_frame *f) {
    const int64_t n = q->attributes[1] * q->attributes[2];
    return run_tasks(q, f, (n + GAMMA_SHARE - 1) / GAMMA_SHARE, gamma_share);
}

static const char *verify_gamma(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t count;
    if (q->n_operands != 3 || q->n_attributes != 4 || (a[0] != ONAX_F32 && a[0] != ONAX_F64)) return "gamma has other operands";
    if (a[2] > (int64_t)UINT32_MAX) return "gamma draws too many numbers from a key";
    count = onax_product(a[1], a[2]);
    if (bytes[0] < 0 || bytes[0] != onax_array_bytes(a[0], count) || bytes[2] != bytes[0] || bytes[1] != onax_product(a[1], 8))
        return "gamma has operands of other sizes";
    q->work = 150.0 + (a[0] == ONAX_F32 ? 60.0 : 400.0) * (double)count;
    return NULL;
}

static double as_number(int64_t type, const char *from, int64_t i) {
    switch (type) {
        case ONAX_F32: return ((const float *)from)[i];
        case ONAX_F64: return ((const double *)from)[i];
        case ONAX_F16: return onax_from_f16(((const uint16_t *)from)[i]);
        default: return onax_from_bf16(((const uint16_t *)from)[i]);
    }
}

static void grad_share(void *user, size_t which) {
    const job *j = user;
    const int64_t *a = j->q->attributes, begin = (int64_t)which * GAMMA_SHARE;
    const int64_t end = begin + GAMMA_SHARE < a[1] ? begin + GAMMA_SHARE : a[1];
    const char *alpha = ONAX_BUFFER(j->q, j->frame, 1), *number = ONAX_BUFFER(j->q, j->frame, 2);
    char *out = ONAX_BUFFER(j->q, j->frame, 0);
    for (int64_t i = begin; i < end; i++) {
        const double x = onax_gamma_grad(as_number(a[0], alpha, i * a[2]), as_number(a[0], number, i * a[3]));
        if (a[0] == ONAX_F64) ((double *)out)[i] = x;
        else if (a[0] == ONAX_F32) ((float *)out)[i] = (float)x;
        else if (a[0] == ONAX_F16) ((uint16_t *)out)[i] = onax_to_f16(onax_round_to_odd(x));
        else ((uint16_t *)out)[i] = onax_to_bf16((float)x);
    }
}

static int run_gamma_grad(const onax_instruction *q, onax_frame *f) {
    return run_tasks(q, f, (q->attributes[1] + GAMMA_SHARE - 1) / GAMMA_SHARE, grad_share);
}

static const char *verify_gamma_grad(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t size;
    if (q->n_operands != 3 || q->n_attributes != 4) return "gamma_grad has other operands";
    if (a[0] != ONAX_F32 && a[0] != ONAX_F64 && !onax_is_half(a[0])) return "gamma_grad has no such type";
    size = onax_size_of(a[0]);
    if (bytes[0] < 0 || bytes[0] != onax_product(a[1], size) || !is_stepped(a[2], a[1], size, bytes[1])
        || !is_stepped(a[3], a[1], size, bytes[2])) return "gamma_grad has operands of other sizes";
    q->work = 20.0 + 300.0 * (double)a[1];
    return NULL;
}

const onax_tape_operation onax_tape_random[] = {
    {"random_bits", 1, verify_bits, run_bits, NULL},
    {"random_normal", 1, verify_normals, run_normals, NULL},
    {"random_seed", 1, verify_seed, run_seed, NULL},
    {"random_fold_in", 1, verify_fold_in, run_fold_in, NULL},
    {"threefry", 2, verify_threefry, run_threefry, NULL},
    {"random_gamma", 1, verify_gamma, run_gamma, NULL},
    {"gamma_grad", 1, verify_gamma_grad, run_gamma_grad, NULL},
    {0},
};
