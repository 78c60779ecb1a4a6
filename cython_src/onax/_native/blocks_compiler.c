/* Machine code for runs of steps of a loop, so that what is between them stays in vector registers: where the CPU has
   AVX-512, onax_compile_loops replaces each run by one step.  Every operation rounds by itself, as its kernel does, so
   results have the same bits.

   A run is of one width: its registers have elements of four bytes, or of eight, beside bools, which are masks.  The
   function that it becomes is called as kernel(registers' addresses, NULL, NULL, NULL, n). */
#include "blocks_program.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(ONAX_SANITIZED)

#include <sys/mman.h>

#include "blocks_encoder.h"

#define VECTORS 32
#define MASKS 7                /* k1 ... k6 hold values, k7 says which lanes the last pass has */
#define LAST_LANES 7
#define MOST_PINNED 14         /* vector registers that hold what is the same everywhere */
#define MOST_LITERALS 32
#define LONGEST_BLOCK 16384    /* positions of a block of a loop that is one run */
#define MOST_RECIPROCALS 4
#define FEWEST 2               /* steps of a run none of which reads what is the same in a block */
#define LONGEST_RUN 512
#define NOWHERE (-1)

static const int pointer_registers[] = {RAX, RDX, RSI, R9, R10};
#define POINTERS 5

/* Where the value of a register of the loop is while a run is being compiled. */
typedef struct { int16_t vector, mask; uint8_t is_written, is_pinned; } place;

/* What becomes of a step's value: the step that reads each register next (the target's first), -1 if it is written
   before or never read; and the last step that reads the result. */
typedef struct { int32_t after[4], last; } use;

typedef struct {
    const loop *l;
    const use *uses;
    int width, first, past;    /* bytes of an element; the run's steps */
    code head, body;           /* what runs once; the passes over whole vectors, then, from `main` bytes on, the last pass */
    int64_t main;
    place *places;
    int32_t *touched;          /* registers of which `places` says something */
    int n_touched, n_pinned, n_pointers, is_last_pass, failed;
    int32_t pointers[POINTERS];
    uint32_t vectors;          /* taken */
    unsigned masks;
    int64_t literals[MOST_LITERALS];
    int n_literals;
    int32_t busy[4];           /* registers that the current step needs */
    struct { int32_t divisor; int vector; } reciprocals[MOST_RECIPROCALS];
    int n_reciprocals, step;
} compiler;

static int w_of(const compiler *c) { return c->width == 8; }

/* ---- registers */

static void spare_a_vector(compiler *c) {
    for (int i = 0; i < c->n_touched; i++) {
        place *p = &c->places[c->touched[i]];
        int is_needed = p->vector < 0 || p->is_written || p->is_pinned;
        for (int k = 0; k < 4; k++) is_needed |= c->busy[k] == c->touched[i];
        if (is_needed) continue;
        c->vectors &= ~(1u << p->vector);
        p->vector = NOWHERE;
        return;
    }
}

static int new_vector(compiler *c) {
    if (c->vectors == UINT32_MAX) spare_a_vector(c);
    if (c->vectors == UINT32_MAX) { c->failed = 1; return 0; }
    const int v = __builtin_ctz(~c->vectors);
    c->vectors |= 1u << v;
    return v;
}

static void free_vector(compiler *c, int v) { c->vectors &= ~(1u << v); }

static int new_mask(compiler *c) {
    for (int k = 1; k < LAST_LANES; k++)
        if (!(c->masks >> k & 1)) { c->masks |= 1u << k; return k; }
    c->failed = 1;
    return 1;
}

static void free_mask(compiler *c, int k) { c->masks &= ~(1u << k); }

static operand literal_of_8_bytes(compiler *c, int64_t bits) {
    for (int i = 0; i < c->n_literals; i++)
        if (c->literals[i] == bits) return LITERAL(i);
    if (c->n_literals == MOST_LITERALS) { c->failed = 1; return LITERAL(0); }
    c->literals[c->n_literals] = bits;
    return LITERAL(c->n_literals++);
}

