"""Builders of nodes that many lowering rules share; they add no node where the result would equal the operand."""

import numpy as np

from onax._ground import dims as dim_rules
from onax._native.avals import ShapedArray
from onax.export.graph.kernels import ELEMENT_TYPES

BOOL = np.dtype(np.bool_)
INT64 = np.dtype(np.int64)
_END = np.iinfo(np.int64).max


def _typed(x, shape):
    return ShapedArray(tuple(shape), x.aval.dtype)


# ---- element types


def cast(g, x, dtype):
    """ONNX's Cast: integers wrap; floats out of an integer's range give undefined results."""
    return g.cast(x, dtype)


def bitcast(g, x, dtype):
    """Reinterprets the bits as a type of equal width (opset 26 and above)."""
    dtype = np.dtype(dtype)
    return x if x.dtype == dtype else g.node("BitCast", x, out=(x.shape, dtype), to=ELEMENT_TYPES[dtype])


# ---- shapes


def reshape(g, x, shape):
    """Reshapes x; the number of elements stays the same."""
    shape = tuple(shape)
    if shape == x.shape:
        return x
    if x.const is not None and x.const.size == 1:
        return g.const(x.const.reshape(shape))
    while x.node is not None and x.node.op_type in ("Reshape", "Unsqueeze", "Squeeze"):
        source = x.node.inputs[0]
        if source.shape == shape:
            return source
        if not (dim_rules.is_constant_shape(shape) and dim_rules.is_constant_shape(source.shape)):
            break
        x = source
    unknown = [i for i, d in enumerate(shape) if not dim_rules.is_constant(d)]
    if len(unknown) == 1 and all(d > 0 for i, d in enumerate(shape) if i != unknown[0]):
        target = g.const([-1 if i == unknown[0] else d for i, d in enumerate(shape)], INT64)
        return g.node("Reshape", x, target, out=_typed(x, shape))
    if len(unknown) > 1:  # if only axes of length one change, the shape need not be computed
        ones, new = ([i for i, d in enumerate(dims) if dim_rules.equal(d, 1)] for dims in (x.shape, shape))
        if [d for d in x.shape if not dim_rules.equal(d, 1)] == [d for d in shape if not dim_rules.equal(d, 1)]:
            return unsqueeze(g, squeeze(g, x, ones), new)
    # allowzero: a 0 in the target is a size, not "copy the dimension of x"
    zero = {"allowzero": 1} if unknown or 0 in shape else {}
    return g.node("Reshape", x, g.shape_const(shape), out=_typed(x, shape), **zero)


def transpose(g, x, perm):
    """Transposes x: axis i of the result is axis perm[i] of x."""
    perm = tuple(int(i) for i in perm)
    while x.node is not None and x.node.op_type == "Transpose" and not x.node.domain:
        inner = x.node.attributes["perm"]
        x, perm = x.node.inputs[0], tuple(inner[i] for i in perm)
    if perm == tuple(range(len(perm))):
        return x
    return g.node("Transpose", x, out=_typed(x, [x.shape[i] for i in perm]), perm=perm)


def expand(g, x, shape):
    """Broadcasts x to `shape` as NumPy does."""
    shape = tuple(shape)
    return x if shape == x.shape else g.node("Expand", x, g.shape_const(shape), out=_typed(x, shape))


def unsqueeze(g, x, axes):
    """Inserts axes of length one at these positions of the result."""
    axes = tuple(axes)
    if not axes:
        return x
    shape = list(x.shape)
    rank = len(shape) + len(axes)
    for a in sorted(a % rank for a in axes):
        shape.insert(a, 1)
    return g.node("Unsqueeze", x, g.const(axes, INT64), out=_typed(x, shape))


def squeeze(g, x, axes):
    """Removes these axes, which have length one."""
    removed = {a % x.ndim for a in axes}
    if not removed:
        return x
    shape = [d for i, d in enumerate(x.shape) if i not in removed]
    return g.node("Squeeze", x, g.const(sorted(removed), INT64), out=_typed(x, shape))


def _through_slices(x, starts, limits):
    """(source, starts, limits) of a slice of a slice with known bounds and steps of 1."""
    while x.node is not None and x.node.op_type == "Slice" and len(x.node.inputs) < 5:
        source, first, _, *axes = x.node.inputs
        if first.const is None or (axes and axes[0].const is None):
            break
        axes = axes[0].const if axes else range(x.ndim)
        before = dict(zip(map(int, axes), map(int, first.const)))
        if any(n < 0 for n in before.values()):
            break
        starts = [before.get(i, 0) + n for i, n in enumerate(starts)]
        limits = [before.get(i, 0) + n for i, n in enumerate(limits)]
        x = source
    return x, starts, limits


