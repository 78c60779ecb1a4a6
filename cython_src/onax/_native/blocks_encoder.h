/* Machine code of x86-64, as blocks_compiler.c writes it: instructions on 512-bit vectors and on masks with AVX-512, on
   256-bit vectors with AVX2. */
#ifndef ONAX_BLOCKS_ENCODER_H
#define ONAX_BLOCKS_ENCODER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RAX, RCX, RDX, RSI = 6, RDI, R8, R9, R10, R11 };

typedef struct { int64_t at, end; int number; } reference;   /* a displacement, the end of its instruction, what it means */

/* Bytes under construction; `is_full`: memory ran out. */
typedef struct {
    uint8_t *bytes;
    int64_t size, room;
    reference *references;
    int n_references, most_references, is_full;
} code;

static inline void put(code *c, unsigned byte) {
    if (c->size == c->room) {
        uint8_t *larger = realloc(c->bytes, (size_t)(c->room = 2 * c->room + 256));
        if (!larger) { c->is_full = 1; c->size = 0; c->room = 0; free(c->bytes); c->bytes = NULL; return; }
        c->bytes = larger;
    }
    c->bytes[c->size++] = (uint8_t)byte;
}
static inline void put_all(code *c, const char *bytes, int n) { for (int i = 0; i < n; i++) put(c, (uint8_t)bytes[i]); }
static inline void put_word(code *c, int32_t word) { for (int i = 0; i < 4; i++) put(c, (uint32_t)word >> 8 * i & 255); }
#define PUT(c, literal) put_all(c, literal, (int)sizeof(literal) - 1)

/* The next four bytes refer to something; `more` bytes of the instruction follow them. */
static inline void put_reference(code *c, int number, int more) {
    if (c->n_references == c->most_references) {
        reference *larger = realloc(c->references, sizeof(reference) * (size_t)(c->most_references = 2 * c->most_references + 16));
        if (!larger) { c->is_full = 1; c->most_references = c->n_references; return; }
        c->references = larger;
    }
    c->references[c->n_references++] = (reference){c->size, c->size + 4 + more, number};
    put_word(c, 0);
}

/* ---- operands */

enum operand_kind { IN_VECTOR, IN_MEMORY, REPEATED, IN_POOL };
/* A vector register (or a mask's number); memory at a general register plus rcx times 1 << scale; the number of a literal,
   which an instruction with an EVEX prefix repeats in all lanes, or reads itself. */
typedef struct { int kind, number, scale; } operand;

#define VECTOR(n) ((operand){IN_VECTOR, (n), 0})
#define LITERAL(n) ((operand){REPEATED, (n), 0})

/* The opcodes: map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2), W, the byte. */
#define OPCODE(map, prefix, w, byte) ((map) << 16 | (prefix) << 12 | (w) << 8 | (byte))
#define OP_W(opcode, w) ((opcode) | (w) << 8)
#define OP_FLOAT(opcode, w) ((opcode) | ((w) ? 1 << 12 | 1 << 8 : 0))   /* of float32; of float64 */

/* The bytes behind the opcode: the operands, and the immediate if it is not below 0. */
static inline void put_operands(code *c, int to, operand second, int immediate) {
    const unsigned target = (unsigned)(to & 7) << 3;
    if (second.kind == IN_VECTOR) put(c, 0xC0 | target | (unsigned)(second.number & 7));
    else if (second.kind == IN_MEMORY) {
        put(c, target | 4);
        put(c, (unsigned)(second.scale << 6 | RCX << 3 | (second.number & 7)));
    } else {
        put(c, target | 5);
        put_reference(c, second.number, immediate >= 0);
    }
    if (immediate >= 0) put(c, (unsigned)immediate);
}

/* An instruction with an EVEX prefix: `to` and `first` are registers; of `mask` (0: none) the lanes that are not set keep
   what they hold, or become 0 if `zero`.  `immediate` below 0: there is none. */
static inline void evex(code *c, int opcode, int to, int first, operand second, int mask, int zero, int immediate) {
    const int map = opcode >> 16, prefix = opcode >> 12 & 3, w = opcode >> 8 & 1;
    const int is_vector = second.kind == IN_VECTOR, base = is_vector || second.kind == IN_MEMORY ? second.number : 0;
    const int broadcast = second.kind == REPEATED;
    put(c, 0x62);
    put(c, (unsigned)((~to >> 3 & 1) << 7 | (is_vector ? ~base >> 4 & 1 : 1) << 6 | (~base >> 3 & 1) << 5 | (~to >> 4 & 1) << 4 | map));
    put(c, (unsigned)(w << 7 | (~first & 15) << 3 | 4 | prefix));
    put(c, (unsigned)(zero << 7 | 2 << 5 | broadcast << 4 | (~first >> 4 & 1) << 3 | mask));
    put(c, (unsigned)(opcode & 255));
    put_operands(c, to, second, immediate);
}

