/* Reading programs over blocks; blocks_kernels.h says what they are. */
#include "blocks_program.h"

#define MOST_BUFFERS 100000
#define MOST_BYTES ((int64_t)1 << 50)
#define SCRATCH 65536          /* bytes of the registers of a block, at most */
#define NEAR_SCRATCH 24576     /* bytes that stay in the first cache beside what is read and written */
#define LARGEST_BLOCK 1024

/* ---- the operations */

#define ONAX_LISTED(name, signature, target, cost, double_cost) {#name, signature, target, {cost, double_cost}},
const onax_operation onax_operations[] = {ONAX_EACH_OPERATION(ONAX_LISTED)};
const int onax_operation_count = ONAX_OPERATIONS;
const int onax_type_sizes[ONAX_TYPES] = {4, 8, 4, 4, 8, 8, 1, 1, 1, 2, 2, 2, 2, 8, 16};

static const onax_kernel *const onax_kernels[ONAX_TYPES] = {
    onax_kernels_f32, onax_kernels_f64, onax_kernels_i32, onax_kernels_u32, onax_kernels_i64,
    onax_kernels_u64, onax_kernels_bool, onax_kernels_i8, onax_kernels_u8, onax_kernels_i16,
    onax_kernels_u16, onax_kernels_f16, onax_kernels_bf16, onax_kernels_c64, onax_kernels_c128};

onax_kernel onax_kernel_of(int operation, int type) { return onax_kernels[type][operation]; }

double onax_cost_of(int operation, int type) {
    const float *cost = onax_operations[operation].cost;
    switch (type) {
        case ONAX_F64: return cost[1];
        case ONAX_F16: case ONAX_BF16: return cost[0] + 0.3;
        case ONAX_C64: case ONAX_C128: return 4 * (double)cost[1];
        default: return cost[0];
    }
}

/* ---- reading */

typedef struct { const int64_t *at, *end; } reader;

static int take(reader *r, int64_t count, const int64_t **out) {
    if (count < 0 || r->end - r->at < count) return 0;
    *out = r->at;
    r->at += count;
    return 1;
}

static int is_buffer(const reg *r) { return r->kind == ONAX_LOAD || !is_scratch(r); }

/* The largest block whose scratch memory fits; 0 if none does.  Loops of several blocks keep to the first cache. */
static int64_t block_of(const loop *l) {
    int64_t block = l->n < LARGEST_BLOCK ? (l->n ? l->n : 1) : LARGEST_BLOCK, bytes;
    for (;;) {
        bytes = 0;
        for (int i = 0; i < l->n_registers; i++)
            if (is_scratch(&l->registers[i])) bytes += rounded(block * l->registers[i].size);
        if (bytes <= (l->n > LARGEST_BLOCK && block > 128 ? NEAR_SCRATCH : SCRATCH)) return block;
        if (block <= 16) return 0;
        block /= 2;
    }
}

/* After how many positions what a LOAD or IOTA reads repeats itself; 0 if it does not. */
static int64_t period_of(const loop *l, const reg *g) {
    int64_t period = 1;
    int first = 0;
    if ((g->kind != ONAX_LOAD && g->kind != ONAX_IOTA) || g->uniform || g->strides[0]) return 0;
    while (!g->strides[first]) first++;
    for (int i = first; i < l->rank; i++) period *= l->dims[i];
    return period;
}

/* Loops of several blocks begin them where short rows begin, and where what is loaded repeats itself. */
static void align_blocks(loop *l) {
    for (int i = 0; i < l->n_registers && l->block < l->n; i++) {
        reg *g = &l->registers[i];
        const int64_t period = g->kind == ONAX_ROW ? g->length : period_of(l, g);
        if (period < 2 || period > l->block) continue;
        l->block -= l->block % period;
        if (g->kind != ONAX_ROW) g->period = period;
    }
}

