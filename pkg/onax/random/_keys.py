"""Keys: making, splitting and taking them apart.

A key is an array of dtype `key<fry>`, one opaque element a key.  Raw keys, uint32 arrays whose last axis holds the
words of a key, are accepted everywhere in their place; functions that return keys return the kind they were given.
"""

import operator
from typing import NewType

import numpy as np

from onax._core.trace import as_array
from onax._ground import dims, dtypes
from onax._ground.config import config
from onax._native.array import Array
from onax._prims import random_counters  # noqa: F401  it registers its generators
from onax._prims.convert import convert_element_type
from onax._prims.elementwise import add
from onax._prims.random import (
    fold_in_keys,
    is_key_dtype,
    random_clone_p,
    random_seed_p,
    random_wrap_p,
    split_keys,
    unwrap_keys,
)
from onax._prims.random_generators import PRNGImpl, find_impl
from onax._prims.random_generators import key_dtype as dtype_of_impl
from onax._prims.shaping import canonical_shape

Key = NewType("Key", Array)  # type: ignore[valid-newtype]  # what annotations call a key
_NUMBERS = (bool, int, float, complex)


# ---- what users give


def resolve_impl(impl, dtype=None):
    """The generator that `impl` (a name, a key dtype, a generator or None) or `dtype` (a key dtype) names."""
    if dtype is not None:
        if impl is not None:
            raise ValueError("Cannot specify both `impl` and `dtype` arguments to jax.random.key")
        impl = dtype
    if impl is None:
        impl = config.jax_default_prng_impl
    if isinstance(impl, PRNGImpl):
        return impl
    if is_key_dtype(impl):
        return impl._impl
    if isinstance(impl, str):
        return find_impl(impl)
    raise TypeError(f"unrecognized type {type(impl)} for specifying PRNG implementation.")


def _is_key_array(x):
    return isinstance(x, Array) and is_key_dtype(x.dtype)


def _wrap_data(data, impl):
    """Key data as keys.  Raises TypeError for values that cannot be key data."""
    complaint = "JAX encountered invalid PRNG key data: expected "
    if not all(hasattr(data, name) for name in ("ndim", "shape", "dtype")):
        raise TypeError(f"{complaint}key_data to have ndim, shape, and dtype attributes. Got {data}")
    if data.ndim < 1:
        raise TypeError(f"{complaint}key_data.ndim >= 1; got ndim={data.ndim}")
    rank = data.ndim - len(impl.key_shape)
    if rank < 0 or tuple(data.shape[rank:]) != impl.key_shape:
        raise TypeError(f"{complaint}key_data.shape to end with {impl.key_shape}; got shape={data.shape} for {impl=}")
    if data.dtype != np.uint32:
        raise TypeError(f"{complaint}key_data.dtype = uint32; got dtype={data.dtype}")
    return random_wrap_p.bind(data, impl=impl)


def check_keys(name, key, single=True):
    """Returns (keys, whether they were given as key data).

    Raises TypeError for a value that is not a key, ValueError for several keys where `single` asks for one.
    """
    if _is_key_array(key):
        raw = False
    elif isinstance(key, (Array, np.ndarray, np.generic, *_NUMBERS)):
        if config.jax_legacy_prng_key == "error":
            raise ValueError(
                "Legacy uint32 key array passed as key to jax.random function. Please create keys using "
                "jax.random.key(). If use of a raw key array was intended, set jax_legacy_prng_key='allow'."
            )
        key, raw = _wrap_data(key, resolve_impl(None)), True
    else:
        raise TypeError(f"unexpected PRNG key type {type(key)}")
    if single and key.ndim:
        raise ValueError(
            f"{name} accepts a single key, but was given a key array of shape {key.shape} != (). "
            "Use jax.vmap for batching."
        )
    return key, raw


def check_single_key(name, key):
    """Returns the single key given to a function that draws numbers."""
    return check_keys(name, key)[0]


def _match_input(keys, raw):
    return unwrap_keys(keys) if raw else keys


# ---- making keys


