/* Kernels of complex64 and complex128, which are pairs of parts in memory.  Functions are computed in float64.

   Branch cuts: on a cut of sqrt and of the inverse functions a zero of the other part counts as positive.  Division
   treats infinities and zeros as Annex G of the C standard does.  max and min compare real parts, then imaginary parts. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#include <complex.h>

#include "blocks_maths.h"
#include "blocks_operations.h"
#include "blocks_rows.h"

#ifndef CMPLX
#define CMPLX(a, b) __builtin_complex((double)(a), (double)(b))
#endif

typedef double complex pair;
typedef struct { float re, im; } pair_c64;
typedef struct { double re, im; } pair_c128;

/* ---- loops: (a, b) and (c, e) are the operands' parts */

#define ONAX_PAIR1(name, t, T, real_part, imaginary_part) \
    ONAX_TWO_CLONES static void name##_##t(ONAX_ARGUMENTS) { \
        pair_##t *d = to; const pair_##t *x = first; ONAX_UNUSED(); \
        ONAX_EACH { \
            const T a = x[i].re, b = x[i].im; \
            d[i].re = real_part; d[i].im = imaginary_part; } }
#define ONAX_PAIR2(name, t, T, D, statement) \
    ONAX_TWO_CLONES static void name##_##t(ONAX_ARGUMENTS) { \
        D *d = to; const pair_##t *x = first, *y = second; (void)third; \
        ONAX_EACH { \
            const T a = x[i].re, b = x[i].im, c = y[i].re, e = y[i].im; \
            statement; } }
#define ONAX_PART(name, t, T, value) \
    ONAX_TWO_CLONES static void name##_##t(ONAX_ARGUMENTS) { \
        T *d = to; const pair_##t *x = first; ONAX_UNUSED(); \
        ONAX_EACH d[i] = value; }

/* Parts one by one, whichever they are. */
#define ONAX_PARTWISE1(name, t, T, value) \
    ONAX_CLONES static void name##_##t(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first; ONAX_UNUSED(); \
        n *= 2; \
        ONAX_EACH { const T x = a[i]; d[i] = value; } }
#define ONAX_PARTWISE2(name, t, T, value) \
    ONAX_CLONES static void name##_##t(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first, *b = second; (void)third; \
        n *= 2; \
        ONAX_EACH { const T x = a[i], y = b[i]; d[i] = value; } }

