/* Products of few columns, fewer than a vector has or as many: loads and stores leave lanes out.

   Included once for each type and CPU level with masks, with

       T          the type of an element, SIZE its bytes
       W          elements of a vector, 256 or 512 bits
       MASKED     a name

   `stack` computes one product for each of `count` matrices, at offsets in elements; the terms of an element are added
   in the order of p. */

#define PASTE_(x, y) x##_##y
#define PASTE(x, y) PASTE_(x, y)
#define BLOCK(R) PASTE(MASKED, R)
#define V PASTE(MASKED, vector)

typedef T V __attribute__((vector_size(W * sizeof(T))));

#if BYTES == 64 && W * SIZE == 64 && SIZE == 4
#define MASK __mmask16
#define FIRST(n) ((__mmask16)((1u << (n)) - 1))
#define LOAD(p) ((V)_mm512_maskz_loadu_epi32(mask, p))
#define STORE(p, x) _mm512_mask_storeu_epi32(p, mask, (__m512i)(x))
#elif BYTES == 64 && W * SIZE == 64
#define MASK __mmask8
#define FIRST(n) ((__mmask8)((1u << (n)) - 1))
#define LOAD(p) ((V)_mm512_maskz_loadu_epi64(mask, p))
#define STORE(p, x) _mm512_mask_storeu_epi64(p, mask, (__m512i)(x))
#elif BYTES == 64 && SIZE == 4
#define MASK __mmask8
#define FIRST(n) ((__mmask8)((1u << (n)) - 1))
#define LOAD(p) ((V)_mm256_maskz_loadu_epi32(mask, p))
#define STORE(p, x) _mm256_mask_storeu_epi32(p, mask, (__m256i)(x))
#elif BYTES == 64
#define MASK __mmask8
#define FIRST(n) ((__mmask8)((1u << (n)) - 1))
#define LOAD(p) ((V)_mm256_maskz_loadu_epi64(mask, p))
#define STORE(p, x) _mm256_mask_storeu_epi64(p, mask, (__m256i)(x))
#elif SIZE == 4
#define MASK __m256i
#define FIRST(n) _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LOAD(p) ((V)_mm256_maskload_epi32((const int *)(p), mask))
#define STORE(p, x) _mm256_maskstore_epi32((int *)(p), mask, (__m256i)(x))
#else
#define MASK __m256i
#define FIRST(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))
#define LOAD(p) ((V)_mm256_maskload_epi64((const long long *)(p), mask))
#define STORE(p, x) _mm256_maskstore_epi64((long long *)(p), mask, (__m256i)(x))
#endif

/* R rows of each matrix. */
#define ROWS(R) \
    static inline void BLOCK(R)(int64_t count, const int64_t *ao, const int64_t *bo, const int64_t *co, int64_t k, \
                                const T *left, int64_t ai, int64_t ap, const T *right, int64_t bp, T *out, int64_t ci, \
                                MASK mask) { \
        NO_UNROLL for (int64_t t = 0; t < count; t++) { \
            const T *a = left + ao[t], *b = right + bo[t]; \
            T *c = out + co[t]; \
            V sum[R]; \
            UNROLL for (int i = 0; i < R; i++) sum[i] = (V){0}; \
            NO_UNROLL for (int64_t p = 0; p < k; p++, a += ap, b += bp) { \
                const V row = LOAD(b); \
                UNROLL for (int i = 0; i < R; i++) { \
                    const T one = a[i * ai]; \
                    sum[i] += PASTE(SPLAT, W)(V, one) * row; } } \
            UNROLL for (int i = 0; i < R; i++) STORE(c + i * ci, sum[i]); } }
ROWS(8)
ROWS(4)
ROWS(3)
ROWS(2)
ROWS(1)

static void MASKED(int64_t count, const int64_t *ao, const int64_t *bo, const int64_t *co, int64_t m, int64_t n,
                   int64_t k, const void *left, int64_t ai, int64_t ap, const void *right, int64_t bp, void *out,
                   int64_t ci) {
    const MASK mask = FIRST(n);
    const T *a = left;
    T *c = out;
    int64_t i = 0;
#define TAKE(R) BLOCK(R)(count, ao, bo, co, k, a + i * ai, ai, ap, right, bp, c + i * ci, ci, mask)
    for (; m - i >= 8; i += 8) TAKE(8);
    if (m - i >= 4) TAKE(4), i += 4;
    if (m - i == 3) TAKE(3);
    else if (m - i == 2) TAKE(2);
    else if (m - i == 1) TAKE(1);
#undef TAKE
}

#undef ROWS
#undef MASK
#undef FIRST
#undef LOAD
#undef STORE
#undef V
#undef BLOCK
#undef MASKED
#undef W
