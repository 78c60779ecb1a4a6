"""Branches and loops on tapes: instructions that hold other parts of the tape."""

from onax._control.cond import cond_p
from onax._control.scan import scan_p
from onax._control.while_loop import while_p, with_scalar_condition
from onax._ground import dims
from onax._native.tape import TYPES
from onax._tape.builder import CARRY
from onax._tape.rules import Unsupported, tape

ALTERNATES, STAYS, IS_COPIED = range(3)  # how a carry lies in memory: tape_control.h
INDEX_DTYPES = "bool", "int32", "int64", "uint32"


@tape.rule(cond_p)
def _cond(b, outs, index, *operands, branches, **_):
    if index.dtype not in INDEX_DTYPES:
        raise Unsupported(f"a branch is not selected by {index.dtype}")
    results = [b.buffer(a) for a in outs]
    parts = []
    for branch in branches:
        parts.append(b.open_part().number)
        _settle_all(b, b.program(branch, operands), results)
        b.close_part()
    b.emit("branch", results, [index], (len(results), TYPES[index.dtype], *parts))
    return results


def _settle_all(b, buffers, places):
    for buffer, place in zip(buffers, places):
        b.settle(buffer, place)


class _Loop:
    """The buffers of a loop: for each carry where a step reads and writes it, and what holds it after the loop."""

    def __init__(self, b, avals, inits):
        self.b = b
        self.inits = inits
        self.finals = [b.buffer(a) for a in avals]
        self.spares = [b.buffer(a) for a in avals]
        self.reads = [b.view(a) for a in avals]
        self.writes = [b.view(a) for a in avals]
        for view in self.reads:
            view.argument = CARRY

    def open_part(self):
        """A part that may overwrite the carries."""
        part = self.b.open_part()
        for view in self.reads:
            view.part = part
        return part.number

    def settle(self, results):
        """Ends a step with the next carries; returns how each lies in memory."""
        modes = []
        for read, write, result in zip(self.reads, self.writes, results):
            if result.root is read.root:
                modes.append(STAYS)
                continue
            self.b.settle(result, write)
            modes.append(IS_COPIED if read.root.is_overwritten else ALTERNATES)
        return modes

    def emit(self, modes, attributes, stacked=(), slices=(), views=(), holds=()):
        """The instruction; attributes: body, condition, trips, whether reversed."""
        spares = [final if mode == STAYS else spare for final, spare, mode in zip(self.finals, self.spares, modes)]
        places = [x for pair in zip(self.finals, spares) for x in pair]
        carries = [x for triple in zip(self.inits, self.reads, self.writes) for x in triple]
        counts = len(self.inits), len(slices), len(stacked)
        slices = [x for pair in slices for x in pair]
        numbers = len(places) + len(stacked), *attributes, *counts, *modes
        self.b.emit("loop", [*places, *stacked], [*carries, *slices, *views, *holds], numbers)


@tape.rule(scan_p)
def _scan(b, outs, *operands, jaxpr, length, reverse, num_consts, num_carry, **_):
    if not dims.is_constant(length):
        raise Unsupported("the number of steps is known only at run time")
    consts, inits, xs = (
        operands[:num_consts],
        operands[num_consts : num_consts + num_carry],
        operands[num_consts + num_carry :],
    )
    loop = _Loop(b, outs[:num_carry], inits)
    stacked = [b.buffer(a) for a in outs[num_carry:]]
    body = loop.open_part()
    slices = [b.view(v.aval) for v in jaxpr.invars[num_consts + num_carry :]]
    views = [b.view(x.aval) for x in jaxpr.outvars[num_carry:]]
    results = b.program(jaxpr, [*consts, *loop.reads, *slices])
    _settle_all(b, results[num_carry:], views)
    modes = loop.settle(results[:num_carry])
    b.close_part()
    loop.emit(modes, (body, -1, length, int(reverse)), stacked, list(zip(xs, slices)), views)
    return [*loop.finals, *stacked]


@tape.rule(while_p)
def _while(b, outs, *operands, cond_nconsts, cond_jaxpr, body_nconsts, body_jaxpr, **_):
    n = cond_nconsts + body_nconsts
    condition, step = with_scalar_condition(cond_jaxpr, body_jaxpr, cond_nconsts, body_nconsts)
    loop = _Loop(b, outs, operands[n:])
    holds = b.array((), bool)
    arguments = [*operands[:n], *loop.reads]
    condition_part = b.open_part()
    b.settle(b.program(condition, arguments)[0], holds)
    b.close_part()
    body_part = loop.open_part()
    modes = loop.settle(b.program(step, arguments))
    b.close_part()
    b.keep_what_is_read(condition_part)
    loop.emit(modes, (body_part, condition_part.number, 0, 0), holds=[holds])
    return list(loop.finals)
