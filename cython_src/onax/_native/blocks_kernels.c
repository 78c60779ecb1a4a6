/* Reading and running programs over blocks; blocks_kernels.h says what they are. */
#include "blocks_kernels.h"

#include <stdlib.h>

#include "blocks_maths.h"
#include "blocks_table.h"

#define MOST_BUFFERS 100000
#define MOST_RANK 16
#define SCRATCH 65536          /* bytes on the stack of whoever runs a part of a loop */
#define LARGEST_BLOCK 1024
#define PART_WORK 100000.0     /* nanoseconds below which a part is not worth another thread */
#define MOST_PARTS 64

typedef struct {
    uint8_t type, kind, size, uniform;
    int64_t argument;          /* buffer, or a constant's bits */
    int64_t offset;            /* in the scratch memory, of BLOCK, LOAD, IOTA, CONSTANT */
    const int64_t *strides;
} reg;

typedef struct {
    onax_kernel kernel;
    int32_t target, first, second, third;
} step;

typedef struct {
    int rank, n_registers, n_steps;
    int64_t n, block, scratch;
    const int64_t *dims;
    reg *registers;
    step *steps;
    double cost;               /* nanoseconds an element */
} loop;

struct onax_program {
    int64_t *words;
    int n_in, n_out, n_temp, n_loops;
    const int64_t *buffers;    /* pairs: type, elements */
    loop *loops;
    int64_t temp_bytes;
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

static int is_scratch(const reg *r) { return r->kind != ONAX_DIRECT; }

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
    int64_t reach = 0;
    if (!take(r, 3, &w)) return "the program ends within a register";
    if (w[0] < 0 || w[0] >= ONAX_TYPES) return "a register has no such type";
    if (w[1] < 0 || w[1] >= ONAX_KINDS) return "a register has no such kind";
    out->type = (uint8_t)w[0];
    out->kind = (uint8_t)w[1];
    out->size = (uint8_t)onax_type_sizes[w[0]];
    out->argument = w[1] == ONAX_IOTA ? 0 : w[2];
    if (out->kind == ONAX_DIRECT || out->kind == ONAX_LOAD) {
        if (w[2] < 0 || w[2] >= p->n_in + p->n_out + p->n_temp) return "a register names no buffer";
        if (p->buffers[2 * w[2]] != w[0]) return "a register has another type than its buffer";
        if (out->kind == ONAX_DIRECT && p->buffers[2 * w[2] + 1] != l->n)
            return "a buffer has not one element for each position";
        if (out->kind == ONAX_LOAD && !written[w[2]]) return "a buffer is loaded that was not written";
    }
    out->uniform = out->kind == ONAX_CONSTANT;
    if (out->kind != ONAX_LOAD && out->kind != ONAX_IOTA) return NULL;
    if (!take(r, l->rank, &out->strides)) return "the program ends within strides";
    if (out->kind == ONAX_IOTA && out->type == ONAX_BOOL) return "bools do not count";
    out->uniform = 1;
    for (int i = 0; i < l->rank; i++) {
        const int64_t stride = out->strides[i], length = l->dims[i];
        if (stride < 0 || (stride && length > INT64_MAX / 4 / stride)) return "a stride is negative or too long";
        if (stride) out->uniform = 0;
        if (length > 0) reach += (length - 1) * stride;
        if (reach > INT64_MAX / 4) return "a stride is negative or too long";
    }
    if (out->kind == ONAX_LOAD && l->n > 0 && reach >= p->buffers[2 * out->argument + 1])
        return "a load goes beyond its buffer";
    return NULL;
}

