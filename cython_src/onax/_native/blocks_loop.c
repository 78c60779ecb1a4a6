/* Loops of which each step is a program over blocks. */
#include "blocks_program.h"

static int same_buffers(const onax_program *p, int i, const onax_program *q, int j) {
    return p->buffers[2 * i] == q->buffers[2 * j] && p->buffers[2 * i + 1] == q->buffers[2 * j + 1];
}

const char *onax_loop_fault(const onax_loop *l) {
    const onax_program *b = l->body, *c = l->condition;
    const int64_t fixed = l->n_constants + l->n_carries;
    for (int k = 0; k < 2; k++) {
        const onax_program *p = k ? c : b;
        if (p && !p->step_bytes) return "a step is too long for one block";
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

/* What the steps of a loop have: buffers (outputs, then inputs), their numbers, what the programs keep, carries of two
   steps. */
typedef struct {
    char **buffers;
    int32_t *operands;
    char *body, *condition, *scratch, *carries;
    int64_t carry_bytes;
} steps;

static void run_steps(const onax_loop *l, const void *const *inputs, void *const *outputs, const steps *s) {
    const onax_program *b = l->body;
    const int first = (int)l->n_constants, carries = (int)l->n_carries, fixed = first + carries;
    char **out = s->buffers + 1, **in = out + b->n_out;
    for (int i = 0; i < fixed; i++) in[i] = (char *)inputs[i];
    for (int64_t t = 0; l->condition || t < l->trips; t++) {
        const int64_t slice = l->reverse ? l->trips - 1 - t : t;
        char *next = s->carries + (t & 1) * s->carry_bytes;
        uint8_t holds = 1;
        if (l->condition) {
            char *before = in[-1];
            in[-1] = (char *)&holds;  /* its result stands before its operands, which are those of the body */
            onax_program_step(l->condition, in - 1, s->operands, s->scratch, s->condition);
            in[-1] = before;
        }
        if (!holds) break;
        for (int i = fixed; i < b->n_in; i++) in[i] = (char *)inputs[i] + slice * buffer_bytes(b, i);
        for (int i = 0; i < b->n_out; i++) {
            const int64_t bytes = buffer_bytes(b, b->n_in + i);
            out[i] = i < carries ? next : (char *)outputs[i] + slice * bytes;
            if (i < carries) next += rounded(bytes);
        }
        onax_program_step(b, out, s->operands, s->scratch, s->body);
        for (int i = 0; i < carries; i++) in[first + i] = out[i];
    }
    for (int i = 0; i < carries; i++) memcpy(outputs[i], in[first + i], (size_t)buffer_bytes(b, first + i));
}

int onax_loop_run(const onax_loop *l, const void *const *inputs, void *const *outputs) {
    const int n = l->body->n_in + l->body->n_out + 1;
    const int64_t pointers = rounded(n * (int64_t)sizeof(char *)), numbers = rounded(n * (int64_t)sizeof(int32_t));
    const int64_t body = rounded(l->body->step_bytes), condition = l->condition ? rounded(l->condition->step_bytes) : 0;
    int64_t carry_bytes = 0, scratch = rounded(l->body->scratch_bytes), rest = pointers + numbers;
    char *memory, *room;
    for (int i = 0; i < l->n_carries; i++) carry_bytes += rounded(buffer_bytes(l->body, l->body->n_in + i));
    if (l->condition && rounded(l->condition->scratch_bytes) > scratch) scratch = rounded(l->condition->scratch_bytes);
    memory = calloc((size_t)(2 * carry_bytes + rest + body + condition + scratch) + 64, 1);
    if (!memory) return -1;
    room = memory + (64 - (uintptr_t)memory % 64);
    {
        const steps s = {(char **)room, (int32_t *)(room + pointers), room + rest, room + rest + body,
                         room + rest + body + condition, room + rest + body + condition + scratch, carry_bytes};
        for (int i = 0; i < n; i++) s.operands[i] = i;
        run_steps(l, inputs, outputs, &s);
    }
    free(memory);
    return 0;
}
