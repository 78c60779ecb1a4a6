"""Functions that JAX's GPU compiler must fuse, under the name of jax.experimental.fused."""

from collections.abc import Callable
from typing import Any

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import Function
from onax._ground.unavailable import unavailable as _unavailable


def fused(*, out_spaces: Any) -> Callable[[Function], Function]:
    """Returns a decorator that leaves a function as it is: onax fuses elementwise operations by itself.

    Args:
      out_spaces: memory spaces; there is one.

    Returns:
      A decorator.

    Examples:
      >>> from onax.experimental import fused
      >>> fused.fused(out_spaces=None)(jnp.sin)(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return lambda f: f


__getattr__ = _unavailable(
    __name__,
    {
        "unsafe_map unsafe_zip": "they are Python's map and zip",
    },
)

__all__ = ["fused"]

_wrap_api_functions(globals(), __name__)
