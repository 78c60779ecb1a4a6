"""Primitives for keys of threefry2x32 inside programs over blocks, where a key is two words.

    key_words     keys -> their first words, their second words
    whole_keys    first and second words -> keys
    positions     the numbers of the positions along the last axes, from 0
    threefry_*    one word of each block, or both folded into one: of first words, second words, counters below 2**32

The pass of `_compile/passes/words.py` makes their equations after everything else is done, so they have no rules of
transformation.  A generator of another kind, and its keys, never get here.
"""

from functools import partial

import numpy as np

from onax._control.block_code import counters, row
from onax._control.fused import dense_strides
from onax._core.facts import THREEFRY
from onax._native import threefry
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._prims.random import U32, is_key_dtype
from onax._prims.random_generators import key_dtype, threefry_impl

KEY = key_dtype(threefry_impl)


def is_threefry_key(dtype):
    """Whether elements of a dtype are keys of threefry2x32."""
    return is_key_dtype(dtype) and dtype == KEY


def _primitive(name, kernel, abstract_eval, **fields):
    return Primitive(name, kernel=kernel, abstract_eval=abstract_eval, weak=NEVER, **fields)


def unpack_keys(keys):
    """The first and the second words of an ndarray of keys."""
    words = np.ascontiguousarray(keys).reshape(-1).view(U32).reshape((*keys.shape, 2))
    return words[..., 0], words[..., 1]


def _pack_kernel(first, second):
    return np.stack([first, second], -1).reshape(-1).view(KEY.storage).reshape(first.shape)


unpack_keys_p = _primitive(
    "unpack_keys", unpack_keys, lambda keys: [ShapedArray(keys.shape, U32)] * 2, multiple_results=True
)
pack_keys_p = _primitive("pack_keys", _pack_kernel, lambda first, second: ShapedArray(first.shape, KEY))


def _positions_kernel(*, shape, axes):
    counted = shape[len(shape) - axes :]
    return np.broadcast_to(np.arange(np.prod(counted), dtype=U32).reshape(counted), shape)


positions_p = _primitive("positions", _positions_kernel, lambda *, shape, axes: ShapedArray(shape, U32))


def _positions_strides(eqn):
    shape, axes = eqn.params["shape"], eqn.params["axes"]
    return (*(0,) * (len(shape) - axes), *dense_strides(shape[len(shape) - axes :]))


counters.set(positions_p, _positions_strides)


def _threefry_kernel(first, second, counters, *, which):
    words = threefry.threefry2x32(first, second, np.zeros((), U32), counters)
    return words[0] ^ words[1] if which == "both" else words[which == "second"]


def _threefry(which):
    kernel = partial(_threefry_kernel, which=which)
    found = _primitive(
        f"threefry_{which}",
        kernel,
        lambda a, b, counters: ShapedArray(np.broadcast_shapes(a.shape, b.shape, counters.shape), U32),
        facts={THREEFRY},
    )
    row(found, found.name)
    return found


threefry_first_p, threefry_second_p, threefry_both_p = map(_threefry, ("first", "second", "both"))
