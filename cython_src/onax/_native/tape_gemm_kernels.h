/* The kernels of matrix products at one CPU level.

   Included once for each level, with LEVEL (what names end with), BYTES (of the widest vector; 0: no vectors), MR. */

#define AT_(x, y) x##_##y
#define AT(x, y) AT_(x, y)

#define T float
#define NAME AT(f32, LEVEL)
#if BYTES == 64
#define NARROWER &AT(AT(narrow, f32), v3)
#else
#define NARROWER NULL
#endif
#if BYTES == 64
#define FULL 16
#define HALF 8
#define QUARTER 4
#define TINY 2
#elif BYTES == 32
#define FULL 8
#define HALF 4
#define QUARTER 2
#define TINY 0
#elif BYTES == 16
#define FULL 4
#define HALF 2
#define QUARTER 0
#define TINY 0
#else
#define FULL 1
#define HALF 0
#define QUARTER 0
#define TINY 0
#endif
#include "tape_gemm_type.h"

#define T uint32_t
#define NAME AT(u32, LEVEL)
#if BYTES == 64
#define NARROWER &AT(AT(narrow, u32), v3)
#else
#define NARROWER NULL
#endif
#if BYTES == 64
#define FULL 16
#define HALF 8
#define QUARTER 4
#define TINY 2
#elif BYTES == 32
#define FULL 8
#define HALF 4
#define QUARTER 2
#define TINY 0
#elif BYTES == 16
#define FULL 4
#define HALF 2
#define QUARTER 0
#define TINY 0
#else
#define FULL 1
#define HALF 0
#define QUARTER 0
#define TINY 0
#endif
#include "tape_gemm_type.h"

#define T double
#define NAME AT(f64, LEVEL)
#if BYTES == 64
#define NARROWER &AT(AT(narrow, f64), v3)
#else
#define NARROWER NULL
#endif
#if BYTES == 64
#define FULL 8
#define HALF 4
#define QUARTER 2
#elif BYTES == 32
#define FULL 4
#define HALF 2
#define QUARTER 0
#elif BYTES == 16
#define FULL 2
#define HALF 0
#define QUARTER 0
#else
#define FULL 1
#define HALF 0
#define QUARTER 0
#endif
#define TINY 0
#include "tape_gemm_type.h"

#define T uint64_t
#define NAME AT(u64, LEVEL)
#if BYTES == 64
#define NARROWER &AT(AT(narrow, u64), v3)
#else
#define NARROWER NULL
#endif
#if BYTES == 64
#define FULL 8
#define HALF 4
#define QUARTER 2
#elif BYTES == 32
#define FULL 4
#define HALF 2
#define QUARTER 0
#elif BYTES == 16
#define FULL 2
#define HALF 0
#define QUARTER 0
#else
#define FULL 1
#define HALF 0
#define QUARTER 0
#endif
#define TINY 0
#include "tape_gemm_type.h"

static const onax_gemm_kernels *const AT(level, LEVEL)[] = {&AT(AT(kernels, f32), LEVEL), &AT(AT(kernels, f64), LEVEL),
                                                            &AT(AT(kernels, u32), LEVEL), &AT(AT(kernels, u64), LEVEL)};

#undef AT
#undef AT_
#undef LEVEL
#undef BYTES
#undef MR
