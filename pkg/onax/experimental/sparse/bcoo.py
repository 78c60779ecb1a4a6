"""Sparse arrays as values with coordinates, with leading batch axes and trailing dense axes: BCOO.

An array of shape (batch..., sparse..., dense...) has `data` of shape (batch..., nse, dense...) and `indices` of shape
(batch..., nse, number of sparse axes).  Either may have batch axes of length 1, which serve all examples.  An element
whose index is out of bounds is padding: it is no part of the array.  Data and indices are ordinary arrays and
operations are gathers and scatters, so that transformations and exports work on them.
"""

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import concrete_or_error
from onax._core.trees import register_pytree_node_class
from onax._ground.typing import ArrayLike, DTypeLike, PrecisionLike
from onax._ground.unavailable import unavailable as _unavailable
from onax._ground.util import canonicalize_axis
from onax._native.array import Array
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape, stage
from onax._transforms.vmappable import register_vmappable
from onax.experimental.sparse._base import JAXSparse, Known, example_of, examples_of
from onax.experimental.sparse._indexing import bcoo_gather
from onax.experimental.sparse._layout import (
    bcoo_eliminate_zeros,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_update_layout,
    broadcast_batch,
    columns_of,
    count_stored,
    extract,
    is_inside,
    mask_data,
    parts,
    split,
)
from onax.experimental.sparse._products import contract_dense, contract_sparse, multiply_elements
from onax.experimental.sparse._shaping import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
    bcoo_transpose,
)
from onax.experimental.sparse.util import DotDimensionNumbers, Shape, SparseInfo, nfold_vmap


class BCOOProperties(NamedTuple):
    """The layout of a BCOO.

    Args:
      n_batch: the number of batch axes.
      n_sparse: the number of sparse axes.
      n_dense: the number of dense axes.
      nse: the number of stored elements, padding included.

    Examples:
      >>> onax.experimental.sparse.bcoo.BCOOProperties(n_batch=0, n_sparse=2, n_dense=0, nse=3).nse
      3
    """

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int


class Buffer(Protocol):
    """Anything with a shape and a dtype, for annotations."""

    @property
    def shape(self) -> Shape: ...
    @property
    def dtype(self) -> Any: ...


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

    # what `_operators` makes of functions of dense arrays
    astype: Callable[..., "BCOO"]
    reshape: Callable[..., "BCOO"]
    sum: Callable[..., Any]
    __add__: Callable[[Any], Any]
    __radd__: Callable[[Any], Any]
    __sub__: Callable[[Any], Any]
    __rsub__: Callable[[Any], Any]
    __mul__: Callable[[Any], Any]
    __rmul__: Callable[[Any], Any]
    __truediv__: Callable[[Any], Any]
    __matmul__: Callable[[Any], Any]
    __rmatmul__: Callable[[Any], Any]
    __pow__: Callable[[Any], Any]
    __neg__: Callable[[], Any]
    __getitem__: Callable[[Any], Any]
    _mark: object = None  # one object for arrays that are known to have the same indices
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
        n, shape, (nse, n_sparse) = self.n_batch, self.shape, self.indices.shape[-2:]
        for what, buffer in (("indices", self.indices.shape), ("data", self.data.shape)):
            batch = buffer[:n]
            if len(batch) != n or len(shape) < n or any(a not in (1, b) for a, b in zip(batch, shape)):
                raise ValueError(
                    f"{what} batch dimensions not compatible for {what}.shape={buffer}, shape={self.shape}"
                )
        dense = shape[n + n_sparse :]
        if n + n_sparse > self.ndim or self.data.shape[n:] != (nse, *dense):
            raise ValueError(
                f"Invalid data.shape={self.data.shape} for nse={nse}, n_batch={n}, n_dense={self.ndim - n - n_sparse}"
            )

    def tree_flatten(self):
        return (self.data, self.indices), Known(self._info._asdict())

    @classmethod
    def tree_unflatten(cls, aux, children):
        self = object.__new__(cls)  # leaves may be anything while trees are handled
        self.data, self.indices = children
        self.__dict__.update(aux)
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
        if n_batch < 0 or n_dense < 0 or n_batch + n_dense > 2:
            raise ValueError(f"Invalid inputs: shape={(N, M)}, {n_dense=}, {n_batch=}")
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

    def _with(self, data, keeps_indices=True):
        """The array with other data at the same indices, which rules may tell, or not, to be the same."""
        out = BCOO((data, self.indices), **self._info._asdict())
        if keeps_indices:
            out._mark = self._mark = self._mark or object()
        return out

    def has_indices_of(self, other: "BCOO") -> bool:
        """Whether both are made of one array by operations that keep its indices."""
        return self is other or (self._mark is not None and self._mark is other._mark)

    def todense(self) -> Array:
        """The dense array; elements with the same coordinates are added up."""
        return bcoo_todense(self)

    def transpose(self, axes: Sequence[int] | None = None) -> Self:
        """The array with its axes permuted, reversed without `axes`."""
        return bcoo_transpose(self, permutation=range(self.ndim)[::-1] if axes is None else axes)

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


