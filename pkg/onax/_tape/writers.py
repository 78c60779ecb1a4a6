"""The instruction that wrote a buffer, for rules that make one instruction of it and of what they emit."""

from dataclasses import dataclass

from onax._native.tape import ARENA, OPERATIONS

_BLOCKS = OPERATIONS["blocks"]


def written_by(b, root, operation):
    """The instruction of the current part that wrote a buffer, if it is of this operation; else None."""
    if root.kind != ARENA or root.part is not b.part or root.writer is None:
        return None
    return root.writer[0] if root.writer[0][0] == operation else None


@dataclass(slots=True, eq=False)
class Blocks:
    """A program over blocks of which a value is a result.

    Attributes:
      instruction: which can be withdrawn.
      clock: when it was emitted.
      number: of the result among its outputs.
      writes, reads: the buffers of its outputs and inputs.
      words: the program.
    """

    instruction: tuple
    clock: int
    number: int
    writes: list
    reads: list
    words: object

    @property
    def other_writes(self):
        """The outputs apart from the result."""
        return [*self.writes[: self.number], *self.writes[self.number + 1 :]]


def blocks_before(b, x):
    """The Blocks that make x, if the current equation alone reads it and they may run as late as now; else None."""
    root = x.root
    instruction = written_by(b, root, _BLOCKS)
    if instruction is None or not b.is_last_use(x):
        return None
    _, ports, attributes = instruction
    clock, count = root.writer[1], int(attributes[0])
    writes, reads = [w.root for w in ports[:count]], [r.root for r in ports[count:]]
    if any(w.end != clock for w in writes) or any(r.is_overwritten for r in reads):
        return None
    return Blocks(instruction, clock, writes.index(root), writes, reads, attributes[1:])
