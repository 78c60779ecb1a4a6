"""Keys: making, splitting and taking them apart.

A key is an array of dtype `key<fry>`, one opaque element a key.  Raw keys, uint32 arrays whose last axis holds the
words of a key, are accepted everywhere in their place; functions that return keys return the kind they were given.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any, NewType

import numpy as np

from onax._core.trace import as_array
from onax._core.transfer_guards import report_argument
from onax._ground import dims, dtypes, source
from onax._ground.config import config, guard_state
from onax._ground.typing import ArrayLike, DimSize, DTypeLike
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


def _report_legacy_key():
    action = config.jax_legacy_prng_key
    if action == "allow":
        if config.jax_enable_custom_prng:
            warnings.warn(
                "Raw arrays as random keys to jax.random functions are deprecated. Assuming valid threefry2x32 key for "
                "now.",
                FutureWarning,
                stacklevel=source.stacklevel(),
            )
        return
    text = (
        "Legacy uint32 key array passed as key to jax.random function. Please create keys using jax.random.key(). If "
        'use of a raw key array was intended, set jax_legacy_prng_key="allow".'
    )
    if action == "error":
        raise ValueError(text)
    warnings.warn(text, stacklevel=source.stacklevel())


def check_keys(name, key, single=True):
    """Returns (keys, whether they were given as key data).

    Raises TypeError for a value that is not a key, ValueError for several keys where `single` asks for one.
    """
    shape = np.shape(key) if isinstance(key, (Array, np.ndarray)) else ()
    if _is_key_array(key):
        raw = False
    elif isinstance(key, (Array, np.ndarray, np.generic, *_NUMBERS)):
        key, raw = _wrap_data(key, resolve_impl(None)), True
        _report_legacy_key()
    else:
        if key is None:
            raise TypeError(f"unexpected PRNG key type {type(key)}")
        raise TypeError(
            "JAX encountered invalid PRNG key data: expected key_data to have ndim, shape, and dtype attributes. Got "
            f"{key}"
        )
    if single and key.ndim:
        raise ValueError(
            f"{name} accepts a single key, but was given a key array of shape {shape} != (). Use jax.vmap for batching."
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
    if guard_state.used:
        report_argument(seed)
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


def key(seed: ArrayLike, *, impl: Any = None, dtype: DTypeLike | None = None) -> Array:
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


def PRNGKey(seed: ArrayLike, *, impl: Any = None) -> Array:
    """Returns a random key as raw words, an older form of `key`.

    New programs should prefer `key`: its keys have a dtype of their own, so that no arithmetic is done with them by
    mistake.

    Args:
      seed: a scalar integer; with 64 bits off its lower 32 bits count.
      impl: the generator, as in `key`.

    Returns:
      Array of shape (2,) and dtype uint32; of (4,) or (1,) for some generators.

    Raises:
      TypeError: the seed is not a scalar integer.

    Examples:
      >>> onax.random.PRNGKey(7)
      Array([0, 7], dtype=uint32)
    """
    out = key_from_seed("PRNGKey", seed, resolve_impl(impl))
    return out if config.jax_enable_custom_prng else unwrap_keys(out)


def wrap_key_data(key_bits_array: ArrayLike, *, impl: Any = None, dtype: DTypeLike | None = None) -> Array:
    """Returns the keys that the given words make up; the inverse of `key_data`.

    Args:
      key_bits_array: uint32 of shape (..., n); n is 2 for threefry2x32 and philox4x32, 4 for rbg, unsafe_rbg and
        threefry4x32, 1 for philox2x32.
      impl: the generator's name, or a generator; default the option `jax_default_prng_impl`.
      dtype: instead of `impl`, the dtype of another key.

    Returns:
      Key array of shape (...).

    Raises:
      TypeError: words of another dtype or shape.

    Examples:
      >>> key = onax.random.wrap_key_data(jnp.array([0, 7], jnp.uint32))
      >>> bool(key == onax.random.key(7))
      True
    """
    return _wrap_data(key_bits_array, resolve_impl(impl, dtype))


# ---- using keys


def split(key: ArrayLike, num: DimSize | tuple[DimSize, ...] = 2) -> Array:
    """Returns new keys, whose numbers are independent of one another.

    The old key must not be used again.

    Args:
      key: one key.
      num: the number of new keys, or a tuple or list, the shape of an array of them; default 2.

    Returns:
      Key array of shape (num,) or `num`; words of shape (num, 2) if `key` is given as words.

    Raises:
      ValueError: `key` is an array of keys; use `onax.vmap`.
      TypeError: `key` is no random key.

    Examples:
      >>> key, subkey = onax.random.split(onax.random.key(0))
      >>> key.shape, bool(key == subkey)
      ((), False)
    """
    key, raw = check_keys("split", key)
    if isinstance(num, (tuple, list)):
        shape = canonical_shape(num)
    else:
        shape = (num if isinstance(num, dims.SymbolicDim) else operator.index(num),)
    return _match_input(split_keys(key, shape), raw)


def fold_in(key: ArrayLike, data: ArrayLike) -> Array:
    """Returns a new key that depends on a key and on an integer, such as the number of a step.

    Args:
      key: one key.
      data: a scalar integer of 32 bits; of an array of shape () the lower 32 bits count.

    Returns:
      Key of shape ().

    Raises:
      ValueError: `key` is an array of keys; use `onax.vmap`.
      TypeError: `data` is an array with axes.
      OverflowError: `data` is a Python integer below 0 or above 2**32 - 1.

    Examples:
      >>> key = onax.random.key(0)
      >>> bool(onax.random.fold_in(key, 1) == onax.random.fold_in(key, 2))
      False
    """
    key, raw = check_keys("fold_in", key)
    if np.ndim(data):
        raise TypeError(
            f"fold_in accepts a scalar, but was given an array of shape {np.shape(data)} != (). "
            "Use jax.vmap for batching."
        )
    if guard_state.used:
        report_argument(data)
    if type(data) is int:
        data = np.uint32(data)
    return _match_input(fold_in_keys(key, convert_element_type(data, np.uint32)), raw)


def clone(key: ArrayLike) -> Array:
    """Returns the same keys again, for programs that mean to use them twice.

    With the option `jax_debug_key_reuse` a second use of a key is an error; a clone counts as a key of its own.

    Args:
      key: a key or an array of keys; any other array passes through.

    Returns:
      Array equal to `key`.

    Raises:
      TypeError: `key` is not an array.

    Examples:
      >>> key = onax.random.key(0)
      >>> bool(onax.random.clone(key) == key)
      True
    """
    return random_clone_p.bind(as_array(key))


# ---- taking keys apart


def key_data(keys: ArrayLike) -> Array:
    """Returns the words of keys; the inverse of `wrap_key_data`.

    Args:
      keys: a key array of shape (...).

    Returns:
      uint32 array of shape (..., 2), or (..., 4), (..., 1) for some generators.

    Raises:
      TypeError: `keys` is no key array.

    Examples:
      >>> onax.random.key_data(onax.random.key(7))
      Array([0, 7], dtype=uint32)
    """
    return unwrap_keys(check_keys("key_data", keys, single=False)[0])


def key_impl(keys: ArrayLike) -> Any:
    """Returns the generator of keys.

    Args:
      keys: a key array.

    Returns:
      The generator's name, a str; of a generator that a user defined, the generator.

    Examples:
      >>> onax.random.key_impl(onax.random.key(0))
      'threefry2x32'
    """
    impl = check_keys("key_impl", keys, single=False)[0].dtype._impl
    return impl if impl.functions else impl.name


def key_dtype(impl_spec: Any = None) -> Any:
    """Returns the dtype of the keys of a generator.

    Args:
      impl_spec: the generator's name, a generator, or a key dtype; default the option `jax_default_prng_impl`.

    Returns:
      The dtype.

    Raises:
      ValueError: there is no generator of this name.

    Examples:
      >>> onax.random.key_dtype("rbg")
      key<rbg>
    """
    return dtype_of_impl(resolve_impl(impl_spec))
