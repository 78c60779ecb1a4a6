"""Writes into CPython's type objects, so that filtering tracebacks costs 3 ns a call; everything works without it.

`install()` tells Python to call an ApiFunction as it calls its own functions, and gives the operators of arrays and the
calls of compiled functions the same border.  `onax._ground.source` calls it, unless the environment variable
ONAX_TRACEBACK_FILTERING is "off"; no other module touches a type object's slots.
"""

from types import MethodDescriptorType

from onax._native.api_boundary import api_boundary
from onax._native.array import install_method

from cpython.object cimport PyObject, PyTypeObject

from onax._native.api_boundary cimport ApiFunction, operator_failed
from onax._native.array cimport Array, ArrayImpl
from onax._native.jit_function cimport JitFunction

cdef extern from "Python.h":
    ctypedef struct PyTypeSlots "PyTypeObject":
        Py_ssize_t tp_vectorcall_offset
        void *tp_call
        unsigned long tp_flags
    enum:
        Py_TPFLAGS_HAVE_VECTORCALL
        Py_TPFLAGS_METHOD_DESCRIPTOR
    PyObject *PyVectorcall_Call(PyObject *, PyObject *, PyObject *) noexcept
    void PyType_Modified(PyTypeObject *)

cdef extern from "type_slots.h":
    void (*onax_operator_failed)() noexcept
    void onax_guard_array(PyTypeObject *) noexcept
    void onax_guard_value(PyTypeObject *) noexcept
    void onax_guard_jit(PyTypeObject *) noexcept


cdef int _call_by_vector() except -1:
    """Has Python call an ApiFunction through its field `call`."""
    cdef ApiFunction one = ApiFunction(None)
    cdef PyTypeSlots *slots = <PyTypeSlots *>ApiFunction
    slots.tp_vectorcall_offset = <char *>&one.call - <char *><PyObject *>one
    slots.tp_call = <void *>PyVectorcall_Call
    slots.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR
    PyType_Modified(<PyTypeObject *>ApiFunction)
    return 0


def install():
    """Gives ApiFunction, arrays and compiled functions their quick border.  Before any class inherits from Array."""
    global onax_operator_failed
    _call_by_vector()
    onax_operator_failed = operator_failed
    onax_guard_array(<PyTypeObject *>Array)
    onax_guard_value(<PyTypeObject *>ArrayImpl)
    onax_guard_jit(<PyTypeObject *>JitFunction)
    methods = (MethodDescriptorType, type(install))
    for cls in (Array, ArrayImpl):
        for name, method in list(vars(cls).items()):
            if type(method) in methods and (name[:2] == "__" or name[0] != "_"):
                install_method(cls, name, api_boundary(method))
