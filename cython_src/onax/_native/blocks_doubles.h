/* Elementary functions of one float64, written so that a loop over them becomes vector code: no branches, no calls.

   Each is right to within 4 units in the last place (tests/native/test_blocks.py measures them), keeps NaN, and takes
   infinities and overflow where C's own functions take them.  Functions of float32 that have no shorter form are
   computed by them and rounded once.  Polynomials without a remark are Taylor series. */
#ifndef ONAX_BLOCKS_DOUBLES_H
#define ONAX_BLOCKS_DOUBLES_H

#include "blocks_maths.h"

#define ONAX_QUIET onax_as_double(0x7FF8000000000000u)
#define ONAX_WIDE_ROUNDING 6755399441055744.0  /* 1.5 * 2**52: adding it leaves the nearest integer in the low bits */
#define ONAX_LN2_HIGH 6.93147180369123816490e-01  /* its last 21 bits are zero: products with exponents are exact */
#define ONAX_LN2_LOW 1.90821492927058770002e-10

ONAX_INLINE double onax_size(double x) { return onax_as_double(onax_bits64(x) & 0x7FFFFFFFFFFFFFFFu); }
ONAX_INLINE double onax_signed_as(double size, double sign) {
    return onax_as_double((onax_bits64(size) & 0x7FFFFFFFFFFFFFFFu) | (onax_bits64(sign) & 0x8000000000000000u));
}
/* 2**k, for the low bits of k + ONAX_WIDE_ROUNDING */
ONAX_INLINE double onax_power_of_2(uint64_t k) { return onax_as_double((k + 1023) << 52); }

/* (exp(r) - 1 - r) / r**2 for |r| <= ln(2) / 2, fitted at Chebyshev points */
ONAX_INLINE double onax_exp_series(double r) {
    double p = 2.51863030295771219e-08;
    p = p * r + 2.76329939005758637e-07;
    p = p * r + 2.75570233397700002e-06;
    p = p * r + 2.48014853841114526e-05;
    p = p * r + 1.98412701077385568e-04;
    p = p * r + 1.38888889511970884e-03;
    p = p * r + 8.33333333323077984e-03;
    p = p * r + 4.16666666665001240e-02;
    p = p * r + 1.66666666666667962e-01;
    return p * r + 5.00000000000001110e-01;
}

/* The scale 2**k of p, where t is k + ONAX_WIDE_ROUNDING: as two factors, so that a product rounds once, into infinity or
   subnormals.  Of NaN the factors may be anything: it stays NaN. */
ONAX_INLINE double onax_scaled(double p, double t, uint64_t halvings) {
    const double near_half = (t - ONAX_WIDE_ROUNDING) * 0.5 + ONAX_WIDE_ROUNDING;
    const uint64_t half = onax_bits64(near_half);
    return p * onax_power_of_2(half) * onax_power_of_2(onax_bits64(t) - half - halvings);
}

/* exp(x) / 2**halvings */
ONAX_INLINE double onax_halved_exp(double x, uint64_t halvings) {
    double y = x > 711.0 ? 711.0 : x, t, n, r;
    y = y < -746.0 ? -746.0 : y;
    t = y * 1.44269504088896340736 + ONAX_WIDE_ROUNDING;
    n = t - ONAX_WIDE_ROUNDING;
    r = (y - n * ONAX_LN2_HIGH) - n * ONAX_LN2_LOW;
    return onax_scaled(onax_exp_series(r) * r * r + r + 1.0, t, halvings);
}
ONAX_INLINE double onax_exp(double x) { return onax_halved_exp(x, 0); }

/* The same bits for |x| < 708, where no bound is met and the result is a normal number: k goes into the exponent. */
#define ONAX_IS_FAR_FOR_WIDE_EXP(x) (!(onax_size(x) < 708.0))
ONAX_INLINE double onax_near_exp(double x) {
    const double t = x * 1.44269504088896340736 + ONAX_WIDE_ROUNDING, n = t - ONAX_WIDE_ROUNDING;
    const double r = (x - n * ONAX_LN2_HIGH) - n * ONAX_LN2_LOW;
    return onax_as_double(onax_bits64(onax_exp_series(r) * r * r + r + 1.0) + (onax_bits64(t) << 52));
}

