"""Evaluates jaxprs: in compiled code when nothing is being transformed, by binding each equation otherwise."""

import functools
from collections.abc import Callable
from typing import Any

from onax._core import axes
from onax._core.explicit_axes import automatic_axes, seen
from onax._core.facts import RULES_TAKE_REFS
from onax._core.jaxpr import ClosedJaxpr, DropVar, Jaxpr, Literal, jaxprs_in_params
from onax._core.mesh_context import enter_meshes, meshes_in_context
from onax._core.programs import Call, programs
from onax._core.refs import apply_with_refs, creates_or_takes_ref, is_ref, uses_refs
from onax._core.slots import Slot
from onax._core.trace import eval_trace, find_cur_trace
from onax._ground.source import here
from onax._native import context
from onax._native.dispatch import Primitive
from onax._native.hooks import hooks
from onax._native.interpreter import JaxprInterpreter
from onax._native.source_info import SourceInfo, user_locations

write_out = Slot(
    "write_out",
    "rule(operands, **params) -> results, by the operations of the programs that run; None where these are not known",
    "A loop or branch in which user-defined derivatives take references has no derivative.",
    "onax",
)


def interpreter_of(jaxpr):
    """The interpreter of a jaxpr, which compiled code runs; made once and cached with the jaxpr."""
    program = jaxpr.cache.get("program")
    if program is None:
        program = jaxpr.cache["program"] = JaxprInterpreter(_in_contexts(jaxpr), Literal, interpreter_of)
    return program


def _in_contexts(jaxpr):
    """The program in which equations that were staged under `automatic_axes` enter it."""
    if not any(eqn.ctx.automatic for eqn in jaxpr.eqns):
        return jaxpr
    eqns = [e.replace(primitive=_with_automatic_axes(e.primitive)) if e.ctx.automatic else e for e in jaxpr.eqns]
    return Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects)


@functools.cache
def _with_automatic_axes(primitive):
    def evaluate(*operands, **params):
        with automatic_axes():
            return primitive.bind(*operands, **params)

    return Primitive(primitive.name, multiple_results=primitive.multiple_results, impl=evaluate)


def eval_jaxpr(jaxpr: Any, consts: Any, *args: Any) -> list[Any]:
    """Returns the results of a program.

    Args:
      jaxpr: a Jaxpr.
      consts: the values of its constants.
      args: its arguments, arrays.

    Returns:
      A list of arrays.

    Raises:
      ValueError: another number of arguments than the program takes.

    Examples:
      >>> program = onax.make_jaxpr(lambda x: 2 * x)(1.0)
      >>> onax.core.eval_jaxpr(program.jaxpr, program.consts, 3.0)
      [Array(6., dtype=float32, weak_type=True)]
    """
    if len(args) != len(jaxpr.invars):
        raise ValueError(f"the program takes {len(jaxpr.invars)} values, {len(args)} were given")
    if context.get_trace() is None and not uses_refs(jaxpr.effects) and not _enters_meshes(jaxpr):
        return interpreter_of(jaxpr).run(consts, args)
    return _eval_by_binding(jaxpr, consts, args)


def _enters_meshes(jaxpr):
    """Whether operations of a program were staged under another mesh than the one in context."""
    if not seen.explicit_axes:
        return False
    current = meshes_in_context().abstract
    return any(eqn.ctx.meshes is not None and eqn.ctx.meshes.abstract != current for eqn in jaxpr.eqns)


class staging_contexts:
    """Context manager of who interprets a program: `enter(eqn)` enters the context in which an equation was staged.

    Operations that are staged then have its place in the source; their scopes are within those that are entered, as in
    JAX; explicit mesh axes count as automatic if they did, and the mesh in context is the one that was.
    """

    __slots__ = ("_automatic", "_meshes", "_record", "_scopes")

    def __enter__(self):
        self._record, self._scopes = here.record, here.scopes
        self._automatic = seen.explicit_axes and seen.automatic
        self._meshes = meshes_in_context() if seen.explicit_axes else None
        return self

    def enter(self, eqn):
        """Enters the context of an equation, in place of that of another one."""
        record, scopes = eqn.source_info, self._scopes
        if not record:
            record = self._record
        elif record.scopes or scopes:
            record = record.within(scopes) if scopes else record
            scopes = record.scopes
        here.record, here.scopes = record, scopes
        if seen.explicit_axes:
            seen.thread.automatic = self._automatic or eqn.ctx.automatic
            if self._meshes is not None:
                enter_meshes(eqn.ctx.meshes or self._meshes)

    def __exit__(self, *_):
        here.record, here.scopes = self._record, self._scopes
        if seen.explicit_axes:
            seen.thread.automatic = self._automatic
            if self._meshes is not None:
                enter_meshes(self._meshes)


