/* Entries of rows of kernels, for the source files that fill the rows: K(operation, kernel), and the lists of those that
   several types name alike. */
#ifndef ONAX_BLOCKS_ROWS_H
#define ONAX_BLOCKS_ROWS_H

#include "blocks_operations.h"

#define K(op, kernel) [ONAX_OP_##op] = kernel

/* of numbers with a fraction, complex ones too */
#define ONAX_FRACTION_ENTRIES(t) \
    K(add, add_##t), K(sub, sub_##t), K(mul, mul_##t), K(div, div_##t), K(max, max_##t), K(min, min_##t), \
    K(neg, neg_##t), K(sign, sign_##t), K(sqrt, sqrt_##t), K(rsqrt, rsqrt_##t), K(exp, exp_##t), \
    K(exp2, exp2_##t), K(expm1, expm1_##t), K(log, log_##t), K(log1p, log1p_##t), K(tanh, tanh_##t), \
    K(logistic, logistic_##t), K(sin, sin_##t), K(cos, cos_##t), K(tan, tan_##t), K(asin, asin_##t), \
    K(acos, acos_##t), K(atan, atan_##t), K(sinh, sinh_##t), K(cosh, cosh_##t), K(asinh, asinh_##t), \
    K(acosh, acosh_##t), K(atanh, atanh_##t), K(pow, pow_##t), K(atan2, atan2_##t), K(eq, eq_##t), K(ne, ne_##t)

/* of real ones */
#define ONAX_REAL_ENTRIES(t) \
    ONAX_FRACTION_ENTRIES(t), K(rem, rem_##t), K(abs, abs_##t), K(floor, floor_##t), K(ceil, ceil_##t), \
    K(rint, rint_##t), K(round, round_##t), K(cbrt, cbrt_##t), K(erf, erf_##t), K(erfc, erfc_##t), \
    K(lgamma, lgamma_##t), K(nextafter, nextafter_##t), K(is_finite, is_finite_##t), K(lt, lt_##t), K(le, le_##t)

/* conversions to all real types */
#define ONAX_CONVERSION_ENTRIES(t) \
    K(to_f32, t##_to_f32), K(to_f64, t##_to_f64), K(to_i32, t##_to_i32), K(to_u32, t##_to_u32), \
    K(to_i64, t##_to_i64), K(to_u64, t##_to_u64), K(to_bool, t##_to_bool), K(to_i8, t##_to_i8), \
    K(to_u8, t##_to_u8), K(to_i16, t##_to_i16), K(to_u16, t##_to_u16), K(to_f16, t##_to_f16), K(to_bf16, t##_to_bf16)

#endif
