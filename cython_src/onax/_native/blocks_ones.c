/* Operands that are one number for a whole block: constants, and what each row has one of (a mean, a maximum) where
   blocks are of one row.  Kernels read them where they are, so that no block is filled with copies. */
#include "blocks_program.h"
#include "blocks_maths.h"

#define ONAX_EACH_ARITHMETIC(O, t, T) \
    O(add, t, T, x + y) O(sub, t, T, x - y) O(mul, t, T, x * y) O(div, t, T, x / y) \
    O(max, t, T, onax_max_##t(x, y)) O(min, t, T, onax_min_##t(x, y))

#define ONAX_WITH_ONE(op, t, T, value) \
    ONAX_CLONES static void op##_second_##t(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first, y = *(const T *)second; (void)third; \
        ONAX_EACH { const T x = a[i]; d[i] = (value); } } \
    ONAX_CLONES static void op##_first_##t(ONAX_ARGUMENTS) { \
        T *d = to; const T x = *(const T *)first, *b = second; (void)third; \
        ONAX_EACH { const T y = b[i]; d[i] = (value); } }
ONAX_EACH_ARITHMETIC(ONAX_WITH_ONE, f32, float) ONAX_EACH_ARITHMETIC(ONAX_WITH_ONE, f64, double)

#define ONAX_ONE_ENTRY(op, t, T, value) [ONAX_OP_##op] = {NULL, op##_first_##t, op##_second_##t},
static const onax_variants arithmetic[2][ONAX_OP_min + 1] = {
    {ONAX_EACH_ARITHMETIC(ONAX_ONE_ENTRY, f32, float)}, {ONAX_EACH_ARITHMETIC(ONAX_ONE_ENTRY, f64, double)}};

const onax_kernel *onax_variants_of(int operation, int type) {
    return type > ONAX_F64 || operation > ONAX_OP_min ? NULL : arithmetic[type][operation];
}

/* Whether every block has one value of a register that is not computed. */
static int is_one_a_block(const loop *l, const reg *g) {
    if (g->is_in_code || g->type > ONAX_F64 || (g->kind != ONAX_LOAD && g->kind != ONAX_CONSTANT)) return 0;
    return g->uniform || (g->kind == ONAX_LOAD && l->row && !g->strides[l->rank - 1]);
}

/* The operands of a step that are one number, as a set of bits. */
static int ones_of(const loop *l, const step *s) {
    const int32_t operands[] = {s->first, s->second, s->third, s->fourth};
    int ones = 0;
    for (int i = 0; i < s->operands; i++)
        if (l->registers[operands[i]].is_one) ones |= 1 << i;
    return ones;
}

/* The kernel for a step's operands; NULL if there is none. */
static onax_kernel variant_of(const loop *l, const step *s) {
    const int ones = s->run ? 0 : ones_of(l, s);
    if (!ones) return s->pair ? s->pair : s->kernel;
    return s->variants && ones < 8 ? s->variants[ones] : NULL;
}

/* Takes back what was found of the operands of a step. */
static void drop_ones(loop *l, const step *s) {
    const int32_t operands[] = {s->first, s->second, s->third, s->fourth};
    for (int i = 0; i < s->operands; i++) l->registers[operands[i]].is_one = 0;
}

/* A sum or a product of one number and another operand is of that operand and the number. */
static void put_one_second(const loop *l, step *s) {
    const int32_t first = s->first;
    const int swaps = s->is_joined ? s->joined_swaps : s->operation == ONAX_OP_add || s->operation == ONAX_OP_mul;
    if (s->run || !swaps || s->operands < 2 || !l->registers[first].is_one || l->registers[s->second].is_one) return;
    s->first = s->second;
    s->second = first;
}

void onax_find_ones(loop *l) {
    int changes = 1;
    if (l->n <= l->block) return;  /* micro-operations load all operands */
    for (int i = 0; i < l->n_registers; i++) l->registers[i].is_one = (uint8_t)is_one_a_block(l, &l->registers[i]);
    for (int i = 0; i < l->n_steps; i++) put_one_second(l, &l->steps[i]);
    while (changes) {
        changes = 0;
        for (int i = 0; i < l->n_steps; i++) {
            if (l->steps[i].run || variant_of(l, &l->steps[i])) continue;
            drop_ones(l, &l->steps[i]);
            changes = 1;
        }
    }
    for (int i = 0; i < l->n_steps; i++) {
        step *s = &l->steps[i];
        const onax_kernel kernel = variant_of(l, s);
        if (s->run) continue;
        if (s->pair) {
            s->is_with_one = (int16_t)(ones_of(l, s) != 0);
            s->pair = kernel;
        } else s->kernel = kernel;
    }
}
