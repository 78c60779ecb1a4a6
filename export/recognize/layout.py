"""Axes of reductions, of operands that broadcast and of length one; selections whose condition is known."""

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.graph import ops
from onax.export.graph.kernels import IN_FLOAT32
from onax.export.graph.ops import broadcast_shape
from onax.export.lower.convert import F32, HALVES
from onax.export.recognize.match import axes_of, is_number, kept_shape, number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite

_REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")
_BROADCASTING = "Add Sub Mul Div Pow Max Min Where And Or Equal Less Greater LessOrEqual GreaterOrEqual".split()


def keep_axes(m, node):
    """A reduction whose axes come back as axes of length one: keepdims."""
    reduction = producer(node.inputs[0], *_REDUCTIONS)
    if reduction is None or reduction.attributes.get("keepdims", 1):
        return None
    axes = axes_of(reduction)
    if axes is None or node.outputs[0].shape != kept_shape(reduction.inputs[0], axes):
        return None
    return Rewrite(reduction.op_type, reduction.inputs, {"keepdims": 1}, interior=(node.inputs[0],))


def unit_reduction(m, node):
    """A sum, mean or product over axes of length one: a reshape, or nothing."""
    axes, (x, *_), shape = axes_of(node), node.inputs, node.outputs[0].shape
    if not axes or not all(dim_rules.equal(x.shape[i], 1) for i in axes):
        return None
    if shape == x.shape:
        return Rewrite("Identity", (x,))
    return Rewrite("Reshape", (x, m.g.shape_const(shape))) if dim_rules.is_constant_shape(shape) else None


def rounded_operator(m, node):
    """An operator of float32 between casts from and to 16-bit floats: the operator of these."""
    dtype, source = node.outputs[0].dtype, producer(node.inputs[0], *IN_FLOAT32)
    if dtype not in HALVES or source is None or len(source.outputs) != 1 or source.outputs[0].dtype != F32:
        return None
    if not m.runs(source.op_type, dtype):
        return None
    operands = []
    for value in source.inputs:
        cast = producer(value, "Cast")
        if cast is not None and cast.inputs[0].dtype == dtype:
            operands.append(cast.inputs[0])
        elif value is not None and value.const is not None and value.dtype == F32:
            narrow = value.const.astype(dtype)
            if not (narrow.astype(F32) == value.const).all():
                return None
            operands.append(m.g.const(narrow))
        elif value is None or value.dtype.kind == "i":
            operands.append(value)
        else:
            return None
    return Rewrite(source.op_type, tuple(operands), source.attributes, interior=(node.inputs[0],))


def _narrower(m, value):
    """The value of which this is a copy with more axes in front or longer axes; None if it is not."""
    array = value.const
    if array is not None and array.ndim and array.size:
        shape = array.shape[next((i for i, d in enumerate(array.shape) if d != 1), array.ndim) :]
        return m.reshaped(value, shape) if shape != array.shape else None
    node = producer(value, "Expand", "Reshape", "Unsqueeze")
    if node is None:
        return None
    source = node.inputs[0]
    if node.op_type == "Expand":
        return source
    added = value.ndim - source.ndim
    is_prefix = added > 0 and value.shape == (1,) * added + source.shape
    return source if is_prefix else None


def broadcast_operands(m, node):
    """An operand that is expanded, or gets axes in front, although all operators that read it broadcast."""
    operands = list(node.inputs)
    for i, operand in enumerate(operands):
        source = _narrower(m, operand)
        if source is None or not all(r is not None and r.op_type in _BROADCASTING for r in m.readers(operand)):
            continue
        shape = source.shape
        for other in operands[:i] + operands[i + 1 :]:
            shape = broadcast_shape(shape, other.shape)
        if shape == node.outputs[0].shape:
            operands[i] = source
            return Rewrite(node.op_type, tuple(operands), node.attributes)
    return None


def known_selection(m, node):
    """A selection whose condition is a constant."""
    condition = number(node.inputs[0])
    if condition is None:
        return None
    chosen = node.inputs[1 if condition else 2]
    return Rewrite("Identity", (chosen,)) if same_type(chosen, node.outputs[0]) else None


