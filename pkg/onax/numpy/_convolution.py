"""Convolution and correlation of vectors."""

from __future__ import annotations

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._ground import dims
from onax._ground.typing import ArrayLike, DTypeLike, PrecisionLike
from onax._native.array import Array
from onax.numpy._promotion import ensure_arraylikes, promote_dtypes, promote_dtypes_inexact
from onax.numpy._shaping import flip
from onax.numpy._ufuncs import conj

_PADDINGS = {
    "valid": lambda n: (0, 0),
    "same": lambda n: (n // 2, n - n // 2 - 1),
    "full": lambda n: (n - 1, n - 1),
}


@staged("_conv", static_argnames=("mode", "op", "precision", "preferred_element_type"))
def _conv(x, y, *, mode, op, precision, preferred_element_type):
    """The shorter vector is the kernel, which `convolve` reverses and `correlate` conjugates."""
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"{op}() only support 1-dimensional inputs.")
    x, y = promote_dtypes_inexact(x, y) if preferred_element_type is None else promote_dtypes(x, y)
    if dims.definitely_empty(x.shape + y.shape):
        raise ValueError(f"{op}: inputs cannot be empty, got shapes {x.shape} and {y.shape}.")
    if op == "correlate":
        y = conj(y)
    exchanged = x.shape[0] < y.shape[0]
    if exchanged:
        x, y = y, x
    if op == "convolve":
        y = flip(y)
    if mode not in _PADDINGS:
        raise ValueError(f"mode must be one of {['full', 'same', 'valid']}")
    out = lax.conv_general_dilated(
        lax.broadcast_in_dim(x, (1, 1, *x.shape), (2,)),
        lax.broadcast_in_dim(y, (1, 1, *y.shape), (2,)),
        (1,),
        [_PADDINGS[mode](y.shape[0])],
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
    if exchanged and op == "correlate":
        out = lax.rev(out, (2,))
    return lax.squeeze(out, (0, 1))


@staged("convolve", static_argnames=("mode", "precision", "preferred_element_type"), compiled_from=FEW)
def convolve(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "full",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Returns the convolution of two vectors.

    Args:
      a: vector of n numbers.
      v: vector of m numbers.
      mode: "full" (all n + m - 1 elements), "same" (the middle max(n, m)) or "valid" (those without ends).
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result; default: the promoted inexact dtype.

    Returns:
      Array of rank 1: element k is the sum of a[j] v[k - j].

    Raises:
      ValueError: ranks are not 1, a vector is empty, or the mode is unknown.

    Examples:
      >>> jnp.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 1.0]))
      Array([0., 1., 2., 3.], dtype=float32)
    """
    a, v = ensure_arraylikes("convolve", a, v)
    return _conv(a, v, mode=mode, op="convolve", precision=precision, preferred_element_type=preferred_element_type)


@staged("correlate", static_argnames=("mode", "precision", "preferred_element_type"), compiled_from=FEW)
def correlate(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "valid",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Returns the cross-correlation of two vectors.

    Args:
      a: vector of n numbers.
      v: vector of m numbers, which is conjugated.
      mode: "valid" (default), "same" or "full", as for `convolve`.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result; default: the promoted inexact dtype.

    Returns:
      Array of rank 1: sums of a[j + k] conj(v[j]).

    Raises:
      ValueError: ranks are not 1, a vector is empty, or the mode is unknown.

    Examples:
      >>> jnp.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 1.0]))
      Array([2., 3.], dtype=float32)
    """
    a, v = ensure_arraylikes("correlate", a, v)
    return _conv(a, v, mode=mode, op="correlate", precision=precision, preferred_element_type=preferred_element_type)
