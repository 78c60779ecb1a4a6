"""Staging: tracing a function to a jaxpr."""

import numpy as np

from onax._core import jaxpr as core
from onax._core import leaks
from onax._core.axes import seen as seen_axes
from onax._core.evaluate import eval_jaxpr
from onax._core.explicit_axes import seen
from onax._core.mesh_context import meshes_in_context
from onax._core.refs import REF_EFFECTS, AbstractRef, Ref
from onax._core.trace import Trace, Tracer, as_array, escaped_tracer_error, set_current_trace, typeof, valid_jaxtype
from onax._core.zeros import Zero
from onax._ground import source
from onax._ground.config import is_strict
from onax._native.array import Array, ArrayImpl
from onax._native.avals import ShapedArray
from onax._native.dispatch import evaluate
from onax._prims.convert import convert_element_type_p
from onax._prims.creation import instantiate_zeros
from onax._prims.refs import get_p, new_ref_p, swap_p
from onax._transforms.flatten import FlatFunction, record_results
from onax._transforms.sharding_types import typed_results
from onax._transforms.varying_types import varying_in_scope, varying_results

# Types of objects that stand for arrays without values -> function that gives their avals.  While a program is only
# staged they can be constants, as in JAX.
valueless = {}


_SHOWN_OPERATIONS = 5  # so many of those that brought a value into a program are listed in messages, as in JAX


def _explicit_context():
    """The context of an equation over explicit axes of a mesh."""
    meshes = meshes_in_context()
    return core.context_of(seen.automatic, meshes if meshes.abstract is not None else None)


class DynamicJaxprTracer(Tracer):
    """A value that stands for one variable of the program under construction.

    Args:
      trace: the trace that stages.
      aval: its type.
      var: the Var.
      location: the place in the source that made it.

    Examples:
      >>> onax.jit(lambda x: isinstance(x, onax.interpreters.partial_eval.DynamicJaxprTracer))(1)
      Array(True, dtype=bool)
    """

    __slots__ = ("_var",)

    def __init__(self, trace, aval, var, location):
        self._trace = trace
        self.aval = aval
        self._var = var
        self._location = location

    def __bool__(self):
        known = None if self._trace.values is None else self._trace.values.single(self)
        return super().__bool__() if known is None else bool(known)

    def __repr__(self):
        if self._trace.values is not None:
            return self._trace.values.text(self)
        weak = "~" if self.aval.weak_type else ""
        return f"JitTracer({weak}{self.aval.str_short()})"

    def _origin_msg(self):
        """Lines of an error message: the function being traced, and the arguments that this value depends on."""
        return self._trace.origin_of(self)

    def _argument_names(self):
        """Names of the arguments that this value depends on; None if they could not be static."""
        return self._trace._arguments_behind(self._var) if self._trace.debug_info.traced_for == "jit" else None