# ---- from and to dense arrays


register_vmappable(BCOO, int, int, example_of, examples_of, None)


_TRACED_NSE = (
    "nse, the number of stored elements, depends on the values of the array; BCOO.fromdense() within jit, vmap and "
    "other transformations takes it as an argument."
)


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
    if nse is None:
        nse = concrete_or_error(operator.index, count_stored(mat, n_batch, n_dense), _TRACED_NSE)
    nse = operator.index(nse)
    mask = mat != 0
    if n_dense:
        mask = mask.any(tuple(range(mat.ndim - n_dense, mat.ndim)))

    def find(a):
        if not a.ndim:
            return jnp.zeros((nse, 0), index_dtype)
        return jnp.stack(jnp.nonzero(a, size=nse, fill_value=a.shape), -1).astype(index_dtype)

    indices = nfold_vmap(find, n_batch, broadcasted=False)(mask)
    data = extract(indices, mat)
    if not mask.shape[n_batch:]:  # without sparse axes the one element comes first
        data = jnp.where(
            (jnp.arange(nse) < 1).reshape((1,) * n_batch + (nse,) + (1,) * n_dense), data, jnp.zeros((), data.dtype)
        )
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


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
      TypeError: `sparr` is no BCOO.
      ValueError: the shapes differ.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcoo_extract(sparse.bcoo_fromdense(jnp.array([0.0, 5.0])), jnp.array([7.0, 8.0])).todense()
      Array([0., 8.], dtype=float32)
    """
    if not isinstance(sparr, BCOO):
        raise TypeError(f"First argument to bcoo_extract should be a BCOO array. Got type(sparr)={type(sparr)}")
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"shape mismatch: sparr.shape={sparr.shape} a.shape={arr.shape}")
    data = extract(sparr.indices, arr, sparr.unique_indices if assume_unique is None else assume_unique)
    return BCOO((data, sparr.indices), **sparr._info._asdict())


# ---- arithmetic


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
    return combine(sp_mat, v, jnp.multiply)


def combine(mat, v, operation):
    """`operation` of the data with the elements of a dense array at the indices."""
    v = jnp.asarray(v)
    if not v.ndim:
        return operation(mat.data, v)
    if lax.broadcast_shapes(v.shape, mat.shape) != mat.shape:
        raise NotImplementedError(
            "multiplication between sparse and dense is only implemented for cases where the output shape matches the "
            f"sparse matrix shape. Got shape={mat.shape}, v.shape={v.shape}"
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
      rhs: a BCOO of as many axes, whose shape is broadcast with that of `lhs`.

    Returns:
      A BCOO with room for an element for each pair of elements; it has the batch axes that both arrays have.

    Raises:
      NotImplementedError: the numbers of dense axes differ.
      TypeError: the numbers of axes differ.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.array([0.0, 5.0]))
      >>> sparse.bcoo_multiply_sparse(mat, mat).todense()
      Array([ 0., 25.], dtype=float32)
    """
    if lhs.ndim != rhs.ndim:
        raise TypeError(
            f"bcoo_multiply_sparse: arrays must have same number of dimensions, got {lhs.shape}, {rhs.shape}"
        )
    if lhs.n_dense != rhs.n_dense:
        raise NotImplementedError(
            "bcoo_multiply_sparse: arrays with differing numbers of dense dimensions: "
            f"{_properties(lhs)}, {_properties(rhs)}"
        )
    shape, n = jnp.broadcast_shapes(lhs.shape, rhs.shape), min(lhs.n_batch, rhs.n_batch)
    lhs, rhs = (bcoo_update_layout(x, n_batch=n) for x in (lhs, rhs))
    multiply = functools.partial(multiply_elements, x_shape=lhs._sparse_shape, y_shape=rhs._sparse_shape)
    return BCOO(nfold_vmap(multiply, n)(lhs.data, lhs.indices, rhs.data, rhs.indices), shape=shape)


