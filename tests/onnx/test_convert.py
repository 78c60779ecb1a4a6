"""Conversions of dtypes agree with ONNX Runtime."""

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

import onax.onnx
from onnx_nodes import check, floats, integers, model_of

TYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.int64, np.bool_, ml_dtypes.bfloat16]


@pytest.mark.parametrize("source", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("target", TYPES)
def test_cast(source, target):
    x = integers(3, 4, low=0, high=100).astype(source)
    reference = target is ml_dtypes.bfloat16
    check("Cast", x, grad=False, reference=reference, to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))


def test_saturation_of_eight_bit_floats():
    x = np.array([1.3, 500.0, -1e6, np.inf, np.nan], np.float32)
    to = helper.np_dtype_to_tensor_dtype(np.dtype(ml_dtypes.float8_e4m3fn))
    check("Cast", x, grad=False, reference=True, to=to)
    check("Cast", x, grad=False, reference=True, to=to, saturate=0)


def test_cast_like_reads_the_type_of_a_traced_target():
    check("CastLike", floats(3), integers(2), grad=False, opset=19)


def test_bit_cast_registered_since_26():
    assert onax.onnx.operators.find_operator("", "BitCast", 26) is not None


POWERS = np.array(
    [1.0, 1.4, 1.5, 3.0, 1e-3, 2.0**-127, 1.1 * 2.0**-127, 2.0**-149, 0, 3e38, np.inf, np.nan], np.float32
)


@pytest.mark.parametrize("mode, bound", [("up", np.ceil), ("down", np.floor), ("nearest", None)])
@pytest.mark.parametrize("saturate", [0, 1])
def test_powers_of_two(mode, bound, saturate):
    """Rounding to a power of two: by its logarithm up or down, by its distance to the nearest."""
    node = model_of("Cast", [POWERS], to=24, round_mode=mode, saturate=saturate, opset=24)
    got = np.asarray(onax.onnx.load(node)({}, POWERS)).astype(np.float64)
    with np.errstate(all="ignore"):
        low = np.exp2(np.floor(np.log2(POWERS.astype(np.float64))))
        nearest = np.where(POWERS - low < 2 * low - POWERS, low, 2 * low)
        want = nearest if bound is None else np.exp2(bound(np.log2(POWERS.astype(np.float64))))
    least, most = 2.0**-127, 2.0**127
    if saturate:
        want = np.clip(want, least, most)
    else:
        want = np.where((POWERS < least) | (want > most), np.nan, want)
    np.testing.assert_array_equal(got, want)
