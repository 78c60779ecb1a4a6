/* Kernels that carry out two operations of a program over blocks at once, so that what is between them stays in a
   register of the CPU: each operation is rounded by itself, so the bits are those of two kernels.  onax_join_steps finds
   the steps of a loop that they replace. */
#include "blocks_program.h"
#include "blocks_maths.h"

#define FURTHEST 64            /* steps between two that are joined, at most */

/* ---- u = (x first y), then u second z, z second u, or a function of u */

enum { LEFT, RIGHT, BOTH, FORMS };   /* which operands of the second operation u is */

#define ONAX_EACH_FIRST(O, t, T) \
    O(add, t, T, x + y) O(sub, t, T, x - y) O(mul, t, T, x * y) O(div, t, T, x / y) O(max, t, T, onax_max_##t(x, y))

/* Y and Z say of what y and z are: an element each, or one number for all. */
#define EACH(p) p[i]
#define ONE(p) p##_0
#define ONAX_PAIR_AT(name, T, Y, Z, u_is, value) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first, *b = second, *c = third, b_0 = *b, c_0 = *c; \
        (void)b_0, (void)c_0; \
        ONAX_EACH { const T x = a[i], y = Y(b), z = Z(c), u = (u_is); d[i] = (value); } }
#define ONAX_PAIR(name, T, u_is, value) \
    ONAX_PAIR_AT(name, T, EACH, EACH, u_is, value) ONAX_PAIR_AT(name##_y, T, ONE, EACH, u_is, value) \
    ONAX_PAIR_AT(name##_z, T, EACH, ONE, u_is, value) ONAX_PAIR_AT(name##_yz, T, ONE, ONE, u_is, value)
#define ONAX_PAIR_OF_ONE_AT(name, T, Y, u_is, value) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first, *b = second, b_0 = *b; (void)third, (void)b_0; \
        ONAX_EACH { const T x = a[i], y = Y(b), u = (u_is); d[i] = (value); } }
#define ONAX_PAIR_OF_ONE(name, T, u_is, value) \
    ONAX_PAIR_OF_ONE_AT(name, T, EACH, u_is, value) ONAX_PAIR_OF_ONE_AT(name##_y, T, ONE, u_is, value)

#define ONAX_PAIRS_WITH(first_name, t, T, u_is) \
    ONAX_PAIR(first_name##_add_##t, T, u_is, u + z) \
    ONAX_PAIR(first_name##_sub_##t, T, u_is, u - z) \
    ONAX_PAIR(first_name##_from_##t, T, u_is, z - u) \
    ONAX_PAIR(first_name##_mul_##t, T, u_is, u * z) \
    ONAX_PAIR(first_name##_div_##t, T, u_is, u / z) \
    ONAX_PAIR(first_name##_over_##t, T, u_is, z / u) \
    ONAX_PAIR(first_name##_max_##t, T, u_is, onax_max_##t(u, z)) \
    ONAX_PAIR(first_name##_min_##t, T, u_is, onax_min_##t(u, z)) \
    ONAX_PAIR_OF_ONE(first_name##_square_##t, T, u_is, u * u) \
    ONAX_PAIR_OF_ONE(first_name##_neg_##t, T, u_is, -u)
ONAX_EACH_FIRST(ONAX_PAIRS_WITH, f32, float)
ONAX_EACH_FIRST(ONAX_PAIRS_WITH, f64, double)

/* By which operands are one number: that of bit 1 is y, that of bit 2 is z. */
#define OF_TWO(name) {name, NULL, name##_y, NULL, name##_z, NULL, name##_yz}
#define OF_ONE(name) {name, NULL, name##_y}
#define ONAX_PAIR_ENTRIES(first_name, t, T, u_is) \
    [ONAX_OP_##first_name] = { \
        [ONAX_OP_add] = {OF_TWO(first_name##_add_##t), OF_TWO(first_name##_add_##t), {NULL}}, \
        [ONAX_OP_sub] = {OF_TWO(first_name##_sub_##t), OF_TWO(first_name##_from_##t), {NULL}}, \
        [ONAX_OP_mul] = {OF_TWO(first_name##_mul_##t), OF_TWO(first_name##_mul_##t), OF_ONE(first_name##_square_##t)}, \
        [ONAX_OP_div] = {OF_TWO(first_name##_div_##t), OF_TWO(first_name##_over_##t), {NULL}}, \
        [ONAX_OP_max] = {OF_TWO(first_name##_max_##t), {NULL}, {NULL}}, \
        [ONAX_OP_min] = {OF_TWO(first_name##_min_##t), {NULL}, {NULL}}, \
        [ONAX_OP_neg] = {OF_ONE(first_name##_neg_##t), {NULL}, {NULL}}},
static const onax_variants pairs[2][ONAX_OP_max + 1][ONAX_OP_neg + 1][FORMS] = {
    {ONAX_EACH_FIRST(ONAX_PAIR_ENTRIES, f32, float)},
    {ONAX_EACH_FIRST(ONAX_PAIR_ENTRIES, f64, double)},
};

/* ---- comparison and choice: `third` are the addresses of both cases */

#define ONAX_CHOICE(name, T, is) \
    ONAX_CLONES static void choice_##name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first, *b = second; \
        const T *const *cases = third; const T *yes = cases[0], *no = cases[1]; \
        ONAX_EACH { const T x = a[i], y = b[i], p = yes[i], q = no[i]; d[i] = x is y ? p : q; } }
#define ONAX_CHOICES(t, T) \
    ONAX_CHOICE(eq_##t, T, ==) ONAX_CHOICE(ne_##t, T, !=) ONAX_CHOICE(lt_##t, T, <) ONAX_CHOICE(le_##t, T, <=)
ONAX_CHOICES(f32, float) ONAX_CHOICES(f64, double) ONAX_CHOICES(i32, int32_t)

#define ONAX_CHOICE_ENTRIES(t) {choice_eq_##t, choice_ne_##t, choice_lt_##t, choice_le_##t}
static const onax_kernel choices[3][4] = {ONAX_CHOICE_ENTRIES(f32), ONAX_CHOICE_ENTRIES(f64), ONAX_CHOICE_ENTRIES(i32)};

/* ---- sums of what two operands give: pieces of rows, as ONAX_FOLD has them */

#define ONAX_SUM_AT(name, T, Y, value) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        double *total = to; const T *a = first, *b = second, b_0 = *b; T lanes[ONAX_LANES] = {0}; int64_t i = 0; \
        (void)third, (void)b_0; \
        for (; i + ONAX_LANES <= n; i += ONAX_LANES) \
            for (int k = 0; k < ONAX_LANES; k++) { const T x = a[i + k], y = Y(b); lanes[k] += (value); } \
        for (int k = 0; k < n - i; k++) { const T x = a[i + k], y = Y(b); lanes[k] += (value); } \
        ONAX_HALVES(ONAX_LANES, lanes[k] += lanes[k + w]) \
        *total += lanes[0]; }
#define EACH_LANE(p) p[i + k]
#define ONAX_SUM_OF(name, T, value) ONAX_SUM_AT(name, T, EACH_LANE, value) ONAX_SUM_AT(name##_y, T, ONE, value)
#define ONAX_SUMS(t, T) ONAX_SUM_OF(sum_of_products_##t, T, x * y) ONAX_SUM_OF(sum_of_squares_##t, T, (x - y) * (x - y))
ONAX_SUMS(f32, float) ONAX_SUMS(f64, double)
static const onax_variants sums[2][2] = {
    {OF_ONE(sum_of_products_f32), OF_ONE(sum_of_squares_f32)}, {OF_ONE(sum_of_products_f64), OF_ONE(sum_of_squares_f64)}};

/* ---- joining the steps of a loop */

#define SHORTEST_ROW ONAX_SHORT  /* shorter rows have loops of their own */

/* What is known of the value that a step writes: who reads it first and last, and how often. */
typedef struct { int reader, reads; } use;

static int find_uses(const loop *l, use *uses) {
    int *writer = malloc(((size_t)l->n_registers + 1) * sizeof(int));
    if (!writer) return 0;
    for (int i = 0; i < l->n_registers; i++) writer[i] = -1;
    for (int k = 0; k < l->n_steps; k++) {
        const step *s = &l->steps[k];
        const int32_t read[] = {s->first, s->second, s->third, s->fourth};
        for (int i = 0; i < s->operands; i++) {
            use *u = writer[read[i]] < 0 ? NULL : &uses[writer[read[i]]];
            if (!u) continue;
            u->reader = k;
            u->reads++;
        }
        uses[k].reads = 0;
        writer[s->target] = k;
    }
    free(writer);
    return 1;
}

/* Whether the operands of step j still hold the same at step k. */
static int keeps_operands(const loop *l, int j, int k) {
    const step *s = &l->steps[j];
    for (int i = j + 1; i < k; i++)
        if (l->steps[i].kernel && (l->steps[i].target == s->first || l->steps[i].target == s->second)) return 0;
    return 1;
}

/* Step k does what step j, which it reads alone, did before; 0 if there is no kernel for both. */
static int join_pair(const step *s, step *next, int reads, int type) {
    const int is_left = next->first == s->target, is_right = next->operands > 1 && next->second == s->target;
    const int form = is_left && is_right ? BOTH : is_left ? LEFT : RIGHT;
    const onax_variants *variants = NULL;
    if (type > ONAX_F64 || reads != is_left + is_right) return 0;
    if (s->operation == ONAX_OP_sub && next->operation == ONAX_OP_exp) variants = &onax_exps_of_differences[type];
    else if (s->operation <= ONAX_OP_max && next->operation <= ONAX_OP_neg)
        variants = &pairs[type][s->operation][next->operation][form];
    if (!variants || !(*variants)[0]) return 0;
    next->operands = next->operands > 1 && form != BOTH ? 3 : 2;
    next->third = form == LEFT && next->operands > 1 ? next->second : form == RIGHT ? next->first : s->first;
    next->first = s->first;
    next->second = s->second;
    next->joined_swaps = (int16_t)(s->operation == ONAX_OP_add || s->operation == ONAX_OP_mul);
    next->variants = *variants;
    next->kernel = next->variants[0];
    return 1;
}

/* The same of a comparison and the choice by it. */
static int join_choice(const step *s, step *next, int reads, int type, int chosen) {
    if (next->operation != ONAX_OP_select || s->operation < ONAX_OP_eq || s->operation > ONAX_OP_le) return 0;
    if (type > ONAX_I32 || type != chosen || reads != 1 || next->first != s->target) return 0;
    next->kernel = choices[type][s->operation - ONAX_OP_eq];
    next->variants = NULL;
    next->operands = 4;
    next->fourth = next->third;
    next->third = next->second;
    next->first = s->first;
    next->second = s->second;
    return 1;
}

/* The same of a product, or of the square of a difference, and the sum over rows of it. */
static int join_sum(const loop *l, const step *s, step *next, int reads, int type) {
    if (next->operation != ONAX_OP_sum || type > ONAX_F64 || reads != 1) return 0;
    if (l->n <= l->block || l->registers[next->target].length < SHORTEST_ROW) return 0;
    if (s->is_joined ? s->kernel != pairs[type][ONAX_OP_sub][ONAX_OP_mul][BOTH][0] : s->operation != ONAX_OP_mul) return 0;
    next->joined_swaps = (int16_t)(s->operation == ONAX_OP_mul && !s->is_joined);
    next->variants = sums[type][s->is_joined];
    next->pair = next->variants[0];
    next->operands = 2;
    next->first = s->first;
    next->second = s->second;
    return 1;
}

/* The same of exp(x - y) and the sum over rows of it. */
static int join_sum_of_exps(const loop *l, const step *s, step *next, int reads, int type) {
    const int is_written = l->registers[s->target].kind == ONAX_DIRECT;
    if (next->operation != ONAX_OP_sum || type > ONAX_F64 || reads != 1) return 0;
    if (s->variants != onax_exps_of_differences[type]) return 0;
    if (l->n <= l->block || l->registers[next->target].length < SHORTEST_ROW) return 0;
    next->variants = onax_sums_of_exps[type][is_written];
    next->pair = next->variants[0];
    next->operands = 2;
    next->is_written = (int16_t)is_written;
    next->first = s->first;
    next->second = s->second;
    next->third = s->target;
    return 1;
}

static int join(const loop *l, const step *s, step *next, int reads) {
    const int type = l->registers[s->first].type;
    if (l->registers[s->target].kind != ONAX_BLOCK) return 0;
    if (next->fold >= 0) return join_sum(l, s, next, reads, type);
    if (s->is_joined) return 0;
    if (l->n > l->block && join_choice(s, next, reads, type, l->registers[next->second].type)) return 1;
    return join_pair(s, next, reads, type);
}

static int join_exp(const loop *l, const step *s, step *next, int reads) {
    const int type = l->registers[s->first].type;
    if (next->fold >= 0) return join_sum_of_exps(l, s, next, reads, type);
    if (l->registers[s->target].kind != ONAX_BLOCK || next->operation != ONAX_OP_exp || s->is_joined) return 0;
    return join_pair(s, next, reads, type);
}

static void drop_joined(loop *l) {
    int count = 0;
    for (int k = 0; k < l->n_steps; k++)
        if (l->steps[k].kernel && l->steps[k].run != INSIDE_RUN) l->steps[count++] = l->steps[k];
    l->n_steps = count;
}

static void join_all(loop *l, int (*join_two)(const loop *, const step *, step *, int)) {
    use *uses;
    if (l->n < 2 || l->n_steps < 2) return;
    uses = calloc((size_t)l->n_steps, sizeof(use));
    if (uses && find_uses(l, uses))
        for (int j = 0; j < l->n_steps; j++) {
            step *s = &l->steps[j], *next = &l->steps[uses[j].reader];
            const int k = uses[j].reader;
            if (s->run || next->run || !uses[j].reads || k - j > FURTHEST || s->fold >= 0 || next->is_joined) continue;
            if (!keeps_operands(l, j, k)) continue;
            next->is_joined = (int16_t)join_two(l, s, next, uses[j].reads);
            if (next->is_joined) s->kernel = NULL;
        }
    free(uses);
    drop_joined(l);
}

void onax_join_exps(loop *l) { join_all(l, join_exp); }
void onax_join_steps(loop *l) { join_all(l, join); }
