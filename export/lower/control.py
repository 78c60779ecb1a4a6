"""ONNX forms of primitives whose parameters are programs.

A call is lowered by lowering its program in its place: ONNX has no call that the runtime would not inline itself.
"""

from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.jit_call import jit_p
from onax.export.lower.driver import inline
from onax.export.lower.registry import lowers


@lowers(jit_p, components=True)
def _jit(g, out, *values, jaxpr, **_):
    return inline(g, jaxpr, jaxpr.consts, values)


@lowers(custom_jvp_call_p, components=True)
def _custom_jvp_call(g, out, *values, call_jaxpr, **_):
    return inline(g, call_jaxpr, call_jaxpr.consts, values)
