"""rng_bit_generator: bits of a counter-based generator, with the key for the next ones."""

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._core.trace import as_array
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._prims.convert import convert_element_type
from onax._prims.elementwise import add, lt
from onax._prims.placement import with_out_sharding
from onax._prims.random import draw_bits, random_wrap_p
from onax._prims.random_generators import rbg_impl
from onax._prims.shaping import canonical_shape, reshape
from onax._prims.slicing import concatenate, slice_in_dim

_WORDS_PER_BLOCK = 4


class RandomAlgorithm(enum.IntEnum):
    """Which generator: RNG_DEFAULT is Philox-4x32."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


def rng_bit_generator(
    key: ArrayLike,
    shape: Sequence[DimSize],
    dtype: DTypeLike = np.uint32,
    algorithm: Any = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: ShardingLike = None,
) -> tuple[Array, Array]:
    """Returns the next key and random unsigned integers, by Philox-4x32.

    The numbers are those that XLA gives on a CPU.  Under `vmap` the first key gives the numbers of all examples, as in
    JAX.

    Args:
      key: uint32 array of shape (4,), whose last two words count the blocks that were used.
      shape: ints.
      dtype: unsigned integer dtype.
      algorithm: a `lax.RandomAlgorithm`: default or Philox.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Tuple (key of shape (4,), integers of the shape and dtype).

    Raises:
      TypeError: the key or the dtype is another one.
      NotImplementedError: Threefry is asked for; `onax.random.bits` gives its numbers.

    Examples:
      >>> key, bits = lax.rng_bit_generator(jnp.array([0, 0, 0, 0], jnp.uint32), (2,))
      >>> bits.shape, bits.dtype
      ((2,), dtype('uint32'))
    """
    key = as_array(key)
    shape, dtype = canonical_shape(shape), dtypes.canonicalize_dtype(np.dtype(dtype))
    if key.shape != (4,) or key.dtype != np.uint32:
        raise TypeError(f"rng_bit_generator: key must be uint32 of shape (4,), got {key.dtype} of shape {key.shape}")
    if dtype.kind != "u":
        raise TypeError(f"rng_bit_generator: unsupported dtype {dtype}")
    if algorithm == RandomAlgorithm.RNG_THREE_FRY:
        raise NotImplementedError("rng_bit_generator by Threefry is not supported; use jax.random.bits")
    draw = (draw_bits, random_wrap_p.bind(key, impl=rbg_impl), 8 * dtype.itemsize, shape)
    bits = draw[0](*draw[1:]) if out_sharding is None else with_out_sharding(out_sharding, *draw)
    words = dims.prod(shape) * (2 if dtype.itemsize == 8 else 1)
    blocks = np.uint32(-(-words // _WORDS_PER_BLOCK))
    parts = [reshape(slice_in_dim(key, i, i + 1), ()) for i in (2, 3)]
    low = add(parts[0], blocks)
    high = add(parts[1], convert_element_type(lt(low, blocks), np.uint32))
    counter = [reshape(w, (1,)) for w in (low, high)]
    return concatenate([slice_in_dim(key, 0, 2), *counter], 0), bits
