"""Reductions over windows: reduce_window_sum, _max, _min, and the primitives of their derivatives.

The derivative of max or min over a window belongs to one element, the first that is largest or smallest:
`select_and_gather_add` reads tangents at the selected elements, and `select_and_scatter_add`, its adjoint, adds there.
An element replaces the selected one unless the selected one compares at least as well, so the next element replaces a
NaN, as in JAX.  Where all elements equal the identity, the first primitive gives 0 and the second adds to the first
element, as in JAX.
"""

import builtins
import math

import numpy as np

from onax._core.facts import LINEAR, MAKES_NAN
from onax._core.rules import deflinear, deflinear_first, tangent_zero
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims, dtypes
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.convert import cast, compute_dtype
from onax._prims.elementwise import ge_p, le_p
from onax._prims.padding import dilate_and_pad, pad
from onax._prims.reductions import highest, lowest
from onax._prims.shaping import bdim_at_front, broadcast_in_dim_p, reshape, shape_of
from onax._prims.slicing import slice_p, zero_scalar
from onax._prims.windows_shapes import adjoint_padding, combine_windows, slice_bounds, window_offsets, windows_shape

# ---- checks ----


def _check_sizes(name, what, values, lowest_allowed):
    """Raises TypeError unless these are integers that are large enough."""
    if not isinstance(values, (tuple, list, np.ndarray)):
        raise TypeError(f"{name} {what} must be of type tuple/list/ndarray, got {type(values)}.")
    if not all(dims.is_dim(v) for v in values):
        kinds = tuple(type(v) for v in values)
        raise TypeError(f"{name} {what} must have every element be an integer type, got {kinds}.")
    if not all(v >= lowest_allowed for v in values):
        bound = "strictly positive" if lowest_allowed else "nonnegative"
        raise TypeError(f"{name} {what} must have every element be {bound}, got {values}.")


