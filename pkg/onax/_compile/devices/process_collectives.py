"""Collectives of groups of devices that belong to several processes: MPI carries them.

A rule of the slot `process_collectives` is a generator: it starts nonblocking operations of MPI, yields their requests,
and returns the results of this process's devices when they are complete.  Buffers of arrays are handed to MPI as they
are.  An operation without a rule, or that a rule cannot express, gathers the operands of all devices in every process
and applies the batching rule there, as devices of one process do.

Every group has a communicator of its own, so groups may begin their collectives in any order.  Those of one group send
their messages in the order in which they begin, also if some of them take several rounds of messages (`Turns`).
"""

import numpy as np

from onax._core.axes import names_of
from onax._core.facts import CALLS_PYTHON
from onax._core.slots import Slot
from onax._ground import processes
from onax._native.array import make_array
from onax._prims.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_invariant_p,
    psum_p,
    reduce_scatter_p,
    unreduced_psum_p,
    unreduced_reduce_scatter_p,
)

process_collectives = Slot(
    "process_collective",
    "rule(link, buffers by member, params) -> generator of MPI requests that returns {member: ndarray}",
    "The operands of all devices are gathered in every process, which applies the batching rule.",
    "onax._compile.devices",
)


class Link:
    """A group of devices, as the process sees it that has some of them.

    Attributes:
      members: the participants' indices, in the order of the group; `local` are those of this process.
      rows: for each process, in order, its members.
      is_even: whether the group lists process after process, each with equally many devices.
      communicator: MPI's, over these processes.
    """

    def __init__(self, members, devices):
        group = processes.current()
        self.members = members
        self.mpi = group.mpi
        by_process = {}
        for i in members:
            by_process.setdefault(devices[i].process_index, []).append(i)
        self.processes = tuple(sorted(by_process))
        self.rows = [by_process[p] for p in self.processes]
        self.local = by_process[group.index]
        flat = [i for row in self.rows for i in row]
        self.is_even = flat == list(members) and len({len(row) for row in self.rows}) == 1
        key = tuple(devices[i].id for i in members)
        self.communicator = group.communicator(key, self.processes)
        self.turns = group.turns.setdefault(key, Turns())

    def share(self, result):
        """The same result for each device of this process."""
        return dict.fromkeys(self.local, result)


class Turns:
    """Who sends the next messages over a communicator: collectives take turns in the order in which they begin."""

    __slots__ = ("begun", "now", "requests")

    def __init__(self):
        self.begun = self.now = 0
        self.requests = []  # the last ones

    def in_turn(self, steps):
        """A generator of the requests of `steps`, which begins when all others that began before have sent theirs."""
        mine = self.begun
        self.begun += 1
        return self._run(steps, mine)

    def _run(self, steps, mine):
        while self.now != mine:
            yield self.requests
        try:
            self.requests = next(steps)
            while type(self.requests) is MoreFollow:
                yield self.requests
                self.requests = next(steps)
        except StopIteration as end:
            return end.value
        finally:
            self.now += 1
        yield self.requests
        return (yield from steps)


class MoreFollow(list):
    """Requests after which the same collective sends more messages; no other one sends any before these."""


def link_of(members, devices):
    """The Link of a group; None if all of its devices are in this process, or none is."""
    found = {devices[i].process_index for i in members}
    own = processes.process_index()
    return Link(members, devices) if len(found) > 1 and own in found else None


def begin(thunk, link, values):
    """A generator of MPI requests for a collective; returns the results by member.

    `values`: for each device of this process its operands.
    """
    if CALLS_PYTHON in thunk.eqn.primitive.facts:
        return _without_messages({i: thunk.alone(args) for i, args in values.items()})
    return link.turns.in_turn(_begin(thunk, link, values))


def _without_messages(results):
    yield from ()
    return results


def _begin(thunk, link, values):
    eqn, groups = thunk.eqn, thunk.groups
    rule = process_collectives.get(eqn.primitive)
    if rule is not None and _is_whole(eqn, groups, thunk.varying):
        out = thunk.results[0].aval
        steps = rule(link, {i: x._value for i, (x,) in values.items()}, eqn.params)
        if steps is not None:
            found = yield from steps
            return {i: [make_array(np.asarray(x), out.dtype, out.weak_type)] for i, x in found.items()}
    return (yield from _gather_all(thunk, link, values))


