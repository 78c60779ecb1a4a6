/* Control flow in tapes: loops, branches, calls of Python, and programs over blocks (tape_machine.c includes this). */

/* ---- branch: one of several parts

   attributes: operands that are written, type of the index, the parts; operands: those written by the parts, the index.
   An index that is too small or too large selects the first or the last part. */

static const char *verify_branch(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    const char *fault;
    if (q->n_attributes < 3 || q->n_operands < 1 || a[0] != q->n_operands - 1) return "a branch lacks its parts";
    if (a[1] != ONAX_BOOL && a[1] != ONAX_I32 && a[1] != ONAX_I64 && a[1] != ONAX_U32) return "a branch has no such index";
    if (bytes[q->n_operands - 1] != onax_size_of(a[1])) return "a branch has no such index";
    for (int i = 2; i < q->n_attributes; i++)
        if ((fault = claim_part(a[i]))) return fault;
    return NULL;
}

static double work_of_branch(const onax_tape *t, const onax_instruction *q) {
    double most = 0;
    for (int i = 2; i < q->n_attributes; i++)
        if (t->parts[q->attributes[i]].work > most) most = t->parts[q->attributes[i]].work;
    return 10 + most;
}

static int run_branch(const onax_instruction *q, onax_frame *f) {
    const char *p = ONAX_BUFFER(q, f, q->n_operands - 1);
    const int64_t count = q->n_attributes - 2;
    int64_t i;
    switch (q->attributes[1]) {
        case ONAX_BOOL: i = *(const uint8_t *)p != 0; break;
        case ONAX_I64: i = *(const int64_t *)p; break;
        case ONAX_U32: i = *(const uint32_t *)p; break;
        default: i = *(const int32_t *)p;
    }
    i = i < 0 ? 0 : i >= count ? count - 1 : i;
    return run_part(f->tape, q->attributes[2 + i], f);
}

/* ---- loop

   attributes: operands that are written, body, condition (-1: none), trips, whether from the last slice to the first,
               carries, slices, results, and for each carry whether it lies in one place
   operands:   for each carry: final, spare                   (written)
               for each result: all of it                     (written)
               for each carry: initial, view read, view written
               for each slice: all of it, view
               for each result: view
               the bool of the condition, if there is one

   A carry alternates between `final` and `spare`; the first step reads `initial` where it is.  One that lies in one place
   is copied there, and each step reads and writes it there. */

enum { LOOP_WRITES, LOOP_BODY, LOOP_CONDITION, LOOP_TRIPS, LOOP_REVERSE, LOOP_CARRIES, LOOP_SLICES, LOOP_RESULTS, LOOP_FLAGS };

enum { CARRY_ALTERNATES, CARRY_STAYS, CARRY_IS_COPIED };

/* The views of a loop are those that it names last; what else it names is there before it. */
static const char *check_loop_operands(const onax_instruction *q, int64_t nc, int64_t nx, int64_t ny) {
    for (int i = 0; i < q->n_operands; i++) {
        const buffer *b = &reading.tape->buffers[q->operands[i]];
        const int64_t c = i - 2 * nc - ny, x = c - 3 * nc, y = x - 2 * nx;
        const int is_view = c >= 0 && (c < 3 * nc ? c % 3 != 0 : x < 2 * nx ? x % 2 != 0 : y < ny);
        if (!is_view && b->kind == ONAX_VIEW && b->body < 0) return "a loop uses a view of no loop";
    }
    return NULL;
}

