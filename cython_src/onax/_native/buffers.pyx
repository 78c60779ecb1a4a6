"""Converts NumPy and Python values to ndarrays of the dtypes that arrays have."""

import sys

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF

from onax._native.context cimport X64, option_bits, quiet_begin, quiet_end
from onax._native.memory cimport cast_array

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_Descr:
        pass
    bint PyArray_CheckExact(object op)
    cnp.ndarray PyArray_FromScalar(object scalar, PyArray_Descr *descr)
    void PyArray_CLEARFLAGS(cnp.ndarray arr, int flags)
    object PyArray_NewFromDescr(
        PyTypeObject *, PyArray_Descr *, int, cnp.npy_intp *, cnp.npy_intp *, void *, int, void *
    )
    int NPY_ARRAY_WRITEABLE

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int *) except? -1
    bint PyFloat_CheckExact(object)
    bint PyLong_CheckExact(object)
    bint PyBool_Check(object)

cdef extern from *:
    """
    #define onax_is_numpy_scalar(x) PyArray_IsScalar(x, Generic)
    """
    bint onax_is_numpy_scalar(object)

cdef object _bool = np.dtype(np.bool_)
cdef object _int32 = np.dtype(np.int32)
cdef object _int64 = np.dtype(np.int64)
cdef object _uint32 = np.dtype(np.uint32)
cdef object _uint64 = np.dtype(np.uint64)
cdef object _float32 = np.dtype(np.float32)
cdef object _float64 = np.dtype(np.float64)
cdef object _complex64 = np.dtype(np.complex64)
cdef object _complex128 = np.dtype(np.complex128)


cdef bint is_extended(object dtype) noexcept:
    return not cnp.PyArray_DescrCheck(dtype)


cdef bint is_numpy(object x) noexcept:
    return cnp.PyArray_Check(x) or onax_is_numpy_scalar(x)


cdef object invalid_value(object x):
    kind = f"dtype {x.dtype}" if is_numpy(x) else f"type {type(x)}"
    return TypeError(
        f"Value {x!r} with {kind} is not a valid JAX array type. Only arrays of numeric types are supported by JAX."
    )


# ---- Python scalars ------------------------------------------------------------------------------------------------

cdef cnp.ndarray _empty_0d(object dtype):
    cdef cnp.npy_intp none = 0
    Py_INCREF(dtype)  # the call below takes over a reference
    return <cnp.ndarray>PyArray_NewFromDescr(
        <PyTypeObject *>cnp.ndarray, <PyArray_Descr *><PyObject *>dtype, 0, &none, NULL, NULL, 0, NULL
    )


