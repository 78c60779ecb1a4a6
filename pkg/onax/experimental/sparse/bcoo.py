"""Sparse arrays as values with coordinates, with leading batch axes and trailing dense axes: BCOO.

An array of shape (batch..., sparse..., dense...) has `data` of shape (batch..., nse, dense...) and `indices` of shape
(batch..., nse, number of sparse axes).  Either may have batch axes of length 1, which serve all examples.  An element
whose index is out of bounds is padding: it is no part of the array.  Data and indices are ordinary arrays and
operations are gathers and scatters, so that transformations and exports work on them.
"""

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import Tracer
from onax._core.trees import register_pytree_node_class
from onax._ground.typing import ArrayLike, DTypeLike, PrecisionLike
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.array import Array
from onax._transforms.vmappable import register_vmappable
from onax.experimental.sparse._base import JAXSparse, example_of, examples_of
from onax.experimental.sparse._layout import (
    bcoo_eliminate_zeros,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_update_layout,
    broadcast_batch,
    columns_of,
    extract,
    is_inside,
    mask_data,
    mask_padding,
    parts,
    split,
    unique_elements,
)
from onax.experimental.sparse._products import contract_dense, contract_sparse, largest_nse
from onax.experimental.sparse._shaping import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_conv_general_dilated,
    bcoo_dynamic_slice,
    bcoo_gather,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
    bcoo_transpose,
    index,
)
from onax.experimental.sparse.util import DotDimensionNumbers, Shape, SparseInfo, nfold_vmap


