"""Functions on trees that are written in Python, registration, Partial."""

import dataclasses
import functools
from collections import OrderedDict, defaultdict

import pytest

from onax import tree, tree_util


def test_functions():
    letters = list("abcdefg")
    assert tree.reduce_associative(lambda a, b: f"({a}{b})", letters) == "((a(bc))((de)(fg)))"
    assert tree.reduce(lambda a, b: a + b, [1, (2, 3)]) == 6 and tree.reduce(max, [], None) is None
    assert tree.all([True, (1,)]) and not tree.all([True, 0])
    assert tree.transpose(tree.structure([1, 2]), None, [{"a": 1}, {"a": 2}]) == {"a": [1, 2]}
    assert tree.broadcast([1, 2], [(1, 2), {"a": 3}]) == [(1, 1), {"a": 2}]
    assert tree.map(lambda x, y: (x, y), [1, None], [(1, 2), None]) == [(1, (1, 2)), None]
    structure = tree.structure([1, (2, 3)])
    assert structure.walk(lambda children, data: sum(children), lambda leaf: leaf, [1, 2, 3]) == 6
    assert structure.from_iterable_tree((1, [2, 3])) == [1, (2, 3)]
    assert repr(tree_util.treedef_tuple([structure, structure])) == "PyTreeDef(([*, (*, *)], [*, (*, *)]))"
    assert dataclasses.field(metadata={"static": True}).metadata == tree.static().metadata


def test_partial():
    inner = tree_util.Partial(print, 1)
    assert repr(tree_util.Partial(print, 1, a=2)) == "Partial(<built-in function print>, 1, a=2)"
    structure = repr(tree.structure(tree_util.Partial(inner, 2)))
    assert "CustomNode(Partial[_HashableCallableShim(Partial(" in structure and structure.endswith("[(*,), {}]))")
    assert tree.leaves(tree_util.Partial(inner, 2)) == [2]


def test_static_class():
    kind = tree_util.register_static(type("Static", (), {}))
    instance = kind()
    leaves, treedef = tree.flatten(instance)
    assert leaves == [] and treedef.unflatten([]) is instance


def test_keyed_class():
    @tree_util.register_pytree_with_keys_class
    class Keyed:
        def __init__(self, a):
            self.a = a

        def tree_flatten_with_keys(self):
            return ((tree_util.GetAttrKey("a"), self.a),), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    assert tree.leaves(Keyed([1, 2])) == [1, 2]
    assert [tree_util.keystr(p) for p, _ in tree.leaves_with_path(Keyed([1, 2]))] == [".a[0]", ".a[1]"]


def test_all_leaves():
    assert tree_util.all_leaves([1, "a"]) and not tree_util.all_leaves([1, (2,)]) and not tree_util.all_leaves([None])
    assert tree_util.all_leaves([1, (2,)], is_leaf=lambda x: isinstance(x, tuple))
    with pytest.raises(TypeError, match="3 is not iterable"):
        tree_util.all_leaves(3)


def test_ordered_dictionaries_keep_their_order_and_default_ones_their_factory():
    given = OrderedDict(z=1, a=2)
    assert tree.leaves(given) == [1, 2] and list(tree.map(str, given)) == ["z", "a"]
    counted = tree.map(lambda x: x + 1, defaultdict(int, b=1, a=2))
    assert counted == {"a": 3, "b": 2} and counted["new"] == 0


@dataclasses.dataclass
class Model:
    weights: object
    name: str = tree.static(default="m")
    cached: object = dataclasses.field(default=None, init=False)


def test_dataclasses():
    tree_util.register_dataclass(Model, ["weights"], ["name"])
    model = tree.map(lambda x: x * 2, Model([1, 2], "n"))
    assert (model.weights, model.name) == ([2, 4], "n")
    assert tree.structure(Model(1, "a")) != tree.structure(Model(1, "b"))


def test_equal_partials_have_equal_structures():
    def f(x, y):
        return x + y

    assert tree_util.Partial(f, 1)(2) == 3
    structure = lambda *args: tree.structure(tree_util.Partial(*args))
    assert structure(f, 1) == structure(f, 2) != structure(max, 1)
    assert structure(functools.partial(f, 1), 2) != structure(functools.partial(max, 1), 2)
