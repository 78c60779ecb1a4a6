"""Temporary values that lie in the memory of what is made of them, as a gradient does that a weight's update reads.

A program over blocks may write a result where an operand is, if it reads the operand at the positions that it writes,
and not after it has written them.  So the operand needs no memory of its own.
"""

import numpy as np

from onax._native.tape import ARENA, BLOCK_OPERATIONS, OPERATIONS, OUTPUT, TYPES, RegisterKind

LEAST = 4096  # bytes from which on it is worth it
_BLOCKS = OPERATIONS["blocks"]
_HEAD = 6  # words of a program before those of its buffers
_STRIDED = (RegisterKind.LOAD, RegisterKind.IOTA)
_NO_BUFFER = (RegisterKind.BLOCK, RegisterKind.IOTA, RegisterKind.CONSTANT)
_COMPLEX128 = TYPES[np.dtype(np.complex128)]
_OPERANDS = {"U": 1, "P": 1, "V": 1, "M": 1, "X": 1, "R": 1, "B": 2, "C": 2, "Y": 2, "S": 3, "T": 3, "G": 3}
_ARITY = {operation.number: _OPERANDS[operation.signature] for operation in BLOCK_OPERATIONS.values()}


def compute_in_place(builder):
    """Has temporary buffers lie in what a program over blocks makes of them: outputs of the tape, or other temporary
    ones."""
    results = [*[output.root for output in builder.ports[1]], *builder.buffers]
    for root in results:
        is_own = root.kind == OUTPUT or (root.kind == ARENA and root.part is builder.parts[0] and root.whole is None)
        if root.place is not None or root.bytes < LEAST or not is_own or root.is_divided or root.writer is None:
            continue
        (operation, ports, attributes), clock = root.writer
        if operation != _BLOCKS or root.start != clock:
            continue
        count = int(attributes[0])
        writes, reads = [w.root for w in ports[:count]], [r.root for r in ports[count:]]
        for number, x in enumerate(reads):
            # an operand that has been placed already counts as the result in whose memory it lies
            is_free = x not in writes and _is_temporary(x, root, builder.parts[0], clock)
            if is_free and writes.count(root) == reads.count(x) == 1:
                if _is_read_before(attributes[1:], number, writes.index(root)):
                    x.place = root
                    root.start = x.start
                    break


def _is_temporary(x, root, part, clock):
    """Whether a buffer of the arena, as large as another, is needed no more after an instruction of the program."""
    is_whole = x.kind == ARENA and not x.is_divided and x.whole is None
    return is_whole and x.part is part and x.bytes == root.bytes and x.end == clock


def _is_read_before(words, number, result):
    """Whether a program over blocks reads an input at the positions of its one loop alone, and before the step that
    writes a result there."""
    words = [int(w) for w in words]
    inputs, outputs, temporaries, loops = words[1:5]
    at = _HEAD + 2 * (inputs + outputs + temporaries)
    if loops != 1 or words[2 * number + _HEAD] != words[2 * (inputs + result) + _HEAD]:
        return False
    rank, registers, count = words[at + 2 : at + 5]
    at += 5 + rank
    places = {}  # buffer -> register, of what lies at the positions of the loop
    for register in range(registers):
        _, kind, argument = words[at : at + 3]
        at += 3
        if kind == RegisterKind.CONSTANT:
            at += words[at - 3] == _COMPLEX128
        elif kind in _STRIDED:
            at += rank + 1
        if kind == RegisterKind.DIRECT:
            places[argument] = register
        elif kind not in _NO_BUFFER and argument == number:
            return False
    if number not in places or inputs + result not in places:
        return False
    steps = [words[at + 5 * i : at + 5 * (i + 1)] for i in range(count)]
    return _is_done_before(
        [(target, operands[: _ARITY[operation]]) for operation, target, *operands in steps],
        places[number],
        places[inputs + result],
    )


def _is_done_before(steps, operand, result):
    """Whether all that follows from a register is computed before the step that writes another.

    A kernel may carry out two steps at once, where the second stands, if nothing else reads the first one's value.  So
    what later steps read of these values has to have a reader before.
    """
    written = [i for i, (target, _) in enumerate(steps) if target == result]
    if len(written) != 1:
        return False
    current = {operand: None}  # register -> number of the step whose value follows from the operand; None: the operand
    readers = {}  # such a number -> that of the first step that reads the value
    for i, (target, operands) in enumerate(steps):
        makers = [current[r] for r in operands if r in current and r != result]
        if i > written[0] and any(m is None or readers.get(m, i) > written[0] for m in makers):
            return False
        for m in makers:
            readers.setdefault(m, i)
        current.pop(target, None)
        if makers and i <= written[0]:
            current[target] = i
    return True
