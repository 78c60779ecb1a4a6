"""Programs over blocks together with the strided copy that makes one of their operands.

One instruction (`tape_copy_blocks.c`) copies some rows at a time and runs the program on them, so what is copied is
never in memory as a whole.
"""

from math import prod

import numpy as np

from onax._control.fused import dense_strides
from onax._tape.copies import MOST_AXES, readable_origin
from onax._tape.rules import type_number

_MANY_BYTES = 1 << 19  # of an operand that would leave the second cache before the program reads it
_MOST_ROW_BYTES = 1 << 15  # of what is copied for one index of the first axis: 16 of them stay in the second cache


def emit_with_copy(b, writes, reads, words):
    """Emits a program over blocks with the copy that makes one of its operands; whether there is such a one."""
    found = [(i, origin) for i, x in enumerate(reads) for origin in [_origin(b, x, writes)] if origin is not None]
    if not found:
        return False
    number, origin = found[0]
    b.withdraw([origin.instruction])
    x = reads[number]
    axes = [axis for axis in zip(x.shape, dense_strides(x.shape), origin.strides) if axis[0] != 1]
    head = [len(writes), number, type_number(x.dtype), origin.start, len(axes)]
    attributes = np.concatenate([head, np.ravel(axes), words]).astype(np.int64)
    b.emit("copy_blocks", writes, [*reads[:number], origin.source, *reads[number + 1 :]], attributes)
    return True


def _origin(b, x, writes):
    """The Origin of a large operand, if the program runs over its elements and reads them once."""
    if x.bytes < _MANY_BYTES or x.origin is None or any(w.shape != x.shape for w in writes):
        return None
    long = [n for n in x.shape if n != 1]
    if not 1 < len(long) <= MOST_AXES or prod(long[1:]) * x.dtype.itemsize > _MOST_ROW_BYTES:
        return None
    origin = readable_origin(b, x)
    inner = max(i for i, n in enumerate(x.shape) if n != 1)
    return (
        None if origin is None or abs(origin.strides[inner]) == 1 else origin
    )  # rows that stay rows are quick to copy
