"""Native target: forms the tapes, the parts of a program that run as instructions of ours (`_tape`).

*The whole.*  A program without convolutions and other work that ONNX Runtime shares among its threads more quickly
is one tape, whatever its loops hold.
*Parts.*  Otherwise elementwise equations and reductions first become programs over blocks (`_tape/regions.py`).  An
equation over many elements is a node, ours or the runtime's, and separates levels: the level of a value is the largest
number of such nodes on a path to it.  All other equations of one level, loops and branches included, are one tape,
because what they cost is the node and not the work.
"""

from math import prod

import numpy as np

from onax._compile.passes.bodies import cache_on_program, map_bodies
from onax._compile.passes.recompute import LARGE, recompute
from onax._control.block_code import codes, folds
from onax._control.fused import fused_p
from onax._core.effects import join_effects, no_effects
from onax._core.facts import DATA_MOVEMENT
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from onax._core.programs import BRANCH, CONDITION, FUNCTION, LOOP, Call, held_programs, programs
from onax._prims.conv import conv_general_dilated_p
from onax._prims.dot import dot_general_p
from onax._tape.build import build_tape
from onax._tape.calls import is_one_instruction
from onax._tape.conv import is_quicker_on_tape
from onax._tape.dot import has_product
from onax._tape.regions import UNKNOWN_SIZE, counts, elements, fuse, has_regions, is_view, joins, mark_fused
from onax._tape.rules import tape
from onax._tape.tape_call import tape_p
from onax.export.lower.native import is_preferred
from onax.export.lower.registry import is_lowered

SMALL = 4096  # elements below which a node's own cost outweighs its work
MODERATE = 1 << 16  # elements up to which threads save less than a session and its nodes cost
FEW_PRODUCTS = 1 << 21  # multiplications of which the same holds: 45 us on one core
LOOP_PRODUCTS = 1 << 24  # the same inside a loop, of which each step would cost the runtime several microseconds
MOST_ELEMENTS = 1 << 36  # more are refused by the runtime, whose error names the line
KNOWN_BYTES = 4096  # constants up to this size are part of a tape
_COMPLEX = np.dtype(np.complex64), np.dtype(np.complex128)
_CONTROL = BRANCH, LOOP, CONDITION


@cache_on_program
def form_tapes(jaxpr):
    """Rewrites what runs as tapes to equations of `tape_p`; there must be no calls or dead code."""
    if jaxpr.eqns and not jaxpr.effects and all(map(_is_for_one_tape, jaxpr.eqns)):
        return _as_one_tape(_with_late_values(jaxpr))
    return _Levels(recompute(fuse(_with_tapes_inside(jaxpr)))).rewritten()


# ---- the whole program


def _with_late_values(jaxpr):
    """The program with regions that recompute what they read late; itself if there are none."""
    if not any(elements(v.aval.shape) >= LARGE for eqn in jaxpr.eqns for v in eqn.outvars):
        return jaxpr
    fused = fuse(jaxpr)
    new = recompute(fused)
    if new is fused:
        return jaxpr
    mark_fused(new)
    return new


def _as_one_tape(jaxpr):
    inner = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, jaxpr.eqns, no_effects, jaxpr.debug_info)
    outvars = [Var(x.aval) for x in jaxpr.outvars]
    closed = ClosedJaxpr(inner, jaxpr.consts)
    if has_regions(jaxpr):
        mark_fused(closed)
    params = {"jaxpr": closed}
    eqn = JaxprEqn(list(jaxpr.invars), outvars, tape_p, params, no_effects, jaxpr.eqns[0].source_info)
    return ClosedJaxpr(Jaxpr([], jaxpr.invars, outvars, [eqn], no_effects, jaxpr.debug_info))


def _is_for_one_tape(eqn, in_body=False):
    """Whether an equation, perhaps in the body of a loop or branch, is no reason for a session of the runtime."""
    return obstacle(eqn, in_body) is None


