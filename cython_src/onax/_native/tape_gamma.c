/* Draws from the gamma distribution by rejection (Marsaglia and Tsang, "A simple method for generating gamma variables",
   2000), and the derivative of a number in its shape parameter.

   A number depends on a key of its own alone: `_prims/random_kernels.py` says how.  The first candidates of many numbers
   are drawn together; those that are refused draw on one by one. */
#include "tape_random.h"

#include <math.h>

#include "lgamma.h"
#include "normals_maths.h"
#include "threefry_maths.h"

#define TOGETHER 64

typedef struct { uint32_t a, b; } key;

/* The words of a block: a new key, or the bits of a number. */
ONAX_INLINE key block(key k, uint32_t counter) {
    const uint32_t k0 = k.a, k1 = k.b, k2 = k0 ^ k1 ^ ONAX_PARITY;
    uint32_t x0 = 0, x1 = counter;
    key out;
    ONAX_THREEFRY(k0, k1, k2)
    out.a = x0;
    out.b = x1;
    return out;
}

ONAX_CLONES static void blocks(const key *keys, uint32_t counter, int64_t n, key *out) {
    ONAX_OVER(i, n) out[i] = block(keys[i], counter);
}

/* The inverse of the error function: a float32 one, corrected twice by Halley's method. */
static double erf_inv(double x) {
    const float near = (float)x;
    const double size = fabs(x);
    float guess;
    double y;
    if (size >= 1) return size == 1 ? x * HUGE_VAL : NAN;
    onax_erf_inv(&near, 1, &guess);
    y = isfinite(guess) ? fabs((double)guess) : 3.9;
    for (int k = 0; k < 3; k++) {
        const double error = size < 0.5 ? erf(y) - size : (1 - size) - erfc(y);
        const double step = error / (1.1283791670955126 * exp(-y * y));
        y -= step / (1 + y * step);
    }
    return copysign(y, x);
}

/* Numbers in [0, 1) and normal numbers from keys. */
ONAX_INLINE float uniform_f32(key k) {
    const key bits = block(k, 0);
    return (float)(int32_t)((bits.a ^ bits.b) >> 9) * 0x1p-23f;
}
ONAX_INLINE double uniform_f64(key k) {
    const key bits = block(k, 0);
    return (double)(int64_t)(((uint64_t)bits.a << 32 | bits.b) >> 12) * 0x1p-52;
}
static void normals_f32(const float *u, int64_t n, float *to) {
    float signed_unit[TOGETHER];
    for (int64_t i = 0; i < n; i++) {
        const float x = u[i] * 2.0f + -0.99999994f;
        signed_unit[i] = x > -0.99999994f ? x : -0.99999994f;
    }
    onax_erf_inv(signed_unit, (uint64_t)n, to);
    for (int64_t i = 0; i < n; i++) to[i] *= 1.4142135f;
}
static void normals_f64(const double *u, int64_t n, double *to) {
    const double low = -0x1.fffffffffffffp-1;
    for (int64_t i = 0; i < n; i++) {
        const double x = u[i] * 2.0 + low;
        to[i] = 1.4142135623730951 * erf_inv(x > low ? x : low);
    }
}

#define ONAX_GAMMA(t, T, f, log_of, log1p_of) \
    ONAX_CLONES static void uniforms_##t(const key *keys, int64_t n, T *to) { \
        ONAX_OVER(i, n) to[i] = uniform_##t(keys[i]); \
    } \
    /* A candidate v^3 is accepted by comparison of u with the density. */ \
    ONAX_INLINE int is_refused_##t(T x, T v, T u, T d) { \
        const T square = x * x, cube = v * v * v; \
        if (!(u >= (T)1 - (T)0.0331 * (square * square))) return 0; \
        return log_of(u) >= square * (T)0.5 + d * (((T)1 - cube) + log_of(cube)); \
    } \
    /* Draws on from a key of which the first candidate may be no good. */ \
    static T accept_##t(key k, T d, T c) { \
        for (;;) { \
            const key next = block(k, 0), u_key = block(k, 2); \
            key x_key = block(k, 1); \
            T x, v, u; \
            do { \
                const key drawn = block(x_key, 1); \
                u = uniform_##t(drawn); \
                normals_##t(&u, 1, &x); \
                v = (T)1 + x * c; \
                if (v <= 0) x_key = block(x_key, 0); \
            } while (v <= 0); \
            u = uniform_##t(u_key); \
            if (!is_refused_##t(x, v, u, d)) return v * v * v; \
            k = next; \
        } \
    } \
    static T boosted_##t(T a, T d, T cube, key boost_key, int log_space) { \
        const T u = a >= 1 ? 0 : uniform_##t(boost_key); \
        if (log_space) { \
            const T log_u = log1p_of(-u), out = log_of(d) + log_of(cube); \
            return a >= 1 ? out : out + (log_u == 0 ? log_u : log_u * ((T)1 / a)); \
        } \
        return a >= 1 ? d * cube : d * cube * pow##f((T)1 - u, (T)1 / a); \
    } \
    static void gamma_##t(key *keys, const T *alpha, int64_t n, T *out, int log_space) { \
        key roots[TOGETHER], others[TOGETHER]; \
        T x[TOGETHER], u[TOGETHER]; \
        memcpy(roots, keys, (size_t)n * sizeof(key)); \
        blocks(roots, 0, n, keys); \
        blocks(keys, 1, n, others); \
        blocks(others, 1, n, others); \
        uniforms_##t(others, n, u); \
        normals_##t(u, n, x); \
        blocks(keys, 2, n, others); \
        uniforms_##t(others, n, u); \
        for (int64_t i = 0; i < n; i++) { \
            const T a = alpha[i], d = (a >= 1 ? a : a + (T)1) - (T)(1.0 / 3), c = (T)(1.0 / 3) / sqrt##f(d), v = (T)1 + x[i] * c; \
            T cube = v * v * v; \
            if (v <= 0 || is_refused_##t(x[i], v, u[i], d)) cube = accept_##t(keys[i], d, c); \
            out[i] = boosted_##t(a, d, cube, a >= 1 ? roots[i] : block(roots[i], 1), log_space); \
        } \
    } \
    void onax_gamma_##t(const uint32_t *words, int64_t each, const T *alpha, T *out, int64_t begin, int64_t end, int log_space) { \
        key keys[TOGETHER]; \
        for (int64_t at = begin, n; at < end; at += n) { \
            n = end - at < TOGETHER ? end - at : TOGETHER; \
            for (int64_t i = 0; i < n; i++) { \
                const int64_t number = (at + i) / each; \
                const key k = {words[2 * number], words[2 * number + 1]}; \
                keys[i] = block(k, (uint32_t)((at + i) % each)); \
            } \
            gamma_##t(keys, alpha + at, n, out + at, log_space); \
        } \
    }

