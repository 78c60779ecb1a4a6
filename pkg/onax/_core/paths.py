"""Key paths: the position of a leaf in a tree, and messages about the differences of two trees.

A path is a tuple of keys: `DictKey('w')`, `SequenceKey(0)`, `GetAttrKey('bias')`, or `FlattenedIndexKey(2)`
for registered classes that do not name their children.
"""

from collections.abc import Callable, Sequence
from typing import Any

from onax._ground import lazy
from onax._ground.source import api_class
from onax._ground.typing import AnyFunction, PyTree
from onax._native.tree import (
    PyTreeDef,
    flatten_one_level,
    is_tree_node,
    leaf_test_result,
    registration_of,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)

KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]


class _Key:
    """One key of a path: a class and one value; immutable, hashable, picklable."""

    __slots__ = ()

    @property
    def value(self):
        """The index, name or dictionary key."""
        return getattr(self, self.__match_args__[0])

    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self.value == other.value

    def __hash__(self):
        return hash((type(self).__name__, self.value))

    def __repr__(self):
        return f"{type(self).__name__}({self.__match_args__[0]}={self.value!r})"

    def __reduce__(self):
        return type(self), (self.value,)


@api_class
class SequenceKey(_Key):
    """A step of a path into a tuple or list.

    Args:
      idx: the index of the child.

    Examples:
      >>> onax.tree_util.keystr((onax.tree_util.SequenceKey(1),))
      '[1]'
    """

    __slots__ = __match_args__ = ("idx",)

    def __init__(self, idx):
        if not isinstance(idx, int):
            raise TypeError(f"SequenceKey: idx must be an int, got {idx!r}")
        object.__setattr__(self, "idx", idx)

    def __str__(self):
        return f"[{self.idx}]"


@api_class
class DictKey(_Key):
    """A step of a path into a dictionary.

    Args:
      key: the key of the child.

    Examples:
      >>> onax.tree_util.keystr((onax.tree_util.DictKey("a"),))
      "['a']"
    """

    __slots__ = __match_args__ = ("key",)

    def __init__(self, key):
        object.__setattr__(self, "key", key)

    def __str__(self):
        return f"[{self.key!r}]"


@api_class
class GetAttrKey(_Key):
    """A step of a path into an object with named children.

    Args:
      name: the name of the attribute.

    Examples:
      >>> onax.tree_util.keystr((onax.tree_util.GetAttrKey("weight"),))
      '.weight'
    """

    __slots__ = __match_args__ = ("name",)

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"GetAttrKey: name must be a str, got {name!r}")
        object.__setattr__(self, "name", name)

    def __str__(self):
        return f".{self.name}"


@api_class
class FlattenedIndexKey(_Key):
    """A step of a path into a registered class that does not name its children.

    Args:
      key: the number of the child.

    Examples:
      >>> onax.tree_util.keystr((onax.tree_util.FlattenedIndexKey(0),))
      '[<flat index 0>]'
    """

    __slots__ = __match_args__ = ("key",)

    def __init__(self, key):
        if not isinstance(key, int):
            raise TypeError(f"FlattenedIndexKey: key must be an int, got {key!r}")
        object.__setattr__(self, "key", key)

    def __str__(self):
        return f"[<flat index {self.key}>]"


_LEAF = object()  # no number, which classes may refuse


def placeholders(treedef):
    """As many objects as a tree has leaves, of which only the places matter."""
    return [_LEAF] * treedef.num_leaves


def skeleton(treedef):
    """A tree of this structure."""
    return tree_unflatten(treedef, placeholders(treedef))


def keystr(keys: Sequence[KeyEntry], *, simple: bool = False, separator: str = "") -> str:
    """Returns the text of a path.

    Args:
      keys: a path, a sequence of keys.
      simple: True: names and indices alone; default False.
      separator: what stands between two keys; default "".

    Returns:
      A str.

    Examples:
      >>> [(path, leaf)] = onax.tree.leaves_with_path({"a": [5]})
      >>> onax.tree_util.keystr(path), onax.tree_util.keystr(path, simple=True, separator="/")
      ("['a'][0]", 'a/0')
    """
    keys = [str(k.value) if simple and isinstance(k, _Key) else str(k) for k in keys]
    return separator.join(keys)


