"""Partial evaluation: splitting programs by what is known.

A value is *known* or *unknown*.  An operation on known values belongs to the known part; one that touches an unknown
value is recorded in the rest.  Values of the known part that the rest reads are its *residuals*.

    partial_eval                a function: known operations are evaluated, the rest becomes a jaxpr
    partial_eval_jaxpr          a closed jaxpr becomes two; every residual is saved
    partial_eval_jaxpr_custom   a closed jaxpr becomes two; a policy says which values are saved, others are recomputed
    split_equations             marks each equation of a jaxpr known or unknown, and splits calls

For linearization tangents are the unknown values, and the rest is linear: `linearize` runs a function under a
`TangentTrace`.  `partial_eval_jaxpr` splits loops, branches and calls in `custom_jvp` rules, which compute primals and
tangents together; `checkpoint` uses `partial_eval_jaxpr_custom`; loops use `split_equations` to hoist what depends on
constants alone.

The two functions for jaxprs make different programs, as JAX's do.  Without a policy the rest must be linear, because
`backward_pass` transposes it: a loop becomes two loops, and custom rules disappear.  With a policy the rest is
differentiated once more: the second part of a loop computes the whole loop, and a policy that saves everything gives no
linear program either.  Printed programs differ too: without a policy the known part is traced again, known scalars
become literals, and residuals have the order of `residual_order`; with one, equations stay as they are, and residuals
have the order in which they are read.
"""

import contextlib
from dataclasses import dataclass

from onax._core import jaxpr as core
from onax._core.evaluate import jaxpr_as_fun
from onax._core.lists import merge_lists, reject, select
from onax._core.programs import Call, programs
from onax._core.result_checks import SPECIAL
from onax._core.rewrite import close, eliminate_dead_code, flags_of
from onax._core.slots import Slot
from onax._core.trace import find_cur_trace, set_current_trace
from onax._ground import source
from onax._native.context import option_word
from onax._transforms.discharge import discharge_refs
from onax._transforms.staging import DynamicJaxprTrace, DynamicJaxprTracer, derive_jaxpr


class PartialEvalTrace(DynamicJaxprTrace):
    """Records operations on unknown values; hands every other operation to the parent.

    A primitive that can be split (a call, a loop) has a `partial_eval` rule:

        partial_eval(unknown, *args, **params)    `unknown`: which operands are unknown; runs under this trace

    It returns None when the operation can be recorded as it is.
    """

    __slots__ = ("whole",)
    transformation = "partial evaluation"

    def __init__(self, debug_info, parent_trace):
        super().__init__(debug_info, parent_trace)
        self.outer_scopes = len(source.here.scopes)
        self.whole = False

    def process_primitive(self, primitive, args, params):
        for x in args:
            if type(x) is DynamicJaxprTracer and x._trace is self:
                break
        else:
            return primitive.bind_with_trace(self.parent_trace, args, params)
        if primitive.partial_eval is not None and not self.whole:
            with set_current_trace(self):
                outs = primitive.partial_eval([self.is_own(x) for x in args], *args, **params)
            if outs is not None:
                return outs
        return self.record_whole(primitive, args, params)

    @contextlib.contextmanager
    def recording_whole(self):
        """Context manager in which every operation is recorded whole, without its `partial_eval` rule."""
        before, self.whole = self.whole, True
        try:
            yield
        finally:
            self.whole = before

    def record_whole(self, primitive, args, params):
        """Records an operation whole; known operands become constants."""
        atoms = [x._var if type(x) is DynamicJaxprTracer and x._trace is self else self.atom(x) for x in args]
        return self.record(primitive, atoms, params)

    def new_const(self, x):
        return self.parent_trace.new_const(x)

    def records_refs(self, args):
        return any(self.is_own(x) for x in args)

    def read_ref(self, ref):
        return super().read_ref(ref) if self.is_own(ref) else self.parent_trace.read_ref(ref)

    def write_ref(self, ref, value):
        if self.is_own(ref):
            super().write_ref(ref, value)
        else:
            self.parent_trace.write_ref(ref, value)

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        if any(self.is_own(x) for x in args):
            return self.custom_call(
                super().process_custom_jvp_call, primitive, fun, jvp, args, symbolic_zeros=symbolic_zeros, params=params
            )
        with set_current_trace(self.parent_trace):
            return self.parent_trace.process_custom_jvp_call(
                primitive, fun, jvp, args, symbolic_zeros=symbolic_zeros, params=params
            )

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        given = {"out_trees": out_trees, "symbolic_zeros": symbolic_zeros, "params": params}
        if any(self.is_own(x) for x in args):
            return self.custom_call(super().process_custom_vjp_call, primitive, fun, fwd, bwd, args, **given)
        with set_current_trace(self.parent_trace):
            return self.parent_trace.process_custom_vjp_call(primitive, fun, fwd, bwd, args, **given)

    def custom_call(self, record, primitive, fun, *rest, **params):
        """The results of a custom_jvp or custom_vjp function on unknown values."""
        return record(primitive, fun, *rest, **params)


