/* Elementary functions of one float32, written so that a loop over them becomes vector code: no branches, no calls.

   Each is right to within 2 units in the last place (tests/native/test_blocks.py measures it against float64), keeps
   NaN, and takes infinities and overflow where C's own functions take them.  Polynomials are least-squares fits at
   Chebyshev points of the functions on the intervals named. */
#ifndef ONAX_BLOCKS_MATHS_H
#define ONAX_BLOCKS_MATHS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define ONAX_INLINE static inline __attribute__((always_inline))
#else
#define ONAX_INLINE static inline
#endif

ONAX_INLINE float onax_as_float(uint32_t x) { float f; memcpy(&f, &x, 4); return f; }
ONAX_INLINE uint32_t onax_bits(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
ONAX_INLINE double onax_as_double(uint64_t x) { double f; memcpy(&f, &x, 8); return f; }
ONAX_INLINE uint64_t onax_bits64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
ONAX_INLINE float onax_sizef(float x) { return onax_as_float(onax_bits(x) & 0x7fffffffu); }
ONAX_INLINE float onax_with_sign(float size, float sign) {
    return onax_as_float((onax_bits(size) & 0x7fffffffu) | (onax_bits(sign) & 0x80000000u));
}
/* The same of a size that is not below 0, or NaN. */
ONAX_INLINE float onax_size_with_sign(float size, float sign) { return onax_as_float(onax_bits(size) | (onax_bits(sign) & 0x80000000u)); }

/* The larger and the smaller of two numbers, NaN if one of them is; y of equal ones. */
#define ONAX_EXTREMES_OF_TWO(t, T) \
    ONAX_INLINE T onax_max_##t(T x, T y) { const T u = x <= y ? y : x; return y != y ? y : u; } \
    ONAX_INLINE T onax_min_##t(T x, T y) { const T u = x >= y ? y : x; return y != y ? y : u; }
ONAX_EXTREMES_OF_TWO(f32, float) ONAX_EXTREMES_OF_TWO(f64, double)

#define ONAX_ROUNDING 12582912.0f  /* 1.5 * 2**23: adding it leaves the nearest integer in the low bits */

/* p 2**k for k in -252 ... 254, with two factors: a product with both rounds once, into infinity or subnormals.  Of NaN k
   may be anything: it stays NaN. */
#define ONAX_SCALED(p, k) \
    ((p) * onax_as_float((uint32_t)(((k) >> 1) + 127) << 23) * onax_as_float((uint32_t)((k) - ((k) >> 1) + 127) << 23))

/* exp(r) - 1 - r over r**2, for |r| <= ln(2) / 2. */
ONAX_INLINE float onax_exp_rest(float r) {
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    return p * r + 5.0000001201e-1f;
}

/* exp(x - rest) / 2**halvings, where rest is small */
ONAX_INLINE float onax_exp_of_partsf(float x, float rest, int32_t halvings) {
    float y = x > 90.0f ? 90.0f : x, t, n, r;
    int32_t k;
    y = y < -104.0f ? -104.0f : y;
    t = y * 1.44269504088896341f + ONAX_ROUNDING;
    k = (int32_t)(onax_bits(t) - 0x4B400000u) - halvings;
    n = t - ONAX_ROUNDING;
    r = y - n * 0.693359375f;
    r = r + n * 2.12194440e-4f - rest;
    return ONAX_SCALED(onax_exp_rest(r) * r * r + r + 1.0f, k);
}
ONAX_INLINE float onax_halved_expf(float x, int32_t halvings) { return onax_exp_of_partsf(x, 0.0f, halvings); }
ONAX_INLINE float onax_expf(float x) { return onax_exp_of_partsf(x, 0.0f, 0); }

/* The same bits for |x| < 87, where no bound is met and the result is a normal number: k goes into the exponent. */
#define ONAX_IS_FAR_FOR_EXP(x) (!(onax_sizef(x) < 87.0f))
ONAX_INLINE float onax_near_expf(float x) {
    const float t = x * 1.44269504088896341f + ONAX_ROUNDING, n = t - ONAX_ROUNDING;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    return onax_as_float(onax_bits(onax_exp_rest(r) * r * r + r + 1.0f) + (onax_bits(t) << 23));
}

ONAX_INLINE float onax_exp2f(float x) {
    float y = x > 129.0f ? 129.0f : x, t, r;
    int32_t k;
    y = y < -151.0f ? -151.0f : y;
    t = y + ONAX_ROUNDING;
    k = (int32_t)(onax_bits(t) - 0x4B400000u);
    r = (y - (t - ONAX_ROUNDING)) * 0.693147180559945309f;
    return ONAX_SCALED(onax_exp_rest(r) * r * r + r + 1.0f, k);
}

/* Below 1 in size the integer part of the exponent is -1, 0 or 1, so that nothing is lost to the 1 taken off. */
ONAX_INLINE float onax_expm1f(float x) {
    float size = onax_sizef(x), y = size < 1.0f ? x : 0.0f;
    float t = y * 1.44269504088896341f + ONAX_ROUNDING, n = t - ONAX_ROUNDING, r, p, s, near;
    r = y - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    p = onax_exp_rest(r) * r * r + r;
    s = onax_as_float((uint32_t)((int32_t)(onax_bits(t) - 0x4B400000u) + 127) << 23);
    near = s * p + (s - 1.0f);
    near = x == 0.0f ? x : near;
    return size < 1.0f ? near : onax_expf(x) - 1.0f;
}

/* x = m 2**e with m in [sqrt(1/2), sqrt(2)); log(m) = f - f**2 / 2 + f**3 p(f), f = m - 1 */
ONAX_INLINE float onax_logf(float x) {
    int small = x < 1.17549435e-38f;
    float y = small ? x * 8388608.0f : x, f, z, p, e, out;
    uint32_t moved = onax_bits(y) + (0x3F800000u - 0x3F3504F3u);
    e = (float)((int32_t)(moved >> 23) - 127) - (small ? 23.0f : 0.0f);
    f = onax_as_float((moved & 0x7FFFFFu) + 0x3F3504F3u) - 1.0f;
    z = f * f;
    p = 7.0376836292e-2f;
    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    p = p * f * z - e * 2.12194440e-4f - 0.5f * z;
    out = f + p + e * 0.693359375f;
    out = x > 3.4028234e38f ? x : out;
    out = x == 0.0f ? -HUGE_VALF : out;
    return x >= 0.0f ? out : onax_as_float(0x7FC00000u);
}

/* log(u) of the rounded u = 1 + x, and what the rounding lost */
ONAX_INLINE float onax_log1pf(float x) {
    const float u = 1.0f + x, lost = (x - (u - 1.0f)) / u, log_u = onax_logf(u);
    const float near = x == 0.0f ? x : log_u + lost;
    return x > -1.0f && x < 3.4028234e38f ? near : log_u;
}

/* With m = exp(2|x|) - 1 it is m / (m + 2), in which what m lost above 1 no longer counts. */
ONAX_INLINE float onax_tanhf(float x) {
    float size = onax_sizef(x), y = size > 9.1f ? 9.1f : size, t, n, r, p, s, m;
    y += y;
    t = y * 1.44269504088896341f + ONAX_ROUNDING;
    n = t - ONAX_ROUNDING;
    r = y - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    p = onax_exp_rest(r) * r * r + r;
    s = onax_as_float((onax_bits(t) - 0x4B400000u + 127u) << 23);
    m = s * p + (s - 1.0f);
    return onax_size_with_sign(m / (m + 2.0f), x);
}

/* Below 1 a polynomial: x + x**3 p(x**2), fitted to sinh(x) / x. */
ONAX_INLINE float onax_sinhf(float x) {
    const float size = onax_sizef(x), half = onax_halved_expf(size, 1), z = x * x;
    float p = 2.8176124716e-06f;
    p = p * z + 1.9836030553e-04f;
    p = p * z + 8.3333508279e-03f;
    p = p * z + 1.6666666484e-01f;
    return size < 1.0f ? p * z * x + x : onax_with_sign(half - 0.25f / half, x);
}
ONAX_INLINE float onax_coshf(float x) {
    const float half = onax_halved_expf(onax_sizef(x), 1);
    return half + 0.25f / half;
}

/* Far out all three are log(2x); nearer, log1p of what loses nothing near 0, or near 1. */
ONAX_INLINE float onax_asinhf(float x) {
    const float size = onax_sizef(x), y = size < 1e18f ? size : 1e18f, z = y * y;
    const float out = onax_log1pf(size < 1e18f ? y + z / (1.0f + sqrtf(1.0f + z)) : size) + (size < 1e18f ? 0.0f : 0.693147180559945309f);
    return x == x ? onax_with_sign(out, x) : x;
}
ONAX_INLINE float onax_acoshf(float x) {
    const float y = x < 1e18f ? x : 1e18f, t = y - 1.0f;
    const float out = onax_log1pf(x < 1e18f ? t + sqrtf(t * (y + 1.0f)) : x) + (x < 1e18f ? 0.0f : 0.693147180559945309f);
    return x >= 1.0f ? out : x == x ? onax_as_float(0x7FC00000u) : x;
}
ONAX_INLINE float onax_atanhf(float x) {
    const float size = onax_sizef(x), out = 0.5f * onax_log1pf(2.0f * size / (1.0f - size));
    return x == x ? onax_with_sign(out, x) : x;
}

/* Above 1 pi/2 less that of the reciprocal; the polynomial was fitted to atan(t) / t. */
ONAX_INLINE float onax_atanf(float x) {
    const float size = onax_sizef(x), y = size < 1e30f ? size : 1e30f, low = y < 1.0f ? y : 1.0f, high = y > 1.0f ? y : 1.0f;
    const float t = low / high, z = t * t;
    float p = -1.7389731947e-03f, a;
    p = p * z + 1.0666740127e-02f;
    p = p * z - 3.0709004030e-02f;
    p = p * z + 5.7478941977e-02f;
    p = p * z - 8.3749510348e-02f;
    p = p * z + 1.0942219943e-01f;
    p = p * z - 1.4262290299e-01f;
    p = p * z + 1.9998359680e-01f;
    p = p * z - 3.3333292603e-01f;
    a = p * z * t + t;
    a = y > 1.0f ? 1.57079632679489662f - (a + 4.37113883e-8f) : a;
    return x == x ? onax_with_sign(a, x) : x;
}

ONAX_INLINE float onax_logisticf(float x) { return 1.0f / (1.0f + onax_expf(-x)); }

/* Below 1 a polynomial in x**2, fitted to erf(x) / x; up to 4, where the result is 1, 1 - q**4 with a polynomial in
   x - 5/2, fitted to the fourth root of erfc(x). */
ONAX_INLINE float onax_erff(float x) {
    float size = onax_sizef(x), z = x * x, v = (size > 4.0f ? 4.0f : size) - 2.5f, p, q, out;
    p = 7.8758750627e-05f;
    p = p * z - 8.0168642872e-04f;
    p = p * z + 5.1890874234e-03f;
    p = p * z - 2.6854212011e-02f;
    p = p * z + 1.1283594715e-01f;
    p = p * z - 3.7612626667e-01f;
    p = p * z + 1.1283791658e+00f;
    q = -2.204514567e-05f;
    q = q * v - 2.6627731859e-04f;
    q = q * v - 5.010894256e-06f;
    q = q * v + 2.7603392955e-03f;
    q = q * v - 6.3979802653e-03f;
    q = q * v - 1.2263654731e-02f;
    q = q * v + 9.3630954623e-02f;
    q = q * v - 1.90067783e-01f;
    q = q * v + 1.4203195274e-01f;
    q = q * q;
    out = size < 1.0f ? p * size : 1.0f - q * q;
    return onax_size_with_sign(out, x);
}

/* erfc(x): up to 13/16 one less a polynomial fitted to erf(x) / x; beyond, with y = |x|, exp(-y**2) / (1 + 2y) times a polynomial
   in (y - 3) / (y + 3), fitted at Chebyshev points for y up to 10.5.  What the square lost goes into the exponential. */
ONAX_INLINE float onax_erfcf(float x) {
    const float size = onax_sizef(x), y = size < 10.5f ? size : 10.5f, u = (y - 3.0f) / (y + 3.0f), s = y * y, z = x * x;
    const float high = onax_as_float(onax_bits(y) & 0xFFFFF000u), low = y - high, lost = (high * high - s) + (high + y) * low;
    const float e = onax_exp_of_partsf(-s, lost, 0);
    float p = 1.2179410551e-03f, q = 7.8758750627e-05f, far;
    p = p * u - 5.9429596877e-04f;
    p = p * u + 7.1770895738e-04f;
    p = p * u + 2.4436693639e-03f;
    p = p * u - 2.3392489180e-02f;
    p = p * u + 6.8323776126e-02f;
    p = p * u - 1.1932716519e-01f;
    p = p * u + 1.2964405119e-01f;
    p = p * u - 4.7559197992e-02f;
    p = p * u - 1.3562108576e-01f;
    p = p * u + 1.2530080080e+00f;
    q = q * z - 8.0168642872e-04f;
    q = q * z + 5.1890874234e-03f;
    q = q * z - 2.6854212011e-02f;
    q = q * z + 1.1283594715e-01f;
    q = q * z - 3.7612626667e-01f;
    q = q * z + 1.1283791658e+00f;
    far = e * (p / (1.0f + 2.0f * y));
    far = x < 0.0f ? 2.0f - far : far;
    far = size < 0.8125f ? 1.0f - q * x : far;
    return x == x ? far : x;
}

/* The largest |x| that onax_sin_cosf reduces: x - n pi/2 in float64, where n times the first 33 bits is exact. */
#define ONAX_REDUCIBLE 1.0e5f

ONAX_INLINE float onax_sin_cosf(float x, uint32_t quarter) {
    double wide = x, t = wide * 0.63661977236758134 + 6755399441055744.0, n = t - 6755399441055744.0;
    uint32_t turns = (uint32_t)onax_bits64(t) + quarter;
    float r = (float)(wide - n * 1.5707963267341256 - n * 6.0771005065061922e-11), z = r * r, s, c;
    s = -1.9515295891e-4f;
    s = s * z + 8.3321608736e-3f;
    s = s * z - 1.6666654611e-1f;
    s = s * z * r + r;
    c = 2.443315711809948e-5f;
    c = c * z - 1.388731625493765e-3f;
    c = c * z + 4.166664568298827e-2f;
    c = c * z * z - 0.5f * z + 1.0f;
    return onax_as_float(onax_bits(turns & 1 ? c : s) ^ ((turns & 2) << 30));
}

#endif
