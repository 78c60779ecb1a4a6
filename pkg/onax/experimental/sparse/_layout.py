"""What functions of BCOO arrays share: their parts, and the order and layout of their elements.

New arrays are made by the class of the array at hand.
"""

import operator
import warnings
from typing import Literal

import numpy as np

from onax import numpy as jnp
from onax._core.trace import Tracer
from onax.experimental.sparse._base import Coordinates
from onax.experimental.sparse.util import SparseEfficiencyError, SparseEfficiencyWarning, nfold_vmap


def split(values, n_batch, n_sparse):
    """(those of the batch, of the sparse, of the dense axes)."""
    values = tuple(values)
    return values[:n_batch], values[n_batch : n_batch + n_sparse], values[n_batch + n_sparse :]


def parts(mat, values):
    return split(values, mat.n_batch, mat.n_sparse)


def columns_of(indices):
    return tuple(indices[..., i] for i in range(indices.shape[-1]))


def broadcast_batch(mat, axes=None):
    """(data, indices) with the batch axes, default all of them, of full length."""
    n, lengths = mat.n_batch, mat.shape[: mat.n_batch]

    def full(x):
        batch = (m if axes is None or i in axes else x.shape[i] for i, m in enumerate(lengths))
        return jnp.broadcast_to(x, (*batch, *x.shape[n:]))

    return full(mat.data), full(mat.indices)


def with_buffers(mat, data, indices, **known):
    """The array with other buffers, about which as much is known as about its own, or as `known` says."""
    return type(mat)((data, indices), **{**mat._info._asdict(), **known})


def row_of(values, indices):
    """A value for each column of indices, (n,), as an array (1, ..., 1, n) of their rank and type.

    Operations of the two promote no ranks.
    """
    return jnp.array(values, indices.dtype).reshape((1,) * (indices.ndim - 1) + (len(values),))


def bound_of(mat):
    """The first indices out of bounds, an array (1, ..., 1, n_sparse) of the rank of the indices."""
    return row_of(mat._sparse_shape, mat.indices)


def is_inside(mat, indices=None, keepdims=False):
    """Which indices, default its own, lie in the array: (batch..., nse)."""
    indices = mat.indices if indices is None else indices
    return jnp.all(indices < row_of(mat._sparse_shape, indices), axis=-1, keepdims=keepdims)


def mask_data(mat, mask, data=None):
    """The data where a mask (batch..., nse) holds, else 0."""
    data = mat.data if data is None else data
    return jnp.where(mask.reshape(*mask.shape, *(1,) * mat.n_dense), data, jnp.zeros((), data.dtype))


def extract(indices, arr, assume_unique=True):
    """The elements of a dense array at indices; 0 for those out of bounds.

    Unless `assume_unique`, they are 0 too where an index occurs again.
    """
    n_batch, (nse, n_sparse) = indices.ndim - 2, indices.shape[-2:]

    def take(i, a):
        if not n_sparse:
            return jnp.broadcast_to(a, (nse, *a.shape))
        return a.at[columns_of(i)].get(mode="fill", fill_value=0)

    def is_first(i):
        equal = jnp.all(i[:, None] == i[None], -1)
        return jnp.argmax(equal, 1) == jnp.arange(nse)

    data = nfold_vmap(take, n_batch)(indices, arr)
    if assume_unique or not nse:
        return data
    first = nfold_vmap(is_first, n_batch)(indices)
    first = first.reshape(*first.shape, *(1,) * (data.ndim - first.ndim))
    return jnp.where(first, data, jnp.zeros((), data.dtype))


def count_stored(mat, n_batch=0, n_dense=0):
    """The number of elements that a sparse array of these values stores in each example: a scalar array."""
    return stored_elements(mat, n_batch, n_dense).max(initial=0)


def stored_elements(mat, n_batch, n_dense):
    """The numbers of elements, arrays along the dense axes, of which one value at least is not 0: array (batch...)."""
    mask = mat != 0
    if n_dense:
        mask = mask.any(tuple(range(mat.ndim - n_dense, mat.ndim)))
    return mask.sum(tuple(range(n_batch, mask.ndim)))


# ---- order of the elements


def bcoo_sort_indices(mat: Coordinates) -> Coordinates:
    """Returns the array with its elements in order of their coordinates.

    Args:
      mat: a BCOO.

    Returns:
      A BCOO.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCOO((jnp.array([5.0, 6.0]), jnp.array([[1], [0]])), shape=(2,))
      >>> sparse.bcoo_sort_indices(mat).data
      Array([6., 5.], dtype=float32)
    """
    if not mat.n_sparse:
        return with_buffers(mat, mat.data, mat.indices, indices_sorted=True)

    def sort(indices):
        order = jnp.lexsort(columns_of(indices)[::-1])
        return indices[order], order

    indices, order = nfold_vmap(sort, mat.n_batch, broadcasted=False)(mat.indices)
    data = nfold_vmap(lambda data, order: data[order], mat.n_batch)(mat.data, order)
    return with_buffers(mat, data, indices, indices_sorted=True)


