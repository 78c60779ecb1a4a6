/* Reading and running tapes; tape_machine.h says what they are. */
#include "tape_machine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_WORDS (INT64_C(1) << 40)
#define MOST_BYTES (INT64_C(1) << 56)  /* what no machine has is refused when a run asks for it */
#define MOST_PARTS 1000000
#define ALIGNMENT 64
#define PATIENCE 2000000       /* nanoseconds between two looks for signals */
#define TICKS 512              /* polls between two looks at the clock */

static const onax_tape_operation *const families[] = {
    onax_tape_control, onax_tape_dot, onax_tape_conv, onax_tape_copies, onax_tape_gather, onax_tape_linalg,
    onax_tape_fft, onax_tape_reductions, onax_tape_cumulative, onax_tape_sorting, onax_tape_random,
    onax_tape_windows, onax_tape_special, onax_tape_search, onax_tape_attention,
    onax_tape_reduce_blocks, onax_tape_copy_blocks,
};
#define N_FAMILIES ((int)(sizeof families / sizeof *families))

typedef struct {
    uint8_t kind;
    int64_t argument, bytes;
    int output;                /* of a PART: of which it is one */
    int body, condition;       /* of a VIEW: the parts of its loop, in which it may be used; -1 before that was read */
    int writable;              /* of a VIEW */
} buffer;

typedef struct {
    int64_t first, past;       /* instructions */
    int parent;                /* the part that holds it */
    double work;
    const onax_micro_op *ops, *end;
} part;

struct onax_tape {
    int64_t *words;
    size_t n_words;
    int n_in, n_out, n_buffers, n_parts, n_kernels;
    int64_t arena, constant_bytes, scratch, persistent, frame_bytes, n_instructions;
    buffer *buffers;
    int *output_parts, n_output_parts;   /* the buffers that are parts of outputs */
    part *parts;
    onax_instruction *instructions;
    onax_micro_op *micro_ops;  /* of all parts */
    char *constants;
    double work, longest;
    void *timings;             /* of each instruction, if they are timed: tape_timing.h */
    char *spare;               /* the memory of a finished run, for the next one; taken with an atomic exchange */
};

/* Where the memory of runs comes from. */
static void *(*allocate)(size_t) = malloc;
static void (*release)(void *) = free;

void onax_tape_use_memory(void *(*take)(size_t), void (*give)(void *)) {
    allocate = take;
    release = give;
}

int64_t onax_size_of(int64_t type) {
    return type < 0 || type >= ONAX_TYPES ? 0 : onax_type_sizes[type];
}

/* ---- operations by number */

static const onax_tape_operation *operation_of(int64_t number) {
    for (int i = 0; i < N_FAMILIES; i++)
        for (const onax_tape_operation *o = families[i]; o->name; o++)
            if (number-- == 0) return o;
    return NULL;
}

int onax_tape_operation_count(void) {
    int n = 0;
    while (operation_of(n)) n++;
    return n;
}

const char *onax_tape_operation_name(int number) {
    const onax_tape_operation *o = operation_of(number);
    return o ? o->name : NULL;
}

/* ---- reading */

typedef struct { const int64_t *at, *end; } reader;

static int take(reader *r, int64_t count, const int64_t **out) {
    if (count < 0 || r->end - r->at < count) return 0;
    *out = r->at;
    r->at += count;
    return 1;
}

static int64_t rounded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Bytes of the table of addresses of buffers, after which comes what instructions keep. */
static int64_t table_bytes(const onax_tape *t) { return rounded((int64_t)t->n_buffers * (int64_t)sizeof(char *)); }

