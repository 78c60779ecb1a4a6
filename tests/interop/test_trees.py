"""The registry of containers as a mapping."""

import collections
import dataclasses

import pytest

import onax
from onax.interop import trees


@onax.tree_util.register_dataclass
@dataclasses.dataclass
class Point:
    x: object
    y: object


Pair = collections.namedtuple("Pair", "a b")


ORDERED = collections.OrderedDict(z=1, a=2)


@pytest.mark.parametrize(
    "tree", [(1, [2]), [1, 2], {"b": 1, "a": {"c": 2}}, None, Pair(1, 2), Point(1, (2, 3)), ORDERED]
)
def test_entries_take_apart_and_put_together(tree):
    entry = trees.registry[type(tree)]
    children, data = entry.to_iter(tree)
    again = entry.from_iter(data, children)
    assert type(again) is type(tree) and again == tree
    assert trees.flatten_one_level(tree) == (children, data)


def test_what_is_no_container():
    assert list in trees.registry and int not in trees.registry
    with pytest.raises(KeyError):
        trees.registry[int]
    with pytest.raises(ValueError, match="can't tree-flatten type: <class 'int'>"):
        trees.flatten_one_level(3)
