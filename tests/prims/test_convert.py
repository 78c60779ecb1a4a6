"""Conversions at the edges of types.  Expected values: JAX 0.10.2 on the CPU."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
from onax import jit, lax
from onax import numpy as jnp
from onax._ground.config import enable_x64
from onax._prims.convert import cast
from tolerance import assert_same_bits

INF, NAN = np.inf, np.nan
EDGES = np.array([-INF, INF, NAN, -1.5, 1.5, -0.0, 300, -300, 3e9, -3e9, 1e19, -1e19, 127.9], np.float32)
SATURATED = {
    "int8": [-128, 127, 0, -1, 1, 0, 127, -128, 127, -128, 127, -128, 127],
    "uint8": [0, 255, 0, 0, 1, 0, 255, 0, 255, 0, 255, 0, 127],
    "int16": [-32768, 32767, 0, -1, 1, 0, 300, -300, 32767, -32768, 32767, -32768, 127],
    "int32": [-(2**31), 2**31 - 1, 0, -1, 1, 0, 300, -300, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 127],
    "uint32": [0, 2**32 - 1, 0, 0, 1, 0, 300, 0, 3000000000, 0, 2**32 - 1, 0, 127],
    "int64": [-(2**63), 2**63 - 1, 0, -1, 1, 0, 300, -300, 3000000000, -3000000000, 2**63 - 1, -(2**63), 127],
    "uint64": [0, 2**64 - 1, 0, 0, 1, 0, 300, 0, 3000000000, 0, 9999999980506447872, 0, 127],
    "bool": [True, True, True, True, True, False, True, True, True, True, True, True, True],
    "int4": [-8, 7, 0, -1, 1, 0, 7, -8, 7, -8, 7, -8, 7],
    "uint4": [0, 15, 0, 0, 1, 0, 15, 0, 15, 0, 15, 0, 15],
}


def dtype_named(name):
    """A NumPy or ml_dtypes dtype."""
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", SATURATED)
def test_floats_saturate(source, target):
    with enable_x64(True):
        got = lax.convert_element_type(EDGES.astype(source), dtype_named(target))
    assert np.asarray(got).astype(object).tolist() == SATURATED[target]


#     operand, target, expected
CASTS = (
    (np.array([127, 128, -129, 300]), "int8", [127, -128, 127, 44]),
    (np.array([127, 128, -129, 300]), "uint8", [127, 128, 127, 44]),
    (np.array([7, 8, -9, 300]), "int4", [7, -8, 7, -4]),
    (np.array([-1], np.int32), "uint64", [2**64 - 1]),
    (np.array([70000, 2049, 65519, 65520], np.int32), "float16", [INF, 2048.0, 65504.0, INF]),
    (np.array([1 + 2**-11 + 2**-40, 65519.999]), "float16", [1.0009765625, 65504.0]),
    (np.array([1 + 2**-8 + 2**-40, 1 + 3 * 2**-8]), "bfloat16", [1.0, 1.015625]),
    (np.array([1 + 2j, -3e10 + 1j, 1j]), "int32", [1, -(2**31), 0]),
    (np.array([1 + 2j, 0, 1j]), "bool", [True, False, False]),
    (np.array([1.5 + 2j]), "float32", [1.5]),
    (np.array([True, False]), "float32", [1.0, 0.0]),
    (np.array([500, 448, -460], np.float32), "float8_e4m3fn", [NAN, 448.0, -448.0]),
    (np.array([True, False]), "complex64", [1 + 0j, 0j]),
    (np.array([3, -8], ml_dtypes.int4), "float32", [3.0, -8.0]),
    (np.array([-1], ml_dtypes.int4), "uint4", [15]),
    (np.array([2, 0.5], ml_dtypes.float8_e4m3fn), "float8_e8m0fnu", [2.0, 0.5]),
    (np.array([2, 0.5], ml_dtypes.float8_e5m2), "complex64", [2.0, 0.5]),
)


@pytest.mark.parametrize("x, target, want", CASTS, ids=lambda v: getattr(getattr(v, "dtype", v), "name", str(v)))
def test_cast(x, target, want):
    dtype = dtype_named(target)
    with np.errstate(over="ignore"):
        got = cast(x, dtype)
    assert got.dtype == dtype
    assert_same_bits(got.astype(np.complex128), np.array(want).astype(np.complex128))


#     exponent bits, mantissa bits, values, expected
PRECISIONS = (
    (5, 10, [1.1, -1.1, 1e5, 65519, 65520, 1e-5, INF, NAN, -0.0, -1e-6],
     [1.099609375, -1.099609375, INF, 65504.0, INF, 0.0, INF, NAN, -0.0, -0.0]),
    (8, 7, [1.1, 1e5, 65519, 1.5, 3.4e38], [1.1015625, 99840.0, 65536.0, 1.5, INF]),
    (4, 3, [1.1, 300.0, 0.01], [1.125, INF, 0.0]),
    (2, 1, [1.1, 2.5, 0.75, 3.0], [1.0, 2.0, 0.0, 3.0]),
    (8, 0, [1.1, 1e5, 1.5, 2.5, 0.75, 3], [1.0, 131072.0, 2.0, 2.0, 0.5, 2.0]),
    (1, 0, [1.1, 0.75, 3], [0.0, 0.0, INF]),
    (8, 23, [1.1, 1e5], [1.1, 1e5]),
    (11, 52, [1.1, 1e5], [1.1, 1e5]),
)  # fmt: skip


@pytest.mark.parametrize("exponent, mantissa, values, want", PRECISIONS)
def test_reduce_precision(exponent, mantissa, values, want):
    got = np.asarray(lax.reduce_precision(np.array(values, np.float32), exponent, mantissa))
    assert_same_bits(got, np.array(want, np.float32))
    assert (np.signbit(got) == np.signbit(np.array(want, np.float32))).all()


PACKED = [  # dtypes and what the bits of 0x..34, -1 are, the lowest first
    ("int8", "int4", [[4, 3], [-1, -1]]),
    ("uint8", "uint4", [[4, 3], [15, 15]]),
    ("int8", "int2", [[0, 1, -1, 0], [-1, -1, -1, -1]]),
    ("int16", "uint2", [[0, 1, 3, 0, 0, 0, 0, 0], [3] * 8]),
    ("int8", "float4_e2m1fn", [[2, 1.5], [-6, -6]]),
]


@pytest.mark.parametrize(("wide", "narrow", "expected"), PACKED)
def test_bitcast_packs_elements_of_fewer_than_8_bits(wide, narrow, expected):
    x = jnp.asarray(np.array([0x34, -1]).astype(wide))
    unpack = lambda x: lax.bitcast_convert_type(x, narrow)
    pack = lambda x: lax.bitcast_convert_type(x, wide)
    for run in (unpack, jax.jit(unpack), jax.vmap(unpack)):
        parts = run(x)
        assert parts.dtype == narrow and np.asarray(parts).astype(np.float32).tolist() == expected
    for run in (pack, jax.jit(pack), jax.vmap(pack), lambda p: jax.vmap(pack, in_axes=1)(p.T)):
        assert run(parts).dtype == wide and run(parts).tolist() == x.tolist()
    np.testing.assert_array_equal(x.view(narrow), parts.reshape(-1))
    np.testing.assert_array_equal(x.view(narrow).view(wide), x)


def test_bitcast_between_4_and_2_bits():
    pairs = lax.bitcast_convert_type(jnp.array([1, -2], "int4"), "int2")
    assert pairs.tolist() == [[1, 0], [-2, -1]]
    assert lax.bitcast_convert_type(pairs, "uint4").tolist() == [1, 14]


def test_bitcast_changes_rank():
    narrow = lax.bitcast_convert_type(np.float32([1.5]), np.uint8)
    assert np.asarray(narrow).tolist() == [[0, 0, 192, 63]]
    assert np.asarray(lax.bitcast_convert_type(narrow, np.float32)).tolist() == [1.5]
    assert lax.bitcast_convert_type(np.float32(1), np.int32).shape == ()


#     call, error, words
ERRORS = (
    (lambda: lax.convert_element_type(1.0, None), ValueError, "dtype must be specified"),
    (lambda: lax.convert_element_type(np.ones(2), "S1"), TypeError, "got dtype"),
    (lambda: lax.bitcast_convert_type(np.ones(3, np.float32), bool), TypeError, "does not support bool or complex"),
    (lambda: lax.bitcast_convert_type(np.ones(3, np.uint8), np.uint16), ValueError, "3 * 8 != 16"),
    (lambda: lax.bitcast_convert_type(np.uint8(1), np.uint16), ValueError, "1 * 8 != 16"),
    (lambda: lax.bitcast_convert_type(jnp.ones(2, "int4"), np.int16), ValueError, "2 * 4 != 16"),
    (lambda: lax.bitcast_convert_type(jnp.ones(2, "float6_e2m3fn"), np.int8), NotImplementedError, "6 bits"),
    (lambda: lax.reduce_precision(np.float32(1), 0, 3), ValueError, "exponent_bits must be positive; got 0"),
    (lambda: lax.reduce_precision(np.float32(1), 3, -1), ValueError, "mantissa_bits must be non-negative; got -1"),
    (lambda: lax.reduce_precision(np.int32(1), 3, 1), TypeError, "reduce_precision does not accept dtype int32"),
)


@pytest.mark.parametrize("call, error, words", ERRORS)
def test_errors(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_real_parts_have_memory_of_their_own():
    x = jnp.ones(3, "complex64")
    with pytest.warns(np.exceptions.ComplexWarning):
        real = lax.convert_element_type(x, "float32")
    assert real.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(real, np.ones(3, np.float32))


def test_weak_types_are_dropped():
    assert not lax.convert_element_type(1.0, np.float32).weak_type
    assert not lax.convert_element_type(1, float).weak_type
    assert lax.reduce_precision(1.0, 5, 3).weak_type
    assert not lax.bitcast_convert_type(1.0, np.float32).weak_type


FLOATS = ["float64", "float32", "float16", "bfloat16"]


@pytest.mark.parametrize("have", FLOATS)
@pytest.mark.parametrize("dtype", [*FLOATS, "bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_many_numbers_are_converted_as_few(have, dtype):
    """Operations over blocks convert many of them."""
    special = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        254.7,
        -129.0,
        3e4,
        7e4,
        -7e4,
        3e9,
        -3e9,
        2e19,
        -2e19,
        np.inf,
        -np.inf,
        np.nan,
    ]
    with np.errstate(all="ignore"):
        few = np.array(special).astype(have)
        want = cast(few, np.dtype(dtype))
        got = cast(np.tile(few, 100), np.dtype(dtype))
    assert_same_bits(got, np.tile(want, 100))


@pytest.mark.parametrize("value", [2**100, -(2**70), 2**64])
def test_python_numbers_beyond_64_bits_become_floats(value):
    convert = lambda: lax.convert_element_type(value, np.float32)
    for out in (convert(), jit(convert)()):
        assert out.dtype == np.float32 and float(out) == value
    with pytest.raises(OverflowError):
        lax.convert_element_type(value, np.int32)
