/* The instruction `copy_blocks`: a program over blocks and the strided copy that makes one of its inputs.

   Some rows at a time are copied before the program runs on them, so the copy stays in the second cache.

   Operands: the outputs of the program, its inputs, the source of the copy in place of what it makes.  Attributes:

       operands that are written
       the program's input that is copied, the type of its elements
       where the copy begins in the source, in elements; number of axes
       for each axis:  length, stride in the copy, stride in the source
       the words of the program */
#include <stdlib.h>

#include "tape_strides.h"

#define HEAD 5
#define TILE (1 << 17)         /* bytes, about, of rows that are copied before the program runs on them */
#define SQUARE 16              /* rows are taken by multiples of it: the squares of a transposition */
#define PART_WORK 100000.0     /* nanoseconds that are worth a part of their own */
#define MOST_PARTS 8
#define MOST_PORTS 100000

typedef struct {
    onax_program *program;
    onax_strided_copy grid;
    int number, n_in, n_out, axis;         /* axis: of the grid, which rows follow each other along */
    int64_t from, rows, row, scale;        /* bytes; rows of the copy, their bytes, rows of the program in one of these */
    int64_t tile, part, parts;             /* rows */
    int64_t tile_bytes, room, slot;
    int32_t *order;                        /* 0, 1, 2, ... */
} copied;

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---- reading */

static int64_t bytes_of(const onax_program *r, int buffer) {
    return onax_program_elements(r, buffer) * onax_size_of(onax_program_type(r, buffer));
}

static const char *check_operands(const copied *p, const onax_instruction *q, const int64_t *bytes) {
    if (p->number >= p->n_in || q->attributes[0] != p->n_out || q->n_operands != p->n_in + p->n_out) return "copy_blocks: operands";
    if (onax_program_type(p->program, p->number) != q->attributes[2]) return "copy_blocks: type";
    for (int i = 0; i < p->n_out; i++)
        if (bytes_of(p->program, p->n_in + i) != bytes[i]) return "copy_blocks: outputs";
    for (int i = 0; i < p->n_in; i++)
        if (i != p->number && bytes_of(p->program, i) != bytes[p->n_out + i]) return "copy_blocks: inputs";
    return NULL;
}

/* The copy fills its result row by row, or as a whole. */
static const char *check_copy(copied *p, int64_t source_bytes) {
    const onax_strided_copy *c = &p->grid;
    if (!c->bytes || c->bytes != bytes_of(p->program, p->number) || c->to_low || c->to_high != c->bytes) return "copy_blocks: copy";
    if (!onax_is_inside(p->from, c->from_low, c->from_high, source_bytes)) return "a copy leaves its source";
    for (int a = 1; a < c->rank; a++)
        if (c->to[a] > c->to[p->axis]) p->axis = a;
    p->rows = 1;
    p->row = c->bytes;
    if (c->rank && c->to[p->axis] > 0 && c->to[p->axis] * c->dims[p->axis] == c->bytes) {
        p->rows = c->dims[p->axis];
        p->row = c->to[p->axis];
    }
    p->scale = onax_program_rows(p->program, p->number, 0);
    p->scale = p->scale % p->rows ? 0 : p->scale / p->rows;
    return NULL;
}

static void plan_parts(copied *p, double work) {
    p->parts = !p->scale || work < 2 * PART_WORK ? 1 : work > PART_WORK * MOST_PARTS ? MOST_PARTS : (int64_t)(work / PART_WORK);
    p->tile = TILE / p->row;
    p->tile = p->tile < SQUARE ? SQUARE : p->tile / SQUARE * SQUARE;
    if (p->tile > p->rows || !p->scale) p->tile = p->rows;
    p->part = ((p->rows + p->parts - 1) / p->parts + p->tile - 1) / p->tile * p->tile;
    p->parts = (p->rows + p->part - 1) / p->part;
    p->tile_bytes = rounded(p->tile * p->row);
    p->room = p->scale ? onax_program_rows_scratch(p->program) : onax_program_scratch(p->program);
    p->slot = p->tile_bytes + rounded((p->n_in + p->n_out) * (int64_t)sizeof(char *)) + rounded(p->room);
}

