"""The inverse of the error function for float32 arrays: what turns uniform numbers into normal ones.

It is computed in double precision from w = -log(1 - x^2), in which erf_inv(x) / x is smooth near 0 and
erf_inv(x) / sqrt(w) is far from it; a polynomial each, right to about 1 unit in the last place of float32.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t

cnp.import_array()

cdef extern from "normals_loops.h" nogil:
    const double onax_near[10]
    const double onax_far[11]
    void onax_erf_inv(const float *, uint64_t, float *)
    void onax_normals(uint32_t, uint32_t, uint64_t, uint64_t, float *)

# The two polynomials, for whoever writes the same function in another language.
ERF_INV_NEAR = tuple([onax_near[i] for i in range(10)])
ERF_INV_FAR = tuple([onax_far[i] for i in range(11)])


def normal(k0, k1, size):
    """Normal float32 numbers of one Threefry key of words k0 and k1: an array (size,)."""
    cdef cnp.ndarray out = np.empty(size, np.float32)
    cdef uint32_t first = k0
    cdef uint32_t second = k1
    cdef float *target = <float *>cnp.PyArray_DATA(out)
    cdef uint64_t n = cnp.PyArray_SIZE(out)
    with nogil:
        onax_normals(first, second, 0, n, target)
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
