"""The `tape` primitive: a part of a program that runs as one tape.

The pass of `_compile/passes/form_tapes.py` makes its equations after everything else is done, so it has no rules of
transformation.  Its parameter is the jaxpr of what it stands for.
"""

from onax._core.programs import KERNEL, Call, programs
from onax._native.dispatch import NEVER, Primitive
from onax._tape.build import build_tape


def _kernel(*operands, jaxpr):
    tape, constants = build_tape(jaxpr)
    return tuple(tape([*operands, *constants]))


def _abstract_eval(*avals, jaxpr):
    return list(jaxpr.out_avals)


tape_p = Primitive("tape", multiple_results=True, kernel=_kernel, abstract_eval=_abstract_eval, weak=NEVER)
programs.set(tape_p, Call("jaxpr", KERNEL))
