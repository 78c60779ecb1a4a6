/* Registers, literals and memory of the runs of steps that blocks_compiler.c compiles, and the instructions that differ
   between the two kinds of vectors: of 64 bytes with AVX-512, where bools are masks, and of 32 bytes with AVX2, where they
   are vectors whose lanes have all bits set or none. */
#ifndef ONAX_BLOCKS_VECTORS_H
#define ONAX_BLOCKS_VECTORS_H

#include "blocks_encoder.h"
#include "blocks_program.h"

#define MASKS 7                /* k1 ... k6 hold values, k7 says which lanes the last pass has */
#define LAST_LANES 7
#define MOST_PINNED 14         /* vector registers that hold what is the same everywhere */
#define MOST_PINNED_NARROW 6
#define NARROW_TAKEN 0xFFFF0000u  /* vectors that AVX2 does not have */
#define MOST_LITERALS 32
#define LONGEST_BLOCK 16384    /* positions of a block of a loop that is one run */
#define MOST_RECIPROCALS 4
#define FEWEST 2               /* steps of a run none of which reads what is the same in a block */
#define LONGEST_RUN 512
#define NOWHERE (-1)

static const int pointer_registers[] = {RAX, RDX, RSI, R9, R10};
#define POINTERS 5             /* with AVX2 r10 holds bools on their way instead */

/* Where the value of a register of the loop is while a run is being compiled. */
typedef struct { int16_t vector, mask; uint8_t is_written, is_pinned; } place;

/* What becomes of a step's value: the step that reads each register next (the target's first), -1 if it is written
   before or never read; and the last step that reads the result. */
typedef struct { int32_t after[4], last; } use;

typedef struct {
    const loop *l;
    const use *uses;
    int is_narrow;             /* vectors have 32 bytes */
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
    uint8_t literal_sizes[MOST_LITERALS];
    int n_literals;
    int32_t busy[4];           /* registers that the current step needs */
    struct { int32_t divisor; int vector; } reciprocals[MOST_RECIPROCALS];
    int n_reciprocals, step;
} compiler;

static int w_of(const compiler *c) { return c->width == 8; }
static int vector_bytes(const compiler *c) { return c->is_narrow ? 32 : 64; }

static int is_float(int type) { return type == ONAX_F32 || type == ONAX_F64; }
static int is_signed(int type) { return type == ONAX_I32 || type == ONAX_I64; }
static int is_number(int type) { return type <= ONAX_U64; }

/* In the registers of the CPU bfloat16 is float32 whose lower half is 0. */
static int computed_type(int type) { return type == ONAX_BF16 ? ONAX_F32 : type; }

/* The bytes of an element while it is computed with, or 0: there is no code for the type. */
static int computed_bytes(const compiler *c, int type) {
    return is_number(type) ? onax_type_sizes[type] : type == ONAX_BF16 && c->is_narrow ? 4 : 0;
}

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
    if (c->is_narrow) return new_vector(c);
    for (int k = 1; k < LAST_LANES; k++)
        if (!(c->masks >> k & 1)) { c->masks |= 1u << k; return k; }
    c->failed = 1;
    return 1;
}

static void free_mask(compiler *c, int k) {
    if (c->is_narrow) free_vector(c, k);
    else c->masks &= ~(1u << k);
}

static place *place_of(compiler *c, int32_t r) {
    place *p = &c->places[r];
    for (int i = 0; i < c->n_touched; i++)
        if (c->touched[i] == r) return p;
    c->touched[c->n_touched++] = r;
    *p = (place){NOWHERE, NOWHERE, 0, 0};
    return p;
}

static void forget(compiler *c, place *p) {
    if (p->is_pinned) return;
    if (p->vector >= 0) free_vector(c, p->vector);
    if (p->mask >= 0) free_mask(c, p->mask);
    p->vector = p->mask = NOWHERE;
    p->is_written = 0;
}

/* ---- literals: without a prefix that repeats them they fill a vector in memory */

static operand literal_of(compiler *c, int64_t bits, int size) {
    for (int i = 0; i < c->n_literals; i++)
        if (c->literals[i] == bits && (!c->is_narrow || c->literal_sizes[i] == size)) return LITERAL(i);
    if (c->n_literals == MOST_LITERALS) { c->failed = 1; return LITERAL(0); }
    c->literals[c->n_literals] = bits;
    c->literal_sizes[c->n_literals] = (uint8_t)size;
    return LITERAL(c->n_literals++);
}

