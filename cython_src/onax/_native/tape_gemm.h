/* Matrix products: kernels for one CPU level, and contractions of arrays with any strides built on them. */
#ifndef ONAX_TAPE_GEMM_H
#define ONAX_TAPE_GEMM_H

#include "tape_machine.h"

#define ONAX_MOST_RANK 16

/* The types that kernels multiply in.  Integers wrap, so their sign makes no difference.  Of the last three, 32 bits
   hold a group of successive terms, and sums have 32 bits; there are packed blocks of them alone, on some CPUs. */
enum onax_work { ONAX_WORK_F32, ONAX_WORK_F64, ONAX_WORK_U32, ONAX_WORK_U64, ONAX_WORK_I16, ONAX_WORK_I8, ONAX_WORK_BF16 };

/* One strip of columns; with `more` it is added to what c holds. */
typedef void (*onax_strip)(int64_t m, int64_t k, const void *a, int64_t ai, int64_t ap, const void *b, int64_t bp,
                           void *c, int64_t ci, int more);

/* Matrices of one of these types.  Strides count elements; where no stride is given, elements are adjacent.

   strips   c[i, j] = sum over p of a[i, p] b[p, j], the strides of a are ai and ap, of b's rows bp, of c's rows ci
   stack    as strips, of n <= nr / 2 columns, for each of `count` matrices, which lie at offsets in elements; or NULL
   dots     y[i] = sum over p of a[i, p] x[p], the strides are ai and yi
   strip_of the kernel for exactly n columns, or NULL
   narrow   kernels whose micro has fewer columns, or NULL
   micros   c = a b, or with `more` c += a b, of 4, 8 or 12 rows, at most mr, and nr columns: a holds mr numbers for each
            p, b nr */
typedef struct onax_gemm_kernels onax_gemm_kernels;
struct onax_gemm_kernels {
    int64_t mr, nr;
    void (*strips)(int64_t m, int64_t n, int64_t k, const void *a, int64_t ai, int64_t ap, const void *b, int64_t bp,
                   void *c, int64_t ci);
    void (*stack)(int64_t count, const int64_t *ao, const int64_t *bo, const int64_t *co, int64_t m, int64_t n,
                  int64_t k, const void *a, int64_t ai, int64_t ap, const void *b, int64_t bp, void *c, int64_t ci);
    void (*dots)(int64_t m, int64_t k, const void *a, int64_t ai, const void *x, void *y, int64_t yi);
    void (*micros[3])(int64_t k, const void *a, const void *b, void *c, int64_t ci, int more);
    onax_strip (*strip_of)(int64_t n);
    const onax_gemm_kernels *narrow;
};

/* Those of this CPU, or of the lower level that the environment variable ONAX_CPU_LEVEL (1, 3, 4) names; NULL for groups
   that the CPU has no instruction for. */
const onax_gemm_kernels *onax_gemm(int work);
/* 1, 3 or 4, as in x86-64-v3. */
int onax_cpu_level(void);

/* dst[i * di + p * dp] = src[io[i] + po[p]], converted to the type that is worked in.  Of a complex array two rows of
   real numbers for each i, or two for each p; of groups dst counts groups of terms, the last one filled with zeros. */
typedef void (*onax_pack)(void *dst, int64_t di, int64_t dp, const void *src, const int64_t *io, int64_t ni,
                          const int64_t *po, int64_t np);
/* dst[io[i] + jo[j]] = src[i * si + j]; with `more` it is added, which only integers need. */
typedef void (*onax_unpack)(void *dst, const int64_t *io, int64_t ni, const int64_t *jo, int64_t nj, const void *src,
                            int64_t si, int more);
/* NULL where there is none.  side: 0 left, 1 right. */
onax_pack onax_packer(int64_t type, int work, int side);
onax_unpack onax_unpacker(int64_t type, int work);

/* c = the sum of the products of k adjacent elements of a and b. */
typedef void (*onax_vector_dot)(void *c, const void *a, const void *b, int64_t k);
/* That of narrow numbers of these types (left, right, result), or NULL. */
onax_vector_dot onax_narrow_dot(const int64_t *types);

/* An index as digits: the last varies fastest. */
typedef struct { int n; int64_t count, dims[ONAX_MOST_RANK], strides[ONAX_MOST_RANK]; } onax_digits;

/* c[b, m, n] = sum over k of a[b, m, k] b[b, k, n].  Which axis of which operand an index moves, its digits say. */
typedef struct {
    int64_t types[3];
    onax_digits batch[3], rows[2], columns[2], inner[2];    /* of a, b, c; a, c; b, c; a, b */
} onax_contraction;

/* A contraction without axes. */
void onax_start_contraction(onax_contraction *c);
/* The contraction of the attributes of the instruction `dot`, or what is wrong with them. */
const char *onax_read_contraction(onax_contraction *c, const int64_t *attributes, int64_t count);
/* Exchanges a with b and rows with columns: c is transposed. */
void onax_swap_sides(onax_contraction *c);
/* Fewer digits that mean the same. */
void onax_merge_digits(onax_digits *d);
/* NULL, or why these digits do not stay inside operands (c, a, b) of so many bytes or make too much work.  Each product
   of dimensions of a, b or c is below 2**62. */
const char *onax_contraction_fault(const onax_contraction *c, const int64_t *bytes);

typedef struct onax_product onax_product;

/* NULL and a product, or why there is none; a product must be freed either way.  Whoever plans has checked that all
   offsets lie in the operands.  `scratch` and `work` as of an instruction.  Without a frame it runs on this thread alone. */
const char *onax_product_plan(onax_contraction *c, onax_product **product, int64_t *scratch, double *work);
int onax_product_run(const onax_product *p, const char *a, const char *b, char *c, char *scratch, onax_frame *f);

void onax_product_free(onax_product *p);

/* Adds an axis to digits that have fewer than ONAX_MOST_RANK; of none, `count` is 1. */
void onax_add_digit(onax_digits *d, int64_t dim, int64_t stride);
/* The offsets of `count` indices from `start` on. */
void onax_offsets(const onax_digits *d, int64_t start, int64_t count, int64_t *out);
/* Whether all offsets lie in an array of so many elements.  Dimensions and strides may be any words. */
int onax_digits_fit(const onax_digits *const *parts, int count, int64_t elements);

#endif
