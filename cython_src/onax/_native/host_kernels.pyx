# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Kernels in C that nodes onax.Host run on the runtime's threads: random bits, keys, components, erf_inv.

Random keys are two uint32 arrays: the first word of each key and the second.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from onax._native.host_operator cimport Kernel, Pool, native_kernel, parallel
from onax._native.normals cimport erf_inv_into, normal_into
from onax._native.threefry cimport fill

cdef enum:
    PAIR = 0
    SHARE = 1 << 15         # numbers that one thread takes at a time


# ---- random bits and normal numbers --------------------------------------------------------------------------------

cdef struct Stream:
    const uint32_t *k0
    const uint32_t *k1
    uint64_t size           # numbers of each key
    uint64_t shares         # of each key
    int width
    char *out


cdef void _start(Stream *s, void **ins, void **outs, const int64_t *sizes) noexcept nogil:
    s.k0 = <const uint32_t *>ins[0]
    s.k1 = <const uint32_t *>ins[1]
    s.size = sizes[1]
    s.shares = (s.size + SHARE - 1) // SHARE
    s.width = <int>sizes[2]
    s.out = <char *>outs[0]


cdef void _bits_share(void *data, size_t i) noexcept nogil:
    cdef Stream *s = <Stream *>data
    cdef uint64_t key = i // s.shares
    cdef uint64_t start = (i % s.shares) * SHARE
    fill(s.width, s.k0[key], s.k1[key], start, min(start + SHARE, s.size),
         s.out + (key * s.size + start) * <uint64_t>(s.width // 8))


cdef void _bits(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef Stream s
    _start(&s, ins, outs, sizes)
    parallel(pool, _bits_share, sizes[0] * s.shares, &s)


def bits_kernel(str name, outputs, sizes):
    """The Kernel of random bits; sizes: how many keys, how many numbers of each, bits of a number."""
    return native_kernel(name, _bits, outputs, sizes)


cdef void _normal_share(void *data, size_t i) noexcept nogil:
    cdef Stream *s = <Stream *>data
    cdef uint64_t key = i // s.shares
    cdef uint64_t start = (i % s.shares) * SHARE
    normal_into(s.k0[key], s.k1[key], start, min(start + SHARE, s.size),
                <float *>s.out + key * s.size + start)


cdef void _normal(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef Stream s
    _start(&s, ins, outs, sizes)
    parallel(pool, _normal_share, sizes[0] * s.shares, &s)


def normal_kernel(str name, outputs, sizes):
    """The Kernel of normal float32 numbers; sizes: how many keys, how many numbers of each, 32."""
    return native_kernel(name, _normal, outputs, sizes)


# ---- derived keys --------------------------------------------------------------------------------------------------

cdef void _block(uint32_t k0, uint32_t k1, uint32_t high, uint32_t low, uint32_t *first, uint32_t *second) noexcept nogil:
    cdef uint32_t words[2]
    cdef uint64_t counter = (<uint64_t>high << 32) | low
    fill(PAIR, k0, k1, counter, counter + 1, words)
    first[0], second[0] = words[0], words[1]


cdef void _split(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef const uint32_t *k0 = <const uint32_t *>ins[0]
    cdef const uint32_t *k1 = <const uint32_t *>ins[1]
    cdef uint32_t *first = <uint32_t *>outs[0]
    cdef uint32_t *second = <uint32_t *>outs[1]
    cdef uint64_t n = sizes[1]
    cdef uint64_t j
    cdef int64_t i
    for i in range(sizes[0]):
        for j in range(n):
            _block(k0[i], k1[i], <uint32_t>(j >> 32), <uint32_t>j, first + i * n + j, second + i * n + j)


def split_kernel(str name, outputs, sizes):
    """The Kernel that derives keys; sizes: how many keys, how many of each."""
    return native_kernel(name, _split, outputs, sizes)


cdef void _fold_in(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef const uint32_t *k0 = <const uint32_t *>ins[0]
    cdef const uint32_t *k1 = <const uint32_t *>ins[1]
    cdef const uint32_t *data = <const uint32_t *>ins[2]
    cdef int64_t i
    for i in range(sizes[0]):
        _block(k0[i * sizes[1]], k1[i * sizes[1]], 0, data[i * sizes[2]], <uint32_t *>outs[0] + i,
               <uint32_t *>outs[1] + i)


def fold_in_kernel(str name, outputs, sizes):
    """The Kernel that folds numbers into keys; sizes: how many, and for keys and numbers 1 or, if there is one, 0."""
    return native_kernel(name, _fold_in, outputs, sizes)


cdef void _blocks(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef const uint32_t **words = <const uint32_t **>ins
    cdef int64_t i
    for i in range(sizes[0]):
        _block(words[0][i * sizes[1]], words[1][i * sizes[2]], words[2][i * sizes[3]], words[3][i * sizes[4]],
               <uint32_t *>outs[0] + i, <uint32_t *>outs[1] + i)


def threefry_block_kernel(str name, outputs, sizes):
    """The Kernel of the block function; sizes: how many, and for each of four operands 1 or, if there is one, 0."""
    return native_kernel(name, _blocks, outputs, sizes)


# ---- components: complex numbers as two arrays, keys as one for each word ------------------------------------------

cdef extern from *:
    """
    #include <stdint.h>
    #define ONAX_PARTS(name, type) \\
    static void name(char *whole, char **parts, int64_t n, int64_t start, int64_t stop, int64_t together) { \\
        for (int64_t k = 0; k < n; k++) { \\
            type *part = (type *)parts[k], *at = (type *)whole + k; \\
            if (together) for (int64_t i = start; i < stop; i++) at[i * n] = part[i]; \\
            else for (int64_t i = start; i < stop; i++) part[i] = at[i * n]; } }
    ONAX_PARTS(onax_parts4, uint32_t)
    ONAX_PARTS(onax_parts8, uint64_t)
    """
    void onax_parts4(char *, char **, int64_t, int64_t, int64_t, int64_t) noexcept nogil
    void onax_parts8(char *, char **, int64_t, int64_t, int64_t, int64_t) noexcept nogil

cdef struct Parts:
    char *whole
    char **parts
    const int64_t *sizes    # elements, components of each, bytes of a component, whether they are put together


cdef void _parts_share(void *data, size_t i) noexcept nogil:
    cdef Parts *p = <Parts *>data
    cdef int64_t start = <int64_t>i * SHARE
    cdef int64_t stop = min(start + SHARE, p.sizes[0])
    if p.sizes[2] == 4:
        onax_parts4(p.whole, p.parts, p.sizes[1], start, stop, p.sizes[3])
    else:
        onax_parts8(p.whole, p.parts, p.sizes[1], start, stop, p.sizes[3])


cdef void _parts(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef Parts p
    p.whole = <char *>(outs[0] if sizes[3] else ins[0])
    p.parts = <char **>(ins if sizes[3] else outs)
    p.sizes = sizes
    parallel(pool, _parts_share, (sizes[0] + SHARE - 1) // SHARE, &p)


def components_kernel(str name, outputs, sizes):
    """The Kernel that splits elements into components, or joins components into elements.

    sizes: how many, components of each, bytes of a component (4 or 8), 0 to take apart and 1 to put together.
    """
    return native_kernel(name, _parts, outputs, sizes)


# ---- the inverse of the error function -----------------------------------------------------------------------------

cdef struct Numbers:
    const float *source
    float *target
    uint64_t size


cdef void _erf_inv_share(void *data, size_t i) noexcept nogil:
    cdef Numbers *numbers = <Numbers *>data
    cdef uint64_t start = i * SHARE
    erf_inv_into(numbers.source + start, min(<uint64_t>SHARE, numbers.size - start), numbers.target + start)


cdef void _erf_inv(void **ins, void **outs, const int64_t *sizes, const Pool *pool) noexcept nogil:
    cdef Numbers numbers
    numbers.source = <const float *>ins[0]
    numbers.target = <float *>outs[0]
    numbers.size = sizes[0]
    parallel(pool, _erf_inv_share, (numbers.size + SHARE - 1) // SHARE, &numbers)


def erf_inv_kernel(str name, outputs, sizes):
    """The Kernel of erf_inv of float32; sizes: how many numbers."""
    return native_kernel(name, _erf_inv, outputs, sizes)
