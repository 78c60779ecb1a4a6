"""Dimension numbers and modes of gather and scatter, and the checks that raise JAX's errors for them."""

import enum
import functools
from collections import namedtuple

import numpy as np

from onax._core.rules import InvalidOperands
from onax._ground import dims, dtypes
from onax._prims import indexing_kernels as kernels

# ---- records ----


class GatherDimensionNumbers(
    namedtuple(
        "GatherDimensionNumbers",
        "offset_dims collapsed_slice_dims start_index_map operand_batching_dims start_indices_batching_dims",
        defaults=((), ()),
    )
):
    """The roles of axes in a gather.

    Args:
      offset_dims: axes of the result that are axes of the windows.
      collapsed_slice_dims: operand axes, one wide in a window, that the result lacks.
      start_index_map: the operand axis of each component of an index vector.
      operand_batching_dims: operand axes that go along with axes of the indices.
      start_indices_batching_dims: these axes of the indices.

    Examples:
      >>> rows = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
      >>> lax.gather(jnp.arange(6).reshape(3, 2), jnp.array([[2], [0]]), rows, slice_sizes=(1, 2))
      Array([[4, 5],
             [0, 1]], dtype=int32)
    """

    __slots__ = ()

    def layout(self):
        """The roles of the axes, as the kernels take them."""
        return kernels.Layout(
            self.start_index_map,
            self.collapsed_slice_dims,
            self.operand_batching_dims,
            self.start_indices_batching_dims,
            self.offset_dims,
        )


class ScatterDimensionNumbers(
    namedtuple(
        "ScatterDimensionNumbers",
        "update_window_dims inserted_window_dims scatter_dims_to_operand_dims operand_batching_dims "
        "scatter_indices_batching_dims",
        defaults=((), ()),
    )
):
    """The roles of axes in a scatter.

    Args:
      update_window_dims: axes of the updates that are axes of the windows.
      inserted_window_dims: operand axes, one wide in a window, that the updates lack.
      scatter_dims_to_operand_dims: the operand axis of each component of an index vector.
      operand_batching_dims: operand axes that go along with axes of the indices.
      scatter_indices_batching_dims: these axes of the indices.

    Examples:
      >>> elements = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
      >>> lax.scatter_add(jnp.zeros(3), jnp.array([[1], [1]]), jnp.ones(2), elements)
      Array([0., 2., 0.], dtype=float32)
    """

    __slots__ = ()

    def layout(self):
        """The roles of the axes, as the kernels take them."""
        return kernels.Layout(
            self.scatter_dims_to_operand_dims,
            self.inserted_window_dims,
            self.operand_batching_dims,
            self.scatter_indices_batching_dims,
            self.update_window_dims,
        )


class GatherScatterMode(enum.Enum):
    """What happens to a window that leaves the operand.

    CLIP moves it inside.  FILL_OR_DROP reads the fill value, or writes nothing.  PROMISE_IN_BOUNDS is the caller's
    promise that there is none; a window that breaks it is clipped when reading and dropped when writing.  CLAMPED is
    CLIP in the batching rules of dynamic_slice and dynamic_update_slice; it prints as CLIP, and `onax.strict` reports
    its clamping.
    """

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()
    ONE_HOT = enum.auto()
    CLAMPED = enum.auto()

    def __str__(self):
        return "GatherScatterMode.CLIP" if self.name == "CLAMPED" else f"GatherScatterMode.{self.name}"

    @staticmethod
    def from_any(mode):
        """The mode, from itself, its name, or None (FILL_OR_DROP); ValueError for anything else."""
        if isinstance(mode, GatherScatterMode):
            return mode
        result = _MODES.get(mode) if mode is None or isinstance(mode, str) else None
        if result is None:
            raise ValueError(f'Unknown gather mode "{mode}"')
        return result


CLIP = GatherScatterMode.CLIP
CLAMPED = GatherScatterMode.CLAMPED
FILL_OR_DROP = GatherScatterMode.FILL_OR_DROP
PROMISE_IN_BOUNDS = GatherScatterMode.PROMISE_IN_BOUNDS
_MODES = {
    None: FILL_OR_DROP,
    "fill": FILL_OR_DROP,
    "drop": FILL_OR_DROP,
    "clip": CLIP,
    "promise_in_bounds": PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}
KERNEL_MODE = {
    CLIP: kernels.CLIP,
    CLAMPED: kernels.CLIP,
    FILL_OR_DROP: kernels.FILL_OR_DROP,
    PROMISE_IN_BOUNDS: kernels.PROMISE_IN_BOUNDS,
}


