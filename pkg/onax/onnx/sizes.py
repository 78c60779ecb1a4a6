"""Sizes that have names, as in a program that is exported for arrays of any length, are arrays of dimensions.

`Shape` of an array of shape (n, 3) gives an ndarray of the objects n and 3.  The operators below compute with such
arrays, so that a `Reshape` knows its shape; to any other operator the dimensions are numbers of the traced program.
"""

from functools import reduce

import numpy as np

import onax.numpy as jnp
from onax._ground.errors import InconclusiveDimensionOperation
from onax._ground.polynomials import SymbolicDim


def as_size(size):
    """A size as an int; a dimension with a name as it is."""
    return size if isinstance(size, SymbolicDim) else int(size)


def as_sizes(sizes):
    """Sizes as an ndarray of int64, or of objects where one of them has a name."""
    result = np.array(sizes, object)
    return result if any(isinstance(size, SymbolicDim) for size in result.flat) else result.astype(np.int64)


def are_named(value):
    """Whether a value is an array of dimensions of which one has a name."""
    return (
        isinstance(value, np.ndarray) and value.dtype.hasobject and any(isinstance(d, SymbolicDim) for d in value.flat)
    )


def as_numbers(value):
    """Dimensions as an array of the traced program; any other value as it is."""
    if not are_named(value):
        return value
    numbers = [jnp.asarray(size).astype(jnp.int64) for size in value.flat]
    return jnp.stack(numbers).reshape(value.shape)


def evaluate(call, inputs):
    """The output of a node, some of whose inputs are dimensions with names; None if it needs their numbers."""
    function = None if call.node.domain else _OPERATORS.get(call.node.op_type)
    if function is None or not all(_is_integer(x) for x in inputs):
        return None
    try:
        result = function(call, *(None if x is None else np.asarray(x) for x in inputs))
    except InconclusiveDimensionOperation:  # such as a comparison of n with 4: the numbers decide
        return None
    return result if result is None or np.asarray(result).dtype.kind == "b" else as_sizes(result)


def _is_integer(x):
    return x is None or are_named(x) or np.dtype(x.dtype).kind in "iub"


def _cast(call, x):
    return x if call["to"] == _INT64 else None


def _squeeze(call, x, axes=None):
    axes = call.get("axes") if axes is None else axes
    return np.squeeze(x, None if axes is None else tuple(int(axis) for axis in axes))


def _unsqueeze(call, x, axes=None):
    return np.expand_dims(x, tuple(int(axis) for axis in np.reshape(call["axes"] if axes is None else axes, -1)))


def _slice(call, x, starts=None, ends=None, axes=None, steps=None):
    starts, ends = (call["starts"], call["ends"]) if starts is None else (starts, ends)
    if x.ndim != 1 or len(starts) != 1:
        return None
    return x[int(starts[0]) : int(ends[0]) : 1 if steps is None else int(steps[0])]


def _elementwise(function):
    """An operator of elements, which are ints or dimensions."""
    return lambda call, *arrays: np.frompyfunc(function, len(arrays), 1)(*arrays)


def _divided(a, b):
    if a < 0 or b <= 0:  # ONNX rounds toward zero
        raise InconclusiveDimensionOperation(f"the sign of {a} / {b}")
    return a // b


def _equal(call, a, b):
    """Whether elements are equal; dimensions without an order raise InconclusiveDimensionOperation."""
    same = np.frompyfunc(lambda a, b: bool(a == b or not (a < b or a > b)), 2, 1)
    return np.asarray(same(a, b), bool)


_INT64 = 7  # TensorProto.INT64
_OPERATORS = {
    "Add": _elementwise(lambda a, b: a + b),
    "Cast": _cast,
    "Concat": lambda call, *parts: np.concatenate(parts, call.get("axis", 1)),
    "Div": _elementwise(_divided),
    "Equal": _equal,
    "Gather": lambda call, x, indices: np.take(x, indices, call.get("axis", 0)),
    "Identity": lambda call, x: x,
    "Max": lambda call, *parts: reduce(np.maximum, parts),
    "Min": lambda call, *parts: reduce(np.minimum, parts),
    "Mul": _elementwise(lambda a, b: a * b),
    "Neg": _elementwise(lambda a: -a),
    "ReduceProd": lambda call, x, axes=None: np.prod(x, keepdims=bool(call.get("keepdims", 1))),
    "Reshape": lambda call, x, shape: np.reshape(x, shape),
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Sub": _elementwise(lambda a, b: a - b),
    "Unsqueeze": _unsqueeze,
    "Where": lambda call, condition, a, b: np.where(condition, a, b),
}