static const char *read_buffer(onax_tape *t, const int64_t *w, buffer *b) {
    if (w[0] < 0 || w[0] >= ONAX_PART + (int64_t)t->n_out) return "a buffer has no such kind";
    if (w[2] < 0 || w[2] > MOST_BYTES) return "a buffer has no such size";
    b->kind = (uint8_t)(w[0] < ONAX_PART ? w[0] : ONAX_PART);
    b->output = (int)(w[0] - ONAX_PART);
    b->argument = w[1];
    b->bytes = w[2];
    b->body = b->condition = -1;
    switch (b->kind) {
        case ONAX_INPUT: if (w[1] < 0 || w[1] >= t->n_in) return "there is no such input"; break;
        case ONAX_OUTPUT: if (w[1] < 0 || w[1] >= t->n_out) return "there is no such output"; break;
        case ONAX_ARENA:
            if (w[1] < 0 || w[1] > t->arena || w[2] > t->arena - w[1]) return "a buffer leaves the arena";
            break;
        case ONAX_FIXED:
            if (w[1] < 0 || w[1] % 8 || w[1] > t->constant_bytes || w[2] > t->constant_bytes - w[1])
                return "a buffer leaves the constants";
            break;
        case ONAX_PART: {   /* the outputs were read before */
            const int64_t most = t->buffers[t->n_in + b->output].bytes;
            if (w[1] < 0 || w[1] > most || w[2] > most - w[1]) return "a buffer leaves its output";
            t->n_output_parts++;
            break;
        }
        default: break;
    }
    return NULL;
}

static const char *list_output_parts(onax_tape *t) {
    int n = 0;
    t->output_parts = malloc(((size_t)t->n_output_parts + 1) * sizeof(int));
    if (!t->output_parts) return "no memory";
    for (int i = 0; i < t->n_buffers; i++)
        if (t->buffers[i].kind == ONAX_PART) t->output_parts[n++] = i;
    return NULL;
}

/* Inputs and outputs are the first buffers, in their order. */
static const char *read_buffers(onax_tape *t, reader *r) {
    const int64_t *w;
    const char *fault;
    if (t->n_buffers < t->n_in + t->n_out || !take(r, 3 * (int64_t)t->n_buffers, &w)) return "the tape ends within its buffers";
    t->buffers = calloc((size_t)t->n_buffers + 1, sizeof(buffer));
    if (!t->buffers) return "no memory";
    for (int i = 0; i < t->n_buffers; i++) {
        const int64_t *b = w + 3 * (int64_t)i;
        if ((fault = read_buffer(t, b, &t->buffers[i]))) return fault;
        if (i < t->n_in ? b[0] != ONAX_INPUT || b[1] != i
            : i < t->n_in + t->n_out ? b[0] != ONAX_OUTPUT || b[1] != i - t->n_in : b[0] <= ONAX_OUTPUT)
            return "inputs and outputs are not the first buffers";
    }
    return list_output_parts(t);
}

/* Whether a view may be used in a part: its loop holds that part, directly or not. */
static int is_inside(const onax_tape *t, const buffer *view, int number) {
    for (; number > 0; number = t->parts[number].parent)
        if (number == view->body || number == view->condition) return 1;
    return 0;
}

static int run_loop_of_tape(const onax_instruction *q, onax_frame *f);

static const char *check_operands(const onax_tape *t, const onax_instruction *q, int at) {
    int64_t writes = q->operation->writes;
    const int is_loop = q->operation->run == run_loop_of_tape;   /* which says what its views are; verify_loop checks it */
    if (writes < 0) {
        if (q->n_attributes < 1) return "an instruction has too few attributes";
        writes = q->attributes[0];
    }
    if (writes < 0 || writes > q->n_operands) return "an instruction has too few operands";
    for (int i = 0; i < q->n_operands; i++) {
        const buffer *b = &t->buffers[q->operands[i]];
        const int is_view = b->kind == ONAX_VIEW;
        if (is_view && b->body < 0 && is_loop && i >= writes) continue;
        if (is_view && !is_inside(t, b, at)) return "an instruction uses a view outside of its loop";
        if (i < writes && (is_view ? !b->writable : b->kind == ONAX_INPUT || b->kind == ONAX_FIXED))
            return "an instruction writes what is only read";
    }
    return NULL;
}

/* What is being read, for operations that hold parts. */
typedef struct { onax_tape *tape; int at; } position;
static _Thread_local position reading;

static const char *claim_part(int64_t number) {
    onax_tape *t = reading.tape;
    if (number <= reading.at || number >= t->n_parts) return "there is no such part";
    if (t->parts[number].parent >= 0) return "a part belongs to two instructions";
    t->parts[number].parent = reading.at;
    return NULL;
}

static const char *claim_view(int32_t number, int64_t body, int64_t condition, int writable) {
    buffer *b = &reading.tape->buffers[number];
    if (b->kind != ONAX_VIEW) return "a loop's view is another buffer";
    if (b->body >= 0) return "a view belongs to two loops";
    b->body = (int)body;
    b->condition = (int)condition;
    b->writable = writable;
    return NULL;
}