def obstacle(eqn, in_body=False):
    """Why an equation, perhaps in the body of a loop or branch, needs a session of the runtime; None if it does not."""
    if eqn.effects:
        return f"{eqn.primitive.name} has effects, which the runtime keeps in order"
    most = max([elements(x.aval.shape) for x in (*eqn.invars, *eqn.outvars)], default=0)
    if most == UNKNOWN_SIZE:
        return f"shapes of {eqn.primitive.name} are known only at run time"
    bodies = [eqn.params["jaxpr"]] if eqn.primitive is tape_p else _bodies(eqn)
    if bodies:
        return next((why for body in bodies for e in body.eqns if (why := obstacle(e, True)) is not None), None)
    if not _can_be_on_a_tape(eqn):
        return f"{eqn.primitive.name} has neither an instruction nor a kernel"
    products = _products(eqn)
    if _beats_runtime(eqn) and not (in_body and products > LOOP_PRODUCTS):
        return None
    if is_one_instruction(eqn) or (eqn.primitive in tape and is_preferred(eqn)):
        return None
    if products > (LOOP_PRODUCTS if in_body else FEW_PRODUCTS):
        return f"{eqn.primitive.name} is {products:,} multiplications, which the runtime shares among its threads"
    if in_body or most < MODERATE or joins(eqn) or is_view(eqn) or counts(eqn) or _moves_elements(eqn):
        return None
    return f"{eqn.primitive.name} works on so many elements that the runtime's kernels are quicker"


def _can_be_on_a_tape(eqn):
    """Whether there are instructions for an equation, or a kernel that one can call."""
    primitive = eqn.primitive
    if primitive in tape or primitive in codes:
        return True
    if any(held.kind is not FUNCTION for held in held_programs(eqn)):
        return False
    return primitive.kernel is not None or (primitive.impl is not None and not is_lowered(primitive))


def _moves_elements(eqn):
    """Whether an equation is a movement of elements, for which instructions take no longer than the runtime."""
    return eqn.primitive in tape and DATA_MOVEMENT in eqn.primitive.facts


def _beats_runtime(eqn):
    """Whether an equation is a reduction or a product for which instructions take as long as the runtime, or less."""
    if eqn.primitive is dot_general_p:
        return has_product(*[x.aval.dtype for x in (*eqn.invars, *eqn.outvars)])
    if eqn.primitive is conv_general_dilated_p:
        return is_quicker_on_tape(eqn)
    return eqn.primitive in folds


def _bodies(eqn):
    """The programs of an equation that is a branch or a loop; none of others."""
    describe = programs.get(eqn.primitive)
    held = () if describe is None or type(describe) is Call else describe(eqn)
    return [h.program for h in held] if held and held[0].kind in _CONTROL else ()


def _products(eqn):
    """How many multiplications a product or convolution is."""
    if eqn.primitive is dot_general_p:
        (contracting, _), _ = eqn.params["dimension_numbers"]
        return prod(eqn.outvars[0].aval.shape) * prod([eqn.invars[0].aval.shape[i] for i in contracting])
    if eqn.primitive is conv_general_dilated_p:
        kernel = eqn.invars[1].aval.shape
        return prod(eqn.outvars[0].aval.shape) * prod(kernel) // max(eqn.outvars[0].aval.shape[1], 1)
    return 0


def has_fewer(eqn, count):
    """Whether each operand and each result of an equation has fewer elements."""
    for x in (*eqn.invars, *eqn.outvars):
        if elements(x.aval.shape) >= count:
            return False
    return True


# ---- parts of it


def _with_tapes_inside(jaxpr):
    """The program with the passes applied to the bodies that do not become part of a tape."""
    eqns = [map_bodies(form_tapes, eqn) if _bodies(eqn) and not _is_for_one_tape(eqn) else eqn for eqn in jaxpr.eqns]
    if all(new is old for new, old in zip(eqns, jaxpr.eqns)):
        return jaxpr
    inner = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug_info)
    return ClosedJaxpr(inner, jaxpr.consts)


def _belongs(eqn):
    """Whether an equation may share a tape with others of its level."""
    if _bodies(eqn):
        return _is_for_one_tape(eqn)
    if not (eqn.primitive in tape or eqn.primitive in codes):
        return False
    return not eqn.effects and has_fewer(eqn, SMALL) and _products(eqn) <= FEW_PRODUCTS


def _has_own_tape(eqn):
    """Whether an equation over many elements is quicker as a tape than in the runtime, or can be nothing else."""
    if eqn.primitive is fused_p:
        return True
    if any(elements(x.aval.shape) >= MOST_ELEMENTS for x in (*eqn.invars, *eqn.outvars)):
        return False
    if _has_complex_operands(eqn):
        return eqn.primitive in tape or joins(eqn)
    if eqn.primitive not in tape:
        return False
    if DATA_MOVEMENT in eqn.primitive.facts or _beats_runtime(eqn):
        return True
    return is_preferred(eqn) or is_one_instruction(eqn)


def _has_complex_operands(eqn):
    """Whether an equation but a product is of complex numbers, whose parts the runtime computes in many nodes."""
    return any(x.aval.dtype in _COMPLEX for x in (*eqn.invars, *eqn.outvars)) and not _products(eqn)


