# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Kernels in C for gathers and scatters of whole rows, which nodes onax.Host run.

An index vector has one component for each of the leading axes of the operand; the other axes together form a row.
"""

import numpy as np

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from onax._native.host_operator cimport Kernel, Pool, native_kernel, parallel

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>

    /* Index vectors, and how they select rows. */
    typedef struct {
        const void *indices;
        int64_t depth, wide, clip;       /* components; of 64 bits, else 32; clamped, else ignored */
        const int64_t *sizes, *strides;  /* of the leading axes, strides in rows */
    } onax_places;

    /* The row that index vector i selects, or -1. */
    static inline int64_t onax_place(const onax_places *p, int64_t i) {
        int64_t row = 0;
        for (int64_t k = 0; k < p->depth; k++) {
            int64_t at = p->wide ? ((const int64_t *)p->indices)[i * p->depth + k]
                                 : ((const int32_t *)p->indices)[i * p->depth + k];
            if (at < 0 || at >= p->sizes[k]) {
                if (!p->clip) return -1;
                at = at < 0 ? 0 : p->sizes[k] - 1;
            }
            row += at * p->strides[k];
        }
        return row;
    }

    /* The same for the commonest case: one component of 32 bits. */
    static inline int64_t onax_place_one(const onax_places *p, int64_t i) {
        int64_t at = ((const int32_t *)p->indices)[i];
        const int64_t size = p->sizes[0];
        if ((uint64_t)at < (uint64_t)size) return at;
        return !p->clip ? -1 : at < 0 ? 0 : size - 1;
    }
    #define ONAX_IS_ONE(p) ((p)->depth == 1 && !(p)->wide)

    #define ONAX_TAKE_BY(place, type) \\
        for (int64_t i = start; i < stop; i++) { \\
            const int64_t row = place(&own, i); to[i] = row < 0 ? missing : from[row]; }
    #define ONAX_TAKE(type) { \\
        const onax_places own = *p; \\
        const type *from = (const type *)x; type *to = (type *)out; const type missing = (type)fill; \\
        if (ONAX_IS_ONE(p)) { ONAX_TAKE_BY(onax_place_one, type) } else { ONAX_TAKE_BY(onax_place, type) } }

    /* Rows start ... stop - 1 of the result; `fill` has the bits of an element of a missing row. */
    static void onax_take(const onax_places *p, const char *x, int64_t width, int64_t itemsize, uint64_t fill,
                          int64_t start, int64_t stop, char *out) {
        const int64_t bytes = width * itemsize;
        if (width == 1 && itemsize == 4) ONAX_TAKE(uint32_t)
        else if (width == 1 && itemsize == 8) ONAX_TAKE(uint64_t)
        else for (int64_t i = start; i < stop; i++) {
            const int64_t row = onax_place(p, i);
            if (row >= 0) memcpy(out + i * bytes, x + row * bytes, bytes);
            else for (int64_t j = 0; j < width; j++) memcpy(out + i * bytes + j * itemsize, &fill, itemsize);
        }
    }

    #define ONAX_COMBINE(type, expression) { \\
        const onax_places own = *p; \\
        if (ONAX_IS_ONE(p) && width == 1) \\
            for (int64_t i = 0; i < n; i++) { \\
                const int64_t row = onax_place_one(&own, i); \\
                if (row < 0) continue; \\
                const type old = ((type *)x)[row], new = ((const type *)updates)[i]; \\
                ((type *)x)[row] = (expression); } \\
        else \\
            for (int64_t i = 0; i < n; i++) { \\
                const int64_t row = onax_place(&own, i); \\
                if (row < 0) continue; \\
                type *to = (type *)x + row * width; const type *from = (const type *)updates + i * width; \\
                for (int64_t j = 0; j < width; j++) { const type old = to[j], new = from[j]; to[j] = (expression); } } }

    /* `wraps`: the type in which sums and products are taken, which wraps around */
    #define ONAX_SCATTER(name, type, wraps) \\
    static void name(const onax_places *p, char *x, const char *updates, int64_t n, int64_t width, int64_t how) { \\
        if (how == 1) ONAX_COMBINE(type, (type)((wraps)old + (wraps)new)) \\
        else if (how == 2) ONAX_COMBINE(type, (type)((wraps)old - (wraps)new)) \\
        else if (how == 3) ONAX_COMBINE(type, (type)((wraps)old * (wraps)new)) \\
        else if (how == 4) ONAX_COMBINE(type, old != old || old <= new ? old : new) \\
        else ONAX_COMBINE(type, old != old || old >= new ? old : new) }
    ONAX_SCATTER(onax_scatter_f32, float, float)
    ONAX_SCATTER(onax_scatter_f64, double, double)
    ONAX_SCATTER(onax_scatter_i32, int32_t, uint32_t)
    ONAX_SCATTER(onax_scatter_i64, int64_t, uint64_t)

    static void onax_put(const onax_places *p, char *x, const char *updates, int64_t n, int64_t bytes) {
        if (bytes == 4 && ONAX_IS_ONE(p)) {
            const onax_places own = *p;
            for (int64_t i = 0; i < n; i++) {
                const int64_t row = onax_place_one(&own, i);
                if (row >= 0) ((uint32_t *)x)[row] = ((const uint32_t *)updates)[i];
            }
        } else for (int64_t i = 0; i < n; i++) {
            const int64_t row = onax_place(p, i);
            if (row >= 0) memcpy(x + row * bytes, updates + i * bytes, bytes);
        }
    }
    """
    ctypedef struct onax_places:
        const void *indices
        int64_t depth
        int64_t wide
        int64_t clip
        const int64_t *sizes
        const int64_t *strides
    void onax_take(const onax_places *, const char *, int64_t, int64_t, uint64_t, int64_t, int64_t,
                   char *) noexcept nogil
    void onax_put(const onax_places *, char *, const char *, int64_t, int64_t) noexcept nogil
    void onax_scatter_f32(const onax_places *, char *, const char *, int64_t, int64_t, int64_t) noexcept nogil
    void onax_scatter_f64(const onax_places *, char *, const char *, int64_t, int64_t, int64_t) noexcept nogil
    void onax_scatter_i32(const onax_places *, char *, const char *, int64_t, int64_t, int64_t) noexcept nogil
    void onax_scatter_i64(const onax_places *, char *, const char *, int64_t, int64_t, int64_t) noexcept nogil