# ---- checks that gather and scatter share ----


def _check_sorted(op, name, axes):
    if any(a > b for a, b in zip(axes, axes[1:])):
        raise TypeError(f"{name} in {op} op must be sorted; got {axes}")


def _check_distinct(op, name, axes):
    if len(set(axes)) != len(axes):
        raise TypeError(f"{name} in {op} op must not repeat; got: {axes}.")


def _check_range(op, name, axes, rank):
    for a in axes:
        if not 0 <= a < rank:
            raise TypeError(f"Invalid {name} set in {op} op; valid range is [0, {rank}); got: {a}.")


def _check_axes(op, name, axes, rank):
    """Checks that axes are sorted, distinct and within bounds."""
    _check_sorted(op, name, axes)
    _check_distinct(op, name, axes)
    _check_range(op, name, axes, rank)


def _check_disjoint(op, name, axes, other_name, others):
    if set(axes) & set(others):
        raise TypeError(f"{name} and {other_name} in {op} op must be disjoint; got: {axes} and {others}.")


def _check_batching(op, operand, indices, axes, index_axes, index_name, others):
    """Checks the batching dimensions; `others` are the names and values of operand axes that must not be among them."""
    _check_axes(op, "operand_batching_dims", axes, operand.ndim)
    for name, dimensions in others.items():
        _check_disjoint(op, name, dimensions, "operand_batching_dims", axes)
    _check_distinct(op, index_name, index_axes)
    _check_range(op, index_name, index_axes, indices.ndim)
    if indices.ndim - 1 in index_axes:
        raise TypeError(
            f"{op.capitalize()} op cannot have the index vector dimension as a batching dimension; got {index_axes}."
        )
    sizes = tuple(operand.shape[a] for a in axes)
    index_sizes = tuple(indices.shape[a] for a in index_axes)
    if len(axes) != len(index_axes):
        raise TypeError(
            f"{op.capitalize()} op requires equal numbers of operand_batching_dims and {index_name}, got {axes} and "
            f"{index_axes}."
        )
    if not dims.equal_shapes(sizes, index_sizes):
        raise TypeError(
            f"{op.capitalize()} op requires operand batching dimensions and indices batching dimensions to have the "
            f"same shape, got {sizes} and {index_sizes}."
        )


def _check_index_map(op, name, index_map, indices, rank):
    last = indices.shape[-1]
    if not dims.equal(len(index_map), last):
        raise TypeError(
            f"{op.capitalize()} op has {len(index_map)} elements in {name} and the bound of dimension "
            f"index_vector_dim={indices.ndim - 1} of indices is {last}. These two numbers must be equal."
        )
    for i, a in enumerate(index_map):
        if not 0 <= a < rank:
            what = name if op == "gather" else f"{name} mapping"
            raise TypeError(f"Invalid {what}; domain is [0, {rank}), got: {i}->{a}.")
    _check_distinct(op, name, index_map)


def check_indices(op, indices):
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise ValueError("indices must have an integer type")
    if not indices.ndim:
        raise TypeError(
            f"{op.capitalize()} index leaf dimension must be within [0, rank(indices) + 1). rank(indices) is 0 and "
            f"{op} index leaf dimension is -1."
        )


@functools.lru_cache(maxsize=1024)
def checked_layout(numbers, rank, index_rank):
    """The layout of dimension numbers that fit operands of these ranks.  Raises InvalidOperands if they do not."""
    layout = numbers.layout()
    windows, points, batching, index_batching = (
        layout.window_dims, layout.point, layout.batching, layout.index_batching
    )  # fmt: skip
    axes = [
        (windows, len(windows) + index_rank - 1, True), (points, rank, True), (batching, rank, True),
        (layout.index_map, rank, False), (index_batching, index_rank - 1, False),
    ]  # fmt: skip
    for values, bound, ordered in axes:
        if len(set(values)) != len(values) or not all(0 <= a < bound for a in values):
            raise InvalidOperands
        if ordered and list(values) != sorted(values):
            raise InvalidOperands
    if len(batching) != len(index_batching) or set(batching) & {*points, *layout.index_map}:
        raise InvalidOperands
    return layout


# ---- checks of each ----


