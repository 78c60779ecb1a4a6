"""Implementation of onax.scipy.linalg: matrices of a special form."""

from __future__ import annotations

import math
import operator

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import static_argnames
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.numpy._promotion import check_arraylike, ensure_arraylikes, promote_dtypes, promote_dtypes_inexact


def _vectorize(name, function, *args):
    """Maps a function of vectors over leading axes."""
    args = check_arraylike(name, *args)
    signature = ",".join("(m)" if i == 0 else "(n)" for i in range(len(args)))
    lead = lax.broadcast_shapes(*(jnp.shape(a)[:-1] for a in args))
    if not lead:
        return function(*args)
    result = "(p,q)"
    return jnp.vectorize(function, signature=f"{signature}->{result}")(*args)


def _take_sums(vector, rows, columns):
    """The matrix with the element row + column of a vector; rows and columns are vectors of integers."""
    return vector.at[rows[:, None] + columns[None, :]].get(mode="promise_in_bounds")


def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Returns the matrix with constant diagonals.

    Args:
      c: the first column, (..., m).
      r: the first row, (..., n), whose first element does not count; default None, c's conjugate.

    Returns:
      Array of shape (..., m, n).

    Examples:
      >>> onax.scipy.linalg.toeplitz(jnp.array([1, 2, 3]))
      Array([[1, 2, 3],
             [2, 1, 2],
             [3, 2, 1]], dtype=int32)
    """
    if r is None:
        (c,) = check_arraylike("toeplitz", c)
        r = jnp.conjugate(jnp.asarray(c))
    else:
        c, r = check_arraylike("toeplitz", c, r)
    c, r = (jnp.atleast_1d(x) for x in promote_dtypes(c, r))

    def one(c, r):
        both = jnp.concatenate([jnp.flip(c), r[1:]])
        return _take_sums(both, jnp.flip(jnp.arange(c.shape[0])), jnp.arange(r.shape[0]))

    return _vectorize("toeplitz", one, *map(_drop_weak_type, (c, r)))


def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Returns the matrix with constant antidiagonals.

    Args:
      c: the first column, (..., m).
      r: the last row, (..., n), whose first element does not count; default None, zeros.

    Returns:
      Array of shape (..., m, n).

    Raises:
      ValueError: an argument is a scalar.

    Examples:
      >>> onax.scipy.linalg.hankel(jnp.array([1, 2, 3]))
      Array([[1, 2, 3],
             [2, 3, 0],
             [3, 0, 0]], dtype=int32)
    """
    (c,) = check_arraylike("hankel", c)
    r = jnp.zeros_like(c) if r is None else r
    c, r = promote_dtypes(*ensure_arraylikes("hankel", c, r))
    for name, x in (("c", c), ("r", r)):
        if x.ndim < 1:
            raise ValueError(f"hankel: {name} must be at least 1-dimensional, got a scalar.")

    def one(c, r):
        both = jnp.concatenate([c, r[1:]])
        return _take_sums(both, jnp.arange(c.shape[0]), jnp.arange(r.shape[0]))

    return _vectorize("hankel", one, *map(_drop_weak_type, (c, r)))


def _drop_weak_type(x):
    """x with a strong type."""
    return lax.convert_element_type(x, x.dtype)


def circulant(c: ArrayLike) -> Array:
    """Returns the matrix whose columns are one vector, each shifted cyclically by one more element.

    Args:
      c: the first column, (..., n).

    Returns:
      Array of shape (..., n, n).

    Examples:
      >>> onax.scipy.linalg.circulant(jnp.array([1, 2, 3]))
      Array([[1, 3, 2],
             [2, 1, 3],
             [3, 2, 1]], dtype=int32)
    """

    def one(c):
        rows = jnp.arange(c.shape[0])
        return _take_sums(jnp.concatenate([c[1:], c]), rows, jnp.flip(rows))

    return _vectorize("circulant", one, jnp.atleast_1d(*ensure_arraylikes("circulant", c)))


@static_argnames()
def block_diag(*arrs: ArrayLike) -> Array:
    """Returns the matrix with given blocks along its diagonal, zeros elsewhere.

    Args:
      arrs: matrices; vectors are rows, numbers 1 x 1.

    Returns:
      A matrix.

    Raises:
      ValueError: an array has more than 2 axes.

    Examples:
      >>> onax.scipy.linalg.block_diag(jnp.ones((2, 1)), 3.0)
      Array([[1., 0.],
             [1., 0.],
             [0., 3.]], dtype=float32)
    """
    blocks = promote_dtypes(*ensure_arraylikes("block_diag", *(arrs or (jnp.zeros((1, 0)),))))
    bad = [i for i, a in enumerate(blocks) if a.ndim > 2]
    if bad:
        raise ValueError(
            f"Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions, got {blocks[bad[0]]} at "
            f"argument {bad[0]}."
        )
    blocks = [lax.convert_element_type(jnp.atleast_2d(a), a.dtype) for a in blocks]
    columns = sum(a.shape[1] for a in blocks)
    rows, before = [], 0
    for a in blocks:
        after = columns - before - a.shape[1]
        rows.append(jnp.pad(a, ((0, 0), (before, after))))
        before += a.shape[1]
    return jnp.concatenate(rows)


