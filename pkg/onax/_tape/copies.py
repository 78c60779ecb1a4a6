"""Strided copies, which every instruction that moves data consists of (`tape_copies.c`)."""

from dataclasses import dataclass
from itertools import chain

from onax._control.fused import dense_strides
from onax._tape.rules import Unsupported, type_number

MOST_AXES = 16


def copy(b, to, source, shape, to_strides, from_strides, to_start=0, from_start=0, indices=()):
    """Emits a copy of a grid of elements from a strided place in `source` to a strided place in `to`.

    Starts and strides are in elements.  `indices` move both places: (Buffer of an integer scalar, its largest value,
    step in `to`, step in `source`) for each; an index is clamped between 0 and its largest value.
    """
    axes = [axis for axis in zip(shape, to_strides, from_strides) if axis[0] != 1]
    if len(axes) > MOST_AXES:
        raise Unsupported(f"a copy has more than {MOST_AXES} axes")
    movements = [(type_number(index.dtype), *rest) for index, *rest in indices]
    numbers = (source.dtype.itemsize, to_start, from_start, len(axes), *chain(*axes), *chain(*movements))
    b.emit("copy", [to], [source, *[index for index, *_ in indices]], numbers)


@dataclass(slots=True, eq=False, repr=False)
class Origin:
    """The strided place of which a Buffer holds a copy, the instruction that copies it, and when that was emitted."""

    source: object
    start: int
    strides: tuple
    instruction: tuple
    clock: int


def copied(b, out, source, shape, from_strides, from_start=0, indices=()):
    """A new Buffer of the type `out` with the elements of a strided place in `source`, in the order of `shape`."""
    result = b.buffer(out)
    movements = [(index, largest, 0, step) for index, largest, step in indices]
    copy(b, result, source, shape, dense_strides(tuple(shape)), from_strides, 0, from_start, movements)
    if not indices and tuple(shape) == result.shape:
        result.origin = Origin(source, from_start, from_strides, b.part.instructions[-1], b.clock)
    return result


def readable_origin(b, x):
    """The Origin of x if the current equation, the only one that reads x, may read that instead; else None."""
    origin = x.origin
    if origin is None or x.root is not x or x.part is not b.part or x.end != origin.clock or not b.is_last_use(x):
        return None
    return None if origin.source.root.is_overwritten else origin


def is_in_order(shape, strides):
    """Whether the elements of a strided place lie side by side, in the order of `shape`."""
    dense = dense_strides(tuple(shape))
    return all(n == 1 or s == t for n, s, t in zip(shape, strides, dense))
