"""Functions of BCOO arrays that move, select and join their elements."""

import functools
import math
import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._ground.util import canonicalize_axis
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape
from onax.experimental.sparse._base import Coordinates, JAXSparse
from onax.experimental.sparse._layout import (
    bcoo_sum_duplicates,
    bcoo_update_layout,
    bound_of,
    broadcast_batch,
    columns_of,
    is_inside,
    mask_data,
    parts,
    row_of,
)


def bcoo_transpose(mat: Coordinates, *, permutation: Sequence[int]) -> Coordinates:
    """Returns the array with its axes permuted, batch, sparse and dense ones among themselves.

    Args:
      mat: a BCOO.
      permutation: ints.

    Returns:
      A BCOO.

    Raises:
      NotImplementedError: batch, sparse and dense axes would change places.
      TypeError: `permutation` is no permutation of the axes.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_transpose(sparse.bcoo_fromdense(jnp.ones((2, 3))), permutation=(1, 0)).shape
      (3, 2)
    """
    permutation = tuple(operator.index(i) for i in permutation)
    if sorted(permutation) != list(range(mat.ndim)):
        raise TypeError(
            f"transpose permutation isn't a permutation of operand dimensions, got permutation {permutation} for shape "
            f"{mat.shape}."
        )
    batch, sparse, dense = parts(mat, permutation)
    n = mat.n_batch
    if sorted(batch) != list(range(n)):
        raise NotImplementedError(
            f"transpose permutation cannot permute batch axes with non-batch axes; got permutation {permutation}, with "
            f"n_batch={n}."
        )
    if sorted(dense) != list(range(n + mat.n_sparse, mat.ndim)):
        raise NotImplementedError(
            f"transpose permutation cannot permute dense axes with non-dense axes; got permutation {permutation}, with "
            f"n_dense={mat.n_dense}."
        )
    columns = [i - n for i in sparse]
    data = mat.data.transpose(*batch, n, *(i + 1 - mat.n_sparse for i in dense))
    indices = mat.indices[..., np.array(columns, int)].transpose(*batch, n, n + 1)
    is_sorted = mat.indices_sorted and columns == sorted(columns)
    shape = tuple(mat.shape[i] for i in permutation)
    return type(mat)((data, indices), shape=shape, indices_sorted=is_sorted, unique_indices=mat.unique_indices)


def bcoo_reshape(
    mat: Coordinates, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, sharding: None = None
) -> Coordinates:
    """Returns the array in another shape, whose batch, sparse and dense axes have as many elements as before.

    Args:
      mat: a BCOO.
      new_sizes: the shape.
      dimensions: an order of the axes before; default None, theirs.
      sharding: None.

    Returns:
      A BCOO.

    Raises:
      NotImplementedError: one value serves several examples, whose indices differ.
      ValueError: the shape joins batch, sparse and dense axes.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_reshape(sparse.bcoo_fromdense(jnp.ones((2, 3))), new_sizes=(6,)).shape
      (6,)
    """
    n = mat.n_batch
    if mat.indices.shape[:n] != mat.data.shape[:n] != mat.shape[:n]:
        raise NotImplementedError("reshape of arrays with broadcasted batch dimensions.")
    if dimensions is not None:
        mat = bcoo_transpose(mat, permutation=dimensions)
    new_sizes = tuple(operator.index(n) for n in new_sizes)
    batch, sparse, _ = (math.prod(part) for part in parts(mat, mat.shape))
    counts = np.cumprod(new_sizes)
    for what, before, size in (("batch", batch, batch), ("sparse", sparse, batch * sparse)):
        if before != 1 and size not in counts:
            other, number = (
                ("sparse", f"n_batch={mat.n_batch}") if what == "batch" else ("dense", f"n_dense={mat.n_dense}")
            )
            raise ValueError(
                f"bcoo_reshape: new shape cannot mix {what} and {other} dimensions; got shape={mat.shape} "
                f"new_shape={new_sizes} with {number}"
            )
    ends = [int(counts.searchsorted(size, side="right")) for size in (batch, batch * sparse)]
    batch, sparse, dense = new_sizes[: ends[0]], new_sizes[ends[0] : ends[1]], new_sizes[ends[1] :]
    data, indices = broadcast_batch(mat)
    data = data.reshape(*batch, mat.nse, *dense)
    indices = indices.reshape(*batch, mat.nse, mat.n_sparse)
    if not sparse or not mat.n_sparse:
        return type(mat)((data, jnp.zeros((*indices.shape[:-1], len(sparse)), indices.dtype)), shape=new_sizes)
    flat = jnp.ravel_multi_index(columns_of(indices), mat._sparse_shape, mode="clip")
    columns = jnp.stack(jnp.unravel_index(flat, sparse), -1).astype(indices.dtype)
    columns = jnp.where(is_inside(mat, indices, keepdims=True), columns, row_of(sparse, indices))
    return type(mat)((data, columns), shape=new_sizes)


