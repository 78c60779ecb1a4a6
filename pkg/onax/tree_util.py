"""Trees of containers (pytrees) under JAX's names."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.paths import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    SequenceKey,
    flatten_one_level_with_keys,
    keystr,
    tree_flatten_with_path,
    tree_leaves_with_path,
    tree_map,
    tree_map_with_path,
)
from onax._core.trees import (
    Partial,
    all_leaves,
    build_tree,
    default_registry,
    register_dataclass,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    tree_all,
    tree_broadcast,
    tree_reduce,
    tree_reduce_associative,
    tree_transpose,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
)
from onax._native.tree import (
    PyTreeDef,
    flatten_one_level,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)
from onax._native.tree import is_tree_node as _is_tree_node


def is_tree_node(typ: object) -> bool:
    """Returns whether objects of exactly this class are containers.

    Args:
      typ: a class; False for anything else.

    Returns:
      A bool.

    Examples:
      >>> onax.tree_util.is_tree_node(list), onax.tree_util.is_tree_node(int)
      (True, False)
    """
    return isinstance(typ, type) and _is_tree_node(typ)


_wrap_api_functions(globals(), __name__, ("tree_map",))

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "build_tree",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
