"""Thunks, the parts of a partitioned program, and how a device runs them.

    ThunkSequence     thunks in order
    SegmentThunk      a compiled program of equations that need no other device
    AxisIndexThunk    the index of the device along named axes
    CollectiveThunk   an operation that the devices of a group do together
    ConditionalThunk  a choice between sequences; WhileThunk, ScanThunk: loops of sequences
    HostThunk         a region of other devices, or an operation that the host runs

Thunks pass values in a dictionary by variable.  `run` is a generator for `rendezvous.run_together`.

Conditions may differ between devices, but devices that meet must run the same collectives.  A conditional or loop
whose condition may differ between devices that meet inside therefore runs *in lockstep*: a device runs all branches and
keeps the results of its own; the loop continues until its condition fails on all devices of the group, and a device
whose condition failed keeps its carry.  The batched program of virtual devices does the same, so results agree.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from onax._compile.devices.process_collectives import begin, begin_any, link_of
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
      coordinates: the index of the device along each axis, by name.
      index: the position in the order of all devices of the region.
      options_key: the key of the session options for its programs.
    """

    device: object
    coordinates: dict
    index: int
    options_key: object


def buffer_for(shape, dtype):
    """Memory for elements of a logical dtype."""
    return np.empty(shape, getattr(dtype, "storage", dtype))


def array_of(buffer, aval):
    """The array of a type over memory that is not written any more."""
    return make_array(np.asarray(buffer), aval.dtype, aval.weak_type)


@dataclass(slots=True, eq=False)
class ThunkSequence:
    """Thunks that compute `outs` from `invars`.

    Attributes:
      invars, outs: variables of the arguments, atoms of the results.
      consts: values of constants by variable.
      thunks: the thunks in execution order.
      varying: for each result the axes along which its value varies.
      meeting_axes: the axes along which devices meet in some thunk.
      steps: the thunks in lists; those of one list are collectives that devices begin together.
    """

    invars: list
    consts: dict
    thunks: list
    outs: list
    varying: list
    meeting_axes: frozenset = field(init=False)
    steps: list = field(init=False)

    def __post_init__(self):
        self.steps = self._make_steps()
        self.meeting_axes = _NONE.union(*(thunk.meeting_axes for thunk in self.thunks))

    def run(self, args, participant):
        """Runs the thunks for one device; returns the results."""
        values = dict(self.consts)
        values.update(zip(self.invars, args))
        for step in self.steps:
            operands = [[_read(values, x) for x in thunk.operands] for thunk in step]
            if len(step) == 1:
                results = [(yield from step[0].run(operands[0], participant))]
            else:
                results = yield [thunk.rendezvous(args, participant) for thunk, args in zip(step, operands)]
            for thunk, outs in zip(step, results):
                values.update(zip(thunk.results, outs))
            for thunk in step:
                for v in thunk.last_reads:
                    values.pop(v, None)
        return [_read(values, x) for x in self.outs]

    def _make_steps(self):
        """The thunks as lists: collectives that follow one another and do not depend on one another are one list."""
        steps, made = [], set()
        for thunk in self.thunks:
            together = steps and type(thunk) is CollectiveThunk and type(steps[-1][-1]) is CollectiveThunk
            if together and not thunk.effects and made.isdisjoint(x for x in thunk.operands if type(x) is not Literal):
                steps[-1].append(thunk)
            else:
                steps.append([thunk])
                made = set()
            made.update(thunk.results)
        return steps


def _read(values, atom):
    """The value of an operand."""
    return atom.array if type(atom) is Literal else values[atom]


class Thunk:
    """A step that reads `operands` and binds `results`; `last_reads` are not read afterwards."""

    __slots__ = ("effects", "last_reads", "operands", "results")
    meeting_axes = _NONE

    def __init__(self, operands, results, effects=_NONE):
        self.operands = operands
        self.results = results
        self.effects = effects
        self.last_reads = ()


class SegmentThunk(Thunk):
    """Compiled equations; `executables`, by options of devices, are set when partitioning has finished."""

    __slots__ = ("eqns", "executables")

    def __init__(self, eqns):
        results = [v for eqn in eqns for v in eqn.outvars]
        super().__init__([], results, _NONE.union(*(eqn.effects for eqn in eqns)))
        self.eqns = eqns
        self.executables = None

    def run(self, args, participant):
        """Runs the executable in the thread of the device."""
        executable = self.executables[participant.options_key]
        return (yield lambda: executable.run(args, participant.device, True))


class AxisIndexThunk(Thunk):
    """The index of the device along `axes`, in row-major order."""

    __slots__ = ("axes", "sizes")

    def __init__(self, result, axes, sizes):
        super().__init__([], [result])
        self.axes = axes
        self.sizes = sizes

    def run(self, args, participant):
        """Returns the index, which is known in advance."""
        yield from ()
        index = 0
        for axis, size in zip(self.axes, self.sizes):
            index = index * size + participant.coordinates[axis]
        aval = self.results[0].aval
        return [array_of(np.asarray(index, aval.dtype), aval)]