def bcoo_broadcast_in_dim(
    mat: Coordinates, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: None = None
) -> Coordinates:
    """Returns the array repeated along new axes, as `lax.broadcast_in_dim` does.

    New axes before the sparse ones are batch axes; those among them have length 1.

    Args:
      mat: a BCOO.
      shape: the shape of the result.
      broadcast_dimensions: where its axes lie in the result, ints.
      sharding: None.

    Returns:
      A BCOO.

    Raises:
      NotImplementedError: new sparse axes are longer than 1.
      ValueError: `broadcast_dimensions` has another length, or mixes batch, sparse and dense axes.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.ones(3))
      >>> sparse.bcoo_broadcast_in_dim(mat, shape=(2, 3), broadcast_dimensions=(1,)).shape
      (2, 3)
    """
    batch, sparse, dense = parts(mat, broadcast_dimensions)
    if len(broadcast_dimensions) != mat.ndim:
        raise ValueError(f"spinfo.shape={mat.shape} and {broadcast_dimensions=} must have the same length")
    n_batch = min((*sparse, *dense), default=len(shape))
    n_dense = len(shape) - min(dense) if dense else 0
    n_sparse = len(shape) - n_batch - n_dense
    if max(batch, default=-1) >= n_batch or max(sparse, default=-1) >= n_batch + n_sparse:
        raise ValueError("Cannot mix batch, sparse and dense dimensions during broadcast_in_dim")
    if math.prod(mat._sparse_shape) != math.prod(shape[n_batch : n_batch + n_sparse]):
        raise NotImplementedError("Adding sparse dimensions with lengths != 1")
    data = lax.broadcast_in_dim(
        jnp.broadcast_to(mat.data, (*mat.shape[: mat.n_batch], *mat.data.shape[mat.n_batch :])),
        (*shape[:n_batch], mat.nse, *shape[n_batch + n_sparse :]),
        (*batch, n_batch, *(d + 1 - n_sparse for d in dense)),
    )
    _, full = broadcast_batch(mat)
    indices = lax.broadcast_in_dim(full, (*shape[:n_batch], *full.shape[mat.n_batch :]), (*batch, n_batch, n_batch + 1))
    if n_sparse != mat.n_sparse:
        where = np.array(sparse, int) - n_batch
        outside = jnp.broadcast_to(~is_inside(mat, indices, keepdims=True), (*indices.shape[:-1], n_sparse))
        indices = jnp.where(outside, 1, 0).astype(indices.dtype).at[..., where].set(indices)
    return type(mat)((data, indices), shape=shape)