#define ONAX_PAIRS(t, T, D) \
    ONAX_PARTWISE2(add, t, T, x + y) \
    ONAX_PARTWISE2(sub, t, T, x - y) \
    ONAX_PAIR2(max, t, T, D, (d[i] = a > c || (a == c && b > e) ? x[i] : y[i])) \
    ONAX_PAIR2(min, t, T, D, (d[i] = a < c || (a == c && b < e) ? x[i] : y[i])) \
    ONAX_PAIR2(eq, t, T, uint8_t, d[i] = a == c && b == e) \
    ONAX_PAIR2(ne, t, T, uint8_t, d[i] = a != c || b != e) \
    ONAX_PARTWISE1(neg, t, T, -x) \
    ONAX_PARTWISE1(move, t, T, x) \
    ONAX_PAIR1(conj, t, T, a, -b) \
    ONAX_PART(real, t, T, x[i].re) \
    ONAX_PART(imag, t, T, x[i].im) \
    ONAX_SELECT(PLAIN, select_##t, D) \
    ONAX_TAKE(take_##t, D)
ONAX_PAIRS(c64, float, pair_c64)
ONAX_PAIRS(c128, double, pair_c128)
ONAX_MAP1(PLAIN, c64_to_c128, double, float, x)
ONAX_MAP1(PLAIN, c128_to_c64, float, double, x)
static void widen_c64(ONAX_ARGUMENTS) { c64_to_c128(to, first, second, third, 2 * n); }
static void narrow_c128(ONAX_ARGUMENTS) { c128_to_c64(to, first, second, third, 2 * n); }

/* Products.  Where the CPU has an instruction for x y + z, each part has one product that is not rounded, as in NumPy and in
   XLA; without it both are. */
#define ONAX_PRODUCT(name, how, t, T, real_part, imaginary_part) \
    how static void name##_##t(ONAX_ARGUMENTS) { \
        pair_##t *d = to; const pair_##t *x = first, *y = second; (void)third; \
        ONAX_EACH { \
            const T a = x[i].re, b = x[i].im, c = y[i].re, e = y[i].im; \
            d[i].re = real_part; d[i].im = imaginary_part; } }
#if defined(__x86_64__) && defined(__GNUC__)
#define ONAX_FUSED_PRODUCT(t, T, f) \
    ONAX_PRODUCT(mul_in_steps, PLAIN, t, T, a * c - b * e, a * e + b * c) \
    ONAX_PRODUCT(mul_fused, __attribute__((target("avx2,fma"))), t, T, __builtin_fma##f(a, c, -(b * e)), \
                 __builtin_fma##f(a, e, b * c)) \
    static void mul_##t(ONAX_ARGUMENTS) { \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) mul_fused_##t(to, first, second, third, n); \
        else mul_in_steps_##t(to, first, second, third, n); }
#else
#define ONAX_FUSED_PRODUCT(t, T, f) ONAX_PRODUCT(mul, PLAIN, t, T, a * c - b * e, a * e + b * c)
#endif
ONAX_FUSED_PRODUCT(c64, float, f)
ONAX_FUSED_PRODUCT(c128, double, )

/* ---- functions */

#define ONAX_NAN onax_as_double(0x7FF8000000000000u)

static int is_finite(pair x) { return creal(x) - creal(x) == 0 && cimag(x) - cimag(x) == 0; }
/* With zeros of positive sign. */
static pair plain(pair x) { return CMPLX(creal(x) + 0.0, cimag(x) + 0.0); }

static pair exp_of(pair x) { return cexp(x); }
static pair sinh_of(pair x) { return csinh(x); }
static pair cosh_of(pair x) { return ccosh(x); }
static pair sin_of(pair x) { return csin(x); }
static pair cos_of(pair x) { return ccos(x); }
/* The exponent is a product of two complex numbers: of infinite parts the other one becomes NaN. */
static pair exp2_of(pair x) {
    const double ln2 = 0.69314718055994530942, a = creal(x), b = cimag(x);
    return cexp(CMPLX(a * ln2 - b * 0, a * 0 + b * ln2));
}
/* An angle that is infinite or NaN leaves the limit -1 on the left and the infinite part on the right. */
static pair expm1_of(pair x) {
    const double a = creal(x), b = cimag(x), half = sin(0.5 * b);
    if (fabs(a) == HUGE_VAL && b - b != 0) return a < 0 ? CMPLX(-1, 0) : CMPLX(HUGE_VAL, ONAX_NAN);
    return CMPLX(0.0 - 2.0 * half * half + expm1(a) * cos(b), b == 0 ? b : exp(a) * sin(b));
}
static pair log_of(pair x) { return clog(x); }
static pair log1p_of(pair x) {
    const double a = creal(x), b = cimag(x);
    const int is_near = fabs(a) < 0.5 && fabs(b) < 0.5;
    return CMPLX(is_near ? 0.5 * log1p(a * (2 + a) + b * b) : log(hypot(1 + a, b)), atan2(b, 1 + a));
}
static pair sqrt_of(pair x) { return csqrt(plain(x)); }
static pair rsqrt_of(pair x) {
    const pair root = csqrt(x);
    const double size = cabs(x);
    if (size == HUGE_VAL) return 0;
    return CMPLX(size == 0 ? HUGE_VAL : creal(root) / size, -cimag(root) / size);
}
static pair sign_of(pair x) {
    const double size = cabs(x), by = size == 0 ? 1 : size;
    return CMPLX(creal(x) / by, cimag(x) / by);
}
static pair quotient(pair x, pair y);
static pair logistic_of(pair x) {
    const int is_below = creal(x) < 0;
    const pair e = cexp(is_below ? x : -x);
    return quotient(is_below ? e : 1, CMPLX(1 + creal(e), cimag(e)));
}
static pair tan_of(pair x) { return ctan(x); }
static pair tanh_of(pair x) { return ctanh(x); }
static pair asin_of(pair x) { return casin(CMPLX(creal(x), cimag(x) + 0.0)); }
static pair acos_of(pair x) { return cacos(plain(x)); }
static pair atan_of(pair x) { return catan(x); }
static pair asinh_of(pair x) { return casinh(CMPLX(creal(x) + 0.0, cimag(x))); }
static pair acosh_of(pair x) { return cacosh(plain(x)); }
static pair atanh_of(pair x) { return catanh(x); }

/* Smith's quotient: numerators and denominator are divided by the larger part of y first. */
static pair finite_quotient(pair x, pair y) {
    const double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    if (fabs(c) >= fabs(d)) {
        const double ratio = d / c, by = 1.0 / (c + d * ratio);
        if (c == 0 && d == 0) return CMPLX(a / fabs(c), b / fabs(c));
        return CMPLX((a + b * ratio) * by, (b - a * ratio) * by);
    }
    {
        const double ratio = c / d, by = 1.0 / (d + c * ratio);
        return CMPLX((a * ratio + b) * by, (b * ratio - a) * by);
    }
}
static double unit(int is_infinite, double part) {
    return !is_infinite ? part : fabs(part) == HUGE_VAL ? copysign(1, part) : 0;
}
static pair quotient(pair x, pair y) {
    const pair out = finite_quotient(x, y);
    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y), p, q, large, re = creal(out), im = cimag(out);
    if (is_finite(out)) return out;
    if (fabs(c) == HUGE_VAL || fabs(d) == HUGE_VAL) {
        c = copysign(fabs(c) == HUGE_VAL, c);
        d = copysign(fabs(d) == HUGE_VAL, d);
        return CMPLX(0 * (a * c + b * d), 0 * (b * c - a * d));
    }
    if (c == 0 && d == 0) return CMPLX(a / c, b / c);
    if (!(fabs(a) == HUGE_VAL || fabs(b) == HUGE_VAL)) return out;
    p = unit(1, a);
    q = unit(1, b);
    large = fabs(c) > fabs(d) ? fabs(c) : fabs(d);
    c /= large;
    d /= large;
    re = HUGE_VAL * (p * c + q * d);
    im = HUGE_VAL * (q * c - p * d);
    return CMPLX(re, im);
}
static pair product(pair x, pair y) {
    const double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    return CMPLX(a * c - b * d, a * d + b * c);
}
/* Also NaN where an infinite angle meets a magnitude of 0 or infinity. */
static pair from_magnitude(double logarithm, double angle) {
    const double root = exp(0.5 * logarithm);
    return CMPLX(root * cos(angle) * root, angle == 0 ? angle : root * sin(angle) * root);
}
static pair power(pair x, pair y) {
    const pair exponent = product(y, clog(x));
    if (x == 1 || y == 0) return 1;
    if (x == 0) return creal(y) > 0 && cimag(y) == 0 ? 0 : CMPLX(ONAX_NAN, ONAX_NAN);
    return from_magnitude(creal(exponent), cimag(exponent));
}
/* -i log((y + i x) / sqrt(x^2 + y^2)), whose products decide the signs of zeros. */
static pair angle_of(pair x, pair y) {
    const pair i = CMPLX(0, 1), root = csqrt(product(x, x) + product(y, y));
    return product(CMPLX(-0.0, -1), clog(finite_quotient(y + product(i, x), root)));
}
/* Where the squares neither overflow nor lose digits it is the root of their sum. */
static double magnitude(double a, double b) {
    const double sum = a * a + b * b;
    if (sum > 1e-280 && sum < 1e300) return sqrt(sum);
    return a != a || b != b ? ONAX_NAN : hypot(a, b);
}

#define ONAX_FUNCTION1(name, t, T, function) \
    static void name##_##t(ONAX_ARGUMENTS) { \
        pair_##t *d = to; const pair_##t *x = first; ONAX_UNUSED(); \
        for (int64_t i = 0; i < n; i++) { \
            const pair z = function(CMPLX(x[i].re, x[i].im)); \
            d[i].re = (T)creal(z); d[i].im = (T)cimag(z); } }
