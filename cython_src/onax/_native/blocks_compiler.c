/* Machine code for runs of steps of a loop, so that what is between them stays in vector registers: where the CPU has
   AVX-512 or AVX2, onax_compile_steps replaces each run by one step.  Every operation rounds by itself, as its kernel does, so
   results have the same bits.

   A run is of one width: its registers have elements of four bytes, or of eight, beside bools, which are masks (blocks_vectors.h).  The
   function that it becomes is called as kernel(registers' addresses, NULL, NULL, NULL, n). */
#include "blocks_program.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(ONAX_SANITIZED)

#include <sys/mman.h>

#include "blocks_vectors.h"

/* ---- operations: each function gives whether it knows the operation; d is the target's vector or mask */

#define NOT_FINITE 0x99        /* classes of vfpclass: quiet and signalling NaN, both infinities */

/* -1, 0 or 1 (of floats NaN and zeros stay). */
static int emit_sign(compiler *c, int type, int d, int x) {
    const int floats = is_float(type);
    int k;
    if (c->is_narrow && type == ONAX_I32) {          /* 1 with the sign of each, or 0 */
        emit(c, LOAD, d, 0, literal(c, 1), -1);
        emit(c, WITH_SIGNS_32, d, d, VECTOR(x), -1);
        return 1;
    }
    k = new_mask(c);
    compare(c, type, k, x, literal(c, 0), floats ? GREATER : INTEGER_GT);
    choose(c, d, x, floats ? float_literal(c, 1) : literal(c, 1), k);
    compare(c, type, k, x, literal(c, 0), floats ? FLOAT_LT : INTEGER_LT);
    choose(c, d, d, floats ? float_literal(c, -1) : literal(c, -1), k);
    free_mask(c, k);
    return 1;
}

/* The instruction gives the second operand where one is NaN; a first one that is NaN stays. */
static int emit_extreme(compiler *c, int opcode, int d, int x, int y) {
    const int w = w_of(c), k = new_mask(c);
    emit(c, OP_FLOAT(opcode, w), d, x, VECTOR(y), -1);
    emit(c, OP_FLOAT(COMPARE_FLOATS, w), k, x, VECTOR(x), UNORDERED);
    choose(c, d, d, VECTOR(x), k);
    free_mask(c, k);
    return 1;
}

static int emit_float(compiler *c, int operation, int type, int d, int x, int y) {
    const int w = w_of(c), rounding = OP_W(ROUND_FLOATS, w) + w;
    const int64_t sign = w ? INT64_MIN : (int64_t)1 << 31;
    switch (operation) {
        case ONAX_OP_add: emit(c, OP_FLOAT(ADD_FLOATS, w), d, x, VECTOR(y), -1); return 1;
        case ONAX_OP_sub: emit(c, OP_FLOAT(SUB_FLOATS, w), d, x, VECTOR(y), -1); return 1;
        case ONAX_OP_mul: emit(c, OP_FLOAT(MUL_FLOATS, w), d, x, VECTOR(y), -1); return 1;
        case ONAX_OP_div: emit(c, OP_FLOAT(DIV_FLOATS, w), d, x, VECTOR(y), -1); return 1;
        case ONAX_OP_max: return emit_extreme(c, MAX_FLOATS, d, x, y);
        case ONAX_OP_min: return emit_extreme(c, MIN_FLOATS, d, x, y);
        case ONAX_OP_neg: emit(c, OP_W(XOR, w), d, x, literal(c, sign), -1); return 1;
        case ONAX_OP_abs: emit(c, OP_W(AND, w), d, x, literal(c, ~sign), -1); return 1;
        case ONAX_OP_sign: return emit_sign(c, type, d, x);
        case ONAX_OP_floor: emit(c, rounding, d, 0, VECTOR(x), 9); return 1;
        case ONAX_OP_ceil: emit(c, rounding, d, 0, VECTOR(x), 10); return 1;
        case ONAX_OP_rint: emit(c, rounding, d, 0, VECTOR(x), 12); return 1;
        case ONAX_OP_sqrt: emit(c, OP_FLOAT(SQRT_FLOATS, w), d, 0, VECTOR(x), -1); return 1;
        default: return 0;
    }
}