def companion(a: ArrayLike) -> Array:
    """Returns the matrix whose characteristic polynomial has given coefficients.

    Args:
      a: the coefficients, (..., n + 1), the highest power first.

    Returns:
      Float array of shape (..., n, n).

    Raises:
      ValueError: the last axis is shorter than 2.

    Examples:
      >>> onax.scipy.linalg.companion(jnp.array([1.0, -3.0, 2.0]))
      Array([[ 3., -2.],
             [ 1.,  0.]], dtype=float32)
    """
    (a,) = promote_dtypes_inexact(*ensure_arraylikes("companion", a))
    if a.ndim < 1 or a.shape[-1] < 2:
        raise ValueError(f"The length of `a` along the last axis must be at least 2; got shape {a.shape}.")

    def one(a):
        n = a.shape[0] - 1
        return jnp.eye(n, k=-1, dtype=a.dtype).at[0].set(-a[1:] / a[0])

    return _vectorize("companion", one, a)


def fiedler(a: ArrayLike) -> Array:
    """Returns the matrix of distances |a[i] - a[j]|.

    Args:
      a: (..., n).

    Returns:
      Array of shape (..., n, n).

    Examples:
      >>> onax.scipy.linalg.fiedler(jnp.array([1, 3]))
      Array([[0, 2],
             [2, 0]], dtype=int32)
    """
    (a,) = ensure_arraylikes("fiedler", a)
    a = jnp.atleast_1d(a)
    return jnp.abs(a[..., :, None] - a[..., None, :])


def fiedler_companion(a: ArrayLike) -> Array:
    """Returns a pentadiagonal matrix whose characteristic polynomial has given coefficients.

    Args:
      a: the coefficients, (n + 1,), the highest power first.

    Returns:
      Float array of shape (n, n).

    Raises:
      ValueError: the last axis has length 0.

    Examples:
      >>> onax.scipy.linalg.fiedler_companion(jnp.array([1.0, -3.0, 2.0]))
      Array([[ 3., -2.],
             [ 1.,  0.]], dtype=float32)
    """
    (a,) = promote_dtypes_inexact(*ensure_arraylikes("fiedler_companion", a))
    a = jnp.atleast_1d(a)
    if not a.shape[-1]:
        raise ValueError(
            "fiedler_companion requires the last axis of 'a' to have nonzero length, but got an array of shape "
            f"{a.shape}."
        )
    return _vectorize("fiedler_companion", _fiedler_companion, a)


def _fiedler_companion(a):
    if dims.equal(a.shape[0], 1):
        return lax.full_like(a, 0, shape=(0, 0))
    a = a / a[0]
    n = a.shape[0] - 1
    if dims.equal(n, 1):  # weakly typed if a is, as for one number
        return -a[1:][None]
    row, column = (lax.broadcasted_iota(np.int32, (n, n), axis) for axis in (0, 1))
    is_even = row % 2 == 0
    is_one = jnp.where(is_even, column == row + 2, column == row - 2) | ((row == 1) & (column == 0))
    above = is_even & (column == row + 1) | (row == 0) & (column == 0)
    below = is_even & (column == row - 1)
    out = jnp.where(below, -jnp.pad(a, (0, 1))[2:], is_one.astype(a.dtype))
    return jnp.where(above, -a[1:], out)


@static_argnames("n", "mode")
def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """Returns the matrix whose product with a vector is their convolution.

    Args:
      a: (..., m).
      n: the length of the vector.
      mode: "full" (the default), "same" or "valid".

    Returns:
      Array of shape (..., k, n), k the length of the convolution.

    Raises:
      ValueError: `n` is not positive, `a` is empty, or `mode` is another value.

    Examples:
      >>> onax.scipy.linalg.convolution_matrix(jnp.array([1, 2]), 3)
      Array([[1, 0, 0],
             [2, 1, 0],
             [0, 2, 1],
             [0, 0, 2]], dtype=int32)
    """
    (a,) = ensure_arraylikes("convolution_matrix", a)
    n = operator.index(n)
    if n <= 0:
        raise ValueError("convolution_matrix: n must be a positive integer.")
    if a.ndim < 1 or a.shape[-1] == 0:
        raise ValueError(f"convolution_matrix expects non-empty vectors in the last axis, got shape {a.shape}")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"Unrecognized mode {mode!r}")
    m = a.shape[-1]
    most, least = dims.max_dim(m, n), dims.min_dim(m, n)
    size = {"full": m + n - 1, "same": most, "valid": most - least + 1}[mode]
    start = (m + n - 1 - size) // 2

    def one(a):
        full = toeplitz(jnp.pad(a, (0, n - 1)), jnp.pad(a[:1], (0, n - 1)))
        return full if mode == "full" else full[start : start + size]

    return _vectorize("convolution_matrix", one, a)


