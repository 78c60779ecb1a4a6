/* The kernels of matrix products, once for each CPU level. */
#include "tape_gemm.h"

#include <stdlib.h>
#include <string.h>

/* Sums of products may be fused here: each is rounded once. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("nounroll")
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "fp-contract=fast", "no-tree-loop-distribute-patterns")
#define UNROLL _Pragma("GCC unroll 16")
#define NO_UNROLL _Pragma("GCC unroll 1")
#else
#define UNROLL
#define NO_UNROLL
#define restrict
#endif

/* Four elements of two vectors, by number: 0 to 3 of the first, 4 to 7 of the second. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define SHUFFLE4(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
#define PICK4(x, y, i) ((i) < 4 ? (x)[(i) & 3] : (y)[(i) & 3])
#define SHUFFLE4(x, y, i, j, k, l) ((__typeof__(x)){PICK4(x, y, i), PICK4(x, y, j), PICK4(x, y, k), PICK4(x, y, l)})
#endif

#define SPLAT_16(V, s) ((V){s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s})
#define SPLAT_8(V, s) ((V){s, s, s, s, s, s, s, s})
#define SPLAT_4(V, s) ((V){s, s, s, s})
#define SPLAT_2(V, s) ((V){s, s})
#define SPLAT_1(V, s) (s)

#define LEVEL v1
#define MR 6
#if defined(__GNUC__)
#define BYTES 16
#else
#define BYTES 0
#endif
#include "tape_gemm_kernels.h"

#if defined(__GNUC__) && defined(__x86_64__)
#define ONAX_LEVELS 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi2")
#endif
#define LEVEL v3
#define BYTES 32
#define MR 6
#include "tape_gemm_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2,avx512f,avx512bw,avx512vl,avx512dq"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")
#endif
#define LEVEL v4
#define BYTES 64
#define MR 12
#include "tape_gemm_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

static int highest_level(void) {
#ifdef ONAX_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq"))
        return 4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return 3;
#endif
    return 1;
}

int onax_cpu_level(void) {
    const char *wanted = getenv("ONAX_CPU_LEVEL");
    const int level = highest_level(), asked = wanted ? atoi(wanted) : 4;
    return asked < 3 ? 1 : asked < level ? asked : level;
}

const onax_gemm_kernels *onax_gemm(int work) {
#ifdef ONAX_LEVELS
    const int level = onax_cpu_level();
    if (level >= 4) return level_v4[work];
    if (level >= 3) return level_v3[work];
#endif
    return level_v1[work];
}
