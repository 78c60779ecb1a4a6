"""What programs that compute the same agree on: the key by which they share what is compiled for them."""

import weakref
from types import NoneType

import numpy as np

from onax._core.jaxpr import Jaxpr, Literal
from onax._core.lists import insert_bounded
from onax._native.array import Array

_MOST_BYTES = 4096  # of a constant that is part of a key
_PLAIN = {int, bool, str, NoneType}  # what compares as it should


_tables = weakref.WeakSet()


class SharedByStructure:
    """A bounded table of what is made for programs: those of equal structure share it.

    Attributes:
      at_most: how many entries it has.
      is_kept: a function that says of what was made whether it may outlive its program; None: it always may.
    """

    __slots__ = ("__weakref__", "at_most", "is_kept", "made")

    def __init__(self, at_most, is_kept=None):
        self.at_most = at_most
        self.is_kept = is_kept
        self.made = {}
        _tables.add(self)

    def get(self, jaxpr, make):
        """`make(jaxpr)`, or what was made for a program of equal structure."""
        try:
            key = structure(jaxpr)
            shared = self.made.get(key)
        except TypeError:  # a parameter or a constant that is no part of a key
            return make(jaxpr)
        if shared is None:
            shared = make(jaxpr)
            if self.is_kept is None or self.is_kept(shared):
                insert_bounded(self.made, key, shared, self.at_most)
        return shared


def clear_shared():
    """Empties all tables."""
    for table in _tables:
        table.made.clear()


def structure(jaxpr):
    """A hashable description of a program without its variables, names and lines.

    TypeError, here or when it is hashed, for a program with parameters or constants that cannot be part of it.
    """
    numbers = {v: i for i, v in enumerate((*jaxpr.constvars, *jaxpr.invars))}
    key = [v.aval for v in jaxpr.invars]
    key += [_array_key(c) for c in jaxpr.consts]
    for eqn in jaxpr.eqns:
        operands = [numbers[x] if type(x) is not Literal else (literal_key(x.val), x.aval) for x in eqn.invars]
        for v in eqn.outvars:
            numbers[v] = len(numbers)
        results = [v.aval for v in eqn.outvars]
        if eqn.params:
            operands += [(name, value_key(value)) for name, value in eqn.params.items()]
        key.append((eqn.primitive, len(results), *results, *operands))
    key.append(tuple([numbers[x] if type(x) is not Literal else (literal_key(x.val), x.aval) for x in jaxpr.outvars]))
    return tuple(key)


def literal_key(value):
    """What tells numbers apart: their bytes, or a Python number as it is written."""
    if isinstance(value, Array):
        value = value._value
    return value.tobytes() if isinstance(value, np.ndarray | np.generic) else repr(value)


def value_key(value):
    """A parameter as part of a key: numbers by what tells them apart (0.0 == -0.0), programs by their structure."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return tuple(value) if _PLAIN.issuperset(map(type, value)) else tuple([value_key(x) for x in value])
    if isinstance(value, tuple):  # one with names
        return kind, *map(value_key, value)
    if isinstance(value, Jaxpr):
        return structure(value)
    if isinstance(value, np.ndarray | Array):
        return _array_key(value)
    if isinstance(value, float | complex | np.generic):
        return kind, literal_key(value)
    if callable(value) and not isinstance(value, type):
        raise TypeError("a function is no part of a key: the table would keep it")
    return value


def _array_key(value):
    array = np.asarray(value._value if isinstance(value, Array) else value)
    if array.nbytes > _MOST_BYTES:
        raise TypeError("a large constant is no part of a key")
    return array.shape, array.dtype, array.tobytes()
