"""Exchange of arrays with other libraries without copies, under the names of jax.dlpack.

An Array exports its memory through `__dlpack__`, read-only.
"""

from typing import Any

import numpy as np

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import DeviceLike, DTypeLike
from onax._native.array import Array
from onax.numpy import from_dlpack as _from_dlpack

_SUPPORTED = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64".split()
    + ["complex64", "complex128"]
)


def from_dlpack(external_array: Any, device: DeviceLike = None, copy: bool | None = None) -> Array:
    """Returns an Array over the memory of an object of another library.

    It sees later writes to that memory.  The memory is copied if no Array can have the dtype (64 bits with x64 off).

    Args:
      external_array: an object with `__dlpack__`.
      device: the device; default None, the object's.
      copy: True: always a copy; False: never; default None, if needed.

    Returns:
      Array, committed to its device.

    Raises:
      TypeError: a value without `__dlpack__`.
      BufferError: memory that is not on the host.

    Examples:
      >>> onax.dlpack.from_dlpack(np.arange(3, dtype=np.int32))
      Array([0, 1, 2], dtype=int32)
    """
    if not (hasattr(external_array, "__dlpack__") and hasattr(external_array, "__dlpack_device__")):
        raise TypeError("The array passed to from_dlpack must have __dlpack__ and __dlpack_device__ methods.")
    return _from_dlpack(external_array, device=device, copy=copy)


def is_supported_dtype(dtype: DTypeLike) -> bool:
    """Returns whether every consumer of DLPack takes arrays of a dtype.

    Args:
      dtype: a dtype.

    Returns:
      A bool; newer consumers also take some floats of 8 bits.

    Raises:
      TypeError: the dtype is None.

    Examples:
      >>> onax.dlpack.is_supported_dtype(jnp.float32)
      True
    """
    if dtype is None:
        raise TypeError("is_supported_dtype takes a dtype; got None")
    return np.dtype(dtype).name in _SUPPORTED


_wrap_api_functions(globals(), __name__)

__all__ = ["from_dlpack", "is_supported_dtype"]
