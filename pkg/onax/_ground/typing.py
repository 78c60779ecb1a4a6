"""Types of signatures.  The aliases serve documentation; type checkers treat those of values as Any."""

import os
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np

from onax._ground.argument_types import ArrayLike as ArrayLike
from onax._ground.argument_types import DeviceLike as DeviceLike
from onax._ground.argument_types import DTypeLike as DTypeLike
from onax._ground.argument_types import PrecisionLike as PrecisionLike
from onax._ground.argument_types import ShardingLike as ShardingLike
from onax._ground.dims import SymbolicDim
from onax._ground.dtypes import ExtendedDType

DimSize: TypeAlias = int | SymbolicDim
Shape: TypeAlias = tuple[DimSize, ...]
DType: TypeAlias = np.dtype | ExtendedDType
PathLike: TypeAlias = str | os.PathLike[str]
PyTree: TypeAlias = Any
AnyFunction: TypeAlias = (
    Any  # a callable; where Callable[..., Any] is expected, mypy infers no type for jit(lambda ...)
)
Axis: TypeAlias = int | Sequence[int] | None
Index: TypeAlias = Any  # an integer, slice, None, Ellipsis, array or tuple of those

Class = TypeVar("Class", bound=type)  # for decorators that keep a class
Function = TypeVar("Function", bound=Callable[..., Any])  # for decorators that keep the signature

Arguments = ParamSpec("Arguments")  # of a function that a class wraps, and its result
Result = TypeVar("Result")

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result", covariant=True)


class Compiled(Protocol[_Arguments, _Result]):
    """What `jit` returns, for type checkers: a function with the arguments and the result of the one it was given."""

    def __call__(self, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result: ...

    def lower(self, *args: Any, **kwargs: Any) -> Any: ...

    def trace(self, *args: Any, **kwargs: Any) -> Any: ...

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any: ...

    def clear_cache(self) -> None: ...