class _Levels:
    """Equations of one level that belong together, as one equation each."""

    def __init__(self, jaxpr):
        self.jaxpr = jaxpr
        self.makers = {v: i for i, eqn in enumerate(jaxpr.eqns) for v in eqn.outvars}
        self.groups = {}  # key -> equations, by number
        self.group_of = {}  # equation -> key
        levels = {}
        for i, eqn in enumerate(jaxpr.eqns):
            level = max([levels.get(x, 0) for x in eqn.invars if type(x) is not Literal], default=0)
            if _belongs(eqn):
                self._add(("level", level), i)
            else:
                level += 1
                if _has_own_tape(eqn):
                    self._add(("own", i), i)
            levels.update(dict.fromkeys(eqn.outvars, level))

    def _add(self, key, i):
        self.groups.setdefault(key, []).append(i)
        self.group_of[i] = key

    def _pays(self, members):
        eqns = [self.jaxpr.eqns[i] for i in members]
        if len(eqns) > 1:
            return not all(map(is_view, eqns))
        return bool(_bodies(eqns[0])) or _has_own_tape(eqns[0])

    def rewritten(self):
        """The program with these equations."""
        chosen = {key: members for key, members in self.groups.items() if self._pays(members)}
        if not chosen:
            return self.jaxpr
        old = self.jaxpr
        read = self._read_outside(chosen)
        made = {key: self._equation(members, read) for key, members in chosen.items()}
        eqns = self._ordered(made)
        return ClosedJaxpr(
            Jaxpr(
                old.constvars, old.invars, old.outvars, eqns, join_effects(*[e.effects for e in eqns]), old.debug_info
            ),
            old.consts,
        )

    def _read_outside(self, chosen):
        """The variables that equations of other groups, or nobody's results, read."""
        read = {x for x in self.jaxpr.outvars if type(x) is not Literal}
        for i, eqn in enumerate(self.jaxpr.eqns):
            mine = self.group_of.get(i)
            for x in eqn.invars:
                if type(x) is not Literal and x in self.makers:
                    if mine not in chosen or self.group_of.get(self.makers[x]) != mine:
                        read.add(x)
        return read

    def _equation(self, members, read):
        eqns = [self.jaxpr.eqns[i] for i in members]
        known = {v: c for v, c in zip(self.jaxpr.constvars, self.jaxpr.consts) if c.nbytes <= KNOWN_BYTES}
        made = {v for eqn in eqns for v in eqn.outvars}
        needed = dict.fromkeys([x for eqn in eqns for x in eqn.invars if type(x) is not Literal and x not in made])
        constvars, invars = [v for v in needed if v in known], [v for v in needed if v not in known]
        outvars = [v for eqn in eqns for v in eqn.outvars if v in read]
        inner = Jaxpr(constvars, invars, outvars, eqns, no_effects, self.jaxpr.debug_info)
        closed = ClosedJaxpr(inner, [known[v] for v in constvars])
        mark_fused(closed)
        return JaxprEqn(list(invars), outvars, tape_p, {"jaxpr": closed}, no_effects, eqns[0].source_info)

    def _ordered(self, made):
        """The equations, each after those that make what it reads; those with effects keep their order."""
        eqns, done, before = [], set(), _effects_before(self.jaxpr.eqns)

        def item(i):
            key = self.group_of.get(i)
            return (key, made[key]) if key in made else (i, self.jaxpr.eqns[i])

        for start in range(len(self.jaxpr.eqns)):
            stack = [start]
            while stack:
                i = stack[-1]
                key, eqn = item(i)
                if key in done:
                    stack.pop()
                    continue
                needs = [self.makers[x] for x in eqn.invars if type(x) is not Literal and x in self.makers]
                needs += [before[i]] if i in before else []
                missing = [n for n in needs if item(n)[0] not in done]
                if missing:
                    stack.extend(missing)
                else:
                    done.add(key)
                    eqns.append(eqn)
                    stack.pop()
        return eqns


def _effects_before(eqns):
    """Number of an equation with effects -> that of the one before it."""
    before, last = {}, None
    for i, eqn in enumerate(eqns):
        if eqn.effects:
            if last is not None:
                before[i] = last
            last = i
    return before


def tapes(jaxpr):
    """The Tape of each equation of `tape_p`, in their order."""
    return [build_tape(eqn.params["jaxpr"]) for eqn in jaxpr.eqns if eqn.primitive is tape_p]