def _constant_matrix(numbers, dtype=None):
    """A constant matrix in the given dtype, by default the default float."""
    return jnp.asarray(numbers, dtype=dtypes.scalar_dtype(float) if dtype is None else dtype)


def _check_order(name, n):
    """Returns n as a Python integer.  Raises TypeError if it is not an integer."""
    if not hasattr(n, "__index__"):
        raise TypeError(f"{name}: n must be an integer, got {n!r}")
    return int(n)


@static_argnames("n")
def hilbert(n: int) -> Array:
    """Returns the matrix of 1 / (i + j + 1).

    Args:
      n: the number of rows.

    Returns:
      Float array of shape (n, n).

    Raises:
      TypeError: `n` is negative.

    Examples:
      >>> onax.scipy.linalg.hilbert(2).round(4)
      Array([[1.    , 0.5   ],
             [0.5   , 0.3333]], dtype=float32)
    """
    n = _check_order("hilbert", n)
    if n < 0:
        raise TypeError(f"iota shape must have every element be nonnegative, got ({n}, 1).")
    i = np.arange(1, n + 1, dtype=np.float64)
    return _constant_matrix(1 / (i[:, None] + i[None, :] - 1))


@static_argnames("n")
def invhilbert(n: int) -> Array:
    """Returns the inverse of the Hilbert matrix, whose elements are integers.

    Args:
      n: the number of rows.

    Returns:
      Float array of shape (n, n).

    Examples:
      >>> onax.scipy.linalg.invhilbert(2).round(4)
      Array([[ 4., -6.],
             [-6., 12.]], dtype=float32)
    """
    n, comb = max(0, _check_order("invhilbert", n)), math.comb
    rows = [
        [
            (-1) ** (i + j) * (i + j + 1) * comb(n + i, n - j - 1) * comb(n + j, n - i - 1) * comb(i + j, i) ** 2
            for j in range(n)
        ]
        for i in range(n)
    ]
    return _constant_matrix(np.array(rows, dtype=np.float64).reshape(n, n))


@static_argnames("n", "kind")
def pascal(n: int, kind: str | None = None) -> Array:
    """Returns the matrix of binomial coefficients.

    Args:
      n: the number of rows.
      kind: "symmetric" (the default), "lower" or "upper".

    Returns:
      Array of shape (n, n).

    Raises:
      ValueError: `kind` is another value.

    Examples:
      >>> onax.scipy.linalg.pascal(3)
      Array([[1., 1., 1.],
             [1., 2., 3.],
             [1., 3., 6.]], dtype=float32)
    """
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ValueError(f"Expected kind to be on of: ['symmetric', 'lower', 'upper']; got {kind}")
    n = max(0, _check_order("pascal", n))
    lower = np.array([[math.comb(i, j) for j in range(n)] for i in range(n)], dtype=np.float64).reshape(n, n)
    if kind != "lower":
        lower = lower.T if kind == "upper" else lower @ lower.T
    return _constant_matrix(lower, np.float32)


@static_argnames("n", "kind")
def invpascal(n: int, kind: str | None = None) -> Array:
    """Returns the inverse of the matrix of binomial coefficients.

    Args:
      n: the number of rows.
      kind: "symmetric" (the default), "lower" or "upper".

    Returns:
      Array of shape (n, n).

    Raises:
      ValueError: `kind` is another value.

    Examples:
      >>> onax.scipy.linalg.invpascal(2)
      Array([[ 2., -1.],
             [-1.,  1.]], dtype=float32)
    """
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ValueError(f"Expected kind to be on of: ['symmetric', 'lower', 'upper']; got {kind}")
    n = max(0, _check_order("invpascal", n))
    signed = [[(-1) ** (i - j) * math.comb(i, j) if j <= i else 0 for j in range(n)] for i in range(n)]
    lower = np.array(signed, dtype=np.float64).reshape(n, n)
    if kind == "lower":
        return _constant_matrix(lower)
    return _constant_matrix(lower.T if kind == "upper" else lower.T @ lower)