static int type_of(const loop *l, const step *s);
#include "blocks_quotients.h"

/* Operations on 64-bit integers that AVX2 has no instructions for. */
static int emit_integer_narrow_64(compiler *c, int operation, int type, int d, int x, int y) {
    const int t = new_vector(c);
    switch (operation) {
        case ONAX_OP_mul: {                               /* the lower half of each times the other's upper one, moved up */
            const int u = new_vector(c);
            emit(c, SHIFT_64_BY, RIGHT_64, t, VECTOR(x), 32);
            emit(c, MUL_HALVES_UNSIGNED, t, t, VECTOR(y), -1);
            emit(c, SHIFT_64_BY, RIGHT_64, u, VECTOR(y), 32);
            emit(c, MUL_HALVES_UNSIGNED, u, u, VECTOR(x), -1);
            emit(c, ADD_I64, t, t, VECTOR(u), -1);
            emit(c, SHIFT_64_BY, LEFT_64, t, VECTOR(t), 32);
            emit(c, MUL_HALVES_UNSIGNED, d, x, VECTOR(y), -1);
            emit(c, ADD_I64, d, d, VECTOR(t), -1);
            free_vector(c, u);
            break;
        }
        case ONAX_OP_max: case ONAX_OP_min:
            compare(c, type, t, x, VECTOR(y), INTEGER_GT);
            choose(c, d, operation == ONAX_OP_max ? y : x, VECTOR(operation == ONAX_OP_max ? x : y), t);
            break;
        case ONAX_OP_abs: case ONAX_OP_shift_right_arithmetic:   /* t: all bits the sign */
            emit(c, XOR, t, t, VECTOR(t), -1);
            emit(c, GREATER_I64, t, t, VECTOR(x), -1);
            emit(c, XOR, d, x, VECTOR(t), -1);
            if (operation == ONAX_OP_abs) emit(c, SUB_I64, d, d, VECTOR(t), -1);
            else {
                emit(c, OP_W(SHIFT_RIGHT, 1), d, d, VECTOR(y), -1);
                emit(c, XOR, d, d, VECTOR(t), -1);
            }
            break;
        default: free_vector(c, t); return 0;
    }
    free_vector(c, t);
    return 1;
}

static int emit_integer(compiler *c, int operation, int type, int d, int x, int y) {
    const int w = w_of(c);
    int opcode;
    if (operation == ONAX_OP_abs && !is_signed(type)) return 0;
    if (c->is_narrow && w && emit_integer_narrow_64(c, operation, type, d, x, y)) return 1;
    switch (operation) {
        case ONAX_OP_add: opcode = w ? ADD_I64 : ADD_I32; break;
        case ONAX_OP_sub: opcode = w ? SUB_I64 : SUB_I32; break;
        case ONAX_OP_mul: opcode = OP_W(MUL_INTEGERS, w); break;
        case ONAX_OP_and: opcode = OP_W(AND, w); break;
        case ONAX_OP_or: opcode = OP_W(OR, w); break;
        case ONAX_OP_xor: opcode = OP_W(XOR, w); break;
        case ONAX_OP_max: opcode = OP_W(is_signed(type) ? MAX_SIGNED : MAX_UNSIGNED, w); break;
        case ONAX_OP_min: opcode = OP_W(is_signed(type) ? MIN_SIGNED : MIN_UNSIGNED, w); break;
        case ONAX_OP_shift_left: opcode = OP_W(SHIFT_LEFT, w); break;
        case ONAX_OP_shift_right_logical: opcode = OP_W(SHIFT_RIGHT, w); break;
        case ONAX_OP_shift_right_arithmetic: opcode = OP_W(SHIFT_SIGNED, w); break;
        case ONAX_OP_div: case ONAX_OP_rem: return emit_division(c, operation, type, d, x, y);
        case ONAX_OP_not: emit(c, OP_W(XOR, w), d, x, literal(c, -1), -1); return 1;
        case ONAX_OP_sign: return emit_sign(c, type, d, x);
        case ONAX_OP_abs: emit(c, w ? ABS_I64 : ABS_I32, d, 0, VECTOR(x), -1); return 1;
        case ONAX_OP_neg:
            emit(c, OP_W(XOR, w), d, d, VECTOR(d), -1);
            emit(c, w ? SUB_I64 : SUB_I32, d, d, VECTOR(x), -1);
            return 1;
        default: return 0;
    }
    emit(c, opcode, d, x, VECTOR(y), -1);
    return 1;
}

