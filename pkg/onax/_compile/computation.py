"""The part of a program that the runtime computes, and the origin of each of its results.

Arguments that no operation reads, and results that are arguments or constants, are not part of the ONNX model.
"""

from dataclasses import dataclass

import numpy as np

from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from onax._core.lists import select
from onax._core.rewrite import used_variables
from onax._native.jit_function import Executable
from onax.export.graph.kernels import ELEMENT_TYPES
from onax.export.lower.components import trailing_axes


class Computation:
    """A program after the passes for every target.

    Attributes:
      jaxpr: the whole program.
      core: the program without results that are arguments or constants; None if no result is left.
      kept: the positions of the arguments of `core`.
      outs, constants: the attributes of these names of Executable.
      native: `core` after the passes for the native target, once they have run.
      portable_graph: the graph in ONNX's own operators, cached because several devices may open sessions for it.
      dump: the Dump that writes programs after passes, or None.
    """

    __slots__ = ("constants", "core", "dump", "jaxpr", "kept", "native", "outs", "portable_graph")

    def __init__(self, jaxpr, keep_unused=False, dump=None):
        self.jaxpr = jaxpr
        self.dump = dump
        self.native = None
        self.constants = []
        self.outs = []
        self.portable_graph = None
        computed = self._sort_results({v: i for i, v in enumerate(jaxpr.invars)})
        self.kept = list(range(len(jaxpr.invars)))
        self.core = None
        if computed or jaxpr.effects:
            core = Jaxpr(jaxpr.constvars, jaxpr.invars, computed, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
            used = used_variables(core)
            read = [v in used for v in core.constvars]  # others are results, perhaps of dtypes that ONNX does not have
            core.constvars = select(core.constvars, read)
            if not keep_unused:
                self.kept = [i for i, v in enumerate(core.invars) if v in used]
                core.invars = [jaxpr.invars[i] for i in self.kept]
            self.core = ClosedJaxpr(core, select(jaxpr.consts, read))

    def _sort_results(self, arguments):
        """Sets `outs` and `constants`; returns the variables that the runtime computes, each once."""
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
                index = computed.setdefault(atom, len(computed))
                self.outs.append(("computed", index, aval.weak_type, extended))
        return list(computed)

    def arguments_read(self):
        """Positions of the arguments that the program reads or returns."""
        return {*(self.kept if self.core else ()), *(out[1] for out in self.outs if out[0] == "forwarded")}

    def executable(self, runner, explain=None, is_session=True):
        """The Executable with a runner for `core`, or None if there is no `core`.

        A session takes and gives values of dtypes without an ONNX type as numbers with trailing axes; a tape as NumPy
        has them.
        """
        core = self.core if runner is not None else None
        adapted = core if is_session else None
        return Executable(
            runner,
            self.kept if core else (),
            self.outs,
            n_args=len(self.jaxpr.invars),
            constants=self.constants,
            explain=explain,
            adapt_in=_adapters(_to_physical, core.in_avals) if adapted else None,
            adapt_out=_adapters(_from_physical, core.out_avals) if adapted else None,
        )


# ---- the runtime takes and returns values of dtypes without an ONNX type as numbers with trailing axes


def _adapters(make, avals):
    """A conversion function for each value, or None if none needs one."""
    return None if all(map(_is_plain, avals)) else [None if _is_plain(a) else make(a) for a in avals]


def _is_plain(aval):
    return aval.dtype in ELEMENT_TYPES


def _to_physical(aval):
    axes, dtype = trailing_axes(aval.dtype)
    return lambda a: np.asarray(a, order="C").reshape(-1).view(dtype).reshape((*a.shape, *axes))


def _from_physical(aval):
    return FromPhysical(aval.dtype if isinstance(aval.dtype, np.dtype) else aval.dtype.storage, aval.shape)


@dataclass(slots=True, frozen=True)
class FromPhysical:
    """Makes an array of a dtype without an ONNX type of its numbers."""

    dtype: object
    shape: tuple

    def __call__(self, a):
        return a.reshape(-1).view(self.dtype).reshape(self.shape)
