"""ONNX forms of the special functions: the runtime has a kernel of erf alone."""

from onax._prims import special as prims
from onax.export.lower.convert import F64, refuse
from onax.export.lower.registry import lowers, unsupported


@lowers(prims.erf_p)
def _erf(g, out, x):
    if x.dtype == F64:
        refuse(g, "ONNX Runtime's cpu provider has no kernel of Erf for float64; convert to float32 first.")
    return g.node("Erf", x, out=out)


for _primitive in (prims.erfc_p, prims.erf_inv_p, prims.lgamma_p, prims.digamma_p, prims.polygamma_p, prims.zeta_p):
    unsupported(_primitive, f"ONNX has no operator for {_primitive.name}, and onax has no formula for it yet")
