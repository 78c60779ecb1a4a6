"""Groups of operations that XLA schedules together, under the names of jax.experimental.scheduling_groups.

onax orders operations itself, so that a group is the function alone.
"""

import functools
from collections.abc import Callable
from typing import Any

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import AnyFunction, Function
from onax._ground.unavailable import unavailable as _unavailable


def scheduling_group(name: str) -> Callable[[Function], Function]:
    """Returns a decorator that leaves a function as it is; JAX gives its operations to XLA as a group.

    Args:
      name: the group's name.

    Returns:
      A decorator.

    Examples:
      >>> from onax.experimental import scheduling_groups
      >>> scheduling_groups.scheduling_group("group")(jnp.sin)(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return xla_metadata_call(scheduling_group=name)


def xla_metadata_call(f: AnyFunction = None, **meta: str) -> Any:
    """Returns the function as it is; without one, a decorator.

    Args:
      f: a function.
      meta: texts by name, which JAX gives to XLA.

    Returns:
      A function.

    Raises:
      NotImplementedError: values that are not strings.

    Examples:
      >>> from onax.experimental import scheduling_groups
      >>> scheduling_groups.xla_metadata_call(jnp.sin, group="a")(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    for value in meta.values():
        if not isinstance(value, str):
            raise NotImplementedError(f"mlir attr handler for type(x)={type(value)}")
    return functools.partial(xla_metadata_call, **meta) if f is None else f


__getattr__ = _unavailable(
    __name__,
    {
        "attr_get dce_jaxpr_xla_metadata_rule": "groups are for XLA's scheduler; there is no primitive for them here",
        "unsafe_map unsafe_zip": "they are Python's map and zip",
    },
)

__all__ = ["scheduling_group", "xla_metadata_call"]

_wrap_api_functions(globals(), __name__)