class TangentTrace(PartialEvalTrace):
    """A PartialEvalTrace whose unknown values are tangents; it records a linear program."""

    __slots__ = ("holds_scalars",)
    transformation = ""
    records_tangents = True

    def __init__(self, debug_info, parent_trace, holds_scalars=False):
        super().__init__(debug_info, parent_trace)
        self.holds_scalars = holds_scalars
        self.staging = parent_trace.staging
        self.locates = self.staging or bool(option_word() & SPECIAL)  # for the line in errors of the backward pass

    def to_jaxpr(self, outs):
        return discharge_refs(super().to_jaxpr(outs))

    def atom(self, x):
        """As in other traces, but where `holds_scalars` a known scalar is a residual too."""
        atom = super().atom(x)
        return self._constant(x, atom.aval) if self.holds_scalars and type(atom) is core.Literal else atom

    def custom_call(self, record, primitive, fun, *rest, **params):
        """Inlines the function: it is linear in its tangents already, so its rule is not needed."""
        args = rest[-1]
        return fun(*args)


def partial_eval(fun, args, unknown, trace_type, instantiate=False, debug_info=core.UNKNOWN_DEBUG_INFO):
    """Runs `fun`, from flat values to flat values, of whose arguments some are unknown.

    Args:
      args: a value per argument, or a type where `unknown` holds.
      trace_type: PartialEvalTrace, or TangentTrace for a function that is linear in its unknown arguments.
      instantiate: a bool, or a list with one bool per result: makes this result unknown even if it is known.

    Returns (jaxpr of the unknown arguments and results whose constants are the residuals, all results, which of them
    are unknown).
    """
    trace = trace_type(debug_info, find_cur_trace())
    args = [trace.new_arg(x) if is_unknown else x for x, is_unknown in zip(args, unknown)]
    try:
        with set_current_trace(trace):
            outs = list(fun(*args))
            instantiate = flags_of(instantiate, len(outs))
            unknown_out = [make or trace.is_own(x) for x, make in zip(outs, instantiate)]
            rest = trace.to_jaxpr(select(outs, unknown_out))
    finally:
        trace.invalidate()
    return rest, outs, unknown_out


# ---- jaxprs, with every residual saved


def partial_eval_jaxpr(jaxpr, unknown, instantiate=False):
    """Splits a closed jaxpr by which of its arguments are unknown; the outcome is cached with the jaxpr.

    Returns (known, rest, unknown_out, forwarded) in the form of `linearize_jaxpr`: `known` maps the known arguments to
    (the results that depend on no other, residuals); `rest` maps (residuals, unknown arguments) to the other results.
    A residual that is a known argument is not among the results of `known`: `forwarded[i]` is its position among the
    arguments of `known`, else None.  `instantiate`: a bool, or a list with one bool per result: leaves a known result
    to `rest`.
    """
    instantiate = flags_of(instantiate, len(jaxpr.outvars))
    key = ("partial_eval", tuple(unknown), tuple(instantiate))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _partial_eval_jaxpr(jaxpr, unknown, instantiate)
    return jaxpr.cache[key]


