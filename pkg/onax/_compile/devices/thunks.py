"""What a partitioned program consists of, and how a device runs it.

    ThunkSequence     thunks in order
    SegmentThunk      equations that need no other device: one compiled program
    AxisIndexThunk    the index of the device along named axes
    CollectiveThunk   an operation that the devices of a group do together
    ConditionalThunk  one of several sequences; WhileThunk, ScanThunk: loops of sequences
    HostThunk         a region of other devices, or an operation that the host carries out

Thunks pass their values on in a dictionary by variable.  `run` is a generator as `rendezvous.run_together` takes it.

What a device does may depend on what it alone knows, and devices that meet must go through the same collectives.  A
conditional or loop whose condition may differ between devices that meet inside is therefore run *in lockstep*: all
branches are run and the device keeps the results of its own; the loop goes on until no device of the group wants it
to, and a device that is done keeps its carry.  The one program of all devices does the same, so results agree.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from onax._compile.devices.rendezvous import Rendezvous
from onax._control.bodies import restore_weak_types
from onax._core.evaluate import interpreter_of
from onax._core.jaxpr import Literal
from onax._ground.source import summarize
from onax._native.array import make_array

_NONE = frozenset()


@dataclass(slots=True, eq=False)
class Participant:
    """A device of a region.

    Attributes:
      device: the Device.
      coordinates: its index along each axis, by name.
      index: its position in the order of all devices of the region.
      options_key: the key of the session options that its programs were compiled with.
    """

    device: object
    coordinates: dict
    index: int
    options_key: object


def buffer_for(shape, dtype):
    """Memory for elements of a logical dtype."""
    return np.empty(shape, getattr(dtype, "storage", dtype))


def array_of(buffer, aval):
    """The array of a type around memory that nobody writes to."""
    return make_array(np.asarray(buffer), aval.dtype, aval.weak_type)


@dataclass(slots=True, eq=False)
class ThunkSequence:
    """Thunks from `invars` to `outs`.

    Attributes:
      invars, outs: variables of the arguments, atoms of the results.
      consts: values of constants by variable.
      thunks: in order.
      varying: for each result the axes along which its value varies.
      meeting_axes: the axes along which devices meet in some thunk.
    """

    invars: list
    consts: dict
    thunks: list
    outs: list
    varying: list
    meeting_axes: frozenset = field(init=False)

    def __post_init__(self):
        self.meeting_axes = _NONE.union(*(thunk.meeting_axes for thunk in self.thunks))

    def run(self, args, participant):
        """The results for one device."""
        values = dict(self.consts)
        values.update(zip(self.invars, args))
        for thunk in self.thunks:
            outs = yield from thunk.run([_read(values, x) for x in thunk.operands], participant)
            values.update(zip(thunk.results, outs))
            for v in thunk.last_reads:
                values.pop(v, None)
        return [_read(values, x) for x in self.outs]


def _read(values, atom):
    """The value of an operand."""
    return atom.array if type(atom) is Literal else values[atom]


class Thunk:
    """Reads `operands` and makes `results`; nobody reads `last_reads` afterwards."""

    __slots__ = ("effects", "last_reads", "operands", "results")
    meeting_axes = _NONE

    def __init__(self, operands, results, effects=_NONE):
        self.operands = operands
        self.results = results
        self.effects = effects
        self.last_reads = ()


class SegmentThunk(Thunk):
    """Compiled equations; `executables` are keyed by the options of devices, and made when the cut is finished."""

    __slots__ = ("eqns", "executables")

    def __init__(self, eqns):
        results = [v for eqn in eqns for v in eqn.outvars]
        super().__init__([], results, _NONE.union(*(eqn.effects for eqn in eqns)))
        self.eqns = eqns
        self.executables = None

    def run(self, args, participant):
        """Runs them where the device's work is done."""
        executable = self.executables[participant.options_key]
        return (yield lambda: executable.run(args, participant.device, True))


class AxisIndexThunk(Thunk):
    """The index along `axes` together, the first the slowest."""

    __slots__ = ("axes", "sizes")

    def __init__(self, result, axes, sizes):
        super().__init__([], [result])
        self.axes = axes
        self.sizes = sizes

    def run(self, args, participant):
        """Known from the start."""
        yield from ()
        index = 0
        for axis, size in zip(self.axes, self.sizes):
            index = index * size + participant.coordinates[axis]
        aval = self.results[0].aval
        return [array_of(np.asarray(index, aval.dtype), aval)]


class ReplicaGroups:
    """The groups of devices that meet along some axes of a region: those whose coordinates differ there alone."""

    __slots__ = ("axes", "members", "shape")

    def __init__(self, region, axes):
        """`axes` in the order of the region, which has a device at each of its coordinates."""
        self.axes = axes
        self.shape = tuple(region.size((a,)) for a in axes)
        grid = np.arange(math.prod(region.sizes)).reshape(region.sizes)
        grid = np.moveaxis(grid, [region.names.index(a) for a in axes], range(-len(axes), 0))
        groups = grid.reshape(-1, math.prod(self.shape)).tolist()
        self.members = {index: group for group in groups for index in group}  # those that a device meets, in order

    def stack(self, values, axes):
        """One value from those of all members: with `axes`, along which it varies, in front."""
        if not axes:
            return values[0]
        buffers = np.empty(len(values), object)
        buffers[:] = [x._value for x in values]
        chosen = buffers.reshape(self.shape)[tuple(slice(None) if a in axes else 0 for a in self.axes)]
        parts = np.stack(list(chosen.reshape(-1)))
        first = values[0]
        return make_array(parts.reshape((*chosen.shape, *parts.shape[1:])), first.dtype, first.weak_type)

    def unstack(self, outs, results, axes):
        """For each member its results: its part along the axes along which they vary."""
        of_members = []
        for coordinate in np.ndindex(*self.shape):
            at = dict(zip(self.axes, coordinate))
            parts = [out._value[tuple(at[a] for a in own)] for out, own in zip(outs, axes)]
            of_members.append([array_of(part, v.aval) for part, v in zip(parts, results)])
        return of_members


