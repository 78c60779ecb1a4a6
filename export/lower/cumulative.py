"""Lowerings of cumulative reductions.

The runtime's CumSum adds one by one, in the type of its operand; CumProd exists from opset 26 on.  All others are
computed by doubling: after k steps each element holds the reduction of the 2^k elements that end with it.

The other direction: `pkg/onax/onnx/cumulative.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax._ground import dtypes
from onax._ground.errors import LoweringError
from onax._prims import cumulative as prims
from onax._prims import elementwise as ew
from onax._prims.convert import convert
from onax._prims.padding import pad
from onax._prims.reductions import highest, lowest
from onax._prims.shaping import rev, shape_of
from onax.export.graph import ops
from onax.export.lower.convert import F32, F64, HALVES, INT32, INT64
from onax.export.lower.driver import lower_function
from onax.export.lower.registry import Decomposition, component_lowering, componentwise, decompose, lowers

# Longer float32 sums are computed in float64, because the error of adding one by one grows with the length.
_LONG_AXIS = 512

# ---- doubling


def _scan_by_doubling(name, combine, x, neutral, axis, reverse):
    """The scan of an associative function, in log2(n) steps over the whole array (Hillis and Steele, 1986)."""
    n = shape_of(x)[axis]
    if not dim_rules.is_constant(n):
        raise LoweringError(f"{name} along an axis of symbolic size {n} has no ONNX form: give the axis a known size.")
    if reverse:
        x = rev(x, (axis,))
    step = 1
    while step < n:
        config = [(0, 0, 0)] * len(shape_of(x))
        config[axis] = (step, -step, 0)
        x = combine(pad(x, neutral, config), x)
        step *= 2
    return rev(x, (axis,)) if reverse else x


def _doubling(name, combine, neutral):
    def function(x, *, axis, reverse):
        dtype = x.dtype
        wide = F32 if dtype in HALVES else dtype
        out = _scan_by_doubling(name, combine, convert(x, wide), neutral(wide), axis, reverse)
        return convert(out, dtype)

    return function


def _minus_infinity(dtype):
    return np.asarray(-np.inf).astype(dtype)[()]


decompose(prims.cummax_p, _doubling("cummax", ew.max, lowest), components=True)
decompose(prims.cummin_p, _doubling("cummin", ew.min, highest), components=True)


def _logarithm(x, **params):
    if dtypes.is_integer(x.dtype):
        raise LoweringError("cumlogsumexp starts from -inf: it has no ONNX form for integers.")
    return _cumlogsumexp(x, **params)


_cumlogsumexp = _doubling("cumlogsumexp", prims.logaddexp, _minus_infinity)
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
_product = _doubling("cumprod", ew.mul, lambda dtype: np.ones((), dtype)[()])
component_lowering.set(prims.cumprod_p, Decomposition(_product))


@lowers(prims.cumprod_p)
def _cumprod(g, out, x, *, axis, reverse):
    if g.opset >= 26:
        return _one_node(g, "CumProd", x, axis, reverse)
    params = {"axis": axis, "reverse": reverse}
    return lower_function(g, _product, params, [x.aval], [x])[0]
