"""Trees: structures, errors and key paths; expected texts are what JAX 0.10.2 gives."""

import functools
import pickle
import random
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from onax import tree, tree_util
from onax._core.paths import equality_errors
from onax._native import tree as native
from tree_nodes import Box, Layer, Pair

Other = namedtuple("Other", "x y")

# tree, text of its structure, leaves, node data, number of nodes
STRUCTURES = [
    (1, "*", [1], None, 1),
    (None, "None", [], (type(None), None), 1),
    ((), "()", [], (tuple, None), 1),
    ([], "[]", [], (list, None), 1),
    ({}, "{}", [], (dict, []), 1),
    ((1,), "(*,)", [1], (tuple, None), 2),
    ([1, 2], "[*, *]", [1, 2], (list, None), 3),
    ({"b": [1, None], "a": 2}, "{'a': *, 'b': [*, None]}", [2, 1], (dict, ["a", "b"]), 5),
    ({3: 1, 2: 0}, "{2: *, 3: *}", [0, 1], (dict, [2, 3]), 3),
    (Pair(1, 2), "CustomNode(namedtuple[Pair], [*, *])", [1, 2], (Pair, None), 3),
    (
        OrderedDict(b=1, a=2),
        "CustomNode(OrderedDict[('b', 'a')], [*, *])",
        [1, 2],
        (OrderedDict, ("b", "a")),
        3,
    ),
    (
        defaultdict(list, b=1, a=(2,)),
        "CustomNode(defaultdict[(<class 'list'>, ('a', 'b'))], [(*,), *])",
        [2, 1],
        (defaultdict, (list, ("a", "b"))),
        4,
    ),
    (Box(1), "CustomNode(Box[('aux',)], [*])", [1], (Box, ("aux",)), 2),
    (Layer(1, 2), "CustomNode(Layer[(2,)], [*])", [1], (Layer, (2,)), 2),
    ((1, (2, 3)), "(*, (*, *))", [1, 2, 3], (tuple, None), 5),
    ({"a": {"b": ()}}, "{'a': {'b': ()}}", [], (dict, ["a"]), 3),
]


@pytest.mark.parametrize("given, text, leaves, node_data, nodes", STRUCTURES)
def test_structures(given, text, leaves, node_data, nodes):
    flat, treedef = tree_util.tree_flatten(given)
    assert (flat, repr(treedef), treedef.node_data()) == (leaves, f"PyTreeDef({text})", node_data)
    assert (treedef.num_leaves, treedef.num_nodes) == (len(leaves), nodes)
    assert treedef.unflatten(flat) == given and type(treedef.unflatten(flat)) is type(given)
    again = tree_util.tree_structure(given)
    assert treedef == again and hash(treedef) == hash(again)
    assert pickle.loads(pickle.dumps(treedef)) == treedef
    rebuilt = treedef.from_node_data_and_children(tree_util.default_registry, treedef.node_data(), treedef.children())
    assert rebuilt == treedef
    assert treedef.compose(tree_util.tree_structure(0)) == treedef


@pytest.mark.parametrize(
    "leaf", [range(3), "a", 1.0, deque([1]), functools.partial(print, 1), type("Sub", (dict,), {})(a=1)]
)
def test_leaves(leaf):
    assert tree_util.tree_leaves(leaf) == [leaf] and tree_util.all_leaves([leaf])