cdef enum:
    SHARE = 1 << 14         # rows that one thread takes at a time
    HEAD = 7                # numbers before the sizes and strides of the leading axes

# The sizes of a kernel: how, n, width, itemsize, wide, clip, depth, sizes..., strides..., then its own.


cdef void _places(onax_places *p, const void *indices, const int64_t *numbers) noexcept nogil:
    p.indices = indices
    p.wide = numbers[4]
    p.clip = numbers[5]
    p.depth = numbers[6]
    p.sizes = numbers + HEAD
    p.strides = numbers + HEAD + p.depth


def kernel_sizes(int how, shape, int depth, n, itemsize, bint wide, bint clip):
    """The sizes of a kernel for an operand of this shape and n index vectors over its `depth` leading axes."""
    leading = shape[:depth]
    strides = [int(np.prod(leading[k + 1:], dtype=np.int64)) for k in range(depth)]
    width = int(np.prod(shape[depth:], dtype=np.int64))
    return [how, n, width, itemsize, int(wide), int(clip), depth, *leading, *strides]


# ---- gather

cdef struct Taking:
    onax_places places
    const char *x
    const int64_t *numbers
    char *out


cdef void _take_share(void *data, size_t i) noexcept nogil:
    cdef Taking *t = <Taking *>data
    cdef int64_t start = <int64_t>i * SHARE
    cdef uint64_t fill = <uint64_t>t.numbers[HEAD + 2 * t.places.depth]
    onax_take(&t.places, t.x, t.numbers[2], t.numbers[3], fill, start, min(start + SHARE, t.numbers[1]), t.out)


cdef void _take(void **ins, void **outs, const int64_t *numbers, const Pool *pool) noexcept nogil:
    cdef Taking t
    _places(&t.places, ins[1], numbers)
    t.x = <const char *>ins[0]
    t.numbers = numbers
    t.out = <char *>outs[0]
    parallel(pool, _take_share, (numbers[1] + SHARE - 1) // SHARE, &t)


def gather_kernel(outputs, numbers, fill):
    """The Kernel of a gather of rows; `fill`: an element, 0-dimensional, of rows that are out of bounds."""
    cdef uint64_t bits = int.from_bytes(np.asarray(fill).tobytes(), "little")
    return native_kernel("gather", _take, outputs, [*numbers, <int64_t>bits])


# ---- scatter

cdef void _scatter(void **ins, void **outs, const int64_t *numbers, const Pool *pool) noexcept nogil:
    """ins: operand, indices, updates; numbers end with the number of bytes of the operand and a code of the type."""
    cdef onax_places p
    cdef const int64_t *own
    cdef char *x = <char *>outs[0]
    cdef const char *updates = <const char *>ins[2]
    cdef int64_t n = numbers[1]
    cdef int64_t width = numbers[2]
    _places(&p, ins[1], numbers)
    own = numbers + HEAD + 2 * p.depth
    memcpy(x, ins[0], own[0])
    if numbers[0] == 0:
        onax_put(&p, x, updates, n, width * numbers[3])
    elif own[1] == 0:
        onax_scatter_f32(&p, x, updates, n, width, numbers[0])
    elif own[1] == 1:
        onax_scatter_f64(&p, x, updates, n, width, numbers[0])
    elif own[1] == 2:
        onax_scatter_i32(&p, x, updates, n, width, numbers[0])
    else:
        onax_scatter_i64(&p, x, updates, n, width, numbers[0])


_CODES = {np.dtype(t): i for i, t in enumerate(("f4", "f8", "i4", "i8"))}
_HOW = {"scatter": 0, "scatter-add": 1, "scatter-sub": 2, "scatter-mul": 3, "scatter-min": 4, "scatter-max": 5}


def scatter_code(str name, dtype):
    """The code of a scatter primitive, or None if the kernels cannot combine rows of this dtype."""
    number = _HOW.get(name)
    return number if number == 0 or dtype in _CODES else None


def scatter_kernel(str name, outputs, numbers):
    """The Kernel of a scatter of rows."""
    (shape, dtype), = outputs
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return native_kernel(name, _scatter, outputs, [*numbers, size, _CODES.get(np.dtype(dtype), 0)])
