"""Kernels that are one instruction of a tape (`_native/tape_machine.h`), which compiled code carries out.

A *description*, `describe(*operands, **params) -> Instruction or None`, reads the shapes and dtypes of the operands
alone, so that the rule of the slot `tape` and the kernel of a primitive share it.
"""

from typing import NamedTuple

from onax._core.lists import insert_bounded
from onax._native.tape import instruction_tape


class Instruction(NamedTuple):
    """An operation of tapes by name, its numbers, and (shape, dtype) of each result."""

    name: str
    attributes: tuple
    results: tuple


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
