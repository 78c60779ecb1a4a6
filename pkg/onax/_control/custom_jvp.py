"""custom_jvp: functions with a user-defined forward-mode rule."""

from collections.abc import Callable, Sequence

from onax._control.custom_rules import (
    CustomFunction,
    call_plainly,
    flatten_call,
    refuse_closed_over,
    shown_consts,
    stage_call,
)
from onax._core.evaluate import eval_jaxpr
from onax._core.programs import CUSTOM_RULE, Call, programs
from onax._core.rules import add_tangents
from onax._core.trace import find_cur_trace, set_current_trace, typeof
from onax._core.zeros import SymbolicZero, Zero
from onax._ground import source
from onax._ground.typing import Arguments, Result
from onax._native import context
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._transforms.batching import batch_custom_jvp, batch_jaxpr
from onax._transforms.flatten import fun_name
from onax._transforms.jvp import call_custom_jvp


@source.api_class
class custom_jvp(CustomFunction[Arguments, Result]):
    """A function with a derivative of the user's own, given as a rule of forward mode.

    ``f.defjvp(rule)``: ``rule(primals, tangents) -> (out, tangent_out)``, after the arguments at `nondiff_argnums`;
    with ``symbolic_zeros=True`` tangents known to vanish are SymbolicZeros.  ``f.defjvps(*rules)``: one ``rule(tangent,
    out, *primals)`` for each argument, or None.  Reverse mode transposes the rule.

    Args:
      fun: a function.
      nondiff_argnums: indices of arguments without derivative, which the rule gets as they are.
      nondiff_argnames: names of such arguments.

    Examples:
      >>> @onax.custom_jvp
      ... def f(x):
      ...     return x * x
      >>> f.defjvps(lambda t, out, x: 100 * t)
      >>> onax.grad(f)(3.0)
      Array(100., dtype=float32, weak_type=True)
    """

    kind = "custom_jvp"

    def __init__(
        self,
        fun: Callable[Arguments, Result],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.jvp = None
        self.symbolic_zeros = False

    def defjvp(self, jvp, symbolic_zeros=False):
        """Sets the rule and returns it, so that this works as a decorator."""
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps):
        """Sets one rule for each argument; the tangents are summed."""
        if self.nondiff_argnums:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``.")

        def jvp(primals, tangents):
            if len(jvps) != len(tangents):
                raise ValueError(
                    f"safe_zip() argument 1 has length {len(jvps)} but argument 0 has length {len(tangents)}. All "
                    f"lengths: {(len(tangents), len(jvps))}\ndefjvps takes one rule for each argument."
                )
            out = self(*primals)
            zeros = tree_map(lambda x: Zero(typeof(x).to_tangent_aval()), out)
            parts = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            total = zeros
            for part in parts:
                total = tree_map(add_tangents, total, part)
            return out, tree_map(instantiate_zeros, total)

        self.defjvp(jvp)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if self.jvp is None:
            raise AttributeError(f"No JVP defined for custom_jvp function {fun_name(self.fun)} using defjvp.")
        if context.get_trace() is None:
            return call_plainly(self, args, kwargs)
        call, leaves = flatten_call(self, args, kwargs)
        params = {"name": fun_name(self.fun), "fun": self.fun, "call": call}
        outs = find_cur_trace().process_custom_jvp_call(
            custom_jvp_call_p, call.fun, _flatten_rule(call), leaves, symbolic_zeros=self.symbolic_zeros, params=params
        )
        return tree_unflatten(call.out_tree, outs)


def _flatten_rule(call):
    custom = call.custom

    def jvp(*primals_and_tangents):
        half = len(primals_and_tangents) // 2
        primals = tree_unflatten(call.in_tree, primals_and_tangents[:half])
        tangents = tree_unflatten(call.in_tree, primals_and_tangents[half:])
        outs, tangents_out, call.out_tree = _flatten_rule_results(
            call, source.call_user_rule(custom.jvp, *call.fixed, primals, tangents)
        )
        return [*outs, *tangents_out]

    jvp.__name__ = fun_name(custom.jvp)
    return jvp


def _are_equal_types(expected, got):
    if expected.is_high or got.is_high:
        return expected == got
    return (expected.shape, expected.dtype, expected.varying) == (got.shape, got.dtype, got.varying)


