# cython: boundscheck=False, wraparound=False
"""The keys of a dict in the order in which a pytree has its children."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

cdef extern from "Python.h":
    int PyUnicode_CheckExact(object x)
    int PyUnicode_Compare(object a, object b)
    int PyDict_Next(object d, Py_ssize_t* pos, PyObject** key, PyObject** value)

cdef enum:
    FEW = 24


cdef tuple _few_names(dict d):
    """The sorted keys of a small dict whose keys are all strings (insertion sort); None for any other dict."""
    cdef PyObject* at[FEW]
    cdef PyObject* key
    cdef Py_ssize_t pos = 0, i = 0, k, n = len(d)
    if n > FEW:
        return None
    while PyDict_Next(d, &pos, &key, NULL):
        if not PyUnicode_CheckExact(<object>key):
            return None
        k = i
        while k > 0 and PyUnicode_Compare(<object>at[k - 1], <object>key) > 0:
            at[k] = at[k - 1]
            k -= 1
        at[k] = key
        i += 1
    cdef tuple keys = PyTuple_New(n)
    for k in range(n):
        Py_INCREF(<object>at[k])
        PyTuple_SET_ITEM(keys, k, <object>at[k])
    return keys


cdef tuple sorted_keys(dict d):
    """The keys in increasing order; ValueError if they do not compare."""
    cdef tuple names = _few_names(d)
    if names is not None:
        return names
    cdef list keys = list(d)
    try:
        keys.sort()
    except TypeError as error:
        raise ValueError("Comparator raised exception while sorting pytree dictionary keys.") from error
    return tuple(keys)
