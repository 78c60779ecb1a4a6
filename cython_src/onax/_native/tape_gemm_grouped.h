/* The packed blocks of products of narrow numbers, of which 32 bits hold a group of successive terms.

   Included once for each instruction that adds the products of a group, with

       GROUPED   a name        S    what sums are: float or uint32_t
       W         groups of a vector
       ALL(x)    a vector of groups x
       ADD(s, x, y)            the sum s with the products of the groups x and y added
       SHIFT     if set, a group that was added to each of a, the products with which are taken off again

   a holds mr groups for each p, b 2 W. */

#define PASTE_(x, y) x##_##y
#define PASTE(x, y) PASTE_(x, y)
#define V PASTE(GROUPED, vector)

typedef S V __attribute__((vector_size(W * sizeof(S))));

#ifdef SHIFT
#define START_SHIFTS V shifts[2] = {(V){0}, (V){0}};
#define ADD_SHIFTS UNROLL for (int v = 0; v < 2; v++) shifts[v] = ADD(shifts[v], ALL(SHIFT), row[v]);
#define TAKE_SHIFTS UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < 2; v++) sum[i][v] -= shifts[v];
#else
#define START_SHIFTS
#define ADD_SHIFTS
#define TAKE_SHIFTS
#endif

#define MICRO(rows_) \
    static void PASTE(GROUPED, rows_)(int64_t k, const void *left, const void *right, void *out, int64_t ci, int more) { \
        enum { rows = rows_ }; \
        const uint32_t *restrict a = left, *restrict b = right; \
        S *restrict c = out; \
        V sum[rows][2]; \
        START_SHIFTS \
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < 2; v++) sum[i][v] = (V){0}; \
        NO_UNROLL for (int64_t p = 0; p < k; p++, a += MR, b += 2 * W) { \
            V row[2]; \
            UNROLL for (int v = 0; v < 2; v++) memcpy(&row[v], b + v * W, sizeof(V)); \
            ADD_SHIFTS \
            UNROLL for (int i = 0; i < rows; i++) { \
                UNROLL for (int v = 0; v < 2; v++) sum[i][v] = ADD(sum[i][v], ALL(a[i]), row[v]); } } \
        TAKE_SHIFTS \
        UNROLL for (int i = 0; i < rows; i++) \
            UNROLL for (int v = 0; v < 2; v++) { \
                V old; \
                if (more) { memcpy(&old, c + i * ci + v * W, sizeof(V)); sum[i][v] += old; } \
                memcpy(c + i * ci + v * W, &sum[i][v], sizeof(V)); } }
MICRO(4)
#if MR == 12
MICRO(8)
MICRO(12)
static const onax_gemm_kernels PASTE(GROUPED, kernels) = {
    .mr = MR, .nr = 2 * W, .micros = {PASTE(GROUPED, 4), PASTE(GROUPED, 8), PASTE(GROUPED, 12)}};
#else
MICRO(6)
static const onax_gemm_kernels PASTE(GROUPED, kernels) = {
    .mr = MR, .nr = 2 * W, .micros = {PASTE(GROUPED, 4), PASTE(GROUPED, 6)}};
#endif

#undef MICRO
#undef START_SHIFTS
#undef ADD_SHIFTS
#undef TAKE_SHIFTS
#undef PASTE
#undef PASTE_
#undef V
#undef S
#undef W
#undef ADD
#undef ALL
#undef SHIFT
#undef GROUPED
