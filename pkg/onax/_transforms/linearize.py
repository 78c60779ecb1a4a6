"""Linearization: primal operations are evaluated, tangent operations are recorded.

One trace does both.  For each operation the primitive's jvp rule runs under a `TangentTrace`.  Operations on
tangents are recorded as equations of the linear program; others go to the parent trace, and a result that a recorded
equation reads becomes a constant of the linear program (a residual).  A primitive whose parameters are jaxprs has a
`linearize` rule:

    linearize(nonzeros, *primals, **params) -> (results, nonzeros_out, residuals, linear)
    linear(residuals, *tangents) -> tangents of the results       (run under the TangentTrace; Zero where vanishing)
"""

from dataclasses import dataclass

from onax._core import jaxpr as core
from onax._core import leaks
from onax._core.evaluate import jaxpr_as_fun
from onax._core.lists import select
from onax._core.rewrite import eliminate_dead_code, flags_of
from onax._core.trace import (
    find_cur_trace,
    set_current_trace,
    typeof,
)
from onax._core.zeros import Zero
from onax._ground.dtypes import float0
from onax._ground.source import here
from onax._transforms.jvp import JVPTrace, JVPTracer, call_custom_jvp, jvp_by_linearize_rule
from onax._transforms.partial_eval import TangentTrace, stage_with_residuals
from onax._transforms.staging import DynamicJaxprTracer, instantiate_results

NO_KNOWN_RESULT = (
    "Linearization failed to produce known values for all output primals. This is typically caused by attempting to "
    "differentiate a function uses an operation that does not support reverse-mode autodiff."
)


class LinearizeTracer(JVPTracer):
    """A primal value and the recorded tangent."""

    __slots__ = ()

    def __repr__(self):
        tangent = typeof(self.tangent).str_short(short_dtypes=True)
        return f"GradTracer(primal={self.primal}, typeof(tangent)={tangent})"


class LinearizeTrace(JVPTrace):
    """Runs primal operations under the parent and records operations on tangents in `tangent_trace`."""

    __slots__ = ("tangent_trace",)
    tracer = LinearizeTracer

    def __init__(self, parent_trace, debug_info):
        super().__init__(parent_trace)
        self.tangent_trace = TangentTrace(debug_info, parent_trace)

    def pack(self, primal, tangent):
        return primal if type(tangent) is Zero else LinearizeTracer(self, primal, tangent)

    def subject(self):
        return self.tangent_trace.subject()

    def invalidate(self):
        super().invalidate()
        self.tangent_trace.invalidate()

    def process_primitive(self, primitive, args, params):
        primals, tangents, active = [], [], 0
        for x in args:
            if type(x) is LinearizeTracer and x._trace is self:
                tangent = x.tangent
                primals.append(x.primal)
                tangents.append(tangent if tangent.aval.dtype != float0 else Zero(tangent.aval))
                active += 1
            else:
                primals.append(x)
                tangents.append(None)
        if not active:
            return primitive.bind_with_trace(self.parent_trace, primals, params)
        if active < len(tangents):
            tangents = [Zero(typeof(p).to_tangent_aval()) if t is None else t for p, t in zip(primals, tangents)]
        if primitive.linearize is not None:
            out, tangent_out = jvp_by_linearize_rule(
                primitive, primals, tangents, params, self.parent_trace, self.tangent_trace
            )
        elif primitive.jvp is None:
            raise NotImplementedError(f"Differentiation rule for '{primitive.name}' not implemented")
        else:
            with set_current_trace(self.tangent_trace):
                out, tangent_out = primitive.jvp(primals, tangents, **params)
            if primitive.multiple_results:
                self._check_known(out)
            elif type(out) is DynamicJaxprTracer and out._trace is self.tangent_trace:
                raise ValueError(NO_KNOWN_RESULT)
        if primitive.multiple_results:
            return [self.pack(p, t) for p, t in zip(out, tangent_out)]
        return self.pack(out, tangent_out)

    def _check_known(self, outs):
        """Raises an error for a primal result that a rule computed from tangents: nothing else would detect it."""
        tangent_trace = self.tangent_trace
        for x in outs:
            if type(x) is DynamicJaxprTracer and x._trace is tangent_trace:
                raise ValueError(NO_KNOWN_RESULT)

    def rule_trace(self):
        """The trace under which rules run; it records operations on tangents."""
        return self.tangent_trace

    def run_custom_jvp(self, jvp, pairs, symbolic_zeros):
        """Applies a user's jvp rule, and records its operations on tangents."""
        with set_current_trace(self.tangent_trace):
            outs, tangents_out = call_custom_jvp(jvp, pairs, symbolic_zeros)
        self._check_known(outs)
        return outs, [self._own_tangent(t) for t in tangents_out]

    def _own_tangent(self, t):
        """Replaces a tangent that does not depend on the incoming tangents by zero, as JAX does."""
        return t if type(t) is Zero or self.tangent_trace.is_own(t) else Zero(typeof(t))


