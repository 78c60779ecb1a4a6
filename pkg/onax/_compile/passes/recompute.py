"""Native target: recomputes elementwise values where they are read late, instead of keeping them until then.

The backward pass reads, of an activation such as gelu, several values that the forward pass computed from one; they
would be in memory from then on.  After `_tape/regions.py` has made equations of elementwise regions, a region computes
such a value once more, if all that the value follows from is in memory anyway: an operand of the region itself, an
argument, or what is read later.  That takes less time than storing and reading the value, and gives the same bits.
"""

from onax._control.block_code import folds
from onax._control.fused import assemble, fused_p
from onax._core.effects import no_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from onax._tape.regions import UNKNOWN_SIZE, elements

LARGE = 1 << 14  # elements from which a value is worth it
LONGEST = 32  # equations that compute it


def recompute(jaxpr):
    """The program with late reads of elementwise values replaced; there are regions in it already."""
    if sum(eqn.primitive is fused_p for eqn in jaxpr.eqns) < 2:
        return jaxpr
    return _Values(jaxpr).rewritten()


def _variables(atoms):
    return [x for x in atoms if type(x) is not Literal]


def _needed(eqns, outputs):
    """The equations, in their order, that outputs follow from."""
    wanted, chosen = set(outputs), []
    for eqn in reversed(eqns):
        if any(v in wanted for v in eqn.outvars):
            chosen.append(eqn)
            wanted.update(_variables(eqn.invars))
    return chosen[::-1]


def _read(eqns):
    """The variables that equations read and do not make themselves."""
    made = {v for eqn in eqns for v in eqn.outvars}
    return dict.fromkeys([x for eqn in eqns for x in _variables(eqn.invars) if x not in made])


def _region(eqn, eqns, outputs):
    """The equation of a region of other equations and results."""
    inputs = list(_read(eqns))
    inner = ClosedJaxpr(Jaxpr([], inputs, list(outputs), eqns, no_effects, eqn.params["jaxpr"].debug_info))
    assemble(inner)  # ValueError if it needs more registers than there are
    return JaxprEqn(list(inputs), list(outputs), fused_p, {"jaxpr": inner}, no_effects, eqn.source_info)


class _Values:
    """Where the values of a program are made and read."""

    def __init__(self, jaxpr):
        self.jaxpr = jaxpr
        self.eqns = list(jaxpr.eqns)
        self.makers = {v: i for i, eqn in enumerate(self.eqns) for v in eqn.outvars}
        self.readers = {}  # variable -> numbers of the equations that read it, in order
        for i, eqn in enumerate(self.eqns):
            for x in dict.fromkeys(_variables(eqn.invars)):
                self.readers.setdefault(x, []).append(i)
        self.last = {x: numbers[-1] for x, numbers in self.readers.items()}
        self.last.update(dict.fromkeys(_variables(jaxpr.outvars), len(self.eqns)))
        self.dropped = set()

    def rewritten(self):
        """The program."""
        for i, eqn in enumerate(self.eqns):
            if eqn.primitive is fused_p:
                self._recompute_in(i, eqn)
        if not self.dropped:
            return self.jaxpr
        old, eqns = self.jaxpr, []
        for eqn in self.eqns:
            kept = [v for v in eqn.outvars if v not in self.dropped]
            if len(kept) < len(eqn.outvars):
                eqn = _region(eqn, _needed(eqn.params["jaxpr"].eqns, kept), kept) if kept else None
            if eqn is not None:
                eqns.append(eqn)
        return ClosedJaxpr(Jaxpr(old.constvars, old.invars, old.outvars, eqns, old.effects, old.debug_info), old.consts)

    def _recompute_in(self, number, eqn):
        """Has a region recompute what it alone reads, where that follows from what is in memory."""
        slices = {x: found for x in _variables(eqn.invars) if (found := self._slice(x, number, eqn)) is not None}
        if not slices:
            return
        makers = sorted({self.makers[x] for x in slices})
        wanted = {id(e) for found in slices.values() for e in found}
        before = [e for i in makers for e in self.eqns[i].params["jaxpr"].eqns if id(e) in wanted]
        try:
            new = _region(eqn, [*before, *eqn.params["jaxpr"].eqns], eqn.outvars)
        except ValueError:
            return
        self.eqns[number] = new
        self.dropped.update(slices)
        for x in _variables(new.invars):
            if number not in self.readers.setdefault(x, []):
                self.readers[x].append(number)
                self.last[x] = max(self.last.get(x, number), number)

    def _slice(self, x, number, eqn):
        """The equations that compute an operand of a region from what is in memory; None if it had better be kept."""
        maker = self.eqns[self.makers[x]] if x in self.makers else None
        count = elements(x.aval.shape)
        if maker is None or maker.primitive is not fused_p or self.readers[x] != [number]:
            return None
        if self.last[x] != number or not LARGE <= count < UNKNOWN_SIZE:
            return None
        if count != max(elements(v.aval.shape) for v in (*eqn.invars, *eqn.outvars)):
            return None
        eqns = _needed(maker.params["jaxpr"].eqns, [x])
        if len(eqns) > LONGEST or any(e.primitive in folds for e in eqns):
            return None
        return eqns if all(self._is_there(y, number, count) for y in _read(eqns)) else None

    def _is_there(self, y, number, count):
        """Whether a value is in memory when an equation runs, or small beside another of `count` elements."""
        return y not in self.makers or self.last[y] >= number or 16 * elements(y.aval.shape) <= count
