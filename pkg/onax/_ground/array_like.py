"""The type of arguments that are arrays or become arrays.

For type checkers of users' programs it is the union in the stub beside this file, so that text or a list is a mistake.
The package itself is checked with this file instead (`scripts/typecheck.py`): its functions begin with the conversion
of such an argument, under the same name, and type checkers know one type for a name.
"""

from typing import Any, TypeAlias

ArrayLike: TypeAlias = Any
