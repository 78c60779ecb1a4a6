/* Kernels of the elementary functions of float32 and float64 (blocks_floats.c includes this). */

#include "blocks_doubles.h"
#include "lgamma.h"

#define ONAX_LIBRARY1(name) ONAX_MAP1(PLAIN, name##_f64, double, double, name(x))
ONAX_LIBRARY1(cbrt) ONAX_LIBRARY1(erf) ONAX_LIBRARY1(erfc)
ONAX_MAP2(PLAIN, pow_f64, double, double, pow(x, y))
ONAX_MAP1(PLAIN, lgamma_f32, float, float, onax_lgamma((double)x))
ONAX_MAP1(PLAIN, lgamma_f64, double, double, onax_lgamma(x))

/* ---- functions of float32 with a form of their own */

ONAX_MAP1(ONAX_CLONES, exp_f32, float, float, onax_expf(x))
ONAX_MAP1(ONAX_CLONES, exp2_f32, float, float, onax_exp2f(x))
ONAX_MAP1(ONAX_CLONES, expm1_f32, float, float, onax_expm1f(x))
ONAX_MAP1(ONAX_CLONES, log_f32, float, float, onax_logf(x))
ONAX_MAP1(ONAX_CLONES, log1p_f32, float, float, onax_log1pf(x))
ONAX_MAP1(ONAX_CLONES, tanh_f32, float, float, onax_tanhf(x))
ONAX_MAP1(ONAX_CLONES, logistic_f32, float, float, onax_logisticf(x))
ONAX_MAP1(ONAX_CLONES, erf_f32, float, float, onax_erff(x))

/* ---- functions that both have, where float32 is computed in float64 */

ONAX_INLINE double onax_asin(double x) {
    const double size = onax_size(x), a = onax_first_angle(size, sqrt((1.0 - size) * (1.0 + size)));
    return size <= 1.0 ? onax_signed_as(a, x) : (x == x ? ONAX_QUIET : x);
}
ONAX_INLINE double onax_acos(double x) {
    const double size = onax_size(x), a = onax_first_angle(sqrt((1.0 - size) * (1.0 + size)), size);
    const double out = x < 0.0 ? 3.14159265358979323846 - (a - 1.22464679914735317723e-16) : a;
    return size <= 1.0 ? out : (x == x ? ONAX_QUIET : x);
}
ONAX_INLINE double onax_asinh(double x) {
    const double size = onax_size(x), y = size < 1e150 ? size : 1e150, z = y * y;
    const double near = onax_log1p(y + z / (1.0 + sqrt(1.0 + z))), far = onax_log(size) + 0.693147180559945309417;
    return x == x ? onax_signed_as(size < 1e150 ? near : far, x) : x;
}
ONAX_INLINE double onax_acosh(double x) {
    const double y = x < 1e150 ? x : 1e150, t = y - 1.0, near = onax_log1p(t + sqrt(t * (y + 1.0)));
    const double out = x < 1e150 ? near : onax_log(x) + 0.693147180559945309417;
    return x >= 1.0 ? out : (x == x ? ONAX_QUIET : x);
}
ONAX_INLINE double onax_atanh(double x) {
    const double size = onax_size(x), a = 0.5 * onax_log1p(2.0 * size / (1.0 - size));
    return x == x ? (size <= 1.0 ? onax_signed_as(a, x) : ONAX_QUIET) : x;
}

#define ONAX_BOTH1(name) \
    ONAX_MAP1(ONAX_CLONES, name##_f32, float, float, onax_##name((double)x)) \
    ONAX_MAP1(ONAX_CLONES, name##_f64, double, double, onax_##name(x))
ONAX_BOTH1(atan) ONAX_BOTH1(asin) ONAX_BOTH1(acos) ONAX_BOTH1(asinh) ONAX_BOTH1(acosh) ONAX_BOTH1(atanh)
ONAX_BOTH1(cosh)
ONAX_MAP2(ONAX_CLONES, atan2_f32, float, float, onax_atan2((double)x, (double)y))
ONAX_MAP2(ONAX_CLONES, atan2_f64, double, double, onax_atan2(x, y))
#define ONAX_WIDE1(name) ONAX_MAP1(ONAX_CLONES, name##_f64, double, double, onax_##name(x))
ONAX_WIDE1(exp) ONAX_WIDE1(exp2) ONAX_WIDE1(expm1) ONAX_WIDE1(log) ONAX_WIDE1(log1p) ONAX_WIDE1(tanh)
ONAX_WIDE1(logistic) ONAX_WIDE1(sinh)

/* ---- functions of float32 for which float64 leaves room for shorter forms */

ONAX_INLINE double onax_sinh_of_float(double x) {
    const double size = onax_size(x), e = onax_exp(size), z = x * x;
    const double out = size < 0.01 ? size + size * z * (1.0 / 6.0 + z * (1.0 / 120.0)) : 0.5 * (e - 1.0 / e);
    return x == x ? onax_signed_as(out, x) : x;
}

/* erfc(x) for x >= 0: exp(-x**2) / (1 + 2x) times a polynomial in (x - 3) / (x + 3), fitted at Chebyshev points for x
   up to 12. */
ONAX_INLINE double onax_erfc_of_float(double size) {
    const double y = size < 12.0 ? size : 12.0, u = (y - 3.0) / (y + 3.0);
    double p = 0.000031994477813128225607;
    p = p * u + 0.00012282610708665671106;
    p = p * u - 0.00013084450327635378816;
    p = p * u - 0.00078979472394326126065;
    p = p * u + 0.0018971291906978472162;
    p = p * u + 0.0025346160460941687941;
    p = p * u - 0.023771618205459300507;
    p = p * u + 0.068307031734796772382;
    p = p * u - 0.11927362067335897546;
    p = p * u + 0.12964523332121747108;
    p = p * u - 0.047562293778011941748;
    p = p * u - 0.13562110769264137203;
    p = p * u + 1.2530080582563309907;
    return onax_exp(-y * y) * p / (1.0 + 2.0 * y);
}
ONAX_INLINE double onax_erfc_of_sign(double x) {
    const double far = onax_erfc_of_float(onax_size(x)), out = x < 0.0 ? 2.0 - far : far;
    return x == x ? out : x;
}

/* exp(y log |x|), and where C's pow says otherwise. */
ONAX_INLINE double onax_pow_of_float(double x, double y) {
    const double size = onax_size(x), half = 0.5 * y, e = onax_exp(y * onax_log(size));
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

ONAX_MAP1(ONAX_CLONES, sinh_f32, float, float, onax_sinh_of_float((double)x))
ONAX_MAP1(ONAX_CLONES, erfc_f32, float, float, onax_erfc_of_sign((double)x))
ONAX_MAP1(ONAX_CLONES, cbrt_f32, float, float, onax_cbrt_of_float((double)x))
ONAX_MAP2(ONAX_CLONES, pow_f32, float, float, onax_pow_of_float((double)x, (double)y))

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