class CollectiveThunk(Thunk):
    """An operation on the values of a group, by its batching rule.

    `program` is the operation on stacked values; `varying`, `varying_out`: for each operand and result the axes of the
    group along which it varies.
    """

    __slots__ = ("eqn", "groups", "meeting_axes", "program", "varying", "varying_out")

    def __init__(self, eqn, groups, program, varying, varying_out):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.eqn = eqn
        self.groups = groups
        self.meeting_axes = frozenset(groups.axes)
        self.program = program
        self.varying = varying
        self.varying_out = varying_out

    def run(self, args, participant):
        """Waits for the others."""
        return (yield Rendezvous(self, self.groups.members[participant.index], args))

    def exchange(self, values):
        """The results of each member from the values of all."""
        stacked = [self.groups.stack(of_members, axes) for of_members, axes in zip(zip(*values), self.varying)]
        outs = interpreter_of(self.program).run(self.program.consts, stacked)
        return self.groups.unstack(outs, self.results, self.varying_out)

    def text(self):
        """The operation and the user's line."""
        return _described(self.eqn)


@dataclass(slots=True, eq=False)
class AnyReduction:
    """A rendezvous of devices that want to know whether any of them goes on with the loop of an equation."""

    eqn: object
    groups: ReplicaGroups

    def exchange(self, values):
        """Whether any does, for each."""
        return [any(values)] * len(values)

    def text(self):
        """The operation and the user's line."""
        return _described(self.eqn)


def _described(eqn):
    return eqn.primitive.name + (f" at {summarize(eqn.source_info)}" if eqn.source_info is not None else "")


class ConditionalThunk(Thunk):
    """`cond`: operands are the index and those of the branches; the index varies along the axes `varying`."""

    __slots__ = ("avals", "branches", "in_lockstep", "meeting_axes")

    def __init__(self, eqn, branches, varying):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.branches = branches
        self.avals = [v.aval for v in eqn.outvars]
        self.meeting_axes = _NONE.union(*(b.meeting_axes for b in branches))
        self.in_lockstep = bool(self.meeting_axes & varying)

    def run(self, args, participant):
        """The chosen branch; in lockstep all of them, of which the device keeps its own."""
        index, *operands = args
        index = int(index._value)
        if not self.in_lockstep:
            outs = yield from self.branches[index].run(operands, participant)
        else:
            each = []
            for branch in self.branches:
                each.append((yield from branch.run(operands, participant)))
            outs = each[index]
        return restore_weak_types(outs, self.avals)


class WhileThunk(Thunk):
    """`while_loop`: operands are constants, which both sequences take, and the carry.

    `any_goes_on`: an AnyReduction if the loop is run in lockstep, else None.
    """

    __slots__ = ("any_goes_on", "body", "condition", "meeting_axes", "num_consts")

    def __init__(self, eqn, condition, body, num_consts, any_goes_on):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.condition = condition
        self.body = body
        self.num_consts = num_consts
        self.any_goes_on = any_goes_on
        self.meeting_axes = condition.meeting_axes | body.meeting_axes

    def run(self, args, participant):
        """Runs the body until the condition fails: that of the device, or in lockstep those of its whole group."""
        consts, carry = args[: self.num_consts], args[self.num_consts :]
        while True:
            (holds,) = yield from self.condition.run([*consts, *carry], participant)
            holds = goes_on = bool(holds._value)
            if self.any_goes_on is not None:
                members = self.any_goes_on.groups.members[participant.index]
                goes_on = yield Rendezvous(self.any_goes_on, members, holds)
            if not goes_on:
                return restore_weak_types(carry, [v.aval for v in self.results])
            new = yield from self.body.run([*consts, *carry], participant)
            carry = new if holds else carry


class ScanThunk(Thunk):
    """`scan`: operands are constants, the carry, and what is scanned."""

    __slots__ = ("body", "length", "meeting_axes", "num_carry", "num_consts", "reverse")

    def __init__(self, eqn, body):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        p = eqn.params
        self.body = body
        self.num_consts, self.num_carry = p["num_consts"], p["num_carry"]
        self.length, self.reverse = p["length"], p["reverse"]
        self.meeting_axes = body.meeting_axes

    def run(self, args, participant):
        """One step after the other; stacked results are written into memory that is allocated once."""
        n, m = self.num_consts, self.num_carry
        consts, carry, xs = args[:n], args[n : n + m], args[n + m :]
        ys = [v.aval for v in self.results[m:]]
        buffers = [buffer_for(a.shape, a.dtype) for a in ys]
        for i in range(self.length - 1, -1, -1) if self.reverse else range(self.length):
            slices = [make_array(np.asarray(x._value[i]), x.dtype, x.weak_type) for x in xs]
            outs = yield from self.body.run([*consts, *carry, *slices], participant)
            carry = outs[:m]
            for buffer, y in zip(buffers, outs[m:]):
                buffer[i] = y._value
        return [*restore_weak_types(carry, [v.aval for v in self.results[:m]]), *map(array_of, buffers, ys)]


class HostThunk(Thunk):
    """A function from values to values: a region of other devices, or an operation that the host carries out."""

    __slots__ = ("function",)

    def __init__(self, eqn, function):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.function = function

    def run(self, args, participant):
        """Runs it to its end."""
        return (yield lambda: self.function(args))
