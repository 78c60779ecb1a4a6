"""Compiled functions: what is looked up on a call, and what is run."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from onax._native.device_buffers cimport DeviceBuffer
from onax._native.tree cimport PyTreeDef

cdef enum Source:
    COMPUTED        # result `index` of the runner
    FORWARDED       # argument `index`, unchanged
    CONSTANT        # constant `index`

cdef struct OutputSpec:
    int source
    int index
    bint weak
    PyObject* dtype     # an extended dtype, else NULL; borrowed from Executable.refs

cdef class Executable:
    cdef readonly object runner     # a Session, a BoundSession, or a function from a list of ndarrays to a list of them
    cdef bint is_session
    cdef bint is_bound
    cdef int n_in
    cdef int* kept                  # which arguments the runner takes
    cdef int n_args
    cdef int n_out
    cdef OutputSpec* outs
    cdef list refs
    cdef tuple constants            # Arrays that are results as they are
    cdef object explain             # RuntimeError of the runner -> the error to raise
    cdef list adapt_in              # None, or for each runner input None or a function ndarray -> ndarray
    cdef list adapt_out
    cdef object __weakref__

    cdef list execute(self, list leaves, object device, bint committed)
    cdef bint reads(self, Py_ssize_t position) noexcept
    cdef object host_input(self, int i, object leaf)
    cdef list resident_inputs(self, list leaves, object device)
    cdef object resident_result(self, DeviceBuffer buffer, OutputSpec* spec, object device, bint committed)
    cdef object forwarded(self, object x, OutputSpec* out, object device, bint committed)

cdef class CacheEntry:
    cdef readonly Executable executable
    cdef readonly PyTreeDef out_tree
    cdef readonly object about      # whatever the compiler wants to keep with it
    cdef readonly object device     # of the results; None: the default
    cdef readonly bint committed
    cdef tuple donated              # positions of the arguments that a call uses up
    cdef object refuse_donation     # raises if an argument is given twice, once as donated
    cdef PyTreeDef in_tree
    cdef bytes signature
    cdef tuple statics
    cdef uint64_t options
    cdef object default_device

    cdef object call(self, list leaves)
    cdef int check_donated(self, list leaves) except -1

cdef class JitCache:
    cdef dict table                 # key -> CacheEntry
    cdef CacheEntry last                 # the one used last: tried first, without hashing
    cdef readonly dict traced       # for the Python side: key -> staged program
    cdef dict waiting               # key -> elements of the arguments of the calls that were not worth a program
    cdef object __weakref__

cdef class JitFunction:
    cdef readonly object fun
    cdef public JitCache cache
    cdef tuple static_argnums       # positions, ascending
    cdef bint has_negative          # some count from the end
    cdef frozenset static_argnames
    cdef bint has_static
    cdef public Py_ssize_t patience # elements of arguments that calls of one pattern bring before it is compiled
    cdef public Py_ssize_t least    # elements that a call counts at least
    cdef dict __dict__
    cdef object __weakref__

    cdef object call(self, tuple args, dict kwargs)
    cdef object look_up(self, tuple args, dict kwargs, PyTreeDef tree, bytes signature, tuple statics, list leaves)
    cdef bint is_early(self, object key, list leaves) except -1
    cdef object missed(self, tuple args, dict kwargs, PyTreeDef tree, tuple statics, list leaves, object key)
