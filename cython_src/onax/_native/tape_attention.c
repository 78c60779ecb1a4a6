/* The instruction `attend`: a product, a program over blocks that reads it, and a product with what the program makes of it.

   A tile of rows goes through all three before the next does, so scores and weights stay in the second cache.

   Operands: the result, the other outputs of the program, left and right of the first product, the other operand of the
   second, the other inputs of the program.  Attributes:

       operands that are written
       the program's input that is the first product, and its output that is an operand of the second
       whether that is the left operand
       how many numbers follow for the first product, and these; the same of the second: attributes of `dot`
       the words of the program */
#include "tape_gemm.h"

#include <stdlib.h>
#include <string.h>

#include "blocks_kernels.h"

#define TILE 65536             /* elements of a tile: 512 KB of scores and weights in float32 */
#define FEWEST_ROWS 32         /* of a tile, so that what products pack pays */
#define PART_WORK 250000.0     /* nanoseconds that are worth another thread */
#define MOST_PARTS 8
#define MOST_PORTS 100000

enum { WHOLE, SHORTER, LENGTHS };  /* the tiles; the last one of each matrix */

typedef struct {
    onax_program *program;
    onax_contraction c[2];
    int swapped[2];                       /* operands were exchanged */
    onax_product *products[2][LENGTHS];
    int scores, weights, n_in, n_out;
    int64_t batch, m, n, scale;           /* matrices of scores; rows of the program in one of theirs */
    int64_t tile, tiles, parts;           /* rows of a tile; tiles of a matrix */
    int64_t sizes[2], tile_bytes[2], products_bytes, room, slot;
    int32_t *order;                       /* 0, 1, 2, ... */
    int is_whole;                         /* the program has no rows: it runs on all scores at once */
} attention;

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---- reading */

/* Whether these are the digits of matrices that lie side by side, row by row. */
static int is_dense(const attention *p, const onax_digits *batch, const onax_digits *rows, const onax_digits *columns) {
    onax_digits b = *batch, r = *rows, c = *columns;
    onax_merge_digits(&b);
    onax_merge_digits(&r);
    onax_merge_digits(&c);
    return b.n <= 1 && r.n <= 1 && c.n <= 1 && (!b.n || b.strides[0] == p->m * p->n) && (!r.n || r.strides[0] == p->n)
           && (!c.n || c.strides[0] == 1) && b.count == p->batch && r.count == p->m && c.count == p->n;
}

static const char *read_products(attention *p, const int64_t *at, int64_t count, const int64_t **words) {
    const char *fault;
    for (int i = 0; i < 2; i++) {
        const int64_t length = count > 0 ? at[0] : -1;
        if (length < 0 || length > count - 1) return "attend: attributes";
        if ((fault = onax_read_contraction(&p->c[i], at + 1, length))) return fault;
        at += 1 + length;
        count -= 1 + length;
    }
    *words = at;
    return NULL;
}

/* Rows of scores are rows of both products. */
static const char *orient(attention *p, int is_left) {
    onax_contraction *a = &p->c[0], *b = &p->c[1];
    onax_digits columns = a->columns[1];
    onax_merge_digits(&columns);
    p->swapped[0] = columns.n != 1 || columns.strides[0] != 1;
    p->swapped[1] = !is_left;
    for (int i = 0; i < 2; i++) if (p->swapped[i]) onax_swap_sides(&p->c[i]);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) onax_merge_digits(&p->c[i].rows[k]);
    p->batch = a->batch[2].count;
    p->m = a->rows[1].count;
    p->n = a->columns[1].count;
    if (p->batch < 1 || p->m < 1 || p->n < 1 || a->inner[0].count < 1 || b->columns[1].count < 1) return "attend: sizes";
    if (!is_dense(p, &a->batch[2], &a->rows[1], &a->columns[1]) || !is_dense(p, &b->batch[0], &b->rows[0], &b->inner[0]))
        return "attend: scores are not in order";
    return a->rows[0].n > 1 || b->rows[1].n > 1 ? "attend: several axes of rows" : NULL;
}

