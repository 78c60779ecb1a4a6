"""From a jaxpr to an Executable: what the runtime computes, what is handed through, what is constant.

    jaxpr -> simplify -> results sorted into computed / forwarded / constant -> one ONNX model -> session

Arguments that no operation reads stay outside the model, and a result that is an argument or a constant never enters
it.  Constants above `SHARED_BYTES` are given to the session by reference.
"""

import numpy as np
from onax._compile import options
from onax._core.evaluate import program_of
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from onax._ground import lazy
from onax._ground.errors import BackendError
from onax._native import context
from onax._native.array import make_array
from onax._native.call import Executable
from onax._transforms.simplify import simplify, used_inputs

SHARED_BYTES = 1024


class Plan:
    """A jaxpr taken apart: `core` is what is left to compute, or None.

    `kept` are the positions of the arguments that `core` takes; `outs` and `constants` are those of Executable.
    """

    __slots__ = ("constants", "core", "jaxpr", "kept", "outs")

    def __init__(self, jaxpr, keep_unused=False):
        jaxpr = simplify(jaxpr)
        self.jaxpr = jaxpr
        self.constants = []
        self.outs = []
        computed = self._sort_results(dict(zip(jaxpr.invars, range(len(jaxpr.invars)))))
        self.kept = list(range(len(jaxpr.invars)))
        self.core = None
        if computed or jaxpr.effects:
            core = Jaxpr(jaxpr.constvars, jaxpr.invars, computed, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
            if not keep_unused:
                self.kept = [i for i, used in enumerate(used_inputs(core)) if used]
                core.invars = [jaxpr.invars[i] for i in self.kept]
            self.core = ClosedJaxpr(core, jaxpr.consts)

    def _sort_results(self, arguments):
        """Fills `outs` and `constants`; returns the variables that are left to compute, each once."""
        known = dict(zip(self.jaxpr.constvars, self.jaxpr.consts))
        computed = {}
        for atom in self.jaxpr.outvars:
            aval = atom.aval
            extended = None if isinstance(aval.dtype, np.dtype) else aval.dtype
            if type(atom) is Literal or atom in known:
                self.constants.append(atom.array if type(atom) is Literal else known[atom])
                self.outs.append(("constant", len(self.constants) - 1, aval.weak_type, extended))
            elif atom in arguments:
                self.outs.append(("forwarded", arguments[atom], aval.weak_type, extended))
            else:
                place = computed.setdefault(atom, len(computed))
                self.outs.append(("computed", place, aval.weak_type, extended))
        return list(computed)

    def executable(self, runner, name):
        """The Executable of this plan over a runner of `core`."""

        def explain(error):
            return BackendError(f"ONNX Runtime failed while running {name}. {error}")

        return Executable(
            runner,
            self.kept if runner is not None else (),
            self.outs,
            n_args=len(self.jaxpr.invars),
            constants=self.constants,
            explain=explain,
        )


def interpreted(core):
    """A runner that carries a closed jaxpr out operation by operation."""
    program = program_of(core)
    in_avals = core.in_avals

    def run(buffers):
        args = [make_array(b, a.dtype, a.weak_type) for b, a in zip(buffers, in_avals)]
        previous = context.swap_trace(None)
        try:
            return [np.asarray(x._value) for x in program.run(core.consts, args)]
        finally:
            context.swap_trace(previous)

    return run


def compile_plan(plan, name, compiler_options=None):
    """The Executable of a plan.  Raises LoweringError for what has no ONNX form, BackendError if it is refused."""
    if plan.core is None:
        return plan.executable(None, name)
    return plan.executable(interpreted(plan.core), name)


__all__ = ["Plan", "compile_plan", "interpreted", "lazy", "options"]
