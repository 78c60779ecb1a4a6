"""Programs over blocks, for other compiled modules; see blocks.pyx."""

from libc.stdint cimport int64_t

cdef extern from "blocks_kernels.h" nogil:
    ctypedef struct onax_program
    ctypedef void (*onax_parallel)(void *where, void (*task)(void *, size_t) noexcept nogil, size_t count,
                                   void *user) noexcept nogil

# The functions of blocks_kernels.h: that file is compiled into one module only, others reach it through these.
cdef const char *program_read(const int64_t *words, size_t count, onax_program **program) noexcept nogil
cdef void program_free(onax_program *program) noexcept nogil
cdef int program_inputs(const onax_program *program) noexcept nogil
cdef int program_outputs(const onax_program *program) noexcept nogil
cdef int64_t program_bytes(const onax_program *program, int buffer) noexcept nogil
cdef int program_run(const onax_program *program, const void **inputs, void **outputs, onax_parallel parallel,
                     void *where) noexcept nogil