def _properties(mat):
    return BCOOProperties(mat.n_batch, mat.n_sparse, mat.n_dense, mat.nse)


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
    axes = {canonicalize_axis(axis, mat.ndim) for axis in axes}
    batch, sparse, dense = ([a for a in part if a not in axes] for part in parts(mat, range(mat.ndim)))
    data, indices = broadcast_batch(mat, axes)
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
    contracting, batch = ([_index_tuple(axes) for axes in pair] for pair in dimension_numbers)
    left, right = (x if isinstance(x, BCOO) else jnp.asarray(x) for x in (lhs, rhs))
    if not (isinstance(left, BCOO) or isinstance(right, BCOO)):
        return lax.dot_general(
            left, right, (contracting, batch), precision=precision, preferred_element_type=preferred_element_type
        )
    out = _dot_type(left, right, contracting, batch, preferred_element_type)
    left, right = (x if x.dtype == out.dtype else x.astype(out.dtype) for x in (left, right))
    n = len(batch[0])
    if isinstance(left, BCOO) and isinstance(right, BCOO):
        return _sparse_product(left, right, contracting, batch, out.shape)
    left, right = (_batch_first(x, axes) for x, axes in zip((left, right), batch))
    axes = [_moved(axes, own, x.ndim) for axes, own, x in zip(contracting, batch, (left, right))]
    if isinstance(right, BCOO):
        swapped = _dense_product(right, left, axes[::-1], n)
        left_free = left.ndim - n - len(axes[0])
        rest = range(n, swapped.ndim)
        return swapped.transpose(*range(n), *rest[len(rest) - left_free :], *rest[: len(rest) - left_free])
    return _dense_product(left, right, axes, n)


def _index_tuple(axes):
    return tuple(map(operator.index, axes)) if isinstance(axes, Iterable) else (operator.index(axes),)


def _dot_type(lhs, rhs, contracting, batch, preferred_element_type):
    """The type of the product, a ShapeDtypeStruct; errors are those of `lax.dot_general`."""
    used = [{*a, *b} for a, b in zip(contracting, batch)]
    plain = lhs.dtype == rhs.dtype and preferred_element_type in (None, lhs.dtype)
    for (a, b), (x, y) in zip((contracting, batch), ((lhs, rhs), (lhs, rhs))):
        plain = plain and len(a) == len(b)
        plain = plain and all(0 <= i < x.ndim and 0 <= j < y.ndim and x.shape[i] == y.shape[j] for i, j in zip(a, b))
    if not plain or any(len(own) != len(a) + len(b) for own, a, b in zip(used, contracting, batch)):
        types = (ShapeDtypeStruct(x.shape, x.dtype) for x in (lhs, rhs))
        product = functools.partial(
            lax.dot_general, dimension_numbers=(contracting, batch), preferred_element_type=preferred_element_type
        )
        return eval_shape(product, *types)
    free = [n for x, own in zip((lhs, rhs), used) for i, n in enumerate(x.shape) if i not in own]
    return ShapeDtypeStruct((*(lhs.shape[i] for i in batch[0]), *free), lhs.dtype)


