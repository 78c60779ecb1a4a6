"""Arrays of other libraries without copies, and which dtypes can be exchanged."""

import numpy as np
import pytest

import onax
from onax import dlpack
from onax import numpy as jnp


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "float16", "float32", "complex64"])
def test_memory_is_shared(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    y = dlpack.from_dlpack(x)
    assert (y.shape, y.dtype, y.weak_type) == (x.shape, x.dtype, False)
    assert y.unsafe_buffer_pointer() == x.ctypes.data
    np.testing.assert_array_equal(np.from_dlpack(y), x)
    with pytest.raises(ValueError):
        np.from_dlpack(y)[0, 0] = 1


def test_copies_and_devices():
    x = np.arange(3.0, dtype=np.float32)
    y = dlpack.from_dlpack(x, device=onax.devices()[0], copy=True)
    x[0] = 5
    assert y.tolist() == [0, 1, 2] and y.committed
    wide = dlpack.from_dlpack(np.arange(3.0))
    assert wide.dtype == np.float32


@pytest.mark.parametrize("given", [3, [1.0], "text"])
def test_what_has_no_protocol(given):
    with pytest.raises(TypeError, match="__dlpack__"):
        dlpack.from_dlpack(given)


def test_dtypes_of_every_consumer():
    dtypes = "bool int8 uint16 int64 float16 bfloat16 float64 complex128".split()
    assert all(map(dlpack.is_supported_dtype, [*dtypes, jnp.bfloat16, np.dtype("float32")]))
    assert not any(map(dlpack.is_supported_dtype, [jnp.int4, jnp.float8_e4m3fn]))
    with pytest.raises(TypeError, match="None"):
        dlpack.is_supported_dtype(None)
