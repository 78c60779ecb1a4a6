/* What the files that read and run programs over blocks (blocks_kernels.h) share. */
#ifndef ONAX_BLOCKS_PROGRAM_H
#define ONAX_BLOCKS_PROGRAM_H

#include <stdlib.h>

#include "blocks_operations.h"

#define MOST_RANK 16
#define LONG_ROW 256           /* positions from which on a block is of one row */

typedef struct {
    uint8_t type, kind, size, uniform;
    uint8_t is_dense;          /* a LOAD of which every block reads elements side by side, or a single one, where they are */
    uint8_t is_repeated;       /* a LOAD or IOTA that is the same everywhere in a block, but not in all */
    uint8_t is_single;         /* what is repeated, or uniform, and of which machine code alone reads the first element */
    uint8_t is_one;            /* in each block it has one value, which is read where it is (blocks_ones.c) */
    uint8_t is_in_code;        /* machine code reads it */
    int64_t argument;          /* buffer */
    const int64_t *bits;       /* of CONSTANT */
    int64_t offset;            /* in the scratch memory, of BLOCK, LOAD, IOTA, CONSTANT */
    int64_t start;             /* the first element of LOAD, the first number of IOTA */
    int64_t length;            /* positions that one element of ROW stands for */
    int64_t period;            /* positions after which a LOAD or IOTA repeats itself, if they are fewer than a block; or 0 */
    const int64_t *strides;
} reg;

/* The kernels of an operation by which operands are one number for a whole block, instead of an element for each
   position: operand i (first, second, third) is if bit i is set.  NULL where there is none. */
typedef onax_kernel onax_variants[8];

typedef struct {
    onax_kernel kernel;
    const onax_kernel *variants;  /* of this kernel, or of the pair of a fold; or NULL */
    onax_kernel pair;          /* of a fold of what another operation makes of two operands (blocks_pairs.c); or NULL */
    int32_t target, first, second, third;
    int32_t fourth;            /* of a choice by a comparison; else -1 */
    int32_t fold;              /* the number of its total; -1 if it is no fold */
    int32_t scalar;            /* onax_scalar_code */
    int16_t operands;          /* how many of first, second, third, fourth are read */
    int16_t joined_swaps;      /* the operation that a kernel carries out first takes its operands in any order */
    int16_t is_written;        /* the third operand of the pair of a fold is written */
    int16_t is_with_one;       /* the second operand of the pair of a fold is one number */
    int16_t operation, is_joined;  /* is_joined: its kernel carries out another operation first (blocks_pairs.c) */
    int8_t run;                /* of enum run_part */
    int64_t code;              /* where the machine code of the run that it starts begins */
} step;

/* A step may start a run of steps that one function carries out (blocks_compiler.c): kernel(addresses, NULL, NULL, NULL, n). */
enum run_part { NO_RUN, STARTS_RUN, INSIDE_RUN };

typedef union { double parts[2]; uint64_t number; } total;  /* what a fold has come to */

typedef struct {
    int rank, n_registers, n_steps, n_folds;
    int64_t n, block, scratch;
    const int64_t *dims;
    reg *registers;
    step *steps;
    double cost;               /* nanoseconds an element */
    int64_t row;               /* blocks do not go beyond rows of so many positions; 0: they may */
    int parts;                 /* that several threads share */
    int has_dense;             /* any of its registers is_dense */
    int is_one_run;            /* it needs the addresses of buffers and constants alone */
    int is_one_row;            /* its folds, if any, are over all positions, so that it may be cut anywhere */
} loop;

typedef struct {
    int64_t rows, first, past; /* its loops, by number */
    int64_t tile, parts;       /* rows that go through all loops before the next do, and parts that threads share */
} group;

struct onax_program {
    int64_t *words;
    int n_in, n_out, n_temp, n_loops, n_groups;
    const int64_t *buffers;    /* pairs: type, elements */
    loop *loops;
    group *groups;
    int *homes;                /* of each temporary: the group that alone knows it, or -1 */
    int64_t temp_bytes, shared_bytes;  /* of all temporaries, and of those that no group has to itself */
    int64_t scratch_bytes, step_bytes;  /* for a run; what micro-operations keep, 0 if there are none */
    uint8_t *code;             /* machine code under construction; once it is complete, pages that hold it */
    int64_t code_bytes, code_room;
    onax_micro_op *micro_ops;
    int n_micro_ops, n_slots;  /* slots of its own */
    double work;
};

static inline int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static inline int64_t buffer_bytes(const onax_program *p, int i) {
    return p->buffers[2 * i + 1] * onax_type_sizes[p->buffers[2 * i]];
}

static inline int is_scratch(const reg *r) {
    return r->kind != ONAX_DIRECT && r->kind != ONAX_ROW && r->kind != ONAX_TABLE;
}

static inline int onax_is_dense(const loop *l, const reg *g) {
    if (g->kind != ONAX_LOAD || g->uniform) return 0;
    return g->is_single || (g->strides[l->rank - 1] == 1 && (l->row || l->rank == 1));
}

/* A finished total as an element. */
void onax_finish(int type, const total *t, char *to);
/* The elements of a register that has one value everywhere; `from` is the buffer of a LOAD. */
void onax_fill_uniform(const reg *g, const char *from, char *to, int64_t n);
/* The positions o ... o + n - 1 of a LOAD from a buffer, or of an IOTA. */
void onax_load(const loop *l, const reg *g, const char *from, char *to, int64_t o, int64_t n);
/* Positions o ... o + n - 1 go into the rows that they belong to; the first of all rows is at `to`, `t` is the total of
   the row that is not complete, `with` the second operand of a pair, `also` what a pair writes besides, or NULL. */
void onax_fold_rows(const reg *g, const step *s, const char *from, const char *with, char *also, char *to,
                    total *t, int64_t o, int64_t n);

/* The micro-operation for an operation on single numbers of a type; ONAX_MICRO_CALL if there is none. */
int onax_scalar_code(int operation, int type);

/* Compiles runs of a loop's steps, where that is possible; NULL, or that there is no memory.  onax_place_code makes what was
   compiled for a program executable, onax_free_code gives its memory back. */
const char *onax_compile_steps(onax_program *p, loop *l);
const char *onax_place_code(onax_program *p);
void onax_free_code(onax_program *p);

/* The variants of single operations, of float32 and of float64; NULL if there are none. */
const onax_kernel *onax_variants_of(int operation, int type);
/* exp(x - y) of float32 and of float64 */
extern const onax_variants onax_exps_of_differences[2];
/* The sums of them, and the sums that also write them where a third operand says */
extern const onax_variants onax_sums_of_exps[2][2];
/* Finds the registers of a loop that are one number in each block, where all their readers have kernels for that. */
void onax_find_ones(loop *l);

/* Replaces two steps of a loop by one wherever one kernel does the work of both: onax_join_exps exponentials of differences
   and their sums, before runs are compiled, onax_join_steps what is left then. */
void onax_join_exps(loop *l);
void onax_join_steps(loop *l);

/* Fill in what runs and micro-operations need of a program that was read; onax_plan_micro_ops gives 0 when there is no memory. */
void onax_plan_run(onax_program *p);
int onax_plan_micro_ops(onax_program *p);

#endif
