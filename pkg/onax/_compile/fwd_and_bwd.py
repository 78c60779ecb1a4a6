"""fwd_and_bwd: the forward and the backward pass of reverse mode as two functions, each compiled once."""

from onax._compile.jit import jit
from onax._transforms.autodiff import vjp_forward


def fwd_and_bwd(fun, argnums, has_aux=False, jitted=True):
    """(fwd, bwd): `fwd(*args) -> (out, residuals)`, with `has_aux` (out, residuals, aux), and `bwd(residuals, ct)`.

    `bwd` returns the cotangents of the arguments at `argnums`, a tuple for several.  Unless `jitted` is false both are
    compiled, the backward pass once for all calls of the forward pass.
    """
    forward, single = vjp_forward(fun, argnums, has_aux), not isinstance(argnums, (tuple, list))

    def fwd(*args, **kwargs):
        return forward(*args, **kwargs)

    def bwd(residuals, ct):
        cts = residuals(ct)
        return cts[0] if single else cts

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