static const char *claim_views(const onax_instruction *q, const int64_t *bytes, int64_t nc, int64_t nx, int64_t ny) {
    const int64_t *a = q->attributes, body = a[LOOP_BODY], condition = a[LOOP_CONDITION], trips = a[LOOP_TRIPS];
    const char *fault;
    for (int64_t i = 0; i < nc; i++) {
        const int64_t at = 2 * nc + ny + 3 * i, size = bytes[2 * i], mode = a[LOOP_FLAGS + i];
        if (mode < 0 || mode > CARRY_IS_COPIED) return "a carry has no such place";
        if (mode != CARRY_STAYS && bytes[2 * i + 1] != size) return "a carry changes its size";
        if (bytes[at] != size || bytes[at + 1] != size || bytes[at + 2] != size) return "a carry changes its size";
        if ((fault = claim_view(q->operands[at + 1], body, condition, mode != CARRY_ALTERNATES))) return fault;
        if ((fault = claim_view(q->operands[at + 2], body, condition, 1))) return fault;
    }
    for (int64_t i = 0; i < nx; i++) {
        const int64_t at = 5 * nc + ny + 2 * i;
        if (bytes[at + 1] && trips > bytes[at] / bytes[at + 1]) return "a loop leaves what it slices";
        if ((fault = claim_view(q->operands[at + 1], body, condition, 0))) return fault;
    }
    for (int64_t i = 0; i < ny; i++) {
        const int64_t at = 5 * nc + ny + 2 * nx + i;
        if (bytes[at] && trips > bytes[2 * nc + i] / bytes[at]) return "a loop leaves what it stacks";
        if ((fault = claim_view(q->operands[at], body, condition, 1))) return fault;
    }
    return NULL;
}

/* What the steps of a loop move: a carry with its buffers, and a slice or a stacked result, of which the first step has
   the bytes from `start` on. */
typedef struct { int64_t final, spare, initial, read, written, mode, bytes; } carry;
typedef struct { int64_t whole, view, start, step; } slice;
typedef struct { int64_t n_carries, n_slices; carry *carries; struct strips *strips; slice slices[]; } steps;   /* strips: or NULL */

static slice slice_of(int32_t whole, int32_t view, int64_t bytes, const int64_t *a) {
    const int is_reversed = a[LOOP_REVERSE] && a[LOOP_TRIPS];
    return (slice){whole, view, is_reversed ? (a[LOOP_TRIPS] - 1) * bytes : 0, a[LOOP_REVERSE] ? -bytes : bytes};
}

static const char *plan_steps(onax_instruction *q, const int64_t *bytes, int64_t nc, int64_t nx, int64_t ny) {
    const int32_t *written = q->operands, *carries = written + 2 * nc + ny, *slices = carries + 3 * nc, *views = slices + 2 * nx;
    steps *s = calloc(1, sizeof *s + (size_t)(nx + ny) * sizeof(slice) + (size_t)nc * sizeof(carry));
    if (!(q->state = s)) return "no memory";
    s->n_carries = nc;
    s->n_slices = nx + ny;
    s->carries = (carry *)(s->slices + nx + ny);
    for (int64_t i = 0; i < nc; i++) {
        const int32_t *c = carries + 3 * i;
        s->carries[i] = (carry){written[2 * i], written[2 * i + 1], c[0], c[1], c[2], q->attributes[LOOP_FLAGS + i], bytes[2 * i]};
    }
    for (int64_t i = 0; i < nx; i++)
        s->slices[i] = slice_of(slices[2 * i], slices[2 * i + 1], bytes[slices + 2 * i + 1 - written], q->attributes);
    for (int64_t i = 0; i < ny; i++)
        s->slices[nx + i] = slice_of(written[2 * nc + i], views[i], bytes[views + i - written], q->attributes);
    return NULL;
}

static void release_steps(onax_instruction *q) {
    free(((steps *)q->state)->strips);
    free(q->state);
}