static operand literal_of_8_bytes(compiler *c, int64_t bits) { return literal_of(c, bits, 8); }

/* A number of the run's width. */
static operand literal(compiler *c, int64_t bits) { return literal_of(c, c->width == 4 ? bits & 0xFFFFFFFF : bits, c->width); }

static operand float_literal(compiler *c, double x) {
    const float narrow = (float)x;
    int64_t bits = 0;
    if (c->width == 8) memcpy(&bits, &x, 8);
    else memcpy(&bits, &narrow, 4);
    return literal(c, bits);
}

/* The literals, and where the instructions find them. */
static void put_literals(const compiler *c, code *o) {
    const int64_t bytes = c->is_narrow ? 32 : 8;
    int64_t start;
    while (o->size % bytes) put(o, 0xCC);
    start = o->size;
    for (int i = 0; i < c->n_literals; i++)
        for (int k = 0; k < bytes; k++) put(o, (unsigned)(c->literals[i] >> 8 * (k % (c->is_narrow ? c->literal_sizes[i] : 8)) & 255));
    for (int i = 0; i < o->n_references && !o->is_full; i++) {
        const reference *r = &o->references[i];
        const int32_t distance = (int32_t)(start + bytes * r->number - r->end);
        memcpy(o->bytes + r->at, &distance, 4);
    }
    o->n_references = 0;
}

/* ---- instructions */

static void emit_to(compiler *c, code *part, int opcode, int to, int first, operand second, int immediate) {
    if (c->is_narrow) vex(part, opcode, to, first, second, immediate, 0);
    else evex(part, opcode, to, first, second, 0, 0, immediate);
}
static void emit(compiler *c, int opcode, int to, int first, operand second, int immediate) {
    emit_to(c, &c->body, opcode, to, first, second, immediate);
}
/* Of 128-bit vectors, with AVX2. */
static void emit_short(compiler *c, int opcode, int to, int first, operand second, int immediate) {
    vex(&c->body, opcode, to, first, second, immediate, 1);
}

/* d is `second` where the mask is set, else x. */
static void choose(compiler *c, int d, int x, operand second, int mask) {
    if (c->is_narrow) emit(c, w_of(c) ? BLEND_64 : BLEND_32, d, x, second, mask << 4);
    else evex(&c->body, OP_W(BLEND, w_of(c)), d, x, second, mask, 0, -1);
}

enum { FLOAT_EQ = 0, FLOAT_LE = 0x12, FLOAT_LT = 0x11, FLOAT_NE = 4, UNORDERED = 3, ORDERED = 7, AT_LEAST = 0x1D, GREATER = 0x1E };
enum { INTEGER_EQ, INTEGER_LT, INTEGER_LE, INTEGER_NE = 4, INTEGER_GT = 6 };

static void invert(compiler *c, int mask) { emit(c, XOR, mask, mask, literal_of_8_bytes(c, -1), -1); }

/* AVX2 compares integers alone that have signs, for equality or for the greater one. */
static void compare_integers_narrow(compiler *c, int type, int mask, int x, operand second, int predicate) {
    const int equal = w_of(c) ? EQUAL_I64 : EQUAL_I32, greater = w_of(c) ? GREATER_I64 : GREATER_I32;
    const operand lowest = is_signed(type) ? second : literal(c, w_of(c) ? INT64_MIN : (int64_t)1 << 31);
    int y, a = x;
    if (predicate == INTEGER_EQ || predicate == INTEGER_NE) {
        emit(c, equal, mask, x, second, -1);
        if (predicate == INTEGER_NE) invert(c, mask);
        return;
    }
    y = new_vector(c);
    if (is_signed(type)) emit(c, LOAD, y, 0, second, -1);
    else {
        a = new_vector(c);
        emit(c, LOAD, y, 0, lowest, -1);
        emit(c, XOR, a, x, VECTOR(y), -1);
        emit(c, XOR, y, y, second, -1);
    }
    if (predicate == INTEGER_LT) emit(c, greater, mask, y, VECTOR(a), -1);
    else emit(c, greater, mask, a, VECTOR(y), -1);
    if (predicate == INTEGER_LE) invert(c, mask);
    free_vector(c, y);
    if (a != x) free_vector(c, a);
}

