/* The micro-operations of programs each loop of which fits into one block.

   Registers stay where they are from run to run, and constants are filled once.  Loops over one position are operations
   on single numbers (blocks_scalars.c). */
#include "blocks_program.h"

/* What a program keeps: its slots, and after them the registers that stay the same.  Temporaries and the other registers
   are in the scratch memory.  Each loop has two slots for a register; the second is of what a LOAD copies from.  Until
   slots are bound, those of the program are numbered from 0 on, and ports are -1 - port. */

static int64_t slot_bytes(const onax_program *p) { return rounded(p->n_slots * (int64_t)sizeof(char *)); }

static int stays(const reg *g) { return g->kind == ONAX_CONSTANT || g->kind == ONAX_IOTA; }

/* Whether a LOAD is of elements that lie side by side, so that nothing is copied. */
static int is_in_place(const loop *l, const reg *g) { return l->n == 1 || (g->is_dense && l->rank == 1); }

static int has_buffer(const reg *g) { return g->kind == ONAX_LOAD || !is_scratch(g); }

static int is_port(const onax_program *p, const reg *g) { return has_buffer(g) && g->argument < p->n_in + p->n_out; }

/* ---- planning */

static int32_t port_of(const onax_program *p, const reg *g) {
    return (int32_t)-1 - (int32_t)(g->argument < p->n_in ? g->argument + p->n_out : g->argument - p->n_in);
}

/* The slot of a register that an operation reads or writes. */
static int32_t slot_of(const onax_program *p, const loop *l, int i, int first_slot) {
    const reg *g = &l->registers[i];
    if (!is_port(p, g) || (g->kind == ONAX_LOAD && (!is_in_place(l, g) || g->start))) return first_slot + i;
    return port_of(p, g);
}

static void add_op(onax_program *p, onax_micro_op op) { p->micro_ops[p->n_micro_ops++] = op; }

static void add_load(onax_program *p, const loop *l, int i, int first_slot) {
    const reg *g = &l->registers[i];
    const int32_t from = is_port(p, g) ? port_of(p, g) : first_slot + l->n_registers + i;
    if (g->kind != ONAX_LOAD) return;
    if (!is_in_place(l, g))
        add_op(p, (onax_micro_op){g->uniform ? ONAX_MICRO_FILL : ONAX_MICRO_LOAD, first_slot + i, from, 0, 0, l->n, NULL, g, l});
    else if (g->start && is_port(p, g))
        add_op(p, (onax_micro_op){ONAX_MICRO_POINT, first_slot + i, from, 0, 0, g->start * g->size, NULL, NULL, NULL});
}

static void add_step(onax_program *p, const loop *l, const step *s, int first_slot) {
    const reg *g = &l->registers[s->target];
    const int of_one = l->n == 1 ? s->scalar : ONAX_MICRO_CALL;
    const int code = s->fold < 0 ? of_one : ONAX_MICRO_FOLD;
    add_op(p, (onax_micro_op){code, slot_of(p, l, s->target, first_slot), slot_of(p, l, s->first, first_slot),
                              slot_of(p, l, s->second, first_slot), slot_of(p, l, s->third, first_slot), l->n,
                              s->kernel, g, l});
}

/* A run of compiled steps finds all registers in the loop's own slots. */
static void add_run(onax_program *p, const loop *l, const step *s, int first_slot) {
    add_op(p, (onax_micro_op){ONAX_MICRO_RUN, first_slot, 0, 0, 0, l->n, s->kernel, NULL, NULL});
}

static void add_ports(onax_program *p, const loop *l, int first_slot) {
    int has_runs = 0;
    for (int i = 0; i < l->n_steps; i++) has_runs |= l->steps[i].run;
    for (int i = 0; i < l->n_registers && has_runs; i++) {
        const int32_t port = slot_of(p, l, i, first_slot);
        if (port < 0) add_op(p, (onax_micro_op){ONAX_MICRO_POINT, first_slot + i, port, 0, 0, 0, NULL, NULL, NULL});
    }
}