/* A comparison, or another question about numbers: d is a mask. */
static int emit_question(compiler *c, int operation, int type, int d, int x, int y) {
    const int w = w_of(c), floats = is_float(type), at = operation - ONAX_OP_eq;
    static const uint8_t predicates[2][4] = {{INTEGER_EQ, INTEGER_NE, INTEGER_LT, INTEGER_LE}, {FLOAT_EQ, FLOAT_NE, FLOAT_LT, FLOAT_LE}};
    if (operation == ONAX_OP_to_bool) compare(c, type, d, x, literal(c, 0), floats ? FLOAT_NE : INTEGER_NE);
    else if (operation == ONAX_OP_is_finite && floats && c->is_narrow) {
        emit(c, AND, d, x, literal(c, w ? INT64_MAX : INT32_MAX), -1);
        compare(c, type, d, d, float_literal(c, (double)INFINITY), FLOAT_LT);
    } else if (operation == ONAX_OP_is_finite && floats) {
        emit(c, OP_W(CLASS_OF_FLOATS, w), d, 0, VECTOR(x), NOT_FINITE);
        mask_move(&c->body, MASK_NOT, d, d);
    } else if (at >= 0 && operation <= ONAX_OP_le) compare(c, type, d, x, VECTOR(y), predicates[floats][at]);
    else return 0;
    return 1;
}

static int emit_bool_narrow(compiler *c, int operation, int d, int x, int y) {
    switch (operation) {
        case ONAX_OP_and: case ONAX_OP_min: emit(c, AND, d, x, VECTOR(y), -1); return 1;
        case ONAX_OP_or: case ONAX_OP_max: emit(c, OR, d, x, VECTOR(y), -1); return 1;
        case ONAX_OP_xor: case ONAX_OP_ne: emit(c, XOR, d, x, VECTOR(y), -1); return 1;
        case ONAX_OP_eq: emit(c, XOR, d, x, VECTOR(y), -1); invert(c, d); return 1;
        case ONAX_OP_not: emit(c, XOR, d, x, literal_of_8_bytes(c, -1), -1); return 1;
        default: return 0;
    }
}

static int emit_bool(compiler *c, int operation, int d, int x, int y) {
    code *b = &c->body;
    if (c->is_narrow) return emit_bool_narrow(c, operation, d, x, y);
    switch (operation) {
        case ONAX_OP_and: case ONAX_OP_min: mask_operation(b, MASK_AND, d, x, y); return 1;
        case ONAX_OP_or: case ONAX_OP_max: mask_operation(b, MASK_OR, d, x, y); return 1;
        case ONAX_OP_xor: case ONAX_OP_ne: mask_operation(b, MASK_XOR, d, x, y); return 1;
        case ONAX_OP_eq: mask_operation(b, MASK_XNOR, d, x, y); return 1;
        case ONAX_OP_not: mask_move(b, MASK_NOT, d, x); return 1;
        default: return 0;
    }
}

/* float32 to int32: saturates; NaN becomes 0. */
static void emit_float_to_integer(compiler *c, int d, int x) {
    const int k = new_mask(c);
    emit(c, F32_TO_I32, d, 0, VECTOR(x), -1);
    emit(c, COMPARE_FLOATS, k, x, float_literal(c, 0x1p31), AT_LEAST);
    choose(c, d, d, literal(c, INT32_MAX), k);
    emit(c, COMPARE_FLOATS, k, x, VECTOR(x), UNORDERED);
    choose(c, d, d, literal(c, 0), k);
    free_mask(c, k);
}

