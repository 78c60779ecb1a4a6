"""Type aliases for signatures.  They serve documentation only; type checkers treat them as Any."""

from typing import Any, TypeAlias

import numpy as np

from onax._ground.dims import SymbolicDim
from onax._ground.dtypes import ExtendedDType

DimSize: TypeAlias = int | SymbolicDim
Shape: TypeAlias = tuple[DimSize, ...]
DType: TypeAlias = np.dtype | ExtendedDType
DTypeLike: TypeAlias = Any  # a dtype, a scalar type, a name
ArrayLike: TypeAlias = Any  # an array, a NumPy array or scalar, a Python scalar
PyTree: TypeAlias = Any
Axis: TypeAlias = int | tuple[int, ...] | None
Index: TypeAlias = Any  # an integer, slice, None, Ellipsis, array or tuple of those
