/* The instruction `reduce_blocks`: a program over blocks and the reduction of one of its outputs over leading axes.

   Some rows of that output at a time are computed and joined to totals, so it is never in memory as a whole.

   Operands: the reduced output, the other outputs of the program, its inputs.  Attributes:

       operands that are written
       the program's output that is reduced, the reduction, the type, how many columns remain
       the words of the program */
#include "tape_reductions.h"

#include <stdlib.h>
#include <string.h>

#include "blocks_kernels.h"

#define HEAD 5
#define TILE 16384             /* bytes of rows that are computed before they are joined */
#define NARROW 1024            /* bytes of rows below which programs have blocks of several, and larger tiles */
#define PART_WORK 100000.0     /* nanoseconds that are worth a part of their own */
#define MOST_PARTS 8
#define MOST_PORTS 100000

typedef struct {
    onax_program *program;
    const onax_fold *fold;
    int number, n_in, n_out, is_square;   /* is_square: no program has to run */
    int64_t rows, columns, scale;         /* rows of the program in one of these */
    int64_t tile, part, parts;            /* rows */
    int64_t tile_bytes, totals_bytes, room, slot;
    int32_t *order;                       /* 0, 1, 2, ... */
} folded;

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---- reading */

static const char *check_operands(const folded *p, const onax_instruction *q, const int64_t *bytes) {
    const onax_program *r = p->program;
    if (p->number < 0 || p->number >= p->n_out || q->attributes[0] != p->n_out || q->n_operands != p->n_in + p->n_out)
        return "reduce_blocks: operands";
    if (onax_program_type(r, p->n_in + p->number) != q->attributes[3]) return "reduce_blocks: type";
    if (p->columns < 1 || bytes[0] != onax_product(p->columns, p->fold->size)) return "reduce_blocks: columns";
    for (int i = 0, at = 1; i < p->n_out; i++) {
        if (i == p->number) continue;
        if (onax_program_elements(r, p->n_in + i) * onax_size_of(onax_program_type(r, p->n_in + i)) != bytes[at++]) return "reduce_blocks: outputs";
    }
    for (int i = 0; i < p->n_in; i++)
        if (onax_program_elements(r, i) * onax_size_of(onax_program_type(r, i)) != bytes[p->n_out + i]) return "reduce_blocks: inputs";
    return NULL;
}

/* Parts of the rows, whose totals are merged; that does not depend on the number of threads. */
static void plan_parts(folded *p, double work) {
    p->parts = !p->scale || work < 2 * PART_WORK ? 1 : work > PART_WORK * MOST_PARTS ? MOST_PARTS : (int64_t)(work / PART_WORK);
    p->tile = (p->columns * p->fold->size < NARROW ? 4 * TILE : TILE) / (p->columns * p->fold->size) / 4 * 4;
    if (p->tile < 4) p->tile = 4;
    if (p->tile > p->rows || !p->scale) p->tile = p->rows;
    p->part = ((p->rows + p->parts - 1) / p->parts + p->tile - 1) / p->tile * p->tile;
    p->parts = (p->rows + p->part - 1) / p->part;
    p->tile_bytes = rounded(p->tile * p->columns * p->fold->size);
    p->totals_bytes = p->columns * p->fold->total;
    p->room = p->scale ? onax_program_rows_scratch(p->program) : onax_program_scratch(p->program);
    p->slot = p->tile_bytes + rounded((p->n_in + p->n_out) * (int64_t)sizeof(char *)) + rounded(p->room);
}

static const char *plan_folded(onax_instruction *q, folded *p, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    const char *fault;
    int64_t elements;
    if (q->n_attributes < HEAD || a[1] < 0 || a[1] > MOST_PORTS) return "reduce_blocks: attributes";
    if (!(p->fold = onax_fold_of(a[2], a[3]))) return "there is no such reduction";
    if ((fault = onax_program_read(a + HEAD, (size_t)q->n_attributes - HEAD, &p->program))) return fault;
    p->n_in = onax_program_inputs(p->program);
    p->n_out = onax_program_outputs(p->program);
    p->number = (int)a[1];
    p->columns = a[4];
    if ((fault = check_operands(p, q, bytes))) return fault;
    elements = onax_program_elements(p->program, p->n_in + p->number);
    p->rows = elements / p->columns;
    if (p->rows < 1 || elements % p->columns) return "reduce_blocks: rows";
    p->scale = onax_program_rows(p->program, -1, p->number);
    p->is_square = onax_program_is_square(p->program) && p->fold->squares;
    p->scale = p->scale % p->rows ? 0 : p->scale / p->rows;
    q->work = 20 + onax_program_work(p->program) + 0.05 * (double)elements;
    plan_parts(p, q->work);
    p->order = malloc((size_t)(p->n_in + p->n_out) * sizeof(int32_t));
    if (!p->order) return "no memory";
    for (int i = 0; i < p->n_in + p->n_out; i++) p->order[i] = i;
    q->scratch = p->parts * p->slot + rounded(p->parts * p->totals_bytes);
    return NULL;
}

