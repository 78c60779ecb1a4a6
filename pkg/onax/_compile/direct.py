"""Programs that run without a session of the runtime: those that are one tape of which no instruction needs threads."""

from onax._ground import config
from onax._tape.build import build_tape
from onax._tape.tape_call import tape_p

DIRECT_WORK = 200_000  # nanoseconds of one instruction: twice the smallest work of a thread (blocks_run.c)


def direct_runner(whole):
    """A function from a list of ndarrays to a list of them that runs a program after `form_tapes`; or None.

    It returns a function if the whole program is one tape whose instructions are too short for a second thread.
    """
    if len(whole.eqns) != 1 or whole.eqns[0].primitive is not tape_p or whole.constvars:
        return None
    (eqn,) = whole.eqns
    if eqn.invars != list(whole.invars) or eqn.outvars != list(whole.outvars):
        return None
    tape, constants = build_tape(eqn.params["jaxpr"])
    if tape.longest > DIRECT_WORK or not config.runs_tapes_directly():
        return None
    if constants:
        return lambda arrays: tape([*arrays, *constants])
    return tape