def bcoo_squeeze(arr: Coordinates, *, dimensions: Sequence[int]) -> Coordinates:
    """Returns the array without axes of length 1.

    Args:
      arr: a BCOO.
      dimensions: the axes, ints.

    Returns:
      A BCOO.

    Raises:
      ValueError: an axis has another length than 1.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_squeeze(sparse.bcoo_fromdense(jnp.ones((1, 3))), dimensions=(0,)).shape
      (3,)
    """
    dimensions = tuple(canonicalize_axis(d, arr.ndim) for d in dimensions)
    if any(arr.shape[d] != 1 for d in dimensions):
        raise ValueError(
            "cannot select an axis to squeeze out which has size not equal to one, got "
            f"shape={arr.shape} and {dimensions=}"
        )
    batch, sparse, dense = ([d for d in part if d in dimensions] for part in parts(arr, range(arr.ndim)))
    kept = [i for i in range(arr.n_sparse) if i + arr.n_batch not in sparse]
    data, indices = arr.data, arr.indices
    if sparse:
        data = mask_data(arr, is_inside(arr), data)
    data = lax.squeeze(data, (*batch, *(d + 1 - arr.n_sparse for d in dense)))
    indices = lax.squeeze(indices[..., np.array(kept, int)], batch)
    shape = tuple(n for i, n in enumerate(arr.shape) if i not in dimensions)
    return type(arr)((data, indices), shape=shape, indices_sorted=arr.indices_sorted, unique_indices=arr.unique_indices)


def bcoo_rev(operand: Coordinates, dimensions: Sequence[int]) -> Coordinates:
    """Returns the array in reverse along axes.

    Args:
      operand: a BCOO.
      dimensions: the axes, ints.

    Returns:
      A BCOO.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_rev(sparse.bcoo_fromdense(jnp.array([0.0, 5.0])), (0,)).todense()
      Array([5., 0.], dtype=float32)
    """
    if not all(0 <= d < operand.ndim for d in dimensions) or len(set(dimensions)) < len(dimensions):
        eval_shape(lambda x: lax.rev(x, dimensions), ShapeDtypeStruct(operand.shape, operand.dtype))  # which refuses
    batch, sparse, dense = ([d for d in part if d in dimensions] for part in parts(operand, range(operand.ndim)))
    data, indices = operand.data, operand.indices
    data = lax.rev(data, (*batch, *(d + 1 - operand.n_sparse for d in dense)))
    indices, bound = lax.rev(indices, batch), bound_of(operand)
    if sparse:
        is_reversed = np.isin(np.arange(operand.n_sparse) + operand.n_batch, sparse)
        reverse = jnp.where(is_reversed, bound - 1 - indices, indices)
        indices = jnp.where(is_inside(operand, indices, keepdims=True), reverse, bound)
    return type(operand)((data, indices), shape=operand.shape)


def _check_sparse(name, mat):
    if not isinstance(mat, JAXSparse):
        raise TypeError(f"{name}: input should be BCOO array, got type(mat)={type(mat)}")


