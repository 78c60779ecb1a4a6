"""Constants: kernels and weights that are only transposed or reshaped, and masks that are known.

Comparisons and logic of constants, such as that of a causal mask, become one constant.

Lowering folds what has up to 1 KB; larger integers (positions, for example) stay nodes, because they take more room in
the file than the nodes that compute them.  A mask of bools takes one byte an element and is kept up to 64 KB.
"""

import math

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.recognize.match import same_type
from onax.export.recognize.rewriting import Rewrite

_LARGEST_MASK = 1 << 16  # bytes
_MOST_ELEMENTS = 1 << 18  # of what a mask is computed from

_FUNCTIONS = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Neg": np.negative,
    "Less": np.less, "Greater": np.greater, "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal,
    "Equal": np.equal, "And": np.logical_and, "Or": np.logical_or, "Not": np.logical_not,
}  # fmt: skip
_SHAPES = ("Reshape", "Unsqueeze", "Squeeze", "Expand")


def _known(value):
    """The ndarray of a value computed from constants by elementwise operators and changes of shape, or None."""
    shape = value.shape
    if value.dtype.kind not in "biu" or not dim_rules.is_constant_shape(shape) or math.prod(shape) > _MOST_ELEMENTS:
        return None
    node = value.node
    if value.const is not None or node is None or node.domain:
        return value.const
    if node.op_type in _SHAPES:
        source = _known(node.inputs[0])
        if source is None:
            return None
        return np.broadcast_to(source, shape) if node.op_type == "Expand" else source.reshape(shape)
    function = _FUNCTIONS.get(node.op_type)
    operands = [_known(v) for v in node.inputs] if function is not None else [None]
    return None if any(x is None for x in operands) else function(*operands)


def known_mask(m, node):
    """A mask that is computed from constants"""
    mask = node.outputs[0]
    if not dim_rules.is_constant_shape(mask.shape) or math.prod(mask.shape) > _LARGEST_MASK:
        return None
    array = _known(mask)
    if array is None:
        return None
    constant = m.g.const(np.ascontiguousarray(array))
    return Rewrite("Identity", (constant,)) if same_type(constant, mask) else None


def moved_constant(m, node):
    """A transposed or reshaped constant that nothing else reads"""
    array, result = node.inputs[0].const, node.outputs[0]
    if array is None or len(m.readers(node.inputs[0])) != 1 or not dim_rules.is_constant_shape(result.shape):
        return None
    moved = array.transpose(node.attributes["perm"]) if node.op_type == "Transpose" else array.reshape(result.shape)
    return Rewrite("Identity", (m.g.const(np.ascontiguousarray(moved).reshape(result.shape)),))


RULES = (
    ("Transpose Reshape Unsqueeze Squeeze", moved_constant),
    ("Less Greater LessOrEqual GreaterOrEqual Equal And Or Not", known_mask),
)