#define ONAX_FUNCTION2(name, t, T, function) \
    static void name##_##t(ONAX_ARGUMENTS) { \
        pair_##t *d = to; const pair_##t *x = first, *y = second; (void)third; \
        for (int64_t i = 0; i < n; i++) { \
            const pair z = function(CMPLX(x[i].re, x[i].im), CMPLX(y[i].re, y[i].im)); \
            d[i].re = (T)creal(z); d[i].im = (T)cimag(z); } }
#include "blocks_complex_quick.h"

#define ONAX_DOUBLE1(name) ONAX_FUNCTION1(name, c128, double, name##_of)
ONAX_DOUBLE1(exp) ONAX_DOUBLE1(exp2) ONAX_DOUBLE1(expm1) ONAX_DOUBLE1(log) ONAX_DOUBLE1(log1p) ONAX_DOUBLE1(sin)
ONAX_DOUBLE1(cos) ONAX_DOUBLE1(tan) ONAX_DOUBLE1(sinh) ONAX_DOUBLE1(cosh) ONAX_DOUBLE1(tanh) ONAX_DOUBLE1(asin)
ONAX_DOUBLE1(acos) ONAX_DOUBLE1(atan) ONAX_DOUBLE1(asinh) ONAX_DOUBLE1(acosh) ONAX_DOUBLE1(atanh) ONAX_DOUBLE1(sqrt)
ONAX_DOUBLE1(rsqrt) ONAX_DOUBLE1(sign) ONAX_DOUBLE1(logistic)
ONAX_FUNCTION2(div, c128, double, quotient) ONAX_FUNCTION2(pow, c128, double, power)
ONAX_FUNCTION2(atan2, c64, float, angle_of) ONAX_FUNCTION2(atan2, c128, double, angle_of)

