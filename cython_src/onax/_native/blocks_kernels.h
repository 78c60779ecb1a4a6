/* Programs over blocks: elementwise operations on arrays, carried out a block of elements at a time so that what is
   between two operations stays in the first cache.

   A program is a list of 64-bit words:

       magic, inputs, outputs, temporaries, loops, groups
       for each buffer (inputs, outputs, temporaries):  type, elements
       for each group:  rows, loops
           for each loop:  rank, registers, instructions, dims[rank]
               for each register:     type, kind, argument, and strides[rank], start if it is a LOAD or IOTA
               for each instruction:  operation, target, first, second, third operand (registers; unused ones are 0)

   A loop goes over all positions of its dims, last axis fastest.  Its registers:

       BLOCK      scratch memory; argument unused
       DIRECT     a buffer (argument) with one element for each position, read or written in place
       LOAD       a buffer read with strides (in elements, 0 where it is repeated), from the element `start` on
       IOTA       `start` and the sum of the position's indices times the strides
       CONSTANT   the argument's bits; of complex128 one more word follows
       TABLE      a buffer of which an operation reads the elements that it has the numbers of
       ROW        a buffer written by a fold: each element is what became of as many positions, side by side

   The loops of a group all have so many rows, of whatever length, and read of each other's results their own row alone:
   a few rows go through all of them before the next.  With one row, the loops run one after the other.

   `onax_program_read` refuses every program that could read or write outside its buffers, mix types, or read what was
   not written; nothing is checked while a program runs. */
#ifndef ONAX_BLOCKS_KERNELS_H
#define ONAX_BLOCKS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define ONAX_PROGRAM_MAGIC 0x32584F4C42LL

enum onax_type { ONAX_F32, ONAX_F64, ONAX_I32, ONAX_U32, ONAX_I64, ONAX_U64, ONAX_BOOL, ONAX_I8, ONAX_U8, ONAX_I16,
                 ONAX_U16, ONAX_F16, ONAX_BF16, ONAX_C64, ONAX_C128, ONAX_TYPES };
enum onax_register_kind { ONAX_BLOCK, ONAX_DIRECT, ONAX_LOAD, ONAX_IOTA, ONAX_CONSTANT, ONAX_ROW, ONAX_TABLE,
                          ONAX_KINDS };

/* What an operation takes and gives, T being the type it is looked up by:
   U T->T   B T,T->T   C T,T->bool   P T->bool   S bool,T,T->T   T T,T,T->T   V T->its own target
   M T->any type of T's size   G table of T,i32,i64: how many->T   R many T->T: a fold (blocks_operations.h)
   X complex T->its part's type   Y T,T->the complex type of such parts */
typedef void (*onax_kernel)(void *, const void *, const void *, const void *, int64_t);
typedef struct {
    const char *name;
    char signature;
    int8_t target;                      /* of V */
    float cost[2];                      /* of an element of float32 and of float64 */
} onax_operation;

extern const onax_operation onax_operations[];
extern const int onax_operation_count;
/* The kernel of an operation for a T, or NULL, and the nanoseconds it is guessed to take for an element. */
onax_kernel onax_kernel_of(int operation, int type);
double onax_cost_of(int operation, int type);
extern const int onax_type_sizes[ONAX_TYPES];

typedef struct onax_program onax_program;

/* Runs task(user, i) for i in 0 ... count - 1, on several threads if it likes. */
typedef void (*onax_parallel)(void *where, void (*task)(void *user, size_t i), size_t count, void *user);

/* NULL and a program, or what is wrong with it. */
const char *onax_program_read(const int64_t *words, size_t count, onax_program **program);
void onax_program_free(onax_program *program);
int onax_program_inputs(const onax_program *program);
int onax_program_outputs(const onax_program *program);
/* Type and number of elements of an input, or of the outputs that are counted after them. */
int onax_program_type(const onax_program *program, int buffer);
int64_t onax_program_elements(const onax_program *program, int buffer);
/* Nanoseconds that one thread is guessed to need. */
double onax_program_work(const onax_program *program);
/* Runs a program.  The program's port i, outputs before inputs, is buffers[operands[i]]; `scratch` has
   onax_program_scratch bytes, from an address that 64 divides; `parallel` may be NULL. */
int64_t onax_program_scratch(const onax_program *program);
void onax_program_run_in(const onax_program *program, char *const *buffers, const int32_t *operands, char *scratch,
                         onax_parallel parallel, void *where);

/* The rows that the program can run some of while the caller has only these of an input and of an output; 0 if there
   are none.  A port of which rows are missing is where its first row would be. */
int64_t onax_program_rows(const onax_program *program, int input, int output);
/* Whether its one output holds the squares of its one input's elements. */
int onax_program_is_square(const onax_program *program);
/* Runs some rows on ports, inputs before outputs, with so many bytes of scratch memory. */
int64_t onax_program_rows_scratch(const onax_program *program);
void onax_program_run_rows(const onax_program *program, char *const *ports, char *scratch, int64_t first, int64_t past);

/* How many positions a program has that knows of each buffer the elements at its positions, or one and the same element;
   `bytes` is what it reads and writes at each.  0 if it is another program. */
int64_t onax_program_positions(const onax_program *program, int64_t *bytes);
/* Whether what such a program knows of a port, inputs before outputs, are the elements at its positions. */
int onax_program_is_at_positions(const onax_program *program, int port);
/* Runs some positions of such a program on ports, inputs before outputs, with so many bytes of scratch memory. */
int64_t onax_program_positions_scratch(const onax_program *program);
void onax_program_run_positions(const onax_program *program, char *const *ports, char *scratch, int64_t first, int64_t past);

/* ---- micro-operations: the other form of programs each loop of which fits into one block, for those that run often

   They work on slots, which hold the addresses of registers: the caller's buffers, and slots of the program's own in
   memory that it keeps, as long as the caller's table of buffers, from run to run. */

typedef struct {
    int32_t code;                          /* of enum onax_micro_code, or an operation on single numbers */
    int32_t target, first, second, third;  /* slots */
    int64_t n;                             /* elements; of POINT and MOVE bytes */
    onax_kernel kernel;                    /* of CALL, FOLD and RUN */
    const void *what;                      /* of FILL and LOAD the register that is loaded, of FOLD the one that is
                                              written, of INSTRUCTION the instruction of a tape */
    const void *loop;                      /* of LOAD */
} onax_micro_op;

enum onax_micro_code { ONAX_MICRO_INSTRUCTION, ONAX_MICRO_CALL, ONAX_MICRO_POINT, ONAX_MICRO_FILL, ONAX_MICRO_LOAD,
                       ONAX_MICRO_FOLD, ONAX_MICRO_MOVE, ONAX_MICRO_RUN, ONAX_MICRO_CODES };

/* The micro-operation that copies so many bytes. */
int onax_move_code(int64_t bytes);
/* The bytes that a program keeps, from an address that 64 divides; 0 if it has no such form. */
int64_t onax_program_persistent(const onax_program *program);
/* Fixes the slots: the program's port i, outputs before inputs, is slot operands[i], its own begin at `first_slot`, where
   the memory that it keeps begins.  NULL, or why that is impossible. */
const char *onax_program_bind(onax_program *program, const int32_t *operands, int64_t first_slot);
const onax_micro_op *onax_program_micro_ops(const onax_program *program, int64_t *count);
/* Fills the memory that a program keeps; it will run with `scratch`. */
void onax_program_prepare(const onax_program *program, char *persistent, char *scratch);

#endif