_INDEX_KEYS = [SequenceKey(i) for i in range(32)]
_name_keys = {}  # str -> DictKey, because the same names occur in many trees


def _index_keys(n):
    return _INDEX_KEYS if n <= len(_INDEX_KEYS) else [SequenceKey(i) for i in range(n)]


def _name_key(name):
    if type(name) is not str:
        return DictKey(name)
    key = _name_keys.get(name)
    if key is None:
        if len(_name_keys) >= 4096:
            _name_keys.clear()
        key = _name_keys[name] = DictKey(name)
    return key


def _named_children(tree):
    """((key, child) pairs, data) of the root container."""
    kind = type(tree)
    if kind is tuple or kind is list:
        return tuple(zip(_index_keys(len(tree)), tree)), None
    children, data = flatten_one_level(tree)
    if kind is dict:
        return tuple(zip(map(_name_key, data), children)), data
    registration = registration_of(kind)
    if registration is None:
        return [(GetAttrKey(k), x) for k, x in zip(getattr(kind, "_fields", ()), children)], data
    if registration.data_fields is not None:
        return [(GetAttrKey(k), x) for k, x in zip(registration.data_fields, children)], data
    if registration.flatten_with_keys is not None:
        children, data = registration.flatten_with_keys(tree)
        return list(children), data
    return [(FlattenedIndexKey(i), x) for i, x in enumerate(children)], data


def flatten_one_level_with_keys(tree: PyTree) -> tuple[Sequence[tuple[KeyEntry, Any]], Any]:
    """Returns the children of a container with their keys, and its static data.

    Args:
      tree: a container.

    Returns:
      ((key, child) pairs, data).

    Raises:
      ValueError: `tree` is a leaf.

    Examples:
      >>> onax.tree_util.flatten_one_level_with_keys({"a": 1})
      (((DictKey(key='a'), 1),), ('a',))
    """
    return _named_children(tree)


def _is_container(x):
    return is_tree_node(type(x))


def _walk(path, tree, stop, out):
    if (stop is not None and stop(path, tree)) or not is_tree_node(type(tree)):
        out.append((path, tree))
    else:
        for key, child in _named_children(tree)[0]:
            _walk((*path, key), child, stop, out)


