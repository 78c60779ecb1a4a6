/* Reading and running programs over blocks; blocks_kernels.h says what they are. */
#include "blocks_kernels.h"

#include <stdlib.h>

#include "blocks_maths.h"
#include "normals_maths.h"
#include "threefry_maths.h"
#include "blocks_table.h"

#define MOST_BUFFERS 100000
#define MOST_RANK 16
#define SCRATCH 65536          /* bytes on the stack of whoever runs a part of a loop */
#define LARGEST_BLOCK 1024
#define PART_WORK 100000.0     /* nanoseconds below which a part is not worth another thread */
#define MOST_PARTS 64
#define TILE 8192              /* positions, about, of the rows that a group of loops takes at a time */

typedef struct {
    uint8_t type, kind, size, uniform;
    int64_t argument;          /* buffer, or a constant's bits */
    int64_t offset;            /* in the scratch memory, of BLOCK, LOAD, IOTA, CONSTANT */
    int64_t start;             /* the first element of LOAD, the first number of IOTA */
    int64_t length;            /* positions that one element of ROW stands for */
    const int64_t *strides;
} reg;

typedef struct {
    onax_kernel kernel;
    int32_t target, first, second, third;
    int32_t fold;              /* the number of its total; -1 if it is no fold */
} step;

typedef struct {
    int rank, n_registers, n_steps, n_folds;
    int64_t n, block, scratch;
    const int64_t *dims;
    reg *registers;
    step *steps;
    double cost;               /* nanoseconds an element */
} loop;

typedef struct { int64_t rows, first, past; } group;  /* its loops, by number */

struct onax_program {
    int64_t *words;
    int n_in, n_out, n_temp, n_loops, n_groups;
    const int64_t *buffers;    /* pairs: type, elements */
    loop *loops;
    group *groups;
    int *homes;                /* of each temporary: the group that alone knows it, or -1 */
    int64_t temp_bytes, shared_bytes;  /* of all temporaries, and of those that no group has to itself */
    double work;
};

/* ---- reading */

typedef struct { const int64_t *at, *end; } reader;

static int take(reader *r, int64_t count, const int64_t **out) {
    if (count < 0 || r->end - r->at < count) return 0;
    *out = r->at;
    r->at += count;
    return 1;
}

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static int64_t buffer_bytes(const onax_program *p, int i) {
    return p->buffers[2 * i + 1] * onax_type_sizes[p->buffers[2 * i]];
}

static int is_scratch(const reg *r) { return r->kind != ONAX_DIRECT && r->kind != ONAX_ROW && r->kind != ONAX_TABLE; }

static int is_buffer(const reg *r) { return r->kind == ONAX_LOAD || !is_scratch(r); }

