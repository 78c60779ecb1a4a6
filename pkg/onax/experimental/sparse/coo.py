"""Sparse matrices as values, rows and columns: COO."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trees import register_pytree_node_class
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.experimental.sparse._base import JAXSparse, Known, vector_or_matrix
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.util import Shape


class COOInfo(NamedTuple):
    """What is known of a COO beside its buffers.

    Args:
      shape: the shape.
      rows_sorted: whether elements are sorted by rows; default False.
      cols_sorted: whether elements are sorted by columns; default False.

    Examples:
      >>> onax.experimental.sparse.coo.COOInfo((2, 3)).shape
      (2, 3)
    """

    shape: Shape
    rows_sorted: bool = False
    cols_sorted: bool = False


@register_pytree_node_class
class COO(JAXSparse):
    """A sparse matrix as values, rows and columns.

    Args:
      args: (data, row, col), each (nse,).
      shape: the shape of the matrix.
      rows_sorted: whether the caller knows that elements are sorted by rows; default False.
      cols_sorted: whether the caller knows that elements are sorted by columns; default False.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.COO((jnp.array([5.0]), jnp.array([0]), jnp.array([1])), shape=(2, 2)).todense()
      Array([[0., 5.],
             [0., 0.]], dtype=float32)
    """

    n_batch, n_dense = 0, 0
    _bufs = property(lambda self: (self.data, self.row, self.col))
    _info = property(lambda self: COOInfo(self.shape, self._rows_sorted, self._cols_sorted))

    def __init__(self, args, *, shape, rows_sorted=False, cols_sorted=False):
        self.data, self.row, self.col = map(jnp.asarray, args)
        self.shape = tuple(shape)
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted

    def tree_flatten(self):
        return (self.data, self.row, self.col), Known(self._info._asdict())

    @classmethod
    def tree_unflatten(cls, aux, children):
        self = object.__new__(cls)
        self.data, self.row, self.col = children
        self.shape, self._rows_sorted, self._cols_sorted = aux.values()
        return self

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> "COO":
        """The nonzero elements of a dense matrix."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: DTypeLike | None = None) -> Self:
        """A matrix of scipy.sparse."""
        mat, dtype = mat.tocoo(), index_dtype or np.int32
        return cls((mat.data, mat.row.astype(dtype), mat.col.astype(dtype)), shape=mat.shape)

    @classmethod
    def _from_bcoo(cls, mat, **known):
        return cls((mat.data, mat.indices[:, 0], mat.indices[:, 1]), shape=mat.shape, **known)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(shape) != 2:
            raise ValueError(f"COO must have ndim=2; got {shape=}")
        empty = jnp.empty(0, index_dtype)
        return cls((jnp.empty(0, dtype), empty, empty), shape=shape, rows_sorted=True, cols_sorted=True)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        return cls._from_bcoo(
            BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype), rows_sorted=True, cols_sorted=True
        )

    def to_bcoo(self) -> BCOO:
        """The matrix as a BCOO."""
        return BCOO((self.data, jnp.stack([self.row, self.col], -1)), shape=self.shape)

    def _sort_indices(self):
        """The matrix with its elements in order of their rows, then columns."""
        return self if self._rows_sorted else COO._from_bcoo(self.to_bcoo().sort_indices(), rows_sorted=True)

    def todense(self) -> Array:
        """The dense matrix; elements with the same coordinates are added up."""
        return self.to_bcoo().todense()

    def transpose(self, axes: Sequence[int] | None = None) -> "COO":
        """The transpose."""
        if axes is not None and tuple(axes) != (1, 0):
            raise NotImplementedError("axes argument to transpose()")
        known = {"rows_sorted": self._cols_sorted, "cols_sorted": self._rows_sorted}
        return COO((self.data, self.col, self.row), shape=self.shape[::-1], **known)

    def __neg__(self):
        known = {"rows_sorted": self._rows_sorted, "cols_sorted": self._cols_sorted}
        return COO((-self.data, self.row, self.col), shape=self.shape, **known)

    def __matmul__(self, other):
        if isinstance(other, JAXSparse):
            raise NotImplementedError("matmul between two sparse objects.")
        return self.to_bcoo() @ vector_or_matrix(other)


def coo_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> COO:
    """Returns the nonzero elements of a dense matrix.

    Args:
      mat: a matrix.
      nse: how many elements there is room for, in each example of the batch; default None, as many as there are.
        Needed under `jit`.
      index_dtype: the dtype of the indices; default int32.

    Returns:
      A COO.

    Raises:
      ValueError: `mat` is no matrix.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.coo_fromdense(jnp.eye(2))
      COO(float32[2, 2], nse=2)
    """
    if jnp.ndim(mat) != 2:
        raise ValueError(f"coo_fromdense: expected a matrix, got shape {jnp.shape(mat)}")
    elements = BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype)
    inside = elements.indices < jnp.array([elements.shape], elements.indices.dtype)
    indices = jnp.where(inside, elements.indices, 0)  # padding is zeros at (0, 0)
    return COO._from_bcoo(BCOO((elements.data, indices), shape=elements.shape), rows_sorted=True)


def coo_todense(mat: COO) -> Array:
    """Returns the dense matrix.

    Args:
      mat: a COO.

    Returns:
      A matrix.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.coo_todense(sparse.coo_fromdense(jnp.eye(2)))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return mat.todense()


def coo_matvec(mat: COO, v: ArrayLike, transpose: bool = False) -> Array:
    """Returns the product of the matrix with a vector.

    Args:
      mat: a COO.
      v: a vector.
      transpose: True: of the transposed matrix; default False.

    Returns:
      A vector.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.coo_matvec(sparse.coo_fromdense(jnp.eye(2)), jnp.array([1.0, 2.0]))
      Array([1., 2.], dtype=float32)
    """
    return (mat.T if transpose else mat) @ v


def coo_matmat(mat: COO, B: ArrayLike, *, transpose: bool = False) -> Array:
    """Returns the product of the matrix with a dense matrix.

    Args:
      mat: a COO.
      B: a matrix.
      transpose: True: of the transposed matrix; default False.

    Returns:
      A matrix.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.coo_matmat(sparse.coo_fromdense(jnp.eye(2)), jnp.ones((2, 1)))
      Array([[1.],
             [1.]], dtype=float32)
    """
    return (mat.T if transpose else mat) @ B


__all__ = ["COO", "COOInfo", "Shape", "coo_fromdense", "coo_matmat", "coo_matvec", "coo_todense"]

_wrap_api_functions(globals(), __name__)