def condition_itself(m, node):
    """(c and true) or (not c and false), the selection between two constants: c; with false and true not c."""
    for a, b in orders(node):
        kept, turned = producer(a, "And"), producer(b, "And")
        for c, when in orders(kept) if kept is not None and turned is not None else ():
            for negated, otherwise in orders(turned):
                test = producer(negated, "Not")
                if test is None or test.inputs[0] is not c or not same_type(c, node.outputs[0]):
                    continue
                values = number(when), number(otherwise)
                if values == (True, False):
                    return Rewrite("Identity", (c,))
                if values == (False, True):
                    return Rewrite("Not", (c,))
    return None


_NEUTRAL = {"Sub": 0.0, "Mul": 1.0, "Div": 1.0, "Max": -np.inf, "Min": np.inf}


def neutral_operand(m, node):
    """x - 0, x * 1, x / 1, the maximum of x and -inf, the minimum of x and inf: x, signs of zeros and NaN included."""
    pairs = orders(node) if node.op_type in ("Mul", "Max", "Min") else (node.inputs,)
    for x, other in pairs:
        neutral = number(other)
        if neutral is not None and same_type(x, node.outputs[0]) and x.const is None and x.dtype.kind == "f":
            if neutral == _NEUTRAL[node.op_type] and not (neutral == 0 and np.signbit(neutral)):
                return Rewrite("Identity", (x,))
    return None


# ---- reshapes and transposes


def is_plain(shape):
    """Whether a Reshape to this shape needs no computed target: at most one size is unknown, none is 0."""
    return sum(not dim_rules.is_constant(d) for d in shape) <= 1 and 0 not in shape


def reshaped(m, x, shape, interior=()):
    """The Rewrite to a Reshape of a value to a plain shape."""
    sizes = [d if dim_rules.is_constant(d) else -1 for d in shape]
    return Rewrite("Reshape", (x, m.g.const(np.array(sizes, np.int64))), interior=interior)


def one_reshape(m, node):
    """A reshape of a reshape: one, or none."""
    source = node.inputs[0]
    while (inner := producer(source, "Reshape", "Unsqueeze", "Squeeze")) is not None:
        source = inner.inputs[0]
    shape = node.outputs[0].shape
    if not is_plain(shape) or not is_plain(source.shape):
        return None
    if shape == source.shape:
        return Rewrite("Identity", (source,))
    return None if source is node.inputs[0] else reshaped(m, source, shape)


def _long(shape):
    """The positions of the axes that are not of length one."""
    return [i for i, d in enumerate(shape) if not dim_rules.equal(d, 1)]


def unit_axes_last(m, node):
    """A transpose that moves axes of length one: a reshape, after a transpose of the other axes if they move."""
    x, perm = node.inputs[0], tuple(node.attributes["perm"])
    long_axes = _long(x.shape)
    shape = node.outputs[0].shape
    if len(long_axes) == x.ndim or not is_plain(shape):
        return None
    order = [i for i in perm if i in long_axes]
    if order == long_axes:
        return reshaped(m, x, shape)
    merged = producer(x, "Reshape", "Unsqueeze", "Squeeze")
    source = merged.inputs[0] if merged is not None else None
    if source is None or [x.shape[i] for i in long_axes] != [source.shape[i] for i in _long(source.shape)]:
        return None
    places = dict(zip(long_axes, _long(source.shape)))  # a long axis of x -> of the source
    moved = iter([places[i] for i in order])
    kept = [next(moved) if i in places.values() else i for i in range(source.ndim)]
    return reshaped(m, ops.transpose(m.g, source, kept), shape, interior=(x,))


def unit_axes_first(m, node):
    """A reshape that drops axes of length one after a transpose: it drops them before."""
    shape, turned = node.outputs[0].shape, producer(node.inputs[0], "Transpose")
    if turned is None or not is_plain(shape) or _long(shape) != list(range(len(shape))):
        return None
    x, perm = turned.inputs[0], turned.attributes["perm"]
    long_axes = _long(x.shape)
    order = [long_axes.index(i) for i in perm if i in long_axes]
    if tuple(x.shape[long_axes[i]] for i in order) != shape or len(shape) == x.ndim:
        return None
    narrow = ops.reshape(m.g, x, [x.shape[i] for i in long_axes])
    return Rewrite("Transpose", (narrow,), {"perm": tuple(order)}, interior=(node.inputs[0],))