static const char *read_step(loop *l, reader *r, step *out, uint8_t *ready, const uint8_t *finished) {
    const int64_t *w;
    const onax_operation *o;
    int operands;
    if (!take(r, 5, &w)) return "the program ends within an instruction";
    if (w[0] < 0 || w[0] >= onax_operation_count) return "there is no such operation";
    o = &onax_operations[w[0]];
    operands = o->signature == 'S' ? 3 : o->signature == 'B' || o->signature == 'C' ? 2 : 1;
    for (int i = 1; i < 5; i++)
        if (w[i] < 0 || w[i] >= l->n_registers) return "an instruction names no register";
    for (int i = 0; i < operands; i++)
        if (!ready[w[2 + i]]) return "a register is read that was not written";
    {
        const reg *d = &l->registers[w[1]], *a = &l->registers[w[2]], *b = &l->registers[w[3]], *c = &l->registers[w[4]];
        const int type = o->signature == 'S' ? b->type : a->type;
        int fits = d->type == type;
        if (d->kind != ONAX_BLOCK && (d->kind != ONAX_DIRECT || finished[d->argument]))
            return "an instruction writes what is only read";
        switch (o->signature) {
            case 'U': break;
            case 'B': fits = fits && b->type == type; break;
            case 'C': fits = d->type == ONAX_BOOL && b->type == type; break;
            case 'P': fits = d->type == ONAX_BOOL; break;
            case 'S': fits = fits && a->type == ONAX_BOOL && c->type == type; break;
            case 'V': fits = d->type == o->target; break;
            default: fits = d->size == a->size && (d->type == ONAX_BOOL) == (a->type == ONAX_BOOL);
        }
        if (!fits) return "an instruction's types do not fit";
        if (o->kernels[type] == NULL) return "an operation has no form for a type";
        out->kernel = o->kernels[type];
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
        ready[i] = g->kind == ONAX_DIRECT ? written[g->argument] : g->kind != ONAX_BLOCK;
    }
    for (int i = 0; i < l->n_steps; i++)
        if ((fault = read_step(l, r, &l->steps[i], ready, written))) return fault;
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        if (g->kind != ONAX_DIRECT) continue;
        if (!ready[i]) return "a buffer is named but not written";
        if (!written[g->argument]) written[g->argument] = 2;
    }
    for (int i = 0; i < l->n_registers; i++)  /* two names of one buffer that is being written */
        for (int j = 0; j < i && l->registers[i].kind == ONAX_DIRECT && written[l->registers[i].argument] == 2; j++)
            if (l->registers[j].kind == ONAX_DIRECT && l->registers[j].argument == l->registers[i].argument)
                return "a buffer that is written has two registers";
    for (int i = 0; i < l->n_registers; i++)
        if (l->registers[i].kind == ONAX_DIRECT) written[l->registers[i].argument] = 1;
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

