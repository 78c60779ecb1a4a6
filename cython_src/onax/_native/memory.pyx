# distutils: define_macros=NPY_TARGET_VERSION=NPY_1_22_API_VERSION
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Memory for the elements of large arrays, which is reused (memory_blocks.h).

    allocate, release         for compiled code
    empty_array               a new array
    copy_array, cast_array    a new array with the elements of another one
    begin_large, end_large    between them NumPy takes the memory of new arrays here
    Link                      the list of all arrays
"""

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t

cnp.import_array()

cdef extern from "memory_blocks.h" nogil:
    ctypedef struct onax_memory_figures:
        int64_t in_use
        int64_t kept
        int64_t most_in_use
    void *onax_allocate(size_t size)
    void *onax_allocate_zeros(size_t size)
    void *onax_reallocate(void *block, size_t size)
    void onax_release(void *block)
    void onax_release_kept_blocks()
    onax_memory_figures onax_memory_in_use()

cdef extern from *:
    """
    #include "memory_blocks.h"
    static void *onax_numpy_malloc(void *c, size_t size) { (void)c; return onax_allocate(size); }
    static void *onax_numpy_calloc(void *c, size_t n, size_t size) {
        (void)c;
        return size && n > (size_t)-1 / size ? NULL : onax_allocate_zeros(n * size);
    }
    static void *onax_numpy_realloc(void *c, void *p, size_t size) { (void)c; return onax_reallocate(p, size); }
    static void onax_numpy_free(void *c, void *p, size_t size) { (void)c; (void)size; onax_release(p); }
    static PyDataMem_Handler onax_handler = {
        "onax", 1, {NULL, onax_numpy_malloc, onax_numpy_calloc, onax_numpy_realloc, onax_numpy_free}};
    static PyObject *onax_handler_capsule(void) { return PyCapsule_New(&onax_handler, "mem_handler", NULL); }
    """
    object onax_handler_capsule()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyObject *subtype, cnp.dtype descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *obj)
    PyObject PyArray_Type
    object PyDataMem_SetHandler(object handler)

cdef object _handler = onax_handler_capsule()


cdef void *allocate(size_t size) noexcept nogil:
    return onax_allocate(size)


cdef void release(void *block) noexcept nogil:
    onax_release(block)


cdef cnp.ndarray empty_array(cnp.dtype descr, int rank, cnp.npy_intp *shape):
    """A new array, whose elements are not set."""
    cdef double bytes = descr.itemsize
    cdef int i
    for i in range(rank):
        bytes *= shape[i]
    Py_INCREF(descr)  # the call below takes over a reference
    if bytes < ONAX_LARGE_BLOCK:
        return <cnp.ndarray>PyArray_NewFromDescr(&PyArray_Type, descr, rank, shape, NULL, NULL, 0, NULL)
    before = begin_large()
    try:
        return <cnp.ndarray>PyArray_NewFromDescr(&PyArray_Type, descr, rank, shape, NULL, NULL, 0, NULL)
    finally:
        end_large(before)


cdef cnp.ndarray copy_array(cnp.ndarray a):
    """A copy of `a`, with the order of its axes in memory.

    A large one lies on huge pages, as results do: NumPy's own allocator puts a few megabytes on small ones, whose addresses
    the processor's table of translations does not hold, so that transpositions and gathers of them wait for it.
    """
    if <size_t>cnp.PyArray_NBYTES(a) < ONAX_LARGE_BLOCK:
        return cnp.PyArray_NewCopy(a, cnp.NPY_KEEPORDER)
    before = begin_large()
    try:
        return cnp.PyArray_NewCopy(a, cnp.NPY_KEEPORDER)
    finally:
        end_large(before)


cdef cnp.ndarray cast_array(cnp.ndarray a, object dtype):
    """The elements of `a` in another dtype, in memory as a copy of it."""
    if <size_t>cnp.PyArray_NBYTES(a) < ONAX_LARGE_BLOCK:
        return a.astype(dtype)
    before = begin_large()
    try:
        return a.astype(dtype)
    finally:
        end_large(before)


cdef object begin_large():
    """Has NumPy allocate here in this thread; returns what `end_large` needs."""
    return PyDataMem_SetHandler(_handler)


cdef int end_large(object before) except -1:
    PyDataMem_SetHandler(before)
    return 0


def memory_in_use():
    """Bytes of large blocks: those in use, those kept for reuse, and the most that were in use at a time."""
    cdef onax_memory_figures figures = onax_memory_in_use()
    return figures.in_use, figures.kept, figures.most_in_use


def release_kept_blocks():
    """Gives the operating system the memory of the blocks that are kept for reuse."""
    onax_release_kept_blocks()


# ---- the list of all arrays

cdef Link *_newest = NULL


cdef void append_link(Link *link, void *owner) noexcept:
    global _newest
    link.owner = owner
    link.newer = NULL
    link.older = _newest
    if _newest != NULL:
        _newest.newer = link
    _newest = link


cdef void remove_link(Link *link) noexcept:
    global _newest
    if link.owner == NULL:
        return
    if link.newer != NULL:
        link.newer.older = link.older
    else:
        _newest = link.older
    if link.older != NULL:
        link.older.newer = link.newer
    link.owner = NULL


cdef Link *newest_link() noexcept:
    return _newest
