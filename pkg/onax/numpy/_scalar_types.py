"""jnp.float32 and its relatives: dtypes that make arrays when called, and predicates of dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from onax._ground import dtypes
from onax._ground.source import api_class
from onax._ground.typing import DTypeLike
from onax._native.array import Array
from onax.numpy._creation import asarray


@api_class
class _ScalarMeta(type):
    """A dtype by name: equal to NumPy's type of that name, and `jnp.float32(x)` is an Array."""

    dtype: np.dtype

    def __hash__(self):
        return hash(self.dtype.type)

    def __eq__(self, other):
        return self is other or self.dtype.type == other

    def __ne__(self, other):
        return not self == other

    def __call__(self, x: Any) -> Array:
        return asarray(x, dtype=self.dtype)

    def __instancecheck__(self, instance):
        return isinstance(instance, self.dtype.type)


def _scalar_type(scalar: Any) -> _ScalarMeta:
    """The callable dtype for a NumPy scalar type."""
    name = np.dtype(scalar).name
    made = _ScalarMeta(name, (object,), {"dtype": np.dtype(scalar), "__doc__": f"The dtype {name}; called, an Array."})
    made.__module__ = "onax.numpy"
    return made


bool_ = _scalar_type(np.bool_)
uint8, uint16, uint32, uint64 = map(_scalar_type, (np.uint8, np.uint16, np.uint32, np.uint64))
int8, int16, int32, int64 = map(_scalar_type, (np.int8, np.int16, np.int32, np.int64))
uint1, uint2, uint4 = map(_scalar_type, (ml_dtypes.uint1, ml_dtypes.uint2, ml_dtypes.uint4))
int1, int2, int4 = map(_scalar_type, (ml_dtypes.int1, ml_dtypes.int2, ml_dtypes.int4))
float4_e2m1fn = _scalar_type(ml_dtypes.float4_e2m1fn)
float6_e2m3fn = _scalar_type(ml_dtypes.float6_e2m3fn)
float6_e3m2fn = _scalar_type(ml_dtypes.float6_e3m2fn)
float8_e3m4 = _scalar_type(ml_dtypes.float8_e3m4)
float8_e4m3 = _scalar_type(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz = _scalar_type(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = _scalar_type(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _scalar_type(ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = _scalar_type(ml_dtypes.float8_e5m2)
float8_e5m2fnuz = _scalar_type(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = _scalar_type(ml_dtypes.float8_e8m0fnu)
bfloat16 = _scalar_type(ml_dtypes.bfloat16)
float16, float32, float64 = map(_scalar_type, (np.float16, np.float32, np.float64))
complex64, complex128 = map(_scalar_type, (np.complex64, np.complex128))

single, double, csingle, cdouble = float32, float64, complex64, complex128
int_, uint, float_, complex_ = int64, uint64, float64, complex128

generic, number, integer = np.generic, np.number, np.integer
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
inexact, floating, complexfloating = np.inexact, np.floating, np.complexfloating
character, flexible, object_ = np.character, np.flexible, np.object_
dtype = np.dtype
finfo, iinfo = dtypes.finfo, dtypes.iinfo
can_cast = np.can_cast


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """Returns whether one dtype is another or of its kind.

    Unlike NumPy's, it counts bfloat16 and the float8 dtypes as floating.

    Args:
      arg1: dtype, or anything that means one.
      arg2: dtype, or an abstract type such as `jnp.floating`.

    Returns:
      bool.

    Examples:
      >>> jnp.issubdtype(jnp.bfloat16, jnp.floating)
      True
    """
    return dtypes.issubdtype(arg1, arg2)


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Returns whether a dtype is of a kind.

    Args:
      dtype: dtype, or anything that means one.
      kind: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric", a
        dtype, or a tuple of these.

    Returns:
      bool.

    Raises:
      ValueError: the kind is unknown.

    Examples:
      >>> jnp.isdtype(jnp.int8, "integral")
      True
    """
    return dtypes.isdtype(dtype, kind)


def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype:
    """Returns the dtype to which values of two dtypes promote.

    Unlike NumPy's, an integer and a float give that float: JAX's lattice decides.

    Args:
      a: dtype, or anything that means one; Python's types int, float and complex are weak.
      b: the same.

    Returns:
      np.dtype; 64 bits stay though x64 is off.

    Raises:
      TypeError: an argument is an array of NumPy.

    Examples:
      >>> jnp.promote_types(jnp.int32, jnp.float16)
      dtype('float16')
    """
    for x in (a, b):
        if isinstance(x, np.ndarray):
            raise TypeError("promote_types: Cannot construct a dtype from an array of NumPy; pass its dtype")
    return dtypes.promote_types(*(x.dtype if isinstance(x, Array) else x for x in (a, b)))


def result_type(*args: Any) -> np.dtype:
    """Returns the dtype that an operation on the arguments would have.

    Args:
      *args: arrays, scalars or dtypes; Python scalars are weak.

    Returns:
      np.dtype.

    Examples:
      >>> jnp.result_type(jnp.ones(2, jnp.bfloat16), 1.0)
      dtype(bfloat16)
    """
    return dtypes.requested_result_type(*map(_default_to_float, args))[0]


def _default_to_float(x):
    """Returns the default float dtype for None, otherwise x."""
    return dtypes.scalar_dtype(float) if x is None else x