static const char *read_program(onax_program *p, reader *r) {
    const int64_t *w;
    const char *fault = NULL;
    uint8_t *written;
    int count;
    if (!take(r, 5, &w) || w[0] != ONAX_PROGRAM_MAGIC) return "these words are no program";
    for (int i = 1; i < 5; i++)
        if (w[i] < 0 || w[i] > MOST_BUFFERS) return "the program has too many parts";
    p->n_in = (int)w[1];
    p->n_out = (int)w[2];
    p->n_temp = (int)w[3];
    count = p->n_in + p->n_out + p->n_temp;
    if (!take(r, 2 * (int64_t)count, &p->buffers)) return "the program ends within its buffers";
    for (int i = 0; i < count; i++) {
        if (p->buffers[2 * i] < 0 || p->buffers[2 * i] >= ONAX_TYPES) return "a buffer has no such type";
        if (p->buffers[2 * i + 1] < 0 || p->buffers[2 * i + 1] > INT64_MAX / 64) return "a buffer has no such size";
        if (i >= p->n_in + p->n_out)
            p->temp_bytes += rounded(p->buffers[2 * i + 1] * onax_type_sizes[p->buffers[2 * i]]);
    }
    p->loops = calloc((size_t)w[4] + 1, sizeof(loop));
    written = calloc((size_t)count + 1, 1);
    if (!p->loops || !written) fault = "no memory";
    for (int i = 0; i < p->n_in && !fault; i++) written[i] = 1;
    for (; p->n_loops < w[4] && !fault; p->n_loops++) fault = read_loop(p, &p->loops[p->n_loops], r, written);
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
    int64_t index[MOST_RANK], at = 0, rest = o, run;
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

typedef struct {
    const loop *l;
    char *const *buffers;
    int64_t part;              /* positions a part; a multiple of the block */
    char failed;
} job;

static void uniform(const reg *g, char *const *buffers, char *to, int64_t n) {
    int64_t zero = 0;
    const char *one = g->kind == ONAX_CONSTANT ? (const char *)&g->argument
                    : g->kind == ONAX_IOTA ? (const char *)&zero : buffers[g->argument];
    fill(to, one, g->size, n);
}

static void run_blocks(const loop *l, char *const *buffers, char **at, char *scratch, int64_t begin, int64_t end) {
    const int64_t widest = end - begin < l->block ? end - begin : l->block;
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        at[i] = is_scratch(g) ? scratch + g->offset : NULL;
        if (g->uniform) uniform(g, buffers, at[i], widest);
    }
    for (int64_t o = begin; o < end; o += l->block) {
        const int64_t n = end - o < l->block ? end - o : l->block;
        for (int i = 0; i < l->n_registers; i++) {
            const reg *g = &l->registers[i];
            if (g->kind == ONAX_DIRECT) at[i] = buffers[g->argument] + o * g->size;
            else if ((g->kind == ONAX_LOAD || g->kind == ONAX_IOTA) && !g->uniform)
                load(l, g, buffers[g->argument], at[i], o, n);
        }
        for (int i = 0; i < l->n_steps; i++) {
            const step *s = &l->steps[i];
            s->kernel(at[s->target], at[s->first], at[s->second], at[s->third], n);
        }
    }
}

static void run_part(void *user, size_t which) {
    job *j = user;
    const loop *l = j->l;
    const int64_t begin = (int64_t)which * j->part, end = begin + j->part < l->n ? begin + j->part : l->n;
    char *few[64], **at = few;
    _Alignas(64) char scratch[SCRATCH];
    if (l->n_registers > 64) {
        at = malloc((size_t)l->n_registers * sizeof(char *));
        if (!at) { j->failed = 1; return; }
    }
    if (begin < end) run_blocks(l, j->buffers, at, scratch, begin, end);
    if (at != few) free(at);
}

static int run_loop(const loop *l, char *const *buffers, onax_parallel parallel, void *where) {
    job j = {l, buffers, l->n, 0};
    double parts = l->cost * (double)l->n / PART_WORK;
    if (l->n == 0) return 0;
    if (!parallel || parts < 2) {
        run_part(&j, 0);
    } else {
        int64_t blocks = (l->n + l->block - 1) / l->block, count = parts < MOST_PARTS ? (int64_t)parts : MOST_PARTS;
        if (count > blocks) count = blocks;
        j.part = (blocks + count - 1) / count * l->block;
        parallel(where, run_part, (size_t)((l->n + j.part - 1) / j.part), &j);
    }
    return j.failed ? -1 : 0;
}

int onax_program_run(const onax_program *p, const void *const *inputs, void *const *outputs, onax_parallel parallel,
                     void *where) {
    const int count = p->n_in + p->n_out + p->n_temp;
    char *few[128], **buffers = few, *temporaries = NULL, *next;
    int failed = 0;
    if (count > 128) buffers = malloc((size_t)count * sizeof(char *));
    if (p->temp_bytes) temporaries = malloc((size_t)p->temp_bytes);
    if (!buffers || (p->temp_bytes && !temporaries)) failed = -1;
    if (!failed) {
        for (int i = 0; i < p->n_in; i++) buffers[i] = (char *)inputs[i];
        for (int i = 0; i < p->n_out; i++) buffers[p->n_in + i] = outputs[i];
        next = temporaries;
        for (int i = p->n_in + p->n_out; i < count; i++) {
            buffers[i] = next;
            next += rounded(p->buffers[2 * i + 1] * onax_type_sizes[p->buffers[2 * i]]);
        }
        for (int i = 0; i < p->n_loops && !failed; i++) failed = run_loop(&p->loops[i], buffers, parallel, where);
    }
    if (buffers != few) free(buffers);
    free(temporaries);
    return failed;
}

