"""What other compiled modules call: inverse error function and normal numbers, without the interpreter's lock."""

from libc.stdint cimport uint32_t, uint64_t

cdef void erf_inv_into(const float *x, uint64_t n, float *out) noexcept nogil
cdef void normal_into(uint32_t k0, uint32_t k1, uint64_t start, uint64_t stop, float *out) noexcept nogil
