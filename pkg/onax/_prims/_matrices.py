"""Operations on the matrices in the last two axes of an array, built from primitives so that rules can be staged."""

import numpy as np

from onax._ground import dtypes
from onax._prims.convert import convert
from onax._prims.creation import broadcasted_iota, full_like
from onax._prims.dot import Precision, dot_general_p
from onax._prims.elementwise import add, conj, div, eq, ge, select
from onax._prims.elementwise_rows import const
from onax._prims.shaping import broadcast_in_dim, reduce_sum, transpose

_INDEX = np.dtype(np.int32)


def lower_triangle_mask(rows, columns, k):
    """A bool matrix (rows, columns) that is true on and below the k-th diagonal."""
    i = broadcasted_iota(_INDEX, (rows, columns), 0)
    return ge(add(i, _INDEX.type(k)), broadcasted_iota(_INDEX, (rows, columns), 1))


def _mask_triangle(x, k, keep_lower):
    rank = len(x.shape)
    mask = lower_triangle_mask(*x.shape[-2:], k if keep_lower else k - 1)
    if rank > 2:
        mask = broadcast_in_dim(mask, x.shape, (rank - 2, rank - 1))
    zeros = full_like(x, 0)
    return select(mask, x, zeros) if keep_lower else select(mask, zeros, x)


def tril(x, k=0):
    """x with zeros above the k-th diagonal."""
    return _mask_triangle(x, k, True)


def triu(x, k=0):
    """x with zeros below the k-th diagonal."""
    return _mask_triangle(x, k, False)


def eye(n, dtype):
    """The identity matrix."""
    i = add(broadcasted_iota(_INDEX, (n, n), 0), _INDEX.type(0))
    return convert(eq(i, broadcasted_iota(_INDEX, (n, n), 1)), dtype)


def batched_eye(shape, dtype):
    """The identity matrix broadcast to a shape (..., n, n)."""
    unit = eye(shape[-1], dtype)
    rank = len(shape)
    return unit if rank == 2 else broadcast_in_dim(unit, shape, (rank - 2, rank - 1))


def matmul(x, y, precision=Precision.HIGHEST, preferred_element_type=None):
    """Matrix products over the last two axes; both operands have the same rank and batch axes."""
    rank = len(x.shape)
    batch = tuple(range(rank - 2))
    return dot_general_p.bind(
        x,
        y,
        dimension_numbers=(((rank - 1,), (rank - 2,)), (batch, batch)),
        precision=None if precision is None else (precision, precision),
        preferred_element_type=preferred_element_type,
        out_sharding=None,
    )


def matrix_transpose(x):
    """x with its last two axes transposed."""
    rank = len(x.shape)
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def adjoint(x):
    """The conjugate transpose; of real numbers the transpose."""
    x = matrix_transpose(x)
    return conj(x) if x.dtype.kind == "c" else x


def to_inexact(x):
    """x, with integers as floats of the default dtype."""
    return x if dtypes.is_inexact(x.dtype) else convert(x, dtypes.canonicalize_dtype(np.float64))


def check_symmetrizable(x, check):
    """Calls `check`; a TypeError of its says first what the sum of the matrix and its adjoint says in JAX."""
    try:
        check()
    except (TypeError, ValueError) as error:
        shape, rank = x.shape, len(x.shape)
        if rank < 2:
            permutation = (rank - 1, rank - 2)
            first = (
                "transpose permutation isn't a permutation of operand dimensions, got permutation "
                f"{permutation} for operand shape {shape}."
            )
        else:
            first = f"add got incompatible shapes for broadcasting: {shape}, {(*shape[:-2], shape[-1], shape[-2])}."
        raise TypeError(f"{first}\n{error}") from None


def symmetrize(x):
    """The mean of x and its adjoint, which is Hermitian."""
    return div(add(x, adjoint(x)), const(x, 2))


def diagonal(x):
    """The diagonals of square matrices."""
    rank = len(x.shape)
    n = x.shape[-1]
    mask = eq(broadcasted_iota(_INDEX, (n, n), 0), broadcasted_iota(_INDEX, (n, n), 1))
    if rank > 2:
        mask = broadcast_in_dim(mask, x.shape, (rank - 2, rank - 1))
    return reduce_sum(select(mask, x, full_like(x, 0)), (rank - 1,))


def as_columns(x):
    """Makes each vector in the last axis a matrix of one column."""
    return broadcast_in_dim(x, (*x.shape, 1), tuple(range(len(x.shape))))
