# Memory of devices, and the buffers of arrays in it.

cimport numpy as cnp
from libc.stdint cimport int64_t

from onax._native.ort cimport Session


cdef class DeviceMemory:
    cdef void *info               # OrtMemoryInfo
    cdef void *allocator          # OrtAllocator: the arena of `session`
    cdef Session session          # never runs
    cdef bint is_cuda
    cdef readonly str provider
    cdef readonly int device_id
    cdef readonly long to_device  # copies so far, in each direction
    cdef readonly long to_host
    cdef readonly long on_device

    cdef DeviceBuffer allocate(self, cnp.dtype descr, int rank, const int64_t *shape)
    cdef int move(self, void *to, const void *start, size_t size, int direction) except -1


cdef class DeviceBuffer:
    cdef void *value              # OrtValue, which owns the memory or stands over that of `owner`
    cdef void *data
    cdef size_t size              # bytes
    cdef int rank
    cdef int64_t *dims
    cdef cnp.dtype descr
    cdef readonly DeviceMemory memory
    cdef object owner             # whatever keeps foreign memory alive


cdef DeviceBuffer upload(DeviceMemory memory, cnp.ndarray a)                # a copy of an array on the device
cdef cnp.ndarray download(DeviceBuffer buffer, object storage)              # on the host, as an array of that dtype
cdef int logical_rank(DeviceBuffer buffer, object storage) except -1        # without the axes that make up an element
cdef DeviceBuffer adopt(DeviceMemory memory, void *value, cnp.dtype descr)  # takes an OrtValue of the runtime over
