"""dot_product_attention: attention of several heads, computed whole."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from onax import numpy as jnp
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.nn._normalization import logsumexp, softmax
from onax.numpy._einsum import einsum

_LOWEST = -0.7  # of the largest float: what masked logits get, so that a difference of two stays finite


def _with_four_axes(x):
    x = jnp.asarray(x)
    return jnp.expand_dims(x, tuple(range(4 - x.ndim))) if x.ndim < 4 else x


def _check(name, x, shape, dtype):
    """Raises ValueError for another shape, in which None stands for any size, or for another dtype than a given one."""
    if x.ndim != len(shape):
        raise ValueError(f"{name} ndim should be {len(shape)}, but got {x.ndim}")
    if dtype is not None and x.dtype != dtype:
        raise ValueError(f"{name} dtype should be {dtype}, but got {x.dtype}")
    if any(wanted not in (None, size) for wanted, size in zip(shape, x.shape)):
        raise ValueError(f"{name} shape should be {[-1 if n is None else n for n in shape]}: but got {x.shape}")


def _check_operands(query, key, value):
    """Adds the axes that are missing.  Raises ValueError for shapes and dtypes that do not fit."""
    q, k, v = (_with_four_axes(x) for x in (query, key, value))
    _check("key", k, (None,) * 4, None)
    batch, _, groups, size = k.shape
    _check("value", v, k.shape, k.dtype)
    _check("query", q, (batch, None, None, size), k.dtype)
    heads = q.shape[2]
    if groups == 0 or heads % groups:
        raise ValueError(
            f"The number of query heads must be a multiple of key/value heads, but got {heads} vs {groups}"
        )
    return q, k, v


def _lengths(name, x, batch):
    if x is None:
        return None
    x = jnp.asarray(x)
    _check(name, x, (batch,), np.dtype(np.int32))
    return x


def _check_4d(name, x, batch, heads, rows, columns):
    x = _with_four_axes(x)
    _check(name, x, (None,) * 4, np.dtype(bool) if name == "mask" else None)
    for size, expected in zip(x.shape, (batch, heads, rows, columns)):
        if size not in (1, expected):
            raise ValueError(f"{name} must broadcast to {(batch, heads, rows, columns)}, got {x.shape}")
    return x


def _group_heads(x, groups):
    """Reshapes [batch, heads, ...] to [heads per group, batch, groups, ...]; a single head is shared by all."""
    batch, heads, rows, columns = x.shape
    if heads == 1:
        return jnp.transpose(jnp.reshape(x, (batch, 1, 1, rows, columns)), (2, 0, 1, 3, 4))
    return jnp.transpose(jnp.reshape(x, (batch, groups, heads // groups, rows, columns)), (2, 0, 1, 3, 4))


def _window_reach(size):
    """Returns the (left, right) reach of a window."""
    if isinstance(size, int):
        return size, size
    left, right = size
    return left, right


def _attention_masks(rows, columns, is_causal, window, query_lengths, key_lengths):
    """The masks of allowed positions, which broadcast to [batch, 1, rows, columns]."""
    if is_causal:
        yield jnp.tril(jnp.ones((rows, columns), dtype=bool))[None, None]
    known = isinstance(rows, int) and isinstance(columns, int)
    row, column = ((np if known else jnp).arange(n, dtype=np.int32) for n in (rows, columns))
    row, column = row[:, None], column[None, :]
    if window is not None:
        left, right = _window_reach(window)
        yield jnp.asarray((row <= column + left) & (row >= column - right))[None, None]
    if query_lengths is not None or key_lengths is not None:
        mask = jnp.ones((1, rows, columns), dtype=bool)
        if query_lengths is not None:
            mask = mask & (row[None] < query_lengths[:, None, None])
        if key_lengths is not None:
            mask = mask & (column[None] < key_lengths[:, None, None])
        yield mask[:, None]


@overload
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: Literal[False] = False,
) -> Array: ...


@overload
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: Literal[True],
) -> tuple[Array, Array]: ...


@overload
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Array | tuple[Array, Array]: ...


def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Array | tuple[Array, Array]:
    """Returns softmax(query @ key.T * scale + bias) @ value for each head (Vaswani et al., 2017).

    Logits are computed in float32 at least.

    Args:
      query: (..., T, N, H), with at most one leading axis: T positions, N heads of H numbers.
      key: (..., S, K, H); N is a multiple of K, and N / K heads of `query` share one of `key`.
      value: (..., S, K, H).
      bias: numbers added to the logits, which broadcast to (..., N, T, S); default None.
      mask: bools that broadcast to (..., N, T, S); False hides a position.  Default None.
      scale: the factor of the logits; default 1 / sqrt(H).
      is_causal: True: a position sees itself and earlier ones; default False.
      query_seq_lengths: the lengths of the sequences of `query`, int32 of shape (B,); rows beyond give 0.
      key_value_seq_lengths: those of `key` and `value`; what lies beyond is hidden.
      local_window_size: (left, right): how far a position sees; an int means both.  Default None, all.
      implementation: None or "xla".
      return_residual: True: the result is a pair; default False.

    Returns:
      Array of the shape and dtype of `query`; with `return_residual` also the logarithms of the sums of exponentials,
      (..., T, N).

    Raises:
      ValueError: shapes or dtypes that do not fit, or another implementation.
      RuntimeError: the implementation "cudnn".

    Examples:
      >>> x = jnp.ones((1, 4, 2, 8))
      >>> nn.dot_product_attention(x, x, x, is_causal=True).shape
      (1, 4, 2, 8)
    """
    shape = jnp.asarray(query).shape
    q, k, v = _check_operands(query, key, value)
    batch, rows, heads, size = q.shape
    if mask is not None:
        mask = _check_4d("mask", mask, batch, heads, rows, k.shape[1])
    if bias is not None:
        bias = _check_4d("bias", bias, batch, heads, rows, k.shape[1])
    query_seq_lengths = _lengths("query_seq_lengths", query_seq_lengths, batch)
    key_value_seq_lengths = _lengths("key_value_seq_lengths", key_value_seq_lengths, batch)
    if implementation == "cudnn":
        raise RuntimeError("cuDNN is not detected.")
    if implementation not in (None, "xla"):
        raise ValueError(f"Unsupported implementation option: {implementation}")
    columns, groups = k.shape[1:3]
    wide = np.promote_types(q.dtype, np.float32) if not dtypes.is_complex(q.dtype) else q.dtype
    scale = 1.0 / np.sqrt(size) if scale is None else scale
    grouped = jnp.reshape(q, (batch, rows, groups, heads // groups, size))
    logits = einsum("BTKGH,BSKH->GBKTS", grouped, k, preferred_element_type=wide)
    logits = logits * jnp.array(scale, dtype=logits.dtype)
    if bias is not None:
        logits = logits + _group_heads(bias, groups).astype(logits.dtype)
    masks = [m[None] for m in _attention_masks(
        rows, columns, is_causal, local_window_size, query_seq_lengths, key_value_seq_lengths
    )]  # fmt: skip
    if mask is not None:
        masks.append(_group_heads(mask, groups))
    if masks:
        together = masks[0]
        for m in masks[1:]:
            together = together & m
        lowest = np.asarray(_LOWEST * float(dtypes.finfo(logits.dtype).max), logits.dtype)
        logits = jnp.where(together, logits, lowest)
    weights = softmax(logits.astype(np.float32) if logits.dtype.itemsize < 4 else logits, axis=-1).astype(k.dtype)
    out = einsum("GBKTS,BSKH->BTKGH", weights, v, preferred_element_type=wide)
    out = out.astype(v.dtype)
    if query_seq_lengths is not None:
        inside = np.arange(rows, dtype=np.int32)[None] < query_seq_lengths[:, None]
        out = out * inside[:, :, None, None, None].astype(out.dtype)
    out = jnp.reshape(out, (*shape[:-1], v.shape[-1]))
    if not return_residual:
        return out
    sums = jnp.transpose(logsumexp(logits, axis=-1), (1, 3, 2, 0))
    return out, jnp.reshape(sums, shape[:-1])