def bcoo_slice(
    mat: Coordinates,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Coordinates:
    """Returns a slice of the array, with room for no more elements than its sparse axes have.

    Args:
      mat: a BCOO.
      start_indices: ints.
      limit_indices: ints.
      strides: ints; default None, ones.

    Returns:
      A BCOO.

    Raises:
      TypeError: `mat` is no BCOO.
      ValueError: the indices do not lie in the array.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.array([0.0, 5.0, 6.0]))
      >>> sparse.bcoo_slice(mat, start_indices=(1,), limit_indices=(3,)).todense()
      Array([5., 6.], dtype=float32)
    """
    _check_sparse("bcoo_slice", mat)
    start_indices, limit_indices = ([operator.index(i) for i in x] for x in (start_indices, limit_indices))
    strides = [1] * mat.ndim if strides is None else [operator.index(i) for i in strides]
    if len(start_indices) != mat.ndim or len(limit_indices) != mat.ndim:
        raise ValueError(f"bcoo_slice: indices must have size mat.ndim={mat.ndim}")
    if len(strides) != mat.ndim:
        raise ValueError(f"len(strides) = {len(strides)}; expected {mat.ndim}")
    if any(s <= 0 for s in strides):
        raise ValueError(f"strides must be a sequence of positive integers; got {strides}")
    if not all(0 <= a <= b <= n for a, b, n in zip(start_indices, limit_indices, mat.shape)):
        raise ValueError(f"bcoo_slice: invalid indices. Got {start_indices=}, {limit_indices=} and shape={mat.shape}")
    slices = [slice(*bounds) for bounds in zip(start_indices, limit_indices, strides)]
    shape = tuple(len(range(*s.indices(n))) for s, n in zip(slices, mat.shape))
    batch, sparse, dense = parts(mat, slices)
    # a batch axis of length 1 that serves all examples stays
    data, indices = (
        x[tuple(s if m == n else slice(None) for s, m, n in zip(batch, x.shape, mat.shape))]
        for x in (mat.data, mat.indices)
    )
    data = data[(*(slice(None),) * (mat.n_batch + 1), *dense)]
    if not sparse:
        return type(mat)((data, indices), shape=shape)
    starts, limits, steps = (row_of([getattr(s, name) for s in sparse], indices) for name in ("start", "stop", "step"))
    kept = jnp.all((indices >= starts) & (indices < limits) & ((indices - starts) % steps == 0), -1)
    return _selected(mat, shape, data, (indices - starts) // steps, kept)


def _selected(mat, shape, data, indices, kept):
    """The array of the elements for which a mask holds."""
    bound = row_of(parts(mat, shape)[1], indices)
    data = mask_data(mat, kept, data)
    out = type(mat)((data, jnp.where(kept[..., None], indices, bound)), shape=shape)
    room = math.prod(parts(mat, shape)[1])
    if not mat.n_sparse or room >= out.nse:
        return out
    return type(mat)(bcoo_sum_duplicates(out, room)._bufs, shape=shape)  # nothing is said about indices, as in JAX


def bcoo_dynamic_slice(mat: Coordinates, start_indices: Sequence[ArrayLike], slice_sizes: Sequence[int]) -> Coordinates:
    """Returns a slice of the array whose start may be computed.

    Starts are moved so that the slice lies inside.

    Args:
      mat: a BCOO.
      start_indices: integer scalars.
      slice_sizes: ints.

    Returns:
      A BCOO.

    Raises:
      TypeError: the slice is larger than the array, or starts are no integer scalars.
      ValueError: the numbers of starts, of sizes and of axes differ.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.array([0.0, 5.0, 6.0]))
      >>> sparse.bcoo_dynamic_slice(mat, (1,), (2,)).todense()
      Array([5., 6.], dtype=float32)
    """
    sizes = tuple(operator.index(n) for n in slice_sizes)
    starts = [jnp.asarray(s) for s in start_indices]
    if (
        not len(sizes) == len(starts) == mat.ndim
        or any(not 0 <= n <= m for n, m in zip(sizes, mat.shape))
        or any(s.ndim or not jnp.issubdtype(s.dtype, jnp.integer) for s in starts)
    ):
        dense = ShapeDtypeStruct(mat.shape, mat.dtype)
        return eval_shape(functools.partial(lax.dynamic_slice, slice_sizes=sizes), dense, starts)  # which refuses
    starts = [jnp.clip(jnp.where(s < 0, s + n, s), 0, n - m) for s, n, m in zip(starts, mat.shape, sizes)]
    batch, sparse, dense = parts(mat, starts)
    batch_sizes, sparse_sizes, dense_sizes = parts(mat, sizes)
    zero = jnp.zeros((), starts[0].dtype) if starts else 0

    def of_batch(x, rest, rest_sizes):
        shared = [m != n for m, n in zip(x.shape, mat.shape[: mat.n_batch])]
        at = [zero if s else start for s, start in zip(shared, batch)]
        lengths = [1 if s else n for s, n in zip(shared, batch_sizes)]
        return lax.dynamic_slice(x, (*at, *rest), (*lengths, *rest_sizes))

    data = of_batch(mat.data, (zero, *dense), (mat.nse, *dense_sizes))
    indices = of_batch(mat.indices, (zero, zero), mat.indices.shape[-2:])
    if not sparse:
        return type(mat)((data, indices), shape=sizes)
    indices -= row_of(sparse, indices)
    kept = jnp.all((indices >= 0) & (indices < row_of(sparse_sizes, indices)), -1)
    return _selected(mat, sizes, data, indices, kept)


def bcoo_concatenate(operands: Sequence[Coordinates], *, dimension: int) -> Coordinates:
    """Returns arrays one after the other.

    Args:
      operands: BCOOs of one layout.
      dimension: a batch axis or a sparse axis.

    Returns:
      A BCOO.

    Raises:
      NotImplementedError: `dimension` is a dense axis.
      TypeError: the shapes differ in other axes.
      ValueError: the operands are not sparse, or have other ranks or layouts.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.array([0.0, 5.0]))
      >>> sparse.bcoo_concatenate([mat, mat], dimension=0).todense()
      Array([0., 5., 0., 5.], dtype=float32)
    """
    dimension = operator.index(dimension)
    if not all(isinstance(x, JAXSparse) for x in operands):
        raise ValueError(f"bcoo_concatenate: expected operands to be a sequence of BCOO arrays. Got {operands}")
    others = {(x.dtype, x.ndim, *x.shape[:dimension], *x.shape[dimension + 1 :]) for x in operands}
    if len(others) != 1 or not 0 <= dimension < operands[0].ndim:
        types = [ShapeDtypeStruct(x.shape, x.dtype) for x in operands]
        eval_shape(functools.partial(lax.concatenate, dimension=dimension), types)  # which refuses
    if len({x.n_dense for x in operands}) > 1:
        raise ValueError("bcoo_concatenate requires inputs to have matching nse dimensions.")
    operands = _of_one_batch(operands)
    first, n_batch = operands[0], operands[0].n_batch
    if dimension >= n_batch + first.n_sparse:
        raise NotImplementedError("Concatenation along dense dimensions.")
    ends = np.cumsum([x.shape[dimension] for x in operands])
    shape = (*first.shape[:dimension], int(ends[-1]), *first.shape[dimension + 1 :])
    if dimension < n_batch:
        room = max(x.nse for x in operands)
        pieces = [broadcast_batch(_pad(x, room)) for x in operands]
        return type(first)([jnp.concatenate(pair, axis=dimension) for pair in zip(*pieces)], shape=shape)
    batches = {(x.data.shape[:n_batch], x.indices.shape[:n_batch]) for x in operands}
    buffers = [x._bufs if len(batches) == 1 else broadcast_batch(x) for x in operands]
    pieces = [
        (data, _shifted(x, indices, dimension - n_batch, e - x.shape[dimension], shape))
        for x, (data, indices), e in zip(operands, buffers, ends)
    ]
    return type(first)([jnp.concatenate(pair, axis=n_batch) for pair in zip(*pieces)], shape=shape)


def _of_one_batch(operands):
    """The arrays with one number of batch axes, where their first axes have length 1 and allow it."""
    numbers = {x.n_batch for x in operands}
    if numbers == {0, 1}:
        for n in (1, 0):
            if all(x.shape[0] == 1 for x in operands if x.n_batch != n):
                return [bcoo_update_layout(x, n_batch=n) for x in operands]
    if len(numbers) != 1:
        raise ValueError("bcoo_concatenate requires inputs to have matching batch dimensions.")
    return operands


def _shifted(mat, indices, column, offset, shape):
    """Indices with an offset in one column, padding out of the new bounds."""
    bound = row_of(shape[mat.n_batch : mat.n_batch + mat.n_sparse], indices)
    inside = is_inside(mat, indices, keepdims=True)
    return jnp.where(inside, indices.at[..., column].add(int(offset)), bound)


def _pad(mat, nse):
    """The array with room for more elements."""
    more, n = nse - mat.nse, mat.n_batch
    if not more:
        return mat
    data = jnp.pad(mat.data, [(0, more if i == n else 0) for i in range(mat.data.ndim)])
    padding = jnp.broadcast_to(bound_of(mat), (*mat.indices.shape[:n], more, mat.n_sparse))
    return type(mat)((data, jnp.concatenate([mat.indices, padding], n)), **mat._info._asdict())