def _partial_eval_jaxpr(jaxpr, unknown, instantiate):
    eqns, _ = split_equations(jaxpr, select(jaxpr.invars, unknown))
    run = jaxpr_as_fun(close(jaxpr, jaxpr.invars, jaxpr.outvars, [eqn for eqn, _ in eqns]))
    avals = jaxpr.in_avals

    def run_known(*known):
        args = merge_lists(unknown, known, select(avals, unknown))
        rest, outs, unknown_out = partial_eval(run, args, unknown, TangentTrace, instantiate, jaxpr.debug_info)
        return reject(outs, unknown_out), _in_residual_order(rest), unknown_out

    known, rest, unknown_out, forwarded = stage_with_residuals(run_known, reject(avals, unknown), jaxpr)
    # The programs inside the known part keep their dead code, as in JAX.
    return eliminate_dead_code(known, bodies=False), rest, unknown_out, forwarded


def stage_with_residuals(fun, avals, jaxpr):
    """(known, rest, extra, forwarded) of `fun(*args) -> (results, jaxpr whose constants are residuals, extra)`.

    `known` maps the arguments to (results, residuals), without residuals that are arguments: `forwarded` has the
    positions of these, and None for others.  `rest` is the jaxpr that takes its residuals as its first arguments.
    """
    parts = []

    def run(*args):
        outs, rest, extra = fun(*args)
        positions = {id(x): i for i, x in enumerate(args)}
        forwarded = [positions.get(id(r)) for r in rest.consts]
        open_rest = core.Jaxpr(rest.constvars, rest.invars, rest.outvars, rest.eqns, rest.effects, rest.debug_info)
        parts[:] = core.ClosedJaxpr(core.convert_constvars_jaxpr(open_rest), ()), extra, forwarded
        return [*outs, *(r for r, f in zip(rest.consts, forwarded) if f is None)]

    return derive_jaxpr(run, avals, jaxpr), *parts


