/* Running programs over blocks. */
#include "blocks_program.h"
#include "blocks_halves.h"

#define PART_WORK 100000.0     /* nanoseconds below which a part is not worth another thread */
#define MOST_PARTS 32
#define TILE 8192              /* positions, about, of the rows that a group of loops takes at a time */

/* The indices of position o. */
static void find_indices(const loop *l, int64_t o, int64_t *indices) {
    for (int i = l->rank - 1; i > 0; i--) {
        indices[i] = o ? o % l->dims[i] : 0;
        o = o ? o / l->dims[i] : 0;
    }
    indices[0] = o;
}

/* The element that a LOAD reads at a position. */
static int64_t element_at(const loop *l, const reg *g, const int64_t *indices) {
    int64_t at = g->start;
    for (int i = 0; i < l->rank; i++) at += indices[i] * g->strides[i];
    return at;
}

/* ---- folds */

void onax_finish(int type, const total *t, char *to) {
    const float number = (float)t->parts[0], imaginary = (float)t->parts[1];
    const uint32_t low = (uint32_t)t->number;
    const uint16_t lower = (uint16_t)low;
    uint16_t half;
    switch (type) {
        case ONAX_F32: memcpy(to, &number, 4); break;
        case ONAX_F16: half = onax_to_f16(number); memcpy(to, &half, 2); break;
        case ONAX_BF16: half = onax_to_bf16(number); memcpy(to, &half, 2); break;
        case ONAX_C64: memcpy(to, &number, 4); memcpy(to + 4, &imaginary, 4); break;
        case ONAX_C128: memcpy(to, t, 16); break;
        case ONAX_BOOL: *to = t->number != 0; break;
        case ONAX_I8: case ONAX_U8: *to = (char)lower; break;
        case ONAX_I16: case ONAX_U16: memcpy(to, &lower, 2); break;
        case ONAX_I32: case ONAX_U32: memcpy(to, &low, 4); break;
        default: memcpy(to, t, 8);
    }
}

/* Whether the kernels of folds know short rows of a type: ONAX_SHORT_ROWS. */
static int has_short_rows(int type) {
    return type != ONAX_F16 && type != ONAX_BF16 && type != ONAX_C64 && type != ONAX_C128;
}

void onax_fold_rows(const reg *g, const step *s, const char *from, const char *with, char *also, char *to,
                    total *t, int64_t o, int64_t n) {
    const onax_kernel kernel = s->kernel, fold = s->pair ? s->pair : s->kernel;
    const int is_short = g->length < ONAX_SHORT && has_short_rows(g->type) && !s->pair;
    int64_t at = o % g->length;
    to += o / g->length * g->size;
    while (n > 0) {
        const int64_t run = g->length - at < n ? g->length - at : n;
        if (is_short && at == 0 && run == g->length) {
            const int64_t rows = n / run;
            kernel(to, from, &g->length, NULL, rows);
            to += rows * g->size;
            from += rows * run * g->size;
            n -= rows * run;
            continue;
        }
        if (at == 0) kernel(t, NULL, NULL, NULL, 0);
        fold(t, from, s->pair ? with : NULL, also, run);
        at += run;
        if (at == g->length) { onax_finish(g->type, t, to); to += g->size; at = 0; }
        from += run * g->size;
        if (s->pair && !s->is_with_one) with += run * g->size;
        if (also) also += run * g->size;
        n -= run;
    }
}

/* ---- blocks */

/* What a thread needs to run loops: where registers are, and totals. */
typedef struct { char **at; total *totals; char *scratch; } desk;

static int64_t desk_bytes(int64_t registers, int64_t folds, int64_t scratch) {
    return rounded(registers * (int64_t)sizeof(char *)) + rounded(folds * (int64_t)sizeof(total)) + rounded(scratch);
}

static desk desk_in(char *room, int64_t registers, int64_t folds) {
    char *totals = room + rounded(registers * (int64_t)sizeof(char *));
    const desk d = {(char **)room, (total *)totals, totals + rounded(folds * (int64_t)sizeof(total))};
    return d;
}

