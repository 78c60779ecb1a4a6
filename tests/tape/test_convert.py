"""Changes of type on tapes."""

import ml_dtypes
import numpy as np
import pytest

from onax import lax
from onax import numpy as jnp
from tape.harness import check_bits

FLOATS = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32)]


def _floats(dtype):
    rng = np.random.default_rng(1)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-5, -6e-8, 65504, 3e38, 1, -2], np.float64)
    with np.errstate(over="ignore"):
        return np.concatenate(
            [
                special.astype(dtype),
                np.frombuffer(rng.bytes(500 * dtype.itemsize), dtype),
                rng.normal(size=50).astype(dtype),
            ]
        )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_reduce_precision(dtype):
    x = _floats(dtype)
    for exponent, mantissa in ((8, 23), (8, 7), (5, 10), (4, 3), (1, 0), (2, 1), (5, 2), (8, 30), (100, 4)):
        check_bits(lambda x: lax.reduce_precision(x, exponent, mantissa), x)  # noqa: B023  called at once


def test_reduce_precision_without_elements():
    check_bits(lambda x: lax.reduce_precision(x, 4, 3), np.zeros((2, 0), np.float32))


def test_bitcast():
    x = np.arange(24, dtype=np.uint32).reshape(6, 4) * 0x01234567
    for dtype in (np.float32, np.int32, np.uint16, np.int8, np.float16, jnp.bfloat16):
        check_bits(lambda x: lax.bitcast_convert_type(x, dtype), x)  # noqa: B023  called at once
    check_bits(lambda x: lax.bitcast_convert_type(x, np.uint32), x.view(np.uint8).reshape(6, 4, 4))
    check_bits(lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, np.int8)[1:], np.int32), x)
