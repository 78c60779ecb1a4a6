from typing import Any, Protocol, TypeAlias

import numpy as np

from onax._native.array import Array

class ConvertibleToArray(Protocol):
    def __jax_array__(self) -> Any: ...

ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex | ConvertibleToArray
