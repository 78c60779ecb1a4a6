"""Axes of reductions and of operands that broadcast; selections whose condition is known."""

from onax.export.graph.ops import broadcast_shape
from onax.export.recognize.match import axes_of, kept_shape, number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite

_REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")
_BROADCASTING = "Add Sub Mul Div Pow Max Min Where And Or Equal Less Greater LessOrEqual GreaterOrEqual"


def keep_axes(m, node):
    """A reduction whose axes come back as axes of length one: keepdims."""
    reduction = producer(node.inputs[0], *_REDUCTIONS)
    if reduction is None or reduction.attributes.get("keepdims", 1):
        return None
    axes = axes_of(reduction)
    if axes is None or node.outputs[0].shape != kept_shape(reduction.inputs[0], axes):
        return None
    return Rewrite(reduction.op_type, reduction.inputs, {"keepdims": 1}, interior=(node.inputs[0],))


def _narrower(m, value):
    """The value of which this is a copy with more axes in front or longer axes; None if it is not."""
    array = value.const
    if array is not None and array.ndim and array.size:
        repeated = array.size > 1 and number(value) is not None
        shape = array.shape[next((i for i, d in enumerate(array.shape) if d != 1), array.ndim) :]
        if repeated or shape != array.shape:
            return m.g.const(array.flat[0] if repeated else array.reshape(shape), array.dtype)
        return None
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
    """An operand that is repeated, or gets axes in front, although the operator broadcasts."""
    operands = list(node.inputs)
    for i, operand in enumerate(operands):
        source = _narrower(m, operand)
        if source is None:
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


RULES = (
    ("Reshape Unsqueeze", keep_axes),
    (_BROADCASTING, broadcast_operands),
    ("Where", known_selection),
    ("Or", condition_itself),
)
