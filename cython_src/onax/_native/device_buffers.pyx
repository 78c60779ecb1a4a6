# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Memory of devices, and the buffers of arrays in it.

    DeviceMemory    the memory of one device: an arena of the provider's, and copies from and to it
    DeviceBuffer    an OrtValue in that memory

The arena belongs to a session of its own that never runs, so a buffer outlives the session that wrote it.  Calls of
programs and copies have ended when they return: whatever a buffer holds is there, for every stream.
With the provider "cpu" the memory is the host's; everything else is the same, which is how all of it is tested.
"""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy

from onax._native.ort cimport API, Session, check
from onax._native.ort_api cimport *

import numpy as np

from onax._native.protobuf import ELEMENT_TYPES

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyObject *subtype, cnp.dtype descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *obj)
    PyObject PyArray_Type

cdef extern from "cudart.h" nogil:
    ctypedef struct onax_cudart:
        const char *(*describe)(int)
    enum:
        ONAX_CUDA_TO_DEVICE
        ONAX_CUDA_TO_HOST
        ONAX_CUDA_ON_DEVICE
    int onax_cudart_find(onax_cudart *found)
    int onax_cuda_wait(const onax_cudart *cuda, int device, void *stream)
    int onax_cuda_copy(const onax_cudart *cuda, int device, void *to, const void *start, size_t size, int kind)

cdef onax_cudart _cuda
cdef bint _has_cuda = False

cdef enum:
    DEVICE_ALLOCATOR = 0     # OrtAllocatorType
    DEFAULT_MEMORY = 0       # OrtMemType


cdef int _find_cuda() except -1:
    """Finds the functions of CUDA's runtime, which the provider has loaded."""
    global _has_cuda
    if not _has_cuda:
        if onax_cudart_find(&_cuda) != 0:
            raise RuntimeError("CUDA's runtime library (libcudart) is not loaded, though the CUDA provider is.")
        _has_cuda = True
    return 0


cdef int _check_cuda(int failed, str what) except -1:
    if failed:
        text = _cuda.describe(failed).decode("utf8", "replace")
        raise RuntimeError(f"CUDA could not {what}: {text} (error {failed}).")
    return 0


@cython.final
cdef class DeviceMemory:
    """The memory of a device of a provider ("cuda", or "cpu" for the host's own).

    `session` is any session on that device; its arena holds the arrays of all sessions, so it should have no other work.
    """

    def __init__(self, str provider, int device_id, Session session not None):
        if provider not in ("cuda", "cpu"):
            raise ValueError(f"unknown provider {provider!r}: 'cpu' or 'cuda'")
        if self.info != NULL:
            raise RuntimeError("the memory of a device is described once")
        self.provider, self.device_id, self.is_cuda = provider, device_id, provider == "cuda"
        self.session = session
        check(ort_create_memory_info(API, b"Cuda" if self.is_cuda else b"Cpu", DEVICE_ALLOCATOR,
                                     device_id if self.is_cuda else 0, DEFAULT_MEMORY, &self.info))
        check(ort_create_allocator(API, session._handle, self.info, &self.allocator))
        if self.is_cuda:
            _find_cuda()

    def __dealloc__(self):
        if self.allocator != NULL:
            ort_release_allocator(API, self.allocator)
        if self.info != NULL:
            ort_release_memory_info(API, self.info)

    cdef DeviceBuffer allocate(self, cnp.dtype descr, int rank, const int64_t *shape):
        """A buffer of a shape, with anything in it."""
        cdef void *value = NULL
        cdef int element = ELEMENT_TYPES[descr]
        check(ort_allocate_tensor(API, self.allocator, shape, rank, element, &value))
        return adopt(self, value, descr)

    cdef int move(self, void *to, const void *start, size_t size, int direction) except -1:
        """Copies bytes, one end or both of which are on the device; they have arrived when it returns."""
        cdef int failed = 0
        if direction == ONAX_CUDA_TO_DEVICE:
            self.to_device += 1
        elif direction == ONAX_CUDA_TO_HOST:
            self.to_host += 1
        else:
            self.on_device += 1
        if size == 0:
            return 0
        with nogil:
            if self.is_cuda:
                failed = onax_cuda_copy(&_cuda, self.device_id, to, start, size, direction)
            else:
                memcpy(to, start, size)
        return _check_cuda(failed, f"copy {size} bytes")

    def wait(self, uintptr_t stream=0):
        """Waits for a stream of the device (0: the default one) on which somebody else works."""
        cdef int failed = 0
        if self.is_cuda:
            with nogil:
                failed = onax_cuda_wait(&_cuda, self.device_id, <void *>stream)
        _check_cuda(failed, "wait for a stream")

    def upload(self, a):
        """A buffer with the elements of an ndarray."""
        return upload(self, a)

    def wrap(self, uintptr_t pointer, dtype, tuple shape, owner):
        """A buffer over memory of the device that `owner` keeps alive, row-major."""
        cdef cnp.dtype descr = np.dtype(dtype)
        cdef int64_t dims[64]
        cdef void *value = NULL
        cdef size_t size = descr.itemsize
        cdef DeviceBuffer out
        cdef Py_ssize_t i
        if len(shape) > 64:
            raise ValueError(f"an array has at most 64 dimensions, not {len(shape)}")
        for i in range(len(shape)):
            dims[i] = shape[i]
            size *= dims[i]
        check(ort_create_tensor(API, self.info, <void *>pointer, size, dims, len(shape), ELEMENT_TYPES[descr], &value))
        out = adopt(self, value, descr)
        out.owner = owner
        return out

    def __repr__(self):
        return f"DeviceMemory({self.provider!r}, {self.device_id})"