static const char *read_instruction(onax_tape *t, int at, reader *r, onax_instruction *q, int64_t *bytes) {
    const int64_t *w, *operands;
    const char *fault;
    int32_t *numbers;
    if (!take(r, 3, &w)) return "the tape ends within an instruction";
    if (!(q->operation = operation_of(w[0]))) return "there is no such operation";
    if (w[1] < 0 || w[1] > MOST_PARTS || w[2] < 0 || w[2] > MOST_WORDS) return "an instruction is too long";
    if (!take(r, w[1], &operands) || !take(r, w[2], &q->attributes)) return "the tape ends within an instruction";
    q->n_operands = (int32_t)w[1];
    if (w[2] > INT32_MAX) return "an instruction is too long";
    q->n_attributes = (int32_t)w[2];
    q->operands = numbers = malloc(((size_t)w[1] + 1) * sizeof(int32_t));
    if (!numbers) return "no memory";
    for (int i = 0; i < q->n_operands; i++) {
        if (operands[i] < 0 || operands[i] >= t->n_buffers) return "an instruction names no buffer";
        numbers[i] = (int32_t)operands[i];
        bytes[i] = t->buffers[operands[i]].bytes;
    }
    if ((fault = check_operands(t, q, at))) return fault;
    q->run = q->operation->run;
    if ((fault = q->operation->verify(q, bytes))) return fault;
    if (!q->run || q->scratch < 0 || q->scratch > MOST_BYTES || q->persistent < 0 || q->persistent > MOST_WORDS) return "an instruction is too large";
    if (q->scratch > t->scratch) t->scratch = q->scratch;
    t->persistent += rounded(q->persistent);
    return t->persistent > MOST_WORDS ? "a tape is too large" : NULL;
}

static int64_t largest_count(const onax_tape *t, reader r) {
    const int64_t *w;
    int64_t most = 0, total = 0;
    for (int k = 0; k < t->n_parts; k++) {
        if (!take(&r, 1, &w) || w[0] < 0) return -1;
        for (int64_t i = 0, n = w[0]; i < n; i++) {
            const int64_t *q;
            if (!take(&r, 3, &q) || !take(&r, q[1], &w) || !take(&r, q[2], &w)) return -1;
            if (q[1] > most) most = q[1];
            total++;
        }
    }
    if (r.at != r.end) return -1;
    ((onax_tape *)t)->n_instructions = total;
    return most;
}

static const char *read_parts(onax_tape *t, reader *r, int64_t *bytes) {
    const int64_t *w;
    const char *fault;
    int64_t done = 0;
    reading.tape = t;
    for (int k = 0; k < t->n_parts; k++) {
        if (!take(r, 1, &w)) return "the tape ends within a part";
        if (k && t->parts[k].parent < 0) return "a part belongs to no instruction";
        reading.at = k;
        t->parts[k].first = done;
        t->parts[k].past = done + w[0];
        for (; done < t->parts[k].past; done++)
            if ((fault = read_instruction(t, k, r, &t->instructions[done], bytes))) return fault;
    }
    return NULL;
}

static const onax_micro_op *micro_ops_of_blocks(const onax_instruction *q, int64_t *count);

static int run_move(const onax_instruction *q, onax_frame *f);

/* The micro-operation of an instruction that is no program over blocks. */
static onax_micro_op micro_op_of(const onax_tape *t, const onax_instruction *q) {
    const int64_t bytes = q->operation->run == run_move ? t->buffers[q->operands[0]].bytes : 0;
    if (q->operation->run != run_move) return (onax_micro_op){.code = ONAX_MICRO_INSTRUCTION, .what = q};
    return (onax_micro_op){.code = onax_move_code(bytes), .target = q->operands[0], .first = q->operands[1], .n = bytes};
}

/* What a part runs: the micro-operations of its programs over blocks, and one for each other instruction. */
static const char *add_micro_ops(onax_tape *t) {
    int64_t total = 1, count;
    onax_micro_op *next;
    for (int64_t i = 0; i < t->n_instructions; i++) {
        if (!micro_ops_of_blocks(&t->instructions[i], &count)) count = 1;
        total += count;
    }
    if (!(t->micro_ops = next = malloc((size_t)total * sizeof *next))) return "no memory";
    for (int k = 0; k < t->n_parts; k++) {
        t->parts[k].ops = next;
        for (int64_t i = t->parts[k].first; i < t->parts[k].past; i++) {
            const onax_instruction *q = &t->instructions[i];
            const onax_micro_op *ops = micro_ops_of_blocks(q, &count);
            if (ops) memcpy(next, ops, (size_t)count * sizeof *ops);
            else *next = micro_op_of(t, q);
            next += ops ? count : 1;
        }
        t->parts[k].end = next;
    }
    return NULL;
}

