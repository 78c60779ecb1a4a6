"""Indexing of BCOO arrays by arrays."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape
from onax._transforms.vmap import vmap
from onax.experimental.sparse._layout import bcoo_update_layout
from onax.experimental.sparse._shaping import bcoo_dynamic_slice, bcoo_reshape, bcoo_squeeze, bcoo_transpose


def bcoo_gather(
    operand: Any,
    start_indices: Array,
    dimension_numbers: lax.GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | lax.GatherScatterMode | None = None,
    fill_value: ArrayLike | None = None,
) -> Any:
    """Returns slices of a sparse array whose starts are computed, as `lax.gather` does.

    Args:
      operand: a BCOO.
      start_indices: starts of the slices, integers (batch..., axes).
      dimension_numbers: as in `lax.gather`.
      slice_sizes: as in `lax.gather`.
      unique_indices: accepted, without effect.
      indices_are_sorted: accepted, without effect.
      mode: default None, "promise_in_bounds": slices are moved so that they lie inside.
      fill_value: accepted, without effect.

    Returns:
      A BCOO.  Axes of the slices' starts are batch axes if they come first.

    Raises:
      NotImplementedError: the mode is another one.
      TypeError: sizes and dimension numbers do not fit the array.

    Examples:
      >>> from onax import lax
      >>> from onax.experimental import sparse
      >>> mat, rows = sparse.bcoo_fromdense(jnp.eye(3)), jnp.array([[2], [0]])
      >>> dimension_numbers = lax.GatherDimensionNumbers((1,), collapsed_slice_dims=(0,), start_index_map=(0,))
      >>> sparse.bcoo_gather(mat, rows, dimension_numbers, (1, 3)).todense()
      Array([[0., 0., 1.],
             [1., 0., 0.]], dtype=float32)
    """
    in_bounds = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    if mode is not None and lax.GatherScatterMode.from_any(mode) != in_bounds:
        raise NotImplementedError(f"bcoo_gather: {mode=} not yet supported.")
    if dimension_numbers.operand_batching_dims:
        raise NotImplementedError("bcoo_gather: dimension numbers with operand_batching_dims")
    out = eval_shape(
        lambda x, i: lax.gather(x, i, dimension_numbers, tuple(slice_sizes), mode=in_bounds),
        ShapeDtypeStruct(operand.shape, operand.dtype),
        ShapeDtypeStruct(start_indices.shape, start_indices.dtype),
    )
    start_indices = jnp.asarray(start_indices)
    sizes, axes = list(operand.shape), dimension_numbers.start_index_map
    for axis in axes:
        sizes[axis] = slice_sizes[axis]

    def take(starts):
        full = [jnp.zeros((), starts.dtype)] * operand.ndim
        for i, axis in enumerate(axes):
            full[axis] = starts[i]
        return bcoo_squeeze(bcoo_dynamic_slice(operand, full, sizes), dimensions=dimension_numbers.collapsed_slice_dims)

    batch = start_indices.shape[:-1]
    slices = vmap(take)(start_indices.reshape(math.prod(batch), start_indices.shape[-1]))
    slices = bcoo_reshape(slices, new_sizes=(*batch, *slices.shape[1:]))
    return _arranged(slices, len(batch), dimension_numbers.offset_dims, len(out.shape))


def _arranged(slices, n, offset_dims, ndim):
    """The result of slices whose n axes of starts come first."""
    permutation = np.zeros(ndim, int)
    permutation[[*(i for i in range(ndim) if i not in offset_dims), *offset_dims]] = np.arange(ndim)
    if (permutation == np.arange(ndim)).all():
        return slices
    if {*permutation[:n]} != {*range(n)}:
        slices = bcoo_update_layout(slices, n_batch=0)
    return bcoo_transpose(slices, permutation=permutation.tolist())