/* uint32 to float32: both halves are exact, their sum is rounded once. */
static void emit_unsigned_to_float(compiler *c, int d, int x) {
    if (!c->is_narrow) { emit(c, U32_TO_F32, d, 0, VECTOR(x), -1); return; }
    const int t = new_vector(c);
    emit(c, SHIFT_32_BY, RIGHT_32, t, VECTOR(x), 16);
    emit(c, I32_TO_F32, t, 0, VECTOR(t), -1);
    emit(c, MUL_FLOATS, t, t, float_literal(c, 0x1p16), -1);
    emit(c, AND, d, x, literal(c, 0xFFFF), -1);
    emit(c, I32_TO_F32, d, 0, VECTOR(d), -1);
    emit(c, ADD_FLOATS, d, d, VECTOR(t), -1);
    free_vector(c, t);
}

/* A float32 rounded to bfloat16, as onax_to_bf16 does.  If it is NaN and made of bfloat16, its lower half is 0 already. */
static void emit_round_to_bf16(compiler *c, int d, int is_of_bf16) {
    const int t = new_vector(c), k = is_of_bf16 ? 0 : new_mask(c), nan = is_of_bf16 ? 0 : new_vector(c);
    if (!is_of_bf16) {
        emit(c, COMPARE_FLOATS, k, d, VECTOR(d), UNORDERED);
        emit(c, AND, nan, d, literal(c, (int64_t)1 << 31), -1);
        emit(c, OR, nan, nan, literal(c, 0x7fc00000), -1);
    }
    emit(c, SHIFT_32_BY, RIGHT_32, t, VECTOR(d), 16);
    emit(c, AND, t, t, literal(c, 1), -1);
    emit(c, ADD_I32, d, d, literal(c, 0x7fff), -1);
    emit(c, ADD_I32, d, d, VECTOR(t), -1);
    emit(c, AND, d, d, literal(c, 0xffff0000), -1);
    free_vector(c, t);
    if (is_of_bf16) return;
    choose(c, d, d, VECTOR(nan), k);
    free_mask(c, k);
    free_vector(c, nan);
}

/* Whether a result that a step computes in float32 may have more places than bfloat16. */
static int is_to_round(int operation, char signature) {
    return signature == 'V' || operation == ONAX_OP_add || operation == ONAX_OP_sub || operation == ONAX_OP_mul
           || operation == ONAX_OP_div || operation == ONAX_OP_sqrt;
}

/* Conversions between numbers of one width. */
static int emit_conversion(compiler *c, int type, int target, int d, int x) {
    if (is_float(type) == is_float(target)) emit(c, OP_W(LOAD, w_of(c)), d, 0, VECTOR(x), -1);
    else if (type == ONAX_F32 && target == ONAX_I32) emit_float_to_integer(c, d, x);
    else if (type == ONAX_I32) emit(c, I32_TO_F32, d, 0, VECTOR(x), -1);
    else if (type == ONAX_U32) emit_unsigned_to_float(c, d, x);
    else if (c->is_narrow) return 0;
    else if (type == ONAX_I64) emit(c, I64_TO_F64, d, 0, VECTOR(x), -1);
    else if (type == ONAX_U64) emit(c, U64_TO_F64, d, 0, VECTOR(x), -1);
    else return 0;
    return 1;
}

/* ---- steps */

