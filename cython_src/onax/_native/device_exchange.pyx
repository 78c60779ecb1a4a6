# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Buffers on devices, handed to other libraries and taken from them: DLPack and `__cuda_array_interface__`.

Exported memory is marked read-only.  Whatever an array holds has been computed when it can be seen, so an export waits for
nothing, on whichever stream the consumer reads.  An import waits for the producer's stream.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from onax._native.device_buffers cimport DeviceBuffer, DeviceMemory
from onax._native.ort_api cimport *

import enum

import ml_dtypes
import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    typedef struct { int32_t type, id; } OnaxDLDevice;
    typedef struct { uint8_t code, bits; uint16_t lanes; } OnaxDLType;
    typedef struct {
        void *data; OnaxDLDevice device; int32_t ndim; OnaxDLType dtype; int64_t *shape, *strides; uint64_t offset;
    } OnaxDLTensor;
    typedef struct OnaxDLManaged {
        OnaxDLTensor tensor; void *context; void (*deleter)(struct OnaxDLManaged *);
    } OnaxDLManaged;
    typedef struct OnaxDLVersioned {
        struct { uint32_t major, minor; } version; void *context; void (*deleter)(struct OnaxDLVersioned *); uint64_t flags;
        OnaxDLTensor tensor;
    } OnaxDLVersioned;
    """
    ctypedef struct OnaxDLDevice:
        int32_t type
        int32_t id
    ctypedef struct OnaxDLType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct OnaxDLTensor:
        void *data
        OnaxDLDevice device
        int32_t ndim
        OnaxDLType dtype
        int64_t *shape
        int64_t *strides
        uint64_t offset
    ctypedef struct OnaxDLManaged:
        OnaxDLTensor tensor
        void *context
        void (*deleter)(OnaxDLManaged *) noexcept
    ctypedef struct _Version:
        uint32_t major
        uint32_t minor
    ctypedef struct OnaxDLVersioned:
        _Version version
        OnaxDLTensor tensor
        void *context
        void (*deleter)(OnaxDLVersioned *) noexcept
        uint64_t flags

cdef enum:
    DL_CPU = 1
    DL_CUDA = 2
    READ_ONLY = 1
    IS_COPIED = 2

# NumPy's kind -> DLPack's type code, and back
cdef dict _CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
cdef dict _KINDS = {code: kind for kind, code in _CODES.items()}
cdef int _BFLOAT = 4
cdef object _bfloat16 = np.dtype(ml_dtypes.bfloat16)


class DLDeviceType(enum.IntEnum):
    """The kinds of devices of DLPack that arrays may lie on."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLROCM = 10


cdef tuple CPU_DLPACK_DEVICE = (DLDeviceType.kDLCPU, 0)


cdef int refuse_if(bint condition, object error, str text) except -1:
    """Raises an error of this class and text if an array is not what its buffer can be handed out of."""
    if condition:
        raise error(text)
    return 0


cdef tuple dlpack_device(DeviceMemory memory):
    cdef int kind = DL_CUDA if memory.is_cuda else DL_CPU
    cdef int number = memory.device_id if memory.is_cuda else 0
    return DLDeviceType(kind), number


# ---- export


cdef void _drop(PyObject *owner, void *managed) noexcept with gil:
    Py_DECREF(<object>owner)
    PyMem_Free(managed)


cdef void _delete(OnaxDLManaged *managed) noexcept nogil:
    _drop(<PyObject *>managed.context, managed)


cdef void _delete_versioned(OnaxDLVersioned *managed) noexcept nogil:
    _drop(<PyObject *>managed.context, managed)


cdef void _free_capsule(object capsule) noexcept:
    """Deletes what nobody has consumed; a consumer renames the capsule."""
    cdef OnaxDLManaged *managed
    cdef OnaxDLVersioned *versioned
    if PyCapsule_IsValid(capsule, b"dltensor"):
        managed = <OnaxDLManaged *>PyCapsule_GetPointer(capsule, b"dltensor")
        managed.deleter(managed)
    elif PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        versioned = <OnaxDLVersioned *>PyCapsule_GetPointer(capsule, b"dltensor_versioned")
        versioned.deleter(versioned)


cdef int _describe(OnaxDLTensor *tensor, DeviceBuffer buffer, object dtype, int rank) except -1:
    device, number = dlpack_device(buffer.memory)
    tensor.data, tensor.offset, tensor.strides = buffer.data, 0, NULL  # row-major
    tensor.device.type, tensor.device.id = device, number
    tensor.ndim, tensor.shape = rank, buffer.dims
    tensor.dtype.code = _BFLOAT if dtype == _bfloat16 else _CODES[dtype.kind]
    tensor.dtype.bits, tensor.dtype.lanes = 8 * dtype.itemsize, 1
    return 0