/* A number of the run's width. */
static operand literal(compiler *c, int64_t bits) { return literal_of_8_bytes(c, c->width == 4 ? bits & 0xFFFFFFFF : bits); }

static operand float_literal(compiler *c, double x) {
    const float narrow = (float)x;
    int64_t bits = 0;
    if (c->width == 8) memcpy(&bits, &x, 8);
    else memcpy(&bits, &narrow, 4);
    return literal(c, bits);
}

static place *place_of(compiler *c, int32_t r) {
    place *p = &c->places[r];
    for (int i = 0; i < c->n_touched; i++)
        if (c->touched[i] == r) return p;
    c->touched[c->n_touched++] = r;
    *p = (place){NOWHERE, NOWHERE, 0, 0};
    return p;
}

/* The elements of a register of the loop, in memory. */
static operand memory_of(compiler *c, int32_t r) {
    const int size = c->l->registers[r].size;
    operand o = {IN_MEMORY, R11, size == 8 ? 3 : size == 4 ? 2 : 0};
    for (int i = 0; i < c->n_pointers; i++)
        if (c->pointers[i] == r) { o.number = pointer_registers[i]; return o; }
    if (c->n_pointers < POINTERS && !c->is_last_pass) {
        o.number = pointer_registers[c->n_pointers];
        load_pointer(&c->head, o.number, r);
        c->pointers[c->n_pointers++] = r;
    } else load_pointer(&c->body, R11, r);
    return o;
}

static int lanes_mask(const compiler *c) { return c->is_last_pass ? LAST_LANES : 0; }

/* An instruction of the passes; the last lanes' mask is for what touches memory of the loop. */
static void emit(compiler *c, int opcode, int to, int first, operand second, int immediate) {
    evex(&c->body, opcode, to, first, second, 0, 0, immediate);
}
static void emit_masked(compiler *c, int opcode, int to, int first, operand second, int mask) {
    evex(&c->body, opcode, to, first, second, mask, 0, -1);
}

/* What is the same everywhere is in a vector from the beginning on. */
static void pin(compiler *c, int32_t r) {
    const reg *g = &c->l->registers[r];
    place *p;
    if (!(g->uniform || g->is_repeated) || g->size != c->width || c->n_pinned == MOST_PINNED || (p = place_of(c, r))->vector >= 0) return;
    p->vector = (int16_t)new_vector(c);
    p->is_pinned = 1;
    c->n_pinned++;
    load_pointer(&c->head, R11, r);
    broadcast_at_r11(&c->head, OP_W(BROADCAST, w_of(c)) + w_of(c), p->vector);
}

/* The vector that holds a register's value. */
static int value_of(compiler *c, int32_t r) {
    place *p = place_of(c, r);
    if (p->vector >= 0) return p->vector;
    if (c->l->registers[r].size != c->width) { c->failed = 1; return 0; }
    p->vector = (int16_t)new_vector(c);
    if (c->l->registers[r].is_repeated || c->l->registers[r].uniform) {
        load_pointer(&c->body, R11, r);
        broadcast_at_r11(&c->body, OP_W(BROADCAST, w_of(c)) + w_of(c), p->vector);
        return p->vector;
    }
    const operand from = memory_of(c, r);
    evex(&c->body, OP_W(LOAD, w_of(c)), p->vector, 0, from, lanes_mask(c), c->is_last_pass, -1);
    return p->vector;
}

/* The mask that holds a bool's value. */
static int mask_of(compiler *c, int32_t r) {
    place *p = place_of(c, r);
    if (p->mask >= 0) return p->mask;
    const int t = new_vector(c);
    const operand from = memory_of(c, r);
    p->mask = (int16_t)new_mask(c);
    evex(&c->body, c->width == 8 ? BYTES_TO_64 : BYTES_TO_32, t, 0, from, lanes_mask(c), c->is_last_pass, -1);
    emit(c, OP_W(TEST, w_of(c)), p->mask, t, VECTOR(t), -1);
    free_vector(c, t);
    return p->mask;
}