def slice_(g, x, starts, limits, strides=None):
    """x[starts[i]:limits[i]:strides[i]] over every axis; bounds are dimensions, strides positive dimensions."""
    strides = strides or (1,) * x.ndim
    x, starts, limits = _through_slices(x, starts, limits)
    axes = [i for i, d in enumerate(x.shape)
            if not (dim_rules.equal(starts[i], 0) and dim_rules.equal(limits[i], d) and strides[i] == 1)]  # fmt: skip
    if not axes:
        return x
    shape = [(limits[i] - starts[i] + strides[i] - 1) // strides[i] if i in axes else d
             for i, d in enumerate(x.shape)]  # fmt: skip
    ends = [_END if dim_rules.equal(limits[i], x.shape[i]) else limits[i] for i in axes]
    extra = (g.const(axes, INT64), g.shape_const([strides[i] for i in axes]))
    if axes == list(range(x.ndim)) and all(strides[i] == 1 for i in axes):
        extra = ()
    elif all(strides[i] == 1 for i in axes):
        extra = extra[:1]
    bounds = g.shape_const([starts[i] for i in axes]), g.shape_const(ends)
    return g.node("Slice", x, *bounds, *extra, out=_typed(x, shape))


def concat(g, xs, axis):
    """Concatenates xs along an axis."""
    if len(xs) == 1:
        return xs[0]
    shape = list(xs[0].shape)
    for x in xs[1:]:
        shape[axis] = shape[axis] + x.shape[axis]
    return g.node("Concat", *xs, out=_typed(xs[0], shape), axis=axis)


def full(g, shape, value, dtype):
    """A tensor filled with one value."""
    return expand(g, g.const(value, dtype), shape)


# ---- elementwise operators, which broadcast as in NumPy


def broadcast_shape(a, b):
    """The shape of an elementwise result: dimensions are equal, or one of them is 1 or missing."""
    if a == b or not b:
        return a
    if not a:
        return b
    rank = max(len(a), len(b))
    a, b = ((1,) * (rank - len(s)) + s for s in (a, b))
    return tuple(q if p == 1 else p for p, q in zip(a, b))


def binary(g, op_type, x, y, dtype=None, **attributes):
    """An elementwise operator of two operands."""
    return g.node(
        op_type, x, y, out=ShapedArray(broadcast_shape(x.shape, y.shape), dtype or x.aval.dtype), **attributes
    )


def add(g, x, y):
    """x + y"""
    return binary(g, "Add", x, y)


def sub(g, x, y):
    """x - y"""
    return binary(g, "Sub", x, y)


def mul(g, x, y):
    """x * y"""
    return binary(g, "Mul", x, y)


def div(g, x, y):
    """x / y; integers truncate.  Callers must guard: an integer divisor 0, or INT_MIN / -1, crashes the process."""
    return binary(g, "Div", x, y)


def minimum(g, x, y):
    """The elementwise minimum; NaN if either operand is NaN."""
    if x.dtype == INT64:  # Min, Max, Clip, ReduceMin, ReduceMax of the runtime are wrong beyond 32 bits (1.31.1)
        return where(g, less(g, y, x), y, x)
    return binary(g, "Min", x, y)


def maximum(g, x, y):
    """The elementwise maximum; NaN if either operand is NaN."""
    if x.dtype == INT64:
        return where(g, less(g, x, y), y, x)
    return binary(g, "Max", x, y)


def equal(g, x, y):
    """x == y as bool"""
    return binary(g, "Equal", x, y, BOOL)


def less(g, x, y):
    """x < y as bool"""
    return binary(g, "Less", x, y, BOOL)


def greater(g, x, y):
    """x > y as bool"""
    return binary(g, "Greater", x, y, BOOL)


def less_equal(g, x, y):
    """x <= y as bool"""
    return binary(g, "LessOrEqual", x, y, BOOL)


def greater_equal(g, x, y):
    """x >= y as bool"""
    return binary(g, "GreaterOrEqual", x, y, BOOL)


def logical_and(g, x, y):
    """x and y, of bools"""
    return binary(g, "And", x, y)


def logical_or(g, x, y):
    """x or y, of bools"""
    return binary(g, "Or", x, y)


def logical_not(g, x):
    """not x, of bools"""
    return g.node("Not", x)


def is_nan(g, x):
    """Whether x is NaN, as bool"""
    return g.node("IsNaN", x, out=(x.shape, BOOL))


def where(g, c, x, y):
    """x where c is true, else y; all three broadcast."""
    shape = broadcast_shape(c.shape, broadcast_shape(x.shape, y.shape))
    return g.node("Where", c, x, y, out=ShapedArray(shape, x.aval.dtype))


def scalar(g, x, like):
    """A scalar constant with the element type of the value `like`."""
    return g.const(x, like.aval.dtype)


# ---- reductions


def reduce(g, op_type, x, axes, *, keepdims=False, dtype=None):
    """Reduces x over these axes; returns x itself if there are none."""
    axes = sorted(a % x.ndim for a in axes)
    if not axes:
        return x
    shape = [1 if i in axes else d for i, d in enumerate(x.shape) if keepdims or i not in axes]
    out = ShapedArray(tuple(shape), dtype or x.aval.dtype)
    return g.node(op_type, x, g.const(axes, INT64), out=out, keepdims=int(keepdims))


def gather(g, x, indices, axis):
    """Elements of x along an axis at int32 or int64 indices within bounds; negative ones count from the end."""
    shape = x.shape[:axis] + indices.shape + x.shape[axis + 1 :]
    return g.node("Gather", x, indices, out=_typed(x, shape), axis=axis)
