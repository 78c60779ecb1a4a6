"""An order between operations beside their data, under the names of jax.experimental.control_deps.

JAX calls a target `control_dep` of XLA's for GPUs, which its CPU backend does not have either.
"""

from collections.abc import Sequence
from typing import Any

from onax._control.ffi_call import ffi_call
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import ArrayLike


def control_dep(src: ArrayLike, dst: ArrayLike) -> Any:
    """Calls the target `control_dep`, if one is registered with `onax.ffi`.

    Args:
      src: a value.
      dst: a value.

    Returns:
      What the target returns.

    Raises:
      JaxRuntimeError: there is no such target.

    Examples:
      >>> from onax.experimental import control_deps
      >>> try:
      ...     control_deps.control_dep(jnp.ones(1), jnp.ones(1))
      ... except onax.errors.JaxRuntimeError:
      ...     print("no target")
      no target
    """
    return ffi_call("control_dep", (), has_side_effect=True)(src, dst)


def schedule(ops: Sequence[ArrayLike]) -> None:
    """Calls `control_dep` for each pair of neighbours in a list of values.

    Args:
      ops: a list of values.

    Returns:
      None, or what the calls return.

    Examples:
      >>> from onax.experimental import control_deps
      >>> control_deps.schedule([])
    """
    for src, dst in zip(ops[:-1], ops[1:]):
        control_dep(src, dst)


__all__ = ["control_dep", "schedule"]

_wrap_api_functions(globals(), __name__)