/* ---- loops of programs */

static int64_t buffer_bytes(const onax_program *p, int i) {
    return p->buffers[2 * i + 1] * onax_type_sizes[p->buffers[2 * i]];
}

static int same_buffers(const onax_program *p, int i, const onax_program *q, int j) {
    return p->buffers[2 * i] == q->buffers[2 * j] && p->buffers[2 * i + 1] == q->buffers[2 * j + 1];
}

const char *onax_loop_fault(const onax_loop *l) {
    const onax_program *b = l->body, *c = l->condition;
    const int64_t fixed = l->n_constants + l->n_carries;
    for (int k = 0; k < 2; k++) {
        const onax_program *p = k ? c : b;
        for (int i = 0; p && i < p->n_loops; i++)
            if (p->loops[i].n > p->loops[i].block) return "a step is too long for one block";
    }
    if (l->n_constants < 0 || l->n_carries < 0 || fixed < 0 || fixed > b->n_in || l->n_carries > b->n_out)
        return "a loop has other carries than its step";
    if (c ? fixed != b->n_in || l->n_carries != b->n_out : l->trips < 0 || l->trips > INT32_MAX * (int64_t)1024)
        return "a loop has no such steps";
    for (int i = 0; i < l->n_carries; i++)
        if (!same_buffers(b, (int)l->n_constants + i, b, b->n_in + i)) return "a step changes the type of a carry";
    for (int i = 0; !c && i < b->n_in + b->n_out; i++)
        if (b->buffers[2 * i + 1] && l->trips > INT64_MAX / 64 / b->buffers[2 * i + 1]) return "a loop is too long";
    if (!c) return NULL;
    if (c->n_in != fixed || c->n_out != 1 || c->buffers[2 * fixed] != ONAX_BOOL || c->buffers[2 * fixed + 1] != 1)
        return "a condition is not one bool of what the step reads";
    for (int i = 0; i < fixed; i++)
        if (!same_buffers(c, i, b, i)) return "a condition is not one bool of what the step reads";
    return NULL;
}

int64_t onax_loop_elements(const onax_loop *l, int i) {
    const int n_in = l->body->n_in, is_slice = i < n_in ? i >= l->n_constants + l->n_carries : i - n_in >= l->n_carries;
    return onax_program_elements(l->body, i) * (is_slice ? l->trips : 1);
}

double onax_loop_work(const onax_loop *l) {
    return l->condition ? 1e9 : (l->body->work + 50.0) * (double)l->trips;
}

/* A program that runs many times, each of its loops in one block: registers stay in place, constants are filled once. */
typedef struct {
    const onax_program *program;
    char **buffers, *room;
    int64_t fixed;             /* inputs before this one are the same each time */
    int started;
} repeated;

static int64_t repeated_bytes(const onax_program *p) {
    int64_t bytes = rounded((p->n_in + p->n_out + p->n_temp) * (int64_t)sizeof(char *)) + p->temp_bytes;
    for (int i = 0; i < p->n_loops; i++)
        bytes += rounded(p->loops[i].n_registers * (int64_t)sizeof(char *)) + p->loops[i].scratch;
    return bytes;
}

static char *prepare(repeated *r, const onax_program *p, int64_t fixed, char *room) {
    char *next = room + rounded((p->n_in + p->n_out + p->n_temp) * (int64_t)sizeof(char *));
    r->program = p;
    r->buffers = (char **)room;
    r->fixed = fixed;
    r->started = 0;
    for (int i = p->n_in + p->n_out; i < p->n_in + p->n_out + p->n_temp; i++) {
        r->buffers[i] = next;
        next += rounded(buffer_bytes(p, i));
    }
    r->room = next;
    return room + repeated_bytes(p);
}

