"""Dtypes: canonical forms, promotion and classification, under JAX's names."""

from typing import Any

import numpy as np

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes as _own
from onax._ground.dtypes import (
    TypePromotionError,
    bfloat16,
    extended,
    finfo,
    float0,
    iinfo,
    issubdtype,
    prng_key,
)
from onax._ground.typing import DTypeLike

__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "result_type",
    "scalar_type_of",
]


def canonicalize_dtype(dtype: DTypeLike, allow_extended_dtype: bool = False) -> Any:
    """Returns the dtype that arrays have: 64-bit dtypes become 32-bit ones unless 64 bits are enabled.

    Args:
      dtype: a dtype, or something that names one.
      allow_extended_dtype: True: key dtypes pass; default False.

    Returns:
      A dtype.

    Raises:
      TypeError: a value that is no dtype, arrays included.
      ValueError: an extended dtype that is not allowed.

    Examples:
      >>> onax.dtypes.canonicalize_dtype("float64")
      dtype('float32')
    """
    for given in (dtype, allow_extended_dtype):
        try:
            hash(given)
        except TypeError as error:
            raise TypeError(f"canonicalize_dtype: {error}") from None
    if isinstance(dtype, type) and issubclass(dtype, extended) and not allow_extended_dtype:
        raise ValueError(f"canonicalize_dtype got the extended dtype {dtype.__name__}, which is not allowed here.")
    return _own.canonicalize_dtype(dtype, allow_extended_dtype)


def itemsize_bits(dtype: DTypeLike) -> int:
    """Returns the number of bits of an element: 4 for int4, although it is stored in a byte.

    Args:
      dtype: a dtype.

    Returns:
      An int.

    Raises:
      ValueError: None.
      TypeError: a value that is no dtype.

    Examples:
      >>> onax.dtypes.itemsize_bits(jnp.int4)
      4
    """
    if dtype is None:
        raise ValueError("itemsize_bits: dtype cannot be None.")
    if isinstance(dtype, np.ndarray):
        raise TypeError("itemsize_bits: Cannot construct a dtype from an array of NumPy; pass its dtype.")
    return _own.itemsize_bits(dtype)


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Returns the dtype that arrays, scalars and dtypes have in common.

    Args:
      args: arrays, scalars and dtypes; None stands for the default float.
      return_weak_type_flag: True: also whether it is weak; default False.

    Returns:
      A dtype, or (dtype, bool).

    Raises:
      ValueError: no arguments.
      TypeError: a value without a dtype.
      TypePromotionError: there is no common dtype.

    Examples:
      >>> onax.dtypes.result_type(jnp.int8, 1.0)
      dtype('float32')
    """
    known = [_own.scalar_dtype(float) if x is None else x for x in args]
    dtype, weak_type = _own.requested_result_type(*known)
    return (dtype, weak_type) if return_weak_type_flag else dtype


def scalar_type_of(x: Any) -> type:
    """Returns the Python type that matches the kind of a value.

    Args:
      x: a value with a dtype, or a Python scalar.

    Returns:
      bool, int, float or complex.

    Raises:
      TypeError: a value without a dtype, or with a dtype of another kind.

    Examples:
      >>> onax.dtypes.scalar_type_of(jnp.float16(1))
      <class 'float'>
    """
    return _own.scalar_type_of(x)


_wrap_api_functions(globals(), __name__, frozenset(globals()) - frozenset(__all__))
