# Public functions, and what happens to an error that leaves one.

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *) noexcept

cdef class ApiFunction:
    cdef vectorcallfunc call    # how Python calls an instance, once `type_slots` has told it
    cdef object function
    cdef object label
    cdef tuple positions        # of the static parameters
    cdef frozenset static       # their names
    cdef object jitted          # the jitted form, once somebody asked for one of its methods
    cdef dict __dict__
    cdef object __weakref__

cdef void operator_failed() noexcept    # an operator or method of a compiled class set an error
