"""The operator onax.Host; see host_operator.pyx."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

cdef extern from "ort_operator.h" nogil:
    ctypedef void *onax_ort_entry

# The runtime's threads, for the time of one call.
cdef struct Pool:
    const onax_ort_entry *table
    const void *context

# A Kernel that runs itself, on the memory of its inputs and outputs.  0, or it has noted an exception.
ctypedef int (*Runner)(PyObject *kernel, void **ins, void **outs, const Pool *pool) noexcept nogil

# Runs job(data, i) for i below n on the runtime's threads, this one among them.
cdef void parallel(const Pool *pool, void (*job)(void *, size_t) noexcept nogil, size_t n, void *data) noexcept nogil

cdef class Kernel:
    cdef readonly str name          # of the primitive it carries out
    cdef readonly object function   # ndarrays -> ndarrays; None: `runner`
    cdef bint into                  # function takes the outputs too, and fills them
    cdef Runner runner
    cdef readonly tuple outputs     # (shape, dtype) of each
    cdef int n_out
    cdef int *ranks
    cdef int64_t *shapes            # one after the other
    cdef object __weakref__

    cdef int take_outputs(self, outputs) except -1
    cdef int check(self, int i, object result) except -1
