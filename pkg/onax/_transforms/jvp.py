"""Forward mode: operations on pairs of a primal and a tangent."""

from collections.abc import Sequence

from onax._core import leaks
from onax._core.evaluate import eval_jaxpr
from onax._core.jaxpr import ClosedJaxpr
from onax._core.refs import RefWriteError
from onax._core.trace import (
    Trace,
    Tracer,
    find_cur_trace,
    set_current_trace,
    to_concrete_value,
    typeof,
)
from onax._core.zeros import SymbolicZero, Zero
from onax._ground.dtypes import float0
from onax._native.array import Array
from onax._native.source_info import user_location
from onax._prims.creation import instantiate_zeros
from onax._transforms.staging import derive_jaxpr


class JVPTracer(Tracer):
    """A value and its tangent.

    Args:
      trace: a JVPTrace.
      primal: the value.
      tangent: its tangent, possibly Zero.

    Examples:
      >>> onax.jvp(lambda x: isinstance(x, onax.interpreters.ad.JVPTracer) * x, (1.0,), (1.0,))[1]
      Array(1., dtype=float32, weak_type=True)
    """

    __slots__ = ("primal", "tangent")

    def __init__(self, trace, primal, tangent):
        self._trace = trace
        self.aval = primal.aval if isinstance(primal, Array) else typeof(primal)
        self.primal = primal
        self.tangent = tangent
        self._location = user_location()

    def __repr__(self):
        return f"JVPTracer(primal={self.primal}, tangent={self.tangent})"

    def to_concrete_value(self):
        """The concrete value of the primal, if it has one."""
        return to_concrete_value(self.primal)

    def _origin_msg(self):
        """That of the primal."""
        return (isinstance(self.primal, Tracer) and self.primal._origin_msg()) or super()._origin_msg()


class JVPTrace(Trace):
    """A trace that applies the tangent rule of each operation.

    Args:
      parent_trace: the trace that interprets the operations of the rules.

    Examples:
      >>> onax.jvp(lambda x: isinstance(x, onax.interpreters.ad.JVPTracer) * x, (1.0,), (1.0,))[1]
      Array(1., dtype=float32, weak_type=True)
    """

    __slots__ = ()
    tracer = JVPTracer
    transformation = "jvp"

    def unpack(self, x):
        """(primal, tangent) of a value; the tangent is a symbolic zero for values of other traces."""
        if isinstance(x, JVPTracer) and x._trace is self:
            return x.primal, x.tangent
        return x, Zero(typeof(x).to_tangent_aval())

    def pack(self, primal, tangent):
        """A tracer, unless the tangent is zero."""
        return primal if type(tangent) is Zero else self.tracer(self, primal, tangent)

    def process_primitive(self, primitive, args, params):
        pairs = [self.unpack(x) for x in args]
        primals = [p for p, _ in pairs]
        tangents = [t for _, t in pairs]
        parent = self.parent_trace
        if all(type(t) is Zero for t in tangents):
            return primitive.bind_with_trace(parent, primals, params)
        if primitive.jvp is None:
            raise NotImplementedError(f"Differentiation rule for '{primitive.name}' not implemented")
        if primitive.linearize is not None and parent.records_tangents and not any(map(parent.is_own, primals)):
            out, tangent_out = jvp_by_linearize_rule(primitive, primals, tangents, params, parent.parent_trace, parent)
        else:
            with set_current_trace(parent):
                out, tangent_out = primitive.jvp(primals, tangents, **params)
        if primitive.multiple_results:
            return [self.pack(p, t) for p, t in zip(out, tangent_out)]
        return self.pack(out, tangent_out)

    def make_ref(self, init):
        primal, tangent = self.unpack(init)
        ref = self.parent_trace.make_ref(primal)
        if tangent.aval.dtype == float0:
            return ref
        with set_current_trace(self.rule_trace()):
            tangent = instantiate_zeros(tangent)
        return self.tracer(self, ref, self.rule_trace().make_ref(tangent))

    def read_ref(self, ref):
        ref, tangent = self.unpack(ref)
        value = self.parent_trace.read_ref(ref)
        return value if type(tangent) is Zero else self.pack(value, self.rule_trace().read_ref(tangent))

    def write_ref(self, ref, value):
        ref, ref_tangent = self.unpack(ref)
        value, tangent = self.unpack(value)
        if type(tangent) is not Zero and not typeof(value).varying <= typeof(ref).inner_aval.varying:
            raise ValueError(
                f"a reference of type {typeof(ref).str_short()} cannot take a differentiated value of type "
                f"{typeof(value).str_short()}: make it of an array that varies over these mesh axes "
                "(jax.lax.pcast(..., to='varying'))"
            )
        if type(ref_tangent) is not Zero:
            with set_current_trace(self.rule_trace()):
                tangent = instantiate_zeros(tangent)
            self.rule_trace().write_ref(ref_tangent, tangent)
        elif type(tangent) is not Zero:
            raise RefWriteError("a differentiated", "a non-differentiated", "of the differentiated", ref)
        self.parent_trace.write_ref(ref, value)

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        pairs = [self.unpack(x) for x in args]
        if all(type(t) is Zero for _, t in pairs):
            with set_current_trace(self.parent_trace):
                return self.parent_trace.process_custom_jvp_call(
                    primitive, fun, jvp, [p for p, _ in pairs], symbolic_zeros=symbolic_zeros, params=params
                )
        outs, tangents_out = self.run_custom_jvp(jvp, pairs, symbolic_zeros)
        return [self.pack(p, t) for p, t in zip(outs, tangents_out)]

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        pairs = [self.unpack(x) for x in args]
        primals, tangents = [p for p, _ in pairs], [t for _, t in pairs]
        if all(type(t) is Zero for t in tangents):
            with set_current_trace(self.parent_trace):
                return self.parent_trace.process_custom_vjp_call(
                    primitive, fun, fwd, bwd, primals, out_trees=out_trees, symbolic_zeros=symbolic_zeros, params=params
                )
        with set_current_trace(self.rule_trace()):
            outs, tangents_out = primitive.apply_fwd_rule(fwd, bwd, out_trees, primals, tangents, symbolic_zeros)
        return [self.pack(p, t) for p, t in zip(outs, tangents_out)]

    def rule_trace(self):
        """The trace under which the rules of primitives run."""
        return self.parent_trace

    def run_custom_jvp(self, jvp, pairs, symbolic_zeros):
        """Applies a user's jvp rule; returns results and tangents."""
        with set_current_trace(self.parent_trace):
            return call_custom_jvp(jvp, pairs, symbolic_zeros)


