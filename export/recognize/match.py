"""How rules of recognition look at values: constants, producers, products, linear functions, reductions.

All functions take Values and only read.  Numbers are compared with a tolerance, because they were rounded to
the element type, and users round theirs.
"""

import numpy as np

from onax._ground import dims as dim_rules

_TOLERANCE = 2e-6  # relative: float32 constants are right to 6e-8, 0.797885 to 6e-7
_HALF_TOLERANCE = {"float16": 2.0**-11, "bfloat16": 2.0**-8}  # one rounding
_MOST_ELEMENTS = 4096  # of a constant array that is looked at
_UNIT_AXES = ("Reshape", "Unsqueeze", "Squeeze")


def same_type(a, b):
    """Whether two values have equal shapes and element types."""
    return a.shape == b.shape and a.dtype == b.dtype


def producer(value, *op_types):
    """The node that computes a value if it is one of these operators of ONNX's own domain, else None."""
    node = None if value is None else value.node
    return node if node is not None and node.op_type in op_types and not node.domain else None


def through_cast(value):
    """The operand if a value is a cast between float32 and 16-bit floats, else the value."""
    node = producer(value, "Cast")
    source = value if node is None else node.inputs[0]
    pair = {source.dtype.itemsize, value.dtype.itemsize}
    return source if pair == {2, 4} and source.dtype.kind not in "iub" and value.dtype.kind not in "iub" else value


def formula(value, name):
    """The node of a formula (`Graph.formula`) of this name that computes a value, or None."""
    node = value.node
    return node if node is not None and node.op_type == name and node.domain == "formula" else None


def number(value):
    """The number that a constant consists of, or None."""
    while (node := producer(value, "Expand", *_UNIT_AXES)) is not None:
        value = node.inputs[0]
    array = value.const
    if array is None or not 0 < array.size <= _MOST_ELEMENTS:
        return None
    first = array.flat[0]
    return first if array.size == 1 or (array == first).all() else None


def is_number(value, wanted):
    """Whether a value is a constant that consists of this number."""
    found = number(value)
    if found is None:
        return False
    tolerance = _TOLERANCE if value.dtype.itemsize > 2 else _HALF_TOLERANCE.get(value.dtype.name, 0.0)
    return found == wanted or bool(abs(float(found) - wanted) <= tolerance * abs(wanted))


def orders(node):
    """Both orders of the operands of a commutative operator."""
    a, b = node.inputs
    return (a, b), (b, a)


def other_operand(value, op_type, wanted):
    """The other operand if a value is `op_type` of a value and this number (in any order), else None."""
    node = producer(value, op_type)
    for a, b in orders(node) if node is not None else ():
        if is_number(b, wanted) and a.shape == value.shape:
            return a
    return None


def linear(value, x):
    """The factor k if a value is k * x, computed by negations, products and quotients with constants; else None."""
    factor = 1.0
    while value is not x:
        node = producer(value, "Neg", "Mul", "Div")
        if node is None:
            return None
        if node.op_type == "Neg":
            factor, value = -factor, node.inputs[0]
            continue
        a, b = node.inputs
        if node.op_type == "Mul" and number(a) is not None:
            a, b = b, a
        k = number(b)
        if k is None or k == 0:
            return None
        factor, value = (factor * float(k) if node.op_type == "Mul" else factor / float(k)), a
    return factor


def is_multiple(value, x, wanted):
    """Whether a value is `wanted` times x."""
    factor = linear(value, x)
    return factor is not None and abs(factor - wanted) <= _TOLERANCE * abs(wanted)


def products_of_three(node):
    """(number, x, y) for each way to read a product of two values and a constant."""
    for a, b in orders(node):
        inner = producer(b, "Mul", "Div")
        if inner is None:
            continue
        k = number(a)
        if k is not None and inner.op_type == "Mul":
            for x, y in orders(inner):
                yield float(k), x, y
        for x, y in orders(inner) if inner.op_type == "Mul" else (inner.inputs,):
            k = number(y)
            if k is not None and k != 0:
                k = float(k) if inner.op_type == "Mul" else 1 / float(k)
                yield k, a, x
                yield k, x, a


def without_unit_axes(value):
    """The value behind Reshapes, Unsqueezes and Squeezes that only insert or remove axes of length one."""
    while (node := producer(value, *_UNIT_AXES)) is not None:
        source = node.inputs[0]
        if _long_axes(source) != _long_axes(value):
            break
        value = source
    return value


def _long_axes(value):
    return [d for d in value.shape if not dim_rules.equal(d, 1)]


def axes_of(node):
    """The axes of a reduction, not negative and in order, or None if they are no constant."""
    axes = node.inputs[1].const if len(node.inputs) > 1 and node.inputs[1] is not None else None
    return None if axes is None else tuple(sorted(int(a) % node.inputs[0].ndim for a in np.atleast_1d(axes)))


def kept_shape(x, axes):
    """The shape of x with these axes of length one."""
    return tuple(1 if i in axes else d for i, d in enumerate(x.shape))


def reduced_axes(value, x, op_type, *, is_formula=False):
    """The axes over which a value is this reduction of x, ready to broadcast with x; None if it is not."""
    inner = without_unit_axes(value)
    node = formula(inner, op_type) if is_formula else producer(inner, op_type)
    if node is None or node.inputs[0] is not x:
        return None
    axes = axes_of(node)
    return axes if axes and value.shape == kept_shape(x, axes) else None
