/* The kernels of matrix products, once for each CPU level. */
#include "tape_gemm.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

/* Sums of products may be fused here: each is rounded once. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("nounroll")
#define PREFETCH(p) __builtin_prefetch(p, 0, 2)
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "fp-contract=fast", "no-tree-loop-distribute-patterns")
#define UNROLL _Pragma("GCC unroll 16")
#define NO_UNROLL _Pragma("GCC unroll 1")
#define PREFETCH(p) __builtin_prefetch(p, 0, 2)
#else
#define UNROLL
#define NO_UNROLL
#define PREFETCH(p) (void)0
#define restrict
#endif

/* Four elements of two vectors, by number: 0 to 3 of the first, 4 to 7 of the second. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define SHUFFLE4(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
#define PICK4(x, y, i) ((i) < 4 ? (x)[(i) & 3] : (y)[(i) & 3])
#define SHUFFLE4(x, y, i, j, k, l) ((__typeof__(x)){PICK4(x, y, i), PICK4(x, y, j), PICK4(x, y, k), PICK4(x, y, l)})
#endif

#define BAND 6              /* rows of a large result that are written together */
#define BAND_BYTES 65536    /* of a right side that stays in the first cache */
#define PASS 16             /* rows of a large right side that are read together */
#define PASS_BYTES 262144   /* of a right side that the second cache does not keep beside the rest */

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
#define MR 6
#define GROUPED i16_v3
#define S uint32_t
#define W 8
#define ALL(x) _mm256_set1_epi32((int)(x))
#define ADD(s, x, y) ((s) + (i16_v3_vector)_mm256_madd_epi16((__m256i)(x), (__m256i)(y)))
#include "tape_gemm_grouped.h"
#undef MR
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
#define MR 12
#define GROUPED i16_v4
#define S uint32_t
#define W 16
#define ALL(x) _mm512_set1_epi32((int)(x))
#define ADD(s, x, y) ((s) + (i16_v4_vector)_mm512_madd_epi16((__m512i)(x), (__m512i)(y)))
#include "tape_gemm_grouped.h"
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512bf16"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512vnni,avx512bf16")
#endif
#define GROUPED i8_v4
#define S uint32_t
#define W 16
#define SHIFT 0x80808080
#define ALL(x) _mm512_set1_epi32((int)(x))
#define ADD(s, x, y) ((i8_v4_vector)_mm512_dpbusd_epi32((__m512i)(s), (__m512i)(x), (__m512i)(y)))
#include "tape_gemm_grouped.h"
#define GROUPED bf16_v4
#define S float
#define W 16
#define ALL(x) _mm512_set1_epi32((int)(x))
#define ADD(s, x, y) ((bf16_v4_vector)_mm512_dpbf16_ps((__m512)(s), (__m512bh)(x), (__m512bh)(y)))
#include "tape_gemm_grouped.h"
#undef MR
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

#ifdef ONAX_LEVELS
/* Kernels of groups of narrow numbers, or NULL. */
static const onax_gemm_kernels *grouped(int work, int level) {
    if (work == ONAX_WORK_I16) return level >= 4 ? &i16_v4_kernels : level >= 3 ? &i16_v3_kernels : NULL;
    if (level < 4) return NULL;
    if (work == ONAX_WORK_I8) return __builtin_cpu_supports("avx512vnni") ? &i8_v4_kernels : NULL;
    return __builtin_cpu_supports("avx512bf16") ? &bf16_v4_kernels : NULL;
}
#endif

const onax_gemm_kernels *onax_gemm(int work) {
#ifdef ONAX_LEVELS
    const int level = onax_cpu_level();
    if (work > ONAX_WORK_U64) return grouped(work, level);
    if (level >= 4) return level_v4[work];
    if (level >= 3) return level_v3[work];
#endif
    return work > ONAX_WORK_U64 ? NULL : level_v1[work];
}