def _part_of(value, index, axis):
    """The value of which this one is the part with this index along an axis, or None."""
    source = producer(value, "Gather")
    if source is None or source.attributes.get("axis", 0) != axis or source.inputs[1].ndim != 0:
        return None
    return source.inputs[0] if is_number(source.inputs[1], index) else None


def parts_together(m, node):
    """All parts of a value along an axis, put together again, such as the two of complex numbers: the value.

    Sums and differences of the parts of two values are those of the values.
    """
    axis, result = node.attributes["axis"], node.outputs[0]
    parts = [producer(part, "Unsqueeze", "Reshape") for part in node.inputs]
    if any(taken is None for taken in parts):
        return None
    whole = _common_source([taken.inputs[0] for taken in parts], node.inputs, axis)
    if whole is not None:
        return Rewrite("Identity", (whole,)) if same_type(whole, result) else None
    sums = [producer(taken.inputs[0], "Add", "Sub") for taken in parts]
    if any(s is None or s.op_type != sums[0].op_type for s in sums):
        return None
    operands = [_common_source([s.inputs[i] for s in sums], node.inputs, axis) for i in range(2)]
    if any(x is None or not same_type(x, result) for x in operands):
        return None
    return Rewrite(sums[0].op_type, tuple(operands))


def _common_source(values, kept, axis):
    """The value whose parts along an axis are these, in order; `kept` are parts with that axis."""
    whole = _part_of(values[0], 0, axis)
    if whole is None or not dim_rules.equal(whole.shape[axis], len(values)):
        return None
    if any(part.shape != kept_shape(whole, (axis,)) for part in kept):
        return None
    return whole if all(_part_of(v, i, axis) is whole for i, v in enumerate(values)) else None


def _without_axes_in_front(m, value, rank):
    """A constant of this rank, if a constant only has axes of length one in front of it; else the value."""
    added = value.ndim - rank
    if value.const is None or added <= 0 or value.shape[:added] != (1,) * added:
        return value
    return m.reshaped(value, value.shape[added:])


def unit_axes_behind(m, node):
    """An operator on a value that got axes of length one in front: the result gets them."""
    result = node.outputs[0]
    for i, operand in enumerate(node.inputs):
        merged = producer(operand, "Reshape", "Unsqueeze")
        source = merged.inputs[0] if merged is not None else None
        added = operand.ndim - source.ndim if source is not None else 0
        if added <= 0 or operand.shape != (1,) * added + source.shape or operand.shape != result.shape:
            continue
        if not is_plain(result.shape):
            continue
        if node.op_type == "Add" and source.ndim < 3:  # scores of attention get a mask; statistics stay as they are
            continue
        others = [_without_axes_in_front(m, v, source.ndim) for v in node.inputs]
        if any(broadcast_shape(v.shape, source.shape) != source.shape for v in others[:i] + others[i + 1 :]):
            continue
        attributes = dict(node.attributes)
        if node.op_type == "Softmax":
            if attributes["axis"] < added:
                continue
            attributes["axis"] -= added
        inputs = (*others[:i], source, *others[i + 1 :])
        narrow = m.g.node(node.op_type, *inputs, out=(source.shape, result.dtype), **attributes)
        return reshaped(m, narrow, result.shape, interior=(operand,))
    return None


RULES = (
    ("Cast", rounded_operator),
    ("Reshape Unsqueeze Squeeze", one_reshape),
    ("Concat", parts_together),
    ("Add Mul Div Where Softmax", unit_axes_behind),
    ("Reshape", unit_axes_first),
    ("Transpose", unit_axes_last),
    ("Reshape Unsqueeze", keep_axes),
    ("ReduceSum ReduceMean ReduceProd", unit_reduction),
    (" ".join(_BROADCASTING), broadcast_operands),
    ("Where", known_selection),
    ("Or", condition_itself),
    (" ".join(_NEUTRAL), neutral_operand),
)
