"""Types for annotations: what functions accept as arrays and as dtypes."""

from typing import Any, TypeAlias

import numpy as np

from onax._native.array import Array

ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
DTypeLike: TypeAlias = str | type[Any] | np.dtype

__all__ = ["ArrayLike", "DTypeLike"]
