/* Micro-operations: an interpreter of operations on single numbers, beside which calls of kernels stand. */
#include "blocks_expressions.h"
#include "blocks_program.h"
#include "tape_machine.h"

/* All operations on single numbers, as MAP1, MAP2 and SELECT of blocks_expressions.h. */
#define EACH_SCALAR(MAP1, MAP2, SELECT) \
    ONAX_FLOAT_EXPRESSIONS(MAP1, MAP2, SELECT, f32, float, f) \
    ONAX_FLOAT_EXPRESSIONS(MAP1, MAP2, SELECT, f64, double, ) \
    MAP1(PLAIN, to_f64, f32, double, float, x) \
    MAP1(PLAIN, to_f32, f64, float, double, x) \
    ONAX_WIDTH_EXPRESSIONS(MAP1, MAP2, SELECT, PLAIN, 8, uint8_t, int8_t, uint32_t) \
    ONAX_WIDTH_EXPRESSIONS(MAP1, MAP2, SELECT, PLAIN, 32, uint32_t, int32_t, uint32_t) \
    ONAX_WIDTH_EXPRESSIONS(MAP1, MAP2, SELECT, PLAIN, 64, uint64_t, int64_t, uint64_t) \
    ONAX_INTEGER_EXPRESSIONS(MAP1, MAP2, PLAIN, i32, int32_t) \
    ONAX_INTEGER_EXPRESSIONS(MAP1, MAP2, PLAIN, u32, uint32_t) \
    ONAX_INTEGER_EXPRESSIONS(MAP1, MAP2, PLAIN, i64, int64_t) \
    ONAX_INTEGER_EXPRESSIONS(MAP1, MAP2, PLAIN, u64, uint64_t) \
    ONAX_INTEGER_EXPRESSIONS(MAP1, MAP2, PLAIN, u8, uint8_t) \
    ONAX_SIGNED_EXPRESSIONS(MAP1, MAP2, PLAIN, i32, int32_t, uint32_t, int32_t) \
    ONAX_SIGNED_EXPRESSIONS(MAP1, MAP2, PLAIN, i64, int64_t, uint64_t, int64_t) \
    ONAX_UNSIGNED_EXPRESSIONS(MAP1, MAP2, PLAIN, u32, uint32_t, uint32_t) \
    ONAX_UNSIGNED_EXPRESSIONS(MAP1, MAP2, PLAIN, u64, uint64_t, uint64_t) \
    ONAX_BOOL_EXPRESSIONS(MAP1, MAP2)

#define CODE(how, operation, t, ...) SCALAR_##operation##_##t,
enum { BEFORE_SCALARS = ONAX_MICRO_CODES - 1, EACH_SCALAR(CODE, CODE, CODE) };

/* ---- codes by operation and type */

#define S(operation, t) [ONAX_OP_##operation] = SCALAR_##operation##_##t
#define AS(operation, code) [ONAX_OP_##operation] = SCALAR_##code
#define OF_FLOAT(t) \
    S(add, t), S(sub, t), S(mul, t), S(div, t), S(max, t), S(min, t), S(neg, t), S(abs, t), S(sign, t), S(floor, t), \
    S(ceil, t), S(rint, t), S(sqrt, t), S(rsqrt, t), S(move, t), S(eq, t), S(ne, t), S(lt, t), S(le, t), \
    S(is_finite, t), S(select, t), S(to_bool, t), S(to_i32, t), S(to_u32, t), S(to_i64, t), S(to_u64, t)
#define OF_WIDTH(w) \
    S(not, w), S(and, w), S(or, w), S(xor, w), S(add, w), S(sub, w), S(mul, w), S(neg, w), S(eq, w), S(ne, w), \
    S(shift_left, w), S(shift_right_logical, w), S(shift_right_arithmetic, w), S(move, w), S(population_count, w), \
    S(clz, w), S(select, w)
