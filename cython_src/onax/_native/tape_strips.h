/* Loops whose body is one elementwise program over many positions (tape_control.h includes this): some positions, a strip,
   go through many steps before the next ones do, so that what one step hands to the next stays in the first cache.  Every
   element is computed as in any other order.  Meanwhile carries are in memory of the strip's: two buffers that begin in the
   same place of different pages took half as long again. */

#define STRIP_BYTES 24576      /* of everything that a step of a strip reads and writes: it fits into the first cache */
#define STRIP_WORK 500000.0    /* nanoseconds of the steps that a strip goes through at a time */
#define ROUND 8                /* strips that threads share at a time */

enum port_kind { PORT_STAYS, PORT_IS_READ, PORT_IS_WRITTEN, PORT_IS_SLICED };

/* Where a port of the program is: in a buffer, in a carry's, or in a slice or stacked result, by number. */
typedef struct { int32_t kind, number; } port;

typedef struct strips {
    const onax_program *program;
    int64_t positions, strip, count, trips, room;   /* trips that strips go through at a time; bytes for each strip of a round */
    int n_ports;
    port ports[];
} strips;

static port port_of_buffer(const steps *s, int32_t buffer) {
    for (int64_t i = 0; i < s->n_carries; i++) {
        if (s->carries[i].read == buffer) return (port){PORT_IS_READ, (int32_t)i};
        if (s->carries[i].written == buffer) return (port){PORT_IS_WRITTEN, (int32_t)i};
    }
    for (int64_t i = 0; i < s->n_slices; i++)
        if (s->slices[i].view == buffer) return (port){PORT_IS_SLICED, (int32_t)i};
    return (port){PORT_STAYS, buffer};
}

/* Whether the program writes each carry at the positions at which the next step reads it. */
static int carries_stay_in_place(const steps *s, const strips *p, int n_in) {
    for (int i = 0; i < p->n_ports; i++) {
        const int is_carry = p->ports[i].kind == PORT_IS_READ || p->ports[i].kind == PORT_IS_WRITTEN;
        if (is_carry && !onax_program_is_at_positions(p->program, i)) return 0;
    }
    for (int64_t c = 0; c < s->n_carries; c++) {
        int found = 0;
        for (int i = n_in; i < p->n_ports; i++) found |= p->ports[i].kind == PORT_IS_WRITTEN && p->ports[i].number == c;
        if (!found) return 0;
    }
    return 1;
}

/* The bytes of a strip of a carry, and what is between its two places. */
static int64_t bytes_of_strip(const strips *p, const carry *c) { return rounded(c->bytes / p->positions * p->strip) + 5 * ALIGNMENT; }

static int64_t table_of_strip(const steps *s, const strips *p) {
    return rounded((2 * s->n_carries + p->n_ports) * (int64_t)sizeof(char *));
}

static int64_t room_of_strip(const steps *s, const strips *p) {
    int64_t bytes = table_of_strip(s, p) + rounded(onax_program_positions_scratch(p->program));
    for (int64_t i = 0; i < s->n_carries; i++) bytes += 2 * bytes_of_strip(p, &s->carries[i]);
    return bytes;
}

/* The strips of a loop, if it can have some; 0: there is no memory. */
static int plan_strips(const onax_tape *t, onax_instruction *q) {
    const part *body = &t->parts[q->attributes[LOOP_BODY]];
    const onax_instruction *b = &t->instructions[body->first];
    const int64_t trips = q->attributes[LOOP_TRIPS];
    steps *s = q->state;
    strips *p;
    int64_t n, bytes;
    int n_in, n_out;
    if (q->attributes[LOOP_CONDITION] >= 0 || trips < 2 || body->past - body->first != 1 || b->operation->verify != verify_blocks) return 1;
    if (!(n = onax_program_positions(b->state, &bytes)) || n * bytes < 2 * STRIP_BYTES) return 1;
    n_in = onax_program_inputs(b->state), n_out = onax_program_outputs(b->state);
    if (!(p = malloc(sizeof *p + (size_t)(n_in + n_out) * sizeof(port)))) return 0;
    p->program = b->state;
    p->n_ports = n_in + n_out;
    for (int i = 0; i < p->n_ports; i++) p->ports[i] = port_of_buffer(s, b->operands[i < n_in ? n_out + i : i - n_in]);
    if (!carries_stay_in_place(s, p, n_in)) { free(p); return 1; }
    p->positions = n;
    p->strip = STRIP_BYTES / bytes / 64 * 64 > 64 ? STRIP_BYTES / bytes / 64 * 64 : 64;
    p->count = (n + p->strip - 1) / p->strip;
    p->trips = (int64_t)(STRIP_WORK / (b->work * (double)p->strip / (double)n + 1)) + 2;
    p->room = room_of_strip(s, p);
    q->scratch = ROUND * p->room;
    s->strips = p;
    return 1;
}

static const char *find_strips(onax_tape *t) {
    for (int64_t i = 0; i < t->n_instructions; i++) {
        onax_instruction *q = &t->instructions[i];
        if (q->operation->verify != verify_loop) continue;
        if (!plan_strips(t, q)) return "no memory";
        if (q->scratch > t->scratch) t->scratch = q->scratch;
    }
    return NULL;
}

