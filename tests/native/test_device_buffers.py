"""Memory of devices, with the host's in the place of a device's: copies are counted alike."""

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

from made_up_cuda import host_memory
from onax._native.device_buffers import DeviceBuffer, DeviceMemory

pytestmark = pytest.mark.usefixtures("few_tracked_objects")

DTYPES = [np.bool_, np.int8, np.uint16, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_uploaded_comes_back(dtype, shape):
    memory = host_memory(0)
    a = (np.arange(np.prod(shape, dtype=int)) % 5).astype(dtype).reshape(shape)
    to_device, to_host = memory.to_device, memory.to_host
    buffer = memory.upload(a)
    found = buffer.download()
    assert (buffer.shape, buffer.dtype, buffer.nbytes) == (a.shape, a.dtype, a.nbytes)
    assert found.dtype == a.dtype and np.array_equal(found, a) and not np.shares_memory(found, a)
    assert (memory.to_device, memory.to_host) == (to_device + 1, to_host + 1)


def test_any_layout_is_uploaded_row_major():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (a.T, a[:, ::-1], a[:, :, 1:3], np.asfortranarray(a)):
        assert np.array_equal(host_memory(0).upload(view).download(), view)


def test_a_copy_is_other_memory():
    memory = host_memory(0)
    buffer = memory.upload(np.arange(3.0))
    before = memory.on_device
    other = buffer.copy()
    assert memory.on_device == before + 1 and other.pointer != buffer.pointer
    assert np.array_equal(other.download(), np.arange(3.0))


def test_foreign_memory_is_kept_alive_as_long_as_its_buffer():
    class Owner:
        memory = np.arange(6, dtype=np.float32)

    owner = Owner()
    gone = weakref.ref(owner)
    buffer = host_memory(0).wrap(owner.memory.ctypes.data, np.float32, (2, 3), owner)
    del owner
    gc.collect()
    assert gone() is not None and np.array_equal(buffer.download(), np.arange(6).reshape(2, 3))
    del buffer
    gc.collect()
    assert gone() is None


def test_errors():
    memory = host_memory(0)
    with pytest.raises(TypeError, match="made by DeviceMemory"):
        DeviceBuffer()
    with pytest.raises(TypeError, match="no element type for complex64"):
        memory.upload(np.ones(2, np.complex64))
    with pytest.raises(TypeError, match="session"):
        DeviceMemory("cpu", 0, None)