static const char *verify_loop(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    const char *fault;
    int64_t nc, nx, ny;
    int is_while;
    if (q->n_attributes < LOOP_FLAGS) return "a loop has too few attributes";
    nc = a[LOOP_CARRIES], nx = a[LOOP_SLICES], ny = a[LOOP_RESULTS], is_while = a[LOOP_CONDITION] >= 0;
    if (nc < 0 || nx < 0 || ny < 0 || nc > q->n_operands || nx > q->n_operands || ny > q->n_operands)
        return "a loop has no such operands";
    if (5 * nc + 2 * nx + 2 * ny + is_while != q->n_operands || a[LOOP_WRITES] != 2 * nc + ny
        || q->n_attributes != LOOP_FLAGS + nc)
        return "a loop has no such operands";
    if (is_while ? nx || ny || a[LOOP_TRIPS] : a[LOOP_TRIPS] < 0) return "a loop has no such number of steps";
    if (is_while && bytes[q->n_operands - 1] != 1) return "a condition is not one bool";
    if ((fault = check_loop_operands(q, nc, nx, ny))) return fault;
    if (is_while && (fault = claim_part(a[LOOP_CONDITION]))) return fault;
    if ((fault = claim_part(a[LOOP_BODY]))) return fault;
    if ((fault = claim_views(q, bytes, nc, nx, ny))) return fault;
    return plan_steps(q, bytes, nc, nx, ny);
}

static double work_of_loop(const onax_tape *t, const onax_instruction *q) {
    const double step = 10 + t->parts[q->attributes[LOOP_BODY]].work;
    return q->attributes[LOOP_CONDITION] >= 0 ? 1e9 : step * (double)q->attributes[LOOP_TRIPS];
}

/* The carries before the first step; `odd`: the first step writes the spare. */
static void begin_carries(const steps *s, char **at, int odd) {
    for (int64_t i = 0; i < s->n_carries; i++) {
        const carry *c = &s->carries[i];
        char *const final = at[c->final], *const spare = at[c->spare], *initial = at[c->initial];
        char *const place = c->mode == CARRY_STAYS || odd ? final : spare;
        if (c->mode != CARRY_ALTERNATES) {
            if (initial != place) memmove(place, initial, (size_t)c->bytes);
            initial = place;
        }
        at[c->read] = initial;
        at[c->written] = c->mode == CARRY_STAYS || !odd ? final : spare;
    }
}

/* What a step wrote is what the next one reads; it writes where the one before wrote. */
static inline void swap_carries(const steps *s, char **at) {
    for (const carry *c = s->carries, *end = c + s->n_carries; c < end; c++) {
        char *const written = at[c->written];
        if (c->mode == CARRY_STAYS) continue;
        at[c->read] = written;
        at[c->written] = written == at[c->final] ? at[c->spare] : at[c->final];
    }
}

/* The carries after the last step: what is to be read lies in `final`. */
static void end_carries(const steps *s, char **at) {
    for (int64_t i = 0; i < s->n_carries; i++) {
        const carry *c = &s->carries[i];
        if (at[c->read] != at[c->final]) memmove(at[c->final], at[c->read], (size_t)c->bytes);
    }
}

static int run_while(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes;
    const int32_t holds = q->operands[q->n_operands - 1];
    int status;
    begin_carries(q->state, f->buffers, 0);
    for (;;) {
        if ((status = run_part(f->tape, a[LOOP_CONDITION], f)) || (status = onax_poll(f))) return status;
        if (!*(const uint8_t *)f->buffers[holds]) break;
        if ((status = run_part(f->tape, a[LOOP_BODY], f))) return status;
        swap_carries(q->state, f->buffers);
    }
    end_carries(q->state, f->buffers);
    return ONAX_DONE;
}

static const char *verify_blocks(onax_instruction *q, const int64_t *bytes);
#include "tape_strips.h"

static int run_loop_of_tape(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes, trips = a[LOOP_TRIPS];
    const steps *s = q->state;
    const slice *const end = s->slices + s->n_slices;
    char **const at = f->buffers;
    int status;
    if (a[LOOP_CONDITION] >= 0) return run_while(q, f);
    if (s->strips && !f->tape->timings) return run_in_strips(q, f);
    begin_carries(s, at, trips % 2 == 0);
    for (const slice *x = s->slices; x < end; x++) at[x->view] = at[x->whole] + x->start;
    for (int64_t t = 0; t < trips; t++) {
        if (t) {
            swap_carries(s, at);
            for (const slice *x = s->slices; x < end; x++) at[x->view] += x->step;
        }
        if ((status = run_part(f->tape, a[LOOP_BODY], f)) || (status = onax_poll(f))) return status;
    }
    if (trips) swap_carries(s, at);
    end_carries(s, at);
    return ONAX_DONE;
}

