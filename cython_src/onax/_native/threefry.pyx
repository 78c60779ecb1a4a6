"""The Threefry-2x32 block function (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) over arrays.

A block maps a key and a counter, two 32-bit words each, to two words in twenty rounds.  `threefry_loops.h` has the loops,
plain C over independent blocks, so that the compiler runs as many at a time as the machine's vectors hold.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t

cnp.import_array()

cdef extern from "threefry_loops.h" nogil:
    void onax_fill_keys(int width, const uint32_t *keys, uint64_t count, uint64_t n, void *out)
    void onax_stream(uint32_t k0, uint32_t k1, uint32_t n, uint32_t *out)
    void onax_blocks(const uint32_t *k0, const uint32_t *k1, uint64_t n, uint32_t *c0, uint32_t *c1)

cdef dict _DTYPES = {8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: np.dtype(np.uint32), 64: np.dtype(np.uint64)}


cdef cnp.ndarray _words(keys):
    """Keys as contiguous pairs of words."""
    return np.ascontiguousarray(keys, np.uint32).reshape(-1, 2)


def random_bits_partitionable(keys, size, int width):
    """Numbers of each key from counters 0, 1, ...: an array (keys, size) of unsigned integers of `width` bits.

    `keys` has shape (keys, 2).  `width` 0 gives both words of each block: (keys, size, 2) of uint32.
    """
    cdef cnp.ndarray pairs = _words(keys)
    cdef uint64_t n = size
    cdef Py_ssize_t count = cnp.PyArray_DIM(pairs, 0)
    cdef tuple shape = (count, size) if width else (count, size, 2)
    cdef cnp.ndarray out = np.empty(shape, _DTYPES[width or 32])
    cdef uint32_t *key = <uint32_t *>cnp.PyArray_DATA(pairs)
    cdef void *data = cnp.PyArray_DATA(out)
    with nogil:
        onax_fill_keys(width, key, count, n, data)
    return out


def random_bits_original(keys, size):
    """Words of each key from one stream of counters cut into halves: an array (keys, size) of uint32.

    Raises ValueError for 2**32 words and more.
    """
    cdef cnp.ndarray pairs = _words(keys)
    cdef Py_ssize_t count = cnp.PyArray_DIM(pairs, 0)
    if size >= 2**32 - 1:
        raise ValueError(f"{size} words of random bits need jax_threefry_partitionable=True")
    cdef uint32_t n = size
    cdef cnp.ndarray out = np.empty((count, n), np.uint32)
    cdef uint32_t *key = <uint32_t *>cnp.PyArray_DATA(pairs)
    cdef uint32_t *data = <uint32_t *>cnp.PyArray_DATA(out)
    cdef Py_ssize_t i
    with nogil:
        for i in range(count):
            onax_stream(key[2 * i], key[2 * i + 1], n, data + i * <uint64_t>n)
    return out


def threefry2x32(k0, k1, c0, c1):
    """The two words of each block, of keys (k0, k1) and counters (c0, c1): uint32 arrays that broadcast."""
    k0, k1, c0, c1 = np.broadcast_arrays(k0, k1, c0, c1)
    cdef cnp.ndarray a = np.ascontiguousarray(k0)
    cdef cnp.ndarray b = np.ascontiguousarray(k1)
    cdef cnp.ndarray x = np.array(c0, np.uint32, order="C")
    cdef cnp.ndarray y = np.array(c1, np.uint32, order="C")
    cdef uint64_t n = cnp.PyArray_SIZE(x)
    cdef uint32_t *first = <uint32_t *>cnp.PyArray_DATA(a)
    cdef uint32_t *second = <uint32_t *>cnp.PyArray_DATA(b)
    cdef uint32_t *low = <uint32_t *>cnp.PyArray_DATA(x)
    cdef uint32_t *high = <uint32_t *>cnp.PyArray_DATA(y)
    with nogil:
        onax_blocks(first, second, n, low, high)
    return x, y