ONAX_INLINE double onax_exp2(double x) {
    double y = x > 1025.0 ? 1025.0 : x, t, r;
    y = y < -1080.0 ? -1080.0 : y;
    t = y + ONAX_WIDE_ROUNDING;
    r = (y - (t - ONAX_WIDE_ROUNDING)) * 0.693147180559945309417;
    return onax_scaled(onax_exp_series(r) * r * r + r + 1.0, t, 0);
}

/* With exp(x) = 2**k (1 + p) it is 2**k p + (2**k - 1), in which half of the scale comes last. */
ONAX_INLINE double onax_expm1(double x) {
    double y = x > 710.0 ? 710.0 : x, t, n, r, p;
    uint64_t k, half;
    y = y < -746.0 ? -746.0 : y;
    y = x == x ? y : 0.0;
    t = y * 1.44269504088896340736 + ONAX_WIDE_ROUNDING;
    n = t - ONAX_WIDE_ROUNDING;
    k = onax_bits64(t) - 0x4338000000000000u;
    half = (uint64_t)((int64_t)(k << 32) >> 33);
    r = (y - n * ONAX_LN2_HIGH) - n * ONAX_LN2_LOW;
    p = onax_exp_series(r) * r * r + r;
    p = (onax_power_of_2(half) * p + (onax_power_of_2(half) - onax_power_of_2(half - k))) * onax_power_of_2(k - half);
    return (x == 0.0) | (x != x) ? x : p;
}

/* x = m 2**e with m in [sqrt(1/2), sqrt(2)).  With f = m - 1 and s = f / (2 + f), log(m) is
   2 atanh(s) = f - f**2 / 2 + s (f**2 / 2 + 2 s**2 / 3 + 2 s**4 / 5 + ...). */