static const char *check_operands(const attention *p, const onax_instruction *q, const int64_t *bytes) {
    const onax_program *r = p->program;
    const int64_t scores = p->batch * p->m * p->n;
    const char *fault;
    int64_t first[3], second[3];
    int port = p->n_out;
    if (p->scores < 0 || p->scores >= p->n_in || p->weights < 0 || p->weights >= p->n_out) return "attend: no such port";
    if (q->attributes[0] != p->n_out || q->n_operands != p->n_out + 3 + p->n_in - 1) return "attend: operands";
    if (onax_program_elements(r, p->scores) != scores || onax_program_type(r, p->scores) != p->c[0].types[2]) return "attend: scores";
    if (onax_program_elements(r, p->n_in + p->weights) != scores || onax_program_type(r, p->n_in + p->weights) != p->c[1].types[0])
        return "attend: weights";
    first[0] = scores * p->sizes[0];
    first[1] = bytes[port + p->swapped[0]];
    first[2] = bytes[port + !p->swapped[0]];
    second[0] = bytes[0];
    second[1] = scores * p->sizes[1];
    second[2] = bytes[port + 2];
    if ((fault = onax_contraction_fault(&p->c[0], first))) return fault;
    if ((fault = onax_contraction_fault(&p->c[1], second))) return fault;
    for (int i = 0, at = 1; i < p->n_out; i++) {
        if (i == p->weights) continue;
        if (onax_program_elements(r, p->n_in + i) * onax_size_of(onax_program_type(r, p->n_in + i)) != bytes[at++]) return "attend: outputs";
    }
    for (int i = 0, at = port + 3; i < p->n_in; i++) {
        if (i == p->scores) continue;
        if (onax_program_elements(r, i) * onax_size_of(onax_program_type(r, i)) != bytes[at++]) return "attend: inputs";
    }
    return NULL;
}

/* Some rows of one matrix of a product; what is scores or weights holds these rows alone. */
static const char *plan_tile(attention *p, int which, int length, int64_t rows, double *work) {
    onax_contraction c = p->c[which];
    int64_t scratch = 0;
    const char *fault;
    onax_digits *some[2] = {&c.rows[0], &c.rows[1]};
    for (int i = 0; i < 3; i++) {
        c.batch[i].n = 0;
        c.batch[i].count = 1;
    }
    for (int i = 0; i < 2; i++) {
        const int64_t stride = some[i]->n ? some[i]->strides[0] : p->n;
        some[i]->n = 0;
        some[i]->count = 1;
        onax_add_digit(some[i], rows, stride);
    }
    fault = onax_product_plan(&c, &p->products[which][length], &scratch, work);
    if (scratch > p->products_bytes) p->products_bytes = scratch;
    return fault;
}

static const char *plan_tiles(attention *p, double *work) {
    const int64_t rows = TILE / p->n > FEWEST_ROWS ? TILE / p->n : FEWEST_ROWS;
    const char *fault;
    p->tile = rows < p->m ? rows : p->m;
    p->tiles = (p->m + p->tile - 1) / p->tile;
    for (int i = 0; i < 2; i++) {
        double each = 0, rest = 0;
        if ((fault = plan_tile(p, i, WHOLE, p->tile, &each))) return fault;
        if (p->m % p->tile && (fault = plan_tile(p, i, SHORTER, p->m % p->tile, &rest))) return fault;
        *work += each * (double)(p->batch * p->tiles);
        p->tile_bytes[i] = rounded(p->tile * p->n * p->sizes[i]);
    }
    p->room = onax_program_rows_scratch(p->program);
    return NULL;
}

static const char *plan_whole(attention *p, double *work) {
    const char *fault;
    p->order = malloc((size_t)(p->n_in + p->n_out) * sizeof(int32_t));
    if (!p->order) return "no memory";
    for (int i = 0; i < p->n_in + p->n_out; i++) p->order[i] = i;
    p->is_whole = 1;
    for (int i = 0; i < 2; i++) {
        double each = 0;
        int64_t scratch = 0;
        if ((fault = onax_product_plan(&p->c[i], &p->products[i][WHOLE], &scratch, &each))) return fault;
        if (scratch > p->products_bytes) p->products_bytes = scratch;
        *work += each;
        p->tile_bytes[i] = rounded(p->batch * p->m * p->n * p->sizes[i]);
    }
    p->room = onax_program_scratch(p->program);
    return NULL;
}

