/* Special functions that are no operations of programs over blocks: `special`.

   Reads one to three operands.  Attributes: the function, the type, how many elements, and for each operand 1, or 0 if it
   is one number.  Elements are computed in float64 and rounded once.

   digamma, the incomplete gamma and beta functions and the Bessel functions are SciPy's, whose addresses Python hands over.
   Hurwitz's zeta function is summed by Euler and Maclaurin's formula, of which polygamma is a multiple. */
#include "tape_machine.h"
#include "tape_random.h"
#include "tape_special.h"

#include <math.h>

#define EPS 2.220446049250313e-16
#define SHARE 512              /* elements that one thread takes at a time */

enum { PSI, GAMMAINC, GAMMAINCC, BETAINC, I0E, I1E, ATTACHED };
enum { DIGAMMA, IGAMMA, IGAMMAC, BETA, BESSEL_I0E, BESSEL_I1E, ZETA, POLYGAMMA, IGAMMA_GRAD_A, FUNCTIONS };

static const struct { const char *name; int arity; } attached[ATTACHED] = {
    [PSI] = {"__pyx_fuse_1psi", 1}, [GAMMAINC] = {"gammainc", 2}, [GAMMAINCC] = {"gammaincc", 2},
    [BETAINC] = {"__pyx_fuse_0betainc", 3}, [I0E] = {"i0e", 1}, [I1E] = {"i1e", 1},
};
static void *addresses[ATTACHED];

int onax_special_count(void) { return ATTACHED; }
const char *onax_special_name(int function) { return attached[function].name; }
int onax_special_arity(int function) { return attached[function].arity; }
void onax_special_attach(int function, void *address) {
    if (function >= 0 && function < ATTACHED) addresses[function] = address;
}

/* SciPy's functions take a last argument that says whether to look for Python overrides. */
#define CALL1(which, x) ((double (*)(double, int))addresses[which])(x, 0)
#define CALL2(which, x, y) ((double (*)(double, double, int))addresses[which])(x, y, 0)
#define CALL3(which, x, y, z) ((double (*)(double, double, double, int))addresses[which])(x, y, z, 0)

/* The sum of (k + q)^-s over k = 0, 1, ...: ten terms or so, then the integral of the rest, half a term and corrections
   by Bernoulli's numbers (DLMF 25.11.5 and 2.10.1). */
static double zeta(double s, double q) {
    static const double corrections[] = {       /* (2 k)! / B_2k */
        12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1307674368000.0 / 691, 74724249600.0,
        -10670622842880000.0 / 3617, 5109094217170944000.0 / 43867, -802857662698291200000.0 / 174611,
        14101100039391805440000.0 / 77683, -1693824136731743669452800000.0 / 236364091,
    };
    double sum = 0, term = 0, at = q, factor = 1, power;
    if (isinf(q) || isnan(s)) return NAN;
    if (s == 1) return HUGE_VAL;
    if (s < 1) return NAN;
    if (q <= 0 && q == floor(q)) return HUGE_VAL;
    if (isnan(s) || isnan(q) || (q <= 0 && s != floor(s))) return NAN;
    if (q > 1e8) return (1 / (s - 1) + 1 / (2 * q)) * pow(q, 1 - s);
    for (int k = 0; k < 10 || at <= 9; k++, at += 1) {
        term = pow(at, -s);
        sum += term;
        if (fabs(term) < EPS * fabs(sum) && at > 0) return sum;
        if (k > 1 << 20) return NAN;
    }
    power = pow(at, -s);
    sum += power * at / (s - 1) + 0.5 * power;
    for (int k = 0; k < 12; k++) {
        factor *= s + 2 * k;
        power /= at;
        term = factor * power / corrections[k];
        sum += term;
        if (fabs(term) < EPS * fabs(sum)) break;
        factor *= s + 2 * k + 1;
        power /= at;
    }
    return sum;
}

/* NaN at every pole, 0 included, and at -inf. */
static double digamma(double x) { return x <= 0 && floor(x) == x ? NAN : CALL1(PSI, x); }

/* NaN unless n is 0, 1, 2, ... */
static double polygamma(double n, double x) {
    if (!(n >= 0) || floor(n) != n) return NAN;
    if (n == 0) return digamma(x);
    return (fmod(n, 2) == 0 ? -1.0 : 1.0) * tgamma(n + 1) * zeta(n + 1, x);
}

/* NaN where a < 0, x < 0, or both are 0; the limit where both are infinite. */
static double incomplete_gamma(int which, double a, double x) {
    if (a < 0 || x < 0 || (a == 0 && x == 0)) return NAN;
    if (isinf(a) && isinf(x)) return CALL2(which, 1.0, HUGE_VAL);
    return CALL2(which, a, x);
}

