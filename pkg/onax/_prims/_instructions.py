"""Kernels that are one instruction of a tape (`_native/tape_machine.h`), which compiled code carries out.

A *description*, `describe(*operands, **params) -> Instruction or None`, reads the shapes and dtypes of the operands
alone, so that the rule of the slot `tape` and the kernel of a primitive share it.
"""

from itertools import chain
from typing import NamedTuple

from onax._core.lists import insert_bounded
from onax._native.tape import TYPES, instruction_tape

SUM, PROD, MAX, MIN, AND, OR, XOR = range(7)  # `onax_reduction`
MOST_AXES = 16  # of an operand


class Instruction(NamedTuple):
    """An operation of tapes by name, its numbers, and (shape, dtype) of each result."""

    name: str
    attributes: tuple
    results: tuple


def reduction(number, x, axes):
    """The numbers of the instruction `reduce`: one of the above, the type, each axis with its size."""
    return number, TYPES[x.dtype], *chain(*[(size, axis in axes) for axis, size in enumerate(x.shape)])


def instruction_kernel(describe, otherwise, multiple_results=False):
    """A kernel that runs the instruction of its operands; `otherwise` is the kernel where there is none."""
    tapes = {}

    def kernel(*operands, **params):
        key = (*[(x.shape, x.dtype.num) for x in operands], *params.items())
        tape = tapes.get(key)
        if tape is None:
            instruction = describe(*operands, **params)
            if instruction is None:
                return otherwise(*operands, **params)
            name, numbers, outs = instruction
            tape = instruction_tape(name, [(x.shape, x.dtype) for x in operands], outs, numbers)
            insert_bounded(tapes, key, tape)
        results = tape(list(operands))
        return tuple(results) if multiple_results else results[0]

    return kernel
