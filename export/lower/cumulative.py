"""Lowerings of cumulative reductions.

The runtime's CumSum adds one by one, in the type of its operand; CumProd exists from opset 26 on.  All others are
computed by doubling: after k steps each element holds the reduction of the 2^k elements that end with it.  Along an
axis of a symbolic size, a loop makes the steps.

The other direction: `pkg/onax/onnx/cumulative.py`.
"""

import math

import numpy as np

from onax._control.while_loop import while_loop
from onax._ground import dims as dim_rules
from onax._ground import dtypes
from onax._ground.errors import LoweringError
from onax._prims import cumulative as prims
from onax._prims import elementwise as ew
from onax._prims.convert import convert
from onax._prims.creation import broadcasted_iota, full_like
from onax._prims.padding import pad
from onax._prims.reductions import highest, lowest, reduce_max, reduce_min
from onax._prims.shaping import broadcast_in_dim, reduce_sum, rev, shape_of
from onax._prims.slicing import dim_value, dynamic_slice
from onax.export.graph import ops
from onax.export.lower.convert import F32, F64, HALVES, INT32, INT64
from onax.export.lower.driver import lower_function
from onax.export.lower.registry import Decomposition, component_lowering, componentwise, decompose, lowers

# Up to this many elements cost less than the steps of doubling.
_FEW_ELEMENTS = 2048
# Longer float32 sums are computed in float64, because the error of adding one by one grows with the length.
_LONG_AXIS = 512

# ---- doubling


def _scan_by_doubling(combine, x, neutral, axis, reverse):
    """The scan of an associative function, in log2(n) steps over the whole array (Hillis and Steele, 1986)."""
    n = shape_of(x)[axis]
    if reverse:
        x = rev(x, (axis,))
    if not dim_rules.is_constant(n):
        x = _doubling_loop(combine, x, neutral, axis, n)
    else:
        step = 1
        while step < n:
            x = combine(_pad_axis(x, neutral, axis, step, -step), x)
            step *= 2
    return rev(x, (axis,)) if reverse else x


def _doubling_loop(combine, x, neutral, axis, n):
    length = dim_value(n, INT32)

    def advance(state):
        step, x = state
        starts = [INT32.type(0)] * len(shape_of(x))
        starts[axis] = ew.sub(length, step)
        shifted = dynamic_slice(_pad_axis(x, neutral, axis, n, 0), starts, shape_of(x))
        return ew.add(step, step), combine(shifted, x)

    return while_loop(lambda state: ew.lt(state[0], length), advance, (INT32.type(1), x))[1]


def _pad_axis(x, value, axis, low, high):
    config = [(0, 0, 0)] * len(shape_of(x))
    config[axis] = (low, high, 0)
    return pad(x, value, config)


def _doubling(combine, neutral):
    def function(x, *, axis, reverse):
        dtype = x.dtype
        wide = F32 if dtype in HALVES else dtype
        out = _scan_by_doubling(combine, convert(x, wide), neutral(wide), axis, reverse)
        return convert(out, dtype)

    return function


def _minus_infinity(dtype):
    return np.asarray(-np.inf).astype(dtype)[()]


def _all_prefixes(combine, neutral, reduction):
    """`_doubling`; few elements are reduced at once, each row of a square with the elements up to its own."""
    by_doubling = _doubling(combine, neutral)

    def function(x, *, axis, reverse):
        shape = shape_of(x)
        n = shape[axis]
        few = dim_rules.is_constant_shape(shape) and 1 < n and n * math.prod(shape) <= _FEW_ELEMENTS
        if not few or dtypes.is_complex(x.dtype):
            return by_doubling(x, axis=axis, reverse=reverse)
        square = (*shape[:axis], n, *shape[axis:])
        row, column = (broadcasted_iota(INT32, square, axis + i) for i in range(2))
        within = ew.ge(column, row) if reverse else ew.le(column, row)
        axes = tuple(i for i in range(len(square)) if i != axis)
        spread = broadcast_in_dim(x, square, axes)
        return reduction(ew.select(within, spread, full_like(spread, neutral(x.dtype))), (axis + 1,))

    return function


decompose(prims.cummax_p, _all_prefixes(ew.max, lowest, reduce_max), components=True)
decompose(prims.cummin_p, _all_prefixes(ew.min, highest, reduce_min), components=True)


def _logarithm(x, **params):
    if dtypes.is_integer(x.dtype):
        raise LoweringError("cumlogsumexp starts from -inf: it has no ONNX form for integers.")
    return _cumlogsumexp(x, **params)


def _logsumexp(x, axes):
    """The logarithm of the sum of exponentials, from which a finite maximum is taken before."""
    dtype = x.dtype
    x = convert(x, F32) if dtype in HALVES else x
    largest = reduce_max(x, axes)
    finite = ew.lt(ew.abs(largest), full_like(largest, np.inf))
    largest = ew.select(finite, largest, full_like(largest, 0))
    rest = tuple(i for i in range(len(x.shape)) if i not in axes)
    shifted = ew.sub(x, broadcast_in_dim(largest, x.shape, rest))
    return convert(ew.add(ew.log(reduce_sum(ew.exp(shifted), axes)), largest), dtype)


_cumlogsumexp = _all_prefixes(prims.logaddexp, _minus_infinity, _logsumexp)
decompose(prims.cumlogsumexp_p, _logarithm, components=True)


# ---- sum and product


def _working(dtype, length):
    """The type to compute in: signed integers of at least 32 bits; float64 for long float32 axes."""
    if dtype.kind in "iu":
        return INT64 if dtype.itemsize == 8 else INT32
    if dtype == F64 or (dtype == F32 and not (dim_rules.is_constant(length) and length < _LONG_AXIS)):
        return F64
    return F32


def _one_node(g, op_type, x, axis, reverse):
    wide = ops.cast(g, x, _working(x.dtype, x.shape[axis]))
    out = g.node(op_type, wide, g.const(axis, INT64), reverse=int(reverse) or None)
    return ops.cast(g, out, x.dtype)


@lowers(prims.cumsum_p)
def _cumsum(g, out, x, *, axis, reverse):
    return _one_node(g, "CumSum", x, axis, reverse)


componentwise(prims.cumsum_p)
_product = _doubling(ew.mul, lambda dtype: np.ones((), dtype)[()])
component_lowering.set(prims.cumprod_p, Decomposition(_product))


@lowers(prims.cumprod_p)
def _cumprod(g, out, x, *, axis, reverse):
    if g.opset >= 26:
        return _one_node(g, "CumProd", x, axis, reverse)
    params = {"axis": axis, "reverse": reverse}
    return lower_function(g, _product, params, [x.aval], [x])[0]
