"""Collectives under JAX's names: checks, trees of operands; the rules are in `_prims/collectives.py`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._core.axes import ManualAxisType, manual_axes, names_of, varying_is_checked
from onax._core.axes import axis_size as size_of_axis
from onax._core.trace import Tracer, as_array, typeof
from onax._ground.config import no_collectives
from onax._ground.errors import ForbiddenCollectiveError
from onax._ground.typing import PyTree
from onax._native.array import Array
from onax._native.tree import tree_flatten, tree_map
from onax._prims.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    axis_index_p,
    pbroadcast_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_invariant_p,
    psum_p,
    reduce_scatter_p,
    unreduced_psum_p,
    unreduced_reduce_scatter_p,
)
from onax._prims.convert import convert_element_type
from onax._prims.elementwise import add, mul
from onax._prims.reductions import reduce_max, reduce_min
from onax._prims.shaping import expand_dims, reduce_sum, squeeze
from onax._prims.varying import preduced_p, pvary_p, reduced_vary_cast_p, vary_unreduced_cast_p


def _check_allowed(operation, axis_name):
    """Raises ForbiddenCollectiveError for an axis of a shard_map over which `no_collectives` forbids collectives."""
    forbidden = no_collectives.value
    for name in forbidden and names_of(axis_name):
        if name in forbidden and name in manual_axes():
            raise ForbiddenCollectiveError(
                f"Collective across axis '{name}' is forbidden by `no_collectives`, but `{operation}` acts on axis "
                f"'{name}'."
            )


def _check_groups(groups, axis_name):
    """Returns axis_index_groups as a tuple of tuples; raises ValueError unless they cover every index once."""
    if groups is None:
        return None
    groups = tuple(tuple(map(operator.index, g)) for g in groups)
    if sorted(i for g in groups for i in g) != list(range(size_of_axis(axis_name))):
        raise ValueError("axis_index_groups must cover all indices exactly once")
    return groups


def _check_equal_groups(groups, axis_name):
    groups = _check_groups(groups, axis_name)
    if groups is not None and len({len(g) for g in groups}) > 1:
        raise ValueError("axis_index_groups must all be the same size")
    return groups


def _group_size(axis_name, groups, operation=None):
    return size_of_axis(axis_name, operation) if groups is None else len(groups[0])


def _check_hashable(operation, axis_name):
    """Raises TypeError for an axis name that has no hash."""
    if axis_name.__hash__ is None or isinstance(axis_name, Array):
        raise TypeError(f"{operation}: the name of an axis must have a hash, got {type(axis_name)}")


def _split_names(axis_name):
    """Splits an axis name into (named axes, positional axes)."""
    names = names_of(axis_name)
    if len(set(names)) < len(names):
        raise ValueError(f"duplicate value in 'axes' of reduction: {names}")
    return tuple(a for a in names if not isinstance(a, int)), tuple(a for a in names if isinstance(a, int))


def psum(x: PyTree, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Returns the sum over a named axis, on every example along it.

    A value that is no tracer is the same everywhere: its sum is it times the size of the axis.  bools are summed as
    int32.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names; ints among them are axes of `x` itself.
      axis_index_groups: lists of indices along the axis: each group is summed on its own.

    Returns:
      Tree of the structure of `x`.

    Raises:
      NameError: the name is not in scope.

    Examples:
      >>> onax.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([0.25, 0.75], dtype=float32)
    """
    if not tree_flatten(x)[0]:
        return x
    groups = _check_groups(axis_index_groups, axis_name)
    return tree_map(lambda leaf: _psum(leaf, axis_name, groups), x)