def tree_leaves_with_path(
    tree: PyTree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Returns the leaves of a tree, each with its path.

    Args:
      tree: a tree of containers.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.
      is_leaf_takes_path: True: `is_leaf` gets (path, node); default False.

    Returns:
      A list of (path, leaf) pairs; a path is a tuple of keys.

    Examples:
      >>> onax.tree.leaves_with_path({"a": [5]})
      [((DictKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    out = []
    _walk((), tree, _with_path_argument(is_leaf, is_leaf_takes_path), out)
    return out


def _with_path_argument(is_leaf, takes_path):
    """Makes `is_leaf` a function of (path, x), or None."""
    if is_leaf is None:
        return None
    if takes_path:
        return lambda path, x: leaf_test_result(is_leaf(path, x))
    return lambda _, x: leaf_test_result(is_leaf(x))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Returns the leaves of a tree, each with its path, and its structure.

    Args:
      tree: a tree of containers.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.
      is_leaf_takes_path: True: `is_leaf` gets (path, node); default False.

    Returns:
      (list of (path, leaf) pairs, PyTreeDef).

    Examples:
      >>> pairs, structure = onax.tree.flatten_with_path((5, 6))
      >>> [onax.tree_util.keystr(path) for path, leaf in pairs]
      ['[0]', '[1]']
    """
    if is_leaf is None:
        return tree_leaves_with_path(tree), tree_structure(tree)
    verdicts = []  # so that `is_leaf` is called once for each node
    asking = _with_path_argument(is_leaf, is_leaf_takes_path)

    def stop(path, x):
        verdicts.append(asking(path, x))
        return verdicts[-1]

    pairs = []
    _walk((), tree, stop, pairs)
    answers = iter(verdicts)
    return pairs, tree_structure(tree, lambda _: next(answers))


def tree_map_with_path(
    f: AnyFunction,
    tree: PyTree,
    *rest: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> PyTree:
    """Returns the tree of a function's results on paths and leaves.

    Args:
      f: a function (path, leaf, *corresponding subtrees of `rest`) -> result.
      tree: a tree of containers.
      rest: trees of the structure of `tree`, or with subtrees in the places of its leaves.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.
      is_leaf_takes_path: True: `is_leaf` gets (path, node); default False.

    Returns:
      A tree of the structure of `tree`.

    Raises:
      ValueError: the structures do not fit.

    Examples:
      >>> onax.tree.map_with_path(lambda path, x: f"{onax.tree_util.keystr(path)}={x}", {"a": [5]})
      {'a': ["['a'][0]=5"]}
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = [_flatten_up_to("tree_map_with_path tree", treedef, tree, r, is_leaf) for r in rest]
    return treedef.unflatten([f(path, leaf, *more) for (path, leaf), *more in zip(pairs, *columns)])


def tree_map(f: AnyFunction, tree: PyTree, *rest: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> PyTree:
    """Returns the tree of a function's results on leaves.

    Args:
      f: a function (leaf, *corresponding subtrees of `rest`) -> result.
      tree: a tree of containers.
      rest: trees of the structure of `tree`, or with subtrees in the places of its leaves.
      is_leaf: a function (node) -> bool; where it is true the node is a leaf.  Default None.

    Returns:
      A tree of the structure of `tree`.

    Raises:
      ValueError: the structures do not fit.
      TypeError: `f` is not callable.

    Examples:
      >>> onax.tree.map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
      {'a': 11, 'b': (22, 33)}
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    if leaves and not callable(f):
        raise TypeError(f"tree_map, tree.map: f must be a function, got {f!r}")
    columns = [_flatten_up_to("tree_map tree", treedef, tree, r, is_leaf) for r in rest]
    return treedef.unflatten([f(*xs) for xs in zip(leaves, *columns)])


def _flatten_up_to(name, treedef, tree, full, is_leaf):
    try:
        return treedef.flatten_up_to(full)
    except ValueError:
        for error in prefix_errors(tree, full, is_leaf):
            raise error(name) from None
        raise


def broadcast_prefix(prefix, full, is_leaf=None):
    """For each leaf of `full`, the leaf of `prefix` above it; ValueError if `prefix` is not a prefix of `full`."""
    leaves, treedef = tree_flatten(prefix, is_leaf)
    try:
        subtrees = treedef.flatten_up_to(full)
    except ValueError:
        for error in prefix_errors(prefix, full, is_leaf):
            raise error("broadcast_prefix prefix_tree") from None
        raise
    return [x for x, subtree in zip(leaves, subtrees) for _ in tree_leaves(subtree)]


# ---- the differences of two trees


def prefix_errors(prefix, full, is_leaf=None):
    """Functions `name -> ValueError`, one for each path at which `prefix` is not a prefix of `full`."""
    return list(_prefix_errors((), prefix, full, is_leaf))


def _error(what, path, text):
    def make(name):
        location = name + keystr(path)
        return ValueError(f"pytree structure error: {what} at key path\n    {location}\n{text.format(name=name)}")

    return make


def _difference(one, two):
    lines = lazy.difflib.ndiff(str(one).splitlines(), str(two).splitlines())
    return "\n".join(f"    {line}".rstrip() for line in lines)


def _prefix_errors(path, prefix, full, is_leaf):
    if (is_leaf is not None and is_leaf(prefix)) or not _is_container(prefix):
        return
    kind = type(prefix)
    if type(full) is not kind:
        yield _error(
            "different types",
            path,
            f"There the prefix pytree {{name}} has a subtree of type\n    {_braces(kind)}\n"
            f"and the full pytree one of a different type\n    {_braces(type(full))}.",
        )
        return
    pairs, data = _named_children(prefix)
    full_pairs, full_data = _named_children(full)
    if kind in (tuple, list) and len(pairs) != len(full_pairs):
        name = kind.__name__
        yield _error(
            f"different lengths of {name}",
            path,
            f"There the prefix pytree {{name}} has a {name} of length {len(pairs)}, "
            f"the full pytree one of length {len(full_pairs)}.",
        )
        return
    if len(pairs) != len(full_pairs):
        keys, full_keys = ([_key_text(key) for key, _ in some] for some in (pairs, full_pairs))
        yield _error(
            "different numbers of pytree children",
            path,
            f"There the prefix pytree {{name}} has a subtree of type\n    {_braces(kind)}\n"
            f"with {len(keys)} child keys\n    {_braces(' '.join(keys))}\n"
            f"and the full pytree one of the same type with {len(full_keys)} child keys\n"
            f"    {_braces(' '.join(full_keys))}\nso the symmetric difference on key sets is\n"
            f"    {_braces(' '.join(sorted({*keys} ^ {*full_keys})))}",
        )
        return
    if kind not in (tuple, list) and not (data is full_data or data == full_data):
        yield _error(
            "different pytree metadata",
            path,
            f"There the prefix pytree {{name}} has a subtree of type\n    {_braces(kind)}\nwith metadata\n"
            f"    {_braces(data)}\nand the full pytree one of the same type with metadata\n"
            f"    {_braces(full_data)}\nwhich differ in\n{_braces(_difference(data, full_data))}",
        )
        return
    for (key, child), (_, full_child) in zip(pairs, full_pairs):
        yield from _prefix_errors((*path, key), child, full_child, is_leaf)


def _key_text(key):
    return str(getattr(key, "key", key))


def _braces(x):
    """Escapes text for str.format."""
    return str(x).replace("{", "{{").replace("}", "}}")


def equality_errors(one, two):
    """(path, text of the node in `one`, in `two`, reason) for each path at which two trees differ."""
    return _equality_errors((), one, two)


def equality_errors_pytreedef(one, two):
    """`equality_errors` for two PyTreeDefs."""
    return equality_errors(skeleton(one), skeleton(two))


def _equality_errors(path, one, two):
    kinds = [type(x) if _is_container(x) else None for x in (one, two)]
    if kinds == [None, None]:
        return
    if kinds[0] is not kinds[1]:
        yield path, *("a pytree leaf" if k is None else f"a {k}" for k in kinds), "so their Python types differ"
        return
    (pairs, data), (other_pairs, other_data) = _named_children(one), _named_children(two)
    counts = len(pairs), len(other_pairs)
    if issubclass(kinds[0], (tuple, list)) and counts[0] != counts[1]:
        texts = [f"a {kinds[0].__name__} of length {n}" for n in counts]
        yield path, *texts, "so the lengths do not match"
        return
    if counts[0] != counts[1]:
        texts = [f"a {kinds[0]} with {n} child{'ren' if n > 1 else ''}" for n in counts]
        names, other_names = ({repr(k.key) for k, _ in p if isinstance(k, DictKey)} for p in (pairs, other_pairs))
        keys = " ".join(sorted(names ^ other_names))
        keys = f", with the symmetric difference of key sets: {{{keys}}}" if keys else ""
        yield path, *texts, f"so the numbers of children do not match{keys}"
        return
    if not (data is other_data or data == other_data):
        texts = [f"a {kinds[0]} with pytree metadata {_as_metadata(d)}" for d in (data, other_data)]
        yield path, *texts, "so the pytree node metadata does not match"
        return
    for (key, child), (_, other) in zip(pairs, other_pairs):
        yield from _equality_errors((*path, key), child, other)


def _as_metadata(data):
    """The data of a node as JAX has it: keys of a dict are a tuple."""
    return tuple(data) if isinstance(data, list) else data