static double work_of_loop(const onax_tape *t, const onax_instruction *q);
static double work_of_branch(const onax_tape *t, const onax_instruction *q);
static int run_branch(const onax_instruction *q, onax_frame *f);

/* Parts stand after those that hold them. */
static void add_work(onax_tape *t) {
    for (int k = t->n_parts - 1; k >= 0; k--)
        for (int64_t i = t->parts[k].first; i < t->parts[k].past; i++) {
            onax_instruction *q = &t->instructions[i];
            if (q->operation->run == run_loop_of_tape) q->work = work_of_loop(t, q);
            else if (q->operation->run == run_branch) q->work = work_of_branch(t, q);
            else if (q->work > t->longest) t->longest = q->work;
            t->parts[k].work += q->work;
        }
    t->work = t->parts[0].work;
}

static const char *find_strips(onax_tape *t);

static const char *read_tape(onax_tape *t, reader *r) {
    const int64_t *w, *constants;
    const char *fault;
    int64_t *bytes, most;
    if (!take(r, 7, &w) || w[0] != ONAX_TAPE_MAGIC) return "these words are no tape";
    for (int i = 1; i < 5; i++)
        if (w[i] < 0 || w[i] > INT32_MAX / 64) return "the tape has too many parts";
    if (w[5] < 0 || w[5] > MOST_BYTES || w[6] < 0 || w[6] > MOST_WORDS) return "the tape is too large";
    t->n_in = (int)w[1];
    t->n_out = (int)w[2];
    t->n_buffers = (int)w[3];
    t->n_parts = (int)w[4];
    t->arena = w[5];
    t->constant_bytes = w[6];
    if (t->n_parts < 1 || t->n_parts > MOST_PARTS) return "the tape has too many parts";
    if (!take(r, (t->constant_bytes + 7) / 8, &constants)) return "the tape ends within its constants";
    t->constants = (char *)constants;
    if ((fault = read_buffers(t, r))) return fault;
    if ((most = largest_count(t, *r)) < 0) return "the tape ends within its parts";
    t->parts = calloc((size_t)t->n_parts, sizeof(part));
    t->instructions = calloc((size_t)t->n_instructions + 1, sizeof(onax_instruction));
    bytes = malloc(((size_t)most + 1) * sizeof(int64_t));
    if (!t->parts || !t->instructions || !bytes) { free(bytes); return "no memory"; }
    for (int k = 0; k < t->n_parts; k++) t->parts[k].parent = -1;
    fault = read_parts(t, r, bytes);
    free(bytes);
    if (fault || (fault = add_micro_ops(t)) || (fault = find_strips(t))) return fault;
    add_work(t);
    t->frame_bytes = table_bytes(t) + t->persistent + rounded(t->arena) + rounded(t->scratch) + 2 * ALIGNMENT;
    return NULL;
}

const char *onax_tape_read(const int64_t *words, size_t count, onax_tape **tape) {
    onax_tape *t = calloc(1, sizeof *t);
    const char *fault;
    reader r;
    *tape = NULL;
    if (!t) return "no memory";
    if (!(t->words = malloc((count + 1) * sizeof(int64_t)))) { free(t); return "no memory"; }
    memcpy(t->words, words, count * sizeof(int64_t));
    t->n_words = count;
    r.at = t->words;
    r.end = t->words + count;
    fault = read_tape(t, &r);
    if (fault) onax_tape_free(t);
    else *tape = t;
    return fault;
}

void onax_tape_free(onax_tape *t) {
    if (!t) return;
    for (int64_t i = 0; t->instructions && i < t->n_instructions; i++) {
        onax_instruction *q = &t->instructions[i];
        if (q->operation && q->operation->release && q->state) q->operation->release(q);
        free((void *)q->operands);
    }
    free(t->instructions);
    free(t->micro_ops);
    free(t->parts);
    free(t->buffers);
    free(t->output_parts);
    free(t->words);
    free(t->timings);
    release(t->spare);
    free(t);
}

