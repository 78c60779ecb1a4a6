/* Functions of complex64 as vector code: computed in float64, in which no square of a float32 overflows or vanishes.

   ONAX_QUICK(name, steps, is_usual) defines name_c64: its steps compute the result p + iq of a + ib without branches, and
   `is_usual` says whether they may; a block of numbers that are not all usual is computed by name_one_by_one_c64, as
   complex128 is.  Inside of each cancellation that counts stand terms that are exact. */
#ifndef ONAX_BLOCKS_COMPLEX_QUICK_H
#define ONAX_BLOCKS_COMPLEX_QUICK_H

#include "blocks_doubles.h"

#define ONAX_QUICK_COUNT 64

/* The parts in arrays of their own: else the compiler computes both side by side, each quotient twice. */
#define ONAX_QUICK_PARTS(x, re_, im_) \
    double re_[ONAX_QUICK_COUNT], im_[ONAX_QUICK_COUNT]; \
    ONAX_EACH { re_[i] = (x)[i].re; im_[i] = (x)[i].im; }
#define ONAX_QUICK_LOOP(name, parameters, parts, reads, steps, is_usual) \
    ONAX_CLONES static int name##_quickly(pair_c64 *d, parameters int64_t n) { \
        float re[ONAX_QUICK_COUNT], im[ONAX_QUICK_COUNT]; \
        int64_t odd = 0; \
        parts \
        ONAX_EACH { \
            double p, q; \
            reads \
            steps \
            re[i] = (float)p; \
            im[i] = (float)q; \
            odd |= !(is_usual); } \
        ONAX_EACH { d[i].re = re[i]; d[i].im = im[i]; } \
        return !odd; }

