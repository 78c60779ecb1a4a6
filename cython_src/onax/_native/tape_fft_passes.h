/* Discrete Fourier transforms of one length, of one array or of several side by side.

   Included for each element type, with

       E       an element: a real number, or a vector of one number of each array
       R       a real number
       NAME    what names end with
       WIDE(x) an element that holds x everywhere

   Real and imaginary parts lie apart.  Stockham's algorithm: each pass reads one pair of arrays and writes another.  Of a
   pass with radix p, element (i, b, k) of what it reads is i + ido (b + p k), of what it writes i + ido (k + l1 b). */

#define JOIN_(x, y) x##_##y
#define JOIN(x, y) JOIN_(x, y)
#define F(name) JOIN(name, NAME)

#define READ(b) const E a##b##r = cr[i + ido * (b + P * k)], a##b##i = ci[i + ido * (b + P * k)]
#define WRITE0(xr, xi) hr[i + ido * k] = (xr), hi[i + ido * k] = (xi)
/* Times the conjugate root that stands at (b, i) in `roots`. */
#define WRITE(b, xr, xi) { \
    const E yr = (xr), yi = (xi), wr = WIDE(roots[2 * ((b - 1) * ido + i)]), wi = WIDE(roots[2 * ((b - 1) * ido + i) + 1]); \
    hr[i + ido * (k + l1 * b)] = yr * wr + yi * wi; \
    hi[i + ido * (k + l1 * b)] = yi * wr - yr * wi; }
#define WRITE_LAST(b, xr, xi) hr[k + l1 * b] = (xr), hi[k + l1 * b] = (xi)

#define ARGUMENTS const E *restrict cr, const E *restrict ci, E *restrict hr, E *restrict hi, int64_t l1, int64_t ido, \
                  const R *restrict roots
/* The last pass has one element for each k, and no roots. */
#define PASS(name, radix, body) \
    FFT_INLINE void F(name)(ARGUMENTS) { \
        enum { P = radix }; \
        if (ido > 1) { \
            for (int64_t k = 0; k < l1; k++) for (int64_t i = 0; i < ido; i++) { body(WRITE) } \
        } else { \
            const int64_t i = 0; \
            for (int64_t k = 0; k < l1; k++) { body(WRITE_LAST) } } }

#define TWO(W) READ(0); READ(1); WRITE0(a0r + a1r, a0i + a1i); W(1, a0r - a1r, a0i - a1i);
#define THREE(W) \
    READ(0); READ(1); READ(2); \
    const E sr = a1r + a2r, si = a1i + a2i, dr = (a1r - a2r) * WIDE(SIN3), di = (a1i - a2i) * WIDE(SIN3); \
    const E tr = a0r - sr * WIDE((R)0.5), ti = a0i - si * WIDE((R)0.5); \
    WRITE0(a0r + sr, a0i + si); W(1, tr + di, ti - dr); W(2, tr - di, ti + dr);
#define FOUR(W) \
    READ(0); READ(1); READ(2); READ(3); \
    const E pr = a0r + a2r, pi = a0i + a2i, qr = a0r - a2r, qi = a0i - a2i; \
    const E sr = a1r + a3r, si = a1i + a3i, dr = a1r - a3r, di = a1i - a3i; \
    WRITE0(pr + sr, pi + si); W(1, qr + di, qi - dr); W(2, pr - sr, pi - si); W(3, qr - di, qi + dr);
