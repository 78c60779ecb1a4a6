"""Tapes that tell what each of their instructions computes and how long it takes, for measuring a program."""

from dataclasses import dataclass

from onax._core.jaxpr import ClosedJaxpr, Jaxpr
from onax._native.tape import OPERATIONS
from onax._tape.builder import Builder
from onax._tape.layout import make_tape

_NAMES = {number: name for name, number in OPERATIONS.items()}


@dataclass(slots=True, eq=False)
class Instruction:
    """One instruction of a recorded tape.

    Attributes:
      operation: its name.
      eqn: the equation that it belongs to.
      location: the source location of that, or of the call around it.
      bytes: how many a run reads and writes.
      parts: the numbers of the parts that it holds, if it is a loop or branch.
      kernel: the PythonKernel that it calls, or None.
    """

    operation: str
    eqn: object
    location: object
    bytes: int
    parts: tuple
    kernel: object


@dataclass(slots=True, eq=False)
class Recording:
    """A Tape whose runs are timed, the constants that are its last inputs, and its instructions by part."""

    tape: object
    constants: list
    parts: list

    def timings(self):
        """[(Instruction, runs, nanoseconds)] of each part, since the tape was made.

        The time of a loop or branch includes that of what it holds.
        """
        measured = iter(self.tape.timings())
        return [[(instruction, *next(measured)) for instruction in part] for part in self.parts]


class _RecordingBuilder(Builder):
    """A Builder that notes the equation of each instruction."""

    def __init__(self):
        super().__init__()
        self.origin = None, None  # the equation that is emitted, and its location
        self.origins = {}  # id of an instruction, which its part keeps -> its origin

    def apply(self, eqn, reads):
        outer = self.origin
        self.origin = eqn, eqn.source_info or outer[1]
        results = super().apply(eqn, reads)
        self.origin = outer
        return results

    def emit(self, name, writes, reads, attributes=()):
        super().emit(name, writes, reads, attributes)
        self.origins[id(self.part.instructions[-1])] = self.origin

    def recorded(self, instruction):
        """An Instruction for one of a part's."""
        number, operands, attributes = instruction
        name = _NAMES[number]
        kernel = self.kernels[attributes[1]] if name == "call" else None
        size = sum([b.root.bytes for b in operands])
        return Instruction(name, *self.origins[id(instruction)], size, _parts_held(name, attributes), kernel)


def _parts_held(name, attributes):
    """The parts that an instruction holds (`tape_control.h` has the attributes)."""
    if name == "branch":
        return tuple(attributes[2:])
    if name == "loop":
        body, condition = attributes[1:3]
        return (body,) if condition < 0 else (condition, body)
    return ()


def record_tape(jaxpr):
    """The Recording of a ClosedJaxpr, whose tape is that of `build_tape` but for being timed."""
    builder = _RecordingBuilder()
    results = builder.program(jaxpr, builder.inputs(jaxpr.in_avals))
    builder.outputs(results, jaxpr.out_avals)
    tape = make_tape(builder)
    tape.time_instructions()
    parts = [[builder.recorded(q) for q in part.instructions] for part in builder.parts]
    return Recording(tape, builder.hoisted, parts)


def with_recorded_tape(eqn):
    """(an equation of `tape_p` like the given one, whose tape is recorded, and the Recording)."""
    old = eqn.params["jaxpr"]
    inner = Jaxpr(old.constvars, old.invars, old.outvars, old.eqns, old.effects, old.debug_info)
    closed = ClosedJaxpr(inner, old.consts)
    recording = record_tape(closed)
    closed.cache["tape"] = recording.tape, recording.constants
    return eqn.replace(params={"jaxpr": closed}), recording
