"""Lowerings of random keys and bits: Threefry-2x32 and Philox-4x32 in integer operators, which every opset from 18 has.

A key is a tuple of its words.  FORMS holds the split, fold_in and bits of each generator; those of a user's generator
are its own functions, mapped over the keys.

The other direction: `pkg/onax/onnx/random.py`.
"""

import math
from dataclasses import dataclass

import numpy as np

from onax._ground import dims as dim_rules
from onax._ground.errors import LoweringError
from onax._prims import random as prims
from onax._prims.convert import convert
from onax._prims.creation import iota
from onax._prims.elementwise import add, lt, mul
from onax._prims.elementwise_bits import bitwise_and, bitwise_or, bitwise_xor, shift_left, shift_right_logical
from onax._prims.random import U32, UNSIGNED, threefry2x32_p, unwrap_keys
from onax._prims.random_generators import rbg_impl, threefry_impl, unsafe_rbg_impl
from onax._prims.shaping import expand_dims, reshape, shape_of, transpose
from onax._prims.slicing import concatenate, slice_in_dim
from onax._transforms.vmap import vmap
from onax.export.graph import ops
from onax.export.lower import driver
from onax.export.lower.convert import convert as convert_value
from onax.export.lower.convert import refuse
from onax.export.lower.random_counters import COUNTER_FORMS, COUNTER_SEEDS
from onax.export.lower.registry import decompose, lowers, lowers_components

# ---- threefry2x32

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


@dataclass(slots=True, eq=False, repr=False)
class _Uint32Builder:
    """Builders of uint32 nodes over one graph."""

    g: object

    def node(self, op_type, x, y, **attributes):
        y = y if hasattr(y, "aval") else self.g.const(y, U32)
        return self.g.node(op_type, x, y, out=(ops.broadcast_shape(x.shape, y.shape), U32), **attributes)

    def add(self, x, y):
        return self.node("Add", x, y)

    def xor(self, x, y):
        return self.node("BitwiseXor", x, y)

    def rotate(self, x, amount):
        # The runtime multiplies and adds in half the time of a left shift and a bitwise or.
        left = self.node("Mul", x, 1 << amount)
        return self.add(left, self.node("BitShift", x, 32 - amount, direction="RIGHT"))


@lowers(threefry2x32_p)
def _threefry(g, outs, k0, k1, c0, c1):
    u32 = _Uint32Builder(g)
    keys = (k0, k1, u32.xor(u32.xor(k0, k1), _PARITY))
    x, y = u32.add(c0, k0), u32.add(c1, k1)
    for i in range(5):
        for amount in _ROTATIONS[i % 2]:
            x = u32.add(x, y)
            y = u32.xor(u32.rotate(y, amount), x)
        x = u32.add(x, keys[(i + 1) % 3])
        y = u32.add(y, u32.add(keys[(i + 2) % 3], i + 1))
    return tuple(ops.expand(g, v, out.shape) for v, out in zip((x, y), outs))


# ---- keys and their key_data


@lowers_components(prims.random_wrap_p)
def _wrap(g, out, key_data, *, impl):
    return driver.split(g, key_data, out)


@lowers_components(prims.random_unwrap_p)
def _unwrap(g, out, keys, *, impl=threefry_impl):
    last = len(out.shape) - 1
    return ops.concat(g, [ops.unsqueeze(g, v, (last,)) for v in keys], last)