def check_window(shape, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """The shape of a reduction over windows; TypeError where a parameter does not fit."""
    _check_sizes("reduce_window", "window_dimensions", window_dimensions, 1)
    _check_sizes("reduce_window", "window_strides", window_strides, 1)
    _check_sizes("reduce_window", "base_dilation", base_dilation, 0)
    _check_sizes("reduce_window", "window_dilation", window_dilation, 0)
    if len(shape) != len(window_dimensions):
        raise TypeError(
            "reduce_window got the wrong number of window_dimensions for operand: got operand shape "
            f"{shape} with window_dimensions {window_dimensions}."
        )
    others = (
        ("window_strides", window_strides),
        ("base_dilation", base_dilation),
        ("window_dilation", window_dilation),
    )
    for what, values in others:
        if len(values) != len(window_dimensions):
            raise TypeError(
                f"reduce_window got inconsistent {what} and window_dimensions: got {what} {values} and "
                f"window_dimensions {window_dimensions}."
            )
    if len(padding) != len(window_dimensions):
        raise ValueError(
            "reduce_window needs one (low, high) pair of padding for each axis, got padding "
            f"{padding} and window_dimensions {window_dimensions}."
        )
    return windows_shape(shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)


# ---- sum, max, min ----


def _axis_slicer(axis):
    lead = (builtins.slice(None),) * axis

    def take(x, start, limit, stride):
        return x[(*lead, builtins.slice(start, limit, stride))]

    return take


def _window_kernel(ufunc, neutral):
    def combine(x, y):
        return ufunc(x, y, out=x) if x.flags.owndata and x.flags.writeable else ufunc(x, y)

    def kernel(x, *, window_dimensions, window_strides, padding, base_dilation, window_dilation):
        shape = check_window(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
        dtype, wide = x.dtype, compute_dtype(x.dtype)
        if ufunc is np.add and dtype.kind == "b":
            raise TypeError("sums of bools")
        if 0 in shape:
            return np.zeros(shape, dtype)
        out = dilate_and_pad(cast(x, wide), cast(np.asarray(neutral(dtype)), wide), padding, base_dilation)
        for axis, (n, w, s, d) in enumerate(zip(shape, window_dimensions, window_strides, window_dilation)):
            if w > 1 or s > 1 or out.shape[axis] != n:
                out = combine_windows(out, out.shape[axis], n, w, s, d, _axis_slicer(axis), combine)
        if ufunc is np.add and dtypes.is_float(wide):
            out = out + wide.type(0)  # a sum starts at 0 and is therefore never -0
        return cast(out, dtype)

    return kernel


def _abstract(check_dtype=None):
    def abstract_eval(x, **params):
        if check_dtype is not None:
            check_dtype(x.dtype)
        return ShapedArray(check_window(x.shape, **params), x.dtype, x.weak_type)

    return abstract_eval


def _insert_window_axis(at, **params):
    """Inserts a mapped axis, along which windows have length 1, into the parameters."""
    neutral = {"padding": (0, 0)}
    return {k: (*v[:at], neutral.get(k, 1), *v[at:]) for k, v in params.items()}


def _reduce_window_batch(primitive):
    def batch(axis_data, operands, mapped, **params):
        (x,), (d,) = operands, mapped
        return primitive.bind(x, **_insert_window_axis(d, **params)), d

    return batch


def _sum_dtype(dtype):
    if not dtypes.issubdtype(dtype, np.number):
        raise TypeError(f"operand to reduce_window_sum must have a number dtype, got {np.dtype(dtype).name}")


def _repeated(ct, repeats):
    """Each element as often along each axis as `repeats` says."""
    pairs = tuple([d for pair in zip(ct.shape, repeats) for d in pair])
    axes = tuple(range(0, len(pairs), 2))
    spread = broadcast_in_dim_p.bind(ct, shape=pairs, broadcast_dimensions=axes, sharding=None)
    return reshape(spread, tuple([d * n for d, n in zip(ct.shape, repeats)]))


def _sum_transpose(ct, x, *, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """Sums over the same windows of the cotangent, which is dilated by the strides.

    Where windows lie side by side and cover the operand, each of its elements has the cotangent of its window.
    """
    shape = x.aval.shape
    covered = tuple([d * stride for d, stride in zip(ct.shape, window_strides)])
    is_plain = not any(low or high for low, high in padding) and all(d == 1 for d in (*base_dilation, *window_dilation))
    if is_plain and tuple(window_dimensions) == tuple(window_strides) and covered == shape:
        return [_repeated(ct, window_strides)]
    pads = adjoint_padding(shape, window_dimensions, window_strides, ct.shape, padding, base_dilation, window_dilation)
    config = tuple((low, high, stride - 1) for (low, high), stride in zip(pads, window_strides))
    spread = pad(ct, zero_scalar(ct.dtype), config)
    return [
        reduce_window_sum_p.bind(
            spread,
            window_dimensions=window_dimensions,
            window_strides=base_dilation,
            padding=((0, 0),) * len(shape),
            base_dilation=(1,) * len(shape),
            window_dilation=window_dilation,
        )
    ]


reduce_window_sum_p = Primitive(
    "reduce_window_sum",
    kernel=_window_kernel(np.add, lambda dtype: np.zeros((), dtype)),
    abstract_eval=_abstract(_sum_dtype),
    facts=frozenset({LINEAR, MAKES_NAN}),
)
deflinear(reduce_window_sum_p, _sum_transpose)
reduce_window_sum_p.batch = _reduce_window_batch(reduce_window_sum_p)


def _extremum(name, ufunc, neutral, select_prim):
    p = Primitive(name, kernel=_window_kernel(ufunc, neutral), abstract_eval=_abstract())
    p.batch = _reduce_window_batch(p)

    def jvp(primals, tangents, **params):
        (x,), (g,) = primals, tangents
        out = p.bind(x, **params)
        if type(g) is Zero:
            return out, tangent_zero(out)
        return out, select_and_gather_add_p.bind(g, x, select_prim=select_prim, **params)

    p.jvp = jvp
    return p


reduce_window_max_p = _extremum("reduce_window_max", np.maximum, lowest, ge_p)
reduce_window_min_p = _extremum("reduce_window_min", np.minimum, highest, le_p)


def reduce_window_bind(kind, operand, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """Binds the reduction "sum", "max" or "min" over windows."""
    primitive = {"sum": reduce_window_sum_p, "max": reduce_window_max_p, "min": reduce_window_min_p}[kind]
    return primitive.bind(
        operand,
        window_dimensions=tuple(window_dimensions),
        window_strides=tuple(window_strides),
        padding=tuple(padding),
        base_dilation=tuple(base_dilation),
        window_dilation=tuple(window_dilation),
    )


# ---- the selected element of each window ----


def identity_element(select_prim, dtype):
    """The identity of the selection: the lowest value for ge, the highest for le."""
    return lowest(dtype) if select_prim is ge_p else highest(dtype)


def _window_elements(x, position, dilation, count, strides):
    starts, limits = slice_bounds(position, dilation, count, strides)
    return x[(..., *map(builtins.slice, starts, limits, strides))]  # `...` makes a view of a scalar, too


def _mask(flags, dtype):
    """Integers as wide as the dtype with all bits set where a flag is true."""
    return np.negative(flags.astype(f"i{dtype.itemsize}"))


def _blend(flags, x, y):
    """np.where(flags, x, y) by bit operations, which take a fraction of its time where flags are irregular."""
    if x.dtype.kind not in "fiu":
        return np.where(flags, x, y)
    mask = _mask(flags, x.dtype)
    bits = y.view(mask.dtype)
    return (bits ^ ((x.view(mask.dtype) ^ bits) & mask)).view(x.dtype)


def _comparison(select_prim):
    return np.greater_equal if select_prim is ge_p else np.less_equal


def _gather_kernel(g, x, *, select_prim, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    shape = check_window(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    if g.shape != x.shape or g.dtype != x.dtype:
        raise TypeError("tangents and operand differ")
    compare, dtype, wide = _comparison(select_prim), g.dtype, compute_dtype(g.dtype)
    best, out = np.full(shape, identity_element(select_prim, wide), wide), np.zeros(shape, wide)
    if 0 in shape:
        return np.zeros(shape, dtype)
    inside = np.ones(x.shape, bool)
    inside, x, g = (dilate_and_pad(v, 0, padding, base_dilation) for v in (inside, cast(x, wide), cast(g, wide)))
    for position in window_offsets(window_dimensions):
        elements = _window_elements(x, position, window_dilation, shape, window_strides)
        worse = ~compare(best, elements) & _window_elements(inside, position, window_dilation, shape, window_strides)
        best = _blend(worse, elements, best)
        out = _blend(worse, _window_elements(g, position, window_dilation, shape, window_strides), out)
    return cast(out, dtype)


def _gather_abstract(g, x, *, select_prim, **params):
    if not dims.equal_shapes(g.shape, x.shape):
        raise TypeError(f"select_and_gather_add tangents and operand shapes must match, got {g.shape} and {x.shape}.")
    dtype = _same_dtype("select_and_gather_add", g, x)
    return ShapedArray(check_window(x.shape, **params), dtype, g.weak_type and x.weak_type)


def _same_dtype(name, x, y):
    if x.dtype != y.dtype:
        raise TypeError(f"lax.{name} requires arguments to have the same dtypes, got {x.dtype}, {y.dtype}.")
    return x.dtype


def _def_batch_leading(primitive):
    def batch(axis_data, operands, mapped, *, select_prim, **params):
        operands = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, mapped)]
        return primitive.bind(*operands, select_prim=select_prim, **_insert_window_axis(0, **params)), 0

    primitive.batch = batch


def _gather_transpose(
    ct, g, x, *, select_prim, window_dimensions, window_strides, padding, base_dilation, window_dilation
):
    if not is_undefined_primal(g) or is_undefined_primal(x):
        raise TypeError("select_and_gather_add is linear in its first operand only")
    if any(d != 1 for d in window_dilation):
        raise NotImplementedError(
            "VJP not implemented for select_and_gather (MaxPool) with window dilation, got "
            f"window_dilation={window_dilation}."
        )
    if type(ct) is Zero:
        return [Zero(g.aval), None]
    spread = any(d != 1 for d in base_dilation)
    if spread:
        holes = tuple((0, 0, d - 1) for d in base_dilation)
        x = pad(x, identity_element(select_prim, x.dtype), holes)
    out = select_and_scatter_add_p.bind(
        ct,
        x,
        select_prim=select_prim,
        window_dimensions=window_dimensions,
        window_strides=window_strides,
        padding=padding,
    )
    if spread:
        shape = shape_of(out)
        out = slice_p.bind(out, start_indices=(0,) * len(shape), limit_indices=shape, strides=base_dilation)
    return [out, None]


select_and_gather_add_p = Primitive(
    "select_and_gather_add", kernel=_gather_kernel, abstract_eval=_gather_abstract, transpose=_gather_transpose
)
deflinear_first(select_and_gather_add_p)
_def_batch_leading(select_and_gather_add_p)


# ---- adding to the selected elements ----


def _window_counts(x, window, strides, padding):
    ones = (1,) * len(window)
    return windows_shape(x.shape, window, strides, padding, ones, ones)


def _scatter_kernel(source, x, *, select_prim, window_dimensions, window_strides, padding):
    count = _window_counts(x, window_dimensions, window_strides, padding)
    if count != source.shape or source.dtype != x.dtype:
        raise TypeError("one value of the source for each window")
    _check_sizes("select_and_scatter", "window_dimensions", window_dimensions, 0)
    ones, compare, dtype, wide = (1,) * x.ndim, _comparison(select_prim), x.dtype, compute_dtype(x.dtype)
    if 0 in count:
        return np.zeros(x.shape, dtype)
    around = dilate_and_pad(cast(x, wide), identity_element(select_prim, wide), padding, ones)
    source, positions = cast(source, wide), window_offsets(window_dimensions)
    number = np.min_scalar_type(math.prod(window_dimensions)).type
    selected = np.zeros(count, number)
    best = _window_elements(around, positions[0], ones, count, window_strides).copy()
    for k, position in enumerate(positions[1:], 1):
        elements = _window_elements(around, position, ones, count, window_strides)
        worse = ~compare(best, elements)
        best = _blend(worse, elements, best)
        selected = np.maximum(selected, worse * number(k))
    out, nothing = np.zeros(around.shape, wide), np.zeros((), wide)
    for k, position in enumerate(positions):
        view = _window_elements(out, position, ones, count, window_strides)
        np.add(view, _blend(selected == k, source, nothing), out=view)
    back = tuple((-low, -high) for low, high in padding)
    return cast(dilate_and_pad(out, 0, back, ones), dtype)


def _scatter_abstract(source, x, *, select_prim, window_dimensions, window_strides, padding):
    _check_sizes("select_and_scatter", "window_dimensions", window_dimensions, 0)
    _check_sizes("select_and_scatter", "window_strides", window_strides, 0)
    if len(window_dimensions) != len(window_strides):
        raise TypeError(
            "select_and_scatter got inconsistent window_strides and window_dimensions: got window_strides "
            f"{window_strides} and window_dimensions {window_dimensions}."
        )
    count = _window_counts(x, window_dimensions, window_strides, padding)
    if not dims.equal_shapes(count, source.shape):
        raise TypeError(
            f"select_and_scatter_add needs one element of source for each window: got source shape {source.shape} "
            f"for windows {count}."
        )
    return ShapedArray(x.shape, _same_dtype("select_and_scatter_add", source, x), source.weak_type and x.weak_type)


def _scatter_transpose(ct, source, x, *, select_prim, window_dimensions, window_strides, padding):
    if not is_undefined_primal(source) or is_undefined_primal(x):
        raise TypeError("select_and_scatter_add is linear in its first operand only")
    if type(ct) is Zero:
        return [Zero(source.aval), None]
    ones = (1,) * len(window_dimensions)
    out = select_and_gather_add_p.bind(
        ct,
        x,
        select_prim=select_prim,
        window_dimensions=window_dimensions,
        window_strides=window_strides,
        padding=padding,
        base_dilation=ones,
        window_dilation=ones,
    )
    return [out, None]


select_and_scatter_add_p = Primitive(
    "select_and_scatter_add", kernel=_scatter_kernel, abstract_eval=_scatter_abstract, transpose=_scatter_transpose
)
deflinear_first(select_and_scatter_add_p)
_def_batch_leading(select_and_scatter_add_p)