static const char *plan_copied(onax_instruction *q, copied *p, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    const int64_t size = q->n_attributes < HEAD ? 0 : onax_size_of(a[2]), head = size ? HEAD + 3 * a[4] : 0;
    const char *fault;
    if (!size || a[1] < 0 || a[1] > MOST_PORTS || a[4] < 0 || a[4] > ONAX_MOST_RANK || q->n_attributes < head) return "copy_blocks: attributes";
    if (a[3] < 0 || a[3] > ONAX_FARTHEST / size) return "a copy begins nowhere";
    if ((fault = onax_program_read(a + head, (size_t)(q->n_attributes - head), &p->program))) return fault;
    p->n_in = onax_program_inputs(p->program);
    p->n_out = onax_program_outputs(p->program);
    p->number = (int)a[1];
    p->from = a[3] * size;
    if ((fault = check_operands(p, q, bytes))) return fault;
    if ((fault = onax_strided_copy_make(&p->grid, size, a[4], a + HEAD))) return fault;
    if ((fault = check_copy(p, bytes[p->n_out + p->number]))) return fault;
    q->work = onax_program_work(p->program) + onax_strided_copy_work(&p->grid);
    plan_parts(p, q->work);
    p->order = malloc((size_t)(p->n_in + p->n_out) * sizeof(int32_t));
    if (!p->order) return "no memory";
    for (int i = 0; i < p->n_in + p->n_out; i++) p->order[i] = i;
    q->scratch = p->parts * p->slot;
    return NULL;
}

static const char *verify_copied(onax_instruction *q, const int64_t *bytes) {
    copied *p = calloc(1, sizeof *p);
    q->state = p;
    return p ? plan_copied(q, p, bytes) : "no memory";
}

static void release_copied(onax_instruction *q) {
    copied *p = q->state;
    if (!p) return;
    onax_program_free(p->program);
    free(p->order);
    free(p);
}

/* ---- running */

typedef struct {
    const copied *p;
    const onax_instruction *q;
    onax_frame *f;
    int is_shared, status;                /* with other threads, so that signals are not looked for */
} job;

static void find_ports(const job *j, char *tile, char **inputs, char **outputs) {
    const copied *p = j->p;
    for (int i = 0; i < p->n_out; i++) outputs[i] = ONAX_BUFFER(j->q, j->f, i);
    for (int i = 0; i < p->n_in; i++) inputs[i] = i == p->number ? tile : ONAX_BUFFER(j->q, j->f, p->n_out + i);
}

static const char *source_of(const job *j) { return ONAX_BUFFER(j->q, j->f, j->p->n_out + j->p->number) + j->p->from; }

static void run_part(void *user, size_t which) {
    job *j = user;
    const copied *p = j->p;
    char *tile = j->f->scratch + (int64_t)which * p->slot;
    char **ports = (char **)(tile + p->tile_bytes), *room = tile + p->slot - rounded(p->room);
    const int64_t begin = (int64_t)which * p->part, end = begin + p->part < p->rows ? begin + p->part : p->rows;
    onax_strided_copy some = p->grid;
    find_ports(j, tile, ports, ports + p->n_in);
    for (int64_t row = begin; row < end; row += p->tile) {
        const int64_t rows = end - row < p->tile ? end - row : p->tile;
        if (p->rows > 1) some.dims[p->axis] = rows;
        some.run(&some, tile, source_of(j) + (p->rows > 1 ? row * some.from[p->axis] : 0));
        /* where the input would begin, if all its rows were there */
        ports[p->number] = (char *)((uintptr_t)tile - (uintptr_t)(row * p->row));
        onax_program_run_rows(p->program, ports, room, row * p->scale, (row + rows) * p->scale);
        if (!j->is_shared && (j->status = onax_poll(j->f))) return;
    }
}

/* A program that does not run by rows. */
static void run_whole(const job *j) {
    const copied *p = j->p;
    char *tile = j->f->scratch, **ports = (char **)(tile + p->tile_bytes);
    p->grid.run(&p->grid, tile, source_of(j));
    find_ports(j, tile, ports + p->n_out, ports);
    onax_program_run_in(p->program, ports, p->order, tile + p->slot - rounded(p->room), j->f->parallel, j->f->where);
}

static int run_copied(const onax_instruction *q, onax_frame *f) {
    const copied *p = q->state;
    job j = {p, q, f, f->parallel && p->parts > 1, ONAX_DONE};
    if (!p->scale) run_whole(&j);
    else if (j.is_shared) f->parallel(f->where, run_part, (size_t)p->parts, &j);
    else for (int64_t i = 0; i < p->parts && !j.status; i++) run_part(&j, (size_t)i);
    return j.status;
}

const onax_tape_operation onax_tape_copy_blocks[] = {
    {"copy_blocks", -1, verify_copied, run_copied, release_copied},
    {0},
};
