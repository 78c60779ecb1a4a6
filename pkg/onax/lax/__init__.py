"""onax.lax: the operations themselves, without promotion or implicit broadcasting of ranks, under JAX's names.

Each `foo_p` is the primitive behind `foo`; the functions are documented in `_prims/<family>.py`.
"""

from onax._control.composite import composite
from onax._control.cond import cond, cond_p, switch
from onax._control.map import map_ as map
from onax._control.optimization_barrier import optimization_barrier, optimization_barrier_p
from onax._control.reducers import associative_scan, reduce, reduce_p
from onax._control.scan import scan
from onax._control.scan_rules import scan_p
from onax._control.solves import custom_linear_solve, custom_root
from onax._control.solves import custom_linear_solve_p as linear_solve_p
from onax._control.while_loop import fori_loop, while_loop, while_p
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.dtypes import requested_dtype as dtype
from onax._prims.collectives import (
    all_gather_p,
    all_to_all_p,
    axis_index_p,
    pbroadcast_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_p,
    reduce_scatter_p,
)
from onax._prims.conv import (
    conv,
    conv_general_dilated,
    conv_general_dilated_p,
    conv_general_dilated_patches,
    conv_general_shape_tuple,
    conv_shape_tuple,
    conv_transpose,
    conv_transpose_shape_tuple,
    conv_with_general_padding,
)
from onax._prims.conv_dimensions import ConvDimensionNumbers, conv_dimension_numbers, conv_general_permutations
from onax._prims.convert import (
    bitcast_convert_type,
    bitcast_convert_type_p,
    convert_element_type,
    convert_element_type_p,
    reduce_precision,
    reduce_precision_p,
)
from onax._prims.creation import broadcasted_iota, copy_p, iota, iota_p
from onax._prims.cumulative import (
    cumlogsumexp,
    cumlogsumexp_p,
    cummax,
    cummax_p,
    cummin,
    cummin_p,
    cumprod,
    cumprod_p,
    cumsum,
    cumsum_p,
)
from onax._prims.dot import (
    DotAlgorithm,
    DotAlgorithmPreset,
    Precision,
    batch_matmul,
    dot,
    dot_general,
    dot_general_p,
)
from onax._prims.dot_ragged import RaggedDotDimensionNumbers, ragged_dot, ragged_dot_general
from onax._prims.elementwise import (
    RoundingMethod,
    abs,
    abs_p,
    acos,
    acos_p,
    acosh,
    acosh_p,
    add,
    add_p,
    asin,
    asin_p,
    asinh,
    asinh_p,
    atan,
    atan2,
    atan2_p,
    atan_p,
    atanh,
    atanh_p,
    cbrt,
    cbrt_p,
    ceil,
    ceil_p,
    complex,
    complex_p,
    conj,
    conj_p,
    cos,
    cos_p,
    cosh,
    cosh_p,
    div,
    div_p,
    eq,
    eq_p,
    exp,
    exp2,
    exp2_p,
    exp_p,
    expm1,
    expm1_p,
    floor,
    floor_p,
    ge,
    ge_p,
    gt,
    gt_p,
    imag,
    imag_p,
    integer_pow,
    integer_pow_p,
    is_finite,
    is_finite_p,
    le,
    le_p,
    log,
    log1p,
    log1p_p,
    log_p,
    logistic,
    logistic_p,
    lt,
    lt_p,
    max,
    max_p,
    min,
    min_p,
    mul,
    mul_p,
    ne,
    ne_p,
    neg,
    neg_p,
    nextafter,
    nextafter_p,
    real,
    real_p,
    reciprocal,
    rem,
    rem_p,
    round,
    round_p,
    rsqrt,
    rsqrt_p,
    select,
    select_n,
    select_n_p,
    sign,
    sign_p,
    sin,
    sin_p,
    sinh,
    sinh_p,
    sqrt,
    sqrt_p,
    square,
    square_p,
    stop_gradient,
    stop_gradient_p,
    sub,
    sub_p,
    tan,
    tan_p,
    tanh,
    tanh_p,
)
from onax._prims.elementwise_bits import (
    and_p,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    clz,
    clz_p,
    not_p,
    or_p,
    population_count,
    population_count_p,
    shift_left,
    shift_left_p,
    shift_right_arithmetic,
    shift_right_arithmetic_p,
    shift_right_logical,
    shift_right_logical_p,
    xor_p,
)
from onax._prims.elementwise_clamp import clamp, clamp_p
from onax._prims.elementwise_high import mulhi, mulhi_p
from onax._prims.elementwise_polynomial import (
    log2,
    log2_p,
    one_minus_square,
    one_minus_square_p,
    polynomial,
    polynomial_p,
)
from onax._prims.elementwise_pow import pow, pow_p
from onax._prims.elementwise_rows import AccuracyMode, Tolerance
from onax._prims.elementwise_total import eq_to_p, le_to_p, lt_to_p
from onax._prims.fft import FftType, fft_p
from onax._prims.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    gather,
    gather_p,
    index_take,
    scatter,
    scatter_add,
    scatter_add_p,
    scatter_max,
    scatter_max_p,
    scatter_min,
    scatter_min_p,
    scatter_mul,
    scatter_mul_p,
    scatter_p,
    scatter_sub,
    scatter_sub_p,
)
from onax._prims.padding import pad, pad_p
from onax._prims.placement import device_put_p, sharding_constraint_p
from onax._prims.reductions import (
    argmax,
    argmax_p,
    argmin,
    argmin_p,
    reduce_and,
    reduce_and_p,
    reduce_max,
    reduce_max_p,
    reduce_min,
    reduce_min_p,
    reduce_or,
    reduce_or_p,
    reduce_prod,
    reduce_prod_p,
    reduce_xor,
    reduce_xor_p,
)
from onax._prims.shaping import (
    broadcast,
    broadcast_in_dim,
    broadcast_in_dim_p,
    broadcast_shapes,
    broadcast_to_rank,
    collapse,
    expand_dims,
    reduce_sum,
    reduce_sum_p,
    reshape,
    reshape_p,
    rev,
    rev_p,
    squeeze,
    squeeze_p,
    transpose,
    transpose_p,
)
from onax._prims.sinks import after_all, create_token, dce_sink, dce_sink_p, stage
from onax._prims.slicing import (
    concatenate,
    concatenate_p,
    dynamic_slice,
    dynamic_slice_p,
    dynamic_update_slice,
    dynamic_update_slice_p,
    index_in_dim,
    slice,
    slice_in_dim,
    slice_p,
    split,
    split_p,
)
from onax._prims.sorting import (
    sort,
    sort_key_val,
    sort_p,
    top_k,
    top_k_p,
)
from onax._prims.sorting_approximate import approx_max_k, approx_min_k, approx_top_k_p
from onax._prims.special import (
    bessel_i0e,
    bessel_i0e_p,
    bessel_i1e,
    bessel_i1e_p,
    betainc,
    digamma,
    digamma_p,
    erf,
    erf_inv,
    erf_inv_p,
    erf_p,
    erfc,
    erfc_p,
    igamma,
    igamma_grad_a,
    igamma_grad_a_p,
    igamma_p,
    igammac,
    igammac_p,
    lgamma,
    lgamma_p,
    polygamma,
    polygamma_p,
    random_gamma_grad,
    regularized_incomplete_beta_p,
    zeta,
    zeta_p,
)
from onax._prims.stacking import stack, stack_p, tile, tile_p, unstack, unstack_p
from onax._prims.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from onax._prims.windows_shapes import padtype_to_pads, reduce_window_shape_tuple
from onax.lax import linalg
from onax.lax._annotations import ConvGeneralDilatedDimensionNumbers, DotDimensionNumbers, PrecisionLike
from onax.lax._collectives import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pbroadcast,
    pcast,
    pmax,
    pmean,
    pmin,
    ppermute,
    precv,
    psend,
    pshuffle,
    psum,
    psum_scatter,
    psum_scatter_start,
    pswapaxes,
)
from onax.lax._conv import conv_general_dilated_local
from onax.lax._creation import broadcast_like, empty, full, full_like, shape_as_value
from onax.lax._derived import (
    after_all_p,
    create_token_p,
    reduce_window_p,
    rng_bit_generator_p,
    rng_uniform,
    rng_uniform_p,
    select_and_scatter_p,
    stage_p,
)
from onax.lax._fft import fft
from onax.lax._generators import RandomAlgorithm, rng_bit_generator
from onax.lax._platforms import platform_dependent
from onax.lax._ragged import ragged_all_to_all, ragged_all_to_all_p
from onax.lax._scaled_dot import scaled_dot
from onax.lax._scatter import scatter_apply
from onax.lax._sharding import with_sharding_constraint
from onax.lax._slicing import (
    dynamic_index_in_dim,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice_in_dim,
)
from onax.lax._windows import reduce_window