/* `to` may be where an operand is, which is then needed again. */
#define ONAX_QUICK_BLOCKS(name, quickly, is_binary) \
    static void name##_c64(ONAX_ARGUMENTS) { \
        pair_c64 *d = to, few[ONAX_QUICK_COUNT]; \
        const pair_c64 *x = first, *y = second; \
        for (int64_t i = 0; i < n; i += ONAX_QUICK_COUNT) { \
            const int64_t m = n - i < ONAX_QUICK_COUNT ? n - i : ONAX_QUICK_COUNT; \
            if (quickly) memcpy(d + i, few, (size_t)m * sizeof *d); \
            else name##_one_by_one_c64(d + i, x + i, is_binary ? y + i : y, third, m); } }

#define ONAX_QUICK(name, steps, is_usual) \
    ONAX_FUNCTION1(name##_one_by_one, c64, float, name##_of) \
    ONAX_QUICK_LOOP(name, const pair_c64 *x ONAX_COMMA, ONAX_QUICK_PARTS(x, first, second), \
                    const double a = first[i]; const double b = second[i];, steps, is_usual) \
    ONAX_QUICK_BLOCKS(name, name##_quickly(few, x + i, m), 0)
#define ONAX_QUICK2(name, function, steps, is_usual) \
    ONAX_FUNCTION2(name##_one_by_one, c64, float, function) \
    ONAX_QUICK_LOOP(name, const pair_c64 *x ONAX_COMMA const pair_c64 *y ONAX_COMMA, \
                    ONAX_QUICK_PARTS(x, first, second) ONAX_QUICK_PARTS(y, third, fourth), \
                    const double a = first[i]; const double b = second[i]; const double c = third[i]; const double e = fourth[i];, \
                    steps, is_usual) \
    ONAX_QUICK_BLOCKS(name, name##_quickly(few, x + i, y + i, m), 1)
#define ONAX_COMMA ,

/* Whether exp, cosh**2 and the reduction of angles hold. */
#define ONAX_IS_NEAR(x) (onax_size(x) < 300.0)
#define ONAX_IS_ANGLE(x) (onax_size(x) < ONAX_WIDE_REDUCIBLE)
#define ONAX_IS_FINITE(x) (((x) - (x)) == 0.0)

ONAX_INLINE double onax_square(double x) { return x * x; }
/* |a + ib| */
ONAX_INLINE double onax_length(double a, double b) { return sqrt(a * a + b * b); }
/* a**2 + b**2 - 1, in which (m - 1) (m + 1) of the larger part m is exact near the unit circle */
ONAX_INLINE double onax_beyond_circle(double a, double b) {
    const double u = onax_size(a), v = onax_size(b), m = u > v ? u : v, k = u > v ? v : u;
    return (m - 1.0) * (m + 1.0) + k * k;
}
/* log |a + ib| */
ONAX_INLINE double onax_log_length(double a, double b) {
    const double square = a * a + b * b, near = onax_log1p(onax_beyond_circle(a, b)), far = onax_log(square);
    return 0.5 * (square > 0.5 && square < 2.0 ? near : far);
}
/* The parts of the square root in the right half plane: its real part, and the size of the imaginary one. */
ONAX_INLINE double onax_root_large(double a, double b) { return sqrt(0.5 * (onax_size(a) + onax_length(a, b))); }
#define ONAX_ROOT(a, b, re, im) \
    const double re##_large = onax_root_large(a, b); \
    const double re##_small = 0.5 * onax_size(b) / re##_large; \
    const double re = a >= 0.0 ? re##_large : re##_small; \
    const double im = onax_signed_as(a >= 0.0 ? re##_small : re##_large, b);
/* sinh(x) and cosh(x) near 0 and of the size e = exp(|x|): right to the digits of a float32. */
ONAX_INLINE double onax_even_part(double e) { return 0.5 * (e + 1.0 / e); }
ONAX_INLINE double onax_odd_part(double x, double e) {
    const double far = onax_signed_as(0.5 * (e - 1.0 / e), x), near = x * (1.0 + x * x * (1.0 / 6.0));
    return onax_size(x) < 0.01 ? near : far;
}
/* asinh of what is not beyond the squares of float32 */
ONAX_INLINE double onax_quick_asinh(double x) {
    const double y = onax_size(x), z = y * y;
    return onax_signed_as(onax_log1p(y + z / (1.0 + sqrt(1.0 + z))), x);
}
/* The part of atan and atanh that is a logarithm. */
ONAX_INLINE double onax_half_atanh(double along, double across) {
    const double size = onax_size(along);
    return onax_signed_as(0.25 * onax_log1p(4.0 * size / (across * across + onax_square(size - 1.0))), along);
}

ONAX_QUICK(exp, const double size = onax_exp(a); p = size * onax_cos(b); q = size * onax_sin(b);,
           ONAX_IS_NEAR(a) & ONAX_IS_ANGLE(b))
ONAX_QUICK(exp2, const double angle = a * 0.0 + b * 0.69314718055994530942; const double size = onax_exp2(a);
           p = size * onax_cos(angle); q = size * onax_sin(angle);, ONAX_IS_NEAR(a) & ONAX_IS_ANGLE(b))
ONAX_QUICK(expm1, const double half = onax_sin(0.5 * b); p = onax_expm1(a) * onax_cos(b) - 2.0 * half * half;
           q = onax_exp(a) * onax_sin(b);, ONAX_IS_NEAR(a) & ONAX_IS_ANGLE(b))
ONAX_QUICK(log, p = onax_log_length(a, b); q = onax_atan2(b, a);,
           ONAX_IS_FINITE(a) & ONAX_IS_FINITE(b) & ((a != 0.0) | (b != 0.0)))
ONAX_QUICK(log1p, const double u = 1.0 + a; const double square = u * u + b * b;
           const double near = onax_log1p(a * (2.0 + a) + b * b); const double far = onax_log(square);
           p = 0.5 * (square > 0.5 && square < 2.0 ? near : far); q = onax_atan2(b, u);,
           ONAX_IS_FINITE(a) & ONAX_IS_FINITE(b) & ((u != 0.0) | (b != 0.0)))
ONAX_QUICK(sin, const double size = onax_exp(onax_size(b)); p = onax_sin(a) * onax_even_part(size);
           q = onax_cos(a) * onax_odd_part(b, size);, ONAX_IS_ANGLE(a) & ONAX_IS_NEAR(b))
ONAX_QUICK(cos, const double size = onax_exp(onax_size(b)); p = onax_cos(a) * onax_even_part(size);
           q = -(onax_sin(a) * onax_odd_part(b, size));, ONAX_IS_ANGLE(a) & ONAX_IS_NEAR(b))
ONAX_QUICK(sinh, const double size = onax_exp(onax_size(a)); p = onax_odd_part(a, size) * onax_cos(b);
           q = onax_even_part(size) * onax_sin(b);, ONAX_IS_NEAR(a) & ONAX_IS_ANGLE(b))
ONAX_QUICK(cosh, const double size = onax_exp(onax_size(a)); p = onax_even_part(size) * onax_cos(b);
           q = onax_odd_part(a, size) * onax_sin(b);, ONAX_IS_NEAR(a) & ONAX_IS_ANGLE(b))
#define ONAX_TANGENT(a, b, along, across) \
    const double t = onax_tan(a); \
    const double h = onax_tanh(b); \
    const double below = 1.0 + onax_square(t * h); \
    along = t / (onax_square(onax_even_part(onax_exp(onax_size(b)))) * below); \
    across = h * (1.0 + t * t) / below;
ONAX_QUICK(tan, ONAX_TANGENT(a, b, p, q), ONAX_IS_ANGLE(a) & ONAX_IS_NEAR(b))
ONAX_QUICK(tanh, ONAX_TANGENT(b, a, q, p), ONAX_IS_NEAR(a) & ONAX_IS_ANGLE(b))
ONAX_QUICK(sqrt, const double side = b + 0.0; ONAX_ROOT(a, side, root, rest) p = root; q = rest;,
           ONAX_IS_FINITE(a) & ONAX_IS_FINITE(b) & ((a != 0.0) | (b != 0.0)))
ONAX_QUICK(rsqrt, const double size = onax_length(a, b); ONAX_ROOT(a, b, root, rest) p = root / size; q = -rest / size;,
           ONAX_IS_FINITE(a) & ONAX_IS_FINITE(b) & ((a != 0.0) | (b != 0.0)))
ONAX_QUICK(sign, const double size = onax_length(a, b); p = a / size; q = b / size;,
           ONAX_IS_FINITE(a) & ONAX_IS_FINITE(b) & ((a != 0.0) | (b != 0.0)))
/* But for the poles and branch points. */
#define ONAX_HAS_ROOTS(along, across) \
    (ONAX_IS_FINITE(along) & ONAX_IS_FINITE(across) & ((across != 0.0) | (onax_size(along) != 1.0)))
/* The real part is half the angle of 2a over 1 - a**2 - b**2. */
ONAX_QUICK(atan, p = 0.5 * onax_atan2(2.0 * a, -onax_beyond_circle(a, b)); q = onax_half_atanh(b, a);,
           ONAX_HAS_ROOTS(b, a))
ONAX_QUICK(atanh, p = onax_half_atanh(a, b); q = 0.5 * onax_atan2(2.0 * b, -onax_beyond_circle(a, b));,
           ONAX_HAS_ROOTS(a, b))
/* From the roots of 1 - z and 1 + z, or of z - 1 and z + 1, whose products do not cancel (Kahan, "Branch cuts for complex
   elementary functions", 1987). */
ONAX_QUICK(asin, const double x0 = a; const double y0 = b + 0.0; const double under = -y0;
           ONAX_ROOT((1.0 - x0), under, r, s) ONAX_ROOT((1.0 + x0), y0, u, v)
           p = onax_atan2(x0, r * u - s * v); q = onax_quick_asinh(r * v - s * u);, ONAX_HAS_ROOTS(a, b))
ONAX_QUICK(acos, const double x0 = a + 0.0; const double y0 = b + 0.0; const double under = -y0;
           ONAX_ROOT((1.0 - x0), under, r, s) ONAX_ROOT((1.0 + x0), y0, u, v)
           p = 2.0 * onax_atan2(r, u); q = onax_quick_asinh(u * s - v * r);, ONAX_HAS_ROOTS(a, b))
ONAX_QUICK(acosh, const double x0 = a + 0.0; const double y0 = b + 0.0;
           ONAX_ROOT((x0 - 1.0), y0, r, s) ONAX_ROOT((x0 + 1.0), y0, u, v)
           p = onax_quick_asinh(r * u + s * v); q = 2.0 * onax_atan2(s, u);, ONAX_HAS_ROOTS(a, b))
/* asin(iz) / i with iz = -b + ia */
ONAX_QUICK(asinh, const double x0 = -b; const double y0 = a + 0.0; const double under = -y0;
           ONAX_ROOT((1.0 - x0), under, r, s) ONAX_ROOT((1.0 + x0), y0, u, v)
           p = onax_quick_asinh(r * v - s * u); q = -onax_atan2(x0, r * u - s * v);, ONAX_HAS_ROOTS(b, a))
ONAX_QUICK(logistic, const double size = onax_exp(-onax_size(a)); const double angle = a < 0.0 ? b : -b;
           const double c = size * onax_cos(angle); const double s = size * onax_sin(angle);
           const double below = onax_square(1.0 + c) + s * s;
           p = (a < 0.0 ? c + c * c + s * s : 1.0 + c) / below; q = (a < 0.0 ? s + 0.0 : 0.0 - s) / below;,
           ONAX_IS_NEAR(a) & ONAX_IS_ANGLE(b) & (below > 0.0))
/* The quotient with numerator and denominator in float64. */
ONAX_QUICK2(div, quotient, const double by = 1.0 / (c * c + e * e); p = (a * c + b * e) * by; q = (b * c - a * e) * by;,
            (by > 0.0) & ONAX_IS_FINITE(by) & ONAX_IS_FINITE(p) & ONAX_IS_FINITE(q))
/* exp(y log(x)) */
ONAX_QUICK2(pow, power, const double size = onax_log_length(a, b); const double turn = onax_atan2(b, a);
            const double exponent = c * size - e * turn; const double angle = c * turn + e * size;
            const double scale = onax_exp(exponent); p = scale * onax_cos(angle); q = scale * onax_sin(angle);,
            ((a != 0.0) | (b != 0.0)) & ((a != 1.0) | (b != 0.0)) & ((c != 0.0) | (e != 0.0)) & ONAX_IS_NEAR(exponent)
            & ONAX_IS_ANGLE(angle) & ONAX_IS_FINITE(a) & ONAX_IS_FINITE(b))

#endif
