"""Functions for arguments as trees and positions, under the names of jax.api_util.

The functions that take `fun` take a `WrappedFun` of `onax.extend.linear_util`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass as _dataclass
from typing import Any, TypeVar

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.linear_util import WrappedFun
from onax._ground.typing import PyTree
from onax._native.avals import AbstractValue, ShapedArray
from onax._native.tree import PyTreeDef, tree_flatten, tree_leaves, tree_unflatten
from onax._transforms import vmap as _vmap
from onax._transforms.flatten import debug_info
from onax._transforms.flatten import shaped_abstractify as _type_of_value
from onax.extend.linear_util import transformation2, transformation_with_aux2

_Result = TypeVar("_Result")


@transformation_with_aux2
def flatten_fun(f, store, in_tree, *args_flat):
    """`flatten_fun(fun, in_tree)`: (fun of the leaves of (args, kwargs), function that gives the result's tree)."""
    args, kwargs = tree_unflatten(in_tree, args_flat)
    leaves, out_tree = tree_flatten(f(*args, **kwargs))
    store.store(out_tree)
    return leaves


@transformation_with_aux2
def flatten_fun_nokwargs(f, store, in_tree, *args_flat):
    """`flatten_fun_nokwargs(fun, in_tree)`: the same for the leaves of args alone."""
    leaves, out_tree = tree_flatten(f(*tree_unflatten(in_tree, args_flat)))
    store.store(out_tree)
    return leaves


def flatten_axes(
    name: str, treedef: PyTreeDef, axis_tree: PyTree, *, kws: bool = False, tupled_args: bool = False
) -> list[int | None]:
    """Returns one axis for each leaf, from a prefix tree of axes.

    Args:
      name: the beginning of error messages.
      treedef: the structure.
      axis_tree: a prefix tree of ints and None.
      kws: True: the structure is one of (args, kwargs), and the axes of keyword arguments are 0.  Default False.
      tupled_args: accepted, without effect.

    Returns:
      A list of ints and None.

    Raises:
      ValueError: it is no prefix of the structure.

    Examples:
      >>> onax.api_util.flatten_axes("f", onax.tree.structure((1, (2, 3))), (0, None))
      [0, None, None]
    """
    return _vmap.flatten_axes(name, treedef, (axis_tree, 0) if kws else axis_tree, kws)


def shaped_abstractify(x: Any) -> AbstractValue:
    """Returns the type under which a value is traced.

    Args:
      x: a value, or something with a shape and a dtype.

    Returns:
      An abstract value.

    Raises:
      TypeError: anything else.

    Examples:
      >>> onax.api_util.shaped_abstractify(np.ones(3))
      ShapedArray(float32[3])
    """
    if isinstance(x, ShapedArray):
        return x
    if hasattr(x, "shape") and hasattr(x, "dtype") and not hasattr(x, "__array__"):
        return ShapedArray(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False))
    return _type_of_value(x)


@_dataclass(slots=True, eq=False)
class _Static:
    """A static argument, which compares by type and value."""

    val: object

    def __eq__(self, other):
        return type(other) is _Static and type(self.val) is type(other.val) and self.val == other.val

    def __hash__(self):
        return hash(self.val)


@transformation2
def _with_fixed(f, dyn_argnums, fixed, count, *dyn_args, **kwargs):
    args, rest = [None] * count, iter(fixed)
    for i, arg in zip(dyn_argnums, dyn_args, strict=True):
        args[i] = arg
    args = [args[i] if i in dyn_argnums else next(rest).val for i in range(count)]
    return f(*args, **kwargs)


def argnums_partial(
    f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[Any], require_static_args_hashable: bool = True
) -> tuple[WrappedFun, tuple[Any, ...]]:
    """Returns a function as one of some of its arguments, and these arguments.

    Args:
      f: a WrappedFun.
      dyn_argnums: indices of the arguments that remain.
      args: all arguments.
      require_static_args_hashable: True (the default): the others must have a hash.

    Returns:
      (function, arguments).

    Raises:
      ValueError: another argument has no hash.

    Examples:
      >>> from onax.extend import linear_util
      >>> f, args = onax.api_util.argnums_partial(linear_util.wrap_init(lambda x, y: x - y), 0, (5, 3))
      >>> f.call_wrapped(7)
      4
    """
    argnums = _positions(dyn_argnums, len(args))
    fixed = []
    for i, arg in enumerate(args):
        if i in argnums:
            continue
        fixed.append(_Static(arg))
        if require_static_args_hashable:
            _check_hash(arg, i, f.__name__)
    return _with_fixed(f, argnums, tuple(fixed), len(args)), tuple(args[i] for i in argnums)