class DynamicJaxprTrace(Trace):
    """Records every operation as an equation; values of other traces and arrays become constants.

    The scopes of equations are those within the program: it leaves out the first `outer_scopes` that are entered.
    `values` is None, or finds what its tracers stand for where arguments are known (`_control/shard_values.py`).
    """

    __slots__ = (
        "_consts_by_id", "consts", "constvars", "debug_info", "eqns", "invars", "locates", "outer_scopes", "values",
    )  # fmt: skip

    def __init__(self, debug_info, parent_trace=None):
        super().__init__(parent_trace)
        self.outer_scopes = 0
        self.values = None
        self.staging = self.locates = True
        self.debug_info = debug_info
        self.eqns = []
        self.invars = []
        self.constvars = []
        self.consts = []
        self._consts_by_id = {}

    def new_arg(self, aval):
        """A tracer for one more argument."""
        if seen_axes.varying:
            aval = varying_in_scope(aval)
        var = core.Var(aval)
        self.invars.append(var)
        return DynamicJaxprTracer(self, aval, var, None)

    def new_const(self, x):
        """A tracer for a constant."""
        atom = self.atom(x)
        return DynamicJaxprTracer(self, atom.aval, atom, source.user_locations())

    def subject(self):
        info = self.debug_info
        return "" if info is core.UNKNOWN_DEBUG_INFO else f"{info.func_src_info} traced for {info.traced_for}"

    def is_own(self, x):
        """Whether x is a tracer of this trace."""
        return isinstance(x, DynamicJaxprTracer) and x._trace is self

    def atom(self, x):
        """The variable or literal that stands for a value in this trace's jaxpr."""
        kind = type(x)
        if kind is DynamicJaxprTracer and x._trace is self:
            return x._var
        if kind is not ArrayImpl and not isinstance(x, Array):
            if hasattr(type(x), "__jax_array__"):  # a symbolic dimension becomes an operation
                return self.atom(x.__jax_array__())
            if type(x) in valueless:
                return self._constant(x, valueless[type(x)](x))
            aval = typeof(x)
            return self._constant(x, aval) if type(aval) is not ShapedArray or aval.shape else core.Literal(x, aval)
        aval = x.aval
        if kind is not ArrayImpl and isinstance(x, Tracer):
            if not x._trace.alive:
                raise escaped_tracer_error(x)
            return self._constant(x, aval)
        if not aval.shape and isinstance(aval.dtype, np.dtype):
            return core.Literal(x._value, aval)
        return self._constant(x, aval)

    def _constant(self, x, aval):
        known = self._consts_by_id.get(id(x))
        if known is None:
            var = core.Var(aval)
            self.constvars.append(var)
            kept = isinstance(x, Array) or type(x) is Ref or type(x) in valueless
            self.consts.append(x if kept else as_array(x))
            known = self._consts_by_id[id(x)] = (var, x)  # keeps x alive, so that no other object gets its id
        return known[0]

    def process_primitive(self, primitive, args, params):
        try:
            atoms = [self.atom(x) for x in args]
        except TypeError:
            _check_operands(primitive, args)
            raise
        if primitive is convert_element_type_p and type(atoms[0]) is core.Literal and not is_strict():
            # converted at once, as in JAX
            return self.new_const(evaluate(primitive, [atoms[0].array], params))
        return self.record(primitive, atoms, params)

    def _location(self):
        location = source.user_locations() or source.UNKNOWN
        return location.without_outer(self.outer_scopes) if self.outer_scopes and location.scopes else location

    def record(self, primitive, atoms, params):
        """Appends one equation; returns its result tracer, or a list of them."""
        in_avals = [a.aval for a in atoms]
        avals, effects = primitive.abstract(*in_avals, **params)
        if seen.explicit_axes:
            avals = typed_results(primitive, in_avals, avals, params)
        if seen_axes.varying:
            avals = varying_results(primitive, in_avals, avals, params)
        if AbstractRef in map(type, in_avals):
            effects = _check_takes_ref(primitive, effects)
        location = self._location() if self.locates else source.UNKNOWN  # the program runs at once and is not shown
        context = _explicit_context() if seen.explicit_axes else core.PLAIN_CONTEXT
        if not primitive.multiple_results:
            var = core.Var(avals)
            self.eqns.append(core.JaxprEqn(atoms, [var], primitive, params, effects, location, context))
            return DynamicJaxprTracer(self, avals, var, location)
        out_vars = [core.Var(a) for a in avals]
        effects = core.effects_of(effects, params)
        self.eqns.append(core.JaxprEqn(atoms, out_vars, primitive, params, effects, location, context))
        return [DynamicJaxprTracer(self, v.aval, v, location) for v in out_vars]

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        return primitive.stage(self, fun, jvp, args, symbolic_zeros, params)

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        return primitive.stage(self, fun, fwd, bwd, args, out_trees, symbolic_zeros, params)

    def records_refs(self, args):
        return True

    def make_ref(self, init):
        return self.record(new_ref_p, [self.atom(init)], {"kind": None, "memory_space": None})

    def read_ref(self, ref):
        return self.record(get_p, [self.atom(ref)], {"index": ()})

    def write_ref(self, ref, value):
        self.record(swap_p, [self.atom(ref), self.atom(value)], {"index": ()})

    def to_jaxpr(self, outs):
        """The closed jaxpr of everything recorded, with the given values as results."""
        outvars = [self.atom(x) for x in outs]
        for i, var in enumerate(outvars):
            if type(var.aval) is AbstractRef:
                raise self._returned_ref_error(var, i)
        if not self.staging:  # the program runs at once and is not shown, so its dead code may stay
            return core.Jaxpr(self.constvars, self.invars, outvars, self.eqns, None, self.debug_info, self.consts)
        used = {a for eqn in self.eqns for a in eqn.invars if type(a) is not core.Literal}
        used.update([a for a in outvars if type(a) is not core.Literal])
        constvars, consts = self._used_constants(used)
        _drop_unused_results(self.eqns, used)
        jaxpr = core.Jaxpr(constvars, self.invars, outvars, self.eqns, None, self.debug_info)
        return core.ClosedJaxpr(jaxpr, consts)

    def _returned_ref_error(self, var, number):
        """The error for a function that returns a mutable array reference as its result of this number."""
        info = self.debug_info
        paths = info.result_paths or ()
        path = paths[number] if number < len(paths) else "result"
        place = "" if path == "result" else f" at output tree path {path}"
        name = dict(zip(self.invars, info.arg_names or ())).get(var)
        maker = next((eqn for eqn in self.eqns if var in eqn.outvars), None)
        if name:
            origin = f"The returned mutable array was passed in as the argument {name}."
        elif maker is not None and maker.source_info:
            origin = f"The returned mutable array was created on line {source.summarize(maker.source_info)}."
        else:
            origin = "The returned mutable array was created outside of the function."
        return ValueError(
            f"function {info.func_src_info} traced for {info.traced_for} returned a mutable array reference of type "
            f"{var.aval.str_short()}{place}, but mutable array references cannot be returned.\n\n{origin}"
        )

    def _used_constants(self, used):
        used_pairs = [(v, c) for v, c in zip(self.constvars, self.consts) if v in used]
        return [v for v, _ in used_pairs], [c for _, c in used_pairs]

    def origin_of(self, tracer):
        """Sentences for error messages: the function, the transformation and the arguments it depends on."""
        info = self.debug_info
        text = f"The error occurred while tracing the function {info.func_src_info} for {info.traced_for}."
        names = [n for n in self._arguments_behind(tracer._var) if n]
        if names:
            listed = ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
            plural = "s" if len(names) > 1 else ""
            text += (
                " This concrete value was not available in Python because it depends on the "
                f"value{plural} of the argument{plural} {listed}."
            )
        elif tracer._location is not None:
            operations = self._readers_of_constants_behind(tracer._var)
            shown = [
                f"  operation {core.print_eqn(e)}\n    from line {source.summarize(e.source_info)}"
                for e in operations[:_SHOWN_OPERATIONS]
            ]
            if shown:
                text += " This value became a tracer due to JAX operations on these lines:\n\n" + "\n\n".join(shown)
            if len(operations) > _SHOWN_OPERATIONS:
                text += "\n\n(Additional originating lines are not shown.)"
        return text

    def _behind(self, var):
        """(variables, equations in their order) that a variable was computed from, itself included."""
        if type(var) is core.Literal:
            return set(), []
        reached, eqns = {var}, []
        for eqn in reversed(self.eqns):
            if any(v in reached for v in eqn.outvars):
                reached.update(a for a in eqn.invars if type(a) is not core.Literal)
                eqns.append(eqn)
        return reached, eqns[::-1]

    def _arguments_behind(self, var):
        """Names of the arguments that a variable was computed from, in their order."""
        reached, _ = self._behind(var)
        names = self.debug_info.arg_names
        return [names[i] for i, v in enumerate(self.invars) if v in reached and i < len(names)]

    def _readers_of_constants_behind(self, var):
        """The equations that brought a variable into the program, where it depends on no argument."""
        constants = set(self.constvars)
        return [
            eqn
            for eqn in self._behind(var)[1]
            if not eqn.invars or any(type(a) is core.Literal or a in constants for a in eqn.invars)
        ]


