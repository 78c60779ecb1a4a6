"""Sparse arrays in compressed rows, with leading batch axes and trailing dense axes: BCSR.

An array of shape (batch..., rows, columns, dense...) has `data` (batch..., nse, dense...), the columns in `indices`
(batch..., nse) and the starts of the rows in `indptr` (batch..., rows + 1).
"""

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trees import register_pytree_node_class
from onax._ground.typing import ArrayLike, DTypeLike, PrecisionLike
from onax._native.array import Array
from onax._transforms.vmappable import register_vmappable
from onax.experimental.sparse import bcoo as _bcoo
from onax.experimental.sparse._base import JAXSparse, Known, example_of, examples_of
from onax.experimental.sparse._layout import broadcast_batch
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.util import DotDimensionNumbers, Shape, SparseInfo, nfold_vmap


class BCSRProperties(NamedTuple):
    """The layout of a BCSR.

    Args:
      n_batch: the number of batch axes.
      n_dense: the number of dense axes.
      nse: the number of stored elements, padding included.

    Examples:
      >>> onax.experimental.sparse.bcsr.BCSRProperties(n_batch=0, n_dense=0, nse=3).nse
      3
    """

    n_batch: int
    n_dense: int
    nse: int


@register_pytree_node_class
class BCSR(JAXSparse):
    """A sparse array in compressed rows.

    Args:
      args: (data, indices, indptr): values (batch..., nse, dense...), columns (batch..., nse), starts of rows
        (batch..., rows + 1).
      shape: the shape of the array.
      indices_sorted: whether the caller knows that columns are sorted within a row; default False.
      unique_indices: whether the caller knows that no column occurs twice in a row; default False.

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.BCSR((jnp.array([5.0]), jnp.array([1]), jnp.array([0, 1, 1])), shape=(2, 2)).todense()
      Array([[0., 5.],
             [0., 0.]], dtype=float32)
    """

    n_sparse = 2
    nse = property(lambda self: self.indices.shape[-1], doc="The number of stored elements, padding included.")
    n_batch = property(lambda self: self.indices.ndim - 1)
    n_dense = property(lambda self: self.data.ndim - self.indices.ndim)
    _info = property(lambda self: SparseInfo(self.shape, self.indices_sorted, self.unique_indices))
    _bufs = property(lambda self: (self.data, self.indices, self.indptr))

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        self.shape = tuple(operator.index(n) for n in shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        self._check()

    def _check(self):
        if any(not jnp.issubdtype(x.dtype, jnp.integer) for x in (self.indices, self.indptr)):
            raise ValueError(f"indices of a BCSR are integers; got {self.indices.dtype} and {self.indptr.dtype}")
        n, shape = self.n_batch, self.shape
        n_dense = len(shape) - n - 2
        for what, buffer in (("indices", self.indices), ("indptr", self.indptr), ("data", self.data)):
            batch = buffer.shape[:n]
            if len(batch) != n or len(shape) < n or any(a not in (1, b) for a, b in zip(batch, shape)):
                raise ValueError(f"{what} batch dimensions not compatible for {what}.shape={buffer.shape}, {shape=}")
        if n_dense < 0 or self.data.shape[n:] != (self.nse, *shape[n + 2 :]):
            raise ValueError(f"Invalid data.shape={self.data.shape} for nse={self.nse}, n_batch={n}, {n_dense=}")
        if self.indptr.shape[n:] != (shape[n] + 1,):
            raise ValueError("indptr shape must match the matrix shape plus 1.")

    def tree_flatten(self):
        return (self.data, self.indices, self.indptr), Known(self._info._asdict())

    @classmethod
    def tree_unflatten(cls, aux, children):
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
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
    ) -> "BCSR":
        """The nonzero elements of a dense array; see `bcsr_fromdense`."""
        return bcsr_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> Self:
        """The elements of a BCOO with two sparse axes, in order of their rows."""
        if arr.n_sparse != 2:
            raise NotImplementedError(f"BSCR.from_bcoo requires n_sparse=2; got arr.n_sparse={arr.n_sparse}")
        arr = arr if arr.indices_sorted else arr.sort_indices()
        data, indices = broadcast_batch(arr)
        edges = jnp.arange(arr.shape[arr.n_batch] + 1, dtype=indices.dtype)
        starts = nfold_vmap(lambda rows: jnp.searchsorted(rows, edges).astype(rows.dtype), arr.n_batch)
        info = {"indices_sorted": True, "unique_indices": arr.unique_indices}
        return cls((data, indices[..., 1], starts(indices[..., 0])), shape=arr.shape, **info)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0
    ) -> Self:
        """A matrix of scipy.sparse; it has sparse axes only."""
        if n_dense or n_batch:
            raise NotImplementedError("BCSR from_scipy_sparse with nonzero n_dense/n_batch.")
        mat, dtype = mat.tocsr(), index_dtype or np.int32
        return cls((mat.data, mat.indices.astype(dtype), mat.indptr.astype(dtype)), shape=mat.shape)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        if len(shape) - n_dense - n_batch != 2:
            raise ValueError("BCSR sparse.empty: must have 2 sparse dimensions.")
        return cls.from_bcoo(
            BCOO._empty(shape, dtype=dtype, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch, nse=nse)
        )

    def to_bcoo(self) -> BCOO:
        """The array as coordinates."""

        def rows(indptr):
            position = jnp.arange(self.nse)
            return jnp.searchsorted(indptr, position, side="right").astype(indptr.dtype) - 1

        row = nfold_vmap(rows, self.n_batch)(self.indptr)
        position = jnp.arange(self.nse).reshape((1,) * self.n_batch + (self.nse,))
        row = jnp.where(position < self.indptr[..., -1:], row, self.shape[self.n_batch])
        row = jnp.broadcast_to(row, self.indices.shape).astype(self.indices.dtype)
        return BCOO((self.data, jnp.stack([row, self.indices], -1)), **self._info._asdict())

    def __getitem__(self, key):
        selected = self.to_bcoo()[key]
        return type(self).from_bcoo(selected) if selected.n_sparse == 2 else selected

    def todense(self) -> Array:
        """The dense array."""
        return bcsr_todense(self)

    def transpose(self, axes: Sequence[int] | None = None) -> "BCSR":
        """The array with its axes permuted, in compressed rows; the axes are reversed without `axes`."""
        return BCSR.from_bcoo(self.to_bcoo().transpose(axes))

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> "BCSR":
        """The array with one element for each coordinate."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse=nse, remove_zeros=remove_zeros))

    def astype(self, *args, **kwargs):
        """The array with its data converted."""
        return self._with(self.data.astype(*args, **kwargs))

    def _with(self, data):
        return BCSR((data, self.indices, self.indptr), **self._info._asdict())

    def sum(self, axis=None):
        """Sums over axes: a dense scalar over all, else a BCOO."""
        return self.to_bcoo().sum(axis)

    def __pos__(self):
        return self

    def __neg__(self):
        return self._with(-self.data)

    def __mul__(self, other):
        """The product with a sparse array, a BCOO, or with a dense one that is broadcast to this shape."""
        product = self.to_bcoo() * other
        return product if isinstance(other, JAXSparse) else self._with(product.data)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._with((self.to_bcoo() / other).data)

    def __add__(self, other):
        total = self.to_bcoo() + other
        return BCSR.from_bcoo(total) if isinstance(total, BCOO) else total

    __radd__ = __add__

    def __sub__(self, other):
        total = self.to_bcoo() - other
        return BCSR.from_bcoo(total) if isinstance(total, BCOO) else total

    def __matmul__(self, other):
        product = self.to_bcoo() @ other
        return BCSR.from_bcoo(product) if isinstance(product, BCOO) and product.n_sparse == 2 else product

    def __rmatmul__(self, other):
        return other @ self.to_bcoo()


register_vmappable(BCSR, int, int, example_of, examples_of, None)


def bcsr_fromdense(
    mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = np.int32
) -> BCSR:
    """Returns the nonzero elements of a dense array.

    Args:
      mat: an array.
      nse: how many elements there is room for, in each example of the batch; default None, as many as there are.
        Needed under `jit`.
      n_batch: the number of leading batch axes; default 0.
      n_dense: the number of trailing dense axes; default 0.
      index_dtype: the dtype of the indices; default int32.

    Returns:
      A BCSR.

    Raises:
      ValueError: the number of sparse axes is not 2.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcsr_fromdense(jnp.array([[0.0, 5.0], [0.0, 0.0]]))
      BCSR(float32[2, 2], nse=1)
    """
    mat = jnp.asarray(mat)
    if mat.ndim - n_batch - n_dense != 2:
        raise ValueError("bcsr_fromdense: must have 2 sparse dimensions.")
    return BCSR.from_bcoo(BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch))


def bcsr_todense(mat: BCSR) -> Array:
    """Returns the dense array.

    Args:
      mat: a BCSR.

    Returns:
      Array.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcsr_todense(sparse.bcsr_fromdense(jnp.array([[0.0, 5.0]])))
      Array([[0., 5.]], dtype=float32)
    """
    return mat.to_bcoo().todense()


def bcsr_extract(indices: Array, indptr: Array, mat: Array) -> Array:
    """Returns the elements of a dense array at compressed indices.

    Args:
      indices: columns, (batch..., nse).
      indptr: starts of rows, (batch..., rows + 1).
      mat: an array, (batch..., rows, columns, dense...).

    Returns:
      Array of shape (batch..., nse, dense...).

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.bcsr_extract(jnp.array([1]), jnp.array([0, 1]), jnp.array([[3.0, 5.0]]))
      Array([5.], dtype=float32)
    """
    n, mat = indices.ndim - 1, jnp.asarray(mat)
    data = jnp.zeros((*mat.shape[:n], indices.shape[-1], *mat.shape[n + 2 :]), mat.dtype)
    like = BCSR((data, indices, indptr), shape=mat.shape)
    return _bcoo.bcoo_extract(like.to_bcoo(), mat, assume_unique=True).data


def bcsr_eliminate_zeros(mat: BCSR, nse: int | None = None) -> BCSR:
    """Returns the array without elements that are zero.

    Args:
      mat: a BCSR.
      nse: how many elements there is room for; default None, as many as there are.  Needed under `jit`.

    Returns:
      A BCSR.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCSR((jnp.array([5.0, 0.0]), jnp.array([0, 1]), jnp.array([0, 2])), shape=(1, 2))
      >>> sparse.bcsr.bcsr_eliminate_zeros(mat).data
      Array([5.], dtype=float32)
    """
    return BCSR.from_bcoo(_bcoo.bcoo_eliminate_zeros(mat.to_bcoo(), nse=nse))


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """Returns the array with one element for each coordinate.

    Args:
      mat: a BCSR.
      nse: how many elements there is room for, in each example of the batch; default None, as many as there are.
        Needed under `jit`.

    Returns:
      A BCSR.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCSR((jnp.array([5.0, 6.0]), jnp.array([1, 1]), jnp.array([0, 2])), shape=(1, 2))
      >>> sparse.bcsr_sum_duplicates(mat).data
      Array([11.], dtype=float32)
    """
    return mat.sum_duplicates(nse=nse, remove_zeros=False)


def bcsr_dot_general(
    lhs: BCSR | Array,
    rhs: BCSR | Array,
    *,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Any:
    """Returns the product of a sparse array and a dense one.

    Args:
      lhs: a BCSR.
      rhs: an array.
      dimension_numbers: as in `lax.dot_general`.
      precision: accepted, without effect: products are computed in the precision of the operands.
      preferred_element_type: the dtype of the result; default None, the common one.
      out_sharding: None.

    Returns:
      Array.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcsr_fromdense(jnp.array([[0.0, 5.0]]))
      >>> sparse.bcsr_dot_general(mat, jnp.array([1.0, 2.0]), dimension_numbers=(((1,), (0,)), ((), ())))
      Array([10.], dtype=float32)
    """
    left, right = (x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs))
    return _bcoo.bcoo_dot_general(
        left, right, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type
    )


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: None = None
) -> BCSR:
    """Returns the array repeated along new axes, as `lax.broadcast_in_dim` does.

    Args:
      mat: a BCSR.
      shape: the shape of the result.
      broadcast_dimensions: where its axes lie in the result, ints.
      sharding: None.

    Returns:
      A BCSR.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcsr_fromdense(jnp.ones((2, 3)))
      >>> sparse.bcsr_broadcast_in_dim(mat, shape=(1, 2, 3), broadcast_dimensions=(1, 2)).shape
      (1, 2, 3)
    """
    return BCSR.from_bcoo(
        _bcoo.bcoo_broadcast_in_dim(mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions)
    )


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """Returns arrays one after the other.

    Args:
      operands: BCSRs of one layout.
      dimension: a batch axis or a sparse axis.

    Returns:
      A BCSR.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.bcsr_fromdense(jnp.array([[0.0, 5.0]]))
      >>> sparse.bcsr_concatenate([mat, mat], dimension=0).shape
      (2, 2)
    """
    return BCSR.from_bcoo(_bcoo.bcoo_concatenate([x.to_bcoo() for x in operands], dimension=dimension))


__all__ = [
    "BCSR",
    "BCSRProperties",
    "DotDimensionNumbers",
    "Shape",
    "bcsr_broadcast_in_dim",
    "bcsr_concatenate",
    "bcsr_dot_general",
    "bcsr_eliminate_zeros",
    "bcsr_extract",
    "bcsr_fromdense",
    "bcsr_sum_duplicates",
    "bcsr_todense",
]

_wrap_api_functions(globals(), __name__)