static void place(const loop *l, const reg *g, char *const *buffers, char **at) {
    if (g->uniform) uniform(g, buffers, *at, l->n);
    else load(l, g, buffers[g->argument], *at, 0, l->n);
}

static void repeat(repeated *r) {
    char *next = r->room;
    for (int k = 0; k < r->program->n_loops; k++) {
        const loop *l = &r->program->loops[k];
        char **at = (char **)next, *scratch = next + rounded(l->n_registers * (int64_t)sizeof(char *));
        next = scratch + l->scratch;
        for (int i = 0; i < l->n_registers && l->n; i++) {
            const reg *g = &l->registers[i];
            if (g->kind == ONAX_DIRECT) { at[i] = r->buffers[g->argument]; continue; }
            if (!r->started) at[i] = scratch + g->offset;
            if (g->kind == ONAX_LOAD ? !r->started || g->argument >= r->fixed : !r->started && g->kind != ONAX_BLOCK)
                place(l, g, r->buffers, &at[i]);
        }
        for (int i = 0; i < l->n_steps && l->n; i++) {
            const step *s = &l->steps[i];
            s->kernel(at[s->target], at[s->first], at[s->second], at[s->third], l->n);
        }
    }
    r->started = 1;
}

/* `room` has the carries of two steps. */
static void run_steps(const onax_loop *l, const void *const *inputs, void *const *outputs, repeated *body,
                      repeated *condition, char *room, int64_t carry_bytes) {
    const onax_program *b = l->body;
    const int first = (int)l->n_constants, carries = (int)l->n_carries, fixed = first + carries;
    char **in = body->buffers, **out = body->buffers + b->n_in;
    for (int i = 0; i < fixed; i++) in[i] = (char *)inputs[i];
    for (int64_t t = 0; l->condition || t < l->trips; t++) {
        const int64_t slice = l->reverse ? l->trips - 1 - t : t;
        char *next = room + (t & 1) * carry_bytes;
        if (l->condition) {
            uint8_t holds = 0;
            memcpy(condition->buffers, in, (size_t)fixed * sizeof(char *));
            condition->buffers[fixed] = (char *)&holds;
            repeat(condition);
            if (!holds) break;
        }
        for (int i = fixed; i < b->n_in; i++) in[i] = (char *)inputs[i] + slice * buffer_bytes(b, i);
        for (int i = 0; i < b->n_out; i++) {
            const int64_t bytes = buffer_bytes(b, b->n_in + i);
            out[i] = i < carries ? next : (char *)outputs[i] + slice * bytes;
            if (i < carries) next += rounded(bytes);
        }
        repeat(body);
        for (int i = 0; i < carries; i++) in[first + i] = out[i];
    }
    for (int i = 0; i < carries; i++) memcpy(outputs[i], in[first + i], (size_t)buffer_bytes(b, first + i));
}

int onax_loop_run(const onax_loop *l, const void *const *inputs, void *const *outputs) {
    const onax_program *b = l->body;
    repeated body, condition;
    int64_t carry_bytes = 0, bytes;
    char *memory, *room;
    for (int i = 0; i < l->n_carries; i++) carry_bytes += rounded(buffer_bytes(b, b->n_in + i));
    bytes = 2 * carry_bytes + repeated_bytes(b) + (l->condition ? repeated_bytes(l->condition) : 0);
    memory = malloc((size_t)bytes + 64);
    if (!memory) return -1;
    room = memory + (64 - (uintptr_t)memory % 64);
    room = prepare(&body, b, l->n_constants, room);
    if (l->condition) room = prepare(&condition, l->condition, l->n_constants, room);
    run_steps(l, inputs, outputs, &body, &condition, room, carry_bytes);
    free(memory);
    return 0;
}

#include "blocks_operator.h"
