"""onax.numpy: NumPy's functions on onax arrays, with JAX's promotion, defaults and differences.

Arrays do not change: what NumPy does in place, `x.at[...]` does by returning a new array.
"""

from math import e, inf, nan, pi

from numpy import (
    array_repr,
    array_str,
    euler_gamma,
    get_printoptions,
    printoptions,
    save,
    savez,
    set_printoptions,
)
from numpy.exceptions import ComplexWarning

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._native.array import Array as ndarray
from onax.numpy import _array_methods, _ufuncs, fft, linalg
from onax.numpy._arithmetic import (
    angle,
    arccosh,
    around,
    clip,
    copysign,
    divmod,
    floor_divide,
    fmax,
    fmin,
    fmod,
    heaviside,
    hypot,
    mod,
    nan_to_num,
    pow,
    power,
    remainder,
    rint,
    round,
    signbit,
    trunc,
)
from onax.numpy._arithmetic import arccosh as acosh
from onax.numpy._array_api import (
    __array_api_version__,
    __array_namespace_info__,
)
from onax.numpy._bits import bitwise_count, packbits, unpackbits
from onax.numpy._convolution import convolve, correlate
from onax.numpy._creation import (
    array,
    asarray,
    astype,
    broadcast_to,
    copy,
    empty,
    empty_like,
    from_dlpack,
    frombuffer,
    fromfile,
    fromiter,
    fromstring,
    full,
    full_like,
    load,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from onax.numpy._cumulative import (
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    nancumprod,
    nancumsum,
)
from onax.numpy._differences import diff, ediff1d, gradient, trapezoid, unwrap
from onax.numpy._editing import delete, fill_diagonal, insert, place, put, put_along_axis, trim_zeros
from onax.numpy._einsum import (
    einsum,
    einsum_path,
)
from onax.numpy._float_parts import (
    frexp,
    ldexp,
    modf,
    spacing,
)
from onax.numpy._gathering import choose, diag, diagflat, diagonal, take, take_along_axis, trace, tril, triu
from onax.numpy._grids import (
    c_,
    index_exp,
    mgrid,
    ogrid,
    r_,
    s_,
)
from onax.numpy._histograms import (
    bincount,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
)
from onax.numpy._index_arrays import (
    diag_indices,
    diag_indices_from,
    ix_,
    mask_indices,
    ravel_multi_index,
    tril_indices,
    tril_indices_from,
    triu_indices,
    triu_indices_from,
    unravel_index,
)
from onax.numpy._interpolation import interp
from onax.numpy._joining import (
    append,
    array_split,
    block,
    column_stack,
    concat,
    concatenate,
    dsplit,
    dstack,
    hsplit,
    hstack,
    split,
    stack,
    unstack,
    vsplit,
    vstack,
)
from onax.numpy._logic import (
    allclose,
    array_equal,
    array_equiv,
    isclose,
    iscomplex,
    iscomplexobj,
    isfinite,
    isinf,
    isnan,
    isneginf,
    isposinf,
    isreal,
    isrealobj,
    isscalar,
    iterable,
)
from onax.numpy._mapping import (
    apply_along_axis,
    apply_over_axes,
    piecewise,
    vectorize,
)
from onax.numpy._nan_reductions import (
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
)
from onax.numpy._number_theory import gcd, lcm
from onax.numpy._padding import (
    pad,
)
from onax.numpy._polynomials import (
    poly,
    polyadd,
    polyder,
    polydiv,
    polyfit,
    polyint,
    polymul,
    polysub,
    polyval,
    roots,
    vander,
)
from onax.numpy._products import (
    cross,
    dot,
    inner,
    kron,
    matmul,
    matvec,
    outer,
    tensordot,
    vdot,
    vecdot,
    vecmat,
)
from onax.numpy._quantiles import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from onax.numpy._ranges import (
    arange,
    eye,
    fromfunction,
    geomspace,
    identity,
    indices,
    linspace,
    logspace,
    meshgrid,
    tri,
)
from onax.numpy._reductions import (
    all,
    amax,
    amin,
    any,
    average,
    count_nonzero,
    max,
    mean,
    min,
    minmax,
    prod,
    ptp,
    std,
    sum,
    var,
)
from onax.numpy._repeat import (
    repeat,
)
from onax.numpy._scalar_types import (
    bfloat16,
    bool_,
    can_cast,
    cdouble,
    character,
    complex64,
    complex128,
    complex_,
    complexfloating,
    csingle,
    double,
    dtype,
    finfo,
    flexible,
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    float_,
    floating,
    generic,
    iinfo,
    inexact,
    int1,
    int2,
    int4,
    int8,
    int16,
    int32,
    int64,
    int_,
    integer,
    isdtype,
    issubdtype,
    number,
    object_,
    promote_types,
    result_type,
    signedinteger,
    single,
    uint,
    uint1,
    uint2,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
    unsignedinteger,
)
from onax.numpy._scalar_types import bool_ as bool
from onax.numpy._searching import (
    argmax,
    argmin,
    argwhere,
    compress,
    digitize,
    extract,
    flatnonzero,
    nanargmax,
    nanargmin,
    nonzero,
    searchsorted,
    where,
)
from onax.numpy._sets import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from onax.numpy._shaping import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_shapes,
    expand_dims,
    flip,
    fliplr,
    flipud,
    matrix_transpose,
    moveaxis,
    ndim,
    permute_dims,
    ravel,
    reshape,
    resize,
    roll,
    rollaxis,
    rot90,
    shape,
    size,
    squeeze,
    swapaxes,
    tile,
    transpose,
)
from onax.numpy._sorting import (
    argpartition,
    argsort,
    lexsort,
    partition,
    sort,
    sort_complex,
    top_k,
)
from onax.numpy._special_functions import i0, sinc
from onax.numpy._statistics import corrcoef, cov
from onax.numpy._ufunc_objects import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    frompyfunc,
    logaddexp,
    logaddexp2,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    subtract,
    ufunc,
)
from onax.numpy._ufuncs import (
    absolute,
    arccos,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    bitwise_left_shift,
    bitwise_right_shift,
    cbrt,
    ceil,
    conj,
    conjugate,
    cos,
    cosh,
    deg2rad,
    divide,
    equal,
    exp,
    exp2,
    expm1,
    fabs,
    float_power,
    floor,
    greater,
    greater_equal,
    imag,
    invert,
    left_shift,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logical_not,
    nextafter,
    not_equal,
    positive,
    rad2deg,
    real,
    reciprocal,
    right_shift,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    true_divide,
)
from onax.numpy._ufuncs import absolute as abs
from onax.numpy._ufuncs import arccos as acos
from onax.numpy._ufuncs import arcsin as asin
from onax.numpy._ufuncs import arcsinh as asinh
from onax.numpy._ufuncs import arctan as atan
from onax.numpy._ufuncs import arctan2 as atan2
from onax.numpy._ufuncs import arctanh as atanh
from onax.numpy._ufuncs import deg2rad as radians
from onax.numpy._ufuncs import invert as bitwise_invert
from onax.numpy._ufuncs import invert as bitwise_not
from onax.numpy._ufuncs import rad2deg as degrees
from onax.numpy._where import (
    select,
)
from onax.numpy._windows import (
    bartlett,
    blackman,
    hamming,
    hanning,
    kaiser,
)

