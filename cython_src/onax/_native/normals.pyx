"""The inverse of the error function for float32 arrays: what turns uniform numbers into normal ones.

It is computed in double precision from w = -log(1 - x^2), in which erf_inv(x) / x is smooth near 0 and
erf_inv(x) / sqrt(w) is far from it; a polynomial each, right to about 1 unit in the last place of float32.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t

from onax._native.threefry cimport fill

cnp.import_array()

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    #include "normals_maths.h"

    /* Numbers in (-1, 1) from bits: the 23 upper ones over 2^22, less the greatest float below 1.  The product is exact. */
    ONAX_NORMALS void onax_signed_unit(const uint32_t *bits, uint64_t n, float *out) {
        const float low = -0.99999994f;
        for (uint64_t i = 0; i < n; i++) {
            const float u = (float)(int32_t)(bits[i] >> 9) * 0x1p-22f + low;
            out[i] = u > low ? u : low;
        }
    }

    ONAX_NORMALS void onax_scale(uint64_t n, float *out) {
        for (uint64_t i = 0; i < n; i++) out[i] *= 1.4142135f;
    }
    """
    const double onax_near[10]
    const double onax_far[11]
    void onax_erf_inv(const float *, uint64_t, float *) noexcept nogil
    void onax_signed_unit(const uint32_t *, uint64_t, float *) noexcept nogil
    void onax_scale(uint64_t, float *) noexcept nogil

cdef enum:
    CHUNK = 4096

# The two polynomials, for whoever writes the same function in another language.
ERF_INV_NEAR = tuple([onax_near[i] for i in range(10)])
ERF_INV_FAR = tuple([onax_far[i] for i in range(11)])


cdef void erf_inv_into(const float *x, uint64_t n, float *out) noexcept nogil:
    """erf_inv of n numbers."""
    onax_erf_inv(x, n, out)


cdef void normal_into(uint32_t k0, uint32_t k1, uint64_t start, uint64_t stop, float *out) noexcept nogil:
    """The normal numbers start ... stop - 1 of a Threefry key, chunk by chunk in cache."""
    cdef uint32_t bits[CHUNK]
    cdef float u[CHUNK]
    cdef uint64_t done = start
    cdef uint64_t n
    while done < stop:
        n = min(<uint64_t>CHUNK, stop - done)
        fill(32, k0, k1, done, done + n, bits)
        onax_signed_unit(bits, n, u)
        onax_erf_inv(u, n, out)
        onax_scale(n, out)
        out += n
        done += n


def normal(k0, k1, size):
    """Normal float32 numbers of one Threefry key of words k0 and k1: an array (size,)."""
    cdef cnp.ndarray out = np.empty(size, np.float32)
    cdef uint32_t first = k0
    cdef uint32_t second = k1
    cdef float *target = <float *>cnp.PyArray_DATA(out)
    cdef uint64_t n = cnp.PyArray_SIZE(out)
    with nogil:
        normal_into(first, second, 0, n, target)
    return out


def erf_inv(x):
    """The number whose error function is x, element by element, of a float32 array; NaN outside [-1, 1]."""
    cdef cnp.ndarray a = np.ascontiguousarray(x, np.float32)
    cdef cnp.ndarray out = np.empty((<object>a).shape, np.float32)
    cdef const float *source = <const float *>cnp.PyArray_DATA(a)
    cdef float *target = <float *>cnp.PyArray_DATA(out)
    cdef uint64_t n = cnp.PyArray_SIZE(a)
    with nogil:
        onax_erf_inv(source, n, target)
    return out.reshape((<object>x).shape)
