"""The bits of floats in arithmetic, for opsets without BitCast: every kind of number, in both directions."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import operators, run_kernel, run_lowering
from onax._prims.convert import bitcast_convert_type_p
from tolerance import assert_same_bits

BF16 = np.dtype(ml_dtypes.bfloat16)
WORDS = {"float16": np.uint16, BF16: np.uint16, "float32": np.uint32, "float64": np.uint64}


def _every_kind(dtype, word):
    """Words: zeros, smallest and largest of each kind of number, neighbours of powers of two, random ones; no NaN."""
    rng = np.random.default_rng(0)
    size = np.dtype(word).itemsize
    drawn = np.frombuffer(rng.bytes(20000 * size), word)
    with np.errstate(over="ignore", under="ignore"):
        top = ml_dtypes.finfo(dtype)
        powers = np.float64(2) ** np.arange(int(np.log2(float(top.smallest_subnormal))), int(top.maxexp))
    exact = powers.astype(dtype).view(word)
    edges = np.concatenate([exact, exact + word(1), exact - word(1), np.array([0, 1, 2, 3], word)])
    edges = np.concatenate(
        [edges, edges | word(1 << (8 * size - 1)), np.array([np.inf, -np.inf]).astype(dtype).view(word)]
    )
    words = np.concatenate([drawn, edges])
    return words[~np.isnan(words.view(dtype).astype(np.float64))]


@pytest.mark.parametrize("dtype", WORDS, ids=str)
def test_bits_and_back_are_exact(dtype):
    words = _every_kind(dtype, WORDS[dtype])
    floats = words.view(dtype)
    (bits,) = run_lowering(bitcast_convert_type_p, [floats], {"new_dtype": np.dtype(WORDS[dtype])})
    assert_same_bits(bits, words)
    (back,) = run_lowering(bitcast_convert_type_p, [words], {"new_dtype": np.dtype(dtype)})
    assert_same_bits(back.view(WORDS[dtype]), words)


@pytest.mark.parametrize("dtype", WORDS, ids=str)
def test_nan_has_the_bits_of_the_nan_of_numpy(dtype):
    word = WORDS[dtype]
    nan = np.array([np.nan], dtype)
    (bits,) = run_lowering(bitcast_convert_type_p, [-nan], {"new_dtype": np.dtype(word)})
    assert_same_bits(bits, nan.view(word))
    (back,) = run_lowering(bitcast_convert_type_p, [nan.view(word) | word(1)], {"new_dtype": np.dtype(dtype)})
    assert np.isnan(back).all()


def test_between_widths():
    x = np.array([[0, 0, 0x80, 0x3F], [0xFF, 0xFF, 0x7F, 0xFF]], np.uint8)
    (got,) = run_lowering(bitcast_convert_type_p, [x], {"new_dtype": np.dtype(np.float32)}, 18)
    assert_same_bits(got, run_kernel(bitcast_convert_type_p, [x], {"new_dtype": np.dtype(np.float32)})[0])


def test_float32_needs_neither_float64_nor_64_bit_integers():
    x = np.ones(3, np.float32)
    counted = operators(bitcast_convert_type_p, [x], {"new_dtype": np.dtype(np.int32)})
    assert "BitCast" not in counted and "Log" in counted
