"""Partial evaluation and dead-code elimination, under the names of jax.interpreters.partial_eval.

`dce_rules[p] = rule(used_outputs, eqn) -> (used_inputs, eqn or None)`.  Policies of `checkpoint` need no rules here, so
`partial_eval_jaxpr_custom_rules` and `custom_partial_eval_rules` are not there.
"""

from collections.abc import Sequence
from typing import Any

from onax._core.jaxpr import Jaxpr
from onax._core.linear_util import WrappedFun
from onax._core.rewrite import dce_jaxpr, dce_jaxpr_consts
from onax._core.rewrite import eliminate_dead_code as _eliminate_dead_code
from onax._core.trace import typeof
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.avals import AbstractValue
from onax._transforms.partial_eval import PartialEvalTrace as _PartialEvalTrace
from onax._transforms.partial_eval import partial_eval as _partial_eval
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


__getattr__ = _unavailable(
    __name__,
    {
        "JaxprTracer": "partial evaluation traces with DynamicJaxprTracer",
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
    "dce_jaxpr",
    "dce_jaxpr_consts",
    "dce_rules",
    "trace_to_jaxpr_dynamic",
    "trace_to_jaxpr_nounits",
]