def bcoo_sum_duplicates(mat: Coordinates, nse: int | None = None) -> Coordinates:
    """Returns the array with one element for each coordinate, in their order.

    Args:
      mat: a BCOO.
      nse: how many elements there is room for, in each example of the batch; default None, as many as there are.
        Needed under `jit`.

    Returns:
      A BCOO.

    Raises:
      ValueError: under `jit`, `nse` is None.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCOO((jnp.array([5.0, 6.0]), jnp.array([[1], [1]])), shape=(2,))
      >>> sparse.bcoo_sum_duplicates(mat).data
      Array([11.], dtype=float32)
    """
    bound, indices = bound_of(mat), mat.indices
    indices = jnp.where(is_inside(mat, indices, keepdims=True), indices, bound)
    if nse is None and isinstance(indices, Tracer):
        raise ValueError(
            "bcoo_sum_duplicates: nse must be specified when using the function within jit, vmap, and other "
            "transformations requiring abstract evaluation."
        )
    if nse is None:
        nse = _count_distinct(np.asarray(indices), mat.n_batch, np.asarray(mat._sparse_shape))
    nse = operator.index(nse)

    def find(indices):
        if not mat.n_sparse:
            return jnp.zeros((nse, 0), indices.dtype), jnp.zeros(mat.nse, np.int32)
        kept, where = jnp.unique(
            indices, axis=0, size=max(nse, mat.nse), fill_value=bound.reshape(-1), return_inverse=True
        )
        return kept[:nse], where.reshape(-1)

    def add(data, where):
        total = jnp.zeros((nse, *data.shape[1:]), data.dtype)
        return total.at[where].add(data, mode="drop") if mat.nse else total

    indices, where = nfold_vmap(find, mat.n_batch, broadcasted=False)(indices)
    data = nfold_vmap(add, mat.n_batch)(mat.data, where)
    return with_buffers(mat, data, indices, indices_sorted=True, unique_indices=True)


def _count_distinct(indices, n_batch, bound):
    """The largest number of distinct coordinates within bounds in an example."""
    if not bound.size:
        return 1
    counts = [0]
    for example in indices.reshape(-1, *indices.shape[n_batch:]):
        distinct = np.unique(example, axis=0)
        counts.append(int(np.all(distinct < bound, axis=1).sum()))
    return max(counts)


def bcoo_eliminate_zeros(mat: Coordinates, nse: int | None = None) -> Coordinates:
    """Returns the array without elements that are 0, and with one element for each coordinate.

    Args:
      mat: a BCOO.
      nse: how many elements there is room for, in each example of the batch; default None, as many as there are.
        Needed under `jit`.

    Returns:
      A BCOO.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCOO((jnp.array([5.0, 0.0]), jnp.array([[1], [0]])), shape=(2,))
      >>> sparse.bcoo.bcoo_eliminate_zeros(mat).nse
      1
    """
    is_zero = jnp.all(mat.data == 0, axis=tuple(range(mat.n_batch + 1, mat.data.ndim)))
    shared = tuple(i for i, n in enumerate(mat.indices.shape[: mat.n_batch]) if n == 1)
    is_zero = is_zero.all(shared, keepdims=True)  # indices that serve several examples go when all their values are 0
    indices = jnp.where(is_zero[..., None], bound_of(mat), mat.indices)
    return bcoo_sum_duplicates(type(mat)((mat.data, indices), shape=mat.shape), nse)


def bcoo_update_layout(
    mat: Coordinates,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: Literal["error", "warn"] | None = "error",
) -> Coordinates:
    """Returns the array with other numbers of batch and dense axes.

    Sparse axes that become batch or dense ones store all their zeros.

    Args:
      mat: a BCOO.
      n_batch: the number of batch axes; default None, as before.
      n_dense: the number of dense axes; default None, as before.
      on_inefficient: what happens where zeros of axes longer than 1 are stored: "error" (the default), "warn" or None.

    Returns:
      A BCOO.

    Raises:
      SparseEfficiencyError: see `on_inefficient`.
      ValueError: the numbers of axes do not fit the array, or `on_inefficient` is another value.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.ones((2, 3)), n_batch=1)
      >>> sparse.bcoo_update_layout(mat, n_batch=0).n_sparse
      2
    """
    n_batch = mat.n_batch if n_batch is None else operator.index(n_batch)
    n_dense = mat.n_dense if n_dense is None else operator.index(n_dense)
    if on_inefficient not in ("error", "warn", None):
        raise ValueError(f"on_inefficent={on_inefficient!r}; expected one of ['error', 'warn', None].")
    for name, n in (("n_batch", n_batch), ("n_dense", n_dense)):
        if n < 0:
            raise ValueError(f"{name} must be non-negative; got {n}")
    if n_batch + n_dense > mat.ndim:
        raise ValueError(f"sum of {n_batch=} and {n_dense=} cannot be larger than mat.ndim={mat.ndim}.")
    if (n_batch, n_dense) == (mat.n_batch, mat.n_dense):
        return mat
    _check_efficient(mat, n_batch, n_dense, on_inefficient)
    if n_dense < mat.n_dense:
        mat = _dense_to_sparse(mat, mat.n_dense - n_dense)
    if n_batch < mat.n_batch:
        mat = _batch_to_sparse(mat, mat.n_batch - n_batch)
    if n_dense > mat.n_dense:
        mat = _sparse_to_dense(mat, n_dense - mat.n_dense)
    return _sparse_to_batch(mat, n_batch - mat.n_batch) if n_batch > mat.n_batch else mat