def _in_residual_order(jaxpr):
    positions = {v: i for i, v in enumerate(jaxpr.constvars)}
    order = [positions[v] for v in residual_order(jaxpr.eqns, jaxpr.invars, jaxpr.outvars) if v in positions]
    constvars = [jaxpr.constvars[i] for i in order]
    open_jaxpr = core.Jaxpr(constvars, jaxpr.invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
    return core.ClosedJaxpr(open_jaxpr, [jaxpr.consts[i] for i in order])


def residual_order(eqns, invars, outvars):
    """The free variables of equations and results, in JAX's order.

    JAX finds them with the topological sort from the results backward of Autograd (Maclaurin et al., 2015); each read
    of a variable counts as a node.
    """
    made_by = {v: eqn for eqn in eqns for v in eqn.outvars}
    inputs = set(invars)
    ends = [*invars, *(a for a in outvars if type(a) is not core.Literal)]
    ends = [v if v in made_by or v in inputs else _Read(v) for v in ends]
    operands = {
        id(eqn): [a if a in made_by or a in inputs else _Read(a) for a in eqn.invars if type(a) is not core.Literal]
        for eqn in eqns
    }
    parents = lambda node: operands[id(made_by[node])] if node in made_by else ()
    children, stack = {}, list(ends)
    while stack:
        node = stack.pop()
        if node in children:
            children[node] += 1
        else:
            children[node] = 1
            stack.extend(parents(node))
    for node in ends:
        children[node] -= 1
    free, order = [node for node in dict.fromkeys(ends) if children[node] == 0], []
    while free:
        node = free.pop()
        order.append(node)
        for parent in parents(node):
            if children[parent] == 1:
                free.append(parent)
            else:
                children[parent] -= 1
    return list(dict.fromkeys(n.var for n in reversed(order) if type(n) is _Read))


@dataclass(slots=True, eq=False)
class _Read:
    """One read of a variable of the known part."""

    var: core.Var


# ---- equations


def split_equations(jaxpr, unknown, hold_effects=False):
    """([(equation, whether it is unknown), ...], set of the unknown variables) of a program.

    `unknown` are the unknown arguments.  A call that is partly unknown becomes two.  With `hold_effects`
    equations with effects are unknown.
    """
    unknown, eqns = set(unknown), []
    for eqn in jaxpr.eqns:
        flags = [type(a) is not core.Literal and a in unknown for a in eqn.invars]
        if any(flags) and not eqn.effects and _is_divisible(eqn):
            known, eqn = _split_call(eqn, flags)
            eqns.append((known, False))
        is_unknown = any(flags) or (hold_effects and bool(eqn.effects))
        eqns.append((eqn, is_unknown))
        if is_unknown:
            unknown.update(eqn.outvars)
    return eqns, unknown


def _is_divisible(eqn):
    description = programs.get(eqn.primitive)
    return type(description) is Call and description.divisible


def _split_call(eqn, unknown):
    """Splits a call into one of the known part, which may be empty, and one of the rest."""
    description = programs[eqn.primitive]
    known, rest, unknown_out, forwarded = partial_eval_jaxpr(eqn.params[description.parameter], unknown)
    n = len(forwarded)
    stored = [None if f is not None else core.Var(v.aval) for f, v in zip(forwarded, rest.invars)]
    positions = {v: i for i, v in enumerate(rest.invars[:n])}
    order = [positions[v] for v in residual_order(rest.eqns, rest.invars[n:], rest.outvars) if v in positions]
    n_known = unknown_out.count(False)
    computed = iter(known.outvars[n_known:])
    results = [None if v is None else next(computed) for v in stored]
    stored_positions = [i for i in order if stored[i] is not None]
    known = close(known, known.invars, [*known.outvars[:n_known], *(results[i] for i in stored_positions)])
    rest = close(rest, [*rest.invars[n:], *(rest.invars[i] for i in order)], rest.outvars)
    operands = reject(eqn.invars, unknown)
    residuals = [operands[forwarded[i]] if stored[i] is None else stored[i] for i in order]
    first = eqn.replace(
        invars=operands,
        outvars=[*reject(eqn.outvars, unknown_out), *(stored[i] for i in stored_positions)],
        params=description.with_program(eqn.params, known),
    )
    second = eqn.replace(
        invars=[*select(eqn.invars, unknown), *residuals],
        outvars=select(eqn.outvars, unknown_out),
        params=description.with_program(eqn.params, rest),
    )
    return first, second


# ---- jaxprs, with a policy

partial_eval_custom_rules = Slot(
    "partial_eval_custom",
    "rule(saveable, unknown, instantiated, eqn) -> (known equation or None, staged equation or None, which results are "
    "unknown, which are instantiated, residuals)",
    "The policy decides whether the results are saved; if not, the staged program computes them again.",
    "onax._control",
)


def partial_eval_jaxpr_custom(
    jaxpr, unknown, saveable, ensure_out_unknown=False, instantiated=True, ensure_out_instantiated=False
):
    """(known, staged, which results are unknown, which are instantiated, types of the residuals) of a closed program.

    A known value is *instantiated* if the staged program has it too, as an argument or because it computes it again;
    one that the staged program needs without having it is a residual.

    Args:
      saveable: `saveable(eqn)`: whether the results of a known equation are saved and not computed again.
      unknown, instantiated: flags of the arguments.
      ensure_out_unknown: flags of results that are left to `staged`.
      ensure_out_instantiated: flags of results that `staged` gives in any case.

    `known` maps the known arguments to (the known results, residuals); `staged` maps (residuals, the instantiated
    arguments) to the instantiated results.
    """
    instantiated = flags_of(instantiated, len(jaxpr.invars))
    state = dict.fromkeys(jaxpr.constvars, (False, True))  # variable -> (unknown, instantiated)
    state.update(zip(jaxpr.invars, zip(unknown, instantiated)))
    read = lambda atom: (False, True) if type(atom) is core.Literal else state[atom]
    known, staged, residuals = [], [], {}
    for eqn in jaxpr.eqns:
        unknown_in, instantiated_in = zip(*map(read, eqn.invars)) if eqn.invars else ((), ())
        rule = partial_eval_custom_rules.get(eqn.primitive, _partial_eval_equation)
        first, second, unknown_out, instantiated_out, stored = rule(saveable, unknown_in, instantiated_in, eqn)
        known += [] if first is None else [first]
        staged += [] if second is None else [second]
        residuals.update(dict.fromkeys(stored))
        state.update(zip(eqn.outvars, zip(unknown_out, instantiated_out)))
    flags = [read(a) for a in jaxpr.outvars]
    to_unknown = flags_of(ensure_out_unknown, len(flags))
    to_instantiate = flags_of(ensure_out_instantiated, len(flags))
    unknown_out = [flag or ensure for (flag, _), ensure in zip(flags, to_unknown)]
    instantiated_out = [flag or any(ensure) for (_, flag), *ensure in zip(flags, to_unknown, to_instantiate)]
    for atom, (_, has), is_instantiated in zip(jaxpr.outvars, flags, instantiated_out):
        if is_instantiated and not has:
            residuals[atom] = None
    stored = list(residuals)
    first = close(jaxpr, reject(jaxpr.invars, unknown), [*reject(jaxpr.outvars, unknown_out), *stored], known)
    second_in, second_out = [*stored, *select(jaxpr.invars, instantiated)], select(jaxpr.outvars, instantiated_out)
    return first, close(jaxpr, second_in, second_out, staged), unknown_out, instantiated_out, [v.aval for v in stored]


def _partial_eval_equation(saveable, unknown, instantiated, eqn):
    """The rule of primitives without programs.

    Callbacks for debugging run in both parts, unless the policy saves them and the staged program lacks an operand.
    """
    is_unknown = any(unknown)
    n_out = len(eqn.outvars)
    runs_again = bool(eqn.effects) and not n_out and all(instantiated)
    if not is_unknown and not runs_again and saveable(eqn):
        return eqn, None, [False] * n_out, [False] * n_out, []
    stored = operands_to_store(eqn, instantiated)
    return None if is_unknown else eqn, eqn, [is_unknown] * n_out, [True] * n_out, stored


def operands_to_store(eqn, instantiated):
    """The operands of an equation that must be residuals if the staged program contains the equation."""
    return [a for a, has in zip(eqn.invars, instantiated) if not has and type(a) is not core.Literal]


def partial_eval_call_custom(saveable, unknown, instantiated, eqn, forward=True):
    """The rule of calls: both parts are calls of the parts of the program.

    With `forward` a residual that the known part was given, or gives as a result, is stored as that.
    """
    description = programs[eqn.primitive]
    program = eqn.params[description.parameter]
    split = partial_eval_jaxpr_custom(program, unknown, saveable, instantiated=instantiated)
    known, staged, unknown_out, instantiated_out, avals = split
    operands, results = reject(eqn.invars, unknown), reject(eqn.outvars, unknown_out)
    residuals = known.outvars[len(results) :]
    pairs = [*zip(known.outvars, results), *zip(known.invars, operands)] if forward else []
    given = {v: outer for v, outer in pairs if type(v) is core.Var and type(outer) is not core.DropVar}
    stored = [given.get(v) or core.Var(a) for v, a in zip(residuals, avals)]
    computed = [(v, outer) for v, outer in zip(residuals, stored) if v not in given]
    known = close(known, known.invars, [*known.outvars[: len(results)], *(v for v, _ in computed)])
    first = eqn.replace(
        invars=operands,
        outvars=[*results, *(outer for _, outer in computed)],
        params=description.with_program(eqn.params, known),
        effects=known.effects,
    )
    second = eqn.replace(
        invars=[*stored, *select(eqn.invars, instantiated)],
        outvars=select(eqn.outvars, instantiated_out),
        params=description.with_program(eqn.params, staged),
        effects=staged.effects,
    )
    return first, second, unknown_out, instantiated_out, [a for a in stored if type(a) is not core.Literal]
