# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Sessions whose inputs and outputs stay in a device's memory, through ONNX Runtime's I/O binding.

With `captured` the session replays a CUDA graph, which reads and writes the memory that it was recorded with: each call
copies its inputs there, and its results from there, one call at a time.

An input is a DeviceBuffer, or an ndarray where the session reads it on the host (lengths, indices of a Loop, whatever the
provider leaves to the CPU); a result likewise.  Each call has a binding of its own, so that threads may call at once.
"""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from onax._native.device_buffers cimport DeviceBuffer, DeviceMemory, adopt
from onax._native.ort cimport API, Port, Session, check, check_run, enter, host_tensor, leave
from onax._native.ort_api cimport *

from threading import Lock

from onax._native.ort import ELEMENTS

cnp.import_array()

cdef extern from "cudart.h":
    enum:
        ONAX_CUDA_ON_DEVICE

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyObject *subtype, cnp.dtype descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *obj)
    PyObject PyArray_Type


@cython.final
cdef class BoundSession:
    """A session that takes and returns values in the memory of a device.

    Raises ValueError if it shall be `captured` and has a value on the host or of unknown shape.
    """

    def __init__(self, Session session not None, DeviceMemory memory not None, bint captured=False):
        cdef int total = session._n_in + session._n_out
        cdef const void **infos
        cdef int i
        if self.session is not None:
            raise RuntimeError("a session is bound once")
        self.session, self.memory = session, memory
        self.on_host = <bint *>PyMem_Calloc(total + 1, sizeof(bint))
        infos = <const void **>PyMem_Calloc(total + 1, sizeof(void *))
        try:
            if self.on_host == NULL or infos == NULL:
                raise MemoryError()
            check(ort_input_memory(API, session._handle, infos, session._n_in))
            check(ort_output_memory(API, session._handle, infos + session._n_in, session._n_out))
            for i in range(total):  # the session owns the descriptions
                self.on_host[i] = memory.is_cuda and ort_is_on_host(API, infos[i])
        finally:
            PyMem_Free(infos)
        if captured:
            for i in range(total):
                if self.on_host[i] or not session._ports[i].known:
                    raise ValueError(f"a CUDA graph needs all values on the device, with known shapes; "
                                     f"{session._ports[i].name.decode()} is not")
            self.lock = Lock()

    def __dealloc__(self):
        if self.binding != NULL:
            ort_release_binding(API, self.binding)
        PyMem_Free(self.on_host)

    @property
    def inputs_on_host(self):
        """For each input whether it is an ndarray."""
        return [self.on_host[i] for i in range(self.session._n_in)]

    @property
    def outputs_on_host(self):
        """For each result whether it is an ndarray."""
        return [self.on_host[self.session._n_in + i] for i in range(self.session._n_out)]

    cpdef list run(self, list values):
        """Runs the model on buffers and ndarrays, in a list that is the callee's; returns new ones.

        Raises TypeError for a value of another type, shape or memory, RuntimeError if the runtime fails.
        """
        cdef void *binding = NULL
        cdef void *handle = self.session._handle
        cdef ort_status status
        cdef list results
        if len(values) != self.session._n_in:
            raise TypeError(f"the model takes {self.session._n_in} arrays, not {len(values)}")
        if self.lock is not None:
            return self.replay(values)
        check(ort_create_binding(API, handle, &binding))
        try:
            self.bind_inputs(binding, values)
            results = self.bind_outputs(binding)
            enter()
            with nogil:
                status = ort_run_with_binding(API, handle, binding)
            leave()
            check_run(status)
            if any([result is None for result in results]):
                self.take_outputs(binding, results)
            return results
        finally:
            ort_release_binding(API, binding)

    cdef int tie(self) except -1:
        """Allocates and binds the memory to which the graph is tied."""
        cdef Port *port
        cdef DeviceBuffer buffer
        cdef int i
        check(ort_create_binding(API, self.session._handle, &self.binding))
        self.slots = []
        for i in range(self.session._n_in):
            port = &self.session._ports[i]
            buffer = self.memory.allocate(ELEMENTS[port.element], port.rank, port.shape)
            self.slots.append(buffer)
            check(ort_bind_input(API, self.binding, port.name, buffer.value))
        self.results = self.bind_outputs(self.binding)
        return 0

    cdef list replay(self, list values):
        cdef DeviceBuffer slot, buffer
        cdef ort_status status
        cdef int i
        with self.lock:
            if self.binding == NULL:
                self.tie()
            for i in range(self.session._n_in):
                buffer, slot = self.checked(i, values[i]), self.slots[i]
                self.memory.move(slot.data, buffer.data, slot.size, ONAX_CUDA_ON_DEVICE)
            enter()
            with nogil:
                status = ort_run_with_binding(API, self.session._handle, self.binding)
            leave()
            check_run(status)
            return [(<DeviceBuffer>result).copy() for result in self.results]

    cdef DeviceBuffer checked(self, int i, object value):
        """A value as the buffer of input `i`; TypeError if its type or memory is another."""
        cdef Port *port = &self.session._ports[i]
        cdef DeviceBuffer buffer = value
        cdef int j
        if buffer.memory is not self.memory:
            raise TypeError(f"input {port.name.decode()} must be in {self.memory}, not in {buffer.memory}")
        fits = buffer.rank == port.rank and buffer.descr.type_num == port.typenum
        for j in range(port.rank if fits else 0):
            fits = fits and port.shape[j] in (-1, buffer.dims[j])
        if not fits:
            raise TypeError(f"input {port.name.decode()} must have another type than {buffer.descr}{buffer.shape}")
        return buffer

    cdef int bind_inputs(self, void *binding, list values) except -1:
        cdef Port *port
        cdef DeviceBuffer buffer
        cdef cnp.ndarray a
        cdef void *value
        cdef int i
        for i in range(self.session._n_in):
            port = &self.session._ports[i]
            if self.on_host[i]:
                a = self.session._accept(i, values[i])
                values[i] = a  # which keeps the memory until the run has ended; the binding keeps the value
                value = host_tensor(a, port.element)
                try:
                    check(ort_bind_input(API, binding, port.name, value))
                finally:
                    ort_release_value(API, value)
                continue
            buffer = self.checked(i, values[i])
            check(ort_bind_input(API, binding, port.name, buffer.value))
        return 0

    cdef list bind_outputs(self, void *binding):
        """Binds fresh memory to results of known shape; a result of unknown shape is None, and allocated by the run."""
        cdef Port *port
        cdef DeviceBuffer buffer
        cdef cnp.dtype descr
        cdef cnp.ndarray a
        cdef void *value
        cdef list results = []
        cdef int i
        for i in range(self.session._n_out):
            port = &self.session._ports[self.session._n_in + i]
            descr = <cnp.dtype>self.session._descrs[i]
            if not port.known:
                check(ort_bind_output_to_device(API, binding, port.name, self.memory.info))
                results.append(None)
            elif self.on_host[self.session._n_in + i]:
                Py_INCREF(descr)
                a = PyArray_NewFromDescr(&PyArray_Type, descr, port.rank, <cnp.npy_intp *>port.shape, NULL, NULL, 0,
                                         NULL)
                results.append(a)
                value = host_tensor(a, port.element)
                try:
                    check(ort_bind_output(API, binding, port.name, value))
                finally:
                    ort_release_value(API, value)
            else:
                buffer = self.memory.allocate(descr, port.rank, port.shape)
                results.append(buffer)
                check(ort_bind_output(API, binding, port.name, buffer.value))
        return results

    cdef int take_outputs(self, void *binding, list results) except -1:
        """Replaces the results that the run allocated."""
        cdef void *allocator = NULL
        cdef void **values = NULL
        cdef size_t n = 0
        cdef size_t i
        cdef void *value
        check(ort_default_allocator(API, &allocator))
        check(ort_bound_outputs(API, binding, allocator, &values, &n))
        try:
            for i in range(n):
                if results[i] is None:
                    value = values[i]
                    values[i] = NULL  # the buffer releases it, whether it can be made or not
                    results[i] = adopt(self.memory, value, <cnp.dtype>self.session._descrs[i])
        finally:
            for i in range(n):
                if values[i] != NULL:
                    ort_release_value(API, values[i])
            check(ort_allocator_free(API, allocator, values))
        return 0
