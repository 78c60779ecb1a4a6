/* The logarithm of the gamma function, without the variable that C's own sets. */
#ifndef ONAX_LGAMMA_H
#define ONAX_LGAMMA_H

#include <math.h>

/* log |gamma(x)|; inf at -inf, as the limit over the poles. */
static inline double onax_lgamma(double x) {
#if defined(__GLIBC__) || defined(__APPLE__)
    int sign;
    return lgamma_r(x, &sign);
#else
    return lgamma(x);
#endif
}

#endif
