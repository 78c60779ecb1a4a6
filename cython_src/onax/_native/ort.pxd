"""A compiled model; see ort.pyx."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from onax._native.ort_api cimport onax_ort_entry, ort_status

cdef const onax_ort_entry *API      # the table of functions; NULL until the library is attached
cdef void *MEMORY                   # OrtMemoryInfo of the host

cdef int enter() except -1          # before a call of the runtime during which other threads run; may refuse
cdef void leave() noexcept          # after it
cdef int check(ort_status status) except -1         # raises Fault with the runtime's message
cdef int check_run(ort_status status) except -1     # the same, but raises an exception of an operator unchanged
cdef void *host_tensor(cnp.ndarray a, int element) except NULL      # an OrtValue over an array's memory


cdef struct Port:
    # one input or output of a session
    const char *name       # kept alive by Session._keep
    int element            # ONNX element type
    int typenum            # NumPy type number of that element type
    int rank
    bint known             # every dimension is a number
    int64_t *shape         # -1 where a dimension is symbolic


cdef class Session:
    cdef void *_handle            # OrtSession
    cdef Port *_ports             # inputs, then outputs
    cdef const char **_names      # their names, as Run wants them
    cdef int _n_in
    cdef int _n_out
    cdef list _descrs             # dtypes of the outputs
    cdef object _keep             # names, shared constants
    cdef object __weakref__

    cdef int _create(self, bytes model, void *settings) except -1
    cdef int _declare(self, list inputs, list outputs) except -1
    cdef cnp.ndarray _accept(self, int i, object x)
    cpdef list run(self, object arrays)


# Makes an operator of ours known in the domain `onax`, for sessions made from now on with the option "operators".
# `description` is an `onax_operator` of ort_operator.h that lives as long as the process.
cdef int add_operator(const void *description) except -1

# Notes an exception raised in an operator, for `Session.run` of this thread to raise in place of the runtime's words.
cdef int note_raised(object error) except -1
