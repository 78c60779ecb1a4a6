"""What a program that is cut into steps consists of, and how a device goes through them.

    Block        steps in order
    Segment      equations that need nobody else: one compiled program
    Index        the place of the device along named axes
    Meeting      an operation that the devices of a group do together
    Choice       one of several blocks; Repeat, Scan: loops of blocks
    Work         a region of other devices, or an operation carried out on the host

Steps hand their values on in a dictionary by variable.  `run` is a generator as `rendezvous.together` takes it.

What a device does may depend on what it alone knows, and devices that meet must go through the same meetings.  A
choice or loop whose condition may differ between devices that meet inside is therefore gone through *in step*: all
branches are run and the device keeps its own; the loop goes on until no device of the group wants it to, and a device
that is done keeps its carry.  The one program of all devices does the same, so results agree.
"""

import math

import numpy as np

from onax._compile.rendezvous import Meet
from onax._control.bodies import with_types
from onax._core.evaluate import interpreter_of
from onax._core.jaxpr import Literal
from onax._ground.source import summarize
from onax._native.array import make_array


class Runner:
    """One device of a region: its coordinates by axis, its place in the order of all, the settings of its sessions."""

    __slots__ = ("coordinates", "device", "place", "settings")

    def __init__(self, device, coordinates, place, settings):
        self.device = device
        self.coordinates = coordinates
        self.place = place
        self.settings = settings


def buffer_for(shape, dtype):
    """Memory for elements of a logical dtype."""
    return np.empty(shape, getattr(dtype, "storage", dtype))


def array_of(buffer, aval):
    """The array of a type around memory that nobody writes to."""
    return make_array(np.asarray(buffer), aval.dtype, aval.weak_type)


class Block:
    """Steps from `invars` to `outs`; `meets` are the axes along which devices meet in it."""

    __slots__ = ("consts", "invars", "meets", "outs", "steps", "varying")

    def __init__(self, invars, consts, steps, outs, varying):
        self.invars = invars
        self.consts = consts
        self.steps = steps
        self.outs = outs
        self.varying = varying  # for each result the axes over which it varies
        self.meets = frozenset().union(*(step.meets for step in steps))

    def run(self, args, runner):
        """The results for one device."""
        values = dict(self.consts)
        values.update(zip(self.invars, args))
        for step in self.steps:
            outs = yield from step.run([read(values, x) for x in step.operands], runner)
            values.update(zip(step.results, outs))
            for v in step.last:
                values.pop(v, None)
        return [read(values, x) for x in self.outs]


def read(values, atom):
    """The value of an operand."""
    return atom.array if type(atom) is Literal else values[atom]


class Step:
    """Reads `operands`, makes `results`; after it nobody reads `last`."""

    __slots__ = ("effects", "last", "operands", "results")
    meets = frozenset()

    def __init__(self, operands, results, effects=frozenset()):
        self.operands = operands
        self.results = results
        self.effects = effects
        self.last = ()


class Segment(Step):
    """Compiled equations; `executables` by the settings of a device."""

    __slots__ = ("executables",)

    def run(self, args, runner):
        """Runs them where the device's work is done."""
        executable = self.executables[runner.settings]
        return (yield lambda: executable.run(args, runner.device, True))


class Index(Step):
    """The place along `axes` together, the first the slowest."""

    __slots__ = ("axes", "sizes")

    def __init__(self, result, axes, sizes):
        super().__init__([], [result])
        self.axes = axes
        self.sizes = sizes

    def run(self, args, runner):
        """Known from the start."""
        yield from ()
        number = 0
        for axis, size in zip(self.axes, self.sizes):
            number = number * size + runner.coordinates[axis]
        aval = self.results[0].aval
        return [array_of(np.asarray(number, aval.dtype), aval)]


class Group:
    """The devices that meet along some axes of a region: those that differ there only."""

    __slots__ = ("axes", "places", "shape")

    def __init__(self, region, axes):
        """`axes` in the order of the region, which has a device at each of its coordinates."""
        self.axes = axes
        self.shape = tuple(region.size((a,)) for a in axes)
        grid = np.arange(math.prod(region.sizes)).reshape(region.sizes)
        grid = np.moveaxis(grid, [region.names.index(a) for a in axes], range(-len(axes), 0))
        groups = grid.reshape(-1, math.prod(self.shape)).tolist()
        self.places = {place: group for group in groups for place in group}  # those that a device meets, in order

    def stacked(self, values, axes):
        """One value from those of all: with `axes` in front, over which it varies."""
        buffers = np.empty(len(values), object)
        buffers[:] = [x._value for x in values]
        chosen = buffers.reshape(self.shape)[tuple(slice(None) if a in axes else 0 for a in self.axes)]
        if not axes:
            return values[0]
        parts = np.stack(list(chosen.reshape(-1)))
        first = values[0]
        return make_array(parts.reshape((*chosen.shape, *parts.shape[1:])), first.dtype, first.weak_type)

    def handed_out(self, outs, results, axes):
        """For each of the group its results: its part along the axes over which they vary."""
        handed = []
        for coordinate in np.ndindex(*self.shape):
            at = dict(zip(self.axes, coordinate))
            parts = [out._value[tuple(at[a] for a in own)] for out, own in zip(outs, axes)]
            handed.append([array_of(part, v.aval) for part, v in zip(parts, results)])
        return handed


