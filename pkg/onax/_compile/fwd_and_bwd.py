"""fwd_and_bwd: the forward and the backward pass of reverse mode as two functions, each compiled once."""

from collections.abc import Callable, Sequence
from typing import Any

from onax._compile.jit import jit
from onax._ground.typing import AnyFunction
from onax._transforms.autodiff import vjp_forward


def fwd_and_bwd(
    fun: AnyFunction, argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> Callable[..., Any]:
    """Returns the forward and the backward pass of a function, compiled once each.

    Args:
      fun: a function of trees of arrays.
      argnums: the index, or indices, of the arguments to differentiate by.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.
      jitted: False: the passes are not compiled; default True.

    Returns:
      (fwd, bwd): ``fwd(*args) -> (out, residuals)``, with `has_aux` (out, residuals, aux); ``bwd(residuals, ct)``
      returns the cotangents of the arguments at `argnums`, a tuple for several.

    Examples:
      >>> fwd, bwd = onax.fwd_and_bwd(lambda x: x * x, argnums=0)
      >>> out, residuals = fwd(3.0)
      >>> bwd(residuals, 1.0)
      Array(6., dtype=float32, weak_type=True)
    """
    forward, single = vjp_forward(fun, argnums, has_aux), not isinstance(argnums, (tuple, list))

    def fwd(*args, **kwargs):
        return forward(*args, **kwargs)

    def bwd(residuals, ct):
        cts = residuals(ct)
        return cts[0] if single else cts

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