static const char *read_register(const onax_program *p, const loop *l, reader *r, reg *out, const uint8_t *written) {
    const int64_t *w;
    int64_t reach = 0, n = 0;
    if (!take(r, 3, &w)) return "the program ends within a register";
    if (w[0] < 0 || w[0] >= ONAX_TYPES) return "a register has no such type";
    if (w[1] < 0 || w[1] >= ONAX_KINDS) return "a register has no such kind";
    out->type = (uint8_t)w[0];
    out->kind = (uint8_t)w[1];
    out->size = (uint8_t)onax_type_sizes[w[0]];
    out->argument = is_buffer(out) ? w[2] : 0;
    out->bits = w + 2;
    if (w[1] == ONAX_CONSTANT && w[0] == ONAX_C128 && !take(r, 1, &w)) return "the program ends within a register";
    if (is_buffer(out)) {
        if (w[2] < 0 || w[2] >= p->n_in + p->n_out + p->n_temp) return "a register names no buffer";
        if (p->buffers[2 * w[2]] != w[0]) return "a register has another type than its buffer";
        n = p->buffers[2 * w[2] + 1];
        if (out->kind == ONAX_DIRECT && n != l->n) return "a buffer has not one element for each position";
        if ((out->kind == ONAX_LOAD || out->kind == ONAX_TABLE) && !written[w[2]])
            return "a buffer is loaded that was not written";
        if (out->kind == ONAX_ROW && (n <= 0 || l->n <= 0 || l->n % n)) return "rows are not of one length";
        out->length = out->kind == ONAX_ROW ? l->n / n : 1;
    }
    out->uniform = out->kind == ONAX_CONSTANT;
    if (out->kind != ONAX_LOAD && out->kind != ONAX_IOTA) return NULL;
    if (!take(r, (int64_t)l->rank + 1, &out->strides)) return "the program ends within strides";
    if (out->kind == ONAX_IOTA && out->type == ONAX_BOOL) return "bools do not count";
    out->uniform = 1;
    reach = out->start = out->strides[l->rank];
    if (reach < 0 || reach > INT64_MAX / 4) return "a register starts nowhere";
    for (int i = 0; i < l->rank; i++) {
        const int64_t stride = out->strides[i], length = l->dims[i];
        if (stride < 0 || (stride && length > INT64_MAX / 4 / stride)) return "a stride is negative or too long";
        if (stride) out->uniform = 0;
        if (length > 0) reach += (length - 1) * stride;
        if (reach > INT64_MAX / 4) return "a stride is negative or too long";
    }
    if (out->kind == ONAX_LOAD && l->n > 0 && reach >= n) return "a load goes beyond its buffer";
    return NULL;
}

/* Whether an operation may read this table up to a constant place. */
static int is_within(const onax_program *p, const reg *table, const reg *limit) {
    const int64_t n = table->kind == ONAX_TABLE ? p->buffers[2 * table->argument + 1] : 0;
    return limit->kind == ONAX_CONSTANT && limit->type == ONAX_I64 && limit->bits[0] >= 1 && limit->bits[0] <= n;
}

/* The type of a complex type's parts, or -1. */
static int part_of(int type) { return type == ONAX_C64 ? ONAX_F32 : type == ONAX_C128 ? ONAX_F64 : -1; }

/* Whether the types of target and operands are those of an operation for `type`. */
static int fits_types(const onax_program *p, const onax_operation *o, int type, const reg *d, const reg *a,
                      const reg *b, const reg *c) {
    const int keeps = d->type == type;
    switch (o->signature) {
        case 'U': case 'R': return keeps;
        case 'B': return keeps && b->type == type;
        case 'G': return keeps && b->type == ONAX_I32 && is_within(p, a, c);
        case 'T': return keeps && b->type == type && c->type == type;
        case 'C': return d->type == ONAX_BOOL && b->type == type;
        case 'P': return d->type == ONAX_BOOL;
        case 'S': return keeps && a->type == ONAX_BOOL && c->type == type;
        case 'V': return d->type == o->target;
        case 'X': return d->type == part_of(type);
        case 'Y': return b->type == type && part_of(d->type) == type;
        default: return d->size == a->size && (d->type == ONAX_BOOL) == (a->type == ONAX_BOOL);
    }
}