def _is_whole(eqn, groups, varying):
    """Whether an equation's one operand varies along all axes of the group, which it names in their order."""
    params = eqn.params
    names = tuple(names_of(params["axes"] if "axes" in params else params["axis_name"]))
    orderless = "axes" in params
    same = set(names) == set(groups.axes) if orderless else names == tuple(groups.axes)
    groups_given = params.get("axis_index_groups")
    return same and groups_given is None and len(varying) == 1 and set(varying[0]) == set(groups.axes)


def as_bytes(buffer):
    """A view of the bytes of a contiguous ndarray."""
    return buffer.reshape(-1).view(np.uint8)


def _stack(buffers):
    """ndarrays along a new leading axis; a single one is not copied."""
    return np.asarray(buffers[0], order="C")[None] if len(buffers) == 1 else np.stack(buffers)


def _gather_all(thunk, link, values):
    requests, gathered, held = [], [], []
    sizes = [len(row) for row in link.rows]
    for k in range(len(thunk.varying)):
        mine = _stack([values[i][k]._value for i in link.local])
        out = np.empty((len(link.members), *mine.shape[1:]), mine.dtype)
        bytes_each = mine[0].nbytes
        if bytes_each:
            held.append(mine)
            counts = [n * bytes_each for n in sizes]
            requests.append(link.communicator.Iallgatherv(as_bytes(mine), [as_bytes(out), counts]))
        gathered.append(out)
    yield requests
    position = {i: n for n, i in enumerate(i for row in link.rows for i in row)}
    like = values[link.local[0]]
    everything = [
        [make_array(out[position[i]], x.dtype, x.weak_type) for out, x in zip(gathered, like)] for i in link.members
    ]
    results = dict(zip(link.members, thunk.exchange(everything)))
    return {i: results[i] for i in link.local}


# ---- reductions

# A large buffer is reduced in pieces that stay in the second cache with what MPI copies; docs/distributed.md has times.
_LARGE, _PIECE = 1 << 23, 1 << 21  # bytes
_WIDENED = frozenset({"float16", "bfloat16"})
_operators = {}  # (MPI's number of the function, dtype) -> MPI's operator


def _carried(dtype):
    """Whether MPI reduces the dtype, or one that holds its values."""
    return dtype.name in _WIDENED or (dtype.kind in "iufc" and dtype.isbuiltin == 1)


def _reduced(link, function, buffers, operator):
    """Reduces the buffers of all devices; halves in float32, rounded once."""
    dtype = _dtype_of(buffers)
    if dtype.name in _WIDENED:
        buffers = {i: x.astype(np.float32) for i, x in buffers.items()}
    total = np.asarray(_fold(function, buffers), order="C")
    out = np.empty_like(total)
    whole, reduced, step = total.reshape(-1), out.reshape(-1), _PIECE // total.itemsize
    start = 0
    while total.nbytes > _LARGE and start + step < total.size:
        part = slice(start, start + step)
        yield MoreFollow([link.communicator.Iallreduce(whole[part], reduced[part], operator)])
        start += step
    yield [link.communicator.Iallreduce(whole[start:], reduced[start:], operator)]
    return link.share(out.astype(dtype, copy=False))


def _dtype_of(buffers):
    return next(iter(buffers.values())).dtype


def _fold(function, buffers):
    """Combines the buffers of this process's devices; a single one is not copied."""
    first, *rest = buffers.values()
    for x in rest:
        first = function(first, x)
    return np.asarray(first)


@process_collectives.rule(psum_p, psum_invariant_p, unreduced_psum_p)
def _sum(link, buffers, params):
    return _reduced(link, np.add, buffers, link.mpi.SUM) if _carried(_dtype_of(buffers)) else None


def _extreme(function, code):
    def rule(link, buffers, params):
        dtype = _dtype_of(buffers)
        if not _carried(dtype) or dtype.kind == "c":
            return None
        return _reduced(link, function, buffers, _operator(link.mpi, function, code, dtype))

    return rule


def _operator(mpi, function, code, dtype):
    """MPI's operator for a maximum or minimum; that of floats, unlike MPI's own, hands on NaN."""
    if dtype.kind in "iu":
        return getattr(mpi, code)
    dtype = np.dtype(np.float32) if dtype.name in _WIDENED else dtype
    if (code, dtype) not in _operators:

        def combine(x, y, _):
            own, out = np.frombuffer(x, dtype), np.frombuffer(y, dtype)
            function(own, out, out=out)

        _operators[code, dtype] = mpi.Op.Create(combine, commute=True)
    return _operators[code, dtype]