def _flatten_rule_results(call, pair):
    """(flat results, flat tangents, their tree) of a user's rule; raises TypeError if they do not match."""
    custom = call.custom
    rule, fun = fun_name(custom.jvp), fun_name(custom.fun)
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(
            f"Custom JVP rule {rule} for function {fun} must produce a pair (list or tuple of length two) "
            f"representing primal and tangent outputs, but got {pair}."
        )
    outs, out_tree = tree_flatten(pair[0])
    tangents, tangent_tree = tree_flatten(pair[1])
    if out_tree != tangent_tree:
        raise TypeError(
            f"Custom JVP rule {rule} for function {fun} must produce primal and tangent outputs with equal container "
            f"(pytree) structures, but got {out_tree} and {tangent_tree} respectively."
        )
    call.check_rule_result(custom.jvp, out_tree, outs)
    for x, t in zip(outs, tangents):
        expected, got = typeof(x).to_tangent_aval(), t.aval if isinstance(t, SymbolicZero) else typeof(t)
        if not _are_equal_types(expected, got):
            raise TypeError(
                "Custom JVP rule must produce primal and tangent outputs with corresponding shapes and dtypes. "
                f"Expected {expected.str_short()} (tangent type of {typeof(x).str_short()}) but got "
                f"{got.str_short()}.\nThe rule is {rule}, of the function {fun}."
            )
    return outs, tangents, out_tree


# ---- the equation form ----


class CustomJVPCall(Primitive):
    """The primitive that stands for a call of a custom_jvp function in a jaxpr."""

    def bind_with_trace(self, trace, args, avals, params=None):
        """As for any primitive; with JAX's parameters, `subfuns=(fun, jvp), symbolic_zeros`, a call of the function."""
        params = avals if params is None else params
        if "subfuns" not in params:
            return super().bind_with_trace(trace, args, params)
        fun, jvp = params["subfuns"]

        def rule(*primals_and_tangents):
            return jvp.call_wrapped(*primals_and_tangents)

        rule.__name__ = fun_name(jvp)
        described = {"name": fun.debug_info.func_src_info, "fun": fun.f}
        with set_current_trace(trace):
            return find_cur_trace().process_custom_jvp_call(
                self, fun.call_wrapped, rule, args, symbolic_zeros=params["symbolic_zeros"], params=described
            )

    def stage(self, trace, fun, jvp, args, symbolic_zeros, params):
        """Records a call: stages the function, and keeps its rule as a parameter."""
        closed, operands, num_consts = stage_call("custom_jvp", fun, params, args)
        eqn_params = {
            "call_jaxpr": closed,
            "jvp_jaxpr_fun": jvp,
            "name": params["name"],
            "num_consts": num_consts,
            "symbolic_zeros": symbolic_zeros,
        }
        return trace.process_primitive(self, operands, eqn_params)


def _impl(*args, call_jaxpr, **_):
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args)


def _abstract_eval(*avals, call_jaxpr, **_):
    return list(call_jaxpr.out_avals)


def _jvp(primals, tangents, *, call_jaxpr, jvp_jaxpr_fun, name, num_consts, symbolic_zeros):
    refuse_closed_over(name, "custom_jvp", [type(t) is not Zero for t in tangents[:num_consts]])
    pairs = list(zip(primals, tangents))[num_consts:]
    return call_custom_jvp(jvp_jaxpr_fun, pairs, symbolic_zeros)


def _partial_eval(linear, *args, call_jaxpr, **_):
    """Inlines the function if an operand is a tangent, because its rule is not needed any more."""
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args) if find_cur_trace().records_tangents else None


def _batch(axis_data, operands, dims, *, call_jaxpr, jvp_jaxpr_fun, num_consts, **params):
    batched, dims_out = batch_jaxpr(call_jaxpr, axis_data, dims, any(d is not None for d in dims))
    batched_jvp = batch_custom_jvp(jvp_jaxpr_fun, axis_data, dims[num_consts:], [], fixed_dims=dims_out)
    outs = custom_jvp_call_p.bind(
        *operands, call_jaxpr=batched, jvp_jaxpr_fun=batched_jvp, num_consts=num_consts, **params
    )
    return outs, dims_out


def _pretty(eqn, names):
    params = eqn.params
    return {
        "name": params["name"],
        "call_jaxpr": params["call_jaxpr"],
        "jvp": fun_name(params["jvp_jaxpr_fun"]),
        **shown_consts(params),
        "symbolic_zeros": params["symbolic_zeros"],
    }


custom_jvp_call_p = CustomJVPCall(
    "custom_jvp_call",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    partial_eval=_partial_eval,
    batch=_batch,
    pretty=_pretty,
    weak=NEVER,
)
programs.set(custom_jvp_call_p, Call("call_jaxpr", CUSTOM_RULE))

__all__ = ["custom_jvp", "custom_jvp_call_p"]
