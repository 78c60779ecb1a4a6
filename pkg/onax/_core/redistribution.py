"""Moves the parts of arrays between processes, from one sharding to another.

Every process computes the same list of messages: for each device of the new sharding the parts of its shard, each from
one device of the old one, of the same process if there is such a replica.  A process sends and receives its own.
"""

import itertools

import numpy as np

from onax._core.explicit_axes import sharded_array, spanning_array
from onax._ground import processes
from onax._native.array import ArrayImpl

_TAGS = 32768  # MPI allows at least that many


def is_spanning(x):
    """Whether the elements of a value lie in several processes, so that none has them all."""
    return type(x) is ArrayImpl and x._shards is not None and not x.is_fully_addressable and not x.is_fully_replicated


def redistribute(x, sharding):
    """The array with another sharding; all processes do this together."""
    shape = x.shape
    wanted = _boxes(sharding, shape)
    own = [device for device, _ in wanted if device._addressable]
    received = dict(zip(own, _receive(x, [(device.process_index, box) for device, box in wanted])))
    if sharding.is_fully_replicated and received:
        whole = next(iter(received.values()))
        return sharded_array(whole, list(received.items()), sharding, x.dtype, x.weak_type)
    if sharding.is_fully_addressable:
        whole = np.empty(shape, _storage(x))
        for device, index in sharding.devices_indices_map(shape).items():
            whole[index] = received[device]
        return sharded_array(whole, list(received.items()), sharding, x.dtype, x.weak_type)
    return spanning_array(x.aval, list(received.items()), sharding)


def gather(x):
    """The elements of an array in several processes, as an ndarray of the storage dtype, in each process."""
    everything = tuple((0, n) for n in x.shape)
    return _receive(x, [(process, everything) for process in range(processes.process_count())])[0]


def _storage(x):
    return getattr(x.dtype, "storage", x.dtype)


def _boxes(sharding, shape):
    """(device, ((start, stop) of each dimension)) for each device of a sharding."""
    result = []
    for device, index in sharding.devices_indices_map(shape).items():
        result.append((device, tuple(s.indices(n)[:2] for s, n in zip(index, shape))))
    return result


def _receive(x, wanted):
    """The boxes that this process wants, in order; `wanted`: pairs (process, box) of all processes."""
    group, old, parts = processes.current(), _boxes(x.sharding, x.shape), dict(x._shards)
    box_of = dict(old)
    results, requests, fills, held = [], [], [], []
    tags = itertools.count()
    for process, box in wanted:
        out = None
        if process == group.index:
            out = np.empty([stop - start for start, stop in box], _storage(x))
            results.append(out)
        for device, part in _sources(old, process, box):
            tag = next(tags) % _TAGS
            if device._addressable:
                piece = parts[device][_within(box_of[device], part)]
            if device.process_index == process:
                if out is not None:
                    out[_within(box, part)] = piece
            elif out is not None:
                buffer = np.empty([stop - start for start, stop in part], _storage(x))
                fills.append((out, _within(box, part), buffer))
                requests.append(group.world.Irecv(_bytes(buffer), device.process_index, tag))
            elif device._addressable:
                held.append(np.asarray(piece, order="C"))
                requests.append(group.world.Isend(_bytes(held[-1]), process, tag))
    text = f"the redistribution of an array of shape {x.shape}"
    members = sorted({device.process_index for device, _ in old} | {process for process, _ in wanted})
    with group.call(text, text, members):
        group.wait(requests, text, members)
    for out, index, buffer in fills:
        out[index] = buffer
    return results


def _bytes(buffer):
    return buffer.reshape(-1).view(np.uint8)


def _within(box, part):
    """The index of a part, in global coordinates, within the values of a box."""
    return tuple(slice(start - base, stop - base) for (base, _), (start, stop) in zip(box, part))


def _sources(old, process, box):
    """(device, part) for the parts of a box: each from one device that has it, of this process if there is one."""
    chosen = {}
    for device, own in old:
        if own not in chosen or (device.process_index == process and chosen[own].process_index != process):
            chosen[own] = device
    for own, device in chosen.items():
        part = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(own, box))
        if all(start < stop for start, stop in part):
            yield device, part
