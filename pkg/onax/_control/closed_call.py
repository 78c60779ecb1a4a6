"""closed_call: a call of a program.

Partial evaluation of a scan under a policy (see `checkpoint`) gives one such call, which holds the equations that are
computed once and the scan of the others.
"""

from onax._core.evaluate import eval_jaxpr
from onax._core.programs import Call, programs
from onax._core.rewrite import dce_call
from onax._core.trace import as_array, find_cur_trace, set_current_trace, typeof
from onax._core.zeros import drop_zeros, insert_zeros, nonzero_flags
from onax._native.dispatch import NEVER, Primitive
from onax._transforms.batching import batch_flat
from onax._transforms.discharge import discharge_call
from onax._transforms.flatten import debug_info
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.partial_eval import partial_eval_call_custom, partial_eval_custom_rules
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr


def _impl(*args, call_jaxpr):
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args)


def _abstract_eval(*_, call_jaxpr):
    return list(call_jaxpr.out_avals)


def _jvp(primals, tangents, *, call_jaxpr):
    derived, nonzeros_out = jvp_jaxpr(call_jaxpr, nonzero_flags(tangents), False)
    outs = eval_jaxpr(derived, derived.consts, *primals, *drop_zeros(tangents))
    n = len(call_jaxpr.outvars)
    return outs[:n], insert_zeros(outs[n:], nonzeros_out, call_jaxpr.out_avals)


def _batch(axis_data, operands, dims, *, call_jaxpr):
    return batch_flat(lambda *xs: eval_jaxpr(call_jaxpr, call_jaxpr.consts, *xs), axis_data, operands, dims)


class FunctionCall(Primitive):
    """A primitive whose parameter is a program, or, in JAX's form of its operands, a function that is staged."""

    def bind(self, *args, **params):
        """Applies the operation under the current trace."""
        if "subfuns" in params:
            return self.bind_with_trace(find_cur_trace(), args, params)
        return super().bind(*args, **params)

    def bind_with_trace(self, trace, args, avals, params=None):
        """As for any primitive; with JAX's parameter `subfuns=(fun,)`, `fun` is staged first."""
        params = avals if params is None else params
        if "subfuns" not in params:
            return super().bind_with_trace(trace, args, params)
        (fun,) = params["subfuns"]
        args = [as_array(x) for x in args]
        with set_current_trace(trace):
            closed = trace_to_jaxpr(fun.call_wrapped, [typeof(x) for x in args], debug_info(self.name, fun.f))
            closed, hoisted = hoist_tracers(closed)
        return super().bind_with_trace(trace, [*hoisted, *args], {"call_jaxpr": closed})


closed_call_p = FunctionCall(
    "closed_call",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    batch=_batch,
    dce=dce_call,
    weak=NEVER,
)
closed_call_p.call_primitive = True
programs.set(closed_call_p, Call("call_jaxpr"))
discharge_call(closed_call_p)
partial_eval_custom_rules.set(closed_call_p, partial_eval_call_custom)
