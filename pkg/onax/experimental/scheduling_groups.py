"""Groups of operations that XLA schedules together, under the names of jax.experimental.scheduling_groups.

onax orders operations itself, so that a group is the function alone.
"""

import functools

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions


def scheduling_group(name):
    """A decorator: the function, whose operations JAX gives to XLA as the group `name`, unchanged."""
    return xla_metadata_call(scheduling_group=name)


def xla_metadata_call(f=None, **meta):
    """The function unchanged; without `f` a decorator.  Raises NotImplementedError for values that are not strings."""
    for value in meta.values():
        if not isinstance(value, str):
            raise NotImplementedError(f"mlir attr handler for type(x)={type(value)}")
    return functools.partial(xla_metadata_call, **meta) if f is None else f


__all__ = ["scheduling_group", "xla_metadata_call"]

_wrap_api_functions(globals(), __name__)
