"""Nodes of trees that tests register: a class, a dataclass with a static field, and a named tuple."""

import dataclasses
from collections import namedtuple

from onax import tree_util

Pair = namedtuple("Pair", "x y")


class Box:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return type(other) is Box and self.a == other.a

    def __repr__(self):
        return "Box"


tree_util.register_pytree_node(Box, lambda b: ((b.a,), ("aux",)), lambda aux, children: Box(*children))


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w: object
    size: int = dataclasses.field(metadata={"static": True}, default=3)