static void release_attention(onax_instruction *q) {
    attention *p = q->state;
    if (!p) return;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < LENGTHS; k++) onax_product_free(p->products[i][k]);
    onax_program_free(p->program);
    free(p->order);
    free(p);
}

static const char *plan_attention(onax_instruction *q, attention *p, const int64_t *bytes) {
    const int64_t *at = q->attributes, *words;
    const char *fault;
    double work = 0;
    if (q->n_attributes < 4) return "attend: attributes";
    if ((fault = read_products(p, at + 4, q->n_attributes - 4, &words))) return fault;
    if ((fault = orient(p, at[3] != 0))) return fault;
    if ((fault = onax_program_read(words, (size_t)(at + q->n_attributes - words), &p->program))) return fault;
    p->n_in = onax_program_inputs(p->program);
    p->n_out = onax_program_outputs(p->program);
    if (at[1] < 0 || at[1] > MOST_PORTS || at[2] < 0 || at[2] > MOST_PORTS) return "attend: no such port";
    p->scores = (int)at[1];
    p->weights = (int)at[2];
    p->sizes[0] = onax_size_of(p->c[0].types[2]);
    p->sizes[1] = onax_size_of(p->c[1].types[0]);
    if ((fault = check_operands(p, q, bytes))) return fault;
    p->scale = onax_program_rows(p->program, p->scores, p->weights);
    if (p->scale % (p->batch * p->m)) p->scale = 0;
    p->scale /= p->batch * p->m;
    if ((fault = p->scale ? plan_tiles(p, &work) : plan_whole(p, &work))) return fault;
    work += onax_program_work(p->program);
    p->products_bytes = rounded(p->products_bytes);
    p->slot = p->tile_bytes[0] + p->tile_bytes[1] + p->products_bytes + rounded(p->room)
              + rounded((p->n_in + p->n_out) * (int64_t)sizeof(char *));
    p->parts = p->is_whole || work < 2 * PART_WORK ? 1 : work > PART_WORK * MOST_PARTS ? MOST_PARTS : (int64_t)(work / PART_WORK);
    if (!p->is_whole && p->parts > p->batch * p->tiles) p->parts = p->batch * p->tiles;
    q->scratch = p->slot * p->parts;
    q->work = 20 + work;
    return NULL;
}

static const char *verify_attention(onax_instruction *q, const int64_t *bytes) {
    attention *p = calloc(1, sizeof *p);
    q->state = p;
    return p ? plan_attention(q, p, bytes) : "no memory";
}

/* ---- running */

typedef struct {
    const attention *p;
    const onax_instruction *q;
    onax_frame *f;
} job;

/* Where a part has its scores, weights, and memory for products and for the program, which is last. */
typedef struct { char *scores, *weights, *products, **ports, *room; } slots;

static slots slots_of(const attention *p, char *scratch) {
    slots s;
    s.scores = scratch;
    s.weights = s.scores + p->tile_bytes[0];
    s.products = s.weights + p->tile_bytes[1];
    s.ports = (char **)(s.products + p->products_bytes);
    s.room = s.products + p->products_bytes + rounded((p->n_in + p->n_out) * (int64_t)sizeof(char *));
    return s;
}

/* The ports of the program: inputs from `inputs` on, outputs from `outputs` on. */
static void find_ports(const job *j, const slots *s, char **inputs, char **outputs) {
    const attention *p = j->p;
    for (int i = 0, at = 1; i < p->n_out; i++) outputs[i] = i == p->weights ? s->weights : ONAX_BUFFER(j->q, j->f, at++);
    for (int i = 0, at = p->n_out + 3; i < p->n_in; i++) inputs[i] = i == p->scores ? s->scores : ONAX_BUFFER(j->q, j->f, at++);
}

static const char *operand(const job *j, int which) { return ONAX_BUFFER(j->q, j->f, j->p->n_out + which); }

