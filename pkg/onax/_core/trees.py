"""Functions on trees that are not performance-critical: registration with checks, reductions, transposition,
Partial."""

import functools
from collections import OrderedDict, defaultdict
from dataclasses import dataclass

from onax._core.paths import DictKey, broadcast_prefix
from onax._ground.lazy import dataclasses
from onax._ground.source import api_boundary
from onax._native import tree as native
from onax._native.tree import (
    PyTreeDef,
    register_dataclass_node,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)


class _Unspecified:
    """The default of arguments for which None means something."""

    __slots__ = ()

    def __repr__(self):
        return "<unspecified>"


_unspecified = _Unspecified()


def all_leaves(iterable, is_leaf=None):
    """Whether every entry of `iterable` is a leaf; TypeError for a value that is not iterable."""
    if not (hasattr(type(iterable), "__iter__") or hasattr(type(iterable), "__getitem__")):
        raise TypeError(f"all_leaves: {iterable!r} is not iterable")
    entries = list(iterable)
    leaves = tree_leaves(entries, is_leaf)
    return len(leaves) == len(entries) and all(x is y for x, y in zip(leaves, entries))


class PyTreeRegistry:
    """The registry of container classes; `default_registry` is its only instance."""

    __slots__ = ()

    def flatten(self, tree, is_leaf=None):
        """(leaves, structure) of a tree."""
        return tree_flatten(tree, is_leaf)

    def flatten_one_level(self, tree):
        """(children, data) of the root, or None for a leaf."""
        return None if all_leaves([tree]) else native.flatten_one_level(tree)

    def is_node(self, type):
        """Whether objects of this class are containers."""
        return native.is_tree_node(type)

    def register_node(self, nodetype, to_iterable, from_iterable, to_iterable_with_keys=None):
        """Makes a class a container."""
        register_pytree_node(nodetype, to_iterable, from_iterable, to_iterable_with_keys)


default_registry = PyTreeRegistry()


def register_pytree_node_class(cls):
    """Class decorator: makes the class a container through its methods tree_flatten and tree_unflatten."""
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)
    return cls


def register_pytree_with_keys(nodetype, flatten_with_keys, unflatten_func, flatten_func=None):
    """Makes a class a container whose children have keys.

    `flatten_with_keys(x)` gives ((key, child) pairs, data).
    """
    if flatten_func is None:

        def flatten_func(x):
            pairs, data = flatten_with_keys(x)
            return [child for _, child in pairs], data

    register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls):
    """Class decorator: makes the class a container through its tree_flatten_with_keys and tree_unflatten."""
    flatten = (lambda x: x.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(cls, lambda x: x.tree_flatten_with_keys(), cls.tree_unflatten, flatten)
    return cls


def register_static(cls):
    """Class decorator: makes every object of the class a container without children whose static data is the object."""
    register_pytree_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


def register_dataclass(nodetype, data_fields=None, meta_fields=None, drop_fields=()):
    """Makes a class a container, `data_fields` its children, `meta_fields` its static data; returns the class.

    For a dataclass both may be left out: a field is static if its metadata says `static=True`.  Together with
    `drop_fields` they must name all fields that its constructor takes; TypeError or ValueError otherwise.
    """
    fields = getattr(nodetype, "__dataclass_fields__", None)
    if data_fields is None or meta_fields is None:
        if (data_fields is None) != (meta_fields is None):
            raise TypeError(
                "register_dataclass: data_fields and meta_fields must both be specified when either is "
                f"specified. Got {data_fields=} {meta_fields=}."
            )
        if fields is None:
            raise TypeError(
                "register_dataclass: data_fields and meta_fields are required when nodetype is not a "
                f"dataclass. Got {nodetype=}."
            )
        static = {n for n, f in fields.items() if f.metadata.get("static", False)}
        data_fields = [n for n in _own_fields(fields) if n not in static]
        meta_fields = [n for n in _own_fields(fields) if n in static]
    data_fields, meta_fields = tuple(data_fields), tuple(meta_fields)
    if fields is not None:
        _check_fields(fields, {*data_fields, *meta_fields}, drop_fields)
    overlap = set(data_fields) & set(meta_fields)
    if overlap:
        raise ValueError(f"data_fields and meta_fields must not overlap. Overlapping fields: {overlap}.")
    register_dataclass_node(nodetype, data_fields, meta_fields)
    return nodetype


def _own_fields(fields):
    """Names of real fields, without ClassVar and InitVar pseudo-fields."""
    return [n for n, f in fields.items() if f._field_type.name == "_FIELD"]


def _check_fields(fields, stated, drop_fields):
    expected = {n for n in _own_fields(fields) if fields[n].init} - set(drop_fields)
    if stated == expected:
        return
    text = "data_fields and meta_fields must include all dataclass fields with ``init=True`` and only them."
    if expected - stated:
        text += f" Missing fields: {expected - stated}. Add them to drop_fields to suppress this error."
    if stated - expected:
        text += f" Unexpected fields: {stated - expected}."
    raise ValueError(text)


def static(**kwargs):
    """A dataclass field that is static: `dataclasses.field` with metadata that register_dataclass reads."""
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **kwargs)


def tree_all(tree, *, is_leaf=None):
    """Whether every leaf is true."""
    return all(tree_leaves(tree, is_leaf))


