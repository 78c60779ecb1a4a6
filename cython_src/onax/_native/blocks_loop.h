/* Loops of which each step is a program over blocks (blocks_kernels.c includes this). */

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
            if (!is_scratch(g)) { at[i] = r->buffers[g->argument]; continue; }
            if (!r->started) at[i] = scratch + g->offset;
            if (g->kind == ONAX_LOAD ? !r->started || g->argument >= r->fixed : !r->started && g->kind != ONAX_BLOCK)
                place(l, g, r->buffers, &at[i]);
        }
        for (int i = 0; i < l->n_steps && l->n; i++) {
            const step *s = &l->steps[i];
            double total;
            if (s->fold < 0) s->kernel(at[s->target], at[s->first], at[s->second], at[s->third], l->n);
            else fold_rows(&l->registers[s->target], s, at[s->first], r->buffers, &total, 0, l->n);
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