static int64_t stride_of(const onax_digits *d) { return d->n ? d->strides[0] : 0; }

/* Where the rows from `row` on of a matrix begin. */
static int64_t place(const onax_digits *batch, const onax_digits *rows, int64_t matrix, int64_t row, int64_t type) {
    int64_t offset;
    onax_offsets(batch, matrix, 1, &offset);
    return (offset + (rows ? row * stride_of(rows) : 0)) * onax_size_of(type);
}

static int run_tile(const job *j, const slots *s, int64_t matrix, int64_t row, onax_frame *f) {
    const attention *p = j->p;
    const int64_t rows = p->m - row < p->tile ? p->m - row : p->tile, first = matrix * p->m + row;
    const int length = rows < p->tile ? SHORTER : WHOLE;
    const onax_contraction *a = &p->c[0], *b = &p->c[1];
    const char *left = operand(j, p->swapped[0]) + place(&a->batch[0], &a->rows[0], matrix, row, a->types[0]);
    const char *right = operand(j, !p->swapped[0]) + place(&a->batch[1], NULL, matrix, 0, a->types[1]);
    const char *values = operand(j, 2) + place(&b->batch[1], NULL, matrix, 0, b->types[1]);
    char *to = ONAX_BUFFER(j->q, j->f, 0) + place(&b->batch[2], &b->rows[1], matrix, row, b->types[2]);
    if (onax_product_run(p->products[0][length], left, right, s->scores, s->products, f)) return ONAX_RAISED;
    /* where scores and weights would begin, if all rows were there */
    s->ports[p->scores] = (char *)((uintptr_t)s->scores - (uintptr_t)(first * p->n * p->sizes[0]));
    s->ports[p->n_in + p->weights] = (char *)((uintptr_t)s->weights - (uintptr_t)(first * p->n * p->sizes[1]));
    onax_program_run_rows(p->program, s->ports, s->room, first * p->scale, (first + rows) * p->scale);
    return onax_product_run(p->products[1][length], s->weights, values, to, s->products, f);
}

static int run_tiles_of(const job *j, size_t which, onax_frame *f) {
    const attention *p = j->p;
    const int64_t total = p->batch * p->tiles, begin = total * (int64_t)which / p->parts;
    const int64_t end = total * ((int64_t)which + 1) / p->parts;
    const slots s = slots_of(p, j->f->scratch + (int64_t)which * p->slot);
    find_ports(j, &s, s.ports, s.ports + p->n_in);
    for (int64_t i = begin; i < end; i++)
        if (run_tile(j, &s, i / p->tiles, i % p->tiles * p->tile, f)) return ONAX_RAISED;
    return ONAX_DONE;
}

static void run_part(void *user, size_t which) { run_tiles_of(user, which, NULL); }

static int run_whole(const job *j) {
    const attention *p = j->p;
    const slots s = slots_of(p, j->f->scratch);
    find_ports(j, &s, s.ports + p->n_out, s.ports);
    if (onax_product_run(p->products[0][WHOLE], operand(j, p->swapped[0]), operand(j, !p->swapped[0]), s.scores, s.products, j->f))
        return ONAX_RAISED;
    onax_program_run_in(p->program, s.ports, p->order, s.room, j->f->parallel, j->f->where);
    return onax_product_run(p->products[1][WHOLE], s.weights, operand(j, 2), ONAX_BUFFER(j->q, j->f, 0), s.products, j->f);
}

static int run_attention(const onax_instruction *q, onax_frame *f) {
    job j = {q->state, q, f};
    if (j.p->is_whole) return run_whole(&j);
    if (f->parallel && j.p->parts > 1) {
        f->parallel(f->where, run_part, (size_t)j.p->parts, &j);
        return ONAX_DONE;
    }
    for (int64_t i = 0; i < j.p->parts; i++)
        if (run_tiles_of(&j, (size_t)i, f)) return ONAX_RAISED;
    return ONAX_DONE;
}

const onax_tape_operation onax_tape_attention[] = {
    {"attend", -1, verify_attention, run_attention, release_attention},
    {0},
};