def _check_operands(primitive, args):
    """Raises TypeError for the first operand that is not an array; the message is that of evaluation."""
    for i, x in enumerate(args):
        if not valid_jaxtype(x):
            raise TypeError(
                f"Error interpreting argument to {primitive.name} as a JAX value. The problematic value is of type "
                f"{type(x)} and was passed to {primitive.name} at position {i}."
            ) from None


def _check_takes_ref(primitive, effects):
    """The effects of an operation on a reference.  Raises TypeError for an operation on arrays."""
    if not primitive.multiple_results and not effects:
        raise TypeError(
            f"{primitive.name} takes arrays, not mutable array references; read the array with `ref[...]` first"
        )
    return effects | REF_EFFECTS


def _drop_unused_results(eqns, used):
    for eqn in eqns:
        for i, var in enumerate(eqn.outvars):
            if var not in used:
                eqn.outvars[i] = core.DropVar(var.aval)


def trace_to_jaxpr(fun, in_avals, debug_info=core.UNKNOWN_DEBUG_INFO, values=None, trace_type=DynamicJaxprTrace):
    """Stages `fun`, which takes flat tracers and returns a flat sequence of values, on the given types.

    `values` finds what the tracers stand for, if that is known; `trace_type` is the class of the trace.

    Returns a ClosedJaxpr; its constants may be tracers of enclosing traces.  Its equations know the named scopes within
    it: who calls it or runs it in a loop adds those around it (`source.called_at`).
    """
    trace = trace_type(debug_info)
    trace.values = values
    scopes, source.here.scopes = source.here.scopes, ()
    try:
        with set_current_trace(trace):
            outs = fun(*[trace.new_arg(aval) for aval in in_avals])
            if isinstance(fun, FlatFunction) and debug_info is not core.UNKNOWN_DEBUG_INFO:
                record_results(debug_info, fun.out_tree)
            closed = trace.to_jaxpr(outs)
    finally:
        source.here.scopes = scopes
        trace.invalidate()
    if leaks.checking():
        watched = leaks.watch(trace)
        del trace, outs
        leaks.check(watched)
    return closed