/* `is_share`: the positions are a part of one row, whose total is left where it is. */
static void run_blocks(const loop *l, char *const *buffers, const desk *d, int64_t begin, int64_t end, int is_share) {
    const int64_t widest = end - begin < l->block ? end - begin : l->block;
    char **at = d->at;
    int64_t loaded = 0;        /* positions of the first block */
    int64_t indices[MOST_RANK] = {0};
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        at[i] = is_scratch(g) ? d->scratch + g->offset : buffers[g->argument];
        if (!g->uniform) continue;
        if (!g->is_one) onax_fill_uniform(g, buffers[g->argument], at[i], g->is_single ? 1 : widest);
        else at[i] = g->kind == ONAX_CONSTANT ? (char *)g->bits : buffers[g->argument] + g->start * g->size;
    }
    for (int64_t o = begin, n; o < end; o += n) {
        n = end - o < l->block ? end - o : l->block;
        if (l->has_dense) find_indices(l, o, indices);
        if (l->row && l->row - o % l->row < n) n = l->row - o % l->row;
        for (int i = 0; i < l->n_registers; i++) {
            const reg *g = &l->registers[i];
            if (g->kind == ONAX_DIRECT) at[i] = buffers[g->argument] + o * g->size;
            else if (g->is_dense) at[i] = buffers[g->argument] + element_at(l, g, indices) * g->size;
            else if ((g->kind == ONAX_LOAD || g->kind == ONAX_IOTA) && !g->uniform)
                if (!g->period || n > loaded || (o - begin) % g->period) onax_load(l, g, buffers[g->argument], at[i], o, g->is_single ? 1 : n);
        }
        loaded = o == begin ? n : loaded;
        for (int i = 0; i < l->n_steps; i++) {
            const step *s = &l->steps[i];
            if (s->run) s->kernel(at, NULL, NULL, NULL, n);
            else if (s->fourth >= 0) {
                const char *const cases[] = {at[s->third], at[s->fourth]};
                s->kernel(at[s->target], at[s->first], at[s->second], cases, n);
            } else if (s->fold < 0) s->kernel(at[s->target], at[s->first], at[s->second], at[s->third], n);
            else if (is_share && s->pair)
                s->pair(&d->totals[s->fold], at[s->first], at[s->second], s->is_written ? at[s->third] : NULL, n);
            else if (is_share) s->kernel(&d->totals[s->fold], at[s->first], NULL, NULL, n);
            else onax_fold_rows(&l->registers[s->target], s, at[s->first], at[s->second], s->is_written ? at[s->third] : NULL,
                                at[s->target], &d->totals[s->fold], o, n);
        }
    }
}

/* ---- a loop on its own */

typedef struct {
    const loop *l;
    char *const *buffers;
    char *rooms;               /* one for each part, and after them the totals of the one row, for each part */
    int64_t part, room;        /* positions a part: a multiple of the block; bytes of a room */
    total *totals;             /* NULL if rows are complete in each part */
} job;

static int64_t loop_room(const loop *l) { return desk_bytes(l->n_registers, l->n_folds, l->scratch); }

static int64_t loop_scratch(const loop *l) {
    return l->parts * (loop_room(l) + rounded(l->n_folds * (int64_t)sizeof(total)));
}

static void run_part(void *user, size_t which) {
    const job *j = user;
    const loop *l = j->l;
    const int64_t begin = (int64_t)which * j->part, end = begin + j->part < l->n ? begin + j->part : l->n;
    desk d = desk_in(j->rooms + (int64_t)which * j->room, l->n_registers, l->n_folds);
    if (j->totals) {
        d.totals = j->totals + which * (size_t)l->n_folds;
        for (int i = 0; i < l->n_steps; i++)
            if (l->steps[i].fold >= 0) l->steps[i].kernel(&d.totals[l->steps[i].fold], NULL, NULL, NULL, 0);
    }
    if (begin < end) run_blocks(l, j->buffers, &d, begin, end, j->totals != NULL);
}

/* The one row's totals, from those of the parts in their order. */
static void join_totals(const job *j, int64_t count) {
    for (int i = 0; i < j->l->n_steps; i++) {
        const step *s = &j->l->steps[i];
        const reg *g = &j->l->registers[s->target];
        if (s->fold < 0) continue;
        for (int64_t k = 1; k < count; k++)
            s->kernel(&j->totals[s->fold], &j->totals[k * j->l->n_folds + s->fold], NULL, NULL, -1);
        onax_finish(g->type, &j->totals[s->fold], j->buffers[g->argument]);
    }
}