@static_argnames("n", "dtype")
def hadamard(n: int, dtype: DTypeLike = int) -> Array:
    """Returns the matrix of 1 and -1 whose rows are orthogonal (Sylvester's construction).

    Args:
      n: the number of rows, a power of 2.
      dtype: the dtype; default int32, with 64 bits enabled int64.

    Returns:
      Array of shape (n, n).

    Raises:
      ValueError: another `n`.
      TypeError: the dtype is bool.

    Examples:
      >>> onax.scipy.linalg.hadamard(2)
      Array([[ 1,  1],
             [ 1, -1]], dtype=int32)
    """
    n = _check_order("hadamard", n)
    if n < 1 or n & (n - 1):
        raise ValueError(f"n must be a positive power of 2; got {n}.")
    dtype = dtypes.check_user_dtype(dtype, "hadamard")
    if np.dtype(dtype).kind == "b":
        raise TypeError(
            "hadamard: neg does not accept dtype bool. Accepted dtypes are subtypes of integer, floating, "
            "complexfloating."
        )
    out = np.ones((1, 1), np.int32)
    while out.shape[0] < n:
        out = np.block([[out, out], [out, -out]])
    return jnp.asarray(out).astype(dtype)  # -1 in an unsigned dtype is its largest number


@static_argnames("n", "full")
def helmert(n: int, full: bool = False) -> Array:
    """Returns the matrix whose rows compare the mean of ever more numbers with the next.

    Args:
      n: the number of columns.
      full: True: a first row of equal numbers makes it orthogonal; default False.

    Returns:
      Float array of shape (n - 1, n) or (n, n).

    Raises:
      ValueError: `n` is not positive.

    Examples:
      >>> onax.scipy.linalg.helmert(2).round(4)
      Array([[ 0.7071, -0.7071]], dtype=float32)
    """
    n = _check_order("helmert", n)
    if n < 1:
        raise ValueError(f"n must be a positive integer; got {n}.")
    out = np.tril(np.ones((n, n)), -1) - np.diag(np.arange(n))
    out[0] = 1
    d = np.arange(n) * np.arange(1, n + 1)
    d[0] = n
    out = out / np.sqrt(d)[:, None]
    return _constant_matrix(out if full else out[1:])


def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Returns the matrix of a population's growth by age.

    Args:
      f: fecundities, the first row, (..., n).
      s: survival rates, below the diagonal, (..., n - 1).

    Returns:
      Array of shape (..., n, n).

    Raises:
      ValueError: `s` is not one shorter than `f`, or `f` is shorter than 2.

    Examples:
      >>> onax.scipy.linalg.leslie(jnp.array([0.0, 2.0]), jnp.array([0.5]))
      Array([[0. , 2. ],
             [0.5, 0. ]], dtype=float32)
    """
    f, s = promote_dtypes(*ensure_arraylikes("leslie", f, s))
    if f.ndim and f.shape[-1] < 2:
        raise ValueError(f"The length of f along the last axis must be at least 2; got shape {f.shape}.")
    if f.ndim < 1 or s.ndim < 1 or f.shape[-1] != s.shape[-1] + 1:
        raise ValueError(
            "Incorrect lengths for f and s. The length of s along the last axis must be one less than the length of f; "
            f"got f shape {f.shape} and s shape {s.shape}."
        )

    def one(f, s):
        return jnp.diag(s, -1).at[0].set(f)

    return _vectorize("leslie", one, f, s)


@static_argnames("n", "scale", "dtype")
def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """Returns the matrix of the discrete Fourier transform.

    Args:
      n: the number of rows.
      scale: None: none; "sqrtn": divided by sqrt(n), unitary; "n": divided by n.
      dtype: a complex dtype; default complex64, with 64 bits enabled complex128.

    Returns:
      Complex array of shape (n, n).

    Raises:
      ValueError: `scale` is another value, or the dtype is not complex.

    Examples:
      >>> onax.scipy.linalg.dft(2).real.round(4)
      Array([[ 1.,  1.],
             [ 1., -1.]], dtype=float32)
    """
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; got {scale!r}.")
    n = _check_order("dft", n)
    dtype = dtypes.scalar_dtype(complex) if dtype is None else dtypes.check_user_dtype(dtype, "dft")
    if not dtypes.issubdtype(dtype, np.complexfloating):
        raise ValueError(f"dtype must be a complex floating-point type; got {dtype}.")
    out = np.exp(-2j * np.pi * (np.outer(np.arange(n), np.arange(n)) % max(n, 1)) / max(n, 1))
    out = out / (math.sqrt(n) if scale == "sqrtn" else n if scale == "n" else 1)
    return _constant_matrix(out, dtype)