/* The mask of a comparison of numbers, by the predicates above. */
static void compare(compiler *c, int type, int mask, int x, operand second, int predicate) {
    const int w = w_of(c);
    if (is_float(type)) emit(c, OP_FLOAT(COMPARE_FLOATS, w), mask, x, second, predicate);
    else if (c->is_narrow) compare_integers_narrow(c, type, mask, x, second, predicate);
    else emit(c, OP_W(is_signed(type) ? COMPARE_SIGNED : COMPARE_UNSIGNED, w), mask, x, second, predicate);
}

/* A bool as 0 or 1. */
static void emit_number_of_bool(compiler *c, int type, int d, int mask) {
    operand one = is_float(type) ? float_literal(c, 1) : literal(c, 1);
    if (c->is_narrow) { emit(c, AND, d, mask, one, -1); return; }
    one.kind = IN_POOL;
    evex(&c->body, OP_W(BROADCAST, w_of(c)) + w_of(c), d, 0, one, mask, 1, -1);
}

/* ---- memory */

/* The elements of a register of the loop, in memory. */
static operand memory_of(compiler *c, int32_t r) {
    const int size = c->l->registers[r].size;
    operand o = {IN_MEMORY, R11, size == 8 ? 3 : size / 2};
    for (int i = 0; i < c->n_pointers; i++)
        if (c->pointers[i] == r) { o.number = pointer_registers[i]; return o; }
    if (c->n_pointers < POINTERS - c->is_narrow && !c->is_last_pass) {
        o.number = pointer_registers[c->n_pointers];
        load_pointer(&c->head, o.number, r);
        c->pointers[c->n_pointers++] = r;
    } else load_pointer(&c->body, R11, r);
    return o;
}

/* What is the same everywhere, in all lanes of a vector. */
static void repeat(compiler *c, code *part, int to, int32_t r) {
    load_pointer(part, R11, r);
    if (c->l->registers[r].type == ONAX_BF16) {
        vex_broadcast_at_r11(part, 0x79, to);
        emit_to(c, part, SHIFT_32_BY, LEFT_32, to, VECTOR(to), 16);
    } else if (c->is_narrow) vex_broadcast_at_r11(part, w_of(c) ? 0x59 : 0x58, to);
    else broadcast_at_r11(part, OP_W(BROADCAST, w_of(c)) + w_of(c), to);
}

/* What is the same everywhere is in a vector from the beginning on. */
static void pin(compiler *c, int32_t r) {
    const reg *g = &c->l->registers[r];
    const int most = c->is_narrow ? MOST_PINNED_NARROW : MOST_PINNED;
    place *p;
    if (!(g->uniform || g->is_repeated) || computed_bytes(c, g->type) != c->width || c->n_pinned == most || (p = place_of(c, r))->vector >= 0) return;
    p->vector = (int16_t)new_vector(c);
    p->is_pinned = 1;
    c->n_pinned++;
    repeat(c, &c->head, p->vector, r);
}

/* bfloat16 from memory, and to it. */
static void load_bf16(compiler *c, int to, operand from) {
    if (c->is_last_pass) {
        emit_short(c, XOR, to, to, VECTOR(to), -1);
        emit_short(c, INSERT_WORD, to, to, from, 1);
        return;
    }
    emit(c, WORDS_TO_32, to, 0, from, -1);
    emit(c, SHIFT_32_BY, LEFT_32, to, VECTOR(to), 16);
}
static void store_bf16(compiler *c, operand to, int from) {
    if (c->is_last_pass) { emit_short(c, EXTRACT_WORD, from, 0, to, 1); return; }
    const int low = new_vector(c), high = new_vector(c);
    emit(c, SHIFT_32_BY, RIGHT_32, low, VECTOR(from), 16);
    emit(c, UPPER_128, low, 0, VECTOR(high), 1);
    emit_short(c, PACK_32_UNSIGNED, low, low, VECTOR(high), -1);
    emit_short(c, STORE, low, 0, to, -1);
    free_vector(c, low);
    free_vector(c, high);
}