static void run_loop(const loop *l, char *const *buffers, char *scratch, onax_parallel parallel, void *where) {
    job j = {l, buffers, scratch, l->n, loop_room(l), NULL};
    int64_t blocks, count = l->parts;
    if (l->n == 0) return;
    if (!parallel || count < 2) {
        run_part(&j, 0);
        return;
    }
    blocks = (l->n + l->block - 1) / l->block;
    j.part = (blocks + count - 1) / count * l->block;
    count = (l->n + j.part - 1) / j.part;
    if (l->n_folds) j.totals = (total *)(scratch + l->parts * j.room);
    parallel(where, run_part, (size_t)count, &j);
    if (j.totals) join_totals(&j, count);
}

/* ---- a group of loops, row by row */

typedef struct {
    const onax_program *p;
    const group *g;
    char *const *buffers;
    char *rooms;
    int64_t part, room, registers, folds, scratch;
} rows_job;

static int64_t row_bytes(const onax_program *p, int64_t buffer, int64_t rows) {
    return p->buffers[2 * buffer + 1] / rows * onax_type_sizes[p->buffers[2 * buffer]];
}

/* The sizes of what each part of a group needs: pointers, a desk, temporaries. */
static void measure_rooms(const onax_program *p, const group *g, rows_job *j) {
    const int count = p->n_in + p->n_out + p->n_temp;
    j->registers = j->folds = j->scratch = 0;
    for (int64_t k = g->first; k < g->past; k++) {
        if (p->loops[k].n_registers > j->registers) j->registers = p->loops[k].n_registers;
        if (p->loops[k].n_folds > j->folds) j->folds = p->loops[k].n_folds;
        if (p->loops[k].scratch > j->scratch) j->scratch = p->loops[k].scratch;
    }
    j->room = rounded(count * (int64_t)sizeof(char *)) + desk_bytes(j->registers, j->folds, j->scratch);
    for (int t = 0; t < p->n_temp; t++)
        if (p->homes[t] == g - p->groups) j->room += rounded(row_bytes(p, p->n_in + p->n_out + t, g->rows) * g->tile);
}

static void run_tiles(const rows_job *j, char **buffers, const desk *d, int64_t begin, int64_t end) {
    const onax_program *p = j->p;
    const int first = p->n_in + p->n_out;
    const int home = (int)(j->g - p->groups);
    for (int64_t row = begin; row < end; row += j->g->tile) {
        const int64_t past = row + j->g->tile < end ? row + j->g->tile : end;
        char *next = d->scratch + rounded(j->scratch);
        for (int t = 0; t < p->n_temp; t++) {
            const int64_t bytes = row_bytes(p, first + t, j->g->rows);
            if (p->homes[t] != home) continue;
            /* where the buffer would begin, if all its rows were there */
            buffers[first + t] = (char *)((uintptr_t)next - (uintptr_t)(row * bytes));
            next += rounded(bytes * j->g->tile);
        }
        for (int64_t k = j->g->first; k < j->g->past; k++) {
            const loop *l = &p->loops[k];
            const int64_t width = l->n / j->g->rows;
            run_blocks(l, buffers, d, row * width, past * width, 0);
        }
    }
}

static void run_rows(void *user, size_t which) {
    const rows_job *j = user;
    const onax_program *p = j->p;
    const int64_t begin = (int64_t)which * j->part, rows = j->g->rows;
    const size_t pointers = (size_t)(p->n_in + p->n_out + p->n_temp) * sizeof(char *);
    char *room = j->rooms + (int64_t)which * j->room;
    const desk d = desk_in(room + rounded((int64_t)pointers), j->registers, j->folds);
    memcpy(room, j->buffers, pointers);
    run_tiles(j, (char **)room, &d, begin, begin + j->part < rows ? begin + j->part : rows);
}