class ReplicaGroups:
    """Groups of devices that meet along some axes of a region: their coordinates differ only along these axes."""

    __slots__ = ("axes", "links", "members", "shape")

    def __init__(self, region, axes, devices=None):
        """`axes` are in the order of the region, which has a device at each coordinate.

        `devices`: those of the participants, in order, if other processes have some of them.
        """
        self.axes = axes
        self.shape = tuple(region.size((a,)) for a in axes)
        grid = np.arange(math.prod(region.sizes)).reshape(region.sizes)
        grid = np.moveaxis(grid, [region.names.index(a) for a in axes], range(-len(axes), 0))
        groups = grid.reshape(-1, math.prod(self.shape)).tolist()
        self.members = {
            index: group for group in groups for index in group
        }  # the devices that a device meets, in order
        self.links = {}  # index -> Link, of the groups with devices in other processes
        for group in groups if devices is not None else ():
            link = link_of(group, devices)
            if link is not None:
                self.links.update(dict.fromkeys(link.local, link))

    def processes(self, index):
        """The processes with which a device exchanges messages."""
        return self.links[index].processes

    def stack(self, values, axes):
        """Stacks the values of all members along leading `axes`, those along which they vary."""
        if not axes:
            return values[0]
        buffers = np.empty(len(values), object)
        buffers[:] = [x._value for x in values]
        chosen = buffers.reshape(self.shape)[tuple(slice(None) if a in axes else 0 for a in self.axes)]
        parts = np.stack(list(chosen.reshape(-1)))
        first = values[0]
        return make_array(parts.reshape((*chosen.shape, *parts.shape[1:])), first.dtype, first.weak_type)

    def unstack(self, outs, results, axes):
        """The results of each member: its part along the axes along which they vary."""
        of_members = []
        for coordinate in np.ndindex(*self.shape):
            at = dict(zip(self.axes, coordinate))
            parts = [out._value[tuple(at[a] for a in own)] for out, own in zip(outs, axes)]
            of_members.append([array_of(part, v.aval) for part, v in zip(parts, results)])
        return of_members


class CollectiveThunk(Thunk):
    """An operation on the values of a group, computed with its batching rule.

    `single` is the operation on values of one device, `program` on stacked values; `varying`, `varying_out`: for each
    operand and result the axes of the group along which it varies.
    """

    __slots__ = ("eqn", "groups", "meeting_axes", "program", "single", "varying", "varying_out")

    def __init__(self, eqn, groups, single, program, varying, varying_out):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.eqn = eqn
        self.groups = groups
        self.meeting_axes = frozenset(groups.axes)
        self.single = single
        self.program = program
        self.varying = varying
        self.varying_out = varying_out

    def run(self, args, participant):
        """Waits for the other devices of the group."""
        return (yield self.rendezvous(args, participant))

    def rendezvous(self, args, participant):
        """What a device waits for."""
        return Rendezvous(self, self.groups.members[participant.index], args)

    def begin(self, values):
        """Begins the exchange with other processes; `values` are those of the members in this one."""
        return begin(self, self.groups.links[next(iter(values))], values)

    def processes(self, index):
        """The processes with which a device exchanges messages."""
        return self.groups.processes(index)

    def alone(self, args):
        """The results of the operation on the values of one device, without the others."""
        return interpreter_of(self.single).run(self.single.consts, args)

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
    """A collective that tells devices whether any of them continues the loop of an equation."""

    eqn: object
    groups: ReplicaGroups

    def exchange(self, values):
        """Returns to each device whether any continues."""
        return [any(values)] * len(values)

    def begin(self, values):
        """Begins the exchange with other processes; `values` are those of the members in this one."""
        return begin_any(self.groups.links[next(iter(values))], values)

    def processes(self, index):
        """The processes with which a device exchanges messages."""
        return self.groups.processes(index)

    def text(self):
        """The operation and the user's line."""
        return _described(self.eqn)


def _described(eqn):
    return eqn.primitive.name + (f" at {summarize(eqn.source_info)}" if eqn.source_info else "")


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
        """Runs the chosen branch; in lockstep runs all branches and keeps the results of the chosen one."""
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

    `any_goes_on`: an AnyReduction if the loop runs in lockstep, else None.
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
        """Runs the body until the condition fails on the device, or in lockstep on all devices of its group."""
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
    """`scan`: operands are constants, the carry, and the arrays to scan over."""

    __slots__ = ("body", "length", "meeting_axes", "num_carry", "num_consts", "reverse")

    def __init__(self, eqn, body):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        p = eqn.params
        self.body = body
        self.num_consts, self.num_carry = p["num_consts"], p["num_carry"]
        self.length, self.reverse = p["length"], p["reverse"]
        self.meeting_axes = body.meeting_axes

    def run(self, args, participant):
        """Runs all steps; stacked results are written into memory that is allocated once."""
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
    """A function that the host calls: a region of other devices, or an operation that the host runs."""

    __slots__ = ("function",)

    def __init__(self, eqn, function):
        super().__init__(eqn.invars, eqn.outvars, eqn.effects)
        self.function = function

    def run(self, args, participant):
        """Runs the function in the thread of the device."""
        return (yield lambda: self.function(args))
