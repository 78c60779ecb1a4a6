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
    return claim_views(q, bytes, nc, nx, ny);
}

static double work_of_loop(const onax_tape *t, const onax_instruction *q) {
    const double step = 10 + t->parts[q->attributes[LOOP_BODY]].work;
    return q->attributes[LOOP_CONDITION] >= 0 ? 1e9 : step * (double)q->attributes[LOOP_TRIPS];
}

typedef struct { int64_t nc, nx, ny; const int32_t *written, *stacked, *carries, *slices, *views; } loop_operands;

static inline loop_operands operands_of(const onax_instruction *q) {
    const int64_t *a = q->attributes;
    loop_operands o = {a[LOOP_CARRIES], a[LOOP_SLICES], a[LOOP_RESULTS], q->operands, NULL, NULL, NULL, NULL};
    o.stacked = o.written + 2 * o.nc;
    o.carries = o.stacked + o.ny;
    o.slices = o.carries + 3 * o.nc;
    o.views = o.slices + 2 * o.nx;
    return o;
}

/* The carries before the first step; `odd`: the first step writes the spare. */
static void begin_carries(const onax_instruction *q, const loop_operands *o, onax_frame *f, int odd) {
    for (int64_t i = 0; i < o->nc; i++) {
        const int32_t *c = o->carries + 3 * i;
        char *final = f->buffers[o->written[2 * i]], *spare = f->buffers[o->written[2 * i + 1]], *initial = f->buffers[c[0]];
        const size_t size = (size_t)f->tape->buffers[c[0]].bytes;
        switch (q->attributes[LOOP_FLAGS + i]) {
            case CARRY_STAYS:
                if (initial != final) memmove(final, initial, size);
                f->buffers[c[1]] = f->buffers[c[2]] = final;
                break;
            case CARRY_IS_COPIED: {
                char *other = odd ? final : spare;
                if (initial != other) memmove(other, initial, size);
                initial = other;
            } /* fall through */
            default:
                f->buffers[c[1]] = initial;
                f->buffers[c[2]] = odd ? spare : final;
        }
    }
}

/* What a step wrote is what the next one reads; it writes where the one before wrote. */
static inline void swap_carries(const onax_instruction *q, const loop_operands *o, onax_frame *f) {
    for (int64_t i = 0; i < o->nc; i++) {
        const int32_t *c = o->carries + 3 * i, *w = o->written + 2 * i;
        char *written = f->buffers[c[2]];
        if (q->attributes[LOOP_FLAGS + i] == CARRY_STAYS) continue;
        f->buffers[c[1]] = written;
        f->buffers[c[2]] = written == f->buffers[w[0]] ? f->buffers[w[1]] : f->buffers[w[0]];
    }
}

/* The carries after the last step: what is to be read lies in `final`. */
static void end_carries(const loop_operands *o, onax_frame *f) {
    for (int64_t i = 0; i < o->nc; i++) {
        const int32_t *c = o->carries + 3 * i;
        char *final = f->buffers[o->written[2 * i]], *last = f->buffers[c[1]];
        if (last != final) memmove(final, last, (size_t)f->tape->buffers[c[0]].bytes);
    }
}

static int run_while(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes;
    const loop_operands o = operands_of(q);
    const int32_t holds = q->operands[q->n_operands - 1];
    int status;
    begin_carries(q, &o, f, 0);
    for (;;) {
        if ((status = run_part(f->tape, a[LOOP_CONDITION], f)) || (status = onax_poll(f))) return status;
        if (!*(const uint8_t *)f->buffers[holds]) break;
        if ((status = run_part(f->tape, a[LOOP_BODY], f))) return status;
        swap_carries(q, &o, f);
    }
    end_carries(&o, f);
    return ONAX_DONE;
}

static int run_loop_of_tape(const onax_instruction *q, onax_frame *f) {
    const int64_t *a = q->attributes, trips = a[LOOP_TRIPS];
    const loop_operands o = operands_of(q);
    int status;
    if (a[LOOP_CONDITION] >= 0) return run_while(q, f);
    begin_carries(q, &o, f, trips % 2 == 0);
    for (int64_t t = 0; t < trips; t++) {
        const int64_t slice = a[LOOP_REVERSE] ? trips - 1 - t : t;
        for (int64_t i = 0; i < o.nx; i++) {
            const int32_t *x = o.slices + 2 * i;
            f->buffers[x[1]] = f->buffers[x[0]] + slice * f->tape->buffers[x[1]].bytes;
        }
        for (int64_t i = 0; i < o.ny; i++)
            f->buffers[o.views[i]] = f->buffers[o.stacked[i]] + slice * f->tape->buffers[o.views[i]].bytes;
        if ((status = run_part(f->tape, a[LOOP_BODY], f)) || (status = onax_poll(f))) return status;
        swap_carries(q, &o, f);
    }
    end_carries(&o, f);
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
    {"loop", -1, verify_loop, run_loop_of_tape, NULL},
    {"call", -1, verify_call, run_call, NULL},
    {"blocks", -1, verify_blocks, run_blocks_of_tape, release_blocks},
    {NULL, 0, NULL, NULL, NULL},
};