/* The result, in the vector or mask d; 0 if there is no code for it. */
static int emit_result(compiler *c, const step *s, int type, int target, int d) {
    const char signature = onax_operations[s->operation].signature;
    const int is_binary = signature == 'B' || signature == 'C';
    int x, y;
    if (signature == 'S') {
        const int k = mask_of(c, s->first);
        x = value_of(c, s->second);
        y = value_of(c, s->third);
        choose(c, d, y, VECTOR(x), k);
        return 1;
    }
    if (type == ONAX_BOOL) {
        x = mask_of(c, s->first);
        y = is_binary ? mask_of(c, s->second) : 0;
        if (target == ONAX_BOOL) return emit_bool(c, s->operation, d, x, y);
        emit_number_of_bool(c, target, d, x);
        return signature == 'V';
    }
    x = value_of(c, s->first);
    y = is_binary ? value_of(c, s->second) : 0;
    if (target == ONAX_BOOL) return emit_question(c, s->operation, type, d, x, y);
    if (signature == 'V') return emit_conversion(c, type, target, d, x);
    if (signature == 'M') { emit(c, OP_W(LOAD, w_of(c)), d, 0, VECTOR(x), -1); return 1; }
    return is_float(type) ? emit_float(c, s->operation, type, d, x, y) : emit_integer(c, s->operation, type, d, x, y);
}

static int type_of(const loop *l, const step *s) {
    return l->registers[onax_operations[s->operation].signature == 'S' ? s->second : s->first].type;
}

/* Whether a type takes part in runs of this width. */
static int fits(const compiler *c, int type) {
    return type == ONAX_BOOL || computed_bytes(c, type) == c->width;
}

static int emit_step(compiler *c, int i) {
    const step *s = &c->l->steps[i];
    const use *u = &c->uses[i];
    const char signature = onax_operations[s->operation].signature;
    const int of = type_of(c->l, s), to = c->l->registers[s->target].type, n = s->operands;
    const int type = computed_type(of), target = computed_type(to);
    const int32_t read[3] = {s->first, s->second, s->third};
    place *result;
    int d;
    if (s->fold >= 0 || strchr("GTRXY", signature) || !fits(c, of) || !fits(c, to)) return 0;
    if (to == ONAX_BF16 && type != ONAX_F32 && type != ONAX_BOOL) return 0;   /* integers are not rounded twice */
    c->step = i;
    c->busy[0] = NOWHERE;
    for (int k = 0; k < 3; k++) c->busy[1 + k] = k < n ? read[k] : NOWHERE;
    d = target == ONAX_BOOL ? new_mask(c) : new_vector(c);
    if (!emit_result(c, s, type, target, d) || c->failed) return 0;
    if (to == ONAX_BF16 && type == ONAX_F32 && is_to_round(s->operation, signature)) emit_round_to_bf16(c, d, of == ONAX_BF16);
    for (int k = 0; k < n; k++) {
        place *p = place_of(c, read[k]);
        if (read[k] == s->target || u->after[1 + k] < 0 || (u->after[1 + k] >= c->past && !p->is_written)) forget(c, p);
    }
    result = place_of(c, s->target);
    forget(c, result);
    *(target == ONAX_BOOL ? &result->mask : &result->vector) = (int16_t)d;
    result->is_written = 1;
    if (c->l->registers[s->target].kind == ONAX_DIRECT || u->last >= c->past) {
        store(c, s->target, result);
        result->is_written = 0;
    }
    if (u->last < 0 || u->after[0] >= c->past || u->after[0] < 0) forget(c, result);
    return !c->failed;
}

/* ---- runs */

static void start_pass(compiler *c) {
    int kept = 0;
    c->vectors = c->is_narrow ? NARROW_TAKEN : 0;
    c->masks = 0;
    for (int i = 0; i < c->n_touched; i++) {
        const place *p = &c->places[c->touched[i]];
        if (!p->is_pinned) continue;
        c->vectors |= 1u << p->vector;
        c->touched[kept++] = c->touched[i];
    }
    c->n_touched = kept;
    for (int i = 0; i < c->n_reciprocals; i++) c->vectors |= 1u << c->reciprocals[i].vector;
}

static void pin_all(compiler *c) {
    for (int i = c->first; i < c->past; i++) {
        const step *s = &c->l->steps[i];
        const int32_t read[3] = {s->first, s->second, s->third};
        for (int k = 0; k < s->operands; k++) pin(c, read[k]);
        pin_reciprocal(c, s);
    }
}

