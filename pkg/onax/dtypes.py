"""Dtypes: canonical forms, promotion and classification, under JAX's names."""

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


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """The dtype that arrays have: 64-bit dtypes become 32-bit ones unless x64 is enabled.

    Raises TypeError for values that are not dtypes, arrays included, and ValueError for an extended dtype that is not
    allowed.
    """
    for given in (dtype, allow_extended_dtype):
        try:
            hash(given)
        except TypeError as error:
            raise TypeError(f"canonicalize_dtype: {error}") from None
    if isinstance(dtype, type) and issubclass(dtype, extended) and not allow_extended_dtype:
        raise ValueError(f"canonicalize_dtype got the extended dtype {dtype.__name__}, which is not allowed here.")
    return _own.canonicalize_dtype(dtype, allow_extended_dtype)


def itemsize_bits(dtype):
    """The number of bits of an element: 4 for int4, although it is stored in a byte.

    Raises ValueError for None and TypeError for values that are not dtypes.
    """
    if dtype is None:
        raise ValueError("itemsize_bits: dtype cannot be None.")
    if isinstance(dtype, np.ndarray):
        raise TypeError("itemsize_bits: Cannot construct a dtype from an array of NumPy; pass its dtype.")
    return _own.itemsize_bits(dtype)


def result_type(*args, return_weak_type_flag=False):
    """The canonical dtype that arrays, scalars and dtypes have in common; with the flag, also whether it is weak.

    None stands for the default floating dtype.  Raises ValueError without arguments, TypeError for values without a
    dtype and TypePromotionError if there is no common one.
    """
    known = [_own.scalar_dtype(float) if x is None else x for x in args]
    return _own.result_type(*known, return_weak_type_flag=return_weak_type_flag)


def scalar_type_of(x):
    """The Python scalar type (bool, int, float or complex) that matches the value's kind.

    Raises TypeError for values without a dtype or with a dtype of another kind.
    """
    return _own.scalar_type_of(x)


_wrap_api_functions(globals(), __name__, frozenset(globals()) - frozenset(__all__))
