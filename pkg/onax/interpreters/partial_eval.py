"""Partial evaluation and dead-code elimination, under the names of jax.interpreters.partial_eval.

`dce_rules[p] = rule(used_outputs, eqn) -> (used_inputs, eqn or None)`.  Policies of `checkpoint` need no rules here, so
`partial_eval_jaxpr_custom_rules` and `custom_partial_eval_rules` are not there.
"""

from collections.abc import Callable, Sequence
from typing import Any

from onax._core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr
from onax._core.jaxpr import close_jaxpr as _close_jaxpr
from onax._core.jaxpr import convert_constvars_jaxpr as _convert_constvars_jaxpr
from onax._core.linear_util import WrappedFun
from onax._core.rewrite import close as _close
from onax._core.rewrite import dce_jaxpr, dce_jaxpr_consts
from onax._core.rewrite import eliminate_dead_code as _eliminate_dead_code
from onax._core.trace import typeof
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.avals import AbstractValue
from onax._transforms.partial_eval import PartialEvalTrace as _PartialEvalTrace
from onax._transforms.partial_eval import partial_eval as _partial_eval
from onax._transforms.partial_eval import partial_eval_jaxpr as _partial_eval_jaxpr
from onax._transforms.staging import DynamicJaxprTracer, trace_to_jaxpr
from onax.interpreters._views import RuleView

Val = Any

dce_rules = RuleView("dce")


class PartialVal(tuple):
    """A known value, or an unknown value of a known type: a pair (aval or None, value or None).

    Args:
      iterable: the pair.

    Examples:
      >>> onax.interpreters.partial_eval.PartialVal.known(1.0).is_known()
      True
    """

    __slots__ = ()

    @classmethod
    def known(cls, const):
        """A known value."""
        return cls((None, const))

    @classmethod
    def unknown(cls, aval):
        """An unknown value of the given type; TypeError unless the argument is an aval."""
        if not isinstance(aval, AbstractValue):
            raise TypeError(f"PartialVal.unknown takes an abstract value; got {aval!r}")
        return cls((aval, None))

    def is_known(self):
        """Whether the value is known."""
        return self[0] is None

    def get_known(self):
        """The value, or None."""
        return self[1]

    def get_aval(self):
        """The type."""
        return typeof(self[1]) if self.is_known() else self[0]


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], tuple[Any, ...]]:
    """Runs a function on values of which some are unknown.

    Args:
      fun: a function, wrapped by `linear_util.wrap_init`.
      pvals: PartialVals.
      instantiate: a bool, or one for each result: makes a known result unknown.  Default False.

    Returns:
      (open jaxpr of what depends on unknown values, a PartialVal for each result, its constants).

    Examples:
      >>> from onax.extend import linear_util
      >>> pe = onax.interpreters.partial_eval
      >>> f = linear_util.wrap_init(lambda x: [2.0 * x])
      >>> pe.trace_to_jaxpr_nounits(f, [pe.PartialVal.unknown(onax.typeof(1.0))])[0]
      { lambda ; a:f32[]. let b:f32[] = mul 2.0:f32[] a in (b,) }
    """
    unknown = [not pv.is_known() for pv in pvals]
    args = [pv.get_known() if pv.is_known() else pv.get_aval() for pv in pvals]
    closed, outs, unknown_out = _partial_eval(
        fun.call_wrapped, args, unknown, _PartialEvalTrace, instantiate, fun.debug_info
    )
    closed = _eliminate_dead_code(closed, bodies=False)
    results = [PartialVal.unknown(typeof(x)) if flag else PartialVal.known(x) for x, flag in zip(outs, unknown_out)]
    return closed.jaxpr, results, tuple(closed.consts)


def trace_to_jaxpr_dynamic(
    fun: WrappedFun, in_avals: Sequence[AbstractValue]
) -> tuple[Jaxpr, list[AbstractValue], list[Any]]:
    """Returns the program of a function on given types.

    Args:
      fun: a function, wrapped by `linear_util.wrap_init`.
      in_avals: types.

    Returns:
      (open jaxpr, types of the results, constants).

    Examples:
      >>> from onax.extend import linear_util
      >>> f = linear_util.wrap_init(lambda x: [2.0 * x])
      >>> onax.interpreters.partial_eval.trace_to_jaxpr_dynamic(f, [onax.typeof(1.0)])[0]
      { lambda ; a:f32[]. let b:f32[] = mul 2.0:f32[] a in (b,) }
    """
    closed = trace_to_jaxpr(fun.call_wrapped, in_avals, fun.debug_info)
    return closed.jaxpr, closed.out_avals, closed.consts


def abstract_eval_fun(
    fun: Callable[..., Any], *avals: AbstractValue, debug_info: DebugInfo, **params: Any
) -> list[AbstractValue]:
    """Returns the types of a function's results; new in JAX 0.12.

    Args:
      fun: a function that returns a list of arrays.
      *avals: the types of its arguments.
      debug_info: its name and those of its arguments.
      **params: keyword arguments for it.

    Returns:
      A list of types.

    Examples:
      >>> info = onax.make_jaxpr(jnp.sin)(1.0).debug_info
      >>> onax.interpreters.partial_eval.abstract_eval_fun(lambda x: [x * 2], onax.typeof(1.0), debug_info=info)
      [ShapedArray(float32[], weak_type=True)]
    """
    return list(trace_to_jaxpr(lambda *xs: fun(*xs, **params), avals, debug_info).out_avals)