/* Both passes of the steps first ... past - 1; gives the step that has no code, or `past`. */
static int emit_run(compiler *c) {
    c->head.size = c->body.size = c->n_pinned = c->n_pointers = c->n_touched = c->n_literals = c->n_reciprocals = c->failed = 0;
    c->head.n_references = c->body.n_references = 0;
    c->vectors = c->is_narrow ? NARROW_TAKEN : 0;
    pin_all(c);
    for (c->is_last_pass = 0; c->is_last_pass < 2; c->is_last_pass++) {
        start_pass(c);
        for (int i = c->first; i < c->past; i++)
            if (!emit_step(c, i)) return i;
        if (!c->is_last_pass) c->main = c->body.size;
    }
    return c->past;
}

/* The width of the first step that has one, within which bools alone may come before it. */
static int width_at(const compiler *c, int i) {
    const loop *l = c->l;
    for (; i < l->n_steps; i++) {
        const step *s = &l->steps[i];
        const int types[] = {type_of(l, s), l->registers[s->target].type};
        for (int k = 0; k < 2; k++)
            if (types[k] != ONAX_BOOL) return computed_bytes(c, types[k]);
    }
    return 0;
}

/* A product, or the square of a difference, whose sum over rows one kernel computes (blocks_pairs.c) is no part of a run. */
static void leave_sums(compiler *c) {
    const loop *l = c->l;
    const step *s = &l->steps[c->past - 1];
    const use *u = &c->uses[c->past - 1];
    if (l->n <= l->block || s->operation != ONAX_OP_mul || u->last < 0 || u->last != u->after[0]) return;
    if (l->steps[u->last].operation != ONAX_OP_sum || !is_float(type_of(l, s)) || l->registers[s->target].kind == ONAX_DIRECT) return;
    c->past--;
    if (s->first == s->second && c->past > c->first && l->steps[c->past - 1].operation == ONAX_OP_sub
        && l->steps[c->past - 1].target == s->first && c->uses[c->past - 1].last == c->past) c->past--;
}

/* ---- the function around the passes */

static int64_t put_jump(code *o, int condition) {
    put(o, 0x0F);
    put(o, (unsigned)condition);
    put_word(o, 0);
    return o->size;
}
static void set_jump(code *o, int64_t from, int64_t to) {
    const int32_t distance = (int32_t)(to - from);
    if (!o->is_full) memcpy(o->bytes + from - 4, &distance, 4);
}

enum { IF_LESS = 0x8C, IF_NOT_GREATER = 0x8E, IF_GREATER = 0x8F };

/* Appends a part of the passes, and its references to literals. */
static void append(code *o, const code *part, int64_t from, int64_t to) {
    for (int i = 0; i < part->n_references && !part->is_full; i++) {
        const reference *r = &part->references[i];
        if (r->at < from || r->at >= to) continue;
        const int64_t at = o->size - from;
        put_reference(o, r->number, 0);
        o->size -= 4;
        o->references[o->n_references - 1] = (reference){r->at + at, r->end + at, r->number};
    }
    for (int64_t i = from; i < to && !part->is_full; i++) put(o, part->bytes[i]);
}

/* kernel(rdi: addresses, ..., r8: n):  for (rcx = 0, r8 -= lanes; rcx <= r8; rcx += lanes) pass; the last pass if some are
   left, which is one over all of them, or with AVX2 over each. */