@dataclass(slots=True, eq=False)
class Linearized:
    """A linearized function: its results, and the linear program with its residuals.

    Attributes:
      jaxpr: its constvars are residuals, its arguments the tangents of the active inputs, its results the nonzero
        tangents.
      primals: the arguments if derivatives must vary over the same mesh axes as these, else None.
    """

    outs: list
    jaxpr: core.Jaxpr
    residuals: list
    nonzeros_out: list
    primals: list | None = None


def linearize_flat(
    fun, primals, nonzeros=None, debug_info=core.UNKNOWN_DEBUG_INFO, at_end=None, holds_scalars=False, scopes=()
):
    """Linearizes a function from flat values to flat values at the given primals; its operations are within `scopes`.

    `at_end(trace)` is called before the trace ends, to replace tracers in values that are not results by their primals.
    With `holds_scalars` every known scalar is a residual; otherwise one that is no tracer stands in the linear program.
    """
    trace = LinearizeTrace(find_cur_trace(), debug_info)
    tangent_trace = trace.tangent_trace
    tangent_trace.holds_scalars = holds_scalars
    if nonzeros is None:
        nonzeros = [True] * len(primals)
    args = [
        LinearizeTracer(trace, p, tangent_trace.new_arg(typeof(p).to_tangent_aval())) if nonzero else p
        for p, nonzero in zip(primals, nonzeros)
    ]
    entered, here.scopes = here.scopes, here.scopes + scopes
    try:
        with set_current_trace(trace):
            outs = fun(*args)
        pairs = [trace.unpack(x) for x in outs]
        nonzeros_out = [type(t) is not Zero for _, t in pairs]
        jaxpr = tangent_trace.to_jaxpr([t for _, t in pairs if type(t) is not Zero])
        if at_end is not None:
            at_end(trace)
    finally:
        here.scopes = entered
        trace.invalidate()
    if leaks.checking():
        watched = leaks.watch(trace, tangent_trace)
        pairs = [(p, None) for p, _ in pairs]
        del args, outs, trace, tangent_trace
        leaks.check(watched)
    return Linearized([p for p, _ in pairs], jaxpr, jaxpr.consts, nonzeros_out)


def linearize_jaxpr(jaxpr, nonzeros, instantiate=False):
    """Splits a closed jaxpr into a forward and a linear one; the outcome is cached with the jaxpr.

    Returns (forward, linear, nonzeros_out, forwarded): `forward` maps arguments to (results, residuals); `linear` maps
    (residuals, tangents of the nonzero arguments) to the nonzero tangents of the results.  A residual that is one of
    the arguments is not among the results of `forward`: `forwarded[i]` is its position among the arguments, else None.
    `instantiate`: a bool, or a list with one bool per result: makes arrays of zeros where a tangent vanishes.
    """
    instantiate = flags_of(instantiate, len(jaxpr.outvars))
    key = ("linearize", tuple(nonzeros), tuple(instantiate))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _linearize_jaxpr(jaxpr, nonzeros, instantiate)
    return jaxpr.cache[key]


def _linearize_jaxpr(jaxpr, nonzeros, instantiate):
    def run(*args):
        lin = linearize_flat(jaxpr_as_fun(jaxpr), args, nonzeros, jaxpr.debug_info)
        return lin.outs, eliminate_dead_code(lin.jaxpr), lin.nonzeros_out

    forward, linear, nonzeros_out, forwarded = stage_with_residuals(run, jaxpr.in_avals, jaxpr)
    has_tangent = [found or make for found, make in zip(nonzeros_out, instantiate)]
    avals = [a.to_tangent_aval() for a in select(jaxpr.out_avals, has_tangent)]
    return (
        eliminate_dead_code(forward),
        instantiate_results(linear, select(nonzeros_out, has_tangent), avals),
        has_tangent,
        forwarded,
    )
