"""Which instruction wrote a buffer, and whether it may be emitted later."""

import numpy as np

from onax._native.tape import OPERATIONS
from onax._tape.builder import Builder
from onax._tape.writers import blocks_before, written_by


def test_the_last_writer_of_a_buffer():
    b = Builder()
    x, y = b.array((4,), np.float32), b.array((4,), np.float32)
    assert written_by(b, x, OPERATIONS["move"]) is None
    b.emit("move", [y], [x])
    assert written_by(b, y, OPERATIONS["move"]) is b.part.instructions[-1]
    assert written_by(b, y, OPERATIONS["blocks"]) is None
    b.open_part()
    assert written_by(b, y, OPERATIONS["move"]) is None  # of another part


def _program(b):
    x, y, z = [b.array((4,), np.float32) for _ in range(3)]
    b.emit("blocks", [y, z], [x], np.array([2, 7]))
    b._dying = {y}
    return x, y, z


def test_a_program_that_only_the_current_equation_reads():
    b = Builder()
    x, y, z = _program(b)
    found = blocks_before(b, y)
    assert found.number == 0 and found.reads == [x] and found.other_writes == [z] and list(found.words) == [7]
    assert blocks_before(b, z) is None  # somebody reads it later


def test_a_program_whose_other_result_was_read():
    b = Builder()
    _, y, z = _program(b)
    b.emit("move", [b.array((4,), np.float32)], [z])
    assert blocks_before(b, y) is None


def test_a_program_whose_operand_is_overwritten():
    b = Builder()
    x, y, _ = _program(b)
    x.is_overwritten = True
    assert blocks_before(b, y) is None
