"""Random generators: the existing ones and `define_prng_impl`, under the names of jax.extend.random."""

import math
from collections.abc import Sequence

import numpy as np

from onax._core.api_functions import static_argnames
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import as_array, ensure_compile_time_eval
from onax._ground.typing import AnyFunction, ArrayLike
from onax._native.array import Array
from onax._prims.random import threefry2x32_p
from onax._prims.random_generators import PRNGImpl, PRNGSpec
from onax._prims.random_generators import rbg_impl as rbg_prng_impl
from onax._prims.random_generators import threefry_impl as threefry_prng_impl
from onax._prims.random_generators import unsafe_rbg_impl as unsafe_rbg_prng_impl
from onax._transforms.vmap import vmap
from onax.numpy._creation import asarray
from onax.numpy._joining import concatenate
from onax.random._keys import key_from_seed

__all__ = [
    "define_prng_impl",
    "random_seed",
    "rbg_prng_impl",
    "seed_with_impl",
    "threefry2x32_p",
    "threefry_2x32",
    "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]


@static_argnames()
def threefry_2x32(keypair: ArrayLike | Sequence[ArrayLike], count: ArrayLike) -> Array:
    """Returns the words of Threefry (Salmon et al., 2011) for pairs of counters.

    Args:
      pair is a counter of the first half and one of the second.
      keypair: two words of uint32: (2,), or two scalars.
      count: counters of uint32; of an odd number, the last is paired with 0.

    Returns:
      uint32 array of the shape of `count`.

    Raises:
      TypeError: other dtypes.
      ValueError: a `keypair` of another length.

    Examples:
      >>> from onax.extend import random
      >>> random.threefry_2x32(jnp.zeros(2, jnp.uint32), jnp.arange(2, dtype=jnp.uint32)).shape
      (2,)
    """
    first, second = keypair
    first, second, count = (asarray(x) for x in (first, second, count))
    if any(x.dtype != np.uint32 for x in (first, second, count)):
        argument_dtypes = [x.dtype for x in (first, second, count)]
        raise TypeError(f"threefry_2x32 requires uint32 arguments, got {argument_dtypes}")
    flat, size = count.ravel(), count.size
    padded = concatenate([flat, np.zeros(size % 2, np.uint32)])
    half = (size + 1) // 2
    words = threefry2x32_p.bind(first, second, padded[:half], padded[half:])
    return concatenate(words)[:size].reshape(count.shape)


def seed_with_impl(impl: PRNGImpl, seed: ArrayLike) -> Array:
    """Returns a key of a generator.

    Args:
      impl: a generator.
      seed: an integer.

    Returns:
      Key of shape ().

    Examples:
      >>> from onax.extend import random
      >>> bool(random.seed_with_impl(random.threefry_prng_impl, 7) == onax.random.key(7))
      True
    """
    return key_from_seed("seed_with_impl", seed, impl)


def random_seed(seeds: ArrayLike, impl: PRNGImpl) -> Array:
    """Returns keys of a generator, one for each integer.

    Args:
      seeds: integers.
      impl: a generator.

    Returns:
      Key array of the shape of `seeds`.

    Examples:
      >>> from onax.extend import random
      >>> random.random_seed(jnp.arange(3), random.threefry_prng_impl).shape
      (3,)
    """
    seeds = as_array(np.int64(seeds) if isinstance(seeds, int) else seeds)
    keys = vmap(lambda seed: key_from_seed("random_seed", seed, impl))(seeds.ravel()) if seeds.ndim else None
    return key_from_seed("random_seed", seeds, impl) if keys is None else keys.reshape(seeds.shape)


def define_prng_impl(
    *,
    key_shape: Sequence[int],
    seed: AnyFunction,
    split: AnyFunction,
    random_bits: AnyFunction,
    fold_in: AnyFunction,
    name: str = "<unnamed>",
    tag: str = "?",
) -> PRNGSpec:
    """Returns a generator, for `impl` in `onax.random.key` and its like.

    Its functions are mapped over arrays of keys, and traced where they are exported.

    Args:
      key_shape: the shape of the words of a key, which are uint32.
      seed: a function (integer) -> words.
      split: a function (words, shape) -> words of shape ``shape + key_shape``.
      random_bits: a function (words, bit_width, shape) -> unsigned integers of this width and shape.
      fold_in: a function (words, integer) -> words.
      name: the name that is printed.
      tag: the short name that is printed.

    Returns:
      A generator.

    Examples:
      >>> from onax.extend import random
      >>> impl = random.define_prng_impl(
      ...     key_shape=(1,),
      ...     seed=lambda seed: jnp.array([seed], jnp.uint32),
      ...     split=lambda words, shape: jnp.broadcast_to(words, (*shape, 1)),
      ...     random_bits=lambda words, width, shape: jnp.full(shape, words[0]),
      ...     fold_in=lambda words, data: words + data,
      ... )
      >>> onax.random.bits(onax.random.key(7, impl=impl), (2,))
      Array([7, 7], dtype=uint32)
    """
    key_shape = tuple(key_shape)
    functions = {"seed": seed, "split": split, "random_bits": random_bits, "fold_in": fold_in}

    def over_keys(function, words, *args):
        lead = words.shape[: words.ndim - len(key_shape)]
        flat = words.reshape((math.prod(lead), *key_shape))
        out = _run(vmap(lambda key: function(key, *args)), flat)
        return out.reshape((*lead, *out.shape[1:]))

    def fold_kernel(words, data):
        lead = np.broadcast_shapes(words.shape[: words.ndim - len(key_shape)], np.shape(data))
        flat = np.broadcast_to(words, lead + key_shape).reshape((math.prod(lead), *key_shape))
        return _run(vmap(fold_in), flat, np.broadcast_to(data, lead).reshape(-1)).reshape(lead + key_shape)

    def seed_kernel(integers):
        return _run(vmap(seed), integers.reshape(-1)).reshape(integers.shape + key_shape)

    return PRNGSpec(
        key_shape,
        seed_kernel,
        lambda words, shape, partitionable: over_keys(split, words, shape),
        lambda words, bit_width, shape, partitionable: over_keys(random_bits, words, bit_width, shape),
        fold_kernel,
        name,
        tag,
        functions=functions,
    )


def _run(function, *args):
    """Calls a function of arrays on ndarrays eagerly."""
    with ensure_compile_time_eval():
        return np.asarray(function(*args))


_wrap_api_functions(globals(), __name__, frozenset(globals()) - frozenset(__all__))