class Meeting(Step):
    """An operation on the values of a group, by its batching rule.

    `program` is the operation on stacked values; `varying`, `mapped`: for each operand and result the axes of the
    group over which it varies.
    """

    __slots__ = ("eqn", "group", "mapped", "meets", "program", "varying")

    def __init__(self, eqn, group, program, varying, mapped):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.eqn = eqn
        self.group = group
        self.meets = frozenset(group.axes)
        self.program = program
        self.varying = varying
        self.mapped = mapped

    def run(self, args, runner):
        """Waits for the others."""
        return (yield Meet(self, self.group.places[runner.place], args))

    def exchange(self, brought):
        """What each is handed."""
        stacked = [self.group.stacked(values, axes) for values, axes in zip(zip(*brought), self.varying)]
        outs = interpreter_of(self.program).run(self.program.consts, stacked)
        return self.group.handed_out(outs, self.results, self.mapped)

    def text(self):
        """The operation and the user's line."""
        place = self.eqn.source_info
        return self.eqn.primitive.name + (f" at {summarize(place)}" if place is not None else "")


class Vote:
    """A meeting of devices that want to know whether any of them goes on."""

    __slots__ = ("eqn", "group")

    def __init__(self, eqn, group):
        self.eqn = eqn
        self.group = group

    def exchange(self, brought):
        """Whether any does, for each."""
        return [any(brought)] * len(brought)

    text = Meeting.text


class Choice(Step):
    """`cond`: operands are the index and those of the branches."""

    __slots__ = ("avals", "branches", "in_step", "meets")

    def __init__(self, eqn, branches, varying):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.branches = branches
        self.avals = [v.aval for v in eqn.outvars]
        self.meets = frozenset().union(*(b.meets for b in branches))
        self.in_step = bool(self.meets & varying)  # `varying`: the axes over which the index does

    def run(self, args, runner):
        """The chosen branch; in step all of them, of which the device keeps its own."""
        index, *operands = args
        index = int(index._value)
        if not self.in_step:
            outs = yield from self.branches[index].run(operands, runner)
        else:
            each = []
            for branch in self.branches:
                each.append((yield from branch.run(operands, runner)))
            outs = each[index]
        return with_types(outs, self.avals)


class Repeat(Step):
    """`while_loop`: operands are constants, which both blocks take, and the carry.

    `vote`: a Vote if the loop is gone through in step, else None.
    """

    __slots__ = ("body", "condition", "meets", "n_consts", "vote")

    def __init__(self, eqn, condition, body, n_consts, vote):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.condition = condition
        self.body = body
        self.n_consts = n_consts
        self.vote = vote
        self.meets = condition.meets | body.meets

    def run(self, args, runner):
        """Steps until the condition fails, for all of the group if these go in step."""
        consts, carry = args[: self.n_consts], args[self.n_consts :]
        while True:
            (holds,) = yield from self.condition.run([*consts, *carry], runner)
            holds = goes_on = bool(holds._value)
            if self.vote is not None:
                goes_on = yield Meet(self.vote, self.vote.group.places[runner.place], holds)
            if not goes_on:
                return with_types(carry, [v.aval for v in self.results])
            new = yield from self.body.run([*consts, *carry], runner)
            carry = new if holds else carry


class Scan(Step):
    """`scan`: operands are constants, the carry, and what is scanned."""

    __slots__ = ("block", "layout", "length", "meets", "reverse")

    def __init__(self, eqn, block):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        p = eqn.params
        self.block = block
        self.layout = p["num_consts"], p["num_carry"]
        self.length, self.reverse = p["length"], p["reverse"]
        self.meets = block.meets

    def run(self, args, runner):
        """One step after the other; stacked results are written into memory taken once."""
        n, m = self.layout
        consts, carry, xs = args[:n], args[n : n + m], args[n + m :]
        ys = [v.aval for v in self.results[m:]]
        buffers = [buffer_for(a.shape, a.dtype) for a in ys]
        for i in range(self.length - 1, -1, -1) if self.reverse else range(self.length):
            slices = [make_array(np.asarray(x._value[i]), x.dtype, x.weak_type) for x in xs]
            outs = yield from self.block.run([*consts, *carry, *slices], runner)
            carry = outs[:m]
            for buffer, y in zip(buffers, outs[m:]):
                buffer[i] = y._value
        return [*with_types(carry, [v.aval for v in self.results[:m]]), *map(array_of, buffers, ys)]


class Work(Step):
    """A function from values to values: a region of other devices, or an operation carried out on the host."""

    __slots__ = ("program",)

    def __init__(self, eqn, program):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.program = program

    def run(self, args, runner):
        """To its end."""
        return (yield lambda: self.program(args))