def _psum(x, axis_name, groups):
    names, positions = _split_names(axis_name)
    traced = isinstance(x, Tracer)
    if typeof(x).dtype == np.bool_:
        x = convert_element_type(x, np.int32)
    if positions:
        x = reduce_sum(as_array(x), tuple(_canonical_axis(p, typeof(x).ndim) for p in positions))
    if not names:
        return x
    size = _group_size(names, None, "psum" if isinstance(x, (Tracer, Array)) else None)
    if not traced and groups is None:
        return _multiply_by_integer(x, size)
    _check_allowed("psum", axis_name)
    if groups is not None or not varying_is_checked(names):
        return psum_p.bind(as_array(x), axes=names, axis_index_groups=groups)
    primitive = unreduced_psum_p if _kind("psum", typeof(x), names) == "unreduced" else psum_invariant_p
    return primitive.bind(as_array(x), axes=names, axis_index_groups=None)


def _kind(operation, aval, names):
    """What a value is over these axes of a `shard_map`: "varying", "unreduced", "reduced" or "invarying".

    Raises ValueError if it is not the same over all of them.
    """
    kinds = {next((k for k in ManualAxisType.__slots__ if n in getattr(aval, k)), "invarying") for n in names}
    if len(kinds) > 1:
        raise ValueError(
            f"jax.lax.{operation} can only accept axis_name which corresponds to one of varying, unreduced, reduced or "
            f"invarying state of the input. Got input type: {aval.str_short()}, axes: {names} and input state: {kinds}"
        )
    return kinds.pop()


def _multiply_by_integer(x, n):
    """x times an integer, with the dtype of x."""
    if isinstance(x, Array):
        return mul(x, np.asarray(n).astype(x.dtype))
    return x * np.asarray(n).astype(x.dtype) if isinstance(x, (np.ndarray, np.generic)) else x * n