static const char *read_step(const onax_program *p, loop *l, reader *r, step *out, uint8_t *ready,
                             const uint8_t *finished) {
    const int64_t *w;
    const onax_operation *o;
    int operands;
    if (!take(r, 5, &w)) return "the program ends within an instruction";
    if (w[0] < 0 || w[0] >= onax_operation_count) return "there is no such operation";
    o = &onax_operations[w[0]];
    operands = strchr("STG", o->signature) ? 3 : strchr("BCY", o->signature) ? 2 : 1;
    for (int i = 1; i < 5; i++)
        if (w[i] < 0 || w[i] >= l->n_registers) return "an instruction names no register";
    for (int i = 0; i < operands; i++)
        if (!ready[w[2 + i]] || l->registers[w[2 + i]].kind == ONAX_ROW
            || (l->registers[w[2 + i]].kind == ONAX_TABLE) != (o->signature == 'G' && i == 0))
            return "a register is read that was not written";
    {
        const reg *const registers = l->registers, *d = registers + w[1], *a = registers + w[2], *b = registers + w[3];
        const int type = o->signature == 'S' ? b->type : a->type, folds = o->signature == 'R';
        if (folds ? d->kind != ONAX_ROW || ready[w[1]] : d->kind != ONAX_BLOCK && d->kind != ONAX_DIRECT)
            return "an instruction writes what is only read";
        if (d->kind != ONAX_BLOCK && finished[d->argument]) return "an instruction writes what is only read";
        if (!fits_types(p, o, type, d, a, b, registers + w[4])) return "an instruction's types do not fit";
        out->kernel = onax_kernel_of((int)w[0], type);
        out->scalar = onax_scalar_code((int)w[0], type);
        if (out->kernel == NULL) return "an operation has no form for a type";
        out->fold = folds ? l->n_folds++ : -1;
        l->cost += onax_cost_of((int)w[0], type);
    }
    ready[w[1]] = 1;
    out->target = (int32_t)w[1];
    out->first = (int32_t)w[2];
    out->second = (int32_t)w[3];
    out->third = (int32_t)w[4];
    out->fourth = -1;
    out->operation = (int16_t)w[0];
    out->operands = (int16_t)operands;
    out->variants = onax_variants_of((int)w[0], l->registers[w[2]].type);
    return NULL;
}

/* `written` says which buffers are complete; those that this loop writes are added. */
static const char *read_loop_parts(onax_program *p, loop *l, reader *r, uint8_t *written, uint8_t *ready) {
    const char *fault;
    int64_t offset = 0;
    for (int i = 0; i < l->n_registers; i++) {
        reg *g = &l->registers[i];
        if ((fault = read_register(p, l, r, g, written))) return fault;
        ready[i] = g->kind == ONAX_DIRECT ? written[g->argument] : g->kind != ONAX_BLOCK && g->kind != ONAX_ROW;
    }
    for (int i = 0; i < l->n_steps; i++)
        if ((fault = read_step(p, l, r, &l->steps[i], ready, written))) return fault;
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        if (is_scratch(g)) continue;
        if (!ready[i]) return "a buffer is named but not written";
        if (!written[g->argument]) written[g->argument] = 2;
    }
    for (int i = 0; i < l->n_registers; i++)  /* two names of one buffer that is being written */
        for (int j = 0; j < i && !is_scratch(&l->registers[i]) && written[l->registers[i].argument] == 2; j++)
            if (!is_scratch(&l->registers[j]) && l->registers[j].argument == l->registers[i].argument)
                return "a buffer that is written has two registers";
    for (int i = 0; i < l->n_registers; i++)
        if (!is_scratch(&l->registers[i])) written[l->registers[i].argument] = 1;
    if (!(l->block = block_of(l))) return "a loop needs too many registers";
    align_blocks(l);
    l->row = l->rank > 1 && l->dims[l->rank - 1] >= LONG_ROW ? l->dims[l->rank - 1] : 0;
    for (int i = 0; i < l->n_registers; i++) {
        reg *g = &l->registers[i];
        if (g->kind == ONAX_LOAD || g->kind == ONAX_IOTA)
            g->is_repeated = !g->uniform && l->row && l->n > l->block && !g->strides[l->rank - 1];
    }
    for (int i = 0; i < l->n_registers; i++) {
        reg *g = &l->registers[i];
        if (!is_scratch(g)) continue;
        g->offset = offset;
        offset += rounded(l->block * g->size);
    }
    l->scratch = offset;
    onax_join_exps(l);
    if ((fault = onax_compile_steps(p, l))) return fault;
    onax_join_steps(l);
    return NULL;
}