@lowers_components(prims.random_seed_p)
def _seed(g, out, seeds, *, impl):
    if impl.functions is not None:
        refuse(g, f"seeding keys of the generator {impl.name!r} has no ONNX form: give the exported function the key.")
    if impl in COUNTER_SEEDS:
        return driver.split(g, driver.lower_function(g, COUNTER_SEEDS[impl], {}, [seeds.aval], [seeds])[0], out)
    low = convert_value(g, seeds, U32)
    if seeds.dtype.itemsize < 8:
        key_data = ops.full(g, out.shape, 0, U32), low
    else:
        wide = convert_value(g, seeds, np.dtype(np.uint64))
        high = g.node("BitShift", wide, g.const(32, wide.dtype), out=wide.aval, direction="RIGHT")
        key_data = convert_value(g, high, U32), low
    return key_data * (impl.key_shape[0] // 2)


lowers(prims.random_clone_p)(lambda g, out, x: x)

# ---- split, fold_in, bits: functions of key_data


def _function(primitive):
    """Decorator: lowers a primitive with keys to this function of other primitives."""

    def register(function):
        decompose(primitive, function, components=True)
        return function

    return register


def _key_halves(key_data, extra):
    """The two key_data of keys (..., 2), each with `extra` trailing axes of length 1."""
    shape = shape_of(key_data)[:-1]
    parts = [reshape(slice_in_dim(key_data, i, i + 1, axis=len(shape)), shape) for i in range(2)]
    behind = tuple(range(len(shape), len(shape) + extra))
    return [expand_dims(p, behind) if shape else p for p in parts]


def _counter_count(shape, partitionable=False):
    """The number of counters for a shape; it may be symbolic only if each element has its own counter."""
    if not partitionable and not dim_rules.is_constant_shape(shape):
        raise LoweringError(
            f"random bits of symbolic shape {shape} have an ONNX form only for threefry2x32 with "
            "jax_threefry_partitionable: give them a known shape."
        )
    return dim_rules.prod(shape)


def _threefry_blocks(key_data, *counters):
    """The two key_data of the blocks for keys (..., 2), of shape (..., counters) each."""
    rank = len(shape_of(key_data)) - 1
    if rank:
        counters = [expand_dims(c, tuple(range(rank))) if shape_of(c) else c for c in counters]
    return threefry2x32_p.bind(*_key_halves(key_data, 1), *counters)


def _count_blocks(key_data, size):
    # The high word of the counter is 0: 2 ** 32 blocks would not fit into memory.
    return _threefry_blocks(key_data, np.uint32(0), iota(U32, size))


def _stream_words(key_data, size):
    """Words for one stream of counters that is cut into halves; an odd last counter is paired with 0."""
    half = (size + 1) // 2
    counters = np.arange(2 * half, dtype=U32)
    if size % 2:
        counters[size] = 0
    first, second = _threefry_blocks(key_data, counters[:half], counters[half:])
    rank = len(shape_of(key_data)) - 1
    return slice_in_dim(concatenate([first, second], rank), 0, size, axis=rank)


def _stack_last(parts):
    """Stacks arrays along a new last axis."""
    rank = len(shape_of(parts[0]))
    return concatenate([expand_dims(p, (rank,)) for p in parts], rank)


def _threefry_split(key_data, shape, partitionable=True):
    lead, size = shape_of(key_data)[:-1], _counter_count(shape, partitionable)
    new = _stack_last(_count_blocks(key_data, size)) if partitionable else _stream_words(key_data, 2 * size)
    return reshape(new, (*lead, *shape, 2))


def _threefry_fold_in(key_data, data):
    return _stack_last(threefry2x32_p.bind(*_key_halves(key_data, 0), np.uint32(0), data))


def _join_words(high, low):
    wide = UNSIGNED[64]
    return bitwise_or(shift_left(convert(high, wide), convert(np.uint32(32), wide)), convert(low, wide))


def _threefry_bits_original(key_data, bit_width, size):
    lead = shape_of(key_data)[:-1]
    rank = len(lead)
    drawn = _stream_words(key_data, -(-bit_width * size // 32))
    if bit_width == 64:
        return _join_words(*(slice_in_dim(drawn, i * size, (i + 1) * size, axis=rank) for i in range(2)))
    if bit_width == 32:
        return drawn
    amounts = expand_dims(np.arange(0, 32, bit_width, dtype=U32), tuple(range(rank + 1)))
    parts = convert(shift_right_logical(expand_dims(drawn, (rank + 1,)), amounts), UNSIGNED[bit_width])
    flat = reshape(parts, (*lead, shape_of(parts)[-2] * shape_of(parts)[-1]))
    return slice_in_dim(flat, 0, size, axis=rank)


def _threefry_bits(key_data, bit_width, shape, partitionable=True):
    size = _counter_count(shape, partitionable)
    if not partitionable:
        out = _threefry_bits_original(key_data, bit_width, size)
    else:
        high, low = _count_blocks(key_data, size)
        out = _join_words(high, low) if bit_width == 64 else convert(bitwise_xor(high, low), UNSIGNED[bit_width])
    return reshape(out, (*shape_of(key_data)[:-1], *shape))


# ---- Philox-4x32, and the generators on it

_WIDE = np.dtype(np.uint64)
_MULTIPLIERS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)


def _wide(value):
    """A number below 2^32 as uint64, also if x64 is disabled."""
    return convert(np.uint32(value), _WIDE)


def _high_word(x):
    return shift_right_logical(x, _wide(32))


def _low_word(x):
    return bitwise_and(x, _wide(0xFFFFFFFF))


def _philox(state, blocks):
    """The first blocks of the stream of a state (4,), as words of shape (blocks, 4)."""
    words = [convert(reshape(slice_in_dim(state, i, i + 1), ()), _WIDE) for i in range(4)]
    key = words[:2]
    upper, lower = (bitwise_or(words[i], shift_left(words[i + 1], _wide(32))) for i in (0, 2))
    here = add(convert(iota(U32, blocks), _WIDE), lower)
    above = add(convert(lt(here, lower), _WIDE), upper)
    x = [_low_word(here), _high_word(here), _low_word(above), _high_word(above)]
    for _ in range(10):
        a, b = mul(x[0], _wide(_MULTIPLIERS[0])), mul(x[2], _wide(_MULTIPLIERS[1]))
        x = [
            bitwise_xor(bitwise_xor(_high_word(b), x[1]), key[0]), _low_word(b),
            bitwise_xor(bitwise_xor(_high_word(a), x[3]), key[1]), _low_word(a),
        ]  # fmt: skip
        key = [_low_word(add(k, _wide(w))) for k, w in zip(key, _WEYL)]
    return convert(_stack_last(x), U32)


def _first_key(key_data):
    flat = reshape(key_data, (math.prod(shape_of(key_data)[:-1]), 4))
    return reshape(slice_in_dim(flat, 0, 1), (4,))


def _rbg_bits(key_data, bit_width, shape, partitionable=True):
    shape = (*shape_of(key_data)[:-1], *shape)
    size = _counter_count(shape)
    count = -(-size * max(bit_width, 32) // 128)
    drawn = reshape(_philox(_first_key(key_data), count), (4 * count,))
    if bit_width == 64:
        pairs = reshape(drawn, (2 * count, 2))
        low, high = (reshape(slice_in_dim(pairs, i, i + 1, axis=1), (2 * count,)) for i in range(2))
        drawn = _join_words(high, low)
    return reshape(convert(slice_in_dim(drawn, 0, size), UNSIGNED[bit_width]), shape)


def _rbg_split(key_data, shape, partitionable=True):
    lead = shape_of(key_data)[:-1]
    new = _threefry_split(reshape(key_data, (*lead, 2, 2)), shape, partitionable)
    at, rank = len(lead), len(shape_of(new))
    order = (*range(at), *range(at + 1, rank - 1), at, rank - 1)
    return reshape(transpose(new, order), (*lead, *shape, 4))


def _rbg_fold_in(key_data, data):
    halves = [slice_in_dim(key_data, i, i + 2, axis=len(shape_of(key_data)) - 1) for i in (0, 2)]
    new = [_threefry_fold_in(half, data) for half in halves]
    return concatenate(new, len(shape_of(new[0])) - 1)


_BLOCK_STRIDE = 10


def _unsafe_split(key_data, shape, partitionable=True):
    shape = (*shape_of(key_data)[:-1], *shape)
    size = _counter_count(shape)
    blocks = reshape(_philox(_first_key(key_data), _BLOCK_STRIDE * size), (size, _BLOCK_STRIDE, 4))
    return reshape(slice_in_dim(blocks, 0, 1, axis=1), (*shape, 4))


def _unsafe_fold_in(key_data, data):
    shape = shape_of(data)
    size = _counter_count(shape)
    seed = slice_in_dim(reshape(data, (size,)), 0, 1)
    zero = np.zeros(1, U32)
    blocks = reshape(_philox(concatenate([zero, seed, zero, seed], 0), _BLOCK_STRIDE * size), (size, _BLOCK_STRIDE, 4))
    new = reshape(slice_in_dim(blocks, _BLOCK_STRIDE - 1, _BLOCK_STRIDE, axis=1), (*shape, 4))
    rank = max(len(shape_of(key_data)), len(shape_of(new)))
    key_data, new = (x if len(shape_of(x)) == rank else expand_dims(x, tuple(range(rank - 1))) for x in (key_data, new))
    return bitwise_xor(key_data, new)


FORMS = {
    threefry_impl: (_threefry_split, _threefry_fold_in, _threefry_bits),
    rbg_impl: (_rbg_split, _rbg_fold_in, _rbg_bits),
    unsafe_rbg_impl: (_unsafe_split, _unsafe_fold_in, _rbg_bits),
    **COUNTER_FORMS,
}


def _map_function(impl, name):
    """Maps a user's function of one key over arrays of keys."""
    function = impl.functions[name]

    def form(key_data, *args, partitionable=True):
        lead = shape_of(key_data)[: len(shape_of(key_data)) - len(impl.key_shape)]
        if name == "fold_in":
            (data,) = args
            flat = reshape(key_data, (math.prod(lead), *impl.key_shape))
            out = vmap(function, (0, 0 if shape_of(data) else None))(
                flat, reshape(data, (math.prod(shape_of(data)),)) if lead else data
            )
        else:
            out = vmap(lambda key: function(key, *args))(reshape(key_data, (math.prod(lead), *impl.key_shape)))
        return reshape(out, (*lead, *shape_of(out)[1:]))

    return form


def _forms(impl):
    result = FORMS.get(impl)
    return tuple(_map_function(impl, n) for n in ("split", "fold_in", "random_bits")) if result is None else result


@_function(prims.random_split_p)
def _split(keys, *, shape, partitionable=True, impl=threefry_impl):
    key_data = _forms(impl)[0](unwrap_keys(keys), shape, partitionable=partitionable)
    return prims.random_wrap_p.bind(key_data, impl=impl)


@_function(prims.random_fold_in_p)
def _fold_in(keys, data, *, impl=threefry_impl):
    return prims.random_wrap_p.bind(_forms(impl)[1](unwrap_keys(keys), data), impl=impl)


@_function(prims.random_bits_p)
def _bits(keys, *, bit_width, shape, partitionable=True, impl=threefry_impl):
    return _forms(impl)[2](unwrap_keys(keys), bit_width, shape, partitionable=partitionable)
