"""Trees under JAX's names: which classes are containers, and the functions that are put together of parts."""

import collections

import pytest

from onax import tree, tree_util

Point = collections.namedtuple("Point", "x y")


class Leaf:
    """Not registered."""


@tree_util.register_pytree_node_class
class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def tree_flatten(self):
        return (self.first,), self.second

    @classmethod
    def tree_unflatten(cls, second, children):
        return cls(*children, second)


@pytest.mark.parametrize("class_", [list, tuple, dict, collections.OrderedDict, type(None), Pair])
def test_containers(class_):
    assert tree_util.is_tree_node(class_) is True


@pytest.mark.parametrize("other", [int, Leaf, Pair(1, 2), "list", None])
def test_what_is_no_container(other):
    assert tree_util.is_tree_node(other) is False


def test_registered_classes_are_mapped():
    mapped = tree_util.tree_map(lambda x: x + 1, {"a": Pair(1, "kept"), "b": Point(2, None)})
    assert (mapped["a"].first, mapped["a"].second, mapped["b"]) == (2, "kept", Point(3, None))


def test_paths_are_written_as_expressions():
    leaves, _ = tree_util.tree_flatten_with_path({"a": [1, Point(2, 3)]})
    assert [tree_util.keystr(path) for path, _ in leaves] == ["['a'][0]", "['a'][1].x", "['a'][1].y"]


@pytest.mark.parametrize("name", ["all", "leaves", "map", "reduce", "structure", "unflatten", "leaves_with_path"])
def test_short_names_are_the_same_functions(name):
    values = {"a": (1, 2), "b": 3}
    args = {
        "map": (str, values),
        "reduce": (max, values),
        "unflatten": (tree.structure(values), [4, 5, 6]),
    }.get(name, (values,))
    assert getattr(tree, name)(*args) == getattr(tree_util, f"tree_{name}")(*args)
