"""The ONNX forms of the changes of type: saturation, bits, precision."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import NEWEST, OPSETS, graph_of, operators, run_kernel, run_lowering
from onax._prims.convert import bitcast_convert_type_p, convert_element_type_p, reduce_precision_p
from onax.errors import LoweringError
from tolerance import assert_same_bits

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("float32", "float64", "float16", BF16)]
INTEGERS = [np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)]
HARD = [np.nan, np.inf, -np.inf, -0.0, -0.5, -1.5, 300.7, 70000.0, 1e20, -1e20, 2.0**31, -(2.0**31), 2.0**32, 2.0**63,
        2.0**64, 1.5 * 2.0**63, 127.9, 255.9, 65535.9]  # fmt: skip


def _params(dtype):
    return {"new_dtype": np.dtype(dtype), "weak_type": False, "sharding": None}


# What JAX 0.10.2 gives on the CPU for [NaN, inf, -inf, -0.5, -1.5, 300.7, 1e20, -1e20] in float32.
SATURATED = {
    "int8": [0, 127, -128, 0, -1, 127, 127, -128],
    "uint8": [0, 255, 0, 0, 0, 255, 255, 0],
    "int16": [0, 32767, -32768, 0, -1, 300, 32767, -32768],
    "int32": [0, 2**31 - 1, -(2**31), 0, -1, 300, 2**31 - 1, -(2**31)],
    "uint32": [0, 2**32 - 1, 0, 0, 0, 300, 2**32 - 1, 0],
    "int64": [0, 2**63 - 1, -(2**63), 0, -1, 300, 2**63 - 1, -(2**63)],
    "uint64": [0, 2**64 - 1, 0, 0, 0, 300, 2**64 - 1, 0],
    "bool": [True, True, True, True, True, True, True, True],
}


@pytest.mark.parametrize("dtype", SATURATED)
@pytest.mark.parametrize("opset", OPSETS)
def test_floats_saturate(dtype, opset):
    x = np.array([np.nan, np.inf, -np.inf, -0.5, -1.5, 300.7, 1e20, -1e20], np.float32)
    (got,) = run_lowering(convert_element_type_p, [x], _params(dtype), opset)
    assert_same_bits(got, np.array(SATURATED[dtype], dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_limit_of_every_integer(dtype):
    with np.errstate(all="ignore"):
        x = np.array(HARD, np.float64).astype(np.float32 if dtype == BF16 else dtype).astype(dtype)
    for to in INTEGERS:
        (got,) = run_lowering(convert_element_type_p, [x], _params(to))
        assert_same_bits(got, run_kernel(convert_element_type_p, [x], _params(to))[0], f"{dtype} to {to}")


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_wrap(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 77], dtype)
    for to in [*INTEGERS, *FLOATS, np.dtype(bool)]:
        (got,) = run_lowering(convert_element_type_p, [x], _params(to))
        assert_same_bits(got, run_kernel(convert_element_type_p, [x], _params(to))[0], f"{dtype} to {to}")


def test_a_small_constant_is_converted_at_once():
    assert operators(convert_element_type_p, [np.float32(2)], _params("int8"), constants=(0,)) == ["Identity"]


# operand, its dtype, result dtype, an operator of opset 26
BITS = [
    ([1, -2], "int32", "uint32", False),
    ([0x01020304, -1], "int32", "int8", False),
    ([[1, 2, 3, 4], [255, 255, 255, 255]], "uint8", "uint32", False),
    ([[1, -1]], "int32", "int64", False),
    ([0x0102030405060708], "uint64", "int16", False),
    ([1.5, -0.0, np.nan], "float32", "int32", True),
    ([1.5, -2.0], "float16", "uint8", True),
    ([[0, 0, 0x80, 0x3F]], "uint8", "float32", True),
    ([1.5], "float64", "int32", True),
]


@pytest.mark.parametrize("values, dtype, to, newest", BITS)
def test_bits(values, dtype, to, newest):
    x, params = np.array(values, dtype), {"new_dtype": np.dtype(to)}
    (got,) = run_lowering(bitcast_convert_type_p, [x], params, NEWEST if newest else 18)
    assert_same_bits(got, run_kernel(bitcast_convert_type_p, [x], params)[0])
    if newest:
        assert_same_bits(run_lowering(bitcast_convert_type_p, [x], params, 25)[0], got)


def test_bits_of_narrow_floats_need_opset_26():
    x, params = np.array([1.5], ml_dtypes.float8_e5m2), {"new_dtype": np.dtype(np.uint8)}
    with pytest.raises(LoweringError, match="from opset 26 on"):
        run_lowering(bitcast_convert_type_p, [x], params, 25)


@pytest.mark.parametrize("bits", [(8, 7), (5, 10), (4, 3), (8, 2), (8, 23), (11, 20), (11, 52)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_precision(dtype, bits):
    x = np.array([1.1, 1.0625, 1.1875, 240, 248, 0.015625, 0.0078125, 65519.0, 65520.0, 1e-8, 6.1e-5, -3.3e38, np.inf,
                  np.nan, -0.0, 1.0 + 2.0**-8, 1.0 + 3 * 2.0**-8])  # fmt: skip
    with np.errstate(all="ignore"):
        x = x.astype(np.float32).astype(dtype)
    params = {"exponent_bits": bits[0], "mantissa_bits": bits[1]}
    (got,) = run_lowering(reduce_precision_p, [x], params)
    assert_same_bits(got, run_kernel(reduce_precision_p, [x], params)[0])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint32])
def test_float32_becomes_an_integer_without_float64(dtype):
    with np.errstate(over="ignore"):
        values = np.append(HARD, [2147483520.0, 4294967040.0, -2147483904.0]).astype(np.float32)
    nodes = graph_of(convert_element_type_p, [values], _params(dtype)).nodes
    assert not any(value.dtype == np.float64 for node in nodes for value in node.outputs)
    (got,) = run_lowering(convert_element_type_p, [values], _params(dtype))
    assert_same_bits(got, run_kernel(convert_element_type_p, [values], _params(dtype))[0])
