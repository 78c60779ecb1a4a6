/* The kernels of matrix products at one CPU level.

   Included once for each level, with LEVEL (what names end with), BYTES (of the widest vector; 0: no vectors), MR. */

#define AT_(x, y) x##_##y
#define AT(x, y) AT_(x, y)

#define T float
#define SIZE 4
#define TYPE f32
#include "tape_gemm_type.h"

#define T uint32_t
#define SIZE 4
#define TYPE u32
#include "tape_gemm_type.h"

#define T double
#define SIZE 8
#define TYPE f64
#include "tape_gemm_type.h"

#define T uint64_t
#define SIZE 8
#define TYPE u64
#include "tape_gemm_type.h"

static const onax_gemm_kernels *const AT(level, LEVEL)[] = {&AT(AT(kernels, f32), LEVEL), &AT(AT(kernels, f64), LEVEL),
                                                            &AT(AT(kernels, u32), LEVEL), &AT(AT(kernels, u64), LEVEL)};

#undef AT
#undef AT_
#undef LEVEL
#undef BYTES
#undef MR
