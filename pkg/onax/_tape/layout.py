"""From the buffers of a Builder to offsets in one arena, and to the words of a tape (`_native/tape_machine.h`)."""

from bisect import bisect_left, insort
from itertools import chain

import numpy as np

from onax._native.tape import ARENA, CONSTANT, MAGIC, OUTPUT, PART, Tape
from onax._tape.in_place import compute_in_place

ALIGNMENT = 64
MOST_BYTES = 1 << 56  # of a buffer, beyond which numbers of the machine would overflow
SMALL = 4096  # bytes of buffers that are placed in the order of their use
MOST_LARGE = 128  # other buffers, at most, which are placed by size if that needs less memory
WASTE = 2  # a free block may be so many times as large as what is put into it


def make_tape(builder, name="tape"):
    """The Tape of what a Builder has emitted."""
    compute_in_place(builder)
    inputs, outputs = builder.ports
    buffers = [*inputs, *outputs, *_numbered_after(builder, inputs, outputs)]
    for i, b in enumerate(buffers):
        b.number = i
    for i, b in enumerate(inputs):
        b.argument = i
    arena = _place(builder)
    places = [(b, _placed(b)) for b in buffers if b.kind == PART]  # before any changes: a part may lie in a part
    for b, place in places:
        b.kind, b.argument = place
    largest = max([arena, *[b.bytes for b in buffers]], default=0)
    if largest > MOST_BYTES:
        raise MemoryError(f"{largest:,} bytes for a value of a compiled program cannot be allocated")
    constants = _constants(buffers)
    header = [MAGIC, len(inputs), len(outputs), len(buffers), len(builder.parts), arena, len(constants)]
    table = chain.from_iterable([(b.kind, b.argument, b.bytes) for b in buffers])
    words = [np.array(header, np.int64), _as_words(constants), np.fromiter(table, np.int64)]
    words += [w for part in builder.parts for w in _part_words(part)]
    ports = [[(b.shape, b.dtype) for b in some] for some in (inputs, outputs)]
    return Tape(np.concatenate(words), *ports, builder.kernels, name)


def _numbered_after(builder, inputs, outputs):
    """The other buffers that instructions name."""
    first = {*inputs, *outputs}
    named = dict.fromkeys([b.root for part in builder.parts for _, operands, _ in part.instructions for b in operands])
    for b in list(named):
        while b.kind == PART:
            b = b.whole.root
            named[b] = None
    return [b for b in named if b not in first]


def _placed(b):
    """(kind, argument) of a PART in the words: a buffer of the arena, or a part of an output."""
    begin, whole = 0, b
    while whole.kind == PART:
        begin += whole.argument
        whole = whole.whole.root
    if whole.kind == OUTPUT:
        return PART + whole.argument, begin
    if whole.kind != ARENA:
        raise AssertionError(f"a part of a buffer of kind {whole.kind}, which moves")
    return ARENA, whole.argument + begin


def _part_words(part):
    yield np.array([len(part.instructions)], np.int64)
    for number, operands, attributes in part.instructions:
        if type(attributes) is np.ndarray:
            yield np.array([number, len(operands), len(attributes), *[b.root.number for b in operands]], np.int64)
            yield attributes
        else:
            head = number, len(operands), len(attributes)
            yield np.array([*head, *[b.root.number for b in operands], *attributes], np.int64)


def _rounded(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def _as_words(data):
    return np.frombuffer(data + bytes(-len(data) % 8), np.int64)


def _constants(buffers):
    """The bytes of all constants; each begins at a multiple of the alignment."""
    pieces, at = [], 0
    for b in buffers:
        if b.kind == CONSTANT:
            b.argument = at
            data = b.value.tobytes()
            pieces.append(data + bytes(_rounded(len(data)) - len(data)))
            at += len(pieces[-1])
    return b"".join(pieces)


def _place(builder):
    """Sets the offset of each buffer; those in use at the same time do not overlap.  Returns the size of the arena."""
    named = [b for b in builder.buffers if b.kind == ARENA and b.place is None and b.number >= 0]
    share = sum([b.bytes for b in named]) // MOST_LARGE
    large = [b for b in named if b.bytes > max(share, SMALL)]
    if len(large) < 3:
        return _place_in_order(named, 0)
    size = _place_by_size(large)
    in_order = _place_in_order(large, 0)
    if size < in_order:
        _place_by_size(large)
    size = min(size, in_order)
    return _place_in_order([b for b in named if b.bytes <= max(share, SMALL)], size)


def _place_by_size(buffers):
    """Sets offsets from 0 on, the largest buffer's first, each as low as what is in use at the same time allows."""
    placed, size = [], 0
    for b in sorted(buffers, key=lambda b: -b.bytes):
        at = 0
        for offset, past in sorted([(p.argument, q) for p, q in placed if p.start <= b.end and b.start <= p.end]):
            if at + b.bytes <= offset:
                break
            at = max(at, past)
        b.argument = at
        placed.append((b, at + _rounded(b.bytes)))
        size = max(size, placed[-1][1])
    return size


def _place_in_order(buffers, begin):
    """Sets offsets from `begin` on; returns the arena's size.

    In the order in which they come into use, each takes the smallest free block that is large enough and not much too
    large, or a new one.
    """
    ends = sorted(buffers, key=lambda b: b.end)
    free, size, done = [], begin, 0  # free: (bytes, offset), sorted
    blocks = {}  # buffer -> bytes of its block
    for b in sorted(buffers, key=lambda b: b.start):
        while ends[done].end < b.start:
            old = ends[done]
            insort(free, (blocks[old], old.argument))
            done += 1
        needed = max(_rounded(b.bytes), ALIGNMENT)
        at = bisect_left(free, (needed, -1))
        if at < len(free) and free[at][0] <= WASTE * needed:
            blocks[b], b.argument = free.pop(at)
        else:
            blocks[b], b.argument = needed, size
            size += needed
    return size
