/* The operations of programs over blocks: one loop for each type, and the table of them.

   Integers wrap; a division by 0 gives -1 (unsigned: the largest number), a remainder by 0 the dividend, the lowest
   number over -1 itself; shifts by the width or more, or by less than 0, give 0 (copies of the sign to the right);
   conversions from floats saturate and take NaN to 0; max and min give NaN if an operand is. */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#define ONAX_EACH _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)
#else
#define ONAX_EACH for (int64_t i = 0; i < n; i++)
#endif

#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define ONAX_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define ONAX_CLONES
#endif

#define ONAX_ARGUMENTS void *to, const void *first, const void *second, const void *third, int64_t n
#define ONAX_UNUSED(k) (void)first, (void)second, (void)third

#define ONAX_MAP1(how, name, D, T, value) \
    how static void name(ONAX_ARGUMENTS) { \
        D *d = to; const T *a = first; ONAX_UNUSED(); ONAX_EACH { const T x = a[i]; d[i] = (D)(value); } }
#define ONAX_MAP2(how, name, D, T, value) \
    how static void name(ONAX_ARGUMENTS) { \
        D *d = to; const T *a = first, *b = second; ONAX_UNUSED(); \
        ONAX_EACH { const T x = a[i], y = b[i]; d[i] = (D)(value); } }
#define ONAX_MAP3(how, name, D, T, value) \
    how static void name(ONAX_ARGUMENTS) { \
        D *d = to; const T *a = first, *b = second, *c = third; \
        ONAX_EACH { const T x = a[i], y = b[i], z = c[i]; d[i] = (D)(value); } }
#define ONAX_SELECT(name, T) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        T *d = to; const uint8_t *m = first; const T *a = second, *b = third; \
        ONAX_EACH { const T x = a[i], y = b[i]; d[i] = m[i] ? x : y; } }
#define PLAIN

/* ---- what depends on the width alone */

