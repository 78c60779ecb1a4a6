"""closed_call: a call of a program.

Partial evaluation of a scan under a policy (see `checkpoint`) gives one such call, which holds the equations that are
computed once and the scan of the others.
"""

from onax._core.evaluate import eval_jaxpr
from onax._core.programs import Call, programs
from onax._core.rewrite import dce_call
from onax._core.zeros import drop_zeros, insert_zeros, nonzero_flags
from onax._native.dispatch import NEVER, Primitive
from onax._transforms.batching import batch_flat
from onax._transforms.discharge import discharge_call
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.partial_eval import partial_eval_call_custom, partial_eval_custom_rules


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


closed_call_p = Primitive(
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