NONE = r"Expected None, got 1\."
MISMATCHES = [
    ([1, 2], (1, 2), r"Expected list, got \(1, 2\)\."),
    ((1, 2), [1, 2], r"Expected tuple, got \[1, 2\]\."),
    ([1, 2], [1, 2, 3], r"List arity mismatch: 3 != 2; list: \[1, 2, 3\]\."),
    ((1, 2), (1, 2, 3), r"Tuple arity mismatch: 3 != 2; tuple: \(1, 2, 3\)\."),
    ({"a": 1}, {"a": 1, "b": 2}, r"Dict key mismatch; expected keys: \['a'\]; present keys: \['a', 'b'\]\."),
    ({"a": 1}, OrderedDict(a=1), r"Expected dict, got OrderedDict"),
    (None, 1, NONE),
    (Pair(1, 2), Other(1, 2), r"Named tuple type mismatch: expected type: .*Pair'>, tuple: Other\(x=1, y=2\)"),
    (Pair(1, 2), (1, 2), r"Expected named tuple, got \(1, 2\)\."),
    ((1, 2), Pair(1, 2), r"Expected tuple, got Pair\(x=1, y=2\)\."),
    (OrderedDict(a=1), {"a": 1}, r"Custom node type mismatch: expected type: <class 'collections.OrderedDict'>"),
    (OrderedDict(a=1, b=2), OrderedDict(b=1, a=2), r"Mismatch custom node data: \('a', 'b'\) != \('b', 'a'\)"),
    (Layer(1), Layer(1, 9), r"Mismatch custom dataclass node data: \(3,\) != \(9,\)"),
    (Layer(1), 1, r"Custom dataclass node type mismatch: expected type: .*Layer'>, value: 1"),
    ([[1], 2], [1, 2], r"Expected list, got 1\."),
    ([None], [1], NONE),
]


@pytest.mark.parametrize("prefix, full, message", MISMATCHES)
def test_flatten_up_to_refuses(prefix, full, message):
    with pytest.raises(ValueError, match=message):
        tree_util.tree_structure(prefix).flatten_up_to(full)
    with pytest.raises(ValueError, match=r"pytree structure error: different .* at key path\n    tree_map tree"):
        tree_util.tree_map(lambda *x: x, prefix, full)
    assert list(equality_errors(prefix, full))


