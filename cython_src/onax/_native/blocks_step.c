/* Programs that run many times, each of their loops in one block: registers stay where they are from run to run, and
   constants are filled once. */
#include "blocks_program.h"

/* What is kept from run to run: where the scratch memory was, the temporaries' pointers, and for each loop the pointers
   of its registers and those registers that stay the same.  The temporaries and the other registers are in the scratch
   memory. */
typedef struct { char *scratch, *temporaries[]; } kept;

static int64_t kept_bytes(const onax_program *p) { return rounded((p->n_temp + 1) * (int64_t)sizeof(char *)); }

static int stays(const reg *g) { return g->kind == ONAX_CONSTANT || g->kind == ONAX_IOTA; }

/* Whether a register's buffer is one of the caller's, so that it is looked up in every run. */
static int is_port(const onax_program *p, const reg *g) {
    return (g->kind == ONAX_LOAD || !is_scratch(g)) && g->argument < p->n_in + p->n_out;
}

static int plan_ports(const onax_program *p, loop *l) {
    l->ports = calloc((size_t)l->n_registers + 1, sizeof(port));
    if (!l->ports) return 0;
    for (int i = 0; i < l->n_registers && l->n; i++) {
        const reg *g = &l->registers[i];
        const int64_t buffer = g->argument < p->n_in ? g->argument + p->n_out : g->argument - p->n_in;
        if (!is_port(p, g) && g->kind != ONAX_LOAD) continue;
        l->ports[l->n_ports].at = i;
        l->ports[l->n_ports++].buffer = (int32_t)(is_port(p, g) ? buffer : p->n_in + p->n_out - 1 - g->argument);
    }
    return 1;
}

int onax_plan_step(onax_program *p) {
    int64_t bytes = kept_bytes(p), largest = 0;
    for (int k = 0; k < p->n_loops; k++) {
        loop *l = &p->loops[k];
        if (l->n > l->block) return 1;
        if (!plan_ports(p, l)) return 0;
        l->kept = rounded(l->n_registers * (int64_t)sizeof(char *));
        for (int i = 0; i < l->n_registers; i++)
            if (stays(&l->registers[i])) l->kept += rounded(l->n * l->registers[i].size);
        if (l->scratch > largest) largest = l->scratch;
        bytes += l->kept;
    }
    p->step_bytes = bytes;
    if (p->scratch_bytes < p->temp_bytes + largest) p->scratch_bytes = p->temp_bytes + largest;
    return 1;
}

static void prepare_loop(const onax_program *p, const loop *l, const kept *state, char **at) {
    char *own = (char *)at + rounded(l->n_registers * (int64_t)sizeof(char *));
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        at[i] = state->scratch + p->temp_bytes + g->offset;
        if (!is_scratch(g)) at[i] = is_port(p, g) ? NULL : state->temporaries[g->argument - p->n_in - p->n_out];
        if (!stays(g)) continue;
        at[i] = own;
        own += rounded(l->n * g->size);
        if (g->uniform) onax_fill_uniform(g, NULL, at[i], l->n);
        else if (l->n) onax_load(l, g, NULL, at[i], 0, l->n);
    }
}

static void prepare(const onax_program *p, kept *state, char *scratch) {
    char *at = (char *)state + kept_bytes(p), *next = scratch;
    state->scratch = scratch;
    for (int t = 0; t < p->n_temp; t++) {
        state->temporaries[t] = next;
        next += rounded(buffer_bytes(p, p->n_in + p->n_out + t));
    }
    for (int k = 0; k < p->n_loops; k++) {
        prepare_loop(p, &p->loops[k], state, (char **)at);
        at += p->loops[k].kept;
    }
}

static void load_port(const loop *l, const reg *g, const char *from, char *to) {
    if (g->uniform) onax_fill_uniform(g, from, to, l->n);
    else onax_load(l, g, from, to, 0, l->n);
}

void onax_program_step(const onax_program *p, char *const *buffers, const int32_t *operands, char *scratch,
                       void *persistent) {
    kept *state = persistent;
    char *next = (char *)persistent + kept_bytes(p);
    if (state->scratch != scratch) prepare(p, state, scratch);
    for (int k = 0; k < p->n_loops; k++) {
        const loop *l = &p->loops[k];
        char **at = (char **)next;
        next += l->kept;
        for (int i = 0; i < l->n_ports; i++) {
            const port *t = &l->ports[i];
            const reg *g = &l->registers[t->at];
            char *from = t->buffer < 0 ? state->temporaries[-1 - t->buffer] : buffers[operands[t->buffer]];
            if (g->kind != ONAX_LOAD) at[t->at] = from;
            else if (g->is_dense && l->rank == 1) at[t->at] = from + g->start * g->size;
            else load_port(l, g, from, at[t->at]);
        }
        for (int i = 0; i < l->n_steps && l->n; i++) {
            const step *s = &l->steps[i];
            total t;
            if (s->fold < 0) s->kernel(at[s->target], at[s->first], at[s->second], at[s->third], l->n);
            else onax_fold_rows(&l->registers[s->target], s, at[s->first], at[s->target], &t, 0, l->n);
        }
    }
}
