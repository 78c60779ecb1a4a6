"""Where a model first parts from eager evaluation: every intermediate result is made an output and compared.

`intermediates(jaxpr)` is the same program with the results of all its equations; evaluated eagerly and exported, the
two lists are compared in the order of the program, and the first equation whose results differ is the one to look at.
"""

import numpy as np

from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.printing import print_eqn
from onax._ground import source
from onax._ground.dtypes import ExtendedDType
from onax.export import api, report


class Departure:
    """The first equation whose results differ: its text, the user's line, the comparison."""

    __slots__ = ("comparison", "equation", "line")

    def __init__(self, equation, line, comparison):
        self.equation = equation
        self.line = line
        self.comparison = comparison

    def __str__(self):
        c = self.comparison
        return f"{self.equation} differs by {c.absolute:.3g} (relative {c.relative:.3g}); written in {self.line}"


def intermediates(jaxpr):
    """(the closed program that returns the results of all equations, the equation of each result)."""
    shown = [
        (v, eqn)
        for eqn in jaxpr.eqns
        for v in eqn.outvars
        if type(v) is not core.DropVar and not isinstance(v.aval.dtype, ExtendedDType)
    ]
    outvars = [v for v, _ in shown]
    opened = core.Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, jaxpr.eqns, None, jaxpr.debug_info)
    return core.ClosedJaxpr(opened, jaxpr.consts), [eqn for _, eqn in shown]


def first_departure(jaxpr, args, *, opset=api.DEFAULT_OPSET, rtol=None):
    """The first equation of a closed jaxpr whose exported results differ from the eager ones on `args`, or None.

    `args`: flat arrays.  Only the outermost program is searched; a loop or a branch counts as one equation.
    """
    program, eqns = intermediates(jaxpr)

    def run(*flat):
        return eval_jaxpr(program, program.consts, *flat)

    wanted = run(*args)
    found = api.export(run, opset=opset)(*args).call(*args)
    for eqn, got, want in zip(eqns, found, wanted):
        comparison = report.compare(eqn.primitive.name, np.asarray(got), np.asarray(want), rtol)
        if not comparison.is_close:
            return Departure(print_eqn(eqn), source.summarize(eqn.source_info), comparison)
    return None
