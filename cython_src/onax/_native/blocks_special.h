/* Functions of one float32 beside the elementary ones, computed in float64 without branches (blocks_functions.h includes this). */
#ifndef ONAX_BLOCKS_SPECIAL_H
#define ONAX_BLOCKS_SPECIAL_H

#include "blocks_doubles.h"

/* ---- Bessel functions: exp(-|x|) I(x), up to 8 a polynomial in |x| / 4 - 1 (of order 1 over |x|), beyond one in 16 / |x| - 1 over the
   root of |x|, fitted at Chebyshev points */

ONAX_INLINE double onax_i0e_near(double t) {
    double p = 2.921124707812e-04;
    p = p * t - 8.302594378809e-04;
    p = p * t + 6.592417571760e-04;
    p = p * t - 8.446697011910e-04;
    p = p * t + 3.722556619146e-03;
    p = p * t - 7.866014473507e-03;
    p = p * t + 1.198866334922e-02;
    p = p * t - 1.899374198320e-02;
    p = p * t + 3.011541999673e-02;
    p = p * t - 4.324864322118e-02;
    p = p * t + 5.680809498327e-02;
    p = p * t - 6.948311506003e-02;
    p = p * t + 7.926811759612e-02;
    p = p * t - 8.497025582532e-02;
    p = p * t + 8.734416188900e-02;
    p = p * t - 8.904307574881e-02;
    p = p * t + 9.451559996526e-02;
    p = p * t - 1.130043325194e-01;
    p = p * t + 2.070019213975e-01;
    return p;
}
ONAX_INLINE double onax_i0e_far(double t) {
    double p = 3.161372588317e-08;
    p = p * t + 1.086793593189e-07;
    p = p * t + 3.073430170482e-07;
    p = p * t + 1.476115832640e-06;
    p = p * t + 1.113981029683e-05;
    p = p * t + 1.362171642063e-04;
    p = p * t + 3.360552242391e-03;
    p = p * t + 4.021765094192e-01;
    return p;
}
ONAX_INLINE double onax_i1e_near(double t) {
    double p = 3.482406564336e-05;
    p = p * t - 1.173968043080e-04;
    p = p * t + 1.481803527677e-04;
    p = p * t - 2.284612795596e-04;
    p = p * t + 7.150967107481e-04;
    p = p * t - 1.655066070935e-03;
    p = p * t + 3.048855647898e-03;
    p = p * t - 5.466131409142e-03;
    p = p * t + 9.555098133585e-03;
    p = p * t - 1.559481978093e-02;
    p = p * t + 2.369636572510e-02;
    p = p * t - 3.366680119627e-02;
    p = p * t + 4.467259572968e-02;
    p = p * t - 5.528049177352e-02;
    p = p * t + 6.376758563633e-02;
    p = p * t - 6.848258738265e-02;
    p = p * t + 6.805759368674e-02;
    p = p * t - 6.112433822781e-02;
    p = p * t + 4.468770990939e-02;
    return p;
}
ONAX_INLINE double onax_i1e_far(double t) {
    double p = -3.580321800278e-08;
    p = p * t - 1.227322391662e-07;
    p = p * t - 3.583793854859e-07;
    p = p * t - 1.825690631665e-06;
    p = p * t - 1.503529328011e-05;
    p = p * t - 2.192371254194e-04;
    p = p * t - 9.749577454401e-03;
    p = p * t + 3.893984590597e-01;
    return p;
}

ONAX_INLINE double onax_i0e(double x) {
    const double size = onax_size(x), low = size < 8.0 ? size : 8.0, high = size > 8.0 ? size : 8.0;
    const double near = onax_i0e_near(low * 0.25 - 1.0), far = onax_i0e_far(16.0 / high - 1.0) / sqrt(high);
    const double out = size > 8.0 ? far : near;
    return x == x ? out : x;
}
ONAX_INLINE double onax_i1e(double x) {
    const double size = onax_size(x), low = size < 8.0 ? size : 8.0, high = size > 8.0 ? size : 8.0;
    const double near = onax_i1e_near(low * 0.25 - 1.0) * low, far = onax_i1e_far(16.0 / high - 1.0) / sqrt(high);
    const double out = onax_signed_as(size > 8.0 ? far : near, x);
    return x == x ? out : x;
}

/* ---- digamma: of x > 0 its asymptotic series (DLMF 5.11.2) of x, or of x + 8 below 8, less the sum of 1 / (x + k) for k = 0 ... 7; of
   others that of 1 - x less pi cot(pi x).  NaN at the poles, and at -inf. */

/* Each choice is of operands, so that what is computed of them needs no branch. */
ONAX_INLINE double onax_digamma_above_0(double x) {
    const int is_low = x < 8.0;
    const double y = is_low ? x : 1.0, z = x + (is_low ? 8.0 : 0.0), v = 1.0 / z, w = v * v;
    const double a = y * (y + 7.0), b = a + 6.0, c = a + 10.0, d = a + 12.0, ab = a * b, cd = c * d, count = is_low ? 1.0 : 0.0;
    const double terms = count * (2.0 * y + 7.0) * ((a + b) * cd + (c + d) * ab) / (ab * cd);
    double s = 1.0 / 12.0;
    s = s * w - 691.0 / 32760.0;
    s = s * w + 1.0 / 132.0;
    s = s * w - 1.0 / 240.0;
    s = s * w + 1.0 / 252.0;
    s = s * w - 1.0 / 120.0;
    s = s * w + 1.0 / 12.0;
    return onax_log(z) - 0.5 * v - s * w - terms;
}
ONAX_INLINE double onax_digamma(double x) {
    const int is_below = x <= 0.0;
    const double sign = is_below ? -1.0 : 1.0, above = onax_digamma_above_0((is_below ? 1.0 : 0.0) + sign * x);
    const double near = is_below ? x : 0.25, y = near > -8388608.0 ? near : -8388608.0;
    const double f = y - ((y + ONAX_WIDE_ROUNDING) - ONAX_WIDE_ROUNDING), part = onax_size(f);
    const int is_steep = part > 0.25;
    const double base = is_steep ? 0.5 : 0.0, turn = is_steep ? -part : part, r = 3.14159265358979323846 * (base + turn);
    const double sine = onax_sin_series(r), cosine = onax_cos_series(r);
    const double slope = (is_steep ? sine : cosine) / (is_steep ? cosine : sine);
    const double out = above - (is_below ? 3.14159265358979323846 : 0.0) * onax_signed_as(slope, f);
    return is_below & (f == 0.0) ? ONAX_QUIET : out;
}

#endif