def tree_reduce(function, tree, initializer=_unspecified, is_leaf=None):
    """Folds the leaves from the left; TypeError for no leaves and no initializer."""
    if initializer is _unspecified:
        return functools.reduce(function, tree_leaves(tree, is_leaf))
    return functools.reduce(function, tree_leaves(tree, is_leaf), initializer)


def tree_reduce_associative(operation, tree, *, identity=_unspecified, is_leaf=None):
    """Combines the leaves in a balanced tree; raises TypeError for no leaves and no identity."""
    leaves = tree_leaves(tree, is_leaf)
    if not leaves:
        if identity is _unspecified:
            raise TypeError("Must specify identity for parallel reduction of empty sequence.")
        return identity
    return _combine(operation, leaves)


def _combine(operation, leaves):
    if len(leaves) == 1:
        return leaves[0]
    half = len(leaves) // 2
    return operation(_combine(operation, leaves[:half]), _combine(operation, leaves[half:]))


def tree_transpose(outer_treedef, inner_treedef, pytree_to_transpose):
    """Exchanges the outer and the inner structure of a tree; an inner structure of None is inferred.

    Raises TypeError if the tree is not `outer` of `inner`.
    """
    _check_treedefs("tree_transpose", outer_treedef, *(() if inner_treedef is None else (inner_treedef,)))
    leaves, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    inner, outer = inner_treedef.num_leaves, outer_treedef.num_leaves
    if treedef.num_leaves != inner * outer:
        raise TypeError(f"Mismatch\n{treedef}\n != \n{outer_treedef.compose(inner_treedef)}")
    return inner_treedef.unflatten([outer_treedef.unflatten(leaves[i::inner]) for i in range(inner)])


def tree_broadcast(prefix_tree, full_tree, is_leaf=None):
    """`full_tree` with each leaf replaced by the leaf of `prefix_tree` above it."""
    return tree_structure(full_tree).unflatten(broadcast_prefix(prefix_tree, full_tree, is_leaf))


def build_tree(treedef, xs):
    """The tree of structure `treedef` from nested iterables of its shape."""
    return treedef.from_iterable_tree(xs)


def _check_treedefs(name, *treedefs):
    for treedef in treedefs:
        if not isinstance(treedef, PyTreeDef):
            raise TypeError(f"{name} takes structures (PyTreeDef), got {type(treedef)}")


def treedef_tuple(treedefs):
    """The structure of a tuple of trees of the given structures."""
    treedefs = list(treedefs)
    _check_treedefs("treedef_tuple", *treedefs)
    return PyTreeDef.from_node_data_and_children(default_registry, (tuple, None), treedefs)


def treedef_is_leaf(treedef):
    """Whether the structure is one node: a leaf, or an empty container."""
    _check_treedefs("treedef_is_leaf", treedef)
    return treedef.num_nodes == 1


def treedef_children(treedef):
    """The structures directly below the root, as a list."""
    _check_treedefs("treedef_children", treedef)
    return treedef.children()


@dataclass(slots=True, eq=False, repr=False)
class _Shim:
    """Wraps a partial function to compare by identity, so that it can be static data of a structure."""

    fun: object

    def __call__(self, *args, **kwargs):
        return self.fun(*args, **kwargs)

    def __hash__(self):
        return hash(self.fun)

    def __eq__(self, other):
        return self.fun == (other.fun if isinstance(other, _Shim) else other)

    def __repr__(self):
        return f"_HashableCallableShim({self.fun!r})"


class Partial(functools.partial):
    """functools.partial as a container: its arguments are children, its function is static.

    A function that is itself a partial is static with all its arguments.
    """

    __module__ = "onax.tree_util"

    @api_boundary
    def __new__(cls, func, /, *args, **kw):
        if isinstance(func, functools.partial):
            func = _Shim(func)
        return super().__new__(cls, func, *args, **kw)

    def __repr__(self):
        parts = [repr(self.func), *map(repr, self.args), *(f"{k}={v!r}" for k, v in self.keywords.items())]
        return f"Partial({', '.join(parts)})"


register_pytree_node(
    Partial,
    lambda p: ((p.args, p.keywords), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)


def _dict_items(keys, values):
    return tuple((DictKey(k), v) for k, v in zip(keys, values))


def _sorted_defaultdict(d):
    keys = tuple(sorted(d))
    return tuple(d[k] for k in keys), (d.default_factory, keys)


register_pytree_node(
    OrderedDict,
    lambda d: (tuple(d.values()), tuple(d)),
    lambda keys, values: OrderedDict(zip(keys, values)),
    lambda d: (_dict_items(d, d.values()), tuple(d)),
)
register_pytree_node(
    defaultdict,
    _sorted_defaultdict,
    lambda data, values: defaultdict(data[0], zip(data[1], values)),
    lambda d: (_dict_items(sorted(d), _sorted_defaultdict(d)[0]), (d.default_factory, tuple(sorted(d)))),
)

__all__ = [
    "Partial",
    "PyTreeDef",
    "PyTreeRegistry",
    "all_leaves",
    "build_tree",
    "default_registry",
    "register_dataclass",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "static",
    "tree_all",
    "tree_broadcast",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
