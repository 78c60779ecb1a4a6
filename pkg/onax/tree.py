"""Trees of containers under the short names of `jax.tree`."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.paths import tree_flatten_with_path as flatten_with_path
from onax._core.paths import tree_leaves_with_path as leaves_with_path
from onax._core.paths import tree_map as map
from onax._core.paths import tree_map_with_path as map_with_path
from onax._core.trees import static
from onax._core.trees import tree_all as all
from onax._core.trees import tree_broadcast as broadcast
from onax._core.trees import tree_reduce as reduce
from onax._core.trees import tree_reduce_associative as reduce_associative
from onax._core.trees import tree_transpose as transpose
from onax._native.tree import tree_flatten as flatten
from onax._native.tree import tree_leaves as leaves
from onax._native.tree import tree_structure as structure
from onax._native.tree import tree_unflatten as unflatten

_wrap_api_functions(globals(), __name__, ("map",))

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]
