/* Kernels of the elementary functions of float32 and float64 (blocks_floats.c includes this). */

#include "blocks_doubles.h"
#include "blocks_exps.h"
#include "blocks_special.h"
#include "lgamma.h"

#define ONAX_LIBRARY1(name) ONAX_MAP1(PLAIN, name##_f64, double, double, name(x))
ONAX_LIBRARY1(cbrt) ONAX_LIBRARY1(erf) ONAX_LIBRARY1(erfc)
ONAX_MAP2(PLAIN, pow_f64, double, double, pow(x, y))
ONAX_MAP1(PLAIN, lgamma_f64, double, double, onax_lgamma(x))

/* ---- functions of float32 with a form of their own */

/* A loop over n elements, of each of which `stored` makes something of u = exp(argument): as many as there are lanes at a
   time, most of which have arguments that are near. */
#define ONAX_SOME_EXPS(count, T, exp, argument, stored) \
    _Pragma("GCC ivdep") \
    for (int k = 0; k < (count); k++) { const int64_t i = o + k; const T v = argument, u = exp(v); stored; }
#define ONAX_THROUGH(T, is_far_for, near_exp, exp, argument, stored) \
    { \
        int64_t o = 0; \
        for (; o + ONAX_LANES <= n; o += ONAX_LANES) { \
            int32_t is_far = 0; \
            for (int k = 0; k < ONAX_LANES; k++) { const int64_t i = o + k; is_far |= is_far_for(argument); } \
            if (!is_far) ONAX_SOME_EXPS(ONAX_LANES, T, near_exp, argument, stored) \
            else ONAX_SOME_EXPS(ONAX_LANES, T, exp, argument, stored) \
        } \
        ONAX_SOME_EXPS(n - o, T, exp, argument, stored) \
    }
#define ONAX_THROUGH_EXPS(argument, stored) ONAX_THROUGH(float, ONAX_IS_FAR_FOR_EXP, onax_near_expf, onax_expf, argument, stored)
#define ONAX_THROUGH_WIDE_EXPS(argument, stored) \
    ONAX_THROUGH(double, ONAX_IS_FAR_FOR_WIDE_EXP, onax_near_exp, onax_exp, argument, stored)
#define ONAX_MAP_OF_EXPS(name, T, through_exps, argument, value) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first; ONAX_UNUSED(); \
        through_exps(argument, d[i] = value) }
ONAX_MAP_OF_EXPS(exp_f64, double, ONAX_THROUGH_WIDE_EXPS, a[i], u)
ONAX_MAP_OF_EXPS(logistic_f64, double, ONAX_THROUGH_WIDE_EXPS, -a[i], 1.0 / (1.0 + u))
ONAX_MAP_OF_EXPS(exp_in_steps_f32, float, ONAX_THROUGH_EXPS, a[i], u)
static void exp_f32(ONAX_ARGUMENTS) {
    if (ONAX_HAS_SIXTEENS()) exps_of_sixteens(to, first, n);
    else exp_in_steps_f32(to, first, second, third, n);
}
ONAX_MAP1(ONAX_CLONES, exp2_f32, float, float, onax_exp2f(x))
ONAX_MAP1(ONAX_CLONES, expm1_f32, float, float, onax_expm1f(x))
ONAX_MAP1(ONAX_CLONES, log_f32, float, float, onax_logf(x))
ONAX_MAP1(ONAX_CLONES, log1p_f32, float, float, onax_log1pf(x))
ONAX_MAP1(ONAX_CLONES, tanh_f32, float, float, onax_tanhf(x))
ONAX_MAP_OF_EXPS(logistic_f32, float, ONAX_THROUGH_EXPS, -a[i], 1.0f / (1.0f + u))
ONAX_MAP1(ONAX_CLONES, erf_f32, float, float, onax_erff(x))
ONAX_MAP1(ONAX_CLONES, erfc_f32, float, float, onax_erfcf(x))
ONAX_MAP1(ONAX_CLONES, sinh_f32, float, float, onax_sinhf(x))
ONAX_MAP1(ONAX_CLONES, cosh_f32, float, float, onax_coshf(x))
ONAX_MAP1(ONAX_CLONES, asinh_f32, float, float, onax_asinhf(x))
ONAX_MAP1(ONAX_CLONES, acosh_f32, float, float, onax_acoshf(x))
ONAX_MAP1(ONAX_CLONES, atanh_f32, float, float, onax_atanhf(x))
ONAX_MAP1(ONAX_CLONES, atan_f32, float, float, onax_atanf(x))