#define ONAX_WIDTH(w, U, I) \
    ONAX_MAP2(ONAX_CLONES, add_##w, U, U, x + y) \
    ONAX_MAP2(ONAX_CLONES, sub_##w, U, U, x - y) \
    ONAX_MAP2(ONAX_CLONES, mul_##w, U, U, x * y) \
    ONAX_MAP1(ONAX_CLONES, neg_##w, U, U, (U)0 - x) \
    ONAX_MAP1(ONAX_CLONES, not_##w, U, U, ~x) \
    ONAX_MAP2(ONAX_CLONES, and_##w, U, U, x & y) \
    ONAX_MAP2(ONAX_CLONES, or_##w, U, U, x | y) \
    ONAX_MAP2(ONAX_CLONES, xor_##w, U, U, x ^ y) \
    ONAX_MAP2(ONAX_CLONES, eq_##w, uint8_t, U, x == y) \
    ONAX_MAP2(ONAX_CLONES, ne_##w, uint8_t, U, x != y) \
    ONAX_MAP2(ONAX_CLONES, shl_##w, U, U, y < w ? x << (y & (w - 1)) : 0) \
    ONAX_MAP2(ONAX_CLONES, shr_##w, U, U, y < w ? x >> (y & (w - 1)) : 0) \
    ONAX_MAP2(ONAX_CLONES, sar_##w, U, U, (I)x >> (y < w ? y : w - 1)) \
    ONAX_MAP1(ONAX_CLONES, abs_##w, U, U, (I)x < 0 ? (U)0 - x : x) \
    ONAX_MAP1(ONAX_CLONES, mov_##w, U, U, x) \
    ONAX_SELECT(sel_##w, U)

ONAX_WIDTH(32, uint32_t, int32_t)
ONAX_WIDTH(64, uint64_t, int64_t)
ONAX_SELECT(sel_8, uint8_t)
ONAX_MAP1(ONAX_CLONES, mov_8, uint8_t, uint8_t, x)
ONAX_MAP1(ONAX_CLONES, not_8, uint8_t, uint8_t, !x)
ONAX_MAP2(ONAX_CLONES, and_8, uint8_t, uint8_t, x & y)
ONAX_MAP2(ONAX_CLONES, or_8, uint8_t, uint8_t, x | y)
ONAX_MAP2(ONAX_CLONES, xor_8, uint8_t, uint8_t, x ^ y)
ONAX_MAP2(ONAX_CLONES, eq_8, uint8_t, uint8_t, x == y)

/* ---- order */

#define ONAX_ORDER(t, T) \
    ONAX_MAP2(ONAX_CLONES, lt_##t, uint8_t, T, x < y) \
    ONAX_MAP2(ONAX_CLONES, le_##t, uint8_t, T, x <= y)
#define ONAX_EXTREMES(t, T) \
    ONAX_MAP2(ONAX_CLONES, max_##t, T, T, x > y ? x : y) \
    ONAX_MAP2(ONAX_CLONES, min_##t, T, T, x < y ? x : y)

ONAX_ORDER(f32, float) ONAX_ORDER(f64, double) ONAX_ORDER(i32, int32_t) ONAX_ORDER(u32, uint32_t)
ONAX_ORDER(i64, int64_t) ONAX_ORDER(u64, uint64_t) ONAX_ORDER(bool, uint8_t)
ONAX_EXTREMES(i32, int32_t) ONAX_EXTREMES(u32, uint32_t) ONAX_EXTREMES(i64, int64_t) ONAX_EXTREMES(u64, uint64_t)

/* ---- floats */

#define ONAX_FLOAT(t, T, f) \
    ONAX_MAP2(ONAX_CLONES, add_##t, T, T, x + y) \
    ONAX_MAP2(ONAX_CLONES, sub_##t, T, T, x - y) \
    ONAX_MAP2(ONAX_CLONES, mul_##t, T, T, x * y) \
    ONAX_MAP2(ONAX_CLONES, div_##t, T, T, x / y) \
    ONAX_MAP1(ONAX_CLONES, neg_##t, T, T, -x) \
    ONAX_MAP1(ONAX_CLONES, abs_##t, T, T, fabs##f(x)) \
    ONAX_MAP1(ONAX_CLONES, sign_##t, T, T, x > 0 ? 1 : x < 0 ? -1 : x) \
    ONAX_MAP1(ONAX_CLONES, floor_##t, T, T, floor##f(x)) \
    ONAX_MAP1(ONAX_CLONES, ceil_##t, T, T, ceil##f(x)) \
    ONAX_MAP1(ONAX_CLONES, rint_##t, T, T, rint##f(x)) \
    ONAX_MAP1(PLAIN, round_##t, T, T, round##f(x)) \
    ONAX_MAP1(ONAX_CLONES, sqrt_##t, T, T, sqrt##f(x)) \
    ONAX_MAP1(ONAX_CLONES, rsqrt_##t, T, T, 1 / sqrt##f(x)) \
    ONAX_MAP2(ONAX_CLONES, max_##t, T, T, x > y || x != x ? x : y) \
    ONAX_MAP2(ONAX_CLONES, min_##t, T, T, x < y || x != x ? x : y) \
    ONAX_MAP2(ONAX_CLONES, eq_##t, uint8_t, T, x == y) \
    ONAX_MAP2(ONAX_CLONES, ne_##t, uint8_t, T, x != y) \
    ONAX_MAP1(ONAX_CLONES, is_finite_##t, uint8_t, T, x - x == 0) \
    ONAX_MAP2(PLAIN, rem_##t, T, T, fmod##f(x, y)) \
    ONAX_MAP2(PLAIN, nextafter_##t, T, T, nextafter##f(x, y))
ONAX_FLOAT(f32, float, f)
ONAX_FLOAT(f64, double, )

/* C's own functions; of float32 in double precision, rounded once. */
#define ONAX_LIBRARY1(name) \
    ONAX_MAP1(PLAIN, name##_f32, float, float, name((double)x)) ONAX_MAP1(PLAIN, name##_f64, double, double, name(x))
#define ONAX_LIBRARY2(name) \
    ONAX_MAP2(PLAIN, name##_f32, float, float, name((double)x, (double)y)) \
    ONAX_MAP2(PLAIN, name##_f64, double, double, name(x, y))
ONAX_LIBRARY1(tan) ONAX_LIBRARY1(asin) ONAX_LIBRARY1(acos) ONAX_LIBRARY1(atan) ONAX_LIBRARY1(sinh) ONAX_LIBRARY1(cosh)
ONAX_LIBRARY1(asinh) ONAX_LIBRARY1(acosh) ONAX_LIBRARY1(atanh) ONAX_LIBRARY1(cbrt) ONAX_LIBRARY1(erf)
ONAX_LIBRARY1(erfc) ONAX_LIBRARY2(pow) ONAX_LIBRARY2(atan2)

ONAX_MAP1(ONAX_CLONES, exp_f32, float, float, onax_expf(x))
ONAX_MAP1(ONAX_CLONES, exp2_f32, float, float, onax_exp2f(x))
ONAX_MAP1(ONAX_CLONES, expm1_f32, float, float, onax_expm1f(x))
ONAX_MAP1(ONAX_CLONES, log_f32, float, float, onax_logf(x))
ONAX_MAP1(ONAX_CLONES, log1p_f32, float, float, onax_log1pf(x))
ONAX_MAP1(ONAX_CLONES, tanh_f32, float, float, onax_tanhf(x))
ONAX_MAP1(ONAX_CLONES, logistic_f32, float, float, onax_logisticf(x))
ONAX_MAP1(ONAX_CLONES, sin_near_f32, float, float, onax_sin_cosf(x, 0))
ONAX_MAP1(ONAX_CLONES, cos_near_f32, float, float, onax_sin_cosf(x, 1))

ONAX_CLONES static int all_near(const float *a, int64_t n) {
    int32_t largest = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t size = (int32_t)(onax_bits(a[i]) & 0x7fffffffu);
        largest = size > largest ? size : largest;
    }
    return onax_as_float((uint32_t)largest) < ONAX_REDUCIBLE;
}
static void sin_f32(ONAX_ARGUMENTS) {
    float *d = to; const float *a = first;
    if (all_near(a, n)) sin_near_f32(to, first, second, third, n);
    else for (int64_t i = 0; i < n; i++) d[i] = (float)sin((double)a[i]);
}
static void cos_f32(ONAX_ARGUMENTS) {
    float *d = to; const float *a = first;
    if (all_near(a, n)) cos_near_f32(to, first, second, third, n);
    else for (int64_t i = 0; i < n; i++) d[i] = (float)cos((double)a[i]);
}
ONAX_MAP1(PLAIN, exp_f64, double, double, exp(x))
ONAX_MAP1(PLAIN, exp2_f64, double, double, exp2(x))
ONAX_MAP1(PLAIN, expm1_f64, double, double, expm1(x))
ONAX_MAP1(PLAIN, log_f64, double, double, log(x))
ONAX_MAP1(PLAIN, log1p_f64, double, double, log1p(x))
ONAX_MAP1(PLAIN, tanh_f64, double, double, tanh(x))
ONAX_MAP1(PLAIN, logistic_f64, double, double, 1 / (1 + exp(-x)))
ONAX_MAP1(PLAIN, sin_f64, double, double, sin(x))
ONAX_MAP1(PLAIN, cos_f64, double, double, cos(x))

/* ---- integers of one sign */

#define ONAX_SIGNED(t, T, U, w) \
    ONAX_MAP1(ONAX_CLONES, sign_##t, T, T, (x > 0) - (x < 0)) \
    ONAX_MAP2(PLAIN, div_##t, T, T, y == 0 ? -1 : y == -1 ? (T)((U)0 - (U)x) : x / y) \
    ONAX_MAP2(PLAIN, rem_##t, T, T, y == 0 ? x : y == -1 ? 0 : x % y)
#define ONAX_UNSIGNED(t, T) \
    ONAX_MAP1(ONAX_CLONES, sign_##t, T, T, x != 0) \
    ONAX_MAP2(PLAIN, div_##t, T, T, y == 0 ? ~(T)0 : x / y) \
    ONAX_MAP2(PLAIN, rem_##t, T, T, y == 0 ? x : x % y)
ONAX_SIGNED(i32, int32_t, uint32_t, 32) ONAX_SIGNED(i64, int64_t, uint64_t, 64)
ONAX_UNSIGNED(u32, uint32_t) ONAX_UNSIGNED(u64, uint64_t)

/* ---- conversions: from T to each type */

#define ONAX_CLIPPED(x, T, D, low, past, lowest, highest) \
    (x >= (T)(past) ? (D)(highest) : x < (T)(low) ? (D)(lowest) : x == x ? (D)x : 0)
#define ONAX_FROM(t, T) \
    ONAX_MAP1(ONAX_CLONES, t##_to_f32, float, T, x) \
    ONAX_MAP1(ONAX_CLONES, t##_to_f64, double, T, x) \
    ONAX_MAP1(ONAX_CLONES, t##_to_bool, uint8_t, T, x != 0)
#define ONAX_FROM_INTEGER(t, T) \
    ONAX_FROM(t, T) \
    ONAX_MAP1(ONAX_CLONES, t##_to_i32, int32_t, T, x) \
    ONAX_MAP1(ONAX_CLONES, t##_to_u32, uint32_t, T, x) \
    ONAX_MAP1(ONAX_CLONES, t##_to_i64, int64_t, T, x) \
    ONAX_MAP1(ONAX_CLONES, t##_to_u64, uint64_t, T, x)
#define ONAX_FROM_FLOAT(t, T) \
    ONAX_FROM(t, T) \
    ONAX_MAP1(ONAX_CLONES, t##_to_i32, int32_t, T, ONAX_CLIPPED(x, T, int32_t, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)) \
    ONAX_MAP1(PLAIN, t##_to_u32, uint32_t, T, ONAX_CLIPPED(x, T, uint32_t, 0, 0x1p32, 0, UINT32_MAX)) \
    ONAX_MAP1(PLAIN, t##_to_i64, int64_t, T, ONAX_CLIPPED(x, T, int64_t, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)) \
    ONAX_MAP1(PLAIN, t##_to_u64, uint64_t, T, ONAX_CLIPPED(x, T, uint64_t, 0, 0x1p64, 0, UINT64_MAX))
ONAX_FROM_FLOAT(f32, float) ONAX_FROM_FLOAT(f64, double)
ONAX_FROM_INTEGER(i32, int32_t) ONAX_FROM_INTEGER(u32, uint32_t) ONAX_FROM_INTEGER(i64, int64_t)
ONAX_FROM_INTEGER(u64, uint64_t) ONAX_FROM_INTEGER(bool, uint8_t)

/* ---- random words: keys (x, y) and counters z below 2**32 */

ONAX_INLINE uint64_t onax_threefry(uint32_t k0, uint32_t k1, uint32_t counter) {
    const uint32_t k2 = k0 ^ k1 ^ ONAX_PARITY;
    uint32_t x0 = 0, x1 = counter;
    ONAX_THREEFRY(k0, k1, k2)
    return (uint64_t)x0 << 32 | x1;
}
ONAX_INLINE uint32_t onax_folded(uint64_t pair) { return (uint32_t)(pair >> 32) ^ (uint32_t)pair; }

ONAX_MAP3(ONAX_CLONES, threefry_first, uint32_t, uint32_t, onax_threefry(x, y, z) >> 32)
ONAX_MAP3(ONAX_CLONES, threefry_second, uint32_t, uint32_t, onax_threefry(x, y, z))
ONAX_MAP3(ONAX_CLONES, threefry_both, uint32_t, uint32_t, onax_folded(onax_threefry(x, y, z)))

/* It reads numbers again after it has written the first: to may be where first is. */
static void erf_inv_f32(ONAX_ARGUMENTS) {
    const float *a = first;
    float *d = to, copy[512];
    (void)second, (void)third;
    for (int64_t i = 0; i < n; i += 512) {
        const int64_t count = n - i < 512 ? n - i : 512;
        memcpy(copy, a + i, (size_t)count * sizeof(float));
        onax_erf_inv(copy, (uint64_t)count, d + i);
    }
}

/* ---- elements of a table by number, the nearest there is; `third` is how many there are */

#define ONAX_TAKE(name, T) \
    static void name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first; const int32_t *b = second; const int64_t last = *(const int64_t *)third - 1; \
        for (int64_t i = 0; i < n; i++) d[i] = a[b[i] < 0 ? 0 : b[i] > last ? last : b[i]]; }
ONAX_TAKE(take_8, uint8_t) ONAX_TAKE(take_32, uint32_t) ONAX_TAKE(take_64, uint64_t)

/* ---- folds: n elements into a total of a wider type W; of n = 0 it becomes what a fold starts from, of n = -1 another
   total is folded into it.  32 lanes run side by side, which keeps sums of floats near pairwise ones. */

#define ONAX_LANES 32
#define ONAX_FOLD(name, T, W, none, value, wide) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        W *total = to; const T *a = first; T lanes[ONAX_LANES]; int64_t i = 0; \
        (void)second, (void)third; \
        if (n == 0) { *total = (W)(none); return; } \
        if (n < 0) { const W x = *(const W *)first, y = *total; *total = (W)(wide); return; } \
        if (n < ONAX_LANES / 2) { \
            W y = *total; \
            for (; i < n; i++) { const W x = a[i]; y = (W)(wide); } \
            *total = y; \
            return; } \
        for (int k = 0; k < ONAX_LANES; k++) lanes[k] = (T)(none); \
        for (; i + ONAX_LANES <= n; i += ONAX_LANES) \
            for (int k = 0; k < ONAX_LANES; k++) { const T x = a[i + k], y = lanes[k]; lanes[k] = (T)(value); } \
        for (int k = 0; k < n - i; k++) { const T x = a[i + k], y = lanes[k]; lanes[k] = (T)(value); } \
        for (int w = ONAX_LANES / 2; w; w /= 2) \
            for (int k = 0; k < w; k++) { const T x = lanes[k + w], y = lanes[k]; lanes[k] = (T)(value); } \
        { const W x = lanes[0], y = *total; *total = (W)(wide); } }
#define ONAX_COUNTS(t, T, W) \
    ONAX_FOLD(fold_sum_##t, T, W, 0, x + y, x + y) \
    ONAX_FOLD(fold_prod_##t, T, W, 1, x * y, x * y)
#define ONAX_FOLDS(t, T, W, lowest, highest) \
    ONAX_FOLD(fold_max_##t, T, W, lowest, x > y ? x : y, x > y ? x : y) \
    ONAX_FOLD(fold_min_##t, T, W, highest, x < y ? x : y, x < y ? x : y)

/* Of floats, what is NaN is counted beside: the choice alone is one instruction, and never a branch. */
#define ONAX_FLOAT_FOLD(name, T, I, none, is) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        double *total = to; const T *a = first; T lanes[ONAX_LANES]; I odd[ONAX_LANES], any = 0; int64_t i = 0; \
        (void)second, (void)third; \
        if (n == 0) { *total = none; return; } \
        if (n < 0) { const double x = *(const double *)first; if (x is *total || x != x) *total = x; return; } \
        if (n < ONAX_LANES / 2) { \
            double y = *total; \
            for (; i < n; i++) { const double x = a[i]; y = x is y ? x : y; any |= (I)(x != x); } \
            *total = any ? NAN : y; \
            return; } \
        for (int k = 0; k < ONAX_LANES; k++) { lanes[k] = (T)(none); odd[k] = 0; } \
        for (; i + ONAX_LANES <= n; i += ONAX_LANES) \
            for (int k = 0; k < ONAX_LANES; k++) { \
                const T x = a[i + k]; lanes[k] = x is lanes[k] ? x : lanes[k]; odd[k] |= (I)(x != x); } \
        for (int k = 0; k < n - i; k++) { \
            const T x = a[i + k]; lanes[k] = x is lanes[k] ? x : lanes[k]; odd[k] |= (I)(x != x); } \
        for (int w = ONAX_LANES / 2; w; w /= 2) \
            for (int k = 0; k < w; k++) lanes[k] = lanes[k + w] is lanes[k] ? lanes[k + w] : lanes[k]; \
        for (int k = 0; k < ONAX_LANES; k++) any |= odd[k]; \
        if (any) *total = NAN; \
        else *total = lanes[0] is *total ? lanes[0] : *total; }

ONAX_COUNTS(f32, float, double) ONAX_COUNTS(f64, double, double) ONAX_COUNTS(32, uint32_t, uint64_t)
ONAX_COUNTS(64, uint64_t, uint64_t)
ONAX_FLOAT_FOLD(fold_max_f32, float, int32_t, -HUGE_VAL, >) ONAX_FLOAT_FOLD(fold_min_f32, float, int32_t, HUGE_VAL, <)
ONAX_FLOAT_FOLD(fold_max_f64, double, int64_t, -HUGE_VAL, >) ONAX_FLOAT_FOLD(fold_min_f64, double, int64_t, HUGE_VAL, <)
ONAX_FOLDS(i32, int32_t, int64_t, INT32_MIN, INT32_MAX) ONAX_FOLDS(u32, uint32_t, uint64_t, 0, UINT32_MAX)
ONAX_FOLDS(i64, int64_t, int64_t, INT64_MIN, INT64_MAX) ONAX_FOLDS(u64, uint64_t, uint64_t, 0, UINT64_MAX)
ONAX_FOLD(fold_or_8, uint8_t, uint64_t, 0, x | y, x | y)
ONAX_FOLD(fold_and_8, uint8_t, uint64_t, 1, x & y, x & y)

/* A finished total as an element. */
static void onax_finish(int type, const void *total, char *to) {
    double number;
    memcpy(&number, total, 8);
    if (type == ONAX_F32) { const float x = (float)number; memcpy(to, &x, 4); }
    else if (type == ONAX_BOOL) *to = *(const uint64_t *)total != 0;
    else if (type == ONAX_I32 || type == ONAX_U32) {
        uint64_t bits;
        uint32_t low;
        memcpy(&bits, total, 8);
        low = (uint32_t)bits;
        memcpy(to, &low, 4);
    } else memcpy(to, total, 8);
}

/* ---- the table: name, signature, target, cost, then by type: f32 f64 i32 u32 i64 u64 bool */

#define ONAX_ALL(o) {o##_f32, o##_f64, o##_32, o##_32, o##_64, o##_64, 0}
#define ONAX_FLOATS(o) {o##_f32, o##_f64, 0, 0, 0, 0, 0}
#define ONAX_INTS(o) {0, 0, o##_32, o##_32, o##_64, o##_64, 0}
#define ONAX_BITS(o) {0, 0, o##_32, o##_32, o##_64, o##_64, o##_8}
#define ONAX_TYPED(o) {o##_f32, o##_f64, o##_i32, o##_u32, o##_i64, o##_u64, 0}
#define ONAX_SIZED(o) {o##_32, o##_64, o##_32, o##_32, o##_64, o##_64, o##_8}
#define ONAX_TO(t) {f32_to_##t, f64_to_##t, i32_to_##t, u32_to_##t, i64_to_##t, u64_to_##t, bool_to_##t}
#define FAST {0.12f, 0.25f}
#define SLOW(f) {(f), (f)}

const onax_operation onax_operations[] = {
    {"add", 'B', -1, FAST, ONAX_ALL(add)},
    {"sub", 'B', -1, FAST, ONAX_ALL(sub)},
    {"mul", 'B', -1, FAST, ONAX_ALL(mul)},
    {"div", 'B', -1, {0.3f, 1.5f}, ONAX_TYPED(div)},
    {"rem", 'B', -1, SLOW(3.0f), ONAX_TYPED(rem)},
    {"max", 'B', -1, FAST, {max_f32, max_f64, max_i32, max_u32, max_i64, max_u64, or_8}},
    {"min", 'B', -1, FAST, {min_f32, min_f64, min_i32, min_u32, min_i64, min_u64, and_8}},
    {"neg", 'U', -1, FAST, ONAX_ALL(neg)},
    {"abs", 'U', -1, FAST, {abs_f32, abs_f64, abs_32, 0, abs_64, 0, 0}},
    {"sign", 'U', -1, FAST, ONAX_TYPED(sign)},
    {"floor", 'U', -1, FAST, ONAX_FLOATS(floor)},
    {"ceil", 'U', -1, FAST, ONAX_FLOATS(ceil)},
    {"rint", 'U', -1, FAST, ONAX_FLOATS(rint)},
    {"round", 'U', -1, SLOW(2.0f), ONAX_FLOATS(round)},
    {"sqrt", 'U', -1, {0.4f, 1.5f}, ONAX_FLOATS(sqrt)},
    {"rsqrt", 'U', -1, {0.8f, 3.0f}, ONAX_FLOATS(rsqrt)},
    {"exp", 'U', -1, {0.6f, 3.3f}, ONAX_FLOATS(exp)},
    {"exp2", 'U', -1, {0.6f, 3.5f}, ONAX_FLOATS(exp2)},
    {"expm1", 'U', -1, {0.7f, 8.5f}, ONAX_FLOATS(expm1)},
    {"log", 'U', -1, {0.65f, 3.2f}, ONAX_FLOATS(log)},
    {"log1p", 'U', -1, {1.0f, 5.9f}, ONAX_FLOATS(log1p)},
    {"tanh", 'U', -1, {1.2f, 5.3f}, ONAX_FLOATS(tanh)},
    {"logistic", 'U', -1, {0.6f, 3.5f}, ONAX_FLOATS(logistic)},
    {"sin", 'U', -1, {0.7f, 6.5f}, ONAX_FLOATS(sin)},
    {"cos", 'U', -1, {0.7f, 6.5f}, ONAX_FLOATS(cos)},
    {"tan", 'U', -1, SLOW(7.5f), ONAX_FLOATS(tan)},
    {"asin", 'U', -1, SLOW(5.9f), ONAX_FLOATS(asin)},
    {"acos", 'U', -1, SLOW(5.9f), ONAX_FLOATS(acos)},
    {"atan", 'U', -1, SLOW(6.5f), ONAX_FLOATS(atan)},
    {"sinh", 'U', -1, SLOW(8.0f), ONAX_FLOATS(sinh)},
    {"cosh", 'U', -1, SLOW(5.6f), ONAX_FLOATS(cosh)},
    {"asinh", 'U', -1, SLOW(7.5f), ONAX_FLOATS(asinh)},
    {"acosh", 'U', -1, SLOW(7.0f), ONAX_FLOATS(acosh)},
    {"atanh", 'U', -1, SLOW(3.0f), ONAX_FLOATS(atanh)},
    {"cbrt", 'U', -1, SLOW(9.5f), ONAX_FLOATS(cbrt)},
    {"erf", 'U', -1, SLOW(4.0f), ONAX_FLOATS(erf)},
    {"erfc", 'U', -1, SLOW(10.3f), ONAX_FLOATS(erfc)},
    {"pow", 'B', -1, SLOW(11.5f), ONAX_FLOATS(pow)},
    {"atan2", 'B', -1, SLOW(10.4f), ONAX_FLOATS(atan2)},
    {"nextafter", 'B', -1, SLOW(1.8f), ONAX_FLOATS(nextafter)},
    {"is_finite", 'P', -1, FAST, ONAX_FLOATS(is_finite)},
    {"not", 'U', -1, FAST, ONAX_BITS(not)},
    {"and", 'B', -1, FAST, ONAX_BITS(and)},
    {"or", 'B', -1, FAST, ONAX_BITS(or)},
    {"xor", 'B', -1, FAST, ONAX_BITS(xor)},
    {"shift_left", 'B', -1, FAST, ONAX_INTS(shl)},
    {"shift_right_logical", 'B', -1, FAST, ONAX_INTS(shr)},
    {"shift_right_arithmetic", 'B', -1, FAST, ONAX_INTS(sar)},
    {"eq", 'C', -1, FAST, {eq_f32, eq_f64, eq_32, eq_32, eq_64, eq_64, eq_8}},
    {"ne", 'C', -1, FAST, {ne_f32, ne_f64, ne_32, ne_32, ne_64, ne_64, xor_8}},
    {"lt", 'C', -1, FAST, {lt_f32, lt_f64, lt_i32, lt_u32, lt_i64, lt_u64, lt_bool}},
    {"le", 'C', -1, FAST, {le_f32, le_f64, le_i32, le_u32, le_i64, le_u64, le_bool}},
    {"select", 'S', -1, FAST, ONAX_SIZED(sel)},
    {"to_f32", 'V', ONAX_F32, FAST, ONAX_TO(f32)},
    {"to_f64", 'V', ONAX_F64, FAST, ONAX_TO(f64)},
    {"to_i32", 'V', ONAX_I32, {1.0f, 1.0f}, ONAX_TO(i32)},
    {"to_u32", 'V', ONAX_U32, {1.0f, 1.0f}, ONAX_TO(u32)},
    {"to_i64", 'V', ONAX_I64, {1.0f, 1.0f}, ONAX_TO(i64)},
    {"to_u64", 'V', ONAX_U64, {1.0f, 1.0f}, ONAX_TO(u64)},
    {"to_bool", 'V', ONAX_BOOL, FAST, ONAX_TO(bool)},
    {"move", 'M', -1, FAST, ONAX_SIZED(mov)},
    {"erf_inv", 'U', -1, {1.0f, 1.0f}, {erf_inv_f32, 0, 0, 0, 0, 0, 0}},
    {"threefry_first", 'T', -1, {0.5f, 0.5f}, {0, 0, 0, threefry_first, 0, 0, 0}},
    {"threefry_second", 'T', -1, {0.5f, 0.5f}, {0, 0, 0, threefry_second, 0, 0, 0}},
    {"threefry_both", 'T', -1, {0.5f, 0.5f}, {0, 0, 0, threefry_both, 0, 0, 0}},
    {"take", 'G', -1, SLOW(0.5f), ONAX_SIZED(take)},
    {"sum", 'R', -1, FAST, ONAX_ALL(fold_sum)},
    {"prod", 'R', -1, FAST, ONAX_ALL(fold_prod)},
    {"largest", 'R', -1, FAST, {fold_max_f32, fold_max_f64, fold_max_i32, fold_max_u32, fold_max_i64, fold_max_u64,
                                fold_or_8}},
    {"smallest", 'R', -1, FAST, {fold_min_f32, fold_min_f64, fold_min_i32, fold_min_u32, fold_min_i64, fold_min_u64,
                                 fold_and_8}},
};
const int onax_operation_count = (int)(sizeof(onax_operations) / sizeof(onax_operations[0]));
const int onax_type_sizes[ONAX_TYPES] = {4, 8, 4, 4, 8, 8, 1};
