"""The border between a user's program and onax: an error that leaves names the function, and shows no frames of onax.

`ApiFunction` stands for a public Python function.  Without an error it only passes the call on: that costs 3 ns where
`type_slots` is installed, which also has operators of arrays and calls of compiled functions end here.  Without
`type_slots` errors still name the function; their tracebacks keep the frames of onax.
"""

import sys
from functools import update_wrapper
from types import MethodType

from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF

from onax._native.hooks cimport hooks
from onax._native.source_info cimport called_from_inside

cdef extern from "Python.h":
    PyObject *PyObject_Vectorcall(PyObject *, PyObject *const *, size_t, PyObject *) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **) noexcept
    void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **) noexcept
    void PyErr_Restore(PyObject *, PyObject *, PyObject *) noexcept
    int PyException_SetTraceback(PyObject *, PyObject *) noexcept
    PyObject *PyException_GetTraceback(PyObject *) noexcept


_JIT_METHODS = frozenset(("lower", "trace", "eval_shape", "clear_cache"))


# ---- functions -----------------------------------------------------------------------------------------------------

cdef class ApiFunction:
    """A function whose errors name it and have no frames of onax; otherwise it behaves as the function.

    `label`: its name for errors; None if its messages contain it.  `positions`, `static`: the positions and names of
    the parameters that JAX compiles as static arguments; JAX hashes them before anything else, and so does this.
    """

    def __cinit__(self, function, label=None, positions=(), static=()):
        self.call = _call_static if static else _call
        self.function, self.label = function, label
        self.positions, self.static = tuple(positions), frozenset(static)

    def __call__(self, *args, **kwargs):
        """Calls the function where `type_slots` is not installed, which replaces this."""
        for i in self.positions:
            if i < len(args):
                _hash(args[i])
        for name in self.static.intersection(kwargs):
            _hash(kwargs[name])
        try:
            return self.function(*args, **kwargs)
        except BaseException as error:
            if self.label is not None:
                hooks.name_error(error, self.label, args)
            raise

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name):
        """`lower`, `trace`, `eval_shape` or `clear_cache` of a function that JAX compiles."""
        if name in _JIT_METHODS and "static_argnames" in vars(self):
            if self.jitted is None:
                self.jitted = hooks.jit_api_function(self)
            return getattr(self.jitted, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self):
        return f"<function {self.__qualname__} at {id(self):#x}>"

    def __reduce__(self):
        attribute = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            attribute = getattr(attribute, part, None)
        if attribute is self:
            return self.__qualname__
        return ApiFunction, (self.function, self.label, self.positions, self.static), vars(self)


def api_boundary(function):
    """The function as an ApiFunction without a label."""
    return update_wrapper(ApiFunction(function), function)


def unwrap(function):
    """The function that an ApiFunction stands for; any other function is returned as it is."""
    return (<ApiFunction>function).function if type(function) is ApiFunction else function


# ---- calls without a tuple of arguments: what Python calls once `type_slots` is installed ---------------------------

cdef PyObject *_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) noexcept:
    cdef ApiFunction this = <ApiFunction>self
    cdef PyObject *result = PyObject_Vectorcall(<PyObject *>this.function, args, flags, names)
    if result is NULL:
        _failed(this.label, args, PyVectorcall_NARGS(flags))
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
            _failed(this.label, args, n)
    else:
        _failed(None, NULL, 0)
    return result


# ---- errors --------------------------------------------------------------------------------------------------------

cdef void _pass_on(object error, object label, object args) noexcept:
    if label is not None:
        hooks.name_error(error, label, args)
    if hooks.filter_traceback is not None and not called_from_inside():
        hooks.filter_traceback(error)


cdef void _failed(object label, PyObject *const *args, Py_ssize_t n) noexcept:
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
    _pass_on(<object>error, label, None if label is None else tuple([<object>args[i] for i in range(n)]))
    PyErr_Restore(kind, error, PyException_GetTraceback(error))


cdef void operator_failed() noexcept:
    _failed(None, NULL, 0)
