"""Slots: the one mechanism that attaches rules to primitives from outside their definition.

A primitive carries the rules that every transformation needs as fields (`kernel`, `jvp`, `batch`, ...).  A consumer
further up (lowering, sharding propagation, checkify, drawing, ...) declares one `Slot` and attaches its rules to
primitives through it, in the package that the slot names.  Nothing else in onax is keyed by primitives; all slots are
enumerable, which `python -m onax.primitives` and `docs/coverage.md` do.

    sharding = Slot("sharding", "rule(specs, in_avals, out_aval, params) -> spec", "the elementwise rule is used",
                    "onax._compile")

    @sharding.rule(transpose_p)
    def _transpose(specs, in_avals, out_aval, params): ...

    sharding.get(transpose_p)      # the rule, or None
"""

import sys

_declared = {}  # name of a slot -> Slot, in the order of declaration


class Slot:
    """One kind of rule.

    Args:
      name: how the slot is called in listings; unique.
      signature: how a rule is called, as text.
      missing: what happens for a primitive without a rule, as a sentence.
      package: the dotted name of the package in which the rules are written.
    """

    __slots__ = ("_locations", "_rules", "get", "missing", "name", "package", "signature")

    def __init__(self, name, signature, missing, package):
        if name in _declared:
            raise ValueError(f"there is a slot named {name!r} already")
        self.name = name
        self.signature = signature
        self.missing = missing
        self.package = package
        self._rules = {}
        self._locations = {}
        # get(primitive, default=None): the rule of a primitive, or the default.  The dictionary's own method, so that a
        # consumer's loop pays for no more than a look-up.
        self.get = self._rules.get
        _declared[name] = self

    def rule(self, *primitives):
        """Decorator: makes a function, or any other object, the rule of these primitives."""

        def attach(rule):
            for primitive in primitives:
                self.set(primitive, rule)
            return rule

        return attach

    def set(self, primitive, rule, *, replace=False):
        """Attaches any object as the rule of a primitive and returns it.

        `replace` allows a primitive that has a rule already.  The rule's location, which listings show, is the line of
        the module that is being imported: the row, whatever makers of rules it goes through.
        """
        if primitive in self._rules and not replace:
            raise ValueError(f"{primitive.name} has a rule for {self.name} already")
        self._rules[primitive] = rule
        self._locations[primitive] = _location(sys._getframe(1))
        return rule

    def __getitem__(self, primitive):
        return self._rules[primitive]

    def __contains__(self, primitive):
        return primitive in self._rules

    def __len__(self):
        return len(self._rules)

    def __iter__(self):
        return iter(self._rules)

    def remove(self, primitive):
        """Takes the rule of a primitive away, if it has one."""
        self._rules.pop(primitive, None)
        self._locations.pop(primitive, None)

    def location(self, primitive):
        """(file, line) where the rule was attached; KeyError without a rule."""
        code, instruction = self._locations[primitive]
        line = next(line for start, end, line in code.co_lines() if start <= instruction < end)
        return code.co_filename, line

    def __repr__(self):
        return f"<Slot {self.name}: {len(self._rules)} rules>"


def _location(frame):
    """Code and instruction of the module-level statement that is being imported; of the frame itself if there is none.

    The line is computed on request: looking it up would double the cost of attaching a rule.
    """
    frame_of_module = frame
    while frame_of_module is not None:
        code = frame_of_module.f_code
        if code.co_name == "<module>" and frame_of_module.f_globals["__name__"] != "__main__":
            return code, frame_of_module.f_lasti
        frame_of_module = frame_of_module.f_back
    return frame.f_code, frame.f_lasti


def declared_slots():
    """Every slot that the modules imported so far have declared."""
    return tuple(_declared.values())