/* An instruction with a VEX prefix on 256-bit vectors, or if `is_short` on 128-bit ones. */
static inline void vex(code *c, int opcode, int to, int first, operand second, int immediate, int is_short) {
    const int base = second.kind == IN_VECTOR || second.kind == IN_MEMORY ? second.number : 0;
    put(c, 0xC4);
    put(c, (unsigned)((~to >> 3 & 1) << 7 | 1 << 6 | (~base >> 3 & 1) << 5 | opcode >> 16));
    put(c, (unsigned)((opcode >> 8 & 1) << 7 | (~first & 15) << 3 | !is_short << 2 | (opcode >> 12 & 3)));
    put(c, (unsigned)(opcode & 255));
    put_operands(c, to, second, immediate);
}
/* The scalar at [r11] in every lane: vpbroadcastd or vpbroadcastq. */
static inline void vex_broadcast_at_r11(code *c, int byte, int to) {
    put(c, 0xC4);
    put(c, (unsigned)((~to >> 3 & 1) << 7 | 1 << 6 | 0 << 5 | 2));
    put(c, 15 << 3 | 1 << 2 | 1);
    put(c, (unsigned)byte);
    put(c, (unsigned)((to & 7) << 3 | 3));
}
/* A byte at a register plus rcx: r10 becomes it, or it becomes the lowest of r10. */
static inline void move_byte(code *c, int base, int is_store) {
    put(c, 0x44 | base >> 3);
    if (is_store) put(c, 0x88);
    else PUT(c, "\x0F\xB6");
    put(c, (R10 & 7) << 3 | 4);
    put(c, (unsigned)(RCX << 3 | (base & 7)));
}

/* The scalar at [r11] in every lane. */
static inline void broadcast_at_r11(code *c, int opcode, int to) {
    put(c, 0x62);
    put(c, (unsigned)((~to >> 3 & 1) << 7 | 1 << 6 | 0 << 5 | (~to >> 4 & 1) << 4 | (opcode >> 16)));
    put(c, (unsigned)((opcode >> 8 & 1) << 7 | 15 << 3 | 4 | (opcode >> 12 & 3)));
    put(c, 2 << 5 | 8);
    put(c, (unsigned)(opcode & 255));
    put(c, (unsigned)((to & 7) << 3 | 3));
}

/* to = first and/or/... second, of masks. */
static inline void mask_operation(code *c, int byte, int to, int first, int second) {
    put(c, 0xC5);
    put(c, (unsigned)(0x84 | (~first & 15) << 3));
    put(c, (unsigned)byte);
    put(c, (unsigned)(0xC0 | to << 3 | second));
}
/* to = not from, or from, of masks. */
static inline void mask_move(code *c, int byte, int to, int from) {
    put(c, 0xC5);
    put(c, 0xF8);
    put(c, (unsigned)byte);
    put(c, (unsigned)(0xC0 | to << 3 | from));
}

/* A general register becomes the pointer number k of those at rdi. */
static inline void load_pointer(code *c, int to, int k) {
    put(c, to >= 8 ? 0x4C : 0x48);
    put(c, 0x8B);
    put(c, (unsigned)(0x80 | (to & 7) << 3 | RDI));
    put_word(c, 8 * k);
}