static void put_function(compiler *c, code *o) {
    const int lanes = vector_bytes(c) / c->width;
    int64_t skip, end, top;
    append(o, &c->head, 0, c->head.size);
    PUT(o, "\x31\xC9\x49\x83\xE8");                    /* xor ecx, ecx;  sub r8, lanes */
    put(o, (unsigned)lanes);
    skip = put_jump(o, IF_LESS);
    top = o->size;
    append(o, &c->body, 0, c->main);
    PUT(o, "\x48\x83\xC1");                              /* add rcx, lanes;  cmp rcx, r8 */
    put(o, (unsigned)lanes);
    PUT(o, "\x4C\x39\xC1");
    end = put_jump(o, IF_NOT_GREATER);
    set_jump(o, end, top);
    set_jump(o, skip, o->size);
    PUT(o, "\x49\x83\xC0");                              /* add r8, lanes;  sub r8, rcx */
    put(o, (unsigned)lanes);
    PUT(o, "\x49\x29\xC8");
    end = put_jump(o, IF_NOT_GREATER);
    top = o->size;
    if (!c->is_narrow) PUT(o, "\x41\xBB\xFF\xFF\xFF\xFF\xC4\x42\x38\xF5\xDB\xC4\xC1\x78\x92\xFB");  /* mov r11d, -1;  bzhi r11d, r11d, r8d;  kmovw k7, r11d */
    append(o, &c->body, c->main, c->body.size);
    if (c->is_narrow) {
        PUT(o, "\x48\xFF\xC1\x49\xFF\xC8");              /* inc rcx;  dec r8 */
        set_jump(o, put_jump(o, IF_GREATER), top);
    }
    set_jump(o, end, o->size);
    PUT(o, "\xC5\xF8\x77\xC3");                          /* vzeroupper;  ret */
}

/* ---- loops */

static void find_uses(const loop *l, use *uses, int32_t *next, int32_t *last) {
    for (int i = 0; i < l->n_registers; i++) next[i] = last[i] = -1;
    for (int i = l->n_steps - 1; i >= 0; i--) {
        const step *s = &l->steps[i];
        const int32_t read[3] = {s->first, s->second, s->third};
        uses[i].after[0] = next[s->target];
        uses[i].last = last[s->target];
        next[s->target] = last[s->target] = -1;
        for (int k = 0; k < s->operands; k++) uses[i].after[1 + k] = next[read[k]];
        for (int k = 0; k < s->operands; k++) {
            next[read[k]] = i;
            if (last[read[k]] < 0) last[read[k]] = i;
        }
    }
}

static int reads_repeated(const loop *l, const step *s) {
    const int32_t read[3] = {s->first, s->second, s->third};
    int found = 0;
    for (int k = 0; k < s->operands; k++) found |= l->registers[read[k]].is_repeated;
    return found;
}

/* The longest run that begins at a step; 0 steps if there is none of use. */
static int compile_run(compiler *c, int first) {
    c->first = first;
    c->width = width_at(c, first);
    c->past = first + LONGEST_RUN < c->l->n_steps ? first + LONGEST_RUN : c->l->n_steps;
    if (c->width != 4 && c->width != 8) return 0;
    for (;;) {
        const int reached = emit_run(c);
        if (reached == c->past) {
            leave_sums(c);
            if (reached == c->past) return c->past - first;
        } else c->past = reached;
        if (c->past - first < (reads_repeated(c->l, &c->l->steps[first]) ? 1 : FEWEST)) return 0;
    }
}

static void compile_loop(loop *l, compiler *c, code *o) {
    for (int i = 0; i < l->n_steps;) {
        const int n = compile_run(c, i);
        if (!n) { i++; continue; }
        l->steps[i].code = o->size;
        for (int k = 0; k < n; k++) l->steps[i + k].run = k ? INSIDE_RUN : STARTS_RUN;
        put_function(c, o);
        put_literals(c, o);
        i += n;
    }
}

enum vectors_of_runs { NO_VECTORS = 1, NARROW_VECTORS, WIDE_VECTORS };

/* The vectors for which there is code: the widest that the CPU has, unless ONAX_MACHINE_CODE says avx2 or off. */
static int known_vectors(void) {
    static int known;
    if (!known) {
        const char *wish = getenv("ONAX_MACHINE_CODE");
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const int may = page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
        if (page != MAP_FAILED) munmap(page, 4096);
        __builtin_cpu_init();
        if (!may || (wish && !strcmp(wish, "off"))) known = NO_VECTORS;
        else if (__builtin_cpu_supports("x86-64-v4") && !(wish && !strcmp(wish, "avx2"))) known = WIDE_VECTORS;
        else known = __builtin_cpu_supports("x86-64-v3") ? NARROW_VECTORS : NO_VECTORS;
    }
    return known;
}

