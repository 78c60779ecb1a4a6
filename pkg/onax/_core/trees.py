"""Functions on trees that are not performance-critical: registration with checks, reductions, transposition,
Partial."""

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from onax._core.paths import DictKey, KeyEntry, broadcast_prefix
from onax._ground.lazy import dataclasses
from onax._ground.source import api_boundary
from onax._ground.typing import Class, PyTree
from onax._native import tree as native
from onax._native.tree import (
    PyTreeDef,
    flatten_one_level,
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


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Returns whether no entry of an iterable is a container.

    Args:
      iterable: an iterable of values.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      A bool.

    Raises:
      TypeError: the value is not iterable.

    Examples:
      >>> onax.tree_util.all_leaves([1, 2.0, "a"]), onax.tree_util.all_leaves([1, (2, 3)])
      (True, False)
    """
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


def register_pytree_node_class(cls: Class) -> Class:
    """Registers a class as a container through its methods, as a decorator.

    Args:
      cls: a class with ``tree_flatten(self) -> (children, data)`` and a class method ``tree_unflatten(cls, data,
        children)``.

    Returns:
      The class.

    Examples:
      >>> @onax.tree_util.register_pytree_node_class
      ... class Box:
      ...     def __init__(self, value):
      ...         self.value = value
      ...     def tree_flatten(self):
      ...         return (self.value,), None
      ...     @classmethod
      ...     def tree_unflatten(cls, data, children):
      ...         return cls(*children)
      >>> onax.tree.map(lambda x: x + 1, Box(1)).value
      2
    """
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[KeyEntry, Any]], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Registers a class as a container whose children have keys in paths.

    Args:
      nodetype: the class.
      flatten_with_keys: a function (container) -> ((key, child) pairs, data).
      unflatten_func: a function (data, children) -> container.
      flatten_func: a function (container) -> (children, data), which is quicker; default None, from
        `flatten_with_keys`.

    Returns:
      None.

    Raises:
      ValueError: the class is registered already.

    Examples:
      >>> class Box:
      ...     def __init__(self, value):
      ...         self.value = value
      >>> key = onax.tree_util.GetAttrKey("value")
      >>> onax.tree_util.register_pytree_with_keys(Box, lambda b: (((key, b.value),), None), lambda _, c: Box(*c))
      >>> onax.tree.leaves_with_path(Box(1))
      [((GetAttrKey(name='value'),), 1)]
    """
    if flatten_func is None:

        def flatten_func(x):
            pairs, data = flatten_with_keys(x)
            return [child for _, child in pairs], data

    register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Registers a class as a container with keys through its methods, as a decorator.

    Args:
      cls: a class with ``tree_flatten_with_keys(self) -> ((key, child) pairs, data)`` and a class method
        ``tree_unflatten(cls, data, children)``.

    Returns:
      The class.

    Examples:
      >>> @onax.tree_util.register_pytree_with_keys_class
      ... class Box:
      ...     def __init__(self, value):
      ...         self.value = value
      ...     def tree_flatten_with_keys(self):
      ...         return ((onax.tree_util.GetAttrKey("value"), self.value),), None
      ...     @classmethod
      ...     def tree_unflatten(cls, data, children):
      ...         return cls(*children)
      >>> onax.tree.leaves_with_path(Box(1))
      [((GetAttrKey(name='value'),), 1)]
    """
    flatten = (lambda x: x.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(cls, lambda x: x.tree_flatten_with_keys(), cls.tree_unflatten, flatten)
    return cls


def register_static(cls: Class) -> Class:
    """Registers a class whose objects are static: containers without children, compared by equality.

    Args:
      cls: a class with `__hash__` and `__eq__`.

    Returns:
      The class.

    Examples:
      >>> @onax.tree_util.register_static
      ... class Name(str):
      ...     pass
      >>> onax.tree.leaves([Name("a"), 1])
      [1]
    """
    register_pytree_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Registers a class as a container of its fields.

    For a dataclass both lists may be left out: a field is static if its metadata says ``static=True``.

    Args:
      nodetype: the class.
      data_fields: the names of the fields that are children.
      meta_fields: the names of the fields that are static data.
      drop_fields: the names of the fields that flattening leaves out; default none.

    Returns:
      The class.

    Raises:
      TypeError: the lists are missing, and the class is not a dataclass.
      ValueError: the lists do not name all fields that the constructor takes.

    Examples:
      >>> import dataclasses
      >>> @dataclasses.dataclass
      ... class Layer:
      ...     weight: object
      ...     name: str
      >>> Layer = onax.tree_util.register_dataclass(Layer, data_fields=["weight"], meta_fields=["name"])
      >>> onax.tree.map(lambda x: 2 * x, Layer(3, "dense"))
      Layer(weight=6, name='dense')
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


def static(**kwargs: Any) -> Any:
    """Returns a dataclass field that is static in trees, for `register_dataclass`.

    Args:
      kwargs: arguments of `dataclasses.field`, such as `default`.

    Returns:
      A field whose metadata says ``static=True``.

    Examples:
      >>> import dataclasses
      >>> @onax.tree_util.register_dataclass
      ... @dataclasses.dataclass
      ... class Layer:
      ...     weight: object
      ...     name: str = onax.tree.static(default="dense")
      >>> onax.tree.leaves(Layer(1.0))
      [1.0]
    """
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **kwargs)


def tree_all(tree: PyTree, *, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Returns whether all leaves are true.

    Args:
      tree: a tree of containers.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      A bool.

    Examples:
      >>> onax.tree.all([True, (True, {"a": False})])
      False
    """
    return all(tree_leaves(tree, is_leaf))


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: PyTree,
    initializer: Any = _unspecified,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Returns the leaves combined from the left, as `functools.reduce` does.

    Args:
      function: a function (accumulator, leaf) -> accumulator.
      tree: a tree of containers.
      initializer: the first accumulator; by default the first leaf.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      The last accumulator.

    Raises:
      TypeError: there are no leaves and no initializer.

    Examples:
      >>> onax.tree.reduce(lambda a, b: a + b, {"x": 1, "y": (2, 3)})
      6
    """
    if initializer is _unspecified:
        return functools.reduce(function, tree_leaves(tree, is_leaf))
    return functools.reduce(function, tree_leaves(tree, is_leaf), initializer)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: PyTree,
    *,
    identity: Any = _unspecified,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Returns the leaves combined in pairs, and the results in pairs again, which rounds less than `tree_reduce`.

    Args:
      operation: an associative function (a, b) -> c.
      tree: a tree of containers.
      identity: the result for a tree without leaves.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      The combination of all leaves.

    Raises:
      TypeError: there are no leaves and no identity.

    Examples:
      >>> onax.tree.reduce_associative(lambda a, b: a + b, [1, 2, (3, 4)])
      10
    """
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


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: PyTree) -> PyTree:
    """Returns a tree of trees with the outer and the inner structure exchanged.

    Args:
      outer_treedef: the outer structure.
      inner_treedef: the inner structure; None: that of the first subtree.
      pytree_to_transpose: a tree of the outer structure, each leaf of which is a tree of the inner one.

    Returns:
      A tree of the inner structure whose leaves are trees of the outer one.

    Raises:
      TypeError: the tree has another structure.
      ValueError: the outer structure has no leaves and the inner one has some.

    Examples:
      >>> structure = onax.tree.structure
      >>> onax.tree.transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1}, {"a": 2}])
      {'a': [1, 2]}
    """
    _check_treedefs("tree_transpose", outer_treedef, *(() if inner_treedef is None else (inner_treedef,)))
    leaves, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    inner, outer = inner_treedef.num_leaves, outer_treedef.num_leaves
    if treedef.num_leaves != inner * outer:
        raise TypeError(f"Mismatch\n{treedef}\n != \n{outer_treedef.compose(inner_treedef)}")
    return inner_treedef.unflatten([outer_treedef.unflatten(leaves[i::inner]) for i in range(inner if outer else 0)])