newaxis = None

# Calls of a microsecond or two: their own checks name them.
_SHORT = "sum reshape asarray array matmul dot where transpose astype".split()
_wrap_api_functions(globals(), __name__, set(_SHORT))

__all__ = [
    "ComplexWarning", "abs", "absolute", "acos", "acosh", "add", "all", "allclose", "amax", "amin", "angle", "any",
    "append", "apply_along_axis", "apply_over_axes", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "argmax", "argmin", "argpartition", "argsort", "argwhere", "around", "array", "array_equal",
    "array_equiv", "array_repr", "array_split", "array_str", "asarray", "asin", "asinh", "astype", "atan", "atan2",
    "atanh", "atleast_1d", "atleast_2d", "atleast_3d", "average", "bartlett", "bfloat16", "bincount", "bitwise_and",
    "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "blackman", "block", "bool", "bool_", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "c_",
    "can_cast", "cbrt", "cdouble", "ceil", "character", "choose", "clip", "column_stack", "complex64", "complex128",
    "complex_", "complexfloating", "compress", "concat", "concatenate", "conj", "conjugate", "convolve", "copy",
    "copysign", "corrcoef", "correlate", "cos", "cosh", "count_nonzero", "cov", "cross", "csingle", "cumprod",
    "cumsum", "cumulative_prod", "cumulative_sum", "deg2rad", "degrees", "delete", "diag", "diag_indices",
    "diag_indices_from", "diagflat", "diagonal", "diff", "digitize", "divide", "divmod", "dot", "double", "dsplit",
    "dstack", "dtype", "e", "ediff1d", "einsum", "einsum_path", "empty", "empty_like", "equal", "euler_gamma", "exp",
    "exp2", "expand_dims", "expm1", "extract", "eye", "fabs", "fft", "fill_diagonal", "finfo", "flatnonzero",
    "flexible", "flip", "fliplr", "flipud", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4",
    "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu", "float16", "float32", "float64", "float_", "float_power", "floating", "floor", "floor_divide",
    "fmax", "fmin", "fmod", "frexp", "from_dlpack", "frombuffer", "fromfile", "fromfunction", "fromiter",
    "frompyfunc", "fromstring", "full", "full_like", "gcd", "generic", "geomspace", "get_printoptions", "gradient",
    "greater", "greater_equal", "hamming", "hanning", "heaviside", "histogram", "histogram2d", "histogram_bin_edges",
    "histogramdd", "hsplit", "hstack", "hypot", "i0", "identity", "iinfo", "imag", "index_exp", "indices", "inexact",
    "inf", "inner", "insert", "int1", "int2", "int4", "int8", "int16", "int32", "int64", "int_", "integer", "interp",
    "intersect1d", "invert", "isclose", "iscomplex", "iscomplexobj", "isdtype", "isfinite", "isin", "isinf", "isnan",
    "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "issubdtype", "iterable", "ix_", "kaiser", "kron",
    "lcm", "ldexp", "left_shift", "less", "less_equal", "lexsort", "linalg", "linspace", "load", "log", "log1p",
    "log2", "log10", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "logspace",
    "mask_indices", "matmul", "matrix_transpose", "matvec", "max", "maximum", "mean", "median", "meshgrid", "mgrid",
    "min", "minimum", "minmax", "mod", "modf", "moveaxis", "multiply", "nan", "nan_to_num", "nanargmax", "nanargmin",
    "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile",
    "nanstd", "nansum", "nanvar", "ndarray", "ndim", "negative", "newaxis", "nextafter", "nonzero", "not_equal",
    "number", "object_", "ogrid", "ones", "ones_like", "outer", "packbits", "pad", "partition", "percentile",
    "permute_dims", "pi", "piecewise", "place", "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint",
    "polymul", "polysub", "polyval", "positive", "pow", "power", "printoptions", "prod", "promote_types", "ptp",
    "put", "put_along_axis", "quantile", "r_", "rad2deg", "radians", "ravel", "ravel_multi_index", "real",
    "reciprocal", "remainder", "repeat", "reshape", "resize", "result_type", "right_shift", "rint", "roll",
    "rollaxis", "roots", "rot90", "round", "s_", "save", "savez", "searchsorted", "select", "set_printoptions",
    "setdiff1d", "setxor1d", "shape", "sign", "signbit", "signedinteger", "sin", "sinc", "single", "sinh", "size",
    "sort", "sort_complex", "spacing", "split", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum",
    "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "top_k", "trace", "transpose",
    "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from", "trim_zeros", "triu", "triu_indices",
    "triu_indices_from", "true_divide", "trunc", "ufunc", "uint", "uint1", "uint2", "uint4", "uint8", "uint16",
    "uint32", "uint64", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "unpackbits", "unravel_index", "unsignedinteger", "unstack", "unwrap", "vander", "var", "vdot", "vecdot",
    "vecmat", "vectorize", "vsplit", "vstack", "where", "zeros", "zeros_like",
]  # fmt: skip