#define FIVE(W) \
    READ(0); READ(1); READ(2); READ(3); READ(4); \
    const E sr = a1r + a4r, si = a1i + a4i, dr = a1r - a4r, di = a1i - a4i; \
    const E tr = a2r + a3r, ti = a2i + a3i, er = a2r - a3r, ei = a2i - a3i; \
    const E ur = a0r + sr * WIDE(COS5A) + tr * WIDE(COS5B), ui = a0i + si * WIDE(COS5A) + ti * WIDE(COS5B); \
    const E vr = a0r + sr * WIDE(COS5B) + tr * WIDE(COS5A), vi = a0i + si * WIDE(COS5B) + ti * WIDE(COS5A); \
    const E xr = dr * WIDE(SIN5A) + er * WIDE(SIN5B), xi = di * WIDE(SIN5A) + ei * WIDE(SIN5B); \
    const E zr = dr * WIDE(SIN5B) - er * WIDE(SIN5A), zi = di * WIDE(SIN5B) - ei * WIDE(SIN5A); \
    WRITE0(a0r + sr + tr, a0i + si + ti); \
    W(1, ur + xi, ui - xr); W(2, vr + zi, vi - zr); W(3, vr - zi, vi + zr); W(4, ur - xi, ui + xr);

/* A transform of four of the eight, in place. */
#define FOUR_OF_EIGHT(a, b, c, d) \
    const E p##a##r = a##r + c##r, p##a##i = a##i + c##i, q##a##r = a##r - c##r, q##a##i = a##i - c##i; \
    const E s##a##r = b##r + d##r, s##a##i = b##i + d##i, d##a##r = b##r - d##r, d##a##i = b##i - d##i; \
    const E a##0r = p##a##r + s##a##r, a##0i = p##a##i + s##a##i, a##1r = q##a##r + d##a##i, a##1i = q##a##i - d##a##r; \
    const E a##2r = p##a##r - s##a##r, a##2i = p##a##i - s##a##i, a##3r = q##a##r - d##a##i, a##3i = q##a##i + d##a##r;
#define EIGHT(W) \
    READ(0); READ(1); READ(2); READ(3); READ(4); READ(5); READ(6); READ(7); \
    FOUR_OF_EIGHT(a0, a2, a4, a6) \
    FOUR_OF_EIGHT(a1, a3, a5, a7) \
    const E u1r = (a11r + a11i) * WIDE(ROOT_HALF), u1i = (a11i - a11r) * WIDE(ROOT_HALF); \
    const E u3r = (a13i - a13r) * WIDE(ROOT_HALF), u3i = (a13r + a13i) * WIDE(ROOT_HALF); \
    WRITE0(a00r + a10r, a00i + a10i); W(4, a00r - a10r, a00i - a10i); \
    W(1, a01r + u1r, a01i + u1i); W(5, a01r - u1r, a01i - u1i); \
    W(2, a02r + a12i, a02i - a12r); W(6, a02r - a12i, a02i + a12r); \
    W(3, a03r + u3r, a03i - u3i); W(7, a03r - u3r, a03i + u3i);

PASS(pass2, 2, TWO)
PASS(pass3, 3, THREE)
PASS(pass4, 4, FOUR)
PASS(pass5, 5, FIVE)
PASS(pass8, 8, EIGHT)

/* Any radix p; `unit` holds the p-th roots of 1. */
FFT_INLINE void F(pass_any)(ARGUMENTS, int64_t p, const R *restrict unit) {
    for (int64_t k = 0; k < l1; k++)
        for (int64_t i = 0; i < ido; i++)
            for (int64_t b = 0; b < p; b++) {
                E xr = cr[i + ido * p * k], xi = ci[i + ido * p * k];
                for (int64_t c = 1, t = b; c < p; c++, t = t + b < p ? t + b : t + b - p) {
                    const E ar = cr[i + ido * (c + p * k)], ai = ci[i + ido * (c + p * k)];
                    const E wr = WIDE(unit[2 * t]), wi = WIDE(unit[2 * t + 1]);
                    xr = xr + (ar * wr + ai * wi);
                    xi = xi + (ai * wr - ar * wi);
                }
                if (b && ido > 1) { WRITE(b, xr, xi) }
                else hr[i + ido * (k + l1 * b)] = xr, hi[i + ido * (k + l1 * b)] = xi;
            }
}