def _batch_first(x, axes):
    """The operand with the product's batch axes in front; a sparse one has no other batch axes and no dense ones."""
    rest = [i for i in range(x.ndim) if i not in axes]
    if not isinstance(x, BCOO):
        return x.transpose(*axes, *rest)
    if any(a >= x.n_batch for a in axes):
        raise NotImplementedError(
            "bcoo_dot_general batch dimensions must be among the batch dimensions in the sparse representation.\n"
            f"got lhs_batch={axes}, n_batch={x.n_batch}"
        )
    return bcoo_update_layout(_batch_axes_first(x, axes), n_batch=len(axes), n_dense=0)


def _batch_axes_first(mat, axes):
    order = (*axes, *(i for i in range(mat.n_batch) if i not in axes))
    if order == tuple(range(mat.n_batch)):
        return mat
    return bcoo_transpose(mat, permutation=(*order, *range(mat.n_batch, mat.ndim)))


def _moved(axes, batch, ndim):
    """The contracted axes, counted without batch axes."""
    rest = [i for i in range(ndim) if i not in batch]
    return tuple(rest.index(a) for a in axes)


def _dense_product(mat, dense, axes, n):
    shape = mat.shape[n:]

    def contract(data, indices, operand):
        return contract_dense(data, indices, shape, axes[0], operand, axes[1])

    return nfold_vmap(contract, n)(mat.data, mat.indices, dense)


def _sparse_product(lhs, rhs, contracting, batch, shape):
    """The product of two sparse arrays: its batch axes are the product's, then the others of the operands."""
    n = len(batch[0])
    if any(i >= x.n_batch for axes, x in zip(batch, (lhs, rhs)) for i in axes):
        raise NotImplementedError(
            "bcoo_spdot_general: batch_dims must correspond to batch dimensions of the sparse representation."
        )
    axes = [_moved(a, b, x.ndim) for a, b, x in zip(contracting, batch, (lhs, rhs))]
    lhs, rhs = (_batch_axes_first(x, b) for x, b in zip((lhs, rhs), batch))
    lhs, rhs = (
        bcoo_update_layout(x, n_batch=n if any(i < x.n_batch - n for i in a) else None, n_dense=0)
        for x, a in zip((lhs, rhs), axes)
    )
    more = [x.n_batch - n for x in (lhs, rhs)]
    if more[1] and lhs.n_sparse > len(axes[0]):
        raise ValueError("bcoo_spdot_general: cannot have unused batch dims on rhs with unused sparse dims on lhs.")
    contract = functools.partial(
        contract_sparse,
        x_shape=lhs._sparse_shape,
        x_contracting=[i - more[0] for i in axes[0]],
        y_shape=rhs._sparse_shape,
        y_contracting=[i - more[1] for i in axes[1]],
    )
    contract = nfold_vmap(contract, more[1], in_axes=(None, None, 0, 0))
    contract = nfold_vmap(contract, more[0], in_axes=(0, 0, None, None))
    data, indices = nfold_vmap(contract, n)(lhs.data, lhs.indices, rhs.data, rhs.indices)
    n_batch = n + sum(more)
    pairs = math.prod(x.nse for x, a in zip((lhs, rhs), axes) if x.n_sparse > len(a))
    nse = min(pairs, math.prod(shape[n_batch:]))
    return BCOO(bcoo_sum_duplicates(BCOO((data, indices), shape=shape), nse)._bufs, shape=shape)


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