enum opcodes {
    ADD_FLOATS = OPCODE(1, 0, 0, 0x58), MUL_FLOATS = OPCODE(1, 0, 0, 0x59), SUB_FLOATS = OPCODE(1, 0, 0, 0x5C),
    MIN_FLOATS = OPCODE(1, 0, 0, 0x5D), DIV_FLOATS = OPCODE(1, 0, 0, 0x5E), MAX_FLOATS = OPCODE(1, 0, 0, 0x5F),
    SQRT_FLOATS = OPCODE(1, 0, 0, 0x51), COMPARE_FLOATS = OPCODE(1, 0, 0, 0xC2), ROUND_FLOATS = OPCODE(3, 1, 0, 0x08),
    CLASS_OF_FLOATS = OPCODE(3, 1, 0, 0x66), LOAD = OPCODE(1, 2, 0, 0x6F), STORE = OPCODE(1, 2, 0, 0x7F),
    BROADCAST = OPCODE(2, 1, 0, 0x58), BLEND = OPCODE(2, 1, 0, 0x64), TEST = OPCODE(2, 1, 0, 0x27),
    AND = OPCODE(1, 1, 0, 0xDB), OR = OPCODE(1, 1, 0, 0xEB), XOR = OPCODE(1, 1, 0, 0xEF),
    ADD_I32 = OPCODE(1, 1, 0, 0xFE), SUB_I32 = OPCODE(1, 1, 0, 0xFA), ADD_I64 = OPCODE(1, 1, 1, 0xD4),
    SUB_I64 = OPCODE(1, 1, 1, 0xFB), MUL_INTEGERS = OPCODE(2, 1, 0, 0x40), MIN_SIGNED = OPCODE(2, 1, 0, 0x39),
    MIN_UNSIGNED = OPCODE(2, 1, 0, 0x3B), MAX_SIGNED = OPCODE(2, 1, 0, 0x3D), MAX_UNSIGNED = OPCODE(2, 1, 0, 0x3F),
    ABS_I32 = OPCODE(2, 1, 0, 0x1E), ABS_I64 = OPCODE(2, 1, 1, 0x1F), COMPARE_SIGNED = OPCODE(3, 1, 0, 0x1F),
    COMPARE_UNSIGNED = OPCODE(3, 1, 0, 0x1E), SHIFT_LEFT = OPCODE(2, 1, 0, 0x47), SHIFT_RIGHT = OPCODE(2, 1, 0, 0x45),
    SHIFT_SIGNED = OPCODE(2, 1, 0, 0x46), F32_TO_I32 = OPCODE(1, 2, 0, 0x5B), I32_TO_F32 = OPCODE(1, 0, 0, 0x5B),
    U32_TO_F32 = OPCODE(1, 3, 0, 0x7A), I64_TO_F64 = OPCODE(1, 2, 1, 0xE6), U64_TO_F64 = OPCODE(1, 2, 1, 0x7A),
    BYTES_TO_32 = OPCODE(2, 1, 0, 0x31), BYTES_TO_64 = OPCODE(2, 1, 0, 0x32), BYTES_OF_32 = OPCODE(2, 2, 0, 0x31),
    BYTES_OF_64 = OPCODE(2, 2, 0, 0x32), UPPER_HALF = OPCODE(3, 1, 1, 0x3B), JOIN_HALVES = OPCODE(3, 1, 1, 0x3A),
    I32_TO_F64 = OPCODE(1, 2, 0, 0xE6), U32_TO_F64 = OPCODE(1, 2, 0, 0x7A), F64_TO_I32 = OPCODE(1, 1, 1, 0xE6),
    F64_TO_U32 = OPCODE(1, 0, 1, 0x78), MUL_HALVES_SIGNED = OPCODE(2, 1, 1, 0x28), MUL_HALVES_UNSIGNED = OPCODE(1, 1, 1, 0xF4),
    THREE_BITS = OPCODE(3, 1, 1, 0x25),   /* any function of the bits of three operands, the target's first */
    /* shifts by an immediate: `to` is one of the kinds below, `first` the target */
    SHIFT_32_BY = OPCODE(1, 1, 0, 0x72), SHIFT_64_BY = OPCODE(1, 1, 1, 0x73), RIGHT_32 = 2, SIGNED_32 = 4, LEFT_32 = 6, RIGHT_64 = 2, LEFT_64 = 6,
    FIRST_OR_BOTH_OTHERS = 0xF8,
    /* with VEX prefixes alone */
    BLEND_32 = OPCODE(3, 1, 0, 0x4A), BLEND_64 = OPCODE(3, 1, 0, 0x4B), EQUAL_I32 = OPCODE(1, 1, 0, 0x76),
    EQUAL_I64 = OPCODE(2, 1, 0, 0x29), GREATER_I32 = OPCODE(1, 1, 0, 0x66), GREATER_I64 = OPCODE(2, 1, 0, 0x37),
    UPPER_128 = OPCODE(3, 1, 0, 0x39), JOIN_128 = OPCODE(3, 1, 0, 0x38), PACK_32 = OPCODE(1, 1, 0, 0x6B),
    PACK_16 = OPCODE(1, 1, 0, 0x63), LOAD_F32 = OPCODE(1, 2, 0, 0x10), LOAD_F64 = OPCODE(1, 3, 0, 0x10),
    STORE_F32 = OPCODE(1, 2, 0, 0x11), STORE_F64 = OPCODE(1, 3, 0, 0x11), FROM_GENERAL = OPCODE(1, 1, 0, 0x6E),
    TO_GENERAL = OPCODE(1, 1, 0, 0x7E), STORE_LOW_64 = OPCODE(1, 1, 0, 0xD6),
    WORDS_TO_32 = OPCODE(2, 1, 0, 0x33), PACK_32_UNSIGNED = OPCODE(2, 1, 0, 0x2B), INSERT_WORD = OPCODE(1, 1, 0, 0xC4),
    EXTRACT_WORD = OPCODE(3, 1, 0, 0x15), WITH_SIGNS_32 = OPCODE(2, 1, 0, 0x0A), BLEND_32_BY = OPCODE(3, 1, 0, 0x02),

    MASK_AND = 0x41, MASK_OR = 0x45, MASK_XNOR = 0x46, MASK_XOR = 0x47, MASK_NOT = 0x44,   /* bytes, with VEX prefixes */
};

#endif