cdef bint fits_integer(object value, long long *out) except -1:
    """Whether a Python int fits the default integer dtype, and its value."""
    cdef int overflow = 0
    out[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
    return not overflow and (option_bits() & X64 or (out[0] <= 2147483647 and out[0] >= -2147483648))


cdef cnp.ndarray _complex_0d(double complex value, bint wide):
    cdef cnp.ndarray out = _empty_0d(_complex128 if wide else _complex64)
    if wide:
        (<double *>cnp.PyArray_DATA(out))[0] = value.real
        (<double *>cnp.PyArray_DATA(out))[1] = value.imag
    else:
        (<float *>cnp.PyArray_DATA(out))[0] = <float>value.real
        (<float *>cnp.PyArray_DATA(out))[1] = <float>value.imag
    return out


cdef cnp.ndarray scalar_buffer(object value, bint *weak):
    """A 0-d array of the dtype that a Python scalar has by default, and whether that is weak.

    None if `value` is not a Python scalar; OverflowError if an int does not fit.
    """
    cdef cnp.ndarray out
    cdef long long i
    cdef bint wide = option_bits() & X64
    if onax_is_numpy_scalar(value):     # np.float64 is a float, too
        return None
    weak[0] = True
    if isinstance(value, float):
        out = _empty_0d(_float64 if wide else _float32)
        if wide:
            (<double *>cnp.PyArray_DATA(out))[0] = value
        else:
            (<float *>cnp.PyArray_DATA(out))[0] = <float><double>value
    elif PyBool_Check(value):
        weak[0] = False
        out = _empty_0d(_bool)
        (<char *>cnp.PyArray_DATA(out))[0] = value is True
    elif isinstance(value, int):
        out = _empty_0d(_int64 if wide else _int32)
        if not fits_integer(value, &i):
            raise OverflowError(f"Python int {value} too large to convert to {'int64' if wide else 'int32'}")
        _store_int(out, i)
    elif isinstance(value, complex):
        out = _complex_0d(value, wide)
    else:
        return None
    PyArray_CLEARFLAGS(out, NPY_ARRAY_WRITEABLE)
    return out


cdef void _store_int(cnp.ndarray out, long long value) noexcept:
    """Stores an integer modulo the width of an integer dtype."""
    cdef void *data = cnp.PyArray_DATA(out)
    cdef int size = <int>cnp.PyArray_ITEMSIZE(out)
    if size == 4:
        (<int *>data)[0] = <int>value
    elif size == 8:
        (<long long *>data)[0] = value
    elif size == 1:
        (<signed char *>data)[0] = <signed char>value
    else:
        (<short *>data)[0] = <short>value


# Which of the dtypes of ml_dtypes, numbered from 256, are floating ones: 0 not known yet, 1 yes, 2 no.
cdef char _small_floats[64]


cdef bint _is_small_float(cnp.dtype dtype) except -1:
    """Whether the dtype is float16, bfloat16 or narrower."""
    cdef int i = dtype.type_num - 256
    if dtype.type_num == cnp.NPY_FLOAT16:
        return True
    if i < 0 or i >= 64:
        return False
    if _small_floats[i] == 0:
        _small_floats[i] = 1 if "float" in (<object>dtype).name else 2
    return _small_floats[i] == 1


cdef cnp.ndarray _small_float_0d(double value, object dtype):
    """A number in a narrow dtype, rounded through float32 as in JAX; None for other dtypes and unsafe numbers."""
    cdef cnp.ndarray out
    if not _is_small_float(<cnp.dtype>dtype) or not -1e4 < value < 1e4:  # NumPy would warn of overflow
        return None
    out = _empty_0d(dtype)
    cnp.PyArray_SETITEM(out, <char *>cnp.PyArray_DATA(out), <double><float>value)
    return out


cdef cnp.ndarray scalar_like(object value, object dtype):
    """A Python scalar as a 0-d array of the np.dtype `dtype`, where promotion with `dtype` gives `dtype`; else None.

    None as well for an int that the default integer dtype does not hold; one that it holds wraps around in a narrower
    dtype, as in JAX.
    """
    cdef cnp.ndarray out
    cdef int kind = (<cnp.dtype>dtype).kind
    cdef int num = (<cnp.dtype>dtype).type_num
    cdef long long i
    if PyFloat_CheckExact(value):
        if num == cnp.NPY_FLOAT:
            out = _empty_0d(dtype)
            (<float *>cnp.PyArray_DATA(out))[0] = <float><double>value
            return out
        if num == cnp.NPY_DOUBLE:
            out = _empty_0d(dtype)
            (<double *>cnp.PyArray_DATA(out))[0] = value
            return out
        return _small_float_0d(value, dtype)
    if PyLong_CheckExact(value):
        if not fits_integer(value, &i):
            return None
        if kind == c"i" or kind == c"u":
            out = _empty_0d(dtype)
            _store_int(out, i)
            return out
        if num == cnp.NPY_FLOAT:
            out = _empty_0d(dtype)
            (<float *>cnp.PyArray_DATA(out))[0] = <float>i
            return out
        if num == cnp.NPY_DOUBLE:
            out = _empty_0d(dtype)
            (<double *>cnp.PyArray_DATA(out))[0] = <double>i
            return out
        return _small_float_0d(<double>i, dtype)
    if PyBool_Check(value) and num == cnp.NPY_BOOL:
        out = _empty_0d(dtype)
        (<char *>cnp.PyArray_DATA(out))[0] = value is True
        return out
    return None


# ---- NumPy values --------------------------------------------------------------------------------------------------

cdef object _target_dtype(object x, cnp.ndarray a):
    """The dtype to which `a` must be converted; None if it needs no conversion."""
    cdef int num = cnp.PyArray_TYPE(a)
    cdef bint wide = option_bits() & X64
    if num == cnp.NPY_FLOAT or num == cnp.NPY_BOOL or num == cnp.NPY_INT:
        return None
    if num == cnp.NPY_DOUBLE:
        return None if wide else _float32
    if num == cnp.NPY_CDOUBLE:
        return None if wide else _complex64
    if num == cnp.NPY_LONG or num == cnp.NPY_LONGLONG:
        if cnp.PyArray_ITEMSIZE(a) == 8:
            return _int64 if wide else _int32
        return _int32
    if num == cnp.NPY_ULONG or num == cnp.NPY_ULONGLONG:
        if cnp.PyArray_ITEMSIZE(a) == 8:
            return _uint64 if wide else _uint32
        return _uint32
    if num in (cnp.NPY_LONGDOUBLE, cnp.NPY_CLONGDOUBLE, cnp.NPY_OBJECT, cnp.NPY_STRING, cnp.NPY_UNICODE,
               cnp.NPY_DATETIME, cnp.NPY_TIMEDELTA):
        raise invalid_value(x)
    if num > cnp.NPY_FLOAT16 and num < 256:      # variable-width strings and whatever NumPy adds
        raise invalid_value(x)
    return None


def check_mask(x):
    """Raises ValueError for a masked array, whose mask an Array would lose."""
    module = sys.modules.get("numpy.ma")
    if module is not None and isinstance(x, module.MaskedArray):
        raise ValueError(
            "numpy masked arrays are not supported as direct inputs to JAX functions. Use arr.filled() to convert the "
            "value to a standard numpy array."
        )


cdef cnp.ndarray canonical(object x):
    """An ndarray or NumPy scalar as an ndarray of accepted dtype and byte order: itself, or a converted copy.

    Raises TypeError for dtypes that no array can have.
    """
    cdef cnp.ndarray a
    cdef PyObject *token
    cdef object target
    if PyArray_CheckExact(x):
        a = <cnp.ndarray>x
    elif onax_is_numpy_scalar(x):
        a = PyArray_FromScalar(x, NULL)
    else:
        check_mask(x)
        a = np.asarray(x)
    target = _target_dtype(x, a)
    if target is None and not cnp.PyArray_ISNOTSWAPPED(a):
        target = a.dtype.newbyteorder("=")
    if target is None or target is a.dtype:
        return a
    token = quiet_begin()
    try:
        return cast_array(a, target)
    finally:
        quiet_end(token)


cdef bint shares_with_user(object x, cnp.ndarray converted) except -1:
    return cnp.PyArray_Check(x) and (<object>converted is x or cnp.PyArray_BASE(converted) != NULL)