def key_from_seed(name, seed, impl):
    """Makes a key from a scalar seed and checks the seed."""
    if _is_key_array(seed):
        raise TypeError(f"{name} accepts a scalar seed, but was given a PRNG key.")
    # A Python int counts as an int64, of which the lower half is left when 64 bits are off.
    seed = np.int64(seed) if isinstance(seed, int) else seed
    if np.ndim(seed):
        raise TypeError(
            f"{name} accepts a scalar seed, but was given an array of shape {np.shape(seed)} != (). "
            "Use jax.vmap for batching"
        )
    if seed is None:
        raise ValueError(f"{name}: None is not a valid value for a seed")
    seed = as_array(seed)
    if not dtypes.is_integer(seed.dtype):
        raise TypeError(f"PRNG key seed must be an integer; got {seed!r}")
    if config.jax_random_seed_offset:
        seed = add(seed, convert_element_type(config.jax_random_seed_offset, seed.dtype))
    return random_seed_p.bind(seed, impl=impl)


def key(seed, *, impl=None, dtype=None):
    """A random key, of shape () and dtype `key<fry>`, from an integer.

    Args:
      seed: a scalar integer; with 64 bits off its lower 32 bits count.
      impl: the generator's name, by default the option `jax_default_prng_impl`: "threefry2x32", "threefry4x32",
        "philox2x32", "philox4x32", "rbg", "unsafe_rbg"; or a generator.
      dtype: instead of `impl`, the dtype of another key.

    Returns:
      A key array of shape ().

    Raises:
      TypeError: the seed is not a scalar integer.
      ValueError: there is no generator of this name.

    Examples:
      >>> key = onax.random.key(0)
      >>> key.shape, key.dtype
      ((), key<fry>)
    """
    return key_from_seed("key", seed, resolve_impl(impl, dtype))


def PRNGKey(seed, *, impl=None):
    """A random key as a raw uint32 array of shape (2,).  New programs should prefer `key`, whose keys have a dtype.

    seed and impl are those of `key`, and so are the errors.
    """
    out = key_from_seed("PRNGKey", seed, resolve_impl(impl))
    return out if config.jax_enable_custom_prng else unwrap_keys(out)


def wrap_key_data(key_bits_array, *, impl=None, dtype=None):
    """The keys with the given key data, uint32 of shape (..., 2): an array of shape (...) and dtype `key<fry>`.

    The key data of the generators rbg, unsafe_rbg and threefry4x32 have the shape (..., 4), of philox2x32 (..., 1).

    impl and dtype are those of `key`.  Raises TypeError for another dtype or shape.
    """
    return _wrap_data(key_bits_array, resolve_impl(impl, dtype))


# ---- using keys


def split(key, num=2):
    """New keys from one key: an array of `num` keys, or of the shape `num` if it is a tuple.

    The new keys give numbers independent of one another; do not use the old key again.
    Raises ValueError for an array of keys: use `vmap`.
    """
    key, raw = check_keys("split", key)
    if isinstance(num, tuple):
        shape = canonical_shape(num)
    else:
        shape = (operator.index(num) if dims.is_constant(num) else num,)
    return _match_input(split_keys(key, shape), raw)


def fold_in(key, data):
    """A new key from a key and a scalar integer of 32 bits; of an array of rank 0 the lower 32 bits count.

    Raises ValueError for an array of keys, TypeError for an array of integers (use `vmap`), OverflowError for a Python
    integer below 0 or too large.
    """
    key, raw = check_keys("fold_in", key)
    if np.ndim(data):
        raise TypeError(
            f"fold_in accepts a scalar, but was given an array of shape {np.shape(data)} != (). "
            "Use jax.vmap for batching."
        )
    if type(data) is int:
        data = np.uint32(data)
    return _match_input(fold_in_keys(key, convert_element_type(data, np.uint32)), raw)


def clone(key):
    """The same key (or keys) again, for the rare program that means to use it twice.

    As in JAX any other array passes through; TypeError for a value that is not an array.
    """
    return random_clone_p.bind(as_array(key))


# ---- taking keys apart


def key_data(keys):
    """The key data of keys: uint32 of shape keys.shape + (2,); of rbg keys, + (4,)."""
    return unwrap_keys(check_keys("key_data", keys, single=False)[0])


def key_impl(keys):
    """The name of the generator of keys, or a user's generator itself; of raw keys, that of the default one."""
    impl = check_keys("key_impl", keys, single=False)[0].dtype._impl
    return impl if impl.functions else impl.name


def key_dtype(impl_spec=None):
    """The dtype of the keys of a generator, given as in `key`."""
    return dtype_of_impl(resolve_impl(impl_spec))
