from typing import Any, Protocol, TypeAlias

import numpy as np

from onax._core.layout import Format
from onax._core.meshes import PartitionSpec
from onax._core.sharding import Sharding
from onax._ground.devices import Device
from onax._ground.dtypes import ExtendedDType
from onax._native.array import Array
from onax._prims.dot import DotAlgorithm, DotAlgorithmPreset, Precision

class ConvertibleToArray(Protocol):
    def __jax_array__(self) -> Any: ...

class _HasDtype(Protocol):
    @property
    def dtype(self) -> Any: ...

ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex | ConvertibleToArray
DTypeLike: TypeAlias = str | type[Any] | np.dtype | ExtendedDType | _HasDtype
ShardingLike: TypeAlias = Sharding | PartitionSpec | None
DeviceLike: TypeAlias = Device | Sharding | Format
_OnePrecision: TypeAlias = str | Precision | DotAlgorithm | DotAlgorithmPreset | None
PrecisionLike: TypeAlias = _OnePrecision | tuple[_OnePrecision, _OnePrecision]