static void run_group(const onax_program *p, const group *g, char *const *buffers, char *scratch,
                      onax_parallel parallel, void *where) {
    rows_job j = {p, g, buffers, scratch, g->rows, 0, 0, 0, 0};
    if (g->rows == 1) {
        for (int64_t k = g->first; k < g->past; k++) run_loop(&p->loops[k], buffers, scratch, parallel, where);
        return;
    }
    measure_rooms(p, g, &j);
    if (!parallel || g->parts < 2) {
        run_rows(&j, 0);
        return;
    }
    j.part = (g->rows + g->parts - 1) / g->parts;
    parallel(where, run_rows, (size_t)((g->rows + j.part - 1) / j.part), &j);
}

/* ---- whole programs */

static int64_t parts_of(double work, int64_t most) {
    const double parts = work / PART_WORK;
    const int64_t count = parts < MOST_PARTS ? (int64_t)parts : MOST_PARTS;
    return count < 2 || most < 2 ? 1 : count < most ? count : most;
}

/* Whether a loop is one run that reads elements at positions, and single ones: then it needs no other memory. */
static int is_one_run(const loop *l) {
    for (int i = 0; i < l->n_steps; i++)
        if (l->steps[i].run != (i ? INSIDE_RUN : STARTS_RUN)) return 0;
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        const int is_single = (g->kind == ONAX_CONSTANT || g->kind == ONAX_LOAD) && g->uniform && g->is_single;
        if (g->kind != ONAX_DIRECT && g->kind != ONAX_BLOCK && !is_single) return 0;
    }
    return l->n_steps > 0;
}

static void plan_loop(loop *l) {
    l->is_one_row = 1;
    l->is_one_run = is_one_run(l);
    onax_find_ones(l);
    for (int i = 0; i < l->n_registers; i++) {
        reg *g = &l->registers[i];
        g->is_dense = onax_is_dense(l, g) || (g->is_one && !g->uniform);
        l->has_dense |= g->is_dense;
        if (g->period && (l->block % g->period || (l->row && l->row != g->period))) g->period = 0;  /* not every block begins with it */
    }
    for (int i = 0; i < l->n_registers; i++)
        if (l->registers[i].kind == ONAX_ROW && l->registers[i].length != l->n) l->is_one_row = 0;
    l->parts = (int)parts_of(l->is_one_row ? l->cost * (double)l->n : 0, (l->n + l->block - 1) / l->block);
}

void onax_plan_run(onax_program *p) {
    const int64_t pointers = rounded((p->n_in + p->n_out + p->n_temp + 1) * (int64_t)sizeof(char *));
    int64_t largest = 0;
    for (int k = 0; k < p->n_groups; k++) {
        group *g = &p->groups[k];
        rows_job j;
        double work = 0;
        int64_t widest = 1;
        for (int64_t i = g->first; i < g->past; i++) {
            loop *l = &p->loops[i];
            plan_loop(l);
            if (g->rows == 1 && loop_scratch(l) > largest) largest = loop_scratch(l);
            work += l->cost * (double)l->n;
            if (l->n / g->rows > widest) widest = l->n / g->rows;
        }
        g->tile = TILE / widest > 1 ? TILE / widest : 1;
        if (g->tile > g->rows) g->tile = g->rows;
        g->parts = parts_of(work, g->rows);
        if (g->rows == 1) continue;
        measure_rooms(p, g, &j);
        if (g->parts * j.room > largest) largest = g->parts * j.room;
    }
    p->scratch_bytes = pointers + rounded(p->shared_bytes) + largest;
}

void onax_program_run_in(const onax_program *p, char *const *buffers, const int32_t *operands, char *scratch,
                         onax_parallel parallel, void *where) {
    const int n_ports = p->n_in + p->n_out, count = n_ports + p->n_temp;
    char **at = (char **)scratch, *next = scratch + rounded((count + 1) * (int64_t)sizeof(char *));
    for (int i = 0; i < p->n_in; i++) at[i] = buffers[operands[p->n_out + i]];
    for (int i = 0; i < p->n_out; i++) at[p->n_in + i] = buffers[operands[i]];
    for (int i = n_ports; i < count; i++) {
        at[i] = next;
        if (p->homes[i - n_ports] < 0) next += rounded(buffer_bytes(p, i));
    }
    for (int k = 0; k < p->n_groups; k++) run_group(p, &p->groups[k], at, next, parallel, where);
}

