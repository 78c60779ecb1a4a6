"""Thunks by themselves: groups of devices, indices, values that are dropped; test_partition.py runs whole programs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from onax._compile.devices.thunks import AnyReduction, AxisIndexThunk, Participant, ReplicaGroups, Thunk, ThunkSequence
from onax._control.manual_region import ManualRegion
from onax._core.jaxpr import Literal, Var
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from virtual_devices import eight_devices, mesh

with eight_devices():
    GRID = mesh(x=2, y=2, z=2)
REGION = ManualRegion(GRID, ("x", "y", "z"), True)
SCALAR = ShapedArray((), np.dtype(np.int32))


def number(i):
    return make_array(np.array(i, np.int32), np.dtype(np.int32), False)


def participants():
    for i, at in enumerate(np.ndindex(2, 2, 2)):
        yield Participant(None, dict(zip("xyz", at)), i, None)


def outcome(generator):
    """What a generator returns that waits for nothing."""
    with pytest.raises(StopIteration) as stopped:
        next(generator)
    return stopped.value.value


@pytest.mark.parametrize("axes", [("x",), ("z",), ("x", "z"), ("x", "y", "z")])
def test_the_members_of_a_group_differ_along_its_axes_only(axes):
    groups, everyone = ReplicaGroups(REGION, axes), list(participants())
    for p in everyone:
        same = [q.index for q in everyone if all(q.coordinates[a] == p.coordinates[a] for a in "xyz" if a not in axes)]
        assert groups.members[p.index] == same and math.prod(groups.shape) == len(same)


@pytest.mark.parametrize("varying", [(), ("x",), ("z",), ("x", "z")])
def test_values_are_stacked_along_the_axes_they_vary_along(varying):
    groups = ReplicaGroups(REGION, ("x", "z"))
    values = [number(i) for i in range(4)]
    stacked = groups.stack(values, varying)
    wanted = np.arange(4).reshape(2, 2)[tuple(slice(None) if a in varying else 0 for a in ("x", "z"))]
    np.testing.assert_array_equal(stacked, wanted)
    parts = groups.unstack([stacked], [Var(SCALAR)], [varying])
    at = lambda x, z: wanted[tuple(i for i, a in zip((x, z), ("x", "z")) if a in varying)]
    assert [int(part) for (part,) in parts] == [at(x, z) for x in range(2) for z in range(2)]


@pytest.mark.parametrize("axes", [("x",), ("y", "x"), ("x", "y", "z")])
def test_the_index_is_in_row_major_order(axes):
    thunk = AxisIndexThunk(Var(SCALAR), axes, (2,) * len(axes))
    for p in participants():
        (found,) = outcome(thunk.run([], p))
        assert int(found) == int("".join(str(p.coordinates[a]) for a in axes), 2) and found.dtype == np.int32


def test_any_device_that_goes_on_keeps_the_others():
    reduction = AnyReduction(SimpleNamespace(), ReplicaGroups(REGION, ("x",)))
    assert reduction.exchange([False, True]) == [True, True] and reduction.exchange([False] * 2) == [False] * 2


class Doubling(Thunk):
    """Doubles its operand; keeps what it was given."""

    def run(self, args, participant):
        yield from ()
        return [number(2 * int(args[0]))]


def test_a_sequence_passes_values_and_drops_those_that_are_read_no_more():
    a, b, c = (Var(SCALAR) for _ in range(3))
    first, second = Doubling([a], [b]), Doubling([b], [c])
    second.last_reads = (b,)
    sequence = ThunkSequence([a], {}, [first, second], [c, Literal(7, SCALAR)], [])
    assert [int(x) for x in outcome(sequence.run([number(3)], None))] == [12, 7]
    with pytest.raises(KeyError):
        next(ThunkSequence([a], {}, [first, second], [b], []).run([number(3)], None))
    assert sequence.meeting_axes == frozenset()
