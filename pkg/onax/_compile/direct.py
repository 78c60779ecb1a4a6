"""Programs that run without a session of the runtime: one short region, or one loop of short regions."""

import numpy as np

from onax._control.fused import assemble, fused_p, looped_p, looped_program
from onax._core.effects import no_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from onax._native.array import Array
from onax._native.blocks import TYPES
from onax._tape.regions import is_view, joins

DIRECT_WORK = 200_000  # nanoseconds: twice the smallest work of a thread (blocks_kernels.c)


def direct_runner(whole):
    """A function from a list of ndarrays to a list of them that runs a program after `form_regions`; or None.

    It returns a function if the whole program is one block program, or one loop of it, too short for a second thread.
    """
    working = [eqn for eqn in whole.eqns if not is_view(eqn)]
    if len(working) != 1 or not all(v.aval.dtype in TYPES for v in whole.invars):
        return None
    (eqn,) = working
    results = [x for x in whole.outvars if type(x) is not Literal]
    if len(set(results)) != len(whole.outvars) or not set(eqn.outvars).issuperset(results):
        return None
    if eqn.primitive is looped_p:
        return _direct_loop(whole, eqn) if len(whole.eqns) == 1 else None
    if whole.constvars or not (eqn.primitive is fused_p or joins(eqn)):
        return None
    eqns = eqn.params["jaxpr"].eqns if eqn.primitive is fused_p else whole.eqns
    inner = Jaxpr([], whole.invars, whole.outvars, eqns, no_effects, whole.debug_info)
    program = assemble(ClosedJaxpr(inner))[1]
    return program if program.work < DIRECT_WORK else None


def _direct_loop(whole, eqn):
    """The function for a program that is one loop; it reorders arguments and constants, and selects results."""
    program = looped_program(**eqn.params)
    places = {v: i for i, v in enumerate(whole.invars)}
    known = {v: np.asarray(c._value if isinstance(c, Array) else c) for v, c in zip(whole.constvars, whole.consts)}
    operands = [x.array._value if type(x) is Literal else known[x] if x in known else places[x] for x in eqn.invars]
    wanted = [eqn.outvars.index(v) for v in whole.outvars]

    def run(arrays):
        results = program([arrays[x] if type(x) is int else x for x in operands])
        return [results[i] for i in wanted]

    return run
