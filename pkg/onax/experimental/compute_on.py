"""Where a part of a program runs, under the names of jax.experimental.compute_on.

Arrays are in the memory of the CPU, which computes everything: the names are checked, and change nothing else.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import AnyFunction

_TYPES = ("device_host", "device", "tpu_sparsecore")


def _check(compute_type):
    if not isinstance(compute_type, str):
        raise TypeError("`compute_on`'s compute_type argument must be a string.")
    if compute_type not in _TYPES and not compute_type.startswith("gpu_stream:"):
        raise ValueError(
            f"Invalid compute type {compute_type}. Current supported values are `device_host`, `device`, "
            "`tpu_sparsecore`, and `gpu_stream:#`."
        )


@contextlib.contextmanager
def compute_on(compute_type: str) -> Iterator[None]:
    """Returns a context manager: the enclosed operations run where the name says, which is here the CPU.

    Args:
      compute_type: "device_host", "device", "tpu_sparsecore" or "gpu_stream:#".

    Returns:
      A context manager.

    Raises:
      TypeError: the name is no str.
      ValueError: the name is another one.

    Examples:
      >>> from onax.experimental.compute_on import compute_on
      >>> with compute_on("device_host"):
      ...     x = jnp.ones(2) + 1
      >>> x
      Array([2., 2.], dtype=float32)
    """
    _check(compute_type)
    yield


def compute_on2(
    f: AnyFunction = None, *, compute_type: str, out_memory_spaces: Any, compiler_options: Any = None
) -> Any:
    """Returns the function itself, with the checks of `compute_on`; without `f` a decorator.

    Args:
      f: a function, or None.
      compute_type: as of `compute_on`.
      out_memory_spaces: accepted without effect, because there is one memory.
      compiler_options: accepted without effect.

    Returns:
      The function, or a decorator.

    Raises:
      TypeError: the name is no str.
      ValueError: the name is another one.

    Examples:
      >>> from onax.experimental.compute_on import compute_on2
      >>> space = onax.memory.Space.Device
      >>> double = compute_on2(lambda x: 2 * x, compute_type="device_host", out_memory_spaces=space)
      >>> double(3)
      6
    """
    _check(compute_type)
    return (lambda g: g) if f is None else f


__all__ = ["compute_on", "compute_on2"]

_wrap_api_functions(globals(), __name__)
