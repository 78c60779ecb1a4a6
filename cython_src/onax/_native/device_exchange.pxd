# Buffers on devices, handed to other libraries and taken from them.

from onax._native.device_buffers cimport DeviceBuffer, DeviceMemory

cdef object export_capsule(DeviceBuffer buffer, object dtype, int rank, object version, object copy)
cdef tuple import_capsule(object capsule, DeviceMemory memory)      # (buffer, dtype)
cdef tuple CPU_DLPACK_DEVICE

cdef tuple dlpack_device(DeviceMemory memory)
cdef dict cuda_interface(DeviceBuffer buffer, object dtype, int rank)
cdef int refuse_if(bint condition, object error, str text) except -1
