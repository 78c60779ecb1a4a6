"""What other compiled modules call: blocks of Philox-4x32, without the interpreter's lock."""

from libc.stdint cimport uint32_t, uint64_t

cdef void fill(const uint32_t *state, uint64_t start, uint64_t stop, uint32_t *out) noexcept nogil
