"""The types of arguments of several kinds: arrays, dtypes, shardings, devices, precisions.

For type checkers of users' programs they are the unions in the stub beside this file, so that text in place of an array
is a mistake.  The package itself is checked with this file instead (`scripts/typecheck.py`): its functions begin with
the conversion of such an argument, under the same name, and type checkers know one type for a name.
"""

from typing import Any, TypeAlias

ArrayLike: TypeAlias = Any  # an array or a number
DTypeLike: TypeAlias = Any  # a dtype, a scalar type, a name
ShardingLike: TypeAlias = Any  # a Sharding, a PartitionSpec over the mesh in context, or None
DeviceLike: TypeAlias = Any  # a Device, a Sharding or a Format
PrecisionLike: TypeAlias = Any  # None, a Precision or its name, a pair of them, or the name of an algorithm
