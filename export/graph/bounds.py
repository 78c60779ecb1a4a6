"""Static analysis of the values of a graph: the elements of constants, the ranges of integers.

Guards against zero divisors and indices out of bounds cost nodes; lowering rules ask here whether they need one.
The analysis follows the nodes that compute a value, up to `_MAX_DEPTH` of them.
"""

import numpy as np

_MAX_DEPTH = 12
# Operators that only move elements of their first input.
_MOVES = frozenset(
    "Expand Reshape Unsqueeze Squeeze Transpose Slice Gather GatherND GatherElements Tile Identity "
    "Split Flatten".split()
)


def known_elements(value):
    """An ndarray that contains every element of a value that is a constant or an expanded one, else None."""
    while value.const is None:
        node = value.node
        if node is None or node.op_type not in ("Expand", "Reshape", "Unsqueeze", "Squeeze", "Identity"):
            return None
        value = node.inputs[0]
    return value.const


def integer_range(value):
    """(lowest, highest) of the elements of an integer or bool value, at worst the range of its dtype."""
    return _range(value, _MAX_DEPTH)


def is_within(value, lowest, highest):
    """Whether every element of an integer value is known to lie in lowest..highest."""
    lo, hi = _range(value, _MAX_DEPTH)
    return lowest <= lo and hi <= highest


def known_order(x, y):
    """-1 if all elements of an integer value are known to be less than those of another, 1 if none is, else 0."""
    (a, b), (c, d) = integer_range(x), integer_range(y)
    return -1 if b < c else 1 if a >= d else 0


def fits_32_bits(*values):
    """Whether all elements are known to fit int32: some kernels of the runtime (1.31.1) order larger int64 wrongly."""
    return all(is_within(v, -(2**31), 2**31 - 1) for v in values)


def largest_magnitude(value, steps=_MAX_DEPTH):
    """A number that no element of a value is larger than in magnitude, NaN and rounding aside; inf if none is known."""
    array, node, dtype = value.const, value.node, value.aval.dtype
    if array is not None:
        return float(np.abs(array.astype(np.float64)).max(initial=0)) if not np.isnan(array).any() else np.inf
    if dtype.kind in "iub":
        return float(max(map(abs, _range(value, steps))))
    if node is None or node.domain or steps == 0:
        return np.inf
    op, inputs = node.op_type, node.inputs
    if op in _MOVES or op in ("Cast", "Neg", "Abs", "Relu"):
        return largest_magnitude(inputs[0], steps - 1)
    if op in ("Add", "Sub", "Mul", "Where", "Concat"):
        sizes = [largest_magnitude(v, steps - 1) for v in (inputs[1:] if op == "Where" else inputs)]
        if np.inf in sizes:
            return np.inf
        return sizes[0] * sizes[1] if op == "Mul" else sum(sizes) if op in ("Add", "Sub") else max(sizes)
    return np.inf


def _type_range(dtype):
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _range(value, steps):
    dtype = value.aval.dtype
    full = _type_range(dtype)
    array = value.const
    if array is not None:
        return (int(array.min()), int(array.max())) if array.size else full
    if value.node is None or steps == 0:
        return full
    if value.node.op_type == "TopK" and value is value.node.outputs[1]:
        size = value.node.inputs[0].aval.shape[value.node.attributes["axis"]]
        return (0, max(size - 1, 0)) if isinstance(size, int) else full
    result = _node_range(value.node, dtype, steps - 1)
    # Arithmetic that leaves the range of the dtype wraps, so nothing is known.
    return full if result is None or result[0] < full[0] or result[1] > full[1] else result


def _node_range(node, dtype, steps):
    """The range of a node's result before it wraps, or None."""
    op, inputs = node.op_type, node.inputs
    if op in _MOVES:
        return _range(inputs[0], steps)
    if op == "Cast":
        return _range(inputs[0], steps) if inputs[0].aval.dtype.kind in "iub" else None
    if op in ("Concat", "Where"):
        ranges = [_range(v, steps) for v in (inputs if op == "Concat" else inputs[1:])]
        return min(r[0] for r in ranges), max(r[1] for r in ranges)
    if op in _ARITHMETIC and len(inputs) == 2:
        return _ARITHMETIC[op](*_range(inputs[0], steps), *_range(inputs[1], steps))
    if op == "Clip":
        lo, hi = _range(inputs[0], steps)
        low, high = (_range(v, steps) for v in inputs[1:])
        return min(max(lo, low[0]), high[0]), min(max(hi, low[1]), high[1])
    if op in ("ArgMax", "ArgMin"):
        size = inputs[0].aval.shape[node.attributes["axis"]]
        return (0, max(size - 1, 0)) if isinstance(size, int) else None
    if op == "Range" and all(v.const is not None for v in inputs):
        start, limit, step = (int(v.const) for v in inputs)
        return (start, max(start, limit - 1)) if step > 0 else None
    return None


def _product(a, b, c, d):
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def _remainder(a, b, c, d):
    """The range of Mod, whose sign is the dividend's or the divisor's: it is smaller in magnitude than the divisor."""
    size = max(abs(c), abs(d)) - 1
    return (0 if a >= 0 and c > 0 else -size), size


_ARITHMETIC = {
    "Add": lambda a, b, c, d: (a + c, b + d),
    "Sub": lambda a, b, c, d: (a - d, b - c),
    "Mul": _product,
    "Min": lambda a, b, c, d: (min(a, c), min(b, d)),
    "Max": lambda a, b, c, d: (max(a, c), max(b, d)),
    "Mod": _remainder,
}
