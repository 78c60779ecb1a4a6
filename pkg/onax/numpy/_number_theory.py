"""Number theory: gcd, lcm."""

from __future__ import annotations

from onax import lax
from onax._control.jit_call import staged
from onax._control.while_loop import while_loop
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._arithmetic import floor_divide
from onax.numpy._promotion import (
    check_arraylike,
    promote_dtypes,
)
from onax.numpy._reductions import any as any_
from onax.numpy._ufuncs import absolute, constant_like
from onax.numpy._where import where


def _promote_integers(name, x1, x2):
    x1, x2 = check_arraylike(name, x1, x2)
    x1, x2 = promote_dtypes(x1, x2)
    if not dtypes.is_integer(x1.dtype):
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers.")
    shape = lax.broadcast_shapes(x1.shape, x2.shape)
    return [_broadcast(x, shape) for x in (x1, x2)]


def _broadcast(x, shape):
    if x.shape == shape:
        return x
    expanded = lax.broadcast_to_rank(x, len(shape))
    equal_axes = [i for i, (a, b) in enumerate(zip(expanded.shape, shape)) if a == b]
    return lax.broadcast_in_dim(lax.reshape(expanded, [shape[i] for i in equal_axes]), shape, equal_axes)


def _has_remainder(state):
    return any_(lax.ne(state[1], lax.full_like(state[1], 0)))


def _euclid_step(state):
    a, b = state
    zero = lax.full_like(b, 0)
    more = lax.ne(b, zero)
    rest = lax.rem(a, lax.select(more, b, lax.full_like(b, 1)))
    return lax.select(more, b, a), lax.select(more, rest, zero)


@staged("gcd")
def _gcd(x1, x2):
    return while_loop(_has_remainder, _euclid_step, (absolute(x1), absolute(x2)))[0]


@static_argnames()
def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Returns the greatest common divisor of integers, by Euclid's algorithm.

    Args:
      x1, x2: integer arrays, which broadcast; gcd(0, 0) is 0.

    Returns:
      Integer array of the promoted dtype.

    Raises:
      ValueError: an array is not of an integer dtype.

    Examples:
      >>> jnp.gcd(jnp.array([12, 7]), 8)
      Array([4, 1], dtype=int32)
    """
    return _gcd(*_promote_integers("gcd", x1, x2))


@staged("lcm")
def _lcm(x1, x2):
    x1, x2 = absolute(x1), absolute(x2)
    common = _gcd(x1, x2)
    product = lax.mul(x1, floor_divide(x2, common))
    zero = constant_like(common, 0)
    return where(lax.eq(common, zero), zero, product)


@static_argnames()
def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Returns the least common multiple of integers.

    Args:
      x1, x2: integer arrays, which broadcast; the multiple is 0 where one is 0.

    Returns:
      Integer array of the promoted dtype.

    Raises:
      ValueError: an array is not of an integer dtype.

    Examples:
      >>> jnp.lcm(jnp.array([4, 7]), 6)
      Array([12, 42], dtype=int32)
    """
    return _lcm(*_promote_integers("lcm", x1, x2))