def check_gather_axes(x, indices, d, slice_sizes):
    out_rank = len(d.offset_dims) + indices.ndim - 1
    _check_sorted("gather", "offset_dims", d.offset_dims)
    _check_distinct("gather", "offset_dims", d.offset_dims)
    for i, o in enumerate(d.offset_dims):
        if not 0 <= o < out_rank:
            raise TypeError(
                f"Offset dimension {i} in gather op is out of bounds; got {o}, but should have been in [0, {out_rank})"
            )
    _check_index_map("gather", "start_index_map", d.start_index_map, indices, x.ndim)
    _check_axes("gather", "collapsed_slice_dims", d.collapsed_slice_dims, x.ndim)
    _check_batching(
        "gather",
        x,
        indices,
        d.operand_batching_dims,
        d.start_indices_batching_dims,
        "start_indices_batching_dims",
        {"collapsed_slice_dims": d.collapsed_slice_dims, "start_index_map": d.start_index_map},
    )
    _check_slice_sizes(x, indices, d, slice_sizes)


def has_windows(indices):
    """Whether a gather reads anything; windows of which there are none may be larger than the operand."""
    return 0 not in indices.shape[:-1]


def _check_slice_sizes(x, indices, d, slice_sizes):
    if len(slice_sizes) != x.ndim:
        raise TypeError(
            "Gather op must have one slice size for every input dimension; got: "
            f"len(slice_sizes)={len(slice_sizes)}, input_shape.rank={x.ndim}"
        )
    if len(slice_sizes) != len(d.offset_dims) + len(d.collapsed_slice_dims) + len(d.operand_batching_dims):
        raise TypeError(
            "All components of the offset index in a gather op must either be a offset dimension or explicitly "
            f"collapsed/batching; got len(slice_sizes)={len(slice_sizes)}, output_slice_sizes={d.offset_dims}, "
            f"collapsed_slice_dims={d.collapsed_slice_dims}, operand_batching_dims={d.operand_batching_dims}."
        )
    for i, (n, size) in enumerate(zip(slice_sizes, x.shape)):
        if not 0 <= n or (n > size and has_windows(indices)):
            raise TypeError(
                f"Slice size at index {i} in gather op is out of range, must be within [0, {size} + 1), got {n}."
            )
    groups = (
        ("collapse slice dims with bound 1", d.collapsed_slice_dims),
        ("have operand batching dims with bound 0/1", d.operand_batching_dims),
    )
    for what, axes in groups:
        for i, a in enumerate(axes):
            if slice_sizes[a] > 1:
                raise TypeError(
                    f"Gather op can only {what}, but bound is {slice_sizes[a]} for index {a} at position {i}."
                )


def check_scatter_axes(x, indices, updates, d):
    rank = indices.ndim - 1 + len(d.update_window_dims)
    if updates.ndim != rank:
        raise TypeError(f"Updates tensor must be of rank {rank}; got {updates.ndim}.")
    _check_axes("scatter", "update_window_dims", d.update_window_dims, rank)
    _check_axes("scatter", "inserted_window_dims", d.inserted_window_dims, x.ndim)
    _check_batching(
        "scatter",
        x,
        indices,
        d.operand_batching_dims,
        d.scatter_indices_batching_dims,
        "scatter_indices_batching_dims",
        {
            "inserted_window_dims": d.inserted_window_dims,
            "scatter_dims_to_operand_dims": d.scatter_dims_to_operand_dims,
        },
    )
    window = len(d.update_window_dims) + len(d.inserted_window_dims) + len(d.operand_batching_dims)
    if window != x.ndim:
        raise TypeError(f"Scatter op has window of size {window}; doesn't match operand of rank {x.ndim}.")
    _check_index_map("scatter", "scatter_dims_to_operand_dims", d.scatter_dims_to_operand_dims, indices, x.ndim)


def check_windows(x, indices, updates, d):
    window_axes = d.layout().window_axes(x.ndim)
    for o, a in zip(d.update_window_dims, window_axes):
        if not updates.shape[o] <= x.shape[a]:
            raise TypeError(
                "Bounds of the window dimensions of updates must not exceed the bounds of the corresponding "
                f"dimensions of operand. For dimension {o}, updates bound is {updates.shape[o]}, operand bound is "
                f"{x.shape[a]}."
            )
    batch = [n for o, n in enumerate(updates.shape) if o not in d.update_window_dims]
    for i, (n, size) in enumerate(zip(batch, indices.shape)):
        if not dims.equal(n, size):
            raise TypeError(
                "Bounds of the scatter dimensions of updates must be the same as the bounds of the corresponding "
                f"dimensions of scatter indices. For scatter dimension {i}, updates bound is {n}, indices bound is "
                f"{size}."
            )


def window_sizes(rank, d, updates_shape):
    """The width of a window along each operand axis."""
    size_of = dict(zip(d.layout().window_axes(rank), (updates_shape[o] for o in d.update_window_dims)))
    return tuple(size_of.get(a, 1) for a in range(rank))
