"""The signature of values: what a compiled program depends on, as bytes.

Each leaf gives: its dtype (a number), weak bit, whether it is committed and where, rank, dimensions.  Equal signatures
mean equal avals and placements; values of NumPy and of Python count as the arrays that they would become.
"""

cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from libc.stdint cimport int64_t

from onax._native.array cimport ArrayImpl, buffer_of, device_of
from onax._native.buffers cimport is_extended, is_numpy
from onax._native.context cimport X64, option_bits

cnp.import_array()

cdef extern from "Python.h":
    bint PyBool_Check(object)

# Dtypes without a type number of NumPy's own, devices and shardings are numbered as they come; numbers stay.
cdef dict _numbers = {}

cdef enum:
    OWN_NUMBERS = 1000
    WEAK = 1
    COMMITTED = 2


cdef int64_t _number(object key) except -1:
    found = _numbers.get(key)
    if found is None:
        found = _numbers[key] = OWN_NUMBERS + len(_numbers)
    return found


cdef int64_t _dtype_number(object dtype) except -1:
    cdef int num
    if is_extended(dtype):
        return _number(dtype)
    num = (<cnp.dtype>dtype).type_num
    if num == cnp.NPY_VOID or num > 255:
        return _number(dtype)
    return _canonical_number(num, (<cnp.dtype>dtype).itemsize)


cdef int64_t _canonical_number(int num, Py_ssize_t itemsize) noexcept:
    """The type number of the dtype that arrays have for it: one for each width, 32 bits unless 64 are on."""
    cdef bint wide = option_bits() & X64
    if num == cnp.NPY_LONG or num == cnp.NPY_LONGLONG:
        return cnp.NPY_LONGLONG if wide and itemsize == 8 else cnp.NPY_INT
    if num == cnp.NPY_ULONG or num == cnp.NPY_ULONGLONG:
        return cnp.NPY_ULONGLONG if wide and itemsize == 8 else cnp.NPY_UINT
    if num == cnp.NPY_DOUBLE and not wide:
        return cnp.NPY_FLOAT
    if num == cnp.NPY_CDOUBLE and not wide:
        return cnp.NPY_CFLOAT
    return num


cdef class _Writer:
    """Growing memory for the numbers."""

    cdef int64_t *words
    cdef Py_ssize_t used, room

    def __cinit__(self):
        self.room = 64
        self.words = <int64_t *>PyMem_Malloc(self.room * sizeof(int64_t))
        if self.words == NULL:
            raise MemoryError()

    def __dealloc__(self):
        PyMem_Free(self.words)

    cdef int reserve(self, Py_ssize_t n) except -1:
        cdef int64_t *grown
        if self.used + n > self.room:
            while self.used + n > self.room:
                self.room *= 2
            grown = <int64_t *>PyMem_Realloc(self.words, self.room * sizeof(int64_t))
            if grown == NULL:
                raise MemoryError()
            self.words = grown
        return 0


cdef int _write(_Writer out, int64_t dtype, bint weak, int64_t place, cnp.ndarray shape_of) except -1:
    """One leaf: 2 words and one a dimension.  `shape_of` is None for rank 0; `place` is 0 for uncommitted."""
    cdef int rank = 0 if shape_of is None else cnp.PyArray_NDIM(shape_of)
    cdef int i
    out.reserve(rank + 2)
    out.words[out.used] = dtype | (<int64_t>weak << 32) | (<int64_t>rank << 40)
    out.words[out.used + 1] = place
    for i in range(rank):
        out.words[out.used + 2 + i] = cnp.PyArray_DIM(shape_of, i)
    out.used += rank + 2
    return 0


cdef int64_t _place(ArrayImpl a) except -1:
    if a.shards is not None:
        return _number(a.sharding)
    return _number(device_of(a)) if a.placed else 0


cdef int _write_leaf(_Writer out, object x) except -1:
    """Writes one leaf; gives 0 when it has no signature."""
    cdef ArrayImpl a
    cdef bint wide
    if type(x) is ArrayImpl:
        a = <ArrayImpl>x
        _write(out, _dtype_number(a._dtype), a.weak, _place(a), buffer_of(a))
    elif is_numpy(x):
        _write(out, _dtype_number(x.dtype), False, 0, x if cnp.PyArray_Check(x) else None)
    else:
        wide = option_bits() & X64
        if isinstance(x, float):
            _write(out, cnp.NPY_DOUBLE if wide else cnp.NPY_FLOAT, True, 0, None)
        elif PyBool_Check(x):
            _write(out, cnp.NPY_BOOL, False, 0, None)
        elif isinstance(x, int):
            _write(out, cnp.NPY_LONGLONG if wide else cnp.NPY_INT, True, 0, None)
        elif isinstance(x, complex):
            _write(out, cnp.NPY_CDOUBLE if wide else cnp.NPY_CFLOAT, True, 0, None)
        else:
            return 0
    return 1


cpdef bytes signature(leaves):
    """The signature of a sequence of values; None when one of them is a tracer or cannot be an array."""
    cdef _Writer out = _Writer.__new__(_Writer)
    for x in leaves:
        if not _write_leaf(out, x):
            return None
    return PyBytes_FromStringAndSize(<char *>out.words, out.used * sizeof(int64_t))