@cython.no_gc
@cython.final
cdef class DeviceBuffer:
    """The elements of an array in the memory of a device, row-major."""

    def __init__(self):
        raise TypeError("buffers are made by DeviceMemory")

    def __dealloc__(self):
        if self.value != NULL:
            ort_release_value(API, self.value)
        PyMem_Free(self.dims)

    @property
    def shape(self):
        return tuple([self.dims[i] for i in range(self.rank)])

    @property
    def dtype(self):
        return self.descr

    @property
    def nbytes(self):
        return self.size

    @property
    def pointer(self):
        """The address of the elements on the device."""
        return <uintptr_t>self.data

    def download(self):
        """The elements as a new ndarray."""
        return download(self, self.descr)

    def copy(self):
        """Another buffer with the same elements."""
        cdef DeviceBuffer out = self.memory.allocate(self.descr, self.rank, self.dims)
        self.memory.move(out.data, self.data, self.size, ONAX_CUDA_ON_DEVICE)
        return out


cdef DeviceBuffer adopt(DeviceMemory memory, void *value, cnp.dtype descr):
    """A buffer that owns an OrtValue of the device's memory; it releases the value, too, if this fails."""
    cdef DeviceBuffer out = DeviceBuffer.__new__(DeviceBuffer)
    cdef void *info = NULL
    cdef size_t rank = 0
    cdef size_t i
    out.value = value
    out.memory, out.descr = memory, descr
    check(ort_type_and_shape(API, value, &info))
    try:
        check(ort_rank(API, info, &rank))
        out.rank = <int>rank
        out.dims = <int64_t *>PyMem_Calloc(rank + 1, sizeof(int64_t))
        if out.dims == NULL:
            raise MemoryError()
        check(ort_dimensions(API, info, out.dims, rank))
    finally:
        ort_release_info(API, info)
    check(ort_tensor_data(API, value, &out.data))
    out.size = descr.itemsize
    for i in range(rank):
        out.size *= out.dims[i]
    return out


cdef DeviceBuffer upload(DeviceMemory memory, cnp.ndarray a):
    cdef cnp.dtype descr = a.dtype
    cdef DeviceBuffer out
    if descr not in ELEMENT_TYPES:
        raise TypeError(f"ONNX Runtime has no element type for {descr}")
    a = cnp.PyArray_GETCONTIGUOUS(a)
    out = memory.allocate(descr, cnp.PyArray_NDIM(a), <int64_t *>cnp.PyArray_DIMS(a))
    memory.move(out.data, cnp.PyArray_DATA(a), out.size, ONAX_CUDA_TO_DEVICE)
    return out


cdef int logical_rank(DeviceBuffer buffer, object storage) except -1:
    """The rank of an array of dtype `storage` over a buffer, whose last axes make up one element of it (complex, keys)."""
    cdef int64_t width = buffer.descr.itemsize
    cdef int64_t itemsize = storage.itemsize
    cdef int rank = buffer.rank
    if storage is buffer.descr or storage == buffer.descr:
        return rank
    while width < itemsize and rank > 0:
        rank -= 1
        width *= buffer.dims[rank]
    if width != itemsize:
        raise TypeError(f"a buffer of {buffer.descr}{list(buffer.shape)} has no elements of {storage}")
    return rank


cdef cnp.ndarray download(DeviceBuffer buffer, object storage):
    cdef int rank = logical_rank(buffer, storage)
    cdef cnp.ndarray out
    Py_INCREF(storage)
    out = PyArray_NewFromDescr(&PyArray_Type, storage, rank, <cnp.npy_intp *>buffer.dims, NULL, NULL, 0, NULL)
    buffer.memory.move(cnp.PyArray_DATA(out), buffer.data, buffer.size, ONAX_CUDA_TO_HOST)
    return out