static void add_loop(onax_program *p, const loop *l) {
    const int first_slot = p->n_slots;
    p->n_slots += 2 * l->n_registers;
    if (!l->n) return;
    for (int i = 0; i < l->n_registers; i++) add_load(p, l, i, first_slot);
    add_ports(p, l, first_slot);
    for (int i = 0; i < l->n_steps; i++)
        if (l->steps[i].run) add_run(p, l, &l->steps[i], first_slot);
        else add_step(p, l, &l->steps[i], first_slot);
}

int onax_plan_micro_ops(onax_program *p) {
    int64_t bytes = 0, largest = 0;
    size_t count = 1;
    for (int k = 0; k < p->n_loops; k++) {
        const loop *l = &p->loops[k];
        if (l->n > l->block) return 1;
        count += (size_t)l->n_registers + (size_t)l->n_steps;
        for (int i = 0; i < l->n_registers; i++)
            if (stays(&l->registers[i])) bytes += rounded(l->n * l->registers[i].size);
        if (l->scratch > largest) largest = l->scratch;
    }
    if (!(p->micro_ops = calloc(count, sizeof(onax_micro_op)))) return 0;
    for (int k = 0; k < p->n_loops; k++) add_loop(p, &p->loops[k]);
    p->step_bytes = slot_bytes(p) + bytes + 64;
    if (p->scratch_bytes < p->temp_bytes + largest) p->scratch_bytes = p->temp_bytes + largest;
    return 1;
}

const char *onax_program_bind(onax_program *p, const int32_t *operands, int64_t first_slot) {
    if (first_slot < 0 || first_slot > INT32_MAX - p->n_slots) return "a program's slots are too far away";
    for (int i = 0; i < p->n_micro_ops; i++) {
        onax_micro_op *m = &p->micro_ops[i];
        int32_t *const slots[] = {&m->target, &m->first, &m->second, &m->third};
        for (int k = 0; k < 4; k++)
            *slots[k] = *slots[k] < 0 ? operands[-1 - *slots[k]] : *slots[k] + (int32_t)first_slot;
    }
    return NULL;
}

const onax_micro_op *onax_program_micro_ops(const onax_program *p, int64_t *count) {
    *count = p->n_micro_ops;
    return p->micro_ops;
}

/* ---- memory that is kept */

static char *temporary_at(const onax_program *p, const reg *g, char *scratch) {
    const int past = (int)g->argument - p->n_in - p->n_out;
    for (int t = 0; t < past; t++) scratch += rounded(buffer_bytes(p, p->n_in + p->n_out + t));
    return scratch;
}

/* Sets the slots of a loop; `own` is where its constants go. */
static char *prepare_loop(const onax_program *p, const loop *l, char *scratch, char **at, char *own) {
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        at[i] = at[l->n_registers + i] = scratch + p->temp_bytes + g->offset;
        if (has_buffer(g) && !is_port(p, g)) {
            char *buffer = temporary_at(p, g, scratch);
            if (g->kind != ONAX_LOAD) at[i] = buffer;
            else if (is_in_place(l, g)) at[i] = buffer + g->start * g->size;
            else at[l->n_registers + i] = buffer;
        }
        if (!stays(g)) continue;
        at[i] = own;
        own += rounded(l->n * g->size);
        if (g->uniform) onax_fill_uniform(g, NULL, at[i], l->n);
        else if (l->n) onax_load(l, g, NULL, at[i], 0, l->n);
    }
    return own;
}

void onax_program_prepare(const onax_program *p, char *persistent, char *scratch) {
    char *own = persistent + slot_bytes(p), **at = (char **)persistent;
    for (int k = 0; k < p->n_loops; k++) {
        own = prepare_loop(p, &p->loops[k], scratch, at, own);
        at += 2 * p->loops[k].n_registers;
    }
}