#define ONAX_MAGNITUDES 64

/* Magnitudes of n numbers; whether no sum of squares has lost digits or overflowed. */
ONAX_CLONES static int magnitudes(float *d, const pair_c64 *x, int64_t n) {
    int odd = 0;
    ONAX_EACH {
        const float a = x[i].re, b = x[i].im, sum = a * a + b * b;
        d[i] = sqrtf(sum);
        odd |= !(sum > 0x1p-80f && sum < 0x1p120f);
    }
    return !odd;
}

ONAX_PART(magnitude_by_double, c64, float, (float)sqrt((double)x[i].re * x[i].re + (double)x[i].im * x[i].im))

/* `to` may be where `first` is: then numbers that are needed again must not be overwritten. */
static void magnitude_c64(ONAX_ARGUMENTS) {
    float *d = to, few[ONAX_MAGNITUDES];
    const pair_c64 *x = first;
    for (int64_t i = 0; i < n; i += ONAX_MAGNITUDES) {
        const int64_t m = n - i < ONAX_MAGNITUDES ? n - i : ONAX_MAGNITUDES;
        float *result = to == first ? few : d + i;
        if (!magnitudes(result, x + i, m)) magnitude_by_double_c64(result, x + i, second, third, m);
        if (result == few) memcpy(d + i, few, (size_t)m * sizeof *d);
    }
}

ONAX_PART(magnitude, c128, double, magnitude(x[i].re, x[i].im))

/* ---- folds: a total is two numbers of float64 */

