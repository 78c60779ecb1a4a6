/* Stacks of matrices as instructions see them: what tape_linalg.c and tape_lapack.c share. */
#ifndef ONAX_TAPE_LINALG_H
#define ONAX_TAPE_LINALG_H

#include "tape_machine.h"

#define ONAX_MOST_OPERANDS 5

enum { LOWER = 1, TRANSPOSE = 2, CONJUGATE = 4, UNIT_DIAGONAL = 8, LEFT_SIDE = 16, PERTURB = 32, VECTORS = 64,
       LEFT_VECTORS = 128, QR_ITERATION = 256, SKIP_Q = 512 };
enum { CHOLESKY, LU, TRIANGULAR_SOLVE, QR, GEQRF, HOUSEHOLDER_PRODUCT, TRIDIAGONAL_SOLVE, EIGH, SVD, EIG, SCHUR,
       HESSENBERG, TRIDIAGONAL, PIVOTED_QR, MULTIPLY_REFLECTIONS };

typedef struct stack stack;
/* One matrix: the operands' parts of it, and memory of its own; f is the frame whose threads it may use, or NULL. */
typedef void (*matrix_function)(const stack *s, char *const *at, char *scratch, onax_frame *f);
struct stack {
    int64_t type, size, count, m, n, k, flags;
    int64_t bytes[ONAX_MOST_OPERANDS], own;     /* of one matrix in each operand; of its scratch memory */
    int64_t lwork;                              /* what LAPACK asked for */
    int64_t columns;                            /* of the matrix that holds reflections */
    int n_operands, parts, product_parts;
    int alone;                                  /* LAPACK's own threads would take part */
    matrix_function function;
};

/* Has LAPACK compute what it alone computes: sets `function`, `own` and `lwork`.  0 if it is not attached or has
   no routine for this. */
int onax_lapack_plan(stack *s, int which);

/* Around calls of routines that have threads of their own: the calling thread works alone meanwhile.  Calls may overlap. */
void onax_lapack_begin(void);
void onax_lapack_end(void);
/* Functions that give and set the number of threads of LAPACK's library. */
void onax_lapack_attach_threads(void *get, void *set);
void onax_lapack_forked(void);

/* The routines that are called: how many, their names without the letter of the type ("syevd" and "heevd" differ), and
   their arguments: c char, i int, f a real number, z a complex one, g a function. */
int onax_lapack_count(void);
const char *onax_lapack_name(int routine, int is_complex);
const char *onax_lapack_arguments(int routine, int is_complex);
/* Where a routine is, for the types s, d, c, z. */
void onax_lapack_attach(int routine, int letter, void *address);

#endif