def _check_efficient(mat, n_batch, n_dense, on_inefficient):
    grown = {
        "n_dense": (mat.n_dense, n_dense, mat.shape[mat.ndim - n_dense : mat.ndim - mat.n_dense]),
        "n_batch": (mat.n_batch, n_batch, mat.shape[mat.n_batch : n_batch]),
    }
    for name, (before, after, lengths) in grown.items():
        if after > before and any(n > 1 for n in lengths) and on_inefficient is not None:
            text = f"For matrix of shape {mat.shape}, increasing {name} from {before} to {after} results in inefficient"
            text += " storage. To disable this {}, set the on_inefficient argument of bcoo_update_layout to {}None."
            if on_inefficient == "error":
                raise SparseEfficiencyError(text.format("error", "'warn' or "))
            warnings.warn(text.format("warning", ""), SparseEfficiencyWarning, stacklevel=4)


def _grid(lengths, dtype):
    """All indices of a shape, in order: an array (product of lengths, number of axes)."""
    return np.stack(np.meshgrid(*map(np.arange, lengths), indexing="ij"), -1).reshape(-1, len(lengths)).astype(dtype)


def _dense_to_sparse(mat, n):
    """The first n dense axes become sparse."""
    k, lengths = mat.n_batch, mat.data.shape[mat.n_batch + 1 :][:n]
    grid = _grid(lengths, mat.indices.dtype)
    count = mat.nse * len(grid)
    data = mat.data.reshape(*mat.data.shape[:k], count, *mat.data.shape[k + 1 + n :])
    head = jnp.repeat(mat.indices, len(grid), axis=k)
    tail = jnp.broadcast_to(np.tile(grid, (mat.nse, 1)), (*head.shape[:-1], n))
    return type(mat)((data, jnp.concatenate([head, tail], -1)), shape=mat.shape)


def _batch_to_sparse(mat, n):
    """The last n batch axes become sparse."""
    k, (data, indices) = mat.n_batch - n, broadcast_batch(mat)
    grid = _grid(mat.shape[k : mat.n_batch], indices.dtype)
    count = len(grid) * mat.nse
    data = data.reshape(*data.shape[:k], count, *data.shape[mat.n_batch + 1 :])
    tail = indices.reshape(*indices.shape[:k], count, mat.n_sparse)
    head = jnp.broadcast_to(np.repeat(grid, mat.nse, axis=0), (*tail.shape[:-1], n))
    return type(mat)((data, jnp.concatenate([head, tail], -1)), shape=mat.shape)


def _sparse_to_dense(mat, n):
    """The last n sparse axes become dense."""
    lengths = mat._sparse_shape[mat.n_sparse - n :]

    def spread(data, index):
        return jnp.zeros((*lengths, *data.shape), data.dtype).at[columns_of(index[-n:])].set(data, mode="drop")

    data, indices = broadcast_batch(mat)
    data = nfold_vmap(spread, mat.n_batch + 1)(data, indices)
    return type(mat)((data, indices[..., :-n]), shape=mat.shape)


def _sparse_to_batch(mat, n):
    """The first n sparse axes become batch axes."""
    lengths = mat._sparse_shape[:n]

    def spread(data, indices):
        target = jnp.zeros((*lengths, *data.shape), data.dtype)
        where = (*columns_of(indices)[:n], jnp.arange(mat.nse))
        rest = jnp.broadcast_to(indices[:, n:], (*lengths, mat.nse, mat.n_sparse - n))
        return target.at[where].set(data, mode="drop"), rest

    data, indices = nfold_vmap(spread, mat.n_batch, broadcasted=False)(*broadcast_batch(mat))
    return type(mat)((data, indices), shape=mat.shape)


def unique_elements(mat):
    """The array itself, or with one element for each coordinate."""
    return mat if mat.unique_indices else bcoo_sum_duplicates(mat, mat.nse)