/* The vector that holds a register's value.  With AVX2 the last pass is one over single elements. */
static int value_of(compiler *c, int32_t r) {
    place *p = place_of(c, r);
    if (p->vector >= 0) return p->vector;
    if (computed_bytes(c, c->l->registers[r].type) != c->width) { c->failed = 1; return 0; }
    p->vector = (int16_t)new_vector(c);
    if (c->l->registers[r].is_repeated || c->l->registers[r].uniform) {
        repeat(c, &c->body, p->vector, r);
        return p->vector;
    }
    const operand from = memory_of(c, r);
    if (c->l->registers[r].type == ONAX_BF16) load_bf16(c, p->vector, from);
    else if (!c->is_narrow) evex(&c->body, OP_W(LOAD, w_of(c)), p->vector, 0, from, c->is_last_pass ? LAST_LANES : 0, c->is_last_pass, -1);
    else if (c->is_last_pass) emit_short(c, w_of(c) ? LOAD_F64 : LOAD_F32, p->vector, 0, from, -1);
    else emit(c, LOAD, p->vector, 0, from, -1);
    return p->vector;
}

/* The mask that holds a bool's value. */
static int mask_of(compiler *c, int32_t r) {
    place *p = place_of(c, r);
    if (p->mask >= 0) return p->mask;
    const int t = new_vector(c), bytes = c->width == 8 ? BYTES_TO_64 : BYTES_TO_32;
    const operand from = memory_of(c, r);
    p->mask = (int16_t)new_mask(c);
    if (!c->is_narrow) {
        evex(&c->body, bytes, t, 0, from, c->is_last_pass ? LAST_LANES : 0, c->is_last_pass, -1);
        emit(c, OP_W(TEST, w_of(c)), p->mask, t, VECTOR(t), -1);
    } else {
        if (c->is_last_pass) {
            move_byte(&c->body, from.number, 0);
            emit_short(c, FROM_GENERAL, t, 0, VECTOR(R10), -1);
        } else emit(c, bytes, t, 0, from, -1);
        emit(c, w_of(c) ? GREATER_I64 : GREATER_I32, p->mask, t, literal(c, 0), -1);
    }
    free_vector(c, t);
    return p->mask;
}

/* Bools of a vector with all bits of a lane set or none: bytes that are 0 or 1. */
static void store_bools_narrow(compiler *c, operand to, int mask) {
    if (c->is_last_pass) {
        emit_short(c, TO_GENERAL, mask, 0, VECTOR(R10), -1);
        PUT(&c->body, "\x41\x83\xE2\x01");                /* and r10d, 1 */
        move_byte(&c->body, to.number, 1);
        return;
    }
    const int t = new_vector(c);
    emit(c, UPPER_128, mask, 0, VECTOR(t), 1);
    emit_short(c, PACK_32, t, mask, VECTOR(t), -1);
    for (int i = 0; i < 1 + w_of(c); i++) emit_short(c, PACK_16, t, t, VECTOR(t), -1);
    emit_short(c, AND, t, t, literal_of_8_bytes(c, 0x0101010101010101), -1);
    emit_short(c, w_of(c) ? TO_GENERAL : STORE_LOW_64, t, 0, to, -1);
    free_vector(c, t);
}

/* Writes the value of a register that memory is to hold. */
static void store(compiler *c, int32_t r, const place *p) {
    const int w = w_of(c), is_mask = p->mask >= 0, lanes = c->is_last_pass ? LAST_LANES : 0;
    if (c->is_narrow) {
        const operand to = memory_of(c, r);
        if (is_mask) store_bools_narrow(c, to, p->mask);
        else if (c->l->registers[r].type == ONAX_BF16) store_bf16(c, to, p->vector);
        else if (c->is_last_pass) emit_short(c, w ? STORE_F64 : STORE_F32, p->vector, 0, to, -1);
        else emit(c, STORE, p->vector, 0, to, -1);
        return;
    }
    const int from = is_mask ? new_vector(c) : p->vector;
    if (is_mask) emit_number_of_bool(c, ONAX_BOOL, from, p->mask);
    const operand to = memory_of(c, r);
    evex(&c->body, is_mask ? (w ? BYTES_OF_64 : BYTES_OF_32) : OP_W(STORE, w), from, 0, to, lanes, 0, -1);
    if (is_mask) free_vector(c, from);
}

#endif
