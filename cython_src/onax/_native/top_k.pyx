# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""top_k of float32, int32 and uint32: the largest numbers of each row, and their indices.

    TYPES         the dtypes
    top_k         on the calling thread, from an ndarray to two
    top_k_kernel  a node of a graph (onax.Host), over the runtime's threads
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, malloc

from onax._native.host_operator cimport Kernel, Pool, native_kernel, parallel

cnp.import_array()

cdef extern from "top_k_kernels.h" nogil:
    ctypedef unsigned long long onax_ranked
    int64_t onax_top_room(int64_t k)
    int64_t onax_top_find(const uint32_t *row, int64_t start, int64_t stop, int64_t k, int type, onax_ranked *room)
    void onax_top_give(const uint32_t *row, onax_ranked *found, int64_t count, int64_t k, uint32_t *values,
                       int32_t *places)
    void onax_top_without_room(const uint32_t *row, int64_t n, int64_t k, int type, uint32_t *values, int32_t *places)

cdef enum:
    SHARE = 1 << 17         # numbers that one thread takes at a time

TYPES = {np.dtype(np.float32): 0, np.dtype(np.int32): 1, np.dtype(np.uint32): 2}

cdef struct Rows:
    const uint32_t *x
    uint32_t *values
    int32_t *places
    int64_t rows, length, k
    int type
    int64_t together        # rows that a thread takes at a time
    int64_t shares          # of a row, where a thread takes a part of one
    onax_ranked *found      # k for each share
    int64_t *counts
    char failed


cdef void _whole_rows(void *data, size_t which) noexcept nogil:
    """A job: some rows, one after the other."""
    cdef Rows *r = <Rows *>data
    cdef int64_t row = <int64_t>which * r.together
    cdef int64_t last = min(row + r.together, r.rows)
    cdef int64_t count
    cdef onax_ranked *room = <onax_ranked *>malloc(onax_top_room(r.k) * sizeof(onax_ranked))
    if room == NULL:
        r.failed = 1
        return
    while row < last:
        count = onax_top_find(r.x + row * r.length, 0, r.length, r.k, r.type, room)
        onax_top_give(r.x + row * r.length, room, count, r.k, r.values + row * r.k, r.places + row * r.k)
        row += 1
    free(room)


cdef void _part(void *data, size_t which) noexcept nogil:
    """A job: the largest numbers of a part of a row; `_join` merges the parts."""
    cdef Rows *r = <Rows *>data
    cdef int64_t row = <int64_t>which // r.shares
    cdef int64_t start = (<int64_t>which % r.shares) * SHARE
    cdef int64_t i
    cdef onax_ranked *room = <onax_ranked *>malloc(onax_top_room(r.k) * sizeof(onax_ranked))
    if room == NULL:
        r.failed = 1
        return
    r.counts[which] = onax_top_find(r.x + row * r.length, start, min(start + SHARE, r.length), r.k, r.type, room)
    for i in range(r.counts[which]):
        r.found[<int64_t>which * r.k + i] = room[i]
    free(room)


cdef void _join(Rows *r) noexcept nogil:
    cdef int64_t row, share, i, count
    cdef onax_ranked *found
    for row in range(r.rows):
        found = r.found + row * r.shares * r.k
        count = 0
        for share in range(r.shares):
            for i in range(r.counts[row * r.shares + share]):
                found[count] = found[share * r.k + i]
                count += 1
        onax_top_give(r.x + row * r.length, found, count, r.k, r.values + row * r.k, r.places + row * r.k)


cdef int _run(Rows *r, const Pool *pool) noexcept nogil:
    """0, or -1 when there is no memory."""
    cdef int64_t i, jobs
    if r.rows == 0 or r.k == 0:
        return 0
    r.shares = (r.length + SHARE - 1) // SHARE
    if pool == NULL or r.rows >= 8 or r.shares < 2 or 16 * r.k > SHARE:
        r.together = r.rows if pool == NULL else max(<int64_t>1, SHARE // (4 * max(r.length, <int64_t>1)))
        jobs = (r.rows + r.together - 1) // r.together
        if pool == NULL:
            _whole_rows(r, 0)
        else:
            parallel(pool, _whole_rows, jobs, r)
        return -1 if r.failed else 0
    r.found = <onax_ranked *>malloc(r.rows * r.shares * r.k * sizeof(onax_ranked))
    r.counts = <int64_t *>malloc(r.rows * r.shares * sizeof(int64_t))
    if r.found == NULL or r.counts == NULL:
        r.failed = 1
    else:
        parallel(pool, _part, r.rows * r.shares, r)
    if not r.failed:
        _join(r)
    free(r.found)
    free(r.counts)
    return -1 if r.failed else 0


cdef void _without_room(Rows *r) noexcept nogil:
    cdef int64_t i
    for i in range(r.rows):
        onax_top_without_room(r.x + i * r.length, r.length, r.k, r.type, r.values + i * r.k, r.places + i * r.k)


cdef void _node(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef Rows r
    _take(&r, <const uint32_t *>ins[0], <uint32_t *>outs[0], <int32_t *>outs[1], sizes)
    if _run(&r, pool):  # a node in C has no way to fail
        _without_room(&r)


cdef void _take(Rows *r, const uint32_t *x, uint32_t *values, int32_t *places, const int64_t *sizes) noexcept nogil:
    r.x, r.values, r.places = x, values, places
    r.rows, r.length, r.k = sizes[0], sizes[1], sizes[2]
    r.type = <int>sizes[3]
    r.found, r.counts = NULL, NULL
    r.failed = 0


def top_k_kernel(str name, outputs, sizes):
    """The Kernel of top_k along the last axis; sizes: rows, their length, k, the number of the type."""
    return native_kernel(name, _node, outputs, sizes)


def top_k(x, k, *, bint has_room=True):
    """The k largest along the last axis of an array of one of TYPES, in descending order, and their places (int32).

    Without room it needs no memory, and much time: what a node does where there is none.
    """
    cdef cnp.ndarray a = np.ascontiguousarray(x)
    cdef int last = cnp.PyArray_NDIM(a) - 1
    cdef tuple leading = (<object>a).shape[:last]
    cdef cnp.ndarray values = np.empty((*leading, k), a.dtype)
    cdef cnp.ndarray places = np.empty((*leading, k), np.int32)
    cdef Rows r
    cdef int failed
    cdef int64_t sizes[4]
    sizes[0], sizes[1], sizes[2] = int(np.prod(leading, dtype=np.int64)), cnp.PyArray_DIM(a, last), k
    sizes[3] = TYPES[a.dtype]
    _take(&r, <const uint32_t *>cnp.PyArray_DATA(a), <uint32_t *>cnp.PyArray_DATA(values),
          <int32_t *>cnp.PyArray_DATA(places), sizes)
    with nogil:
        failed = has_room and _run(&r, NULL)
        if not has_room:
            _without_room(&r)
    if failed:
        raise MemoryError()
    return values, places
