"""What stands in the place of objects of XLA's runtime."""

import ml_dtypes
import numpy as np
import pytest

import onax
from onax.interop import runtime


@pytest.mark.parametrize(
    "dtype, expected",
    [
        (np.float32, True),
        (np.complex64, True),
        (ml_dtypes.bfloat16, True),
        (ml_dtypes.float8_e5m2, True),
        (ml_dtypes.float8_e4m3fn, False),
        (ml_dtypes.float8_e4m3fnuz, False),
        (np.int32, False),
        (bool, False),
    ],
)
def test_infinities(dtype, expected):
    assert runtime.supports_inf(dtype) is expected


def test_what_onax_never_calls_says_so():
    with pytest.raises(NotImplementedError, match="ONNX Runtime, not with XLA"):
        runtime.backend_compile_and_load(None)
    with pytest.raises(NotImplementedError, match="MLIR"):
        runtime.emit_python_callback(None)


def test_values_stand_for_themselves():
    aval = onax.typeof(onax.numpy.ones(2))
    assert runtime.full_lower(aval) is runtime.physical_aval(aval) is aval
    assert runtime.global_state.process_id == onax.process_index() and runtime.global_state.client is None


def test_promotion_to_complex():
    a, b = runtime.promote_dtypes_complex(onax.numpy.ones(2, np.int32), np.float32(2))
    assert a.dtype == b.dtype == np.complex64


def test_conversion_of_arrays():
    assert runtime.conversions_of_classes[np.ndarray](np.ones(2)).dtype == np.float32
    assert runtime.types_of_classes[np.ndarray](np.ones(2)).dtype == np.float32


def test_maps_and_zips_of_equal_lengths():
    assert runtime.safe_map(lambda x, y: x + y, [1, 2], (3, 4)) == [4, 6]
    assert runtime.safe_zip(iter("ab"), [1, 2]) == [("a", 1), ("b", 2)]
    with pytest.raises(ValueError, match="longer than argument 1"):
        runtime.safe_map(max, [1], [2, 3])