/* Transforms (xr, xi), with (yr, yi) as room; the result lies in the pair that it gives back: 0 the first. */
ONAX_CLONES static int F(passes)(const passes *p, E *xr, E *xi, E *yr, E *yi) {
    const R *roots = p->roots;
    int64_t l1 = 1;
    int turned = 0;
    for (int f = 0; f < p->n_factors; f++) {
        const int64_t radix = p->factors[f], ido = p->n / l1 / radix;
        E *t;
        if (radix == 8) F(pass8)(xr, xi, yr, yi, l1, ido, roots);
        else if (radix == 4) F(pass4)(xr, xi, yr, yi, l1, ido, roots);
        else if (radix == 2) F(pass2)(xr, xi, yr, yi, l1, ido, roots);
        else if (radix == 3) F(pass3)(xr, xi, yr, yi, l1, ido, roots);
        else if (radix == 5) F(pass5)(xr, xi, yr, yi, l1, ido, roots);
        else F(pass_any)(xr, xi, yr, yi, l1, ido, roots, radix, (const R *)p->units + 2 * p->unit_at[f]);
        roots += 2 * (radix - 1) * ido;
        l1 *= radix;
        t = xr, xr = yr, yr = t;
        t = xi, xi = yi, yi = t;
        turned = !turned;
    }
    return turned;
}

/* A length with a large prime factor: a convolution with a chirp, of a length without.  `room` holds four arrays. */
static int F(chirped)(const plan *p, E *xr, E *xi, E *room) {
    const int64_t n = p->n, m = p->inner.n;
    const int64_t apart = array_apart(m, sizeof(E));
    E *ar = room, *ai = ar + apart, *br = ai + apart, *bi = br + apart;
    const R *chirp = p->chirp, *spectrum = p->spectrum;
    for (int64_t i = 0; i < n; i++) {       /* times the conjugate chirp */
        const E wr = WIDE(chirp[2 * i]), wi = WIDE(chirp[2 * i + 1]);
        ar[i] = xr[i] * wr + xi[i] * wi;
        ai[i] = xi[i] * wr - xr[i] * wi;
    }
    for (int64_t i = n; i < m; i++) ar[i] = ai[i] = WIDE((R)0);
    if (F(passes)(&p->inner, ar, ai, br, bi)) { E *t = ar; ar = br, br = t; t = ai; ai = bi, bi = t; }
    for (int64_t i = 0; i < m; i++) {       /* the parts exchanged: the inverse transform is the transform of these */
        const E wr = WIDE(spectrum[2 * i]), wi = WIDE(spectrum[2 * i + 1]);
        const E pr = ar[i] * wr - ai[i] * wi, pi = ar[i] * wi + ai[i] * wr;
        ar[i] = pi, ai[i] = pr;
    }
    if (F(passes)(&p->inner, ar, ai, br, bi)) ar = br, ai = bi;
    for (int64_t i = 0; i < n; i++) {
        const E wr = WIDE(chirp[2 * i]), wi = WIDE(chirp[2 * i + 1]), pr = ai[i], pi = ar[i];
        xr[i] = pr * wr + pi * wi;
        xi[i] = pi * wr - pr * wi;
    }
    return 0;
}

/* The transform of n elements in `work`, without a chirp; as below. */
static E *F(transform_passes)(const passes *p, E *work) {
    const int64_t apart = array_apart(p->n, sizeof(E));
    return F(passes)(p, work, work + apart, work + 2 * apart, work + 3 * apart) ? work + 2 * apart : work;
}

/* The transform of n elements in `work`, of which imaginary parts lie apart from real ones; gives where the result
   begins. */
static E *F(transform)(const plan *p, E *work) {
    const int64_t apart = array_apart(p->n, sizeof(E));
    if (!p->chirp) return F(transform_passes)(&p->direct, work);
    F(chirped)(p, work, work + apart, work + 4 * apart);
    return work;
}

#undef READ
#undef WRITE0
#undef WRITE
#undef WRITE_LAST
#undef ARGUMENTS
#undef PASS
#undef TWO
#undef THREE
#undef FOUR
#undef FIVE
#undef EIGHT
#undef FOUR_OF_EIGHT
#undef F
#undef JOIN
#undef JOIN_
#undef E
#undef NAME
#undef WIDE