def tree_broadcast(prefix_tree: PyTree, full_tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> PyTree:
    """Returns a tree of the structure of another, each leaf the one above it in a prefix of the tree.

    Args:
      prefix_tree: a tree whose structure is a prefix of that of `full_tree`.
      full_tree: a tree.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      A tree of the structure of `full_tree`.

    Raises:
      ValueError: the structures do not fit.

    Examples:
      >>> onax.tree.broadcast((1, 2), ({"a": 0, "b": 0}, 0))
      ({'a': 1, 'b': 1}, 2)
    """
    return tree_structure(full_tree).unflatten(broadcast_prefix(prefix_tree, full_tree, is_leaf))


def build_tree(treedef: PyTreeDef, xs: Iterable[Any]) -> PyTree:
    """Returns the tree of a structure, from nested iterables of the same shape.

    Args:
      treedef: a PyTreeDef.
      xs: nested iterables of the shape of the structure.

    Returns:
      A tree.

    Examples:
      >>> onax.tree_util.build_tree(onax.tree.structure({"a": (0, 0)}), [[1, 2]])
      {'a': (1, 2)}
    """
    return treedef.from_iterable_tree(xs)


def _check_treedefs(name, *treedefs):
    for treedef in treedefs:
        if not isinstance(treedef, PyTreeDef):
            raise TypeError(f"{name} takes structures (PyTreeDef), got {type(treedef)}")


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Returns the structure of a tuple of trees.

    Args:
      treedefs: an iterable of structures.

    Returns:
      A PyTreeDef.

    Examples:
      >>> onax.tree_util.treedef_tuple([onax.tree.structure(0), onax.tree.structure([0])])
      PyTreeDef((*, [*]))
    """
    treedefs = list(treedefs)
    _check_treedefs("treedef_tuple", *treedefs)
    return PyTreeDef.from_node_data_and_children(default_registry, (tuple, None), treedefs)


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Returns whether a structure is a single node: a leaf, or an empty container.

    Args:
      treedef: a PyTreeDef.

    Returns:
      A bool.

    Examples:
      >>> onax.tree_util.treedef_is_leaf(onax.tree.structure(0))
      True
    """
    _check_treedefs("treedef_is_leaf", treedef)
    return treedef.num_nodes == 1


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Returns the structures of the children of a structure's root.

    Args:
      treedef: a PyTreeDef.

    Returns:
      A list of PyTreeDefs.

    Examples:
      >>> onax.tree_util.treedef_children(onax.tree.structure((0, [0])))
      [PyTreeDef(*), PyTreeDef([*])]
    """
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
    """A `functools.partial` that is a container: its arguments are children, its function is static.

    Args:
      function that is itself a partial is static with all its arguments.
      func: a function.
      args: its first arguments, trees.
      kw: its keyword arguments, trees.

    Examples:
      >>> add = onax.tree_util.Partial(jnp.add, 1.0)
      >>> onax.tree.leaves(add)
      [1.0]
      >>> onax.jit(lambda f, x: f(x))(add, 2.0)
      Array(3., dtype=float32, weak_type=True)
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
    return [d[k] for k in keys], (d.default_factory, keys)


register_pytree_node(
    OrderedDict,
    lambda d: (list(d.values()), tuple(d)),
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

# ---- documentation of compiled functions, which stands here so that their module stays short

tree_flatten.__doc__ = """Returns the leaves of a tree and its structure.

    Args:
      tree: a tree of containers.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      (leaves, structure): a list, and a PyTreeDef.

    Examples:
      >>> leaves, structure = onax.tree.flatten({"b": 2, "a": (1, None)})
      >>> leaves
      [1, 2]
      >>> structure
      PyTreeDef({'a': (*, None), 'b': *})
    """

tree_unflatten.__doc__ = """Returns the tree that has a structure and leaves; the inverse of `tree_flatten`.

    Args:
      treedef: a PyTreeDef.
      leaves: an iterable of as many leaves as the structure has.

    Returns:
      A tree.

    Raises:
      TypeError: `treedef` is not a PyTreeDef.
      ValueError: another number of leaves.

    Examples:
      >>> onax.tree.unflatten(onax.tree.structure({"a": 0, "b": 0}), [1, 2])
      {'a': 1, 'b': 2}
    """

tree_leaves.__doc__ = """Returns the leaves of a tree.

    Args:
      tree: a tree of containers.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      A list, in the order of the containers; dictionaries are sorted by key.

    Examples:
      >>> onax.tree.leaves({"b": 2, "a": (1, None)})
      [1, 2]
    """

tree_structure.__doc__ = """Returns the structure of a tree.

    Args:
      tree: a tree of containers.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      A PyTreeDef.

    Examples:
      >>> onax.tree.structure([1, (2, 3)])
      PyTreeDef([*, (*, *)])
    """

flatten_one_level.__doc__ = """Returns the children of a container, and its static data.

    Args:
      tree: a container.

    Returns:
      (children, data): an iterable, and what the class was registered to keep; None for tuples and lists.

    Raises:
      ValueError: `tree` is a leaf.

    Examples:
      >>> onax.tree_util.flatten_one_level([1, (2, 3)])
      ([1, (2, 3)], None)
    """

register_pytree_node.__doc__ = """Registers a class as a container of trees.

    Args:
      nodetype: the class; its subclasses are not registered with it.
      flatten_func: a function (container) -> (children, data); the data is static: it has a hash and an equality.
      unflatten_func: a function (data, children) -> container.
      flatten_with_keys_func: a function (container) -> ((key, child) pairs, data); default None: keys are numbers.

    Returns:
      None.

    Raises:
      TypeError: the functions cannot be called.
      ValueError: the class is registered already.

    Examples:
      >>> class Pair:
      ...     def __init__(self, a, b):
      ...         self.a, self.b = a, b
      >>> onax.tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab))
      >>> onax.tree.leaves(Pair(1, [2, 3]))
      [1, 2, 3]
    """