#define ONAX_PAIR_FOLD(name, t, start, re_value, im_value) \
    static void name##_##t(ONAX_ARGUMENTS) { \
        double *total = to, a = total[0], b = total[1]; const pair_##t *x = first; (void)second, (void)third; \
        if (n == 0) { a = start; b = 0; } \
        if (n < 0) { \
            const double c = ((const double *)first)[0], e = ((const double *)first)[1], re = re_value, im = im_value; \
            a = re; b = im; } \
        for (int64_t i = 0; i < n; i++) { \
            const double c = x[i].re, e = x[i].im, re = re_value, im = im_value; \
            a = re; b = im; } \
        total[0] = a; total[1] = b; }
ONAX_PAIR_FOLD(prod, c64, 1, a * c - b * e, a * e + b * c)
ONAX_PAIR_FOLD(prod, c128, 1, a * c - b * e, a * e + b * c)

/* Eight lanes run side by side, so that the error of a sum grows slowly. */
#define ONAX_PAIR_SUM(t) \
    ONAX_TWO_CLONES static void sum_##t(ONAX_ARGUMENTS) { \
        double *total = to, lanes[16] = {0}; const pair_##t *x = first; int64_t i = 0; \
        (void)second, (void)third; \
        if (n == 0) total[0] = total[1] = 0; \
        if (n < 0) { total[0] += ((const double *)first)[0]; total[1] += ((const double *)first)[1]; } \
        for (; i + 8 <= n; i += 8) \
            for (int k = 0; k < 8; k++) { lanes[2 * k] += x[i + k].re; lanes[2 * k + 1] += x[i + k].im; } \
        for (; i < n; i++) { lanes[0] += x[i].re; lanes[1] += x[i].im; } \
        for (int w = 8; w > 1; w /= 2) for (int k = 0; k < w; k++) lanes[k] += lanes[k + w]; \
        if (n > 0) { total[0] += lanes[0]; total[1] += lanes[1]; } }
ONAX_PAIR_SUM(c64)
ONAX_PAIR_SUM(c128)

/* ---- by operation: a conversion to a real type is that of the real part */

#define ONAX_OF_REAL_PART(t, size, part, target, to_size) \
    ONAX_CHAIN(t##_##target, size, onax_kernels_##t, real, onax_kernels_##part, target, to_size)
#define ONAX_REAL_PARTS(t, size, part) \
    ONAX_OF_REAL_PART(t, size, part, to_i32, 4) ONAX_OF_REAL_PART(t, size, part, to_u32, 4) \
    ONAX_OF_REAL_PART(t, size, part, to_i64, 8) ONAX_OF_REAL_PART(t, size, part, to_u64, 8) \
    ONAX_OF_REAL_PART(t, size, part, to_bool, 1) ONAX_OF_REAL_PART(t, size, part, to_i8, 1) \
    ONAX_OF_REAL_PART(t, size, part, to_u8, 1) ONAX_OF_REAL_PART(t, size, part, to_i16, 2) \
    ONAX_OF_REAL_PART(t, size, part, to_u16, 2) ONAX_OF_REAL_PART(t, size, part, to_f16, 2) \
    ONAX_OF_REAL_PART(t, size, part, to_bf16, 2) ONAX_OF_REAL_PART(t, size, part, to_f32, 4) \
    ONAX_OF_REAL_PART(t, size, part, to_f64, 8)
ONAX_REAL_PARTS(c64, 8, f32)
ONAX_REAL_PARTS(c128, 16, f64)

#define ONAX_ROW_OF(t, ...) \
    onax_kernel_row onax_kernels_##t = { \
        ONAX_FRACTION_ENTRIES(t), ONAX_CONVERSION_ENTRIES(t), K(select, select_##t), K(move, move_##t), \
        K(take, take_##t), K(conj, conj_##t), K(real, real_##t), K(imag, imag_##t), K(magnitude, magnitude_##t), \
        K(sum, sum_##t), K(prod, prod_##t), __VA_ARGS__};
ONAX_ROW_OF(c64, K(to_c64, move_c64), K(to_c128, widen_c64))
ONAX_ROW_OF(c128, K(to_c64, narrow_c128), K(to_c128, move_c128))
