"""The bits of integers: packbits, unpackbits, bitwise_count."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import canonical_axis, ensure_arraylike, promote_args_numeric
from onax.numpy._shaping import ravel, reshape
from onax.numpy._ufuncs import absolute, constant_like


def _canonical_bit_axis(axis, ndim):
    """The axis as a number in 0..ndim-1.  Raises IndexError for an invalid one, as JAX does."""
    try:
        return canonical_axis(axis, ndim)
    except (TypeError, ValueError) as error:
        raise IndexError(f"packbits, unpackbits: {error}") from None


@staged("packbits", static_argnames=("axis", "bitorder"))
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Returns bits, eight packed into each uint8.

    Args:
      a: array of bools or integers; nonzero elements are ones.
      axis: int; default: the flattened array.
      bitorder: "big" (the first bit is the highest) or "little".

    Returns:
      uint8 array, of length ceil(n / 8) along the axis; missing bits are 0.

    Raises:
      TypeError: `a` is not of an integer or bool dtype.
      ValueError: bitorder is unknown.
      IndexError: there is no such axis.

    Examples:
      >>> jnp.packbits(jnp.array([1, 0, 1]))
      Array([160], dtype=uint8)
    """
    a = ensure_arraylike("packbits", a)
    if not (dtypes.is_integer(a.dtype) or a.dtype == np.bool_):
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder not in ("little", "big"):
        raise ValueError("'order' must be either 'little' or 'big'")
    bits = lax.convert_element_type(lax.ne(a, constant_like(a, 0)), np.uint8)
    weights = lax.iota(np.uint8, 8)
    weights = lax.rev(weights, (0,)) if bitorder == "big" else weights
    bits, axis = (ravel(bits), 0) if axis is None else (bits, _canonical_bit_axis(axis, a.ndim))
    order = (*(i for i in range(bits.ndim) if i != axis), axis)
    bits = lax.transpose(bits, order)
    length = -(-bits.shape[-1] // 8)  # of the result
    rest = 8 * length - bits.shape[-1]
    if not dims.equal(rest, 0):
        bits = lax.pad(bits, np.uint8(0), [*((0, 0, 0),) * (bits.ndim - 1), (0, rest, 0)])
    bits = reshape(bits, (*bits.shape[:-1], length, 8))
    shifted = lax.shift_left(bits, lax.broadcast_to_rank(weights, bits.ndim))
    total = lax.reduce_sum(lax.convert_element_type(shifted, np.uint32), (bits.ndim - 1,))
    return lax.transpose(lax.convert_element_type(total, np.uint8), tuple(int(i) for i in np.argsort(order)))


@staged("unpackbits", ("axis", "count", "bitorder"), compiled_from=None)
def unpackbits(a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """Returns the bits of uint8 numbers as elements 0 and 1.

    Args:
      a: uint8 array.
      axis: int; default: the flattened array.
      count: int, the number of bits to return (negative: how many to drop at the end); default: all.
      bitorder: "big" (the highest bit first) or "little".

    Returns:
      uint8 array, eight times as long along the axis, or of length `count`.

    Raises:
      TypeError: `a` is not of dtype uint8.
      ValueError: bitorder is unknown.

    Examples:
      >>> jnp.unpackbits(jnp.array([5], jnp.uint8))
      Array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    a = ensure_arraylike("unpackbits", a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder not in ("little", "big"):
        raise ValueError("'order' must be either 'little' or 'big'")
    a, axis = (ravel(a), 0) if axis is None else (a, _canonical_bit_axis(axis, a.ndim))
    shifts = lax.iota(np.uint8, 8)
    shifts = lax.rev(shifts, (0,)) if bitorder == "big" else shifts
    order = (*(i for i in range(a.ndim) if i != axis), axis)
    wide = lax.expand_dims(lax.transpose(a, order), (a.ndim,))
    bits = lax.shift_right_logical(wide, lax.broadcast_to_rank(shifts, wide.ndim))
    bits = lax.bitwise_and(bits, np.uint8(1))
    bits = reshape(bits, (*wide.shape[:-2], wide.shape[-2] * 8))
    if count is not None:
        n = bits.shape[-1]
        if count > n:
            bits = lax.pad(bits, np.uint8(0), [*((0, 0, 0),) * (bits.ndim - 1), (0, count - n, 0)])
        else:
            bits = lax.slice_in_dim(bits, 0, count if count >= 0 else n + count, axis=bits.ndim - 1)
    return lax.transpose(bits, tuple(int(i) for i in np.argsort(order)))


@staged("bitwise_count")
def bitwise_count(x: ArrayLike, /) -> Array:
    """Returns the number of one-bits in the absolute value of integers.

    Args:
      x: integer array.

    Returns:
      uint8 array of the shape of `x`.

    Raises:
      TypeError: `x` is not of an integer or bool dtype.

    Examples:
      >>> jnp.bitwise_count(jnp.array([7, -8]))
      Array([3, 1], dtype=uint8)
    """
    (x,) = promote_args_numeric("bitwise_count", x)
    return lax.convert_element_type(lax.population_count(absolute(x)), np.uint8)
