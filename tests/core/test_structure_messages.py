"""Structures survive being written and read; what is no message of a structure is refused."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from onax import tree
from onax._ground.errors import JaxRuntimeError
from onax.tree_util import PyTreeDef, default_registry, register_pytree_node

TREES = st.recursive(
    st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=20,
)


class Registered:
    """A class of the user's."""


register_pytree_node(Registered, lambda _: ((), None), lambda _, __: Registered())


def read(data):
    return PyTreeDef.deserialize_using_proto(default_registry, data)


@settings(deadline=None)
@given(TREES)
def test_written_structures_are_read(value):
    structure = tree.structure(value)
    assert read(structure.serialize_using_proto()) == structure


def test_registered_classes_are_refused():
    with pytest.raises(ValueError, match="User-defined nodes are not supported"):
        tree.structure([Registered()]).serialize_using_proto()


@pytest.mark.parametrize("data", [b"abc", b"\n\x05\x10\x01", b"\n", b"\n\x02\x10\xff", b"\x0f\x01"])
def test_broken_messages(data):
    with pytest.raises(JaxRuntimeError, match="Could not deserialize"):
        read(data)


@pytest.mark.parametrize(
    "data",
    [b"\n\x04\x08\x02\x10\x04", b"\n\x02\x10\x09", b"\n\x04\x10\x01\x08\x01\n\x04\x08\x01\x10\x05"],
    ids=["too few children", "unknown kind", "a dict without keys"],
)
def test_malformed_nodes(data):
    with pytest.raises(ValueError, match="Malformed pytree proto"):
        read(data)
