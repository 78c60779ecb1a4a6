"""Where a part of a program runs, under the names of jax.experimental.compute_on.

Arrays are in the memory of the CPU, which computes everything: the names are checked, and change nothing else.
"""

import contextlib

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions

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
def compute_on(compute_type):
    """Context manager: the enclosed operations run where the name says, which is here the CPU.

    Raises TypeError and ValueError for other values than "device_host", "device", "tpu_sparsecore" and "gpu_stream:#".
    """
    _check(compute_type)
    yield


def compute_on2(f=None, *, compute_type, out_memory_spaces, compiler_options=None):
    """The function itself, as `compute_on` for its operations; without `f` a decorator.

    `out_memory_spaces` and `compiler_options` change nothing: there is one memory.
    """
    _check(compute_type)
    return (lambda g: g) if f is None else f


__all__ = ["compute_on", "compute_on2"]

_wrap_api_functions(globals(), __name__)
