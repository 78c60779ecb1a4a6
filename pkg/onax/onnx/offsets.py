"""Differences between integers that are not known while a program is traced.

The bounds of a Slice are often `i` and `i + 4`: the size of its result is known although `i` is not.  Vectors of
integers are followed as sums of unknown numbers, each with a factor, and a known number.
"""

import numpy as np

from onax._core.trace import Tracer
from onax._ground.dims import is_constant_shape

_LARGEST = 64  # elements of a vector that is followed
_KNOWN = None  # the key of the known number in a sum; the others are unknown numbers
_SAME = frozenset("Cast Flatten Identity Reshape Squeeze Unsqueeze".split())
_FOLLOWED = _SAME | frozenset("Add Concat Gather Mul Neg Slice Sub".split())


def _constant(number):
    return {_KNOWN: int(number)}


def _scaled(form, factor):
    return {unknown: factor * count for unknown, count in form.items()}


def _plus(a, b, factor=1):
    result = dict(a)
    for unknown, count in b.items():
        result[unknown] = result.get(unknown, 0) + factor * count
    return {unknown: count for unknown, count in result.items() if count or unknown is _KNOWN}


def _number(form):
    """The number that a sum is; None if it has unknown parts."""
    return form.get(_KNOWN, 0) if not form.keys() - {_KNOWN} else None


def _numbers(forms):
    numbers = [_number(form) for form in forms]
    return None if None in numbers else numbers


def difference(a, b):
    """b - a of two lists of sums; None if one of the differences is not known."""
    if len(a) != len(b):
        return None
    return _numbers([_plus(y, x, -1) for x, y in zip(a, b)])


def _elementwise(op_type, a, b):
    if len(a) != len(b) and 1 not in (len(a), len(b)):
        return None
    size = max(len(a), len(b))
    a, b = (forms * size if len(forms) == 1 else forms for forms in (a, b))
    if op_type != "Mul":
        return [_plus(x, y, 1 if op_type == "Add" else -1) for x, y in zip(a, b)]
    left, right = _numbers(a), _numbers(b)
    if left is None and right is None:
        return None
    known, rest = (left, b) if left is not None else (right, a)
    return [_scaled(form, factor) for form, factor in zip(rest, known)]


def _picked(node, forms):
    """The elements that Gather, or Slice of an opset from 10 on, takes from a vector."""
    rest = [None if part is None else _numbers(part) for part in forms[1:]]
    needed = 1 if node.op_type == "Gather" else 2
    if None in rest[:needed] or any(part is None and name for part, name in zip(rest, node.inputs[1:])):
        return None
    if node.op_type == "Gather":
        inside = all(-len(forms[0]) <= i < len(forms[0]) for i in rest[0])
        return [forms[0][i] for i in rest[0]] if inside else None
    starts, ends, _, steps = [*rest, None, None][:4]
    step = 1 if steps is None else steps[0] if len(steps) == 1 else 0
    return forms[0][starts[0] : ends[0] : step] if len(starts) == len(ends) == 1 and step else None


_INPUTS = {"Add": (2, 2), "Sub": (2, 2), "Mul": (2, 2), "Gather": (2, 2), "Slice": (3, 5)}  # at least, at most


def follow(node, forms):
    """The sums that are the elements of a node's result, for those of its inputs (None: not followed); or None."""
    if node.domain or node.op_type not in _FOLLOWED or not forms or forms[0] is None:
        return None
    least, most = _INPUTS.get(node.op_type, (1, _LARGEST))
    if not least <= len(forms) <= most:
        return None
    result = _followed(node, forms)
    return result if result is not None and len(result) <= _LARGEST else None


def _followed(node, forms):
    if node.op_type in _SAME:
        return forms[0]
    if node.op_type == "Neg":
        return [_scaled(form, -1) for form in forms[0]]
    if node.op_type in ("Gather", "Slice"):
        return _picked(node, forms)
    if any(form is None for form in forms):
        return None
    if node.op_type == "Concat":
        return [form for part in forms for form in part]
    return _elementwise(node.op_type, *forms)


class Offsets:
    """The sums that vectors of integers of one call are, by value: those that nodes of the call computed."""

    def __init__(self):
        self._forms = {}  # id of a tracer -> (the tracer, which keeps its id, and its sums)

    def forms(self, value):
        """The sums that the elements of a value are; None if it is no short vector of integers."""
        if value is None or value.ndim > 1 or value.dtype.kind not in "iu" or not is_constant_shape(value.shape):
            return None
        if value.size > _LARGEST:
            return None
        if not isinstance(value, Tracer):
            return _of_array(np.asarray(value))
        if id(value) not in self._forms:
            self._forms[id(value)] = value, [{(id(value), i): 1} for i in range(value.size)]
        return self._forms[id(value)][1]

    def record(self, node, inputs, result):
        """Follows the result of a node."""
        if not isinstance(result, Tracer) or node.op_type not in _FOLLOWED or self.forms(result) is None:
            return
        forms = follow(node, [self.forms(value) for value in inputs])
        if forms is not None and len(forms) == result.size:
            self._forms[id(result)] = result, forms

    def difference(self, a, b):
        """b - a of two vectors, a list of ints; None where it is not known while the program is traced."""
        a, b = self.forms(a), self.forms(b)
        return None if a is None or b is None else difference(a, b)


def followed(nodes, constants, outer):
    """{name: its sums} of what nodes compute from constants and unknown values, each of which counts as one number.

    What is computed from shapes and constants alone is known while a program is traced, and counts as the number 1.
    """
    forms = {**outer, **{name: found for name, array in constants.items() if (found := _of_array(array)) is not None}}
    for node in nodes:
        if node.op_type == "Constant" and "value" in node.attributes:
            result = _of_array(node.attributes["value"])
        else:
            result = follow(node, [_form(forms, name) if name else None for name in node.inputs])
        if result is None and _is_known_of_shapes(node, forms):
            result = [_constant(1)]
        if result is not None and node.outputs:
            forms[node.outputs[0]] = result
    return forms


def _is_known_of_shapes(node, forms):
    read = [_form(forms, name) for name in node.inputs if name]
    return not node.domain and (node.op_type in ("Shape", "Size") or (bool(read) and None not in map(_numbers, read)))


def _form(forms, name):
    return forms.get(name, [{name: 1}])


def _of_array(array):
    small = isinstance(array, np.ndarray) and array.ndim <= 1 and array.size <= _LARGEST and array.dtype.kind in "iu"
    return [_constant(number) for number in array.reshape(-1)] if small else None


def has_known_size(node, forms, bounds):
    """Whether the difference of a node's inputs at two positions is known though they are not; `forms`: followed."""
    if len(node.inputs) <= max(bounds):
        return False
    a, b = (_form(forms, node.inputs[position]) for position in bounds)
    return difference(a, b) is not None
