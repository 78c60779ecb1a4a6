/* Strips of a matrix product: some columns, as many as NV vectors of W elements hold, for all rows.

   Included once for each vector width of each type and CPU level, with

       T        the type of an element        W      elements of a vector
       STRIP    a name for NV vectors         NV     vectors of a strip

   c[i, j] = sum over p of a[i, p] * b[p, j]: `a` has the strides ai and ap, `b` the stride bp between its rows, `c` the
   stride ci; the elements of a row of b and c are adjacent.  With `more` the sum is added to what c holds.  The terms of
   an element are added in the order of p, whatever the strip or block it lies in. */

#define PASTE_(x, y) x##_##y
#define PASTE(x, y) PASTE_(x, y)
#define BLOCK(R) PASTE(STRIP, R)

#if W > 1
typedef T PASTE(STRIP, vector) __attribute__((vector_size(W * sizeof(T))));
#else
typedef T PASTE(STRIP, vector);
#endif
#define V PASTE(STRIP, vector)

/* R rows. */
#define ROWS(R) \
    static inline void BLOCK(R)(int64_t k, const T *restrict a, int64_t ai, int64_t ap, const T *restrict b, \
                                int64_t bp, T *restrict c, int64_t ci, int more) { \
        V sum[R][NV]; \
        UNROLL for (int i = 0; i < R; i++) \
            UNROLL for (int v = 0; v < NV; v++) { \
                if (more) memcpy(&sum[i][v], c + i * ci + v * W, sizeof(V)); \
                else sum[i][v] = (V){0}; } \
        NO_UNROLL for (int64_t p = 0; p < k; p++) { \
            V row[NV]; \
            UNROLL for (int v = 0; v < NV; v++) memcpy(&row[v], b + p * bp + v * W, sizeof(V)); \
            UNROLL for (int i = 0; i < R; i++) { \
                const T one = a[i * ai + p * ap]; \
                const V x = PASTE(SPLAT, W)(V, one); \
                UNROLL for (int v = 0; v < NV; v++) sum[i][v] += x * row[v]; } } \
        UNROLL for (int i = 0; i < R; i++) \
            UNROLL for (int v = 0; v < NV; v++) memcpy(c + i * ci + v * W, &sum[i][v], sizeof(V)); }

#if NV == 1
#define MOST 8
ROWS(8)
#else
#define MOST 6
ROWS(6)
#endif
ROWS(4)
ROWS(2)
ROWS(1)

static void STRIP(int64_t m, int64_t k, const void *left, int64_t ai, int64_t ap, const void *right, int64_t bp,
                  void *out, int64_t ci, int more) {
    const T *a = left, *b = right;
    T *c = out;
    int64_t i = 0;
    for (; m - i >= MOST && (MOST == 8 || m - i != 8); i += MOST)
        BLOCK(MOST)(k, a + i * ai, ai, ap, b, bp, c + i * ci, ci, more);
    for (; m - i >= 4; i += 4) BLOCK(4)(k, a + i * ai, ai, ap, b, bp, c + i * ci, ci, more);
    for (; m - i >= 2; i += 2) BLOCK(2)(k, a + i * ai, ai, ap, b, bp, c + i * ci, ci, more);
    if (m - i) BLOCK(1)(k, a + i * ai, ai, ap, b, bp, c + i * ci, ci, more);
}

#undef ROWS
#undef MOST
#undef V
#undef BLOCK
#undef STRIP
#undef W
#undef NV