def _check_hash(arg, i, name):
    try:
        hash(arg)
    except TypeError:
        raise ValueError(
            "Non-hashable static arguments are not supported, as this can lead to unexpected cache-misses. Static "
            f"argument (index {i}) of type {type(arg)} for function {name} is non-hashable."
        ) from None


def _positions(argnums, count):
    """The argument numbers of a call with `count` positional arguments, counted from 0."""
    argnums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for n in argnums:
        if not -count <= n < count:
            raise ValueError(
                "Positional argument indices, e.g. for `static_argnums`, must have value greater than or equal to "
                f"-len(args) and less than len(args), but got value {n} for len(args) == {count}."
            )
    return tuple(n % count for n in argnums)


def donation_vector(
    donate_argnums: Collection[int], donate_argnames: Collection[str], in_tree: PyTreeDef, kws: bool = True
) -> tuple[bool, ...]:
    """Returns, for each leaf of arguments, whether it is donated.

    Args:
      donate_argnums: indices of donated arguments.
      donate_argnames: names of donated arguments.
      in_tree: the structure of (args, kwargs), or of args.
      kws: True (the default): the structure has kwargs.

    Returns:
      A tuple of bools.

    Examples:
      >>> onax.api_util.donation_vector((0,), (), onax.tree.structure(((1, 2), {})))
      (True, False)
    """
    args, kwargs = tree_unflatten(in_tree, range(in_tree.num_leaves)) if kws else (_children(in_tree), {})
    flags = []
    for i, arg in enumerate(args):
        flags += [i in donate_argnums] * len(tree_leaves(arg))
    for name in sorted(kwargs):
        flags += [name in donate_argnames] * len(tree_leaves(kwargs[name]))
    return tuple(flags)


def _children(tree):
    return tree_unflatten(tree, range(tree.num_leaves))


def rebase_donate_argnums(donate_argnums: Collection[int], static_argnums: Collection[int]) -> tuple[int, ...]:
    """Returns the positions of donated arguments among those that are not static.

    Args:
      donate_argnums: indices of donated arguments.
      static_argnums: indices of static arguments.

    Returns:
      A tuple of ints.

    Raises:
      ValueError: an argument is both.

    Examples:
      >>> onax.api_util.rebase_donate_argnums((2,), (0,))
      (1,)
    """
    donate_argnums, static_argnums = set(donate_argnums), set(static_argnums)
    if donate_argnums & static_argnums:
        raise ValueError(
            f"`static_argnums` {sorted(static_argnums)} and `donate_argnums` {sorted(donate_argnums)} cannot intersect."
        )
    return tuple(sorted(n - sum(s < n for s in static_argnums) for n in donate_argnums))


def safe_map(f: Callable[..., _Result], *sequences: Iterable[Any]) -> list[_Result]:
    """Returns the list of a function's results on one item of each sequence.

    Args:
      f: a function.
      sequences: sequences of one length.

    Returns:
      A list.

    Raises:
      ValueError: the lengths differ.
      TypeError: `f` is not callable.

    Examples:
      >>> onax.api_util.safe_map(lambda x, y: x + y, [1, 2], [3, 4])
      [4, 6]
    """
    lists = [list(s) for s in sequences]
    if not callable(f) and lists and lists[0]:
        raise TypeError(f"safe_map: the first argument must be callable, got {f!r}")
    for i, s in enumerate(lists[1:], 2):
        if len(s) != len(lists[0]):
            more = "longer" if len(s) > len(lists[0]) else "shorter"
            raise ValueError(f"safe_map() argument {i} is {more} than argument 1")
    return [f(*items) for items in zip(*lists)]


_wrap_api_functions(globals(), __name__)

__all__ = [
    "argnums_partial",
    "debug_info",
    "donation_vector",
    "flatten_axes",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "rebase_donate_argnums",
    "safe_map",
    "shaped_abstractify",
]
