"""Two products and the program over blocks between them as one instruction (`tape_attention.c`).

Attention is such a chain: scores, their softmax, and the weighted sum of values.  As one instruction it takes some rows
of scores at a time, which stay in the second cache from the first product to the second.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from onax._native.tape import ARENA, OPERATIONS

_HEAD = 7  # attributes of `dot` before those of its axes
_LITTLE = 1 << 18  # bytes of scores below which they stay in the second cache anyway
_FEW = 16  # rows or columns of scores for which products of tiles take longer
_DOT, _BLOCKS = OPERATIONS["dot"], OPERATIONS["blocks"]
_WITH_PARTS = OPERATIONS["loop"], OPERATIONS["branch"]


@dataclass(slots=True, eq=False)
class Attention:
    """What becomes one instruction with a second product, whose attributes are `second`.

    Attributes:
      first, blocks: the instructions before it.
      scores, weights: the numbers of the program's input and output between them.
      is_left: whether the weights are the left operand of the second product.
    """

    first: tuple
    blocks: tuple
    scores: int
    weights: int
    is_left: bool
    second: list


def find_attention(b, second, operands):
    """The Attention that ends with the current equation, a product with these attributes; None if there is none."""
    if operands[0] is operands[1]:
        return None
    for is_left, weights in zip((True, False), operands):
        blocks = _written_by(b, weights.root, _BLOCKS)
        if blocks is None or not b.is_last_use(weights) or weights.bytes < _LITTLE:
            continue
        clock, count = weights.root.writer[1], int(blocks[2][0])
        writes, reads = [x.root for x in blocks[1][:count]], [x.root for x in blocks[1][count:]]
        if any(x.end != clock for x in writes):
            continue
        for i, x in enumerate(reads):
            first = _written_by(b, x, _DOT)
            if first is None or x.size != weights.size or not _is_between(b, x, first, blocks, clock):
                continue
            sources = [*first[1][1:], *reads[:i], *reads[i + 1 :]]
            if x in reads[:i] or any(source.root.is_overwritten for source in sources):
                continue
            if _has_rows(first[2], 3) and _has_rows(second, 1 if is_left else 2):
                return Attention(first, blocks, i, writes.index(weights.root), is_left, second)
    return None


def _written_by(b, root, operation):
    """The instruction of the current part that writes a buffer, if it is of this operation; else None."""
    if root.kind != ARENA or root.part is not b.part or root.writer is None:
        return None
    return root.writer[0] if root.writer[0][0] == operation else None


def _is_between(b, scores, first, blocks, clock):
    """Whether nothing reads the first product but the program that was emitted at `clock`."""
    if scores.holders or scores.end != clock:
        return False
    for instruction in reversed(b.part.instructions):
        if instruction is first:
            return True
        if instruction is not blocks and (
            instruction[0] in _WITH_PARTS or any(x.root is scores for x in instruction[1])
        ):
            return False
    return False


def _has_rows(axes, column):
    """Whether a product has one axis of rows and one of columns where its operand or result, by the column of its
    strides among the numbers of an axis, is dense matrices with some of both."""
    table = iter([tuple(axes[i : i + 4]) for i in range(_HEAD, len(axes), 4)])
    batch, rows, columns, summed = [[*islice(table, count)] for count in axes[3:_HEAD]]
    free = {1: (rows, summed), 2: (columns, summed), 3: (rows, columns)}[column]
    long = [[axis for axis in group if axis[0] != 1] for group in free]
    if [len(group) for group in long] != [1, 1]:
        return False
    (low,), (high,) = sorted(long, key=lambda group: group[0][column])
    expected = low[0] * high[0]
    if low[column] != 1 or high[column] != low[0] or min(low[0], high[0]) < _FEW:
        return False
    if column != 3 and long[1][0] is not low:
        return False
    for axis in sorted(batch, key=lambda axis: axis[column]):
        if axis[0] != 1 and axis[column] != expected:
            return False
        expected *= axis[0]
    return True


def _sorted_by(axes, column):
    """(attributes with the batch axes in the order of a stride, where each number of an axis is now)."""
    batch = axes[3]
    numbers = sorted(range(batch), key=lambda i: -axes[_HEAD + 4 * i + column])
    moved = [_HEAD + 4 * i + k for i in numbers for k in range(4)]
    order = [*range(_HEAD), *moved, *range(_HEAD + 4 * batch, len(axes))]
    where = [0] * len(axes)
    for new, old in enumerate(order):
        where[old] = new
    return [axes[i] for i in order], where


def emit_attention(b, attention, result, operands):
    """Emits the instruction in place of those before it; returns its attributes and where those of the product are."""
    _, (_, *sources), first = attention.first
    _, ports, words = attention.blocks
    count, values = int(words[0]), operands[1 if attention.is_left else 0]
    writes, reads = ports[:count], ports[count:]
    b.withdraw([attention.first, attention.blocks])
    first, _ = _sorted_by(first, 3)
    second, where = _sorted_by(attention.second, 1 if attention.is_left else 2)
    head = [count, attention.scores, attention.weights, attention.is_left, len(first), *first, len(second)]
    attributes = np.concatenate([head, second, words[1:]]).astype(np.int64)
    del writes[attention.weights], reads[attention.scores]
    b.emit("attend", [result, *writes], [*sources, values, *reads], attributes)
    return attributes, [len(head) + i for i in where]
