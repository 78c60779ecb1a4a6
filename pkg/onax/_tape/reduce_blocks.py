"""Reductions over leading axes together with the program over blocks that computes what they reduce.

One instruction (`tape_reduce_blocks.c`) joins some rows at a time, so the operand is never in memory as a whole.
"""

import numpy as np

from onax._tape.writers import blocks_before

_FEWEST_COLUMNS, _MOST_COLUMNS = 16, 4096  # that remain: their totals stay in the first cache
_MANY_BYTES = 1 << 18  # of an operand that would not stay in the first cache


def emit_with_program(b, result, x, axes, reduction):
    """Emits the reduction of x, by its number and type, with the program that makes x; whether that is possible."""
    if x.bytes < _MANY_BYTES or not _FEWEST_COLUMNS <= result.size <= _MOST_COLUMNS or not _is_leading(x.shape, axes):
        return False
    blocks = blocks_before(b, x)
    if blocks is None:
        return False
    b.withdraw([blocks.instruction])
    head = [len(blocks.writes), blocks.number, *reduction, result.size]
    attributes = np.concatenate([head, blocks.words]).astype(np.int64)
    b.emit("reduce_blocks", [result, *blocks.other_writes], blocks.reads, attributes)
    return True


def _is_leading(shape, axes):
    """Whether all axes that are reduced, those of length 1 apart, stand before the others."""
    long = [i in axes for i, n in enumerate(shape) if n != 1]
    return long == sorted(long, reverse=True)