/* ---- some rows of a program */

/* Whether what a program knows of a buffer are the elements at the positions of its loops, and rows of them. */
static int is_at_positions(const loop *l, int buffer) {
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        if ((g->kind == ONAX_LOAD || g->kind == ONAX_TABLE) && g->argument == buffer) return 0;
    }
    return 1;
}

int64_t onax_program_rows(const onax_program *p, int input, int output) {
    const group *g = p->groups;
    if (p->n_groups != 1 || p->shared_bytes) return 0;
    for (int64_t k = g->first; k < g->past; k++)
        if (!is_at_positions(&p->loops[k], input) || !is_at_positions(&p->loops[k], p->n_in + output)) return 0;
    if (g->rows > 1) return g->rows;
    return g->past == g->first + 1 && !p->loops[g->first].n_folds ? p->loops[g->first].n : 0;
}

int onax_program_is_square(const onax_program *p) {
    const loop *l = p->loops;
    const step *s = l->steps;
    if (p->n_loops != 1 || l->n_steps != 1 || p->n_in != 1 || p->n_out != 1) return 0;
    return s->operation == ONAX_OP_mul && s->first == s->second && l->registers[s->first].kind == ONAX_DIRECT
           && l->registers[s->first].argument == 0 && l->registers[s->target].kind == ONAX_DIRECT;
}

int64_t onax_program_rows_scratch(const onax_program *p) {
    rows_job j = {p, p->groups, NULL, NULL, 0, 0, 0, 0, 0};
    measure_rooms(p, p->groups, &j);
    return rounded(j.room);
}

void onax_program_run_rows(const onax_program *p, char *const *ports, char *scratch, int64_t first, int64_t past) {
    const size_t bytes = (size_t)(p->n_in + p->n_out) * sizeof(char *);
    char **at = (char **)scratch;
    rows_job j = {p, p->groups, NULL, NULL, 0, 0, 0, 0, 0};
    desk d;
    measure_rooms(p, p->groups, &j);
    d = desk_in(scratch + rounded((p->n_in + p->n_out + p->n_temp) * (int64_t)sizeof(char *)), j.registers, j.folds);
    memcpy(at, ports, bytes);
    if (p->groups->rows > 1) run_tiles(&j, at, &d, first, past);
    else run_blocks(&p->loops[p->groups->first], at, &d, first, past, 0);
}

/* ---- some positions of a program */

int onax_program_is_at_positions(const onax_program *p, int port) { return is_at_positions(p->loops, port); }

int64_t onax_program_positions(const onax_program *p, int64_t *bytes) {
    const loop *l = p->loops;
    *bytes = 0;
    if (p->n_loops != 1 || p->groups->rows != 1 || p->n_temp || l->n_folds) return 0;
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        if (g->kind == ONAX_TABLE || g->kind == ONAX_ROW || (g->kind == ONAX_LOAD && !g->uniform)) return 0;
        if (g->kind == ONAX_DIRECT) *bytes += g->size;
    }
    return l->n;
}

int64_t onax_program_positions_scratch(const onax_program *p) { return loop_room(p->loops); }

/* The addresses for a loop that is one run: of elements at positions, and of what is the same everywhere. */
static void point_at(const loop *l, char *const *ports, char **at, int64_t first) {
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        if (g->kind == ONAX_BLOCK) continue;
        if (g->kind == ONAX_CONSTANT) at[i] = (char *)(uintptr_t)g->bits;
        else at[i] = ports[g->argument] + (g->kind == ONAX_DIRECT ? first : g->start) * g->size;
    }
}

void onax_program_run_positions(const onax_program *p, char *const *ports, char *scratch, int64_t first, int64_t past) {
    const loop *l = p->loops;
    const desk d = desk_in(scratch, l->n_registers, l->n_folds);
    if (!l->is_one_run) {
        run_blocks(l, ports, &d, first, past, 0);
        return;
    }
    point_at(l, ports, d.at, first);
    l->steps[0].kernel(d.at, NULL, NULL, NULL, past - first);
}
