"""Evaluation by compiling one operation, under the name of jax.interpreters.xla.

The runtime is ONNX Runtime, not XLA.
"""

import functools
from typing import Any

from onax._compile.jit import jit
from onax._ground.devices import Backend
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.dispatch import Primitive
from onax.export.lower.registry import is_lowered


@functools.lru_cache(maxsize=4096)
def _compiled(prim, params):
    def apply(*args):
        return prim.bind(*args, **dict(params))

    apply.__name__ = prim.name
    return jit(apply)


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Returns the result of a primitive on arrays by its lowering, compiled: an `impl` for a primitive that has none.

    Args:
      prim: a Primitive.
      args: arrays.
      params: its parameters, which have hashes.

    Returns:
      What the primitive returns.

    Raises:
      NotImplementedError: it has no lowering.

    Examples:
      >>> onax.interpreters.xla.apply_primitive(lax.sin_p, jnp.zeros(2), accuracy=None)
      Array([0., 0.], dtype=float32)
    """
    if prim.kernel is None and not is_lowered(prim):
        raise NotImplementedError(
            f"lowering rule for primitive '{prim.name}' not found: see interpreters.mlir.lower_fun"
        )
    return _compiled(prim, tuple(params.items()))(*args)


__getattr__ = _unavailable(
    __name__,
    {
        "canonicalize_dtype_handlers": "values of other types become arrays through __jax_array__, not by handlers",
    },
)

__all__ = ["Backend", "apply_primitive"]
