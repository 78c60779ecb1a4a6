/* Draws from the gamma distribution (tape_gamma.c). */
#ifndef ONAX_TAPE_RANDOM_H
#define ONAX_TAPE_RANDOM_H

#include "tape_types.h"

/* Numbers begin ... end - 1 of those that `each` numbers from each key make, with shape parameters `alpha`. */
void onax_gamma_f32(const uint32_t *keys, int64_t each, const float *alpha, float *out, int64_t begin, int64_t end, int log_space);
void onax_gamma_f64(const uint32_t *keys, int64_t each, const double *alpha, double *out, int64_t begin, int64_t end,
                    int log_space);
/* The derivative in a of a number x that was drawn with the shape parameter a. */
double onax_gamma_grad(double a, double x);
/* The derivative in a of the regularized lower incomplete gamma function. */
double onax_igamma_grad_a(double a, double x);

#endif
