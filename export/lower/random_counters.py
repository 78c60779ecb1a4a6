"""Lowering of the generators of `_prims/random_counters.py` with integer operations, for arrays of keys."""

from onax._core.trace import typeof
from onax._ground import dims as dim_rules
from onax._ground.errors import LoweringError
from onax._prims.convert import convert
from onax._prims.creation import iota
from onax._prims.elementwise import add, mul
from onax._prims.elementwise_bits import bitwise_or, bitwise_xor, shift_left, shift_right_logical
from onax._prims.elementwise_high import mulhi
from onax._prims.random_counters import GENERATORS, IMPLS, Arithmetic
from onax._prims.random_generators import U32, UNSIGNED
from onax._prims.shaping import broadcast_in_dim, broadcast_shapes, expand_dims, reshape, shape_of
from onax._prims.slicing import concatenate, slice_in_dim


def _product(x, constant):
    constant = U32.type(constant)
    return mul(x, constant), mulhi(x, constant)


def _rotate(x, amount):
    return bitwise_or(shift_left(x, U32.type(amount)), shift_right_logical(x, U32.type(32 - amount)))


_EQUATIONS = Arithmetic(add, bitwise_xor, _product, _rotate)


def _words(key_data, extra):
    """The words of keys, each with `extra` trailing axes of length 1; scalars for a single key."""
    *lead, number = shape_of(key_data)
    shape = (*lead, *[1] * extra) if lead else ()
    return [reshape(slice_in_dim(key_data, i, i + 1, axis=len(lead)), shape) for i in range(number)]


def _index(rank, shape):
    """The index of each element of a shape, behind `rank` axes of length 1."""
    if not dim_rules.is_constant_shape(shape):
        raise LoweringError(
            f"random bits of symbolic shape {shape} have an ONNX form only for threefry2x32 with "
            "jax_threefry_partitionable: give them a known shape."
        )
    flat = iota(U32, dim_rules.prod(shape))  # the upper word is 0: 2 ** 32 elements would not fit into memory
    return U32.type(0), reshape(flat, (*[1] * rank, *shape))


def _expand(word, shape):
    here = shape_of(word)
    return word if here == shape else broadcast_in_dim(word, shape, tuple(range(len(shape) - len(here), len(shape))))


def _stack(words, shape):
    return concatenate([expand_dims(_expand(word, shape), (len(shape),)) for word in words], len(shape))


def _seed_form(generator):
    def form(seeds):
        if seeds.dtype.itemsize == 8:
            wide = convert(seeds, UNSIGNED[64])
            upper = convert(shift_right_logical(wide, convert(U32.type(32), UNSIGNED[64])), U32)
            index = upper, convert(wide, U32)
        else:
            index = U32.type(0), convert(seeds, U32)
        return _stack(generator.seed(_EQUATIONS, index), shape_of(seeds))

    return form


def _forms(generator):
    """Its split, fold_in and bits, as functions of key data."""

    def split(key_data, shape, partitionable=True):
        lead = shape_of(key_data)[:-1]
        words = generator.split(_EQUATIONS, _words(key_data, len(shape)), _index(len(lead), shape))
        return _stack(words, (*lead, *shape))

    def fold_in(key_data, data):
        words = generator.split(_EQUATIONS, _words(key_data, 0), (U32.type(0), data))
        return _stack(words, broadcast_shapes(shape_of(key_data)[:-1], typeof(data).shape))

    def bits(key_data, bit_width, shape, partitionable=True):
        lead = shape_of(key_data)[:-1]
        words = generator.bits(_EQUATIONS, _words(key_data, len(shape)), _index(len(lead), shape), bit_width)
        dtype = UNSIGNED[bit_width]
        words = [_expand(convert(word, dtype), (*lead, *shape)) for word in words]
        if bit_width != 64:
            return words[0]
        return bitwise_or(shift_left(words[0], convert(U32.type(32), dtype)), words[1])

    return split, fold_in, bits


COUNTER_FORMS = {IMPLS[generator.name]: _forms(generator) for generator in GENERATORS}
COUNTER_SEEDS = {IMPLS[generator.name]: _seed_form(generator) for generator in GENERATORS}