/* A step where a or b is 0; NaN outside the domain. */
static double incomplete_beta(double a, double b, double x) {
    if (a < 0 || b < 0 || x < 0 || x > 1 || (a == 0 && b == 0) || isnan(a) || isnan(b) || isnan(x)) return NAN;
    return a == 0 ? x > 0 : b == 0 ? x >= 1 : CALL3(BETAINC, a, b, x);
}

static double evaluate(int function, double x, double y, double z) {
    switch (function) {
        case DIGAMMA: return digamma(x);
        case IGAMMA: return incomplete_gamma(GAMMAINC, x, y);
        case IGAMMAC: return incomplete_gamma(GAMMAINCC, x, y);
        case BETA: return incomplete_beta(x, y, z);
        case BESSEL_I0E: return CALL1(I0E, x);
        case BESSEL_I1E: return CALL1(I1E, x);
        case ZETA: return zeta(x, y);
        case POLYGAMMA: return polygamma(x, y);
        default: return onax_igamma_grad_a(x, y);
    }
}

static const struct { int arity, needs; double work; } functions[FUNCTIONS] = {
    [DIGAMMA] = {1, PSI, 20}, [IGAMMA] = {2, GAMMAINC, 150}, [IGAMMAC] = {2, GAMMAINCC, 150}, [BETA] = {3, BETAINC, 200},
    [BESSEL_I0E] = {1, I0E, 20}, [BESSEL_I1E] = {1, I1E, 20}, [ZETA] = {2, -1, 250}, [POLYGAMMA] = {2, PSI, 300},
    [IGAMMA_GRAD_A] = {2, -1, 300},
};

typedef struct { const onax_instruction *q; onax_frame *frame; } job;

static double number(const int64_t *a, char *const *at, int o, int64_t i) {
    return a[1] == ONAX_F64 ? ((const double *)at[o])[i * a[2 + o]] : (double)((const float *)at[o])[i * a[2 + o]];
}

static void share(void *user, size_t which) {
    const job *j = user;
    const int64_t *a = j->q->attributes, begin = (int64_t)which * SHARE;
    const int64_t end = begin + SHARE < a[2] ? begin + SHARE : a[2];
    const int arity = functions[a[0]].arity;
    char *at[4] = {NULL, NULL, NULL, NULL};
    for (int o = 0; o <= arity; o++) at[o] = ONAX_BUFFER(j->q, j->frame, o);
    for (int64_t i = begin; i < end; i++) {
        const double x = number(a, at, 1, i), y = arity > 1 ? number(a, at, 2, i) : 0, z = arity > 2 ? number(a, at, 3, i) : 0;
        const double value = evaluate((int)a[0], x, y, z);
        if (a[1] == ONAX_F64) ((double *)at[0])[i] = value;
        else ((float *)at[0])[i] = (float)value;
    }
}

static int run_special(const onax_instruction *q, onax_frame *f) {
    const int64_t shares = (q->attributes[2] + SHARE - 1) / SHARE;
    job j = {q, f};
    if (f->parallel && q->work > 200000 && shares > 1) {
        f->parallel(f->where, share, (size_t)shares, &j);
        return ONAX_DONE;
    }
    for (int64_t i = 0; i < shares; i++) {
        share(&j, (size_t)i);
        if (shares > 1 && onax_poll(f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

static const char *verify_special(onax_instruction *q, const int64_t *bytes) {
    const int64_t *a = q->attributes;
    int64_t size;
    int arity;
    if (q->n_attributes < 3 || a[0] < 0 || a[0] >= FUNCTIONS) return "special: no such function";
    arity = functions[a[0]].arity;
    if (q->n_operands != 1 + arity || q->n_attributes != 3 + arity) return "special: operands";
    if (a[1] != ONAX_F32 && a[1] != ONAX_F64) return "special: no such type";
    if (functions[a[0]].needs >= 0 && !addresses[functions[a[0]].needs]) return "special: SciPy's functions are not attached";
    size = onax_size_of(a[1]);
    if (a[2] < 0 || a[2] > INT64_MAX / 16 || bytes[0] != a[2] * size) return "special: the size of the result";
    for (int o = 1; o <= arity; o++)
        if ((a[2 + o] != 0 && a[2 + o] != 1) || bytes[o] != (a[2 + o] ? a[2] : 1) * size)
            return "special: the size of an operand";
    q->work = 10 + functions[a[0]].work * (double)a[2];
    return NULL;
}

const onax_tape_operation onax_tape_special[] = {
    {"special", 1, verify_special, run_special, NULL},
    {0},
};
