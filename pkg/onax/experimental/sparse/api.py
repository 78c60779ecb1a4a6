"""Functions for every sparse format: empty, eye, todense."""

import operator
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.rules import deflinear
from onax._core.trace import Tracer, valid_jaxtype
from onax._ground.typing import DTypeLike
from onax._native.array import Array
from onax._native.dispatch import Primitive
from onax._native.tree import tree_leaves, tree_structure
from onax.experimental.sparse._base import JAXSparse
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.bcsr import BCSR
from onax.experimental.sparse.coo import COO
from onax.experimental.sparse.csr import CSC, CSR
from onax.export.lower import registry

_FORMATS = {"bcsr": BCSR, "bcoo": BCOO, "coo": COO, "csr": CSR, "csc": CSC}


class _ToDense(Primitive):
    """The identity of a dense array, which `sparsify` reads as the wish for one.

    For the buffers of a sparse array, whose structure is `tree`, binding it computes the dense array.
    """

    def bind(self, *buffers, tree):
        if tree.num_leaves == 1:
            return super().bind(*buffers, tree=tree)
        return tree.unflatten(buffers).todense()


todense_p: Primitive = _ToDense(
    "todense",
    kernel=lambda x, *, tree: x,
    abstract_eval=lambda x, *, tree: x,
    batch=lambda axis_data, operands, dims, *, tree: (todense_p.bind(*operands, tree=tree), dims[0]),
)
deflinear(todense_p, lambda ct, x, *, tree: [ct])
registry.redefine(todense_p, lambda x, *, tree: x)

_Format: TypeAlias = Literal["bcoo", "bcsr", "coo", "csr", "csc"]


def todense(arr: JAXSparse | Array) -> Array:
    """Returns the dense array; a dense one is returned as it is.

    Within `sparsify` it makes an operand dense.

    Args:
      arr: a sparse or a dense array.

    Returns:
      Array.

    Raises:
      TypeError: `arr` is no array.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.todense(sparse.BCOO.fromdense(jnp.eye(2)))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    if isinstance(arr, JAXSparse):
        return arr.todense()
    if isinstance(arr, Tracer):
        return todense_p.bind(arr, tree=tree_structure(arr))
    if not all(map(valid_jaxtype, tree_leaves(arr))):
        raise TypeError(
            "Error interpreting argument to todense as a JAX value. The problematic value is of type "
            f"{type(arr)} and was passed to todense at position 0."
        )
    return arr


def _find_format(name):
    if name not in _FORMATS:
        raise ValueError(f"sparse_format={name!r} not recognized; must be one of {list(_FORMATS)}")
    return _FORMATS[name]


def empty(
    shape: Sequence[int],
    dtype: DTypeLike | None = None,
    index_dtype: DTypeLike = "int32",
    sparse_format: _Format = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """Returns a sparse array without elements.

    Args:
      shape: the shape.
      dtype: the dtype; default None, float32, with 64 bits enabled float64.
      index_dtype: the dtype of the indices; default int32.
      sparse_format: "bcoo" (the default), "bcsr", "coo", "csr" or "csc".
      kwds: arguments of the format: n_batch, n_dense, nse.

    Returns:
      A sparse array.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.empty((2, 3))
      BCOO(float32[2, 3], nse=0)
    """
    return _find_format(sparse_format)._empty(tuple(shape), dtype=dtype, index_dtype=index_dtype, **kwds)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    index_dtype: DTypeLike = "int32",
    sparse_format: _Format = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """Returns a sparse matrix with ones on a diagonal.

    Args:
      N: the number of rows.
      M: the number of columns; default None, N.
      k: the number of the diagonal; default 0.
      dtype: the dtype; default None, float32, with 64 bits enabled float64.
      index_dtype: the dtype of the indices; default int32.
      sparse_format: "bcoo" (the default), "bcsr", "coo", "csr" or "csc".
      kwds: arguments of the format: n_batch, n_dense, nse.

    Returns:
      A sparse array.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.eye(2).todense()
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    N, k = operator.index(N), operator.index(k)
    M = N if M is None else operator.index(M)
    if sparse_format == "bcsr":
        return BCSR.from_bcoo(BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype, **kwds))
    return _find_format(sparse_format)._eye(N, M, k, dtype=dtype, index_dtype=index_dtype, **kwds)


__all__ = ["empty", "eye", "todense", "todense_p"]

_wrap_api_functions(globals(), __name__)