const int64_t *onax_tape_words(const onax_tape *t, size_t *count) { *count = t->n_words; return t->words; }
int onax_tape_inputs(const onax_tape *t) { return t->n_in; }
int onax_tape_outputs(const onax_tape *t) { return t->n_out; }
int64_t onax_tape_bytes(const onax_tape *t, int port) { return t->buffers[port].bytes; }
int64_t onax_tape_memory(const onax_tape *t) { return t->frame_bytes; }
double onax_tape_work(const onax_tape *t) { return t->work; }
double onax_tape_longest(const onax_tape *t) { return t->longest; }
int onax_tape_kernels(const onax_tape *t) { return t->n_kernels; }

/* ---- running */

static char *aligned(char *p) { return p + (ALIGNMENT - (uintptr_t)p % ALIGNMENT) % ALIGNMENT; }

static int64_t now(void) {
    struct timespec t;
#if defined(CLOCK_MONOTONIC)
    clock_gettime(CLOCK_MONOTONIC, &t);
#else
    timespec_get(&t, TIME_UTC);
#endif
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int onax_look_for_signals(onax_frame *f) {
    const int64_t time = now();
    f->ticks = TICKS;
    if (!f->deadline) f->deadline = time + PATIENCE;
    if (time < f->deadline) return ONAX_DONE;
    f->deadline = time + PATIENCE;
    return f->caller && f->caller->check_signals ? f->caller->check_signals(f->caller->caller) : ONAX_DONE;
}

int64_t onax_operand_bytes(const onax_instruction *q, const onax_frame *f, int i) {
    return f->tape->buffers[q->operands[i]].bytes;
}

static int run_part(const onax_tape *t, int64_t number, onax_frame *f) {
    return onax_run_micro_ops(t->parts[number].ops, t->parts[number].end, f);
}

static void prepare_blocks(const onax_tape *t, char *persistent, char *scratch);

/* The memory of a run: addresses of buffers, what instructions keep, arena, scratch.  Buffers that do not move are there
   already when it is used again. */
static char *new_frame(onax_tape *t) {
    char *memory = allocate((size_t)t->frame_bytes), *table, *arena;
    if (!memory) return NULL;
    table = aligned(memory);
    arena = table + table_bytes(t) + t->persistent;
    for (int i = 0; i < t->n_buffers; i++) {
        const buffer *b = &t->buffers[i];
        ((char **)table)[i] = b->kind == ONAX_ARENA ? arena + b->argument : b->kind == ONAX_FIXED ? t->constants + b->argument : arena;
    }
    prepare_blocks(t, table + table_bytes(t), arena + rounded(t->arena));
    return memory;
}

#define KEPT_BYTES (1 << 24)   /* memory of a run that is kept for the next one */

#if defined(_MSC_VER)
#include <intrin.h>
static char *exchange(char **where, char *value) { return _InterlockedExchangePointer((void *volatile *)where, value); }
#else
static char *exchange(char **where, char *value) { return __atomic_exchange_n(where, value, __ATOMIC_ACQ_REL); }
#endif

int onax_tape_run(onax_tape *t, void *const *inputs, void *const *outputs, const onax_caller *caller,
                  onax_parallel parallel, void *where) {
    char *memory = exchange(&t->spare, NULL), *table;
    onax_frame f = {0};
    int status;
    if (!memory && !(memory = new_frame(t))) return ONAX_NO_MEMORY;
    table = aligned(memory);
    f.buffers = (char **)table;
    f.scratch = table + table_bytes(t) + t->persistent + rounded(t->arena);
    f.tape = t;
    f.caller = caller;
    f.parallel = parallel;
    f.where = where;
    f.ticks = TICKS;
    for (int i = 0; i < t->n_in; i++) f.buffers[i] = inputs[i];
    for (int i = 0; i < t->n_out; i++) f.buffers[t->n_in + i] = outputs[i];
    for (int i = 0; i < t->n_output_parts; i++) {
        const buffer *b = &t->buffers[t->output_parts[i]];
        f.buffers[t->output_parts[i]] = (char *)outputs[b->output] + b->argument;
    }
    status = run_part(t, 0, &f);
    if (t->frame_bytes <= KEPT_BYTES) memory = exchange(&t->spare, memory);
    release(memory);
    return status;
}

#include "tape_timing.h"
#include "tape_control.h"