static const char *read_loop(onax_program *p, loop *l, reader *r, uint8_t *written) {
    const int64_t *w;
    const char *fault;
    uint8_t *ready;
    if (!take(r, 3, &w)) return "the program ends within a loop";
    if (w[0] < 0 || w[0] > MOST_RANK) return "a loop has too many axes";
    if (w[1] < 0 || w[1] > MOST_BUFFERS || w[2] < 0 || w[2] > MOST_BUFFERS) return "a loop is too long";
    l->rank = (int)w[0];
    l->n_registers = (int)w[1];
    l->n_steps = (int)w[2];
    if (!take(r, l->rank, &l->dims)) return "the program ends within dimensions";
    l->n = 1;
    for (int i = 0; i < l->rank; i++) {
        if (l->dims[i] < 0 || (l->dims[i] && l->n > INT64_MAX / 64 / l->dims[i])) return "a loop has no such length";
        l->n *= l->dims[i];
    }
    l->registers = calloc((size_t)l->n_registers + 1, sizeof(reg));
    l->steps = calloc((size_t)l->n_steps + 1, sizeof(step));
    ready = calloc((size_t)l->n_registers + 1, 1);
    fault = l->registers && l->steps && ready ? read_loop_parts(p, l, r, written, ready) : "no memory";
    free(ready);
    p->work += l->cost * (double)l->n;
    return fault;
}

/* Whether what a load reads of a buffer with `elements` lies in the row of the position, of so many rows. */
static int stays_in_row(const loop *l, const reg *g, int64_t elements, int64_t rows) {
    int64_t leading = 1, width, reach = g->start, step;
    int axis = 0;
    if (elements % rows) return 0;
    width = step = elements / rows;
    while (axis < l->rank && leading < rows) leading *= l->dims[axis++];
    if (leading != rows) return 0;
    for (int i = axis; i < l->rank; i++) reach += (l->dims[i] - 1) * g->strides[i];
    for (int i = axis - 1; i >= 0; i--) {
        if (l->dims[i] != 1 && g->strides[i] != step) return 0;
        step *= l->dims[i];
    }
    return reach < width;
}

/* `written` says which buffers were complete before the group. */
static const char *check_group(const onax_program *p, const group *g, const uint8_t *written) {
    for (int64_t k = g->first; k < g->past; k++) {
        const loop *l = &p->loops[k];
        if (g->rows == 1) continue;
        if (l->n == 0 || l->n % g->rows) return "a loop of a group has other rows";
        for (int i = 0; i < l->n_registers; i++) {
            const reg *x = &l->registers[i];
            if (x->kind == ONAX_ROW && l->n / g->rows % x->length) return "a loop of a group has other rows";
            if (x->kind == ONAX_TABLE && !written[x->argument]) return "a load leaves its row";
            if (x->kind == ONAX_LOAD && !written[x->argument]
                && !stays_in_row(l, x, p->buffers[2 * x->argument + 1], g->rows))
                return "a load leaves its row";
        }
    }
    return NULL;
}

static const char *read_group(onax_program *p, group *g, reader *r, uint8_t *written, uint8_t *before) {
    const int64_t *w;
    const char *fault;
    if (!take(r, 2, &w)) return "the program ends within a group";
    if (w[0] < 1 || w[1] < 0 || w[1] > p->n_loops - g->first) return "a group has no such rows or loops";
    memcpy(before, written, (size_t)(p->n_in + p->n_out + p->n_temp));
    g->rows = w[0];
    g->past = g->first + w[1];
    for (int64_t k = g->first; k < g->past; k++)
        if ((fault = read_loop(p, &p->loops[k], r, written))) return fault;
    return check_group(p, g, before);
}

/* Temporaries that one group alone knows need room for the rows that it has in hand only. */
static void find_homes(onax_program *p) {
    const int first = p->n_in + p->n_out;
    for (int t = 0; t < p->n_temp; t++) p->homes[t] = -2;
    for (int k = 0; k < p->n_groups; k++)
        for (int64_t i = p->groups[k].first; i < p->groups[k].past; i++)
            for (int j = 0; j < p->loops[i].n_registers; j++) {
                const reg *x = &p->loops[i].registers[j];
                int *home;
                if (!is_buffer(x) || x->argument < first) continue;
                home = &p->homes[x->argument - first];
                *home = *home == -2 || *home == k ? k : -1;
            }
    for (int t = 0; t < p->n_temp; t++) {
        if (p->homes[t] >= 0 && p->groups[p->homes[t]].rows == 1) p->homes[t] = -1;
        if (p->homes[t] < 0) p->shared_bytes += rounded(buffer_bytes(p, first + t));
    }
}

