# The state of one thread, as every compiled module reads it.

from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #ifndef ONAX_CTX
    #define ONAX_CTX
    typedef struct {
        PyObject *trace;            /* the current trace, owned; NULL = evaluate */
        PyObject *default_device;   /* device of new results in this thread, owned; NULL = the process's */
        uint64_t mask;              /* which bits of the option word this thread overrides */
        uint64_t value;             /* what it overrides them with */
        int quiet;                  /* a kernel is running: NumPy's floating-point warnings are off already */
        int typed_axes;             /* inside a `shard_map` whose types say which values vary over its axes */
    } OnaxCtx;
    #endif
    """
    ctypedef struct Ctx "OnaxCtx":
        PyObject *trace
        PyObject *default_device
        uint64_t mask
        uint64_t value
        int quiet
        int typed_axes

cdef enum:
    X64 = 1                         # bit 0 of the option word: 64-bit dtypes are on

cdef Ctx* ctx() noexcept nogil      # this thread's state; never NULL
cdef uint64_t option_bits() noexcept nogil
cdef object default_device()        # device of new results: the thread's, else the process's, else None
cdef PyObject* quiet_begin() except? NULL   # silences NumPy's floating-point warnings; NULL if they are silent already
cdef int quiet_end(PyObject *token) except -1
cpdef object swap_trace(trace)      # makes a trace current in this thread; gives the one that was