process_collectives.rule(pmax_p)(_extreme(np.maximum, "MAX"))
process_collectives.rule(pmin_p)(_extreme(np.minimum, "MIN"))


@process_collectives.rule(reduce_scatter_p, unreduced_reduce_scatter_p)
def _reduce_scatter(link, buffers, params):
    n, d = len(link.members), params["scatter_dimension"]
    dtype = _dtype_of(buffers)
    if not link.is_even or not _carried(dtype) or dtype.name in _WIDENED:
        return None
    total = _fold(np.add, buffers)
    return _scatter(link, _chunks(total, d % total.ndim, n) if params["tiled"] else np.moveaxis(total, d, 0))


def _scatter(link, chunks):
    chunks = np.asarray(chunks, order="C")
    out = np.empty((len(link.local), *chunks.shape[1:]), chunks.dtype)
    yield [link.communicator.Ireduce_scatter_block(chunks, out, link.mpi.SUM)]
    return dict(zip(link.local, out))


def _chunks(x, d, n):
    """The n equal parts of a dimension, along a new leading axis."""
    return np.moveaxis(x.reshape(*x.shape[:d], n, x.shape[d] // n, *x.shape[d + 1 :]), d, 0)


def _joined(chunks, d):
    """The parts along the leading axis, joined along a dimension."""
    moved = np.moveaxis(chunks, 0, d)
    return moved.reshape(*moved.shape[:d], moved.shape[d] * moved.shape[d + 1], *moved.shape[d + 2 :])


# ---- rearrangements


@process_collectives.rule(all_gather_p, all_gather_invariant_p, all_gather_reduced_p)
def _all_gather(link, buffers, params):
    return _gathered(link, buffers, params) if link.is_even else None


def _gathered(link, buffers, params):
    mine = _stack([buffers[i] for i in link.local])
    out = np.empty((len(link.members), *mine.shape[1:]), mine.dtype)
    yield [link.communicator.Iallgather(as_bytes(mine), as_bytes(out))] if mine.nbytes else []
    d = params["all_gather_dimension"]
    return link.share(np.asarray(_joined(out, d) if params["tiled"] else np.moveaxis(out, 0, d), order="C"))


@process_collectives.rule(all_to_all_p)
def _all_to_all(link, buffers, params):
    return _exchanged(link, buffers, params) if link.is_even else None


def _exchanged(link, buffers, params):
    n, own = len(link.members), len(link.local)
    rank = buffers[link.local[0]].ndim
    split, concat = params["split_axis"] % rank, params["concat_axis"] % rank
    parts = np.stack([_chunks(buffers[i], split, n) for i in link.local])  # (own source, destination, ...)
    parts = parts.reshape(own, len(link.rows), own, *parts.shape[2:])
    sent = np.asarray(np.moveaxis(parts, 0, 2), order="C")  # (process, its destination, own source, ...)
    got = np.empty_like(sent)  # (process, own destination, its source, ...)
    yield [link.communicator.Ialltoall(as_bytes(sent), as_bytes(got))] if sent.nbytes else []
    results = {}
    for k, i in enumerate(link.local):
        chunks = got[:, k].reshape(n, *got.shape[3:])
        results[i] = np.asarray(_joined(chunks, concat), order="C")
    return results


@process_collectives.rule(ppermute_p)
def _permute(link, buffers, params):
    process_of = {i: p for p, row in enumerate(link.rows) for i in row}
    requests, held, results = [], [], {i: np.zeros_like(x) for i, x in buffers.items()}
    for tag, (source, target) in enumerate(params["perm"]):
        source, target = link.members[source], link.members[target]
        if source in buffers and target in buffers:
            results[target] = buffers[source]
        elif source in buffers:
            held.append(np.asarray(buffers[source], order="C"))
            requests.append(link.communicator.Isend(as_bytes(held[-1]), process_of[target], tag % 32768))
        elif target in buffers:
            received = as_bytes(results[target])
            requests.append(link.communicator.Irecv(received, process_of[source], tag % 32768))
    yield requests
    return results


def begin_any(link, values):
    """A generator that returns to each device of this process whether any device of the group continues."""
    return link.turns.in_turn(_any(link, values))


def _any(link, values):
    own, out = np.array(any(values.values()), np.int32), np.empty((), np.int32)
    yield [link.communicator.Iallreduce(own, out, link.mpi.MAX)]
    return link.share(bool(out))