/* ---- running */

typedef struct { const steps *s; const strips *p; onax_frame *f; int64_t begin, end, first_strip; } strips_job;  /* steps begin ... end - 1 */

static char *written_next(const carry *c, char *const *at, const char *written) {
    return written == at[c->final] ? at[c->spare] : at[c->final];
}

/* The carries after some steps. */
static void advance_carries(const steps *s, char **at, int64_t count) {
    for (const carry *c = s->carries; c < s->carries + s->n_carries; c++) {
        char *const written = at[c->written], *const next = written_next(c, at, written);
        if (c->mode == CARRY_STAYS) continue;
        at[c->read] = count % 2 ? written : next;
        at[c->written] = count % 2 ? next : written;
    }
}

/* The two places of each carry in a strip's memory, given as where its first position would be, with what the strip begins
   with in the first one; gives where the memory goes on. */
static char *enter_strip(const strips_job *j, int64_t first, int64_t past, char **read, char **written, char *room) {
    for (int64_t i = 0; i < j->s->n_carries; i++) {
        const carry *c = &j->s->carries[i];
        const int64_t size = c->bytes / j->p->positions, apart = bytes_of_strip(j->p, c);
        read[i] = j->f->buffers[c->read];
        written[i] = j->f->buffers[c->written];
        if (c->mode == CARRY_STAYS) continue;
        memcpy(room, read[i] + first * size, (size_t)((past - first) * size));
        read[i] = (char *)((uintptr_t)room - (uintptr_t)(first * size));
        written[i] = (char *)((uintptr_t)read[i] + (uintptr_t)apart);
        room += 2 * apart;
    }
    return room;
}

/* What the strip's steps made of the carries goes where `advance_carries` will point. */
static void leave_strip(const strips_job *j, int64_t first, int64_t past, char *const *read) {
    for (int64_t i = 0; i < j->s->n_carries; i++) {
        const carry *c = &j->s->carries[i];
        const int64_t size = c->bytes / j->p->positions;
        char *to = j->f->buffers[c->written];
        if (c->mode == CARRY_STAYS) continue;
        if ((j->end - j->begin) % 2 == 0) to = written_next(c, j->f->buffers, to);
        memcpy(to + first * size, (const char *)((uintptr_t)read[i] + (uintptr_t)(first * size)), (size_t)((past - first) * size));
    }
}

static char *port_at(const strips_job *j, const port *o, int64_t step, char *const *read, char *const *written) {
    char *const *at = j->f->buffers;
    const slice *x = &j->s->slices[o->number];
    switch (o->kind) {
        case PORT_STAYS: return at[o->number];
        case PORT_IS_READ: return read[o->number];
        case PORT_IS_WRITTEN: return written[o->number];
        default: return at[x->whole] + x->start + step * x->step;
    }
}

static void run_strip(void *user, size_t which) {
    const strips_job *j = user;
    const strips *p = j->p;
    const int64_t nc = j->s->n_carries, first = (j->first_strip + (int64_t)which) * p->strip;
    const int64_t past = first + p->strip < p->positions ? first + p->strip : p->positions;
    char *room = j->f->scratch + (int64_t)which * p->room, *scratch;
    char **read = (char **)room, **written = read + nc, **ports = written + nc;
    scratch = enter_strip(j, first, past, read, written, room + table_of_strip(j->s, p));
    for (int64_t t = j->begin; t < j->end; t++) {
        for (int i = 0; i < p->n_ports; i++) ports[i] = port_at(j, &p->ports[i], t, read, written);
        onax_program_run_positions(p->program, ports, scratch, first, past);
        for (int64_t i = 0; i < nc; i++) {
            char *const other = read[i];
            if (j->s->carries[i].mode == CARRY_STAYS) continue;
            read[i] = written[i];
            written[i] = other;
        }
    }
    leave_strip(j, first, past, read);
}

/* Steps begin ... end - 1 of all strips. */
static int run_all_strips(strips_job *j) {
    const int64_t count = j->p->count;
    int status;
    for (j->first_strip = 0; j->first_strip < count; j->first_strip += ROUND) {
        const int64_t some = count - j->first_strip < ROUND ? count - j->first_strip : ROUND;
        if (j->f->parallel && some > 1) j->f->parallel(j->f->where, run_strip, (size_t)some, j);
        else for (int64_t i = 0; i < some; i++) run_strip(j, (size_t)i);
        if ((status = onax_look_for_signals(j->f))) return status;
    }
    return ONAX_DONE;
}

static int run_in_strips(const onax_instruction *q, onax_frame *f) {
    const steps *s = q->state;
    const int64_t trips = q->attributes[LOOP_TRIPS];
    strips_job j = {s, s->strips, f, 0, 0, 0};
    int status;
    begin_carries(s, f->buffers, trips % 2 == 0);
    for (; j.begin < trips; j.begin = j.end) {
        j.end = trips - j.begin < s->strips->trips ? trips : j.begin + s->strips->trips;
        if ((status = run_all_strips(&j))) return status;
        advance_carries(s, f->buffers, j.end - j.begin);
    }
    end_carries(s, f->buffers);
    return ONAX_DONE;
}
