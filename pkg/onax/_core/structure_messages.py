"""Tree structures as protocol buffers, in the format of `PyTreeDef.serialize_using_proto`.

A message holds the nodes of the structure, children before their parent, and the keys of its dicts as strings, each
once.  A node has a number of children (absent: none), a kind, and for a dict the indices of its keys.
"""

from onax._ground.errors import JaxRuntimeError
from onax._ground.protobuf_fields import pack, read_fields, unpack, write_field
from onax._native.tree import PyTreeDef

_LEAF, _LIST, _NONE, _TUPLE, _DICT = 1, 2, 3, 4, 5
_KINDS = {list: _LIST, type(None): _NONE, tuple: _TUPLE, dict: _DICT}
_CONTAINERS = {kind: container for container, kind in _KINDS.items()}
_NODE, _STRING = 1, 2  # fields of the message
_ARITY, _KIND, _KEYS = 1, 2, 3  # fields of a node
_INDICES = 1  # field of the keys


def serialize(treedef):
    """The structure as bytes; ValueError for registered classes and for keys that are not strings."""
    nodes, strings = [], {}
    _add(treedef, nodes, strings)
    texts = [text.encode() for text in strings]
    return b"".join([write_field(_NODE, node) for node in nodes] + [write_field(_STRING, text) for text in texts])


def _add(treedef, nodes, strings):
    data = treedef.node_data()
    if data is None:
        nodes.append(write_field(_KIND, _LEAF))
        return
    container, keys = data
    if container not in _KINDS:
        raise ValueError(
            "User-defined nodes are not supported when serializing pytrees as protocol buffers. You should either "
            "convert the user-defined nodes to another type or use pickle instead."
        )
    children = treedef.children()
    for child in children:
        _add(child, nodes, strings)
    node = write_field(_KIND, _KINDS[container])
    if children:
        node = write_field(_ARITY, len(children)) + node
    if container is dict and keys:
        node += write_field(_KEYS, write_field(_INDICES, pack(_intern(key, strings) for key in keys)))
    nodes.append(node)


def _intern(key, strings):
    if not isinstance(key, str):
        raise ValueError("Only string keys are supported in proto pytree serialization.")
    return strings.setdefault(key, len(strings))


def deserialize(registry, data):
    """The structure that `serialize` wrote.

    Raises JaxRuntimeError for bytes that are no such message, ValueError for a kind of node that does not exist,
    RuntimeError for nodes that are not one tree.
    """
    message = _read(read_fields, data)
    strings = [value.decode() for number, value in message if number == _STRING]
    stack = []
    for number, value in message:
        if number == _NODE:
            stack.append(_read_node(registry, dict(_read(read_fields, value)), stack, strings))
    if len(stack) != 1:
        raise RuntimeError("PyTreeDef traversal did not yield a singleton.")
    return stack[0]


def _read_node(registry, node, stack, strings):
    """The structure of a node, whose children it takes from the stack."""
    kind, arity = node.get(_KIND, 0), node.get(_ARITY, 0)
    if kind != _LEAF and kind not in _CONTAINERS:
        raise ValueError("Malformed pytree proto (invalid node type)")
    if kind == _LEAF:
        return PyTreeDef.from_node_data_and_children(registry, None, [])
    indices = dict(_read(read_fields, node.get(_KEYS, b""))).get(_INDICES, b"")
    keys = [strings[k] for k in _read(unpack, indices)]
    if arity > len(stack) or (kind == _DICT and len(keys) != arity):
        raise ValueError("Malformed pytree proto (too few children or keys)")
    children = stack[len(stack) - arity :]
    del stack[len(stack) - arity :]
    data = keys if kind == _DICT else None
    return PyTreeDef.from_node_data_and_children(registry, (_CONTAINERS[kind], data), children)


def _read(how, data):
    try:
        return list(how(data))
    except ValueError as error:
        raise JaxRuntimeError("Could not deserialize PyTreeDefProto.") from error