/* Of what runs alone read, a single element is enough. */
static void find_singles(loop *l) {
    for (int i = 0; i < l->n_registers; i++) {
        reg *g = &l->registers[i];
        g->is_single = (g->is_repeated || g->uniform) && (is_number(g->type) || g->type == ONAX_BF16);
    }
    for (int i = 0; i < l->n_steps; i++) {
        const step *s = &l->steps[i];
        const int32_t read[3] = {s->first, s->second, s->third};
        for (int k = 0; k < s->operands; k++)
            if (s->run) l->registers[read[k]].is_in_code = 1;
            else l->registers[read[k]].is_single = 0;
    }
}

/* Loops that are one run, which needs no memory for blocks, go on in longer ones; still there are several. */
static void lengthen_blocks(loop *l) {
    int64_t most = l->n / 2 / 64 * 64;
    if (most > LONGEST_BLOCK) most = LONGEST_BLOCK;
    for (int i = 0; i < l->n_steps; i++)
        if (l->steps[i].run != (i ? INSIDE_RUN : STARTS_RUN)) return;
    for (int i = 0; i < l->n_registers; i++) {
        const reg *g = &l->registers[i];
        if (g->kind != ONAX_BLOCK && is_scratch(g) && !g->is_single && !onax_is_dense(l, g)) return;
    }
    if (l->n > l->block && most > l->block) l->block = most;
}

static const char *compile_with(compiler *c, onax_program *p, loop *l, use *uses) {
    code o = {.bytes = p->code, .size = p->code_bytes, .room = p->code_room};
    find_uses(l, uses, c->touched, c->touched + l->n_registers);
    compile_loop(l, c, &o);
    find_singles(l);
    lengthen_blocks(l);
    p->code = o.bytes;
    p->code_bytes = o.size;
    p->code_room = o.room;
    free(o.references);
    return o.is_full || c->head.is_full || c->body.is_full ? "no memory" : NULL;
}

const char *onax_compile_steps(onax_program *p, loop *l) {
    const size_t n = (size_t)l->n_registers + 1;
    compiler c = {.l = l, .is_narrow = known_vectors() == NARROW_VECTORS};
    const char *fault = "no memory";
    use *uses;
    if (l->n < 2 || known_vectors() == NO_VECTORS) return NULL;
    uses = malloc(((size_t)l->n_steps + 1) * sizeof *uses);
    c.places = malloc(n * sizeof *c.places);
    c.touched = malloc(2 * n * sizeof(int32_t));
    c.uses = uses;
    if (uses && c.places && c.touched) fault = compile_with(&c, p, l, uses);
    free(uses);
    free(c.places);
    free(c.touched);
    free(c.head.bytes);
    free(c.head.references);
    free(c.body.bytes);
    free(c.body.references);
    return fault;
}

static size_t page_bytes(const onax_program *p) { return ((size_t)p->code_bytes + 4095) / 4096 * 4096; }

const char *onax_place_code(onax_program *p) {
    uint8_t *pages, *bytes = p->code;
    if (!p->code_bytes) return NULL;
    pages = mmap(NULL, page_bytes(p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return "no memory";
    memcpy(pages, bytes, (size_t)p->code_bytes);
    free(bytes);
    p->code = pages;
    p->code_room = 0;          /* these are pages */
    if (mprotect(pages, page_bytes(p), PROT_READ | PROT_EXEC)) return "no memory";
    for (int k = 0; k < p->n_loops; k++)
        for (int i = 0; i < p->loops[k].n_steps; i++) {
            step *s = &p->loops[k].steps[i];
            void *start = pages + s->code;
            if (s->run) memcpy(&s->kernel, &start, sizeof start);
        }
    return NULL;
}

void onax_free_code(onax_program *p) {
    if (p->code_room || !p->code_bytes) free(p->code);
    else munmap(p->code, page_bytes(p));
}

#else

const char *onax_compile_steps(onax_program *p, loop *l) { (void)p, (void)l; return NULL; }
const char *onax_place_code(onax_program *p) { (void)p; return NULL; }
void onax_free_code(onax_program *p) { (void)p; }

#endif
