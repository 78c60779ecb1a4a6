"""Arrays over memory that something else made: other libraries' (DLPack, CUDA's array interface), or parts on several devices."""

cimport numpy as cnp

from onax._native.array cimport ArrayImpl, wrap_plain, wrap_resident, wrap_spanning
from onax._native.avals cimport ShapedArray
from onax._native.buffers cimport canonical
from onax._native.context cimport default_device
from onax._native.conversions cimport dlpack_import
from onax._native.device_buffers cimport DeviceBuffer, DeviceMemory
from onax._native.device_exchange cimport import_capsule
from onax._native.hooks cimport hooks
from onax._native.memory cimport Link, newest_link

import numpy as np

from onax._native.array import make_array
from onax._native.device_exchange import wrap_interface

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    void PyArray_CLEARFLAGS(cnp.ndarray arr, int flags)
    int NPY_ARRAY_WRITEABLE


def from_dlpack_buffer(x, copy=None):
    """An array over the memory of any object with `__dlpack__` on the host; a copy of it with `copy=True`.

    This is the one way to make an array whose memory others may write to: the caller asked to share it.
    Raises BufferError for memory that is not on the host, TypeError for dtypes that no array can have.
    """
    return wrap_plain(canonical(dlpack_import(x, copy)), False, default_device(), False)


def from_device_dlpack(x, device, copy=None):
    """An array over the memory of an object with `__dlpack__` on a device of ours; a copy of it with `copy=True`.

    Raises BufferError for memory that is not row-major, and for types that no array can have.
    """
    cdef DeviceMemory memory = hooks.device_memory(device)
    cdef DeviceBuffer buffer
    try:
        capsule = x.__dlpack__(stream=1, max_version=(1, 0))    # 1: CUDA's default stream, for which we wait
    except TypeError:   # written before DLPack 1.0: knows no such argument
        capsule = x.__dlpack__(stream=1)
    buffer, dtype = import_capsule(capsule, memory)
    memory.wait()
    return wrap_resident(buffer.copy() if copy else buffer, dtype, False, device, True)


def from_device_interface(x, interface, device):
    """An array with a copy of the elements that `x` describes by its `__cuda_array_interface__`."""
    buffer, dtype = wrap_interface(interface, hooks.device_memory(device), x)
    return wrap_resident(buffer.copy(), dtype, False, device, False)


def make_sharded(buffer, shards, sharding, dtype=None, bint weak_type=False, aval_sharding=None):
    """An array over several devices: `buffer` is the whole value, `shards` pairs of (device, its part).

    `aval_sharding` is its sharding over explicit axes, which its type shows, or None.
    """
    cdef ArrayImpl out = make_array(buffer, dtype, weak_type, None, True)
    out.shards = tuple([(device, _frozen(part)) for device, part in shards])
    out.shd = sharding
    if aval_sharding is not None:
        out._aval = ShapedArray(out.shape, out.dtype, weak_type, sharding=aval_sharding)
    return out


def make_spanning(aval, shards, sharding):
    """The array of a type over devices of several processes; `shards`: pairs of this process (device, its part)."""
    return wrap_spanning(tuple([(device, _frozen(part)) for device, part in shards]), sharding, aval)


cdef cnp.ndarray _frozen(object part):
    cdef cnp.ndarray a = np.asarray(part)
    PyArray_CLEARFLAGS(a, NPY_ARRAY_WRITEABLE)
    return a


def all_arrays():
    """The arrays that exist and were not deleted, the newest first."""
    cdef Link *link = newest_link()
    cdef ArrayImpl x
    arrays = []
    while link != NULL:
        x = <ArrayImpl>link.owner
        if x.buf is not None or x.resident is not None or x.shards is not None:
            arrays.append(x)
        link = link.older
    return arrays