def bcoo_conv_general_dilated(
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> BCOO:
    """Returns the convolution of two arrays along one axis, as `lax.conv_general_dilated` does.

    Args:
      lhs: a BCOO or an array, (1, 1, length).
      rhs: a BCOO or an array, (1, 1, window), of the same dtype.
      window_strides: (1,).
      padding: as in `lax.conv_general_dilated`.
      lhs_dilation: default None, (1,).
      rhs_dilation: default None, (1,).
      dimension_numbers: as in `lax.conv_general_dilated`.
      feature_group_count: 1, the default.
      batch_group_count: 1, the default.
      precision: accepted, without effect: terms are computed in the precision of the operands.
      preferred_element_type: accepted, without effect.
      out_sharding: None.

    Returns:
      A BCOO (1, 1, output length) with two batch axes, and an element for each pair of elements.

    Raises:
      NotImplementedError: strides, dilations, groups or leading axes are other than 1.
      TypeError: the operands are no arrays, or do not fit.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcoo_fromdense(jnp.array([[[1.0, 0.0, 2.0]]]), n_batch=2)
      >>> window = jnp.array([[[3.0, 4.0]]])
      >>> sparse.bcoo_conv_general_dilated(mat, window, window_strides=(1,), padding="VALID").todense()
      Array([[[3., 8.]]], dtype=float32)
    """
    params = _convolution_parameters(
        (lhs, rhs),
        {
            "window_strides": window_strides,
            "padding": padding,
            "lhs_dilation": lhs_dilation,
            "rhs_dilation": rhs_dilation,
            "dimension_numbers": dimension_numbers,
            "feature_group_count": feature_group_count,
            "batch_group_count": batch_group_count,
            "precision": precision,
            "preferred_element_type": preferred_element_type,
            "out_sharding": out_sharding,
        },
    )
    for name, what in (
        ("lhs_dilation", "lhs_dilation"), ("rhs_dilation", "rhs_dilation"),
        ("window_strides", "non-unit window_strides"),
    ):  # fmt: skip
        if any(n != 1 for n in params[name]):
            raise NotImplementedError(f"bcoo convolution with {what}.")
    if params["batch_group_count"] != 1 or params["feature_group_count"] != 1:
        raise NotImplementedError("bcoo convolution with non-unit group counts.")
    if lhs.ndim != 3 or lhs.shape[:2] != (1, 1) or rhs.shape[:2] != (1, 1):
        raise NotImplementedError("bcoo convolution with leading dimensions other than (1, 1)")
    index_dtype = next((x.indices.dtype for x in (lhs, rhs) if isinstance(x, BCOO)), jnp.int32)
    (low, high), lengths = params["padding"][0], (lhs.shape[2], rhs.shape[2])
    (x, i), (y, j) = (_elements_of_axis(a, index_dtype) for a in (lhs, rhs))
    data, indices = (x[:, None] * y[None]).reshape(-1), (i[:, None] + (low - j)[None]).reshape(-1)
    outside = indices < 0
    data = jnp.where(outside, jnp.zeros((), data.dtype), data)
    indices = jnp.where(outside, jnp.zeros((), indices.dtype), indices)
    length = max(0, lengths[0] + low + high - lengths[1] + 1)
    return BCOO((data[None, None], indices[None, None, :, None]), shape=(1, 1, length))


def _convolution_parameters(operands, params):
    """The parameters of the dense operation, completed and checked."""
    types = [ShapeDtypeStruct(x.shape, x.dtype) for x in operands]
    program, _, _ = stage(lambda lhs, rhs: lax.conv_general_dilated(lhs, rhs, **params), types, {})
    return program.eqns[-1].params


def _elements_of_axis(mat, index_dtype):
    """(data, positions) along the last axis, (nse,) each; elements out of bounds are 0."""
    if not isinstance(mat, BCOO):
        data = jnp.asarray(mat)[0, 0]
        return data, jnp.arange(data.shape[0], dtype=index_dtype)
    mat = mat.update_layout(n_batch=2, n_dense=0)
    data, positions = mat.data[0, 0], mat.indices[0, 0, :, 0]
    return jnp.where(positions < mat.shape[2], data, jnp.zeros((), data.dtype)), positions


__getattr__ = _unavailable(
    __name__,
    {
        "CUSPARSE_DATA_DTYPES CUSPARSE_INDEX_DTYPES": "products are not computed by cuSPARSE",
    },
)

__all__ = [
    "BCOO",
    "BCOOProperties",
    "Buffer",
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
