"""Shows the rules of primitives, which are fields, as tables like those of JAX."""

import weakref
from collections.abc import MutableMapping

from onax._native.dispatch import Primitive
from onax.extend.core import primitives

_assigned: weakref.WeakSet = weakref.WeakSet()  # primitives that were given a rule here


def _known():
    """Every primitive of onax, and primitives of other packages that got rules here."""
    public = {p for p in vars(primitives).values() if isinstance(p, Primitive)}
    return public.union(_assigned)


class RuleView(MutableMapping):
    """A mapping from Primitive to rule for one field of all primitives; assignments set the field.

    Raises TypeError for a key that is not a Primitive, KeyError for a missing rule.
    """

    def __init__(self, field):
        self._field = field

    def __getitem__(self, primitive):
        rule = getattr(primitive, self._field) if isinstance(primitive, Primitive) else None
        if rule is None:
            raise KeyError(primitive)
        return rule

    def __setitem__(self, primitive, rule):
        check_primitive(primitive)
        setattr(primitive, self._field, rule)
        _assigned.add(primitive)

    def __delitem__(self, primitive):
        self[primitive]
        setattr(primitive, self._field, None)

    def __iter__(self):
        return (p for p in _known() if getattr(p, self._field) is not None)

    def __len__(self):
        return sum(1 for _ in self)

    def __repr__(self):
        return f"<rules of primitives: {self._field}>"


def check_primitive(primitive):
    """TypeError unless the argument is a Primitive."""
    if not isinstance(primitive, Primitive):
        raise TypeError(f"rules belong to a Primitive of onax.extend.core; got {primitive!r}")