static void forget(compiler *c, place *p) {
    if (p->is_pinned) return;
    if (p->vector >= 0) free_vector(c, p->vector);
    if (p->mask >= 0) free_mask(c, p->mask);
    p->vector = p->mask = NOWHERE;
    p->is_written = 0;
}

/* ---- operations: each function gives whether it knows the operation; d is the target's vector or mask */

enum { FLOAT_EQ = 0, FLOAT_LE = 0x12, FLOAT_LT = 0x11, FLOAT_NE = 4, UNORDERED = 3, ORDERED = 7, AT_LEAST = 0x1D, GREATER = 0x1E };
enum { INTEGER_EQ, INTEGER_LT, INTEGER_LE, INTEGER_NE = 4, INTEGER_GT = 6 };
#define NOT_FINITE 0x99        /* classes of vfpclass: quiet and signalling NaN, both infinities */

static int is_float(int type) { return type == ONAX_F32 || type == ONAX_F64; }
static int is_signed(int type) { return type == ONAX_I32 || type == ONAX_I64; }
static int is_number(int type) { return type <= ONAX_U64; }

/* Where the mask is set, d becomes a literal, else it is x. */
static void choose_literal(compiler *c, int d, int x, operand number, int mask) {
    emit_masked(c, OP_W(BLEND, w_of(c)), d, x, number, mask);
}

/* -1, 0 or 1 (of floats NaN and zeros stay). */
static int emit_sign(compiler *c, int type, int d, int x) {
    const int w = w_of(c), k = new_mask(c), floats = is_float(type);
    const int compare = floats ? OP_FLOAT(COMPARE_FLOATS, w) : OP_W(is_signed(type) ? COMPARE_SIGNED : COMPARE_UNSIGNED, w);
    emit(c, compare, k, x, literal(c, 0), floats ? GREATER : INTEGER_GT);
    choose_literal(c, d, x, floats ? float_literal(c, 1) : literal(c, 1), k);
    emit(c, compare, k, x, literal(c, 0), floats ? FLOAT_LT : INTEGER_LT);
    choose_literal(c, d, d, floats ? float_literal(c, -1) : literal(c, -1), k);
    free_mask(c, k);
    return 1;
}

