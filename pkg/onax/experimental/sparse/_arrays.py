"""The classes of sparse arrays and functions of them.

Data and indices are ordinary arrays, so that transformations and exports see gathers and scatters.  An element whose
index is out of bounds is padding: it is no part of the array.
"""

import math
import operator

import numpy as np

from onax import numpy as jnp
from onax._core.trees import register_pytree_node_class

_NO_BATCH = (
    "only arrays all of whose axes are sparse are there; give n_batch=0 and n_dense=0, and map over batches with vmap"
)


class JAXSparse:
    """What sparse arrays have in common: a shape and what follows from it."""

    data = None
    shape = ()
    __array_priority__ = 100  # NumPy leaves operators to us
    __hash__ = None  # type: ignore[assignment]

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    dtype = property(lambda self: self.data.dtype)
    nse = property(lambda self: self.data.shape[-1], doc="The number of stored elements, padding included.")
    T = property(lambda self: self.transpose())

    def __repr__(self):
        return f"{type(self).__name__}({self.dtype}{list(self.shape)}, nse={self.nse})"

    def __len__(self):
        return self.shape[0]

    def block_until_ready(self):
        """Itself, once its arrays are computed."""
        self.data.block_until_ready()
        return self


@register_pytree_node_class
class BCOO(JAXSparse):
    """A sparse array as values and their coordinates.

    Args:
      args: (data, indices): values of shape (nse,) and integer coordinates of shape (nse, ndim).
      shape: the shape of the array.
      indices_sorted, unique_indices: what the caller knows of the indices.
    """

    n_batch = n_dense = 0
    n_sparse = property(lambda self: self.ndim)

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices = map(jnp.asarray, args)
        self.shape = tuple(shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        if self.indices.ndim != 2 or self.data.shape != self.indices.shape[:1] or self.indices.shape[1] != self.ndim:
            raise ValueError(
                f"BCOO of shape {self.shape} with data of shape {self.data.shape} and indices of shape "
                f"{self.indices.shape}: {_NO_BATCH}"
            )

    def tree_flatten(self):
        return (self.data, self.indices), (self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def tree_unflatten(cls, aux, children):
        self = object.__new__(cls)  # leaves may be anything while trees are handled
        self.data, self.indices = children
        self.shape, self.indices_sorted, self.unique_indices = aux
        return self

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32, n_dense=0, n_batch=0):
        """The nonzero elements of a dense array; `nse` says how many there are room for, which jit needs."""
        if n_dense or n_batch:
            raise NotImplementedError(_NO_BATCH)
        mat = jnp.asarray(mat)
        nse = int(jnp.count_nonzero(mat)) if nse is None else operator.index(nse)
        found = jnp.nonzero(mat, size=nse, fill_value=mat.shape) if mat.ndim else ()
        indices = jnp.stack(found, -1).astype(index_dtype) if mat.ndim else jnp.zeros((nse, 0), index_dtype)
        data = mat.at[found].get(mode="fill", fill_value=0) if mat.ndim else jnp.full(nse, mat)
        return cls((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype=None, n_dense=0, n_batch=0):
        """A matrix of scipy.sparse."""
        if n_dense or n_batch:
            raise NotImplementedError(_NO_BATCH)
        mat = mat.tocoo()
        indices = np.stack([mat.row, mat.col], -1).astype(index_dtype or np.int32)
        return cls((mat.data, indices), shape=mat.shape)

    def _with(self, data, **known):
        return BCOO((data, self.indices), shape=self.shape, **({**self._known(), **known}))

    def _known(self):
        return {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}

    def _columns(self):
        return tuple(self.indices[:, i] for i in range(self.ndim))

    def todense(self):
        """The dense array; elements with the same coordinates are added up."""
        if not self.ndim:
            return self.data.sum()
        zeros = jnp.zeros(self.shape, self.dtype)
        if self.dtype == bool:
            return zeros.at[self._columns()].max(self.data, mode="drop")
        return zeros.at[self._columns()].add(self.data, mode="drop")

    def astype(self, *args, **kwargs):
        """The array with its data converted."""
        return self._with(self.data.astype(*args, **kwargs))

    def transpose(self, axes=None):
        """The array with its axes permuted, reversed without `axes`."""
        axes = tuple(reversed(range(self.ndim))) if axes is None else tuple(axes)
        shape = tuple(self.shape[i] for i in axes)
        return BCOO((self.data, self.indices[:, np.array(axes, int)]), shape=shape, unique_indices=self.unique_indices)

    def reshape(self, *shape):
        """The array in another shape with as many elements."""
        shape = shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape
        if -1 in shape:
            shape = tuple(self.size // -math.prod(shape) if n == -1 else n for n in shape)
        flat = jnp.ravel_multi_index(self._columns(), self.shape, mode="clip")
        inside = jnp.all(self.indices < jnp.array(self.shape), axis=1)
        columns = jnp.stack(jnp.unravel_index(flat, shape), -1).astype(self.indices.dtype)
        indices = jnp.where(inside[:, None], columns, jnp.array(shape, columns.dtype))
        return BCOO((self.data, indices), shape=shape, **self._known())

    def sort_indices(self):
        """The array with its elements in order of their coordinates."""
        order = jnp.lexsort(self._columns()[::-1])
        return BCOO((self.data[order], self.indices[order]), shape=self.shape,
                    indices_sorted=True, unique_indices=self.unique_indices)  # fmt: skip

    def sum_duplicates(self, nse=None, remove_zeros=True):
        """The array with one element for each coordinate; `nse` says how many there are room for, which jit needs."""
        inside = jnp.all(self.indices < jnp.array(self.shape), axis=1)
        if remove_zeros:
            inside &= self.data != 0
        bound = jnp.array(self.shape, self.indices.dtype)
        indices = jnp.where(inside[:, None], self.indices, bound)
        if nse is None:
            distinct = np.unique(np.asarray(indices), axis=0)
            nse = int(np.all(distinct < np.array(self.shape), axis=1).sum())
        kept, where = jnp.unique(indices, axis=0, size=nse + 1, fill_value=bound, return_inverse=True)
        data = jnp.zeros(nse, self.dtype).at[where.reshape(-1)].add(jnp.where(inside, self.data, 0), mode="drop")
        return BCOO((data, kept[:nse]), shape=self.shape, indices_sorted=True, unique_indices=True)

    def sum(self, axis=None):
        """Sums over axes: a dense scalar over all, else a sparse array."""
        if axis is None:
            return bcoo_reduce_sum(self, axes=tuple(range(self.ndim))).todense()
        return bcoo_reduce_sum(self, axes=(axis,) if np.isscalar(axis) else tuple(axis))

    def __neg__(self):
        return self._with(-self.data)

    def __mul__(self, other):
        """A scalar, or a dense array that is broadcast to this shape."""
        if isinstance(other, JAXSparse):
            return _refuse_two(self, other)
        other = jnp.asarray(other)
        if other.ndim == 0:
            return self._with(self.data * other)
        factors = jnp.broadcast_to(other, self.shape).at[self._columns()].get(mode="fill", fill_value=0)
        return self._with(self.data * factors)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, JAXSparse):
            return _refuse_two(self, other)
        return self * (1 / jnp.asarray(other, self.dtype if jnp.ndim(other) == 0 else None))

    def __add__(self, other):
        if not isinstance(other, BCOO) or other.shape != self.shape:
            raise NotImplementedError("addition is there for two BCOO of one shape; use todense()")
        return BCOO((jnp.concatenate([self.data, other.data]), jnp.concatenate([self.indices, other.indices])),
                    shape=self.shape)  # fmt: skip

    def __sub__(self, other):
        return self + (-other)

    def __matmul__(self, other):
        if isinstance(other, JAXSparse):
            return _refuse_two(self, other)
        other = jnp.asarray(other)
        if self.ndim != 2 or other.ndim not in (1, 2) or other.shape[0] != self.shape[1]:
            raise TypeError(f"matmul of a sparse array of shape {self.shape} with a dense one of shape {other.shape}")
        row, column = self._columns()
        operand = other.at[column].get(mode="fill", fill_value=0)
        terms = self.data.reshape(-1, *(1,) * (other.ndim - 1)) * operand
        return jnp.zeros((self.shape[0], *other.shape[1:]), terms.dtype).at[row].add(terms, mode="drop")

    def __rmatmul__(self, other):
        other = jnp.asarray(other)
        return (self.T @ other) if other.ndim == 1 else (self.T @ other.T).T


def _refuse_two(*arrays):
    raise NotImplementedError(f"an operation of two sparse arrays, {arrays!r}; make one of them dense with todense()")


@register_pytree_node_class
class BCSR(JAXSparse):
    """A sparse matrix in compressed rows.

    Args:
      args: (data, indices, indptr): values and columns of shape (nse,), starts of the rows of shape (rows + 1,).
      shape: the shape of the matrix.
    """

    n_batch, n_sparse, n_dense = 0, 2, 0

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        self.shape = tuple(shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        if self.ndim != 2 or self.data.ndim != 1 or self.indptr.shape != (self.shape[0] + 1,):
            raise ValueError(f"BCSR of shape {self.shape} with indptr of shape {self.indptr.shape}: {_NO_BATCH}")

    def tree_flatten(self):
        return (self.data, self.indices, self.indptr), (self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def tree_unflatten(cls, aux, children):
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
        self.shape, self.indices_sorted, self.unique_indices = aux
        return self

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32, n_dense=0, n_batch=0):
        """The nonzero elements of a dense matrix."""
        return cls.from_bcoo(BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch))

    @classmethod
    def from_bcoo(cls, mat):
        """The elements of a BCOO, in order of their rows."""
        mat = mat if mat.indices_sorted else mat.sort_indices()
        row, column = mat.indices[:, 0], mat.indices[:, 1]
        indptr = jnp.searchsorted(row, jnp.arange(mat.shape[0] + 1)).astype(mat.indices.dtype)
        return cls((mat.data, column, indptr), shape=mat.shape, indices_sorted=True, unique_indices=mat.unique_indices)

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype=None, n_dense=0, n_batch=0):
        """A matrix of scipy.sparse."""
        if n_dense or n_batch:
            raise NotImplementedError(_NO_BATCH)
        mat = mat.tocsr()
        index_dtype = index_dtype or np.int32
        return cls((mat.data, mat.indices.astype(index_dtype), mat.indptr.astype(index_dtype)), shape=mat.shape)

    def to_bcoo(self):
        """The matrix as coordinates."""
        position = jnp.arange(self.nse)
        row = jnp.searchsorted(self.indptr, position, side="right").astype(self.indices.dtype) - 1
        return BCOO((self.data, jnp.stack([row, self.indices], -1)), shape=self.shape)

    def todense(self):
        """The dense matrix."""
        return self.to_bcoo().todense()

    def transpose(self, axes=None):
        """The transpose, in compressed rows."""
        return BCSR.from_bcoo(self.to_bcoo().transpose(axes))

    def __matmul__(self, other):
        return self.to_bcoo() @ other

    def __rmatmul__(self, other):
        return other @ self.to_bcoo()


def bcoo_fromdense(mat, *, nse=None, n_batch=0, n_dense=0, index_dtype=np.int32):
    """The nonzero elements of a dense array."""
    return BCOO.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcoo_todense(mat):
    """The dense array."""
    return mat.todense()


def bcoo_sum_duplicates(mat, nse=None):
    """The array with one element for each coordinate."""
    return mat.sum_duplicates(nse=nse, remove_zeros=False)


def bcoo_sort_indices(mat):
    """The array with its elements in order of their coordinates."""
    return mat.sort_indices()


def bcoo_transpose(mat, *, permutation):
    """The array with its axes permuted."""
    return mat.transpose(permutation)


def bcoo_reshape(mat, *, new_sizes):
    """The array in another shape."""
    return mat.reshape(tuple(new_sizes))


def bcoo_reduce_sum(mat, *, axes):
    """Sums over axes, as a sparse array in which coordinates may occur several times."""
    axes = {operator.index(axis) % mat.ndim for axis in axes}
    kept = [i for i in range(mat.ndim) if i not in axes]
    inside = jnp.all(mat.indices < jnp.array(mat.shape), axis=1)
    data = jnp.where(inside, mat.data, 0)
    return BCOO((data, mat.indices[:, np.array(kept, int)]), shape=tuple(mat.shape[i] for i in kept))


def sparsify(f, use_tracer=False):
    """`f` itself for dense arguments.  Raises NotImplementedError for sparse ones: there are no rules."""

    def wrapped(*args, **kwargs):
        for arg in (*args, *kwargs.values()):
            if isinstance(arg, JAXSparse):
                raise NotImplementedError(
                    f"sparsify: operations have no rules for {arg!r}; use its methods or todense()"
                )
        return f(*args, **kwargs)

    return wrapped