cdef object export_capsule(DeviceBuffer buffer, object dtype, int rank, object version, object copy):
    """A capsule over a buffer's memory, whose elements are of `dtype`; the capsule keeps the buffer alive.

    Consumers older than DLPack 1.0 cannot be told that memory is read-only: they get a copy, or BufferError with
    `copy=False`.
    """
    cdef OnaxDLManaged *managed
    cdef OnaxDLVersioned *versioned
    cdef bint old = version is None or version[0] < 1
    if old and copy is not None and not copy:
        raise BufferError("without a copy, read-only memory can be exported only with max_version=(1, 0) or later")
    if old or copy:
        buffer = buffer.copy()
    if old:
        managed = <OnaxDLManaged *>PyMem_Malloc(sizeof(OnaxDLManaged))
        if managed == NULL:
            raise MemoryError()
        _describe(&managed.tensor, buffer, dtype, rank)
        managed.context, managed.deleter = <void *>buffer, _delete
        Py_INCREF(buffer)
        return PyCapsule_New(managed, b"dltensor", _free_capsule)
    versioned = <OnaxDLVersioned *>PyMem_Malloc(sizeof(OnaxDLVersioned))
    if versioned == NULL:
        raise MemoryError()
    _describe(&versioned.tensor, buffer, dtype, rank)
    versioned.version.major, versioned.version.minor = 1, 0
    versioned.flags = IS_COPIED if copy else READ_ONLY
    versioned.context, versioned.deleter = <void *>buffer, _delete_versioned
    Py_INCREF(buffer)
    return PyCapsule_New(versioned, b"dltensor_versioned", _free_capsule)


cdef dict cuda_interface(DeviceBuffer buffer, object dtype, int rank):
    """`__cuda_array_interface__`, version 3.  AttributeError for a dtype that it has no name for, and for other memory."""
    if not buffer.memory.is_cuda:
        raise AttributeError("__cuda_array_interface__: the array is not on a CUDA device")
    if dtype.kind not in _CODES:
        raise AttributeError(f"__cuda_array_interface__ has no type for {dtype}")
    return {
        "shape": buffer.shape[:rank],
        "typestr": dtype.str,
        "data": (<uintptr_t>buffer.data, True),
        "strides": None,
        "stream": None,
        "version": 3,
    }


# ---- import


@cython.final
cdef class _Imported:
    """Owns what a producer handed over."""

    cdef OnaxDLManaged *managed
    cdef OnaxDLVersioned *versioned

    def __dealloc__(self):
        if self.managed != NULL and self.managed.deleter != NULL:
            self.managed.deleter(self.managed)
        if self.versioned != NULL and self.versioned.deleter != NULL:
            self.versioned.deleter(self.versioned)


cdef object _dtype_of(OnaxDLTensor *tensor):
    if tensor.dtype.lanes == 1 and tensor.dtype.code == _BFLOAT and tensor.dtype.bits == 16:
        return _bfloat16
    kind = _KINDS.get(tensor.dtype.code)
    if tensor.dtype.lanes != 1 or kind is None or tensor.dtype.bits % 8:
        raise BufferError(f"no array has the DLPack type (code {tensor.dtype.code}, {tensor.dtype.bits} bits, "
                          f"{tensor.dtype.lanes} lanes)")
    return np.dtype("?" if kind == "b" else f"{kind}{tensor.dtype.bits // 8}")


cdef bint _is_row_major(OnaxDLTensor *tensor) noexcept:
    cdef int64_t expected = 1
    cdef int i
    if tensor.strides == NULL:
        return True
    for i in range(tensor.ndim - 1, -1, -1):
        if tensor.shape[i] == 0:
            return True
        if tensor.shape[i] != 1 and tensor.strides[i] != expected:
            return False
        expected *= tensor.shape[i]
    return True


cdef tuple import_capsule(object capsule, DeviceMemory memory):
    cdef _Imported owner = _Imported.__new__(_Imported)
    cdef OnaxDLTensor *tensor
    if PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        owner.versioned = <OnaxDLVersioned *>PyCapsule_GetPointer(capsule, b"dltensor_versioned")
        tensor = &owner.versioned.tensor
        PyCapsule_SetName(capsule, b"used_dltensor_versioned")
        if owner.versioned.version.major > 1:
            raise BufferError(f"DLPack {owner.versioned.version.major} is newer than what can be read")
    else:
        owner.managed = <OnaxDLManaged *>PyCapsule_GetPointer(capsule, b"dltensor")
        tensor = &owner.managed.tensor
        PyCapsule_SetName(capsule, b"used_dltensor")
    if (tensor.device.type, tensor.device.id) != dlpack_device(memory):
        raise BufferError(f"the array is on DLPack device {(tensor.device.type, tensor.device.id)}, not in {memory}")
    if not _is_row_major(tensor):
        raise BufferError("from_dlpack takes row-major arrays on a device; make the array contiguous first")
    dtype = _dtype_of(tensor)
    shape = tuple([tensor.shape[i] for i in range(tensor.ndim)])
    pointer = <uintptr_t>tensor.data + tensor.offset
    if dtype.kind == "c":  # the runtime has no complex numbers: pairs of real ones
        return memory.wrap(pointer, f"f{dtype.itemsize // 2}", (*shape, 2), owner), dtype
    return memory.wrap(pointer, dtype, shape, owner), dtype


def wrap_interface(interface, DeviceMemory memory not None, owner):
    """(buffer over the memory that a `__cuda_array_interface__` describes, dtype), once its stream has got there."""
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is not None and 0 not in shape:
        expected = dtype.itemsize
        for n, stride in zip(reversed(shape), reversed(tuple(strides))):
            if n != 1 and stride != expected:
                raise BufferError("only row-major arrays on a device can be taken; make the array contiguous first")
            expected *= n
    stream = interface.get("stream")
    if stream is not None:
        memory.wait(stream)
    pointer = interface["data"][0] or 0
    if dtype.kind == "c":
        return memory.wrap(pointer, f"f{dtype.itemsize // 2}", (*shape, 2), owner), dtype
    return memory.wrap(pointer, dtype, shape, owner), dtype
