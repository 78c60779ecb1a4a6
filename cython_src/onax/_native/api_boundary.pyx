"""The border between a user's program and onax, where an error's traceback loses the frames of onax.

`ApiFunction` stands for a Python function and costs a call some tens of nanoseconds; a Python function around it
would cost five times that.  The operators of arrays have the same border in their type's slots.  Without an error
neither does anything.
"""

import sys
from functools import update_wrapper
from types import MethodDescriptorType, MethodType

from onax._native.array import install_method

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_XDECREF

from onax._native.array cimport Array, ArrayImpl
from onax._native.hooks cimport hooks
from onax._native.jit_function cimport JitFunction
from onax._native.source_info cimport called_from_inside

cdef extern from "Python.h":
    ctypedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *) noexcept
    ctypedef struct PyTypeSlots "PyTypeObject":
        Py_ssize_t tp_vectorcall_offset
        void *tp_call
        unsigned long tp_flags
    enum:
        Py_TPFLAGS_HAVE_VECTORCALL
        Py_TPFLAGS_METHOD_DESCRIPTOR
    PyObject *PyObject_Vectorcall(PyObject *, PyObject *const *, size_t, PyObject *) noexcept
    PyObject *PyVectorcall_Call(PyObject *, PyObject *, PyObject *) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **) noexcept
    void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **) noexcept
    void PyErr_Restore(PyObject *, PyObject *, PyObject *) noexcept
    int PyException_SetTraceback(PyObject *, PyObject *) noexcept
    PyObject *PyException_GetTraceback(PyObject *) noexcept
    void PyType_Modified(PyTypeObject *)

cdef extern from "type_slots.h":
    void (*onax_leave)() noexcept
    void onax_guard_base(PyTypeObject *) noexcept
    void onax_guard_value(PyTypeObject *) noexcept
    void onax_guard_compiled(PyTypeObject *) noexcept

cdef void _pass(object error, object label, object args) noexcept:
    if label is not None:
        hooks.name_error(error, label, args)
    if hooks.filter_traceback is not None and not called_from_inside():
        hooks.filter_traceback(error)


cdef void _error_leaves(object label, PyObject *const *args, Py_ssize_t n) noexcept:
    """Names the function in the error that is set, and shortens its traceback."""
    cdef PyObject *kind = NULL
    cdef PyObject *error = NULL
    cdef PyObject *traceback = NULL
    cdef Py_ssize_t i
    PyErr_Fetch(&kind, &error, &traceback)
    PyErr_NormalizeException(&kind, &error, &traceback)
    if traceback is not NULL:
        PyException_SetTraceback(error, traceback)
        Py_XDECREF(traceback)
    _pass(<object>error, label, None if label is None else tuple([<object>args[i] for i in range(n)]))
    PyErr_Restore(kind, error, PyException_GetTraceback(error))


cdef void _operator_leaves() noexcept:
    _error_leaves(None, NULL, 0)


cdef class ApiFunction:
    """A function whose errors name it and leave without frames of onax; in all else it is the function.

    `label`: its name for errors; None where its own words have it.  `static`: names of the parameters that JAX compiles
    as static arguments; JAX asks for their hashes before anything else, and so does this.
    """

    cdef vectorcallfunc call
    cdef object function
    cdef object label
    cdef tuple positions    # of the static parameters
    cdef frozenset static
    cdef dict __dict__
    cdef object __weakref__

    def __cinit__(self, function, label=None, positions=(), static=()):
        self.call = _call_static if static else _call
        self.function, self.label = function, label
        self.positions, self.static = tuple(positions), frozenset(static)

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __repr__(self):
        return f"<function {self.__qualname__} at {id(self):#x}>"

    def __reduce__(self):
        found = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is self:
            return self.__qualname__
        return ApiFunction, (self.function, self.label, self.positions, self.static), vars(self)


def api_boundary(function):
    """The function as a ApiFunction without a label."""
    return update_wrapper(ApiFunction(function), function)


def unwrap(function):
    """The function that a ApiFunction stands for; any other is its own."""
    return (<ApiFunction>function).function if type(function) is ApiFunction else function


cdef PyObject *_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) noexcept:
    cdef ApiFunction this = <ApiFunction>self
    cdef PyObject *result = PyObject_Vectorcall(<PyObject *>this.function, args, flags, names)
    if result is NULL:
        _error_leaves(this.label, args, PyVectorcall_NARGS(flags))
    return result


cdef int _hash(object value) except -1:
    try:
        hash(value)
    except TypeError as error:
        raise hooks.unhashable_error(value, error) from None
    return 0


cdef int _hash_statics(ApiFunction this, PyObject *const *args, Py_ssize_t n, PyObject *names) except -1:
    cdef Py_ssize_t i
    for i in this.positions:
        if i < n:
            _hash(<object>args[i])
    if names is not NULL:
        for i, name in enumerate(<tuple>names):
            if name in this.static:
                _hash(<object>args[n + i])
    return 0


ctypedef int (*checking)(ApiFunction, PyObject *const *, Py_ssize_t, PyObject *) noexcept  # the error stays set


cdef PyObject *_call_static(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) noexcept:
    cdef ApiFunction this = <ApiFunction>self
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    cdef PyObject *result = NULL
    if (<checking>_hash_statics)(this, args, n, names) == 0:
        result = PyObject_Vectorcall(<PyObject *>this.function, args, flags, names)
        if result is NULL:
            _error_leaves(this.label, args, n)
    else:
        _error_leaves(None, NULL, 0)
    return result


cdef int _make_callable() except -1:
    """Has Python call instances through the function they hold, as it calls its own functions."""
    cdef ApiFunction one = ApiFunction(None)
    cdef PyTypeSlots *slots = <PyTypeSlots *>ApiFunction
    slots.tp_vectorcall_offset = <char *>&one.call - <char *><PyObject *>one
    slots.tp_call = <void *>PyVectorcall_Call
    slots.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR
    PyType_Modified(<PyTypeObject *>ApiFunction)
    return 0


_make_callable()
onax_leave = _operator_leaves
onax_guard_base(<PyTypeObject *>Array)
onax_guard_value(<PyTypeObject *>ArrayImpl)
onax_guard_compiled(<PyTypeObject *>JitFunction)
for _class in (Array, ArrayImpl):
    for _name, _method in list(vars(_class).items()):
        if type(_method) in (MethodDescriptorType, type(api_boundary)) and (_name[:2] == "__" or _name[0] != "_"):
            install_method(_class, _name, api_boundary(_method))
