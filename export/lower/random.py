"""ONNX forms of random keys and bits: Threefry-2x32 in integer operators, the rest as functions of it.

A key is a tuple of its words.  Every opset from 18 on has the operators.
"""

import math

import numpy as np

from onax._ground import dims as dim_rules
from onax._ground.errors import LoweringError
from onax._prims import random as prims
from onax._prims.convert import convert
from onax._prims.elementwise import bitwise_or, bitwise_xor, shift_left, shift_right_logical
from onax._prims.random import U32, UNSIGNED, threefry2x32_p
from onax._prims.shaping import expand_dims, iota, reshape, shape_of
from onax._prims.slicing import concatenate, slice_in_dim
from onax.export.graph import ops
from onax.export.lower import driver
from onax.export.lower.convert import convert as convert_value
from onax.export.lower.registry import COMPONENT_RULES, Decomposition, decompose, lowers, lowers_components

# ---- threefry2x32

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


class _Words:
    """Builders of uint32 nodes over one graph."""

    __slots__ = ("g",)

    def __init__(self, g):
        self.g = g

    def node(self, op_type, x, y, **attributes):
        y = y if hasattr(y, "aval") else self.g.const(y, U32)
        return self.g.node(op_type, x, y, out=(ops.broadcast_shape(x.shape, y.shape), U32), **attributes)

    def add(self, x, y):
        return self.node("Add", x, y)

    def xor(self, x, y):
        return self.node("BitwiseXor", x, y)

    def rotate(self, x, amount):
        # The runtime multiplies and adds twice as fast as it shifts to the left and joins bits.
        left = self.node("Mul", x, 1 << amount)
        return self.add(left, self.node("BitShift", x, 32 - amount, direction="RIGHT"))


@lowers(threefry2x32_p)
def _threefry(g, outs, k0, k1, c0, c1):
    words = _Words(g)
    keys = (k0, k1, words.xor(words.xor(k0, k1), _PARITY))
    x, y = words.add(c0, k0), words.add(c1, k1)
    for i in range(5):
        for amount in _ROTATIONS[i % 2]:
            x = words.add(x, y)
            y = words.xor(words.rotate(y, amount), x)
        x = words.add(x, keys[(i + 1) % 3])
        y = words.add(y, words.add(keys[(i + 2) % 3], i + 1))
    return tuple(ops.expand(g, v, out.shape) for v, out in zip((x, y), outs))


# ---- keys and their words


@lowers_components(prims.random_wrap_p)
def _wrap(g, out, words, *, impl):
    return driver.split(g, words, out)


@lowers_components(prims.random_unwrap_p)
def _unwrap(g, out, keys):
    last = len(out.shape) - 1
    return ops.concat(g, [ops.unsqueeze(g, v, (last,)) for v in keys], last)


@lowers_components(prims.random_seed_p)
def _seed(g, out, seeds, *, impl):
    low = convert_value(g, seeds, U32)
    if seeds.dtype.itemsize < 8:
        return ops.full(g, out.shape, 0, U32), low
    wide = convert_value(g, seeds, np.dtype(np.uint64))
    high = g.node("BitShift", wide, g.const(32, wide.dtype), out=wide.aval, direction="RIGHT")
    return convert_value(g, high, U32), low


lowers(prims.random_clone_p)(lambda g, out, x: x)

# ---- split, fold_in, bits: functions of words


def _function(primitive):
    """Decorator: the primitive, which takes keys or gives them, is this function of other primitives."""

    def register(function):
        decompose(primitive, function)
        COMPONENT_RULES[primitive] = Decomposition(function)
        return function

    return register


def _key_words(keys, extra):
    """The two words of keys, with so many axes of length 1 behind."""
    words = prims.random_unwrap_p.bind(keys)
    rank = len(shape_of(keys))
    behind = tuple(range(rank, rank + extra))
    parts = [slice_in_dim(words, i, i + 1, axis=rank) for i in range(2)]
    return [expand_dims(reshape(p, shape_of(keys)), behind) if rank else reshape(p, ()) for p in parts]


def _size(shape):
    if not dim_rules.is_constant_shape(shape):
        raise LoweringError(f"random bits of the symbolic shape {shape} have no ONNX form: give them a known shape.")
    return math.prod(shape)


def _blocks(keys, *counters):
    """Both words of each key's blocks: keys.shape + (counters,)."""
    rank = len(shape_of(keys))
    if rank:
        counters = [expand_dims(c, tuple(range(rank))) if shape_of(c) else c for c in counters]
    return threefry2x32_p.bind(*_key_words(keys, 1), *counters)


def _counted(keys, size):
    # Less than 2 ** 32 counters: more would not fit into memory.
    return _blocks(keys, np.uint32(0), iota(U32, size))


def _streamed(keys, size):
    """Words from one stream of counters cut into halves; of an odd number, the last is paired with 0."""
    half = (size + 1) // 2
    counters = np.arange(2 * half, dtype=U32)
    if size % 2:
        counters[size] = 0
    first, second = _blocks(keys, counters[:half], counters[half:])
    words = concatenate([first, second], len(shape_of(keys)))
    return slice_in_dim(words, 0, size, axis=len(shape_of(keys)))


@_function(prims.random_split_p)
def _split(keys, *, shape, partitionable=True):
    lead, size = shape_of(keys), _size(shape)
    if partitionable:
        first, second = (expand_dims(w, (len(lead) + 1,)) for w in _counted(keys, size))
        words = concatenate([first, second], len(lead) + 1)
    else:
        words = _streamed(keys, 2 * size)
    return prims.random_wrap_p.bind(reshape(words, (*lead, *shape, 2)), impl=keys.dtype._impl)


@_function(prims.random_fold_in_p)
def _fold_in(keys, data):
    rank = max(len(shape_of(keys)), len(shape_of(data)))
    words = threefry2x32_p.bind(*_key_words(keys, 0), np.uint32(0), data)
    return prims.random_wrap_p.bind(concatenate([expand_dims(w, (rank,)) for w in words], rank), impl=keys.dtype._impl)


def _joined(high, low):
    wide = UNSIGNED[64]
    return bitwise_or(shift_left(convert(high, wide), convert(np.uint32(32), wide)), convert(low, wide))


def _streamed_bits(keys, bit_width, size):
    rank = len(shape_of(keys))
    words = _streamed(keys, -(-bit_width * size // 32))
    if bit_width == 64:
        return _joined(*(slice_in_dim(words, i * size, (i + 1) * size, axis=rank) for i in range(2)))
    if bit_width == 32:
        return words
    amounts = expand_dims(np.arange(0, 32, bit_width, dtype=U32), tuple(range(rank + 1)))
    parts = convert(shift_right_logical(expand_dims(words, (rank + 1,)), amounts), UNSIGNED[bit_width])
    flat = reshape(parts, (*shape_of(keys), shape_of(parts)[-2] * shape_of(parts)[-1]))
    return slice_in_dim(flat, 0, size, axis=rank)


@_function(prims.random_bits_p)
def _bits(keys, *, bit_width, shape, partitionable=True):
    size = _size(shape)
    if not partitionable:
        out = _streamed_bits(keys, bit_width, size)
    else:
        high, low = _counted(keys, size)
        out = _joined(high, low) if bit_width == 64 else convert(bitwise_xor(high, low), UNSIGNED[bit_width])
    return reshape(out, (*shape_of(keys), *shape))