/* ---- a kernel in Python

   attributes: operands that are written, number of the kernel */

static const char *verify_call(onax_instruction *q, const int64_t *bytes) {
    (void)bytes;
    if (q->n_attributes != 2 || q->attributes[1] < 0 || q->attributes[1] > MOST_PARTS) return "a call has no such kernel";
    if (q->attributes[1] >= reading.tape->n_kernels) reading.tape->n_kernels = (int)q->attributes[1] + 1;
    q->work = 5000;
    return NULL;
}

static int run_call(const onax_instruction *q, onax_frame *f) {
    return f->caller && f->caller->call ? f->caller->call(f->caller->caller, q, f) : ONAX_RAISED;
}

/* ---- a program over blocks

   attributes: operands that are written, the words of the program */

static int run_blocks_of_tape(const onax_instruction *q, onax_frame *f) {
    onax_program_run_in(q->state, f->buffers, q->operands, f->scratch, f->parallel, f->where);
    return ONAX_DONE;
}

static const char *verify_blocks(onax_instruction *q, const int64_t *bytes) {
    onax_program *p = NULL;
    const char *fault;
    int n_in, n_out;
    if (q->n_attributes < 1) return "a program over blocks is missing";
    if ((fault = onax_program_read(q->attributes + 1, (size_t)q->n_attributes - 1, &p))) return fault;
    q->state = p;
    n_in = onax_program_inputs(p);
    n_out = onax_program_outputs(p);
    if (q->n_operands != n_in + n_out || q->attributes[0] != n_out) return "a program over blocks has other operands";
    for (int i = 0; i < n_in + n_out; i++)
        if (onax_program_elements(p, i) * onax_size_of(onax_program_type(p, i)) != bytes[i < n_in ? n_out + i : i - n_in])
            return "a program over blocks has other operands";
    q->scratch = onax_program_scratch(p);
    q->persistent = onax_program_persistent(p);
    q->work = 20 + onax_program_work(p);
    if (!q->persistent) return NULL;
    return onax_program_bind(p, q->operands, (table_bytes(reading.tape) + reading.tape->persistent) / (int64_t)sizeof(char *));
}

/* NULL if an instruction is no program over blocks that has micro-operations. */
static const onax_micro_op *micro_ops_of_blocks(const onax_instruction *q, int64_t *count) {
    return q->persistent ? onax_program_micro_ops(q->state, count) : NULL;
}

static void prepare_blocks(const onax_tape *t, char *persistent, char *scratch) {
    for (int64_t i = 0; i < t->n_instructions; i++) {
        const onax_instruction *q = &t->instructions[i];
        if (!q->persistent) continue;
        onax_program_prepare(q->state, persistent, scratch);
        persistent += rounded(q->persistent);
    }
}

static void release_blocks(onax_instruction *q) { onax_program_free(q->state); }

/* ---- a copy of all bytes */

static const char *verify_move(onax_instruction *q, const int64_t *bytes) {
    if (q->n_operands != 2 || bytes[0] != bytes[1]) return "a move changes the size";
    q->scratch = 0;
    q->state = NULL;
    q->work = 5 + (double)bytes[0] / 16;
    return NULL;
}

static int run_move(const onax_instruction *q, onax_frame *f) {
    memmove(ONAX_BUFFER(q, f, 0), ONAX_BUFFER(q, f, 1), (size_t)f->tape->buffers[q->operands[0]].bytes);
    return ONAX_DONE;
}

const onax_tape_operation onax_tape_control[] = {
    {"move", 1, verify_move, run_move, NULL},
    {"branch", -1, verify_branch, run_branch, NULL},
    {"loop", -1, verify_loop, run_loop_of_tape, release_steps},
    {"call", -1, verify_call, run_call, NULL},
    {"blocks", -1, verify_blocks, run_blocks_of_tape, release_blocks},
    {NULL, 0, NULL, NULL, NULL},
};