/* The instruction gives the second operand where one is NaN; a first one that is NaN stays. */
static int emit_extreme(compiler *c, int opcode, int d, int x, int y) {
    const int w = w_of(c), k = new_mask(c);
    emit(c, OP_FLOAT(opcode, w), d, x, VECTOR(y), -1);
    emit(c, OP_FLOAT(COMPARE_FLOATS, w), k, x, VECTOR(x), UNORDERED);
    emit_masked(c, OP_W(BLEND, w), d, d, VECTOR(x), k);
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

static int emit_integer(compiler *c, int operation, int type, int d, int x, int y) {
    const int w = w_of(c);
    int opcode;
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
        case ONAX_OP_abs: emit(c, w ? ABS_I64 : ABS_I32, d, 0, VECTOR(x), -1); return is_signed(type);
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
    const int compare = floats ? OP_FLOAT(COMPARE_FLOATS, w) : OP_W(is_signed(type) ? COMPARE_SIGNED : COMPARE_UNSIGNED, w);
    static const uint8_t predicates[2][4] = {{INTEGER_EQ, INTEGER_NE, INTEGER_LT, INTEGER_LE}, {FLOAT_EQ, FLOAT_NE, FLOAT_LT, FLOAT_LE}};
    if (operation == ONAX_OP_to_bool) emit(c, compare, d, x, literal(c, 0), floats ? FLOAT_NE : INTEGER_NE);
    else if (operation == ONAX_OP_is_finite && floats) {
        emit(c, OP_W(CLASS_OF_FLOATS, w), d, 0, VECTOR(x), NOT_FINITE);
        mask_move(&c->body, MASK_NOT, d, d);
    } else if (at >= 0 && operation <= ONAX_OP_le) emit(c, compare, d, x, VECTOR(y), predicates[floats][at]);
    else return 0;
    return 1;
}

static int emit_bool(compiler *c, int operation, int d, int x, int y) {
    code *b = &c->body;
    switch (operation) {
        case ONAX_OP_and: case ONAX_OP_min: mask_operation(b, MASK_AND, d, x, y); return 1;
        case ONAX_OP_or: case ONAX_OP_max: mask_operation(b, MASK_OR, d, x, y); return 1;
        case ONAX_OP_xor: case ONAX_OP_ne: mask_operation(b, MASK_XOR, d, x, y); return 1;
        case ONAX_OP_eq: mask_operation(b, MASK_XNOR, d, x, y); return 1;
        case ONAX_OP_not: mask_move(b, MASK_NOT, d, x); return 1;
        default: return 0;
    }
}

/* A bool as 0 or 1. */
static void emit_number_of_bool(compiler *c, int type, int d, int mask) {
    operand one = is_float(type) ? float_literal(c, 1) : literal(c, 1);
    one.kind = IN_POOL;
    evex(&c->body, OP_W(BROADCAST, w_of(c)) + w_of(c), d, 0, one, mask, 1, -1);
}

/* float32 to int32: saturates; NaN becomes 0. */
static void emit_float_to_integer(compiler *c, int d, int x) {
    const int k = new_mask(c);
    emit(c, F32_TO_I32, d, 0, VECTOR(x), -1);
    emit(c, COMPARE_FLOATS, k, x, float_literal(c, 0x1p31), AT_LEAST);
    choose_literal(c, d, d, literal(c, INT32_MAX), k);
    emit(c, COMPARE_FLOATS, k, x, VECTOR(x), UNORDERED);
    choose_literal(c, d, d, literal(c, 0), k);
    free_mask(c, k);
}

/* Conversions between numbers of one width. */
static int emit_conversion(compiler *c, int type, int target, int d, int x) {
    if (is_float(type) == is_float(target)) emit(c, OP_W(LOAD, w_of(c)), d, 0, VECTOR(x), -1);
    else if (type == ONAX_F32 && target == ONAX_I32) emit_float_to_integer(c, d, x);
    else if (type == ONAX_I32) emit(c, I32_TO_F32, d, 0, VECTOR(x), -1);
    else if (type == ONAX_U32) emit(c, U32_TO_F32, d, 0, VECTOR(x), -1);
    else if (type == ONAX_I64) emit(c, I64_TO_F64, d, 0, VECTOR(x), -1);
    else if (type == ONAX_U64) emit(c, U64_TO_F64, d, 0, VECTOR(x), -1);
    else return 0;
    return 1;
}

/* ---- steps */

static void store(compiler *c, int32_t r, const place *p) {
    const int is_mask = p->mask >= 0;
    const int from = is_mask ? new_vector(c) : p->vector;
    if (is_mask) emit_number_of_bool(c, ONAX_BOOL, from, p->mask);
    const operand to = memory_of(c, r);
    evex(&c->body, is_mask ? (w_of(c) ? BYTES_OF_64 : BYTES_OF_32) : OP_W(STORE, w_of(c)), from, 0, to, lanes_mask(c), 0, -1);
    if (is_mask) free_vector(c, from);
}

/* The result, in the vector or mask d; 0 if there is no code for it. */
static int emit_result(compiler *c, const step *s, int type, int target, int d) {
    const char signature = onax_operations[s->operation].signature;
    const int is_binary = signature == 'B' || signature == 'C';
    int x, y;
    if (signature == 'S') {
        const int k = mask_of(c, s->first);
        x = value_of(c, s->second);
        y = value_of(c, s->third);
        emit_masked(c, OP_W(BLEND, w_of(c)), d, y, VECTOR(x), k);
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
    return type == ONAX_BOOL || (is_number(type) && onax_type_sizes[type] == c->width);
}

static int emit_step(compiler *c, int i) {
    const step *s = &c->l->steps[i];
    const use *u = &c->uses[i];
    const int type = type_of(c->l, s), target = c->l->registers[s->target].type, n = s->operands;
    const int32_t read[3] = {s->first, s->second, s->third};
    place *result;
    int d;
    if (s->fold >= 0 || strchr("GTRXY", onax_operations[s->operation].signature) || !fits(c, type) || !fits(c, target)) return 0;
    c->step = i;
    c->busy[0] = NOWHERE;
    for (int k = 0; k < 3; k++) c->busy[1 + k] = k < n ? read[k] : NOWHERE;
    d = target == ONAX_BOOL ? new_mask(c) : new_vector(c);
    if (!emit_result(c, s, type, target, d) || c->failed) return 0;
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
    c->vectors = 0;
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
    c->vectors = 0;
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
static int width_at(const loop *l, int i) {
    for (; i < l->n_steps; i++) {
        const step *s = &l->steps[i];
        const int types[] = {type_of(l, s), l->registers[s->target].type};
        for (int k = 0; k < 2; k++)
            if (types[k] != ONAX_BOOL) return is_number(types[k]) ? onax_type_sizes[types[k]] : 0;
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

enum { IF_LESS = 0x8C, IF_NOT_GREATER = 0x8E };

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

/* kernel(rdi: addresses, ..., r8: n):  for (rcx = 0, r8 -= lanes; rcx <= r8; rcx += lanes) pass; the last pass if some are left */
static void put_function(compiler *c, code *o) {
    const int lanes = 64 / c->width;
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
    PUT(o, "\x41\xBB\xFF\xFF\xFF\xFF");                  /* mov r11d, -1;  bzhi r11d, r11d, r8d;  kmovw k7, r11d */
    PUT(o, "\xC4\x42\x38\xF5\xDB\xC4\xC1\x78\x92\xFB");
    append(o, &c->body, c->main, c->body.size);
    set_jump(o, end, o->size);
    PUT(o, "\xC5\xF8\x77\xC3");                          /* vzeroupper;  ret */
}

/* The literals, and where the instructions find them. */
static void put_literals(compiler *c, code *o) {
    int64_t start;
    while (o->size % 8) put(o, 0xCC);
    start = o->size;
    for (int i = 0; i < c->n_literals; i++)
        for (int k = 0; k < 8; k++) put(o, (unsigned)(c->literals[i] >> 8 * k & 255));
    for (int i = 0; i < o->n_references && !o->is_full; i++) {
        const reference *r = &o->references[i];
        const int32_t distance = (int32_t)(start + 8 * r->number - r->end);
        memcpy(o->bytes + r->at, &distance, 4);
    }
    o->n_references = 0;
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
    c->width = width_at(c->l, first);
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

static int is_possible(void) {
    static int known;          /* 1: no, 2: yes */
    if (!known) {
        const char *wish = getenv("ONAX_MACHINE_CODE");
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const int may = page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
        if (page != MAP_FAILED) munmap(page, 4096);
        __builtin_cpu_init();
        known = may && __builtin_cpu_supports("x86-64-v4") && !(wish && !strcmp(wish, "off")) ? 2 : 1;
    }
    return known == 2;
}

/* Of what runs alone read, a single element is enough. */
static void find_singles(loop *l) {
    for (int i = 0; i < l->n_registers; i++) {
        reg *g = &l->registers[i];
        g->is_single = (g->is_repeated || g->uniform) && is_number(g->type);
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
    compiler c = {.l = l};
    const char *fault = "no memory";
    use *uses;
    if (l->n < 2 || !is_possible()) return NULL;
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