class _inlining_contexts(staging_contexts):
    """The same for a program that is written out where it is called: operations have the place of the call."""

    __slots__ = ("_call",)

    def __enter__(self):
        self._call = user_locations()
        return super().__enter__()

    def enter(self, eqn):
        super().enter(eqn)
        call = self._call
        if call:
            here.record = SourceInfo(call.code, call.instruction, call.backward, call.callers, here.scopes)


def inline_call(jaxpr, args):
    """The results of a closed program, written out where it is called."""
    return _eval_by_binding(jaxpr, jaxpr.consts, args, _inlining_contexts)


def _eval_by_binding(jaxpr, consts, args, make_contexts=staging_contexts):
    env = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))

    def read(atom):
        return atom.array if type(atom) is Literal else env[atom]

    trace = find_cur_trace()
    with make_contexts() as contexts:
        for eqn in jaxpr.eqns:
            contexts.enter(eqn)
            operands = [read(a) for a in eqn.invars]
            if eqn.effects and uses_refs(eqn.effects) and creates_or_takes_ref(eqn.primitive, operands):
                out = _apply_with_refs(trace, eqn.primitive, operands, eqn.params)
            else:
                if axes.seen.varying and axes.checked_axes():
                    operands = hooks.vary_operands(eqn.primitive, operands, eqn.params)
                out = trace.process_primitive(eqn.primitive, operands, eqn.params)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out))
            elif type(eqn.outvars[0]) is not DropVar:
                env[eqn.outvars[0]] = out
    return [read(a) for a in jaxpr.outvars]


def bind_with_refs(primitive, args, params):
    """`primitive.bind` for a primitive that takes mutable array references, or holds programs that may take them."""
    if any(map(is_ref, args)):
        return _apply_with_refs(find_cur_trace(), primitive, args, params)
    return primitive.bind(*args, **params)


def _apply_with_refs(trace, primitive, args, params):
    """Interprets an operation with references.

    Rules of the user's that take references are lost where a call is discharged: under a transformation the call is
    inlined, and a loop or branch written out, so that the transformation meets the references themselves.
    """
    if trace is not eval_trace and not trace.records_refs(args):
        if RULES_TAKE_REFS in primitive.facts:
            return primitive.call_with_refs(trace, args, params)
        if any(map(_has_rules_on_refs, jaxprs_in_params(params))):
            description, rule = programs.get(primitive), write_out.get(primitive)
            if type(description) is Call:
                program = params[description.parameter]
                return eval_jaxpr(program, program.consts, *args)
            outs = None if rule is None else rule(args, **params)
            if outs is not None:
                return outs
    return apply_with_refs(trace, primitive, args, params)


def _has_rules_on_refs(jaxpr):
    """Whether a program calls, at any depth, functions whose rules take references; cached with the program."""
    key = "rules on references"
    if key not in jaxpr.cache:
        jaxpr.cache[key] = any(
            RULES_TAKE_REFS in eqn.primitive.facts or any(map(_has_rules_on_refs, jaxprs_in_params(eqn.params)))
            for eqn in jaxpr.eqns
            if uses_refs(eqn.effects)
        )
    return jaxpr.cache[key]


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """Returns the function that a closed program stands for.

    Args:
      closed_jaxpr: a ClosedJaxpr.

    Returns:
      A function (*arrays) -> list of arrays.

    Examples:
      >>> onax.extend.core.jaxpr_as_fun(onax.make_jaxpr(lambda x: 2 * x)(1.0))(3.0)
      [Array(6., dtype=float32, weak_type=True)]
    """

    def run(*args):
        return eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)

    return run