ONAX_INLINE double onax_log(double x) {
    const int small = x < 2.2250738585072014e-308;
    const double y = small ? x * 4503599627370496.0 : x;
    const uint64_t moved = onax_bits64(y) + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
    const double shifted = onax_as_double((moved >> 52) | 0x4330000000000000u);  /* 2**52 + e + 1023 */
    const double e = shifted - (4503599627370496.0 + 1023.0) - (small ? 52.0 : 0.0);
    const double f = onax_as_double((moved & 0xFFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu) - 1.0, half = 0.5 * f * f;
    const double s = f / (2.0 + f), z = s * s;
    double p = 2.0 / 21.0, out;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = (p * z + 2.0 / 3.0) * z;
    out = e * ONAX_LN2_HIGH - ((half - (s * (half + p) + e * ONAX_LN2_LOW)) - f);
    out = x > 1.7976931348623157e308 ? x : out;
    out = x == 0.0 ? -HUGE_VAL : out;
    return x >= 0.0 ? out : (x == x ? ONAX_QUIET : x);
}

/* log(u) of the rounded u = 1 + x, and what the rounding lost */
ONAX_INLINE double onax_log1p(double x) {
    const double u = 1.0 + x, lost = (x - (u - 1.0)) / u, out = onax_log(u);
    return x == 0.0 ? x : x > -1.0 && x <= 1.7976931348623157e308 ? out + lost : out;
}

/* With m = exp(2|x|) - 1 it is m / (m + 2). */
ONAX_INLINE double onax_tanh(double x) {
    const double size = onax_size(x), y = size < 22.0 ? 2.0 * size : 44.0;
    const double t = y * 1.44269504088896340736 + ONAX_WIDE_ROUNDING, n = t - ONAX_WIDE_ROUNDING;
    const double r = (y - n * ONAX_LN2_HIGH) - n * ONAX_LN2_LOW, s = onax_power_of_2(onax_bits64(t) - 0x4338000000000000u);
    const double m = s * (onax_exp_series(r) * r * r + r) + (s - 1.0);
    return x == x ? onax_signed_as(m / (m + 2.0), x) : x;
}

/* Below 1 sinh is a Taylor series. */
ONAX_INLINE double onax_sinh(double x) {
    const double size = onax_size(x), half = onax_halved_exp(size, 1), z = x * x;
    double p = 1.0 / 355687428096000.0;
    p = p * z + 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z + 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z + 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z + 1.0 / 6.0;
    return size < 1.0 ? p * z * x + x : onax_signed_as(half - 0.25 / half, x);
}
ONAX_INLINE double onax_cosh(double x) {
    const double half = onax_halved_exp(onax_size(x), 1);
    return half + 0.25 / half;
}

/* The largest |x| whose quarter turns onax_turn counts. */
#define ONAX_WIDE_REDUCIBLE 1.0e5

/* x less its quarter turns n, where pi/2 is three numbers, the first two of 33 bits. */
ONAX_INLINE double onax_turn(double x, uint64_t *turns) {
    const double t = x * 0.63661977236758134308 + ONAX_WIDE_ROUNDING, n = t - ONAX_WIDE_ROUNDING;
    *turns = onax_bits64(t);
    return ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
}
/* sin(r) and cos(r) for |r| <= pi/4 */
ONAX_INLINE double onax_sin_series(double r) {
    const double z = r * r;
    double p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return p * z * r + r;
}
ONAX_INLINE double onax_cos_series(double r) {
    const double z = r * r, half = 0.5 * z, w = 1.0 - half;
    double p = -1.0 / 6402373705728000.0;
    p = p * z + 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    return w + (((1.0 - w) - half) + p * z * z);
}
ONAX_INLINE double onax_sin_cos(double x, uint64_t quarter) {
    uint64_t turns;
    const double r = onax_turn(x, &turns), s = onax_sin_series(r), c = onax_cos_series(r);
    turns += quarter;
    return onax_as_double(onax_bits64(turns & 1 ? c : s) ^ ((turns & 2) << 62));
}
ONAX_INLINE double onax_sin(double x) { return x == 0.0 ? x : onax_sin_cos(x, 0); }
ONAX_INLINE double onax_cos(double x) { return onax_sin_cos(x, 1); }
ONAX_INLINE double onax_tan(double x) {
    uint64_t turns;
    const double r = onax_turn(x, &turns), s = onax_sin_series(r), c = onax_cos_series(r);
    return x == 0.0 ? x : turns & 1 ? -c / s : s / c;
}

/* The angle of (x, y), y >= 0 and x >= 0 not both 0 or infinite: of the smaller over the larger part, less pi/4 if that
   is above tan(pi/8).  The polynomial was fitted at Chebyshev points to atan(t) / t in t**2. */
ONAX_INLINE double onax_first_angle(double y, double x) {
    const int steep = y > x;
    const double low = steep ? x : y, high = steep ? y : x;
    const int wide = low > 0.41421356237309503 * high;
    const double t = (wide ? low - high : low) / (wide ? low + high : high), z = t * t;
    double p = -0.017805397205419445228, a;
    p = p * z + 0.037965257453865936236;
    p = p * z - 0.050351024566015518428;
    p = p * z + 0.058468782973308725201;
    p = p * z - 0.066629518136291900881;
    p = p * z + 0.076920453309022249521;
    p = p * z - 0.090908968090640270761;
    p = p * z + 0.11111110744919658237;
    p = p * z - 0.14285714279250244942;
    p = p * z + 0.19999999999940891462;
    p = p * z - 0.33333333333333121163;
    a = p * z * t + t;
    a = wide ? 7.85398163397448309616e-01 + (a + 3.06161699786838301793e-17) : a;
    return steep ? 1.57079632679489661923 - (a - 6.12323399573676603587e-17) : a;
}
ONAX_INLINE double onax_atan(double x) {
    const double size = onax_size(x), a = onax_first_angle(size < 1e300 ? size : 1e300, 1.0);
    return x == x ? onax_signed_as(a, x) : x;
}
ONAX_INLINE double onax_atan2(double y, double x) {
    const double v = onax_size(y), u = onax_size(x), most = v > u ? v : u;
    const double scale = most > 1e300 ? 1e-300 : most < 1e-290 ? 1e290 : 1.0;
    const int both = v > 1.7976931348623157e308 && u > 1.7976931348623157e308, none = most == 0.0;
    const double b = both ? 1.0 : v > 1.7976931348623157e308 ? 1e300 : v * scale;
    const double c = both || none ? 1.0 : u > 1.7976931348623157e308 ? HUGE_VAL : u * scale;
    double a = onax_first_angle(b, c > 1.7976931348623157e308 ? 1e300 : c);
    a = v <= 1.7976931348623157e308 && u > 1.7976931348623157e308 ? 0.0 : a;
    a = u <= 1.7976931348623157e308 && v > 1.7976931348623157e308 ? 1.57079632679489661923 : a;
    a = onax_bits64(x) >> 63 ? 3.14159265358979323846 - (a - 1.22464679914735317723e-16) : a;
    return x == x && y == y ? onax_signed_as(a, y) : x + y;
}

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

#endif
