/* Tapes: linear programs of typed instructions over buffers whose sizes are known, run without Python.

   A tape is a list of 64-bit words:

       magic, inputs, outputs, buffers, parts, arena bytes, constant bytes
       the constants, eight bytes a word
       for each buffer:  kind, argument, bytes
       for each part:  instructions
           for each instruction:  operation, operands, attributes, the operands (buffers), the attributes

   Part 0 is the program; the other parts are bodies and conditions of loops, and branches.  Each of them belongs to one
   instruction, of a part with a smaller number.  The kinds of buffers:

       INPUT     the argument-th array that the caller hands in; instructions only read it
       OUTPUT    the argument-th array that the caller wants filled
       ARENA     memory of this call, from the byte `argument` on; buffers whose lives do not meet share it
       CONSTANT  from the byte `argument` of the constants on; instructions only read it
       VIEW      memory that a loop points to anew for each step: a slice, or a carry
       PART + k  from the byte `argument` of the k-th output on: a piece of a concatenation, which is computed in its place

   Every buffer holds its elements in row-major order without gaps.  `onax_tape_read` refuses each tape of which an
   instruction could read or write outside its buffers.  The contents of buffers are never trusted: an operation that
   computes an address from what it reads clamps it.  Operands that overlap give a result nobody can use, nothing worse. */
#ifndef ONAX_TAPE_MACHINE_H
#define ONAX_TAPE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "blocks_kernels.h"

#define ONAX_TAPE_MAGIC 0x315450414CLL

enum onax_buffer_kind { ONAX_INPUT, ONAX_OUTPUT, ONAX_ARENA, ONAX_FIXED, ONAX_VIEW, ONAX_PART };

/* What `run` gives back. */
enum onax_status { ONAX_DONE = 0, ONAX_NO_MEMORY = -1, ONAX_RAISED = -2 };

typedef struct onax_tape onax_tape;
typedef struct onax_frame onax_frame;
typedef struct onax_instruction onax_instruction;

/* An operation of tapes.

   verify   looks at q->attributes and at the sizes of the operands; gives NULL, or what is wrong.  It may set q->run to a
            form for these types, q->state to what it made of the attributes (which release frees), q->scratch to the
            bytes that a run needs for itself, and q->work to the nanoseconds that a run is guessed to take
   run      carries the instruction out; the written operands come first
   writes   how many leading operands are written; -1: the first attribute tells */
typedef struct {
    const char *name;
    int writes;
    const char *(*verify)(onax_instruction *q, const int64_t *bytes);
    int (*run)(const onax_instruction *q, onax_frame *f);
    void (*release)(onax_instruction *q);
} onax_tape_operation;

struct onax_instruction {
    int (*run)(const onax_instruction *q, onax_frame *f);
    const int32_t *operands;
    const int64_t *attributes;
    int32_t n_operands, n_attributes;
    void *state;
    int64_t scratch;           /* bytes of f->scratch that a run uses; shared by all instructions */
    int64_t persistent;        /* bytes that the instruction keeps from run to run of one frame */
    double work;
    const onax_tape_operation *operation;
};

/* What a tape asks of its caller. */
typedef struct {
    int (*call)(void *caller, const onax_instruction *q, onax_frame *f);   /* runs a kernel in Python */
    int (*check_signals)(void *caller);                                    /* ONAX_RAISED if one raised an exception */
    void *caller;
} onax_caller;

/* One run of a tape. */
struct onax_frame {
    char **buffers;            /* where each buffer is */
    char *scratch;
    const onax_tape *tape;
    const onax_caller *caller;
    onax_parallel parallel;    /* threads, or NULL */
    void *where;
    int64_t deadline;          /* when signals are looked for again */
    uint32_t ticks;
};

#define ONAX_BUFFER(q, f, i) ((f)->buffers[(q)->operands[i]])

/* ONAX_DONE, or ONAX_RAISED when a signal has raised an exception.  Whoever runs long calls it every microsecond or so. */
int onax_look_for_signals(onax_frame *f);
static inline int onax_poll(onax_frame *f) { return --f->ticks ? ONAX_DONE : onax_look_for_signals(f); }

/* The size of a type in bytes; 0 if there is no such type. */
int64_t onax_size_of(int64_t type);

/* Runs micro-operations, the slots of which count from f->buffers on. */
int onax_run_micro_ops(const onax_micro_op *m, const onax_micro_op *end, onax_frame *f);

/* The size of an operand. */
int64_t onax_operand_bytes(const onax_instruction *q, const onax_frame *f, int i);

/* The families of operations, each ended by one without a name. */
extern const onax_tape_operation onax_tape_control[], onax_tape_dot[], onax_tape_conv[], onax_tape_copies[],
    onax_tape_gather[], onax_tape_linalg[], onax_tape_fft[], onax_tape_reductions[],
    onax_tape_cumulative[], onax_tape_sorting[], onax_tape_random[], onax_tape_windows[], onax_tape_special[],
    onax_tape_search[], onax_tape_attention[], onax_tape_reduce_blocks[],
    onax_tape_copy_blocks[];

/* ---- for whoever makes and runs tapes */

int onax_tape_operation_count(void);
const char *onax_tape_operation_name(int number);

/* NULL and a tape, or what is wrong with the words. */
const char *onax_tape_read(const int64_t *words, size_t count, onax_tape **tape);
void onax_tape_free(onax_tape *tape);
/* The words that were read, and how many they are. */
const int64_t *onax_tape_words(const onax_tape *tape, size_t *count);
int onax_tape_inputs(const onax_tape *tape);
int onax_tape_outputs(const onax_tape *tape);
/* Bytes of an input, or of the outputs that are counted after them. */
int64_t onax_tape_bytes(const onax_tape *tape, int port);
/* Has runs take their memory from functions other than malloc and free; before the first tape is read. */
void onax_tape_use_memory(void *(*allocate)(size_t), void (*release)(void *));
/* Bytes that a run allocates. */
int64_t onax_tape_memory(const onax_tape *tape);
/* Nanoseconds that one thread is guessed to need. */
double onax_tape_work(const onax_tape *tape);
/* The same of its longest instruction, loops and branches apart: what threads could share. */
double onax_tape_longest(const onax_tape *tape);
/* The largest number of a kernel in Python, plus one. */
int onax_tape_kernels(const onax_tape *tape);
/* Has each run of an instruction be timed from now on; 0 if there is no memory.  No thread may run the tape meanwhile. */
int onax_tape_time(onax_tape *tape);
/* The number of instructions, in the order of the words, and for one of them how often it ran and for how long. */
int64_t onax_tape_instructions(const onax_tape *tape);
void onax_tape_timing(const onax_tape *tape, int64_t i, int64_t *runs, int64_t *nanoseconds);
/* Runs a tape; several threads may run one at the same time. */
int onax_tape_run(onax_tape *tape, void *const *inputs, void *const *outputs, const onax_caller *caller,
                  onax_parallel parallel, void *where);

#endif