@pytest.mark.parametrize(
    "prefix, full, found",
    [
        (1, [1, 2], [[1, 2]]),
        ([1], [None], [None]),
        ({"a": 1, "b": 2}, {"b": (3, 4), "a": 5}, [5, (3, 4)]),
        (Pair(1, 2), Pair(1, (2, 3)), [1, (2, 3)]),
        (None, None, []),
    ],
)
def test_flatten_up_to(prefix, full, found):
    assert tree_util.tree_structure(prefix).flatten_up_to(full) == found


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: tree.leaves([{1: 2, "a": 3}]),
            ValueError,
            "Comparator raised exception while sorting pytree dictionary keys.",
        ),
        (lambda: tree.unflatten(tree.structure([1, 2]), [1]), ValueError, "expected 2, got 1"),
        (lambda: tree.unflatten(tree.structure([1, 2]), [1, 2, 3]), ValueError, "Too many leaves.*expected 2"),
        (lambda: tree_util.flatten_one_level(1), ValueError, "can't tree-flatten type: <class 'int'>"),
        (lambda: tree.reduce(max, []), TypeError, "reduce"),
        (lambda: tree.reduce_associative(max, []), TypeError, "Must specify identity"),
        (
            lambda: tree.transpose(tree.structure([1, 2]), tree.structure({"a": 1, "b": 2}), [{"a": 1}, {"a": 2}]),
            TypeError,
            "Mismatch",
        ),
        (lambda: tree_util.register_pytree_node(Box, list, list), ValueError, "Duplicate custom PyTreeDef type"),
        (lambda: tree_util.register_pytree_node(list, list, list), ValueError, "Duplicate custom PyTreeDef type"),
        (lambda: tree_util.register_dataclass(Box), TypeError, "required when nodetype is not a dataclass"),
        (lambda: tree_util.register_dataclass(Layer, ["w"]), TypeError, "must both be specified"),
        (lambda: tree_util.register_dataclass(Layer, ["w"], []), ValueError, r"Missing fields: \{'size'\}"),
        (lambda: tree_util.register_dataclass(Layer, ["w", "q"], ["size"]), ValueError, r"Unexpected fields: \{'q'\}"),
        (lambda: tree_util.register_dataclass(Layer, ["w", "size"], ["size"]), ValueError, "must not overlap"),
        (lambda: native.PyTreeDef(), TypeError, "no constructor"),
        (lambda: tree_util.SequenceKey("a"), TypeError, "idx"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("returned", [3, (3, 4), (3, 4, 5)])
def test_bad_flatten_functions(returned):
    kind = type("Bad", (), {})
    tree_util.register_pytree_node(kind, lambda _: returned, lambda *_: kind())
    with pytest.raises(ValueError, match="to_iterable function for a custom PyTree node should return"):
        tree.leaves(kind())


def test_too_deep():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        tree.leaves(deep)


def test_is_leaf():
    leaves, treedef = tree.flatten([None, 1, (2,)], is_leaf=lambda x: x is None or isinstance(x, tuple))
    assert (leaves, repr(treedef)) == ([None, 1, (2,)], "PyTreeDef([*, *, *])")


@pytest.mark.parametrize("answer", [0, 1, []])
@pytest.mark.parametrize("function", [tree.flatten, tree.leaves, tree.structure, tree.leaves_with_path])
def test_is_leaf_answers_true_false_or_nothing(function, answer):
    assert function([1], is_leaf=lambda x: None) == function([1])
    with pytest.raises(ValueError, match="is_leaf predicate returned a non-boolean value"):
        function([1], is_leaf=lambda x: answer)


def test_registration_is_seen_by_later_flattening():
    kind = type("Late", (), {})
    assert len(tree.leaves([kind()])) == 1  # remembered as a leaf
    tree_util.register_pytree_node(kind, lambda _: ((1, 2), None), lambda *_: kind())
    assert tree.leaves([kind()]) == [1, 2]


class Keyed:
    def __init__(self, x, y):
        self.x, self.y = x, y


tree_util.register_pytree_with_keys(
    Keyed, lambda k: ((("x", k.x), ("y", k.y)), "data"), lambda data, children: Keyed(*children)
)


@pytest.mark.parametrize(
    "container, children, data",
    [  # lists and tuples as JAX gives them
        (Keyed(1, (2,)), [1, (2,)], "data"),
        (OrderedDict(b=1, a=2), [1, 2], ("b", "a")),
        (defaultdict(int, b=1, a=2), [2, 1], (int, ("a", "b"))),
        ({"b": 1, "a": 2}, (2, 1), ("a", "b")),
        ((1, 2), (1, 2), None),
        ([1, 2], [1, 2], None),
    ],
)
def test_one_level(container, children, data):
    assert native.flatten_one_level(container) == (children, data)


def oracle_flatten(x):
    """The meaning of flattening, in plain Python."""
    if x is None:
        return []
    if type(x) in (list, tuple):
        return [leaf for child in x for leaf in oracle_flatten(child)]
    if type(x) is dict:
        return [leaf for key in sorted(x) for leaf in oracle_flatten(x[key])]
    return [x]


def random_tree(rng, depth):
    kind = rng.choice(["leaf", "leaf", "none", "list", "tuple", "dict"]) if depth else "leaf"
    children = [random_tree(rng, depth - 1) for _ in range(rng.randrange(4) if depth else 0)]
    if kind == "dict":
        return dict(zip(rng.sample("abcdefgh", len(children)), children))
    return {"leaf": rng.random(), "none": None, "list": children, "tuple": tuple(children)}[kind]


@pytest.mark.parametrize("seed", range(30))
def test_random_trees(seed):
    given = random_tree(random.Random(seed), 5)
    leaves, treedef = tree.flatten(given)
    assert leaves == oracle_flatten(given) and treedef.unflatten(leaves) == given
    assert treedef.num_leaves == len(leaves) and pickle.loads(pickle.dumps(treedef)) == treedef
    doubled = treedef.compose(tree.structure((0, 0)))
    assert doubled == tree.structure(tree.map(lambda x: (x, x), given))