#define OF_CONVERSIONS(t) \
    S(to_f32, t), S(to_f64, t), AS(to_i32, to_32_##t), AS(to_u32, to_32_##t), AS(to_i64, to_64_##t), \
    AS(to_u64, to_64_##t), S(to_bool, t)
#define OF_INTEGER(t) \
    S(lt, t), S(le, t), S(max, t), S(min, t), S(sign, t), S(div, t), S(rem, t), OF_CONVERSIONS(t)

static const uint16_t codes[ONAX_TYPES][ONAX_OPERATIONS] = {
    [ONAX_F32] = {OF_FLOAT(f32), S(to_f64, f32), AS(to_f32, move_f32)},
    [ONAX_F64] = {OF_FLOAT(f64), S(to_f32, f64), AS(to_f64, move_f64)},
    [ONAX_I32] = {OF_WIDTH(32), S(abs, 32), OF_INTEGER(i32)},
    [ONAX_U32] = {OF_WIDTH(32), OF_INTEGER(u32)},
    [ONAX_I64] = {OF_WIDTH(64), S(abs, 64), OF_INTEGER(i64)},
    [ONAX_U64] = {OF_WIDTH(64), OF_INTEGER(u64)},
    [ONAX_BOOL] = {AS(max, or_8), AS(min, and_8), S(and, 8), S(or, 8), S(xor, 8), S(eq, 8), AS(ne, xor_8),
                   S(select, 8), S(move, 8), S(not, bool), S(lt, bool), S(le, bool), OF_CONVERSIONS(u8)},
};

int onax_scalar_code(int operation, int type) {
    const int code = codes[type][operation];
    return code ? code : ONAX_MICRO_CALL;
}

int onax_move_code(int64_t bytes) {
    return bytes == 4 ? SCALAR_move_32 : bytes == 8 ? SCALAR_move_64 : bytes == 1 ? SCALAR_move_8 : ONAX_MICRO_MOVE;
}

/* ---- running */

/* A number in n places. */
static void fill(const reg *g, char *to, const char *from, int64_t n) {
    uint32_t x;
    if (g->size != 4 || n > 64) {
        onax_fill_uniform(g, from, to, n);
        return;
    }
    memcpy(&x, from + 4 * g->start, 4);
    for (int64_t i = 0; i < n; i++) memcpy(to + 4 * i, &x, 4);
}

static void fold(const onax_micro_op *m, char *const *at) {
    const step s = {.kernel = m->kernel};
    total t;
    onax_fold_rows(m->what, &s, at[m->first], NULL, NULL, at[m->target], &t, 0, m->n);
}

static int run_instruction(const onax_instruction *q, onax_frame *f) { return q->run(q, f); }

#define GET(T, name, slot) T name; memcpy(&name, at[m->slot], sizeof name)
#define PUT(D, value) { const D d = (D)(value); memcpy(at[m->target], &d, sizeof d); break; }
#define CASE1(how, operation, t, D, T, value) \
    case SCALAR_##operation##_##t: { GET(T, x, first); PUT(D, value) }
#define CASE2(how, operation, t, D, T, value) \
    case SCALAR_##operation##_##t: { GET(T, x, first); GET(T, y, second); PUT(D, value) }
#define CASE_SELECT(how, operation, t, T) \
    case SCALAR_##operation##_##t: { GET(T, x, second); GET(T, y, third); PUT(T, *at[m->first] ? x : y) }

int onax_run_micro_ops(const onax_micro_op *m, const onax_micro_op *end, onax_frame *f) {
    char **const at = f->buffers;
    int status;
    for (; m < end; m++)
        switch (m->code) {
            case ONAX_MICRO_INSTRUCTION:
                if ((status = run_instruction(m->what, f))) return status;
                break;
            case ONAX_MICRO_CALL: m->kernel(at[m->target], at[m->first], at[m->second], at[m->third], m->n); break;
            case ONAX_MICRO_RUN: m->kernel(at + m->target, NULL, NULL, NULL, m->n); break;
            case ONAX_MICRO_POINT: at[m->target] = at[m->first] + m->n; break;
            case ONAX_MICRO_FILL: fill(m->what, at[m->target], at[m->first], m->n); break;
            case ONAX_MICRO_MOVE: memmove(at[m->target], at[m->first], (size_t)m->n); break;
            case ONAX_MICRO_LOAD: onax_load(m->loop, m->what, at[m->first], at[m->target], 0, m->n); break;
            case ONAX_MICRO_FOLD: fold(m, at); break;
            EACH_SCALAR(CASE1, CASE2, CASE_SELECT)
            default: break;
        }
    return ONAX_DONE;
}
