"""The registry of container classes as a mapping, under the name that it has in jax._src.tree_util."""

from collections.abc import Mapping
from dataclasses import dataclass

from onax.tree_util import PyTreeDef, default_registry, is_tree_node, tree_structure


@dataclass(frozen=True, slots=True)
class Entry:
    """How objects of a class are taken apart and put together."""

    type: type

    def to_iter(self, value):
        """(children, data) of an object of the class."""
        return flatten_one_level(value)

    def from_iter(self, data, children):
        """The object of the class with these children and data."""
        children = list(children)
        leaves = [tree_structure(0)] * len(children)
        treedef = PyTreeDef.from_node_data_and_children(default_registry, (self.type, data), leaves)
        return treedef.unflatten(children)


class Registry(Mapping):
    """Class -> Entry."""

    def __getitem__(self, type):
        if not is_tree_node(type):
            raise KeyError(type)
        return Entry(type)

    def __contains__(self, type):
        return is_tree_node(type)

    def __iter__(self):
        raise NotImplementedError("the registered classes cannot be listed")

    def __len__(self):
        raise NotImplementedError("the registered classes cannot be counted")


registry = Registry()


def flatten_one_level(tree):
    """(children, data) of a container; ValueError for a leaf."""
    found = default_registry.flatten_one_level(tree)
    if found is None:
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    return found
