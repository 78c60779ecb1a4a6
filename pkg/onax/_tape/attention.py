"""Two products and the program over blocks between them as one instruction (`tape_attention.c`).

Attention is such a chain: scores, their softmax, and the weighted sum of values.  As one instruction it takes some rows
of scores at a time, which stay in the second cache from the first product to the second.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from onax._native.tape import OPERATIONS
from onax._tape.writers import blocks_before, written_by

_HEAD = 7  # attributes of `dot` before those of its axes
_LITTLE = 1 << 18  # bytes of scores below which they stay in the second cache anyway
_STRIPS = 2  # bytes of both sides in strips, and of tiles, beside the bytes of the sides
_FEW = 16  # rows or columns of scores for which products of tiles take longer
_DOT = OPERATIONS["dot"]
_WITH_PARTS = OPERATIONS["loop"], OPERATIONS["branch"]


@dataclass(slots=True, eq=False)
class Attention:
    """What becomes one instruction with a second product, whose attributes are `second`.

    Attributes:
      first: the instruction of the product before.
      blocks: the Blocks between.
      scores: the number of the program's input that the first product is.
      is_left: whether the weights are the left operand of the second product.
    """

    first: tuple
    blocks: object
    scores: int
    is_left: bool
    second: list


def find_attention(b, second, operands):
    """The Attention that ends with the current equation, a product with these attributes; None if there is none."""
    if operands[0] is operands[1]:
        return None
    for is_left, weights in zip((True, False), operands):
        blocks = blocks_before(b, weights) if weights.bytes >= _LITTLE else None
        if blocks is None or not _has_rows(second, 1 if is_left else 2):
            continue
        for i, x in enumerate(blocks.reads):
            first = written_by(b, x, _DOT)
            if first is None or x.size != weights.size or blocks.reads.count(x) > 1:
                continue
            is_there = not any(source.root.is_overwritten for source in first[1][1:])
            fits = is_there and _has_rows(first[2], 3) and _is_between(b, x, first, blocks)
            if fits and _needs_less_memory(first, weights, operands[1 if is_left else 0]):
                return Attention(first, blocks, i, is_left, second)
    return None


def _is_between(b, scores, first, blocks):
    """Whether nothing reads the first product but the program."""
    if scores.holders or scores.end != blocks.clock:
        return False
    for instruction in reversed(b.part.instructions):
        if instruction is first:
            return True
        if instruction[0] in _WITH_PARTS:
            return False
        if instruction is not blocks.instruction and any(x.root is scores for x in instruction[1]):
            return False
    return False


def _needs_less_memory(first, weights, values):
    """Whether the scores of all matrices are more than what the instruction copies of one: its sides, in strips."""
    axes = first[2]
    matrices = int(np.prod([axes[_HEAD + 4 * i] for i in range(axes[3])]))
    copied = (min(source.bytes for source in first[1][1:]) + values.bytes) // max(matrices, 1)
    return weights.bytes > _STRIPS * copied


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
    blocks, values = attention.blocks, operands[1 if attention.is_left else 0]
    b.withdraw([attention.first, blocks.instruction])
    first, _ = _sorted_by(first, 3)
    second, where = _sorted_by(attention.second, 1 if attention.is_left else 2)
    head = [len(blocks.writes), attention.scores, blocks.number, attention.is_left, len(first), *first, len(second)]
    attributes = np.concatenate([head, second, blocks.words]).astype(np.int64)
    reads = [*blocks.reads[: attention.scores], *blocks.reads[attention.scores + 1 :]]
    b.emit("attend", [result, *blocks.other_writes], [*sources, values, *reads], attributes)
    return attributes, [len(head) + i for i in where]
