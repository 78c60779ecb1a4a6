"""What other compiled modules call: blocks of Threefry-2x32, without the interpreter's lock."""

from libc.stdint cimport uint32_t, uint64_t

# width: 8, 16, 32 or 64 bits a number; 0 for both words of each block, one after the other
cdef void fill(int width, uint32_t k0, uint32_t k1, uint64_t start, uint64_t stop, void *out) noexcept nogil
cdef void fill_keys(int width, const uint32_t *keys, uint64_t count, uint64_t n, void *out) noexcept nogil
