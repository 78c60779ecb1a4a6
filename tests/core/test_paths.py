"""Paths of leaves: keys, trees with paths, texts of differences."""

import pickle
from collections import OrderedDict, defaultdict

import pytest

from onax import tree, tree_util
from onax._core.paths import broadcast_prefix, equality_errors, equality_errors_pytreedef, prefix_errors
from tree_nodes import Box, Layer, Pair

PATHS = [
    ({"a": [1, None, (2,)]}, ["['a'][0]", "['a'][2][0]"]),
    (Layer(1), [".w"]),
    (Box(4), ["[<flat index 0>]"]),
    (OrderedDict(z=1), ["['z']"]),
    (defaultdict(int, a=1), ["['a']"]),
    (Pair(1, [2]), [".x", ".y[0]"]),
    (tree_util.Partial(print, 1, x=2), ["[<flat index 0>][0]", "[<flat index 1>]['x']"]),
    (7, [""]),
]


@pytest.mark.parametrize("given, paths", PATHS)
def test_paths(given, paths):
    pairs, treedef = tree.flatten_with_path(given)
    assert [tree_util.keystr(p) for p, _ in pairs] == paths
    assert [leaf for _, leaf in pairs] == tree.leaves(given) and treedef == tree.structure(given)
    mapped = tree.map_with_path(lambda p, x, y: (tree_util.keystr(p), x is y), given, given)
    assert tree.leaves(mapped, is_leaf=lambda x: isinstance(x, tuple) and x[-1] is True) == [(p, True) for p in paths]


def test_keys():
    keys = (
        tree_util.DictKey("a"),
        tree_util.SequenceKey(1),
        tree_util.GetAttrKey("z"),
        tree_util.FlattenedIndexKey(3),
    )
    assert tree_util.keystr(keys, simple=True, separator="/") == "a/1/z/3"
    assert [repr(k) for k in keys] == [
        "DictKey(key='a')",
        "SequenceKey(idx=1)",
        "GetAttrKey(name='z')",
        "FlattenedIndexKey(key=3)",
    ]
    assert all(pickle.loads(pickle.dumps(k)) == k and hash(k) == hash(type(k)(k.value)) for k in keys)
    assert tree_util.SequenceKey(1) != tree_util.FlattenedIndexKey(1)
    with pytest.raises(AttributeError):
        keys[0].key = "b"


def test_leaf_predicate_with_paths():
    asked = []
    pairs, treedef = tree.flatten_with_path(
        {"a": [1, (2,)]}, is_leaf=lambda path, x: asked.append(path) or len(path) == 2, is_leaf_takes_path=True
    )
    assert list(map(tree_util.keystr, asked)) == ["", "['a']", "['a'][0]", "['a'][1]"]
    assert [x for _, x in pairs] == [1, (2,)] and repr(treedef) == "PyTreeDef({'a': [*, *]})"


TYPES, METADATA = "so their Python types differ", "so the pytree node metadata does not match"
LEAF, DICT = "a pytree leaf", "a <class 'dict'>"
DIFFERENCES = [  # two trees, and of each difference JAX's (path, one, other, reason)
    (1, 2, []),
    ((1, 2), (1, 2, 3), [("", "a tuple of length 2", "a tuple of length 3", "so the lengths do not match")]),
    ({"a": (1, [2])}, {"a": (1, (2,))}, [("['a'][1]", "a <class 'list'>", "a <class 'tuple'>", TYPES)]),
    (
        [1, {"a": 1}],
        [1, {"b": 1}],
        [("[1]", f"{DICT} with pytree metadata ('a',)", f"{DICT} with pytree metadata ('b',)", METADATA)],
    ),
    (
        {"a": 1},
        {"a": 1, "b": 2},
        [
            (
                "",
                f"{DICT} with 1 child",
                f"{DICT} with 2 children",
                "so the numbers of children do not match, with the symmetric difference of key sets: {'b'}",
            )
        ],
    ),
    (
        (None, 1),
        (1, (1,)),
        [("[0]", "a <class 'NoneType'>", LEAF, TYPES), ("[1]", LEAF, "a <class 'tuple'>", TYPES)],
    ),
    (Pair(1, 2), (1, 2), [("", f"a {Pair}", "a <class 'tuple'>", TYPES)]),
]


@pytest.mark.parametrize("one, two, wanted", DIFFERENCES)
def test_differences_of_trees(one, two, wanted):
    for errors in (equality_errors(one, two), equality_errors_pytreedef(tree.structure(one), tree.structure(two))):
        assert [(tree_util.keystr(path), *texts) for path, *texts in errors] == wanted


PREFIXES = [  # prefix, tree, text of the error
    ((1, 2), (1, 2, 3), "different lengths of tuple at key path\n    p"),
    ({"a": 1}, {"b": 1}, "different pytree metadata at key path\n    p"),
    ({"a": (1, 2)}, {"a": [1, 2]}, "different types at key path\n    p['a']"),
    ([1, None], [1, 2], "different types at key path\n    p[1]"),
]


@pytest.mark.parametrize("prefix, full, text", PREFIXES)
def test_faults_of_prefixes(prefix, full, text):
    (make,) = prefix_errors(prefix, full)
    assert f"pytree structure error: {text}" in str(make("p"))
    with pytest.raises(ValueError):
        broadcast_prefix(prefix, full)


def test_prefixes_are_broadcast_over_the_leaves_below():
    assert broadcast_prefix((1, {"a": 2}), ([3, (4, None)], {"a": [5, 6]})) == [1, 1, 2, 2]
    assert broadcast_prefix(None, None) == [] and not prefix_errors((1, 2), ([3], {"a": 4}))
    assert broadcast_prefix((None, 1), ((2, 3), 4), is_leaf=lambda x: x is None) == [None, None, 1]
