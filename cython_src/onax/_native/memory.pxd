cimport numpy as cnp

cdef void *allocate(size_t size) noexcept nogil
cdef void release(void *block) noexcept nogil
cdef cnp.ndarray empty_array(cnp.dtype descr, int rank, cnp.npy_intp *shape)
cdef cnp.ndarray copy_array(cnp.ndarray a)
cdef cnp.ndarray cast_array(cnp.ndarray a, object dtype)
cdef object begin_large()
cdef int end_large(object before) except -1

cdef extern from "memory_blocks.h" nogil:
    enum:
        ONAX_LARGE_BLOCK

# A place in the list of all arrays, newest first.  The interpreter's lock protects it.
cdef struct Link:
    void *owner
    Link *newer
    Link *older

cdef void append_link(Link *link, void *owner) noexcept
cdef void remove_link(Link *link) noexcept
cdef Link *newest_link() noexcept
