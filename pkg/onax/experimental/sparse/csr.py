"""Sparse matrices in compressed rows or columns: CSR and CSC."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trees import register_pytree_node_class
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.experimental.sparse._base import JAXSparse, Known, vector_or_matrix
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.bcsr import BCSR
from onax.experimental.sparse.util import Shape


class _Compressed(JAXSparse):
    """What both formats have in common: values, indices along one axis, starts along the other."""

    from_bcoo: ClassVar[Any]  # each format has them
    to_bcoo: Callable[[], BCOO]
    _bufs = property(lambda self: (self.data, self.indices, self.indptr))

    def __init__(self, args, *, shape):
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        self.shape = tuple(shape)

    def tree_flatten(self):
        return (self.data, self.indices, self.indptr), Known(shape=self.shape)

    @classmethod
    def tree_unflatten(cls, aux, children):
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
        self.shape = aux["shape"]
        return self

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(shape) != 2:
            raise ValueError(f"{cls.__name__} must have ndim=2; got {shape=}")
        return cls.from_bcoo(BCOO._empty(shape, dtype=dtype, index_dtype=index_dtype))

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        return cls.from_bcoo(BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype))

    def todense(self) -> Array:
        """The dense matrix."""
        return self.to_bcoo().todense()

    def __neg__(self):
        return type(self)((-self.data, self.indices, self.indptr), shape=self.shape)

    def __matmul__(self, other):
        if isinstance(other, JAXSparse):
            raise NotImplementedError("matmul between two sparse objects.")
        return self.to_bcoo() @ vector_or_matrix(other)


@register_pytree_node_class
class CSR(_Compressed):
    """A sparse matrix in compressed rows.

    Args:
      args: (data, indices, indptr): values and columns (nse,), starts of the rows (rows + 1,).
      shape: the shape of the matrix.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.CSR((jnp.array([5.0]), jnp.array([1]), jnp.array([0, 1, 1])), shape=(2, 2)).todense()
      Array([[0., 5.],
             [0., 0.]], dtype=float32)
    """

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> Self:
        """The nonzero elements of a dense matrix; `nse` says how many there are room for, which jit needs."""
        rows = BCSR.fromdense(mat, nse=nse, index_dtype=index_dtype)
        columns = jnp.where(jnp.arange(rows.nse) < rows.indptr[-1], rows.indices, 0)  # padding is in column 0
        return cls((rows.data, columns, rows.indptr), shape=rows.shape)

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> Self:
        """The elements of a matrix in BCOO."""
        rows = BCSR.from_bcoo(mat)
        return cls((rows.data, rows.indices, rows.indptr), shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        """The matrix as a BCOO."""
        return BCSR((self.data, self.indices, self.indptr), shape=self.shape).to_bcoo()

    def transpose(self, axes: Sequence[int] | None = None) -> "CSC":
        """The transpose, in compressed columns."""
        if axes is not None:
            raise NotImplementedError("axes argument to transpose()")
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@register_pytree_node_class
class CSC(_Compressed):
    """A sparse matrix in compressed columns.

    Args:
      args: (data, indices, indptr): values and rows (nse,), starts of the columns (columns + 1,).
      shape: the shape of the matrix.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.CSC((jnp.array([5.0]), jnp.array([1]), jnp.array([0, 1, 1])), shape=(2, 2)).todense()
      Array([[0., 0.],
             [5., 0.]], dtype=float32)
    """

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> "CSC":
        """The nonzero elements of a dense matrix, the first columns first where there is no room for all."""
        return CSR.fromdense(jnp.asarray(mat).T, nse=nse, index_dtype=index_dtype).T

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> Self:
        """The elements of a matrix in BCOO."""
        columns = BCSR.from_bcoo(mat.T)
        return cls((columns.data, columns.indices, columns.indptr), shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        """The matrix as a BCOO."""
        return BCSR((self.data, self.indices, self.indptr), shape=self.shape[::-1]).to_bcoo().T

    def transpose(self, axes: Sequence[int] | None = None) -> "CSR":
        """The transpose, in compressed rows."""
        if axes is not None:
            raise NotImplementedError("axes argument to transpose()")
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


def csr_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> CSR:
    """Returns the nonzero elements of a dense matrix.

    Args:
      mat: a matrix.
      nse: how many elements there is room for, in each example of the batch; default None, as many as there are.
        Needed under `jit`.
      index_dtype: the dtype of the indices; default int32.

    Returns:
      A CSR.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.csr_fromdense(jnp.eye(2))
      CSR(float32[2, 2], nse=2)
    """
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_todense(mat: CSR) -> Array:
    """Returns the dense matrix.

    Args:
      mat: a CSR.

    Returns:
      A matrix.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.csr_todense(sparse.csr_fromdense(jnp.eye(2)))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return mat.todense()


def csr_matvec(mat: CSR, v: ArrayLike, transpose: bool = False) -> Array:
    """Returns the product of the matrix with a vector.

    Args:
      mat: a CSR.
      v: a vector.
      transpose: True: of the transposed matrix; default False.

    Returns:
      A vector.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.csr_matvec(sparse.csr_fromdense(jnp.eye(2)), jnp.array([1.0, 2.0]))
      Array([1., 2.], dtype=float32)
    """
    return (mat.T if transpose else mat) @ v


def csr_matmat(mat: CSR, B: ArrayLike, *, transpose: bool = False) -> Array:
    """Returns the product of the matrix with a dense matrix.

    Args:
      mat: a CSR.
      B: a matrix.
      transpose: True: of the transposed matrix; default False.

    Returns:
      A matrix.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.csr_matmat(sparse.csr_fromdense(jnp.eye(2)), jnp.ones((2, 1)))
      Array([[1.],
             [1.]], dtype=float32)
    """
    return (mat.T if transpose else mat) @ B


__all__ = ["CSC", "CSR", "Shape", "csr_fromdense", "csr_matmat", "csr_matvec", "csr_todense"]

_wrap_api_functions(globals(), __name__)