@register_pytree_node_class
class BCOO(JAXSparse):
    """A sparse array as values and their coordinates.

    Args:
      args: (data, indices): values (batch..., nse, dense...) and integer coordinates (batch..., nse, n_sparse).
      shape: the shape of the array.
      indices_sorted: whether the caller knows that the indices are sorted; default False.
      unique_indices: whether the caller knows that no index occurs twice; default False.

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCOO((jnp.array([5.0]), jnp.array([[0, 1]])), shape=(2, 2))
      >>> mat.todense()
      Array([[0., 5.],
             [0., 0.]], dtype=float32)
    """

    nse = property(lambda self: self.indices.shape[-2], doc="The number of stored elements, padding included.")
    n_batch = property(lambda self: self.indices.ndim - 2)
    n_sparse = property(lambda self: self.indices.shape[-1])
    n_dense = property(lambda self: self.data.ndim - 1 - self.n_batch)
    _info = property(lambda self: SparseInfo(self.shape, self.indices_sorted, self.unique_indices))
    _bufs = property(lambda self: (self.data, self.indices))
    _sparse_shape = property(lambda self: self.shape[self.n_batch : self.n_batch + self.n_sparse])

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices = map(jnp.asarray, args)
        self.shape = tuple(operator.index(n) for n in shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        self._check()

    def _check(self):
        if self.indices.ndim < 2 or not jnp.issubdtype(self.indices.dtype, jnp.integer):
            raise ValueError(
                f"indices of a BCOO are integers (batch..., nse, n_sparse); got {self.indices.dtype} of shape "
                f"{self.indices.shape}"
            )
        n, (nse, n_sparse) = self.n_batch, self.indices.shape[-2:]
        dense = self.shape[n + n_sparse :]
        for what, batch in (("data", self.data.shape[:n]), ("indices", self.indices.shape[:n])):
            if len(batch) != n or any(a not in (1, b) for a, b in zip(batch, self.shape[:n])):
                raise ValueError(f"{what} batch dimensions not compatible for {what}.shape={batch}, shape={self.shape}")
        if n + n_sparse > self.ndim or self.data.shape[n:] != (nse, *dense):
            raise ValueError(f"Invalid data.shape={self.data.shape} for nse={nse}, n_batch={n}, n_dense={len(dense)}")

    def tree_flatten(self):
        return (self.data, self.indices), self._info

    @classmethod
    def tree_unflatten(cls, aux, children):
        self = object.__new__(cls)  # leaves may be anything while trees are handled
        self.data, self.indices = children
        self.shape, self.indices_sorted, self.unique_indices = aux
        return self

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> "BCOO":
        """The nonzero elements of a dense array; see `bcoo_fromdense`."""
        return bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0
    ) -> Self:
        """A matrix of scipy.sparse; it has sparse axes only."""
        if n_dense or n_batch:
            raise NotImplementedError("BCOO.fromscipy with nonzero n_dense/n_batch")
        mat = mat.tocoo()
        return cls((mat.data, np.stack([mat.row, mat.col], -1).astype(index_dtype or np.int32)), shape=mat.shape)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        n_sparse = len(shape) - n_dense - n_batch
        if min(n_sparse, n_dense, n_batch, nse) < 0:
            raise ValueError(f"Invalid inputs: {shape=}, {n_dense=}, {n_batch=}, {nse=}")
        batch, sparse, dense = split(shape, n_batch, n_sparse)
        indices = jnp.full((*batch, nse, n_sparse), jnp.array(sparse, index_dtype), index_dtype)
        data = jnp.zeros((*batch, nse, *dense), dtype)
        return cls((data, indices), shape=shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32", n_batch=0, n_dense=0):
        size = min(N, M - k) if k > 0 else min(N + k, M)
        if size <= 0:
            return cls._empty((N, M), dtype=dtype, index_dtype=index_dtype, n_batch=n_batch, n_dense=n_dense)
        if n_batch or n_dense:
            return cls.fromdense(
                jnp.eye(N, M, k, dtype=dtype), n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype
            )
        indices = np.arange(size)[:, None] + [max(-k, 0), max(k, 0)]
        data = jnp.ones(size, dtype)
        return cls((data, indices.astype(index_dtype)), shape=(N, M), indices_sorted=True, unique_indices=True)

    def _with(self, data):
        """The array with other data at the same indices."""
        return BCOO((data, self.indices), **self._info._asdict())

    def todense(self) -> Array:
        """The dense array; elements with the same coordinates are added up."""
        return bcoo_todense(self)

    def astype(self, *args: Any, **kwargs: Any) -> "BCOO":
        """The array with its data converted."""
        return self._with(self.data.astype(*args, **kwargs))

    def transpose(self, axes: Sequence[int] | None = None) -> Self:
        """The array with its axes permuted, reversed without `axes`."""
        return bcoo_transpose(self, permutation=range(self.ndim)[::-1] if axes is None else axes)

    def reshape(self, *shape: Any) -> Self:
        """The array in another shape with as many elements."""
        shape = shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape
        if -1 in shape:
            shape = tuple(self.size // -math.prod(shape) if n == -1 else n for n in shape)
        return bcoo_reshape(self, new_sizes=tuple(shape))

    def sort_indices(self) -> Self:
        """The array with its elements in order of their coordinates."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> Self:
        """The array with one element for each coordinate; `nse` says how many there are room for, which jit needs."""
        return bcoo_eliminate_zeros(self, nse) if remove_zeros else bcoo_sum_duplicates(self, nse)

    def update_layout(
        self,
        *,
        n_batch: int | None = None,
        n_dense: int | None = None,
        on_inefficient: Literal["error", "warn"] | None = "error",
    ) -> Self:
        """The array with other numbers of batch and dense axes; see `bcoo_update_layout`."""
        return bcoo_update_layout(self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)

    def sum(self, axis=None):
        """Sums over axes: a dense scalar over all, else a sparse array."""
        if axis is None:
            return bcoo_reduce_sum(self, axes=range(self.ndim)).todense()
        axes = (axis,) if np.isscalar(axis) else axis
        return bcoo_reduce_sum(self, axes=axes)

    def __getitem__(self, key):
        return index(self, key if isinstance(key, tuple) else (key,))

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __pos__(self):
        return self

    def __neg__(self):
        return self._with(-self.data)

    def __mul__(self, other):
        """The product with a sparse array, or with a dense one that is broadcast to this shape."""
        if isinstance(other, JAXSparse):
            return bcoo_multiply_sparse(self, other)
        return self._with(bcoo_multiply_dense(self, other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, JAXSparse):
            raise NotImplementedError(
                "Division by a sparse array is not implemented because it would result in dense output. If this is "
                "your intent, use sparse.todense() to convert your argument to a dense array."
            )
        return self._with(_combine(self, other, jnp.true_divide))

    def __add__(self, other):
        if isinstance(other, JAXSparse):
            return _add(self, other)
        return self.todense() + _dense_operand(self, other)

    __radd__ = __add__

    def __sub__(self, other):
        return self + -other if isinstance(other, JAXSparse) else self.todense() - _dense_operand(self, other)

    def __rsub__(self, other):
        return _dense_operand(self, other) - self.todense()

    def __pow__(self, power):
        if not isinstance(power, int) or power <= 0:
            raise NotImplementedError(
                f"a sparse array to the power of {power!r}: only positive integers keep its zeros"
            )
        distinct = unique_elements(self)
        return distinct._with(distinct.data**power)

    def __matmul__(self, other):
        return _matmul(self, other)

    def __rmatmul__(self, other):
        return _matmul(other, self)


# ---- from and to dense arrays


register_vmappable(BCOO, int, int, example_of, examples_of, None)


def bcoo_fromdense(
    mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = np.int32
) -> BCOO:
    """Returns the nonzero elements of a dense array.

    Args:
      mat: an array.
      nse: how many elements there is room for, in each example of the batch; default None, as many as there are.
        Needed under `jit`.
      n_batch: the number of leading batch axes; default 0.
      n_dense: the number of trailing dense axes; default 0.
      index_dtype: the dtype of the indices; default int32.

    Returns:
      A BCOO.

    Raises:
      ValueError: under `jit`, `nse` is None.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_fromdense(jnp.array([[0.0, 5.0], [0.0, 0.0]]))
      BCOO(float32[2, 2], nse=1)
    """
    mat = jnp.asarray(mat)
    mask = mat != 0
    if n_dense:
        mask = mask.any(tuple(range(mat.ndim - n_dense, mat.ndim)))
    if nse is None:
        if isinstance(mask, Tracer):
            raise ValueError("bcoo_fromdense: nse must be specified within jit, vmap and other transformations")
        nse = int(mask.sum(tuple(range(n_batch, mask.ndim))).max(initial=0))
    nse = operator.index(nse)

    def find(a):
        if not a.ndim:
            return jnp.zeros((nse, 0), index_dtype)
        return jnp.stack(jnp.nonzero(a, size=nse, fill_value=a.shape), -1).astype(index_dtype)

    indices = nfold_vmap(find, n_batch, broadcasted=False)(mask)
    found = BCOO((extract(indices, mat), indices), shape=mat.shape, indices_sorted=True, unique_indices=True)
    return found


def bcoo_todense(mat: BCOO) -> Array:
    """Returns the dense array; elements with the same coordinates are added up.

    Args:
      mat: a BCOO.

    Returns:
      Array.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_todense(sparse.bcoo_fromdense(jnp.array([0.0, 5.0])))
      Array([0., 5.], dtype=float32)
    """
    n, shape = mat.n_batch, mat.shape

    def place(data, indices):
        if not mat.n_sparse:
            return data.any(0) if data.dtype == bool else data.sum(0, dtype=data.dtype)
        target = jnp.zeros(shape[n:], data.dtype).at[columns_of(indices)]
        return target.max(data, mode="drop") if data.dtype == bool else target.add(data, mode="drop")

    return jnp.broadcast_to(nfold_vmap(place, n)(mat.data, mat.indices), shape)


def bcoo_extract(sparr: BCOO, arr: ArrayLike, *, assume_unique: bool | None = None) -> BCOO:
    """Returns the elements of a dense array at the indices of a sparse one.

    Where an index occurs several times its first element has the value and the others are 0.

    Args:
      sparr: a BCOO.
      arr: an array of its shape.
      assume_unique: True: no index occurs twice; default None, what the array knows.

    Returns:
      A BCOO.

    Raises:
      ValueError: the shapes differ.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_extract(sparse.bcoo_fromdense(jnp.array([0.0, 5.0])), jnp.array([7.0, 8.0])).todense()
      Array([0., 8.], dtype=float32)
    """
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"shape mismatch: sparr.shape={sparr.shape} arr.shape={arr.shape}")
    data = extract(sparr.indices, arr)
    if not (sparr.unique_indices if assume_unique is None else assume_unique) and sparr.n_sparse:

        def is_first(indices):
            equal = jnp.all(indices[:, None] == indices[None], -1)
            return jnp.argmax(equal, 1) == jnp.arange(indices.shape[0])

        data = mask_data(sparr, nfold_vmap(is_first, sparr.n_batch)(sparr.indices), data)
    return BCOO((data, sparr.indices), **sparr._info._asdict())


# ---- arithmetic


def _dense_operand(mat, other):
    other = jnp.asarray(other)
    if jnp.broadcast_shapes(mat.shape, other.shape) != other.shape:
        raise NotImplementedError(
            "Addition between a sparse array X and a dense array Y is not implemented when the output shape is larger "
            "than Y.shape. This is to prevent silent densification of a large sparse array. If this is your intent, "
            "you can explicitly cast the sparse array to a dense matrix."
        )
    return other


def _add(x, y):
    """The sum of two BCOO: their elements one after the other."""
    if not isinstance(y, BCOO):
        y = y.to_bcoo() if hasattr(y, "to_bcoo") else BCOO.fromdense(y.todense())
    if x.shape != y.shape:
        raise NotImplementedError("Addition between sparse matrices of different shapes.")
    if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
        raise NotImplementedError("Addition between sparse matrices with different batch/dense dimensions.")
    pairs = zip(broadcast_batch(x), broadcast_batch(y))
    return BCOO([jnp.concatenate(pair, axis=x.n_batch) for pair in pairs], shape=x.shape)


def bcoo_multiply_dense(sp_mat: BCOO, v: ArrayLike) -> Array:
    """Returns the values of the product of a sparse array with a dense one.

    Args:
      sp_mat: a BCOO.
      v: an array that broadcasts to its shape.

    Returns:
      Array of the shape of the values.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_multiply_dense(sparse.bcoo_fromdense(jnp.array([0.0, 5.0])), jnp.array([7.0, 2.0]))
      Array([10.], dtype=float32)
    """
    return _combine(sp_mat, v, jnp.multiply)


def _combine(mat, v, operation):
    """`operation` of the data with the elements of a dense array at the indices."""
    v = jnp.asarray(v)
    if not v.ndim:
        return operation(mat.data, v)
    if v.ndim > mat.ndim or any(a not in (1, b) for a, b in zip(v.shape[::-1], mat.shape[::-1])):
        raise NotImplementedError(
            f"a product of a sparse array of shape {mat.shape} with a dense one of shape {v.shape}, which is not "
            "broadcast to that shape"
        )
    v = v.reshape(*(1,) * (mat.ndim - v.ndim), *v.shape)

    def apply(data, indices, v):
        if not mat.n_sparse:
            return operation(data, v)
        where = [jnp.zeros_like(c) if n == 1 else c for c, n in zip(columns_of(indices), v.shape)]
        return operation(data, v.at[tuple(where)].get(mode="fill", fill_value=1))

    return nfold_vmap(apply, mat.n_batch)(mat.data, mat.indices, v)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """Returns the elementwise product of two sparse arrays.

    Args:
      lhs: a BCOO.
      rhs: a BCOO of the same layout; one of them may have axes of length 1.

    Returns:
      A BCOO.

    Raises:
      NotImplementedError: the layouts differ, or both arrays are broadcast.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.array([0.0, 5.0]))
      >>> sparse.bcoo_multiply_sparse(mat, mat).todense()
      Array([ 0., 25.], dtype=float32)
    """
    if not isinstance(rhs, BCOO):
        rhs = rhs.to_bcoo()
    if (lhs.ndim, lhs.n_batch, lhs.n_dense) != (rhs.ndim, rhs.n_batch, rhs.n_dense):
        raise NotImplementedError(
            f"bcoo_multiply_sparse: layouts differ: {lhs.shape} with n_batch={lhs.n_batch} and n_dense={lhs.n_dense}, "
            f"{rhs.shape} with n_batch={rhs.n_batch} and n_dense={rhs.n_dense}; change them with update_layout"
        )
    shape = jnp.broadcast_shapes(lhs.shape, rhs.shape)
    if lhs.shape != shape:
        lhs, rhs = rhs, lhs
    if lhs.shape != shape:
        raise NotImplementedError(f"bcoo_multiply_sparse: shapes {lhs.shape} and {rhs.shape} are both broadcast")
    compared = [i for i, n in enumerate(rhs._sparse_shape) if n == lhs._sparse_shape[i]]

    def multiply(x, i, y, j):
        equal = jnp.ones((i.shape[0], j.shape[0]), bool)
        for k in compared:
            equal &= i[:, None, k] == j[None, :, k]
        shaped = equal.reshape(*equal.shape, *(1,) * lhs.n_dense)
        return x * jnp.where(shaped, y[None], jnp.zeros((), y.dtype)).sum(1)

    (x, i), (y, j) = (lhs.data, lhs.indices), (rhs.data, mask_padding(rhs))
    data = nfold_vmap(multiply, lhs.n_batch)(x, i, y, j)
    return BCOO((data, jnp.broadcast_to(i, (*data.shape[: lhs.n_batch], *i.shape[-2:]))), shape=shape)


def bcoo_reduce_sum(mat: BCOO, *, axes: Iterable[int]) -> BCOO:
    """Returns sums over axes, as a sparse array in which coordinates may occur several times.

    Args:
      mat: a BCOO.
      axes: ints.

    Returns:
      A BCOO.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_reduce_sum(sparse.bcoo_fromdense(jnp.eye(2)), axes=(0,)).todense()
      Array([1., 1.], dtype=float32)
    """
    axes = {operator.index(axis) % mat.ndim for axis in axes}
    batch, sparse, dense = ([a for a in part if a not in axes] for part in parts(mat, range(mat.ndim)))
    data, indices = broadcast_batch(mat)
    data = mask_data(mat, is_inside(mat, indices), data)
    data = data.sum(tuple(a + 1 - mat.n_sparse for a in axes if a >= mat.n_batch + mat.n_sparse))
    indices = indices[..., np.array([a - mat.n_batch for a in sparse], int)]
    summed = [a for a in range(mat.n_batch) if a in axes]
    arrays = []
    for x in (data, indices):
        x = x.transpose(*batch, *summed, *range(mat.n_batch, x.ndim))
        arrays.append(x.reshape(*x.shape[: len(batch)], -1 if x.size else _count(x, len(batch), len(summed)),
                                *x.shape[mat.n_batch + 1 :]))  # fmt: skip
    return BCOO(arrays, shape=tuple(mat.shape[a] for a in (*batch, *sparse, *dense)))


def _count(x, kept, summed):
    return math.prod(x.shape[kept : kept + summed + 1])


def bcoo_dot_general(
    lhs: BCOO | Array,
    rhs: BCOO | Array,
    *,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Any:
    """Returns the product of two arrays, one or both of which are sparse.

    Batch axes of the product are the leading batch axes of sparse operands.

    Args:
      lhs: a BCOO or an array.
      rhs: a BCOO or an array.
      dimension_numbers: as in `lax.dot_general`.
      precision: accepted, without effect: products are computed in the precision of the operands.
      preferred_element_type: the dtype of the result; default None, the common one.
      out_sharding: None.

    Returns:
      Array, or a BCOO if both are sparse, with the product's batch axes as its own.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.array([[0.0, 5.0]]))
      >>> sparse.bcoo_dot_general(mat, jnp.array([1.0, 2.0]), dimension_numbers=(((1,), (0,)), ((), ())))
      Array([10.], dtype=float32)
    """
    contracting, batch = ([tuple(map(operator.index, axes)) for axes in pair] for pair in dimension_numbers)
    left, right = lhs, rhs
    out = _dot_shape(left, right, contracting, batch)
    if preferred_element_type is not None:
        left, right = left.astype(preferred_element_type), right.astype(preferred_element_type)
    left, right = (_batch_first(x, axes) for x, axes in zip((left, right), batch))
    axes = [_moved(axes, own, x.ndim) for axes, own, x in zip(contracting, batch, (left, right))]
    n = len(batch[0])
    if isinstance(left, BCOO) and isinstance(right, BCOO):
        return _sparse_product(left, right, axes, n, out)
    if isinstance(right, BCOO):
        swapped = _dense_product(right, left, axes[::-1], n)
        left_free = left.ndim - n - len(axes[0])
        rest = range(n, swapped.ndim)
        return swapped.transpose(*range(n), *rest[len(rest) - left_free :], *rest[: len(rest) - left_free])
    return _dense_product(left, jnp.asarray(right), axes, n)


def _dot_shape(lhs, rhs, contracting, batch):
    """The result's shape; ValueError unless the lengths of paired axes agree."""
    for what, (a, b) in (("contracting", contracting), ("batch", batch)):
        if [lhs.shape[i] for i in a] != [rhs.shape[i] for i in b]:
            have = [tuple(x.shape[i] for i in axes) for x, axes in ((lhs, a), (rhs, b))]
            raise TypeError(
                f"dot_general requires {what} dimensions to have the same shape, got {have[0]} and {have[1]}."
            )
    used = [{*a, *b} for a, b in zip(contracting, batch)]
    free = [n for x, own in zip((lhs, rhs), used) for i, n in enumerate(x.shape) if i not in own]
    return (*(lhs.shape[i] for i in batch[0]), *free)


def _batch_first(x, axes):
    """The operand with the product's batch axes in front; a sparse one has no other batch axes and no dense ones."""
    rest = [i for i in range(x.ndim) if i not in axes]
    if not isinstance(x, BCOO):
        return jnp.asarray(x).transpose(*axes, *rest)
    if any(a >= x.n_batch for a in axes):
        raise NotImplementedError(
            f"bcoo_dot_general: batch axes {axes} of the product are not batch axes of {x!r}, which has "
            f"n_batch={x.n_batch}; make them so with update_layout"
        )
    return bcoo_update_layout(bcoo_transpose(x, permutation=(*axes, *rest)), n_batch=len(axes), n_dense=0)


def _moved(axes, batch, ndim):
    """The contracted axes, counted without batch axes."""
    rest = [i for i in range(ndim) if i not in batch]
    return tuple(rest.index(a) for a in axes)


def _dense_product(mat, dense, axes, n):
    shape = mat.shape[n:]

    def contract(data, indices, operand):
        return contract_dense(data, indices, shape, axes[0], operand, axes[1])

    return nfold_vmap(contract, n)(mat.data, mat.indices, dense)


def _sparse_product(lhs, rhs, axes, n, shape):
    def contract(x, i, y, j):
        return contract_sparse(x, i, lhs.shape[n:], axes[0], y, j, rhs.shape[n:], axes[1])

    data, indices = nfold_vmap(contract, n)(lhs.data, lhs.indices, rhs.data, rhs.indices)
    out, nse = BCOO((data, indices), shape=shape), largest_nse(shape[n:], data.shape[-1])
    return bcoo_sum_duplicates(out, nse) if nse < out.nse else out


def bcoo_dot_general_sampled(
    A: ArrayLike, B: ArrayLike, indices: ArrayLike, *, dimension_numbers: DotDimensionNumbers
) -> Array:
    """Returns elements of the product of two dense arrays.

    Args:
      A: an array.
      B: an array.
      indices: (batch..., nse, axes), integers.
      dimension_numbers: as in `lax.dot_general`.

    Returns:
      Array of shape (batch..., nse).

    Examples:
      >>> from onax.experimental import sparse
      >>> x, dims = jnp.ones((2, 2)), (((1,), (0,)), ((), ()))
      >>> sparse.bcoo_dot_general_sampled(x, x, jnp.array([[0, 1]]), dimension_numbers=dims)
      Array([2.], dtype=float32)
    """
    return extract(jnp.asarray(indices), lax.dot_general(A, B, dimension_numbers=dimension_numbers))


def _matmul(lhs, rhs):
    """`jnp.matmul` in which one operand, or both, are sparse."""
    lhs, rhs = (
        x.to_bcoo() if hasattr(x, "to_bcoo") else x if isinstance(x, BCOO) else jnp.asarray(x) for x in (lhs, rhs)
    )
    if not lhs.ndim or not rhs.ndim:
        raise ValueError(f"matmul input operand has no axes: the shapes are {lhs.shape} and {rhs.shape}")
    inner = max(rhs.ndim - 2, 0)
    n = min(lhs.ndim, rhs.ndim) - 2 if min(lhs.ndim, rhs.ndim) > 2 else 0
    if n and lhs.shape[:-2] != rhs.shape[:-2]:
        raise NotImplementedError(f"matmul of sparse arrays with other batch axes: {lhs.shape} and {rhs.shape}")
    axes = tuple(range(n))
    out = bcoo_dot_general(lhs, rhs, dimension_numbers=(((lhs.ndim - 1,), (inner,)), (axes, axes)))
    if n or rhs.ndim <= 2 or lhs.ndim == 1:
        return out
    order = (*range(1, rhs.ndim - 1), 0, rhs.ndim - 1)  # lhs is a matrix, and batch axes of rhs go to the front
    return out.transpose(order) if isinstance(out, BCOO) else out.transpose(*order)


__getattr__ = _unavailable(
    __name__,
    {
        "BCOOProperties": "it is a record of JAX's checks; a BCOO has n_batch, n_sparse, n_dense and nse",
        "Buffer": "it is a type for annotations; onax.typing.ArrayLike is the one for arrays",
        "CUSPARSE_DATA_DTYPES CUSPARSE_INDEX_DTYPES": "products are not computed by cuSPARSE",
    },
)

__all__ = [
    "BCOO",
    "DotDimensionNumbers",
    "Shape",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_conv_general_dilated",
    "bcoo_dot_general",
    "bcoo_dot_general_sampled",
    "bcoo_dynamic_slice",
    "bcoo_eliminate_zeros",
    "bcoo_extract",
    "bcoo_fromdense",
    "bcoo_gather",
    "bcoo_multiply_dense",
    "bcoo_multiply_sparse",
    "bcoo_reduce_sum",
    "bcoo_reshape",
    "bcoo_rev",
    "bcoo_slice",
    "bcoo_sort_indices",
    "bcoo_squeeze",
    "bcoo_sum_duplicates",
    "bcoo_todense",
    "bcoo_transpose",
    "bcoo_update_layout",
]

_wrap_api_functions(globals(), __name__)