def jvp_by_linearize_rule(primitive, primals, tangents, params, primal_trace, tangent_trace):
    """Applies a primitive's linearize rule: primal operations run under one trace, tangent operations under another.

    So a program of both, such as the jvp of a loop, is never bound under a trace that records tangents.
    """
    nonzeros = [type(t) is not Zero for t in tangents]
    with set_current_trace(primal_trace):
        out, _, residuals, linear = primitive.linearize(nonzeros, *primals, **params)
    with set_current_trace(tangent_trace), tangent_trace.recording_whole():
        return out, linear(residuals, *tangents)


def call_custom_jvp(jvp, pairs, symbolic_zeros):
    """Runs a user's jvp rule on flat (primal, tangent) pairs; returns (results, their tangents)."""
    if symbolic_zeros:
        tangents = [SymbolicZero(t.aval) if type(t) is Zero else t for _, t in pairs]
    else:
        tangents = [instantiate_zeros(t) for _, t in pairs]
    outs = jvp(*(p for p, _ in pairs), *tangents)
    half = len(outs) // 2
    return outs[:half], [_without_content(t) for t in outs[half:]]


def _without_content(t):
    """A tangent of a user's: zero symbolically where it says so, or has no content because the value is no float."""
    if isinstance(t, SymbolicZero):
        return Zero(t.aval)
    return Zero(typeof(t)) if type(t) is not Zero and typeof(t).dtype == float0 else t


def jvp_flat(fun, primals, tangents, at_end=None):
    """Runs a function on flat values; returns results and tangents, which may be symbolic zeros.

    `at_end(trace)` is called before the trace ends, to replace tracers in values that are not results by their primals.
    """
    trace = JVPTrace(find_cur_trace())
    trace.function = fun
    args = [trace.pack(p, _without_content(t)) for p, t in zip(primals, tangents)]
    try:
        with set_current_trace(trace):
            outs = fun(*args)
        pairs = [trace.unpack(x) for x in outs]
        if at_end is not None:
            at_end(trace)
    finally:
        trace.invalidate()
    if leaks.checking():
        watched = leaks.watch(trace)
        del args, outs, trace
        leaks.check(watched)
    return [p for p, _ in pairs], [t for _, t in pairs]


def jvp_jaxpr(
    jaxpr: ClosedJaxpr, nonzeros: Sequence[bool], instantiate: bool | Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool]]:
    """Returns the program of a program's results and their tangents.

    Args:
      jaxpr: a ClosedJaxpr.
      nonzeros: for each argument, whether it has a tangent.
      instantiate: a bool, or one for each result: a tangent that vanishes becomes an array of zeros.

    Returns:
      (ClosedJaxpr of (primals, tangents) -> (results, tangents), for each result whether it has a tangent).

    Examples:
      >>> program, nonzeros = onax.interpreters.ad.jvp_jaxpr(onax.make_jaxpr(jnp.sin)(1.0), [True], False)
      >>> nonzeros
      [True]
    """
    if isinstance(instantiate, bool):
        instantiate = (instantiate,) * len(jaxpr.outvars)
    key = ("jvp", tuple(nonzeros), tuple(instantiate))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _make_jvp_jaxpr(jaxpr, nonzeros, instantiate)
    return jaxpr.cache[key]


def _make_jvp_jaxpr(jaxpr, nonzeros, instantiate):
    nonzeros_out = []

    def fun(*args):
        primals, given = args[: len(jaxpr.invars)], iter(args[len(jaxpr.invars) :])
        tangents = [
            next(given) if nonzero else Zero(v.aval.to_tangent_aval()) for v, nonzero in zip(jaxpr.invars, nonzeros)
        ]
        outs, tangents_out = jvp_flat(lambda *xs: eval_jaxpr(jaxpr, jaxpr.consts, *xs), primals, tangents)
        tangents_out = [instantiate_zeros(t) if make else t for t, make in zip(tangents_out, instantiate)]
        nonzeros_out.extend(type(t) is not Zero for t in tangents_out)
        return [*outs, *(t for t in tangents_out if type(t) is not Zero)]

    avals = [v.aval for v in jaxpr.invars]
    tangent_avals = [a.to_tangent_aval() for a, nonzero in zip(avals, nonzeros) if nonzero]
    closed = derive_jaxpr(fun, [*avals, *tangent_avals], jaxpr)
    return closed, nonzeros_out