def derive_jaxpr(fun, in_avals, jaxpr):
    """Stages `fun` on the given types into a program derived from another one, in whose cache it is stored.

    Equations have the source locations of those that they are derived from; other equations have none, because all
    users of the program share what is derived from it.
    """
    return trace_shared(fun, in_avals, jaxpr.debug_info)


def trace_shared(fun, in_avals, debug_info, trace_type=DynamicJaxprTrace):
    """As `trace_to_jaxpr`, for all callers of a function: its equations have no source location of their own."""
    outer, source.here.record = source.here.record, source.SHARED
    try:
        return trace_to_jaxpr(fun, in_avals, debug_info, trace_type=trace_type)
    finally:
        source.here.record = outer


def hoist_tracers(closed):
    """Splits a closed jaxpr: (jaxpr closed over arrays only, what it now takes as first arguments).

    These are tracers and mutable array references.
    """
    if not any(isinstance(c, (Tracer, Ref)) for c in closed.consts):
        return closed, []
    hoisted = [(v, c) for v, c in zip(closed.constvars, closed.consts) if isinstance(c, (Tracer, Ref))]
    arrays = [(v, c) for v, c in zip(closed.constvars, closed.consts) if not isinstance(c, (Tracer, Ref))]
    open_jaxpr = core.Jaxpr(
        [v for v, _ in arrays],
        [*(v for v, _ in hoisted), *closed.invars],
        closed.outvars,
        closed.eqns,
        closed.effects,
        closed.debug_info,
    )
    return core.ClosedJaxpr(open_jaxpr, [c for _, c in arrays]), [c for _, c in hoisted]


def instantiate_results(jaxpr, present, avals):
    """Adds arrays of zeros for missing results: `present` flags the results that exist, `avals` are all types."""
    if all(present):
        return jaxpr

    def fun(*args):
        outs = iter(eval_jaxpr(jaxpr, jaxpr.consts, *args))
        return [next(outs) if has else instantiate_zeros(Zero(a)) for has, a in zip(present, avals)]

    return derive_jaxpr(fun, jaxpr.in_avals, jaxpr)


__all__ = [
    "ArrayImpl",
    "DynamicJaxprTrace",
    "DynamicJaxprTracer",
    "hoist_tracers",
    "instantiate_results",
    "trace_to_jaxpr",
]