/* the same of bfloat16, in one pass, for CPUs with AVX-512 (blocks_halves.c has those of others) */
#define ONAX_OF_BF16(name) \
    ONAX_SIXTEEN_LOOP void onax_##name##_bf16(ONAX_ARGUMENTS) { \
        uint16_t *d = to; const uint16_t *a = first; ONAX_UNUSED(); \
        ONAX_EACH d[i] = onax_to_bf16(onax_##name##f(onax_from_bf16(a[i]))); }
ONAX_OF_BF16(log) ONAX_OF_BF16(tanh) ONAX_OF_BF16(logistic) ONAX_OF_BF16(erf)
void onax_exp_bf16(ONAX_ARGUMENTS) { ONAX_UNUSED(); exps_of_sixteen_bf16(to, first, n); }
int onax_has_sixteens(void) { return ONAX_HAS_SIXTEENS(); }

/* ---- functions that both have, where float32 is computed in float64 */

#define ONAX_BOTH1(name) \
    ONAX_MAP1(ONAX_CLONES, name##_f32, float, float, onax_##name((double)x)) \
    ONAX_MAP1(ONAX_CLONES, name##_f64, double, double, onax_##name(x))
ONAX_BOTH1(asin) ONAX_BOTH1(acos)
ONAX_MAP2(ONAX_CLONES, atan2_f32, float, float, onax_atan2((double)x, (double)y))
ONAX_MAP2(ONAX_CLONES, atan2_f64, double, double, onax_atan2(x, y))
#define ONAX_WIDE1(name) ONAX_MAP1(ONAX_CLONES, name##_f64, double, double, onax_##name(x))
ONAX_WIDE1(exp2) ONAX_WIDE1(expm1) ONAX_WIDE1(log) ONAX_WIDE1(log1p) ONAX_WIDE1(tanh)
ONAX_WIDE1(sinh) ONAX_WIDE1(cosh) ONAX_WIDE1(asinh) ONAX_WIDE1(acosh) ONAX_WIDE1(atanh) ONAX_WIDE1(atan)

/* exp(x - y), y an element each or one number: a difference feeds no product, so that nothing else is rounded together */
#define ONAX_EXP_OF_DIFFERENCE(name, T, loop) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first, *b = second, y_0 = *b; (void)third, (void)y_0; \
        loop }
ONAX_EXP_OF_DIFFERENCE(exp_of_difference_in_steps, float, ONAX_THROUGH_EXPS(a[i] - b[i], d[i] = u))
ONAX_EXP_OF_DIFFERENCE(exp_of_difference_in_steps_y, float, ONAX_THROUGH_EXPS(a[i] - y_0, d[i] = u))
ONAX_EXP_OF_DIFFERENCE(exp_of_difference_f64, double, ONAX_THROUGH_WIDE_EXPS(a[i] - b[i], d[i] = u))
ONAX_EXP_OF_DIFFERENCE(exp_of_difference_f64_y, double, ONAX_THROUGH_WIDE_EXPS(a[i] - y_0, d[i] = u))
#define ONAX_DIFFERENCE_OF_SIXTEENS(name, sixteens, in_steps) \
    static void name(ONAX_ARGUMENTS) { \
        if (ONAX_HAS_SIXTEENS()) sixteens(to, first, second, n); \
        else in_steps(to, first, second, third, n); }
ONAX_DIFFERENCE_OF_SIXTEENS(exp_of_difference_f32, exps_of_differences_of_sixteens, exp_of_difference_in_steps)
ONAX_DIFFERENCE_OF_SIXTEENS(exp_of_difference_f32_y, exps_of_sixteens_less_one, exp_of_difference_in_steps_y)
const onax_variants onax_exps_of_differences[2] = {
    {exp_of_difference_f32, NULL, exp_of_difference_f32_y}, {exp_of_difference_f64, NULL, exp_of_difference_f64_y}};

/* The sum of exp(x - y), as ONAX_FOLD has it, where `third` is NULL or where the terms go. */
#define ONAX_SUM_OF_EXPS_AT(name, T, y_is, through_exps, keeps) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        double *total = to; const T *a = first, *b = second, y_0 = *b; \
        T *d = (T *)(uintptr_t)third, lanes[ONAX_LANES] = {0}; \
        (void)y_0, (void)d; \
        through_exps(a[i] - y_is, keeps; lanes[k] += u) \
        ONAX_HALVES(ONAX_LANES, lanes[k] += lanes[k + w]) \
        *total += lanes[0]; }
#define ONAX_SUM_OF_EXPS(t, T, through_exps) \
    ONAX_SUM_OF_EXPS_AT(sum_of_exps_##t, T, b[i], through_exps, (void)0) \
    ONAX_SUM_OF_EXPS_AT(sum_of_exps_##t##_y, T, y_0, through_exps, (void)0) \
    ONAX_SUM_OF_EXPS_AT(exps_and_sum_##t, T, b[i], through_exps, d[i] = u) \
    ONAX_SUM_OF_EXPS_AT(exps_and_sum_##t##_y, T, y_0, through_exps, d[i] = u)
ONAX_SUM_OF_EXPS(in_steps, float, ONAX_THROUGH_EXPS) ONAX_SUM_OF_EXPS(f64, double, ONAX_THROUGH_WIDE_EXPS)
#define ONAX_SUM_OF_SIXTEENS(name, sixteens, in_steps, to_terms) \
    static void name(ONAX_ARGUMENTS) { \
        if (ONAX_HAS_SIXTEENS()) sixteens(to, to_terms, first, second, n); \
        else in_steps(to, first, second, third, n); }
ONAX_SUM_OF_SIXTEENS(sum_of_exps_f32, sum_of_sixteens, sum_of_exps_in_steps, NULL)
ONAX_SUM_OF_SIXTEENS(sum_of_exps_f32_y, sum_of_sixteens_less_one, sum_of_exps_in_steps_y, NULL)
ONAX_SUM_OF_SIXTEENS(exps_and_sum_f32, sum_of_sixteens, exps_and_sum_in_steps, (float *)(uintptr_t)third)
ONAX_SUM_OF_SIXTEENS(exps_and_sum_f32_y, sum_of_sixteens_less_one, exps_and_sum_in_steps_y, (float *)(uintptr_t)third)
#define ONAX_SUM_ENTRIES(t) \
    {{sum_of_exps_##t, NULL, sum_of_exps_##t##_y}, {exps_and_sum_##t, NULL, exps_and_sum_##t##_y}}
const onax_variants onax_sums_of_exps[2][2] = {ONAX_SUM_ENTRIES(f32), ONAX_SUM_ENTRIES(f64)};

/* ---- functions of float32 for which float64 leaves room for shorter forms */

/* log(x) and exp(x) to 2**-36 or so. */
ONAX_INLINE double onax_short_log(double x) {
    const uint64_t moved = onax_bits64(x) + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
    const double e = onax_as_double((moved >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
    const double m = onax_as_double((moved & 0xFFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu), s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 2.0 / 11.0, out;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    out = e * 0.693147180559945309417 + (p * z * s + 2.0 * s);
    out = x > 1.7976931348623157e308 ? x : out;
    return x == 0.0 ? -HUGE_VAL : x == x ? out : x;
}
ONAX_INLINE double onax_short_exp(double x) {
    double y = x > 200.0 ? 200.0 : x, t, r, p;
    y = y < -200.0 ? -200.0 : y;
    t = y * 1.44269504088896340736 + ONAX_WIDE_ROUNDING;
    r = y - (t - ONAX_WIDE_ROUNDING) * 0.693147180559945309417;
    p = 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = (p * r * r + r + 1.0) * onax_power_of_2(onax_bits64(t) - 0x4338000000000000u);
    return x == x ? p : x;
}

/* exp(y log |x|), and where C's pow says otherwise. */
ONAX_INLINE double onax_pow_of_float(double x, double y) {
    const double size = onax_size(x), half = 0.5 * y, e = onax_short_exp(y * onax_short_log(size));
    const int is_whole = floor(y) == y, is_odd = is_whole && floor(half) != half;
    double out = is_odd ? onax_signed_as(e, x) : e;
    out = x < 0.0 && size <= 3.5e38 && !is_whole ? ONAX_QUIET : out;
    out = size == 1.0 && onax_size(y) > 3.5e38 && y == y ? 1.0 : out;
    return x == 1.0 || y == 0.0 ? 1.0 : out;
}
ONAX_INLINE double onax_cbrt_of_float(double x) {
    const double size = onax_size(x), out = onax_exp(onax_log(size) * (1.0 / 3.0));
    return x == x ? onax_signed_as(out, x) : x;
}

/* log |gamma(x)| of a float32, in float64 without branches: near 1 and 2 by Taylor's series about 1, else by Stirling's of
   x, or of x + 8 below 8.  Below 0 by reflection: gamma(x) gamma(-x) is -pi / (x sin(pi x)). */
ONAX_INLINE double onax_lgamma_series(double e) {
    double p = 0.07143294629536134;
    p = p * e - 0.0769325164113522;
    p = p * e + 0.083353840546109;
    p = p * e - 0.09095401714582904;
    p = p * e + 0.10009945751278179;
    p = p * e - 0.11133426586956469;
    p = p * e + 0.12550966952474304;
    p = p * e - 0.14404989676884614;
    p = p * e + 0.16955717699740822;
    p = p * e - 0.207385551028674;
    p = p * e + 0.27058080842778454;
    p = p * e - 0.40068563438653143;
    p = p * e + 0.8224670334241132;
    p = p * e - 0.5772156649015329;
    return p * e;
}
ONAX_INLINE double onax_lgamma_of_size(double x) {
    const int near_1 = onax_size(x - 1.0) < 0.25, near_2 = onax_size(x - 2.0) < 0.25, is_low = x < 8.0;
    const double z = is_low ? x + 8.0 : x, v = 1.0 / z, w = v * v, u = x * (x + 7.0);
    const double factors = is_low ? u * (u + 6.0) * (u + 10.0) * (u + 12.0) : 1.0;
    const double of_log = near_1 ? 1.0 : near_2 ? x - 1.0 : factors, log_of_it = onax_log(of_log);
    double s = 1.0 / 156.0, far;
    s = s * w - 691.0 / 360360.0;
    s = s * w + 1.0 / 1188.0;
    s = s * w - 1.0 / 1680.0;
    s = s * w + 1.0 / 1260.0;
    s = s * w - 1.0 / 360.0;
    s = s * w + 1.0 / 12.0;
    far = (z - 0.5) * onax_log(z) - z + (0.91893853320467274178 + s * v) - log_of_it;
    return near_1 || near_2 ? onax_lgamma_series(x - (near_1 ? 1.0 : 2.0)) + log_of_it : far;
}
ONAX_INLINE double onax_lgamma_of_float(double x) {
    const double size = onax_size(x), out = onax_lgamma_of_size(size);
    return size <= 3.5e38 ? out : x * x;
}
ONAX_INLINE double onax_lgamma_below_0(double x) {
    const double size = onax_size(x), of_size = onax_lgamma_of_float(size);
    const double near = (size + ONAX_WIDE_ROUNDING) - ONAX_WIDE_ROUNDING, f = size < 8388608.0 ? onax_size(size - near) : 0.0;
    const double sine = f > 0.25 ? onax_cos_series(3.14159265358979323846 * (0.5 - f)) : onax_sin_series(3.14159265358979323846 * f);
    const double out = onax_log(3.14159265358979323846 / (size * sine)) - of_size;
    return x < 0.0 && size <= 3.5e38 ? (f == 0.0 ? HUGE_VAL : out) : of_size;
}

ONAX_MAP1(ONAX_CLONES, cbrt_f32, float, float, onax_cbrt_of_float((double)x))
ONAX_MAP2(ONAX_CLONES, pow_f32, float, float, onax_pow_of_float((double)x, (double)y))

ONAX_MAP1(ONAX_CLONES, bessel_i0e_f32, float, float, onax_i0e((double)x))
ONAX_MAP1(ONAX_CLONES, bessel_i1e_f32, float, float, onax_i1e((double)x))
ONAX_MAP1(ONAX_CLONES, digamma_f32, float, float, onax_digamma((double)x))

/* ---- sines, cosines and tangents: C's functions where the turns of an angle are too many to be counted */

#define ONAX_NEAR(name, T, I, bits_of, as_float, sign, limit) \
    ONAX_CLONES static int name(const T *a, int64_t n) { \
        I largest = 0; \
        for (int64_t i = 0; i < n; i++) { \
            const I size = (I)(bits_of(a[i]) & ~sign); \
            largest = size > largest ? size : largest; \
        } \
        return as_float(largest) < limit; }
ONAX_NEAR(all_near_f32, float, int32_t, onax_bits, onax_as_float, 0x80000000u, ONAX_REDUCIBLE)
ONAX_NEAR(all_near_f64, double, int64_t, onax_bits64, onax_as_double, 0x8000000000000000u, ONAX_WIDE_REDUCIBLE)

#define ONAX_TURNING(name, t, T, near_value) \
    ONAX_MAP1(ONAX_CLONES, name##_near_##t, T, T, near_value) \
    static void name##_##t(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first; \
        if (all_near_##t(a, n)) name##_near_##t(to, first, second, third, n); \
        else for (int64_t i = 0; i < n; i++) d[i] = (T)name((double)a[i]); }
ONAX_TURNING(sin, f32, float, x == 0.0f ? x : onax_sin_cosf(x, 0)) ONAX_TURNING(sin, f64, double, onax_sin(x))
ONAX_TURNING(cos, f32, float, onax_sin_cosf(x, 1)) ONAX_TURNING(cos, f64, double, onax_cos(x))
ONAX_TURNING(tan, f32, float, onax_tan((double)x)) ONAX_TURNING(tan, f64, double, onax_tan(x))

/* ---- the gamma function, which needs sines only where an element is negative */

ONAX_MAP1(ONAX_CLONES, lgamma_above_0, float, float, onax_lgamma_of_float((double)x))
ONAX_MAP1(ONAX_CLONES, lgamma_anywhere, float, float, onax_lgamma_below_0((double)x))
ONAX_CLONES static int any_negative(const float *a, int64_t n) {
    uint32_t signs = 0;
    for (int64_t i = 0; i < n; i++) signs |= onax_bits(a[i]);
    return signs >> 31;
}
static void lgamma_f32(ONAX_ARGUMENTS) {
    if (any_negative(first, n)) lgamma_anywhere(to, first, second, third, n);
    else lgamma_above_0(to, first, second, third, n);
}

/* ---- the inverse of the error function: near 0 over x a polynomial in w = -log(1 - x**2), fitted at Chebyshev points for w
   up to 6.25; beyond, one step of Halley's from the value of float32, towards erfc as 1 - |x| is exact there */

#define ONAX_ERF_INV_NEAR 0.9990  /* w is 6.2 */

ONAX_INLINE double onax_erf_inv_near_0(double x) {
    const double t = onax_log((1.0 - x) * (1.0 + x)) * (-1.0 / 3.125) - 1.0;
    double p = 7.801712199036253e-10;
    p = p * t - 8.577966939639941e-11;
    p = p * t - 8.627191009014394e-09;
    p = p * t + 9.07207594789291e-09;
    p = p * t + 3.931511157646558e-08;
    p = p * t - 1.0514990713371436e-07;
    p = p * t - 1.0412692841159635e-08;
    p = p * t + 5.456420572209782e-07;
    p = p * t - 1.0591188098187532e-06;
    p = p * t - 6.87655180725494e-07;
    p = p * t + 7.12993974314695e-06;
    p = p * t - 1.1255653983969421e-05;
    p = p * t - 1.5027665773117194e-05;
    p = p * t + 9.336692787624058e-05;
    p = p * t - 0.0001168888508125076;
    p = p * t - 0.00026439358646646055;
    p = p * t + 0.0012324855702994214;
    p = p * t - 0.0012716922769885114;
    p = p * t - 0.004137314377547895;
    p = p * t + 0.0178083618187569;
    p = p * t - 0.022604447453444733;
    p = p * t - 0.0589225671037876;
    p = p * t + 0.7504943200799635;
    p = p * t + 1.6536545626831027;
    return p * x;
}
static double onax_erf_inv_far_out(double x) {
    const double size = onax_size(x), root5 = 2.23606797749979, middle = (6.1 + root5) / 2, half = (6.1 - root5) / 2;
    const double root = sqrt(-log((1.0 - size) * (1.0 + size))), b = (root - middle) / half;
    double y = onax_far[0], step;
    if (!(size < 1.0)) return size == 1.0 ? x * HUGE_VAL : ONAX_QUIET;
    for (int k = 1; k < 11; k++) y = y * b + onax_far[k];
    y *= root;
    step = (erfc(y) - (1.0 - size)) * 0.88622692545275801365 * exp(y * y);
    return onax_signed_as(y + step / (1.0 - y * step), x);
}
ONAX_MAP1(ONAX_CLONES, erf_inv_near_f64, double, double, onax_erf_inv_near_0(x))
static void erf_inv_f64(ONAX_ARGUMENTS) {
    const double *a = first;
    double *d = to, copy[256];
    (void)second, (void)third;
    for (int64_t i = 0; i < n; i += 256) {  /* to may be where first is */
        const int64_t count = n - i < 256 ? n - i : 256;
        memcpy(copy, a + i, (size_t)count * sizeof(double));
        erf_inv_near_f64(d + i, copy, NULL, NULL, count);
        for (int64_t k = 0; k < count; k++)
            if (!(onax_size(copy[k]) < ONAX_ERF_INV_NEAR)) d[i + k] = onax_erf_inv_far_out(copy[k]);
    }
}