ONAX_GAMMA(f32, float, f, onax_logf, onax_log1pf)
ONAX_GAMMA(f64, double, , log, log1p)

/* ---- the derivative

   Below its mean the incomplete gamma function is a series, above it a continued fraction (Abramowitz and Stegun, 6.5.29
   and 6.5.31), each differentiated in a term by term; `_prims/special_kernels.py` says more. */

#define EPS 2.220446049250313e-16
#define FRACTION_STEPS 2000
#define SERIES_TERMS 10000

typedef struct { double value, slope; } term;

/* The sum over n = 0, 1, ... of x^n / ((a + 1) ... (a + n)), and its derivative in a. */
static term series(double a, double x) {
    double r = a, c = 1, dc = 0;
    term s = {1, 0};
    for (int k = 0; k < SERIES_TERMS; k++) {
        r += 1;
        dc = (dc - c / r) * (x / r);
        c *= x / r;
        s.value += c;
        s.slope += dc;
        if (!(fabs(dc) > EPS * fabs(s.slope))) break;
    }
    return s;
}

/* f, of which f x^a exp(-x) / gamma(a) is the upper incomplete gamma function, and its derivative in a. */
static term fraction(double a, double x) {
    double y = 1 - a, z = x + 1 - a + 1;
    double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x, dp2 = 0, dq2 = 0, dp1 = 0, dq1 = -x;
    term f = {p1 / q1, (dp1 - p1 / q1 * dq1) / q1};
    for (int k = 1; k <= FRACTION_STEPS; k++) {
        double p, q, dp, dq, before = f.slope, scale;
        y += 1;
        z += 2;
        p = p1 * z - p2 * (y * k);
        q = q1 * z - q2 * (y * k);
        dp = dp1 * z - p1 - dp2 * (y * k) + p2 * k;
        dq = dq1 * z - q1 - dq2 * (y * k) + q2 * k;
        if (q != 0) {
            f.value = p / q;
            f.slope = (dp - f.value * dq) / q;
        }
        scale = fabs(p) > 1 / EPS ? EPS : 1;
        p2 = p1 * scale; q2 = q1 * scale; p1 = p * scale; q1 = q * scale;
        dp2 = dp1 * scale; dq2 = dq1 * scale; dp1 = dp * scale; dq1 = dq * scale;
        if (!(fabs(f.slope - before) > EPS * fabs(f.slope))) break;
    }
    return f;
}

/* psi(x), x > 0: the recurrence up to 10, then the asymptotic series (Abramowitz and Stegun, 6.3.5 and 6.3.18). */
static double digamma(double x) {
    double sum = 0, y;
    for (; x < 10; x += 1) sum -= 1 / x;
    y = 1 / (x * x);
    return sum + log(x) - 0.5 / x
        - y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
}

double onax_gamma_grad(double a, double x) {
    term s;
    if (!(a > 0)) return NAN;
    if (x == 0) return 0;
    if (!(x > 0) || !isfinite(a) || !isfinite(x)) return NAN;
    if (x > 1 && x > a) {
        if (x > 1e100 && x * EPS > a) { s.value = 1 / x; s.slope = 0; }
        else s = fraction(a, x);
        return (s.slope + s.value * (log(x) - digamma(a))) * x;
    }
    s = series(a, x);
    return -(s.slope + s.value * (log(x) - digamma(a + 1))) * (x / a);
}

double onax_igamma_grad_a(double a, double x) {
    const int shift = !(x > 1 && x > a);
    term s;
    double weight;
    if (!(a > 0)) return NAN;
    if (x == 0) return 0;
    if (!(x > 0) || !isfinite(a) || !isfinite(x)) return NAN;
    if (shift) s = series(a, x);
    else if (x > 1e100 && x * EPS > a) s = (term){1 / x, 0};
    else s = fraction(a, x);
    weight = exp(a * log(x) - x - onax_lgamma(a + shift));
    if (weight == 0) return 0;
    return (s.slope + s.value * (log(x) - digamma(a + shift))) * (shift ? weight : -weight);
}