# The rest are operations themselves: short calls, whose own rules name them.
_NAMED = (
    "all_gather all_to_all approx_max_k approx_min_k argmax argmin associative_scan betainc broadcast broadcast_like "
    "broadcast_shapes "
    "broadcast_to_rank collapse conj conv cumlogsumexp cummax cummin cumprod cumsum dot dynamic_index_in_dim "
    "dynamic_slice_in_dim dynamic_update_index_in_dim dynamic_update_slice_in_dim expand_dims full full_like "
    "index_in_dim index_take integer_pow map optimization_barrier pmax pmean pmin pow ppermute psum psum_scatter "
    "pswapaxes reciprocal reduce reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_window "
    "reduce_xor rev slice_in_dim sort sort_key_val split stack tile top_k unstack"
).split()
_wrap_api_functions(globals(), __name__, globals().keys() - _NAMED)

__all__ = [
    "AccuracyMode", "ConvDimensionNumbers", "ConvGeneralDilatedDimensionNumbers", "DotAlgorithm",
    "DotAlgorithmPreset", "DotDimensionNumbers", "FftType", "GatherDimensionNumbers", "GatherScatterMode",
    "Precision", "PrecisionLike", "RaggedDotDimensionNumbers", "RandomAlgorithm", "RoundingMethod",
    "ScatterDimensionNumbers", "Tolerance", "abs", "abs_p", "acos", "acos_p", "acosh", "acosh_p", "add", "add_p",
    "after_all", "after_all_p", "all_gather", "all_gather_p", "all_to_all", "all_to_all_p", "and_p", "approx_max_k",
    "approx_min_k", "approx_top_k_p", "argmax", "argmax_p", "argmin", "argmin_p", "asin", "asin_p", "asinh",
    "asinh_p", "associative_scan", "atan", "atan2", "atan2_p", "atan_p", "atanh", "atanh_p", "axis_index",
    "axis_index_p", "axis_size", "batch_matmul", "bessel_i0e", "bessel_i0e_p", "bessel_i1e", "bessel_i1e_p",
    "betainc", "bitcast_convert_type", "bitcast_convert_type_p", "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "broadcast", "broadcast_in_dim", "broadcast_in_dim_p", "broadcast_like", "broadcast_shapes",
    "broadcast_to_rank", "broadcasted_iota", "cbrt", "cbrt_p", "ceil", "ceil_p", "clamp", "clamp_p", "clz", "clz_p",
    "collapse", "complex", "complex_p", "composite", "concatenate", "concatenate_p", "cond", "cond_p", "conj",
    "conj_p", "conv", "conv_dimension_numbers", "conv_general_dilated", "conv_general_dilated_local",
    "conv_general_dilated_p", "conv_general_dilated_patches", "conv_general_permutations", "conv_general_shape_tuple",
    "conv_shape_tuple", "conv_transpose", "conv_transpose_shape_tuple", "conv_with_general_padding",
    "convert_element_type", "convert_element_type_p", "copy_p", "cos", "cos_p", "cosh", "cosh_p", "create_token",
    "create_token_p", "cumlogsumexp", "cumlogsumexp_p", "cummax", "cummax_p", "cummin", "cummin_p", "cumprod",
    "cumprod_p", "cumsum", "cumsum_p", "custom_linear_solve", "custom_root", "dce_sink", "dce_sink_p", "device_put_p",
    "digamma", "digamma_p", "div", "div_p", "dot", "dot_general", "dot_general_p", "dtype", "dynamic_index_in_dim",
    "dynamic_slice", "dynamic_slice_in_dim", "dynamic_slice_p", "dynamic_update_index_in_dim", "dynamic_update_slice",
    "dynamic_update_slice_in_dim", "dynamic_update_slice_p", "empty", "eq", "eq_p", "eq_to_p", "erf", "erf_inv",
    "erf_inv_p", "erf_p", "erfc", "erfc_p", "exp", "exp2", "exp2_p", "exp_p", "expand_dims", "expm1", "expm1_p",
    "fft", "fft_p", "floor", "floor_p", "fori_loop", "full", "full_like", "gather", "gather_p", "ge", "ge_p", "gt",
    "gt_p", "igamma", "igamma_grad_a", "igamma_grad_a_p", "igamma_p", "igammac", "igammac_p", "imag", "imag_p",
    "index_in_dim", "index_take", "integer_pow", "integer_pow_p", "iota", "iota_p", "is_finite", "is_finite_p", "le",
    "le_p", "le_to_p", "lgamma", "lgamma_p", "linalg", "linear_solve_p", "log", "log1p", "log1p_p", "log2", "log2_p",
    "log_p", "logistic", "logistic_p", "lt", "lt_p", "lt_to_p", "map", "max", "max_p", "min", "min_p", "mul", "mul_p",
    "mulhi", "mulhi_p", "ne", "ne_p", "neg", "neg_p", "nextafter", "nextafter_p", "not_p", "one_minus_square",
    "one_minus_square_p", "optimization_barrier", "optimization_barrier_p", "or_p", "pad", "pad_p", "padtype_to_pads",
    "pbroadcast", "pbroadcast_p", "pcast", "platform_dependent", "pmax", "pmax_p", "pmean", "pmin", "pmin_p",
    "polygamma", "polygamma_p", "polynomial", "polynomial_p", "population_count", "population_count_p", "pow",
    "pow_p", "ppermute", "ppermute_p", "precv", "psend", "pshuffle", "psum", "psum_p", "psum_scatter",
    "psum_scatter_start", "pswapaxes", "ragged_all_to_all", "ragged_all_to_all_p", "ragged_dot", "ragged_dot_general",
    "random_gamma_grad", "real", "real_p", "reciprocal", "reduce", "reduce_and", "reduce_and_p", "reduce_max",
    "reduce_max_p", "reduce_min", "reduce_min_p", "reduce_or", "reduce_or_p", "reduce_p", "reduce_precision",
    "reduce_precision_p", "reduce_prod", "reduce_prod_p", "reduce_scatter_p", "reduce_sum", "reduce_sum_p",
    "reduce_window", "reduce_window_max_p", "reduce_window_min_p", "reduce_window_p", "reduce_window_shape_tuple",
    "reduce_window_sum_p", "reduce_xor", "reduce_xor_p", "regularized_incomplete_beta_p", "rem", "rem_p", "reshape",
    "reshape_p", "rev", "rev_p", "rng_bit_generator", "rng_bit_generator_p", "rng_uniform", "rng_uniform_p", "round",
    "round_p", "rsqrt", "rsqrt_p", "scaled_dot", "scan", "scan_p", "scatter", "scatter_add", "scatter_add_p",
    "scatter_apply", "scatter_max", "scatter_max_p", "scatter_min", "scatter_min_p", "scatter_mul", "scatter_mul_p",
    "scatter_p", "scatter_sub", "scatter_sub_p", "select", "select_and_gather_add_p", "select_and_scatter_add_p",
    "select_and_scatter_p", "select_n", "select_n_p", "shape_as_value", "sharding_constraint_p", "shift_left",
    "shift_left_p", "shift_right_arithmetic", "shift_right_arithmetic_p", "shift_right_logical",
    "shift_right_logical_p", "sign", "sign_p", "sin", "sin_p", "sinh", "sinh_p", "slice", "slice_in_dim", "slice_p",
    "sort", "sort_key_val", "sort_p", "split", "split_p", "sqrt", "sqrt_p", "square", "square_p", "squeeze",
    "squeeze_p", "stack", "stack_p", "stage", "stage_p", "stop_gradient", "stop_gradient_p", "sub", "sub_p", "switch",
    "tan", "tan_p", "tanh", "tanh_p", "tile", "tile_p", "top_k", "top_k_p", "transpose", "transpose_p", "unstack",
    "unstack_p", "while_loop", "while_p", "with_sharding_constraint", "xor_p", "zeta", "zeta_p",
]  # fmt: skip