def pmean(x: PyTree, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Returns the mean over a named axis, on every example along it.

    Args:
      x: tree of arrays; integers give floats.
      axis_name: name, or tuple of names.
      axis_index_groups: lists of indices along the axis: each group has its own mean.

    Returns:
      Tree of the structure of `x`.

    Raises:
      NameError: the name is not in scope.

    Examples:
      >>> onax.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([-1.,  1.], dtype=float32)
    """
    groups = _check_equal_groups(axis_index_groups, axis_name)
    total = psum(x, axis_name, axis_index_groups=groups)
    names, positions = _split_names(axis_name)

    def divide(leaf, original):
        n = _group_size(names, groups) if names else 1
        for p in positions:
            n *= typeof(original).shape[p]
        return leaf / n

    return tree_map(divide, total, x)


def pmax(x: PyTree, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Returns the largest value along a named axis, on every example along it.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      axis_index_groups: lists of indices along the axis: each group has its own maximum.

    Returns:
      Tree of the structure of `x`.

    Raises:
      NameError: the name is not in scope.

    Examples:
      >>> onax.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([3., 3.], dtype=float32)
    """
    return _reduce_extreme(x, axis_name, axis_index_groups, pmax_p, reduce_max)


def pmin(x: PyTree, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Returns the smallest value along a named axis, on every example along it.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      axis_index_groups: lists of indices along the axis: each group has its own minimum.

    Returns:
      Tree of the structure of `x`.

    Raises:
      NameError: the name is not in scope.

    Examples:
      >>> onax.vmap(lambda x: lax.pmin(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([1., 1.], dtype=float32)
    """
    return _reduce_extreme(x, axis_name, axis_index_groups, pmin_p, reduce_min)


def _reduce_extreme(x, axis_name, axis_index_groups, primitive, reduce):
    if not tree_flatten(x)[0]:
        return x
    _check_hashable(primitive.name, axis_name)
    _check_allowed(primitive.name, axis_name)
    groups = _check_groups(axis_index_groups, axis_name)
    names, positions = _split_names(axis_name)
    if names:
        size_of_axis(names, primitive.name if groups else "psum")

    def one(leaf):
        leaf = as_array(leaf)
        if positions:
            leaf = reduce(leaf, tuple(_canonical_axis(p, leaf.ndim) for p in positions))
        if not names or not isinstance(leaf, Tracer):
            return leaf  # the same everywhere
        return primitive.bind(leaf, axes=names, axis_index_groups=groups)

    return tree_map(one, x)


def all_gather(
    x: PyTree,
    axis_name: Any,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """Returns the values along a named axis, on every example along it.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      axis_index_groups: lists of indices along the axis: each group gathers its own values.
      axis: int, the position of the new axis, or the axis along which values are joined if `tiled`.
      tiled: whether values are joined along an existing axis.
      to: "varying", or "invarying" or "reduced": inside `shard_map`, the type of the result says that it is the same on
        all devices, and for "reduced" that its cotangents are parts of a sum.

    Returns:
      Tree of the structure of `x`.

    Raises:
      NameError: the name is not in scope.
      ValueError: `to` is something else.
      NotImplementedError: "invarying" or "reduced" with groups or without check_vma.

    Examples:
      >>> onax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")(jnp.array([1, 3]))
      Array([[1, 3],
             [1, 3]], dtype=int32)
    """
    if to not in ("varying", "reduced", "invarying"):
        raise ValueError(
            "Got unexpected `to` value for `jax.lax.all_gather`. Allowed `to` values are: {'invarying', 'reduced', "
            "'varying'}"
        )
    _check_allowed("all_gather", axis_name)
    groups = _check_equal_groups(axis_index_groups, axis_name)
    names = names_of(axis_name)
    size = _group_size(names, groups)
    if to != "varying":
        if groups is not None or not varying_is_checked(names):
            raise NotImplementedError(f"all_gather({to=}) takes no groups, and needs shard_map with check_vma")
        primitive = all_gather_reduced_p if to == "reduced" else all_gather_invariant_p
        return tree_map(lambda leaf: _all_gather_all(primitive, as_array(leaf), axis, names, size, tiled), x)

    def one(leaf):
        leaf = as_array(leaf)
        return all_gather_p.bind(
            leaf,
            all_gather_dimension=_canonical_axis(axis, leaf.ndim + (not tiled)),
            axis_index_groups=groups,
            axis_name=names,
            axis_size=size,
            tiled=bool(tiled),
        )

    return tree_map(one, x)


def _all_gather_all(primitive, x, axis, names, size, tiled):
    dimension = _canonical_axis(axis, x.ndim + (not tiled))
    return primitive.bind(x, all_gather_dimension=dimension, axis_name=names, axis_size=size, tiled=bool(tiled))


def _canonical_axis(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def psum_scatter(
    x: PyTree,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    tiled: bool = False,
) -> Any:
    """Returns, on each example, its part of the sum over a named axis.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      scatter_dimension: int: that axis has the size of the named one and is removed; if `tiled`, it is a multiple and
        is cut.
      axis_index_groups: lists of indices along the axis: each group is summed on its own.
      tiled: whether the axis stays.

    Returns:
      Tree of the structure of `x`.

    Raises:
      ValueError: sizes do not fit.

    Examples:
      >>> onax.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(jnp.array([[1, 2], [10, 20]]))
      Array([11, 22], dtype=int32)
    """
    if not tree_flatten(x)[0]:
        return x
    _check_hashable("psum_scatter", axis_name)
    _check_allowed("reduce_scatter", axis_name)
    groups = _check_equal_groups(axis_index_groups, axis_name)
    names = names_of(axis_name)
    size, checked = _group_size(names, groups), groups is None and varying_is_checked(names)

    def one(leaf):
        leaf = as_array(leaf)
        d = _canonical_axis(scatter_dimension, leaf.ndim)
        n = leaf.shape[d]
        if n % size if tiled else n != size:
            what = "is not divisible by" if tiled else "is not"
            raise ValueError(f"psum_scatter: dimension {d} of {leaf.aval.str_short()} {what} the axis size {size}")
        given = {"scatter_dimension": operator.index(scatter_dimension), "axis_size": size, "tiled": bool(tiled)}
        if checked and _kind("psum_scatter", typeof(leaf), names) == "unreduced":
            return unreduced_reduce_scatter_p.bind(leaf, axis_name=names, **given)
        return reduce_scatter_p.bind(leaf, axis_index_groups=groups, axis_name=names, **given)

    return tree_map(one, x)


@dataclass(slots=True, eq=False, repr=False)
class Future:
    """The result of a collective that has been started: `done()` waits for it and returns it."""

    _value: object

    @property
    def shape(self):
        """The shape of the result."""
        return self._value.shape

    @property
    def dtype(self):
        """The dtype of the result."""
        return self._value.dtype

    def done(self):
        """The result."""
        return self._value


def psum_scatter_start(
    x: PyTree,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    tiled: bool = False,
) -> Any:
    """Returns futures of `psum_scatter`, whose `done()` gives its results.

    Nothing runs meanwhile: collectives of virtual devices are part of one program, which orders its operations by
    itself.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      scatter_dimension: int, as for `psum_scatter`.
      axis_index_groups: lists of indices along the axis.
      tiled: whether the axis stays.

    Returns:
      Tree of futures.

    Examples:
      >>> onax.vmap(lambda x: lax.psum_scatter_start(x, "i").done(), axis_name="i")(jnp.array([[1, 2], [10, 20]]))
      Array([11, 22], dtype=int32)
    """
    sums = psum_scatter(
        x, axis_name, scatter_dimension=scatter_dimension, axis_index_groups=axis_index_groups, tiled=tiled
    )
    return tree_map(Future, sums)


def all_to_all(
    x: PyTree,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    tiled: bool = False,
) -> Any:
    """Returns arrays in which a named axis and one of their own axes are exchanged.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      split_axis: int, the axis that is spread over the named axis; it has its size, or is a multiple of it if `tiled`.
      concat_axis: int, the position of what is received.
      axis_index_groups: lists of indices along the axis: exchanges take place within each group.
      tiled: whether pieces are cut from split_axis and joined along concat_axis, instead of axes removed and added.

    Returns:
      Tree of the structure of `x`.

    Raises:
      ValueError: sizes do not fit.

    Examples:
      >>> onax.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(jnp.array([[1, 2], [10, 20]]))
      Array([[ 1, 10],
             [ 2, 20]], dtype=int32)
    """
    _check_allowed("all_to_all", axis_name)
    groups = _check_equal_groups(axis_index_groups, axis_name)
    size = _group_size(axis_name, groups)

    def one(leaf):
        leaf = as_array(leaf)
        n = leaf.shape[split_axis]
        params = {"axis_name": axis_name, "axis_index_groups": groups}
        if tiled:
            if n % size:
                raise ValueError(
                    f"The size of all_to_all split_axis ({n}) has to be divisible by the size of the named axis "
                    f"{axis_name} ({size})"
                )
            return all_to_all_p.bind(leaf, split_axis=split_axis, concat_axis=concat_axis, tiled=True, **params)
        if n != size:
            raise ValueError(
                "all_to_all requires the size of the mapped axis axis_name to equal x.shape[split_axis], but they are "
                f"{size} and {n} respectively."
            )
        return _all_to_all_untiled(
            leaf, _canonical_axis(split_axis, leaf.ndim), _canonical_axis(concat_axis, leaf.ndim), params
        )

    return tree_map(one, x)


def _all_to_all_untiled(x, split, concat, params):
    if split == concat:
        return all_to_all_p.bind(x, split_axis=split, concat_axis=concat, tiled=False, **params)
    if split < concat:
        x, concat = expand_dims(x, (concat + 1,)), concat + 1
    else:
        x, split = expand_dims(x, (concat,)), split + 1
    x = all_to_all_p.bind(x, split_axis=split, concat_axis=concat, tiled=False, **params)
    return squeeze(x, (split,))


def ppermute(x: PyTree, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Returns the value of another example along a named axis.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      perm: pairs (source, destination) of indices; a destination that is not named receives zeros.

    Returns:
      Tree of the structure of `x`.

    Raises:
      NameError: the name is not in scope.
      ValueError: an index occurs twice as a source or as a target, or lies outside of the axis.

    Examples:
      >>> onax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)]), axis_name="i")(jnp.array([1, 3]))
      Array([3, 1], dtype=int32)
    """
    _check_allowed("ppermute", axis_name)
    names = names_of(axis_name)
    size = size_of_axis(names, "ppermute")
    perm = tuple((operator.index(a), operator.index(b)) for a, b in perm)
    sources, targets = [a for a, _ in perm], [b for _, b in perm]
    if len(set(sources)) != len(perm) or len(set(targets)) != len(perm):
        raise ValueError(f"ppermute sources and destinations must be unique, got {list(perm)}.")
    if any(not 0 <= i < size for i in (*sources, *targets)):
        raise ValueError(f"ppermute: indices must lie in 0..{size - 1}, got {list(perm)}")
    return tree_map(lambda leaf: ppermute_p.bind(as_array(leaf), axis_name=names, perm=perm), x)


def pshuffle(x: PyTree, axis_name: Any, perm: Sequence[int]) -> Any:
    """Returns values permuted along a named axis: example i receives that of perm[i].

    Args:
      x: tree of arrays.
      axis_name: name.
      perm: ints, a permutation of the indices.

    Returns:
      Tree of the structure of `x`.

    Raises:
      ValueError: it is no permutation.

    Examples:
      >>> onax.vmap(lambda x: lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")(jnp.array([1, 3, 5]))
      Array([5, 1, 3], dtype=int32)
    """
    if set(perm) != set(range(len(perm))):
        raise ValueError(f"`perm` does not represent a permutation: {perm}")
    return ppermute(x, axis_name, list(zip(perm, range(len(perm)))))


def pswapaxes(x: PyTree, axis_name: Any, axis: int, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Returns arrays in which a named axis and one of their own axes, of its size, are exchanged.

    Args:
      x: tree of arrays.
      axis_name: name.
      axis: int.
      axis_index_groups: lists of indices along the axis: exchanges take place within each group.

    Returns:
      Tree of the structure of `x`.

    Raises:
      ValueError: sizes differ.

    Examples:
      >>> onax.vmap(lambda x: lax.pswapaxes(x, "i", 0), axis_name="i")(jnp.array([[1, 2], [10, 20]]))
      Array([[ 1, 10],
             [ 2, 20]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pbroadcast(x: PyTree, axis_name: Any, source: int) -> Any:
    """Returns the value of one example, on every example along a named axis.

    Args:
      x: tree of arrays.
      axis_name: name.
      source: int, the index of the example.

    Returns:
      Tree of the structure of `x`.

    Raises:
      NameError: the name is not in scope.
      ValueError: `source` lies outside of the axis.

    Examples:
      >>> onax.vmap(lambda x: lax.pbroadcast(x, "i", 1), axis_name="i")(jnp.array([1, 3]))
      Array([3, 3], dtype=int32)
    """
    _check_allowed("pbroadcast", axis_name)
    size = size_of_axis(axis_name, "pbroadcast")
    if not 0 <= source < size:
        raise ValueError(f"pbroadcast: source {source} is not an index along an axis of size {size}")
    return tree_map(lambda leaf: pbroadcast_p.bind(as_array(leaf), axis_name=axis_name, source=source), x)


def pcast(x: PyTree, axis_name: Any, *, to: str) -> Any:
    """Returns a value as one that varies over a named axis of `shard_map`, or as one of another kind.

    The value on each device stays; its type tells another story of it, and so do cotangents.

    Args:
      x: tree of arrays.
      axis_name: name, or tuple of names.
      to: "varying", for a value that is the same on all devices or reduced; "unreduced", for one that varies, whose
        values on the devices then are parts of a sum; "reduced", for one that is the same on all devices, whose
        cotangents then are such parts.

    Returns:
      Tree of the structure of `x`.

    Raises:
      TypeError: `axis_name` is a set.
      ValueError: `to` is another text, the value is of the wrong kind, or the call is not inside of `shard_map`.

    Examples:
      >>> mesh, spec = onax.make_mesh((1,), ("i",)), onax.sharding.PartitionSpec("i")
      >>> f = lambda x: x + lax.pcast(1.0, "i", to="varying")
      >>> onax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(f"axis_name={axis_name!r} must be a tuple or a str. Got {axis_name}")
    if to not in ("reduced", "unreduced", "varying"):
        raise ValueError("Got unexpected `to` value. Allowed `to` values are: {'reduced', 'unreduced', 'varying'}")
    names = names_of(axis_name)
    if not varying_is_checked(names):
        if manual_axes().issuperset(names):
            return x
        if manual_axes():
            size_of_axis(axis_name, "pvary")  # raises NameError
        raise ValueError("pvary should be called under jax.shard_map.")
    size_of_axis(axis_name, "pcast")  # raises NameError
    return tree_map(lambda leaf: _cast(as_array(leaf), names, to), x)


def _cast(x, names, to):
    start = _kind("pcast", typeof(x), names)
    match start, to:
        case "invarying", "varying":
            primitive = pvary_p
        case "invarying", "reduced":
            primitive = preduced_p
        case "varying", "unreduced":
            primitive = vary_unreduced_cast_p
        case "reduced", "varying":
            primitive = reduced_vary_cast_p
        case _:
            raise ValueError(f"Unsupported pcast from={start}, {to=}")
    return primitive.bind(x, axes=names)


def axis_index(axis_name: Any) -> Array:
    """Returns the index of each example along a named axis.

    Args:
      axis_name: name, or tuple of names, the first of which varies slowest.

    Returns:
      int32 scalar.

    Raises:
      NameError: the name is not in scope.

    Examples:
      >>> onax.vmap(lambda x: x + 10 * lax.axis_index("i"), axis_name="i")(jnp.array([1, 3]))
      Array([ 1, 13], dtype=int32)
    """
    size_of_axis(axis_name, "axis_index")
    if not isinstance(axis_name, (tuple, list)):
        return axis_index_p.bind(axis_name=axis_name)
    total: Any = np.int32(0)
    stride = 1
    for name in reversed(axis_name):
        part = mul(axis_index_p.bind(axis_name=name), np.int32(stride))
        total = add(total, part)
        stride *= size_of_axis(name)
    return total


def axis_size(axis_name: Any) -> int:
    """Returns the size of a named axis.

    Args:
      axis_name: name, or tuple of names, whose sizes are multiplied.

    Returns:
      int.

    Raises:
      NameError: the name is not in scope.

    Examples:
      >>> onax.vmap(lambda x: x / lax.axis_size("i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([0.5, 1.5], dtype=float32)
    """
    return size_of_axis(axis_name)


def psend(x: PyTree, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Not supported: raises NotImplementedError.

    In JAX it is one half of a transfer between GPUs; use `ppermute`.

    Args:
      x: ignored.
      axis_name: ignored.
      perm: ignored.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1)]), axis_name="i")(jnp.array([1, 3]))
      Array([0, 1], dtype=int32)
    """
    raise NotImplementedError(
        "psend and precv are the halves of a transfer between accelerators, which CPU devices do not have: use "
        "lax.ppermute, which does both."
    )


def precv(token: Any, out_shape: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Not supported: raises NotImplementedError.

    In JAX it is the other half of a transfer that `psend` begins; use `ppermute`.

    Args:
      token: ignored.
      out_shape: ignored.
      axis_name: ignored.
      perm: ignored.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.vmap(lambda x: lax.ppermute(x, "i", [(1, 0)]), axis_name="i")(jnp.array([1, 3]))
      Array([3, 0], dtype=int32)
    """
    psend(None, axis_name, perm)