/* The largest block whose scratch memory fits; 0 if none does. */
static int64_t block_of(const loop *l) {
    int64_t block = l->n < LARGEST_BLOCK ? (l->n ? l->n : 1) : LARGEST_BLOCK, bytes;
    for (;;) {
        bytes = 0;
        for (int i = 0; i < l->n_registers; i++)
            if (is_scratch(&l->registers[i])) bytes += rounded(block * l->registers[i].size);
        if (bytes <= SCRATCH) return block;
        if (block <= 16) return 0;
        block /= 2;
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
    out->argument = w[1] == ONAX_IOTA ? 0 : w[2];
    if (is_buffer(out)) {
        if (w[2] < 0 || w[2] >= p->n_in + p->n_out + p->n_temp) return "a register names no buffer";
        if (p->buffers[2 * w[2]] != w[0]) return "a register has another type than its buffer";
        n = p->buffers[2 * w[2] + 1];
        if (out->kind == ONAX_DIRECT && n != l->n) return "a buffer has not one element for each position";
        if ((out->kind == ONAX_LOAD || out->kind == ONAX_TABLE) && !written[w[2]]) return "a buffer is loaded that was not written";
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
    return limit->kind == ONAX_CONSTANT && limit->type == ONAX_I64 && limit->argument >= 1 && limit->argument <= n;
}

static const char *read_step(const onax_program *p, loop *l, reader *r, step *out, uint8_t *ready, const uint8_t *finished) {
    const int64_t *w;
    const onax_operation *o;
    int operands;
    if (!take(r, 5, &w)) return "the program ends within an instruction";
    if (w[0] < 0 || w[0] >= onax_operation_count) return "there is no such operation";
    o = &onax_operations[w[0]];
    operands = strchr("STG", o->signature) ? 3 : o->signature == 'B' || o->signature == 'C' ? 2 : 1;
    for (int i = 1; i < 5; i++)
        if (w[i] < 0 || w[i] >= l->n_registers) return "an instruction names no register";
    for (int i = 0; i < operands; i++)
        if (!ready[w[2 + i]] || l->registers[w[2 + i]].kind == ONAX_ROW
            || (l->registers[w[2 + i]].kind == ONAX_TABLE) != (o->signature == 'G' && i == 0))
            return "a register is read that was not written";
    {
        const reg *d = &l->registers[w[1]], *a = &l->registers[w[2]], *b = &l->registers[w[3]], *c = &l->registers[w[4]];
        const int type = o->signature == 'S' ? b->type : a->type;
        int fits = d->type == type;
        const int folds = o->signature == 'R';
        if (folds ? d->kind != ONAX_ROW || ready[w[1]] : d->kind != ONAX_BLOCK && d->kind != ONAX_DIRECT)
            return "an instruction writes what is only read";
        if (d->kind != ONAX_BLOCK && finished[d->argument]) return "an instruction writes what is only read";
        switch (o->signature) {
            case 'U': case 'R': break;
            case 'B': fits = fits && b->type == type; break;
            case 'G': fits = fits && b->type == ONAX_I32 && is_within(p, a, c); break;
            case 'T': fits = fits && b->type == type && c->type == type; break;
            case 'C': fits = d->type == ONAX_BOOL && b->type == type; break;
            case 'P': fits = d->type == ONAX_BOOL; break;
            case 'S': fits = fits && a->type == ONAX_BOOL && c->type == type; break;
            case 'V': fits = d->type == o->target; break;
            default: fits = d->size == a->size && (d->type == ONAX_BOOL) == (a->type == ONAX_BOOL);
        }
        if (!fits) return "an instruction's types do not fit";
        if (o->kernels[type] == NULL) return "an operation has no form for a type";
        out->kernel = o->kernels[type];
        out->fold = folds ? l->n_folds++ : -1;
        l->cost += o->cost[type == ONAX_F64];
    }
    ready[w[1]] = 1;
    out->target = (int32_t)w[1];
    out->first = (int32_t)w[2];
    out->second = (int32_t)w[3];
    out->third = (int32_t)w[4];
    return NULL;
}

/* `written` says which buffers are complete; those that this loop writes are added. */
static const char *read_loop_parts(const onax_program *p, loop *l, reader *r, uint8_t *written, uint8_t *ready) {
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
    for (int i = 0; i < l->n_registers; i++) {
        reg *g = &l->registers[i];
        if (!is_scratch(g)) continue;
        g->offset = offset;
        offset += rounded(l->block * g->size);
    }
    l->scratch = offset;
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
            p->temp_bytes += rounded(p->buffers[2 * i + 1] * onax_type_sizes[p->buffers[2 * i]]);
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

/* ---- running */

static void fill(char *to, const char *one, int size, int64_t n) {
    int64_t i;
    if (size == 4) { uint32_t v; memcpy(&v, one, 4); for (i = 0; i < n; i++) ((uint32_t *)to)[i] = v; }
    else if (size == 8) { uint64_t v; memcpy(&v, one, 8); for (i = 0; i < n; i++) ((uint64_t *)to)[i] = v; }
    else memset(to, *one, (size_t)n);
}

static void strided(char *to, const char *from, int size, int64_t stride, int64_t n) {
    int64_t i;
    if (size == 4) for (i = 0; i < n; i++) ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * stride];
    else if (size == 8) for (i = 0; i < n; i++) ((uint64_t *)to)[i] = ((const uint64_t *)from)[i * stride];
    else for (i = 0; i < n; i++) to[i] = from[i * stride];
}

static void count_up(char *to, int type, int64_t start, int64_t stride, int64_t n) {
    int64_t i;
    switch (type) {
        case ONAX_F32: for (i = 0; i < n; i++) ((float *)to)[i] = (float)(start + i * stride); break;
        case ONAX_F64: for (i = 0; i < n; i++) ((double *)to)[i] = (double)(start + i * stride); break;
        case ONAX_I64: case ONAX_U64: for (i = 0; i < n; i++) ((int64_t *)to)[i] = start + i * stride; break;
        default: for (i = 0; i < n; i++) ((int32_t *)to)[i] = (int32_t)(start + i * stride);
    }
}

/* The positions o ... o + n - 1 of a LOAD or IOTA register, row by row. */
static void load(const loop *l, const reg *g, const char *from, char *to, int64_t o, int64_t n) {
    int64_t index[MOST_RANK], at = g->start, rest = o, run;
    const int last = l->rank - 1;
    for (int i = last; i >= 0; i--) {
        index[i] = rest % l->dims[i];
        rest /= l->dims[i];
        at += index[i] * g->strides[i];
    }
    while (n > 0) {
        const int64_t stride = g->strides[last];
        run = l->dims[last] - index[last];
        if (run > n) run = n;
        if (g->kind == ONAX_IOTA) count_up(to, g->type, at, stride, run);
        else if (stride == 1) memcpy(to, from + at * g->size, (size_t)(run * g->size));
        else if (stride == 0) fill(to, from + at * g->size, g->size, run);
        else strided(to, from + at * g->size, g->size, stride, run);
        to += run * g->size;
        n -= run;
        at -= index[last] * stride;
        index[last] = 0;
        for (int i = last - 1; i >= 0; i--) {
            at += g->strides[i];
            if (++index[i] < l->dims[i]) break;
            at -= index[i] * g->strides[i];
            index[i] = 0;
        }
    }
}

static void uniform(const reg *g, char *const *buffers, char *to, int64_t n) {
    if (g->kind == ONAX_IOTA) count_up(to, g->type, g->start, 0, n);
    else if (g->kind == ONAX_CONSTANT) fill(to, (const char *)&g->argument, g->size, n);
    else fill(to, buffers[g->argument] + g->start * g->size, g->size, n);
}

/* The positions o ... o + n - 1 go into the rows that they belong to; `total` is of the row that is not complete. */
static void fold_rows(const reg *g, const step *s, const char *from, char *const *buffers, double *total, int64_t o,
                      int64_t n) {
    char *to = buffers[g->argument] + o / g->length * g->size;
    int64_t at = o % g->length;
    while (n > 0) {
        const int64_t run = g->length - at < n ? g->length - at : n;
        if (at == 0) s->kernel(total, NULL, NULL, NULL, 0);
        s->kernel(total, from, NULL, NULL, run);
        at += run;
        if (at == g->length) { onax_finish(g->type, total, to); to += g->size; at = 0; }
        from += run * g->size;
        n -= run;
    }
}

/* What a thread needs to run loops: places of registers, and totals. */
typedef struct { char **at; double *totals; char *scratch; } desk;

/* `is_share`: the positions are a part of one row, whose total is left where it is. */
static void run_blocks(const loop *l, char *const *buffers, const desk *d, int64_t begin, int64_t end, int is_share) {
    const int64_t widest = end - begin < l->block ? end - begin : l->block;
    char **at = d->at;
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        at[i] = is_scratch(g) ? d->scratch + g->offset : NULL;
        if (g->uniform) uniform(g, buffers, at[i], widest);
    }
    for (int64_t o = begin; o < end; o += l->block) {
        const int64_t n = end - o < l->block ? end - o : l->block;
        for (int i = 0; i < l->n_registers; i++) {
            const reg *g = &l->registers[i];
            if (g->kind == ONAX_DIRECT) at[i] = buffers[g->argument] + o * g->size;
            else if (g->kind == ONAX_TABLE) at[i] = buffers[g->argument];
            else if ((g->kind == ONAX_LOAD || g->kind == ONAX_IOTA) && !g->uniform)
                load(l, g, buffers[g->argument], at[i], o, n);
        }
        for (int i = 0; i < l->n_steps; i++) {
            const step *s = &l->steps[i];
            if (s->fold < 0) s->kernel(at[s->target], at[s->first], at[s->second], at[s->third], n);
            else if (is_share) s->kernel(&d->totals[s->fold], at[s->first], NULL, NULL, n);
            else fold_rows(&l->registers[s->target], s, at[s->first], buffers, &d->totals[s->fold], o, n);
        }
    }
}

/* A desk in `room`; SCRATCH bytes of it are the caller's own. */
static int64_t desk_bytes(int64_t registers, int64_t folds) {
    return rounded(registers * (int64_t)sizeof(char *)) + rounded(folds * (int64_t)sizeof(double));
}

static desk desk_in(char *room, char *scratch, int64_t registers) {
    desk d = {(char **)room, (double *)(room + rounded(registers * (int64_t)sizeof(char *))), scratch};
    return d;
}

/* ---- a loop on its own */

typedef struct {
    const loop *l;
    char *const *buffers;
    int64_t part;              /* positions a part; a multiple of the block, or of the rows */
    double *totals;            /* of the one row, for each part; NULL if rows are complete in each part */
    char failed;
} job;

static void run_part(void *user, size_t which) {
    job *j = user;
    const loop *l = j->l;
    const int64_t begin = (int64_t)which * j->part, end = begin + j->part < l->n ? begin + j->part : l->n;
    const int64_t bytes = desk_bytes(l->n_registers, l->n_folds);
    char few[1024], *room = few;
    _Alignas(64) char scratch[SCRATCH];
    desk d;
    if (bytes > (int64_t)sizeof few && !(room = malloc((size_t)bytes))) { j->failed = 1; return; }
    d = desk_in(room, scratch, l->n_registers);
    if (j->totals) {
        d.totals = j->totals + which * (size_t)l->n_folds;
        for (int i = 0; i < l->n_steps; i++)
            if (l->steps[i].fold >= 0) l->steps[i].kernel(&d.totals[l->steps[i].fold], NULL, NULL, NULL, 0);
    }
    if (begin < end) run_blocks(l, j->buffers, &d, begin, end, j->totals != NULL);
    if (room != few) free(room);
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

/* Whether its folds are over all positions, or there are none, so that it may be cut anywhere. */
static int is_one_row(const loop *l) {
    for (int i = 0; i < l->n_registers; i++)
        if (l->registers[i].kind == ONAX_ROW && l->registers[i].length != l->n) return 0;
    return 1;
}

static int run_loop(const loop *l, char *const *buffers, onax_parallel parallel, void *where) {
    job j = {l, buffers, l->n, NULL, 0};
    double parts = l->cost * (double)l->n / PART_WORK;
    if (l->n == 0) return 0;
    if (!parallel || parts < 2 || !is_one_row(l)) {
        run_part(&j, 0);
    } else {
        int64_t blocks = (l->n + l->block - 1) / l->block, count = parts < MOST_PARTS ? (int64_t)parts : MOST_PARTS;
        if (count > blocks) count = blocks;
        j.part = (blocks + count - 1) / count * l->block;
        count = (l->n + j.part - 1) / j.part;
        if (l->n_folds && !(j.totals = malloc((size_t)(count * l->n_folds) * sizeof(double)))) return -1;
        parallel(where, run_part, (size_t)count, &j);
        if (j.totals) join_totals(&j, count);
        free(j.totals);
    }
    return j.failed ? -1 : 0;
}

/* ---- a group of loops, row by row */

typedef struct {
    const onax_program *p;
    const group *g;
    char *const *buffers;
    int64_t tile, part;        /* rows */
    char failed;
} rows_job;

static int64_t row_bytes(const onax_program *p, int64_t buffer, int64_t rows) {
    return p->buffers[2 * buffer + 1] / rows * onax_type_sizes[p->buffers[2 * buffer]];
}

static void run_tiles(const rows_job *j, char **buffers, const desk *d, char *locals, int64_t begin, int64_t end) {
    const onax_program *p = j->p;
    const int first = p->n_in + p->n_out;
    const int home = (int)(j->g - p->groups);
    for (int64_t row = begin; row < end; row += j->tile) {
        const int64_t past = row + j->tile < end ? row + j->tile : end;
        char *next = locals;
        for (int t = 0; t < p->n_temp; t++) {
            const int64_t bytes = row_bytes(p, first + t, j->g->rows);
            if (p->homes[t] != home) continue;
            /* where the buffer would begin, if these rows were all in their places */
            buffers[first + t] = (char *)((uintptr_t)next - (uintptr_t)(row * bytes));
            next += rounded(bytes * j->tile);
        }
        for (int64_t k = j->g->first; k < j->g->past; k++) {
            const loop *l = &p->loops[k];
            const int64_t width = l->n / j->g->rows;
            run_blocks(l, buffers, d, row * width, past * width, 0);
        }
    }
}

static void run_rows(void *user, size_t which) {
    rows_job *j = user;
    const onax_program *p = j->p;
    const group *g = j->g;
    const int64_t begin = (int64_t)which * j->part, end = begin + j->part < g->rows ? begin + j->part : g->rows;
    const int count = p->n_in + p->n_out + p->n_temp;
    int64_t registers = 0, folds = 0, locals = 0, pointers = rounded(count * (int64_t)sizeof(char *));
    _Alignas(64) char scratch[SCRATCH];
    char *room;
    desk d;
    for (int64_t k = g->first; k < g->past; k++) {
        if (p->loops[k].n_registers > registers) registers = p->loops[k].n_registers;
        if (p->loops[k].n_folds > folds) folds = p->loops[k].n_folds;
    }
    for (int t = 0; t < p->n_temp; t++)
        if (p->homes[t] == g - p->groups) locals += rounded(row_bytes(p, p->n_in + p->n_out + t, g->rows) * j->tile);
    room = malloc((size_t)(pointers + desk_bytes(registers, folds) + locals + 64));
    if (!room) { j->failed = 1; return; }
    memcpy(room, j->buffers, (size_t)count * sizeof(char *));
    d = desk_in(room + pointers, scratch, registers);
    run_tiles(j, (char **)room, &d, room + pointers + desk_bytes(registers, folds), begin, end);
    free(room);
}

static int run_group(const onax_program *p, const group *g, char *const *buffers, onax_parallel parallel, void *where) {
    rows_job j = {p, g, buffers, 1, g->rows, 0};
    double work = 0, parts;
    int64_t widest = 1, count;
    int failed = 0;
    if (g->rows == 1) {
        for (int64_t k = g->first; k < g->past && !failed; k++)
            failed = run_loop(&p->loops[k], buffers, parallel, where);
        return failed;
    }
    for (int64_t k = g->first; k < g->past; k++) {
        work += p->loops[k].cost * (double)p->loops[k].n;
        if (p->loops[k].n / g->rows > widest) widest = p->loops[k].n / g->rows;
    }
    j.tile = TILE / widest > 1 ? TILE / widest : 1;
    if (j.tile > g->rows) j.tile = g->rows;
    parts = work / PART_WORK;
    if (!parallel || parts < 2 || g->rows < 2) {
        run_rows(&j, 0);
    } else {
        count = parts < MOST_PARTS ? (int64_t)parts : MOST_PARTS;
        j.part = (g->rows + count - 1) / count;
        parallel(where, run_rows, (size_t)((g->rows + j.part - 1) / j.part), &j);
    }
    return j.failed ? -1 : 0;
}

int onax_program_run(const onax_program *p, const void *const *inputs, void *const *outputs, onax_parallel parallel,
                     void *where) {
    const int count = p->n_in + p->n_out + p->n_temp;
    char *few[128], **buffers = few, *temporaries = NULL, *next;
    int failed = 0;
    if (count > 128) buffers = malloc((size_t)count * sizeof(char *));
    if (p->shared_bytes) temporaries = malloc((size_t)p->shared_bytes);
    if (!buffers || (p->shared_bytes && !temporaries)) failed = -1;
    if (!failed) {
        for (int i = 0; i < p->n_in; i++) buffers[i] = (char *)inputs[i];
        for (int i = 0; i < p->n_out; i++) buffers[p->n_in + i] = outputs[i];
        next = temporaries;
        for (int i = p->n_in + p->n_out; i < count; i++) {
            buffers[i] = next;
            if (p->homes[i - p->n_in - p->n_out] < 0) next += rounded(buffer_bytes(p, i));
        }
        for (int k = 0; k < p->n_groups && !failed; k++)
            failed = run_group(p, &p->groups[k], buffers, parallel, where);
    }
    if (buffers != few) free(buffers);
    free(temporaries);
    return failed;
}

#include "blocks_loop.h"
#include "blocks_operator.h"