static const char *read_groups(onax_program *p, reader *r, uint8_t *written, uint8_t *before) {
    const char *fault = NULL;
    int64_t done = 0;
    for (int k = 0; k < p->n_groups && !fault; k++) {
        p->groups[k].first = done;
        fault = read_group(p, &p->groups[k], r, written, before);
        done = p->groups[k].past;
    }
    if (!fault && done != p->n_loops) return "there are fewer loops than were stated";
    if (!fault) find_homes(p);
    return fault;
}

static const char *read_program(onax_program *p, reader *r) {
    const int64_t *w;
    const char *fault = NULL;
    uint8_t *written;
    int count;
    if (!take(r, 6, &w) || w[0] != ONAX_PROGRAM_MAGIC) return "these words are no program";
    for (int i = 1; i < 6; i++)
        if (w[i] < 0 || w[i] > MOST_BUFFERS) return "the program has too many parts";
    p->n_in = (int)w[1];
    p->n_out = (int)w[2];
    p->n_temp = (int)w[3];
    p->n_loops = (int)w[4];
    p->n_groups = (int)w[5];
    count = p->n_in + p->n_out + p->n_temp;
    if (!take(r, 2 * (int64_t)count, &p->buffers)) return "the program ends within its buffers";
    for (int i = 0; i < count; i++) {
        if (p->buffers[2 * i] < 0 || p->buffers[2 * i] >= ONAX_TYPES) return "a buffer has no such type";
        if (p->buffers[2 * i + 1] < 0 || p->buffers[2 * i + 1] > INT64_MAX / 64) return "a buffer has no such size";
        if (i >= p->n_in + p->n_out)
            p->temp_bytes += rounded(buffer_bytes(p, i));
        if (p->temp_bytes > MOST_BYTES) return "the program needs too much memory";
    }
    p->loops = calloc((size_t)p->n_loops + 1, sizeof(loop));
    p->groups = calloc((size_t)p->n_groups + 1, sizeof(group));
    p->homes = calloc((size_t)p->n_temp + 1, sizeof(int));
    written = calloc(2 * (size_t)count + 1, 1);
    if (!p->loops || !p->groups || !p->homes || !written) fault = "no memory";
    for (int i = 0; i < p->n_in && !fault; i++) written[i] = 1;
    if (!fault) fault = read_groups(p, r, written, written + count);
    for (int i = p->n_in; i < p->n_in + p->n_out && !fault; i++)
        if (!written[i]) fault = "an output is never written";
    if (!fault && r->at != r->end) fault = "words are left over";
    free(written);
    return fault;
}

const char *onax_program_read(const int64_t *words, size_t count, onax_program **program) {
    onax_program *p = calloc(1, sizeof *p);
    const char *fault;
    reader r;
    *program = NULL;
    if (!p) return "no memory";
    p->words = malloc((count + 1) * sizeof(int64_t));
    if (!p->words) { free(p); return "no memory"; }
    memcpy(p->words, words, count * sizeof(int64_t));
    r.at = p->words;
    r.end = p->words + count;
    fault = read_program(p, &r);
    if (!fault) fault = onax_place_code(p);
    if (!fault) {
        onax_plan_run(p);
        if (!onax_plan_micro_ops(p)) fault = "no memory";
    }
    if (fault) onax_program_free(p);
    else *program = p;
    return fault;
}

void onax_program_free(onax_program *p) {
    if (!p) return;
    for (int i = 0; p->loops && i < p->n_loops; i++) {
        free(p->loops[i].registers);
        free(p->loops[i].steps);
    }
    free(p->loops);
    onax_free_code(p);
    free(p->micro_ops);
    free(p->groups);
    free(p->homes);
    free(p->words);
    free(p);
}

int onax_program_inputs(const onax_program *p) { return p->n_in; }
int onax_program_outputs(const onax_program *p) { return p->n_out; }
int onax_program_type(const onax_program *p, int buffer) { return (int)p->buffers[2 * buffer]; }
int64_t onax_program_elements(const onax_program *p, int buffer) { return p->buffers[2 * buffer + 1]; }
double onax_program_work(const onax_program *p) { return p->work; }
int64_t onax_program_scratch(const onax_program *p) { return p->scratch_bytes; }
int64_t onax_program_persistent(const onax_program *p) { return p->step_bytes; }
