"""DLPack of arrays on devices; the host's memory stands in for a device's, so that NumPy can read what is exported.

The CUDA device of scripts/gpu/fake_cuda.py is tried in tests/scripts/gpu/test_fake_cuda.py.
"""

import ctypes
import gc

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from made_up_cuda import Copies, made_up_cuda

pytestmark = pytest.mark.usefixtures("few_tracked_objects")

X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def cuda():
    with made_up_cuda(2) as found:
        yield found


def turned(x, device):
    """The transpose of an array, computed on a device."""
    return jax.jit(lambda x: jnp.swapaxes(x, 0, 1))(jax.device_put(x, device))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint32, np.float16, np.float32, np.complex64])
def test_an_export_is_a_view_of_the_elements_on_the_device(cuda, dtype):
    a = (np.arange(12) % 2).astype(dtype).reshape(4, 3)
    y = turned(a, cuda[0])
    with Copies() as copies:
        seen = np.from_dlpack(y)
        assert seen.dtype == dtype and seen.ctypes.data == y.unsafe_buffer_pointer() and not seen.flags.writeable
    assert copies.counted == (0, 0, 0) and np.array_equal(seen, a.T)
    del y
    gc.collect()
    assert np.array_equal(seen, a.T)  # it keeps the memory


def test_an_array_that_is_on_the_host_alone_is_copied_to_its_device(cuda):
    x = jax.device_put(X, cuda[1])
    with Copies(1) as copies:
        assert x.__dlpack_device__() == (1, 0)
        assert np.array_equal(np.from_dlpack(x), X) and np.array_equal(np.from_dlpack(x), X)
    assert copies.counted == (1, 0, 0)
    z = jax.device_put((X + 1j * X).astype(np.complex64), cuda[0])
    assert np.array_equal(np.from_dlpack(z), X + 1j * X)


class Old:
    """A consumer that was written before DLPack 1.0 asks without a version."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_old_consumers_and_copies(cuda):
    y = turned(X, cuda[0])
    with Copies() as copies:
        old = np.from_dlpack(Old(y))
        copied = np.from_dlpack(y, copy=True)
    assert copies.counted == (0, 0, 2)
    for found in (old, copied):
        assert np.array_equal(found, X.T) and found.ctypes.data != y.unsafe_buffer_pointer()
    with pytest.raises(BufferError, match=r"only with max_version=\(1, 0\)"):
        y.__dlpack__(copy=False)


def test_capsules_that_nobody_consumes_are_freed(cuda):
    y = turned(X, cuda[0])
    for version in (None, (1, 0)):
        capsule = y.__dlpack__(max_version=version)
        assert '"dltensor' in repr(capsule)
        del capsule
    assert np.array_equal(y, X.T)


def test_what_has_no_export(cuda):
    key = jax.device_put(jax.random.key(0), cuda[0])
    with pytest.raises(BufferError, match="keys have no DLPack form"):
        key.__dlpack__()
    half = turned(X.astype(ml_dtypes.bfloat16), cuda[0])
    assert half.__dlpack__(max_version=(1, 0)) is not None
    assert not hasattr(jnp.arange(3), "__cuda_array_interface__")
    assert not hasattr(half, "__cuda_array_interface__")


def test_the_host_alone_is_as_before():
    x = jnp.arange(3.0)
    assert x.__dlpack_device__() == (1, 0)
    seen = np.from_dlpack(x)
    assert seen.ctypes.data == x.unsafe_buffer_pointer()
    assert np.array_equal(np.ctypeslib.as_array((ctypes.c_float * 3).from_address(seen.ctypes.data)), [0, 1, 2])