static const char *verify_folded(onax_instruction *q, const int64_t *bytes) {
    folded *p = calloc(1, sizeof *p);
    q->state = p;
    return p ? plan_folded(q, p, bytes) : "no memory";
}

static void release_folded(onax_instruction *q) {
    folded *p = q->state;
    if (!p) return;
    onax_program_free(p->program);
    free(p->order);
    free(p);
}

/* ---- running */

typedef struct {
    const folded *p;
    const onax_instruction *q;
    onax_frame *f;
    int is_shared, status;                /* with other threads, so that signals are not looked for */
} job;

static void find_ports(const job *j, char *tile, char **inputs, char **outputs) {
    const folded *p = j->p;
    for (int i = 0, at = 1; i < p->n_out; i++) outputs[i] = i == p->number ? tile : ONAX_BUFFER(j->q, j->f, at++);
    for (int i = 0; i < p->n_in; i++) inputs[i] = ONAX_BUFFER(j->q, j->f, p->n_out + i);
}

static void run_part(void *user, size_t which) {
    job *j = user;
    const folded *p = j->p;
    char *tile = j->f->scratch + (int64_t)which * p->slot, *totals = j->f->scratch + p->parts * p->slot + (int64_t)which * p->totals_bytes;
    char **ports = (char **)(tile + p->tile_bytes), *room = tile + p->slot - rounded(p->room);
    const int64_t begin = (int64_t)which * p->part, end = begin + p->part < p->rows ? begin + p->part : p->rows;
    p->fold->start(totals, p->columns);
    if (p->is_square) {
        const char *from = ONAX_BUFFER(j->q, j->f, 1) + begin * p->columns * p->fold->size;
        p->fold->squares(totals, from, end - begin, p->columns, p->columns);
        return;
    }
    find_ports(j, tile, ports, ports + p->n_in);
    for (int64_t row = begin; row < end; row += p->tile) {
        const int64_t rows = end - row < p->tile ? end - row : p->tile;
        /* where the output would begin, if all its rows were there */
        ports[p->n_in + p->number] = (char *)((uintptr_t)tile - (uintptr_t)(row * p->columns * p->fold->size));
        onax_program_run_rows(p->program, ports, room, row * p->scale, (row + rows) * p->scale);
        p->fold->columns(totals, tile, rows, p->columns, p->columns);
        if (!j->is_shared && (j->status = onax_poll(j->f))) return;
    }
}

/* A program that does not run by rows. */
static void run_whole(const job *j) {
    const folded *p = j->p;
    char *tile = j->f->scratch, *totals = tile + p->slot;
    char **ports = (char **)(tile + p->tile_bytes);
    find_ports(j, tile, ports + p->n_out, ports);
    onax_program_run_in(p->program, ports, p->order, tile + p->slot - rounded(p->room), j->f->parallel, j->f->where);
    p->fold->start(totals, p->columns);
    p->fold->columns(totals, tile, p->rows, p->columns, p->columns);
}

static int run_folded(const onax_instruction *q, onax_frame *f) {
    const folded *p = q->state;
    job j = {p, q, f, f->parallel && p->parts > 1, ONAX_DONE};
    char *totals = f->scratch + p->parts * p->slot, *to = ONAX_BUFFER(q, f, 0);
    if (!p->scale) run_whole(&j);
    else if (j.is_shared) f->parallel(f->where, run_part, (size_t)p->parts, &j);
    else for (int64_t i = 0; i < p->parts && !j.status; i++) run_part(&j, (size_t)i);
    if (j.status) return j.status;
    p->fold->merge(totals, totals + p->totals_bytes, p->parts - 1, p->columns, p->columns);
    if (p->fold->finish) p->fold->finish(to, totals, p->columns);
    else memcpy(to, totals, (size_t)(p->columns * p->fold->size));
    return ONAX_DONE;
}

const onax_tape_operation onax_tape_reduce_blocks[] = {
    {"reduce_blocks", -1, verify_folded, run_folded, release_folded},
    {0},
};
