"""Programs that run without a session of the runtime: those that are one tape of which no instruction needs threads."""

from dataclasses import dataclass

from onax._ground import config
from onax._native.tape import Tape
from onax._tape.build import build_tape
from onax._tape.tape_call import tape_p

DIRECT_WORK = 200_000  # nanoseconds of one instruction: twice the smallest work of a thread (blocks_run.c)


@dataclass(slots=True, eq=False)
class Direct:
    """A tape and the large constants that are its last inputs."""

    tape: Tape
    constants: list

    @property
    def runner(self):
        """A function from a list of ndarrays to a list of them."""
        if not self.constants:
            return self.tape
        tape, constants = self.tape, self.constants
        return lambda arrays: tape([*arrays, *constants])


def direct_program(whole):
    """The Direct of a program after `form_tapes`, or None.

    It has one if the whole program is one tape whose instructions are too short for a second thread.
    """
    if len(whole.eqns) != 1 or whole.eqns[0].primitive is not tape_p or whole.constvars:
        return None
    (eqn,) = whole.eqns
    if eqn.invars != list(whole.invars) or eqn.outvars != list(whole.outvars):
        return None
    tape, constants = build_tape(eqn.params["jaxpr"])
    if tape.longest > DIRECT_WORK or not config.runs_tapes_directly():
        return None
    return Direct(tape, constants)