def close_jaxpr(jaxpr: Jaxpr) -> ClosedJaxpr:
    """Returns an open program without constants as a closed one, and a closed one as it is; new in JAX 0.12.

    Args:
      jaxpr: a program.

    Returns:
      A ClosedJaxpr.

    Examples:
      >>> onax.interpreters.partial_eval.close_jaxpr(onax.make_jaxpr(jnp.sin)(1.0).jaxpr).consts
      []
    """
    return _close_jaxpr(jaxpr)


def convert_constvars_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """Returns the open program that takes the constants as its first arguments; new in JAX 0.12.

    Args:
      jaxpr: a program.

    Returns:
      A Jaxpr.

    Examples:
      >>> program = onax.make_jaxpr(lambda x: x + np.arange(2.0, dtype="float32"))(np.ones(2, "float32"))
      >>> onax.interpreters.partial_eval.convert_constvars_jaxpr(program)
      { lambda ; a:f32[2] b:f32[2]. let c:f32[2] = add b a in (c,) }
    """
    return _convert_constvars_jaxpr(jaxpr)


def move_binders_to_back(closed_jaxpr: ClosedJaxpr, to_move: Sequence[bool]) -> ClosedJaxpr:
    """Returns the program that takes some arguments after the others; new in JAX 0.12.

    Args:
      closed_jaxpr: a program.
      to_move: whether each argument is moved; arguments beyond its length are not.

    Returns:
      A ClosedJaxpr.

    Raises:
      ValueError: `to_move` is longer than there are arguments.

    Examples:
      >>> program = onax.make_jaxpr(lambda x, y: x - y)(1.0, 2)
      >>> onax.interpreters.partial_eval.move_binders_to_back(program, [True]).in_avals
      [ShapedArray(int32[], weak_type=True), ShapedArray(float32[], weak_type=True)]
    """
    invars = closed_jaxpr.invars
    if len(to_move) > len(invars):
        raise ValueError(f"to_move has {len(to_move)} elements; the program takes {len(invars)} arguments")
    moved = [*to_move, *[False] * (len(invars) - len(to_move))]
    order = sorted(range(len(invars)), key=lambda i: moved[i])
    return _close(closed_jaxpr, [invars[i] for i in order], closed_jaxpr.outvars)


def partial_eval_jaxpr_nounits(
    jaxpr: ClosedJaxpr, unknowns: Sequence[bool], instantiate: bool | Sequence[bool]
) -> tuple[ClosedJaxpr, ClosedJaxpr, list[bool], list[AbstractValue]]:
    """Splits a program by which of its arguments are unknown; new in JAX 0.12.

    Args:
      jaxpr: the program.
      unknowns: whether each argument is unknown.
      instantiate: a bool, or one for each result: makes a known result unknown.

    Returns:
      (program from the known arguments to the known results and the residuals, program from the residuals and the
      unknown arguments to the other results, whether each result is unknown, the types of the residuals).

    Examples:
      >>> program = onax.make_jaxpr(lambda x, y: jnp.sin(x) * y)(1.0, 2.0)
      >>> onax.interpreters.partial_eval.partial_eval_jaxpr_nounits(program, [False, True], False)[:2]
      ({ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }, { lambda ; a:f32[] b:f32[]. let c:f32[] = mul a b in (c,) })
    """
    known, rest, unknown_out, forwarded = _partial_eval_jaxpr(jaxpr, unknowns, instantiate)
    results = len(unknown_out) - sum(unknown_out)
    computed = iter(known.outvars[results:])
    residuals = [next(computed) if at is None else known.invars[at] for at in forwarded]
    known = _close(known, known.invars, [*known.outvars[:results], *residuals])
    return known, rest, list(unknown_out), [v.aval for v in residuals]


def prune_closed_jaxpr_outputs(jaxpr: ClosedJaxpr, used_outputs: Sequence[bool]) -> ClosedJaxpr:
    """Returns the program of some of the results, with all equations and arguments; new in JAX 0.12.

    Args:
      jaxpr: a program.
      used_outputs: whether each result is kept.

    Returns:
      A ClosedJaxpr.

    Examples:
      >>> program = onax.make_jaxpr(lambda x: (x, x * x))(2.0)
      >>> onax.interpreters.partial_eval.prune_closed_jaxpr_outputs(program, [True, False])
      { lambda ; a:f32[]. let _:f32[] = mul a a in (a,) }
    """
    return _close(jaxpr, jaxpr.invars, [v for v, used in zip(jaxpr.outvars, used_outputs, strict=True) if used])


__getattr__ = _unavailable(
    __name__,
    {
        "JaxprTracer new_eqn_recipe": "partial evaluation traces with DynamicJaxprTracer",
        "lower_jaxpr lower_jaxpr2": "programs hold arrays alone; there are no types of a higher level to lower",
        "custom_partial_eval_rules partial_eval_jaxpr_custom_rules": (
            "policies of checkpoint need no rules: one partial evaluator reads a primitive's other rules"
        ),
        "dce_jaxpr_call_rule dce_jaxpr_closed_call_rule": (
            "which programs a primitive holds is declared with the primitive, so that calls have no rules of their own"
        ),
    },
)

__all__ = [
    "DynamicJaxprTracer",
    "PartialVal",
    "Val",
    "abstract_eval_fun",
    "close_jaxpr",
    "convert_constvars_jaxpr",
    "dce_jaxpr",
    "dce_jaxpr_consts",
    "dce_rules",
    "move_binders_to_back",
    "partial_eval_jaxpr_nounits",
    "prune_closed_jaxpr_outputs",
    "trace_to_jaxpr_dynamic",
    "trace_to_jaxpr_nounits",
]
