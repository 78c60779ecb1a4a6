# Sessions whose inputs and outputs stay in a device's memory.

from onax._native.device_buffers cimport DeviceBuffer, DeviceMemory
from onax._native.ort cimport Session


cdef class BoundSession:
    cdef readonly Session session
    cdef readonly DeviceMemory memory
    cdef bint *on_host        # for each input, then each output: whether the session has it in the host's memory
    cdef object lock          # None, or what guards the memory to which a CUDA graph is tied:
    cdef list slots           # the buffers of the inputs,
    cdef list results         # those of the outputs,
    cdef void *binding        # and their binding
    cdef object __weakref__

    cpdef list run(self, list values)
    cdef list replay(self, list values)
    cdef int tie(self) except -1
    cdef DeviceBuffer checked(self, int i, object value)
    cdef int bind_inputs(self, void *binding, list values) except -1
    cdef list bind_outputs(self, void *binding)
    cdef int take_outputs(self, void *binding, list results) except -1
